"""Tables drawn with characters in plain text, as text browsers, database shells and Docutils draw them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

__all__ = ["drawn_table", "parted_at_tables"]

SIDES = "│║┃|"
CORNER = "+┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╒╕╘╛╞╡╤╧╪╓╖╙╜╟╢╥╨╫┏┓┗┛┣┫┳┻╋╭╮╯╰"
FRAME = re.compile(rf"\s*[{CORNER}{SIDES}](?:[-=─═━┄┈]+[{CORNER}{SIDES}])+\s*")
HEADER_FRAME = re.compile(r"\s*.[=═━]{2}")
"""A line between a header and the rows below it, where others are thinner."""
CELLS = re.compile(rf"\s*[{SIDES}].*[{SIDES}]\s*")
FEWEST_SIDES = 3
"""Of a table: a box around a text has two."""
CENTRED = re.compile(r" {2,}\S.*\S {2,}| {2,}\S {2,}")


def _is_drawn(line: str) -> bool:
    """Whether a line may be one of a drawn table: a frame, or cells between sides."""
    return FRAME.fullmatch(line) is not None or CELLS.fullmatch(line) is not None


def parted_at_tables(paragraph: Sequence[str]) -> Iterator[list[str]]:
    """Part a paragraph where a drawn table begins or ends: its title may stand right above it."""
    run: list[str] = []
    for drawn, group in groupby(paragraph, key=_is_drawn):
        lines = list(group)
        if drawn and drawn_table(lines):
            yield from ([run] if run else [])
            yield lines
            run = []
        else:
            run += lines
    if run:
        yield run


def drawn_table(lines: Sequence[str]) -> str:
    """Write a drawn table as one of HTML; nothing where the lines are none, or cells go over columns.

    A row may have several lines where frames stand between the rows; where only the header is set off, each line is a row, or goes on with
    the one above it if its first cell is empty. The first row is a header where a frame of its own is below it, or its cells are centred.
    """
    frames = [i for i, line in enumerate(lines) if FRAME.fullmatch(line)]
    if len(frames) < 2 or frames[0] != 0 or not all(map(_is_drawn, lines)):
        return ""
    places = [i for i, character in enumerate(lines[0]) if character in CORNER + SIDES]
    if len(places) < FEWEST_SIDES:
        return ""
    parts = [lines[a + 1 : b] for a, b in zip(frames, [*frames[1:], len(lines)], strict=True) if b > a + 1]
    split = [[_cells(line, places) for line in part] for part in parts]
    if not parts or any(cells is None for part in split for cells in part):
        return ""
    groups = [[cells for cells in part if cells is not None] for part in split]
    heads = len(groups) > 1 and (
        len(groups) == 2
        or any(HEADER_FRAME.match(lines[i]) for i in frames[1:-1])
        or any(CENTRED.fullmatch(cell) for cell in groups[0][0])
    )
    by_line = len(groups) == 1 or (heads and len(groups) == 2)
    rows: list[list[str]] = []
    for number, group in enumerate(groups):
        if by_line and (number or not heads):
            rows += _rows_by_line(group)
        else:
            rows.append([_joined(column) for column in zip(*group, strict=True)])
    return "\n".join(
        ["<table>", *(_row(row, "th" if heads and place == 0 else "td") for place, row in enumerate(rows)), "</table>"]
    )


def _cells(line: str, places: Sequence[int]) -> list[str] | None:
    """Part a line at the sides where the frame has its corners, or else at all its sides; None where they are others."""
    if len(line) > places[-1] and all(line[place] in SIDES for place in places):
        return [line[a + 1 : b] for a, b in pairwise(places)]
    cells = re.split(f"[{SIDES}]", line.strip())[1:-1]  # wide letters take two places
    return cells if len(cells) == len(places) - 1 else None


def _rows_by_line(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    rows: list[list[str]] = []
    for cells in lines:
        if rows and not cells[0].strip():
            rows[-1] = [_joined(pair) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append([cell.strip() for cell in cells])
    return rows


def _joined(cells: Sequence[str]) -> str:
    return " ".join(filter(None, (cell.strip() for cell in cells)))


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
