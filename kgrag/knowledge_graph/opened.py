"""What both faces of an open store have: `OpenedGraph`, which needs no event loop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kgrag.errors import InputError
from kgrag.extract import check_extractor_name
from kgrag.models import check_model_names
from kgrag.models.opened import OpenedModels
from kgrag.settings import Settings, load_settings
from kgrag.store.graph import GraphStore, open_store

if TYPE_CHECKING:
    from kgrag.models.base import ChatModel, Embedder, Reranker
    from kgrag.models.meter import Meter
    from kgrag.retrieve import AdaptiveRetriever, Retriever

__all__ = ["OpenedGraph", "chosen_settings", "open_chosen"]


def chosen_settings(store: str | Path | None, settings: dict[str, Any]) -> Settings:
    """Return the settings by these, the environment and `kgrag.toml`, models and extractors named as they may be. Raises `InputError`."""
    if not isinstance(store, str | Path | None):
        raise InputError(f"Expected a store as a folder or an address, got {store!r}.")
    chosen = load_settings(store=None if store is None else str(store), **settings)
    check_model_names(chosen)
    for name in chosen.extractor:
        check_extractor_name(name)
    return chosen


def open_chosen(
    store: str | Path | None, *, create: bool, settings: dict[str, Any], reads_only: bool = False
) -> tuple[GraphStore, Settings]:
    """Open the store that the settings name; see `open_graph`."""
    chosen = chosen_settings(store, settings)
    return open_store(chosen.store, create=create, reads_only=reads_only), chosen


class OpenedGraph:
    """An open store with the settings that it is used with, and the models and pipelines that these name."""

    def __init__(self, store: GraphStore, settings: Settings, *, models: OpenedModels | None = None) -> None:
        """`models` are those of the settings, where others use them too."""
        self.store = store
        self.settings = settings
        self.models = models or OpenedModels(settings)
        """Opened on first use."""

    def __repr__(self) -> str:
        return f"kgrag.open({self.settings.store!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("An open store cannot be pickled: expected each process to call kgrag.open itself.")

    @property
    def embedder(self) -> Embedder:
        """The embedding model of the settings."""
        return self.models.embedder

    @property
    def model(self) -> ChatModel | None:
        """The chat model of the settings; None where they say `rules`. Raises `ModelError` where its key is missing."""
        return self.models.chat

    @property
    def reranker(self) -> Reranker | None:
        """The reranker of the settings; None where they name none. Raises `ModelError` where its key is missing."""
        return self.models.reranker

    @property
    def meter(self) -> Meter:
        """What hosted models used and cost since this was opened."""
        return self.models.meter

    def graph_names(self, graph: str | None = None) -> list[str]:
        """Return the graphs to work on: the one that is given, or all. Raises `InputError` where the store does not have it, or none."""
        if graph:
            self.store.graphs.counts_of(graph)
            return [graph]
        graphs = list(self.store.graphs.counts())
        if not graphs:
            raise InputError("The store has no graph yet. Fill it with kgrag build PATH...")
        return graphs

    def graph_name(self, graph: str | None = None) -> str:
        """Return the name of a graph: the one that is given, or the only one.

        Raises `InputError` where the store does not have it, or where it has to be given.
        """
        if graph is not None:
            self.store.graphs.counts_of(graph)
            return graph
        graphs = list(self.store.graphs.counts())
        if len(graphs) == 1:
            return graphs[0]
        raise InputError(f"Say which graph: the store has {', '.join(graphs) or 'none yet; run kgrag build'}.")

    def retriever(self, pipeline: str) -> Retriever | AdaptiveRetriever:
        """Return what retrieves by a pipeline (a name or a TOML file), with the models and the graph of the settings."""
        from kgrag.retrieve import load_pipeline, open_retriever

        chosen = load_pipeline(pipeline)
        self.store.check(self.embedder.name, self.embedder.dimensions)
        return open_retriever(
            self.store, self.embedder, chosen, chat=self.model, reranker=self.reranker, graph=self.settings.graph
        )
