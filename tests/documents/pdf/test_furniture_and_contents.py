from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

if TYPE_CHECKING:
    from conftest import Sheet


LOREM = (
    "The regulator delivers up to 250 mA to the board and to everything that takes its supply from the 3V3 pin of it."
)


def running_lines(sheet: Sheet, page: int, count: int, chapter: str = "X-100 Data Sheet") -> None:
    sheet.text(72, 40, chapter)
    sheet.text(420, 40, "TF-DS-0100")
    sheet.text(72, 815, "Modified: 24/10/2025")
    sheet.text(480, 815, f"Page {page} of {count}")


def test_running_headers_and_footers_are_removed_and_reported(sheet: Sheet) -> None:
    for page in (1, 2, 3):
        running_lines(sheet, page, 3)
        sheet.paragraph(72, 120 + 40 * page, f"Part {page}. {LOREM}")
        sheet.next_page()
    found = sheet.convert()
    assert found.outline() == [f"text Part {page}. {LOREM}" for page in (1, 2, 3)]
    running = ("X-100 Data Sheet", "TF-DS-0100", "Modified: 24/10/2025", "#")
    assert {line.text for line in found.document.removed} == {f"{text} (3 pages)" for text in running}


def test_running_lines_of_a_small_page_on_a_large_sheet_are_removed(sheet: Sheet) -> None:
    for page in range(1, 5):
        sheet.text(72, 170, "MARCO MANUAL" if page % 2 else "PROOF TREES")
        sheet.paragraph(72, 230, f"Part {page}. {LOREM}")
        sheet.text(250, 620, f"- page {page} -")
        sheet.next_page()
    found = sheet.convert()
    assert found.outline() == [f"text Part {page}. {LOREM}" for page in range(1, 5)]
    assert {line.text for line in found.document.removed} == {
        "MARCO MANUAL (2 pages)",
        "PROOF TREES (2 pages)",
        "# (4 pages)",
    }


def test_what_stands_beside_a_page_number_in_its_font_is_a_running_line(sheet: Sheet) -> None:
    titles = ("PUMPS", "HOW A PUMP WORKS", "WHEN IT RESTS", "WELLS", "HOW DEEP THEY ARE", "WHO MEASURED THEM")
    for page, title in enumerate(titles, 1):
        sheet.text(120, 112, title, font="Helvetica-Bold")  # below the upper margin, and different on all pages
        sheet.text(470, 112, str(page), font="Helvetica-Bold")
        sheet.paragraph(120, 160, f"Part {page}. {LOREM}", width=350)
        sheet.next_page()
    found = sheet.convert()
    assert found.outline() == [f"text Part {page}. {LOREM}" for page in range(1, 7)]
    assert {line.text for line in found.document.removed} == {
        "# (6 pages)",
        *(f"{title} (1 pages)" for title in titles),
    }


def test_what_stands_beside_a_page_number_in_another_font_is_a_running_line_if_the_outline_names_it(
    sheet: Sheet,
) -> None:
    titles = ("Pumps", "How a pump works", "When it rests", "Wells", "How deep they are", "Who measured them")
    for page, title in enumerate(titles, 1):
        sheet.text(120, 112, title.upper(), font="Helvetica-Oblique")
        sheet.text(470, 112, str(page))
        sheet.bookmark(title, 0)
        sheet.text(120, 140, title, size=15)
        sheet.paragraph(120, 160, f"Part {page}. {LOREM}", width=350)
        sheet.next_page()
    found = sheet.convert()
    assert found.headings() == [f"h1 {title}" for title in titles]
    assert found.outline()[1] == f"text Part 1. {LOREM}"


def test_page_numbers_right_below_the_text_are_removed_wherever_it_ends(sheet: Sheet) -> None:
    for page in range(1, 6):
        below = sheet.paragraph(72, 100 + 90 * page, f"Part {page}. {LOREM}")
        sheet.text(290, below, str(page + 2))
        sheet.next_page()
    found = sheet.convert()
    assert found.outline() == [f"text Part {page}. {LOREM}" for page in range(1, 6)]
    assert [line.text for line in found.document.removed] == ["# (5 pages)"]


def test_the_header_and_the_page_numbers_of_a_report_before_long_exhibits_are_removed(sheet: Sheet) -> None:
    for page in range(1, 101):
        if page <= 24:
            sheet.text(72, 20, "Back to the contents")
            sheet.text(290, sheet.paragraph(72, 100 + 20 * page, f"Part {page}. {LOREM}"), str(page))
        else:
            sheet.paragraph(72, 100 + 5 * page, f"Exhibit {page}. {LOREM}")
        sheet.next_page()
    found = sheet.convert()
    assert {line.text for line in found.document.removed} == {"Back to the contents (24 pages)", "# (24 pages)"}
    assert f"text Part 3. {LOREM}" in found.outline()


