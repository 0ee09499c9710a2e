"""`kgrag judge pairs`: which of two pipelines' answers a judge prefers, pair by pair and in both orders."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict
from scipy import stats

from kgrag.common.progress import Progress, Silent
from kgrag.errors import InputError, ModelReplyError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judges import Pairwise, one_family
from kgrag.evaluate.runs import Run
from kgrag.models.base import ChatModel
from kgrag.types import Answer

__all__ = ["Preference", "compare_pairs"]


class Preference(BaseModel):
    """How often a judge preferred the answers of one pipeline to those of another."""

    model_config = ConfigDict(frozen=True)

    judge: str
    first: str
    second: str
    wins: int
    """Of the first."""
    ties: int
    losses: int
    flips: int
    """Of the ties those in which the verdict followed the order of the answers."""
    failed: Mapping[str, str]
    """Question → why it could not be judged; in no count."""
    p: float
    """Of the sign test: that both are preferred equally often."""
    one_family: bool
    """Whether judge and answerer are of one family."""

    @property
    def in_words(self) -> str:
        """Say it in a line or two."""
        n = self.wins + self.ties + self.losses
        flips = f"{self.flips} of {n} verdicts followed the order ({self.flips / n:.0%})" if n else "no verdict"
        warning = "\nJudge and answerer are of one family: a judge favours its own." if self.one_family else ""
        return (
            f"{self.first} against {self.second}, judged by {self.judge}: {self.wins} won, {self.ties} tied, {self.losses} lost, "
            f"p = {self.p:.3f} (sign test); {flips}; {len(self.failed)} could not be judged{warning}"
        )


async def compare_pairs(
    run: Run,
    first: str,
    second: str,
    *,
    model: ChatModel,
    only_differences: bool = False,
    concurrency: int,
    progress: Progress | None = None,
) -> Preference:
    """Judge every question that both pipelines have answered, each pair twice; equal answers are ties and cost nothing.

    A run's first repeat is taken. What a judge replied is in the cache of replies, so the same command after a kill asks only what is
    missing. Raises `InputError` for pipelines that the run does not have or that are one, and where both answered no question, and what the
    model raises that is not one reply's fault.
    """
    for name in (first, second):
        if name not in run.settings.pipelines:
            raise InputError(f"{run.folder}: expected one of {', '.join(run.settings.pipelines)}, got {name}.")
    if first == second:
        raise InputError(f"{run.folder}: expected two pipelines, got {first} twice.")
    answers: dict[str, dict[str, Answer]] = {}
    for result in run.results():
        if result.answer is not None and result.cell.repeat == 0:
            answers.setdefault(result.cell.question, {})[result.cell.pipeline] = result.answer
    asked = [one for one in run.questions() if {first, second} <= answers.get(one.id, {}).keys()]
    if not asked:
        raise InputError(
            f"{run.folder}: expected questions that both {first} and {second} have answered, got none: kgrag compare with the arguments "
            "of the run asks what is missing."
        )
    judge, at_once = Pairwise(model, only_differences=only_differences), asyncio.Semaphore(concurrency)
    verdicts: list[tuple[int, bool]] = []
    failed: dict[str, str] = {}
    with (progress or Silent()).step("Judge", len(asked), "pairs") as step:

        async def judged(question: GoldQuestion) -> None:
            ours, theirs = (answers[question.id][name].text for name in (first, second))
            async with at_once:
                try:
                    verdicts.append((0, False) if ours == theirs else await judge.compare(question, ours, theirs))
                except (ModelReplyError, KeyError) as error:
                    failed[question.id] = str(error)
                step.advance()

        try:
            async with asyncio.TaskGroup() as group:
                for one in asked:
                    group.create_task(judged(one))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
    wins, losses = (sum(verdict == side for verdict, _ in verdicts) for side in (1, -1))
    return Preference(
        judge=model.name,
        first=first,
        second=second,
        wins=wins,
        ties=len(verdicts) - wins - losses,
        losses=losses,
        flips=sum(flip for _, flip in verdicts),
        failed=failed,
        p=float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0,
        one_family=one_family(model.name, run.settings.model),
    )
