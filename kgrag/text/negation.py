"""What a sentence denies, and whether two sentences contradict each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgrag.text.words import content_terms

__all__ = ["negates", "opposes"]

NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|unable|un(?:supported|available|suitable|necessary)|lacks?|lacking|n/a)\b|n['’]t\b",
    re.IGNORECASE,
)
ANSWERING = re.compile(r"^(?:no|yes|not? (?:quite|exactly))\b[,.:;—–-]?\s*", re.IGNORECASE)
NEGATION_END = re.compile(r"[,;:.()](?!\d)|\b(?:but|and|or|because|so|which|that|while|whereas|only)\b", re.IGNORECASE)
ELLIPSIS = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|can|has|have|will|should|must|may) not|cannot|\w+n['’]t) *(?:[,;:.()]|$)",
    re.IGNORECASE,
)
"""A negation whose verb stands elsewhere (`X runs, but Y does not.`): what it denies cannot be read."""
NEGATED_WORDS = 5
DENIED_SHARE = 0.6


def negates(text: str) -> bool:
    """Whether a text has a word that denies."""
    return NEGATION.search(text) is not None


def opposes(claim: str, statement: str, cited: Sequence[str]) -> bool:
    """Whether a sentence and a statement contradict each other: one has most of what the other negates, and does not negate it.

    What another cited statement denies in the same words may be denied.
    """
    if ELLIPSIS.search(claim) or ELLIPSIS.search(statement):
        return False
    denied, also_denied = _denied(claim), _denied(statement)
    said, also_said = content_terms(claim) - denied, content_terms(statement) - also_denied
    if not said & also_said:
        return False
    denies = _mostly(denied, also_said, also_denied) and not any(denied <= _denied(other) for other in cited)
    return denies or _mostly(also_denied, said, denied)


def _mostly(denied: frozenset[str], said: frozenset[str], also_denied: frozenset[str]) -> bool:
    return not denied & also_denied and len(denied & said) >= max(1, DENIED_SHARE * len(denied)) and bool(denied)


def _denied(text: str) -> frozenset[str]:
    """The content terms of the words behind each negation, up to a comma or the end of its clause."""
    text = ANSWERING.sub("", text)
    reach = (NEGATION_END.split(text[match.end() :], maxsplit=1)[0] for match in NEGATION.finditer(text))
    return frozenset().union(*(content_terms(" ".join(words.split()[:NEGATED_WORDS])) for words in reach))
