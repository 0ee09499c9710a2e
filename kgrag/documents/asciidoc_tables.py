"""Tables of AsciiDoc to HTML: cells that each begin with a bar, and values with something between them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from html import escape

__all__ = ["table_html"]

CELL = re.compile(r"(?:(?<!\S)(?:(\d+)?(?:\.(\d+))?\+|\d+\*)?[<^>.]{0,4}[adehlmsv]?)?(?<!\\)\|")
"""What begins a cell: how many columns and rows it has, and its style, before the bar."""
MAX_SPAN = 50
COLUMNS = re.compile(r"cols\s*=\s*\"?([^\"\]]*)\"?")
HEADER = re.compile(r"header|%header")
FORMAT = re.compile(r"format\s*=\s*\"?([a-z]+)")
SEPARATOR = re.compile(r"separator\s*=\s*\"?(\\t|[^\"\s\]])")
VALUE_SEPARATORS = {"csv": ",", "tsv": "\t", "dsv": ":", ",": ",", ":": ":"}
"""By a table's format, or by what its delimiter begins with."""


class Unquoted(csv.excel):
    """Values between which colons stand."""

    quoting = csv.QUOTE_NONE


def table_html(delimiter: str, inside: list[str], *, attributes: str, read: Callable[[str], str]) -> str:
    """Turn the lines between a table's delimiters into HTML; `attributes` are the table's, `read` turns the text of a cell into HTML."""
    text, first_row = "\n".join(inside), next((line for line in inside if line), "")
    said = SEPARATOR.search(attributes)
    form = FORMAT.search(attributes)
    separator = VALUE_SEPARATORS.get(form[1] if form else delimiter[0])
    if separator:
        return _values_table(
            attributes, inside, "\t" if said and said[1] == "\\t" else said[1] if said else separator, read
        )
    mark = said[1] if said else delimiter[0]
    cell = CELL if mark == "|" else re.compile(CELL.pattern.replace(r"\|", re.escape(mark)))
    marks = list(cell.finditer(text))
    if not marks:
        return f"<pre>{escape(text)}</pre>"
    before = read(text[: marks[0].start()])
    width = _columns(attributes, first_row, cell)
    rows: list[list[str]] = []
    free = [0]  # columns that are left in the last row, and in those below it that its cells reach into
    for begun, following in zip(marks, [*marks[1:], None], strict=True):
        said_there = (
            text[begun.end() : following.start() if following else len(text)].strip().replace(f"\\{mark}", mark)
        )
        columns, height = _span(begun[1]), _span(begun[2])
        while free[0] <= 0:
            rows.append([])
            free = [*free[1:], *([width] if len(free) == 1 else ())]
        free.extend([width] * (height - len(free)))
        free[:height] = [left - columns for left in free[:height]]
        inside_cell = read(said_there)
        rows[-1].append(f' colspan="{columns}" rowspan="{height}">{inside_cell}')
    has_header = _has_header(attributes, inside, is_whole=len(cell.findall(first_row)) == width)
    written = []
    for number, row in enumerate(rows):
        tag = "th" if number == 0 and has_header else "td"
        written.append(f"<tr>{''.join(f'<{tag}{cell}</{tag}>' for cell in row)}</tr>")
    return f"{before}<table>{''.join(written)}</table>"


def _values_table(attributes: str, inside: list[str], separator: str, read: Callable[[str], str]) -> str:
    """Read a table of values: CSV, or without quotes where a colon stands between them."""
    dialect = Unquoted if separator == ":" else csv.excel
    rows = [row for row in csv.reader(inside, dialect, delimiter=separator) if row]
    has_header = _has_header(attributes, inside, is_whole=True)
    written = []
    for number, row in enumerate(rows):
        tag = "th" if number == 0 and has_header else "td"
        cells = (f"<{tag}>{read(value.strip())}</{tag}>" for value in row)
        written.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(written)}</table>"


def _has_header(attributes: str, inside: list[str], *, is_whole: bool) -> bool:
    """Whether the first row heads columns: where that is said, or it is whole and nothing is on the line below."""
    at = next((number for number, line in enumerate(inside) if line), len(inside))
    blank_below = at + 1 < len(inside) and not inside[at + 1]
    return HEADER.search(attributes) is not None or (blank_below and is_whole)


def _columns(attributes: str, first_row: str, cell: re.Pattern[str]) -> int:
    if found := COLUMNS.search(attributes):
        width = 0
        for column in re.split(r"[,;]", found[1]):
            repeated = re.match(r"\s*(\d+)\*", column)
            width += _span(repeated[1]) if repeated else 1
        return width
    return max(1, sum(_span(mark[1]) for mark in cell.finditer(first_row)))


def _span(written: str | None) -> int:
    return min(int(written[:4]), MAX_SPAN) if written else 1
