"""`kgrag build --dry-run`: what a build would do and cost, without a call and without a change.

Files that the ledger does not know as they are now are read and chunked in memory, as a build does it; the real extractors make the real
prompts for the chunks that are to be extracted, and a model that only counts takes them. What completions and time will be is measured in
the ledger where there were enough calls, else assumed: `assumptions` says which. How long a local embedder takes is tried on some chunks.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from pydantic import BaseModel, Field, computed_field

from kgrag.common.progress import Progress, Silent
from kgrag.common.waiting import wait_for
from kgrag.documents import discover
from kgrag.documents.table_rows import row_texts
from kgrag.engines import Engine
from kgrag.errors import DocumentError, ModelReplyError
from kgrag.extract import EXTRACTORS, asks_model
from kgrag.extract.base import Extractor, InducesSchema, chunk_fingerprints
from kgrag.jobs.stages.conversion import KnownFile
from kgrag.jobs.stages.extraction import is_done
from kgrag.jobs.stages.schema import recall_schema
from kgrag.models.base import ChatModel, Embedder
from kgrag.models.expected import CountingChatModel, ExpectingChatModel, NotAsked
from kgrag.models.names import is_hosted
from kgrag.models.prices import PriceTable, load_prices
from kgrag.models.tokens import estimate_tokens
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.types import Chunk, Usage

__all__ = ["Estimate", "GraphEstimate", "Measured", "estimate", "expected_of", "measured"]

ASSUMED_COMPLETION_TOKENS = 300
"""Of one reply: gpt-3.5-turbo wrote 165 tokens of bare triples for a passage of MuSiQue; JSON with types has about twice that."""
ASSUMED_SECONDS_OF_A_CALL = 5.0
"""300 tokens at 60 a second, as hosted models write."""
ENOUGH_CALLS = 20
"""From so many measured calls on their mean is taken instead of what is assumed."""
BATCH_CHUNKS = 100
TIMED, TIMED_OF_A_BATCH = 48, 4
"""Texts that are embedded here to see how long that takes, where no server does it: in all, and of one batch of chunks; 1 to 2 s."""
SAY_EVERY_S = 30.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What one call takes: measured in the ledger, or assumed."""

    completion_tokens: float = ASSUMED_COMPLETION_TOKENS
    seconds: float = ASSUMED_SECONDS_OF_A_CALL
    calls: int = 0
    """How many calls that is the mean of; 0 is an assumption."""

    def usage(self, calls: int, prompt_tokens: int, *, model: str, prices: PriceTable) -> Usage:
        """Return what so many calls are expected to use; the cost is 0 where the model has no price."""
        used = Usage(calls=calls, prompt_tokens=prompt_tokens, completion_tokens=round(calls * self.completion_tokens))
        price = prices.of(model)
        return used.model_copy(update={"cost": price.of(used)}) if price else used

    @property
    def words(self) -> str:
        """Say where the figures come from."""
        what = f"{self.completion_tokens:,.0f} completion tokens and {self.seconds:.1f} s a call"
        return f"{what}, the mean of {self.calls:,} calls in the ledger" if self.calls else f"{what} are assumed"


class GraphEstimate(BaseModel):
    """What the extraction of one graph would take."""

    chunks: int = 0
    """To be extracted: new, changed, failed before, or done by another model, prompt or schema."""
    calls: int = 0
    cached_calls: int = 0
    """Answered by the response cache: they cost nothing."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None where the price of the model is not known."""
    seconds: float = 0.0
    """At the limits that are set: calls at once, requests and tokens a minute."""


class Estimate(BaseModel):
    """What a build would do and cost."""

    model: str = ""
    found_files: int = 0
    """As many as `files` and `unchanged_files` together, unless it was interrupted."""
    files: int = 0
    """To be read: new, changed, or failed before."""
    documents: int = 0
    """In those files."""
    unchanged_files: int = 0
    chunks: int = 0
    """Of all documents, once it is done."""
    embedding_tokens: int = 0
    """Of chunks and rows of their tables, as hosted models count; entities come on top."""
    embedding_cost: float | None = 0.0
    reading_seconds: float = 0.0
    """That it took here to read the files, which a build does again."""
    embedding_seconds: float = 0.0
    """That a local embedder would take here; 0 of a hosted one."""
    graphs: dict[str, GraphEstimate] = Field(default_factory=dict)
    unreadable: dict[str, str] = Field(default_factory=dict)
    """Path → why it cannot be read."""
    assumptions: list[str] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def cost(self) -> float | None:
        """US dollars of everything; None where some price is not known."""
        parts = [self.embedding_cost, *(graph.cost for graph in self.graphs.values())]
        return None if any(part is None for part in parts) else sum(part or 0.0 for part in parts)

    @property
    def times_read(self) -> float:
        """How many times as many files were found as were looked at: 1, unless it was interrupted."""
        return self.found_files / max(1, self.files + self.unchanged_files)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def seconds(self) -> float:
        """Of all extraction at the limits that are set."""
        return sum(graph.seconds for graph in self.graphs.values())


