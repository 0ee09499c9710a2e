"""`kgrag judge calibrate`: how far a judge agrees with people on answers and on pairs of answers that they judged.

Kept in a run, it lets the run's report correct the share of right answers for the judge's errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kgrag.common.progress import Progress, Silent, Step
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge import rules
from kgrag.evaluate.judge.calibration import Agreement, PairAgreement, agreement, pair_agreement, read_calibration
from kgrag.evaluate.judge.judgement import Judge, Judgement, ToJudge
from kgrag.evaluate.judge.judges import open_judge
from kgrag.evaluate.judge.metrics import category
from kgrag.evaluate.judge.presets import Preset, load_preset
from kgrag.evaluate.judge.verdicts import CorrectnessVerdict
from kgrag.evaluate.runs import Run
from kgrag.evaluate.statistics import Interval
from kgrag.models import CHAT_MODELS, open_chat_model, open_embedder
from kgrag.models.names import JUDGE
from kgrag.settings import Settings
from kgrag.types import Answer

__all__ = ["Calibration", "calibrate"]

RIGHT_COVERAGE = 0.5
"""Of the reference, from which an answer that is not wrong counts as right, as people's 0.5 does."""


class Calibration(BaseModel):
    """What was found out about a judge; either part is None where the file has no such lines."""

    model_config = ConfigDict(frozen=True)

    judge: str
    answers: Agreement | None = None
    """Of "right or partly right, half of the reference at least" with people's right."""
    as_reported: Agreement | None = None
    """Of category TP, which a report counts as right, with people's right."""
    pairs: tuple[PairAgreement, ...] = ()
    first_missing: str = ""
    """Why the first answer that was not judged could not be."""

    def lines(self) -> list[str]:
        """Say it in lines."""
        found = [f"Judge {self.judge}" + (f": {rules.BLIND}" if self.judge == "rules" else "")]
        if (one := self.answers) is not None:
            found.append(
                f"Right or wrong, {one.n} answers ({one.missing} not judged): accuracy {_shown(one.accuracy)}, kappa {one.kappa:.2f}; "
                f"right ones found {one.right[0]}/{one.right[1]}, wrong ones {one.wrong[0]}/{one.wrong[1]}"
            )
        if (one := self.as_reported) is not None:
            found.append(
                f"As a report counts (right is category TP): right ones found {one.right[0]}/{one.right[1]}, "
                f"wrong ones {one.wrong[0]}/{one.wrong[1]}"
            )
        for pair in self.pairs:
            ceiling = "" if pair.human_ceiling is None else f"; one person against the other {pair.human_ceiling:.2f}"
            found.append(
                f"Better or worse, {pair.aspect}, {pair.n} pairs: Pearson {_shown(pair.pearson)}, Spearman {_shown(pair.spearman)}{ceiling}"
            )
        return found


def _shown(one: Interval | None) -> str:
    if one is None:
        return "not defined (the judge or people say the same of all pairs)"
    return f"{one:.2f}"


async def calibrate(
    file: Path,
    *,
    judge: str,
    preset: str,
    settings: Settings,
    run: Run | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Judge what a calibration file has and compare with people; `run` is where what was found out is kept.

    Of a model only what is compared is asked: one call for each answer, two for each pair, `concurrency` of the settings at once. Raises
    `InputError` for the file and for a run of another judge, `ModelError` for the judge.
    """
    scored, pairs = read_calibration(file)
    chosen = load_preset(preset)
    model = None if judge in CHAT_MODELS else open_chat_model(judge, settings=settings, setting=JUDGE)
    judging = open_judge(model, embedder=open_embedder(settings.embedder, settings=settings), preset=chosen)
    if run is not None and run.settings.judge_fingerprint != judging.fingerprint:
        raise InputError(
            f"{run.folder}: its judge is {run.settings.judge} with the preset {run.settings.preset} and the embedder "
            f"{run.settings.embedder}; expected the same here, got {judge} with {preset} and {settings.embedder}, or judge that run anew."
        )
    if run is not None and not scored:
        raise InputError(
            f"{file}: expected answers that people called right or wrong, got only pairs: no rate can be corrected by them."
        )
    asked = [(one.question, one.reference, one.answer) for one in scored]
    compared = [(one.question, one.reference, text) for one in pairs for text in (one.answer_a, one.answer_b)]
    by_rules = judging.name == "rules"
    asked += [] if by_rules else compared
    with (progress or Silent()).step("Judge", len(asked), "answers") as step:
        judged = await _judged(judging, asked, concurrency=settings.concurrency, step=step)
    verdicts, goodness = judged[: len(scored)], [_goodness(one) for one in judged[len(scored) :]]
    failed = [reason for one in judged if one.correctness is None for reason in one.failures.values()]
    first_missing = failed[0] if failed else ""
    answers = as_reported = None
    if scored:
        if all(one.correctness is None for one in verdicts):
            raise InputError(
                f"{file}: expected verdicts of the judge {judge}, got none that can be read of {len(scored)} answers"
                f"{f': {first_missing}' if first_missing else '.'}"
            )
        human = [one.human for one in scored]
        answers = agreement(human, [_right(one.correctness, chosen) for one in verdicts])
        as_reported = agreement(
            human,
            [None if (one := each.correctness) is None else category(one, preset=chosen) == "TP" for each in verdicts],
        )
        if run is not None:
            run.put_calibration(judging.fingerprint, chosen.name, as_reported)
    found: tuple[PairAgreement, ...] = ()
    if pairs:
        if by_rules:
            goodness = [rules.preference(*one) for one in compared]
        differences = [_difference(b, a) for a, b in zip(goodness[::2], goodness[1::2], strict=True)]
        aspects = sorted(set.intersection(*(set(person) for one in pairs for person in one.humans)))
        found = tuple(pair_agreement(pairs, differences, aspect=aspect) for aspect in aspects)
    return Calibration(
        judge=judging.name, answers=answers, as_reported=as_reported, pairs=found, first_missing=first_missing
    )


async def _judged(
    judge: Judge, answers: Sequence[tuple[str, str, str]], *, concurrency: int, step: Step
) -> list[Judgement]:
    """Judge answers (question, reference, answer) by their correctness alone, in the order given."""
    at_once = asyncio.Semaphore(concurrency)

    async def judged(question: str, reference: str, answer: str) -> Judgement:
        async with at_once:
            asked = ToJudge(_question(question, reference), _answer(question, answer), only={"correctness"})
            done = await judge.judge(asked)
        step.advance()
        return done

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(judged(*one)) for one in answers]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _right(verdict: CorrectnessVerdict | None, preset: Preset) -> bool | None:
    if verdict is None:
        return None
    return category(verdict, preset=preset) in ("TP", "PARTIAL") and verdict.coverage >= RIGHT_COVERAGE


def _goodness(judged: Judgement) -> float | None:
    """Return how good a long answer is by a model: its coverage, less what is wrong."""
    if judged.correctness is None:
        return None
    return judged.correctness.coverage - {"low": 0.0, "medium": 0.25, "high": 0.5}[judged.correctness.severity]


def _difference(better: float | None, worse: float | None) -> float | None:
    return None if better is None or worse is None else better - worse


def _question(question: str, reference: str) -> GoldQuestion:
    return GoldQuestion(id="", question=question, facts=(), references=(reference,))


def _answer(question: str, text: str) -> Answer:
    return Answer(question=question, text=text, model="", pipeline="")
