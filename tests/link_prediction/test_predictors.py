import math

import numpy as np
import pytest
from autograd import grad
from scipy.sparse import csr_array

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import Dropout, Parameters
from kgrag.link_prediction.predictors import PREDICTORS, Predictor, Shape, predictor_of
from kgrag.link_prediction.predictors.seal import enclosing, labels
from tests.link_prediction.test_link_graph import chunk_graph

PAIRS = np.random.default_rng(3).integers(0, 40, (30, 2))
PAIRS = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]


def made(kind: str, layers: int = 2, *, residual: bool = False) -> tuple[Predictor, Parameters]:
    predictor = predictor_of(kind, Shape(6, hidden=8, layers=layers, residual=residual))
    parameters = predictor.initial(np.random.default_rng(1))
    # Biases of 0 would hide where one is left out.
    generator = np.random.default_rng(2)
    return predictor, {
        name: value + (generator.normal(size=value.shape, scale=0.1).astype(np.float32) if "bias" in name else 0)
        for name, value in parameters.items()
    }


def scores(predictor: Predictor, parameters: Parameters, graph: ChunkGraph, pairs: np.ndarray) -> np.ndarray:
    return np.asarray(predictor.logits(parameters, graph, pairs, Dropout()))


@pytest.mark.parametrize("kind", PREDICTORS)
def test_a_pair_has_no_direction(kind: str) -> None:
    graph, (predictor, parameters) = chunk_graph(40), made(kind)
    there = scores(predictor, parameters, graph, PAIRS)
    assert scores(predictor, parameters, graph, PAIRS[:, ::-1]) == pytest.approx(there, abs=1e-5)
    assert np.ptp(there) > 1e-4


@pytest.mark.parametrize("kind", PREDICTORS)
def test_scores_do_not_depend_on_how_nodes_are_numbered(kind: str) -> None:
    graph, (predictor, parameters) = chunk_graph(40), made(kind)
    order = np.random.default_rng(4).permutation(40)
    other = ChunkGraph(graph.vectors[order], csr_array(graph.adjacency[order][:, order]), 40)
    moved = np.argsort(order)[PAIRS]
    assert scores(predictor, parameters, other, moved) == pytest.approx(
        scores(predictor, parameters, graph, PAIRS), abs=1e-4
    )


@pytest.mark.parametrize("kind", [kind for kind in PREDICTORS if kind != "mlp"])
def test_the_graph_counts(kind: str) -> None:
    graph, (predictor, parameters) = chunk_graph(40), made(kind)
    bare = ChunkGraph(graph.vectors, csr_array((40, 40), dtype=np.float32), 40)
    assert np.abs(scores(predictor, parameters, graph, PAIRS) - scores(predictor, parameters, bare, PAIRS)).max() > 1e-3


def test_the_mlp_sees_no_graph() -> None:
    graph, (predictor, parameters) = chunk_graph(40), made("mlp")
    bare = ChunkGraph(graph.vectors, csr_array((40, 40), dtype=np.float32), 40)
    assert (scores(predictor, parameters, graph, PAIRS) == scores(predictor, parameters, bare, PAIRS)).all()


@pytest.mark.parametrize("kind", PREDICTORS)
def test_gradients_are_those_of_small_steps(kind: str) -> None:
    graph, (predictor, parameters) = chunk_graph(40), made(kind, residual=True)
    exact = {name: value.astype(np.float64) for name, value in parameters.items()}

    def total(some: Parameters) -> float:
        return predictor.logits(some, graph, PAIRS[:6], Dropout()).sum() + predictor.penalty(some, graph)

    slopes = grad(total)(exact)
    generator = np.random.default_rng(5)
    for name, value in exact.items():
        place = tuple(generator.integers(0, size) for size in value.shape)
        step = 1e-5
        up, down = {**exact, name: value.copy()}, {**exact, name: value.copy()}
        up[name][place] += step
        down[name][place] -= step
        assert slopes[name][place] == pytest.approx((total(up) - total(down)) / (2 * step), rel=2e-2, abs=2e-3), name


def test_ncn_is_its_formula() -> None:
    graph, (predictor, p) = chunk_graph(40), made("ncn", layers=2, residual=True)
    dense = graph.adjacency.toarray() + np.eye(40)
    scale = 1.0 / np.sqrt(dense.sum(axis=1))

    def layer(name: str, x: np.ndarray) -> np.ndarray:
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        return (x - x.mean()) / math.sqrt(x.var() + 1e-5) * p[f"{name}.gain"] + p[f"{name}.shift"]

    outputs = [layer("encode", graph.vectors)]
    for _ in range(2):
        last = outputs[-1]
        outputs.append(
            np.array([sum(scale[u] * dense[u, v] * scale[v] * last[v] for v in range(40)) for u in range(40)])
        )
    h = sum(weight * one for weight, one in zip(p["jump"], outputs, strict=True))
    neighbours = [set(np.flatnonzero(graph.adjacency.toarray()[node])) for node in range(40)]
    for u, v in PAIRS[:10]:
        own = np.maximum(norm("own", layer("own", h[u] * h[v])), 0.0)
        summed = np.zeros(8)
        for w in neighbours[u] & neighbours[v]:
            summed += h[w] + layer("pool.2", np.maximum(layer("pool.1", h[w]), 0.0))
        common = layer("common.2", np.maximum(norm("common.1", layer("common.1", summed)), 0.0))
        joined = norm("out.1", layer("out.1", p["beta"] * common + own))
        expected = layer("out.2", np.maximum(joined, 0.0))[0] + p["cosine"][0] * (graph.vectors[u] @ graph.vectors[v])
        found = scores(predictor, p, graph, np.array([[u, v]]))
        assert found[0] == pytest.approx(expected, abs=1e-4)


def test_the_subgraph_around_a_pair_is_within_one_hop_and_without_its_edge() -> None:
    edges = np.zeros((7, 7), dtype=np.float32)
    for one, other in ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (1, 5)):
        edges[one, other] = edges[other, one] = 1.0
    nodes, inside, ends = enclosing(csr_array(edges), 0, 1)
    assert nodes.tolist() == [0, 1, 2, 5]
    assert ends == (0, 1)
    assert inside.tolist() == [[0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]]
    # Node 2 is one step from both: 1 + 1 + 1 (1 + 0 - 1) = 2. Node 5 reaches the first end only through the second.
    assert labels(inside, *ends).tolist() == [1, 1, 2, 0]
