import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chisquare

from kgrag.link_prediction.graph import (
    BLOCK_ROWS,
    ChunkGraph,
    attached,
    highest,
    mutual_neighbours,
    nearest,
    with_questions,
)
from kgrag.link_prediction.sampling import NEAR, Negatives, batches


def vectors(count: int, seed: int = 0, dimensions: int = 6) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def chunk_graph(count: int, k: int = 5, seed: int = 0) -> ChunkGraph:
    some = vectors(count, seed)
    return ChunkGraph(some, mutual_neighbours(nearest(some, k)), count)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 120), st.integers(1, 10), st.integers(0, 1000))
def test_mutual_neighbours_are_those_of_the_definition(count: int, k: int, seed: int) -> None:
    some = vectors(count, seed)
    cosines = some @ some.T
    order = [sorted((j for j in range(count) if j != i), key=lambda j: (-cosines[i, j], j))[:k] for i in range(count)]
    expected = {(i, j) for i in range(count) for j in order[i] if i in order[j]}
    found = mutual_neighbours(nearest(some, k))
    assert set(zip(*map(np.ndarray.tolist, found.nonzero()), strict=True)) <= expected
    assert set(zip(*(found.tocoo().coords[axis].tolist() for axis in (0, 1)), strict=True)) == expected
    assert (found != found.T).nnz == 0
    assert np.diff(found.indptr).max(initial=0) <= k
    rows, columns = found.tocoo().coords
    assert found.tocoo().data == pytest.approx(np.maximum(cosines[rows, columns], 0.0), abs=1e-5)


def test_equal_cosines_go_by_their_place() -> None:
    same = np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (6, 1))
    assert nearest(same, 2).indexes.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]
    assert highest(np.array([0.5, 0.9, 0.5, 0.5], dtype=np.float32), 3).tolist() == [1, 0, 2]


def test_a_question_is_attached_to_all_to_the_nearest_or_to_none() -> None:
    chunks, questions = vectors(20), vectors(3, seed=9)
    assert attached(chunks, questions, "all", nearest_chunks=5).nnz == 60
    some = attached(chunks, questions, "topn", nearest_chunks=5, weight=None)
    assert some.nnz == 15
    for question in range(3):
        row = some[[question]]
        best = np.argsort(-(chunks @ questions[question]), kind="stable")[:5]
        assert sorted(row.indices.tolist()) == sorted(best.tolist())
        assert dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) == pytest.approx(
            {int(i): max(float(chunks[i] @ questions[question]), 0.0) for i in best}
        )
    assert attached(chunks, questions, "none", nearest_chunks=5).nnz == 0
    assert set(attached(chunks, questions, "topn", nearest_chunks=99).data.tolist()) == {1.0}


def test_questions_come_and_go_without_a_change_of_the_chunks() -> None:
    graph = chunk_graph(30)
    edges = attached(graph.vectors, vectors(2, seed=3), "topn", nearest_chunks=4)
    joined = with_questions(graph, vectors(2, seed=3), edges)
    assert joined.adjacency.shape == (32, 32)
    assert joined.chunks == 30
    assert (joined.adjacency[:30, :30] != graph.adjacency).nnz == 0
    assert (joined.adjacency != joined.adjacency.T).nnz == 0
    assert joined.adjacency[30:, 30:].nnz == 0


def test_edges_taken_out_are_gone_in_both_directions_and_no_others() -> None:
    graph = chunk_graph(40)
    rows, columns = graph.adjacency.nonzero()
    taken = np.array([[columns[0], rows[0]], [rows[5], columns[5]]])
    left = graph.without(taken)
    for one, other in taken:
        assert left.adjacency[one, other] == left.adjacency[other, one] == 0.0
    assert left.adjacency.nnz == graph.adjacency.nnz - 4
    assert (graph.without(np.array([[0, 0]])).adjacency != graph.adjacency).nnz == 0


def test_common_neighbours_are_those_of_both() -> None:
    graph = chunk_graph(60)
    pairs = np.random.default_rng(1).integers(0, 60, (50, 2))
    found = graph.common(pairs)
    sets = [set(graph.adjacency[[node]].indices.tolist()) for node in range(60)]
    for row, (one, other) in enumerate(pairs):
        assert set(found[[row]].indices.tolist()) == sets[one] & sets[other]
    assert set(found.data.tolist()) <= {1.0}


def test_the_normalised_adjacency_is_that_of_the_formula() -> None:
    graph = chunk_graph(25)
    dense = graph.adjacency.toarray() + np.eye(25)
    scale = 1.0 / np.sqrt(dense.sum(axis=1))
    assert graph.normalised.toarray() == pytest.approx(scale[:, None] * dense * scale, abs=1e-6)


