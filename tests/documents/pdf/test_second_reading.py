"""What pdfium reads better than docling-parse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from kgrag.documents.pdf import convert_pdf
from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.page_view import PageView
from kgrag.documents.pdf.pages import read_pages
from kgrag.documents.pdf.pdfium_text import PdfiumText, SecondReading
from kgrag.documents.pdf.symbol_fonts import as_shown
from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from conftest import Sheet


def bitmap_font_pdf(path: Path, text: str) -> Path:
    """Write a page in a Type 3 font whose glyphs are named after their codes (`/a116` is `t`), as TeX writes bitmap fonts."""
    codes = sorted(set(map(ord, text)) - {ord(" ")})
    shown = "".join(f"({word}) Tj {6 * len(word) + 4} 0 Td " for word in text.split(" "))
    font = "/FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0]"
    content = f"BT /F1 10 Tf 72 700 Td {shown}ET"
    return _type_3_pdf(path, codes, font, content, width=600, glyph="600 0 0 0 500 700 d1 0 0 500 700 re f")


def distilled_pdf(path: Path, lines: list[str]) -> Path:
    """Write a page as Ghostscript does from dvips: glyphs in dots of 600 to the inch, a font's matrix of 1, each glyph an image."""
    codes = sorted(set(map(ord, "".join(lines))) - {ord(" ")})
    parts = []
    for number, line in enumerate(lines):
        words = ")-28000(".join(line.replace("\r", "\\015").split(" "))
        parts.append(f"1 0 0 -1 72 {740 - 14 * number} Tm [({words})]TJ")
    font = "/FontBBox [0 0 1 -1] /FontMatrix [1 0 0 -1 0 0]"
    image = "q 4000 0 0 6000 0 0 cm BI /IM true /W 8 /H 1 /BPC 1 ID x EI Q"
    glyph = f"46 0 0 0 40 60 d1\n0.01 0 0 0.01 0 0 cm\n{image}"
    content = f"BT /F1 0.12 Tf {' '.join(parts)} ET"
    return _type_3_pdf(path, codes, font, content, width=46, glyph=glyph, says_unicode=True)


def uneven_font_pdf(path: Path, lines: list[str]) -> Path:
    """Write a page in a Type 3 font of TeX's measures: every letter is as high as it is drawn, brackets as the font's size."""
    codes = sorted(set(map(ord, "".join(lines))) - {ord(" ")})
    sizes = {
        **dict.fromkeys("()", (-250, 750)),
        **dict.fromkeys("bdfhklt", (0, 694)),
        **dict.fromkeys("gpqy", (-194, 431)),
    }
    drawn = {code: sizes.get(chr(code), (0, 660 if chr(code).isupper() else 431)) for code in codes}
    glyphs = {code: f"500 0 0 {low} 480 {high} d1 0 {low} 480 {high - low} re f" for code, (low, high) in drawn.items()}
    shown = "".join(
        f"1 0 0 1 {72 + 5.5 * column} {700 - 14 * number} Tm ({word.replace('(', chr(92) + '(').replace(')', chr(92) + ')')}) Tj "
        for number, line in enumerate(lines)
        for column, word in [(line.index(word), word) for word in line.split()]
    )
    font = "/FontBBox [0 -250 500 750] /FontMatrix [0.001 0 0 0.001 0 0]"
    return _type_3_pdf(path, codes, font, f"BT /F1 11 Tf {shown}ET", width=500, glyph="500 0 d0", glyphs=glyphs)


