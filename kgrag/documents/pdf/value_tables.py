"""Tables of values, as reports have them: numbers under each other at the right of their labels, with or without lines.

The columns are the stretches that the numbers cover; `$`, `%` and brackets belong to their number. What stands above the first number
is the header: periods over one column, group names over several, and the unit, which goes into the corner.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, line_of, lines_of, pieces_of
from kgrag.documents.pdf.pages import Page, Rule
from kgrag.documents.pdf.value_headings import STACKED, Column, HeadingsOfColumns, joined_stretches, stacked_headings

__all__ = ["ValueTables", "better_tables", "find_value_tables", "unit_words"]

_PIECE_GAP = 0.45
"""Line heights between two numbers."""
_LABEL_GAP = 0.9
"""Line heights between a label and the first number of its row."""
_HEADER_GAP = 0.6
"""Line heights between the headings of two columns."""
_SIGN_REACH = 2.5
"""Line heights between a number and the `%` or bracket after it."""
_RAISED = 0.85
"""Share of the height of a line's words below which `(1)` is a reference to a note."""
_FAR = 4.5
"""Line heights from line to line within a table: two empty rows."""
_HEADER_FAR = 4.5
"""Line heights from line to line within a header, and from there to the first row."""
_UNIT_FAR = 5.5
"""Line heights from a sentence that names the unit to the table."""
_TIGHT = 0.92
"""Times the usual distance of rows: two lines of one label are closer."""
_THIN_PIECE = 2.0
"""Points: height of a piece of a line that is drawn cell by cell, at most."""
_MAX_HEADER_WORDS = 14
_MAX_HEADER_LINES = 9
_MAX_LABEL_LINES = 4
_MIN_LABELLED = 0.6
"""Share of the rows that must have a label: the numbers at an axis have none."""
_MIN_TEXT_ROWS = 0.5
"""Share of the rows in which a second column of texts must be filled."""
_CROSSING = 0.1
"""Share of the rows whose text may cross the strip between two columns of texts: headings of groups."""