def test_every_chunk_has_its_batch_of_itself_and_neighbours_in_uniform_number() -> None:
    graph = chunk_graph(200)
    generator = np.random.default_rng(5)
    counts: dict[int, list[int]] = {}
    for _ in range(50):
        drawn = batches(graph.adjacency, generator)
        assert [int(batch[0]) for batch in drawn] == list(range(200))
        for batch in drawn:
            neighbours = set(graph.adjacency[[int(batch[0])]].indices.tolist())
            assert len(set(batch.tolist())) == len(batch)
            assert set(batch[1:].tolist()) <= neighbours
            counts.setdefault(len(neighbours), []).append(len(batch) - 1)
    for degree, sizes in counts.items():
        if degree:
            assert chisquare(np.bincount(sizes, minlength=degree + 1)).pvalue > 1e-4
    again = batches(graph.adjacency, np.random.default_rng(5), most=1)
    assert max(map(len, again)) == 2
    same = batches(graph.adjacency, np.random.default_rng(5), most=1)
    assert all((one == other).all() for one, other in zip(again, same, strict=True))


def test_questions_are_attached_block_by_block_as_one_by_one() -> None:
    chunks, questions = vectors(30), vectors(BLOCK_ROWS + 70, seed=9)
    together = attached(chunks, questions, "topn", nearest_chunks=4, weight=None)
    assert together.shape == (BLOCK_ROWS + 70, 30)
    for place in (0, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 69):
        alone = attached(chunks, questions[[place]], "topn", nearest_chunks=4, weight=None)
        assert together[[place]].toarray() == pytest.approx(alone.toarray(), abs=1e-6)


def test_negatives_near_a_node_are_of_its_nearest_however_often_and_beside_whom_they_are_drawn() -> None:
    graph = chunk_graph(3 * NEAR)
    order = np.argsort(-(graph.vectors @ graph.vectors.T), axis=1, kind="stable")[:, :NEAR]
    sampler = Negatives(graph, csr_array((3 * NEAR, 3 * NEAR), dtype=np.float32), "near")
    for seed, ends in enumerate((np.full(400, 3), np.repeat([7, 3], 400))):
        drawn = sampler.draw(ends, np.random.default_rng(seed))
        for node in set(ends.tolist()):
            assert set(drawn[ends == node].tolist()) == set(order[node].tolist()) - {node}


@pytest.mark.parametrize("sampler", ["uniform", "degree", "near"])
def test_negatives_are_never_true_edges_and_repeat_with_the_seed(sampler: str) -> None:
    graph = chunk_graph(80)
    ends = np.random.default_rng(0).integers(0, 80, 3000)
    drawn = Negatives(graph, graph.adjacency, sampler).draw(ends, np.random.default_rng(1))  # type: ignore[arg-type]
    again = Negatives(graph, graph.adjacency, sampler).draw(ends, np.random.default_rng(1))  # type: ignore[arg-type]
    assert (drawn == again).all()
    kept = drawn >= 0
    assert kept.mean() > 0.95
    dense = graph.adjacency.toarray() > 0.0
    assert not dense[ends[kept], drawn[kept]].any()
    assert (ends[kept] != drawn[kept]).all()


def test_negatives_by_degree_follow_the_degrees() -> None:
    graph = chunk_graph(60, k=8)
    nothing = csr_array((61, 61), dtype=np.float32)
    outside = ChunkGraph(
        np.concatenate([graph.vectors, vectors(1, seed=4)]),
        with_questions(graph, vectors(1, seed=4), csr_array((1, 60), dtype=np.float32)).adjacency,
        60,
    )
    drawn = Negatives(outside, nothing, "degree").draw(np.full(100_000, 60), np.random.default_rng(2))
    drawn = drawn[drawn >= 0]
    found = np.bincount(drawn, minlength=60)
    assert np.corrcoef(found, graph.degrees)[0, 1] > 0.95


def test_who_is_linked_to_all_has_no_negative() -> None:
    graph = chunk_graph(5)
    everything = csr_array(np.ones((5, 5), dtype=np.float32))
    assert Negatives(graph, everything, "uniform").draw(np.array([0, 1]), np.random.default_rng(0)).tolist() == [-1, -1]


def test_positions_do_not_depend_on_how_nodes_are_numbered() -> None:
    graph = chunk_graph(30)
    order = np.random.default_rng(8).permutation(30)
    other = ChunkGraph(graph.vectors[order], csr_array(graph.adjacency[order][:, order]), 30)
    here, there = graph.positions.toarray(), other.positions.toarray()
    apart = np.linalg.norm(here[:, None] - here[None], axis=2)
    assert np.linalg.norm(there[:, None] - there[None], axis=2) == pytest.approx(apart[order][:, order], abs=1e-5)
