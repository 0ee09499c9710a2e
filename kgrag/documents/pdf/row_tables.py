"""Tables that have lines or shaded rows, but nothing between their columns: the columns are the strips that all rows leave free."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, lines_of, pieces_of
from kgrag.documents.pdf.pages import Page, Rule
from kgrag.documents.pdf.stacked_rows import with_stacked_rows
from kgrag.documents.pdf.table_headers import with_header

__all__ = ["Columns", "column_of", "find_row_tables", "has_groups", "together"]

_SAME_EXTENT = 4.0
"""Points by which the ends of a table's lines may differ."""
_GAP = 0.7
"""Line heights between two columns."""
_WIDE_GAP = 0.9
"""Line heights between two cells of one row."""
_DOUBLE = 0.5, 2.0
"""Points between the two lines of a double one, which have been made one."""
_FIRST_COLUMN = 20.0
"""Points that a column is wide at least."""
_MIN_GROUPED = 4
"""Rows from which a table may be told by its groups alone."""
_SURE_ROW = 3
"""Texts side by side in the first line of a stretch, under which one of them may go on over many lines."""
_CUT_WORD = re.compile(r"[^\W\d_]{2}-$")
_FEW_BANDS = 3
"""Up to so many stretches between lines, a stretch may hold several rows (top rule, header rule, bottom rule)."""
_MAX_HEADER = 2
"""Rows between the upper lines of a table of three."""
_MIN_FILLED = 0.45
"""Share of cells with words."""
_MAX_FOREIGN = 3
"""Lines and drawings of its own that a small table may have: underlines of grouped headers, symbols."""
_ICON = 15.0
"""Points: the lines of a symbol in a cell are no longer."""
_MOST_OF_PAGE = 0.4
"""Share of a page's height from which a row that its texts do not fill is none."""
_OPEN_SIDE = 1.6
"""Times the usual row height in which a first row without a line above it, or a last one without a line below, must lie."""

Columns = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Band:
    """What stands between two lines."""

    top: float
    bottom: float
    lines: tuple[Line, ...]
    shared: tuple[Line, ...] = ()
    """What stands at the left for all the parts into which shorter lines divide a stretch."""
    part: tuple[int, int] = (0, 1)
    """Which of these parts it is, and of how many."""
    over: float | None = None
    """Where it is a heading of the columns of the next part: the x from which on."""

    def columns(self) -> Columns:
        """The stretches that its words cover, side by side."""
        found: Columns = []
        for line in (*self.shared, *(self.lines if self.over is None else ())):
            found = together(
                found, [(piece.box.x0, piece.box.x1) for piece in pieces_of(line, _WIDE_GAP)], _GAP * line.size
            )
        return found

    def side_by_side(self) -> bool:
        """Whether texts stand next to each other, and not a left one above a right one."""
        if self.shared:
            return bool(self.lines)
        return 3 * sum(len(pieces_of(line, _WIDE_GAP)) > 1 for line in self.lines) >= len(self.lines)


def together(columns: Iterable[tuple[float, float]], pieces: Iterable[tuple[float, float]], gap: float) -> Columns:
    """Unite stretches that overlap or are less than `gap` points apart."""
    united: Columns = []
    for start, end in sorted([*columns, *pieces]):
        if united and start - united[-1][1] < gap:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((start, end))
    return united


def column_of(box: Box, columns: Columns) -> int:
    """The column whose stretch is nearest to the middle of a box."""
    middle = box.center[0]
    return min(range(len(columns)), key=lambda index: max(columns[index][0] - middle, middle - columns[index][1], 0.0))


def find_row_tables(page: Page, rules: Iterable[Rule], words: Sequence[Word]) -> list[TableBlock]:
    """Find tables between horizontal lines of equal extent; `rules` and `words` are those that no other table has taken."""
    stacks: dict[tuple[float, float], list[float]] = defaultdict(list)
    kept = sorted(rules, key=lambda rule: rule.at)
    for rule in (rule for rule in kept if rule.horizontal):
        key = next((key for key in stacks if _same_extent(key, rule)), (rule.start, rule.end))
        stacks[key].append(rule.at)
    tables: list[TableBlock] = []
    taken: set[Word] = set()
    for (start, end), heights in stacks.items():
        inside = [
            word for word in words if word.level and start - 2 <= word.box.center[0] <= end + 2 and word not in taken
        ]
        shorter = [rule for rule in kept if rule.horizontal and rule.start > start + _FIRST_COLUMN]
        shorter = [rule for rule in shorter if abs(rule.end - end) <= _SAME_EXTENT]
        divided = [part for band in _bands(inside, heights) for part in _parts(band, shorter)]
        for bands, columns in _runs(divided, inside):
            if any(_is_open(band, page.height) for band in bands):
                continue
            table = _table(page, bands, columns)
            others = [rule for rule in kept if rule not in shorter]
            if _is_table(table, (start, end), others, page.drawings):
                tables.append(table)
                taken.update(word for cell in table.cells for word in cell.words)
    return tables


