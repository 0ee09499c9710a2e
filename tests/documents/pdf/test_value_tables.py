from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from reportlab.pdfbase.pdfmetrics import stringWidth

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Word, bounding_box
from kgrag.documents.pdf.value_grids import better_tables
from kgrag.documents.pdf.value_tables import ValueTables

if TYPE_CHECKING:
    from conftest import Sheet

BOLD = "Helvetica-Bold"
LABELS = ["Sales", "Cost of sales", "Operating income", "Income tax", "Net income"]
FIRST = ["2,297", "(2,984)", "874", "—", "1,096"]
SECOND = ["1,806", "(854)", "690", "12", "964"]


def right(sheet: Sheet, x: float, y: float, text: str) -> None:
    """Write a text that ends at x; a bracket hangs over."""
    sheet.text(x - stringWidth(text.rstrip(")%"), "Helvetica", 10), y, text)


def statement(sheet: Sheet, top: float, labels: list[str] = LABELS) -> None:
    """Five rows of two columns of dollars; signs stand left of the first row."""
    for index, (label, first, second) in enumerate(zip(labels, FIRST, SECOND, strict=True)):
        y = top + 14 * index
        sheet.text(72, y, label)
        for x, value in ((360.0, first), (450.0, second)):
            if index == 0:
                sheet.text(x - 60, y, "$")
            right(sheet, x, y, value)


