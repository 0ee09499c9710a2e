"""Forty tables of reports and datasheets, ours beside other finders: `python -m benchmarks.pdf_tables [--only NAMES] [--show]`.

The tables were drawn once, seeded: a file, a page of it, and one of the tables that a person sees there, 32 from annual and quarterly
reports and 8 from datasheets. `pdf_tables_truth.jsonl` says for each what the rendered page shows: number of columns (signs are none),
the heading of each column read from top to bottom, and the unit that holds for the table. Every second table was held back while the rules
of `kgrag/documents/pdf/value_tables.py` were written. A table is right where all three are. Other finders name no header: theirs is taken
to be the rows above the first one in which most cells after the first have a number, a merged cell filled to the right; columns of signs
only are counted as none, and text above the table may name the unit. They need `pip install pdfplumber camelot-py`.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.documents.pdf.blocks import TableBlock
from kgrag.documents.pdf.geometry import lines_of
from kgrag.documents.pdf.outline import read_outline
from kgrag.documents.pdf.pages import read_pages
from kgrag.documents.pdf.structure import recover_structure

TRUTH = Path(__file__).with_name("pdf_tables_truth.jsonl")
HALVES = ("develop", "held back")
_TOKEN = re.compile(r"[^\W_]+|[%$&]")
_NOTE = re.compile(r"\(\w\)|[⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾]+")
_NUMBER = re.compile(r"^\W*\d[\d.,]*\W*$")
_SIGNS = re.compile(r"^[\s$€£%()—–-]*$")


@dataclass(frozen=True)
class Drawn:
    """A table of the list, and what the page shows of it."""

    file: str
    page: int
    index: int
    """Which table of the page, from the top, from 1."""
    middle: float
    """A place inside the table, as a share of the page's height."""
    half: str
    columns: int
    header: list[str]
    units: str

    @property
    def path(self) -> Path:
        """The file."""
        return next(DATA.glob(f"*/**/{self.file}.pdf"))


@dataclass(frozen=True)
class FoundTable:
    """What a finder says of a table."""

    top: float
    bottom: float
    header: tuple[str, ...]
    """The heading of each column."""
    unit_text: str
    """Where the unit may stand."""


@dataclass(frozen=True)
class Verdict:
    """Which parts of a table are right."""

    columns: bool = False
    header: bool = False
    units: bool = False

    @property
    def right(self) -> bool:
        """All of them."""
        return self.columns and self.header and self.units


Finder = Callable[[Drawn], list[FoundTable]]


def tokens(text: str) -> frozenset[str]:
    """Words, numbers and signs of a heading, without references to notes."""
    return frozenset(_TOKEN.findall(_NOTE.sub(" ", text.casefold().replace("®", ""))))


def judge(drawn: Drawn, tables: Sequence[FoundTable]) -> Verdict:
    """Compare with the table at the drawn place; a heading may have the unit's words besides its own, and nothing else."""
    here = [table for table in tables if table.top <= drawn.middle <= table.bottom]
    if not here:
        return Verdict()
    table = max(here, key=lambda table: table.bottom - table.top)
    units = tokens(drawn.units)
    header = len(table.header) == drawn.columns and all(
        tokens(wanted) <= tokens(found) <= tokens(wanted) | units
        for wanted, found in zip(drawn.header, table.header, strict=True)
    )
    named = units <= tokens(" ".join((*table.header, table.unit_text)))
    return Verdict(len(table.header) == drawn.columns, header, named)


@cache
def _structure(path: Path) -> tuple[dict[int, float], list[TableBlock]]:
    pages = list(read_pages(path))
    blocks = recover_structure(pages, read_outline(path)).blocks
    heights = {page.number: page.height for page in pages}
    return heights, [block for block in blocks if isinstance(block, TableBlock) and not block.index]


def kgrag(drawn: Drawn) -> list[FoundTable]:
    """Find tables as the conversion does."""
    heights, tables = _structure(drawn.path)
    found = []
    for table in (table for table in tables if table.page == drawn.page):
        labels = [""] * table.column_count
        for cell in (cell for cell in table.cells if cell.header):
            text = " ".join(line.text for line in lines_of(cell.words))
            for column in range(cell.column, cell.column + cell.column_span):
                labels[column] = f"{labels[column]} {text}".strip()
        caption = " ".join(line.text for line in table.caption.lines) if table.caption else ""
        height = heights[table.page]
        found.append(FoundTable(table.box.y0 / height, table.box.y1 / height, tuple(labels), caption))
    return found


