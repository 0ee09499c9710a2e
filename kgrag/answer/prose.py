"""Which statements of a passage of prose go with the one that answers best.

People who answer from a paragraph take its first sentence, which says what it is about, long sentences rather than short ones, and what has
to do with the sentence that answers, and nothing from elsewhere. None of that tells which statement answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.answer.candidates import Candidate
from kgrag.answer.headings import repeats_context
from kgrag.types import Evidence

__all__ = ["GAINS", "Gains", "with_the_best"]

WORDS, SHORT = 36, 0.45
"""A statement's length counts in so many words, of which it has this share at least."""


@dataclass(frozen=True, slots=True)
class Gains:
    """What scores gain beside the best one. `python -m benchmarks.prose` says what they are worth on questions they are not chosen on."""

    begins: float = 0.1
    """The first statement of the passage."""
    length: float = 0.06
    """For the logarithm of its length."""
    alike: float = 0.1
    """For the share of its terms that the best one has."""
    elsewhere: float = -0.05
    """A statement of another document."""


GAINS = Gains()


def with_the_best(found: Sequence[Candidate], evidence: Sequence[Evidence], gains: Gains = GAINS) -> list[Candidate]:
    """Return statements in the order in which they are given beside the best one, which stays the first; `found` is sorted, best first.

    Only where the best one stands in the first passage of the evidence: what was retrieved and what was chosen agree then. Rows, lists,
    lines of programs and what is said below a term stay as they are.
    """
    best = found[0]
    if best.evidence != 0:
        return list(found)
    others = [replace(one, score=min(best.score, one.score + _gain(one, best, evidence, gains))) for one in found[1:]]
    return [best, *sorted(others, key=lambda one: -one.score)]


def _gain(one: Candidate, best: Candidate, evidence: Sequence[Evidence], gains: Gains) -> float:
    piece = evidence[one.evidence]
    if one.evidence != best.evidence:
        return 0.0 if piece.document == evidence[best.evidence].document else gains.elsewhere
    if not _is_prose(one):
        return 0.0
    length = gains.length * math.log(max(SHORT, len(one.text.split()) / WORDS))
    alike = gains.alike * len(one.stems & best.stems) / (len(one.stems) or 1)
    return length + alike + (gains.begins if _begins(one, piece) else 0.0)


def _is_prose(one: Candidate) -> bool:
    of = one.statement
    return not (of.items or of.cells or of.is_item or of.is_code or of.label)


def _begins(one: Candidate, piece: Evidence) -> bool:
    """Whether nothing but title and section stands before a statement in its passage."""
    before = " ".join(piece.text[: one.statement.start].split())
    return not before or repeats_context(before, piece)
