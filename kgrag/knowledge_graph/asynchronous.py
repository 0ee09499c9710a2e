"""An open store for who has an event loop: `AsyncKnowledgeGraph`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from kgrag.errors import InputError
from kgrag.knowledge_graph.arguments import checks_arguments
from kgrag.knowledge_graph.measured import MeasuredGraph
from kgrag.knowledge_graph.opened import open_chosen
from kgrag.models import CHAT_MODELS
from kgrag.models.opened import OpenedModels
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.store.kept import KeptUntilBuilt
from kgrag.types import Answer, Community, Document, Evidence, Usage

if TYPE_CHECKING:
    from kgrag.common.progress import Progress
    from kgrag.communities import CommunityReport
    from kgrag.communities.summary import Summariser
    from kgrag.extract.base import Extractor
    from kgrag.jobs.complete import CompletionReport
    from kgrag.jobs.neighbourhood import AnswerGraph, Neighbours
    from kgrag.jobs.report import BuildReport
    from kgrag.jobs.resolve import Explanation, ResolveReport
    from kgrag.models.base import ChatModel
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
class AsyncKnowledgeGraph(MeasuredGraph):
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

    async def build(
        self,
        *paths: str | Path,
        metadata: str | Path | None = None,
        keep_missing: bool = False,
        progress: Progress | None = None,
    ) -> BuildReport:
        """Make the store hold what files and folders hold: what is unchanged is left alone, what is gone from a folder goes.

        `metadata` is a file that gives documents their product, category and version; `keep_missing` keeps what is gone. A file that cannot
        be read and a chunk that cannot be extracted are failures in the report, which the same call tries again; the rest goes on. Raises
        `InputError` for a path that does not exist, `StoreMismatch` where another embedder made the store, `StoreError` and `ModelError`
        where the database or a model is away for longer than `wait_s`. See `kgrag.jobs.build.build`.
        """
        from kgrag.documents.discovery import given_path
        from kgrag.engines import open_engine
        from kgrag.jobs.build import build
        from kgrag.models.expected import ExpectingChatModel

        if not paths:
            raise InputError("build: expected files or folders, such as build('manuals'), got none.")
        given = [given_path(path) for path in paths]
        asked = self._extracting_model
        before = dict(self.meter.usage)
        model = None if asked is None else ExpectingChatModel(asked)
        extractors = self._extractors(model)  # a wrong prompt or schema file is found before any call
        # The others ask for plain text.
        by_schema = {"llm"} | ({"graph_transformer"} if self.settings.transformer_mode == "tool" else set())
        await self.models.require(
            ["embedder"] if asked is None else ["chat", "embedder"],
            structured=not by_schema.isdisjoint(self.settings.extractor),
        )
        engine = await asyncio.to_thread(open_engine, self.settings, progress=progress)
        try:
            report = await self._write(
                build(
                    given,
                    store=self.store,
                    embedder=self.embedder,
                    extractors=extractors,
                    settings=self.settings,
                    model=model,
                    metadata=None if metadata is None else Path(metadata),
                    keep_missing=keep_missing,
                    engine=engine,
                    progress=progress,
                )
            )
        finally:
            engine.close()
        report.models = {
            name: used - before.get(name, Usage())
            for name, used in sorted(self.meter.usage.items())
            if used != before.get(name)
        }
        return report

    async def delete(self, document: str, *, progress: Progress | None = None) -> list[Document]:
        """Take what has a path, an id or a title out of the store, and return the documents that went. Raises `InputError` if unknown."""
        from kgrag.jobs.build import delete
        from kgrag.jobs.chosen_documents import documents_called

        found = documents_called(document, await asyncio.to_thread(self.store.documents.all))
        job = delete(
            found,
            store=self.store,
            embedder=self.embedder,
            extractors=self._corpus_wide_extractors(),
            settings=self.settings,
            progress=progress,
        )
        await self._write(job)
        return found

    async def resolve(
        self,
        *,
        graph: str | None = None,
        method: str = "rules",
        model: ChatModel | None = None,
        threshold: float | None = None,
        generic: Sequence[str] | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ResolveReport:
        """Merge the entities of a graph that are one thing. `graph` may be left out where the store has one.

        `method` is `rules` (scored, model-free), `llm` (asks `model`, or that of the settings), `thesis`, `threshold` or `none`.
        `threshold` is the score, above 0 and at most 1, from which the rules say yes (0.9), or the cosine of the method `threshold`
        (0.95); `generic` replaces the words that say nothing of what a thing is. With `dry_run` the report has the plan alone. Raises
        `InputError` for an unknown graph or method, and for `llm` without a model. See docs/resolution.md.
        """
        from kgrag.jobs.resolve import resolve

        return await self._write(
            resolve(
                self.store,
                await self._named(graph),
                embedder=self.embedder,
                method=method,
                model=self.model if model is None and method == "llm" else model,
                threshold=threshold,
                generic=generic,
                dry_run=dry_run,
                progress=progress,
            ),
            dry_run=dry_run,
        )

    async def undo_resolve(self, *, graph: str | None = None, progress: Progress | None = None) -> int:
        """Take every merge of a graph back; return how many there were."""
        from kgrag.jobs.resolve import undo

        return await self._write(undo(self.store, await self._named(graph), embedder=self.embedder, progress=progress))

    async def explain_merge(
        self, name: str, other: str | None = None, *, graph: str | None = None
    ) -> list[Explanation]:
        """Say why the entities of a name are merged with what they are, or why two names are or are not one."""
        from kgrag.jobs.resolve import explain

        return await asyncio.to_thread(lambda: explain(self.store, self.graph_name(graph), name, other))

    async def communities(
        self,
        /,
        *,
        graph: str | None = None,
        fresh: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        **settings: Any,
    ) -> CommunityReport:
        """Find the communities of a graph and summarise those that changed. `graph` may be left out where the store has one.

        `settings` are those of `kgrag.communities.CommunitySettings`: seed, k, cutoff, relations, max_size, summary_floor, budget. `fresh`
        finds communities from nothing, not from those that are there. Raises `InputError` for an unknown graph or setting. See
        docs/communities.md.
        """
        from kgrag.communities.chat import ChatSummariser
        from kgrag.communities.rules import RulesSummariser
        from kgrag.communities.settings import community_settings
        from kgrag.jobs.communities import update_communities

        chosen, name = community_settings(settings), self.settings.model
        if name in CHAT_MODELS:
            summariser: Summariser = RulesSummariser()
        else:
            summariser = ChatSummariser(name, lambda: self.models.chat_named(name), price=self.meter.prices.of(name))
        return await self._write(
            update_communities(
                self.store,
                graph=await self._named(graph),
                embedder=self.embedder,
                summariser=summariser,
                settings=chosen,
                fresh=fresh,
                dry_run=dry_run,
                progress=progress,
            ),
            dry_run=dry_run,
        )

    async def predict_relations(
        self,
        *,
        graph: str | None = None,
        method: str = "rules",
        precision: float = 0.1,
        per_question: int = 3,
        seed: int = 7,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> CompletionReport:
        """Predict relations of a graph that no document states, kept apart from those that are: the step `predicted` may follow them.

        `method` is `rules`, `complex`, `transe`, `common-neighbours` or `adamic-adar`. `precision` is the least share, 0 to 1, of such
        predictions that held-out relations confirmed; `per_question` the most for one entity and relation. Raises `InputError` for an
        unknown graph or method, and where there are too few relations to hold some out. See docs/completion.md.
        """
        from kgrag.jobs.complete import complete

        name = await self._named(graph)
        await asyncio.to_thread(self.store.bind, self.embedder.name, self.embedder.dimensions)
        return await self._write(
            complete(
                self.store,
                name,
                method=method,
                precision=precision,
                per_question=per_question,
                seed=seed,
                dry_run=dry_run,
                progress=progress,
            ),
            dry_run=dry_run,
        )

    async def undo_predictions(self, *, graph: str | None = None) -> int:
        """Take the predicted edges of a graph out; return how many there were."""
        name = await self._named(graph)
        await asyncio.to_thread(self.store.bind, self.embedder.name, self.embedder.dimensions)
        return await self._write(asyncio.to_thread(self.store.predictions.delete, name))

    async def show_communities(self, *, graph: str | None = None) -> list[Community]:
        """Return the communities of a graph that have a label, coarsest and largest first."""
        stored = (await asyncio.to_thread(lambda: self.store.communities.of_graph(self.graph_name(graph)))).values()
        return [one.community for one in stored if one.community is not None]

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

    async def _write(self, job: Coroutine[Any, Any, T], *, dry_run: bool = False) -> T:
        """Run a job that changes the store; what retrieval remembers of it is read again. Raises `InputError` where that only reads."""
        if self.store.reads_only and not dry_run:
            job.close()
            raise InputError(
                "Expected a store that may be changed, got one that was opened with reads_only=True, or is limited by where or seen_by: "
                "kgrag.open(STORE) opens it to be changed, all of it."
            )
        try:
            return await job
        finally:
            self._retrievers.clear()
            self._seen.forget()
            self.store.kept.forget()

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

    def _extractors(self, model: ChatModel | None) -> list[Extractor]:
        from kgrag.extract import open_extractor

        return [open_extractor(name, model=model, settings=self.settings) for name in self.settings.extractor]

    @property
    def _extracting_model(self) -> ChatModel | None:
        """The chat model, where an extractor asks one: a build without such needs no key."""
        from kgrag.extract import asks_model

        return self.model if any(map(asks_model, self.settings.extractor)) else None

    def _corpus_wide_extractors(self) -> list[Extractor]:
        """Those of the store's graphs in which other chunks say something else when a document goes: no model is asked for that."""
        from kgrag.extract import open_extractor

        name = (self.settings.graph if self.settings.extractor == ("mention",) else None) or "mention"
        return [open_extractor("mention")] if name in self.store.graphs.counts() else []

    async def _named(self, graph: str | None) -> str:
        return await asyncio.to_thread(self.graph_name, graph)

    def _graph_to_show(self, graph: str | None) -> str:
        """Return the graph that is looked at: the one that is given, the settings' own, or the store's first."""
        names = self.graph_names(graph or self.settings.graph)
        return "mention" if "mention" in names else names[0]
