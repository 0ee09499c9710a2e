"""Communities in communities: nested, accounted for, the same for the same seed, stable under small changes."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kgrag.communities.entity_graph import EntityGraph, entity_graph, relation_strength
from kgrag.communities.hierarchy import Earlier, Found, Hierarchy, find_communities, modularity
from kgrag.communities.similarity import Pairs, similar_pairs
from kgrag.text.values import is_value
from kgrag.types import content_id

Edge = tuple[int, int, float]

NO_PAIRS = Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def graph_of(count: int, edges: list[Edge]) -> EntityGraph:
    """A graph of entities that are named by their numbers; keys, as in the store, have no order of their own."""
    keys = sorted(content_id(str(number)) for number in range(count))
    place = {content_id(str(number)): keys.index(content_id(str(number))) for number in range(count)}
    weights: dict[tuple[int, int], float] = {}
    for one, other, weight in edges:
        ends = sorted((place[content_id(str(one))], place[content_id(str(other))]))
        if one != other:
            weights[ends[0], ends[1]] = weight
    pairs = np.array(list(weights), dtype=np.int64).reshape(-1, 2)
    similar = Pairs(pairs[:, 0], pairs[:, 1], np.array(list(weights.values())))
    return entity_graph(keys, similar, related=NO_PAIRS, relation_weight=0.0)


def blocks(sizes: list[int], *, seed: int, inside: float = 0.4, between: float = 0.01) -> list[Edge]:
    """Edges of a planted partition."""
    chance = random.Random(seed)
    label = [number for number, size in enumerate(sizes) for _ in range(size)]
    return [
        (one, other, round(chance.uniform(0.8, 1.0), 3))
        for one in range(len(label))
        for other in range(one)
        if chance.random() < (inside if label[one] == label[other] else between)
    ]


def earlier_of(graph: EntityGraph, hierarchy: Hierarchy) -> list[Earlier]:
    return [
        Earlier(one.level, tuple(graph.keys[place] for place in one.members), one.structure, len(one.members))
        for one in hierarchy.communities
    ]


def check_invariants(graph: EntityGraph, hierarchy: Hierarchy, *, max_size: int) -> None:
    by_key = {one.key: one for one in hierarchy.communities}
    assert len(by_key) == len(hierarchy.communities)
    children: dict[str | None, list[Found]] = {}
    for one in hierarchy.communities:
        children.setdefault(one.parent, []).append(one)
        assert one.members
        assert list(one.members) == sorted(set(one.members))
        if one.parent is None:
            assert one.level == 0
        else:
            parent = by_key[one.parent]
            assert parent.level == one.level - 1
            assert set(one.members) < set(parent.members)
            assert len(parent.members) > max_size
    # The parts of a community are all of it, each member once; so are the roots and the isolated of the whole.
    for parent_key, parts in children.items():
        members = [member for part in parts for member in part.members]
        whole = by_key[parent_key].members if parent_key else set(range(len(graph.keys))) - set(hierarchy.isolated)
        assert sorted(members) == sorted(whole)
    joined = set(graph.edges.first.tolist()) | set(graph.edges.second.tolist())
    assert set(hierarchy.isolated) == set(range(len(graph.keys))) - joined


random_graphs = st.integers(1, 60).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(
            st.tuples(
                st.integers(0, count - 1), st.integers(0, count - 1), st.sampled_from([0.5, 0.8, 0.91, 1.0, 2.5])
            ),
            max_size=150,
        ),
    )
)


@given(random_graphs, st.integers(2, 12), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_communities_are_nested_and_every_entity_is_accounted_for(
    made: tuple[int, list[Edge]], max_size: int, seed: int
) -> None:
    graph = graph_of(*made)
    check_invariants(graph, find_communities(graph, name="g", seed=seed, max_size=max_size), max_size=max_size)


@given(random_graphs, st.randoms(use_true_random=False), st.integers(0, 100))
@settings(max_examples=100, deadline=None)
def test_the_same_seed_gives_the_same_communities_in_whatever_order_the_graph_was_built(
    made: tuple[int, list[Edge]], chance: random.Random, seed: int
) -> None:
    count, edges = made
    once = {frozenset(edge[:2]): edge for edge in edges}
    shuffled = [(b, a, w) if chance.random() < 0.5 else (a, b, w) for a, b, w in once.values()]
    chance.shuffle(shuffled)
    one = find_communities(graph_of(count, list(once.values())), name="g", seed=seed, max_size=5)
    assert find_communities(graph_of(count, shuffled), name="g", seed=seed, max_size=5) == one


@given(random_graphs, random_graphs, st.integers(2, 12))
@settings(max_examples=150, deadline=None)
def test_communities_stay_nested_and_complete_through_any_change(
    before: tuple[int, list[Edge]], after: tuple[int, list[Edge]], max_size: int
) -> None:
    first = graph_of(*before)
    earlier = earlier_of(first, find_communities(first, name="g", seed=1, max_size=max_size))
    second = graph_of(*after)
    check_invariants(
        second, find_communities(second, name="g", seed=1, max_size=max_size, earlier=earlier), max_size=max_size
    )


@given(random_graphs, st.integers(2, 12))
@settings(max_examples=100, deadline=None)
def test_a_graph_that_did_not_change_keeps_every_community(made: tuple[int, list[Edge]], max_size: int) -> None:
    graph = graph_of(*made)
    first = find_communities(graph, name="g", seed=3, max_size=max_size)
    again = find_communities(graph, name="g", seed=3, max_size=max_size, earlier=earlier_of(graph, first))
    assert again.communities == first.communities
    assert again.kept == len(first.communities)


few_directions = arrays.arrays(np.int8, st.tuples(st.integers(0, 20), st.just(3)), elements=st.integers(-2, 2))


@given(
    few_directions,
    st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19), st.sampled_from([1.0, 3.0, 1e9])), max_size=40),
    st.sets(st.integers(0, 19)),
    st.integers(0, 20),
    st.sampled_from([-1.0, -0.3, 0.0, 0.8, 1.0]),
    st.sampled_from([0.0, 1e-9, 0.3, 1.0, 1e6]),
    st.integers(2, 6),
)
@settings(max_examples=200, deadline=None)
@pytest.mark.filterwarnings("error:::kgrag.communities.hierarchy", "error:::kgrag.communities.entity_graph")
def test_any_vectors_and_relations_make_communities_at_the_ends_of_every_setting(
    directions: np.ndarray,
    said: list[Edge],
    of_values: set[int],
    neighbours: int,
    cutoff: float,
    relation_weight: float,
    max_size: int,
) -> None:
    count = len(directions)
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    vectors = (directions / np.maximum(lengths, 1.0)).astype(np.float32)  # that of an empty text is 0
    similar = similar_pairs(vectors, neighbours=neighbours, cutoff=cutoff)
    chunks: Counter[tuple[int, int]] = Counter()
    for one, other, times in said:
        if one < other < count:
            chunks[one, other] += int(times)
    pairs = np.array(sorted(chunks), dtype=np.int64).reshape(-1, 2)
    times = np.array([chunks[pair] for pair in sorted(chunks)], dtype=np.float64)
    graph = entity_graph(
        [f"{place:032x}" for place in range(count)],
        similar,
        related=Pairs(pairs[:, 0], pairs[:, 1], relation_strength(times)),
        relation_weight=relation_weight,
        values=np.array([place in of_values for place in range(count)], dtype=bool),
    )
    found = find_communities(graph, name="g", seed=7, max_size=max_size)
    check_invariants(graph, found, max_size=max_size)
    assert -0.5 <= found.modularity <= 1.0
    again = find_communities(graph, name="g", seed=7, max_size=max_size, earlier=earlier_of(graph, found))
    assert again.communities == found.communities


def test_planted_communities_are_found() -> None:
    sizes = [20, 30, 25, 40]
    graph = graph_of(sum(sizes), blocks(sizes, seed=5))
    hierarchy = find_communities(graph, name="g", seed=1, max_size=1000)
    assert sorted(len(one.members) for one in hierarchy.communities) == sorted(sizes)


def test_a_new_edge_inside_one_community_leaves_the_others_as_they_are() -> None:
    sizes = [30] * 8
    edges = blocks(sizes, seed=2, inside=0.3, between=0.002)
    graph = graph_of(240, edges)
    before = find_communities(graph, name="g", seed=1, max_size=12)
    pair = next((a, b) for a in range(30) for b in range(a) if not any({a, b} == set(edge[:2]) for edge in edges))
    changed = graph_of(240, [*edges, (*pair, 0.9)])
    after = find_communities(changed, name="g", seed=1, max_size=12, earlier=earlier_of(graph, before))
    untouched = {
        one.key
        for one in before.communities
        if not {content_id(str(p)) for p in pair} & {graph.keys[m] for m in one.members}
    }
    outside = {one.key for one in before.communities if one.level == 0} & untouched
    assert len(outside) == 7
    kept = {one.key for one in after.communities}
    assert outside <= kept
    assert {one.key for one in before.communities if one.parent in outside} <= kept


def test_modularity_is_that_of_networkx() -> None:
    graph = graph_of(90, blocks([30, 30, 30], seed=4))
    hierarchy = find_communities(graph, name="g", seed=1, max_size=1000)
    reference = networkx.Graph()
    reference.add_weighted_edges_from(
        zip(graph.edges.first.tolist(), graph.edges.second.tolist(), graph.edges.weight.tolist(), strict=True)
    )
    members = [one.members for one in hierarchy.communities]
    assert modularity(graph, members) == pytest.approx(networkx.community.modularity(reference, members))
    assert hierarchy.modularity == pytest.approx(modularity(graph, members))


def test_a_graph_without_edges_has_only_isolated_entities() -> None:
    hierarchy = find_communities(graph_of(4, []), name="g", seed=1, max_size=5)
    assert (hierarchy.communities, hierarchy.isolated, hierarchy.modularity) == ((), (0, 1, 2, 3), 0.0)


@pytest.mark.data
def test_modularity_on_the_recorded_graph_is_at_least_that_of_louvain(shared_data: Path) -> None:
    edges: Counter[tuple[str, str]] = Counter()
    for line in (shared_data / "musique" / "recorded_extractions.jsonl").read_text(encoding="utf-8").splitlines():
        for triple in json.loads(line)["triples"]:
            if isinstance(triple, list) and len(triple) == 3 and all(isinstance(part, str) for part in triple):
                head, tail = sorted((triple[0].lower(), triple[2].lower()))
                if head != tail:
                    edges[head, tail] += 1
    names = {name: number for number, name in enumerate(sorted({name for pair in edges for name in pair}))}
    reference = networkx.Graph()
    reference.add_nodes_from(range(len(names)))
    reference.add_edges_from((names[head], names[tail]) for head, tail in sorted(edges))
    louvain = networkx.community.modularity(reference, networkx.community.louvain_communities(reference, seed=7))
    pairs = np.array(sorted((names[head], names[tail]) for head, tail in edges), dtype=np.int64)
    keys = [f"{number:032x}" for number in range(len(names))]
    graph = entity_graph(
        keys, Pairs(pairs[:, 0], pairs[:, 1], np.ones(len(pairs))), related=NO_PAIRS, relation_weight=0.0
    )
    found = find_communities(graph, name="musique", seed=7, max_size=40)
    assert found.modularity >= louvain
    assert found.modularity >= 0.942


def test_groups_without_structure_are_not_divided_and_real_ones_are_found_at_the_finest_level() -> None:
    sizes = [50] * 20
    graph = graph_of(1000, blocks(sizes, seed=1, inside=0.4, between=0.002))
    found = find_communities(graph, name="g", seed=7, max_size=40)
    finest = {member: one.key for one in found.communities for member in one.members}
    place = {key: number for number, key in enumerate(graph.keys)}
    truth = {place[content_id(str(number))]: number // 50 for number in range(1000)}
    together = Counter((truth[member], key) for member, key in finest.items())
    assert len(together) <= len(sizes) + 2  # no planted group is in pieces
    assert len(set(finest.values())) >= len(sizes) - 1  # and they are told apart


def test_a_random_graph_is_one_community() -> None:
    graph = graph_of(150, blocks([150], seed=3, inside=0.08))
    assert len(find_communities(graph, name="g", seed=7, max_size=40).communities) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("October 2005", True), ("2005", True), ("3.3 V", True), ("-40 to 85 °C", True), ("12 March 1999", True), ("1990s", True),
        ("1,260", True), ("$ 5.50", True), ("March", True), ("X-100", False), ("Area 51", False), ("May", False),
        ("3.3 V regulator", False), ("Boeing 747", False), ("2005 FA Cup", False), ("I2C", False), ("July Monarchy", False),
    ],
)  # fmt: skip
def test_dates_numbers_and_bare_quantities_are_values(name: str, value: bool) -> None:
    assert is_value(name) is value


def test_a_value_joins_no_things_and_stays_with_the_one_that_it_is_nearest_to() -> None:
    keys = [f"{number:032x}" for number in range(5)]
    # 0 and 1 are things, 2 to 4 values: 2 is in both, 3 and 4 only in each other.
    pairs = Pairs(np.array([0, 1, 3]), np.array([2, 2, 4]), np.array([0.8, 0.9, 0.9]))
    values = np.array([False, False, True, True, True])
    graph = entity_graph(keys, pairs, related=NO_PAIRS, relation_weight=0.0, values=values)
    assert list(zip(graph.edges.first.tolist(), graph.edges.second.tolist(), strict=True)) == [(1, 2)]
