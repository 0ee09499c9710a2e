"""What a run says: per pipeline and type of question each measure with its interval, differences from a baseline, and what is decided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import pstdev

from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.calibration import Agreement
from kgrag.evaluate.judge.judgement import answer_category, scores
from kgrag.evaluate.judge.metrics import Category, CategoryCounts, Rate, abstention_rates, five_point, mean_of_judged
from kgrag.evaluate.judge.presets import Preset
from kgrag.evaluate.runs import Result, Run
from kgrag.evaluate.statistics import (
    Comparison,
    Interval,
    adjusted,
    compare_paired,
    corrected_rate,
    mean_interval,
    rate_interval,
)

__all__ = ["ALL", "MAIN", "Row", "Summary", "Verdict", "summarise"]

ALL = "all"
"""Stands for questions of every type."""
ALPHA = 0.05
MAIN = ("nuggets", "right", "word F1", "right abstention")
"""Of these the first that any question has a score for is what pipelines are compared by."""


@dataclass(frozen=True, slots=True)
class Row:
    """One answered question: its scores by measure, None where there is none."""

    question: str
    query_type: str
    cluster: str
    """The document that its gold evidence is in, or the question itself: questions of a cluster are drawn together."""
    scores: Mapping[str, float | None]
    category: Category | None
    answerable: bool | None = None
    """Whether the documents answer the question; None where nobody says."""
    synthetic: bool = False
    """Whether the question was made, not asked."""
    spread: Mapping[str, float] = field(default_factory=dict)
    """Of measures that a judge was asked for several times: the standard deviation of what it said of the one answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which pipeline a type of question is best asked through, and how sure that is."""

    query_type: str
    best: str
    mean: Interval
    decided: bool
    """Whether it is better than the baseline after Holm's correction over all pipelines and types."""
    grounds: str
    """Why, where the best pipeline and the baseline have been named."""

    @property
    def in_words(self) -> str:
        """Say it by itself, in a list of types."""
        return f"{self.best}: {self.grounds}" if self.decided else self.grounds


