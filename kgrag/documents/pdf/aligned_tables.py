"""Tables without ruling lines: lines of short texts that stand under each other in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.bullets import BULLET, ORDINAL
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, pieces_of
from kgrag.documents.pdf.pages import Fill
from kgrag.documents.pdf.row_tables import Columns, column_of, together
from kgrag.documents.pdf.table_headers import with_header

__all__ = ["find_aligned_tables"]

_GAP = 0.9
"""Line heights between two cells: about three spaces."""
_MIN_ROWS = 3
_MIN_ROWS_OF_TWO = 4
"""A table of two columns must be longer, or it may be chance."""
_MIN_FULL = 0.6
"""Share of the lines that must have a text in at least two columns."""
_MAX_WORDS = 6.0
"""Mean words of a cell."""
_ALIGNED = 0.3
"""Line heights by which a line that goes on with a column may begin elsewhere."""
_MAX_PITCH = 2.2
"""Line heights from line to line."""
_ALL_TYPED = 0.9
"""Share of the lines of two columns of which one is in a typewriter font and the other is not."""
_SENTENCE_END = re.compile(r"[a-z].*[a-z)][.!?]")
_SENTENCE_WORDS = 4
_VALUE = re.compile(r"^(?:approximately |about |up to )?[-+±<>≤≥~(]?[$€£]?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Row:
    line: Line
    pieces: list[Line]
    """It, cut at wide gaps."""


@dataclass(frozen=True, slots=True)
class _Run:
    rows: list[_Row]
    columns: Columns


def find_aligned_tables(
    lines: Sequence[Line], page: int, fills: Sequence[Fill], *, typed: bool = False
) -> list[TableBlock]:
    """Find runs of lines whose words leave the same strips free, and that are short enough to be cells.

    Lines of code are aligned too, but are no rows (unless the whole document is `typed`, set in a typewriter font).
    """
    tables: list[TableBlock] = []
    rows = [_Row(line, pieces_of(line, _GAP)) for line in lines]
    start = 0
    while start < len(rows):
        run = _grow(rows, start, typed=typed)
        if run is not None and _is_table(run):
            table = _table(run, page)
            is_card = len(run.columns) == 2 and _says_what_is_typed(run)
            tables.append(table if is_card else with_header(table, fills))
            start += len(run.rows)
        else:
            start += 1
    return tables


def _grow(rows: Sequence[_Row], start: int, *, typed: bool) -> _Run | None:
    """Take rows from `start` on as long as at least two columns remain."""
    if not _may_be_row(rows[start], typed=typed) or len(rows[start].pieces) < 2:
        return None
    columns: Columns = []
    taken: list[_Row] = []
    for row in islice(rows, start, None):
        line, above = row.line, taken[-1].line if taken else None
        if above is not None and (
            line.pitch_base - above.pitch_base > _MAX_PITCH * line.size
            or abs(line.size - above.size) > 0.25 * line.size
            or not _may_be_row(row, typed=typed)
        ):
            break
        wider = together(columns, [(piece.box.x0, piece.box.x1) for piece in row.pieces], _GAP * 0.6 * line.size)
        if len(wider) < max(2, len(columns) - 1):
            break
        columns = wider
        taken.append(row)
    while taken and len(taken[-1].pieces) < 2 and not _goes_on(taken[-1], columns):
        taken.pop()
    return _Run(taken, columns) if taken else None


def _goes_on(row: _Row, columns: Columns) -> bool:
    """Whether a line of one text begins where the last of three or more columns does: the row above it goes on."""
    return len(columns) > 2 and abs(row.line.box.x0 - columns[-1][0]) <= _ALIGNED * row.line.size


def _may_be_row(row: _Row, *, typed: bool) -> bool:
    line = row.line
    return (typed or not line.code) and not _is_marker(line.words[0].text) and not _ends_sentence(row.pieces)


def _is_marker(text: str) -> bool:
    return bool(BULLET.match(text) or ORDINAL.match(text))


def _ends_sentence(pieces: Sequence[Line]) -> bool:
    """Whether the end of a sentence stands before another piece: a justified line has such gaps between its sentences."""
    return any(len(piece.words) >= _SENTENCE_WORDS and _SENTENCE_END.fullmatch(piece.text) for piece in pieces[:-1])


def _is_table(run: _Run) -> bool:
    if len(run.rows) < (_MIN_ROWS_OF_TWO if len(run.columns) == 2 else _MIN_ROWS):
        return False
    rows = [row.pieces for row in run.rows]
    full = sum(len({column_of(piece.box, run.columns) for piece in row}) > 1 for row in rows)
    pieces = [piece for row in rows for piece in row]
    if full < _MIN_FULL * len(rows) or sum(len(piece.words) for piece in pieces) > _MAX_WORDS * len(pieces):
        return False
    if len(run.columns) > 2:
        return True
    right = [piece for piece in pieces if column_of(piece.box, run.columns) == 1]
    values = sum(bool(_VALUE.match(piece.text)) for piece in right)
    return values >= 0.3 * len(right) or run.rows[0].line.bold or _says_what_is_typed(run)


def _says_what_is_typed(run: _Run) -> bool:
    """Whether each line says what something does, and at the right what one types for it, as reference cards do, which name no columns.

    What one types may stand at the left where the texts end under each other. Where they begin so, they are definitions of terms.
    """
    rows = [row.pieces for row in run.rows]
    pairs = [row for row in rows if len(row) == 2 and row[0].typewriter != row[1].typewriter]
    if len(pairs) < _ALL_TYPED * len(rows) or run.rows[0].line.bold:
        return False
    typed_right = sum(right.typewriter for _, right in pairs)
    named = sum(any(map(str.isalpha, left.text)) for left, _ in pairs)
    if 0 < typed_right < len(pairs) or 2 * named < len(pairs):
        return False
    reach = _ALIGNED * pairs[0][0].size
    ends_alike = _are_near([right.box.x1 for _, right in pairs], reach)
    begins_alike = _are_near([right.box.x0 for _, right in pairs], reach)
    in_columns = ends_alike or begins_alike if typed_right else ends_alike and not begins_alike
    return in_columns and _are_near([left.box.x0 for left, _ in pairs], reach)


def _are_near(places: Sequence[float], reach: float) -> bool:
    return max(places) - min(places) <= reach


def _table(run: _Run, page: int) -> TableBlock:
    """Make rows of lines; a line with nothing in the first column goes on with the row above."""
    rows: list[dict[int, list[Word]]] = []
    for aligned in run.rows:
        row: dict[int, list[Word]] = {}
        for piece in aligned.pieces:
            row.setdefault(column_of(piece.box, run.columns), []).extend(piece.words)
        if rows and 0 not in row and len(row) < len(run.columns) - 1 and not aligned.line.bold:
            for column, words in row.items():
                rows[-1].setdefault(column, []).extend(words)
        else:
            rows.append(row)
    cells = []
    for index, row in enumerate(rows):
        boxes = {column: bounding_box(word.box for word in words) for column, words in row.items()}
        height = bounding_box(boxes.values())
        for column, (start, end) in enumerate(run.columns):
            box = boxes.get(column, Box(start, height.y0, end, height.y1))
            cells.append(Cell(index, column, 1, 1, box, tuple(row.get(column, ()))))
    box = bounding_box(row.line.box for row in run.rows)
    return TableBlock(page, box, len(rows), len(run.columns), tuple(cells))
