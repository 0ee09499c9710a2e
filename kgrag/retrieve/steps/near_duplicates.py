"""What is shown says nothing twice, and loses no number by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Share, Step
from kgrag.text.words import folded_words, plain_words
from kgrag.types import Evidence

__all__ = ["NearDuplicates", "Said", "first_of_each"]

RUN = 5
"""Words that follow each other and are looked for together in what was said before."""
REMEMBERED_TEXTS = 2000
"""Of pieces that were read lately: a warm store asks for the same ones again."""


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
            Said(*_context_and_body(piece), frozenset(key for key, chunks in about.items() if piece.chunk_id in chunks))
            for piece in state.evidence
        ]
        kept = first_of_each(said, threshold=self.threshold)
        return replace(state, evidence=tuple(state.evidence[position] for position in kept))


class Said(NamedTuple):
    """What a piece of evidence says."""

    context: str
    """Title and headings that its body stands under."""
    body: str
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
    kept: list[int] = []
    # Only pieces with the same numbers about the same subject can share most words: most are compared with none.
    alike: dict[tuple[frozenset[str], frozenset[str]], list[frozenset[str]]] = {}
    before: list[tuple[frozenset[str], frozenset[str], frozenset[int]]] = []
    said_before: set[int] = set()
    for position, (context, body, subjects) in enumerate(said):
        heading, said_words = _folded_words(context), _said(body)
        all_words, numbers = heading | said_words.words, said_words.numbers | _numbers(heading)
        seen = alike.setdefault((numbers, subjects), [])
        if any(_jaccard(all_words, other) >= threshold for other in seen):
            continue
        runs = said_words.runs
        at_most_new = (1 - threshold) * len(runs)
        # Most pieces have too much that nothing before says, whatever it stands under.
        if len(runs - said_before) <= at_most_new:
            comparable = [
                other
                for other_heading, about, other in before
                if about == subjects and (heading <= other_heading or other_heading <= heading)
            ]
            new = runs.difference(*comparable)
            if comparable and len(new) <= at_most_new and new.isdisjoint(_numbered_runs(body)):
                continue
        kept.append(position)
        seen.append(all_words)
        before.append((heading, subjects, runs))
        said_before.update(runs)
    return kept


def _context_and_body(piece: Evidence) -> tuple[str, str]:
    """Part the line of context that a chunk is shown with from the chunk's own words."""
    first, _, rest = piece.text.partition("\n")
    context = f"{piece.title}\n{piece.section}"
    shown = set(first.split(" > ")) <= {piece.title, *piece.section.split(" > ")}
    return context, rest if rest and shown else piece.text


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _folded_words(text: str) -> frozenset[str]:
    return folded_words(text)


class _Words(NamedTuple):
    """What a text says, word by word."""

    words: frozenset[str]
    numbers: frozenset[str]
    """Those with a digit."""
    runs: frozenset[int]
    """The hash of each five words that follow each other, of a shorter text of all its words."""


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _said(text: str) -> _Words:
    found = plain_words(text)
    different = frozenset(found)
    return _Words(different, _numbers(different), frozenset(map(hash, _runs(found))))


def _numbered_runs(text: str) -> frozenset[int]:
    """Return the hashes of a text's runs that have a word with a digit."""
    return frozenset(hash(run) for run in _runs(plain_words(text)) if any(map(_has_digit, run)))


def _runs(found: Sequence[str]) -> Sequence[tuple[str, ...]]:
    return list(zip(*(found[start:] for start in range(RUN)), strict=False)) or [tuple(found)]


def _numbers(different: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(_has_digit, different))


@lru_cache(maxsize=1 << 16)
def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0
