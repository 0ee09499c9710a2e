"""`kgrag build` and `kgrag delete`: documents → chunks → vectors → extraction → graph, resumable at every step.

The store's ledger says what is done. Each step asks what is missing, does that, and writes results and ledger entries in one transaction: a
build that was interrupted goes on where it stopped, and a build of unchanged documents does nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from kgrag.documents import Converted, Discovery, Source, discover, read
from kgrag.errors import DocumentError, ModelReplyError
from kgrag.extract.base import Extractor
from kgrag.models.base import Embedder
from kgrag.progress import Progress, Silent
from kgrag.report import BuildReport, Failure
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.types import Chunk, Document, Extraction, content_id

__all__ = ["build", "delete"]

CONVERSION_VERSION = "1"
"""Counts up when conversion, cleaning or chunking changes what comes out: files are then read again."""
WRITE_CHUNKS = 500
"""Chunks of one transaction, at least: whole documents are written together."""
EMBED_CHUNKS = 256
EMBED_ENTITIES = 2048
EXTRACT_CHUNKS = 500
EXTRACT_CONCURRENCY = 32

T = TypeVar("T")


async def build(
    paths: Sequence[Path],
    *,
    store: GraphStore,
    embedder: Embedder,
    extractors: Sequence[Extractor],
    settings: Settings,
    metadata: Path | None = None,
    keep_missing: bool = False,
    progress: Progress | None = None,
) -> BuildReport:
    """Make the store hold what `paths` hold: new and changed files are read, unchanged ones left alone, vanished ones removed.

    `metadata` is a file that gives documents their product and category. A document has vanished when its path lies in a folder among
    `paths` and no file is there any more; `keep_missing` keeps it. A file that cannot be read and a chunk that cannot be extracted are
    failures in the report; the rest goes on. Raises `InputError` for a path that does not exist, `StoreMismatch` for a store that was
    made with another embedder, `StoreError` and `ModelError` when the database or a model goes away.
    """
    progress, report = progress or Silent(), BuildReport()
    discovery = discover(paths, metadata=metadata)
    report.ignored_files = dict(sorted(discovery.ignored.items()))
    report.notes.extend(discovery.notes)
    store.bind(embedder.name, embedder.dimensions)
    with report.timed("convert"):
        _convert(discovery, store, embedder, settings=settings, progress=progress, report=report)
        if not keep_missing:
            _remove_vanished(discovery, store, report)
    await _derive(store, embedder, extractors, progress=progress, report=report)
    return report


async def delete(
    documents: Sequence[Document],
    *,
    store: GraphStore,
    embedder: Embedder,
    extractors: Sequence[Extractor],
    progress: Progress | None = None,
) -> BuildReport:
    """Take documents out of the store with all that only they supported, and what others said because of them."""
    progress, report = progress or Silent(), BuildReport()
    store.bind(embedder.name, embedder.dimensions)
    store.delete_documents([document.id for document in documents])
    report.removed_documents.extend(sorted({document.path for document in documents}))
    await _derive(store, embedder, extractors, progress=progress, report=report)
    return report


async def _derive(
    store: GraphStore, embedder: Embedder, extractors: Sequence[Extractor], *, progress: Progress, report: BuildReport
) -> None:
    """Bring up to date what follows from the documents: hyperlinks, vectors, graphs, indexes."""
    with report.timed("link"):
        report.hyperlinks = await asyncio.to_thread(store.relink)
    with report.timed("embed"):
        report.chunks_embedded = await _embed_chunks(store, embedder, progress)
    for extractor in extractors:
        with report.timed("extract"):
            await _extract(extractor, store, progress=progress, report=report)
        with report.timed("embed entities"):
            await _embed_entities(extractor.name, store, embedder, progress)
    with report.timed("index"), progress.step("Index", None, ""):
        await asyncio.to_thread(store.finish)


def _convert(
    discovery: Discovery,
    store: GraphStore,
    embedder: Embedder,
    *,
    settings: Settings,
    progress: Progress,
    report: BuildReport,
) -> None:
    """Read the files that the ledger does not know as they are now, and write their documents and chunks."""
    done = store.work("convert")
    with progress.step("Read", len(discovery.sources), "files") as step:
        for source in discovery.sources:
            version = _conversion_version(source, embedder, settings)
            started, digest, state, reason = time.perf_counter(), "", "ok", ""
            previous = done.get(source.stored_path)
            try:
                digest = _file_digest(source)
                if previous and (previous.version, previous.result, previous.state) == (version, digest, "ok"):
                    report.unchanged_files += 1
                    continue
                converted = read(
                    source,
                    count_tokens=embedder.count_tokens,
                    max_tokens=embedder.max_tokens,
                    pdf=settings.pdf,
                    max_file_mb=settings.max_file_mb,
                )
                _replace(source, store, converted, report, again=previous is not None and previous.version != version)
            except DocumentError as error:
                state, reason = "failed", error.reason
                report.failures.append(Failure(stage="convert", subject=source.stored_path, reason=reason))
            finally:
                step.advance()
            attempts = previous.attempts + 1 if previous else 1
            record = WorkRecord(
                "convert",
                source.stored_path,
                version=version,
                state=state,
                reason=reason,
                result=digest,
                attempts=attempts,
                seconds=time.perf_counter() - started,
            )
            store.put_work([record])


def _replace(
    source: Source, store: GraphStore, converted: Iterable[Converted], report: BuildReport, *, again: bool
) -> None:
    """Write the documents of one file in batches; those that it had before and has no more are deleted.

    Documents that are there already are left alone, unless they are made `again`: by other settings, or with other metadata.
    """
    stale = {document.id for document in store.documents(path=source.stored_path)}
    batch: list[tuple[Document, Sequence[Chunk]]] = []
    for one in converted:
        report.notes.extend(f"{source.stored_path}: {note}" for note in one.notes)
        for rule, lines in one.cleaning.removed.items():
            report.removed_lines.setdefault(rule, []).extend(f"{source.stored_path}: {line}" for line in lines)
        if one.document.id in stale:
            stale.remove(one.document.id)
            if not again:
                continue
        batch.append((one.document, one.chunks))
        report.new_documents += 1
        report.chunks_written += len(one.chunks)
        if sum(len(chunks) for _, chunks in batch) >= WRITE_CHUNKS:
            store.put_documents(batch)
            batch = []
    store.put_documents(batch)
    store.delete_documents(sorted(stale))


def _remove_vanished(discovery: Discovery, store: GraphStore, report: BuildReport) -> None:
    """Delete the documents that lie under a folder that was read and whose files are gone, and forget files that never became any."""
    present = {source.stored_path for source in discovery.sources}
    vanished = [d for d in store.documents() if d.path not in present and discovery.covers(d.path)]
    store.delete_documents([document.id for document in vanished])
    store.forget_work(
        "convert", [path for path in store.work("convert") if path not in present and discovery.covers(path)]
    )
    report.removed_documents.extend(sorted({document.path for document in vanished}))


async def _embed_chunks(store: GraphStore, embedder: Embedder, progress: Progress) -> int:
    """Embed the chunks that have no vector yet."""
    missing = store.count_chunks_without_embedding()
    with progress.step("Embed", missing, "chunks") as step:
        while chunks := await asyncio.to_thread(store.chunks_without_embedding, EMBED_CHUNKS):
            started = time.perf_counter()
            vectors = await embedder.embed_documents([chunk.embedded_text for chunk in chunks])
            seconds = time.perf_counter() - started
            ids = [chunk.id for chunk in chunks]
            await asyncio.to_thread(store.put_embeddings, ids, vectors, embedder=embedder.name, seconds=seconds)
            step.advance(len(chunks))
    return missing


async def _extract(extractor: Extractor, store: GraphStore, *, progress: Progress, report: BuildReport) -> None:
    """Extract the chunks whose ledger entry is missing, failed, or made by another fingerprint; write what is not as it was."""
    graph = extractor.name
    await asyncio.to_thread(extractor.prepare, store.documents(), store.chunks())
    done = store.work("extract", graph)
    states = report.extractions.setdefault(graph, Counter())
    gate = asyncio.Semaphore(EXTRACT_CONCURRENCY)

    async def extract(chunk: Chunk) -> tuple[Extraction, WorkRecord]:
        previous = done.get(chunk.id)
        started = time.perf_counter()
        async with gate:
            try:
                extraction = await extractor.extract(chunk)
            except ModelReplyError as error:
                extraction = Extraction(chunk_id=chunk.id, state="failed", reason=str(error))
        return extraction, WorkRecord(
            "extract",
            chunk.id,
            scope=graph,
            version=extractor.fingerprint,
            state=extraction.state,
            reason=extraction.reason,
            result=extraction.digest,
            attempts=previous.attempts + 1 if previous else 1,
            tokens=extraction.usage.prompt_tokens + extraction.usage.completion_tokens,
            cost=extraction.usage.cost,
            seconds=time.perf_counter() - started,
        )

    with progress.step(f"Extract {graph}", store.count_chunks(), "chunks") as step:
        for batch in _batches(store.chunks(), EXTRACT_CHUNKS):
            wanted = [chunk for chunk in batch if not _is_done(done.get(chunk.id), extractor.fingerprint)]
            results = await asyncio.gather(*map(extract, wanted))
            changed = [pair for pair in results if not _says_the_same(done.get(pair[0].chunk_id), pair[1])]
            unchanged = [record for _, record in results if _says_the_same(done.get(record.subject), record)]
            await asyncio.to_thread(store.put_extractions, graph, changed)
            await asyncio.to_thread(store.put_work, unchanged)
            states["unchanged"] += len(batch) - len(wanted)
            states.update(record.state for _, record in results)
            failed = [record for _, record in results if record.state == "failed"]
            report.failures.extend(
                Failure(stage="extract", subject=record.subject, reason=record.reason) for record in failed
            )
            step.advance(len(batch))


async def _embed_entities(graph: str, store: GraphStore, embedder: Embedder, progress: Progress) -> None:
    """Embed the entities that are new or whose name or description changed."""
    with progress.step(f"Embed {graph}", store.count_entities_without_embedding(graph), "entities") as step:
        while entities := await asyncio.to_thread(store.entities_without_embedding, graph, EMBED_ENTITIES):
            texts = [f"{entity['name']} ({entity['type']}) {entity['description']}".strip() for entity in entities]
            vectors = await embedder.embed_documents(texts)
            keys = [entity["key"] for entity in entities]
            await asyncio.to_thread(store.put_entity_embeddings, graph, keys, vectors)
            step.advance(len(entities))


def _is_done(record: WorkRecord | None, fingerprint: str) -> bool:
    return record is not None and record.state != "failed" and record.version == fingerprint


def _says_the_same(previous: WorkRecord | None, record: WorkRecord) -> bool:
    return previous is not None and (previous.state, previous.result) == (record.state, record.result)


def _conversion_version(source: Source, embedder: Embedder, settings: Settings) -> str:
    """Name all that a file's chunks depend on besides its bytes."""
    said = (source.product, source.category, source.version, sorted(source.metadata.items()))
    return content_id(CONVERSION_VERSION, settings.pdf, embedder.name, str(embedder.max_tokens), repr(said))


def _file_digest(source: Source) -> str:
    """SHA-256 of a file's bytes. Raises `DocumentError` where it cannot be read."""
    try:
        with source.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DocumentError(source.path, f"cannot be read: {error.strerror}") from error


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
