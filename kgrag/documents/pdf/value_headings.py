"""Which columns of a table of values a heading stands over: by the line below it, else by where its middle is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box
from kgrag.documents.pdf.pages import Rule

__all__ = ["STACKED", "Column", "Heading", "HeadingsOfColumns", "joined_stretches", "stacked_headings"]

STACKED = 1.45, 1.9
"""Line heights from line to line within one heading; the larger where the upper line is not much wider, as a group's name is."""
_WIDER = 1.5
_CENTRED = 0.15
"""Share of a line's length by which the heading of several columns may be off its middle."""
_UNDERLINED = 0.8
"""Share of a heading's width that the line below it must cover."""
_RULE_GAP = 1.5
"""Line heights between two parts of one line, at most."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers: the stretch that the numbers cover, and where it begins with its currency signs."""

    start: float
    end: float
    outer: float

    @property
    def center(self) -> float:
        """Its middle, currency signs counted."""
        return (self.outer + self.end) / 2


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a column, or of several: one line, or lines under each other."""

    words: tuple[Word, ...]
    box: Box


class HeadingsOfColumns:
    """The headings of each column of one table, the uppermost first: `words`, one list a column."""

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        labels_from: float,
        size: float,
        rules: Sequence[Rule],
        whole_rules: Sequence[Rule],
    ) -> None:
        """`labels_from` is where labels begin, `size` the height of a line; `whole_rules` are `rules` and those drawn piece by piece."""
        self._columns = columns
        self._labels_from = labels_from
        self._size = size
        self._rules = rules
        self._whole_rules = whole_rules
        self.words: list[list[Word]] = [[] for _ in columns]
        self._assigned: list[tuple[Heading, frozenset[int]]] = []

    def assign(self, headings: Sequence[Heading]) -> None:
        """Give each heading to the columns that it stands over, the lowest first."""
        for heading in sorted(headings, key=lambda heading: -heading.box.y1):
            beside = [
                other
                for other in headings
                if other is not heading and other.box.y0 < heading.box.y1 - 1.0 and heading.box.y0 < other.box.y1 - 1.0
            ]
            span = self._underlined(heading, beside, self._whole_rules) or self._underlined(
                heading, beside, self._rules
            )
            if not span:
                foreign = {
                    index
                    for index, column in enumerate(self._columns)
                    for other in beside
                    if (over := _overlap(other.box, column)) > 0.5 and over >= _overlap(heading.box, column)
                }
                span = self._centred(heading, foreign)
            for index in span:
                self.words[index] = [*heading.words, *self.words[index]]
            self._assigned.append((heading, frozenset(span)))

    def _underlined(self, heading: Heading, beside: Sequence[Heading], rules: Sequence[Rule]) -> list[int]:
        """The columns over which the line below a heading goes, where it is a line of this heading alone.

        Lines are drawn cell by cell, often with gaps, narrower ones within a group of columns: of the ways to join them, the widest that
        leaves the headings beside it alone.
        """
        leftmost = self._labels_from + 0.2 * (self._columns[0].outer - self._labels_from)
        near = [
            (rule.start, rule.end)
            for rule in rules
            if -0.35 * self._size <= rule.at - heading.box.y1 <= 0.9 * self._size
        ]
        gaps = {
            0.0,
            *(b[0] - a[1] for a, b in pairwise(joined_stretches(near)) if b[0] - a[1] <= _RULE_GAP * self._size),
        }
        for gap in sorted(gaps, reverse=True):
            for start, end in joined_stretches((start, end + gap + 0.1) for start, end in near):
                end -= gap + 0.1
                covered = min(end, heading.box.x1) - max(start, heading.box.x0)
                if covered >= _UNDERLINED * heading.box.width and start > leftmost:
                    if any(start <= other.box.center[0] <= end for other in beside):
                        continue
                    span = [i for i, column in enumerate(self._columns) if start - 1 <= column.center <= end + 1]
                    off = abs((start + end) / 2 - heading.box.center[0])
                    if len(span) == 1 or (span and off < _CENTRED * (end - start)):
                        return span
        return []

    def _centred(self, heading: Heading, foreign: set[int]) -> list[int]:
        """The neighbouring columns whose middle is nearest to a heading's, where no heading beside it stands over them.

        Several columns under one heading have each a heading of its own already, or none has; they have all columns of each heading below.
        """
        center = heading.box.center[0]
        own = {
            index
            for index, column in enumerate(self._columns)
            if _overlap(heading.box, column) > 0.4 * (column.end - column.start) and index not in foreign
        }
        best: tuple[float, list[int]] | None = None
        for first in range(len(self._columns)):
            for last in range(first, len(self._columns)):
                span = list(range(first, last + 1))
                if foreign.intersection(span):
                    break
                headed = sum(bool(self.words[index]) for index in span)
                if 0 < headed < len(span) or self._cuts_heading(frozenset(span)):
                    continue
                off = abs(self._middle(span) - center)
                if headed and len(span) > 1:
                    off -= self._size
                off += 4 * self._size * len(own.difference(span))
                if best is None or off < best[0]:
                    best = off, span
        if best is not None:
            return best[1]
        return [min(range(len(self._columns)), key=lambda index: abs(self._columns[index].center - center))]

    def _cuts_heading(self, span: frozenset[int]) -> bool:
        """Whether columns are some of those of a heading below, and others."""
        return any(span & columns and span - columns and columns - span for _, columns in self._assigned)

    def _middle(self, span: Sequence[int]) -> float:
        """The middle of columns: of their headings, where they have some of their own."""
        own = [heading.box for heading, columns in self._assigned if columns.issubset(span)]
        if len(span) > 1 and own:
            return bounding_box(own).center[0]
        return (self._columns[span[0]].outer + self._columns[span[-1]].end) / 2


def joined_stretches(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join the stretches that overlap, from the left."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(stretches):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def stacked_headings(pieces: Sequence[Line], rules: Sequence[Rule]) -> list[Heading]:
    """Put lines under each other together, where each has only the other above or below it and no rule is between them."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for upper, lower in permutations(range(len(pieces)), 2):
        high, low = pieces[upper], pieces[lower]
        pitch = low.pitch_base - high.pitch_base
        side = min(high.box.x1, low.box.x1) - max(high.box.x0, low.box.x0)
        stacked = STACKED[high.box.width < _WIDER * low.box.width] * max(low.size, high.size)
        if 0.5 * low.size < pitch < stacked and side > 0:
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    groups: dict[int, list[int]] = {}
    for number in sorted(range(len(pieces)), key=lambda number: pieces[number].pitch_base):
        over = above.get(number, [])
        alone = len(over) == 1 and below[over[0]] == [number]
        if alone and not _parted(pieces[over[0]], pieces[number], rules):
            groups[number] = groups[over[0]]
            groups[number].append(number)
        else:
            groups[number] = [number]
    found = {id(group): group for group in groups.values()}
    return [
        Heading(
            tuple(word for number in group for word in pieces[number].words),
            bounding_box(pieces[number].box for number in group),
        )
        for group in found.values()
    ]


def _parted(high: Line, low: Line, rules: Sequence[Rule]) -> bool:
    top, bottom = high.pitch_base, low.pitch_base
    start, end = max(high.box.x0, low.box.x0), min(high.box.x1, low.box.x1)
    return any(top < rule.at < bottom and rule.start <= (start + end) / 2 <= rule.end for rule in rules)


def _overlap(box: Box, column: Column) -> float:
    return min(box.x1, column.end) - max(box.x0, column.outer)
