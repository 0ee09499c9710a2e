"""What an extractor or a graph says about the chunks that gold triples were written for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence

from kgrag.errors import InputError, ModelReplyError
from kgrag.evaluate.triples import GoldTriple, Triple
from kgrag.extract.base import Extractor, InducesSchema
from kgrag.store.graph import GraphStore
from kgrag.types import Chunk, Document, content_id

__all__ = ["gold_chunks", "passages_of_gold", "triples_of_extractor", "triples_of_graph"]

EXTRACT_CONCURRENCY = 32


def passages_of_gold(gold: Sequence[GoldTriple]) -> tuple[list[Document], dict[str, Chunk]]:
    """Make a chunk of the sentences that come with the gold triples of each chunk: what an extractor reads where there is no store.

    Raises `InputError` where the triples come without sentences.
    """
    sentences: dict[str, dict[str, None]] = {}
    for triple in gold:
        if triple.text:
            sentences.setdefault(triple.chunk, {})[triple.text] = None
    if not sentences:
        raise InputError("The gold file has no column text: name the chunks' own text by --store.")
    documents, chunks = [], {}
    for chunk_id, lines in sentences.items():
        title = re.sub(r"(?:-datasheet)?(?:::\w+)?$", "", chunk_id)
        text = "\n".join(lines)
        key = content_id("gold", chunk_id, text)
        documents.append(Document(id=key, path=f"gold/{chunk_id}", title=title, sha256=key, format="jsonl"))
        chunks[chunk_id] = Chunk(
            id=key, document_id=key, source_id=chunk_id, position=0, title=title, text=text, tokens=len(text.split())
        )
    return documents, chunks


def gold_chunks(gold: Sequence[GoldTriple], chunks: Iterable[Chunk]) -> dict[str, Chunk]:
    """Find the chunk of a corpus that each chunk id of a gold file means.

    It is the one with that id, or with a `source_id` that is it or ends with it after a bar (`product|chunk_id`); else the one that has
    most of the gold sentences word for word. Raises `InputError` for an id without any.
    """
    sentences: dict[str, set[str]] = {}
    for triple in gold:
        sentences.setdefault(triple.chunk, set()).update({_plain(triple.text)} - {""})
    by_id: dict[str, Chunk] = {}
    best: dict[str, tuple[int, Chunk]] = {}
    for chunk in chunks:
        text = _plain(chunk.text)
        for wanted, lines in sentences.items():
            if wanted in (chunk.id, chunk.source_id) or chunk.source_id.endswith(f"|{wanted}"):
                by_id[wanted] = chunk
            shared = sum(line in text for line in lines)
            if shared and (wanted not in best or shared > best[wanted][0]):
                best[wanted] = shared, chunk
    found = {wanted: by_id.get(wanted) or best[wanted][1] for wanted in sentences if wanted in by_id or wanted in best}
    if lost := sorted(set(sentences) - set(found)):
        raise InputError(
            f"The store has no chunk {', '.join(map(repr, lost))}, and none with its gold sentences. "
            "Build it from the same documents."
        )
    return found


async def triples_of_extractor(
    extractor: Extractor, documents: Iterable[Document], corpus: Iterable[Chunk], *, chunks: Mapping[str, Chunk]
) -> tuple[list[Triple], dict[str, str]]:
    """Let an extractor that knows the corpus extract the gold chunks: its triples, and the reason of each chunk that failed."""
    await asyncio.to_thread(extractor.prepare, documents, corpus)
    if isinstance(extractor, InducesSchema):
        await extractor.induce()
    gate = asyncio.Semaphore(EXTRACT_CONCURRENCY)
    failures: dict[str, str] = {}

    async def extract(wanted: str, chunk: Chunk) -> list[Triple]:
        async with gate:
            try:
                extraction = await extractor.extract(chunk)
            except ModelReplyError as error:
                failures[wanted] = str(error)
                return []
        return [Triple(r.head.name, r.type, r.tail.name, wanted, extractor.name) for r in extraction.relations]

    results = await asyncio.gather(*(extract(wanted, chunk) for wanted, chunk in chunks.items()))
    return [triple for triples in results for triple in triples], failures


def triples_of_graph(store: GraphStore, graph: str, *, chunks: Mapping[str, Chunk]) -> list[Triple]:
    """Read what the gold chunks say in a graph. Raises `InputError` for a graph that is not there."""
    store.graphs.counts_of(graph)
    wanted: dict[str, list[str]] = {}
    for name, chunk in chunks.items():
        wanted.setdefault(chunk.id, []).append(name)
    rows = store.search.relations_of_chunks(graph=graph, chunks=list(wanted))
    return [
        Triple(row["head"], row["relation"], row["tail"], name, graph) for row in rows for name in wanted[row["chunk"]]
    ]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
