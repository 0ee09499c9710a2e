"""Small PDFs drawn by the tests, and what a conversion found in a form that reads at a glance."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from kgrag.documents.pdf import convert_pdf
from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.conversion import read_structure
from kgrag.documents.pdf.geometry import lines_of
from kgrag.documents.pdf.writing import LineJoiner, cells_of, lines_in

BODY = "Helvetica"
BOLD = "Helvetica-Bold"


class Sheet:
    """Draws at points from the upper left corner; `y` is a line of text's baseline."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.width, self.height = A4
        self._canvas = Canvas(str(path), pagesize=A4)

    def text(self, x: float, y: float, text: str, *, size: float = 10, font: str = BODY) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, self.height - y, text)

    def paragraph(
        self,
        x: float,
        y: float,
        text: str,
        *,
        width: float = 470,
        size: float = 10,
        font: str = BODY,
        pitch: float = 1.25,
    ) -> float:
        """Break a text into lines as a typesetter does, `pitch` sizes apart; returns the next line's baseline."""
        line = ""
        for word in text.split():
            longer = f"{line} {word}".strip()
            if stringWidth(longer, font, size) > width and line:
                self.text(x, y, line, size=size, font=font)
                line, y = word, y + pitch * size
            else:
                line = longer
        self.text(x, y, line, size=size, font=font)
        return y + pitch * size

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self._canvas.line(x0, self.height - y0, x1, self.height - y1)

    def fill(self, x0: float, y0: float, x1: float, y1: float, gray: float = 0.8) -> None:
        self._canvas.setFillGray(gray)
        self._canvas.rect(x0, self.height - y1, x1 - x0, y1 - y0, stroke=0, fill=1)
        self._canvas.setFillGray(0)

    def dot(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """A black picture of one dot, so large."""
        placed = f"{x1 - x0} 0 0 {y1 - y0} {x0} {self.height - y1} cm"
        self._canvas._code.append(f"q {placed} BI /IM true /W 1 /H 1 /BPC 1 ID \x00 EI Q")

    def circle(self, x: float, y: float, radius: float) -> None:
        self._canvas.circle(x, self.height - y, radius)

    def turned(self, x: float, y: float, text: str) -> None:
        self._canvas.saveState()
        self._canvas.translate(x, self.height - y)
        self._canvas.rotate(90)
        self._canvas.setFont(BODY, 8)
        self._canvas.drawString(0, 0, text)
        self._canvas.restoreState()

    def link(self, x: float, y: float, text: str, href: str) -> None:
        self.text(x, y, text)
        width = stringWidth(text, BODY, 10)
        self._canvas.linkURL(href, (x, self.height - y - 2, x + width, self.height - y + 8))

    def inner_link(self, x: float, y: float, text: str, destination: str) -> None:
        """A link to a place of the same file, as `destination` names it."""
        self.text(x, y, text)
        width = stringWidth(text, BODY, 10)
        self._canvas.linkRect("", destination, (x, self.height - y - 2, x + width, self.height - y + 8), relative=1)

    def destination(self, name: str, y: float | None = None) -> None:
        """Name a place of the page, or the whole page."""
        if y is None:
            self._canvas.bookmarkPage(name)
        else:
            self._canvas.bookmarkHorizontalAbsolute(name, self.height - y)

    def bookmark(self, title: str, level: int) -> None:
        self._canvas.bookmarkPage(title)
        self._canvas.addOutlineEntry(title, title, level=level)

    def metadata_title(self, title: str) -> None:
        self._canvas.setTitle(title)

    def grid(self, xs: list[float], ys: list[float], rows: list[list[str]], *, header: bool = True) -> None:
        """A table with all lines; `ys` has one height more than there are rows."""
        for y in ys:
            self.line(xs[0], y, xs[-1], y)
        for x in xs:
            self.line(x, ys[0], x, ys[-1])
        for index, row in enumerate(rows):
            for x, text in zip(xs, row, strict=False):
                self.text(x + 4, ys[index + 1] - 4, text, font=BOLD if header and index == 0 else BODY)

    def crop(self, left: float, bottom: float, right: float, top: float) -> None:
        """Show this part of the sheet alone, in points from its lower left corner."""
        self._canvas.setCropBox((left, bottom, right, top))

    def turn_page(self, degrees: int) -> None:
        """Show the sheet turned clockwise."""
        self._canvas.setPageRotation(degrees)

    def next_page(self) -> None:
        self._canvas.showPage()

    def save(self) -> Path:
        self._canvas.save()
        return self.path

    def convert(self) -> Found:
        """Save what is drawn and convert it without models."""
        return Found(self.save())


class Found:
    """What a conversion found, in a form that reads at a glance."""

    def __init__(self, path: Path) -> None:
        self.document = convert_pdf(path, document_path=path.name, mode="native")
        self.page_blocks = read_structure(path).blocks
        self._joiner = LineJoiner(lines_in(block) for block in self.page_blocks)

    def outline(self) -> list[str]:
        """One line per block: `h2 2.1 Supply`, `- list item`, `text ...`, `table 3x2` (rows and columns, the header's row counted)."""
        lines = []
        for block in self.document.blocks:
            match block.kind:
                case "table":
                    lines.append(f"table {len(block.lines)}x{len(block.rows[0].cells)}")
                case "heading":
                    lines.append(f"h{block.level} {block.text}" if block.level else f"title {block.text}")
                case "list_item":
                    lines.append(block.text.strip())
                case "code":
                    lines.append(f"code {block.text}")
                case _:
                    lines.append(f"text {block.text}")
        return lines

    def headings(self) -> list[str]:
        return [line for line in self.outline() if re.match(r"h\d |title ", line)]

    def tables(self) -> list[TableBlock]:
        return [block for block in self.page_blocks if isinstance(block, TableBlock)]

    def rows(self, table: int = 0) -> list[list[str]]:
        """A table's texts; a cell over several fields is repeated in each."""
        return [[self._text(cell) for cell in row] for row in cells_of(self.tables()[table])]

    def header(self, table: int = 0) -> list[str]:
        found = self.tables()[table]
        return [self._text(cell) for cell in found.cells if cell.header]

    def _text(self, cell: Cell | None) -> str:
        return self._joiner.join(lines_of(cell.words), cell.box.x1) if cell is not None else ""


@pytest.fixture
def sheet(tmp_path: Path) -> Sheet:
    return Sheet(tmp_path / "drawn.pdf")
