from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

import kgrag
from kgrag.documents.blocks import Link
from kgrag.documents.pdf import convert_pdf
from kgrag.errors import DocumentError, ModelMissing
from kgrag.models.minilm import MiniLM

if TYPE_CHECKING:
    from conftest import Sheet

DIMENSIONS = MiniLM.dimensions
LOREM = "The controller reads up to eight sensors and keeps the readings through a power failure of any length."


def reason(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        convert_pdf(path, document_path=path.name)
    assert caught.value.path == path
    return caught.value.reason


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.pdf"
    path.touch()
    assert "empty" in reason(path)


def test_a_zip_archive_named_pdf_is_called_a_zip_archive(tmp_path: Path) -> None:
    path = tmp_path / "archive.pdf"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "text")
    assert "not a PDF" in reason(path)
    assert "ZIP" in reason(path)


def test_a_pdf_cut_short_is_called_truncated(sheet: Sheet) -> None:
    sheet.text(72, 100, LOREM)
    data = sheet.save().read_bytes()
    sheet.path.write_bytes(data[: len(data) // 2])
    assert "truncated" in reason(sheet.path)


def test_a_pdf_whose_middle_is_destroyed_is_called_broken(sheet: Sheet) -> None:
    sheet.text(72, 100, LOREM)
    data = sheet.save().read_bytes()
    sheet.path.write_bytes(data[:20] + bytes(len(data) - 60) + data[-40:])
    assert "broken" in reason(sheet.path)


def test_a_pdf_with_a_password_is_called_encrypted(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("user", "owner"))
    canvas.drawString(72, 700, "secret")
    canvas.save()
    assert "password" in reason(path)


def test_a_pdf_that_only_restricts_printing_is_read(tmp_path: Path) -> None:
    path = tmp_path / "restricted.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("", "owner", canPrint=0))
    canvas.drawString(72, 700, "readable without a password")
    canvas.save()
    (block,) = convert_pdf(path, document_path="a.pdf").blocks
    assert block.text == "readable without a password"


def test_a_pdf_without_text_is_said_to_need_ocr(sheet: Sheet) -> None:
    sheet.fill(72, 72, 300, 300)
    assert "OCR" in reason(sheet.save())


def test_a_missing_file_is_a_document_error(tmp_path: Path) -> None:
    assert "cannot be opened" in reason(tmp_path / "nowhere.pdf")


def test_a_page_without_text_between_others_is_reported(sheet: Sheet) -> None:
    for page in (1, 2, 3):
        if page != 2:
            sheet.paragraph(72, 200, LOREM)
        sheet.fill(200, 400, 220, 420)
        sheet.next_page()
    assert "1 of 3 pages have no text: 2" in sheet.convert().document.notes


@pytest.mark.skipif(find_spec("docling_ibm_models") is not None, reason="layout models are installed")
def test_standard_mode_without_its_models_says_what_to_install(sheet: Sheet) -> None:
    sheet.text(72, 100, LOREM)
    with pytest.raises(ModelMissing, match=r"kgrag\[docling\]"):
        convert_pdf(sheet.save(), document_path="a.pdf", mode="standard")


@pytest.mark.skipif(find_spec("docling_ibm_models") is not None, reason="layout models are installed")
def test_auto_mode_without_models_is_native_and_says_why(sheet: Sheet) -> None:
    sheet.text(72, 100, LOREM)
    (note,) = convert_pdf(sheet.save(), document_path="a.pdf").notes
    assert note.startswith("PDF read in mode native (auto: not installed")


def test_every_block_and_row_has_its_page_and_place(sheet: Sheet) -> None:
    for page in (1, 2):
        sheet.text(72, 150, f"{page} Chapter", size=16)
        sheet.paragraph(72, 180, LOREM)
        sheet.grid([72, 200, 300], [300, 316, 332], [["Name", "Value"], ["A", "1"]])
        sheet.next_page()
    blocks = sheet.convert().document.blocks
    boxes = [box for block in blocks for box in block.boxes]
    assert [box.page for box in boxes] == [1, 1, 1, 2, 2, 2]
    assert [round(box.left) for box in boxes] == [72] * 6
    heading, paragraph, table = boxes[:3]
    assert heading.top < 150 < heading.bottom < paragraph.top < 180 < paragraph.bottom < table.top
    assert [(round(table.top), round(table.right), round(table.bottom))] == [(300, 300, 332)]
    (row,) = next(block for block in blocks if block.kind == "table").rows
    assert row.box is not None
    assert (round(row.box.top), round(row.box.bottom)) == (316, 332)


def test_dashes_are_written_as_in_the_file(sheet: Sheet) -> None:
    sheet.text(72, 100, "Range 300 – 1100 hPa, offset -3 hPa — both at 25 °C, type X-100")
    assert sheet.convert().outline() == ["text Range 300 – 1100 hPa, offset -3 hPa — both at 25 °C, type X-100"]


def test_links_are_in_the_block_with_the_words_that_they_lie_on(sheet: Sheet) -> None:
    sheet.text(72, 100, "See the")
    sheet.link(110, 100, "ordering guide", "https://example.com/order")
    sheet.text(190, 100, "for variants.")
    found = sheet.convert()
    (block,) = found.document.blocks
    assert block.text == "See the ordering guide for variants."
    assert block.links == (Link("https://example.com/order", "ordering guide", block.text),)


def with_inner_links(sheet: Sheet) -> Sheet:
    """Two pages; the first links to the second section of the second page, and to that page."""
    sheet.text(72, 80, "1 Supply", size=16, font="Helvetica-Bold")
    sheet.text(72, 110, "The board needs 3.3 V. The limits are in")
    sheet.inner_link(260, 110, "section 3", "limits")
    sheet.text(310, 110, "and the pins on")
    sheet.inner_link(390, 110, "page 2", "pins")
    sheet.paragraph(72, 130, LOREM)
    sheet.next_page()
    sheet.destination("pins")
    sheet.text(72, 80, "2 Pins", size=16, font="Helvetica-Bold")
    sheet.paragraph(72, 110, f"Pin 1 is the supply. {LOREM}")
    sheet.destination("limits", 290)
    sheet.text(72, 310, "3 Limits", size=16, font="Helvetica-Bold")
    sheet.paragraph(72, 340, f"More than 3.6 V destroys the board. {LOREM}")
    return sheet


def test_links_within_a_file_lead_to_the_block_at_their_destination(sheet: Sheet) -> None:
    blocks = with_inner_links(sheet).convert().document.blocks
    (linking,) = [block for block in blocks if block.links]
    name = sheet.path.name
    assert [(link.href, link.anchor) for link in linking.links] == [
        (f"{name}#page=2&zoom=100,0,290", "section 3"),
        (f"{name}#page=2", "page 2"),
    ]
    assert {block.text: block.anchors for block in blocks if block.anchors} == {
        "2 Pins": ("page=2",),
        "3 Limits": ("page=2&zoom=100,0,290",),
    }


def test_links_within_a_file_are_relationships_of_its_chunks(sheet: Sheet, store_target: str) -> None:
    path = with_inner_links(sheet).save()
    with kgrag.open(store_target) as graph:
        report = graph.build(path)
        rows = graph.store.query(
            "MATCH (a:Chunk)-[l:LINKS_TO]->(b:Chunk) RETURN l.anchor AS anchor, a.headings AS here, b.headings AS there"
        )
        rows = sorted(rows, key=lambda row: row["anchor"])
    assert [(row["anchor"], row["here"][-1], row["there"][-1]) for row in rows] == [
        ("page 2", "1 Supply", "2 Pins"),
        ("section 3", "1 Supply", "3 Limits"),
    ]
    assert report.links["no_anchor"] == 0