def _plain(top: float, bottom: float, grid: Sequence[Sequence[str | None]], above: str) -> FoundTable:
    """Read a grid of texts generously."""
    rows = [[cell if cell is None else " ".join(cell.split()) for cell in row] for row in grid]
    width = max((len(row) for row in rows), default=0)
    kept = [i for i in range(width) if any(not _SIGNS.match(row[i] or "") for row in rows if i < len(row))]
    labels = [""] * len(kept)
    for row in rows:
        cells = [row[i] for i in kept if i < len(row)]
        numbers = [bool(_NUMBER.match(cell)) and not re.fullmatch(r"(?:19|20)\d\d", cell) for cell in cells[1:] if cell]
        if sum(numbers) * 2 >= max(1, len(numbers)):
            break
        last = ""
        for number, cell in enumerate(cells):
            last = last if cell is None else cell
            labels[number] = f"{labels[number]} {last}".strip()
    else:
        labels = [" ".join(filter(None, [rows[0][i] if i < len(rows[0]) else ""])) for i in kept] if rows else []
    return FoundTable(top, bottom, tuple(labels), above)


def pdfplumber_finder(strategy: str) -> Finder:
    """Return pdfplumber's finder: by ruling lines (its default) or by the alignment of words."""

    def find(drawn: Drawn) -> list[FoundTable]:
        import pdfplumber

        with pdfplumber.open(drawn.path, pages=[drawn.page]) as document:
            page = document.pages[0]
            settings = {"vertical_strategy": strategy, "horizontal_strategy": strategy}
            found = []
            for table in page.find_tables(settings):
                _, top, _, bottom = table.bbox
                band = page.crop((0, max(0, top - 60), page.width, top)) if top > 1 else None
                above = (band.extract_text() or "") if band else ""
                height = float(page.height)
                found.append(_plain(top / height, bottom / height, table.extract(), above))
            return found

    return find


def camelot_finder(flavor: str) -> Finder:
    """Return camelot's finder, which reads and renders with pypdfium2."""

    def find(drawn: Drawn) -> list[FoundTable]:
        import pypdfium2
        from camelot.io import read_pdf

        document = pypdfium2.PdfDocument(drawn.path)
        page = document[drawn.page - 1]
        height = page.get_height()
        text = page.get_textpage()
        found = []
        for table in read_pdf(str(drawn.path), pages=str(drawn.page), flavor=flavor):
            _, bottom, _, top = table._bbox
            above = text.get_text_bounded(bottom=top, top=min(height, top + 60))
            grid = table.df.to_numpy().tolist()
            found.append(_plain(1 - top / height, 1 - bottom / height, grid, above))
        document.close()
        return found

    return find


def finders() -> Iterator[tuple[str, Finder]]:
    """Yield the finders that are installed."""
    yield "kgrag", kgrag
    if find_spec("pdfplumber"):
        yield "pdfplumber lines", pdfplumber_finder("lines")
        yield "pdfplumber text", pdfplumber_finder("text")
    if find_spec("camelot"):
        yield "camelot lattice", camelot_finder("lattice")
        yield "camelot stream", camelot_finder("stream")
        yield "camelot hybrid", camelot_finder("hybrid")


def drawn_tables() -> list[Drawn]:
    """Return the list."""
    return [Drawn(**row) for row in read_rows(TRUTH)]


def main() -> None:
    """Judge every finder on every drawn table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", help="names of finders")
    parser.add_argument("--show", action="store_true", help="print what is wrong, table by table")
    arguments = parser.parse_args()
    drawn = drawn_tables()
    rows = []
    for name, find in finders():
        if arguments.only and name not in arguments.only:
            continue
        began = time.process_time()
        verdicts = [judge(table, find(table)) for table in drawn]
        seconds = time.process_time() - began
        for table, verdict in zip(drawn, verdicts, strict=True):
            if arguments.show and not verdict.right:
                wrong = [part for part in ("columns", "header", "units") if not getattr(verdict, part)]
                print(f"{name}: {table.file} page {table.page} table {table.index} ({table.half}): {', '.join(wrong)}")
        halves = [
            sum(verdict.right for table, verdict in zip(drawn, verdicts, strict=True) if table.half == half)
            for half in HALVES
        ]
        counts = [sum(getattr(verdict, part) for verdict in verdicts) for part in ("columns", "header", "units")]
        rows.append([name, *map(str, [*counts, sum(halves), *halves]), f"{seconds:.0f}"])
    head = ("finder", "columns", "header", "units", "all three", *(f"{half} (of 20)" for half in HALVES), "CPU s")
    print_table(f"Right tables of {len(drawn)}", head, rows, [])


if __name__ == "__main__":
    main()
