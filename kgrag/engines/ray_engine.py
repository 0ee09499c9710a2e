"""The engine of several machines: Ray Core, one actor for each processor of the cluster, and this process as the only writer.

    files    ─► FileReader actors      ─► documents, chunks ─┐
    texts    ─► TextEmbedder actors    ─► vectors            ├─► this process writes
    chunks   ─► ChunkExtractor actors  ─► extractions ───────┘
                     └── calls ─► Mailbox ─► the model, in this process: its keys, limits, meter, cache

At most `IN_FLIGHT` pieces of work are given to an actor, so this process holds no more however large the corpus is. Whatever ends an
actor or its node, its work is given to another one; what an actor asked a model before is in the cache. Ray schedules; the ledger is the
checkpoint.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from kgrag.common.progress import Progress, Silent
from kgrag.documents import Source
from kgrag.documents.page_parts import may_have_parts
from kgrag.engines.base import Extract
from kgrag.engines.ray_cluster import import_ray, join
from kgrag.engines.ray_pool import IN_FLIGHT, LOOK_AGAIN_S, LostError, Pool, Work
from kgrag.engines.ray_readers import Readers
from kgrag.engines.ray_workers import (
    PROBE,
    ChunkExtractor,
    ExtractorRecipe,
    FileReader,
    Mailbox,
    Question,
    TextEmbedder,
)
from kgrag.errors import KgragError
from kgrag.extract import asks_model
from kgrag.extract.base import Extractor, InducesSchema, chunk_fingerprints
from kgrag.models import EMBEDDERS, is_hosted
from kgrag.models.base import ChatModel, Embedder, Vectors
from kgrag.models.cached import asked_how
from kgrag.models.wrapped import WrappedEmbedder, identity_of
from kgrag.settings import Settings
from kgrag.types import Chunk, Extraction

__all__ = ["RayEngine"]

FILES_OF_AN_ACTOR = 100
TAKE_CALLS = 64


class RayEngine:
    """An `Engine` on a Ray cluster: that of `settings.ray_address`, else one on this machine, which ends with it.

    Raises `InputError` where Ray is not installed or no cluster answers.
    """

    def __init__(self, settings: Settings, *, progress: Progress | None = None) -> None:
        self._ray: Any = import_ray()
        """Its types know less than its options."""
        self._settings = settings
        self._progress = progress or Silent()
        self._own = not self._ray.is_initialized()
        if self._own:
            join(settings.ray_address)
        self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        """Actors of each kind."""

    @property
    def batches_ahead(self) -> int:
        """Every actor has its batches."""
        return IN_FLIGHT * self.workers

    @contextmanager
    def readers(
        self, sources: Iterable[Source], *, embedder: Embedder, settings: Settings, stopping: threading.Event
    ) -> Iterator[Readers]:
        """Read files in actors. Ready passages are read here: a file of them is streamed, and there is nothing to convert."""
        made, local = _portable(embedder), settings.model_copy(update={"engine": "local"})
        actor = self._ray.remote(num_cpus=1)(FileReader)
        files = [source for source in sources if source.format != "jsonl"]
        count = self.workers if any(map(may_have_parts, files)) else min(self.workers, len(files))
        pool = Pool(
            self._ray,
            lambda: actor.remote(made, local),
            count,
            say=self._progress.say,
            recycle_after=FILES_OF_AN_ACTOR,
        )
        with pool:
            yield Readers(self._ray, pool, embedder, settings, stopping)

    @asynccontextmanager
    async def embedding(self, embedder: Embedder) -> AsyncIterator[Embedder]:
        """Embed in actors; a hosted embedder is called from here, where its limits and its meter are."""
        if is_hosted(embedder.name):
            yield embedder
            return
        made, settings = _portable(embedder), self._settings
        actor = self._ray.remote(num_cpus=1)(TextEmbedder)
        with Pool(self._ray, lambda: actor.remote(made, settings), self.workers, say=self._progress.say) as pool:
            yield _Embedder(embedder, pool)

    @asynccontextmanager
    async def extraction(
        self, extractor: Extractor, *, model: ChatModel | None, settings: Settings
    ) -> AsyncIterator[Extract]:
        """Extract in actors; what they ask a model is asked from here."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asks = asks_model(extractor.name)
        recipe = self._ray.put(
            ExtractorRecipe(
                extractor=None if asks else extractor,
                name=extractor.name,
                schema=extractor.schema if isinstance(extractor, InducesSchema) else None,
                settings=settings.model_copy(update={"engine": "local"}),
                model=model.name if model else "",
                identity=identity_of(model) if model else "",
                fingerprint=chunk_fingerprints(extractor)(PROBE) if asks else "",
            )
        )
        at_once = max(IN_FLIGHT, math.ceil(settings.concurrency / self.workers)) if asks else IN_FLIGHT
        # `ready` comes through beside calls that wait for a model.
        actor = self._ray.remote(num_cpus=1, max_concurrency=at_once + 1)(ChunkExtractor)
        # On the node of this process, whose end is the build's end in any case.
        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        letters = self._ray.remote(num_cpus=0, max_restarts=-1, max_concurrency=10_000, scheduling_strategy=here)
        mailbox = letters(Mailbox).remote()
        serving = asyncio.create_task(_serve(mailbox, model)) if model is not None and asks else None
        try:
            with Pool(
                self._ray,
                lambda: actor.remote(recipe, mailbox),
                self.workers,
                say=self._progress.say,
                in_flight=at_once,
            ) as pool:

                async def extract(chunk: Chunk) -> Extraction:
                    try:
                        kind, value = await pool.done(Work("extract", (chunk, asked_how())))
                    except LostError as error:
                        reason = f"The workers that extracted it ended: {error}"
                        return Extraction(chunk_id=chunk.id, state="failed", reason=reason)
                    if kind == "error":
                        raise value
                    extraction: Extraction = value
                    return extraction

                yield extract
        finally:
            if serving is not None:
                serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving
            self._ray.kill(mailbox)

    def close(self) -> None:
        """Leave the cluster, and end it where it was started here."""
        if self._own and self._ray.is_initialized():
            self._ray.shutdown()
        self._own = False


