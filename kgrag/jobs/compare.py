"""`kgrag compare`: questions × pipelines × repeats, answered and judged, resumable at every cell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.metadata import version
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgrag.answer import read_instructions
from kgrag.common.progress import Progress, Silent
from kgrag.errors import InputError, ModelReplyError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judgement import Judge, ToJudge
from kgrag.evaluate.runs import Cell, Run, RunSettings, judge_key
from kgrag.jobs.ask import ask
from kgrag.models import CHAT_MODELS
from kgrag.models.base import ChatModel, Embedder
from kgrag.models.cached import fresh_replies, nth_reply
from kgrag.models.prices import PriceTable
from kgrag.retrieve import AdaptiveRetriever, Retriever
from kgrag.retrieve.pipeline import AdaptivePipeline, load_pipeline
from kgrag.settings import Settings
from kgrag.types import Answer, Usage, content_id

__all__ = [
    "Asking",
    "CompareOptions",
    "CompareReport",
    "Comparison",
    "Outlook",
    "compare",
    "dollars",
    "outlook",
    "pipeline_digest",
]

SAY_COST_EVERY_S = 30.0
JUDGE_CALLS = 8
"""Calls of a model that judges one answer: one for each part, two for nuggets."""
MEASURED_CELLS = 200
ASSUMED_PROMPT_TOKENS, ASSUMED_COMPLETION_TOKENS, ASSUMED_SECONDS = 3000, 150, 2.0
"""Of one call, until a run has answers to measure."""


class CompareOptions(BaseModel):
    """What is compared and how. Raises a `ValueError` where the baseline is not one of the pipelines."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pipelines: Annotated[tuple[str, ...], Field(min_length=1)]
    baseline: str | None = None
    """What the others are compared with; None is the first."""
    judge: str = "rules"
    """`rules` or a chat model."""
    preset: str = "strict"
    """Constants of the metrics (`kgrag.evaluate.judge.presets`)."""
    repeats: Annotated[int, Field(ge=1)] = 1
    judge_repeats: Annotated[int, Field(ge=1)] = 1
    """How often a model judges each answer: scores are means, and the report has the spread. `rules` always says the same."""
    top: Annotated[int, Field(ge=1)] | None = None
    budget: Annotated[int, Field(ge=1)] | None = None
    """Tokens of evidence, equal for all pipelines; None leaves each its own. The report says who did not fill it."""

    @model_validator(mode="after")
    def _baseline_is_asked(self) -> Self:
        if len(set(self.pipelines)) < len(self.pipelines):
            raise ValueError(f"expected each pipeline once, got {', '.join(self.pipelines)}")
        if self.baseline is not None and self.baseline not in self.pipelines:
            raise ValueError(f"expected the baseline to be one of {', '.join(self.pipelines)}, got {self.baseline!r}")
        if self.judge in CHAT_MODELS and self.judge_repeats > 1:
            raise ValueError(
                f"expected one judgement of the judge {self.judge}, which always says the same, got {self.judge_repeats}"
            )
        return self


@dataclass(frozen=True, slots=True)
class Asking:
    """One of the pipelines that are compared: its name, a digest of all that it says, and how it answers."""

    pipeline: str
    digest: str
    ask: Callable[[GoldQuestion], Awaitable[Answer]]


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


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a comparison would still do."""

    cells: int
    answers: int
    judgements: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """US dollars; None where a model is needed that has no known price."""
    seconds: float
    """One after the other, at the pace of what the run has; else a guess."""
    measured: bool


def dollars(cost: float, *, without_price: str | None) -> str:
    """Say what was paid, as far as prices are known."""
    return f"{cost:.2f} dollars" + (f" (no known price of {without_price}: --prices)" if without_price else "")


def pipeline_digest(name: str) -> str:
    """Hash all that a pipeline's file says, and of an adaptive one what the pipelines say that it chooses from."""
    chosen = load_pipeline(name)
    others = (
        sorted({chosen.adaptive.otherwise, *chosen.adaptive.map.values()})
        if isinstance(chosen, AdaptivePipeline)
        else []
    )
    return content_id(chosen.model_dump_json(), *(pipeline_digest(one) for one in others))


