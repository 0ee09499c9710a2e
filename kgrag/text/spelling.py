"""Typing errors: a word that a text lacks, read as the word of the text that it is one or two edits from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from rapidfuzz import process
from rapidfuzz.distance import OSA

from kgrag.text.name_shapes import IDENTIFIER
from kgrag.text.words import ASKING_WORDS, FUNCTION_WORDS, stem, words

__all__ = ["corrected"]

WORD = re.compile(r"(?<![\w.@/_-])[^\W\d_]{4,}(?![\w@/_-]|\.\w|\()")
SHORT_WORD, LONG_WORD = 5, 8
"""Of a word below the first length only two letters swapped are an error, below the second one edit is, and from there on two are."""


def corrected(question: str, text: str, *, is_word: Callable[[str], bool]) -> str:
    """Return the question with its mistyped words as `text` has them; itself where nothing seems mistyped.

    A word is mistyped where neither it nor its stem is in the text, `is_word` does not know it, and the text has a word that begins alike
    within one edit (two from eight letters on; of four letters two swapped): a letter more, less or another, or two swapped. Names
    (capitals inside a sentence), identifiers and numbers are never touched.
    """
    found = list(WORD.finditer(question))
    known: Counter[str] = Counter()
    stems: set[str] = set()
    for match in reversed(found):
        word = match.group()
        begins = not question[: match.start()].strip() or question[: match.start()].rstrip()[-1] in ".?!"
        folded = word.casefold()
        if folded in FUNCTION_WORDS | ASKING_WORDS or (folded != word and not begins) or IDENTIFIER.search(word):
            continue
        if not known:
            known = Counter(w.casefold() for w in words(text) if w.isalpha())
            stems = {stem(w) for w in known}
        if folded in known or stem(folded) in stems or is_word(folded):
            continue
        nearest = _nearest(folded, known)
        if nearest:
            written = nearest.capitalize() if word[0].isupper() else nearest
            question = question[: match.start()] + written + question[match.end() :]
    return question


def _nearest(word: str, known: Counter[str]) -> str:
    """The word within reach that is nearest, and among those the most frequent; or empty."""
    most = 2 if len(word) >= LONG_WORD else 1
    choices = [one for one in known if one[0] == word[0] and abs(len(one) - len(word)) <= most and len(one) > most + 2]
    if len(word) < SHORT_WORD:
        choices = [one for one in choices if sorted(one) == sorted(word)]
    near = process.extract(word, choices, scorer=OSA.distance, score_cutoff=most, limit=None)
    return min(near, key=lambda one: (one[1], -known[one[0]], one[0]))[0] if near else ""
