"""Which rows of a table are its header, and what a table takes over from the page before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kgrag.documents.pdf.blocks import Cell, TableBlock, TextBlock
from kgrag.documents.pdf.bullets import BULLET, SURE_BULLET
from kgrag.documents.pdf.geometry import Word, bounding_box, lines_of
from kgrag.documents.pdf.pages import Fill

__all__ = ["cell_text", "continued", "has_paragraph_as_heading", "is_prose", "with_cut_row", "with_header"]

_MAX_HEADER_ROWS = 3
_LONGEST_HEADING = 40
"""Words."""
_MIN_IN_TURN = 4
"""Rows from which shades in turn are seen."""
_MIN_BULLETS = 3
"""In a column that has nothing else: lists beside each other. A column of a table that marks some rows so has a heading."""
_PROSE_WORDS = 8
"""Mean words of the filled cells from which rows with one text each are lines of a paragraph on coloured ground."""
_WORD_GAP = 0.6
"""Line heights between two words of a line that was stretched, at most."""
_RAISED = 0.85
"""Share of the height of a row's words below which one is a reference to a note, in another font than its row."""
_SAME_COLUMN = 4.0
"""Points by which the columns of a table's continuation may be off."""
_VALUE = re.compile(r"[-+±<>≤≥~]?\d")
_PROMPT = re.compile(r"[$#%>]$")
_YEAR = re.compile(r"(?:19|20)\d\d$")


def cell_text(cell: Cell) -> str:
    """The words of a cell, for comparing."""
    return " ".join(line.text for line in lines_of(cell.words))


def with_header(table: TableBlock, fills: Sequence[Fill], *, set_off: int = 0) -> TableBlock:
    """Mark the header cells: leading rows that are shaded or bold and differ in this from a row below; a light first row over bold ones.

    A first row with neither is a header if every cell has words, none of them begins with a number, and some cell below does; the
    rows that a double line has `set_off` are, and those of which the upper one has cells over several columns of the lower one.
    Rows that are shaded in turn have no header by that. A first row of one text over all columns is the table's caption.
    """
    if (title := _title_row(table)) is not None:
        below = tuple(replace(cell, row=cell.row - 1) for cell in table.cells if cell.row > 0)
        box = replace(table.box, y0=title.box.y1)
        return with_header(
            replace(table, box=box, row_count=table.row_count - 1, cells=below, caption=_caption(table.page, title)),
            fills,
            set_off=max(0, set_off - 1),
        )
    rows = [[cell for cell in table.cells if cell.row == row] for row in range(table.row_count)]
    looks = [(_shade(row, fills), _bold(row)) for row in rows]
    count = 0
    shades = [shade for shade, _ in looks]
    if any(shade != shades[0] for shade in shades[1:]) and shades[0] is not None and not _in_turn(shades):
        count = _leading(looks, 0)
    if not count and looks[0][1] and not all(bold for _, bold in looks):
        count = _leading(looks, 1)
    if not count and len(looks) > 1 and not looks[0][1] and all(bold for _, bold in looks[1:]):
        count = 1
    if not count:
        count = set_off or _spanning_header(rows) or int(_reads_as_header(rows))
    if 0 < count < table.row_count - 1 and _has_years(rows[count]):
        end = max(cell.row + cell.row_span for cell in rows[count])  # A heading may be broken over two rows.
        if end < table.row_count and looks[count] != looks[end]:
            count = end
    if count > _MAX_HEADER_ROWS or count >= table.row_count:
        count = 1 if count < table.row_count else 0
    return replace(table, cells=tuple(replace(cell, header=cell.row < count) for cell in table.cells))


def _title_row(table: TableBlock) -> Cell | None:
    """The cell of a first row that has only that, over all columns, above rows of several cells; a table that has a caption has none."""
    first = [cell for cell in table.cells if cell.row == 0]
    over_all = len(first) == 1 and first[0].column_span == table.column_count and first[0].row_span == 1
    second = [cell for cell in table.cells if cell.row == 1 and cell.words]
    if not over_all or table.caption is not None or len(second) < 2 or table.row_count < 3:
        return None
    return first[0] if first[0].words else None


def _caption(page: int, cell: Cell) -> TextBlock:
    lines = tuple(lines_of(cell.words))
    return TextBlock("text", page, bounding_box(line.box for line in lines), lines)


def _leading(looks: Sequence[tuple[tuple[int, int, int] | None, bool]], part: int) -> int:
    count = 0
    while count < len(looks) and looks[count][part] == looks[0][part]:
        count += 1
    return count