def test_dollar_signs_and_brackets_belong_to_their_number(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    statement(sheet, 126)
    assert sheet.convert().rows() == [
        ["", "2023", "2022"],
        ["Sales", "$2,297", "$1,806"],
        ["Cost of sales", "(2,984)", "(854)"],
        ["Operating income", "874", "690"],
        ["Income tax", "—", "12"],
        ["Net income", "1,096", "964"],
    ]


def test_a_heading_over_two_columns_is_in_the_header_of_both(sheet: Sheet) -> None:
    sheet.text(320, 96, "Year ended June 30,", font=BOLD)
    sheet.line(300, 99, 455, 99)
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    statement(sheet, 126)
    assert sheet.convert().header() == ["", "Year ended June 30, 2023", "Year ended June 30, 2022"]


def test_the_unit_of_a_table_is_in_its_corner_wherever_it_was_said(sheet: Sheet) -> None:
    for place in ("label", "line", "sentence"):
        if place == "label":
            sheet.text(72, 110, "(Dollars in millions)")
        elif place == "line":
            sheet.text(220, 94, "(Dollars in millions)")
        else:
            sheet.text(72, 88, "Results were as follows (Dollars in millions):")
        right(sheet, 360, 110, "2023")
        right(sheet, 450, 110, "2022")
        statement(sheet, 126)
        sheet.next_page()
    found = sheet.convert()
    assert [found.header(number) for number in range(3)] == [["(Dollars in millions)", "2023", "2022"]] * 3
    assert "Results were as follows (Dollars in millions):" in [block.text for block in found.document.blocks]


def test_shaded_rows_do_not_make_columns_of_signs(sheet: Sheet) -> None:
    for row in range(0, 5, 2):
        for start, end in ((72, 290), (290, 310), (310, 362), (362, 366), (380, 400), (400, 452), (452, 456)):
            sheet.fill(start, 116 + 14 * row, end, 130 + 14 * row, gray=0.9)
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    statement(sheet, 126)
    found = sheet.convert()
    assert found.header() == ["", "2023", "2022"]
    assert found.rows()[1] == ["Sales", "$2,297", "$1,806"]


def test_a_heading_of_rows_stays_a_row_and_a_broken_label_is_one_row(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    sheet.text(72, 126, "Continuing operations:")
    statement(sheet, 140)
    sheet.text(72, 216, "Net income attributable to the")
    sheet.text(80, 226, "shareholders of the company")
    right(sheet, 360, 226, "90")
    right(sheet, 450, 226, "80")
    rows = sheet.convert().rows()
    assert rows[1] == ["Continuing operations:", "", ""]
    assert rows[-1] == ["Net income attributable to the shareholders of the company", "90", "80"]


def test_years_head_groups_of_rows_from_the_first_on(sheet: Sheet) -> None:
    for x, name in ((360, "East"), (450, "West")):
        right(sheet, x, 96, name)
    for group, year in enumerate(("2023", "2022")):
        top = 112 + 42 * group
        sheet.text(72, top, year)
        for row, (label, first, second) in enumerate(zip(("Sales in all", "Costs"), FIRST, SECOND, strict=False)):
            sheet.text(80, top + 14 * (row + 1), label)
            right(sheet, 360, top + 14 * (row + 1), first)
            right(sheet, 450, top + 14 * (row + 1), second)
    rows = sheet.convert().rows()
    assert [row[0] for row in rows] == ["", "2023", "Sales in all", "Costs", "2022", "Sales in all", "Costs"]
    assert rows[1] == ["2023", "", ""]


def test_two_tables_under_each_other_keep_each_its_header(sheet: Sheet) -> None:
    for top, years in ((110, ("2023", "2022")), (220, ("2021", "2020"))):
        right(sheet, 360, top, years[0])
        right(sheet, 450, top, years[1])
        statement(sheet, top + 16)
    found = sheet.convert()
    assert [found.header(number) for number in (0, 1)] == [["", "2023", "2022"], ["", "2021", "2020"]]


def test_percentages_and_dates_beside_numbers_have_columns_of_their_own(sheet: Sheet) -> None:
    for x, text in ((300, "Rate"), (400, "Amount"), (500, "Due")):
        right(sheet, x, 110, text)
    for index, (label, rate, amount, due) in enumerate(
        [("First notes", "4.5", "500", "3/15/2027"), ("Second notes", "3.9", "1,250", "9/30/2031")]
    ):
        y = 126 + 14 * index
        sheet.text(72, y, label)
        right(sheet, 300, y, rate)
        sheet.text(303, y, "%")
        right(sheet, 400, y, amount)
        right(sheet, 500, y, due)
    assert sheet.convert().rows() == [
        ["", "Rate", "Amount", "Due"],
        ["First notes", "4.5%", "500", "3/15/2027"],
        ["Second notes", "3.9%", "1,250", "9/30/2031"],
    ]


def test_text_with_numbers_at_its_line_ends_is_no_table(sheet: Sheet) -> None:
    for index in range(6):
        sheet.text(
            72, 120 + 12.5 * index, f"The regulator of the board delivers up to 250 mA from a supply of {index + 3}"
        )
    assert not sheet.convert().tables()


def test_payments_by_year_are_rows_under_their_heading(sheet: Sheet) -> None:
    sheet.text(72, 96, "(in millions)")
    sheet.text(72, 110, "Fiscal year")
    right(sheet, 450, 110, "Purchases")
    for index, (label, value) in enumerate(
        (("2027", "1,632"), ("2028", "921"), ("2029 - 2031", "775"), ("2032", "753"), ("Total", "4,081"))
    ):
        sheet.text(72, 126 + 14 * index, label)
        right(sheet, 450, 126 + 14 * index, value)
    sheet.text(390, 126, "$")
    assert sheet.convert().rows() == [
        ["(in millions) Fiscal year", "Purchases"],
        ["2027", "$1,632"],
        ["2028", "921"],
        ["2029 - 2031", "775"],
        ["2032", "753"],
        ["Total", "4,081"],
    ]


def test_a_year_is_in_the_header_of_all_columns_over_which_its_line_goes_piece_by_piece(sheet: Sheet) -> None:
    starts = [200, 246, 292, 338, 384, 430]
    for year, first in (("2023", 0), ("2022", 3)):
        sheet.text(starts[first] + 54, 96, year, size=7)
        for index in range(first, first + 3):
            sheet.fill(starts[index], 99.3, starts[index] + 40, 100)
            if index < first + 2:
                for piece in (0, 2, 4):
                    sheet.fill(starts[index] + 40 + piece, 99.3, starts[index] + 42 + piece, 100)
    for start, text in zip(starts, ["Cost", "Gains", "Value"] * 2, strict=True):
        right(sheet, start + 38, 112, text)
    for index, label in enumerate(LABELS):
        sheet.text(72, 128 + 14 * index, label)
        for start in starts:
            right(sheet, start + 38, 128 + 14 * index, str(start + index))
    assert sheet.convert().header() == [
        "",
        *(f"{year} {text}" for year in ("2023", "2022") for text in ("Cost", "Gains", "Value")),
    ]


def test_not_meaningful_and_years_of_a_term_are_values(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    for index, (label, first, second) in enumerate(
        (("Lease term", "7 years", "6 years"), ("Discount rate", "3%", "4%"), ("Growth", "n.m.", "2.1%"))
    ):
        sheet.text(72, 126 + 14 * index, label)
        right(sheet, 360, 126 + 14 * index, first)
        right(sheet, 450, 126 + 14 * index, second)
    assert sheet.convert().rows() == [
        ["", "2023", "2022"],
        ["Lease term", "7 years", "6 years"],
        ["Discount rate", "3%", "4%"],
        ["Growth", "n.m.", "2.1%"],
    ]


def test_a_heading_of_rows_is_not_cut_where_the_texts_beside_the_labels_begin(sheet: Sheet) -> None:
    right(sheet, 400, 110, "2023")
    right(sheet, 470, 110, "2022")
    sheet.text(72, 124, "Contracts that do not serve as a hedge of anything:")
    for index, label in enumerate(LABELS):
        sheet.text(72, 140 + 14 * index, label)
        sheet.text(220, 140 + 14 * index, "Revenue")
        right(sheet, 400, 140 + 14 * index, FIRST[index])
        right(sheet, 470, 140 + 14 * index, SECOND[index])
    rows = sheet.convert().rows()
    assert rows[1] == ["Contracts that do not serve as a hedge of anything:", "", "", ""]
    assert rows[2] == ["Sales", "Revenue", "2,297", "1,806"]


def test_a_note_raised_over_the_line_of_its_number_stands_behind_it(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    sheet.text(72, 126, "Gains on securities")
    right(sheet, 360, 126, "39")
    right(sheet, 450, 126, "41")
    sheet.text(72, 142, "Losses on instruments that are")
    sheet.text(364, 140, "(2)", size=6)
    sheet.text(80, 153, "designated as hedges")
    right(sheet, 360, 153, "139")
    right(sheet, 450, 153, "17")
    sheet.text(72, 170, "Total")
    right(sheet, 360, 170, "178")
    right(sheet, 450, 170, "58")
    assert sheet.convert().rows() == [
        ["", "2023", "2022"],
        ["Gains on securities", "39", "41"],
        ["Losses on instruments that are designated as hedges", "139 (2)", "17"],
        ["Total", "178", "58"],
    ]


def test_titles_above_a_table_and_the_mark_of_the_exhibit_are_no_headings_of_columns(sheet: Sheet) -> None:
    sheet.text(410, 60, "Exhibit 3")
    for y, text in ((78, "Example Company"), (90, "Balance Sheets"), (102, "(In thousands)")):
        sheet.text(sheet.width / 2 - 2.4 * len(text), y, text)
    right(sheet, 430, 116, "2023")
    right(sheet, 520, 116, "2022")
    for index, label in enumerate(LABELS):
        sheet.text(72, 132 + 14 * index, label)
        right(sheet, 430, 132 + 14 * index, FIRST[index])
        right(sheet, 520, 132 + 14 * index, SECOND[index])
    assert sheet.convert().header() == ["(In thousands)", "2023", "2022"]


def test_a_centred_heading_of_rows_does_not_end_a_table(sheet: Sheet) -> None:
    right(sheet, 380, 110, "2023")
    right(sheet, 460, 110, "2022")
    for part, heading in enumerate(("ASSETS", "LIABILITIES AND EQUITY, THAT OF OTHER HOLDERS INCLUDED")):
        top = 126 + 98 * part
        sheet.text(266 - stringWidth(heading, "Helvetica", 10) / 2, top, heading)
        sheet.text(72, top + 14, "Current:")
        for index, label in enumerate(LABELS):
            y = top + 28 + 14 * index
            sheet.text(72, y, label)
            right(sheet, 380, y, FIRST[index])
            right(sheet, 460, y, SECOND[index])
    rows = sheet.convert().rows()
    assert rows[0] == ["", "2023", "2022"]
    assert rows[8:11] == [
        ["LIABILITIES AND EQUITY, THAT OF OTHER HOLDERS INCLUDED", "", ""],
        ["Current:", "", ""],
        ["Sales", "2,297", "1,806"],
    ]


def test_the_sentence_above_the_next_table_ends_a_table(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    statement(sheet, 126)
    sheet.text(72, 200, "Payments by year are as follows:")
    for index, label in enumerate(("2024", "2025", "Total")):
        sheet.text(72, 218 + 14 * index, label)
        right(sheet, 450, 218 + 14 * index, ("$541", "465", "1,006")[index])
    found = sheet.convert()
    assert len(found.rows(0)) == 6
    assert found.rows(1) == [["2024", "$541"], ["2025", "465"], ["Total", "1,006"]]


def test_a_long_line_of_text_above_a_table_is_not_in_its_header(sheet: Sheet) -> None:
    sheet.text(72, 84, "(a) As it is now, what we owe to any of you is in a sum of")
    sheet.text(370, 84, "the other assets")
    sheet.text(72, 98, "Other Liabilities")
    right(sheet, 380, 112, "2023")
    right(sheet, 460, 112, "2022")
    for index, label in enumerate(LABELS):
        sheet.text(72, 128 + 14 * index, label)
        right(sheet, 380, 128 + 14 * index, FIRST[index])
        right(sheet, 460, 128 + 14 * index, SECOND[index])
    assert sheet.convert().header() == ["", "2023", "2022"]


def test_no_table_gives_way_to_a_grid_that_another_one_keeps_out() -> None:
    def table(top: int, values: list[str]) -> TableBlock:
        boxes = [Box(300, top + 14 * row, 340, top + 14 * row + 10) for row in range(len(values))]
        words = [Word(value, box, "Helvetica", False) for value, box in zip(values, boxes, strict=True)]
        cells = tuple(Cell(row, 0, 1, 1, word.box, (word,)) for row, word in enumerate(words))
        return TableBlock(1, bounding_box(boxes), len(values), 1, cells)

    first, second = table(100, FIRST), table(200, SECOND)
    grid = replace(table(156, [FIRST[-1], "", "", "", *SECOND]), box=Box(290, 150, 350, 280))
    tables, _ = better_tables(ValueTables((first, second), frozenset()), [grid])
    assert tables == [first, second]


def test_a_grid_with_the_numbers_of_one_column_in_two_gives_way() -> None:
    def word(text: str, x: float, y: float) -> Word:
        return Word(text, Box(x, y, x + 30, y + 10), "Helvetica", False)

    names = [word("North", 72, 100), word("South", 72, 114)]
    numbers = [word("2.9%", 300, 100), word("(11.5)", 304, 114)]
    cells = tuple(
        Cell(row, column, 1, 1, found.box, (found,))
        for row in (0, 1)
        for column, found in enumerate((names[row], numbers[row]))
    )
    table = TableBlock(1, Box(72, 100, 340, 124), 2, 2, cells)
    apart = (replace(cells[1], box=Box(290, 98, 345, 112)), replace(cells[3], column=2, box=Box(290, 112, 345, 126)))
    grid = TableBlock(1, Box(70, 98, 345, 126), 2, 3, (cells[0], apart[0], cells[2], apart[1]))
    assert better_tables(ValueTables((table,), frozenset()), [grid])[0] == [table]
    whole = replace(grid, column_count=2, cells=(*grid.cells[:3], replace(apart[1], column=1)))
    assert better_tables(ValueTables((table,), frozenset()), [whole])[0] == []


def test_a_heading_that_is_broken_over_two_rows_of_the_header_is_in_it(sheet: Sheet) -> None:
    edges = [72.0, 190.0, 260.0, 330.0]
    for y in (120, 136, 164, 180, 196):
        sheet.line(72, y, 330, y)
    for x in edges:
        sheet.line(x, 120, x, 196)
    sheet.line(260, 150, 330, 150)
    sheet.fill(72.5, 120.5, 329.5, 135.5)
    for x, y, text in (
        (76, 132, "Q4"),
        (264, 132, "Change"),
        (194, 150, "2022"),
        (264, 148, "Net"),
        (264, 161, "of tax"),
    ):
        sheet.text(x, y, text, font=BOLD)
    for row, cells in enumerate((("U.S.", "12,516", "2.7"), ("Elsewhere", "11,190", "(1.0)"))):
        for x, text in zip(edges, cells, strict=False):
            sheet.text(x + 4, 176 + 16 * row, text)
    found = sheet.convert()
    assert found.rows()[-2:] == [["U.S.", "12,516", "2.7"], ["Elsewhere", "11,190", "(1.0)"]]
    assert {"2022", "Net", "of tax"} <= set(found.header()) or "Change Net of tax" in found.header()


def test_one_row_below_underlined_headings_is_a_table(sheet: Sheet) -> None:
    sheet.text(72, 70, "Losses on loans (in thousands)", font="Helvetica-BoldOblique")
    sheet.text(345, 96, "Years ending December 31,", font=BOLD)
    sheet.line(265, 99, 535, 99)
    columns = (("2024", "17,670"), ("2025", "12,959"), ("After 5 years", "—"), ("Total", "30,629"))
    for x, (heading, value) in zip((320.0, 390.0, 460.0, 530.0), columns, strict=True):
        right(sheet, x, 110, heading)
        sheet.line(x - 62, 113, x + 4, 113)
        sheet.text(x - 55, 124, "$")
        right(sheet, x, 124, value)
    sheet.text(72, 124, "Losses on loans")
    sheet.paragraph(72, 160, "Losses on loans grew by more than a third, as more loans were given out in the spring.")
    assert sheet.convert().rows() == [
        ["(in thousands)", *(f"Years ending December 31, {name}" for name, _ in columns)],
        ["Losses on loans", *(f"${value}" for _, value in columns)],
    ]


def test_one_line_with_numbers_and_no_line_above_is_no_table(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2024")
    right(sheet, 450, 110, "2023")
    sheet.text(72, 124, "Shares sold")
    right(sheet, 360, 124, "17,670")
    right(sheet, 450, 124, "12,959")
    sheet.line(60, 113, 520, 113)
    sheet.text(72, 240, "Patents")
    right(sheet, 360, 240, "—")
    right(sheet, 450, 240, "—")
    sheet.paragraph(72, 160, "They were sold in the spring of both years, before the dividend was paid.")
    assert not sheet.convert().tables()


def test_the_long_heading_of_a_group_whose_first_label_has_two_lines_is_in_the_table(sheet: Sheet) -> None:
    for x, heading in ((210.0, "Cost"), (320.0, "Profit"), (430.0, "Tax")):
        right(sheet, x, 104, heading)
        sheet.line(x - 50, 107, x + 4, 107)
    lines = (
        ("As reported", ("40,576", "45,816", "1,727")),
        ("What makes both years differ from", ()),
        ("Mark-to-market", ()),
        ("impact of oil", ("(52)", "52", "14")),
        ("Charges", ("(33)", "33", "77")),
        ("Without them", ("40,491", "45,901", "1,818")),
    )
    for index, (label, values) in enumerate(lines):
        y = 120 + 14 * index - (4 if label.startswith("Mark") else 0)
        sheet.text(36, y, label)
        for x, value in zip((210.0, 320.0, 430.0), values, strict=False):
            if index == 0:
                sheet.text(x - 60, y, "$")
            right(sheet, x, y, value)
    assert [row[0] for row in sheet.convert().rows()] == [
        "",
        "As reported",
        "What makes both years differ from",
        "Mark-to-market impact of oil",
        "Charges",
        "Without them",
    ]


def test_a_row_below_other_rows_with_a_text_behind_their_numbers_is_no_table_of_its_own(sheet: Sheet) -> None:
    for x, heading in ((300.0, "2024"), (380.0, "2023")):
        right(sheet, x, 104, heading)
        sheet.line(x - 50, 107, x + 4, 107)
    for index, (label, remark) in enumerate((("Doors", "Bought in May"), ("Roofs", "Sold in June"), ("Total", ""))):
        y = 120 + 14 * index
        sheet.text(72, y, label)
        for x in (300.0, 380.0):
            right(sheet, x, y, f"{index + 3}4")
            if label == "Total":
                sheet.line(x - 50, y - 11, x + 4, y - 11)
        sheet.text(410, y, remark)
    found = sheet.convert()
    heads = [text for number in range(len(found.tables())) for text in found.header(number)]
    assert not any("34" in text for text in heads)


def test_centred_titles_with_the_unit_among_them_are_the_caption(sheet: Sheet) -> None:
    titles = ("PUMPS AND WELLS", "STATEMENTS OF WATER", "(In thousands, except per share data)", "(Unaudited)")
    for number, title in enumerate(titles):
        sheet.text(262 - stringWidth(title, BOLD, 10) / 2, 80 + 12 * number, title, font=BOLD)
    right(sheet, 360, 144, "2023")
    right(sheet, 450, 144, "2022")
    statement(sheet, 160)
    found = sheet.convert()
    table = next(block for block in found.document.blocks if block.kind == "table")
    assert table.text == "PUMPS AND WELLS STATEMENTS OF WATER (Unaudited)"
    assert found.header()[0].startswith("(In thousands")


def test_a_heading_over_all_groups_leaves_the_name_of_each_over_its_columns(sheet: Sheet) -> None:
    ends = (290, 340, 390, 440, 490, 540)
    for x, name in ((292, "Home"), (388, "Abroad"), (494, "Both")):
        sheet.text(x, 84, name)
    sheet.line(268, 87, 540, 87)
    sheet.text(375, 97, "Quarter ended")
    sheet.line(268, 100, 540, 100)
    for number, x in enumerate(ends):
        right(sheet, x, 110, ("2023", "2022")[number % 2])
    for row, label in enumerate(LABELS):
        sheet.text(72, 126 + 14 * row, label)
        for x in ends:
            right(sheet, x, 126 + 14 * row, "(194)")
    groups = ("Home", "Abroad", "Both")
    assert sheet.convert().header() == [
        "",
        *(f"{group} Quarter ended {year}" for group in groups for year in (2023, 2022)),
    ]


def test_a_unit_that_the_end_of_a_line_breaks_is_in_the_corner(sheet: Sheet) -> None:
    sheet.text(72, 76, "Earnings and the number of shares were as follows (in millions, except per share")
    sheet.text(72, 88, "amounts):")
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    statement(sheet, 126)
    assert sheet.convert().header() == ["(in millions, except per share amounts)", "2023", "2022"]


def test_headings_of_single_rows_are_rows_and_no_part_of_their_label(sheet: Sheet) -> None:
    right(sheet, 360, 110, "Bought")
    right(sheet, 450, 110, "Price")
    for group, month in enumerate(("April 1 to 30", "May 1 to 31", "June 1 to 30")):
        sheet.text(72, 126 + 28 * group, month)
        sheet.text(80, 140 + 28 * group, "Shares on the market")
        right(sheet, 360, 140 + 28 * group, FIRST[group])
        right(sheet, 450, 140 + 28 * group, SECOND[group])
    sheet.text(72, 230, "All")
    right(sheet, 360, 230, "1,283")
    right(sheet, 450, 230, "2,506")
    labels = [row[0] for row in sheet.convert().rows()]
    assert labels[1:5] == ["April 1 to 30", "Shares on the market", "May 1 to 31", "Shares on the market"]


def test_a_label_goes_on_below_its_numbers_and_the_next_row_keeps_its_own(sheet: Sheet) -> None:
    right(sheet, 360, 110, "2023")
    right(sheet, 450, 110, "2022")
    statement(sheet, 126)
    sheet.text(72, 200, "Income of all segments before tax")
    right(sheet, 360, 200, "90")
    right(sheet, 450, 200, "80")
    sheet.text(72, 210, "Operations")
    sheet.text(72, 223, "Share of sales")
    right(sheet, 360, 223, "9")
    right(sheet, 450, 223, "8")
    assert sheet.convert().rows()[-2:] == [
        ["Income of all segments before tax Operations", "90", "80"],
        ["Share of sales", "9", "8"],
    ]


def test_numbers_within_a_listing_stay_in_it(sheet: Sheet) -> None:
    prose = "The pump shows how it is set when it is asked for it, and what may be said in place of that. " * 4
    y = sheet.paragraph(72, 80, prose)
    listing = [
        "Setting   Values            Now",
        "-------------------------------",
        "Mode      Slow/Fast/        ",
        "          Resting           Fast",
        "Litres    <number>          4",
        "Pauses    <number>          12",
        "Seconds   <number>          150",
        "Alarm     No/Yes            Yes",
    ]
    for number, line in enumerate(listing):
        sheet.text(72, y + 20 + 12 * number, line, font="Courier")
    found = sheet.convert()
    assert not found.tables()
    (code,) = [block.text for block in found.document.blocks if block.kind == "code"]
    assert code.splitlines()[4].split() == ["Litres", "<number>", "4"]
    assert len(code.splitlines()) == len(listing)


def test_a_sum_without_a_label_and_without_the_first_number_stays_in_its_table(sheet: Sheet) -> None:
    for x, name in ((300, "Level"), (380, "Assets"), (460, "Debts")):
        right(sheet, x, 110, name)
    for row, (label, level, assets, debts) in enumerate(
        [("Funds", "2", "660", "22"), ("Notes", "1", "257", "14"), ("", "", "917", "36"), ("Swaps", "2", "31", "5")]
    ):
        for x, text in ((300, level), (380, assets), (460, debts)):
            right(sheet, x, 126 + 14 * row, text)
        sheet.text(72, 126 + 14 * row, label)
    assert sheet.convert().rows()[1:] == [
        ["Funds", "2", "660", "22"],
        ["Notes", "1", "257", "14"],
        ["", "", "917", "36"],
        ["Swaps", "2", "31", "5"],
    ]


def test_the_stretched_line_of_a_text_above_a_table_heads_no_column(sheet: Sheet) -> None:
    x = 60.0
    for word in re.split(
        " ", "of the pumps of the north were sold and those of the south were hired from the town again in"
    ):
        sheet.text(x, 100, word)
        x += stringWidth(word, "Helvetica", 10) + 7.5
    sheet.text(60, 113, "spring.")
    for y, row in (
        (140, ("(in thousands)", "2024", "2023")),
        (156, ("Pumps", "1,234", "1,101")),
        (172, ("Wells", "456", "441")),
        (188, ("Sum", "1,690", "1,542")),
    ):
        for right, text in zip((0, 420, 500), row, strict=True):
            sheet.text(60 if not right else right - stringWidth(text, "Helvetica", 10), y, text)
    assert sheet.convert().header() == ["(in thousands)", "2024", "2023"]


def test_what_stands_above_a_grid_that_names_its_columns_is_no_heading(sheet: Sheet) -> None:
    for y, row in (
        (100, ("VDD = 2.7 V", "Rate = 77 Hz", "CL = 330 nF")),
        (112, ("Mux = 65", "Bus = 6800", "All open")),
    ):
        for x, text in zip((64, 204, 344), row, strict=True):
            sheet.text(x, y, text)
    xs, ys = [60.0, 200.0, 340.0, 420.0, 500.0], [120.0, 138.0, 156.0, 174.0, 192.0]
    sheet.fill(60, 120, 500, 138)
    rows = [
        ["Pattern", "Conditions", "Typ.", "Max."],
        ["All off", "Bus idle", "190", "304"],
        ["Checker", "Bus idle", "192", "308"],
        ["Stripes", "Bus idle", "203", "325"],
    ]
    sheet.grid(xs, ys, rows)
    assert sheet.convert().header() == rows[0]


def test_grids_of_numbers_beside_each_other_stay_apart(sheet: Sheet) -> None:
    for left, first in ((60.0, 1), (300.0, 5)):
        rows = [["Pad", "Pin", "X", "Y"]]
        rows += [[str(first + at), f"VSS{at}", str(1320 + 65 * at), "-420"] for at in range(4)]
        sheet.grid([left + 50 * index for index in range(5)], [100.0 + 16 * index for index in range(6)], rows)
    found = sheet.convert()
    assert found.header(0) == found.header(1) == ["Pad", "Pin", "X", "Y"]
    assert [found.rows(index)[1][0] for index in (0, 1)] == ["1", "5"]


def test_dates_in_bold_type_above_numbers_are_headings(sheet: Sheet) -> None:
    rows = [
        ("Index", "12/31/2022", "12/31/2023"),
        ("Pumps", "104.13", "264.86"),
        ("Wells", "111.96", "136.4"),
        ("All", "113.56", "156.46"),
    ]
    for index, row in enumerate(rows):
        for x, text in zip((72.0, 360.0, 450.0), row, strict=True):
            font = BOLD if index == 0 else "Helvetica"
            sheet.text(x if x == 72 else x - stringWidth(text, font, 10), 100 + 14 * index, text, font=font)
    assert sheet.convert().header() == ["Index", "12/31/2022", "12/31/2023"]
