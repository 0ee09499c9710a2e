"""ComplEx and TransE: scores by hand, gradients against numerical ones, and that they learn and repeat."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kgrag.completion.embeddings import ComplEx, Embeddings, EmbeddingSettings, TransE
from kgrag.completion.ranking import evaluate
from kgrag.completion.triples import Triples

MODELS = (ComplEx, TransE)
SMALL = EmbeddingSettings(dimensions=6, epochs=1, batch=4, negatives=5, penalty=0.3)


def chain(length: int = 40) -> Triples:
    names = [f"n{i:02}" for i in range(length)]
    after = [(one, "after", other) for one, other in pairwise(names)]
    return Triples.of([*after, *((other, "before", one) for one, _, other in after)])


def test_complex_scores_the_real_part_of_the_hermitian_product() -> None:
    model = ComplEx(EmbeddingSettings(dimensions=2))
    model.entities = np.array([[1.0, 2.0], [3.0, -1.0]])  # 1 + 2i, 3 - i
    model.relations = np.array([[0.5, 1.0]])  # 0.5 + i
    # (1 + 2i)(0.5 + i) = -1.5 + 2i; times the conjugates 1 - 2i and 3 + i: real parts 2.5 and -6.5.
    assert model.score_tails(np.array([0]), np.array([0])).tolist() == [[2.5, -6.5]]
    # As heads of the second one: Re(e (0.5 + i)(3 + i)) = Re(e (0.5 + 3.5i)): -6.5 and 5.
    assert model.score_heads(np.array([0]), np.array([1])).tolist() == [[-6.5, 5.0]]


def test_transe_scores_the_negative_distance_of_head_and_relation_from_the_tail() -> None:
    model = TransE(EmbeddingSettings(dimensions=2))
    model.entities = np.array([[0.0, 0.0], [3.0, 5.0]])
    model.relations = np.array([[0.0, 1.0]])
    assert model.score_tails(np.array([0]), np.array([0]))[0] == pytest.approx([-1.0, -5.0])
    assert model.score_heads(np.array([0]), np.array([1]))[0] == pytest.approx([-5.0, -1.0])


@pytest.mark.parametrize("kind", MODELS)
def test_both_sides_give_a_triple_the_same_score(kind: type[Embeddings]) -> None:
    triples = chain()
    model = kind(SMALL)
    model.fit(triples)
    heads, relations, tails = triples.ids.T
    row = np.arange(len(triples))
    assert model.score_tails(heads, relations)[row, tails] == pytest.approx(
        model.score_heads(relations, tails)[row, heads]
    )


@pytest.mark.parametrize("kind", MODELS)
def test_the_gradient_is_the_numerical_one(kind: type[Embeddings]) -> None:
    triples = chain(6)
    model = kind(SMALL)
    model.fit(triples)
    batch, sampled = (
        triples.ids[[0, 3, 7, 7]],
        np.array([0, 2, 2, 5, 1]),
    )  # repeated triples and samples, answers among these
    _, *found = model.loss(batch, sampled)
    for vectors, (places, rows) in zip((model.entities, model.relations), found, strict=True):
        gradient = np.zeros_like(vectors)
        np.add.at(gradient, places, rows)
        numerical = np.zeros_like(vectors)
        for at in np.ndindex(*vectors.shape):
            was = vectors[at]
            sides = []
            for step in (1e-6, -1e-6):
                vectors[at] = was + step
                sides.append(model.loss(batch, sampled)[0])
            vectors[at] = was
            numerical[at] = (sides[0] - sides[1]) / 2e-6
        assert np.abs(numerical).max() > 1e-3
        assert gradient == pytest.approx(numerical, abs=1e-7)


@pytest.mark.parametrize("kind", MODELS)
def test_learning_is_the_same_for_the_same_seed_and_whatever_order_triples_come_in(kind: type[Embeddings]) -> None:
    triples = chain()
    again = Triples.of(reversed([triples.named(row) for row in triples.ids.tolist()]))
    settings = EmbeddingSettings(dimensions=10, epochs=3, batch=16, negatives=8)
    one, other, third = kind(settings), kind(settings), kind(EmbeddingSettings(10, 3, 16, 8, seed=8))
    for model, learnt in ((one, triples), (other, again), (third, triples)):
        model.fit(learnt)
    assert np.array_equal(one.entities, other.entities)
    assert np.array_equal(one.relations, other.relations)
    assert not np.array_equal(one.entities, third.entities)


@pytest.mark.parametrize("kind", MODELS)
def test_held_out_inverses_are_found_far_better_than_by_chance(kind: type[Embeddings]) -> None:
    triples = [chain().named(row) for row in chain().ids.tolist()]
    held_out = [triple for triple in triples if triple[1] == "before"][::5]
    training = Triples.of(set(triples) - set(held_out))
    model = kind(EmbeddingSettings(dimensions=32, epochs=200, batch=16, negatives=20))
    model.fit(training)
    by_chance = float((1.0 / np.arange(1, 41)).mean())
    assert evaluate(model, training, held_out).mrr > 2 * by_chance


def test_an_odd_number_of_dimensions_is_refused() -> None:
    with pytest.raises(ValueError, match="even number of dimensions, got 5"):
        ComplEx(EmbeddingSettings(dimensions=5))
