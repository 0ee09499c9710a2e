"""Questions about several things at once: a family of names (`Nano and Nicla boards`), or whatever there is (`Which boards ...?`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgrag.text.name_shapes import NAME

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
OF_MANY = re.compile(rf"(?: [a-z]+)? (?:{MANY}|{GROUP})\b")
"""What follows a name that is meant for several: `boards`, `product family`."""
OF_ONE = re.compile(rf" (?:{ONE})\b")
CHOICE = re.compile(r"\b(?:which|what)(?: |$)", re.IGNORECASE)
JOINT = re.compile(r"(?:,|,? (?:and|or|vs\.?|versus))(?: the)? ")
ACROSS = re.compile(rf"\b(?:which|what) (?:[\w-]+ ){{0,3}}?(?:{ONE}|{MANY}|{GROUP})\b|\b(?:{MANY})\b", re.IGNORECASE)


def families_said(question: str) -> Iterator[tuple[str, ...]]:
    """Yield the names that the question uses for more than one thing: `Nano boards`, `Nano and Nicla families`, `which Nano board`.

    Each with its ends, the longest first: the first words may be the maker's (`Arduino Nano boards`) or only begin the sentence.
    """
    question = question[:MAX_CHARACTERS]
    row: list[str] = []
    """Names that are joined to the next one."""
    end = 0
    for match in NAME.finditer(question):
        if not JOINT.fullmatch(question, end, match.start()):
            row.clear()
        row.append(match[0])
        end = match.end()
        chosen = CHOICE.search(question, max(match.start() - len("which "), 0), end)
        if OF_MANY.match(question, end) or (chosen and OF_ONE.match(question, end)):
            yield from filter(None, map(_ends, row))
            row.clear()


def _ends(name: str) -> tuple[str, ...]:
    words = CHOICE.sub("", name).split()[-MAX_WORDS:]
    return tuple(" ".join(words[first:]) for first in range(len(words)))


def asks_across(question: str) -> bool:
    """Tell whether the question is about whichever things of a sort there are: `Which boards have ...?`, `How many sensors ...?`."""
    return ACROSS.search(question[:MAX_CHARACTERS]) is not None
