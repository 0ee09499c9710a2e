"""What is shown says nothing twice, and loses no number by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, chain, filterfalse
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Share, Step
from kgrag.retrieve.texts import REMEMBERED_TEXTS, read_text
from kgrag.text.words import folded_words, plain_words
from kgrag.types import Evidence

__all__ = ["NearDuplicates", "Said", "first_of_each"]

RUN = 5
"""Words that follow each other and are looked for together in what was said before."""
MIXED_BY = np.random.default_rng(5).integers(1 << 62, size=RUN + 1, dtype=np.uint64) * 2 + 1
"""Odd numbers: the hash of a run is the sum of its words' hashes, each times the number of its place, and the last one times its length."""


class NearDuplicates(Step):
    """Leave out what says the same again, numeric-safe."""

    kind: Literal["near_duplicates"] = "near_duplicates"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    threshold: Share = 1.0
    """A chunk that shares this share of its words with a better one, or of its runs of words with the better ones, is not shown; 1
    leaves out only what has no other words."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Keep the first of each; chunks about different things that the question names are both kept."""
        about: dict[str, set[str]] = {}
        for entity in state.named:
            about.setdefault(entity.key, set()).update(chunk.chunk_id for chunk in entity.chunks)
        said = [
            Said(
                *_context_and_words(piece), frozenset(key for key, chunks in about.items() if piece.chunk_id in chunks)
            )
            for piece in state.evidence
        ]
        kept = first_of_each(said, threshold=self.threshold)
        return replace(state, evidence=tuple(state.evidence[position] for position in kept))


class Said(NamedTuple):
    """What a piece of evidence says."""

    context: str
    """Title and headings that its body stands under."""
    words: Sequence[str]
    """Of its body, in order, each `plain`."""
    subjects: frozenset[str] = frozenset()
    """What it is about of the things that the question names."""


def first_of_each(said: Sequence[Said], *, threshold: float) -> list[int]:
    """Return the positions of what is no near-duplicate of something earlier, in order.

    Two pieces are near-duplicates when they have the same words with digits in them (a rating, a part number or a revision that differs is
    another fact) and share at least `threshold` of all their words (Jaccard index). So is a piece when earlier ones say at least
    `threshold` of its body's runs of five words (w-shingling, Broder et al. 1997), among them every run with a digit: a manual in two
    formats is divided at other places. Earlier ones count for that whose context has all words of this one's or this one's all of
    theirs: the same sentence in another product's manual is another fact. Pieces about different subjects of the question are both kept:
    who asks about two products wants to know of each.
    """
    runs = _Runs([piece.words for piece in said])
    headings = [_folded_words(piece.context) for piece in said]
    kept: list[int] = []
    # Only pieces with the same numbers about the same subject can share most words: most are compared with none.
    alike: dict[tuple[frozenset[str], frozenset[str]], list[int]] = {}
    all_words = [heading.union(piece.words) for heading, piece in zip(headings, said, strict=True)]
    for position, (heading, piece) in enumerate(zip(headings, said, strict=True)):
        seen = alike.setdefault((_numbers(all_words[position]), piece.subjects), [])
        if any(_jaccard(all_words[position], all_words[other], least=threshold) >= threshold for other in seen):
            continue
        # Most pieces have too much that nothing before says, whatever it stands under.
        if runs.may_be_said_before(position, threshold):
            comparable = [
                runs.of(other)
                for other in kept
                if said[other].subjects == piece.subjects and (heading <= headings[other] or headings[other] <= heading)
            ]
            own = runs.of(position)
            new = own.difference(*comparable)
            if comparable and len(new) <= (1 - threshold) * len(own) and new.isdisjoint(runs.numbered(position)):
                continue
        kept.append(position)
        seen.append(position)
    return kept


def _context_and_words(piece: Evidence) -> tuple[str, Sequence[str]]:
    """Part the line of context that a chunk is shown with from the chunk's own words."""
    first, _, rest = piece.text.partition("\n")
    context = f"{piece.title}\n{piece.section}"
    shown = set(first.split(" > ")) <= {piece.title, *piece.section.split(" > ")}
    words = read_text(piece.text).words
    # No word goes on in the next line.
    return context, words[_count_words(first) :] if rest and shown else words


class _Runs:
    """The runs of words of some texts as hashes: each five words that follow each other, of a shorter text all its words."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._texts = texts
        self._runs = _runs(texts)
        self._sets: dict[int, frozenset[int]] = {}
        if not texts:
            return
        runs = np.concatenate(self._runs)
        of = np.repeat(np.arange(len(texts)), [len(one) for one in self._runs])
        order = np.argsort(runs, kind="stable")
        runs, of = runs[order], of[order]
        again = np.concatenate([[False], runs[1:] == runs[:-1]])
        different = ~again | np.concatenate([[True], of[1:] != of[:-1]])
        self._count = np.bincount(of[different], minlength=len(texts))
        self._again = np.bincount(of[different & again], minlength=len(texts))
        """How many of a text's different runs an earlier text has."""

    def may_be_said_before(self, text: int, threshold: float) -> bool:
        """Say whether earlier texts have so large a share of a text's runs."""
        count = int(self._count[text])
        return count - int(self._again[text]) <= (1 - threshold) * count

    def of(self, text: int) -> frozenset[int]:
        """Return the different runs of a text."""
        if text not in self._sets:
            self._sets[text] = frozenset(self._runs[text].tolist())
        return self._sets[text]

    def numbered(self, text: int) -> Iterator[int]:
        """Yield its runs that have a word with a digit."""
        numbered = [_has_digit(word) for word in self._texts[text]]
        return (run for at, run in enumerate(self._runs[text].tolist()) if any(numbered[at : at + RUN]))


def _runs(texts: Sequence[Sequence[str]]) -> list[NDArray[np.uint64]]:
    """Return the hash of each run of each text, in order."""
    ends = list(accumulate(map(len, texts)))
    words = np.fromiter(map(hash, chain.from_iterable(texts)), dtype=np.int64).view(np.uint64)
    runs = _mixed(words, RUN)
    return [
        runs[end - len(text) : end - RUN + 1] if len(text) >= RUN else _mixed(words[end - len(text) : end], len(text))
        for end, text in zip(ends, texts, strict=True)
    ]


def _mixed(words: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Return the hash of each run of so many words by those of the words."""
    count = max(len(words) - length + 1, 0)
    mixed: NDArray[np.uint64] = np.full(count, length, dtype=np.uint64) * MIXED_BY[RUN]
    for place in range(length):
        mixed += words[place : place + count] * MIXED_BY[place]
    return mixed


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _folded_words(text: str) -> frozenset[str]:
    return folded_words(text)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _count_words(text: str) -> int:
    return len(plain_words(text))


def _numbers(different: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(_has_digit, filterfalse(str.isalpha, different)))


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _jaccard(one: frozenset[str], other: frozenset[str], *, least: float) -> float:
    """Return the share of all words that both have; 0 where their numbers alone say that it is less than `least`."""
    fewer, more = sorted((len(one), len(other)))
    if more and fewer / more < least:
        return 0.0
    both = len(one & other)
    union = fewer + more - both
    return both / union if union else 1.0