def _in_turn(shades: Sequence[tuple[int, int, int] | None]) -> bool:
    """Whether every other row, from the first one on, is shaded alike."""
    return (
        len(shades) >= _MIN_IN_TURN
        and all(shade == shades[0] for shade in shades[::2])
        and all(shade != shades[0] for shade in shades[1::2])
    )


def _spanning_header(rows: Sequence[Sequence[Cell]]) -> int:
    """Return 2 where the first row has cells over several columns, each of which the second row names, and else cells over both rows."""
    if len(rows) <= 2 or not rows[0] or not rows[1]:
        return 0
    wide = [cell for cell in rows[0] if cell.column_span > 1 and cell.row_span == 1]
    named = {cell.column for cell in rows[1] if cell.words}
    over = {column for cell in wide for column in range(cell.column, cell.column + cell.column_span)}
    others = [cell for cell in rows[0] if cell not in wide]
    texts = [cell_text(cell) for row in rows[:2] for cell in row]
    is_header = wide and named == over and all(cell.row_span == 2 for cell in others)
    return 2 if is_header and all(text and not _VALUE.match(text) for text in texts) else 0


def _shade(row: Sequence[Cell], fills: Sequence[Fill]) -> tuple[int, int, int] | None:
    """The colour behind most of a row's cells; None for none, white or different ones."""
    colors = []
    for cell in row:
        over = [
            fill
            for fill in fills
            if fill.box.holds(cell.box.center)
            and fill.box.height < 1.6 * cell.box.height
            and fill.rgb != (255, 255, 255)
        ]
        colors.append(over[-1].rgb if over else None)
    best = max(set(colors), key=colors.count, default=None)
    return best if best is not None and colors.count(best) > 0.5 * len(colors) else None


def _bold(row: Sequence[Cell]) -> bool:
    words = [word for cell in row for word in cell.words]
    tall = max((word.box.height for word in words), default=0.0)
    return bool(words) and all(word.bold or word.box.height < _RAISED * tall for word in words)


def _reads_as_header(rows: Sequence[Sequence[Cell]]) -> bool:
    first = [cell_text(cell) for cell in rows[0]]
    below = [cell_text(cell) for row in rows[1:] for cell in row]
    return all(text and not _VALUE.match(text) for text in first) and any(_VALUE.match(text) for text in below)


def _has_years(row: Sequence[Cell]) -> bool:
    """Whether a row names years and has no other numbers: the lower of two header rows."""
    texts = [cell_text(cell) for cell in row if cell.column > 0 and cell.words]
    return any(_YEAR.match(text) for text in texts) and all(
        _YEAR.match(text) or not _VALUE.match(text) for text in texts
    )


def is_prose(table: TableBlock) -> bool:
    """Whether a table is paragraphs whose background was taken for cells: no header, long texts, most rows with one of them.

    So is a list whose bullets were taken for a column, and a framed command whose prompt was. What has no letter or digit at all are the
    points of a diagram.
    """
    filled = [cell for cell in table.cells if cell.words]
    if not any(map(str.isalnum, "".join(map(cell_text, filled)))):
        return True
    first = [cell_text(cell) for cell in filled if cell.column == 0]
    if table.column_count == 2 and len(first) > 1 and all(BULLET.match(text) for text in first):
        return True
    if any(_are_bullets(filled, column) for column in range(table.column_count)):
        return True
    if table.column_count == 2 and table.row_count == 1 and len(filled) == 2 and _PROMPT.match(first[0]):
        return not _VALUE.match(cell_text(filled[1]))
    if sum(len(cell.words) for cell in filled) < _PROSE_WORDS * len(filled):
        return False
    if _runs_through_cells(filled):
        return True
    by_row = Counter(cell.row for cell in filled)
    return not any(cell.header for cell in filled) and 2 * sum(count > 1 for count in by_row.values()) <= len(by_row)


def _are_bullets(filled: Sequence[Cell], column: int) -> bool:
    texts = [cell_text(cell) for cell in filled if cell.column == column]
    return len(texts) >= _MIN_BULLETS and all(SURE_BULLET.match(text) for text in texts)


def _runs_through_cells(filled: Sequence[Cell]) -> bool:
    """Whether each cell of one line goes on in the next one as words do: pieces of a paragraph have each a ground of its own."""
    gaps: list[float] = []
    for left, right in pairwise(sorted(filled, key=lambda cell: (cell.row, cell.column))):
        if left.row == right.row:
            lines = lines_of([*left.words, *right.words])
            if len(lines) > 1:
                return False
            between = min(word.box.x0 for word in right.words) - max(word.box.x1 for word in left.words)
            gaps.append(between / lines[0].size)
    return bool(gaps) and max(gaps) < _WORD_GAP


