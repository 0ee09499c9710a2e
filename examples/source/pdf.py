"""Blocks as a PDF the way vendors print data sheets: running header, page numbers, contents, tables that break across pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import registerFont, registerFontFamily
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    KeepTogether,
    ListFlowable,
    ListItem,
    PageTemplate,
)
from reportlab.platypus import PageBreak as NewPage
from reportlab.platypus import Paragraph as Text
from reportlab.platypus import Table as Grid
from reportlab.platypus.tableofcontents import TableOfContents

from source.blocks import Block, Bullets, Contents, Heading, PageBreak, Paragraph, Table

__all__ = ["HELVETICA", "VERA", "Face", "write_pdf"]

INK = HexColor("#1f2d33")
ACCENT = HexColor("#0b5563")
RULE = HexColor("#b9c7cc")
ZEBRA = HexColor("#f1f5f6")
MARGIN = 20 * mm
LONG_TABLE_ROWS = 14
"""A table longer than this may begin at the foot of a page and break; a shorter one is kept together with its caption."""
LONG_TABLE_FOOT = 40 * mm
"""Height that has to be free for it to begin."""
HEADING_FOOT = 45 * mm
"""Height that has to be free for a heading, so that it does not stand alone at the foot of a page."""


@dataclass(frozen=True, slots=True)
class Face:
    """The fonts of one document."""

    regular: str
    bold: str
    mono: str
    size: float


HELVETICA = Face("Helvetica", "Helvetica-Bold", "Courier", 9.5)
"""The viewer's own fonts; signs that they lack (Ω) are set in Vera."""
VERA = Face("Vera", "VeraBd", "Courier", 8.6)
"""Embedded; the files come with reportlab."""


class _DataSheet(BaseDocTemplate):  # type: ignore[misc]  # reportlab is untyped
    """Notes each heading for the contents and draws header and footer."""

    def __init__(self, path: Path, face: Face, title: str, running: str) -> None:
        super().__init__(
            str(path), pagesize=A4, title=title, author="Tarnfell Instruments", invariant=1, pageCompression=1,
            leftMargin=MARGIN, rightMargin=MARGIN, topMargin=26 * mm, bottomMargin=22 * mm,
        )  # fmt: skip
        self.face, self.running, self.heading = face, running, title
        frame = Frame(self.leftMargin, self.bottomMargin, self.width, self.height, 0, 0, 0, 0)
        self.addPageTemplates([PageTemplate(frames=[frame], onPage=self.draw_margins)])

    def draw_margins(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        """Running header from the second page, page number on every page."""
        width, height = A4
        canvas.saveState()
        canvas.setStrokeColor(RULE)
        canvas.setFillColor(INK)
        if canvas.getPageNumber() > 1:
            canvas.setFont(self.face.bold, 8)
            canvas.drawString(MARGIN, height - 15 * mm, self.heading)
            canvas.setFont(self.face.regular, 8)
            canvas.drawRightString(width - MARGIN, height - 15 * mm, self.running)
            canvas.line(MARGIN, height - 18 * mm, width - MARGIN, height - 18 * mm)
        canvas.line(MARGIN, 16 * mm, width - MARGIN, 16 * mm)
        canvas.setFont(self.face.regular, 7.5)
        canvas.drawString(MARGIN, 11.5 * mm, "Tarnfell Instruments · Subject to change without notice")
        canvas.drawRightString(width - MARGIN, 11.5 * mm, f"Page {canvas.getPageNumber()}")
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - the name is reportlab's
        """Enter a heading in the contents and the outline."""
        level = getattr(flowable, "outline_level", None)
        if level is None:
            return
        text = flowable.getPlainText()
        name = f"heading-{self.canv.getPageNumber()}-{text}"
        self.canv.bookmarkPage(name)
        self.canv.addOutlineEntry(text, name, level, closed=False)
        self.notify("TOCEntry", (level, text, self.canv.getPageNumber(), name))


def write_pdf(path: Path, blocks: Sequence[Block], face: Face) -> None:
    """Write one data sheet; the same blocks give the same bytes."""
    for name, file in (("Vera", "Vera.ttf"), ("VeraBd", "VeraBd.ttf")):
        registerFont(TTFont(name, file))
    registerFontFamily("Vera", normal="Vera", bold="VeraBd", italic="Vera", boldItalic="VeraBd")
    title, subtitle = blocks[0], blocks[1]
    if not isinstance(title, Heading) or not isinstance(subtitle, Paragraph):
        raise ValueError(f"{path}: a text begins with its title and a paragraph that names the document")
    running = re.sub(r"\*", "", subtitle.text).split(" · ")
    document = _DataSheet(path, face, title.text, " · ".join(running[1:3]))
    document.multiBuild([flowable for block in blocks for flowable in _flowables(block, face)])


def _style(name: str, face: Face, **changes: Any) -> ParagraphStyle:
    values = {
        "fontName": face.regular,
        "fontSize": face.size,
        "leading": face.size * 1.4,
        "textColor": INK,
        "spaceAfter": 6,
    }
    return ParagraphStyle(name, **(values | changes))


def _markup(text: str, face: Face) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"`(.+?)`", rf'<font name="{face.mono}">\1</font>', text)
    return text if face is VERA else re.sub(r"([Ωµ≤≥]+)", r'<font name="Vera">\1</font>', text)


