"""The unit that holds for a table of values, wherever it is said: `(in thousands)`, `Dollars in millions, except per share`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.documents.pdf.geometry import Line, Word

__all__ = ["MAX_HEADER_WORDS", "UNIT", "broken_unit", "is_unit", "unit_words"]

MAX_HEADER_WORDS = 14
_SCALE = r"(?:thousand|million|billion|percent|cent|mio|mrd|tausend|teur)"
UNIT = re.compile(
    rf"\bin\s+(?:(?:US|U\.S\.|actual)\s+)?(?:(?:dollars|euros?|[$€£¥])\s+)?(?:in\s+)?{_SCALE}s?\b|[$€£¥]\s?{_SCALE}s?\b"
    rf"|^\(?(?:thousand|million|billion)s?\b|[$€£]\s?(?:mm|m|bn)\b|\bexcept\s+(?:per|share|percent|ratio)|\b(?:usd|eur|gbp)\s+{_SCALE}s?\b",
    re.IGNORECASE,
)


def unit_words(line: Line) -> tuple[Word, ...]:
    """Return the words of a line that name a unit, `(in thousands)`: those of the bracket, or all of a short line."""
    if not UNIT.search(line.text):
        return ()
    words = line.words
    if found := _in_bracket(words):
        return found
    opened = any(word.text.startswith("(") for word in words)
    return words if len(words) <= MAX_HEADER_WORDS and words[-1].text[-1] not in ".:;" and not opened else ()


def broken_unit(line: Line, below: Line) -> tuple[Word, ...]:
    """Return the words of a bracket that names a unit and that the end of a line breaks: `(in thousands, except per` + `share)`."""
    opened = [index for index, word in enumerate(line.words) if word.text.startswith("(")]
    if not opened or any(")" in word.text for word in line.words[opened[-1] :]):
        return ()
    found = _in_bracket((*line.words[opened[-1] :], *below.words))
    return found if not any("(" in word.text for word in found[1:]) else ()


def _in_bracket(words: Sequence[Word]) -> tuple[Word, ...]:
    for start in (index for index, word in enumerate(words) if word.text.startswith("(")):
        end = next((index for index in range(start, len(words)) if ")" in words[index].text), None)
        if end is not None and UNIT.search(" ".join(word.text for word in words[start : end + 1])):
            last = words[end]
            return (*words[start:end], replace(last, text=last.text[: last.text.index(")") + 1]))
    return ()


def is_unit(line: Line) -> bool:
    """Whether a line names a unit and says nothing else."""
    return bool(UNIT.search(line.text)) and len(unit_words(line)) == len(line.words)
