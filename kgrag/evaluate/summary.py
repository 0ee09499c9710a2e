"""What a run says: per pipeline and type of question each measure with its interval, differences from a baseline, and what is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judgement import answer_category, scores
from kgrag.evaluate.judge.metrics import Category, CategoryCounts, five_point, mean_of_judged
from kgrag.evaluate.judge.presets import Preset
from kgrag.evaluate.runs import Result, Run
from kgrag.evaluate.statistics import Comparison, Interval, adjusted, compare_paired, mean_interval

__all__ = ["ALL", "Row", "Summary", "Verdict", "summarise"]

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which pipeline a type of question is best asked through, and how sure that is."""

    query_type: str
    best: str
    mean: Interval
    decided: bool
    """Whether it is better than the baseline after Holm's correction over all pipelines and types."""
    in_words: str


@dataclass(frozen=True)
class Summary:
    """All figures of a run. Rows by pipeline are in the order of its questions."""

    pipelines: tuple[str, ...]
    types: tuple[str, ...]
    baseline: str
    main: str
    rows: Mapping[str, tuple[Row, ...]]
    missing: Mapping[str, int]
    """Pipeline → cells without an answer or a judgement."""
    parts_missing: Mapping[str, int]
    """Part of a judgement → how many could not be judged."""

    def of_type(self, pipeline: str, query_type: str) -> list[Row]:
        """The rows of a pipeline and a type; of `ALL` every one."""
        return [row for row in self.rows[pipeline] if query_type in (ALL, row.query_type)]

    def mean(self, pipeline: str, measure: str, query_type: str = ALL) -> float | None:
        """Mean of a measure over what was judged."""
        return mean_of_judged(row.scores.get(measure) for row in self.of_type(pipeline, query_type))

    def interval(self, pipeline: str, measure: str, query_type: str = ALL) -> Interval | None:
        """Mean with its interval, clustered by document; None where nothing was judged."""
        scored = [
            (value, row.cluster)
            for row in self.of_type(pipeline, query_type)
            if (value := row.scores.get(measure)) is not None
        ]
        return mean_interval([value for value, _ in scored], [cluster for _, cluster in scored]) if scored else None

    def counts(self, pipeline: str, query_type: str = ALL) -> CategoryCounts:
        """TP, FP, FN and PARTIAL."""
        return CategoryCounts.of(row.category for row in self.of_type(pipeline, query_type))

    def five_point(self, pipeline: str, measure: str) -> float | None:
        """Mean of a measure on the scale of 1 to 5, each answer rounded as the thesis does."""
        values = [row.scores.get(measure) for row in self.rows[pipeline]]
        return mean_of_judged(None if value is None else float(five_point(value)) for value in values)

    @cached_property
    def comparisons(self) -> dict[tuple[str, str], Comparison]:
        """Each pipeline and type against the baseline by the main measure."""
        found = {}
        for pipeline in self.pipelines:
            for query_type in (ALL, *self.types):
                ours, theirs = self.of_type(pipeline, query_type), self.of_type(self.baseline, query_type)
                if pipeline == self.baseline or [r.question for r in ours] != [r.question for r in theirs]:
                    continue
                one = compare_paired(
                    [row.scores.get(self.main) for row in ours],
                    [row.scores.get(self.main) for row in theirs],
                    clusters=[row.cluster for row in ours],
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
        shown = f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
        if best == self.baseline:
            return Verdict(query_type, best, interval, False, f"the baseline {best} ({shown}); nothing is better")
        one, p = self.comparisons.get((best, query_type)), self.holm.get((best, query_type), 1.0)
        if one is None:
            return Verdict(
                query_type, best, interval, False, f"{best} ({shown}); not asked the same questions as the baseline"
            )
        gain = (
            f"{one.difference.value:+.2f} [{one.difference.low:+.2f}, {one.difference.high:+.2f}] over {self.baseline}"
        )
        if p < ALPHA and one.difference.value > 0:
            return Verdict(query_type, best, interval, True, f"{best} ({shown}), {gain}, p = {p:.3f} after Holm")
        if not one.wins and not one.losses:
            words = f"no difference: nothing has a better mean than {self.baseline} ({shown})"
        else:
            words = (
                f"not decided: {best} has the best mean ({shown}), {gain}, p = {p:.2f} after Holm; "
                f"with {one.n} questions only a difference from {one.detectable:.2f} would show"
            )
        return Verdict(query_type, best, interval, False, words)


def summarise(run: Run, *, preset: Preset) -> Summary:
    """Compute every figure of a run; repeats of a cell are averaged."""
    settings = run.settings
    questions = {question.id: question for question in run.questions()}
    gathered: dict[str, dict[str, list[Row]]] = {pipeline: {} for pipeline in settings.pipelines}
    missing = dict.fromkeys(settings.pipelines, 0)
    parts: dict[str, int] = {}
    for result in run.results():
        question = questions[result.cell.question]
        if result.answer is None or result.judgement is None:
            missing[result.cell.pipeline] += 1
        for part in result.judgement.failures if result.judgement is not None else ():
            parts[part] = parts.get(part, 0) + 1
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
        rows=rows,
        missing=missing,
        parts_missing=parts,
    )


def _row(question: GoldQuestion, result: Result, preset: Preset) -> Row:
    known = result.answer is not None and result.judgement is not None
    measured: Mapping[str, float | None] = {}
    kind: Category | None = None
    if known:
        assert result.answer is not None and result.judgement is not None  # noqa: S101
        measured = scores(question, result.answer, result.judgement, preset=preset)
        kind = answer_category(result.judgement, preset=preset)
    return Row(question.id, question.query_type, question.cluster, measured, kind)


def _averaged(rows: Sequence[Row]) -> Row:
    """Average the repeats of one question; its category is the first's."""
    if len(rows) == 1:
        return rows[0]
    measures = dict.fromkeys(measure for row in rows for measure in row.scores)
    mean = {measure: mean_of_judged(row.scores.get(measure) for row in rows) for measure in measures}
    first = rows[0]
    return Row(first.question, first.query_type, first.cluster, mean, first.category)
