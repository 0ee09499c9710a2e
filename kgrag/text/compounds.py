"""Words that one text writes together and another apart: `log file` and `logfile`, `re-read` and `reread`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from kgrag.text.words import SAID_BY, stem, stems

__all__ = ["compounds", "written_together"]

HYPHENED = re.compile(r"(?<![\w-])([^\W\d_]+)-([^\W\d_]+)(?![\w-])")
MIN_PART = 3
NONE: frozenset[str] = frozenset()


def compounds(terms: frozenset[str], words: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return what a term of a question and another of its words make when they are written together, with those of them that are terms.

    `boxwidth` of `How wide are boxes?`, `filename` of `the names of files`. Both are stems.
    """
    said = {
        word: {word, *SAID_BY.get(word, NONE)} for word in terms | words if word.isalpha() and len(word) >= MIN_PART
    }
    return {
        stem(first + second): frozenset((one, other)) & terms
        for one, firsts in said.items()
        for other, seconds in said.items()
        if one != other and (one in terms or other in terms)
        for first in firsts
        for second in seconds
    }


def written_together(text: str, terms: frozenset[str], together: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the terms of a question that a text says by a word written together, or apart, or with a hyphen.

    `terms` are the question's, `together` its `compounds`.
    """
    said = stems(text)
    found = {term for _, one in said for term in together.get(one, NONE)}
    found.update(one for a, b in HYPHENED.findall(text) if (one := stem(a + b)) in terms)
    for (first, _), (second, _) in pairwise(said):
        if len(first) >= MIN_PART and any(term.startswith(first) for term in terms) and stem(first + second) in terms:
            found.add(stem(first + second))
    return frozenset(found)
