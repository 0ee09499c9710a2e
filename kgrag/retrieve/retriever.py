"""A question → evidence, by the steps of a pipeline, in this order:

query preparation → vector → seeds and names → names preferred → adjacent → expansions → texts → proximity → rerank →
near-duplicates → breadth → budget → order
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kgrag.errors import InputError
from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.retrieve.adjacent import SupportAdjacent
from kgrag.retrieve.breadth import SPREAD, SpreadOut
from kgrag.retrieve.communities import AddCommunities
from kgrag.retrieve.find import EmbedQuery, FindSeeds
from kgrag.retrieve.finish import FETCHED_AT_LEAST, Arrange, FitBudget, LeaveOutNearDuplicates, ReadTexts
from kgrag.retrieve.links import FollowLinks
from kgrag.retrieve.names import PreferNamed
from kgrag.retrieve.neighbourhood import ExpandOverGraph
from kgrag.retrieve.pagerank import RankByWalk
from kgrag.retrieve.paths import FollowPaths
from kgrag.retrieve.pipeline import Pipeline
from kgrag.retrieve.preparation.steps import prepare
from kgrag.retrieve.proximity import PreferOneSentence
from kgrag.retrieve.rerank.step import RerankEvidence
from kgrag.retrieve.settings import (
    CommunityExpansion,
    Expansion,
    GraphExpansion,
    LinkExpansion,
    PageRankExpansion,
    PathExpansion,
)
from kgrag.retrieve.state import Change, Query, Resources, State, Step, run_step
from kgrag.retrieve.variant import graph_for, variant
from kgrag.store.graph import GraphStore
from kgrag.types import Evidence, Usage

__all__ = ["Retrieval", "Retriever", "steps_of"]


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


def steps_of(pipeline: Pipeline, resources: Resources) -> Iterator[Step]:
    """Yield the steps of a pipeline."""
    prepared = [step for step in pipeline.query if step.kind != "feedback"]
    moved = [step for step in pipeline.query if step.kind == "feedback"]
    yield from (prepare(step, resources) for step in prepared)
    yield EmbedQuery(resources)
    yield from (prepare(step, resources) for step in moved)
    yield FindSeeds(pipeline.seeds, pipeline.names, resources)
    if pipeline.names is not None:
        yield PreferNamed(pipeline.names)
    if pipeline.adjacent is not None:
        yield SupportAdjacent(pipeline.adjacent)
    yield from (_expand(settings, resources) for settings in pipeline.expansion)
    yield ReadTexts(resources, at_least=SPREAD if pipeline.breadth is not None else FETCHED_AT_LEAST)
    if pipeline.proximity is not None:
        yield PreferOneSentence(pipeline.proximity)
    if pipeline.rerank is not None:
        yield RerankEvidence(pipeline.rerank, resources)
    yield LeaveOutNearDuplicates(pipeline.context.near_duplicate)
    if pipeline.breadth is not None:
        yield SpreadOut(pipeline.breadth)
    yield FitBudget()
    if pipeline.context.order != "score":
        yield Arrange(pipeline.context.order)


def _expand(settings: Expansion, resources: Resources) -> Step:
    match settings:
        case LinkExpansion():
            return FollowLinks(settings, resources)
        case GraphExpansion():
            return ExpandOverGraph(settings, resources)
        case CommunityExpansion():
            return AddCommunities(settings, resources)
        case PathExpansion():
            return FollowPaths(settings, resources)
        case PageRankExpansion():
            return RankByWalk(settings, resources)


class Retriever:
    """Finds evidence in a store by one pipeline. Safe to use concurrently from one event loop.

    `chat` and `reranker` are for pipelines that ask one; `graph` replaces the pipeline's. Raises `PipelineError` where the pipeline
    needs a model that is not given and the file has no model-free variant, `InputError` where the store has no graph of that name.
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
        self.pipeline = variant(pipeline, chat=chat, reranker=reranker)
        used, there, self._remark = graph_for(store, pipeline, graph)
        self.resources = Resources(store, embedder, used, there, chat, reranker)
        self.steps = tuple(steps_of(self.pipeline, self.resources))

    async def retrieve(self, question: str, *, top: int | None = None, budget: int | None = None) -> list[Evidence]:
        """Find evidence for a question, best first.

        `top` (pieces) and `budget` (tokens) replace the pipeline's own limits: where one is given, only that one holds. Raises
        `InputError` for an empty question or a limit below 1, `StoreUnavailable` and `ModelError` where these fail.
        """
        return (await self.trace(question, top=top, budget=budget)).evidence

    async def trace(self, question: str, *, top: int | None = None, budget: int | None = None) -> Retrieval:
        """Find evidence as `retrieve` does, and say what each step changed."""
        if not question.strip():
            raise InputError("Expected a question, got an empty text.")
        for name, limit in (("top", top), ("budget", budget)):
            if limit is not None and limit < 1:
                raise InputError(f"Expected {name} to be at least 1, got {limit}.")
        if top is None and budget is None:
            top, budget = self.pipeline.context.top, self.pipeline.context.tokens
        remarks = (self._remark,) if self._remark else ()
        state = State(Query(question, question, question), top=top, tokens=budget, remarks=remarks)
        changes: list[Change] = []
        for step in self.steps:
            state, change = await run_step(step, state)
            changes.append(change)
        return Retrieval(list(state.evidence), self.pipeline.name, tuple(changes), state.usage, state.remarks)