@dataclass(frozen=True)
class Comparison:
    """All that a comparison needs, read and opened."""

    settings: RunSettings
    questions: Sequence[GoldQuestion]
    askings: Sequence[Asking]
    judge: Judge

    @classmethod
    def prepare(
        cls,
        name: str,
        questions: Sequence[GoldQuestion],
        options: CompareOptions,
        *,
        retrievers: Mapping[str, Retriever | AdaptiveRetriever],
        judge: Judge,
        corpus: str,
        embedder: Embedder,
        model: ChatModel | None,
        settings: Settings,
        prices: PriceTable,
    ) -> Self:
        """Wire the questions of a file to pipelines, one answer model, one template and one budget for all, and a judge."""

        def asking(pipeline: str) -> Asking:
            async def answer(question: GoldQuestion) -> Answer:
                return await ask(
                    question.question,
                    retriever=retrievers[pipeline],
                    embedder=embedder,
                    settings=settings.model_copy(update={"pipeline": pipeline}),
                    model=model,
                    top=options.top,
                    budget=options.budget,
                    hidden=question.hidden,
                )

            return Asking(pipeline, pipeline_digest(pipeline), answer)

        defaults = Settings.model_fields
        sampled = [
            f"{name} {getattr(settings, name)}"
            for name in ("temperature", "seed", "max_completion_tokens")
            if model is not None and getattr(settings, name) != defaults[name].default
        ]
        asked_models = dict.fromkeys(one for one in (settings.model, judge.name) if one not in CHAT_MODELS)
        made_with = RunSettings(
            questions_file=name,
            store=settings.store,
            corpus=corpus,
            embedder=embedder.name,
            model=settings.model,
            judge=judge.name,
            judge_fingerprint=judge.fingerprint,
            preset=options.preset,
            template=content_id(
                read_instructions(settings.answer_prompt, open_knowledge=settings.open_knowledge),
                str(settings.answer_strict),
                *([f"gate {settings.answer_gate:g}"] if settings.answer_gate else []),
                *([f"{settings.answer_chain} {settings.chain_tokens}"] if settings.answer_chain != "stuff" else []),
                settings.graph or "",
                settings.reranker or "",
                *sampled,
            ),
            made_with={
                "kgrag": version("kgrag"),
                "answer_prompt": str(settings.answer_prompt) if settings.answer_prompt else "kgrag's own",
                "open_knowledge": settings.open_knowledge,
                "strict": settings.answer_strict,
                "gate": settings.answer_gate,
                "chain": settings.answer_chain,
                "chain_tokens": settings.chain_tokens,
                "graph": settings.graph,
                "reranker": settings.reranker,
                "temperature": None if model is None else settings.temperature,
                "seed": None if model is None else settings.seed,
                "without_price": ", ".join(one for one in asked_models if prices.of(one) is None) or None,
            },
            top=options.top,
            budget=options.budget,
            repeats=options.repeats,
            judge_repeats=options.judge_repeats,
            pipelines=options.pipelines,
            baseline=options.baseline,
        )
        return cls(made_with, questions, [asking(one) for one in options.pipelines], judge)

    @cached_property
    def cells(self) -> list[Cell]:
        """Every cell, question by question: repeats, then questions, then pipelines."""
        return [
            Cell.of(question, asking.pipeline, digest=asking.digest, settings=self.settings, repeat=repeat)
            for repeat in range(self.settings.repeats)
            for question in self.questions
            for asking in self.askings
        ]


