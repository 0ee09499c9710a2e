"""What pdfium reads better than docling-parse."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.pdf import convert_pdf
from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.pages import read_pages
from kgrag.documents.pdf.pdfium_text import SecondReading


def bitmap_font_pdf(path: Path, text: str) -> Path:
    """Write a page in a Type 3 font whose glyphs are named after their codes (`/a116` is `t`), as TeX writes bitmap fonts."""
    codes = sorted(set(map(ord, text)) - {ord(" ")})
    procedures = " ".join(f"/a{code} 5 0 R" for code in codes)
    names = " ".join(f"{code} /a{code}" for code in codes)
    widths = " ".join("600" for _ in range(codes[0], codes[-1] + 1))
    glyph = "600 0 0 0 500 700 d1 0 0 500 700 re f"
    shown = "".join(f"({word}) Tj {6 * len(word) + 4} 0 Td " for word in text.split())
    content = f"BT /F1 10 Tf 72 700 Td {shown}ET"
    font = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0] "
        f"/CharProcs << {procedures} >> /Encoding << /Type /Encoding /Differences [{names}] >> "
        f"/FirstChar {codes[0]} /LastChar {codes[-1]} /Widths [{widths}] >>"
    )
    page = "/MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 6 0 R >> >>"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R {page} >>",
        f"<< /Length {len(content)} >> stream\n{content}\nendstream",
        f"<< /Length {len(glyph)} >> stream\n{glyph}\nendstream",
        font,
    )
    written, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    path.write_text(f"{written}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}", encoding="ascii")
    return path


def test_glyphs_of_bitmap_fonts_that_are_named_after_their_codes_are_read(tmp_path: Path) -> None:
    path = bitmap_font_pdf(tmp_path / "bitmap.pdf", "set the pulse timer a12 now")
    (block,) = convert_pdf(path, document_path="bitmap.pdf", mode="native").blocks
    assert block.text == "set the pulse timer a12 now"
    (page,) = read_pages(path)
    assert [round(word.box.x0) for word in page.words[:3]] == [72, 94, 116]


class _TextPage:
    """A page of pdfium that has only text: what is divided where is tested on files."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_text_range(self) -> str:
        return self.text


def words(*texts: str, gap: float = 0.5) -> list[Word]:
    """Words in turning fonts, side by side."""
    found, x = [], 72.0
    for number, text in enumerate(texts):
        width = 5.0 * len(text)
        found.append(Word(text, Box(x, 100, x + width, 110), f"Font{number % 2}", False))
        x += width + gap
    return found


@pytest.mark.parametrize(
    ("text", "spaced"),
    [("the PIPESTATUS variable", [False, True, True]), ("thePIPESTATUSvariable", [False, False, False])],
)
def test_a_space_between_two_fonts_is_seen_where_pdfium_sees_it(text: str, spaced: list[bool]) -> None:
    mended = SecondReading(_TextPage(text), 842).mended(words("the", "PIPESTATUS", "variable"))
    assert [word.spaced for word in mended] == spaced
