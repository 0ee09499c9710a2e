"""What DocBook's stylesheets write for reference entries and for boxes, as headings and paragraphs that say what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kgrag.documents.html_tags import HEADINGS, classes_of

__all__ = ["make_reference_entries"]

BOXES = frozenset({"note", "tip", "warning", "caution", "important"})
SECTIONS = frozenset(
    {"sect1", "sect2", "sect3", "sect4", "sect5", "section", "chapter", "reference", "appendix", "part"}
)
NAMES = re.compile(r"\s*(?P<names>\S[^\n]{0,80}?)\s+[—–-]\s")
"""Before what an entry is for: `mix_tanks — Stir several tanks at once`."""
LOWEST = 6
OF_ENTRY = 2
"""The level that the stylesheets give to all headings of an entry."""


def make_reference_entries(root: Any) -> None:
    """Put the name of each reference entry above its `Description`, below the section that the entry stands in, and read boxes as text.

    The heading of an entry's first part is `Name`, and those of its other parts have the same level. A box is a table of its picture,
    its title and its text.
    """
    entries = [one for one in root.iter("div") if "refentry" in classes_of(one)]
    for entry in entries:
        level = _level_above(entry)
        if level or len(entries) > 1:  # Of a page that is one entry the title says the name.
            _head(entry, level or 1)
    for box in [one for one in root.iter("div") if not BOXES.isdisjoint(classes_of(one))]:
        table = next((child for child in box if child.tag == "table"), None)
        picture = table.find(".//td/img") if table is not None else None
        if table is not None and picture is not None:
            is_titled = any("".join(title.itertext()).strip() for title in table.iter("th"))
            table.set("role", "presentation")
            picture.set("alt", "" if is_titled else (picture.get("alt") or "").strip("[] "))


def _head(entry: Any, above: int) -> None:
    named = next((one for one in entry.iter("div") if "refnamediv" in classes_of(one)), None)
    heading = next(named.iter(*HEADINGS), None) if named is not None else None
    purpose = named.find("p") if named is not None else None
    match = NAMES.match("".join(purpose.itertext())) if purpose is not None else None
    if heading is None or match is None:
        return
    level = above + 1
    for other in list(entry.iter(*HEADINGS)):
        other.tag = f"h{min(LOWEST, int(other.tag[1]) + level - OF_ENTRY + (other is not heading))}"
    for part in heading.iterdescendants():  # They may have what links point to.
        part.text = part.tail = None
    heading.text = " ".join(match["names"].split())


def _level_above(entry: Any) -> int:
    """The level of the heading of the section around an entry; 0 where there is none."""
    for around in entry.iterancestors("div"):
        if not SECTIONS.isdisjoint(classes_of(around)) and (title := next(_titles(around), None)) is not None:
            return int(title.tag[1])
    return 0


def _titles(section: Any) -> Iterator[Any]:
    for child in section:
        if child.tag == "div" and "titlepage" in classes_of(child):
            yield from child.iter(*HEADINGS)
