"""An open store for who has no event loop: `KnowledgeGraph` waits for `AsyncKnowledgeGraph`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, suppress
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from kgrag.common.waiting import wait_for
from kgrag.errors import InputError
from kgrag.knowledge_graph.asynchronous import AsyncKnowledgeGraph
from kgrag.knowledge_graph.opened import OpenedGraph, chosen_settings, open_chosen
from kgrag.models import EMBEDDERS, open_embedder
from kgrag.models.opened import OpenedModels
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.opening import import_driver

if TYPE_CHECKING:
    from kgrag.models.base import Embedder

__all__ = ["KnowledgeGraph", "expect_open_graph", "open_graph"]

P = ParamSpec("P")
T = TypeVar("T")


def open_graph(
    store: str | Path | None = None,
    *,
    create: bool = True,
    reads_only: bool = False,
    asks_next: bool = False,
    **settings: Any,
) -> KnowledgeGraph:
    """Open a store: a folder (embedded database, made if `create`) or a `neo4j://` address.

    `settings` are those of `kgrag.settings.Settings` (embedder, model, pipeline, ...); what is not given comes from `KGRAG_*`, then
    `kgrag.toml`. Who `reads_only` gets a copy of the last finished build where another process has the folder open, or it may not be
    written to. Who `asks_next` has what answers a question loaded while the database starts. Raises `InputError` for a setting that is not
    allowed or a store that does not exist, `StoreLocked` where another process has the folder open, `StoreUnavailable` where the database
    cannot be reached.

        kg = kgrag.open("./my.kg")
        kg.build("docs/")
        print(kg.ask("What is the supply voltage of the X-100?").text)
    """
    if not asks_next:
        return KnowledgeGraph(*open_chosen(store, create=create, reads_only=reads_only, settings=settings))
    chosen = chosen_settings(store, settings)
    embedder = open_embedder(chosen.embedder, settings=chosen) if chosen.embedder in EMBEDDERS else None
    threading.Thread(target=_load, args=(embedder,), name="kgrag-load").start()
    opened = open_store(chosen.store, create=create, reads_only=reads_only)
    return KnowledgeGraph(opened, chosen, models=OpenedModels(chosen, embedder=embedder))


def _load(embedder: Embedder | None) -> None:
    """Load what answers a question; what cannot be loaded is found again, and said, where it is needed."""
    with suppress(Exception):
        import_driver()
        import kgrag.jobs.ask  # noqa: F401

        if embedder is not None:
            asyncio.run(embedder.embed_queries(["warm"]))


def _waiting(
    method: Callable[Concatenate[AsyncKnowledgeGraph, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[KnowledgeGraph, P], T]:
    """Make the synchronous form of a method."""

    def wait(graph: KnowledgeGraph, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return wait_for(method(graph.asynchronous, *args, **kwargs))

    update_wrapper(wait, method)  # its name and docstring, and the signature that `help` shows
    return wait


class KnowledgeGraph(OpenedGraph):
    """An open store with the models and the pipeline that it is used with. Close it, or use it as a context manager.

    Each method waits for that of the same name of `AsyncKnowledgeGraph`, in one background event loop: connections are kept between
    calls. It can be used from several threads, and where an event loop runs (a notebook).
    """

    def __init__(self, store: GraphStore, settings: Settings, *, models: OpenedModels | None = None) -> None:
        super().__init__(store, settings, models=models)
        self.asynchronous = AsyncKnowledgeGraph(store, settings, models=self.models)
        """The same graph for callers with an event loop of their own."""

    build = _waiting(AsyncKnowledgeGraph.build)
    delete = _waiting(AsyncKnowledgeGraph.delete)
    resolve = _waiting(AsyncKnowledgeGraph.resolve)
    undo_resolve = _waiting(AsyncKnowledgeGraph.undo_resolve)
    explain_merge = _waiting(AsyncKnowledgeGraph.explain_merge)
    communities = _waiting(AsyncKnowledgeGraph.communities)
    show_communities = _waiting(AsyncKnowledgeGraph.show_communities)
    predict_relations = _waiting(AsyncKnowledgeGraph.predict_relations)
    undo_predictions = _waiting(AsyncKnowledgeGraph.undo_predictions)
    retrieve = _waiting(AsyncKnowledgeGraph.retrieve)
    trace = _waiting(AsyncKnowledgeGraph.trace)
    ask = _waiting(AsyncKnowledgeGraph.ask)
    complete_question = _waiting(AsyncKnowledgeGraph.complete_question)
    graph_of_chunks = _waiting(AsyncKnowledgeGraph.graph_of_chunks)
    neighbours = _waiting(AsyncKnowledgeGraph.neighbours)
    compare = _waiting(AsyncKnowledgeGraph.compare)
    compare_outlook = _waiting(AsyncKnowledgeGraph.compare_outlook)
    make_questions = _waiting(AsyncKnowledgeGraph.make_questions)
    train_ranker = _waiting(AsyncKnowledgeGraph.train_ranker)
    train_links = _waiting(AsyncKnowledgeGraph.train_links)
    tune = _waiting(AsyncKnowledgeGraph.tune)
    status = _waiting(AsyncKnowledgeGraph.status)
    types = _waiting(AsyncKnowledgeGraph.types)
    cypher = _waiting(AsyncKnowledgeGraph.cypher)
    digest = _waiting(AsyncKnowledgeGraph.digest)
    warm = _waiting(AsyncKnowledgeGraph.warm)

    def outlasting(self, say: Callable[[str], None]) -> AbstractContextManager[None]:
        """Within the block, wait for a database server or a model that is away; see `AsyncKnowledgeGraph.outlasting`."""
        return self.asynchronous.outlasting(say)

    def where(self, *conditions: str) -> KnowledgeGraph:
        """Return the graph of the documents of which `FIELD=VALUE` holds; see `AsyncKnowledgeGraph.where`. It is closed with this one."""
        limited = wait_for(self.asynchronous.where(*conditions))
        return KnowledgeGraph(limited.store, self.settings, models=self.models)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def expect_open_graph(graph: Any) -> KnowledgeGraph:
    """Return what is an open graph. Raises `InputError` for anything else."""
    if not isinstance(graph, KnowledgeGraph):
        raise InputError(f"Expected an open graph, such as kgrag.open({str(graph)!r}, create=False), got {graph!r}.")
    return graph