def test_the_title_in_small_type_below_the_page_numbers_of_an_exhibit_is_removed(sheet: Sheet) -> None:
    for page in range(1, 81):
        y = sheet.paragraph(72, 100 + 4 * page, f"Part {page}. {LOREM}")
        if page > 40:
            sheet.text(290, y + 20, f"- {page - 40} -")
            sheet.text(60, y + 30, "Agreement of the Sellers", size=6)
        sheet.next_page()
    found = sheet.convert()
    assert {line.text for line in found.document.removed} == {"Agreement of the Sellers (40 pages)", "# (40 pages)"}
    assert len(found.outline()) == 80


def test_a_first_line_that_is_the_same_on_few_pages_stays(sheet: Sheet) -> None:
    for page in range(1, 9):
        sheet.text(72, 170, "Default: 3.3 V" if page in (2, 3) else f"Part {page}")
        sheet.paragraph(72, 230, LOREM)
        sheet.next_page()
    assert sheet.convert().outline().count("text Default: 3.3 V") == 2


def test_headers_that_change_with_the_chapter_are_removed(sheet: Sheet) -> None:
    for page in range(1, 13):
        running_lines(
            sheet, page, 12, chapter=f"Chapter {'Ratings' if page <= 4 else 'Pins' if page <= 8 else 'Orders'}"
        )
        sheet.paragraph(72, 120 + 10 * page, f"Part {page}. {LOREM}")
        sheet.next_page()
    assert sheet.convert().outline() == [f"text Part {page}. {LOREM}" for page in range(1, 13)]