def outlook(
    run: Run | None,
    comparison: Comparison,
    *,
    prices: PriceTable,
    rejudge: Literal["missing", "failed", "all"] = "missing",
) -> Outlook:
    """Say what is missing in a run (None: it was not begun) and what it would take, with all that `compare` would judge again.

    Calls nothing and writes nothing.
    """
    settings, cells = comparison.settings, comparison.cells
    judges = [judge_key(settings.judge_fingerprint, repeat) for repeat in range(settings.judge_repeats)]
    answered = set[str]() if run is None else run.answered()
    judged = {judge: set[str]() if run is None else _judged(run, judge, rejudge) for judge in judges}
    unanswered = sum(cell.key not in answered for cell in cells)
    unjudged = sum(cell.key not in judged[judge] for judge in judges for cell in cells)
    answers, judgements = ([], []) if run is None else _measured(run, cells, answered, judges[0])
    expected, costs = Usage(), list[float | None]()
    for model, known, calls, count in (
        (settings.model, answers, 1, unanswered),
        (settings.judge, judgements, JUDGE_CALLS, unjudged),
    ):
        usage = _expected(model, known, calls=calls, count=count)
        price = prices.of(model)
        costs.append(0.0 if not usage.calls else None if price is None else price.of(usage))
        expected += usage
    return Outlook(
        cells=len(cells),
        answers=unanswered,
        judgements=unjudged,
        calls=expected.calls,
        prompt_tokens=expected.prompt_tokens,
        completion_tokens=expected.completion_tokens,
        cost=None if None in costs else round(sum(one or 0.0 for one in costs), 4),
        seconds=round(expected.seconds, 1),
        measured=bool(answers),
    )


def _measured(run: Run, cells: Sequence[Cell], answered: set[str], judge: str) -> tuple[list[Usage], list[Usage]]:
    """Return what the first answers and the first judgements of a run took, so many of each at most."""
    answers, judgements = list[Usage](), list[Usage]()
    for cell in cells:
        if cell.key in answered and len(answers) < MEASURED_CELLS and (answer := run.answer(cell.key)) is not None:
            answers.append(answer.usage.model_copy(update={"seconds": answer.seconds}))
        if len(judgements) < MEASURED_CELLS and (judgement := run.judgement(cell.key, judge)) is not None:
            judgements.append(judgement.usage)
        if len(answers) == len(judgements) == MEASURED_CELLS:
            break
    return answers, judgements


def _judged(run: Run, judge: str, rejudge: Literal["missing", "failed", "all"]) -> set[str]:
    """Keys of the cells that a judge need not judge again."""
    match rejudge:
        case "all":
            return set()
        case "failed":
            return run.judged(judge) - run.failed_judgements(judge)
        case "missing":
            return run.judged(judge)


def _expected(model: str, known: Sequence[Usage], *, calls: int, count: int) -> Usage:
    """Expect of so many more cells what those that are known took on average, or what is assumed of one call."""
    asks = model not in CHAT_MODELS
    # What came from the cache of replies cost nothing and says nothing of what is not in it.
    paid = [one for one in known if one.calls] if asks else known
    if not paid:
        assumed = ASSUMED_SECONDS * calls if asks or not known else 0.0
        each = Usage(
            calls=calls * asks,
            prompt_tokens=ASSUMED_PROMPT_TOKENS * calls * asks,
            completion_tokens=ASSUMED_COMPLETION_TOKENS * calls * asks,
            seconds=assumed if asks or calls == 1 else 0.0,
        )
        return _times(each, count)
    return _times(sum(paid, Usage()), count / len(paid))


def _times(usage: Usage, factor: float) -> Usage:
    return Usage(
        calls=round(usage.calls * factor),
        prompt_tokens=round(usage.prompt_tokens * factor),
        completion_tokens=round(usage.completion_tokens * factor),
        seconds=usage.seconds * factor,
    )


async def compare(
    run: Run,
    comparison: Comparison,
    *,
    concurrency: int,
    rejudge: Literal["missing", "failed", "all"] = "missing",
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
        there = _judged(run, key, rejudge)
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
