"""Which weight of the extracted relations beside similarity gives better communities, on two graphs.

    python -m benchmarks.community_quality [--store ./arduino.kg] [--weights 0 0.25 0.5 1 2 4 1000]

MuSiQue: names and triples that a model extracted (../shared/data). A passage is the communities of the names that it has, weighed by how
rare each community is; AUC is the chance that two passages which one question needs are nearer to each other than two random ones.
1,000 is as good as relations alone. A store (the Arduino passages, built with `kgrag build`): how many entities are in a community, and
how many members of those that are summarised are named by the chunks that fit into a profile: what a summary can be grounded in.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from benchmarks import DATA
from benchmarks.tables import print_table
from kgrag.communities.entity_graph import EntityGraph, entity_graph, relation_strength
from kgrag.communities.hierarchy import Hierarchy, find_communities
from kgrag.communities.profile import representative_chunks
from kgrag.communities.settings import CommunitySettings
from kgrag.communities.similarity import Pairs, similar_pairs
from kgrag.models.minilm import MiniLM
from kgrag.store.graph import open_store

MUSIQUE = DATA / "musique"
SEEDS = (1, 2, 3)
RANDOM_PAIRS = 4000
PROFILE_TOKENS = 1500
"""Of a profile's 2,000, what is left for chunks once members are listed."""

Said = Mapping[tuple[int, int], float]


def main() -> None:
    """Measure and print one table for each graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", help="also a store's graph `mention`")
    parser.add_argument("--weights", type=float, nargs="+", default=[0, 0.25, 0.5, 1, 2, 4, 1000])
    arguments = parser.parse_args()
    musique(arguments.weights)
    if arguments.store:
        arduino(arguments.store, arguments.weights)


def musique(weights: Sequence[float]) -> None:
    """Measure on the recorded graph."""
    place: dict[str, int] = {}
    said: Counter[tuple[int, int]] = Counter()
    passages: dict[str, set[int]] = {}
    for line in (MUSIQUE / "recorded_extractions.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        named = passages.setdefault(record["id"], set())
        for triple in record["triples"]:
            if len(triple) == 3:
                ends = sorted(place.setdefault(str(end), len(place)) for end in (triple[0], triple[2]))
                named.update(ends)
                if ends[0] != ends[1]:
                    said[ends[0], ends[1]] += 1
    needed = [json.loads(line)["evidence"] for line in (MUSIQUE / "questions.jsonl").open(encoding="utf-8")]
    pairs = [pair for evidence in needed for pair in combinations(evidence, 2)]
    similar = similar_pairs(MiniLM().embed(list(place)))
    rows = []
    for weight in weights:
        graph = graph_of(len(place), similar, said, weight)
        found = [find(graph, seed) for seed in SEEDS]
        aucs = [auc(passages, pairs, leaves(one)) for one in found]
        inside = 1 - len(found[0].isolated) / len(place)
        rows.append([f"{weight:g}", f"{inside:.1%}", f"{np.mean(aucs):.3f}", f"{np.std(aucs):.3f}"])
    alone = auc(passages, pairs, {})
    print_table(
        f"MuSiQue: {len(place):,} names, {len(said):,} related pairs, {len(similar):,} similar pairs, {len(pairs)} pairs of passages",
        ["relations", "in a community", "AUC (mean of 3 seeds)", "deviation"],
        rows,
        [f"Without communities, by the names that two passages share: {alone:.3f}.", ""],
    )


def arduino(target: str, weights: Sequence[float]) -> None:
    """Measure on a store's graph."""
    settings = CommunitySettings()
    with open_store(target, create=False) as store:
        keys, vectors = store.graphs.vectors("mention")
        place = {key: number for number, key in enumerate(keys)}
        said: Counter[tuple[int, int]] = Counter()
        for row in store.search.relations(graph="mention"):
            ends = sorted((place[row["head"]], place[row["tail"]]))
            if ends[0] != ends[1]:
                said[ends[0], ends[1]] += row["weight"]
        naming: dict[int, list[str]] = defaultdict(list)
        for mention in store.search.mentions(graph="mention"):
            naming[place[mention["key"]]].append(mention["chunk_id"])
        tokens = {row["id"]: row["tokens"] for row in store.search.chunk_sizes()}
    similar = similar_pairs(vectors)
    rows = []
    for weight in weights:
        graph = graph_of(len(keys), similar, said, weight)
        shares, summarised = [], []
        for seed in SEEDS:
            hierarchy = find(graph, seed)
            whole = [one for one in hierarchy.communities if len(one.members) >= settings.summary_floor]
            hits = 0
            for one in whole:
                chunks = {str(member): naming[member] for member in one.members}
                chosen = set(
                    representative_chunks(
                        chunks, weights=dict.fromkeys(chunks, 1.0), tokens=tokens, budget=PROFILE_TOKENS
                    )
                )
                hits += sum(any(chunk in chosen for chunk in some) for some in chunks.values())
            shares.append(hits / sum(len(one.members) for one in whole))
            summarised.append(len(whole))
        inside = 1 - len(hierarchy.isolated) / len(keys)
        rows.append([f"{weight:g}", f"{inside:.1%}", f"{np.mean(summarised):.0f}", f"{np.mean(shares):.3f}"])
    print_table(
        f"{target}: {len(keys):,} entities, {len(said):,} related pairs, {len(similar):,} similar pairs",
        ["relations", "in a community", "communities with summary", "members that the chunks of a profile name"],
        rows,
        [],
    )


def graph_of(count: int, similar: Pairs, said: Said, weight: float) -> EntityGraph:
    """Blend, as `kgrag communities` does."""
    pairs = np.array(sorted(said), dtype=np.int64)
    strength = relation_strength(np.array([said[pair] for pair in sorted(said)], dtype=np.float64))
    keys = [f"{number:032x}" for number in range(count)]
    return entity_graph(keys, similar, related=Pairs(pairs[:, 0], pairs[:, 1], strength), relation_weight=weight)


def find(graph: EntityGraph, seed: int) -> Hierarchy:
    """Find communities with the default size."""
    return find_communities(graph, name="quality", seed=seed, max_size=CommunitySettings().max_size)


def leaves(hierarchy: Hierarchy) -> dict[int, str]:
    """Return the finest community of each entity."""
    return {member: one.key for one in hierarchy.communities for member in one.members}


def auc(passages: Mapping[str, set[int]], pairs: Sequence[tuple[str, str]], community: Mapping[int, str]) -> float:
    """Compare pairs of passages that belong together with random ones; an entity without community counts as its own."""
    counts = {name: Counter(community.get(one, str(one)) for one in named) for name, named in passages.items()}
    spread = Counter(one for some in counts.values() for one in some)
    vectors: dict[str, dict[str, float]] = {}
    for name, some in counts.items():
        weighed = {one: times * math.log(1 + len(counts) / spread[one]) for one, times in some.items()}
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        vectors[name] = {one: value / length for one, value in weighed.items()}

    def cosine(one: str, other: str) -> float:
        second = vectors.get(other, {})
        return sum(value * second.get(key, 0.0) for key, value in vectors.get(one, {}).items())

    chance = np.random.default_rng(0)
    names = sorted(passages)
    apart = np.array(
        [cosine(*(names[i] for i in chance.choice(len(names), 2, replace=False))) for _ in range(RANDOM_PAIRS)]
    )
    together = np.array([cosine(*pair) for pair in pairs])
    higher = (together[:, None] > apart).mean() + 0.5 * (together[:, None] == apart).mean()
    return float(higher)


if __name__ == "__main__":
    main()