def _type_3_pdf(
    path: Path,
    codes: list[int],
    font: str,
    content: str,
    *,
    width: int,
    glyph: str,
    glyphs: Mapping[int, str] | None = None,
    says_unicode: bool = False,
    name: str = "a{}",
) -> Path:
    own = {code: 8 + number for number, code in enumerate(glyphs or ())}
    procedures = " ".join(f"/{name.format(code)} {own.get(code, 5)} 0 R" for code in codes)
    names = " ".join(f"{code} /{name.format(code)}" for code in codes)
    widths = " ".join(f"{width}" for _ in range(codes[0], codes[-1] + 1))
    mapped = "".join(f"<{code:02x}> <{code:04x}>\n" for code in codes)
    unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(codes)} beginbfchar\n{mapped}endbfchar endcmap end end"
    )
    described = (
        f"<< /Type /Font /Subtype /Type3 {font} /CharProcs << {procedures} >> /Encoding << /Type /Encoding /Differences [{names}] >> "
        f"/FirstChar {codes[0]} /LastChar {codes[-1]} /Widths [{widths}] {'/ToUnicode 7 0 R' if says_unicode else ''} >>"
    )
    page = "/MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 6 0 R >> >>"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R {page} >>",
        f"<< /Length {len(content)} >> stream\n{content}\nendstream",
        f"<< /Length {len(glyph)} >> stream\n{glyph}\nendstream",
        described,
        f"<< /Length {len(unicode)} >> stream\n{unicode}\nendstream",
        *(f"<< /Length {len(one)} >> stream\n{one}\nendstream" for one in (glyphs or {}).values()),
    )
    written, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    path.write_text(f"{written}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}", encoding="latin-1")
    return path


def test_glyphs_of_bitmap_fonts_that_are_named_after_their_codes_are_read(tmp_path: Path) -> None:
    path = bitmap_font_pdf(tmp_path / "bitmap.pdf", "set the pulse timer a12 now")
    (block,) = convert_pdf(path, document_path="bitmap.pdf", mode="native").blocks
    assert block.text == "set the pulse timer a12 now"
    (page,) = read_pages(path)
    assert [round(word.box.x0) for word in page.words[:3]] == [72, 94, 116]


def test_a_glyph_that_is_named_after_its_code_in_hexadecimal_is_read(tmp_path: Path) -> None:
    font, glyph = "/FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0]", "600 0 0 0 500 700 d1 0 0 500 700 re f"
    content = "BT /F1 10 Tf 72 700 Td (Guide*) Tj ET"
    codes = sorted(map(ord, "Guide*"))
    path = _type_3_pdf(tmp_path / "mark.pdf", codes, font, content, width=600, glyph=glyph, name="x{:02X}")
    (page,) = read_pages(path)
    assert [word.text for word in page.words] == ["Guide*"]


def test_bitmap_fonts_that_ghostscript_wrote_are_read(tmp_path: Path) -> None:
    lines = [
        "Introduction",
        "The program removes the background from absorption data in a reliable and easy",
        "manner, and sets the \rag of 5 V where the signal is found.",
    ]
    path = distilled_pdf(tmp_path / "distilled.pdf", lines)
    blocks = convert_pdf(path, document_path="distilled.pdf", mode="native").blocks
    assert " ".join(block.text for block in blocks) == (
        "Introduction The program removes the background from absorption data in a reliable and easy manner, "
        "and sets the flag of 5 V where the signal is found."
    )
    (page,) = read_pages(path)
    assert {(round(word.box.x0), round(word.box.height), word.turned) for word in page.words[:2]} == {(72, 9, 0)}


