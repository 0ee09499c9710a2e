"""Leaving out what says the same again, numeric-safe."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.text.words import folded_words

__all__ = ["first_of_each"]


def first_of_each(
    texts: Sequence[str], *, threshold: float, subjects: Sequence[frozenset[str]] | None = None
) -> list[int]:
    """Return the positions of the texts that are no near-duplicate of an earlier one, in order.

    Two texts are near-duplicates when they have the same words with digits in them (a rating, a part number or a revision that differs is
    another fact) and share at least `threshold` of all their words (Jaccard index). Texts about different `subjects` of the question
    are both kept: who asks about two products wants to know of each.
    """
    kept: list[int] = []
    seen: list[tuple[frozenset[str], frozenset[str], frozenset[str]]] = []
    for position, text in enumerate(texts):
        subject = subjects[position] if subjects else frozenset()
        said = folded_words(text)
        numbers = frozenset(word for word in said if any(c.isdigit() for c in word))
        if not any(
            numbers == other_numbers and subject == other_subject and _jaccard(said, other) >= threshold
            for other, other_numbers, other_subject in seen
        ):
            kept.append(position)
            seen.append((said, numbers, subject))
    return kept


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0
