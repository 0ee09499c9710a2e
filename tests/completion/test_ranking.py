"""Ranks by hand and against PyKEEN's evaluator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.completion.ranking import Ranking, evaluate, ranks
from kgrag.completion.triples import Array, Ids, Triple, Triples, hold_out

PYKEEN = Path(__file__).with_name("pykeen_ranks.json")
"""Of 8 test triples over 7 entities with many equal scores, computed once by PyKEEN 1.10.2 (torch 1.13): the positives of
`create_sparse_positive_filter_`, `filter_scores_`, then `RankBasedEvaluator.process_scores_` and `finalize`."""


class Table:
    """A `LinkPredictor` that looks its scores up: [head, relation, tail]."""

    name = "table"

    def __init__(self, scores: Any) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)

    def fit(self, triples: Triples) -> None:
        """Nothing is learnt."""

    def score_tails(self, heads: Ids, relations: Ids) -> Array:
        scores: Array = self.scores[heads, relations]
        return scores

    def score_heads(self, relations: Ids, tails: Ids) -> Array:
        scores: Array = self.scores[:, relations, tails].T
        return scores

    def confidence(self, scores: Array) -> Array:
        return scores


def test_ranks_and_figures_are_those_of_pykeens_evaluator() -> None:
    golden = json.loads(PYKEEN.read_text(encoding="utf-8"))

    def named(rows: list[list[int]]) -> list[Triple]:
        return [(f"e{head}", f"r{relation}", f"e{tail}") for head, relation, tail in rows]

    training = Triples.of(named(golden["train"]))
    assert training.entities == tuple(f"e{i}" for i in range(7))
    ranking = evaluate(Table(golden["scores"]), training, named(golden["test"]))
    assert ranking.tails.tolist() == golden["ranks"]["tail.realistic"]
    assert ranking.heads.tolist() == golden["ranks"]["head.realistic"]
    assert golden["ranks"]["tail.realistic"] != golden["ranks"]["tail.optimistic"]  # there are ties
    assert ranking.mrr == pytest.approx(golden["mrr"]["both"], rel=1e-6)
    for k, hits in golden["hits"].items():
        assert ranking.hits(int(k)) == pytest.approx(hits)


def test_a_tie_counts_by_half_and_known_answers_do_not_count() -> None:
    scores = np.array([[5.0, 3.0, 3.0, 3.0, 1.0, 9.0]])
    # 9 is known: above the answer is 5, beside it two more with 3: between second and fourth.
    assert ranks(scores, np.array([2]), [{5, 2}]).tolist() == [3.0]
    assert ranks(scores, np.array([2]), [()]).tolist() == [4.0]


def test_scores_that_are_all_equal_rank_in_the_middle() -> None:
    assert ranks(np.zeros((1, 9)), np.array([4]), [()]).tolist() == [5.0]


def test_a_score_that_is_no_number_is_last() -> None:
    assert ranks(np.array([[np.nan, 0.0, 1.0]]), np.array([0]), [()]).tolist() == [3.0]
    assert ranks(np.array([[np.nan, 0.0, 1.0]]), np.array([1]), [()]).tolist() == [2.0]


def test_triples_with_unseen_entities_or_relations_are_counted_and_not_ranked() -> None:
    training = Triples.of([("a", "r", "b"), ("b", "r", "c")])
    held_out = [("a", "r", "c"), ("a", "r", "x"), ("x", "r", "a"), ("a", "s", "b")]
    ranking = evaluate(Table(np.zeros((3, 1, 3))), training, held_out)
    assert (ranking.unseen, len(ranking.tails), len(ranking.both)) == (3, 1, 2)


def test_other_held_out_answers_of_the_same_question_are_filtered() -> None:
    training = Triples.of([("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d")])
    scores = np.zeros((4, 1, 4))
    scores[0, 0] = [0.0, 0.0, 2.0, 1.0]
    ranking = evaluate(Table(scores), training, [("a", "r", "c"), ("a", "r", "d")])
    assert ranking.tails.tolist() == [1.0, 1.0]


def test_nothing_ranked_is_nothing_found() -> None:
    nothing = Ranking(np.zeros(0), np.zeros(0), unseen=2)
    assert (nothing.mrr, nothing.hits(10)) == (0.0, 0.0)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.data())
def test_the_realistic_rank_is_the_mean_over_all_orders_of_equal_scores(scores: list[int], data: st.DataObject) -> None:
    answer = data.draw(st.integers(0, len(scores) - 1))
    known = data.draw(st.sets(st.integers(0, len(scores) - 1)))
    counted = [score for i, score in enumerate(scores) if i == answer or i not in known]
    above = sum(score > scores[answer] for score in counted)
    equal = sum(score == scores[answer] for score in counted)
    expected = above + (1 + equal) / 2
    assert ranks(np.array([scores], dtype=np.float64), np.array([answer]), [known]).tolist() == [expected]


triples = st.sets(st.tuples(*[st.sampled_from("abcdefgh")] * 3), min_size=1)


@given(triples, st.integers(0, 5))
def test_holding_out_divides_and_the_greater_share_has_the_smaller(some: set[Triple], seed: int) -> None:
    before: set[Triple] = set()
    for share in (0.0, 0.1, 0.5, 1.0):
        kept, out = hold_out(some, share, seed)
        assert {*kept, *out} == some
        assert not {*kept} & {*out}
        assert before <= {*out}
        before = {*out}