def test_headers_with_the_chapter_on_left_pages_and_the_section_on_right_ones_are_removed(sheet: Sheet) -> None:
    sections = ["Ratings", "Supply", "Pins", "Clock", "Orders", "Errata"]
    for page in range(1, 13):
        section = sections[(page - 1) // 2]
        if page % 2:
            sheet.text(72, 40, section)
            sheet.bookmark(section, 0)
            sheet.text(72, 120, section, size=16)
        else:
            sheet.text(72, 40, f"Chapter {1 + page // 7}. {'Use' if page < 7 else 'Notes'}", font="Helvetica-Bold")
        sheet.paragraph(72, 160, f"Part {page}. {LOREM}")
        sheet.next_page()
    found = sheet.convert()
    assert [line for line in found.outline() if not line.startswith("text Part")] == [f"h1 {one}" for one in sections]
    assert len(found.outline()) == 18


def test_first_lines_that_differ_on_all_pages_stay_unless_the_outline_has_them(sheet: Sheet) -> None:
    for page in range(1, 13):
        sheet.text(72, 40, f"Part {'abcdefghijkl'[page - 1]}")
        sheet.paragraph(72, 160, LOREM)
        sheet.next_page()
    assert len([line for line in sheet.convert().outline() if "Part " in line]) == 12


def test_the_header_row_of_a_table_on_every_page_stays(sheet: Sheet) -> None:
    for page in (1, 2, 3):
        rows = [["Pin", "Name"], [f"{page}1", f"A{page}"], [f"{page}2", f"B{page}"]]
        sheet.grid([72, 140, 300], [60, 76, 92, 108], rows)
        sheet.paragraph(72, 200, LOREM)
        sheet.next_page()
    found = sheet.convert()
    assert [found.rows(table)[0] for table in range(3)] == [["Pin", "Name"]] * 3
    assert found.document.removed == ()


def test_the_same_value_at_the_edge_of_every_page_is_no_page_number(sheet: Sheet) -> None:
    for _ in (1, 2, 3):
        sheet.text(480, 815, "33")
        sheet.paragraph(72, 200, LOREM)
        sheet.next_page()
    assert sheet.convert().outline().count("text 33") == 3


def test_a_table_of_contents_is_left_out_and_reported(sheet: Sheet) -> None:
    entries = [("1 Introduction", 2), ("1.1 Features", 2), ("2 Ratings", 3), ("2.1 Supply", 3), ("3 Pins", 4)]
    sheet.text(72, 120, "Contents", size=16)
    for index, (title, page) in enumerate(entries):
        sheet.text(72, 150 + 15 * index, title)
        sheet.text(500, 150 + 15 * index, str(page))
    for page in (2, 3, 4):
        sheet.next_page()
        for index, title in enumerate(title for title, on in entries if on == page):
            sheet.text(72, 120 + 100 * index, title, size=15 - 3 * title.count("."))
            sheet.paragraph(72, 140 + 100 * index, LOREM)
    found = sheet.convert()
    assert found.outline()[:3] == ["h1 Contents", "h1 1 Introduction", f"text {LOREM}"]
    assert {(line.rule, line.page) for line in found.document.removed} == {("table of contents", 1)}
    assert found.rows()[1] == ["1.1 Features", "2"]


def test_the_last_entries_of_a_contents_may_stand_on_a_page_of_their_own(sheet: Sheet) -> None:
    titles = [f"{name} of the pump" for name in ("Parts", "Supply", "Pins", "Clock", "Orders", "Errata")]
    sheet.text(72, 120, "Contents", size=16)
    for number, title in enumerate(titles, 1):
        y = 150 + 15 * number if number < 6 else 120
        if number == 6:
            sheet.next_page()
        sheet.text(72, y, f"{number} {title}")
        sheet.text(500, y, str(number + 2))
    for number, title in enumerate(titles, 1):
        sheet.next_page()
        sheet.bookmark(title, 0)
        sheet.text(72, 120, f"{number} {title}", size=15)
        sheet.paragraph(72, 160, f"Part {number}. {LOREM}")
    found = sheet.convert()
    assert {(line.rule, line.page) for line in found.document.removed} == {
        ("table of contents", 1),
        ("table of contents", 2),
    }


def test_dots_between_title_and_page_are_not_part_of_the_title(sheet: Sheet) -> None:
    for index, title in enumerate(("Overview", "Supply of the board", "Pins")):
        sheet.text(72, 150 + 15 * index, f"{title} {'. ' * (40 - len(title))}")
        sheet.text(500, 150 + 15 * index, str(index + 1))
    found = sheet.convert()
    assert found.rows() == [["Overview", "1"], ["Supply of the board", "2"], ["Pins", "3"]]
    assert found.outline() == []


def test_a_list_of_values_that_rise_is_no_table_of_contents(sheet: Sheet) -> None:
    for index, (name, value) in enumerate((("Short", 1), ("Medium", 2), ("Long", 3), ("Longest", 4), ("Spare", 5))):
        sheet.text(72, 150 + 15 * index, f"{name} cable")
        sheet.text(300, 150 + 15 * index, str(value))
    assert sheet.convert().outline() == ["table 5x2"]


def test_rows_of_several_tables_alike_are_no_table_of_contents(sheet: Sheet) -> None:
    rows = [
        ["name", "what the pump is called by all boards", "none"],
        ["left", "the distance from the left edge of the board", "10"],
        ["upper", "the distance from the upper edge of the board", "10"],
        ["width", "how wide the pump is drawn on the board", "20"],
        ["note", "what is shown when somebody points at it", "none"],
    ]
    for number in range(3):
        sheet.text(72, 100, f"Pumps of kind {'ABC'[number]} have these settings.")
        sheet.grid(
            [72, 150, 400, 470], [300 + 16 * row for row in range(7)], [["Setting", "Meaning", "Default"], *rows]
        )
        sheet.next_page()
    found = sheet.convert()
    assert [found.rows(number)[1:] for number in range(3)] == [rows, rows, rows]


def test_what_a_browser_prints_around_a_page_is_removed_with_its_date(sheet: Sheet) -> None:
    for page in (1, 2, 3):
        sheet.text(26, 22, "8/29/2025", size=6)
        sheet.text(300, 22, "Pump Report", size=6)
        sheet.paragraph(72, 120 + 40 * page, f"Part {page}. {LOREM}")
        sheet.next_page()
    found = sheet.convert()
    assert found.outline() == [f"text Part {page}. {LOREM}" for page in (1, 2, 3)]
    assert {line.text for line in found.document.removed} == {"8/29/2025 (3 pages)", "Pump Report (3 pages)"}


def test_a_header_that_ends_with_the_page_number_is_removed_whatever_section_it_names(sheet: Sheet) -> None:
    for page, title in enumerate(("Safety", "Wiring the pump", "Care", "Disposal"), 1):
        sheet.text(375, 40, f"{title} {page + 2}")
        sheet.paragraph(72, 120, f"Part {page}. {LOREM}")
        sheet.next_page()
    assert sheet.convert().outline() == [f"text Part {page}. {LOREM}" for page in (1, 2, 3, 4)]


def test_roman_page_numbers_stand_where_arabic_ones_do(sheet: Sheet) -> None:
    for page, number in enumerate(("- i -", "- ii -", "- 1 -", "- 2 -", "- 3 -"), 1):
        sheet.paragraph(72, 120, f"Part {page}. {LOREM}")
        sheet.text(290, 810 if number[2].isdigit() else 807, number)
        sheet.next_page()
    assert sheet.convert().outline() == [f"text Part {page}. {LOREM}" for page in range(1, 6)]


def test_a_large_running_header_above_a_drawn_line_is_no_heading_of_each_page(sheet: Sheet) -> None:
    for page in range(1, 5):
        sheet.text(460, 118, "XK-400", size=15, font="Helvetica-BoldOblique")
        sheet.line(72, 124, 540, 124)
        sheet.text(72, 160, f"Pins of side {page}", size=12, font="Helvetica-Bold")
        sheet.paragraph(72, 180, f"Part {page}. {LOREM}")
        sheet.next_page()
    found = sheet.convert()
    assert found.headings() == [f"h1 Pins of side {page}" for page in range(1, 5)]
    assert [line.text for line in found.document.removed] == ["XK-400 (4 pages)"]


def test_leaders_of_hyphens_lead_to_page_numbers(sheet: Sheet) -> None:
    sheet.text(72, 60, "Contents", size=14, font="Helvetica-Bold")
    titles = ["Order numbers", "Limits of the pump", "How it is drawn", "What is inspected"]
    for index, title in enumerate(titles):
        sheet.text(72, 90 + 16 * index, f"{title} " + "- " * 30 + f" 0{index + 2}")
    for title in titles:
        sheet.next_page()
        sheet.text(72, 60, title, size=14, font="Helvetica-Bold")
        sheet.paragraph(72, 300, LOREM)
    removed = [line.text for line in sheet.convert().document.removed if " | " in line.text]
    assert removed == [f"{title} | 0{index}" for index, title in enumerate(titles, 2)]


def test_dots_that_lead_to_a_value_are_no_part_of_its_label(sheet: Sheet) -> None:
    for y, (label, dots, value) in enumerate(
        (
            ("Pumps sold.", 9, "1,080.1"),
            ("Wells.", 20, "68.9"),
            ("Valves of all kinds.", 8, "173.7"),
            ("Boards.", 14, "217.4"),
        )
    ):
        end = 72 + stringWidth(label, "Helvetica", 10)
        sheet.text(72, 100 + 14 * y, label)
        for index in range(dots):
            sheet.text(end + 3 + 6 * index, 100 + 14 * y, ".")
        for right, text in ((240.0, value), (310.0, "12.5"), (380.0, "7.4")):
            sheet.text(right - stringWidth(text, "Helvetica", 10), 100 + 14 * y, text)
    assert [row[0] for row in sheet.convert().rows()] == ["Pumps sold", "Wells", "Valves of all kinds", "Boards"]


def draw_entries(sheet: Sheet, x: float, right: float, entries: list[tuple[str, str]], *, leaders: bool) -> None:
    for row, (name, pages) in enumerate(entries):
        start = x if name[0].isupper() or leaders else x + 12
        sheet.text(start, 150 + 14 * row, name if leaders else f"{name}, {pages}")
        if leaders:
            width = stringWidth(name, "Helvetica", 10)
            dots = int((right - x - width - stringWidth(pages, "Helvetica", 10)) / stringWidth(" .", "Helvetica", 10))
            sheet.text(x + width, 150 + 14 * row, " ." * (dots - 1))
            sheet.text(right - stringWidth(pages, "Helvetica", 10), 150 + 14 * row, pages)


INDEX = [
    [("Alarm", "12, 40"), ("Anode", "7"), ("Battery", "31"), ("Buzzer", "5, 44"), ("Cable", "9"), ("Charge", "2–4")],
    [("Clock", "28"), ("Coil", "3"), ("Display", "17, 22"), ("Diode", "6"), ("Earth", "41"), ("Fuse", "8")],
    [("Gate", "33"), ("Hinge", "1"), ("Input", "26, 27"), ("Jack", "11"), ("Key", "38"), ("Lamp", "10")],
]


@pytest.mark.parametrize("leaders", [False, True])
def test_an_index_in_columns_is_left_out_and_reported(sheet: Sheet, leaders: bool) -> None:
    sheet.text(72, 80, "Index", size=16, font="Helvetica-Bold")
    sheet.paragraph(72, 110, f"Numbers are those of pages. {LOREM}")
    for column, entries in enumerate(INDEX):
        draw_entries(sheet, 72 + 160 * column, 72 + 160 * column + 140, entries, leaders=leaders)
    found = sheet.convert()
    assert found.outline() == ["h1 Index", f"text Numbers are those of pages. {LOREM}"]
    said = [line.text.replace(" .", "").replace(",", "") for line in found.document.removed]
    assert sorted(said) == sorted(f"{name} {pages}".replace(",", "") for entries in INDEX for name, pages in entries)


def test_a_list_of_prices_in_alphabetical_order_is_no_index(sheet: Sheet) -> None:
    prices = [(name, pages.partition(",")[0].partition("–")[0]) for entries in INDEX for name, pages in entries]
    draw_entries(sheet, 72, 400, prices, leaders=True)
    assert not sheet.convert().document.removed
