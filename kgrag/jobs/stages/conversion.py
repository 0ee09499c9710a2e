"""Reading files into documents and chunks: what is new or changed is written, what is gone is taken out."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgrag.common.progress import NamesUnits
from kgrag.documents import Converted, Discovery, Source
from kgrag.documents.discovery import EXAMPLES_OF_IGNORED, PICTURE
from kgrag.documents.processes import Stopped
from kgrag.documents.reading import check_size
from kgrag.engines.work import chunk_tokens
from kgrag.errors import DocumentError
from kgrag.jobs.report import BuildReport, Failure
from kgrag.jobs.stages.job import Job
from kgrag.models.base import Embedder
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.types import Chunk, Document, content_id

__all__ = ["KnownFile", "convert", "file_digest", "remove_vanished", "source_version"]

CONVERSION_VERSIONS = {
    **dict.fromkeys(("adoc", "texinfo", "pod", "typst"), "9"),
    "docbook": "10",
    "pptx": "9",
    "xlsx": "10",
    "xls": "6",
    "doc": "6",
    "docx": "15",
    "md": "17",
    "txt": "22",
    "csv": "8",
    "openapi": "7",
    "tex": "13",
    "man": "19",
    "mdoc": "18",
    "odp": "9",
    "ods": "9",
    **dict.fromkeys(("rst", "textile", "mediawiki"), "11"),
    **dict.fromkeys(("org", "ipynb"), "11"),
    **dict.fromkeys(("rtf", "odt"), "12"),
    "epub": "15",
    "outlook": "15",
    "mail": "16",
    "info": "10",
    "html": "27",
    "configuration": "6",
    "pdf": "22",
    "picture": "6",
}
"""Of each format ("5" where none is said): counts up when conversion or cleaning changes what comes out of its files, which are then read
again."""
PACKER_VERSION = "2"
"""Counts up when our own packer makes other chunks of the same blocks: all files are read again."""
EMPTY_PAGE = "page without text"
REMOVED_AT_ONCE = 100
"""Documents whose files are gone: how often it is said how far that is."""
WRITE_CHUNKS = 500
"""Chunks of one transaction, at least: whole documents are written together."""


def convert(discovery: Discovery, job: Job, *, settings: Settings, keep_missing: bool = False) -> None:
    """Read the files that the ledger does not know as they are now, and write their documents and chunks, until the job is `stopping`.

    A document whose file is gone and came again under another path keeps what was made of it, unless `keep_missing`.
    """
    store, embedder, report, stopping = job.store, job.embedder, job.report, job.stopping
    done = store.ledger.of_stage("convert")
    gone = _Gone(() if keep_missing else vanished(discovery, store))
    looked_at = (KnownFile.of(source, done.get(source.stored_path), embedder, settings) for source in discovery.sources)
    with (
        job.progress.step("Read", len(discovery.sources), "files") as step,
        job.engine.readers(discovery.sources, embedder=embedder, settings=settings, stopping=stopping) as readers,
    ):
        for file in readers.ahead(looked_at, KnownFile.to_convert):
            if stopping.is_set():
                return
            source, previous = file.source, file.previous
            started, seconds, state, reason = time.perf_counter(), 0.0, "ok", ""
            try:
                if file.is_unchanged():
                    _count_unchanged(file, report)
                    continue
                if isinstance(step, NamesUnits):
                    step.begin(source.stored_path)
                converted, seconds = readers.read(source)
                started = time.perf_counter()
                again = previous is not None and previous.version != file.version
                if not _replace(source, store, converted, report, gone, again=again):
                    state, reason = "empty", _without_text(source)
                    _ignore(source, report)
                    _name_page(source, report)
            except Stopped:
                return
            except DocumentError as error:
                state, reason = "failed", error.reason
                logging.getLogger(__name__).debug("%s could not be read", source.stored_path, exc_info=error)
                report.failures.append(Failure(stage="convert", subject=source.stored_path, reason=reason))
            finally:
                step.advance()
            record = WorkRecord(
                "convert",
                source.stored_path,
                version=file.version,
                state=state,
                reason=reason,
                result=file.digest,
                seconds=seconds + time.perf_counter() - started,
            ).after(previous)
            store.ledger.put([record])


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it is now, and what the ledger knows of it."""

    source: Source
    previous: WorkRecord | None
    version: str
    max_file_mb: int
    digest: str
    error: DocumentError | None

    @classmethod
    def of(cls, source: Source, previous: WorkRecord | None, embedder: Embedder, settings: Settings) -> KnownFile:
        """Read its bytes once, for their digest."""
        digest, error = "", None
        try:
            digest = file_digest(source)
        except DocumentError as unreadable:
            error = unreadable
        version = source_version(source, embedder, settings)
        return cls(source, previous, version, settings.max_file_mb, digest, error)

    def is_unchanged(self) -> bool:
        """Say whether it was read as it is now, by the settings of now. Raises `DocumentError` where it cannot be read."""
        if self.error:
            raise self.error
        previous = self.previous
        return (
            previous is not None
            and (previous.version, previous.result) == (self.version, self.digest)
            and previous.state in ("ok", "empty")
        )

    def to_convert(self) -> Source | None:
        """The source, where it is to be converted: neither known nor unreadable nor too large."""
        if self.error or self.is_unchanged():
            return None
        try:
            check_size(self.source, self.max_file_mb)
        except DocumentError:  # It is refused when its turn comes.
            return None
        return self.source


