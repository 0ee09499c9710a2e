"""`kgrag judge calibrate`: how far a judge agrees with people on answers and on pairs of answers that they judged.

Kept in a run, it lets the run's report correct the share of right answers for the judge's errors.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kgrag.common.waiting import wait_for
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge import rules
from kgrag.evaluate.judge.calibration import Agreement, PairAgreement, agreement, pair_agreement, read_calibration
from kgrag.evaluate.judge.judgement import Judge
from kgrag.evaluate.judge.judges import open_judge
from kgrag.evaluate.judge.metrics import category
from kgrag.evaluate.judge.presets import Preset, load_preset
from kgrag.evaluate.judge.verdicts import CorrectnessVerdict
from kgrag.evaluate.runs import Run
from kgrag.evaluate.statistics import Interval
from kgrag.models import CHAT_MODELS, open_chat_model, open_embedder
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
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]"


def calibrate(file: Path, *, judge: str, preset: str, settings: Settings, run: Run | None = None) -> Calibration:
    """Judge what a calibration file has and compare with people; `run` is where what was found out is kept.

    Raises `InputError` for the file and for a run of another judge, `ModelError` for the judge.
    """
    scored, pairs = read_calibration(file)
    chosen = load_preset(preset)
    model = None if judge in CHAT_MODELS else open_chat_model(judge, settings=settings)
    judging = open_judge(model, embedder=open_embedder(settings.embedder, settings=settings), preset=chosen)
    if run is not None and run.settings.judge_fingerprint != judging.fingerprint:
        raise InputError(
            f"{run.folder}: its judge is {run.settings.judge} with the preset {run.settings.preset} and the embedder "
            f"{run.settings.embedder}; expected the same here, got {judge} with {preset} and {settings.embedder}, or judge that run anew."
        )
    answers = as_reported = None
    if scored:
        verdicts = [wait_for(_correctness(judging, one.question, one.reference, one.answer)) for one in scored]
        if not any(verdicts):
            raise InputError(
                f"{file}: expected verdicts of the judge {judge}, got none that can be read of {len(scored)} answers."
            )
        human = [one.human for one in scored]
        answers = agreement(human, [_right(one, chosen) for one in verdicts])
        as_reported = agreement(
            human, [None if one is None else category(one, preset=chosen) == "TP" for one in verdicts]
        )
        if run is not None:
            run.put_calibration(judging.fingerprint, chosen.name, as_reported)
    elif run is not None:
        raise InputError(
            f"{file}: expected answers that people called right or wrong, got only pairs: no rate can be corrected by them."
        )
    found: tuple[PairAgreement, ...] = ()
    if pairs:
        differences = [
            _difference(
                wait_for(_goodness(judging, one.question, one.reference, one.answer_b)),
                wait_for(_goodness(judging, one.question, one.reference, one.answer_a)),
            )
            for one in pairs
        ]
        aspects = sorted(set.intersection(*(set(person) for one in pairs for person in one.humans)))
        found = tuple(pair_agreement(pairs, differences, aspect=aspect) for aspect in aspects)
    return Calibration(judge=judging.name, answers=answers, as_reported=as_reported, pairs=found)


async def _correctness(judge: Judge, question: str, reference: str, answer: str) -> CorrectnessVerdict | None:
    return (await judge.judge(_question(question, reference), _answer(question, answer))).correctness


def _right(verdict: CorrectnessVerdict | None, preset: Preset) -> bool | None:
    if verdict is None:
        return None
    return category(verdict, preset=preset) in ("TP", "PARTIAL") and verdict.coverage >= RIGHT_COVERAGE


async def _goodness(judge: Judge, question: str, reference: str, answer: str) -> float | None:
    """Return how good a long answer is: by rules its overlap with the reference, by a model its coverage, less what is wrong."""
    if judge.name == "rules":
        return rules.preference(question, reference, answer)
    judged = await judge.judge(_question(question, reference), _answer(question, answer))
    if judged.correctness is None:
        return None
    return judged.correctness.coverage - {"low": 0.0, "medium": 0.25, "high": 0.5}[judged.correctness.severity]


def _difference(better: float | None, worse: float | None) -> float | None:
    return None if better is None or worse is None else better - worse


def _question(question: str, reference: str) -> GoldQuestion:
    return GoldQuestion(id="", question=question, facts=(), references=(reference,))


def _answer(question: str, text: str) -> Answer:
    return Answer(question=question, text=text, model="", pipeline="")
