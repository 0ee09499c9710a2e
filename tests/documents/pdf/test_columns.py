"""Papers in two columns: their order, paragraphs that the end of a column cuts, and headings with their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgrag.documents.pdf.blocks import TextBlock
from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.pages import Page, with_even_heights
from kgrag.documents.pdf.structure import recover_structure

if TYPE_CHECKING:
    from conftest import Sheet

BOLD = "Helvetica-Bold"
PUMPS = (
    "A pump of the north lifts water from a well and is at rest when the well is low. Each of the pumps has a valve "
    "that opens by itself and shuts when the pressure falls below what the board was told to keep. "
)
WELLS = (
    "Wells are measured once a day with a line that is let down from the rim until its weight meets the water. What "
    "was measured is written into the book of the well with the name of who let the line down. "
)
LEFT, RIGHT, WIDTH = 60, 310, 220


def test_columns_end_where_a_wide_table_begins(sheet: Sheet) -> None:
    sheet.paragraph(LEFT, 100, PUMPS + PUMPS, width=WIDTH)
    sheet.paragraph(RIGHT, 105, WELLS + WELLS, width=WIDTH)
    sheet.grid(
        [60, 220, 380, 530], [400, 420, 440, 460], [["Pump", "Well", "Valve"], ["P1", "W1", "V1"], ["P2", "W2", "V2"]]
    )
    assert [line[:40] for line in sheet.convert().outline()] == [
        "text A pump of the north lifts water fro",
        "text Wells are measured once a day with ",
        "table 3x3",
    ]


def test_lists_beside_each_other_are_read_one_after_the_other(sheet: Sheet) -> None:
    left = [
        "Lifts 40 litres",
        "Runs from 12 V or 24 V",
        "Has a valve of its own",
        "Stands in dust and rain",
        "Says its name",
    ]
    right = ["Keeps its settings", "Is read once a second", "Sleeps when the well is low", "Wakes within 2 ms"]
    sheet.text(LEFT, 100, "Features", size=12, font=BOLD)
    for x, items in ((LEFT, left), (RIGHT, right)):
        for number, item in enumerate(items):
            sheet.text(x, 120 + 14 * number, "•")
            sheet.text(x + 12, 120 + 14 * number, item)
    sheet.paragraph(LEFT, 210, PUMPS + WELLS)
    blocks = sheet.convert().document.blocks
    assert [block.text for block in blocks if block.kind == "list_item"] == [f"- {item}" for item in left + right]


def test_columns_above_a_title_end_before_those_below_it(sheet: Sheet) -> None:
    sheet.paragraph(LEFT, 100, PUMPS + PUMPS, width=WIDTH)
    end = sheet.paragraph(RIGHT, 100, WELLS, width=WIDTH)
    sheet.text(LEFT, end + 90, "What is read", size=12, font=BOLD)
    sheet.paragraph(LEFT, end + 110, WELLS, width=WIDTH)
    sheet.paragraph(RIGHT, end + 110, PUMPS, width=WIDTH)
    assert [line[:24] for line in sheet.convert().outline()] == [
        "text A pump of the north",
        "text Wells are measured ",
        "h1 What is read",
        "text Wells are measured ",
        "text A pump of the north",
    ]


def test_a_paragraph_goes_on_in_the_next_column_and_notes_stand_behind_it(sheet: Sheet) -> None:
    below = sheet.paragraph(LEFT, 100, WELLS + "The pump of the south stands beside the", width=WIDTH)
    sheet.paragraph(LEFT, below + 12, "† As of last year, of all pumps that were read.", width=WIDTH, size=8)
    below = sheet.paragraph(RIGHT, 100, f"well that it serves. {PUMPS}", width=WIDTH)
    sheet.paragraph(RIGHT, below + 12, WELLS, width=WIDTH)
    texts = [block.text for block in sheet.convert().document.blocks]
    assert len(texts) == 3
    assert "The pump of the south stands beside the well that it serves. A pump" in texts[0]
    assert texts[1].startswith("† As of last year")


def test_the_number_of_a_heading_in_a_column_belongs_to_it(sheet: Sheet) -> None:
    titles = ("Pumps", "Wells", "Valves", "Boards", "Lines")
    for number, title in enumerate(titles, 1):
        sheet.bookmark(title, 0)
        sheet.text(LEFT, 100, str(number), size=12, font=BOLD)
        sheet.text(LEFT + 22, 100, title.upper(), size=12, font=BOLD)
        sheet.paragraph(LEFT, 120, PUMPS, width=WIDTH)
        sheet.paragraph(RIGHT, 100, WELLS + WELLS, width=WIDTH)
        sheet.next_page()
    assert sheet.convert().headings() == [f"h1 {number} {title.upper()}" for number, title in enumerate(titles, 1)]


def word(text: str, x0: float, y0: float, height: float, font: str = "Serif") -> Word:
    return Word(text, Box(x0, y0, x0 + 5 * len(text), y0 + height), font, bold=False)


def test_words_behind_a_lowered_letter_are_as_high_as_the_others() -> None:
    others = [word("others", 50 + 40 * column, 130, 8) for column in range(9)]
    before = [word("The", 50, 100, 8), word("logo", 70, 100, 8), word("stands", 95, 100, 8)]
    logo, behind = word("LATEX", 130, 100.2, 9.7), word("before", 160, 100.2, 9.7)
    larger = word("Larger", 300, 100.2, 9.7)
    found = with_even_heights([*before, logo, behind, larger, *others])
    assert [round(one.box.height, 1) for one in found[:6]] == [8, 8, 8, 8, 8, 9.7]
    assert found[5] is larger


def test_lines_of_a_font_with_low_glyphs_on_the_grid_of_the_text_are_one_paragraph() -> None:
    def lines(y: float, count: int, height: float, font: str) -> list[Word]:
        return [
            word("a" * 8, 50 + 45 * column, y + 12 * row, height, font) for row in range(count) for column in range(10)
        ]

    words = (*lines(100, 4, 8.5, "Serif-Italic"), *lines(200, 20, 13.3, "Serif"))
    blocks = recover_structure([Page(1, 595, 842, words, (), (), (), (), ())]).blocks
    assert [len(block.lines) for block in blocks if isinstance(block, TextBlock)] == [4, 20]


def test_headings_with_roman_numbers_and_letters_in_their_order_are_headings(sheet: Sheet) -> None:
    italic = "Helvetica-Oblique"
    y = 100.0
    for number, title in (("I", "PUMPS"), ("II", "WELLS"), ("III", "VALVES")):
        sheet.text(LEFT, y, f"{number}. {title}")
        y = sheet.paragraph(LEFT, y + 20, PUMPS) + 10
        for letter in "AB":
            sheet.text(LEFT, y, f"{letter}. {title.capitalize()} at rest", font=italic)
            y = sheet.paragraph(LEFT, y + 20, WELLS) + 10
    sheet.text(LEFT, y, "A. Reader wrote this down")  # no heading: it stands in the font of the text
    found = sheet.convert()
    assert found.headings() == [
        "h1 I. PUMPS",
        "h2 A. Pumps at rest",
        "h2 B. Pumps at rest",
        "h1 II. WELLS",
        "h2 A. Wells at rest",
        "h2 B. Wells at rest",
        "h1 III. VALVES",
        "h2 A. Valves at rest",
        "h2 B. Valves at rest",
    ]


def test_what_stands_beside_each_line_of_a_listing_is_no_column(sheet: Sheet) -> None:
    for row in range(9):
        sheet.text(LEFT, 100 + 12 * row, f"set the speed of pump {row};", font="Courier")
        sheet.text(RIGHT, 100 + 12 * row, f"# how fast it runs at {row}", font="Courier")
    sheet.paragraph(LEFT, 220, PUMPS + WELLS, width=470)
    code = " ".join(sheet.convert().document.blocks[0].text.split())
    assert code.startswith("set the speed of pump 0; # how fast it runs at 0 set the speed")


def test_a_table_beside_a_column_of_text_has_its_own_headings_and_its_caption(sheet: Sheet) -> None:
    sheet.paragraph(LEFT, 100, PUMPS + WELLS + PUMPS, width=WIDTH)
    caption = "TABLE I. What the pumps of the north lift and what they take from the board at rest, as last measured."
    sheet.paragraph(RIGHT, 100, f"{caption} {caption}", width=WIDTH)
    rows = [
        ("Pump", "Water", "Current"),
        ("Small", "12.5", "0.40"),
        ("Middle", "25.0", "0.80"),
        ("Large", "50.0", "1.60"),
    ]
    for row, cells in enumerate(rows):
        for x, text in zip((RIGHT, RIGHT + 90, RIGHT + 160), cells, strict=True):
            sheet.text(x, 180 + 12.5 * row, text)
    found = sheet.convert()
    assert found.header() == ["Pump", "Water", "Current"]
    assert [block.text[:8] for block in found.document.blocks if block.kind == "table"] == ["TABLE I."]


def test_lines_of_a_column_of_text_are_no_labels_of_the_table_beside_them(sheet: Sheet) -> None:
    sheet.paragraph(LEFT, 100, PUMPS + WELLS + PUMPS, width=WIDTH)
    rows = [
        ("Wells seen", "28,009"),
        ("Pumps seen", "5,543"),
        ("Pumps at rest", "643"),
        ("Valves", "7,990"),
        ("Rims", "302"),
    ]
    for row, (name, count) in enumerate(rows):
        sheet.text(RIGHT + 20, 100 + 12.5 * row, name)
        sheet.text(RIGHT + 150, 100 + 12.5 * row, count)
    sheet.paragraph(RIGHT, 190, WELLS + PUMPS, width=WIDTH)
    found = sheet.convert()
    assert found.rows() == [list(row) for row in rows]
    assert f"text {(PUMPS + WELLS + PUMPS).strip()}" in found.outline()


def test_names_beside_what_is_said_of_them_are_no_column_of_text(sheet: Sheet) -> None:
    y = 100.0
    names = ["SET PUMP ON", "SET PUMP OFF", "SET PUMP MUTE", "SET VALVE ON", "SET VALVE OFF", "SHOW ALL WELLS"]
    for name in names:
        sheet.text(LEFT, y, name)
        y = sheet.paragraph(220, y, f"Tells the board so. {PUMPS}" if name.endswith("ON") else "Ends it.", width=300)
    texts = [block.text for block in sheet.convert().document.blocks]
    assert [text.split(".")[0] for text in texts] == [
        f"{name} Tells the board so" if name.endswith("ON") else f"{name} Ends it" for name in names
    ]


def test_a_narrow_column_of_sentences_beside_the_text_is_a_column(sheet: Sheet) -> None:
    sheet.paragraph(LEFT, 100, PUMPS, width=120)
    sheet.paragraph(220, 100, WELLS + WELLS + WELLS, width=310)
    texts = [block.text for block in sheet.convert().document.blocks]
    assert [text[:20] for text in texts] == [PUMPS[:20], WELLS[:20]]


def test_a_listing_whose_comments_stand_in_a_column_is_read_line_by_line_at_the_end_of_a_page(sheet: Sheet) -> None:
    below = sheet.paragraph(LEFT, 100, PUMPS + WELLS + PUMPS + WELLS, width=470)
    for row in range(9):
        sheet.text(LEFT, below + 12 * (row + 1), f"set speed pump{row}", font="Courier")
        sheet.text(RIGHT, below + 12 * (row + 1), f"set the speed to {row}", font="Courier")
    lines = sheet.convert().document.blocks[-1].text.splitlines()
    assert [line.split() for line in lines] == [
        f"set speed pump{row} set the speed to {row}".split() for row in range(9)
    ]


def test_rows_of_a_wide_table_are_read_across(sheet: Sheet) -> None:
    for index, (number, form) in enumerate(
        (("3.1", "S-1"), ("3.2", "10-Q"), ("4.1", "8-K"), ("4.2", "S-1/A"), ("4.3", "8-K"))
    ):
        y = 120 + 40 * index
        sheet.text(50, y, "Agreement of the lenders with the registrant, as it was made in the spring of")
        sheet.text(50, y + 12, number)
        sheet.text(90, y + 12, f"that year and of the year before that, part {index}.")
        sheet.text(350, y + 12, form)
        sheet.text(400, y + 12, f"001-376{index}")
        sheet.text(470, y + 12, f"August {index + 1}, 2017")
    texts = [line for line in sheet.convert().outline() if "3.2" in line or "August 2" in line]
    assert len(texts) == 1
    assert "part 1. 10-Q 001-3761 August 2, 2017" in texts[0]


def test_what_is_left_of_the_longer_left_column_is_read_before_the_right_one(sheet: Sheet) -> None:
    sheet.paragraph(LEFT, 100, PUMPS + PUMPS, width=WIDTH)
    sheet.paragraph(RIGHT, 100, WELLS, width=WIDTH)
    sheet.text(LEFT, 500, "Valves", size=14, font="Helvetica-Bold")
    sheet.paragraph(LEFT, 540, "Each valve of the south is closed by hand. " * 4, width=WIDTH)
    texts = [block.text[:15] for block in sheet.convert().document.blocks]
    assert texts.index("Valves") < texts.index(WELLS[:15])
    assert texts.index("Each valve of t") < texts.index(WELLS[:15])


def test_a_card_with_tables_in_three_columns_is_read_column_by_column(sheet: Sheet) -> None:
    titles = (("Valves", 60, 100), ("Wells", 60, 190), ("Pumps", 225, 100), ("Lines", 225, 225), ("Boards", 390, 130))
    for title, x, y in titles:
        sheet.text(x + 50, y, title, font=BOLD)
        sheet.grid(
            [x, x + 60, x + 145],
            [y + 8, y + 24, y + 40, y + 56],
            [["open", "Let it flow"], ["shut", "Keep it in"], ["rest", "Wait"]],
            header=False,
        )
    found = sheet.convert()
    assert found.outline() == [
        line for title, _, _ in sorted(titles, key=lambda one: one[1]) for line in (f"text {title}", "table 3x2")
    ]


def test_items_of_a_list_that_goes_on_in_the_next_column_are_as_deep_as_before(sheet: Sheet) -> None:
    y = sheet.paragraph(LEFT, 100, PUMPS + PUMPS, width=WIDTH)
    for x, top, text in ((LEFT, y + 6, PUMPS), (RIGHT, 100, WELLS), (RIGHT, 180, PUMPS)):
        sheet.text(x + 8, top, "•")
        sheet.paragraph(x + 18, top, text, width=WIDTH - 18)
    items = [block.text for block in sheet.convert().document.blocks if block.kind == "list_item"]
    assert [text[:8] for text in items] == ["- A pump", "- Wells ", "- A pump"]
