"""Words that count: `two`, `second`, `II`, months, and the nouns that are numbered (revision, edition, ...). English."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = [
    "BOUND_BY_WORD",
    "COUNTED",
    "KIND_BY_WORD",
    "MONTH_BY_WORD",
    "NUMBER_BY_WORD",
    "ORDINAL_BY_WORD",
    "ROMAN_NUMBERS",
    "roman_number",
]

NUMBER_BY_WORD = {
    word: number
    for number, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ],
        start=1,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}

ORDINAL_BY_WORD = {
    word: number
    for number, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
        ],
        start=1,
    )
}

MONTH_BY_WORD = {
    written: number
    for number, month in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        start=1,
    )
    for written in (month, month[:3])
} | {"sept": 9}

KIND_BY_WORD = {
    "version": "version", "ver": "version", "v": "version",
    "revision": "revision", "rev": "revision",
    "mark": "mark", "mk": "mark",
    "generation": "generation", "gen": "generation",
    "edition": "edition", "ed": "edition",
}  # fmt: skip
"""A noun that is numbered, and the kind that it numbers: `Rev 2` and `revision 2` are one."""

BOUND_BY_WORD = {
    "max": "max", "maximum": "max", "min": "min", "minimum": "min", "typ": "typ", "typical": "typ", "approx": "~", "approximately": "~",
}  # fmt: skip
"""Words that say of a number beside them how it is meant."""

COUNTED = frozenset((*NUMBER_BY_WORD, *ORDINAL_BY_WORD, *KIND_BY_WORD))
"""Words that make a name worth a second look."""

_ROMAN = re.compile(r"(X{0,3})(IX|IV|V?I{0,3})")
_VALUE_BY_ONES = {one: value for value, one in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))}


@lru_cache(maxsize=256)
def roman_number(written: str) -> int | None:
    """Read a Roman number up to 39, in capitals; None where it is none. L, C, D and M are letters more often than numbers."""
    match = _ROMAN.fullmatch(written)
    return 10 * len(match[1]) + _VALUE_BY_ONES[match[2]] or None if match else None


ROMAN_NUMBERS = frozenset(
    tens + ones for tens in ("", "X", "XX", "XXX") for ones in _VALUE_BY_ONES if len(tens + ones) > 1
)
"""Those of two letters or more: a single I, V or X is a number only behind a word that is numbered."""
