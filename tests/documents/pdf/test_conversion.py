from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from kgrag.documents.pdf import convert_pdf
from kgrag.errors import DocumentError, ModelMissing

if TYPE_CHECKING:
    from conftest import Sheet

LOREM = "The controller reads up to eight sensors and keeps the readings through a power failure of any length."


def reason(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        convert_pdf(path)
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
    assert [item.text for item in convert_pdf(path).document.texts] == ["readable without a password"]


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
    assert sheet.convert().report.pages_without_text == (2,)


@pytest.mark.skipif(find_spec("docling_ibm_models") is not None, reason="layout models are installed")
def test_standard_mode_without_its_models_says_what_to_install(sheet: Sheet) -> None:
    sheet.text(72, 100, LOREM)
    with pytest.raises(ModelMissing, match=r"kgrag\[docling\]"):
        convert_pdf(sheet.save(), mode="standard")


@pytest.mark.skipif(find_spec("docling_ibm_models") is not None, reason="layout models are installed")
def test_auto_mode_without_models_is_native_and_says_why(sheet: Sheet) -> None:
    sheet.text(72, 100, LOREM)
    conversion = convert_pdf(sheet.save())
    assert conversion.mode_used == "native"
    assert "not installed" in conversion.report.note


def test_every_item_has_its_page_and_place(sheet: Sheet) -> None:
    for page in (1, 2):
        sheet.text(72, 150, f"{page} Chapter", size=16)
        sheet.paragraph(72, 180, LOREM)
        sheet.grid([72, 200, 300], [300, 316, 332], [["Name", "Value"], ["A", "1"]])
        sheet.next_page()
    document = sheet.convert().document
    for item in (*document.texts, *document.tables):
        (place,) = item.prov
        assert place.bbox is not None
        assert place.bbox.l >= 71
        assert place.page_no in (1, 2)
    assert {item.prov[0].page_no for item in document.tables} == {1, 2}


def test_dashes_are_written_as_in_the_file(sheet: Sheet) -> None:
    sheet.text(72, 100, "Range 300 – 1100 hPa, offset -3 hPa — both at 25 °C, type X-100")
    assert sheet.convert().outline() == ["text Range 300 – 1100 hPa, offset -3 hPa — both at 25 °C, type X-100"]


def test_links_are_given_with_the_item_and_the_words_that_they_lie_on(sheet: Sheet) -> None:
    sheet.text(72, 100, "See the")
    sheet.link(110, 100, "ordering guide", "https://example.com/order")
    sheet.text(190, 100, "for variants.")
    found = sheet.convert()
    (link,) = found.conversion.links
    assert (link.anchor, link.href) == ("ordering guide", "https://example.com/order")
    assert link.item == found.document.texts[0].self_ref
    assert found.document.texts[0].text == "See the ordering guide for variants."
