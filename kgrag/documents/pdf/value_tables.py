"""Tables of values, as reports have them: numbers under each other at the right of their labels, with or without lines.

The columns are the stretches that the numbers cover; `$`, `%` and brackets belong to their number. What stands above the first number
is the header: periods over one column, group names over several, and the unit, which goes into the corner.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, lines_of, pieces_of
from kgrag.documents.pdf.pages import Page, Rule
from kgrag.documents.pdf.value_headings import Column, HeadingsOfColumns, joined_stretches, stacked_headings
from kgrag.documents.pdf.value_rows import (
    LABEL_GAP,
    NUMBER,
    SPAN,
    Row,
    Value,
    is_number,
    row_of,
    wide_pieces,
    with_notes,
)
from kgrag.documents.pdf.value_units import MAX_HEADER_WORDS, UNIT, broken_unit, is_unit, unit_words

__all__ = ["ValueTables", "find_value_tables"]

_HEADER_GAP = 0.6
"""Line heights between the headings of two columns."""
_FAR = 4.5
"""Line heights from line to line within a table: two empty rows."""
_HEADER_FAR = 4.5
"""Line heights from line to line within a header, and from there to the first row."""
_UNIT_FAR = 5.5
"""Line heights from a sentence that names the unit to the table."""
_TIGHT = 0.92
"""Times the usual distance of rows: two lines of one label are closer."""
_NEARER = 0.85
"""Times the distance to the next row: the second line of a label whose numbers stand beside the first is closer to that."""
_STRETCHED = 1.5
"""Times the usual space between the words of a line: in a justified one none is wider."""
_THIN_PIECE = 2.0
"""Points: height of a piece of a line that is drawn cell by cell, at most."""
_MAX_HEADER_LINES = 9
_MAX_LABEL_LINES = 4
_MIN_LABELLED = 0.6
"""Share of the rows that must have a label: the numbers at an axis have none."""
_MIN_TEXT_ROWS = 0.5
"""Share of the rows in which a second column of texts must be filled."""
_CROSSING = 0.1
"""Share of the rows whose text may cross the strip between two columns of texts: headings of groups."""

_YEARS = re.compile(r"^(?:19|20)\d\d(?:\s?[-–—/]\s?(?:(?:19|20)?\d\d))?$")
"""What a row of payments by year has as its label: `2027`, `2028 - 2032`."""
_LETTER = re.compile(r"[^\W\d_]")
_ANNOUNCES = re.compile(r"\b(?:is|are|was|were|follow(?:s|ing)?|below)\b.*:$", re.IGNORECASE)
"""The sentence above the next table."""
_ASIDE = re.compile(r"^\((?:un)?audited\)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ValueTables:
    """The tables of a page, and the words that they took: cells hold words put together, `$` and `1,343` are one."""

    tables: tuple[TableBlock, ...]
    words: frozenset[Word]


def find_value_tables(page: Page, words: Sequence[Word]) -> ValueTables:
    """Find the tables of values among `words`; each has at least two rows with numbers, and a header or three of them.

    One row is a table where each of its numbers has a heading, and a line in between.
    """
    lines = with_notes(lines_of(word for word in words if word.level))
    rows = [row_of(line) for line in lines]
    rules = [rule for rule in page.rules if rule.horizontal]
    tables: list[TableBlock] = []
    taken: set[Word] = set()
    start = floor = 0
    while start < len(rows):
        run = _run(rows, start) if rows[start].values and not rows[start].is_header else []
        found = _Table(page, rules, rows, run, floor).block() if run else None
        if found is None:
            start += 1
            continue
        table, used = found
        tables.append(table)
        taken.update(used)
        start = floor = run[-1] + 1
    return ValueTables(tuple(tables), frozenset(taken))


def _pieces_of_rules(page: Page) -> list[Rule]:
    """What narrow cells have of a line that is drawn cell by cell: too short for a rule, it is read as a mark."""
    heights = sorted(rule.at for rule in page.rules if rule.horizontal)
    pieces = []
    for mark in page.marks:
        if mark.height <= _THIN_PIECE:
            at = bisect_left(heights, mark.center[1] - 1.0)
            if at < len(heights) and heights[at] <= mark.center[1] + 1.0:
                pieces.append(Rule(True, mark.center[1], mark.x0, mark.x1))
    return pieces


def _run(rows: list[Row], start: int) -> list[int]:
    """Indexes of rows from `start` on whose numbers stand in columns; between them, lines with a label only."""
    run: list[int] = []
    columns: list[tuple[float, float]] = []
    left = float("inf")
    labels_to = 0.0
    for index in range(start, len(rows)):
        row = rows[index]
        if run and row.line.pitch_base - rows[run[-1]].line.pitch_base > _FAR * max(row.size, rows[start].size):
            break
        if run and row.values and not row.label and row.values[-1].number[1] < labels_to:
            row = rows[index] = Row(row.line, row.line.words, ())  # a reference to a note, raised above its label
        if row.values:
            if row.is_header and run:
                break
            united = joined_stretches([*columns, *(value.number for value in row.values)])
            if len(united) < max(len(columns), len(row.values)) or (
                row.label and columns and row.label_end > united[0][1]
            ):
                break
            if columns and len(united) > len(columns) and not row.label:
                break  # a page number, or what stands below the table
            columns = united
            left = min(left, row.values[0].box.x0)
            labels_to = max(labels_to, row.label_end if row.label else 0.0)
        elif (run and _announces_table(rows, index, len(columns))) or (
            row.line.box.x1 > left + 1.0 and not _heads_group(rows, index, run, columns)
        ):
            break
        run.append(index)
    while run and not rows[run[-1]].values:
        run.pop()
    return run


def _announces_table(rows: Sequence[Row], index: int, width: int) -> bool:
    """Whether a line is the sentence above another table: what comes next has other columns."""
    below = next((row for row in rows[index + 1 : index + 4] if row.values), None)
    return bool(_ANNOUNCES.search(rows[index].line.text)) and below is not None and len(below.values) != width


def _heads_group(rows: Sequence[Row], index: int, run: Sequence[int], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether a long line between two rows is the heading of a group of them: alone, at the labels' edge, with a row right below."""
    if index + 1 >= len(rows) or not columns:
        return False
    row, below = rows[index], rows[index + 1]
    for following in rows[index + 1 : index + 1 + _MAX_LABEL_LINES]:  # A label may begin on lines above its numbers.
        if following.values:
            below = following
        if following.values or following.line.box.x1 > columns[0][0]:
            break
    edge = min(rows[at].line.box.x0 for at in run)
    centred = abs(row.line.box.center[0] - (edge + columns[-1][1]) / 2) < 1.5 * row.size
    united = joined_stretches([*columns, *(value.number for value in below.values)])
    return (
        (bool(below.values) or centred)
        and (bool(below.label) or not below.values)
        and not below.is_header
        and len(united) == len(columns)
        and len(row.line.words) <= MAX_HEADER_WORDS
        and (centred or abs(row.line.box.x0 - edge) < 2 * row.size)
        and len(pieces_of(row.line, LABEL_GAP)) == 1
    )


