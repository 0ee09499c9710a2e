"""Word and PowerPoint: words whole, headings, lists, tables, links; and every way in which such a file can be wrong."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from kgrag.documents import Converted, office
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.office import convert_office
from kgrag.errors import DocumentError


def converted(path: Path) -> BlockDocument:
    return convert_office(path, suffix=path.suffix[1:], document_path=f"docs/{path.name}")


def add_link(paragraph: Any, target: str, text: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run, words = OxmlElement("w:r"), OxmlElement("w:t")
    words.text = text
    run.append(words)
    link.append(run)
    paragraph._p.append(link)


def test_runs_of_different_formatting_do_not_part_words(tmp_path: Path) -> None:
    document = Document()
    paragraph = document.add_paragraph("Supply 3.")
    paragraph.add_run("3").bold = True
    paragraph.add_run(" V, X-")
    paragraph.add_run("1000").italic = True
    paragraph.add_run(", I")
    paragraph.add_run("2").font.superscript = True
    paragraph.add_run("C, V")
    paragraph.add_run("DD").font.subscript = True
    document.save(str(tmp_path / "a.docx"))
    assert [block.text for block in converted(tmp_path / "a.docx").blocks] == ["Supply 3.3 V, X-1000, I²C, VDD"]


def test_a_word_file_keeps_headings_lists_tables_and_links(tmp_path: Path) -> None:
    document = Document()
    document.core_properties.title = "X-100 manual"
    document.sections[0].header.paragraphs[0].text = "Acme"
    document.add_heading("Power", 1)
    paragraph = document.add_paragraph("First. See ")
    add_link(paragraph, "power.html#vdd", "the power page")
    paragraph.add_run(" and ")
    add_link(paragraph, "https://example.com/a", "our site")
    paragraph.add_run(".")
    document.add_heading("Rails", 2)
    document.add_paragraph("2x I2C", style="List Bullet")
    document.add_paragraph("3.3 V", style="List Bullet 2")
    document.add_paragraph("one", style="List Number")
    table = document.add_table(rows=2, cols=3)
    for row, texts in zip(table.rows, [("Rail", "Min", "Max"), ("R1", "3.0 V", "3.6 V")], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    merged = table.add_row().cells
    merged[0].merge(merged[2]).text = "all at 25 °C"
    document.save(str(tmp_path / "a.docx"))

    result = converted(tmp_path / "a.docx")
    assert result.title == "X-100 manual"
    assert [(block.kind, block.level, block.text) for block in result.blocks[:-1]] == [
        ("heading", 1, "Power"),
        ("paragraph", 0, "First. See the power page and our site."),
        ("heading", 2, "Rails"),
        ("list_item", 1, "- 2x I2C"),
        ("list_item", 2, "  - 3.3 V"),
        ("list_item", 1, "1. one"),
    ]
    assert [(link.href, link.anchor, link.context) for link in result.blocks[1].links] == [
        ("docs/power.html#vdd", "the power page", "See the power page and our site."),
        ("https://example.com/a", "our site", "See the power page and our site."),
    ]
    last = result.blocks[-1]
    assert last.header is not None and last.header.cells == ("Rail", "Min", "Max")
    assert [row.cells for row in last.rows] == [("R1", "3.0 V", "3.6 V"), ("all at 25 °C", "", "")]
    assert [(line.rule, line.text) for line in result.removed] == [("running header or footer", "Acme")]


def test_slides_are_pages_and_their_titles_come_first(tmp_path: Path) -> None:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    table = first.shapes.add_table(2, 2, 0, 0, 3_000_000, 1_000_000).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    first.shapes.title.text = "Rails"
    first.shapes._spTree.append(first.shapes.title._element)  # the title last on the slide
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text, second.placeholders[1].text = "Power", "3.3 V"
    second.notes_slide.notes_text_frame.text = "say 5 mA"
    deck.save(str(tmp_path / "a.pptx"))
    blocks = converted(tmp_path / "a.pptx").blocks
    assert [(block.kind, block.page_start, block.lines) for block in blocks] == [
        ("heading", 1, ("Rails",)),
        ("table", 1, ("00 | 01", "10 | 11")),
        ("heading", 2, ("Power",)),
        ("list_item", 2, ("- 3.3 V",)),
        ("paragraph", 2, ("say 5 mA",)),
    ]


def deck_with_charts(path: Path) -> None:
    new_data: Any = CategoryChartData  # it has no types
    deck = Presentation()
    for number in (1, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Current {number}"
        drawn = new_data()
        drawn.categories = ["Standby", "Transmit"]
        drawn.add_series("X-100, mA", (0.5, 120.0))
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 3_000_000, 2_000_000, drawn)
    deck.save(str(path))


def test_the_numbers_of_a_chart_are_a_table(tmp_path: Path) -> None:
    deck_with_charts(tmp_path / "a.pptx")
    tables = [block for block in converted(tmp_path / "a.pptx").blocks if block.kind == "table"]
    assert [block.lines for block in tables] == [(" | X-100, mA", "Standby | 0.5", "Transmit | 120")] * 2


def test_a_chart_that_cannot_be_read_is_named_and_the_other_slides_are_kept(tmp_path: Path) -> None:
    deck_with_charts(tmp_path / "a.pptx")
    with zipfile.ZipFile(tmp_path / "a.pptx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chart = sorted(name for name in parts if "charts/chart" in name and name.endswith(".xml"))[0]
    parts[chart] = parts[chart].replace(b"c:barChart>", b"c:area3DChart>")
    with zipfile.ZipFile(tmp_path / "a.pptx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    found = converted(tmp_path / "a.pptx")
    assert [block.lines[0] for block in found.blocks] == ["Current 1", "Current 2", " | X-100, mA"]
    assert len(found.notes) == 1 and re.match(r"slide 1: a chart cannot be read and was left out", found.notes[0])


def test_a_deck_without_slides_is_said_to_have_none(tmp_path: Path) -> None:
    Presentation().save(str(tmp_path / "a.pptx"))
    with pytest.raises(DocumentError, match="has no slides"):
        converted(tmp_path / "a.pptx")


def test_a_comment_in_the_xml_of_a_word_file_is_no_element(tmp_path: Path) -> None:
    document = Document()
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Supply", "3.3 V"
    table._tbl.append(etree.Comment("made by a program"))
    document.save(str(tmp_path / "a.docx"))
    assert [block.lines for block in converted(tmp_path / "a.docx").blocks] == [("Supply | 3.3 V",)]


def write_zip(path: Path, **parts: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)


def test_wrong_files_are_refused_with_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, convert: Callable[..., Converted]
) -> None:
    monkeypatch.setattr(office, "MAX_UNPACKED_MB", 1)
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    write_zip(tmp_path / "zip.docx", a_txt=b"a")
    write_zip(tmp_path / "slides.docx", ppt__presentation_xml=b"<x/>")
    write_zip(tmp_path / "xml.docx", word__document_xml=b"<x")
    write_zip(tmp_path / "bomb.docx", word__document_xml=bytes(1_000_001))
    Document().save(str(tmp_path / "whole.docx"))
    files = {
        "encrypted.docx": ole + "EncryptedPackage".encode("utf-16-le"),
        "old.docx": ole,
        "pdf.docx": b"%PDF-1.7 ...",
        "cut.docx": (tmp_path / "whole.docx").read_bytes()[:5000],
        "text.pptx": b"hello",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    reasons = {
        "encrypted.docx": "encrypted",
        "old.docx": "97-2003",
        "pdf.docx": "a PDF",
        "cut.docx": "broken",
        "text.pptx": "no .pptx",
        "zip.docx": "not a .docx",
        "slides.docx": "is a .pptx",
        "xml.docx": "broken",
        "bomb.docx": "unpacks to",
    }
    for name, reason in reasons.items():
        with pytest.raises(DocumentError, match=reason):
            convert(name)