def measured(store: GraphStore | None, graph: str) -> Measured:
    """Return what a call took in this graph so far, or what is assumed."""
    counts = store.ledger.extraction_counts().get(graph) if store else None
    if counts is None or counts["calls"] < ENOUGH_CALLS:
        return Measured()
    calls = counts["calls"]
    return Measured(counts["completion_tokens"] / calls, counts["seconds"] / calls, calls)


def expected_of(model: ChatModel | None) -> Usage:
    """Return what was to be expected of the calls that a model made so far; nothing of a model that does not count that."""
    return model.expected if isinstance(model, ExpectingChatModel) else Usage()


def estimate(
    paths: Sequence[Path],
    *,
    store: GraphStore | None,
    embedder: Embedder,
    extractors: Sequence[tuple[str, Extractor]],
    model: CountingChatModel,
    settings: Settings,
    engine: Engine,
    metadata: Path | None = None,
    progress: Progress | None = None,
    result: Estimate | None = None,
) -> Estimate:
    """Estimate a build of `paths` into `store` (None: into a new one) by these extractors, by graph, which ask `model`.

    No server of a model is called and nothing is written. `engine` reads the files, in an order drawn by chance: those that were read
    stand for all at any time. `result` is what is filled and returned: who interrupts has in it what was counted until then.
    Raises `InputError` for a path that does not exist.
    """
    result = result or Estimate()
    result.model = model.name
    for graph, extractor in extractors:
        result.graphs[graph] = GraphEstimate()
        if isinstance(extractor, InducesSchema) and not (store and recall_schema(extractor, graph, store=store)):
            result.assumptions.append(
                f"{graph}: the schema is induced first, by one call more, and makes prompts longer"
            )
    sample: list[str] = []
    chunks = _chunks(paths, store, embedder, settings, engine, metadata, result, progress or Silent())
    try:
        for batch in _batches(chunks):
            result.chunks += len(batch)
            texts = _to_embed(batch, store, embedder, rows=settings.table_rows)
            result.embedding_tokens += sum(map(estimate_tokens, texts))
            sample += texts[:: max(1, len(texts) // TIMED_OF_A_BATCH)]
            for graph, extractor in extractors:
                known = store.ledger.of_subjects("extract", [chunk.id for chunk in batch], scope=graph) if store else {}
                asks = asks_model(extractor.name) or extractor.name not in EXTRACTORS
                # What asks no model has learnt nothing of the corpus yet: what it did is taken for done.
                fingerprint = chunk_fingerprints(extractor) if asks else None
                wanted = [
                    chunk
                    for chunk in batch
                    if (record := known.get(chunk.id)) is None
                    or not is_done(
                        record,
                        fingerprint(chunk) if fingerprint else record.version,
                        retry_partial=settings.retry == "partial",
                    )
                ]
                result.graphs[graph].chunks += len(wanted)
                if asks:
                    wait_for(_count(extractor, wanted, model, result.graphs[graph]))
        if sample and not is_hosted(settings.embedder):
            result.embedding_seconds = result.embedding_tokens * _seconds_of_a_token(embedder, sample[:TIMED])
    finally:
        chunks.close()
        _conclude(result, {graph: measured(store, graph) for graph, _ in extractors}, settings)
    return result


def _conclude(result: Estimate, takes: Mapping[str, Measured], settings: Settings) -> None:
    """Say what it costs that was counted, and what is assumed."""
    prices = load_prices(settings.prices)
    for graph, counts in result.graphs.items():
        used = takes[graph].usage(counts.calls, counts.prompt_tokens, model=result.model, prices=prices)
        counts.completion_tokens = used.completion_tokens
        counts.cost = used.cost if not counts.calls or prices.of(result.model) else None
        counts.seconds = _seconds(counts, takes[graph], settings)
        if counts.calls:
            result.assumptions.append(f"{graph}: {takes[graph].words}; a repair round is not foreseen")
    if result.embedding_tokens and is_hosted(settings.embedder):
        price = prices.of(settings.embedder)
        result.embedding_cost = price.of(Usage(prompt_tokens=result.embedding_tokens)) if price else None
    if any(counts.calls for counts in result.graphs.values()):
        result.assumptions.append(
            f"prompt tokens are estimated from the prompts; prices as of {prices.date} ({result.model})"
        )


def _chunks(
    paths: Sequence[Path],
    store: GraphStore | None,
    embedder: Embedder,
    settings: Settings,
    engine: Engine,
    metadata: Path | None,
    result: Estimate,
    progress: Progress,
) -> Generator[Chunk]:
    """Give every chunk that there would be: of unchanged files from the store, of others by reading them."""
    with progress.step("Look for files", None, ""):
        sources = list(discover(paths, metadata=metadata).sources)
    result.found_files = len(sources)
    formats = Counter(source.format for source in sources)
    progress.say(
        f"Found {len(sources):,} files: {', '.join(f'{count:,} {name}' for name, count in formats.most_common())}"
    )
    Random(0).shuffle(sources)  # noqa: S311
    done = store.ledger.of_stage("convert") if store else {}
    looked_at = (KnownFile.of(source, done.get(source.stored_path), embedder, settings) for source in sources)
    started = said = time.monotonic()
    chunks = 0
    with (
        progress.step("Read", len(sources), "files") as step,
        engine.readers(sources, embedder=embedder, settings=settings, stopping=threading.Event()) as readers,
    ):
        for file in readers.ahead(looked_at, KnownFile.to_convert):
            path = file.source.stored_path
            try:
                if file.is_unchanged() and store:
                    result.unchanged_files += 1
                    of_file = store.documents.chunks_of([document.id for document in store.documents.of_path(path)])
                    chunks += len(of_file)
                    yield from of_file
                else:
                    result.files += 1
                    for one in readers.read(file.source)[0]:
                        result.documents += 1
                        chunks += len(one.chunks)
                        yield from one.chunks
            except DocumentError as error:
                result.unreadable[path] = error.reason
            step.advance()
            now = time.monotonic()
            result.reading_seconds = now - started
            if now - said > SAY_EVERY_S:
                said = now
                progress.say(f"So far {chunks:,} chunks; with all files about {chunks * result.times_read:,.0f}")


async def _count(
    extractor: Extractor, chunks: Sequence[Chunk], model: CountingChatModel, counts: GraphEstimate
) -> None:
    """Have the extractor ask about chunks; the first call about each is counted, and the extractor is stopped by it."""
    before, cached_before = model.expected, model.cached
    for chunk in chunks:
        try:
            await extractor.extract(chunk)
        except (NotAsked, ModelReplyError):  # what cannot be used without a call costs none
            continue
    counts.calls += model.expected.calls - before.calls
    counts.prompt_tokens += model.expected.prompt_tokens - before.prompt_tokens
    counts.cached_calls += model.cached - cached_before


def _seconds(counts: GraphEstimate, takes: Measured, settings: Settings) -> float:
    """Return the longest of: calls at once, requests a minute, tokens a minute."""
    longest = counts.calls * takes.seconds / settings.concurrency
    longest = max(longest, takes.seconds if counts.calls else 0.0)
    if settings.requests_per_minute:
        longest = max(longest, 60.0 * counts.calls / settings.requests_per_minute)
    if settings.tokens_per_minute:
        longest = max(longest, 60.0 * (counts.prompt_tokens + counts.completion_tokens) / settings.tokens_per_minute)
    return longest


def _to_embed(chunks: Sequence[Chunk], store: GraphStore | None, embedder: Embedder, *, rows: bool) -> list[str]:
    """Return the texts of chunks, and of rows of their tables, that have no vector yet."""
    done = store.ledger.of_subjects("embed", [chunk.id for chunk in chunks], scope=embedder.name) if store else {}
    waiting = (chunk for chunk in chunks if chunk.id not in done)
    return [text for chunk in waiting for text in (chunk.embedded_text, *(row_texts(chunk) if rows else ()))]


def _seconds_of_a_token(embedder: Embedder, texts: Sequence[str]) -> float:
    """Embed some texts here: how long one of their tokens, as estimated, took."""
    wait_for(embedder.embed_documents(texts[:1]))  # loads the model
    started = time.perf_counter()
    wait_for(embedder.embed_documents(texts))
    return (time.perf_counter() - started) / max(1, sum(map(estimate_tokens, texts)))


def _batches(chunks: Iterator[Chunk]) -> Iterator[list[Chunk]]:
    while batch := list(islice(chunks, BATCH_CHUNKS)):
        yield batch