def _parts(band: _Band, shorter: Sequence[Rule]) -> list[_Band]:
    """Divide a stretch at lines that leave out its first columns, where these have one text for all the parts."""
    dividing = [rule for rule in shorter if band.top + 1.0 < rule.at < band.bottom - 1.0]
    if not dividing:
        return [band]
    start = min(rule.start for rule in dividing)
    words = [word for line in band.lines for word in line.words]
    shared = tuple(lines_of(word for word in words if word.box.center[0] < start))
    edges = [band.top, *(rule.at for rule in dividing), band.bottom]
    if len(shared) >= len(edges) - 1 or any(rule.start > start + _SAME_EXTENT for rule in dividing):
        return [band]
    parts: list[_Band] = []
    for number, (top, bottom) in enumerate(pairwise(edges)):
        own = [word for word in words if word.box.center[0] >= start and top <= word.box.center[1] < bottom]
        parts.append(_Band(top, bottom, tuple(lines_of(own)), shared, (number, len(edges) - 1)))
    if any(not part.lines for part in parts):
        return [band] if shared else [part for part in parts if part.lines]
    if all(len(pieces_of(line, _WIDE_GAP)) == 1 for part in parts for line in part.lines):
        return [band]  # The lines of a listing, each on its own ground.
    is_alone = len(parts[0].lines) == 1 and len(pieces_of(parts[0].lines[0], _WIDE_GAP)) == 1
    if is_alone and len(parts[0].columns()) < len(parts[1].columns()):
        parts[0] = replace(parts[0], over=start)
    return parts


def has_groups(table: TableBlock) -> bool:
    """Whether lines show that a text stands for several rows below the header."""
    return table.row_count >= _MIN_GROUPED and any(cell.row_span > 1 and not cell.header for cell in table.cells)


def _is_open(band: _Band, page_height: float) -> bool:
    """Whether a stretch is most of a page with little in it: that between the lines of a running header and footer."""
    height = band.bottom - band.top
    box = bounding_box(line.box for line in band.lines)
    return height > _MOST_OF_PAGE * page_height and box.height < 0.5 * height


def _is_of_icon(rule: Rule, rules: Sequence[Rule]) -> bool:
    """Whether a line is a side of a small box."""
    if rule.end - rule.start > _ICON:
        return False
    return any(
        other.horizontal != rule.horizontal
        and other.end - other.start <= _ICON
        and min(abs(other.at - rule.start), abs(other.at - rule.end)) <= 1.5
        and other.start - 1.5 <= rule.at <= other.end + 1.5
        for other in rules
    )


def _is_table(table: TableBlock, extent: tuple[float, float], rules: Sequence[Rule], drawings: Iterable[Box]) -> bool:
    """Whether most cells have words; a diagram of boxes has fewer, and lines and curves of other lengths between them."""
    filled = sum(bool(cell.words) for cell in table.cells)
    foreign = sum(
        table.box.holds(
            ((rule.start + rule.end) / 2, rule.at) if rule.horizontal else (rule.at, (rule.start + rule.end) / 2)
        )
        for rule in rules
        if not _is_of_icon(rule, rules)
        and not (rule.horizontal and _same_extent(extent, rule))
        and not (not rule.horizontal and min(abs(rule.at - end) for end in extent) <= _SAME_EXTENT)
    )
    drawn = sum(table.box.holds(drawing.center) for drawing in drawings)
    return filled >= _MIN_FILLED * len(table.cells) and foreign + drawn <= max(_MAX_FOREIGN, table.row_count)


def _same_extent(key: tuple[float, float], rule: Rule) -> bool:
    return abs(key[0] - rule.start) <= _SAME_EXTENT and abs(key[1] - rule.end) <= _SAME_EXTENT


def _bands(words: Sequence[Word], heights: Sequence[float]) -> list[_Band]:
    bands = []
    sorted_words = sorted(words, key=lambda word: word.box.center[1])
    middles = [word.box.center[1] for word in sorted_words]
    for top, bottom in pairwise(heights):
        if bottom - top > 1.0:
            inside = sorted_words[bisect_left(middles, top) : bisect_left(middles, bottom)]
            bands.append(_Band(top, bottom, tuple(lines_of(inside))))
    return bands


