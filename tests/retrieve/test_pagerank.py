import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.state import Candidate, Query, State
from kgrag.retrieve.steps.entity import LinkedEntity
from kgrag.retrieve.steps.pagerank import PageRank, reset_vector
from kgrag.retrieve.walk_graph import Edges, WalkGraph, walk

CHUNKS = ("c0", "c1", "c2", "c3")
ENTITIES = ("hub", "rare", "other")


def edges(*pairs: tuple[int, int]) -> Edges:
    one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return one, other, np.ones(len(pairs))


def graph() -> WalkGraph:
    return WalkGraph(
        chunks=CHUNKS,
        entities=ENTITIES,
        mentions=edges((0, 4), (1, 4), (2, 4), (3, 4), (0, 5), (1, 5)),
        titles=edges((2, 6)),
        relations=edges((5, 6)),
        similar=edges(),
        adjacent=edges((0, 1)),
        hyperlinks=edges(),
        statements=("rare part PART OF other board",),
    )


SETTINGS = PageRank()


def test_a_walk_is_personalised_pagerank_as_networkx_has_it() -> None:
    transitions = graph().transitions(SETTINGS.edge_weights)
    reset = np.zeros(7)
    reset[5] = 0.75
    reset[0] = 0.25
    drawn = networkx.DiGraph()
    drawn.add_nodes_from(range(7))
    coordinates = transitions.tocoo()
    for target, source, weight in zip(coordinates.row, coordinates.col, coordinates.data, strict=True):
        drawn.add_edge(int(source), int(target), weight=float(weight))
    expected = networkx.pagerank(
        drawn, alpha=0.5, personalization=dict(enumerate(reset)), dangling=dict(enumerate(reset)), tol=1e-12
    )
    ranks = walk(transitions, reset, damping=0.5)
    assert ranks == pytest.approx([expected[node] for node in range(7)], abs=1e-7)


def test_columns_are_chances_and_a_hub_is_hardly_walked_to() -> None:
    transitions = graph().transitions(SETTINGS.edge_weights).toarray()
    sums = transitions.sum(axis=0)
    assert np.all(np.isclose(sums, 1.0) | np.isclose(sums, 0.0))
    assert transitions[4, 0] == 0.0  # every chunk has the hub: it tells nothing
    assert transitions[5, 0] > 0.0


def test_linked_relations_are_those_with_the_questions_words() -> None:
    assert graph().facts("Which part is on the board?", 5) == [(0, 1.0)]
    assert graph().facts("What time is it?", 5) == []


@given(
    st.dictionaries(st.sampled_from(CHUNKS), st.floats(0.01, 1.0)),
    st.lists(st.sampled_from(ENTITIES), unique=True),
    st.sampled_from(["Which part is on the board?", "What time is it?"]),
)
def test_the_walk_starts_at_shares_of_what_is_linked(
    scores: dict[str, float], linked: list[str], question: str
) -> None:
    candidates = {key: Candidate(key, score) for key, score in scores.items()}
    state = State(Query(question, question, question), candidates=candidates)
    entities = [LinkedEntity(key, key, mentions=1, similarity=0.8) for key in linked]
    reset = reset_vector(graph(), state, entities, settings=SETTINGS)
    assert reset.min() >= 0.0
    assert reset.sum() == pytest.approx(1.0 if scores or linked or "part" in question else 0.0)
