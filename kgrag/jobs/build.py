"""`kgrag build` and `kgrag delete`: documents → chunks → vectors → extraction → graphs, resumable at every step.

The store's ledger says what is done. Each stage asks what is missing, does that, and writes results and ledger entries in one
transaction: a build that was interrupted goes on where it stopped, and a build of unchanged documents does nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from kgrag.common.progress import Progress, Silent
from kgrag.common.retry import outage_policy
from kgrag.common.timing import timed
from kgrag.documents import discover
from kgrag.documents.table_rows import row_texts
from kgrag.engines import Engine, LocalEngine
from kgrag.errors import InputError
from kgrag.extract.base import Extractor
from kgrag.jobs.estimate import expected_of, measured
from kgrag.jobs.report import BuildReport, Failure
from kgrag.jobs.stages.conversion import convert, remove_vanished
from kgrag.jobs.stages.embedding import embed_chunks, embed_entities, embed_table_rows
from kgrag.jobs.stages.extraction import extract_graph
from kgrag.jobs.stages.job import Job
from kgrag.models.base import ChatModel, Embedder
from kgrag.models.prices import load_prices
from kgrag.models.watch import ModelWatch
from kgrag.settings import Settings
from kgrag.store.communities import PARTITION
from kgrag.store.graph import GraphStore
from kgrag.types import Document

__all__ = ["build", "delete", "named_graphs"]


async def build(
    paths: Sequence[Path],
    *,
    store: GraphStore,
    embedder: Embedder,
    extractors: Sequence[Extractor],
    settings: Settings,
    model: ChatModel | None = None,
    metadata: Path | None = None,
    keep_missing: bool = False,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Make the store hold what `paths` hold: new and changed files are read, unchanged ones left alone, vanished ones removed.

    Each extractor makes a graph of its own over the same chunks, named as `settings.graph` says or as itself. `model` is what they ask;
    while it or a database server is away the build waits, up to `settings.wait_s`. `metadata` is a file that gives documents their
    product and category. A document has vanished when its path lies in a folder among `paths` and no file is there any more;
    `keep_missing` keeps it. `engine` does the work, this machine where none is given. A file that cannot be read and a chunk that cannot
    be extracted are failures in the report; the rest goes on. Raises `InputError` for a path that does not exist, `StoreMismatch` for a
    store that was made with another embedder, `StoreError` and `ModelError` when the database or a model goes away for longer.
    """
    progress, report = progress or Silent(), BuildReport()
    graphs = named_graphs(extractors, settings.graph)
    with progress.step("Find files", None, ""):
        discovery = await asyncio.to_thread(discover, paths, metadata=metadata)
    report.files = len(discovery.sources)
    report.ignored_files = dict(sorted(discovery.ignored.items()))
    report.notes.extend(discovery.notes)
    for path, reason in discovery.unread.items():
        why = f"cannot be read: {reason}; what the store has of it stays"
        report.failures.append(Failure(stage="convert", subject=path, reason=why))
    retry = outage_policy(settings.wait_s, say=progress.say)
    job = Job(store, embedder, engine or LocalEngine(), retry, progress, report)

    def read_documents() -> int:
        store.bind(embedder.name, embedder.dimensions)
        waiting = len(store.documents.ids_without_embedding())
        convert(discovery, job, settings=settings, keep_missing=keep_missing)
        if not (keep_missing or job.stopping.is_set()):
            remove_vanished(discovery, job)
        return waiting

    with store.waiting(retry):
        merges = await asyncio.to_thread(store.graphs.count_merges)
        try:
            with timed("convert", report.seconds):
                waiting = await asyncio.to_thread(read_documents)
            await _derive(graphs, job, model=model, settings=settings)
            _note_splits(store, merges, report)
            _note_others(waiting, report)
        finally:
            job.stop()
    return report


