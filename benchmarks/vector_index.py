"""What Neo4j's vector index finds of real vectors, and what that costs, by its settings.

    python -m benchmarks.vector_index [--stores FOLDER] [--sets 2wiki,git_html] [--data ../shared/data]

Takes the chunks' vectors of all sets together out of the stores that `benchmarks.carry_over` built (embedded ones, which nothing else has
open), and the questions of those sets that are in files. Each setting is an index over all vectors, filled at once; the questions
are put to it for 100, 150, 200, 300 and 500 candidates. Prints recall of the nearest hundred and ten beside exact search, and processor
time of the server, of filling and of one question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from neo4j import GraphDatabase, Session

from benchmarks.processes import cpu_seconds
from benchmarks.retrieval_quality import chosen_sets, parser_of_sets
from benchmarks.stores import fresh_store, neo4j_login
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import read_gold_questions
from kgrag.models.base import Vectors
from kgrag.models.minilm import MiniLM
from kgrag.store.graph import open_store

HNSW, EFFORT, QUANTIZED = "vector.hnsw.m", "vector.hnsw.ef_construction", "vector.quantization.enabled"
SETTINGS: tuple[Mapping[str, Any], ...] = (
    {HNSW: 16, EFFORT: 100},
    {HNSW: 16, EFFORT: 200},
    {HNSW: 32, EFFORT: 200},
    {HNSW: 32, EFFORT: 400},
    {HNSW: 16, EFFORT: 100, QUANTIZED: True},
    {HNSW: 32, EFFORT: 200, QUANTIZED: True},
)
"""The first is Neo4j's default, without quantization."""
ASKED = (100, 150, 200, 300, 500)
BATCH = 500
WARM_UP = 200
"""Questions before the clock counts."""
NEAREST = (100, 10)
SLACK = 1e-6
"""What is as near as the last of the nearest is one of them."""
QUESTIONS_OF_A_SET = 60
PUT = """
UNWIND $rows AS row
CREATE (node:Vector {place: row.place})
WITH node, row CALL db.create.setNodeVectorProperty(node, 'embedding', row.vector)
"""
ASK = "CALL db.index.vector.queryNodes('vectors', $candidates, $vector) YIELD node RETURN node.place AS place"


def read(stores: Path, names: str, data: Path) -> tuple[Vectors, Vectors]:
    """Return the vectors of all chunks and of questions."""
    vectors, asked = [], []
    for one in chosen_sets(names, data):
        if one.of:
            continue
        with open_store(stores / one.name, create=False) as store:
            vectors.append(store.documents.vectors()[1])
        if one.questions:
            asked += [q.question for q in read_gold_questions(data / one.questions)[0][:QUESTIONS_OF_A_SET]]
    return np.concatenate(vectors), asyncio.run(MiniLM().embed_queries(asked))


def measure(session: Session, server_pid: int | None, vectors: Vectors, asked: Vectors) -> Iterator[list[str]]:
    """Yield a row for each setting and number of candidates."""
    for start in range(0, len(vectors), BATCH):
        some = vectors[start : start + BATCH].tolist()
        rows = [{"place": place, "vector": vector} for place, vector in enumerate(some, start)]
        session.run(PUT, rows=rows).consume()
    cosines = asked @ vectors.T
    least = {count: np.partition(cosines, -count, axis=1)[:, -count] - SLACK for count in NEAREST}
    for settings in SETTINGS:
        config = {"vector.dimensions": vectors.shape[1], "vector.similarity_function": "cosine", QUANTIZED: False}
        before = cpu_seconds(server_pid)
        session.run(
            "CREATE VECTOR INDEX vectors FOR (node:Vector) ON (node.embedding) OPTIONS $options",
            options={"indexConfig": config | dict(settings)},
        ).consume()
        session.run("CALL db.awaitIndexes(3600)").consume()
        filled = cpu_seconds(server_pid) - before
        for place in range(WARM_UP):
            _ask(session, asked[place % len(asked)], ASKED[0])
        for candidates in ASKED:
            before = cpu_seconds(server_pid)
            found = [_ask(session, vector, candidates) for vector in asked]
            cost = 1000 * (cpu_seconds(server_pid) - before) / len(asked)
            recalls = [
                np.mean([min(n, (cosines[i, some] >= least[n][i]).sum()) / n for i, some in enumerate(found)])
                for n in NEAREST
            ]
            yield [
                *(str(settings[HNSW]), str(settings[EFFORT]), "yes" if settings.get(QUANTIZED) else "no"),
                *(f"{filled:.1f}", str(candidates), *(f"{recall:.4f}" for recall in recalls), f"{cost:.1f}"),
            ]
        session.run("DROP INDEX vectors").consume()


def _ask(session: Session, vector: Sequence[float], candidates: int) -> list[int]:
    return [row["place"] for row in session.run(ASK, candidates=candidates, vector=list(map(float, vector)))]


def main() -> None:
    """Measure and print."""
    parser = parser_of_sets("Recall and cost of Neo4j's vector index by its settings.")
    arguments = parser.parse_args()
    vectors, asked = read(arguments.stores, arguments.sets, arguments.data)
    with (
        fresh_store("neo4j") as fresh,
        GraphDatabase.driver(fresh.target, auth=neo4j_login()) as driver,
        driver.session() as session,
    ):
        rows = list(measure(session, fresh.server_pid, vectors, asked))
    head = ["m", "ef_construction", "quantized", "fill CPU s", "asked for", "recall@100", "recall@10", "CPU ms"]
    print_table(f"Neo4j's vector index: {len(vectors):,} vectors, {len(asked)} questions", head, rows, [])


if __name__ == "__main__":
    main()
