"""What `kgrag compare` compares: options, and questions wired to pipelines, one answer model, one budget and a judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgrag.answer import read_instructions
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judgement import Judge
from kgrag.evaluate.runs import Cell, Run, RunSettings
from kgrag.jobs.ask import ask
from kgrag.models import CHAT_MODELS
from kgrag.models.base import ChatModel, Embedder
from kgrag.models.prices import PriceTable
from kgrag.retrieve import AdaptiveRetriever, Retriever
from kgrag.retrieve.pipeline import AdaptivePipeline, load_pipeline
from kgrag.settings import Settings
from kgrag.types import Answer, content_id

__all__ = ["Asking", "CompareOptions", "Comparison", "Rejudge", "judged_cells", "pipeline_digest"]

Rejudge: TypeAlias = Literal["missing", "failed", "all"]
"""Which cells are judged: those without a judgement, also those of which a part failed, or all of them."""


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

        asked_models = dict.fromkeys(one for one in (settings.model, judge.name) if one not in CHAT_MODELS)
        without_price = ", ".join(one for one in asked_models if prices.of(one) is None) or None
        made_with = RunSettings(
            questions_file=name,
            store=settings.store,
            corpus=corpus,
            embedder=embedder.name,
            model=settings.model,
            judge=judge.name,
            judge_fingerprint=judge.fingerprint,
            template=_template(settings, model),
            made_with=_made_with(settings, model) | {"without_price": without_price},
            **options.model_dump(exclude={"judge"}),
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


def _template(settings: Settings, model: ChatModel | None) -> str:
    """Hash all that an answer depends on besides its question, its evidence and the model's name."""
    sampled = [
        f"{field} {getattr(settings, field)}"
        for field in ("temperature", "seed", "max_completion_tokens")
        if model is not None and getattr(settings, field) != Settings.model_fields[field].default
    ]
    return content_id(
        read_instructions(settings.answer_prompt, open_knowledge=settings.open_knowledge),
        str(settings.answer_strict),
        *([f"gate {settings.answer_gate:g}"] if settings.answer_gate else []),
        *([f"{settings.answer_chain} {settings.chain_tokens}"] if settings.answer_chain != "stuff" else []),
        settings.graph or "",
        settings.reranker or "",
        *sampled,
    )


def _made_with(settings: Settings, model: ChatModel | None) -> dict[str, Any]:
    """Return what a report says of how its answers were made."""
    return {
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
    }


def judged_cells(run: Run, judge: str, rejudge: Rejudge) -> set[str]:
    """Keys of the cells that a judge need not judge again."""
    match rejudge:
        case "all":
            return set()
        case "failed":
            return run.judged(judge) - run.failed_judgements(judge)
        case "missing":
            return run.judged(judge)
