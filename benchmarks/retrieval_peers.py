"""How good and how fast retrieval is, ours beside others.

    python -m benchmarks.retrieval_peers [--sets hotpotqa,arduino,emanual,musique,2wiki] [--pipelines default,hybrid,kg,sparse,dense]

The sets of `benchmarks.retrieval_quality`, one after the other, in a Neo4j that is started for this: kgrag builds a set, its pipelines
and neo4j-graphrag's retrievers are asked over that database; then it is emptied, the same chunks, vectors and graph are written into
LlamaIndex's own schema, and its retriever is asked. All have the same embedder, are asked for the same number of results, one question at
a time, and are scored by the same code. Each is asked everything twice, and the second time counts: a Java server that is asked for the
first time is slow. Prints one table.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks import DATA
from benchmarks.peer_retrievers import (
    Corpus,
    Peer,
    Record,
    llama_index_peers,
    neo4j_graphrag_peers,
    read_corpus,
    write_for_llama_index,
)
from benchmarks.retrieval_quality import FACT_BUDGET_TOKENS, KS, SETS, TOP, EvaluationSet, chosen_sets
from benchmarks.stores import empty_neo4j, fresh_store, neo4j_login
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions
from kgrag.evaluate.retrieval import Asked, PipelineResult, facts_in_budget, measure_pipeline, score_evidence
from kgrag.models.minilm import MiniLM
from kgrag.retrieve import AdaptiveRetriever, Retrieval, Retriever
from kgrag.types import Evidence, Usage

PIPELINES = ("default", "hybrid", "kg", "sparse", "dense")
MEASURES = ("hit@1", "hit@5", "R@5", "all@5", "all@8", "facts", "tokens")
NOTES = [
    "kgrag sparse is BM25 alone, kgrag dense vectors alone. MiniLM embeds the question within the time of all.",
    f"facts: the share of gold facts that a chunk inside the first {FACT_BUDGET_TOKENS:,} tokens of shown text states.",
    "tokens: of all that is shown.",
    f"neo4j-graphrag: top_k {TOP}, else its defaults. A chunk is shown as its text (by default: as all its properties).",
    "HybridRetriever gives the question to Lucene as it is; escaped: its syntax escaped by the caller.",
    "VectorCypherRetriever: the thesis's expansion (SimpleKG_Dense_KG, top_k 5 there) on kgrag's schema. A result is a record",
    "of a chunk, up to 10 others, entities and relations: ranks are those of records; by chunk: of the chunks in them.",
    "PGRetriever: over Neo4jPropertyGraphStore, written by its own calls with the same chunks, vectors, entities and relations.",
    "Both schemas have Chunk and __Entity__, and Neo4j Community has one database: kgrag's was emptied before.",
    f"It searches the vectors of entities (similarity_top_k {TOP}, depth 1, limit 30), not those of chunks, and shows triples,",
    "with one chunk, the one its head came from. LLMSynonymRetriever asks a language model and is left out.",
]


def measure_peer(peer: Peer, questions: Sequence[GoldQuestion]) -> Iterator[PipelineResult]:
    """Ask a peer every question, the first once before the clock counts, as `measure_pipeline` does.

    Its ranks are those of its results; where results are made of several chunks, the ranks of the chunks give a second row.
    """
    peer.find(questions[0].question)
    answered: list[tuple[GoldQuestion, list[Record], float]] = []
    for question in questions:
        started = time.perf_counter()
        found = peer.find(question.question)
        milliseconds = 1000 * (time.perf_counter() - started)
        answered.append((question, peer.read(found), milliseconds))
    yield _scored(peer.name, answered, by_chunk=False)
    if any(len(record) > 1 for _, records, _ in answered for record in records):
        yield _scored(f"{peer.name}, by chunk", answered, by_chunk=True)


def _scored(
    name: str, answered: Iterable[tuple[GoldQuestion, list[Record], float]], *, by_chunk: bool
) -> PipelineResult:
    asked = []
    for question, records, milliseconds in answered:
        shown = [piece for record in records for piece in record]
        ranked = _each_once(shown) if by_chunk else [_as_one(record) for record in records]
        scores = score_evidence(question.facts, ranked, ks=KS, budget=FACT_BUDGET_TOKENS)
        scores["facts"] = facts_in_budget(question.facts, shown, FACT_BUDGET_TOKENS)
        scores["tokens"] = float(sum(piece.tokens for piece in shown))
        found = Retrieval(shown, name, (), Usage(), ())
        asked.append(Asked(question, found, scores, milliseconds))
    return PipelineResult(name, tuple(asked))


def _as_one(record: Record) -> Evidence:
    """Make one piece of a record: it states what any of its chunks states."""
    first, *others = record
    said = {source for piece in others for source in (piece.source_id, *piece.anchors)} - {""}
    return first.model_copy(update={"anchors": (*first.anchors, *sorted(said))})


def _each_once(shown: Iterable[Evidence]) -> list[Evidence]:
    once: dict[str, Evidence] = {}
    for piece in shown:
        if piece.chunk_id:
            once.setdefault(piece.chunk_id, piece)
    return list(once.values())


def over_our_schema(
    target: str, corpus: Corpus, questions: Sequence[GoldQuestion], pipelines: Sequence[str]
) -> list[PipelineResult]:
    """Ask every question through pipelines of kgrag and through neo4j-graphrag, over what kgrag built."""
    from neo4j import GraphDatabase

    import kgrag

    with (
        kgrag.open(target, create=False, graph=corpus.graph) as graph,
        GraphDatabase.driver(target, auth=neo4j_login()) as driver,
    ):
        retrievers = [(name, graph.retriever(name)) for name in pipelines]
        peers = list(neo4j_graphrag_peers(driver, MiniLM(), corpus, top=TOP))
        for _, retriever in retrievers:
            asyncio.run(_ask_all(retriever, questions))
        _warm_up(peers, questions)
        ours = [
            asyncio.run(measure_pipeline(name, retriever, questions, ks=KS, budget=FACT_BUDGET_TOKENS, top=TOP))
            for name, retriever in retrievers
        ]
        theirs = [one for peer in peers for one in measure_peer(peer, questions)]
        return [*(_named("kgrag", one) for one in ours), *(_named("neo4j-graphrag", one) for one in theirs)]


async def _ask_all(retriever: Retriever | AdaptiveRetriever, questions: Sequence[GoldQuestion]) -> None:
    for question in questions:
        await retriever.trace(question.question, top=TOP)


def _warm_up(peers: Iterable[Peer], questions: Sequence[GoldQuestion]) -> None:
    for peer in peers:
        for question in questions:
            peer.find(question.question)


def over_llama_index(target: str, corpus: Corpus, questions: Sequence[GoldQuestion]) -> list[PipelineResult]:
    """Empty the database, write the same in LlamaIndex's schema, and ask every question through its retriever."""
    from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore

    empty_neo4j(target)
    user, password = neo4j_login()
    with Neo4jPropertyGraphStore(username=user, password=password, url=target, refresh_schema=False) as store:
        write_for_llama_index(store, corpus)
        store.structured_query("CALL db.awaitIndexes(600)")
        peers = list(llama_index_peers(store, MiniLM(), corpus, top=TOP))
        _warm_up(peers, questions)
        return [_named("LlamaIndex", one) for peer in peers for one in measure_peer(peer, questions)]


