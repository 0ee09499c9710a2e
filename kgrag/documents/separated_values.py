"""Tables as text (`.csv`, `.tsv`) to blocks: what stands above and below a table as paragraphs, its header and its rows as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from kgrag.documents.blocks import Block, BlockDocument, RemovedLine, TableRow, join_header_rows
from kgrag.documents.separators import Rows, separated
from kgrag.documents.table_headers import Cells, count_headers, first_of_table, is_header, with_spans
from kgrag.documents.text_encoding import PACKED, decode
from kgrag.errors import DocumentError

__all__ = ["MAX_CELLS", "MAX_ROWS", "convert_separated_values"]

MAX_ROWS, MAX_CELLS = 100_000, 1_000_000
"""Of a file; what comes behind is counted and left out. A list of prices or parts has fewer, a log or a dump more."""
PREFERRED = {".tsv": "\t", ".tab": "\t", ".csv": ","}
COMMENT = re.compile(r"[#%]+\s*")
"""Before a line above a table that says something about it."""
NEARLY_ALL = 0.95
"""Of rows have no more cells than a table has columns; cells beyond are in the last one."""
RAGGED = 4
"""So many times shorter than its widest rows is the middle one of what is no table."""
TITLE_CHARACTERS = 120


def convert_separated_values(data: bytes, path: Path) -> BlockDocument:
    """Convert a `.csv` or `.tsv` file, packed or not, in whatever encoding. Raises `DocumentError` for what is no text.

    Rows beyond `MAX_ROWS` and `MAX_CELLS` are counted in a note.
    """
    decoded = decode(data, path)
    suffix = (Path(path.stem) if path.suffix.lower() == PACKED else path).suffix.lower()
    rows = Rows(decoded.text, separated(decoded.text, preferred=PREFERRED.get(suffix, "")))
    read = _read(rows)
    if not any(map(str.isalnum, decoded.text)):
        raise DocumentError(path, "has no cells but empty ones")
    notes = [decoded.note] if decoded.note else []
    if read.left_out:
        notes.append(
            f"has {len(read.rows) + read.left_out:,} rows: the first {len(read.rows):,} are read, {read.left_out:,} are left out "
            f"(at most {MAX_ROWS:,} rows and {MAX_CELLS:,} cells of a file): divide it"
        )
    if rows.unclosed:
        notes.append(f"{rows.unclosed:,} lines have a quotation mark that is not closed: read as a letter")
    tables = _Tables()
    for parted, run in groupby(read.rows, key=any):
        if parted:
            tables.add(list(run))
    if tables.beyond:
        notes.append(f"{tables.beyond:,} rows have more cells than their table has columns: they stand in the last one")
    return BlockDocument(tuple(tables.blocks()), "", tuple(tables.removed), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Read:
    rows: list[Cells]
    """An empty one where lines were empty."""
    left_out: int
    """Rows with text beyond the limit."""


def _read(rows: Rows) -> _Read:
    found: list[Cells] = []
    kept = cells = left_out = 0
    for row in rows:
        written = [" ".join(cell.split()) for cell in row]
        if not any(written):
            written = []
        if kept >= MAX_ROWS or cells + len(written) > MAX_CELLS:
            left_out += bool(written)
        elif written or (found and found[-1]):
            found.append(written)
            kept += bool(written)
            cells += len(written)
    return _Read(found, left_out)


@dataclass(slots=True)
class _Table:
    header: TableRow | None
    width: int
    rows: list[Cells]
    written_header: frozenset[tuple[str, ...]]
    """The header's rows, which some programs write again on each page."""


@dataclass(frozen=True, slots=True)
class _Line:
    """What stands beside tables."""

    text: str
    cells: Cells
    is_title: bool
    """Whether it can be the title of a table that follows."""
    is_below: bool
    """Whether it belongs to the table before it."""