def remove_vanished(discovery: Discovery, job: Job) -> None:
    """Delete the documents that lie under a folder that was read and whose files are gone, and forget files that never became any.

    Until the job is `stopping`: what is left goes with the next build.
    """
    store, report = job.store, job.report
    present = {source.stored_path for source in discovery.sources}
    documents = vanished(discovery, store)
    if documents:
        with job.progress.step("Remove", len(documents), "documents") as step:
            for start in range(0, len(documents), REMOVED_AT_ONCE):
                if job.stopping.is_set():
                    return
                some = documents[start : start + REMOVED_AT_ONCE]
                store.documents.delete([document.id for document in some])
                report.removed_documents.extend(document.path for document in some)
                step.advance(len(some))
        report.removed_documents[:] = sorted(set(report.removed_documents))
    forgotten = [path for path in store.ledger.of_stage("convert") if path not in present and discovery.covers(path)]
    store.ledger.forget("convert", forgotten)


def vanished(discovery: Discovery, store: GraphStore) -> list[Document]:
    """Return the documents that lie under a folder that was read and whose files are gone."""
    present = {source.stored_path for source in discovery.sources}
    return [d for d in store.documents.all() if d.path not in present and discovery.covers(d.path)]


class _Gone:
    """Documents whose files are gone: one that comes again, with the same content under another path, takes the place of one of them."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            self._documents[document.sha256].append(document)

    def take(self, new: Document) -> Document | None:
        """Return the document that `new` was before, each once; None where there is none."""
        same = self._documents.get(new.sha256, [])
        found = next((document for document in same if document.title == new.title), same[0] if same else None)
        if found is not None:
            same.remove(found)
        return found


def source_version(source: Source, embedder: Embedder, settings: Settings) -> str:
    """Name all that a file's chunks depend on besides its bytes."""
    said = (source.product, source.category, source.version, sorted(source.metadata.items()))
    parts = [settings.pdf, embedder.name, str(chunk_tokens(embedder, settings)), repr(said)]
    parts.append(f"structure {PACKER_VERSION}" if settings.chunker == "structure" else settings.chunker)
    return content_id(CONVERSION_VERSIONS.get(source.format, "5"), *parts)


def file_digest(source: Source) -> str:
    """SHA-256 of a file's bytes. Raises `DocumentError` where it cannot be read."""
    try:
        with source.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DocumentError(source.path, f"cannot be read: {error.strerror}") from error


def _replace(
    source: Source, store: GraphStore, converted: Iterable[Converted], report: BuildReport, gone: _Gone, *, again: bool
) -> int:
    """Write the documents of one file in batches; those that it had before and has no more are deleted. Return how many it has.

    Documents that are there already are left alone, unless they are made `again`: by other settings, or with other metadata.
    """
    stale = {document.id for document in store.documents.of_path(source.stored_path)}
    batch: list[tuple[Document, Sequence[Chunk]]] = []
    moved: list[str] = []
    count = fresh = 0
    for one in converted:
        count += 1
        report.notes.extend(f"{source.stored_path}: {note}" for note in one.notes)
        for rule, lines in one.cleaning.removed.items():
            report.removed_lines.setdefault(rule, []).extend(f"{source.stored_path}: {line}" for line in lines)
        known = one.document.id in stale
        if known:
            stale.remove(one.document.id)
            if not again:
                continue
        batch.append((one.document, one.chunks))
        if not known and (elsewhere := gone.take(one.document)):
            moved.append(elsewhere.id)
            report.moved_documents[elsewhere.path] = one.document.path
        elif known:
            report.updated_documents += 1
        else:
            report.new_documents += 1
            fresh += 1
        report.chunks_written += len(one.chunks)
        if sum(len(chunks) for _, chunks in batch) >= WRITE_CHUNKS:
            store.documents.put(batch, moved=moved)
            batch, moved = [], []
    store.documents.put(batch, moved=moved)
    store.documents.delete(sorted(stale))
    replaced = min(fresh, len(stale))
    report.new_documents -= replaced
    report.updated_documents += replaced
    return count


def _count_unchanged(file: KnownFile, report: BuildReport) -> None:
    if file.previous is not None and file.previous.state == "empty":
        _ignore(file.source, report)
    else:
        report.unchanged_files += 1


def _ignore(source: Source, report: BuildReport) -> None:
    kind = _without_text(source)
    report.ignored_files[kind] = report.ignored_files.get(kind, 0) + 1


def _name_page(source: Source, report: BuildReport) -> None:
    """Name the first pages that are taken to have no text of their own: who knows better sees which."""
    kind = _without_text(source)
    if source.format != PICTURE and report.ignored_files[kind] <= EXAMPLES_OF_IGNORED:
        what = (
            "frames, navigation, a redirect or a script"
            if kind == EMPTY_PAGE
            else "directives, comments, front matter or titles of other files"
        )
        report.notes.append(f"{kind}: {source.stored_path} has {what} alone")


def _without_text(source: Source) -> str:
    if source.format == PICTURE:
        return "picture without text"
    return EMPTY_PAGE if source.format == "html" else "source without text"
