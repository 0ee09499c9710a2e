"""Where the work of a build is done: on this machine (`local`), or by a Ray cluster (`ray`).

A stage of `kgrag.jobs.stages` reads what is to be done from the ledger, has the engine do it, and writes it: one writer, whichever engine.
The functions that do the work are the same for both (`kgrag.engines.work`), so the store has the same digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgrag.engines.base import Engine
from kgrag.engines.local import LocalEngine

if TYPE_CHECKING:
    from kgrag.common.progress import Progress
    from kgrag.settings import Settings

__all__ = ["Engine", "LocalEngine", "open_engine"]


def open_engine(settings: Settings, *, progress: Progress | None = None) -> Engine:
    """Open the engine that the settings name. Close it. Raises `InputError` where its package is missing or no cluster answers."""
    if settings.engine == "local":
        return LocalEngine()
    from kgrag.engines.ray_engine import RayEngine

    return RayEngine(settings, progress=progress)
