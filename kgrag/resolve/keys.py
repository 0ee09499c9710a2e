"""Blocking keys: names that share one are compared. Pure functions of a name.

Each of ours holds the facts of the name, so a block never mixes numbers. The keys of the thesis are in `kgrag.resolve.comparisons`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Set
from functools import lru_cache

from kgrag.resolve.reading import NameReading
from kgrag.text.names import LEGAL_FORMS
from kgrag.text.words import FUNCTION_WORDS, singular

__all__ = [
    "GENERIC_WORDS",
    "folded",
    "plain",
    "strict_key",
    "tokens_key",
    "transcribed",
    "transcription_key",
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
TRANSCRIPTIONS = {"ä": "ae", "ö": "oe", "ü": "ue", "æ": "ae", "ø": "oe", "å": "aa", "œ": "oe"}
DIGRAPHS = frozenset(TRANSCRIPTIONS.values())
LETTER_BY_STROKE = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i"}
"""Latin letters whose stroke is no mark by Unicode."""


def strict_key(reading: NameReading) -> str:
    """Return the letters and facts in order, with plural and accents folded: `ESLOV connectors` = `Eslov-Connector`."""
    return "".join(map(plain, reading.words))


def tokens_key(reading: NameReading, generic: Set[str] = GENERIC_WORDS) -> str:
    """Return the set of words but function words and generic ones, sorted: `Portenta H7 board` = `Board Portenta H7` = `Portenta H7`."""
    kept = sorted({plain(word) for word in reading.words} - generic - FUNCTION_WORDS - LEGAL_FORMS)
    return "|".join(kept) if any(len(word) > 1 for word in kept) else ""


@lru_cache(maxsize=1 << 17)
def plain(word: str) -> str:
    """Write a word without plural and accents; a fact stays as it is."""
    return word if word[0] == "⟨" else singular(folded(word))


@lru_cache(maxsize=1 << 16)
def folded(word: str) -> str:
    """Take accents off Latin letters: `Müller` → `muller`; `バ` and `й` are letters of their own."""
    if word.isascii():
        return word
    letters = []
    for character in word:
        base = unicodedata.normalize("NFD", character)[0]
        latin = unicodedata.name(base, "").startswith("LATIN ")
        letters.append(LETTER_BY_STROKE.get(character, base if latin else character))
    return "".join(letters)


def transcribed(word: str) -> str:
    """Write umlauts and such with two letters: `müller` → `mueller`, `ærø` → `aeroe`."""
    if word.isascii():
        return word
    return folded("".join(TRANSCRIPTIONS.get(character, character) for character in word))


def transcription_key(reading: NameReading) -> str:
    """Return the words as transcribed; "" where no umlaut or digraph is in them."""
    joined = "".join(reading.words)
    if joined.isascii() and not any(digraph in joined for digraph in DIGRAPHS):
        return ""
    return f"{reading.signature}\n{''.join(map(transcribed, reading.words))}"
