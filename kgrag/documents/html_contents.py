"""Headings that are no heading elements: what a link to a place of the same page says, where that place begins with the same words.

A table of contents is such links. Generators that head sections by `<div class="section2-title">` write one, and so do authors of pages
of questions; the class of an element says nothing, for each generator has its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from kgrag.documents.html_tags import HEADINGS

__all__ = ["make_headings_of_contents"]

FEWEST_ENTRIES = 3
LONGEST = 200
"""Characters of a heading."""
NEAR = 12
"""Elements from a place on in which its heading is looked for."""
MOST_PIECES = 50
"""Texts of an element that are looked at."""
NUMBER = re.compile(r"(?:\d{1,3}(?:\.\d{1,3})*|[A-Z](?:\.\d{1,3})+)\.?")
HEADS = frozenset({"div", "p", "span", "b", "strong", "font", "center", "a", "section", "header"})
"""Elements that may be a heading, and that one may stand in."""
AROUND = HEADS | {"body", "html", "article", "main", "blockquote", "i", "em", "u", "big"}
FIRST_LEVEL, DEEPEST = 2, 6


@dataclass(frozen=True, slots=True)
class _Entry:
    """A heading that was found."""

    place: Any
    """The element that is linked to."""
    heading: Any
    number: Any
    """The element before it that says its number; None where there is none."""


def make_headings_of_contents(root: Any) -> None:
    """Make headings of what a page's own table of contents lists, in a page that has fewer headings than that.

    The level is how many numbers an entry's number has, where all have one; else by how many sections it is in.
    """
    entries = list(_entries(root))
    if len(entries) < FEWEST_ENTRIES or len(entries) <= sum(1 for _ in root.iter(*HEADINGS)):
        return
    numbers = [_number(entry.number) for entry in entries]
    if all(numbers):
        depths = [number.count(".") for number in numbers]
    else:
        sections = [_section(entry) for entry in entries]
        others = set(sections)
        depths = [sum(around in others for around in section.iterancestors()) for section in sections]
    for entry, number, depth in zip(entries, numbers, depths, strict=True):
        entry.heading.tag = f"h{min(FIRST_LEVEL + depth, DEEPEST)}"
        if entry.number is not None:
            entry.heading.text = f"{number} {(entry.heading.text or '').lstrip()}"
            _clear(entry.number)


def _entries(root: Any) -> Iterator[_Entry]:
    """What is linked to within the page and begins as the link says, in the order of the page, each once."""
    said: dict[str, str] = {}
    for link in root.iter("a"):
        href = link.get("href") or ""
        if href.startswith("#") and (text := _text(link)):
            said.setdefault(href[1:], text)
    if len(said) < FEWEST_ENTRIES:
        return
    found: set[Any] = set()
    for place in root.iter():
        name = place.get("id") or (place.get("name") if place.tag == "a" else None)
        if name not in said or not isinstance(place.tag, str):
            continue
        text = said.pop(name)
        entry = _heading_at(place, text) or _heading_at(_around_mark(place), text)
        if entry and entry.heading not in found:
            found.add(entry.heading)
            yield entry


def _heading_at(place: Any, said: str) -> _Entry | None:
    """The element at or behind a place that says just that, where it stands in text and leads nowhere."""
    number = None
    for element in islice(_from(place), NEAR):
        if element.tag not in HEADS or not (text := _text(element)):
            continue
        if NUMBER.fullmatch(text):
            number = element
        elif text == said or (NUMBER.match(text) and NUMBER.sub("", text, count=1).strip() == said):
            leads = any(link.get("href") for link in (*element.iter("a"), *element.iterancestors("a")))
            stands = all(one.tag in AROUND for one in element.iterancestors())
            return _Entry(place, element, number) if stands and not leads and _is_alone(element) else None
        elif not text.startswith(said) and not (number is not None and text.endswith(said)):
            return None
    return None


def _around_mark(place: Any) -> Any:
    """The element that says something and begins with a place that says nothing: `<b><a name="seal"></a>Seal</b>`."""
    while (
        (around := place.getparent()) is not None
        and around.tag in HEADS
        and around[0] is place
        and not (around.text or "").strip()
    ):
        if any(text.strip() for text in place.itertext()):
            break
        place = around
    return place


def _from(place: Any) -> Iterator[Any]:
    """A place, what is in it, and what follows it in the page."""
    yield from (one for one in place.iter() if isinstance(one.tag, str))
    while place is not None:
        for one in place.itersiblings():
            yield from (inner for inner in one.iter() if isinstance(inner.tag, str))
        place = place.getparent()


def _section(entry: _Entry) -> Any:
    """The element that holds a heading and what it heads."""
    outer = entry.heading
    while (around := outer.getparent()) is not None and around.tag != "body" and _says_no_more(around, entry):
        outer = around
    around = outer.getparent()
    return outer if around is None else around


def _says_no_more(element: Any, entry: _Entry) -> bool:
    own = f"{_text(entry.number)} {_text(entry.heading)}" if entry.number is not None else _text(entry.heading)
    return _text(element) == own


def _is_alone(element: Any) -> bool:
    """Whether nothing is said beside an inline element."""
    around = element.getparent()
    if element.tag in {"div", "p", "section", "header"} or around is None:
        return True
    beside = [around.text, *(one.tail for one in around)]
    return not any(text and text.strip() for text in beside)


def _number(element: Any) -> str:
    return _text(element).rstrip(".") if element is not None else ""


def _clear(element: Any) -> None:
    for one in list(element):
        element.remove(one)
    element.text = None


def _text(element: Any) -> str:
    """What an element says, blanks folded; nothing where that is too long for a heading."""
    said = " ".join("".join(islice(element.itertext(), MOST_PIECES)).split())
    return said if len(said) <= LONGEST else ""
