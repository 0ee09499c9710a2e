"""`adaptive`: the pipeline that is best for the type of the question."""

from __future__ import annotations

from dataclasses import replace

from kgrag.errors import PipelineError
from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.retrieve.pipeline import AdaptivePipeline, Pipeline, load_pipeline
from kgrag.retrieve.question_type import ask_type
from kgrag.retrieve.retriever import Retrieval, Retriever
from kgrag.retrieve.variant import CHAT_HINT
from kgrag.store.graph import GraphStore
from kgrag.text.questions import type_by_rules
from kgrag.types import Evidence, Usage

__all__ = ["AdaptiveRetriever", "open_retriever"]


class AdaptiveRetriever:
    """Tells a question's type, by the chat model if there is one, else by rules, and retrieves by the pipeline of that type.

    Raises as `Retriever` does, and `PipelineError` where the map names another adaptive pipeline.
    """

    def __init__(
        self,
        store: GraphStore,
        embedder: Embedder,
        pipeline: AdaptivePipeline,
        *,
        chat: ChatModel | None = None,
        reranker: Reranker | None = None,
        graph: str | None = None,
    ) -> None:
        if chat is None and pipeline.adaptive.without_model is None:
            raise PipelineError(
                f"Pipeline {pipeline.name}: telling the type of a question needs a chat model, and none is set. {CHAT_HINT}."
            )
        self.pipeline = pipeline
        self._chat = chat
        self._by_name: dict[str, Retriever] = {}
        for name in sorted({pipeline.adaptive.otherwise, *pipeline.adaptive.map.values()}):
            chosen = load_pipeline(name)
            if isinstance(chosen, AdaptivePipeline):
                raise PipelineError(f"Pipeline {pipeline.name}: expected pipelines that are not adaptive, got {name}.")
            self._by_name[name] = Retriever(store, embedder, chosen, chat=chat, reranker=reranker, graph=graph)

    async def retrieve(self, question: str, *, top: int | None = None, budget: int | None = None) -> list[Evidence]:
        """Find evidence for a question, best first; see `Retriever.retrieve`."""
        return (await self.trace(question, top=top, budget=budget)).evidence

    async def trace(self, question: str, *, top: int | None = None, budget: int | None = None) -> Retrieval:
        """Find evidence as `retrieve` does, and say what each step changed. `why` of each piece says the type and the pipeline."""
        usage, remark = Usage(), ""
        if self._chat is not None and question.strip():
            kind, usage, remark = await ask_type(self._chat, question)
        else:
            kind = type_by_rules(question)
        name = self.pipeline.adaptive.map.get(kind, self.pipeline.adaptive.otherwise)
        found = await self._by_name[name].trace(question, top=top, budget=budget)
        why = f"adaptive: {kind} → {name}"
        return replace(
            found,
            evidence=[piece.model_copy(update={"why": (*piece.why, why)}) for piece in found.evidence],
            usage=usage + found.usage,
            remarks=(*((remark,) if remark else ()), *found.remarks),
        )


def open_retriever(
    store: GraphStore,
    embedder: Embedder,
    pipeline: Pipeline | AdaptivePipeline,
    *,
    chat: ChatModel | None = None,
    reranker: Reranker | None = None,
    graph: str | None = None,
) -> Retriever | AdaptiveRetriever:
    """Return what retrieves by a pipeline; see `Retriever` for the arguments and what is raised."""
    if isinstance(pipeline, AdaptivePipeline):
        return AdaptiveRetriever(store, embedder, pipeline, chat=chat, reranker=reranker, graph=graph)
    return Retriever(store, embedder, pipeline, chat=chat, reranker=reranker, graph=graph)
