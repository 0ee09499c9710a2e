"""Questions about several things at once: a family of names (`Nano and Nicla boards`), or whatever there is (`Which boards ...?`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgrag.name_shapes import NAME, NAME_WORD

__all__ = ["asks_across", "families_said"]

SORTS = {
    "accessory": "accessories",
    "adapter": "adapters",
    "board": "boards",
    "camera": "cameras",
    "carrier": "carriers",
    "category": "categories",
    "chip": "chips",
    "component": "components",
    "controller": "controllers",
    "converter": "converters",
    "device": "devices",
    "display": "displays",
    "edition": "editions",
    "family": "families",
    "gateway": "gateways",
    "instrument": "instruments",
    "kit": "kits",
    "machine": "machines",
    "member": "members",
    "meter": "meters",
    "microcontroller": "microcontrollers",
    "model": "models",
    "module": "modules",
    "platform": "platforms",
    "probe": "probes",
    "processor": "processors",
    "product": "products",
    "sensor": "sensors",
    "shield": "shields",
    "tool": "tools",
    "transmitter": "transmitters",
    "variant": "variants",
    "version": "versions",
}
"""Words for the things that technical documents are about, and their plurals."""
MAX_CHARACTERS = 2000
"""Of a question that are looked at."""
MAX_WORDS = 5
"""Of a family's name."""
ONE, MANY = "|".join(SORTS), "|".join(SORTS.values())
GROUP = "family|families|series|range|line|line-?up"
FAMILY = re.compile(
    rf"(?P<names>{NAME.pattern}(?:(?:,|,? (?:and|or|vs\.?|versus))(?: the)? {NAME_WORD}(?:[ ]{NAME_WORD})*)*)"
    rf"(?: [a-z]+)? (?:{MANY}|{GROUP})\b"
)
CHOSEN = re.compile(rf"\b(?i:which|what) (?P<names>{NAME.pattern}) (?:{ONE})\b")
JOINT = re.compile(r",? (?:and|or|vs\.?|versus) (?:the )?|, ")
ACROSS = re.compile(rf"\b(?:which|what) (?:[\w-]+ ){{0,3}}?(?:{ONE}|{MANY}|{GROUP})\b|\b(?:{MANY})\b", re.IGNORECASE)


def families_said(question: str) -> Iterator[tuple[str, ...]]:
    """Yield the names that the question uses for more than one thing: `Nano boards`, `the Nicla family`, `which Nano board`.

    Each with its ends, the longest first: the first words may be the maker's (`Arduino Nano boards`) or only begin the sentence.
    """
    for pattern in (FAMILY, CHOSEN):
        for match in pattern.finditer(question[:MAX_CHARACTERS]):
            for name in JOINT.split(match["names"]):
                words = name.split()[-MAX_WORDS:]
                yield tuple(" ".join(words[first:]) for first in range(len(words)))


def asks_across(question: str) -> bool:
    """Tell whether the question is about whichever things of a sort there are: `Which boards have ...?`, `How many sensors ...?`."""
    return ACROSS.search(question[:MAX_CHARACTERS]) is not None