def has_paragraph_as_heading(table: TableBlock) -> bool:
    """Whether a heading of a table has as many words as no heading has."""
    return any(cell.header and len(cell.words) > _LONGEST_HEADING for cell in table.cells)


def continued(table: TableBlock, before: TableBlock) -> TableBlock:
    """Give a table that goes on from the page before the header row that it does not repeat, and the texts of cells that go on.

    Returned unchanged where the columns differ, or where it has another header.
    """
    if table.column_count != before.column_count or not all(
        abs(a - b) <= _SAME_COLUMN for a, b in zip(_column_starts(table), _column_starts(before), strict=True)
    ):
        return table
    header = [cell for cell in before.cells if cell.header]
    own = [cell for cell in table.cells if cell.header]
    if [cell_text(cell) for cell in own] == [cell_text(cell) for cell in header]:
        return _with_open_cells(table, before)
    if not header or _own_header(own, header):
        return table
    height = max(cell.row + cell.row_span for cell in header)
    plain = replace(table, cells=tuple(replace(cell, header=False) for cell in table.cells))
    shifted = tuple(replace(cell, row=cell.row + height) for cell in _with_open_cells(plain, before).cells)
    return replace(
        table,
        row_count=table.row_count + height,
        cells=(*header, *shifted),
        header_from=before.header_from or before.page,
    )


def _with_open_cells(table: TableBlock, before: TableBlock) -> TableBlock:
    """Repeat the text of a cell over several rows that a page break cut: its second part is empty and as tall."""
    last = {
        cell.column: cell for cell in before.cells if cell.row + cell.row_span == before.row_count and cell.row_span > 1
    }
    first_row = max((cell.row + cell.row_span for cell in table.cells if cell.header), default=0)
    cells = tuple(
        replace(cell, words=last[cell.column].words)
        if cell.row == first_row and cell.row_span > 1 and not cell.words and cell.column in last
        else cell
        for cell in table.cells
    )
    return replace(table, cells=cells)


def with_cut_row(before: TableBlock, table: TableBlock) -> tuple[TableBlock, TableBlock]:
    """Return a table and its continuation with a row that the page break cut put together, in the first of them.

    Its second part has nothing in the first column, and each of its texts goes on from that of the last row, within a sentence.
    """
    header = [cell_text(cell) for cell in before.cells if cell.header]
    start = max((cell.row + cell.row_span for cell in table.cells if cell.header), default=0)
    rest = [cell for cell in table.cells if cell.row == start and cell.words]
    last = {cell.column: cell for cell in before.cells if cell.row == before.row_count - 1 and cell.words}
    goes_on = (
        header
        and header == [cell_text(cell) for cell in table.cells if cell.header]
        and table.column_count == before.column_count
        and start < table.row_count - 1
        and rest
        and rest[0].column > 0
        and all(cell.row_span == cell.column_span == 1 for cell in rest)
        and all(cell.column in last and _is_cut(last[cell.column], cell) for cell in rest)
        and 0 in last
    )
    if not goes_on:
        return before, table
    more = {last[cell.column]: cell.words for cell in rest}
    joined = tuple(
        replace(cell, words=(*cell.words, *_below(cell.words, more[cell]))) if cell in more else cell
        for cell in before.cells
    )
    kept = tuple(
        replace(cell, row=cell.row - (cell.row > start)) for cell in table.cells if cell.row != start or cell.header
    )
    return replace(before, cells=joined), replace(table, row_count=table.row_count - 1, cells=kept)


def _is_cut(cell: Cell, rest: Cell) -> bool:
    return cell_text(rest)[0].islower() and cell_text(cell)[-1] not in ".:!?;"


def _below(words: Sequence[Word], more: Sequence[Word]) -> list[Word]:
    """Words of the next page, placed below those of a page."""
    by = max(word.box.y1 for word in words) - min(word.box.y0 for word in more)
    return [replace(word, box=replace(word.box, y0=word.box.y0 + by, y1=word.box.y1 + by)) for word in more]


def _own_header(own: Sequence[Cell], header: Sequence[Cell]) -> bool:
    """Whether a continuation's first row is set like a header, and not merely taken for one."""
    if not own:
        return False
    return all(_bold([cell]) for cell in own if cell.words) == all(_bold([cell]) for cell in header if cell.words)


def _column_starts(table: TableBlock) -> list[float]:
    starts = [0.0] * table.column_count
    for cell in table.cells:
        if cell.column_span == 1:
            starts[cell.column] = cell.box.x0
    return starts
