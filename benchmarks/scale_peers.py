"""Writing and asking a large graph, ours beside others: `python -m benchmarks.scale_peers [--chunks N] [--questions N]`.

One Neo4j, N synthetic passages with vectors of words (`benchmarks.vectors.WordVectors`), and the graph that `mention` makes of them.

First table: kgrag builds it (reading and extraction included), then neo4j-graphrag's `Neo4jWriter` and LlamaIndex's property graph store
write the same chunks, vectors, entities and relations in their own schemas, each into the emptied database; rows are nodes and
relationships. Second table: pipelines of kgrag and neo4j-graphrag's retrievers over what kgrag built, LlamaIndex's over its own, asked the
same planted questions (`benchmarks.synthetic.planted_questions`) with the same vectors: recall of the passages that have the answer among
the first ten results, for questions that name the product and for those that name its neighbour. Processor seconds are of this process and
the server, those of a question without reading what was found. A question that takes longer than `PATIENCE_S` is ended and counted: what
retrievers write in Cypher follows hubs as far as they go. Rows go to standard error as they come.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpus import make_corpus
from benchmarks.peer_retrievers import (
    Corpus,
    Peer,
    Record,
    llama_index_peers,
    neo4j_graphrag_peers,
    read_corpus,
    write_for_llama_index,
)
from benchmarks.processes import cpu_seconds, peak_memory_mb
from benchmarks.stores import NEO4J_HEAP_MB, PAGE_CACHE_MB, empty_neo4j, fresh_store, neo4j_login
from benchmarks.synthetic import PLANTED_FORMS, Planted, planted_questions
from benchmarks.tables import print_table
from benchmarks.vectors import WordVectors

if TYPE_CHECKING:
    import neo4j

GRAPH = "mention"
PIPELINES = ("default", "hybrid", "kg")
TOP = 10
WARM_UP_CHUNKS = 310
ENOUGH_S = 60.0
"""A retriever is asked no more questions after so long, but at least `LEAST` of each kind."""
LEAST = 4
PATIENCE_S = 30.0
"""A question that takes longer is ended on the server, and counts as one without an answer."""
UNDER_WAY = (
    "SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery AS text WHERE NOT text STARTS WITH 'SHOW' RETURN id"
)
NO_ANSWER = ("Transaction.Terminated", "OutOfMemory")
"""In the code of an error: what a retriever asked was too much for the server, or for our patience."""


@dataclass
class Spent:
    """What a block took, in seconds: wall, and processor time of this process and of the server."""

    wall: float = 0.0
    own: float = 0.0
    server: float = 0.0


@contextmanager
def spent(pid: int | None) -> Iterator[Spent]:
    """Measure a block."""
    found = Spent()
    before = time.perf_counter(), time.process_time(), cpu_seconds(pid)
    yield found
    now = time.perf_counter(), time.process_time(), cpu_seconds(pid)
    found.wall, found.own, found.server = (one - other for one, other in zip(now, before, strict=True))


@dataclass(frozen=True, slots=True)
class Asked:
    """A planted question, what asking it took, which share of its passages the first ten results have, and what they show.

    `failed` is the database's reason where there were no results, because it was ended or the server had too little memory for it.
    """

    planted: Planted
    cost: Spent
    recall: float = 0.0
    tokens: int = 0
    failed: str = ""


def ask(peer: Peer, questions: Sequence[Planted], pid: int | None, patience: Patience) -> list[Asked]:
    """Ask a retriever the questions, both kinds in turn, until it is enough; the first few are asked once before."""
    in_turn = [one for pair in zip(*(_of_kind(questions, kind) for kind in PLANTED_FORMS), strict=True) for one in pair]
    begun = time.perf_counter()
    for planted in in_turn[:LEAST]:
        if time.perf_counter() - begun < ENOUGH_S:
            _ask(peer, planted, pid, patience)
    asked: list[Asked] = []
    begun = time.perf_counter()
    for planted in in_turn:
        if len(asked) >= LEAST * len(PLANTED_FORMS) and time.perf_counter() - begun > ENOUGH_S:
            break
        asked.append(_ask(peer, planted, pid, patience))
    return asked


def _ask(peer: Peer, planted: Planted, pid: int | None, patience: Patience) -> Asked:
    from neo4j.exceptions import Neo4jError

    failed = ""
    with spent(pid) as cost:
        try:
            with patience.waiting():
                found = peer.find(planted.question)
        except Neo4jError as error:
            if not any(reason in (error.code or "") for reason in NO_ANSWER):
                raise
            failed = error.code or ""
    if failed:
        return Asked(planted, cost, failed=failed)
    shown = [piece for record in peer.read(found)[:TOP] for piece in record]
    recall = len(planted.passages & {piece.source_id for piece in shown}) / len(planted.passages)
    return Asked(planted, cost, recall, sum(piece.tokens for piece in shown))


class Patience:
    """Ends what the server still does for a question after so long: the programs set no limit of their own."""

    def __init__(self, driver: neo4j.Driver, seconds: float = PATIENCE_S) -> None:
        self._driver = driver
        self._seconds = seconds

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for the block so long, and no longer."""
        timer = threading.Timer(self._seconds, self._end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end(self) -> None:
        with self._driver.session() as session:
            others = [row["id"] for row in session.run(UNDER_WAY)]
            if others:
                session.run("TERMINATE TRANSACTIONS $ids", ids=others).consume()


def _of_kind(questions: Sequence[Planted], kind: str) -> list[Planted]:
    return [one for one in questions if one.kind == kind]


def our_peers(target: str, embedder: WordVectors, corpus: Corpus) -> Iterator[Peer]:
    """Open kgrag's pipelines as peers."""
    from kgrag.retrieve import load_pipeline, open_retriever
    from kgrag.store.graph import open_store

    def read(found: Sequence[str]) -> list[Record]:
        return [(corpus.piece(chunk_id),) for chunk_id in found]

    with open_store(target, create=False) as store:
        for name in PIPELINES:
            retriever = open_retriever(store, embedder, load_pipeline(name))

            def find(question: str, retriever=retriever) -> list[str]:  # type: ignore[no-untyped-def]
                evidence = asyncio.run(retriever.retrieve(question, top=TOP))
                return [piece.chunk_id for piece in evidence if piece.chunk_id]

            yield Peer(name, find, read)


def build_ours(file: Path, target: str, embedder: WordVectors) -> None:
    """Build the corpus by `mention`."""
    from kgrag.extract import open_extractor
    from kgrag.jobs.build import build
    from kgrag.settings import Settings
    from kgrag.store.graph import open_store

    with open_store(target) as store:
        settings = Settings(store=target, max_file_mb=2000)
        extractors = [open_extractor(GRAPH)]
        asyncio.run(build([file], store=store, embedder=embedder, extractors=extractors, settings=settings))


def write_by_neo4j_graphrag(target: str, corpus: Corpus) -> Callable[[], None]:
    """Return what writes chunks, entities, mentions and relations by neo4j-graphrag's Neo4jWriter with its defaults."""
    from neo4j import GraphDatabase
    from neo4j_graphrag.components.kg_writer import Neo4jWriter
    from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode, Neo4jRelationship

    nodes = [
        Neo4jNode(
            id=chunk.id,
            label="Chunk",
            properties={"text": chunk.prompted_text},
            embedding_properties={"embedding": corpus.vectors[chunk.id].tolist()},
        )
        for chunk in corpus.chunks.values()
    ]
    nodes += [
        Neo4jNode(id=key, label=label, properties={"name": name}, embedding_properties={"embedding": vector.tolist()})
        for key, (name, label, vector) in corpus.entities.items()
    ]
    relationships = [
        Neo4jRelationship(start_node_id=key, end_node_id=chunk_id, type="FROM_CHUNK")
        for key, chunk_id, _ in corpus.mentions
    ]
    relationships += [
        Neo4jRelationship(start_node_id=head, end_node_id=tail, type=label) for head, label, tail, _ in corpus.relations
    ]
    graph = Neo4jGraph(nodes=nodes, relationships=relationships)

    def write() -> None:
        with GraphDatabase.driver(target, auth=neo4j_login()) as driver:
            done = asyncio.run(Neo4jWriter(driver).run(graph))
        if done.status != "SUCCESS":
            raise SystemExit(f"Neo4jWriter: {done.metadata}")

    return write


def rows_in(target: str) -> tuple[int, int]:
    """Count nodes and relationships."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(target, auth=neo4j_login()) as driver, driver.session() as session:
        nodes = session.run("MATCH (n) RETURN count(n) AS count").single(strict=True)["count"]
        return nodes, session.run("MATCH ()-[r]->() RETURN count(r) AS count").single(strict=True)["count"]


def compare(
    chunks: int, questions: int, *, heap_mb: int = NEO4J_HEAP_MB, page_cache_mb: int = PAGE_CACHE_MB
) -> tuple[list[list[str]], list[list[str]]]:
    """Write and ask by all; returns the rows of both tables, which standard error shows as they come."""
    from neo4j import GraphDatabase

    embedder, planted = WordVectors(), planted_questions(questions, count=chunks)
    written: list[list[str]] = []
    asked: list[list[str]] = []

    with (
        tempfile.TemporaryDirectory() as folder,
        fresh_store("neo4j", apoc=True, heap_mb=heap_mb, page_cache_mb=page_cache_mb) as fresh,
        GraphDatabase.driver(fresh.target, auth=neo4j_login()) as driver,
    ):
        target, pid, patience = fresh.target, fresh.server_pid, Patience(driver)
        # Unmeasured: a Java machine is slow until it has seen the work.
        build_ours(
            make_corpus(WARM_UP_CHUNKS, Path(folder), question_count=1, embedder=embedder).file, target, embedder
        )
        empty_neo4j(target)
        file = make_corpus(chunks, Path(folder), question_count=1, embedder=embedder).file

        def write(name: str, work: Callable[[], None]) -> None:
            with spent(pid) as cost:
                work()
            nodes, relationships = rows_in(target)
            cpu = cost.own + cost.server
            seconds = (f"{value:,.1f}" for value in (cost.wall, cost.own, cost.server))
            written.append(
                [name, f"{nodes:,}", f"{relationships:,}", *seconds, f"{(nodes + relationships) / cpu:,.0f}"]
            )
            print("  ".join(written[-1]), file=sys.stderr, flush=True)

        def ask_all(program: str, peers: Iterator[Peer]) -> None:
            for peer in peers:
                asked.append([f"{program} {peer.name}", *_figures(ask(peer, planted, pid, patience))])
                print("  ".join(asked[-1]), file=sys.stderr, flush=True)

        write("kgrag build", partial(build_ours, file, target, embedder))
        from kgrag.store.graph import open_store

        with open_store(target, create=False) as store:
            corpus = read_corpus(store, GRAPH)
        ask_all("kgrag", our_peers(target, embedder, corpus))
        ask_all("neo4j-graphrag", neo4j_graphrag_peers(driver, embedder, corpus, top=TOP))
        empty_neo4j(target)
        write("neo4j-graphrag Neo4jWriter", write_by_neo4j_graphrag(target, corpus))
        empty_neo4j(target)
        from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore

        user, password = neo4j_login()
        with Neo4jPropertyGraphStore(username=user, password=password, url=target, refresh_schema=False) as theirs:
            write("LlamaIndex Neo4jPropertyGraphStore", lambda: write_for_llama_index(theirs, corpus))
            theirs.structured_query("CALL db.awaitIndexes(600)")
            ask_all("LlamaIndex", llama_index_peers(theirs, embedder, corpus, top=TOP))
    return written, asked


def _figures(asked: Sequence[Asked]) -> Iterator[str]:
    yield f"{len(asked):,}"
    yield f"{sum(bool(one.failed) for one in asked):,}"
    for kind in PLANTED_FORMS:
        yield f"{np.mean([one.recall for one in asked if one.planted.kind == kind]):.2f}"
    answered = [one for one in asked if not one.failed]
    yield f"{np.mean([one.tokens for one in answered]):,.0f}" if answered else "-"
    yield from (f"{1000 * value:,.0f}" for value in np.percentile([one.cost.wall for one in asked], [50, 95]))
    yield f"{1000 * np.mean([one.cost.own + one.cost.server for one in asked]):,.0f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--heap-mb", type=int, default=NEO4J_HEAP_MB, help="Of the server. Default: %(default)s.")
    parser.add_argument("--page-cache-mb", type=int, default=PAGE_CACHE_MB, help="The same. Default: %(default)s.")
    arguments = parser.parse_args()
    written, asked = compare(
        arguments.chunks, arguments.questions, heap_mb=arguments.heap_mb, page_cache_mb=arguments.page_cache_mb
    )
    head = ["writer", "nodes", "relationships", "wall s", "own CPU s", "server CPU s", "rows per CPU s"]
    print_table(f"Writing {arguments.chunks:,} chunks and their graph into Neo4j", head, written, [])
    print()
    head = ["retriever", "questions", "failed", *PLANTED_FORMS, "tokens", "p50 ms", "p95 ms", "CPU ms"]
    notes = [
        f"{' and '.join(PLANTED_FORMS)}: recall@{TOP} of the passages that have the answer.",
        f"failed: not answered within {PATIENCE_S:.0f} s or the server's memory; nothing was found then, and tokens are of the others.",
        f"Peak memory of this process: {peak_memory_mb():,.0f} MB.",
    ]
    print_table(f"Asking {arguments.chunks:,} chunks", head, asked, notes)


if __name__ == "__main__":
    main()
