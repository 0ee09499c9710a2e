"""What Word writes before numbered paragraphs, `2.1` or `b)`: by the lists of the file, as it counts them (ECMA-376, 17.9).

Docling counts lists, too, but begins with 1 where a list says another number, or goes on with that of another one, writes `1.2.` where a
list says `2)`, and leaves out the numbers of paragraphs in tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from kgrag.documents.list_numbers import numeral
from kgrag.documents.word_tables import WORD

__all__ = ["LEVELS", "NumberedLevel", "NumberedList", "mark_numbers"]

LEVELS = 9
PLACEHOLDER = re.compile(r"%([1-9])")
MAX_STYLES = 20
"""Styles that one is based on, looked through for numbering."""


@dataclass(frozen=True, slots=True)
class NumberedLevel:
    """How the items on one level of a list are numbered."""

    text: str
    """`%1.%2`, with the numbers of the levels in the place of their signs."""
    kind: str
    start: int
    restarts: bool
    is_legal: bool
    """All of its numbers are in digits."""
    style: str = ""
    """The paragraphs of this style are on this level."""


@dataclass(slots=True)
class NumberedList:
    """A list as it is defined, and how far it has counted."""

    levels: dict[int, NumberedLevel]
    counts: dict[int, int] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    """Where levels begin once the first item of this list comes, whatever lists with the same counts have counted."""

    def next_label(self, at: int) -> str:
        """Count one paragraph on a level, and return what Word writes before it; nothing for bullets and unknown numerals."""
        for one, begins in self.starts.items():
            self.counts[one] = begins - 1
        self.starts.clear()
        level = self.levels.get(at)
        if level is None:
            return ""
        self.counts[at] = self.counts.get(at, level.start - 1) + 1
        for deeper in [one for one in self.counts if one > at]:
            if (known := self.levels.get(deeper)) is None or known.restarts:
                del self.counts[deeper]
        if level.kind in ("bullet", "none"):
            return ""
        numbers = {int(one) - 1 for one in PLACEHOLDER.findall(level.text)}
        written = {one: self._number(one, level) for one in numbers}
        is_known = all(
            said or (one in self.levels and self.levels[one].kind == "none") for one, said in written.items()
        )
        return PLACEHOLDER.sub(lambda sign: written[int(sign[1]) - 1], level.text).strip() if is_known else ""

    def _number(self, at: int, level: NumberedLevel) -> str:
        own = self.levels.get(at)
        if own is None:
            return ""
        return numeral(self.counts.get(at, own.start), "decimal" if level.is_legal else own.kind)


def mark_numbers(body: Any, numbering: Any, styles: Any, *, start: str, end: str, behind: str) -> None:
    """Write before the words of each numbered paragraph what Word does, between `start` and `end`, and behind the mark `behind`.

    `numbering` and `styles` are the roots of the parts with the lists and styles.
    """
    lists = _Lists(numbering, styles)
    for paragraph in body.iter(f"{WORD}p"):
        if not (label := lists.label(paragraph)):
            continue
        own = (text for text in paragraph.iter(f"{WORD}t") if next(text.iterancestors(f"{WORD}p")) is paragraph)
        text = next((one for one in own if (one.text or "").strip()), None)
        if text is not None:
            said = text.text.lstrip()
            mark = behind if said.startswith(behind) else ""
            text.text = f"{mark}{start}{label}{end}{said[len(mark) :]}"


class _Lists:
    def __init__(self, numbering: Any, styles: Any) -> None:
        self._styles = {one.get(f"{WORD}styleId"): one for one in styles.iterfind(f"{WORD}style")}
        self._nums = {one.get(f"{WORD}numId"): one for one in numbering.iterfind(f"{WORD}num")}
        self._definitions = {one.get(f"{WORD}abstractNumId"): one for one in numbering.iterfind(f"{WORD}abstractNum")}
        self._lists: dict[str, NumberedList] = {}
        """By what defines them: lists that share a definition go on with each other's numbers."""
        self._begun: set[str] = set()
        self._own_levels: dict[str, NumberedList] = {}

    def label(self, paragraph: Any) -> str:
        """Count a paragraph, if it is numbered, and return what is written before it."""
        properties = paragraph.find(f"{WORD}pPr")
        if properties is None:
            return ""
        number, level = self._numbering(properties)
        if number in (None, "0") or number not in self._nums:
            return ""
        counted = self._list(number)
        if counted is None:
            return ""
        if level is None:
            style = _value(properties.find(f"{WORD}pStyle"))
            level = next((str(at) for at, one in counted.levels.items() if one.style and one.style == style), "0")
        return counted.next_label(int(level)) if level.isdecimal() and int(level) < LEVELS else ""

    def _numbering(self, properties: Any) -> tuple[str | None, str | None]:
        """Return number and level of the list that a paragraph is in, by itself or by its style and those that it is based on."""
        number, level = _list_of(properties)
        style = self._styles.get(_value(properties.find(f"{WORD}pStyle")))
        for _ in range(MAX_STYLES):
            if style is None or number is not None:
                break
            own = style.find(f"{WORD}pPr")
            if own is not None:
                number, of_style = _list_of(own)
                level = level if level is not None else of_style
            style = self._styles.get(_value(style.find(f"{WORD}basedOn")))
        return number, level

    def _list(self, number: str) -> NumberedList | None:
        num = self._nums[number]
        key = _value(num.find(f"{WORD}abstractNumId"))
        definition = self._definition(key)
        if definition is None:
            return None
        overrides = list(num.iterfind(f"{WORD}lvlOverride"))
        shared = self._lists.setdefault(key, NumberedList(_levels(definition)))
        if number not in self._own_levels:
            levels = dict(shared.levels)
            for one in overrides:
                if (own := one.find(f"{WORD}lvl")) is not None:
                    levels.update([_level(own)])
            # Counts are shared, until a list says where it begins.
            self._own_levels[number] = own_list = NumberedList(levels, shared.counts)
            for one in overrides:
                begins, at = _value(one.find(f"{WORD}startOverride")), one.get(f"{WORD}ilvl", "")
                if begins.isdecimal() and at.isdecimal():
                    own_list.starts[int(at)] = int(begins)
        return self._own_levels[number]

    def _definition(self, key: str) -> Any:
        """Return what defines a list: itself, or the list of the style that it names."""
        definition = self._definitions.get(key)
        if definition is None or (link := definition.find(f"{WORD}numStyleLink")) is None:
            return definition
        style = self._styles.get(_value(link))
        own = style.find(f"{WORD}pPr") if style is not None else None
        number = _list_of(own)[0] if own is not None else None
        num = self._nums.get(number)
        return self._definitions.get(_value(num.find(f"{WORD}abstractNumId"))) if num is not None else None


def _list_of(properties: Any) -> tuple[str | None, str | None]:
    found = properties.find(f"{WORD}numPr")
    if found is None:
        return None, None
    return _value(found.find(f"{WORD}numId")) or None, _value(found.find(f"{WORD}ilvl")) or None


def _levels(definition: Any) -> dict[int, NumberedLevel]:
    return dict(_level(one) for one in definition.iterfind(f"{WORD}lvl") if one.get(f"{WORD}ilvl", "").isdecimal())


def _level(element: Any) -> tuple[int, NumberedLevel]:
    start, restart = _value(element.find(f"{WORD}start")), element.find(f"{WORD}lvlRestart")
    level = NumberedLevel(
        text=_value(element.find(f"{WORD}lvlText")),
        kind=_value(element.find(f"{WORD}numFmt")) or "decimal",
        start=int(start) if start.isdecimal() else 1,
        restarts=_value(restart) != "0",
        is_legal=element.find(f"{WORD}isLgl") is not None,
        style=_value(element.find(f"{WORD}pStyle")),
    )
    at = element.get(f"{WORD}ilvl", "")
    return int(at) if at.isdecimal() else 0, level


def _value(element: Any) -> str:
    return element.get(f"{WORD}val", "") if element is not None else ""
