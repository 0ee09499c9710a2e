"""Words of a text, as far as retrieval compares them."""

from __future__ import annotations

import re

from kgrag.store.fulltext import STOP_WORDS

__all__ = ["content_words", "words"]

WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")


def words(text: str) -> frozenset[str]:
    """Return the different words and numbers of a text, case folded; a decimal number is one."""
    return frozenset(word.casefold() for word in WORD.findall(text))


def content_words(text: str) -> frozenset[str]:
    """Return its words without stop words."""
    return words(text) - STOP_WORDS