def _runs(bands: Sequence[_Band], words: Sequence[Word]) -> list[tuple[list[_Band], Columns]]:
    """Runs of bands whose words leave the same strips free."""
    runs: list[tuple[list[_Band], Columns]] = []
    index = 0
    while index < len(bands):
        run, columns = _grow(bands, index)
        if run:
            opened, columns = _with_open_sides(run, columns, words)
            if len(opened) > 1 or _several_rows(opened, columns):
                runs.append((opened, columns))
        index += max(1, len(run))
    return runs


def _grow(bands: Sequence[_Band], start: int) -> tuple[list[_Band], Columns]:
    run: list[_Band] = []
    columns: Columns = []
    for band in bands[start:]:
        if not band.lines or (run and band.top - run[-1].bottom > 1.0):
            break
        own = band.columns()
        if (len(own) < 2 and band.over is None) or not (band.side_by_side() or _is_sure_row(band, run, columns)):
            if run and (_spans_like_a_row(band, run) or _is_long_group(band, run, columns)):
                run.append(band)
                continue
            break
        wider = together(columns, own, _GAP * band.lines[0].size)
        if len(wider) < len(columns) and not _keeps_apart([*run, band], wider):
            break
        if len(wider) < 2:
            break
        columns = wider
        run.append(band)
    while run and not (run[-1].side_by_side() or _is_sure_row(run[-1], run[:-1], columns)):
        run.pop()
    return run, columns


def _is_sure_row(band: _Band, run: Sequence[_Band], columns: Columns) -> bool:
    """A row below others of which few lines stand beside each other: one text has many lines, or the name is in the middle."""
    if not run or len(columns) < _SURE_ROW or len(band.columns()) < 2:
        return False
    begins = len(pieces_of(band.lines[0], _WIDE_GAP)) >= _SURE_ROW
    return begins or (len(run) > 1 and _keeps_apart([band], columns))


def _keeps_apart(bands: Iterable[_Band], columns: Columns) -> bool:
    """Whether no two texts of a row come into one column; a heading may stand over the middle of its column, apart from short cells."""
    for band in bands:
        own = band.columns()
        if len({column_of(Box(start, band.top, end, band.bottom), columns) for start, end in own}) < len(own):
            return False
    return True


def _spans_like_a_row(band: _Band, run: Sequence[_Band]) -> bool:
    """A row with one text only: a group heading within the table, or a row whose other cells are empty."""
    usual = median(other.bottom - other.top for other in run)
    same_size = abs(band.lines[0].size - run[-1].lines[0].size) <= 0.1 * band.lines[0].size
    return len(band.lines) == 1 and same_size and band.bottom - band.top <= 1.3 * usual


def _is_long_group(band: _Band, run: Sequence[_Band], columns: Columns) -> bool:
    """A group heading that was broken to fit into the first column."""
    if len(band.lines) != 2 or band.bottom - band.top > 1.3 * max(other.bottom - other.top for other in run):
        return False
    same_size = abs(band.lines[0].size - run[-1].lines[0].size) <= 0.1 * band.lines[0].size
    return same_size and len(columns) > 2 and all(line.box.x1 < columns[1][0] for line in band.lines)


def _with_open_sides(run: list[_Band], columns: Columns, words: Sequence[Word]) -> tuple[list[_Band], Columns]:
    usual = median(band.bottom - band.top for band in run) / max(1, min(len(band.lines) for band in run))
    for above in (True, False):
        edge = run[0].top if above else run[-1].bottom
        low, high = (edge - _OPEN_SIDE * usual, edge) if above else (edge, edge + _OPEN_SIDE * usual)
        near = [word for word in words if low <= word.box.y0 and word.box.y1 <= high + 1.0]
        if not near:
            continue
        box = bounding_box(word.box for word in near)
        band = (
            _Band(min(low, box.y0), edge, tuple(lines_of(near))) if above else _Band(edge, high, tuple(lines_of(near)))
        )
        own = band.columns()
        wider = together(columns, own, _GAP * band.lines[0].size)
        if len(own) >= 2 and len(wider) == len(columns) and len(band.lines) == 1:
            columns = wider
            run = [band, *run] if above else [*run, band]
    return run, columns


def _several_rows(run: Sequence[_Band], columns: Columns) -> bool:
    return len(_split(run[-1], columns)) > 1


