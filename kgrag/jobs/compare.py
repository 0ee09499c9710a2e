"""`kgrag compare`: questions × pipelines × repeats, answered and judged, resumable at every cell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial

from kgrag.common.progress import Progress, Silent
from kgrag.errors import InputError, ModelReplyError
from kgrag.evaluate.judge.judgement import ToJudge
from kgrag.evaluate.runs import Cell, Run, judge_key
from kgrag.jobs.comparison import Comparison, Rejudge, judged_cells
from kgrag.models import CHAT_MODELS
from kgrag.models.cached import fresh_replies, nth_reply
from kgrag.types import Usage

__all__ = ["CompareReport", "compare", "dollars"]

SAY_COST_EVERY_S = 30.0


@dataclass
class CompareReport:
    """What a comparison did; `failed` names cells without an answer or a judgement, which the same command tries again."""

    cells: int = 0
    answered: int = 0
    """By this run; the others had their answer."""
    judged: int = 0
    parts_missing: int = 0
    """Parts of this run's judgements that could not be judged."""
    first_missing: str = ""
    """Why the first of them could not be."""
    failed: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Pipeline, question, stage and reason."""
    usage: Usage = field(default_factory=Usage)
    without_price: str | None = None
    """Models that were asked and have no known price: the cost in `usage` is without theirs."""
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every cell has an answer and a judgement, with all its parts."""
        return not self.failed and not self.parts_missing


def dollars(cost: float, *, without_price: str | None) -> str:
    """Say what was paid, as far as prices are known."""
    return f"{cost:.2f} dollars" + (f" (no known price of {without_price}: --prices)" if without_price else "")


async def compare(
    run: Run,
    comparison: Comparison,
    *,
    concurrency: int,
    rejudge: Rejudge = "missing",
    progress: Progress | None = None,
) -> CompareReport:
    """Answer and judge every cell that is not yet: each is kept at once, so a run that is killed goes on where it was.

    `rejudge` also judges what is judged: the parts that `failed`, or `all` of it; then models are asked anew, whatever is in the cache.

    `concurrency` calls of models are under way at once; what needs no model is done one after the other, so that its seconds are its own.

    A cell whose model gives no usable reply, or whose question cannot be asked through its pipeline, is failed and named, and the rest
    goes on. Raises `ModelUnavailable`, other `ModelError` and `StoreError`, which would meet every cell; what was done is kept.
    """
    progress, started = progress or Silent(), time.perf_counter()
    cells, judge, settings = comparison.cells, comparison.judge, comparison.settings
    run.plan(settings, comparison.questions, cells)
    unpriced = settings.made_with.get("without_price")
    report = CompareReport(cells=len(cells), without_price=None if unpriced is None else str(unpriced))
    by_id = {question.id: question for question in comparison.questions}
    ask = {asking.pipeline: asking.ask for asking in comparison.askings}
    spent = _Spending(report, progress)

    def at_once(model: str) -> int:
        return 1 if model in CHAT_MODELS else concurrency

    async def answer(cell: Cell) -> None:
        try:
            with nth_reply(cell.repeat):
                answer = await ask[cell.pipeline](by_id[cell.question])
        except (ModelReplyError, InputError) as error:
            spent.add(error.usage if isinstance(error, ModelReplyError) else Usage())
            run.put_failure(cell.key, "answer", str(error))
        else:
            run.put_answer(cell.key, answer)
            report.answered += 1
            spent.add(answer.usage)

    async def judge_once_more(cell: Cell, *, repeat: int, key: str) -> None:
        answer = run.answer(cell.key)
        if answer is None:
            return
        before = run.judgement(cell.key, key) if rejudge == "failed" else None
        with nth_reply(repeat), nullcontext() if rejudge == "missing" else fresh_replies():
            judgement = await judge.judge(ToJudge(by_id[cell.question], answer, before=before))
        run.put_judgement(cell.key, key, judgement)
        report.judged += 1
        spent.add(judgement.usage)

    answered = run.answered()
    unanswered = [cell for cell in _in_turns(cells, len(comparison.askings)) if cell.key not in answered]
    await _each(unanswered, answer, "Answer", at_once(settings.model), progress)
    for repeat in range(settings.judge_repeats):
        key = judge_key(judge.fingerprint, repeat)
        there = judged_cells(run, key, rejudge)
        unjudged = [cell for cell in cells if cell.key not in there]
        once_more = partial(judge_once_more, repeat=repeat, key=key)
        await _each(unjudged, once_more, "Judge", at_once(settings.judge), progress)
    for result in run.results():
        for stage, reason in result.failures.items():
            report.failed.append((result.cell.pipeline, result.cell.question, stage, reason))
        missing = [reason for one in result.judgements for reason in one.failures.values()]
        report.parts_missing += len(missing)
        report.first_missing = report.first_missing or next(iter(missing), "")
    report.seconds = round(time.perf_counter() - started, 3)
    return report


def _in_turns(cells: Sequence[Cell], pipelines: int) -> Iterator[Cell]:
    """Yield the cells question by question, so that a run that is stopped early has some of every pipeline.

    Each question begins with the next pipeline: what is remembered from the others (vectors of the same passages, the database's pages)
    makes none of them look faster.
    """
    for turn, start in enumerate(range(0, len(cells), pipelines)):
        of_question, first = cells[start : start + pipelines], turn % pipelines
        yield from (*of_question[first:], *of_question[:first])


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
            self._progress.say(
                f"So far {used.calls:,} calls, {tokens:,} tokens, {dollars(used.cost, without_price=self._report.without_price)}."
            )
