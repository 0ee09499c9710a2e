"""A question → evidence, by the steps of a pipeline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from kgrag.errors import InputError, PipelineError
from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.retrieve.pipeline import Pipeline
from kgrag.retrieve.state import Query, Resources, State
from kgrag.retrieve.step import Change, ModelStep, Step, run_step
from kgrag.retrieve.steps import step_class
from kgrag.retrieve.steps.evidence import Budget
from kgrag.store.graph import GraphStore
from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import checked_question
from kgrag.types import Evidence, Listing, Usage

__all__ = ["CHAT_HINT", "Retrieval", "Retriever", "with_models"]

DEFAULT_GRAPH = "mention"
CHAT_HINT = "Set --model openai:NAME (or azure:, ollama:), or KGRAG_MODEL"
RERANKER_HINT = "Set KGRAG_RERANKER to sentence-transformers:NAME or cohere:NAME"
COHERE = "cohere:"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a question found, and how."""

    evidence: list[Evidence]
    pipeline: str
    """The pipeline that was taken: of `adaptive`, the one that it chose."""
    changes: tuple[Change, ...]
    """What each step changed, in order."""
    usage: Usage
    remarks: tuple[str, ...]
    """What did not go as the pipeline says, and what was done instead."""
    listing: Listing | None = None
    """What every thing of a sort is said to be, where the question counts or lists and the pipeline has the step `listing`."""


class Retriever:
    """Finds evidence in a store by one pipeline. Safe to use concurrently from one event loop.

    `chat` and `reranker` are for pipelines that ask one; `graph` replaces the pipeline's. Raises `PipelineError` where the pipeline
    needs a model that is not given and the file has no model-free variant, or communities that the store does not have, `InputError` where
    the store has no graph of that name.
    """

    def __init__(
        self,
        store: GraphStore,
        embedder: Embedder,
        pipeline: Pipeline,
        *,
        chat: ChatModel | None = None,
        reranker: Reranker | None = None,
        graph: str | None = None,
    ) -> None:
        self.pipeline = with_models(pipeline, chat=chat, reranker=reranker)
        used, there, self._remark = _graph_for(store, pipeline, graph)
        self.resources = Resources(store, embedder, used, there, chat, reranker)
        for step in self.pipeline.steps:
            try:
                step.check(self.resources)
            except PipelineError as error:
                raise PipelineError(f"Pipeline {pipeline.name}: {error}") from error

    @property
    def store(self) -> GraphStore:
        """The store that is searched."""
        return self.resources.store

    async def retrieve(self, question: str, *, top: int | None = None, budget: int | None = None) -> list[Evidence]:
        """Find evidence for a question, best first.

        `top` (pieces) and `budget` (tokens) replace the pipeline's own limits: where one is given, only that one holds. Raises
        `InputError` for an empty question or a limit below 1, `StoreUnavailable` and `ModelError` where these fail.
        """
        return (await self.trace(question, top=top, budget=budget)).evidence

    async def trace(
        self, question: str, *, top: int | None = None, budget: int | None = None, hidden: Collection[str] = ()
    ) -> Retrieval:
        """Find evidence as `retrieve` does, and say what each step changed; `hidden` chunks (ids) are taken out after every step."""
        state = replace(self.start(question, top=top, budget=budget), hidden=frozenset(hidden))
        changes: list[Change] = []
        for name, step in zip(self.pipeline.step_names, self.pipeline.steps, strict=True):
            state, change = await run_step(step, state, self.resources, name=name)
            changes.append(change)
        return Retrieval(
            list(state.evidence), self.pipeline.name, tuple(changes), state.usage, state.remarks, state.listing
        )

    def start(self, question: str, *, top: int | None = None, budget: int | None = None) -> State:
        """Return the state before the first step; raises as `retrieve` does."""
        question = without_courtesies(checked_question(question))
        for name, limit in (("top", top), ("budget", budget)):
            if limit is not None and limit < 1:
                raise InputError(f"Expected {name} to be at least 1, got {limit}.")
        if top is None and budget is None:
            limits = next((step for step in self.pipeline.steps if isinstance(step, Budget)), Budget())
            top, budget = limits.top, limits.tokens
        remarks = (self._remark,) if self._remark else ()
        return State(Query(question, question, question), top=top, tokens=budget, remarks=remarks)


def with_models(pipeline: Pipeline, *, chat: ChatModel | None, reranker: Reranker | None) -> Pipeline:
    """Return the pipeline as it runs with these models: steps that lack theirs in the model-free variant that the file declares.

    Raises `PipelineError` that names the model where the file declares none.
    """
    there = {
        "a chat model": chat is not None,
        "a reranker": reranker is not None,
        "a reranker of Cohere": reranker is not None and reranker.name.startswith(COHERE),
    }

    def runnable(step: Step) -> Step:
        if not isinstance(step, ModelStep) or there[step.asks]:
            return step
        instead = step_class(step.without_model) if step.without_model else None
        if instead is None:
            raise PipelineError(
                f"Pipeline {pipeline.name}: the step {step.kind!r} needs {step.asks}, and none is set. "
                f"{CHAT_HINT if 'chat' in step.asks else RERANKER_HINT}; or take a pipeline without it (kgrag pipelines), or a file whose "
                "step says without_model."
            )
        settings = step.model_dump(exclude={"kind", "without_model"}, include={*instead.model_fields})
        return instead.model_validate({"kind": step.without_model, **settings})

    return pipeline.model_copy(update={"steps": tuple(map(runnable, pipeline.steps))})


def _graph_for(store: GraphStore, pipeline: Pipeline, chosen: str | None) -> tuple[str, bool, str]:
    """Return the graph that a pipeline runs on, whether it is there, and a remark where it is not or is another one (else empty).

    Raises `InputError` where the user chose a graph that the store does not have, or that has no entities.
    """

    def there(graph: str | None) -> bool:
        return graph is not None and store.search.has_entities(graph)

    wanted = chosen or pipeline.graph or DEFAULT_GRAPH
    if there(wanted):
        return wanted, True, ""
    extracted = store.search.graph_names()
    known = [graph for graph in extracted if there(graph)]
    has = ", ".join(known) or "no graph"
    if chosen is not None and chosen in extracted:
        raise InputError(
            f"The graph {chosen!r} has no entities: its build was stopped before the first, or its extractor found none. "
            f"kgrag build --extractor {chosen} goes on with it; the store has {has}."
        )
    if chosen is not None:
        raise InputError(f"Expected --graph to be one of the store's: {has}; got {chosen!r}.")
    missing = f"{pipeline.name}: the store has no graph {wanted!r}"
    if pipeline.without_graph is not None and pipeline.without_graph in known:
        return pipeline.without_graph, True, f"{missing}; {pipeline.without_graph!r} is used, as the file says"
    if len(known) == 1:
        remark = f"{missing}; {known[0]!r}, its only one, is used" if pipeline.graph is not None else ""
        return known[0], True, remark
    return wanted, False, f"{missing} (it has {has}): steps that use it find nothing. Choose one with --graph"