def _portable(embedder: Embedder) -> Embedder | str:
    """Return what an actor gets: the name of an embedder that it can open itself, whose weights are no message; else the embedder."""
    opened_by_name = embedder.name in EMBEDDERS or ":" in embedder.name
    return embedder.name if opened_by_name else embedder


async def _serve(mailbox: Any, model: ChatModel) -> None:
    """Make the calls that come through the mailbox until cancelled."""
    from ray.exceptions import RayError

    calls: set[asyncio.Task[None]] = set()

    async def call(number: int, question: Question) -> None:
        try:
            with question.how.again():
                answer: tuple[str, Any] = ("reply", await model.reply(question.messages, schema=question.schema))
        except KgragError as error:
            answer = ("error", error)
        with suppress(RayError):  # who asked has ended; the reply is in the cache
            await mailbox.answer.remote(number, answer)

    try:
        while True:
            try:
                taken = await mailbox.take.remote(TAKE_CALLS)
            except RayError:  # it is being started again
                await asyncio.sleep(LOOK_AGAIN_S)
                continue
            for number, question in taken:
                task = asyncio.create_task(call(number, question))
                calls.add(task)
                task.add_done_callback(calls.discard)
    finally:
        for task in calls:
            task.cancel()


class _Embedder(WrappedEmbedder):
    """An embedder whose documents are embedded in actors."""

    def __init__(self, embedder: Embedder, pool: Pool) -> None:
        super().__init__(embedder)
        self._pool = pool

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = await self._pool.done(Work("embed", (list(texts),)))
        return vectors

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._model.embed_queries(texts)
