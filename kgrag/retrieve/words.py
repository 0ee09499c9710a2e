"""Words of a text, as far as retrieval compares them."""

from __future__ import annotations

import re

from kgrag.store.fulltext import STOP_WORDS

__all__ = ["content_words", "share_said", "words"]

WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")


def words(text: str) -> frozenset[str]:
    """Return the different words and numbers of a text, case folded; a decimal number is one."""
    return frozenset(word.casefold() for word in WORD.findall(text))


def content_words(text: str) -> frozenset[str]:
    """Return its words without stop words, plurals made singular."""
    return frozenset(map(_singular, words(text) - STOP_WORDS))


def share_said(asked: frozenset[str], text: frozenset[str]) -> float:
    """Return which share of the words `asked` for `text` has; 0 where nothing is asked for."""
    return len(asked & text) / len(asked) if asked else 0.0


def _singular(word: str) -> str:
    """Take the plural's ending off (the S-stemmer of Harman, JASIS 1991); a word with a digit stays as it is."""
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word
