"""What the stages of one job share: `Job`."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from kgrag.common.progress import Progress, Silent
from kgrag.common.retry import NO_RETRY, RetryPolicy
from kgrag.engines import Engine, LocalEngine
from kgrag.jobs.report import BuildReport
from kgrag.models.base import Embedder
from kgrag.store.graph import GraphStore

__all__ = ["Job"]


@dataclass(frozen=True, slots=True)
class Job:
    """The store that a job fills, who embeds, where the work is done, how long it waits, and who is told."""

    store: GraphStore
    embedder: Embedder
    engine: Engine = field(default_factory=LocalEngine)
    retry: RetryPolicy = NO_RETRY
    progress: Progress = field(default_factory=Silent)
    report: BuildReport = field(default_factory=BuildReport)
    names_failures: bool = True
    """A text that the embedder fails on is named in the report, and the job goes on; else its error ends the job."""
    stopping: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Let threads that wait or read files end soon: the job is over or interrupted."""
        self.stopping.set()
        self.retry.stop()
