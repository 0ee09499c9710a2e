"""Where a quotation stands in a text that is written a little differently: the same words on a page, in a table, in HTML.

A page breaks lines, hyphenates, and has the marks of lists and tables that the quotation lacks, or the other way round. So words are
compared, not characters: the window of the text that has most of the quotation's words, and in it those words in their order.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["LEAST_SHARE", "Place", "TextWord", "find_quote", "text_words"]

WORD = re.compile(r"[´¨ˆ˜ˇ˚]?[^\W_]+(?:[´`¨ˆ˜ˇ˚¸][^\W_]+)*¸?")
"""Fonts without accented letters draw an accent beside its letter."""
ELLIPSIS = " … "
"""Joins the parts of a citation's quotation."""
LEAST_SHARE = 0.6
"""Of its words that must be found, else the quotation is taken to stand elsewhere."""
WINDOW = 1.25
"""Words of the text that are looked at for each word of the quotation: a table's row has units and marks between."""
WINDOWS = 12
"""That are compared word by word, of those that have most of the words."""
MAX_GAP_WORDS = 3
"""So many words between two found ones belong to the place as well."""


@dataclass(frozen=True, slots=True)
class TextWord:
    """A word for comparison, with the start and end of what it was made from."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a quotation stands: numbers of words, and the share of the part's words that are there."""

    words: tuple[int, ...]
    share: float


def text_words(text: str) -> list[TextWord]:
    """Split a text into words for comparison: compatibility forms (ligatures, superscripts), case and accents folded."""
    return [TextWord(_folded(match[0]), match.start(), match.end()) for match in WORD.finditer(text)]


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKC", word).casefold()
    if plain.isascii() and plain.isalnum():
        return plain
    apart = unicodedata.normalize("NFKD", plain)
    return "".join(character for character in apart if character.isalnum()).replace("ı", "i") or plain


def find_quote(words: Sequence[TextWord], quote: str) -> list[Place]:
    """Find each part of a quotation (parts are joined by ` … `) among the words of a text; parts that are not there are left out."""
    said = [one.word for one in words]
    found = []
    for part in quote.split(ELLIPSIS):
        place = _find(said, [one.word for one in text_words(part)])
        if place is not None:
            found.append(place)
    return found


def _find(said: Sequence[str], wanted: Sequence[str]) -> Place | None:
    if not wanted or not said:
        return None
    windows = _best_windows(said, wanted)
    matched = max((_in_order(said, wanted, start, end) for start, end in windows), key=len)
    if len(matched) < LEAST_SHARE * len(wanted):
        # A table's columns may stand in another order than in its row: words alone, then.
        matched = _in_any_order(said, wanted, *windows[0])
    share = len(matched) / len(wanted)
    return Place(tuple(_with_gaps(matched)), share) if share >= LEAST_SHARE else None


def _best_windows(said: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Return windows with most of the wanted words, each counted as often as it is wanted; at most `WINDOWS`, evenly from all."""
    length = min(len(said), max(len(wanted) + 2, round(len(wanted) * WINDOW)))
    missing = Counter(wanted)
    hits = best = 0
    starts: list[int] = []
    for end, word in enumerate(said):
        hits += missing[word] > 0
        missing[word] -= 1
        start = end - length + 1
        if start > 0:
            left = said[start - 1]
            missing[left] += 1
            hits -= missing[left] > 0
        if hits > best:
            best, starts = hits, []
        if hits == best:
            starts.append(max(start, 0))
    every = -(-len(starts) // WINDOWS)
    return [(start, min(len(said), start + length)) for start in dict.fromkeys([*starts[::every], starts[-1]])]


def _in_order(said: Sequence[str], wanted: Sequence[str], start: int, end: int) -> list[int]:
    matcher = SequenceMatcher(None, said[start:end], wanted, autojunk=False)
    return sorted(start + block.a + i for block in matcher.get_matching_blocks() for i in range(block.size))


def _in_any_order(said: Sequence[str], wanted: Sequence[str], start: int, end: int) -> list[int]:
    missing = Counter(wanted)
    found = []
    for number in range(start, end):
        if missing[said[number]] > 0:
            missing[said[number]] -= 1
            found.append(number)
    return found


def _with_gaps(matched: Sequence[int]) -> list[int]:
    filled: list[int] = []
    for number in matched:
        if filled and number - filled[-1] - 1 <= MAX_GAP_WORDS:
            filled.extend(range(filled[-1] + 1, number))
        filled.append(number)
    return filled
