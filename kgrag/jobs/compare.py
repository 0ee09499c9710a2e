"""`kgrag compare`: questions × pipelines × repeats, answered and judged, resumable at every cell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from kgrag.common.progress import Progress, Silent
from kgrag.errors import InputError, ModelReplyError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judgement import Judge
from kgrag.evaluate.runs import Cell, Run, RunSettings
from kgrag.types import Answer, Usage

__all__ = ["Asking", "CompareReport", "Outlook", "compare", "outlook"]

SAY_COST_EVERY_S = 30.0
JUDGE_CALLS = 8
"""Calls of a model that judges one answer: one for each part, two for nuggets."""
ASSUMED_PROMPT_TOKENS, ASSUMED_COMPLETION_TOKENS, ASSUMED_SECONDS = 3000, 150, 2.0
"""Of one call, until a run has answers to measure."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One of the pipelines that are compared: its name, a digest of all that it says, and how it answers."""

    pipeline: str
    digest: str
    ask: Callable[[str], Awaitable[Answer]]


@dataclass
class CompareReport:
    """What a comparison did; `failed` names cells without an answer or a judgement, which the same command tries again."""

    cells: int = 0
    answered: int = 0
    """By this run; the others had their answer."""
    judged: int = 0
    parts_missing: int = 0
    """Parts of this run's judgements that could not be judged."""
    failed: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Pipeline, question, stage and reason."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every cell has an answer and a judgement, with all its parts."""
        return not self.failed and not self.parts_missing


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a comparison would still do."""

    cells: int
    answers: int
    judgements: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    """At the pace of the answers that the run has; else a guess."""
    measured: bool


def cells_of(settings: RunSettings, questions: Sequence[GoldQuestion], askings: Sequence[Asking]) -> list[Cell]:
    """Name every cell, question by question, so that a run that is stopped early has some of every pipeline."""
    return [
        Cell.of(question, asking.pipeline, digest=asking.digest, settings=settings, repeat=repeat)
        for repeat in range(settings.repeats)
        for question in questions
        for asking in askings
    ]


def outlook(run: Run, settings: RunSettings, questions: Sequence[GoldQuestion], askings: Sequence[Asking]) -> Outlook:
    """Say what is missing and what it would take. Calls nothing and writes nothing."""
    cells = cells_of(settings, questions, askings)
    answered, judged = run.answered(), run.judged(settings.judge_fingerprint)
    missing = [cell for cell in cells if cell.key not in answered]
    unjudged = [cell for cell in cells if cell.key not in judged]
    known = [answer for cell in cells[:200] if (answer := run.answer(cell.key)) is not None]
    calls = (settings.model != "rules") * len(missing) + (settings.judge != "rules") * JUDGE_CALLS * len(unjudged)
    prompt = sum(one.usage.prompt_tokens for one in known) / len(known) if known else 0.0
    completion = sum(one.usage.completion_tokens for one in known) / len(known) if known else 0.0
    pace = sum(one.seconds for one in known) / len(known) if known else ASSUMED_SECONDS
    return Outlook(
        cells=len(cells),
        answers=len(missing),
        judgements=len(unjudged),
        calls=calls,
        prompt_tokens=round(calls * (prompt or ASSUMED_PROMPT_TOKENS)),
        completion_tokens=round(calls * (completion or ASSUMED_COMPLETION_TOKENS)),
        seconds=round(pace * len(missing) + (settings.judge != "rules") * pace * len(unjudged), 1),
        measured=bool(known),
    )


async def compare(
    run: Run,
    settings: RunSettings,
    questions: Sequence[GoldQuestion],
    askings: Sequence[Asking],
    *,
    judge: Judge,
    concurrency: int,
    progress: Progress | None = None,
) -> CompareReport:
    """Answer and judge every cell that is not yet: each is kept at once, so a run that is killed goes on where it was.

    A cell whose model gives no usable reply, or whose question cannot be asked through its pipeline, is failed and named, and the rest
    goes on. Raises `ModelUnavailable`, other `ModelError` and `StoreError`, which would meet every cell; what was done is kept.
    """
    progress, started = progress or Silent(), time.perf_counter()
    cells = cells_of(settings, questions, askings)
    run.plan(settings, questions, cells)
    report = CompareReport(cells=len(cells))
    by_id = {question.id: question for question in questions}
    ask = {asking.pipeline: asking.ask for asking in askings}
    spent = _Spending(report, progress)

    async def answer(cell: Cell) -> None:
        try:
            answer = await ask[cell.pipeline](by_id[cell.question].question)
        except (ModelReplyError, InputError) as error:
            spent.add(error.usage if isinstance(error, ModelReplyError) else Usage())
            run.put_failure(cell.key, "answer", str(error))
        else:
            run.put_answer(cell.key, answer)
            report.answered += 1
            spent.add(answer.usage)

    async def judged(cell: Cell) -> None:
        answer = run.answer(cell.key)
        if answer is None:
            return
        judgement = await judge.judge(by_id[cell.question], answer)
        run.put_judgement(cell.key, judge.fingerprint, judgement)
        report.judged += 1
        spent.add(judgement.usage)

    answered = run.answered()
    await _each([cell for cell in cells if cell.key not in answered], answer, "Answer", concurrency, progress)
    there = run.judged(judge.fingerprint)
    await _each([cell for cell in cells if cell.key not in there], judged, "Judge", concurrency, progress)
    for result in run.results():
        for stage, reason in result.failures.items():
            report.failed.append((result.cell.pipeline, result.cell.question, stage, reason))
        if result.judgement is not None:
            report.parts_missing += len(result.judgement.failures)
    report.seconds = round(time.perf_counter() - started, 3)
    return report


async def _each(
    cells: Sequence[Cell], do: Callable[[Cell], Awaitable[None]], name: str, concurrency: int, progress: Progress
) -> None:
    """Do something for each cell, so many at once; the first error that is not a cell's own ends all."""
    waiting = iter(cells)
    with progress.step(name, len(cells), "answers") as step:

        async def worker() -> None:
            for cell in waiting:
                await do(cell)
                step.advance()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(cells))):
                    group.create_task(worker())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None


class _Spending:
    """Adds up what was used, and says the cost now and then."""

    def __init__(self, report: CompareReport, progress: Progress) -> None:
        self._report, self._progress, self._said = report, progress, time.monotonic()

    def add(self, usage: Usage) -> None:
        """Count what one call used."""
        self._report.usage += usage
        if usage.calls and time.monotonic() - self._said > SAY_COST_EVERY_S:
            self._said = time.monotonic()
            used = self._report.usage
            tokens = used.prompt_tokens + used.completion_tokens
            self._progress.say(f"So far {used.calls:,} calls, {tokens:,} tokens, {used.cost:.2f} dollars.")