class _TextPage:
    """A page of pdfium that has only text: what is divided where is tested on files."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_text_range(self) -> str:
        return self.text

    def get_index(self, *place: float) -> None:
        """No character is anywhere."""


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
    mended = SecondReading(_TextPage(text), PageView(0, 0, 595, 842)).mended(words("the", "PIPESTATUS", "variable"))
    assert [word.spaced for word in mended] == spaced


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("Move", "W to the stack"), "Move W to the stack"),
        (("Write a zero to", "W, then stop"), "Write a zero to W, then stop"),
        (("the", "2D mesh is made"), "the 2D mesh is made"),
        (("5 k", "W are drawn"), "5 kW are drawn"),
        (("the Te", "X file"), "the TeX file"),
    ],
)
def test_a_letter_that_is_a_name_is_divided_from_the_word_beside_it(
    sheet: Sheet, parts: tuple[str, str], text: str
) -> None:
    gap = 1.6 if " ".join(parts) == text else 0.0
    sheet.text(72, 100, parts[0], font="Times-Roman")
    sheet.text(72 + stringWidth(parts[0], "Times-Roman", 10) + gap, 100, parts[1], font="Times-Roman")
    assert [block.text for block in sheet.convert().document.blocks] == [text]


def test_a_word_that_is_four_where_pdfium_sees_spaces_is_divided(sheet: Sheet) -> None:
    text = "Editing pump.conf and wells.conf"
    sheet.text(72, 100, f"{text} needs care", font="Times-Roman")
    path = sheet.save()
    box = Box(72.0, 92.0, 72 + stringWidth(text, "Times-Roman", 10), 102.0)
    with PdfiumText(path) as pdfium:
        read = list(pdfium.page(1).mended([Word(text.replace(" ", ""), box, "Times-Roman", bold=False)]))
    assert [word.text for word in read] == text.split()


def test_ligatures_of_bitmap_fonts_that_python_takes_for_white_space_are_read(tmp_path: Path) -> None:
    path = bitmap_font_pdf(tmp_path / "bitmap.pdf", "the \x1crst \x1dag of the speci\x1ced o\x1ece")
    (block,) = convert_pdf(path, document_path="bitmap.pdf", mode="native").blocks
    assert block.text == "the first flag of the specified office"


def test_a_line_with_brackets_in_a_bitmap_font_is_no_larger_than_others(tmp_path: Path) -> None:
    lines = ["start(rate) : the Most that it can take", "ask the port for its rate", "tell gaps and types by it"]
    (page,) = read_pages(uneven_font_pdf(tmp_path / "uneven.pdf", lines))
    assert "start(rate)" in [word.text for word in page.words]
    assert len({round(word.box.height, 1) for word in page.words if len(word.text) > 1}) == 1


def test_a_hyphen_at_the_end_of_a_line_is_read_in_a_font_that_only_pdfium_knows(tmp_path: Path) -> None:
    lines = ["each of the pumps has a pres-", "sure valve that opens by itself"]
    codes = sorted(set(map(ord, "".join(lines))) - {ord(" ")})
    shown = "".join(
        f"1 0 0 1 {72 + 6 * line.index(word)} {700 - 12 * number} Tm ({word}) Tj "
        for number, line in enumerate(lines)
        for word in line.split()
    )
    font = "/FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0]"
    path = _type_3_pdf(
        tmp_path / "cut.pdf",
        codes,
        font,
        f"BT /F1 10 Tf {shown}ET",
        width=600,
        glyph="600 0 0 0 500 700 d1 0 0 500 700 re f",
    )
    assert [word.text for word in next(iter(read_pages(path))).words if word.text.startswith("pres")] == ["pres-"]


def macintosh_pdf(path: Path, shown: bytes) -> Path:
    """Write a line in a TrueType font in the encoding of the Macintosh, a subset of which the file says nothing but the widths."""
    font = (
        b"<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+ArialMT /Encoding /MacRomanEncoding /FirstChar 32 /LastChar 255"
        b" /Widths ["
        + b"500 "
        * 224
        + b"] /FontDescriptor << /Type /FontDescriptor /FontName /ABCDEF+ArialMT /Flags 32"
        b" /ItalicAngle 0 /Ascent 905 /Descent -212 /CapHeight 700 /StemV 80 /FontBBox [-600 -300 1000 1000] >> >>"
    )
    return font_pdf(path, shown, font)


def font_pdf(path: Path, shown: bytes, font: bytes, *others: bytes) -> Path:
    """Write a line in the font that is object 5 of a file; `others` are the objects after it."""
    content = b"BT /F1 11 Tf 72 700 Td (" + shown + b") Tj ET"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        font,
        *others,
    ]
    written, offsets = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, len(written))
    path.write_bytes(written + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + end)
    return path


def test_letters_of_formulas_beyond_the_basic_plane_are_whole(tmp_path: Path) -> None:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    codes = (
        b"/CMapName /X def /CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange"
        b" 1 beginbfchar <58> <D835DC4B> endbfchar"
    )
    path = font_pdf(
        tmp_path / "formula.pdf", b"X", font, b"<< /Length %d >>\nstream\n%s\nendstream" % (len(codes), codes)
    )
    with PdfiumText(path) as second:
        assert [word.text for word in second.page(1).words] == ["\U0001d44b"]


def test_codes_of_the_macintosh_are_no_latin_letters(tmp_path: Path) -> None:
    path = macintosh_pdf(
        tmp_path / "mac.pdf", rb"the pump \322at rest\323 with 1\325024 l is fl\237ssig \320 a \336lter \311"
    )
    read = [word.text for page in read_pages(path) for word in page.words]
    assert " ".join(read) == 'the pump "at rest" with 1\'024 l is flüssig – a filter …'


def test_latin_letters_that_both_readers_see_stay(sheet: Sheet) -> None:
    sheet.text(72, 100, "Òscar Óskar Þór Õun")
    assert [word.text for page in read_pages(sheet.save()) for word in page.words] == ["Òscar", "Óskar", "Þór", "Õun"]


@pytest.mark.parametrize("heading", ["Income tax expense", "INCOME TAX"])
def test_words_that_were_measured_to_their_baseline_are_as_high_as_others(sheet: Sheet, heading: str) -> None:
    sheet.text(72, 100, heading, size=10, font="Helvetica-Bold")
    sheet.text(72, 120, "It grew by ten percent.", size=10)
    path = sheet.save()
    (page,) = read_pages(path)
    cut = [replace(word, box=replace(word.box, y1=100.0)) if word.bold else word for word in page.words]
    with PdfiumText(path) as second:
        heights = {word.bold: word.box.height for word in second.page(1).mended(cut)}
    assert heights[True] == pytest.approx(8.9, abs=0.1)
    assert heights[True] == pytest.approx(heights[False], abs=0.6)


def test_a_page_of_codes_that_no_reader_knows_is_read_as_a_picture(tmp_path: Path) -> None:
    codes = "".join(chr(code) for code in (*range(0x81, 0x88), *range(0x89, 0xA0)))
    path = bitmap_font_pdf(tmp_path / "codes.pdf", f"{codes} {codes[::-1]} {codes}")
    page = next(read_pages(path))
    assert page.unreadable
    assert not page.words
    with pytest.raises(DocumentError, match="fonts do not say which letters they are"):
        convert_pdf(path, document_path=path.name, mode="native")


def test_the_bullet_of_texs_companion_fonts_is_a_bullet(tmp_path: Path) -> None:
    page = next(read_pages(bitmap_font_pdf(tmp_path / "bullet.pdf", "\x88 starts the pump of the north")))
    assert page.words[0].text == "•"


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_the_second_reader_looks_where_a_cut_and_turned_page_shows_its_words(sheet: Sheet, degrees: int) -> None:
    sheet.text(200, 300, "From 2 – 8 bar")
    sheet.crop(60, 70, 530, 780)
    sheet.turn_page(degrees)
    (page,) = read_pages(sheet.save())
    assert "–" in [word.text for word in page.words]


def test_the_place_where_a_link_of_a_cut_page_leads_is_below_its_upper_edge(sheet: Sheet) -> None:
    sheet.inner_link(200, 300, "See the pump", "pump")
    sheet.crop(60, 70, 530, 780)
    sheet.next_page()
    sheet.destination("pump", 400)
    sheet.text(200, 410, "The pump is blue.")
    sheet.crop(60, 70, 530, 780)
    (link,) = sheet.convert().document.blocks[0].links
    assert link.href == f"drawn.pdf#page=2&zoom=100,0,{round(400 - (sheet.height - 780))}"


@pytest.mark.parametrize(
    ("word", "font", "shown"),
    [
        ("l", "Wingdings", "●"),
        ("\uf0d8", "ABC+Wingdings-Regular", "➢"),
        ("l", "Wingdings2", "l"),
        ("\x84", "Wingdings", "•"),
        ("\uf06d", "SymbolMT", "μ"),
        ("±3\uf073", "Office Sans", "±3σ"),
        ("\uf0a7", "Office Sans", "▪"),
        ("xREPORT", "Wingdings", "☒REPORT"),
        ("quarter", "Wingdings", "quarter"),
        ("plain", "Symbol", "plain"),
    ],
)
def test_characters_of_symbol_fonts_are_the_signs_that_they_show(word: str, font: str, shown: str) -> None:
    assert as_shown(word, font) == shown


def test_raised_digits_are_exponents_and_no_digits_of_the_number(sheet: Sheet) -> None:
    sheet.paragraph(
        72, 80, "The regulator delivers up to 250 mA to the board and to all that takes its supply from there."
    )
    sheet.text(72, 160, "The tank holds 10")
    x = 72 + stringWidth("The tank holds 10", "Helvetica", 10)
    sheet.text(x, 157.5, "-19", size=8)
    sheet.text(x + stringWidth("-19", "Helvetica", 8) + 3, 160, "C at most.")
    assert "The tank holds 10⁻¹⁹ C at most." in " ".join(sheet.convert().outline())
