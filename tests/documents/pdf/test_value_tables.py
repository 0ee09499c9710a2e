from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Sheet

BOLD = "Helvetica-Bold"
LABELS = ["Sales", "Cost of sales", "Operating income", "Income tax", "Net income"]
FIRST = ["2,297", "(2,984)", "874", "—", "1,096"]
SECOND = ["1,806", "(854)", "690", "12", "964"]


def right(sheet: Sheet, x: float, y: float, text: str) -> None:
    """Write a text that ends at x; a bracket hangs over."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

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