_CURRENCY = re.compile(r"^(?:US|A|C|HK)?[$€£¥]$")
_SIGN = re.compile(r"^(?:\)?%\)?|\)|pts?|bps)$")
_NUMBER = re.compile(
    r"^[-–—−+±~<>≤≥]?\(?(?:US)?[$€£¥]?\(?[-–—−+]?(?:\d+(?:[.,]\d+)*|\.\d+)\)?[%x×]?\)?(?:pts?|bps)?[*†#]?$|^\d{1,2}/\d{1,2}/\d{2,4}$"
)
_NO_NUMBER = re.compile(r"^(?:[-–—−]+[%)]?|\*+|#|[Nn][./]?[AaMm]\.?|NMF?|\((?:[a-z]{1,2}|[ivx]{1,4})\)|[⁰¹²³⁴⁵⁶⁷⁸⁹]+)$")
"""What stands in the place of a number: a dash, `N/A`, a reference to a note."""
_DASH = re.compile(r"^[-–—−]+$")
_NOTE = re.compile(r"^\([\da-z]{1,2}\)$|^[⁰¹²³⁴⁵⁶⁷⁸⁹]+$")
_LETTERED = re.compile(r"^(?:\((?:[a-z]{1,2}|[ivx]{1,4})\)|\*+|[†#])$")
_YEAR = re.compile(r"^(?:19|20)\d\d(?:[EAF]|\*)?$")
_YEARS = re.compile(r"^(?:19|20)\d\d(?:\s?[-–—/]\s?(?:(?:19|20)?\d\d))?$")
"""What a row of payments by year has as its label: `2027`, `2028 - 2032`."""
_LETTER = re.compile(r"[^\W\d_]")
_SCALE = r"(?:thousand|million|billion|percent|cent|mio|mrd|tausend|teur)"
_UNIT = re.compile(
    rf"\bin\s+(?:(?:US|U\.S\.|actual)\s+)?(?:(?:dollars|euros?|[$€£¥])\s+)?(?:in\s+)?{_SCALE}s?\b|[$€£¥]\s?{_SCALE}s?\b"
    rf"|^\(?(?:thousand|million|billion)s?\b|[$€£]\s?(?:mm|m|bn)\b|\bexcept\s+(?:per|share|percent|ratio)|\b(?:usd|eur|gbp)\s+{_SCALE}s?\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"^(?:years?|yrs?\.?|months?|days?)$", re.IGNORECASE)
"""What a number may have behind it in a column of terms: `7 years`."""
_ANNOUNCES = re.compile(r"\b(?:is|are|was|were|follow(?:s|ing)?|below)\b.*:$", re.IGNORECASE)
"""The sentence above the next table."""
_ASIDE = re.compile(r"^\((?:un)?audited\)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ValueTables:
    """The tables of a page, and the words that they took: cells hold words put together, `$` and `1,343` are one."""

    tables: tuple[TableBlock, ...]
    words: frozenset[Word]


@dataclass(frozen=True, slots=True)
class _Value:
    """A number with its signs."""

    words: tuple[Word, ...]
    number: tuple[float, float]
    """From x to x, without a currency sign, which stands far to its left."""

    @property
    def box(self) -> Box:
        return bounding_box(word.box for word in self.words)

    @property
    def is_year(self) -> bool:
        texts = [word.text for word in self.words]
        return any(map(_YEAR.match, texts)) and all(_YEAR.match(text) or _NO_NUMBER.match(text) for text in texts)

    def as_word(self) -> Word:
        """One word: `$1,343`, `(5.2)%`; words of a range stay parted by a blank."""
        text = self.words[0].text
        for left, right in pairwise(self.words):
            glued = _CURRENCY.match(left.text) or _SIGN.match(right.text) or left.text.endswith("(")
            text += right.text if glued else f" {right.text}"
        return replace(self.words[0], text=text, box=self.box, link=None)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the page: a label and numbers; without numbers it is any text."""

    line: Line
    label: tuple[Word, ...]
    values: tuple[_Value, ...]

    @property
    def size(self) -> float:
        """Height of its words: dashes have none, and some fonts give each glyph its own."""
        return max(self.line.size, median(sorted(word.box.height for word in self.line.words)), 1.0)

    @property
    def is_header(self) -> bool:
        """Whether its numbers are years: several, or one beside other headings."""
        if not all(value.is_year for value in self.values):
            return False
        if len(self.values) > 1 or not self.label or len(_wide_pieces(self.label, self.size)) > 1:
            return True
        return bool(_UNIT.search(" ".join(word.text for word in self.label)))

    @property
    def label_end(self) -> float:
        return max((word.box.x1 for word in self.label), default=self.line.box.x0)


def find_value_tables(page: Page, words: Sequence[Word]) -> ValueTables:
    """Find the tables of values among `words`; each has at least two rows with numbers, and a header or three of them.

    One row is a table where each of its numbers has a heading, and a line in between.
    """
    lines = _with_notes(lines_of(word for word in words if word.level))
    rows = [_row(line) for line in lines]
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


def _with_notes(lines: Sequence[Line]) -> list[Line]:
    """Put raised references to notes that stand on a label's line behind their number, which is on the line below."""
    result = list(lines)
    for index, (line, below) in enumerate(pairwise(lines)):
        line = result[index]
        words = list(line.words)
        tall = max(word.box.height for word in words)
        notes: list[Word] = []
        while len(words) > 1 and _NOTE.match(words[-1].text) and words[-1].box.height < _RAISED * tall:
            if words[-1].box.x0 - words[-2].box.x1 < _LABEL_GAP * line.size and not notes:
                break
            notes.append(words.pop())
        values = _row(below).values
        near = below.pitch_base - line.pitch_base < STACKED[0] * line.size
        behind = all(
            any(0 < note.box.x0 - value.box.x1 < _SIGN_REACH * below.size for value in values) for note in notes
        )
        if notes and near and behind and not _row(line_of(words)).values:
            result[index] = line_of(words)
            result[index + 1] = line_of([*below.words, *notes])
    return result


def better_tables(found: ValueTables, grids: Sequence[TableBlock]) -> tuple[list[TableBlock], set[Word]]:
    """Return the tables of values, and their words, that no drawn grid says better.

    A grid is better where it has the whole table, of several each, and a number to a cell; a grid of shaded cells has `$` in columns of
    its own, or two numbers in one cell, and not the header, which is not shaded; one whose cells have gaps between them has the numbers
    of one column in two.
    """
    better = [
        grid
        for grid in grids
        if all(
            _holds(grid, table) and not _parts_columns(grid, table)
            for table in found.tables
            if grid.box.touches(table.box)
        )
        and _one_value_a_cell(grid)
    ]
    tables = [table for table in found.tables if not any(grid.box.touches(table.box) for grid in better)]
    boxes = [table.box for table in tables]
    return tables, {word for word in found.words if any(box.holds(word.box.center, 1.0) for box in boxes)}


def _holds(grid: TableBlock, table: TableBlock) -> bool:
    """Whether a grid has a table's words, and as many of the headings of its columns."""
    headings = [word for cell in table.cells if cell.header and cell.column for word in cell.words]
    words = [word for cell in table.cells for word in cell.words]
    return all(
        sum(grid.box.holds(word.box.center, 2.0) for word in part) >= 0.9 * len(part) for part in (words, headings)
    )


def _parts_columns(grid: TableBlock, table: TableBlock) -> bool:
    """Whether a grid has the numbers of one of the table's columns in several, or columns in which it has nothing, not even a heading.

    So it is where cells have gaps between them.
    """
    filled = [cell for cell in grid.cells if cell.words]
    for column in range(1, table.column_count):
        cells = [cell for cell in table.cells if cell.column == column and not cell.header]
        places = {(inside.column, inside.column_span) for inside in _cells_of(cells, filled)}
        if len(places) > 1:
            return True
    named = {cell.column for cell in filled if cell.column_span == 1}
    return grid.column_count - len(named) > 1


def _cells_of(cells: Sequence[Cell], among: Sequence[Cell]) -> list[Cell]:
    """Return those of the other cells in which the words of some lie."""
    middles = [word.box.center for cell in cells for word in cell.words]
    return [cell for cell in among if any(cell.box.holds(middle) for middle in middles)]


def _one_value_a_cell(grid: TableBlock) -> bool:
    signs = full = 0
    for cell in grid.cells:
        texts = [word.text for word in cell.words]
        if texts and all(_CURRENCY.match(text) or _SIGN.match(text) for text in texts):
            signs += 1
        row = [_row(line) for line in lines_of(cell.words)]
        full += any(len(part.values) > 1 for part in row)
    return signs + full <= 0.02 * len(grid.cells)


def unit_words(line: Line) -> tuple[Word, ...]:
    """Return the words of a line that name a unit, `(in thousands)`: those of the bracket, or all of a short line."""
    if not _UNIT.search(line.text):
        return ()
    words = line.words
    opened = [index for index, word in enumerate(words) if word.text.startswith("(")]
    for start in opened:
        end = next((index for index in range(start, len(words)) if ")" in words[index].text), None)
        if end is not None and _UNIT.search(" ".join(word.text for word in words[start : end + 1])):
            last = words[end]
            return (*words[start:end], replace(last, text=last.text[: last.text.index(")") + 1]))
    return words if len(words) <= _MAX_HEADER_WORDS and words[-1].text[-1] not in ".:;" and not opened else ()


def _row(line: Line) -> _Row:
    """Read a line from its right end as long as there are numbers."""
    pieces = _pieces(line)
    tall = max(word.box.height for word in line.words)
    values: list[_Value] = []
    index = len(pieces)
    signs: list[Word] = []
    while index > 0:
        piece = pieces[index - 1]
        if all(_SIGN.match(word.text) for word in piece) or _is_note_of_number(pieces, index - 1, line.size):
            signs = [*piece, *signs]
        elif len(piece) == 1 and _CURRENCY.match(piece[0].text):
            if not values or signs or _CURRENCY.match(values[-1].words[0].text):
                break
            values[-1] = _Value((piece[0], *values[-1].words), values[-1].number)
        elif all(_NOTE.match(word.text) and word.box.height < _RAISED * tall for word in piece):
            signs = [*piece, *signs]
        elif all(_is_value(word.text) for word in piece):
            if signs and signs[0].box.x0 - piece[-1].box.x1 > _SIGN_REACH * line.size:
                break
            numbers = [word for word in (*piece, *signs) if not _CURRENCY.match(word.text)]
            if not numbers:
                break
            values.append(_Value((*piece, *signs), (numbers[0].box.x0, numbers[-1].box.x1)))
            signs = []
        else:
            break
        index -= 1
    if signs and values and all(_NOTE.match(word.text) for word in signs):
        index, signs = index + 1, []
    label = tuple(word for piece in pieces[:index] for word in piece)
    values.reverse()
    if signs or not values or not any(_NUMBER.match(word.text) for value in values for word in value.words):
        return _Row(line, line.words, ()) if not _only_dashes(values, signs) else _Row(line, label, tuple(values))
    if not label and len(values) > 1 and values[0].is_year and not all(value.is_year for value in values):
        label, values = values[0].words, values[1:]  # a year that heads its row
    spans = any(_SPAN.match(word.text) for value in values for word in value.words)
    if spans and (len(_wide_pieces(label, line.size)) != 1 or _UNIT.search(" ".join(word.text for word in label))):
        return _Row(line, line.words, ())  # headings: `1 year`, `5 years`
    close = bool(label) and values[0].box.x0 - label[-1].box.x1 < _LABEL_GAP * line.size
    if close and (len(values) < 2 or not _CURRENCY.match(values[0].words[0].text)):
        return _Row(line, line.words, ())
    return _Row(line, label, tuple(values))


def _is_note_of_number(pieces: Sequence[Sequence[Word]], at: int, size: float) -> bool:
    """Whether a piece is a reference `(a)` right after a number, and not in its place."""
    if at == 0 or not all(_LETTERED.match(word.text) for word in pieces[at]):
        return False
    before = pieces[at - 1][-1]
    return bool(_NUMBER.match(before.text)) and pieces[at][0].box.x0 - before.box.x1 < _SIGN_REACH * size


def _only_dashes(values: Sequence[_Value], signs: Sequence[Word]) -> bool:
    return len(values) > 1 and not signs


def _is_value(text: str) -> bool:
    return any(form.match(text) for form in (_NUMBER, _NO_NUMBER, _SIGN, _CURRENCY, _SPAN))


def _pieces(line: Line) -> list[list[Word]]:
    """Words close to each other; a currency sign begins a piece."""
    pieces: list[list[Word]] = [[line.words[0]]]
    for left, right in pairwise(line.words):
        wide = right.box.x0 - left.box.x1 > _PIECE_GAP * line.size
        if wide or _CURRENCY.match(right.text) or (_NUMBER.match(left.text) and _NUMBER.match(right.text)):
            pieces.append([right])
        else:
            pieces[-1].append(right)
    return pieces


def _run(rows: list[_Row], start: int) -> list[int]:
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
            row = rows[index] = _Row(row.line, row.line.words, ())  # a reference to a note, raised above its label
        if row.values:
            if row.is_header and run:
                break
            united = joined_stretches([*columns, *(value.number for value in row.values)])
            if len(united) < max(len(columns), len(row.values)) or (columns and row.label_end > united[0][1]):
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


def _announces_table(rows: Sequence[_Row], index: int, width: int) -> bool:
    """Whether a line is the sentence above another table: what comes next has other columns."""
    below = next((row for row in rows[index + 1 : index + 4] if row.values), None)
    return bool(_ANNOUNCES.search(rows[index].line.text)) and below is not None and len(below.values) != width


def _heads_group(rows: Sequence[_Row], index: int, run: Sequence[int], columns: Sequence[tuple[float, float]]) -> bool:
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
        and len(row.line.words) <= _MAX_HEADER_WORDS
        and (centred or abs(row.line.box.x0 - edge) < 2 * row.size)
        and len(pieces_of(row.line, _LABEL_GAP)) == 1
    )


class _Table:
    """One run of rows on its way to a table."""

    def __init__(self, page: Page, rules: Sequence[Rule], rows: list[_Row], run: Sequence[int], floor: int) -> None:
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
                or any(_NUMBER.match(word.text) for value in inside for word in value.words)
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
            and not any(map(_is_number, self.corner))
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
            if any(len(piece.words) > _MAX_HEADER_WORDS for piece in pieces) or any(p.box.x0 < middle for p in right):
                break
            if not right:
                if _whole_unit(line):
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
            if len(right) == 1 and len(self.columns) > 1 and _whole_unit(right[0]):
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
                self.rows[index] = _Row(self.rows[index].line, self.rows[index].line.words, ())
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
        if _UNIT.search(" ".join(word.text for word in self.corner)):
            return
        first = next(index for index, row in enumerate(self.rows) if row.line is below)
        for row in reversed(self.rows[max(self.floor, first - 3) : first]):
            if row.values and not row.is_header:
                return
            if below.pitch_base - row.line.pitch_base > _UNIT_FAR * max(row.size, self.size):
                return
            if found := unit_words(row.line):
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
                for piece in _wide_pieces(line.words, self.size):
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
        pieces = [[(p[0].box.x0, p[-1].box.x1) for p in _wide_pieces(label, self.size)] for label in labels]
        one = (self.labels_from, max((row.label_end for row in self.data), default=self.labels_from + 1.0))
        several = [row for row in pieces if len(row) > 1]
        if len(several) < max(3, _MIN_TEXT_ROWS * len(pieces)):
            return [one]
        columns: list[tuple[float, float]] = []
        for row in several:
            columns = joined_stretches([*columns, *row])
        crossing = sum(len(joined_stretches([*columns, *row])) < len(columns) for row in pieces)
        return columns if len(columns) > 1 and crossing <= _CROSSING * len(pieces) else [one]

    def _body_rows(self) -> list[tuple[tuple[Word, ...], tuple[_Value, ...]]]:
        """Put the lines of a label together: closer than rows are, or going on with a small letter."""
        pitches = [
            b.line.pitch_base - a.line.pitch_base
            for a, b in pairwise(self.rows[index] for index in self.body)
            if a.values and b.values
        ]
        usual = median(pitches) if pitches else 0.0
        merged: list[tuple[tuple[Word, ...], tuple[_Value, ...]]] = []
        before: _Row | None = None
        for row in (self.rows[index] for index in self.body):
            label = row.label if row.values else row.line.words
            if before is not None and not before.values and row.values and not row.label:
                merged[-1] = (merged[-1][0], row.values)
                before = row
                continue
            if before is not None and label and not (before.values and row.values):
                small = label[0].text[0].islower()
                tight = row.line.pitch_base - before.line.pitch_base < _TIGHT * usual
                if small or (tight and not before.values and row.values and not before.line.text.endswith(":")):
                    merged[-1] = ((*merged[-1][0], *label), merged[-1][1] or row.values)
                    before = row
                    continue
            merged.append((label, row.values))
            before = row
        return merged


def _is_number(word: Word) -> bool:
    """Whether a word is a number, or a dash in the place of one, and no year."""
    return bool((_NUMBER.match(word.text) and not _YEAR.match(word.text)) or _DASH.match(word.text))


def _names_column(words: Sequence[Word]) -> bool:
    """Whether words can be the heading of a column: they have no number but years and spans, `After 5 years`."""
    spans = {number for number, unit in pairwise(words) if _SPAN.match(unit.text)}
    return bool(words) and not any(_is_number(word) and word not in spans for word in words)


def _whole_unit(line: Line) -> bool:
    return bool(_UNIT.search(line.text)) and len(unit_words(line)) == len(line.words)


def _nearest(stretches: Sequence[tuple[float, float]], x: float) -> int:
    return min(range(len(stretches)), key=lambda index: max(stretches[index][0] - x, x - stretches[index][1], 0.0))


def _wide_pieces(words: Sequence[Word], size: float) -> list[list[Word]]:
    if not words:
        return []
    pieces: list[list[Word]] = [[words[0]]]
    for left, right in pairwise(words):
        if right.box.x0 - left.box.x1 > _LABEL_GAP * size:
            pieces.append([right])
        else:
            pieces[-1].append(right)
    return pieces
