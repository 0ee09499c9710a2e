from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Sheet

BOLD = "Helvetica-Bold"


LOREM = (
    "The regulator delivers up to 250 mA to the board and to everything that takes its supply from the 3V3 pin of it."
)


def section(sheet: Sheet, y: float, heading: str, *, size: float, font: str = BOLD) -> float:
    sheet.text(72, y, heading, size=size, font=font)
    return sheet.paragraph(72, y + 20, LOREM) + 15


def test_numbered_headings_take_their_level_from_the_number(sheet: Sheet) -> None:
    y = 120.0
    for text, size in (("1 Ratings", 15.0), ("1.1 Supply", 12.0), ("1.1.1 Inrush", 12.0), ("2 Pins", 15.0)):
        y = section(sheet, y, text, size=size)
    assert sheet.convert().headings() == ["h1 1 Ratings", "h2 1.1 Supply", "h3 1.1.1 Inrush", "h1 2 Pins"]


def test_headings_without_numbers_take_their_level_from_the_size(sheet: Sheet) -> None:
    y = 120.0
    for text, size in (("Overview", 16.0), ("Supply", 13.0), ("Reset", 13.0), ("Pinout", 16.0), ("Left side", 13.0)):
        y = section(sheet, y, text, size=size)
    assert sheet.convert().headings() == ["h1 Overview", "h2 Supply", "h2 Reset", "h1 Pinout", "h2 Left side"]


def test_a_bold_line_of_the_body_size_that_heads_a_paragraph_is_a_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    section(sheet, y, "Storage conditions", size=10)
    assert sheet.convert().headings() == ["h1 1 Ratings", "h2 Storage conditions"]


def test_a_bold_note_is_no_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    section(sheet, y, "Note:", size=10)
    assert sheet.convert().headings() == ["h1 1 Ratings"]


def test_large_numbered_lines_are_headings_and_not_list_items(sheet: Sheet) -> None:
    y = section(sheet, 120, "1. Introduction", size=15)
    section(sheet, y, "2. Installation", size=15)
    assert sheet.convert().headings() == ["h1 1. Introduction", "h1 2. Installation"]


def test_the_largest_text_of_the_first_page_is_the_title_and_what_follows_its_subtitle(sheet: Sheet) -> None:
    sheet.text(72, 120, "X-100 Sensing Controller", size=24, font=BOLD)
    sheet.text(72, 150, "Data sheet, issue 5", size=14)
    y = sheet.paragraph(72, 190, LOREM) + 20
    for text in ("1 Ratings", "2 Pins", "3 Orders"):
        y = section(sheet, y, text, size=15)
    found = sheet.convert()
    assert found.outline()[:2] == ["title X-100 Sensing Controller", "text Data sheet, issue 5"]
    assert found.document.title == "X-100 Sensing Controller"


def test_a_heading_over_two_lines_is_one_heading(sheet: Sheet) -> None:
    y = sheet.paragraph(
        72, 120, "4.2 Behaviour of the digital outputs in case of overload and short circuit", width=250, size=15
    )
    sheet.paragraph(72, y + 10, LOREM)
    assert sheet.convert().headings() == [
        "h2 4.2 Behaviour of the digital outputs in case of overload and short circuit"
    ]


def test_bookmarks_make_headings_of_lines_in_the_body_size(sheet: Sheet) -> None:
    sheet.bookmark("Absolute ratings", 0)
    sheet.bookmark("Thermal data", 1)
    y = section(sheet, 120, "Absolute ratings", size=10, font="Helvetica")
    section(sheet, y, "Thermal data", size=10, font="Helvetica")
    assert sheet.convert().headings() == ["h1 Absolute ratings", "h2 Thermal data"]


def test_labels_in_a_figure_are_no_headings(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Block diagram", size=15)
    for index in range(8):
        sheet.circle(150 + 40 * index, y + 60, 18)
    sheet.text(160, y + 64, "CPU", size=18, font=BOLD)
    sheet.text(300, y + 64, "3.3 V", size=18, font=BOLD)
    sheet.turned(230, y + 75, "12.5 mm")
    sheet.paragraph(72, y + 150, LOREM)
    found = sheet.convert()
    assert found.headings() == ["h1 1 Block diagram"]
    assert "text CPU\n3.3 V\n12.5 mm" in found.outline()