def _split(band: _Band, columns: Columns) -> list[list[Line]]:
    """Split a stretch into rows: a line with a text in the first column begins one, unless a word of the line above goes on in it."""
    rows: list[list[Line]] = []
    for line in band.lines:
        filled = {column_of(piece.box, columns) for piece in pieces_of(line, _WIDE_GAP)}
        if rows and (0 not in filled or _cuts_word(rows[-1][-1], line, columns)):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _cuts_word(above: Line, line: Line, columns: Columns) -> bool:
    """Whether a cell ends in the first part of a word, `com-`, whose other part the line below has in its column."""
    begun = {column_of(one.box, columns) for one in pieces_of(above, _WIDE_GAP) if _CUT_WORD.search(one.text)}
    below = pieces_of(line, _WIDE_GAP)
    return any(piece.text[0].islower() and column_of(piece.box, columns) in begun for piece in below)


def _table(page: Page, bands: Sequence[_Band], columns: Columns) -> TableBlock:
    rows: list[tuple[float, float, list[Line], _Band]] = []
    for band in bands:
        parts = _split(band, columns) if len(bands) <= _FEW_BANDS and len(band.lines) > 2 else [list(band.lines)]
        tops = [band.top, *(min(line.box.y0 for line in part) for part in parts[1:])]
        rows.extend((*ends, part, band) for ends, part in zip(pairwise([*tops, band.bottom]), parts, strict=True))
    cells: list[Cell] = []
    for index, (top, bottom, lines, band) in enumerate(rows):
        if band.shared:
            cells += _cells_of_part(index, band, columns)
            continue
        found: dict[int, list[Word]] = defaultdict(list)
        for piece in (piece for line in lines for piece in pieces_of(line, _WIDE_GAP)):
            found[column_of(piece.box, columns)].extend(piece.words)
        for column, (start, end) in enumerate(columns):
            cells.append(Cell(index, column, 1, 1, Box(start, top, end, bottom), tuple(found.get(column, ()))))
    box = Box(columns[0][0], rows[0][0], columns[-1][1], rows[-1][1])
    table = TableBlock(page.number, box, len(rows), len(columns), tuple(cells))
    stacked = with_stacked_rows(table)
    doubled = [index for index, row in enumerate(rows) if index and _is_double(page.rules, row[0], box)]
    if len(doubled) != 1:
        # Between the upper one of three lines and the middle one stands the header, with or without bold type.
        first = sum(row[3] is bands[0] for row in rows)
        doubled = [first] if len(bands) == 2 and first <= _MAX_HEADER and len(rows) - first > 1 else []
    is_header = len(doubled) == 1 and stacked.row_count == table.row_count
    return with_header(stacked, page.fills, set_off=doubled[0] if is_header else 0)


def _is_double(rules: Iterable[Rule], at: float, box: Box) -> bool:
    """Whether what was made one line is two lines across a table."""
    near = [rule for rule in rules if rule.horizontal and abs(rule.at - at) <= _DOUBLE[1]]
    lines: dict[float, float] = defaultdict(float)
    for rule in near:
        lines[round(rule.at, 1)] += min(rule.end, box.x1) - max(rule.start, box.x0)
    whole = [line for line, length in lines.items() if length >= 0.8 * box.width]
    return len(whole) == 2 and _DOUBLE[0] <= abs(whole[0] - whole[1]) <= _DOUBLE[1]


def _cells_of_part(row: int, band: _Band, columns: Columns) -> list[Cell]:
    """The cells of a part's own, and in the first of the parts those that stand for all."""
    number, count = band.part
    found: dict[int, list[Word]] = defaultdict(list)
    shared: dict[int, list[Word]] = defaultdict(list)
    for line in band.shared:
        for piece in pieces_of(line, _WIDE_GAP):
            shared[column_of(piece.box, columns)].extend(piece.words)
    for line in band.lines:
        for piece in pieces_of(line, _WIDE_GAP):
            found[column_of(piece.box, columns)].extend(piece.words)
    cells = [
        Cell(row, column, count, 1, Box(*_stretch(columns, column, band, count)), tuple(words))
        for column, words in sorted(shared.items())
        if number == 0
    ]
    own = [column for column in range(len(columns)) if column not in shared]
    if band.over is not None:
        words = tuple(word for line in band.lines for word in line.words)
        box = Box(columns[own[0]][0], band.top, columns[-1][1], band.bottom)
        return [*cells, Cell(row, own[0], 1, len(own), box, words)]
    for column in own:
        cells.append(Cell(row, column, 1, 1, Box(*_stretch(columns, column, band, 1)), tuple(found.get(column, ()))))
    return cells


def _stretch(columns: Columns, column: int, band: _Band, rows: int) -> tuple[float, float, float, float]:
    return columns[column][0], band.top, columns[column][1], band.top + rows * (band.bottom - band.top)
