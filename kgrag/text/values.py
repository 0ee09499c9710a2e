"""Entities that are no things: values, which things are said to have, and names of which every character counts."""

from __future__ import annotations

import re

from kgrag.text.name_shapes import exact_identifiers, part_numbers
from kgrag.text.quantities import quantities

__all__ = ["is_exact", "is_value"]

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
_DATE_WORD = (
    rf"(?:{_MONTH}|\d{{1,4}}(?:st|nd|rd|th|s)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|bce?|a\.?d\.?|ce|of|the|in|on|c\.|ca\.|circa|early|mid|late)"
)
DATE = re.compile(rf"{_DATE_WORD}(?:[\s,./–-]+{_DATE_WORD})*", re.IGNORECASE)
VALUE_TYPES = frozenset(
    {
        "quantity",
        "date",
        "time",
        "year",
        "number",
        "cardinal",
        "ordinal",
        "percent",
        "money",
        "duration",
        "value",
        "version",
    }
)

EXACT_TYPES = frozenset(
    {"identifier", "part", "partnumber", "part_number", "part number", "pin", "version", "code", "url"}
)
DIGITS_AND_LETTERS = re.compile(r"(?=[^\W\d]*\d)(?=\d*[^\W\d])\w+")
"""`A0`, `5V`, `X100`, `RP2040`, `802_11b`."""
COUNTED = re.compile(r"\d+(?:st|nd|rd|th|s)", re.IGNORECASE)


def is_value(name: str, entity_type: str = "") -> bool:
    """Whether an entity is a date, a year, a number or a bare quantity: what things are said to have, and no thing."""
    if entity_type.casefold() in VALUE_TYPES:
        return True
    stripped = name.strip()
    if not any(c.isdigit() for c in stripped):
        return re.fullmatch(_MONTH, stripped, re.IGNORECASE) is not None and len(stripped) > len("May")
    measured = quantities(stripped)
    return (
        DATE.fullmatch(stripped) is not None
        or re.fullmatch(r"[\d\s.,:/%$€£+−–-]+", stripped) is not None
        or (len(measured) == 1 and len(measured[0].text) >= len(stripped) - 1)
    )


def is_exact(name: str, entity_type: str = "") -> bool:
    """Whether an entity is a value, or a name has a quantity, a part number or an identifier in it: nothing about those is ever guessed."""
    return (
        is_value(name, entity_type)
        or entity_type.casefold() in EXACT_TYPES
        or bool(quantities(name))
        or any(True for _ in part_numbers(name))
        or name.strip() in exact_identifiers(name)
        or any(DIGITS_AND_LETTERS.fullmatch(word) and not COUNTED.fullmatch(word) for word in re.findall(r"\w+", name))
    )
