"""What a build would do and cost, before a store is opened for it."""

from __future__ import annotations

from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.knowledge_graph.opened import chosen_settings
from kgrag.models import (
    CHAT_MODELS,
    open_chat_model,
    open_embedder,
)
from kgrag.store.graph import open_store, store_exists

if TYPE_CHECKING:
    from kgrag.common.progress import Progress
    from kgrag.jobs.estimate import Estimate

__all__ = ["estimate_build"]


def estimate_build(
    *paths: str | Path,
    store: str | Path | None = None,
    metadata: str | Path | None = None,
    progress: Progress | None = None,
    result: Estimate | None = None,
    **settings: Any,
) -> Estimate:
    """Estimate what `build` would do and cost: no model's server is called, and a store that is not there is not made.

    Needs no key. `result` is filled, and has what was counted until then where the estimate is interrupted.
    Raises `InputError` for a path that does not exist or a setting that is not allowed.
    """
    from kgrag.documents.discovery import given_path
    from kgrag.engines import open_engine
    from kgrag.errors import ModelError
    from kgrag.extract import open_extractor
    from kgrag.jobs.build import named_graphs
    from kgrag.jobs.estimate import estimate
    from kgrag.models.expected import CountingChatModel
    from kgrag.models.stack import open_cache

    chosen = chosen_settings(store, settings)
    embedder = open_embedder(chosen.embedder, settings=chosen)
    asked = None
    with suppress(ModelError):  # no key: then the cache has no replies either
        asked = None if chosen.model in CHAT_MODELS else open_chat_model(chosen.model, settings=chosen)
    model = CountingChatModel(chosen.model, asked=asked, cache=open_cache(chosen))
    hosted = None if chosen.model in CHAT_MODELS else model
    extractors = [open_extractor(name, model=hosted, settings=chosen) for name in chosen.extractor]
    opened = open_store(chosen.store, create=False, reads_only=True) if store_exists(chosen.store) else None
    with opened or nullcontext(), closing(open_engine(chosen, progress=progress)) as engine:
        return estimate(
            [given_path(path) for path in paths],
            store=opened,
            embedder=embedder,
            extractors=named_graphs(extractors, chosen.graph),
            model=model,
            settings=chosen,
            engine=engine,
            metadata=None if metadata is None else Path(metadata),
            progress=progress,
            result=result,
        )
