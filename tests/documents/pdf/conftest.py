"""Small PDFs drawn by the tests, and what a conversion found in a form that reads at a glance."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docling_core.types.doc.document import ListItem, SectionHeaderItem, TableItem, TextItem, TitleItem
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from kgrag.documents.pdf import PdfConversion, convert_pdf

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
        self, x: float, y: float, text: str, *, width: float = 470, size: float = 10, font: str = BODY
    ) -> float:
        """Break a text into lines as a typesetter does; returns the next line's baseline."""
        line = ""
        for word in text.split():
            longer = f"{line} {word}".strip()
            if stringWidth(longer, font, size) > width and line:
                self.text(x, y, line, size=size, font=font)
                line, y = word, y + 1.25 * size
            else:
                line = longer
        self.text(x, y, line, size=size, font=font)
        return y + 1.25 * size

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self._canvas.line(x0, self.height - y0, x1, self.height - y1)

    def fill(self, x0: float, y0: float, x1: float, y1: float, gray: float = 0.8) -> None:
        self._canvas.setFillGray(gray)
        self._canvas.rect(x0, self.height - y1, x1 - x0, y1 - y0, stroke=0, fill=1)
        self._canvas.setFillGray(0)

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

    def bookmark(self, title: str, level: int) -> None:
        self._canvas.bookmarkPage(title)
        self._canvas.addOutlineEntry(title, title, level=level)

    def grid(self, xs: list[float], ys: list[float], rows: list[list[str]], *, header: bool = True) -> None:
        """A table with all lines; `ys` has one height more than there are rows."""
        for y in ys:
            self.line(xs[0], y, xs[-1], y)
        for x in xs:
            self.line(x, ys[0], x, ys[-1])
        for index, row in enumerate(rows):
            for x, text in zip(xs, row, strict=False):
                self.text(x + 4, ys[index + 1] - 4, text, font=BOLD if header and index == 0 else BODY)

    def next_page(self) -> None:
        self._canvas.showPage()

    def save(self) -> Path:
        self._canvas.save()
        return self.path

    def convert(self) -> Found:
        """Save what is drawn and convert it without models."""
        return Found(convert_pdf(self.save(), mode="native"))


class Found:
    """What a conversion found, in a form that reads at a glance."""

    def __init__(self, conversion: PdfConversion) -> None:
        self.conversion = conversion
        self.document = conversion.document
        self.report = conversion.report

    def outline(self) -> list[str]:
        """One line per item: `h2 2.1 Supply`, `- list item`, `text ...`, `table 3x2`."""
        lines = []
        for item, _ in self.document.iterate_items():
            match item:
                case TableItem():
                    lines.append(f"{item.label.value} {item.data.num_rows}x{item.data.num_cols}")
                case TitleItem():
                    lines.append(f"title {item.text}")
                case SectionHeaderItem():
                    lines.append(f"h{item.level} {item.text}")
                case ListItem():
                    lines.append(f"{item.marker} {item.text}")
                case TextItem():
                    lines.append(f"{item.label.value} {item.text}")
        return lines

    def headings(self) -> list[str]:
        return [line for line in self.outline() if re.match(r"h\d |title ", line)]

    def rows(self, table: int = 0) -> list[list[str]]:
        """A table's texts; a cell over several fields is repeated in each."""
        return [[cell.text for cell in row] for row in self.document.tables[table].data.grid]

    def header(self, table: int = 0) -> list[str]:
        return [cell.text for cell in self.document.tables[table].data.table_cells if cell.column_header]


@pytest.fixture
def sheet(tmp_path: Path) -> Sheet:
    return Sheet(tmp_path / "drawn.pdf")