def _flowables(block: Block, face: Face) -> list[Flowable]:
    match block:
        case Heading(level, text):
            size = {1: 21, 2: 14, 3: 11}[level]
            style = _style(
                f"heading-{level}", face, fontName=face.bold, fontSize=size, leading=size * 1.25, textColor=ACCENT if level < 3 else INK,
                spaceBefore={1: 0, 2: 14, 3: 9}[level], spaceAfter={1: 4, 2: 6, 3: 4}[level], keepWithNext=1,
            )  # fmt: skip
            heading = Text(_markup(text, face), style)
            if level > 1 and text != "Contents":
                heading.outline_level = level - 2
            return [CondPageBreak(HEADING_FOOT), heading]
        case Paragraph(text):
            return [Text(_markup(text, face), _style("body", face))]
        case Bullets(items):
            style = _style("bullet", face, spaceAfter=2)
            entries = [ListItem(Text(_markup(item, face), style), leftIndent=12, value="•") for item in items]
            return [
                ListFlowable(entries, bulletType="bullet", bulletFontSize=face.size, leftIndent=12),
                Text("", _style("gap", face)),
            ]
        case Table():
            return _table(block, face)
        case PageBreak():
            return [NewPage()]
        case Contents():
            contents = TableOfContents()
            contents.levelStyles = [
                _style("contents-1", face, fontName=face.bold, spaceBefore=4, spaceAfter=1),
                _style("contents-2", face, leftIndent=14, spaceAfter=1),
            ]
            contents.dotsMinLevel = 0
            return [contents]


def _table(table: Table, face: Face) -> list[Flowable]:
    cell = _style("cell", face, fontSize=face.size - 0.7, leading=(face.size - 0.7) * 1.3, spaceAfter=0)
    head = _style(
        "head",
        face,
        fontName=face.bold,
        fontSize=cell.fontSize,
        leading=cell.leading,
        textColor=HexColor("#ffffff"),
        spaceAfter=0,
    )
    rows = [[Text(_markup(text, face), head) for text in table.header]]
    rows += [[Text(_markup(text, face), cell) for text in row] for row in table.rows]
    longest = [min(44, max(8, *(len(row[i]) for row in (table.header, *table.rows)))) for i in range(len(table.header))]
    width = A4[0] - 2 * MARGIN
    grid = Grid(rows, colWidths=[width * length / sum(longest) for length in longest], repeatRows=1, spaceAfter=10)
    grid.setStyle(
        [
            ("BACKGROUND", (0, 0), (-1, 0), ACCENT),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [HexColor("#ffffff"), ZEBRA]),
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("TOPPADDING", (0, 0), (-1, -1), 2.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 3.5),
        ]
    )
    caption = Text(
        _markup(table.caption, face),
        _style("caption", face, fontName=face.bold, fontSize=face.size - 0.7, spaceBefore=4),
    )
    if len(table.rows) > LONG_TABLE_ROWS:
        return [CondPageBreak(LONG_TABLE_FOOT), caption, grid]
    return [KeepTogether([caption, grid])]
