"""Blocking keys: names that share one are compared. Pure functions of a name.

Each of ours holds the facts of the name, so a block never mixes numbers. The keys of the thesis are in `kgrag.resolve.thesis`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Set
from functools import lru_cache

from kgrag.resolve.reading import NameReading

__all__ = [
    "GENERIC_WORDS",
    "LEGAL_FORMS",
    "SMALL_WORDS",
    "folded",
    "plain",
    "plain_words",
    "singular",
    "strict_key",
    "tokens_key",
]

GENERIC_WORDS = frozenset(
    [
        "arduino",
        "board",
        "boards",
        "processor",
        "processors",
        "sensor",
        "sensors",
        "module",
        "modules",
        "shield",
        "shields",
        "kit",
        "kits",
        "dev",
        "development",
    ]
)
"""Those of the thesis (facts section 5.1): they are left out of the tokens key. A setting."""
SMALL_WORDS = frozenset(["a", "an", "and", "the", "of", "for", "in", "on", "at", "by", "to", "with"])
LEGAL_FORMS = frozenset(
    [
        "inc",
        "incorporated",
        "ltd",
        "limited",
        "llc",
        "gmbh",
        "ag",
        "corp",
        "corporation",
        "co",
        "company",
        "plc",
        "srl",
        "spa",
        "sa",
        "bv",
        "kg",
        "oy",
        "ab",
    ]
)
"""Of companies: they come and go."""
INVARIABLE = frozenset(["series", "species", "means", "news", "physics", "mathematics", "electronics", "dynamics"])
SINGULAR_BY_PLURAL = {
    "buses": "bus", "statuses": "status", "viruses": "virus", "indices": "index", "matrices": "matrix", "vertices": "vertex",
    "axes": "axis", "analyses": "analysis",
}  # fmt: skip
MIN_PLURAL_LETTERS = 4


def strict_key(reading: NameReading) -> str:
    """Return the letters and facts in order, with plural and accents folded: `ESLOV connectors` = `Eslov-Connector`."""
    return "".join(map(plain, reading.words))


def tokens_key(reading: NameReading, generic: Set[str] = GENERIC_WORDS) -> str:
    """Return the set of words without small and generic ones, sorted: `Portenta H7 board` = `Board Portenta H7` = `Portenta H7`."""
    kept = sorted({plain(word) for word in reading.words} - generic - SMALL_WORDS - LEGAL_FORMS)
    return "|".join(kept) if any(len(word) > 1 for word in kept) else ""


def plain_words(reading: NameReading) -> tuple[str, ...]:
    """Return the words, each as `plain` writes it."""
    return tuple(map(plain, reading.words))


@lru_cache(maxsize=1 << 17)
def plain(word: str) -> str:
    """Write a word without plural and accents; a fact stays as it is."""
    return word if word[0] == "⟨" else singular(folded(word))


def singular(word: str) -> str:
    """Take an English plural's ending off: `connectors` → `connector`, `batteries` → `battery`; `bus`, `chess` and `series` stay."""
    if known := SINGULAR_BY_PLURAL.get(word):
        return known
    if len(word) < MIN_PLURAL_LETTERS or word[-1] != "s" or word[-2:] in ("ss", "us", "is") or word in INVARIABLE:
        return word
    if word.endswith("ies") and len(word) > MIN_PLURAL_LETTERS:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def folded(word: str) -> str:
    """Take accents off: `Müller` → `muller`."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
