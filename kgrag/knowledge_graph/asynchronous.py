"""An open store for who has an event loop: `AsyncKnowledgeGraph`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from kgrag.knowledge_graph.arguments import checks_arguments
from kgrag.knowledge_graph.filled import FilledGraph
from kgrag.knowledge_graph.measured import MeasuredGraph
from kgrag.knowledge_graph.opened import open_chosen
from kgrag.models.opened import OpenedModels
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.store.kept import KeptUntilBuilt
from kgrag.types import Answer, Evidence, Usage

if TYPE_CHECKING:
    from kgrag.common.progress import Progress
    from kgrag.jobs.neighbourhood import AnswerGraph, Neighbours
    from kgrag.retrieve import AdaptiveRetriever, Retrieval, Retriever
    from kgrag.text.follow_ups import Completed

__all__ = ["AsyncKnowledgeGraph"]

T = TypeVar("T")

SEEN_CHECKED_EVERY_S = 1.0
"""The ledger is asked so often at most whether what somebody may read has changed."""


class _Outlast(Protocol):
    """Does work that calls models."""

    async def __call__(self, work: Callable[[], Awaitable[T]]) -> T: ...


async def _at_once(work: Callable[[], Awaitable[T]]) -> T:
    return await work()


_outlasting: ContextVar[_Outlast] = ContextVar("outlasting", default=_at_once)
"""What is done about a model that is away: by whoever asks many questions, in its tasks and threads."""


@checks_arguments
class AsyncKnowledgeGraph(FilledGraph, MeasuredGraph):
    """An open store with the models and the pipeline that it is used with. Close it, or use it as a context manager.

    Its methods run in the caller's event loop, what blocks in threads beside it; connections to models are kept as long as that loop
    lives.

        async with await AsyncKnowledgeGraph.open("./my.kg") as kg:
            answers = await asyncio.gather(*(kg.ask(question) for question in questions))
    """

    def __init__(self, store: GraphStore, settings: Settings, *, models: OpenedModels | None = None) -> None:
        super().__init__(store, settings, models=models)
        self._opening = threading.Lock()
        self._retrievers: dict[str, Retriever | AdaptiveRetriever] = {}
        self._seen = KeptUntilBuilt(store.search.ledger_state, checked_every_s=SEEN_CHECKED_EVERY_S)

    @classmethod
    async def open(
        cls, store: str | Path | None = None, *, create: bool = True, reads_only: bool = False, **settings: Any
    ) -> Self:
        """Open a store; see `open_graph`."""
        return cls(
            *await asyncio.to_thread(open_chosen, store, create=create, settings=settings, reads_only=reads_only)
        )

    async def seen_by(self, groups: Collection[str]) -> AsyncKnowledgeGraph:
        """Return the graph as whoever is in these groups sees it, with the same models: documents of other groups are as good as absent.

        They are left out by the database, of seeds, links, paths, communities and neighbourhoods. A document without groups is everybody's.
        Take it anew for each question: it is kept until something is built, and documents that come later are hidden in it.
        """
        known = frozenset(groups)

        def limited() -> AsyncKnowledgeGraph:
            # What may be read is listed, not what may not: a document that comes while somebody asks is hidden.
            return self._limited_to(
                [one.id for one in self.store.documents.all() if not one.groups or one.groups & known]
            )

        return await asyncio.to_thread(self._seen.get, known, limited)

    def _limited_to(self, documents: Collection[str]) -> AsyncKnowledgeGraph:
        """Return the graph of some documents (ids) alone, with the same models and the same count of what they use."""
        return AsyncKnowledgeGraph(self.store.limited_to(documents), self.settings, models=self.models)

    async def where(self, *conditions: str) -> AsyncKnowledgeGraph:
        """Return the graph of the documents of which `FIELD=VALUE` holds, with the same models: all others are as good as absent.

        A field is product, category, version, title, path, format, or one of the documents' metadata. Several conditions hold together;
        of one field, any of its values. Documents that come later are not in it. Raises `InputError` where no document has a value.
        """
        from kgrag.jobs.chosen_documents import documents_where

        def chosen() -> AsyncKnowledgeGraph:
            return self._limited_to(documents_where(conditions, self.store.documents.all()))

        return await asyncio.to_thread(chosen)

    async def retrieve(
        self, question: str, *, top: int | None = None, budget: int | None = None, pipeline: str | None = None
    ) -> list[Evidence]:
        """Find evidence for a question, best first; `top` and `budget` (tokens) replace the pipeline's own limits."""
        return (await self.trace(question, top=top, budget=budget, pipeline=pipeline)).evidence

    async def trace(
        self,
        question: str,
        *,
        top: int | None = None,
        budget: int | None = None,
        pipeline: str | None = None,
        hidden: Collection[str] = (),
    ) -> Retrieval:
        """Find evidence as `retrieve` does, with what each step changed and what did not go as the pipeline says.

        `hidden` chunks (ids) are as good as absent.
        """

        async def trace() -> Retrieval:
            retriever = await self._opened_retriever(pipeline)
            return await retriever.trace(question, top=top, budget=budget, hidden=hidden)

        return await _outlasting.get()(trace)

    @contextmanager
    def outlasting(self, say: Callable[[str], None]) -> Iterator[None]:
        """Within the block `ask`, `trace` and `retrieve` wait for a database server or a model that is away, for `wait_s` at most.

        For many questions, one after the other. `say` is told of each outage. Raises `ModelError` where the model's key is missing.
        """
        from kgrag.common.retry import outage_policy
        from kgrag.errors import ModelUnavailable
        from kgrag.models.watch import ModelWatch

        retry = outage_policy(self.settings.wait_s, say=say, then="")
        watch = ModelWatch(self.model, retry=retry)

        async def outlast(work: Callable[[], Awaitable[T]]) -> T:
            if watch.model is None:  # an embedder or a reranker then
                return await retry.acall(work, what="a model", again_on=ModelUnavailable)
            return await watch.outlast(work)

        before = _outlasting.set(outlast)
        try:
            with self.store.waiting(retry):
                yield
        finally:  # threads that wait end soon when the job is interrupted
            retry.stop()
            _outlasting.reset(before)

    async def ask(
        self,
        question: str,
        *,
        top: int | None = None,
        budget: int | None = None,
        pipeline: str | None = None,
        form: str = "",
        explanation: str = "",
        progress: Progress | None = None,
    ) -> Answer:
        """Answer a question with citations, or abstain and say what was looked for.

        `form` (`yes/no`, `number`, or as a person would say it) and `explanation` are what a model is told of the answer and the question.
        `pipeline` is taken instead of the settings' own. Cancelling ends the call of a model that is under way.
        """
        from kgrag.jobs.ask import ask

        async def answer() -> Answer:
            return await ask(
                question,
                retriever=await self._opened_retriever(pipeline),
                embedder=self.embedder,
                settings=self.settings if pipeline is None else self.settings.model_copy(update={"pipeline": pipeline}),
                model=self.model,
                top=top,
                budget=budget,
                form=form,
                explanation=explanation,
                progress=progress,
            )

        return await _outlasting.get()(answer)

    async def complete_question(
        self, question: str, turns: Sequence[str], *, product: str | None = None
    ) -> tuple[Completed, Usage]:
        """Make a follow-up a question of its own, from the questions before it (`turns`), by the model of the settings or by rules.

        Returns what it became, and what calls of the model used. `product` is what a question that names none is about.
        """
        from kgrag.jobs.follow_up import complete_by_model
        from kgrag.text.follow_ups import complete_question

        if self.model is None:
            return complete_question(question, turns, product=product), Usage()
        return await complete_by_model(question, turns, product=product, model=self.model)

    async def graph_of_chunks(
        self, chunks: Sequence[str], *, graph: str | None = None, entities: int = 14, relations: int = 40
    ) -> AnswerGraph:
        """Return the entities that chunks (ids) mention and the relations between them: what an answer rests on, small enough to be drawn.

        `entities` and `relations` are how many there are at most.
        """
        from kgrag.jobs.neighbourhood import graph_of_chunks

        name = await asyncio.to_thread(self._graph_to_show, graph)
        return await graph_of_chunks(self.store, name, chunks, entities=entities, relations=relations)

    async def neighbours(
        self, name: str, *, graph: str | None = None, relations: int = 30, chunks: int = 10
    ) -> list[Neighbours]:
        """Return what is known of the entities of a name: at most so many `relations` and `chunks` of each.

        Raises `InputError` where there is none of that name.
        """
        from kgrag.jobs.neighbourhood import neighbours

        chosen = await asyncio.to_thread(self._graph_to_show, graph)
        return await neighbours(self.store, self.embedder, chosen, name, relations=relations, chunks=chunks)

    async def warm(self) -> None:
        """Open the models and the pipeline of the settings: the first question then takes no longer than others. Raises as `ask` does."""
        await self._opened_retriever()
        await self.embedder.embed_queries(["warm"])

    async def status(self) -> dict[str, Any]:
        """Say what the store holds, as `kgrag status --json` does."""
        from kgrag.jobs.status import status

        return await asyncio.to_thread(status, self.store)

    async def types(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return by graph the types of its `entities` and `relations`, each with how many there are, most first."""
        return await asyncio.to_thread(self.store.graphs.types)

    async def cypher(
        self, statement: str, parameters: dict[str, Any] | None = None, *, max_rows: int | None = None
    ) -> list[dict[str, Any]]:
        """Run Cypher that only reads, for at most 30 s, and return its rows, the first `max_rows` where that is given.

        Raises `CypherWriteError` where it would write, `InputError` where it is wrong or took too long.
        """
        from contextlib import closing
        from itertools import islice

        def read() -> list[dict[str, Any]]:
            with closing(self.store.stream_query(statement, parameters)) as rows:
                return list(islice(rows, max_rows))

        return await asyncio.to_thread(read)

    async def digest(self) -> str:
        """Return the SHA-256 over the content of the store, in hexadecimal: equal content, equal digest, on either database."""
        return await asyncio.to_thread(self.store.digest)

    async def close(self) -> None:
        """Close the store."""
        await asyncio.to_thread(self.store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _forget(self) -> None:
        self._retrievers.clear()
        self._seen.forget()
        super()._forget()

    async def _opened_retriever(self, pipeline: str | None = None) -> Retriever | AdaptiveRetriever:
        """Return the retriever of a pipeline (None: that of the settings), opened on first use by one of those who ask for it."""
        name = pipeline or self.settings.pipeline

        def opened() -> Retriever | AdaptiveRetriever:
            with self._opening:
                if name not in self._retrievers:
                    self._retrievers[name] = self.retriever(name)
                return self._retrievers[name]

        known = self._retrievers.get(name)
        return await asyncio.to_thread(opened) if known is None else known

    def _graph_to_show(self, graph: str | None) -> str:
        """Return the graph that is looked at: the one that is given, the settings' own, or the store's first."""
        names = self.graph_names(graph or self.settings.graph)
        return "mention" if "mention" in names else names[0]
