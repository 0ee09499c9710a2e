"""Which drafts become questions: what retrieval can reach, few easy ones, no two alike, none like those that are kept for measuring."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kgrag.evaluate.questions.draft import Draft
from kgrag.evaluate.questions.material import Material
from kgrag.models.base import Vectors
from kgrag.text.words import content_terms, stem, words

__all__ = ["ROUND_TRIP", "Embed", "Selection", "Taken", "near", "select"]

ROUND_TRIP = 100
"""Pieces of evidence among which a question has to find a chunk of its gold."""
EASY_SHARE = 0.25
"""Of the questions of a kind, at most, that plain search answers by their very words."""
NEAR_DUPLICATE = 0.8
"""Jaccard overlap of content stems from which two questions that differ in no name and no number are one."""
NEAR_WORDS, NEAR_COSINE = 0.6, 0.85
"""Overlap and cosine, from either of which a question is like one of `--not-like`."""
MOST_TRIES = 4
"""Drafts that are tried, for each question that is wanted."""

Find = Callable[[str, frozenset[str]], Awaitable[Sequence[str]]]
"""Return the ids of the chunks that a question finds, best first, without some hidden ones."""
Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


@dataclass(frozen=True, slots=True)
class Taken:
    """A draft that became a question."""

    draft: Draft
    easy: bool
    """Plain search finds its gold first, by words that are all in it."""


@dataclass
class Selection:
    """The questions, and how many drafts were left out for which reason."""

    taken: list[Taken] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


async def select(
    drafts: Mapping[str, Sequence[Draft]],
    material: Material,
    *,
    limit: int,
    seed: int,
    find: Find | None = None,
    embed: Embed | None = None,
    not_like: Sequence[str] = (),
    advance: Callable[[], None] | None = None,
) -> Selection:
    """Take up to `limit` questions, the kinds in turn, the drafts of each in an order that the seed decides.

    Left out are, in this order: what is like a question of `not_like`; what is nearly one that was taken; a question that has gold and
    finds none of its chunks among the first ROUND_TRIP (no retrieval could be taught by it); an easy one beyond EASY_SHARE of its kind.
    Without `find` the last two stay, which is right for measuring: what plain search finds must not decide what is asked. `embed` is
    needed where there is `not_like`.
    """
    selection, choice = Selection(), _Choice(material, find, await _NotLike.of(not_like, embed))
    waiting = {kind: _shuffled(some, f"{seed} {kind}") for kind, some in sorted(drafts.items()) if some}
    tries = 0
    while waiting and len(selection.taken) < limit and tries < MOST_TRIES * limit:
        for kind in list(waiting):
            if len(selection.taken) >= limit:
                break
            while waiting[kind] and tries < MOST_TRIES * limit:
                tries += 1
                found = await choice.of(kind, waiting[kind].pop())
                if isinstance(found, Taken):
                    selection.taken.append(found)
                    if advance is not None:
                        advance()
                    break
                selection.left_out[found] += 1
            if not waiting[kind]:
                del waiting[kind]
    return selection


class _Choice:
    """Says of drafts, one after the other, which are taken: it knows those that were."""

    def __init__(self, material: Material, find: Find | None, watched: _NotLike | None) -> None:
        self._material, self._find, self._watched = material, find, watched
        self._asked: list[tuple[frozenset[str], frozenset[str]]] = []
        """Terms and names of the questions that were taken."""
        self._counts: Counter[str] = Counter()
        self._easy_counts: Counter[str] = Counter()

    async def of(self, kind: str, draft: Draft) -> Taken | str:
        """Take a draft, or say why not."""
        terms, names = content_terms(draft.question), _names(draft.question)
        if self._watched is not None and await self._watched.has(draft.question, terms):
            return "like a question of --not-like"
        if any(near(terms, names, *other) for other in self._asked):
            return "near-duplicate"
        easy = False
        if draft.facts and self._find is not None:
            found = await self._find(draft.question, draft.hidden)
            if frozenset().union(*draft.facts).isdisjoint(found):
                return "round trip: no gold among the first found"
            easy = _easy(draft, terms, found, self._material)
        if easy and self._easy_counts[kind] >= EASY_SHARE * (self._counts[kind] + 1):
            return "easy: its words are the gold's, and it is found first"
        self._counts[kind] += 1
        self._easy_counts[kind] += easy
        self._asked.append((terms, names))
        return Taken(draft, easy)


def near(
    terms: frozenset[str], names: frozenset[str], other_terms: frozenset[str], other_names: frozenset[str]
) -> bool:
    """Whether two questions are nearly one: they name the same, and most of their content words are the same."""
    return names == other_names and _jaccard(terms, other_terms) >= NEAR_DUPLICATE


class _NotLike:
    """Questions that no made one may be like."""

    def __init__(self, terms: Sequence[frozenset[str]], vectors: Vectors, embed: Embed) -> None:
        self._terms, self._vectors, self._embed = terms, vectors, embed

    @classmethod
    async def of(cls, questions: Sequence[str], embed: Embed | None) -> _NotLike | None:
        """Read them; None where there are none."""
        if not questions or embed is None:
            return None
        return cls([content_terms(question) for question in questions], await embed(questions), embed)

    async def has(self, question: str, terms: frozenset[str]) -> bool:
        """Whether one of them has most of these words or nearly this vector."""
        if any(_jaccard(terms, other) >= NEAR_WORDS for other in self._terms):
            return True
        return bool(float(np.max(self._vectors @ (await self._embed([question]))[0])) >= NEAR_COSINE)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _names(question: str) -> frozenset[str]:
    """Return the stems of the words that a capital or a digit makes a name or a number; the first word's capital is the sentence's."""
    first, *rest = words(question) or [""]
    named = [word for word in rest if any(sign.isdigit() or sign.isupper() for sign in word)]
    return frozenset(map(stem, [*named, *([first] if any(map(str.isdigit, first)) else [])]))


def _easy(draft: Draft, terms: frozenset[str], found: Sequence[str], material: Material) -> bool:
    first = found[0]
    return len(draft.facts) == 1 and first in draft.facts[0] and terms <= material.terms[first]


def _shuffled(drafts: Sequence[Draft], seed: str) -> list[Draft]:
    ordered = sorted(drafts, key=lambda draft: (draft.id, draft.question))
    random.Random(seed).shuffle(ordered)  # noqa: S311
    return ordered