@dataclass(frozen=True)
class Summary:
    """All figures of a run. Rows by pipeline are in the order of its questions."""

    pipelines: tuple[str, ...]
    types: tuple[str, ...]
    baseline: str
    main: str
    preset: str
    """Name of the preset that these figures are by; the run itself may have been judged by another."""
    rows: Mapping[str, tuple[Row, ...]]
    missing: Mapping[str, int]
    """Pipeline → cells without an answer or a judgement."""
    parts_missing: Mapping[str, int]
    """Part of a judgement → how many could not be judged."""
    remarks: Mapping[str, tuple[str, ...]]
    """Pipeline → what retrieval noted for every single question: another graph than the file names, no learnt map, a missing model."""
    calibration: Agreement | None = None
    """How often the judge tells right from wrong as people do, where the run says."""

    def of_type(self, pipeline: str, query_type: str) -> list[Row]:
        """The rows of a pipeline and a type; of `ALL` every one."""
        return [row for row in self.rows[pipeline] if query_type in (ALL, row.query_type)]

    def mean(self, pipeline: str, measure: str, query_type: str = ALL) -> float | None:
        """Mean of a measure over what was judged."""
        return mean_of_judged(row.scores.get(measure) for row in self.of_type(pipeline, query_type))

    def interval(self, pipeline: str, measure: str, query_type: str = ALL) -> Interval | None:
        """Mean with its interval: bootstrapped by document, or Wilson's where every score is 0 or 1. None where nothing was judged."""
        scored = [
            (value, row.cluster)
            for row in self.of_type(pipeline, query_type)
            if (value := row.scores.get(measure)) is not None
        ]
        values = [value for value, _ in scored]
        if not values:
            return None
        if set(values) <= {0.0, 1.0}:
            return rate_interval(round(sum(values)), len(values))
        return mean_interval(values, [cluster for _, cluster in scored])

    def corrected(self, pipeline: str, query_type: str = ALL) -> Interval | None:
        """Share of right answers, corrected for the judge's errors (`corrected_rate`); None where the judge is not calibrated or no use."""
        values = [value for row in self.of_type(pipeline, query_type) if (value := row.scores.get("right")) is not None]
        known = self.calibration
        if known is None or not values or not known.right[1] or not known.wrong[1]:
            return None
        return corrected_rate(sum(values) / len(values), n=len(values), right=known.right, wrong=known.wrong)

    def abstention(self, pipeline: str) -> tuple[Rate, Rate]:
        """Precision and recall of abstaining where the documents have no answer, over the questions of which that is known."""
        known = [
            (abstained >= 0.5, row.answerable)
            for row in self.rows[pipeline]
            if (abstained := row.scores.get("abstained")) is not None and row.answerable is not None
        ]
        return abstention_rates([abstained for abstained, _ in known], [answerable for _, answerable in known])

    @property
    def has_losses(self) -> bool:
        """Whether it is known of any answer where its gold facts were lost."""
        return any(self.mean(one, "lost in retrieval") is not None for one in self.pipelines)

    @cached_property
    def judge_spread(self) -> dict[str, float]:
        """Measure → mean standard deviation of what the judge said of one answer when it was asked several times; empty otherwise."""
        rows = [row for some in self.rows.values() for row in some]
        measures = dict.fromkeys(measure for row in rows for measure in row.spread)
        return {one: mean_of_judged(row.spread.get(one) for row in rows) or 0.0 for one in measures}

    def counts(self, pipeline: str, query_type: str = ALL) -> CategoryCounts:
        """TP, FP, FN and PARTIAL."""
        return CategoryCounts.of(row.category for row in self.of_type(pipeline, query_type))

    def five_point(self, pipeline: str, measure: str, query_type: str = ALL) -> float | None:
        """Mean of a measure on the scale of 1 to 5, each answer rounded as the thesis does."""
        values = [row.scores.get(measure) for row in self.of_type(pipeline, query_type)]
        return mean_of_judged(None if value is None else float(five_point(value)) for value in values)

    @cached_property
    def comparisons(self) -> dict[tuple[str, str], Comparison]:
        """Each pipeline and type against the baseline by the main measure."""
        found = {}
        many = max(1, (len(self.pipelines) - 1) * (1 + len(self.types)))
        for pipeline in self.pipelines:
            for query_type in (ALL, *self.types):
                ours, theirs = self.of_type(pipeline, query_type), self.of_type(self.baseline, query_type)
                if pipeline == self.baseline or [r.question for r in ours] != [r.question for r in theirs]:
                    continue
                one = compare_paired(
                    [row.scores.get(self.main) for row in ours],
                    [row.scores.get(self.main) for row in theirs],
                    clusters=[row.cluster for row in ours],
                    comparisons=many,
                )
                if one is not None:
                    found[pipeline, query_type] = one
        return found

    @cached_property
    def holm(self) -> dict[tuple[str, str], float]:
        """p of each comparison, corrected by Holm over all of them."""
        corrected = adjusted({key: one.p for key, one in self.comparisons.items()}, method="holm")
        return {key: p for key, p in corrected.items() if isinstance(key, tuple)}

    @cached_property
    def benjamini_hochberg(self) -> dict[tuple[str, str], float]:
        """The same by Benjamini and Hochberg."""
        corrected = adjusted({key: one.p for key, one in self.comparisons.items()}, method="bh")
        return {key: p for key, p in corrected.items() if isinstance(key, tuple)}

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """For all questions and for each type the pipeline with the best mean, and whether that is decided."""
        found = []
        for query_type in (ALL, *self.types):
            means = {one: self.mean(one, self.main, query_type) for one in self.pipelines}
            judged = {one: mean for one, mean in means.items() if mean is not None}
            if not judged:
                continue
            best = max(judged, key=lambda one: judged[one])
            interval = self.interval(best, self.main, query_type)
            assert interval is not None  # noqa: S101  it has a mean
            found.append(self._verdict(query_type, best, interval))
        return found

    def _verdict(self, query_type: str, best: str, interval: Interval) -> Verdict:
        shown = f"{interval:.2f}"
        if best == self.baseline:
            return Verdict(query_type, best, interval, False, f"the baseline has the best mean ({shown})")
        one, p = self.comparisons.get((best, query_type)), self.holm.get((best, query_type), 1.0)
        if one is None:
            return Verdict(
                query_type, best, interval, False, f"{best} ({shown}); not asked the same questions as the baseline"
            )
        gain = f"{one.difference:+.2f} over {self.baseline}"
        if p < ALPHA and one.difference.value > 0:
            return Verdict(query_type, best, interval, True, f"{shown}, {gain}, p = {p:.3f} after Holm")
        if not one.wins and not one.losses:
            words = f"no difference: nothing has a better mean than the baseline ({shown})"
        else:
            words = (
                f"not decided: {best} has the best mean ({shown}), {gain}, p = {p:.2f} after Holm; "
                f"with {one.n} questions "
                + (
                    f"only a difference from {one.detectable:.2f} would show"
                    if math.isfinite(one.detectable)
                    else "no difference would show"
                )
            )
        return Verdict(query_type, best, interval, False, words)


