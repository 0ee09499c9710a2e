"""Pages that are pictures of text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2
import pytest

from kgrag.documents.pdf import convert_pdf
from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from conftest import Sheet

DPI = 200


def scan(drawn: Path, path: Path, *, resolution: float = DPI) -> Path:
    """Write the pages of a PDF as pictures, of so many dots an inch as it says."""
    document = pypdfium2.PdfDocument(drawn)
    pictures = [page.render(scale=DPI / 72).to_pil() for page in document]
    document.close()
    pictures[0].save(path, save_all=True, append_images=pictures[1:], resolution=resolution)
    return path


def test_a_scanned_page_is_read_and_marked_as_read(sheet: Sheet, tmp_path: Path) -> None:
    sheet.text(72, 120, "Ratings of the sensor", size=18, font="Helvetica-Bold")
    sheet.paragraph(
        72, 160, "The supply voltage is 3.3 V and the current at most 250 mA in every mode of operation.", size=12
    )
    path = scan(sheet.save(), tmp_path / "scan.pdf")
    found = convert_pdf(path, document_path="scan.pdf", mode="native")
    text = " ".join(block.text for block in found.blocks)
    assert "supply voltage is 3.3 V and the current at most 250 mA" in text
    assert all(block.page_start == 1 and block.boxes for block in found.blocks)
    assert found.metadata["ocr_pages"] == "1"
    assert 0.6 < float(found.metadata["ocr_confidence"] or 0) <= 1
    assert any("read by OCR (confidence" in note for note in found.notes)


def test_a_scan_that_calls_itself_as_large_as_a_house_is_read(sheet: Sheet, tmp_path: Path) -> None:
    sheet.paragraph(72, 160, "The supply voltage is 3.3 V and the current at most 250 mA.", size=24)
    path = scan(sheet.save(), tmp_path / "scan.pdf", resolution=5)
    first, *more = convert_pdf(path, document_path="scan.pdf", mode="native").blocks
    text = " ".join(block.text for block in (first, *more))
    assert text.lower() == "the supply voltage is 3.3 v and the current at most 250 ma."
    assert first.boxes[0].left == pytest.approx(72 * DPI / 5, rel=0.1)


def test_text_beside_scanned_pages_stays_as_it_is_written(sheet: Sheet, tmp_path: Path) -> None:
    sheet.paragraph(72, 120, "A page of text that was written and not scanned.")
    found = convert_pdf(sheet.save(), document_path="drawn.pdf", mode="native")
    assert found.metadata == {}


def test_a_picture_without_text_stays_without(sheet: Sheet, tmp_path: Path) -> None:
    for number in range(12):
        sheet.circle(100 + 30 * number, 300, 40)
    path = scan(sheet.save(), tmp_path / "scan.pdf")
    with pytest.raises(DocumentError, match="OCR finds none either"):
        convert_pdf(path, document_path="scan.pdf", mode="native")


def test_without_data_the_message_says_what_to_install(
    sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet.paragraph(72, 120, "Text.")
    path = scan(sheet.save(), tmp_path / "scan.pdf")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(DocumentError, match=r"pip install 'kgrag\[ocr\]'"):
        convert_pdf(path, document_path="scan.pdf", mode="native")
