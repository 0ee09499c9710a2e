"""Numbers that are not written in digits: spelled (`twenty-one`, `5 million`), Roman, Chinese and Japanese, and the words that count.

`in_digits` writes them in digits where they are numbers beyond doubt; what stands alone (`two`, `II`) is told by the reader of names,
who sees what stands beside it. English, months and nouns that are numbered included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

__all__ = [
    "BOUND_BY_WORD",
    "COUNT_BY_WORD",
    "KIND_BY_WORD",
    "MONTH_BY_WORD",
    "NUMBER_BY_WORD",
    "ORDINAL_BY_WORD",
    "in_digits",
    "is_roman_number",
    "roman_number",
]

_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_MONTHS = "january february march april may june july august september october november december"
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NUMBER_BY_WORD = (
    {word: number for number, word in enumerate(_ONES.split(), start=1)}
    | {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
    | {"hundred": 100}
)
COUNT_BY_WORD = {word: number for word, number in NUMBER_BY_WORD.items() if number <= 20} | {
    "single": 1, "dual": 2, "double": 2, "triple": 3, "quad": 4,
}  # fmt: skip
"""Words that count what follows them: `two inputs`, `dual core`."""
ORDINAL_BY_WORD = {word: number for number, word in enumerate(_ORDINALS.split(), start=1)}
MONTH_BY_WORD = {
    written: number for number, month in enumerate(_MONTHS.split(), start=1) for written in (month, month[:3])
} | {"sept": 9}
KIND_BY_WORD = {
    "version": "version", "ver": "version", "v": "version", "revision": "revision", "rev": "revision", "mark": "mark", "mk": "mark",
    "generation": "generation", "gen": "generation", "edition": "edition", "ed": "edition",
}  # fmt: skip
"""A noun that is numbered, and the kind that it numbers: `Rev 2` and `revision 2` are one."""
BOUND_BY_WORD = {
    "max": "max", "maximum": "max", "min": "min", "minimum": "min", "typ": "typ", "typical": "typ", "approx": "~", "approximately": "~",
}  # fmt: skip
"""Words that say of a number beside them how it is meant."""

_COUNTING = "|".join((*NUMBER_BY_WORD, *SCALES))
SPELLED = re.compile(rf"(?<![^\W_])(?:{_COUNTING})(?:[\s-]{{1,3}}(?:and\s)?(?:{_COUNTING}))+(?![^\W_])", re.IGNORECASE)
SPELLABLE = re.compile(r"ty[\s-]|hundred|thousand|illion", re.IGNORECASE)
"""Without any of these nothing is spelled with several words."""
SPELLED_ORDINAL = re.compile(
    rf"(?<![^\W_])({'|'.join(_TENS.split())})[\s-]({'|'.join(_ORDINALS.split()[:9])})(?![^\W_])", re.IGNORECASE
)
SCALED = re.compile(rf"(?<![\w.,])(\d{{1,15}}(?:\.\d{{1,9}})?)[\s-]?({'|'.join(SCALES)})(?![^\W_])", re.IGNORECASE)
CJK_DIGITS = {
    digit: value
    for value, digits in enumerate(("〇零", "一壱", "二兩两弐", "三参", "四", "五", "六", "七", "八", "九"))
    for digit in digits
}
CJK_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
_CJK = f"[{''.join((*CJK_DIGITS, *CJK_SCALES))}]"
CJK_NUMBER = re.compile(
    rf"(?<=第){_CJK}+|{_CJK}{{2,}}|{_CJK}(?=[年月日届屆期章节節号號番回次世代级級层層楼樓卷册冊版型式名位個个台枚歳岁時时點点])"
)
"""After 第, several in a row, or before a word that counts: 一 alone is a part of many words."""

_ROMAN = re.compile(r"(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
NO_ROMAN_NUMBERS = frozenset(["XXX"])
"""Three letters or fewer are a number only of I, V, X and L: `CLI`, `DVI`, `MIX`, `CD` are words."""


def in_digits(text: str) -> str:
    """Write spelled numbers of several words, scaled and Chinese ones in digits: `5 million` → `5000000`, `第十二届` → `第12届`."""
    if text.isascii() and not SPELLABLE.search(text):
        return text
    text = SPELLED.sub(lambda m: str(_spelled(re.split(r"[\s-]+", m.group().casefold())) or m.group()), text)
    text = SPELLED_ORDINAL.sub(_ordinal_in_digits, text)
    text = SCALED.sub(_scaled, text)
    return text if text.isascii() else CJK_NUMBER.sub(lambda m: _cjk_number(m.group()), text)


def _spelled(words: Sequence[str]) -> int | None:
    """Read `three hundred and five thousand`; None where the words are no one number (`one two`)."""
    total = current = 0
    largest = 10**15
    for word in words:
        if word == "and":
            if not current or current % 100:
                return None
        elif word in SCALES:
            if not current or SCALES[word] >= largest:
                return None
            largest = SCALES[word]
            total, current = total + current * largest, 0
        elif word == "hundred":
            if current > 19:
                return None
            current = 100 * (current or 1)
        else:
            number = NUMBER_BY_WORD[word]
            fits = current % 100 == 0 if number > 9 else current % 10 == 0 and current % 100 != 10
            if not fits:
                return None
            current += number
    return total + current


def _ordinal_in_digits(match: re.Match[str]) -> str:
    number = NUMBER_BY_WORD[match[1].casefold()] + ORDINAL_BY_WORD[match[2].casefold()]
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _scaled(match: re.Match[str]) -> str:
    value = Fraction(match[1]) * SCALES[match[2].casefold()]
    return str(value) if value.denominator == 1 else match.group()


def _cjk_number(written: str) -> str:
    if not any(character in CJK_SCALES for character in written):
        return "".join(str(CJK_DIGITS[character]) for character in written)
    total = section = digit = 0
    for character in written:
        if character in CJK_DIGITS:
            if digit:
                return written
            digit = CJK_DIGITS[character]
        elif (scale := CJK_SCALES[character]) < 10**4:
            section, digit = section + (digit or 1) * scale, 0
        else:
            total, section, digit = total + (section + digit or 1) * scale, 0, 0
    return str(total + section + digit)


@lru_cache(maxsize=256)
def roman_number(written: str) -> int | None:
    """Read a Roman number up to 3999, in capitals; None where it is none."""
    if not written or len(written) > 15 or not _ROMAN.fullmatch(written):
        return None
    values = [_ROMAN_VALUES[letter] for letter in written]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


@lru_cache(maxsize=4096)
def is_roman_number(word: str) -> bool:
    """Whether a word in capitals is a Roman number, not an abbreviation: `II`, `XIV`, `LVII`, `MCMXC`; not `I`, `CD`, `DVI`, `MIX`."""
    if len(word) < 2 or roman_number(word) is None or word in NO_ROMAN_NUMBERS:
        return False
    if len(word) == 2:
        return not set(word) - set("IVX")
    return len(word) > 3 or not set(word) - set("IVXL")
