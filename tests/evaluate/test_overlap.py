"""Overlap of texts: by hand, and what holds for all texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.evaluate.overlap import Overlap, exact_match, sentence_overlap, token_overlap, word_f1

TEXTS = st.text(alphabet="ab the.,5 V", max_size=20)


def test_exact_match_and_f1_are_those_of_squad():
    assert exact_match("The 12 V.", ["12 v"]) == 1.0
    assert exact_match("12 V", ["5 V", "3.3 V"]) == 0.0
    assert word_f1("a supply of 12 V", ["12 V"]) == pytest.approx(2 * 0.5 * 1 / 1.5)  # supply of 12 v; 12 v
    assert word_f1("nothing", ["12 V"]) == 0.0
    assert word_f1("x", []) == 0.0


@given(TEXTS, TEXTS)
def test_word_f1_is_symmetric_bounded_and_1_for_the_same(one, other):
    assert 0 <= word_f1(one, [other]) <= 1
    assert word_f1(one, [other]) == pytest.approx(word_f1(other, [one]))
    assert word_f1(one, [one]) == 1.0


def test_sentences_match_one_to_one():
    gold = ["the board has two leds", "it needs 12 V"]
    retrieved = ["The board has two LEDs.", "the board has two leds", "something else entirely"]
    assert sentence_overlap(retrieved, gold) == Overlap(1 / 3, 1 / 2)
    assert sentence_overlap(retrieved, []) == sentence_overlap([], gold) == Overlap(0.0, 0.0)


@given(st.lists(TEXTS, max_size=5), st.lists(TEXTS, min_size=1, max_size=5))
def test_sentence_recall_never_exceeds_1(retrieved, gold):
    overlap = sentence_overlap(retrieved, gold)
    assert 0 <= overlap.precision <= 1 and 0 <= overlap.recall <= 1


def test_tokens_match_their_nearest():
    a, b, c = np.eye(3)
    assert token_overlap(np.array([a, b]), np.array([a])) == Overlap(0.5, 1.0)
    assert token_overlap(np.array([a]), np.array([a, b, c])).recall == pytest.approx(1 / 3)
    assert token_overlap(np.zeros((0, 3)), np.array([a])).f1 == 0.0
    assert token_overlap(np.array([-a]), np.array([a])) == Overlap(0.0, 0.0)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_token_overlap_is_bertscore_identity_is_1_and_sides_swap(n, m, seed):
    draw = np.random.default_rng(seed)
    answer, reference = (draw.standard_normal((size, 5)) for size in (n, m))
    answer, reference = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (answer, reference))
    there, back = token_overlap(answer, reference), token_overlap(reference, answer)
    assert (there.precision, there.recall) == pytest.approx((back.recall, back.precision))
    assert token_overlap(answer, answer).f1 == pytest.approx(1.0)
    greedy = [max(0.0, *(float(one @ other) for other in reference)) for one in answer]
    assert there.precision == pytest.approx(sum(greedy) / n)
    if there.precision + there.recall:
        assert there.f1 == pytest.approx(2 / (1 / max(there.precision, 1e-300) + 1 / max(there.recall, 1e-300)))
