"""Blocks as DOCX; slides as PPTX; tables as XLSX; and the same bytes each time."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import docx
import openpyxl
import pptx
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph as WordParagraph
from openpyxl.styles import Font, PatternFill
from pptx.util import Inches
from pptx.util import Pt as SlidePt

from source.blocks import Block, Bullets, Contents, Heading, PageBreak, Paragraph, Table

__all__ = ["write_docx", "write_pptx", "write_xlsx"]

MADE_AT = datetime(2025, 5, 6, 9, 0, 0)
ACCENT = "0B5563"


def write_docx(path: Path, blocks: Sequence[Block]) -> None:
    """Write a Word document with heading styles, list bullets and tables."""
    document = docx.Document()
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].font.size = Pt(10.5)
    for block in blocks:
        match block:
            case Heading(level, text):
                heading = document.add_heading(text, level=level - 1)  # 0: the style "Title"
                for run in heading.runs:
                    run.font.color.rgb = RGBColor.from_string(ACCENT)
                if level == 1:
                    document.core_properties.title = text
            case Paragraph(text):
                _add_runs(document.add_paragraph(), text)
            case Bullets(items):
                for item in items:
                    _add_runs(document.add_paragraph(style="List Bullet"), item)
            case Table(caption, header, rows):
                document.add_paragraph(caption, style="Caption")
                table = document.add_table(rows=0, cols=len(header), style="Light Grid Accent 1")
                for row in (header, *rows):
                    for cell, text in zip(table.add_row().cells, row, strict=True):
                        cell.text = text.replace("**", "").replace("`", "")
                document.add_paragraph()
            case PageBreak() | Contents():
                raise ValueError(f"{path}: page breaks and a table of contents are made in PDF only")
    document.core_properties.author = "Tarnfell Instruments"
    document.core_properties.created = document.core_properties.modified = MADE_AT
    buffer = io.BytesIO()
    document.save(buffer)
    _write_same_bytes(path, buffer)


def write_pptx(path: Path, blocks: Sequence[Block]) -> None:
    """Write slides: each heading of level 2 begins one; the paragraphs, bullets and the table after it fill it."""
    deck = pptx.Presentation()
    deck.slide_width, deck.slide_height = Inches(10), Inches(5.625)
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    top = int(Inches(1.35))
    for block in blocks:
        match block:
            case Heading(1, text):
                slide.shapes.title.text = text
                slide.shapes.title.top, slide.shapes.title.left, slide.shapes.title.width = (
                    Inches(1.5),
                    Inches(0.5),
                    Inches(9),
                )
                deck.core_properties.title = text
            case Heading(_, text):
                slide = deck.slides.add_slide(deck.slide_layouts[5])
                slide.shapes.title.text = text
                slide.shapes.title.left, slide.shapes.title.top = Inches(0.5), Inches(0.3)
                slide.shapes.title.width, slide.shapes.title.height = Inches(9), Inches(0.8)
                slide.shapes.title.text_frame.paragraphs[0].font.size = SlidePt(28)
                top = int(Inches(1.25))
            case Paragraph(text) if len(deck.slides) == 1:
                slide.placeholders[1].text = text.replace("**", "")
                slide.placeholders[1].left, slide.placeholders[1].top, slide.placeholders[1].width = (
                    Inches(0.5),
                    Inches(3),
                    Inches(9),
                )
            case Paragraph(text) | Bullets((text, *_)):
                lines = block.items if isinstance(block, Bullets) else (text,)
                height = Inches(0.38 * len(lines) + 0.2)
                frame = slide.shapes.add_textbox(Inches(0.5), top, Inches(9), height).text_frame
                frame.word_wrap = True
                for number, line in enumerate(lines):
                    paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
                    paragraph.text = f"• {line}" if isinstance(block, Bullets) else line.replace("**", "")
                    paragraph.font.size = SlidePt(16)
                top += height + Inches(0.1)
            case Table(_, header, rows):
                height = Inches(0.36 * (len(rows) + 1))
                table = slide.shapes.add_table(len(rows) + 1, len(header), Inches(0.5), top, Inches(9), height).table
                for i, row in enumerate((header, *rows)):
                    for j, text in enumerate(row):
                        table.cell(i, j).text = text
                        table.cell(i, j).text_frame.paragraphs[0].font.size = SlidePt(14)
                top += height + Inches(0.15)
            case _:
                raise ValueError(
                    f"{path}: slides have headings, paragraphs, bullets and tables, not {type(block).__name__}"
                )
    deck.core_properties.author = "Tarnfell Instruments"
    deck.core_properties.created = deck.core_properties.modified = MADE_AT
    deck.core_properties.last_modified_by = "Tarnfell Instruments"
    buffer = io.BytesIO()
    deck.save(buffer)
    _write_same_bytes(path, buffer)


def write_xlsx(path: Path, blocks: Sequence[Block]) -> None:
    """Write a workbook: one sheet for each table, named by its caption."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for block in blocks:
        if not isinstance(block, Table):
            continue
        sheet = book.create_sheet(block.caption)
        for row in (block.header, *block.rows):
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True, color="FFFFFF")
            cell.fill = PatternFill("solid", start_color=ACCENT)
        for column in sheet.columns:
            sheet.column_dimensions[column[0].column_letter].width = max(len(str(cell.value)) for cell in column) + 2
        sheet.freeze_panes = "A2"
    book.properties.creator = "Tarnfell Instruments"
    book.properties.created = MADE_AT
    buffer = io.BytesIO()
    book.save(buffer)
    _write_same_bytes(path, buffer)


def _add_runs(paragraph: WordParagraph, text: str) -> None:
    for i, part in enumerate(re.split(r"\*\*|`", text)):
        run = paragraph.add_run(part)
        run.bold = i % 2 == 1


def _write_same_bytes(path: Path, buffer: io.BytesIO) -> None:
    """Pack again without the clock (times of the members, `modified`) and without the template's thumbnail."""
    stamp = MADE_AT.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(path, "w") as packed:
        for name in sorted(made.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            if "thumbnail" in name:
                continue
            data = made.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, data)
            if name == "_rels/.rels":
                data = re.sub(rb"<Relationship [^>]*thumbnail[^>]*/>", b"", data)
            member = zipfile.ZipInfo(name, MADE_AT.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(member, data)