def _named(program: str, result: PipelineResult) -> PipelineResult:
    return PipelineResult(f"{program} {result.pipeline}", result.asked)


def compare(
    one: EvaluationSet, *, data: Path, scratch: Path, pipelines: Sequence[str]
) -> tuple[str, list[PipelineResult]]:
    """Build one set with its first graph in a fresh Neo4j and ask its questions through all; returns its size, and what they found."""
    import kgrag

    questions, _ = read_gold_questions(data / one.questions)
    graph, recorded = one.graphs[0], data / one.recorded if one.recorded else None
    with fresh_store("neo4j", apoc=True) as fresh:
        with kgrag.open(fresh.target, extractor=(graph,), recorded=recorded) as opened:
            opened.build(one.corpus(data, scratch))
            corpus = read_corpus(opened.store, graph)
        ours = over_our_schema(fresh.target, corpus, questions, pipelines)
        theirs = over_llama_index(fresh.target, corpus, questions)
        return f"{len(questions)} questions, {_size(corpus)}", [*ours, *theirs]


def _size(corpus: Corpus) -> str:
    return (
        f"{len(corpus.chunks):,} chunks, graph `{corpus.graph}` of {len(corpus.entities):,} entities and "
        f"{len(corpus.relations):,} relations"
    )


def rows_of(name: str, results: Iterable[PipelineResult]) -> Iterator[list[str]]:
    """Yield a row of the table for each retriever."""
    for result in results:
        figures = (
            f"{result.mean(measure):,.0f}" if measure == "tokens" else f"{result.mean(measure):.3f}"
            for measure in MEASURES
        )
        yield [name, result.pipeline, *figures, f"{result.percentile(50):,.0f}", f"{result.percentile(95):,.0f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--sets", default="hotpotqa,arduino,emanual,musique,2wiki", help=", ".join(one.name for one in SETS)
    )
    parser.add_argument("--pipelines", default=",".join(PIPELINES))
    arguments = parser.parse_args()
    rows: list[list[str]] = []
    notes = [*NOTES]
    for one in chosen_sets(arguments.sets, arguments.data):
        with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as scratch:
            size, results = compare(
                one, data=arguments.data, scratch=Path(scratch), pipelines=arguments.pipelines.split(",")
            )
        rows += rows_of(one.name, results)
        print("\n".join(map("  ".join, rows_of(one.name, results))), file=sys.stderr)
        notes.append(f"{one.name}: {size}.")
        notes += [
            f"{one.name}, {result.pipeline}: nothing found for {len(result.empty)} of {len(result.asked)} questions."
            for result in results
            if result.empty
        ]
    head = ["set", "retriever", *MEASURES[:-2], f"facts@{FACT_BUDGET_TOKENS}", "tokens", "p50 ms", "p95 ms"]
    print_table(f"Retrievers asked for {TOP} results over one Neo4j", head, rows, notes)


if __name__ == "__main__":
    main()
