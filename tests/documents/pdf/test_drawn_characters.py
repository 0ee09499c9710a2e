"""Rules and underscores as TeX's programs draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.pages import Rule, read_pages, with_underscores

if TYPE_CHECKING:
    from conftest import Sheet


def test_rules_that_ghostscript_wrote_as_images_of_one_dot_make_a_table(sheet: Sheet) -> None:
    ys = [100.0, 120.0, 140.0, 160.0]
    for y in ys:
        sheet.dot(72, y, 372, y + 0.5)
    for x in (72.0, 172.0, 371.5):
        sheet.dot(x, ys[0], x + 0.5, ys[-1])
    for y, row in zip(ys, [("-q", "Say nothing."), ("-v, -w", "Say much"), ("-o", "The output")], strict=False):
        sheet.text(76, y + 14, row[0])
        sheet.text(176, y + 14, row[1])
    found = sheet.convert()
    assert found.rows() == [["-q", "Say nothing."], ["-v, -w", "Say much"], ["-o", "The output"]]


def test_strips_of_a_picture_are_no_rules(sheet: Sheet) -> None:
    sheet.text(72, 80, "A picture in strips")
    for strip in range(20):
        sheet.dot(72, 100.0 + strip, 372, 101.0 + strip)
    (page,) = read_pages(sheet.save())
    assert not page.rules


def test_an_underscore_that_is_drawn_as_a_rule_is_in_its_name(sheet: Sheet) -> None:
    sheet.text(72, 100, "Call")
    x = 72 + stringWidth("Call ", "Helvetica", 10)
    sheet.text(x, 100, "read")
    end = x + stringWidth("read", "Helvetica", 10)
    sheet.fill(end + 0.6, 99.6, end + 3.6, 100, gray=0)
    sheet.text(end + 3.6, 100, "fast() for up to 900 samples.")
    (block,) = sheet.convert().document.blocks
    assert block.text == "Call read_fast() for up to 900 samples."


def row(*texts: str, gap: float) -> list[Word]:
    """Words side by side."""
    found, x = [], 72.0
    for text in texts:
        found.append(Word(text, Box(x, 100, x + 5.0 * len(text), 110), "Font", False))
        x += 5.0 * len(text) + gap
    return found


@pytest.mark.parametrize(
    ("texts", "gap", "joined"),
    [
        (("uart", "_", "init(baud)"), 1.6, ["uart_init(baud)"]),
        (("delay_", "ms(5);"), 1.2, ["delay_ms(5);"]),
        (("a", "_", "b"), 3.0, ["a", "_", "b"]),
        (("no", "name"), 1.2, ["no", "name"]),
    ],
)
def test_an_underscore_that_stands_apart_by_less_than_a_space_is_in_its_name(
    texts: tuple[str, ...], gap: float, joined: list[str]
) -> None:
    words, _ = with_underscores(row(*texts, gap=gap), ())
    assert [word.text for word in words] == joined


def test_a_rule_below_a_word_or_in_a_fraction_is_no_underscore() -> None:
    words = row("half", "full", gap=3.6)
    below, middle = Rule(True, 110.5, 92.6, 95.6), Rule(True, 105.0, 92.6, 95.6)
    assert with_underscores(words, (below, middle)) == (tuple(words), (below, middle))


def test_a_soft_hyphen_that_is_drawn_before_a_letter_is_a_hyphen(sheet: Sheet) -> None:
    sheet.text(72, 100, "Start it by pump \u00ads file \u00ad\u00adset\u00adrate and wait until the tank is full.")
    sheet.text(72, 112, "It is full when the lamp is green.")
    assert "pump -s file --set-rate and wait" in " ".join(sheet.convert().outline())
