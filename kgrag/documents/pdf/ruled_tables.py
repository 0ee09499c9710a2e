"""Tables from ruling lines: the grid that the lines make, its merged cells, and the words in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from kgrag.common.groups import joined_groups
from kgrag.documents.pdf.banded_rows import with_plain_rows
from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Word, lines_of
from kgrag.documents.pdf.pages import Page, Rule
from kgrag.documents.pdf.stacked_rows import with_stacked_rows
from kgrag.documents.pdf.table_headers import with_header

__all__ = ["RuledTables", "find_ruled_tables", "with_row_above"]

_SNAP = 3.0
"""Points within which lines are the same grid line (a cell's border and its fill differ by up to a point)."""
_REACH = 3.5
"""Points by which two crossing lines may miss each other."""
_CELL_GAP = 8.0
"""Points from the end of a line across to the side of the next column."""
_MAX_PARTS = 2
"""Rectangles that an area with words may be made of."""
_COLUMNS_OF_ANGLES = 3
"""Columns from which a grid may have such areas: boxes that are joined by lines, in a diagram, have fewer."""
_MIN_BITS = 4
"""Cells of a single row from which a line above it is a header whatever its type."""
_DOUBLE = 4.0
"""Points between the two lines of a double one."""
_MIN_LENGTH = 5.0
_COVERED = 0.6
"""Share of a cell's side that a line must cover to be its border."""
_MAX_GRID = 60, 600
"""Columns, rows: a finer grid is a drawing or a plot's background."""
_MIN_FILLED = 0.2
"""Share of cells with words below which a grid is a drawing."""
_RAGGED = 0.2
"""Share of merged areas that may fail to be rectangles before a grid counts as a drawing."""


@dataclass(frozen=True, slots=True)
class RuledTables:
    """The tables of a page, the words that they took, and the lines that made no table."""

    tables: tuple[TableBlock, ...]
    words: frozenset[Word]
    unused_rules: tuple[Rule, ...]


def find_ruled_tables(page: Page) -> RuledTables:
    """Find the grids of at least two columns whose cells have words; a grid of one row must have words in every cell."""
    tables: list[TableBlock] = []
    taken: set[Word] = set()
    unused: list[Rule] = []
    for rules in _connected(_without_gaps(_merged(page.rules))):
        table = _table(page, rules, taken)
        if table is None:
            unused.extend(rules)
        else:
            table = with_row_above(table, page.words, taken)
            tables.append(table)
            taken.update(word for cell in table.cells for word in cell.words)
    return RuledTables(tuple(tables), frozenset(taken), tuple(unused))


def _merged(rules: Iterable[Rule]) -> list[Rule]:
    """Join pieces of the same line: a cell's border is often drawn cell by cell, and twice."""
    merged: list[Rule] = []
    for horizontal in (True, False):
        same_way = sorted((rule for rule in rules if rule.horizontal == horizontal), key=lambda rule: rule.at)
        start = 0
        for index in range(1, len(same_way) + 1):
            if index == len(same_way) or same_way[index].at - same_way[start].at > _SNAP / 2:
                merged.extend(_end_to_end(same_way[start:index]))
                start = index
    return [rule for rule in merged if rule.end - rule.start >= _MIN_LENGTH]


def _end_to_end(rules: Sequence[Rule]) -> list[Rule]:
    joined: list[Rule] = []
    at = sum(rule.at for rule in rules) / len(rules)
    for rule in sorted(rules, key=lambda rule: rule.start):
        if joined and rule.start <= joined[-1].end + _SNAP:
            joined[-1] = Rule(rule.horizontal, at, joined[-1].start, max(joined[-1].end, rule.end))
        else:
            joined.append(Rule(rule.horizontal, at, rule.start, rule.end))
    return joined


def _without_gaps(rules: Sequence[Rule]) -> list[Rule]:
    """Lengthen lines across that end a little before the side of the next column, at a height where one goes on there: cells with gaps.

    At other heights such a line is the underline of a text.
    """
    down = sorted((rule for rule in rules if not rule.horizontal), key=lambda rule: rule.at)
    places = [rule.at for rule in down]
    across = [rule for rule in rules if rule.horizontal]
    beginning = {(round(rule.at), round(rule.start)) for rule in across}
    longer: dict[Rule, float] = {}
    for rule in across:
        near = down[bisect_left(places, rule.end - _REACH) : bisect_right(places, rule.end + _CELL_GAP)]
        side = next((side.at for side in near if side.start - _REACH <= rule.at <= side.end + _REACH), rule.end)
        if side > rule.end + _REACH:
            longer[rule] = side
    whole = {
        round(rule.at)
        for rule, side in longer.items()
        if any((round(rule.at), round(side) + by) in beginning for by in (-1, 0, 1))
    }
    return [replace(rule, end=longer[rule]) if rule in longer and round(rule.at) in whole else rule for rule in rules]


def _connected(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Split lines into groups that cross or meet."""
    return [[rules[index] for index in group] for group in joined_groups(len(rules), _meeting(rules))]


def _meeting(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    vertical = sorted((rule.at, index) for index, rule in enumerate(rules) if not rule.horizontal)
    positions = [at for at, _ in vertical]
    for index, rule in enumerate(rules):
        if not rule.horizontal:
            continue
        low, high = bisect_left(positions, rule.start - _REACH), bisect_right(positions, rule.end + _REACH)
        for _, other in vertical[low:high]:
            if rules[other].start - _REACH <= rule.at <= rules[other].end + _REACH:
                yield index, other


def _table(page: Page, rules: Sequence[Rule], taken: set[Word]) -> TableBlock | None:
    across = [rule for rule in rules if rule.horizontal]
    down = [rule for rule in rules if not rule.horizontal]
    if not across or not down:
        return None
    rows = _grid_lines([*(rule.at for rule in across), *(end for rule in down for end in (rule.start, rule.end))])
    columns = _grid_lines([*(rule.at for rule in down), *(end for rule in across for end in (rule.start, rule.end))])
    if len(rows) < 2 or len(columns) < 3 or len(columns) > _MAX_GRID[0] or len(rows) > _MAX_GRID[1]:
        return None
    areas = _areas(rows, columns, across, down)
    box = Box(columns[0], rows[0], columns[-1], rows[-1])
    inside = [word for word in page.words if word not in taken and box.holds(word.box.center, 1.0)]
    words: dict[int, list[Word]] = {}
    for word in inside:
        x, y = word.box.center
        row = min(max(bisect_right(rows, y) - 1, 0), len(rows) - 2)
        column = min(max(bisect_right(columns, x) - 1, 0), len(columns) - 2)
        words.setdefault(areas[row][column], []).append(word)
    members: dict[int, list[tuple[int, int]]] = {}
    for row, line in enumerate(areas):
        for column, area in enumerate(line):
            members.setdefault(area, []).append((row, column))
    ragged = 0
    divided = False
    cells: list[Cell] = []
    for area, places in members.items():
        parts = _rectangles(places)
        ragged += len(parts) > 1
        if len(parts) > 1 and not words.get(area):
            continue
        if len(parts) > _MAX_PARTS:
            return None
        divided = divided or len(parts) > 1
        for part in parts:
            top, bottom = part[0][0], part[-1][0]
            left, right = part[0][1], part[-1][1]
            field = Box(columns[left], rows[top], columns[right + 1], rows[bottom + 1])
            there = [word for word in words.get(area, ()) if len(parts) == 1 or field.holds(word.box.center)]
            if len(parts) > 1 and any(
                word.box.x0 < field.x0 - _SNAP or word.box.x1 > field.x1 + _SNAP for word in there
            ):
                return None
            cells.append(Cell(top, left, bottom - top + 1, right - left + 1, field, tuple(there)))
    if ragged > _RAGGED * len(members):
        return None
    table = _checked(page, box, cells)
    return None if divided and table is not None and table.column_count < _COLUMNS_OF_ANGLES else table


def _rectangles(places: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Divide the fields of an area, from the top left one on, into rectangles, by columns: an angle, of which a line is missing, is two."""
    by_column: dict[int, list[int]] = defaultdict(list)
    for row, column in places:
        by_column[column].append(row)
    parts: list[tuple[tuple[int, int], list[int]]] = []
    for column, found in sorted(by_column.items()):
        stretches: list[list[int]] = []
        for row in sorted(found):
            if stretches and row == stretches[-1][1] + 1:
                stretches[-1][1] = row
            else:
                stretches.append([row, row])
        for top, bottom in stretches:
            beside = next((part for part in parts if part[0] == (top, bottom) and part[1][-1] == column - 1), None)
            if beside is not None:
                beside[1].append(column)
            else:
                parts.append(((top, bottom), [column]))
    return [[(row, column) for row in range(top, bottom + 1) for column in inside] for (top, bottom), inside in parts]


def _checked(page: Page, box: Box, cells: list[Cell]) -> TableBlock | None:
    """Close up rows and columns in which no cell begins or that have no words, and refuse what is no table."""
    filled = [cell for cell in cells if cell.words]
    if len(filled) < 2 or len(filled) < _MIN_FILLED * len(cells):
        return None
    row_starts = sorted({cell.row for cell in filled})
    column_starts = _columns_with_texts(filled)
    if len(column_starts) < 2 or (len(row_starts) < 2 and len(filled) < len(cells)):
        return None
    drawn = sum(box.holds(drawing.center) and drawing.area < 0.5 * box.area for drawing in page.drawings)
    if drawn > 2 * len(filled):
        return None
    closed: dict[tuple[int, int], Cell] = {}
    for cell in cells:
        rows = [index for index, start in enumerate(row_starts) if cell.row <= start < cell.row + cell.row_span]
        columns = [
            index for index, start in enumerate(column_starts) if cell.column <= start < cell.column + cell.column_span
        ]
        if rows and columns:
            closed[rows[0], columns[0]] = Cell(
                rows[0], columns[0], len(rows), len(columns), cell.box, cell.words, cell.header
            )
    table = TableBlock(
        page=page.number,
        box=box,
        row_count=len(row_starts),
        column_count=len(column_starts),
        cells=tuple(closed[place] for place in sorted(closed)),
    )
    table = with_plain_rows(table)
    stacked = with_stacked_rows(table)
    above = _above_double_line(cells, row_starts) if stacked.row_count == table.row_count else 0
    return with_header(stacked, page.fills, set_off=above)


def _columns_with_texts(filled: Sequence[Cell]) -> list[int]:
    """Return where columns begin, without those that have nothing but the beginnings of cells over the next one: gaps between cells."""
    starts = sorted({cell.column for cell in filled})
    own = {cell.column for cell in filled if cell.column_span == 1}
    after = dict(pairwise(starts))
    return [
        start
        for start in starts
        if start in own
        or start not in after
        or any(cell.column == start and start + cell.column_span <= after[start] for cell in filled)
    ]


def with_row_above(table: TableBlock, words: Sequence[Word], taken: Set[Word]) -> TableBlock:
    """Give a table without a header the bold line right above it that names its columns: only the rows below are coloured.

    Above a single row of several cells, as data sheets show the bits of a register, it may be in any type if it names each.
    """
    if any(cell.header for cell in table.cells):
        return table
    columns = [_extent(table, column) for column in range(table.column_count)]
    highest = max(cell.box.height for cell in table.cells if cell.row == 0)
    near = [
        word
        for word in words
        if word.level and word not in taken and table.box.y0 - highest <= word.box.center[1] < table.box.y0
    ]
    lines = lines_of([word for word in near if table.box.x0 <= word.box.center[0] <= table.box.x1])
    named: dict[int, list[Word]] = {}
    names_bits = table.row_count == 1 and table.column_count >= _MIN_BITS
    for word in lines[0].words if len(lines) == 1 else ():
        column = bisect_right([start for start, _ in columns], word.box.x0 + _SNAP) - 1
        if not (word.bold or names_bits) or column < 0 or word.box.x1 > columns[column][1] + _SNAP:
            return table
        named.setdefault(column, []).append(word)
    if len(named) < max(2, table.column_count - (not names_bits)):
        return table
    top = min(word.box.y0 for found in named.values() for word in found)
    header = [
        Cell(0, column, 1, 1, Box(start, top, end, table.box.y0), tuple(named.get(column, ())), header=True)
        for column, (start, end) in enumerate(columns)
    ]
    below = [replace(cell, row=cell.row + 1) for cell in table.cells]
    return replace(table, box=replace(table.box, y0=top), row_count=table.row_count + 1, cells=(*header, *below))


def _extent(table: TableBlock, column: int) -> tuple[float, float]:
    boxes = [cell.box for cell in table.cells if cell.column == column and cell.column_span == 1] or [table.box]
    return min(box.x0 for box in boxes), max(box.x1 for box in boxes)


def _above_double_line(cells: Sequence[Cell], row_starts: Sequence[int]) -> int:
    """The number of rows with words above the only double line within a table, which sets off its header; 0 for none."""
    heights = {cell.row: cell.box.height for cell in cells if cell.row_span == 1}
    inside = range(row_starts[0] + 1, row_starts[-1])
    doubled = [row for row in inside if row not in row_starts and heights.get(row, _DOUBLE + 1) <= _DOUBLE]
    return bisect_left(row_starts, doubled[0]) if len(doubled) == 1 else 0


def _grid_lines(positions: Iterable[float]) -> list[float]:
    """Grid lines from the positions of lines and their ends, near ones made one."""
    groups: list[list[float]] = []
    for position in sorted(positions):
        if groups and position - groups[-1][-1] <= _SNAP / 2 and position - groups[-1][0] <= _SNAP:
            groups[-1].append(position)
        else:
            groups.append([position])
    return [sum(group) / len(group) for group in groups]


def _areas(rows: list[float], columns: list[float], across: list[Rule], down: list[Rule]) -> list[list[int]]:
    """Number the areas of the grid: neighbouring fields without a line between them have the same number."""
    height, width = len(rows) - 1, len(columns) - 1
    area = [[-1] * width for _ in range(height)]
    right = [
        [_covered(down, columns[column + 1], rows[row], rows[row + 1]) for column in range(width - 1)]
        for row in range(height)
    ]
    below = [
        [_covered(across, rows[row + 1], columns[column], columns[column + 1]) for column in range(width)]
        for row in range(height - 1)
    ]
    count = 0
    for row in range(height):
        for column in range(width):
            if area[row][column] >= 0:
                continue
            area[row][column] = count
            front = [(row, column)]
            while front:
                at_row, at_column = front.pop()
                for next_row, next_column, wall in (
                    (at_row, at_column + 1, at_column + 1 < width and not right[at_row][at_column]),
                    (at_row, at_column - 1, at_column > 0 and not right[at_row][at_column - 1]),
                    (at_row + 1, at_column, at_row + 1 < height and not below[at_row][at_column]),
                    (at_row - 1, at_column, at_row > 0 and not below[at_row - 1][at_column]),
                ):
                    if wall and area[next_row][next_column] < 0:
                        area[next_row][next_column] = count
                        front.append((next_row, next_column))
            count += 1
    return area


def _covered(rules: Iterable[Rule], at: float, start: float, end: float) -> bool:
    """Whether lines at a position cover most of a stretch."""
    covered = sum(max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in rules if abs(rule.at - at) <= _SNAP)
    return covered >= _COVERED * (end - start)