class _Tables:
    """What the runs of rows without an empty one between them make."""

    def __init__(self) -> None:
        self.removed: list[RemovedLine] = []
        self.beyond = 0
        """Rows with more cells than their table has columns."""
        self._found: list[_Table | _Line] = []

    def add(self, rows: list[Cells]) -> None:
        """Add a run; what goes on with the table before it becomes part of that."""
        last_full = next((number for number in reversed(range(len(rows))) if len(rows[number]) > 1), 0)
        rows = [_trimmed(row) for row in rows]
        width = _width(rows)
        first = first_of_table(rows, width)
        end = max(first, last_full) + 1 if width > 1 else len(rows)
        table = rows[first:end]
        last = self._found[-1] if self._found else None
        if (
            isinstance(last, _Line)
            and not first
            and len(last.cells) == width > 1
            and is_header([last.cells, *table], width)
        ):
            self._found.pop()  # an empty line below the header
            table = [last.cells, *table]
        headers = count_headers(table, width)
        if (
            isinstance(last, _Table)
            and width == last.width
            and not first
            and (tuple(table[0]) in last.written_header or not headers)
        ):
            self._extend(last, table)
            table = []
        self._found += [_line(row) for row in rows[:first]]
        if table and ((width == 1 and not headers) or len(table) == 1 or _is_ragged(table, width)):
            self._found += [_line(row, can_be_title=len(table) == 1) for row in table]
        elif table:
            written = [_filled_up(row, width) for row in with_spans(table[:headers])]
            header = join_header_rows([TableRow(tuple(row)) for row in written])
            made = _Table(header, width, [], frozenset(map(tuple, table[:headers])))
            self._found.append(made)
            self._extend(made, table[headers:])
        self._found += [_line(row, is_below=True) for row in rows[end:]]

    def _extend(self, table: _Table, rows: Sequence[Cells]) -> None:
        for row in rows:
            if tuple(row) in table.written_header:
                self.removed.append(RemovedLine("repeated header", " | ".join(row)))
                continue
            self.beyond += len(row) > table.width
            table.rows.append(_filled_up(row, table.width))

    def blocks(self) -> Iterator[Block]:
        """Yield everything in its order; the first line above a table is its title, where it can be."""
        title_may_come = True
        for number, one in enumerate(self._found):
            if isinstance(one, _Line):
                is_title = title_may_come and one.is_title and self._is_above_table(number)
                yield Block("heading", one.text, 1) if is_title else Block("paragraph", one.text)
                title_may_come = one.is_below
                continue
            title_may_come = True
            if one.rows:
                yield Block("table", header=one.header, rows=tuple(TableRow(tuple(row)) for row in one.rows))
            elif one.header:
                yield Block("paragraph", " | ".join(filter(None, one.header.cells)))

    def _is_above_table(self, number: int) -> bool:
        others = (one for one in self._found[number + 1 :] if isinstance(one, _Table) or one.is_below)
        return isinstance(next(others, None), _Table)


def _trimmed(row: Cells) -> Cells:
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _filled_up(row: Cells, width: int) -> Cells:
    """Return a row with as many cells as its table has columns; the last one has what is beyond."""
    if len(row) > width:
        return [*row[: width - 1], " | ".join(filter(None, row[width - 1 :]))]
    return row + [""] * (width - len(row))


def _width(rows: Sequence[Cells]) -> int:
    """Say how many columns nearly all rows have, and the first one that has most of them, which may be the header."""
    lengths = sorted(map(len, rows))
    usual = lengths[min(len(lengths) - 1, int(NEARLY_ALL * len(lengths)))]
    return max([usual, *(len(row) for row in rows[: first_of_table(rows, usual) + 1])])


def _is_ragged(rows: Sequence[Cells], width: int) -> bool:
    """Whether rows are lists of their own, and no table."""
    return sorted(map(len, rows))[len(rows) // 2] < width / RAGGED


def _line(row: Cells, *, can_be_title: bool = True, is_below: bool = False) -> _Line:
    """Write what stands beside a table: two cells as what one says of the other."""
    cells = [cell for cell in row if cell]
    comment = COMMENT.match(cells[0])
    text = ": ".join((cells[0].rstrip(":"), cells[1])) if len(cells) == 2 else " | ".join(cells)
    is_title = len(cells) == 1 and comment is None and len(text) <= TITLE_CHARACTERS and text[-1] not in ".:;"
    return _Line(
        COMMENT.sub("", text, count=1) if comment else text, cells, is_title and can_be_title and not is_below, is_below
    )
