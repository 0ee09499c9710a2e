"""Similarity graph and communities at growing sizes, beside Neo4j's Graph Data Science on the same vectors.

    python -m benchmarks.communities [--counts 1000 10000 100000] [--gds]

Vectors are mixes of real MiniLM vectors of the names that were extracted from MuSiQue (../shared/data): each is a name's, with some of
another's and noise, so that an entity has neighbours as near as variants of a name are. Ours runs in a process of its own: its peak
memory is of nothing else. GDS: kNN (topK 15) writes SIMILAR, Leiden runs on that, as in the thesis; its scores are (1 + cosine) / 2, so
the same cutoff is 0.90 there; projecting is counted
with what follows it, writing the vectors into the database is not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import neo4j
import numpy as np

from benchmarks import DATA
from benchmarks.gds_server import gds_server
from benchmarks.processes import cpu_seconds, peak_memory_mb
from benchmarks.tables import print_table
from kgrag.communities.entity_graph import EntityGraph, entity_graph
from kgrag.communities.hierarchy import find_communities, modularity
from kgrag.communities.settings import CommunitySettings
from kgrag.communities.similarity import EXACT_ENTITIES, Pairs, similar_pairs
from kgrag.models.base import Vectors
from kgrag.models.minilm import MiniLM

NAMES = DATA / "musique" / "recorded_extractions.jsonl"
POOL = 4000
NOISE = 0.35
GDS_HEAP_MB = 4000
GDS_CONCURRENCY = 2
RECALL_SAMPLE = 1000
WRITE_ROWS = 2000


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[1000, 10_000, 30_000, 100_000])
    parser.add_argument("--gds", action="store_true", help="also Neo4j with GDS (fetched by Maven on first use)")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(np.load(arguments.child))))
        return
    if not NAMES.is_file():
        raise SystemExit(f"needs {NAMES}")
    pool = name_vectors(POOL)
    rows = []
    with tempfile.TemporaryDirectory(prefix="kgrag-communities-") as folder:
        for count in arguments.counts:
            vectors = entity_vectors(pool, count)
            file = Path(folder) / "vectors.npy"
            np.save(file, vectors)
            ours = subprocess.run(
                [sys.executable, "-m", "benchmarks.communities", "--child", file],
                capture_output=True,
                text=True,
                check=True,
            )
            rows.append(row(count, "kgrag", json.loads(ours.stdout)))
            if arguments.gds:
                rows.append(row(count, "GDS", measure_gds(vectors)))
    print_table(
        "Similarity graph (k 15, cutoff 0.80) and hierarchical communities, 384 dimensions",
        [
            "entities",
            "by",
            "similarity s",
            "communities s",
            "together s",
            "processor s",
            "peak MB",
            "pairs",
            "recall",
            "level 0",
            "modularity",
        ],
        rows,
        [
            f"kgrag compares every pair up to {EXACT_ENTITIES:,} entities. recall: share of the true pairs of {RECALL_SAMPLE:,} entities.",
            f"GDS: {GDS_CONCURRENCY} threads, heap {GDS_HEAP_MB} MB, peak of the whole server; its coarsest level is shown.",
            "processor s: of all threads together; on a machine that does something else besides, the wall times are longer.",
            "modularity: of level 0 on each one's own similarity graph, weighted.",
        ],
    )


def name_vectors(count: int) -> Vectors:
    """Embed extracted names."""
    triples = (triple for line in NAMES.open(encoding="utf-8") for triple in json.loads(line)["triples"])
    names = sorted({str(end) for triple in triples if len(triple) == 3 for end in (triple[0], triple[2])})
    chosen = np.random.default_rng(1).choice(len(names), size=count, replace=False)
    return MiniLM().embed([names[place] for place in sorted(chosen.tolist())])


def entity_vectors(pool: Vectors, count: int) -> Vectors:
    """Mix `count` vectors from the pool."""
    chance = np.random.default_rng(2)
    share = chance.uniform(0.7, 1.0, size=(count, 1)).astype(np.float32)
    mixed = (
        share * pool[chance.integers(len(pool), size=count)]
        + (1 - share) * pool[chance.integers(len(pool), size=count)]
    )
    noise = chance.standard_normal(mixed.shape, dtype=np.float32)
    mixed += NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    vectors: Vectors = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def measure(vectors: Vectors) -> dict[str, Any]:
    """Measure ours."""
    settings = CommunitySettings()
    started, spent = time.perf_counter(), time.process_time()
    similar = similar_pairs(vectors, neighbours=settings.k, cutoff=settings.cutoff)
    between = time.perf_counter()
    graph = graph_of(len(vectors), similar)
    hierarchy = find_communities(graph, name="benchmark", seed=settings.seed, max_size=settings.max_size)
    ended, processor = time.perf_counter(), time.process_time() - spent
    return {
        "similarity": between - started,
        "communities": ended - between,
        "processor": processor,
        "peak": peak_memory_mb(),
        "pairs": len(similar),
        "recall": recall(vectors, set(zip(similar.first.tolist(), similar.second.tolist(), strict=True))),
        "level 0": sum(one.level == 0 for one in hierarchy.communities),
        "modularity": hierarchy.modularity,
    }


def graph_of(count: int, similar: Pairs) -> EntityGraph:
    """Make a graph of similar pairs alone."""
    none = Pairs(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0))
    return entity_graph([f"{i:032x}" for i in range(count)], similar, related=none, relation_weight=0.0)


def recall(vectors: Vectors, found: set[tuple[int, int]]) -> float:
    """Say how many of the true nearest neighbours above the cutoff of some entities are among the pairs."""
    settings = CommunitySettings()
    sample = np.random.default_rng(3).choice(len(vectors), size=min(RECALL_SAMPLE, len(vectors)), replace=False)
    scores = vectors[sample] @ vectors.T
    scores[np.arange(len(sample)), sample] = -1.0
    hits = total = 0
    for place, own in zip(sample.tolist(), scores, strict=True):
        for other in np.argsort(-own)[: settings.k].tolist():
            if own[other] >= settings.cutoff:
                total += 1
                hits += (min(place, other), max(place, other)) in found
    return hits / max(total, 1)


def measure_gds(vectors: Vectors) -> dict[str, Any]:
    """Measure kNN and Leiden of GDS."""
    settings = CommunitySettings()
    with gds_server(heap_mb=GDS_HEAP_MB) as (driver, pid), driver.session() as session:
        ask(session, "CREATE INDEX FOR (e:E) ON (e.id)")
        for start in range(0, len(vectors), WRITE_ROWS):
            some = vectors[start : start + WRITE_ROWS].tolist()
            rows = [{"id": start + place, "v": vector} for place, vector in enumerate(some)]
            ask(session, "UNWIND $rows AS row CREATE (e:E) SET e.id = row.id, e.v = row.v", rows=rows)
        started, spent = time.perf_counter(), cpu_seconds(pid)
        ask(session, "CALL gds.graph.project('vectors', {E: {properties: 'v'}}, '*')")
        ask(
            session,
            "CALL gds.knn.write('vectors', {nodeProperties: {v: 'COSINE'}, topK: $k, similarityCutoff: $cutoff, concurrency: $threads, "
            "writeRelationshipType: 'SIMILAR', writeProperty: 'score'}) YIELD relationshipsWritten RETURN relationshipsWritten",
            k=settings.k,
            cutoff=(1 + settings.cutoff) / 2,
            threads=GDS_CONCURRENCY,
        )
        between = time.perf_counter()
        ask(
            session,
            "CALL gds.graph.project('similar', 'E', {SIMILAR: {orientation: 'UNDIRECTED', properties: 'score'}})",
        )
        ask(
            session,
            "CALL gds.leiden.write('similar', {relationshipWeightProperty: 'score', includeIntermediateCommunities: true, "
            "concurrency: $threads, writeProperty: 'communities'}) YIELD communityCount RETURN communityCount",
            threads=GDS_CONCURRENCY,
        )
        ended, processor = time.perf_counter(), cpu_seconds(pid) - spent
        directed = ask(session, "MATCH (a:E)-[s:SIMILAR]->(b:E) RETURN a.id AS a, b.id AS b, s.score AS score")
        coarsest = ask(session, "MATCH (e:E) RETURN e.id AS id, e.communities[-1] AS community")
        peak = peak_memory_mb(pid)
    scores = {(min(one["a"], one["b"]), max(one["a"], one["b"])): one["score"] for one in directed}
    pairs = np.array(sorted(scores), dtype=np.int64).reshape(-1, 2)
    graph = graph_of(len(vectors), Pairs(pairs[:, 0], pairs[:, 1], np.array([scores[pair] for pair in sorted(scores)])))
    members: dict[int, list[int]] = {}
    for one in coarsest:
        members.setdefault(one["community"], []).append(one["id"])
    return {
        "similarity": between - started,
        "communities": ended - between,
        "processor": processor,
        "peak": peak,
        "pairs": len(scores),
        "recall": recall(vectors, set(scores)),
        "level 0": sum(len(some) > 1 for some in members.values()),
        "modularity": modularity(graph, list(members.values())),
    }


def ask(session: neo4j.Session, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
    """Run a statement of this benchmark."""
    return [record.data() for record in session.run(cypher, parameters)]


def row(count: int, by: str, found: dict[str, Any]) -> list[str]:
    """Write one line of the table."""
    return [
        f"{count:,}",
        by,
        f"{found['similarity']:.1f}",
        f"{found['communities']:.1f}",
        f"{found['similarity'] + found['communities']:.1f}",
        f"{found['processor']:.1f}",
        f"{found['peak']:,.0f}",
        f"{found['pairs']:,}",
        f"{found['recall']:.3f}",
        f"{found['level 0']:,}",
        f"{found['modularity']:.3f}",
    ]


if __name__ == "__main__":
    main()