async def delete(
    documents: Sequence[Document],
    *,
    store: GraphStore,
    embedder: Embedder,
    extractors: Sequence[Extractor],
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Take documents out of the store with all that only they supported, and what others said because of them."""
    progress, report, settings = progress or Silent(), BuildReport(), settings or Settings()
    retry = outage_policy(settings.wait_s, say=progress.say)
    job = Job(store, embedder, retry=retry, progress=progress, report=report)
    graphs = named_graphs(extractors, settings.graph)

    def take_out() -> int:
        store.bind(embedder.name, embedder.dimensions)
        merged = store.graphs.count_merges()
        store.documents.delete([document.id for document in documents])
        return merged

    with store.waiting(retry):
        merges = await asyncio.to_thread(take_out)
        report.removed_documents.extend(sorted({document.path for document in documents}))
        await _derive(graphs, job, model=None, settings=settings)
        _note_splits(store, merges, report)
    return report


async def _derive(
    graphs: Sequence[tuple[str, Extractor]], job: Job, *, model: ChatModel | None, settings: Settings
) -> None:
    """Bring up to date what follows from the documents: hyperlinks, vectors, graphs, indexes."""
    store, report = job.store, job.report
    with timed("link", report.seconds):
        links = await asyncio.to_thread(store.documents.relink)
        report.hyperlinks, report.links = links.made, asdict(links)
        if links.no_page or links.no_anchor:
            report.notes.append(
                f"hyperlinks: {links.no_page} lead to files that are no documents of the store, {links.no_anchor} to places "
                "that are not in their document"
            )
    with timed("embed", report.seconds):
        report.chunks_embedded = await embed_chunks(job)
        if settings.table_rows:
            rows = await embed_table_rows(job)
            report.notes.extend([f"{rows:,} rows of tables embedded"] if rows else [])
        else:
            await asyncio.to_thread(_note_rows, store, report)
    watch = ModelWatch(model, retry=job.retry)
    for graph, extractor in graphs:
        takes, before = await asyncio.to_thread(measured, store, graph), expected_of(model)
        with timed("extract", report.seconds):
            await extract_graph(extractor, graph, job, settings=settings, watch=watch)
        if model is not None:
            after, prices = expected_of(model), load_prices(settings.prices)
            calls, tokens = after.calls - before.calls, after.prompt_tokens - before.prompt_tokens
            report.graphs[graph].expected = takes.usage(calls, tokens, model=model.name, prices=prices)
        with timed("embed entities", report.seconds):
            await embed_entities(graph, job)
    with timed("index", report.seconds), job.progress.step("Index", None, ""):
        await asyncio.to_thread(store.finish)
    await asyncio.to_thread(_count, store, report)


def _note_rows(store: GraphStore, report: BuildReport) -> None:
    """Say that some tables have rows with vectors and others, that came without --table-rows, have none."""
    if not store.search.count_table_rows():
        return
    waiting = store.documents.chunks(store.documents.ids_without_table_rows())
    if without := sum(len(row_texts(chunk)) for chunk in waiting):
        report.notes.append(f"{without:,} rows of tables have no vectors, and others have: --table-rows makes them")


def _note_splits(store: GraphStore, merges: int, report: BuildReport) -> None:
    """Say that merged entities were taken apart again because documents that name them changed."""
    if (split := merges - store.graphs.count_merges()) > 0:
        report.notes.append(
            f"{split} merged entities were split, as documents that name them changed: run kgrag resolve"
        )


def _note_others(waiting: int, report: BuildReport) -> None:
    """Say that another build wrote to the store meanwhile, where this one embedded more chunks than waited before it and came by it."""
    if (others := report.chunks_embedded - waiting - report.chunks_written) > 0:
        report.notes.append(
            f"another build wrote to this store meanwhile: {others:,} of its chunks were embedded, and may have been extracted, by this "
            "one, too; builds one after the other do each work once"
        )


def named_graphs(extractors: Sequence[Extractor], name: str | None) -> list[tuple[str, Extractor]]:
    """Name the graph of each extractor. Raises `InputError` where one name would be given twice, or to several."""
    if name is not None and len(extractors) > 1:
        raise InputError(
            f"--graph {name}: expected one extractor, got {len(extractors)}: each makes a graph of its own name."
        )
    graphs = [(name or extractor.name, extractor) for extractor in extractors]
    if len(dict(graphs)) < len(graphs):
        raise InputError(f"--extractor: each can be given once, got {', '.join(graph for graph, _ in graphs)}.")
    return graphs


def _count(store: GraphStore, report: BuildReport) -> None:
    """Report what the graphs hold now; of one that holds nothing any more, forget that its communities were found."""
    counts, extractions = store.graphs.counts(), store.ledger.extraction_counts()
    store.ledger.forget(PARTITION, [name for name in report.graphs if name not in counts])
    for name, graph in report.graphs.items():
        if name in counts:
            graph.entities, graph.relations = counts[name]["entities"], counts[name]["relations"]
        if name in extractions:
            graph.ungrounded = extractions[name]["ungrounded"]
