"""What two records (product listings, catalogue lines) contradict each other in.

A record's title states some facts and leaves out others, rounds (14 for 14.1 megapixels) and is often all in lower case, so the rule of
names, which asks for the same facts on both sides, would keep nearly every true pair apart. Only what both state can contradict here.
"""

from __future__ import annotations

import re
from collections import defaultdict

from kgrag.text.units import SYMBOLS
from kgrag.text.words import singular

__all__ = ["contradiction"]

STATED = re.compile(r"(?<![\w.])(?<!-)(\d+(?:\.\d+)?)(\s|-|)([a-z]+|\")(?!\w)")
MODEL = re.compile(r"(?<![\w.-])(?:[a-z]*\d[\w-]*|[a-z]+-?\d[\w-]*)")
_SIDE = r"\d[\d./-]*(?:\s\d[\d./-]*)*\s?(?:[wdh\"]|in(?:ch)?\b|mm\b|cm\b)?"
SIZE = re.compile(rf"(?<![\w.])(?:{_SIDE}\s?x\s?)+{_SIDE}(?![\w.])")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
QUANTITY_ALONE = re.compile(r"\d+(?:\.\d+)?-?[a-z]{1,6}")
UNITS = frozenset(symbol.casefold() for symbol in SYMBOLS if symbol.isalpha()) - {"in", "a", "h", "d", "s"}
COUNTED_NOUNS = frozenset(
    [
        "diagonal",
        "pack",
        "pk",
        "ct",
        "count",
        "port",
        "way",
        "pin",
        "bay",
        "outlet",
        "piece",
        "pc",
        "sheet",
        "channel",
        "drawer",
        "digit",
        "button",
        "ring",
        "speed",
        "user",
        "disc",
        "cell",
        "watt",
    ]
)
SAME_WORD = {
    "inches": "inch",
    "in": "inch",
    '"': "inch",
    "feet": "ft",
    "foot": "ft",
    "watt": "w",
    "ct": "count",
    "pk": "pack",
}
NO_UNIT = frozenset(
    ["x", "w", "d", "h", "for", "with", "and", "to", "of", "the", "a", "by", "or", "no", "on", "at", "i", "v", "new"]
)
"""Words behind a number that say nothing about it, and the letters of width, depth and height."""
MIN_IDENTIFIER_CHARACTERS = 4


def contradiction(one: str, other: str, *, identifiers: tuple[str, str] = ("", "")) -> str:
    """Say what two records contradict each other in; "" where nothing does.

    They do where both titles state numbers of one unit and none of the one rounds to one of the other, where both have model numbers of
    one shape and neither title has the other's, or where their `identifiers` (columns that hold a model number) are of one shape and
    differ. What only one states contradicts nothing.
    """
    mine, theirs = one.casefold(), other.casefold()
    stated, known = _stated(mine), _stated(theirs)
    for unit in sorted(stated.keys() & known.keys()):
        if not any(_rounds_to(a, b) for a in stated[unit] for b in known[unit]):
            return f"{unit}: {', '.join(sorted(stated[unit]))} against {', '.join(sorted(known[unit]))}"
    sides, other_sides = _sides(mine), _sides(theirs)
    if sides and other_sides and not sides & other_sides:
        return f"size: {' x '.join(sorted(sides))} against {' x '.join(sorted(other_sides))}"
    squeezed, squeezed_other = _squeezed(mine), _squeezed(theirs)
    for a in sorted(_models(mine)):
        for b in sorted(_models(theirs)):
            if _shape(a) == _shape(b) and a not in squeezed_other and b not in squeezed:
                return f"model number: {a} against {b}"
    a, b = (_squeezed(identifier.casefold()) for identifier in identifiers)
    if _are_identifiers(a, b) and a not in squeezed_other and b not in squeezed:
        return f"identifier: {a} against {b}"
    return ""


def _stated(title: str) -> dict[str, set[str]]:
    """Return the numbers of a title by their unit or counted noun."""
    stated: dict[str, set[str]] = defaultdict(set)
    for number, joint, word in STATED.findall(title):
        unit = SAME_WORD.get(word, singular(word))
        if word not in NO_UNIT and (
            joint != " " or word in UNITS or unit in COUNTED_NOUNS or (word in SAME_WORD and word != "in")
        ):
            stated[unit].add(number)
    return stated


def _sides(title: str) -> set[str]:
    """Return the numbers of what is written as a size (`84 x 84`, `40 1 4 x 53 3 4`), in no order: records turn sizes round."""
    return {number for size in SIZE.findall(title) for number in NUMBER.findall(size)}


def _rounds_to(one: str, other: str) -> bool:
    """Whether two numbers are equal, or the one with fewer decimals is the other rounded or cut."""
    short, long = sorted((one, other), key=len)
    digits = len(short.partition(".")[2])
    cut = long[: len(long.partition(".")[0]) + digits + 1] if digits else long.partition(".")[0]
    return float(one) == float(other) or (
        len(short) < len(long) and (round(float(long), digits) == float(short) or float(cut) == float(short))
    )


def _models(title: str) -> set[str]:
    """Return what looks like a model number: letters and at least two digits, and no quantity."""
    return {
        _squeezed(token)
        for token in MODEL.findall(title)
        if sum(c.isdigit() for c in token) > 1
        and any(c.isalpha() for c in token)
        and not QUANTITY_ALONE.fullmatch(token)
    }


def _are_identifiers(one: str, other: str) -> bool:
    digits = ["".join(c for c in text if c.isdigit()) for text in (one, other)]
    return (
        min(len(one), len(other)) >= MIN_IDENTIFIER_CHARACTERS
        and all(digits)
        and digits[0] not in digits[1]
        and digits[1] not in digits[0]
        and _shape(one) == _shape(other)
    )


def _squeezed(text: str) -> str:
    return re.sub(r"\W", "", text)


def _shape(text: str) -> str:
    """Return what kind of character stands where: `ts-a1674r` is `aaa9999a`."""
    return re.sub(r"\d", "9", re.sub(r"[^\W\d]", "a", text))
