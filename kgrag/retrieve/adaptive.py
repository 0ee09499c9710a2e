"""`adaptive`: the pipeline that is best for the type of the question."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import get_args

from kgrag.errors import ModelReplyError, PipelineError
from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.models.reply_schema import TEXT, object_of
from kgrag.retrieve import prompts
from kgrag.retrieve.pipeline import AdaptivePipeline, Pipeline, load_pipeline
from kgrag.retrieve.retriever import CHAT_HINT, Retrieval, Retriever
from kgrag.retrieve.step import Change
from kgrag.store.graph import GraphStore
from kgrag.text.questions import QuestionType, type_by_rules
from kgrag.types import Evidence, Usage

__all__ = ["TYPES", "AdaptiveRetriever", "ask_type", "open_retriever"]

TYPES: tuple[QuestionType, ...] = get_args(QuestionType)


class AdaptiveRetriever:
    """Tells a question's type, by the chat model if there is one, else by rules, and retrieves by the pipeline of that type.

    Without a learnt map there is nothing to tell: the pipeline `otherwise` is taken, no model is asked, and a remark says so. Raises as
    `Retriever` does, and `PipelineError` where the map names another adaptive pipeline.
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
        self.pipeline = pipeline
        self.store = store
        self._map = pipeline.adaptive.map
        self._chat = chat
        if self._map and chat is None and pipeline.adaptive.without_model is None:
            raise PipelineError(
                f"Pipeline {pipeline.name}: telling the type of a question needs a chat model, and none is set. {CHAT_HINT}."
            )
        self._by_name: dict[str, Retriever] = {}
        for name in sorted({pipeline.adaptive.otherwise, *self._map.values()}):
            chosen = load_pipeline(name)
            if isinstance(chosen, AdaptivePipeline):
                raise PipelineError(f"Pipeline {pipeline.name}: expected pipelines that are not adaptive, got {name}.")
            self._by_name[name] = Retriever(store, embedder, chosen, chat=chat, reranker=reranker, graph=graph)

    async def retrieve(self, question: str, *, top: int | None = None, budget: int | None = None) -> list[Evidence]:
        """Find evidence for a question, best first; see `Retriever.retrieve`."""
        return (await self.trace(question, top=top, budget=budget)).evidence

    async def trace(
        self, question: str, *, top: int | None = None, budget: int | None = None, hidden: Collection[str] = ()
    ) -> Retrieval:
        """Find evidence as `Retriever.trace` does, and say what each step changed. `why` of each piece says the type and the pipeline."""
        name, why, usage, asked = self.pipeline.adaptive.otherwise, "", Usage(), tuple[Change, ...]()
        if not self._map:
            remark = (
                f"{self.pipeline.name}: no map is learnt, every question takes {name}; kgrag bench retrieval --learn FILE learns one "
                "from questions with gold evidence"
            )
        else:
            started = time.perf_counter()
            kind, usage, remark = await self._type(question)
            if usage.calls:
                asked = (Change("question type", 1, time.perf_counter() - started, usage=usage),)
            name = self._map.get(kind, name)
            why = f"adaptive: {kind} → {name}"
        found = await self._by_name[name].trace(question, top=top, budget=budget, hidden=hidden)
        return replace(
            found,
            evidence=[
                piece.model_copy(update={"why": (*piece.why, why)}) if why else piece for piece in found.evidence
            ],
            changes=(*asked, *found.changes),
            usage=usage + found.usage,
            remarks=(*((remark,) if remark else ()), *found.remarks),
        )

    async def _type(self, question: str) -> tuple[QuestionType, Usage, str]:
        if self._chat is None or not question.strip():
            return type_by_rules(question), Usage(), ""
        return await ask_type(self._chat, question)


async def ask_type(model: ChatModel, question: str) -> tuple[QuestionType, Usage, str]:
    """Ask the model for the type; a reply that is none gives that of the rules, and what was wrong with it (else empty)."""
    schema = object_of(type={**TEXT, "enum": list(TYPES)})
    try:
        reply = await model.reply(prompts.messages(prompts.QUESTION_TYPE, question=question), schema=schema)
    except ModelReplyError as error:
        return type_by_rules(question), error.usage, f"the type of the question is told by rules: {error}"
    said = reply.data.get("type") if isinstance(reply.data, Mapping) else None
    if said not in TYPES:
        wrong = (
            f"the type of the question is told by rules: expected one of {', '.join(TYPES)}, got {reply.text[:80]!r}"
        )
        return type_by_rules(question), reply.usage, wrong
    return said, reply.usage, ""


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
