"""The files of an export, of passages that no database has seen: `python -m benchmarks.first_load PASSAGES FOLDER [--extractor mention]`.

What `kgrag build` and then `kgrag export` would write of a `.jsonl` file of passages with vectors of words (`benchmarks.vectors`), by the
same functions and with the same digest, without a database between them: a store of a million chunks takes hours to build by transactions,
and `neo4j-admin database import` loads its files in minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.vectors import WordVectors
from kgrag.documents.discovery import Source, discover
from kgrag.documents.passages import read_passages
from kgrag.extract import open_extractor
from kgrag.extract.base import Extractor, chunk_fingerprints
from kgrag.jobs.stages.conversion import file_digest, source_version
from kgrag.models.base import Vectors
from kgrag.settings import Settings
from kgrag.store.documents import sort_documents
from kgrag.store.exchange.csv_rows import Marks
from kgrag.store.exchange.export import Exported, ExportFiles
from kgrag.store.exchange.kinds import KINDS, Kind
from kgrag.store.identifiers import graph_label
from kgrag.store.ledger import WorkRecord
from kgrag.store.mentions import Edge, Saying, relation_properties
from kgrag.store.namings import Naming, described, naming_of, together
from kgrag.store.rows import chunk_row, document_row
from kgrag.store.said import Said, say
from kgrag.store.schema import SCHEMA_VERSION, Meta
from kgrag.types import Chunk, Document, Extraction

__all__ = ["write_first_load"]

CHUNKS_AT_ONCE = 500
ENTITIES_AT_ONCE = 2000
KIND: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}


@dataclass(slots=True)
class _Work:
    """What the processes that extract share with the one that began them."""

    graph: str
    extractor: Extractor
    embedder: WordVectors
    chunks: list[Chunk]


@dataclass(frozen=True, slots=True)
class _Part:
    """What was made of some of the chunks."""

    begin: int
    vectors: Vectors
    records: list[WorkRecord]
    """What the ledger says of each chunk."""
    said: Said


@dataclass(slots=True)
class _Graph:
    """What follows from all chunks together."""

    entities: dict[str, dict[str, str]] = field(default_factory=dict)
    naming: dict[str, Naming] = field(default_factory=dict)
    edges: dict[Edge, dict[str, Saying]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, said: Said) -> None:
        """Count what some more chunks say."""
        self.entities |= said.entities
        for (key, _), mention in said.mentions.items():
            named = naming_of([{**mention, "times": 1}])
            self.naming[key] = together(self.naming[key], named) if key in self.naming else named
        for edge, sayings in said.edges.items():
            self.edges[edge].update(sayings)


_shared: _Work


def write_first_load(passages: Path, folder: Path, *, extractor: Extractor | None = None, workers: int = 2) -> Exported:
    """Write the export of a store of `passages`, whose one graph is called as its extractor, into `folder`, which is empty or not there.

    `extractor` is `mention` where none is given. It goes to other processes by forking.
    """
    global _shared
    folder.mkdir(parents=True, exist_ok=True)
    embedder, settings = WordVectors(), Settings()
    extractor = extractor or open_extractor("mention")
    source = discover([passages]).sources[0]
    read = read_passages(source, count_tokens=embedder.count_tokens).documents
    chunks_of = {document.id: chunks for document, chunks in read}
    documents = sort_documents(document for document, _ in read)
    chunks = [chunk for document in documents for chunk in chunks_of[document.id]]
    extractor.prepare(documents, iter(chunks))
    _shared = _Work(extractor.name, extractor, embedder, chunks)
    graph = _Graph()
    marks = next(Marks.all())
    with (
        ExportFiles(folder, Meta(SCHEMA_VERSION, embedder.name, embedder.dimensions), marks) as files,
        multiprocessing.get_context("fork").Pool(workers) as pool,
    ):
        _put_documents(files, documents, chunks_of, _converted(source, embedder, settings))
        for part in pool.imap(_part, range(0, len(chunks), CHUNKS_AT_ONCE)):
            _put_part(files, part, chunks)
            graph.add(part.said)
        _put_graph(files, graph, embedder)
        return files.finish()


def _part(begin: int) -> _Part:
    """Embed and extract chunks, in a process of the pool."""
    chunks = _shared.chunks[begin : begin + CHUNKS_AT_ONCE]
    fingerprint = chunk_fingerprints(_shared.extractor)
    extractions = asyncio.run(_extracted(chunks))
    embedder, graph = _shared.embedder, _shared.graph
    records = []
    for chunk, one in zip(chunks, extractions, strict=True):
        made_by = f"{embedder.name} {embedder.dimensions}"
        records += [
            WorkRecord("embed", chunk.id, scope=embedder.name, version=made_by),
            WorkRecord("extract", chunk.id, graph, fingerprint(chunk), one.state, one.reason, one.digest),
        ]
    vectors = embedder.embed([chunk.embedded_text for chunk in chunks])
    return _Part(begin, vectors, records, say(graph, extractions))


async def _extracted(chunks: Sequence[Chunk]) -> list[Extraction]:
    return [await _shared.extractor.extract(chunk) for chunk in chunks]


def _converted(source: Source, embedder: WordVectors, settings: Settings) -> WorkRecord:
    """What the ledger says of the file."""
    version, digest = source_version(source, embedder, settings), file_digest(source)
    return WorkRecord("convert", source.stored_path, version=version, result=digest)


def _put_documents(
    files: ExportFiles, documents: Sequence[Document], chunks_of: Mapping[str, Sequence[Chunk]], converted: WorkRecord
) -> None:
    files.put(KIND["work"], {"properties": converted.row()})
    for document in documents:
        files.put(KIND["document"], {"properties": document_row(document)})
        for chunk, following in pairwise(chunks_of[document.id]):
            files.put(KIND["next_chunk"], {"source": chunk.id, "target": following.id, "properties": {}})


def _put_part(files: ExportFiles, part: _Part, chunks: Sequence[Chunk]) -> None:
    for chunk, vector in zip(chunks[part.begin : part.begin + CHUNKS_AT_ONCE], part.vectors, strict=True):
        files.put(KIND["chunk"], {"properties": {**chunk_row(chunk), "embedding": vector.tolist()}})
        files.put(KIND["from_document"], {"source": chunk.id, "target": chunk.document_id, "properties": {}})
    for record in part.records:
        files.put(KIND["work"], {"properties": record.row()})
    for (key, chunk_id), mention in part.said.mentions.items():
        files.put(KIND["from_chunk"], {"source": key, "target": chunk_id, "properties": mention})


def _put_graph(files: ExportFiles, graph: _Graph, embedder: WordVectors) -> None:
    for some in _slices(sorted(graph.entities), ENTITIES_AT_ONCE):
        rows = [{**graph.entities[key], **described(graph.naming[key])} for key in some]
        vectors = embedder.embed([f"{row['name']} ({row['type']}) {row['description']}".strip() for row in rows])
        for row, vector in zip(rows, vectors, strict=True):
            del row["titles"]  # counted again by whoever imports
            labels = ["__Entity__", graph_label(row["graph"]), row["type"]]
            files.put(KIND["entity"], {"properties": {**row, "embedding": vector.tolist()}, "labels": labels})
    for (head, type_, tail), said in graph.edges.items():
        files.put(
            KIND["relation"], {"source": head, "target": tail, "type": type_, "properties": relation_properties(said)}
        )


def _slices(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="The files of an export, of passages that no database has seen.")
    parser.add_argument("passages", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extractor", default="mention")
    arguments = parser.parse_args()
    done = write_first_load(arguments.passages, arguments.folder, extractor=open_extractor(arguments.extractor))
    counts = ", ".join(f"{count:,} {kind}" for kind, count in done.rows.items())
    print(f"{done.folder}: {done.bytes / 1e6:,.0f} MB: {counts}\ndigest {done.digest}")


if __name__ == "__main__":
    main()
