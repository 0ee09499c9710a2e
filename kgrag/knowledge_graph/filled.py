"""What fills an open store, and what is derived of it: `FilledGraph`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgrag.errors import InputError
from kgrag.knowledge_graph.arguments import checks_arguments
from kgrag.knowledge_graph.opened import OpenedGraph
from kgrag.models import CHAT_MODELS
from kgrag.types import Community, Document, Usage

if TYPE_CHECKING:
    from kgrag.common.progress import Progress
    from kgrag.communities import CommunityReport
    from kgrag.communities.summary import Summariser
    from kgrag.extract.base import Extractor
    from kgrag.jobs.complete import CompletionReport
    from kgrag.jobs.report import BuildReport
    from kgrag.jobs.resolve import Explanation, ResolveReport
    from kgrag.models.base import ChatModel

__all__ = ["FilledGraph"]

T = TypeVar("T")


@checks_arguments
class FilledGraph(OpenedGraph):
    """An open store with what changes it: documents that come and go, entities that are merged, communities, predicted relations."""

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

    async def show_communities(self, *, graph: str | None = None) -> list[Community]:
        """Return the communities of a graph that have a label, coarsest and largest first."""
        stored = (await asyncio.to_thread(lambda: self.store.communities.of_graph(self.graph_name(graph)))).values()
        return [one.community for one in stored if one.community is not None]

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
            self._forget()

    def _forget(self) -> None:
        """Forget what was made of the store before it changed."""
        self.store.kept.forget()

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
