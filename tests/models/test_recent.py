from collections.abc import Sequence

import numpy as np

from kgrag.models.base import TokenVectors
from kgrag.models.recent import RecentVectors

ONE = np.zeros((1, 4), dtype=np.float16).nbytes


class Embedder:
    """Says what it was asked for; a text's array has as many rows as characters, of its first one's code."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.asked.append(list(texts))
        return [np.full((len(text), 4), ord(text[0]), dtype=np.float16) for text in texts]


def test_a_text_is_embedded_once_whatever_it_is_asked_with() -> None:
    embed, recent = Embedder(), RecentVectors(100 * ONE)
    assert [len(vectors) for vectors in recent.of(["aa", "b", "aa"], embed)] == [2, 1, 2]
    again = recent.of(["c", "aa", "b"], embed)
    assert [float(vectors[0, 0]) for vectors in again] == [ord("c"), ord("a"), ord("b")]
    assert embed.asked == [["aa", "b"], ["c"]]
    recent.of([], embed)
    assert len(embed.asked) == 2


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    embed, recent = Embedder(), RecentVectors(3 * ONE)
    for text in ("a", "b", "c", "a", "d", "a", "c", "b"):  # d puts b out, and b puts d out
        recent.of([text], embed)
    assert embed.asked == [["a"], ["b"], ["c"], ["d"], ["b"]]
    recent.of(["a", "b", "c"], embed)
    assert len(embed.asked) == 5


def test_more_than_there_is_room_for_is_embedded_all_the_same() -> None:
    embed, recent = Embedder(), RecentVectors(2 * ONE)
    assert [len(vectors) for vectors in recent.of(["aaa", "b", "c", "d"], embed)] == [3, 1, 1, 1]
    recent.of(["c", "d"], embed)
    recent.of(["b"], embed)
    assert embed.asked[1:] == [["b"]]


def test_an_array_that_others_may_be_reading_cannot_be_changed() -> None:
    (vectors,) = RecentVectors(100 * ONE).of(["a"], Embedder())
    assert not vectors.flags.writeable