class _Table:
    """One run of rows on its way to a table."""

    def __init__(self, page: Page, rules: Sequence[Rule], rows: list[Row], run: Sequence[int], floor: int) -> None:
        self.page = page
        self.rules = rules
        self.rows = rows
        self.floor = floor
        self.body = list(run)
        self.data = [rows[index] for index in run if rows[index].values]
        self.columns = self._columns()
        self.labels_from = min(rows[index].line.box.x0 for index in run)
        self.size = median(row.size for row in self.data)
        self.headings = HeadingsOfColumns(
            self.columns,
            labels_from=self.labels_from,
            size=self.size,
            rules=rules,
            whole_rules=[*rules, *_pieces_of_rules(page)],
        )
        self.corner: list[Word] = []
        self.used: set[Word] = set()
        """Words of the header; a unit that is copied out of a sentence stays there."""

    def _columns(self) -> list[Column]:
        values = [value for row in self.data for value in row.values]
        columns = []
        for start, end in joined_stretches(value.number for value in values):
            inside = [value for value in values if start <= value.number[0] <= end]
            if (
                len(inside) > 1
                or len(self.data) == 1
                or any(NUMBER.match(word.text) for value in inside for word in value.words)
            ):
                columns.append(Column(start, end, min(value.box.x0 for value in inside)))
        return columns

    def block(self) -> tuple[TableBlock, set[Word]] | None:
        """Return the table and its words, or None where these lines are none."""
        labelled = sum(
            any(_LETTER.search(word.text) for word in row.label)
            or bool(_YEARS.match(" ".join(word.text for word in row.label)))
            or (not row.label and at > 0 and not self.rows[self.body[at - 1]].values)
            for at, row in ((at, self.rows[index]) for at, index in enumerate(self.body))
            if row.values
        )
        if labelled < _MIN_LABELLED * len(self.data) or (len(self.data) < 2 and len(self.columns) < 2):
            return None
        self._read_header()
        has_header = any(self.headings.words)
        if len(self.data) < 2 and not self._is_one_row_under_lines():
            return None
        if len(self.data) < 3 and not has_header:
            return None
        written = [word.text for row in self.data for value in row.values for word in value.words]
        if len(self.columns) == 1 and not has_header and not any(re.search(r"\D", text) for text in written):
            return None
        return self._block()

    def _is_one_row_under_lines(self) -> bool:
        """Whether a row that is alone has a heading over each of its numbers, and a line right above each that leaves its label out."""
        line, label_end = self.data[0].line, self.data[0].label_end
        near = [rule for rule in self.rules if line.box.y0 - self.size < rule.at < line.box.center[1]]
        lines_above = [rule for rule in near if rule.start > label_end]
        return (
            all(map(_names_column, self.headings.words))
            and not any(map(is_number, self.corner))
            and all(any(rule.start <= c.center <= rule.end for rule in lines_above) for c in self.columns)
        )

    def _read_header(self) -> None:
        """Walk up from the first row."""
        left = self.columns[0].outer
        middle = self.labels_from + 0.3 * (left - self.labels_from)
        below = top = self.rows[self.body[0]].line
        waiting: list[int] = []
        pieces_above: list[Line] = []
        lines = 0
        for index in range(self.body[0] - 1, self.floor - 1, -1):
            row = self.rows[index]
            line = row.line
            if below.pitch_base - line.pitch_base > _HEADER_FAR * max(row.size, self.size) or lines > _MAX_HEADER_LINES:
                break
            if (row.values and not row.is_header) or line.box.x1 < self.labels_from:
                break
            pieces = pieces_of(line, _HEADER_GAP)
            right = [piece for piece in pieces if piece.box.x1 > left + 1.0 or self._is_near(piece, left)]
            others = [piece for piece in pieces if piece not in right]
            if any(len(piece.words) > MAX_HEADER_WORDS for piece in pieces) or any(p.box.x0 < middle for p in right):
                break
            if _is_stretched(line):
                break
            if not right:
                if is_unit(line):
                    self._to_corner(line.words)
                    top = line
                elif lines and self._is_title(pieces):
                    break
                else:
                    waiting.append(index)
                below = line
                continue
            if self._is_title(pieces):
                break
            self._take_waiting(waiting, lines)
            waiting = []
            if len(right) == 1 and len(self.columns) > 1 and is_unit(right[0]):
                self._to_corner(right[0].words)
            else:
                pieces_above.extend(right)
                self.used.update(word for piece in right for word in piece.words)
            self._to_corner([word for piece in others for word in piece.words])
            below = top = line
            lines += 1
        self.headings.assign(stacked_headings(pieces_above, self.rules))
        self._find_unit(top)

    def _is_near(self, piece: Line, left: float) -> bool:
        """Whether a heading ends just before the first numbers, where no label reaches."""
        reach = max(row.label_end for row in self.data if row.label) if any(row.label for row in self.data) else 0.0
        return piece.box.x0 > reach and left - piece.box.x1 < 3 * self.size

    def _take_waiting(self, waiting: Sequence[int], lines: int) -> None:
        """Lines with a label only: above the lowest line of headings they are the corner's, below it rows of the table."""
        if lines == 0:
            for index in waiting:  # A year that heads the rows of a group is no number of a column.
                self.rows[index] = Row(self.rows[index].line, self.rows[index].line.words, ())
            self.body = [*sorted(waiting), *self.body]
        else:
            self._to_corner([word for index in sorted(waiting) for word in self.rows[index].line.words])

    def _to_corner(self, words: Sequence[Word]) -> None:
        self.corner = [*words, *self.corner]
        self.used.update(words)

    def _is_title(self, pieces: Sequence[Line]) -> bool:
        """Whether a line is centred on the table or on the page, and not on the columns of numbers."""
        if len(pieces) > 1 or len(self.columns) == 1:
            return False
        center = pieces[0].box.center[0]
        whole = (self.labels_from + self.columns[-1].end) / 2
        numbers = (self.columns[0].outer + self.columns[-1].end) / 2
        near = min(abs(center - whole), abs(center - self.page.width / 2))
        return near < 1.5 * self.size and near < abs(center - numbers)

    def _find_unit(self, below: Line) -> None:
        """Where the header names no unit: the line of it between title and table, or the bracket in the sentence above."""
        if UNIT.search(" ".join(word.text for word in self.corner)):
            return
        first = next(index for index, row in enumerate(self.rows) if row.line is below)
        for index in range(first - 1, max(self.floor, first - 3) - 1, -1):
            row, following = self.rows[index], self.rows[index + 1].line
            if row.values and not row.is_header:
                return
            if below.pitch_base - row.line.pitch_base > _UNIT_FAR * max(row.size, self.size):
                return
            if found := unit_words(row.line) or broken_unit(row.line, following):
                if len(found) == len(row.line.words):
                    self.used.update(row.line.words)
                self.corner = [*found, *self.corner]
                return
            if not _ASIDE.match(row.line.text):
                below = row.line

    def _block(self) -> tuple[TableBlock, set[Word]]:
        texts = self._text_columns()
        width = len(texts) + len(self.columns)
        cells: list[Cell] = []
        top = min((word.box.y0 for word in self.used), default=self.rows[self.body[0]].line.box.y0)
        first = self.rows[self.body[0]].line.box.y0
        rows = self._body_rows()
        header = bool(self.corner) or any(self.headings.words)
        if header:
            corners: list[list[Word]] = [[] for _ in texts]
            for word in self.corner:
                corners[_nearest(texts, word.box.center[0]) if word in self.used else 0].append(word)
            for column, words in enumerate([*corners, *self.headings.words]):
                start, end = self._extent(texts, column)
                cells.append(
                    Cell(0, column, 1, 1, Box(start, min(top, first - 1.0), end, first), tuple(words), header=True)
                )
        for number, (labels, values) in enumerate(rows, start=int(header)):
            found: list[list[Word]] = [[] for _ in range(width)]
            for line in lines_of(labels):
                for piece in wide_pieces(line.words, self.size):
                    found[_nearest(texts, piece[0].box.center[0])].extend(piece)
            for value in values:
                middle = sum(value.number) / 2
                nearest = _nearest([(column.start, column.end) for column in self.columns], middle)
                found[len(texts) + nearest].append(value.as_word())
            box = bounding_box([*(word.box for word in labels), *(value.box for value in values)])
            for column, words in enumerate(found):
                start, end = self._extent(texts, column)
                cells.append(Cell(number, column, 1, 1, Box(start, box.y0, end, box.y1), tuple(words)))
        lines = [self.rows[index].line for index in self.body]
        used = self.used | {word for line in lines for word in line.words}
        box = bounding_box(word.box for word in used)
        return TableBlock(self.page.number, box, len(rows) + header, width, tuple(cells)), used

    def _extent(self, texts: Sequence[tuple[float, float]], column: int) -> tuple[float, float]:
        if column < len(texts):
            return texts[column]
        return self.columns[column - len(texts)].outer, self.columns[column - len(texts)].end

    def _text_columns(self) -> list[tuple[float, float]]:
        """The columns left of the numbers: one with the labels, or several where the rows leave a strip free."""
        labels = [row.label for row in self.data if row.label]
        pieces = [[(p[0].box.x0, p[-1].box.x1) for p in wide_pieces(label, self.size)] for label in labels]
        one = (self.labels_from, max((row.label_end for row in self.data), default=self.labels_from + 1.0))
        several = [row for row in pieces if len(row) > 1]
        if len(several) < max(3, _MIN_TEXT_ROWS * len(pieces)):
            return [one]
        columns: list[tuple[float, float]] = []
        for row in several:
            columns = joined_stretches([*columns, *row])
        crossing = sum(len(joined_stretches([*columns, *row])) < len(columns) for row in pieces)
        return columns if len(columns) > 1 and crossing <= _CROSSING * len(pieces) else [one]

    def _body_rows(self) -> list[tuple[tuple[Word, ...], tuple[Value, ...]]]:
        """Put the lines of a label together: closer than rows are, or going on with a small letter."""
        after_values = [
            (b.middle - a.middle, bool(b.values))
            for a, b in pairwise(self.rows[index] for index in self.body)
            if a.values and not b.line.text[0].islower()
        ]
        between_rows = [pitch for pitch, has_values in after_values if has_values]
        usual = min(median(between_rows), median(pitch for pitch, _ in after_values)) if between_rows else 0.0
        merged: list[tuple[tuple[Word, ...], tuple[Value, ...]]] = []
        before: Row | None = None
        rows = [self.rows[index] for index in self.body]
        for at, row in enumerate(rows):
            label = row.label if row.values else row.line.words
            if before is not None and not before.values and row.values and not row.label:
                merged[-1] = (merged[-1][0], row.values)
                before = row
                continue
            if before is not None and label and not (merged[-1][1] and row.values):
                small = label[0].text[0].islower()
                tight = row.middle - before.middle < _TIGHT * usual
                begins = tight and not before.values and row.values and not before.line.text.endswith(":")
                if small or begins or (at + 1 < len(rows) and self._goes_on(before, row, rows[at + 1])):
                    merged[-1] = ((*merged[-1][0], *label), merged[-1][1] or row.values)
                    before = row
                    continue
            merged.append((label, row.values))
            before = row
        return merged

    def _goes_on(self, row: Row, below: Row, following: Row) -> bool:
        """Whether a line goes on with the label above it, whose numbers are beside its first line: nearer to it than to the next row.

        The label ends where the labels of the table do: its next word did not fit.
        """
        if not row.values or below.values or not following.values or not row.label:
            return False
        near = below.middle - row.middle < _NEARER * (following.middle - below.middle)
        end = max(other.label_end for other in self.data if other.label)
        return near and row.label_end + below.line.words[0].box.width > end and not row.label[-1].text.endswith(":")


def _is_stretched(line: Line) -> bool:
    """Whether a line is one of a justified text: many words, as far from each other."""
    gaps = [right.box.x0 - left.box.x1 for left, right in pairwise(line.words)]
    return len(gaps) >= MAX_HEADER_WORDS and max(gaps) < _STRETCHED * median(gaps)


def _names_column(words: Sequence[Word]) -> bool:
    """Whether words can be the heading of a column: they have no number but years and spans, `After 5 years`."""
    spans = {number for number, unit in pairwise(words) if SPAN.match(unit.text)}
    return bool(words) and not any(is_number(word) and word not in spans for word in words)


def _nearest(stretches: Sequence[tuple[float, float]], x: float) -> int:
    return min(range(len(stretches)), key=lambda index: max(stretches[index][0] - x, x - stretches[index][1], 0.0))