def summarise(run: Run, *, preset: Preset) -> Summary:
    """Compute every figure of a run; repeats of a cell are averaged."""
    settings = run.settings
    questions = {question.id: question for question in run.questions()}
    gathered: dict[str, dict[str, list[Row]]] = {pipeline: {} for pipeline in settings.pipelines}
    missing = dict.fromkeys(settings.pipelines, 0)
    parts: dict[str, int] = {}
    remarks: dict[str, list[str]] = {}
    for result in run.results():
        question = questions[result.cell.question]
        if result.answer is None or result.judgement is None:
            missing[result.cell.pipeline] += 1
        for part in (part for judgement in result.judgements for part in judgement.failures):
            parts[part] = parts.get(part, 0) + 1
        if result.answer is not None:
            before = remarks.get(result.cell.pipeline, list(result.answer.notes))
            remarks[result.cell.pipeline] = [note for note in before if note in result.answer.notes]
        row = _row(question, result, preset)
        gathered[result.cell.pipeline].setdefault(question.id, []).append(row)
    rows = {
        pipeline: tuple(_averaged(by_id[one]) for one in questions if one in by_id)
        for pipeline, by_id in gathered.items()
    }
    everything = [row for some in rows.values() for row in some]
    return Summary(
        pipelines=settings.pipelines,
        types=tuple(sorted({row.query_type for row in everything} - {""})),
        baseline=settings.baseline or settings.pipelines[0],
        main=next((one for one in MAIN if any(row.scores.get(one) is not None for row in everything)), MAIN[0]),
        preset=preset.name,
        rows=rows,
        missing=missing,
        parts_missing=parts,
        remarks={pipeline: tuple(notes) for pipeline, notes in remarks.items() if notes},
        calibration=run.calibration(preset.name),
    )


def _row(question: GoldQuestion, result: Result, preset: Preset) -> Row:
    measured: Mapping[str, float | None] = {}
    spread: Mapping[str, float] = {}
    kinds: list[Category | None] = []
    if result.answer is not None and result.judgements:
        each = [scores(question, result.answer, judgement, preset=preset) for judgement in result.judgements]
        measured = _mean(each)
        kinds = [answer_category(judgement, preset=preset) for judgement in result.judgements]
        if len(each) > 1:
            said = {name: [one[name] for one in each] for name in each[0]}
            spread = {
                name: pstdev(values) for name, some in said.items() if (values := _judged(some)) and len(values) > 1
            }
    # Of several judgements the category that most of them name, the first of those where several are equally frequent.
    kind = max(kinds, key=kinds.count) if kinds else None
    return Row(
        question.id,
        question.query_type,
        question.cluster,
        measured,
        kind,
        answerable=question.answerable,
        synthetic=question.synthetic,
        spread=spread,
    )


def _judged(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(each: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    measures = dict.fromkeys(measure for one in each for measure in one)
    return {measure: mean_of_judged(one.get(measure) for one in each) for measure in measures}


def _averaged(rows: Sequence[Row]) -> Row:
    """Average the repeats of one question; its category is the first's."""
    if len(rows) == 1:
        return rows[0]
    first, mean = rows[0], _mean([row.scores for row in rows])
    spread = {name: value for name, value in _mean([row.spread for row in rows]).items() if value is not None}
    return replace(first, scores=mean, spread=spread)
