from __future__ import annotations

from typing import TYPE_CHECKING

from reportlab.pdfbase.pdfmetrics import stringWidth

if TYPE_CHECKING:
    from conftest import Sheet


BOLD = "Helvetica-Bold"
LOREM = (
    "The regulator delivers up to 250 mA to the board and to everything that takes its supply from the 3V3 pin of it."
)
RATINGS = [
    ["Parameter", "Min", "Max", "Unit"],
    ["Supply at VIN", "9", "33", "V"],
    ["Supply at 3V3", "3.0", "3.6", "V"],
    ["Standby current", "-", "0.5", "mA"],
    ["Temperature", "-40", "85", "°C"],
]
XS = [72.0, 220.0, 290.0, 360.0, 430.0]


def test_a_table_with_all_lines_keeps_its_header_and_rows(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 120, LOREM)
    sheet.grid(XS, [y + 20 + 16 * row for row in range(6)], RATINGS)
    sheet.paragraph(72, y + 150, LOREM)
    found = sheet.convert()
    assert found.outline() == [f"text {LOREM}", "table 5x4", f"text {LOREM}"]
    assert found.rows() == RATINGS
    assert found.header() == RATINGS[0]


def test_a_table_with_shaded_rows_and_no_column_lines_keeps_its_columns(sheet: Sheet) -> None:
    for index, row in enumerate(RATINGS):
        sheet.fill(72, 120 + 16 * index, 500, 136 + 16 * index, gray=0.6 if index == 0 else 0.9 + 0.1 * (index % 2))
        for x, text in zip(XS, row, strict=False):
            sheet.text(x + 4, 131 + 16 * index, text)
    found = sheet.convert()
    assert found.rows() == RATINGS
    assert found.header() == RATINGS[0]


def test_a_table_with_three_horizontal_lines_is_split_into_rows(sheet: Sheet) -> None:
    for y in (120, 138, 220):
        sheet.line(72, y, 500, y)
    for index, row in enumerate(RATINGS):
        for x, text in zip(XS, row, strict=False):
            sheet.text(x + 4, 133 + 19 * index, text, font=BOLD if index == 0 else "Helvetica")
    found = sheet.convert()
    assert found.rows() == RATINGS
    assert found.header() == RATINGS[0]


def test_columns_without_any_line_are_a_table_when_their_texts_are_short(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 120, LOREM) + 10
    for index, row in enumerate(RATINGS):
        for x, text in zip(XS, row, strict=False):
            sheet.text(x, y + 15 * index, text, font=BOLD if index == 0 else "Helvetica")
    found = sheet.convert()
    assert found.rows() == RATINGS
    assert found.header() == RATINGS[0]


def test_two_tables_between_the_same_margins_stay_two(sheet: Sheet) -> None:
    for top, title in ((120.0, "1.1 Supply"), (300.0, "1.2 Limits")):
        sheet.text(72, top, title, size=14, font=BOLD)
        for row in range(6):
            sheet.line(72, top + 20 + 16 * row, 500, top + 20 + 16 * row)
        for index, row in enumerate(RATINGS):
            for x, text in zip(XS, row, strict=False):
                sheet.text(x + 4, top + 31 + 16 * index, text)
        sheet.paragraph(72, top + 120, LOREM)
    found = sheet.convert()
    assert found.outline() == [
        "h2 1.1 Supply",
        "table 5x4",
        f"text {LOREM}",
        "h2 1.2 Limits",
        "table 5x4",
        f"text {LOREM}",
    ]
    assert found.rows(0) == found.rows(1) == RATINGS


def test_a_cell_over_several_rows_is_one_cell(sheet: Sheet) -> None:
    sheet.line(72, 120, 400, 120)
    sheet.line(72, 136, 400, 136)
    sheet.line(180, 152, 400, 152)
    sheet.line(72, 168, 400, 168)
    for x in (72, 180, 400):
        sheet.line(x, 120, x, 168)
    sheet.text(76, 132, "Part", font=BOLD)
    sheet.text(184, 132, "Detail", font=BOLD)
    sheet.text(76, 148, "Memory")
    sheet.text(184, 148, "512 kB flash")
    sheet.text(184, 164, "64 kB RAM")
    assert sheet.convert().rows() == [["Part", "Detail"], ["Memory", "512 kB flash"], ["Memory", "64 kB RAM"]]


def test_wrapped_lines_of_a_cell_are_joined(sheet: Sheet) -> None:
    sheet.grid([72, 180, 330], [120, 136, 166], [["Part", "Detail"], ["", ""]])
    sheet.text(76, 148, "Memory")
    sheet.text(184, 148, "512 kB flash with read-")
    sheet.text(184, 161, "while-write support")
    assert sheet.convert().rows()[1] == ["Memory", "512 kB flash with read-while-write support"]


def test_a_table_that_goes_on_over_a_page_break_repeats_its_header(sheet: Sheet) -> None:
    for page in (0, 1):
        rows = [["Pin", "Name"], ["1", "VIN"], ["2", "GND"]] if page == 0 else [["3", "RST"], ["4", "D0"]]
        top = 740.0 if page == 0 else 110.0
        sheet.grid([72, 140, 300], [top + 16 * row for row in range(len(rows) + 1)], rows, header=page == 0)
        sheet.next_page()
    found = sheet.convert()
    assert found.rows(1) == [["Pin", "Name"], ["3", "RST"], ["4", "D0"]]
    assert found.header(1) == ["Pin", "Name"]
    assert [block.page_start for block in found.document.blocks] == [1, 2]
    assert found.document.blocks[1].boxes[0].page == 2


def test_the_bold_line_above_a_table_is_its_caption(sheet: Sheet) -> None:
    sheet.paragraph(72, 100, LOREM)
    sheet.text(72, 145, "Absolute maximum ratings", font=BOLD)
    sheet.grid(XS, [152 + 16.0 * row for row in range(6)], RATINGS)
    found = sheet.convert()
    assert found.outline()[1:] == ["text Absolute maximum ratings", "table 5x4"]
    assert found.headings() == []


def test_the_words_of_a_table_stand_nowhere_else(sheet: Sheet) -> None:
    sheet.paragraph(72, 100, LOREM)
    sheet.grid(XS, [152 + 16.0 * row for row in range(6)], RATINGS)
    found = sheet.convert()
    assert [block.text for block in found.document.blocks if block.kind != "table"] == [LOREM]


def test_a_frame_around_a_paragraph_is_no_table(sheet: Sheet) -> None:
    sheet.grid([60, 560], [90, 140], [[""]])
    sheet.paragraph(72, 110, LOREM)
    assert sheet.convert().outline() == [f"text {LOREM}"]


def test_a_number_in_a_raised_position_is_no_digit_of_the_word(sheet: Sheet) -> None:
    sheet.grid([72, 180, 330], [120, 136, 152], [["Wire", "Size"], ["Solid", "0.5 mm"]])
    sheet.text(217.5, 144.5, "2", size=6)
    assert sheet.convert().rows()[1] == ["Solid", "0.5 mm²"]


def test_rows_that_stand_in_one_drawn_cell_are_rows(sheet: Sheet) -> None:
    sheet.grid(XS, [120, 136, 250], [RATINGS[0], ["", "", "", ""]])
    rows = [*RATINGS[1:], ["Supply at 5V", "4.5", "5.5", "V"], ["Flash", "4", "", "MB"]]
    for index, row in enumerate(rows):
        for x, text in zip(XS, row, strict=False):
            sheet.text(x + 4, 148 + 15 * index, text)
    assert sheet.convert().rows() == [RATINGS[0], *rows]


def test_a_name_that_was_broken_in_its_cell_is_one_row(sheet: Sheet) -> None:
    sheet.grid([72, 130, 330], [120, 136, 230], [["Part", "Detail"], ["", ""]])
    for index in range(6):
        sheet.text(75, 148 + 13 * index, "several words")
        sheet.text(133, 148 + 13 * index, "of a text that goes on below it")
    assert len(sheet.convert().rows()) == 2


def test_a_wide_gap_between_two_sentences_of_a_justified_line_makes_no_row_of_it(sheet: Sheet) -> None:
    sheet.text(72, 108, "The programmer erases one section of the memory, which holds the")
    sheet.text(72, 120, "settings, rather than all of its memory.")
    sheet.text(300, 120, "4 devices have it:")
    for index, (name, value) in enumerate((("red", "3.3 V"), ("green", "5 V"), ("blue", "9 V"), ("white", "12 V"))):
        sheet.text(72, 132 + 12 * index, name)
        sheet.text(300, 132 + 12 * index, value)
    first, *_ = sheet.convert().outline()
    assert first == (
        "text The programmer erases one section of the memory, which holds the settings, rather than all of its memory. 4 devices have it:"
    )


def test_a_double_line_sets_off_the_header(sheet: Sheet) -> None:
    rows = [
        ["Syntax", "Meaning"],
        ["MOVE <f>", "Move it to W"],
        ["SWAP <f>", "Swap its halves"],
        ["STOP", "Do nothing"],
    ]
    sheet.grid([72, 172, 400], [100, 120, 140, 160, 180], rows, header=False)
    sheet.line(72, 122.4, 400, 122.4)
    found = sheet.convert()
    assert found.header() == ["Syntax", "Meaning"]
    assert found.rows() == rows


def test_a_row_of_cells_over_the_columns_that_the_next_one_names_is_a_header(sheet: Sheet) -> None:
    for y in (100, 140, 160, 180):
        sheet.line(72, y, 400, y)
    sheet.line(140, 120, 220, 120)
    for x in (72, 140, 220, 400):
        sheet.line(x, 100, x, 180)
    sheet.line(180, 120, 180, 180)
    for x, y, text in [(76, 124, "name"), (150, 114, "single"), (146, 134, "Q"), (186, 134, "A"), (230, 124, "value")]:
        sheet.text(x, y, text)
    for y, name, said in [(154, "b", "Score for a good reply"), (174, "m", "Score for a bad reply")]:
        sheet.text(76, y, name)
        sheet.text(146, y, "x")
        sheet.text(186, y, "x")
        sheet.text(230, y, said)
    found = sheet.convert()
    assert found.rows()[-1] == ["m", "x", "x", "Score for a bad reply"]
    assert sorted(found.header()) == ["A", "Q", "name", "single", "value"]


def test_rows_that_are_coloured_in_turn_have_the_bold_line_above_as_header(sheet: Sheet) -> None:
    rows = [
        ["North", "Plant", "Owned"],
        ["South", "Office", "Leased"],
        ["East", "Plant", "Owned"],
        ["West", "Plant", "Leased"],
    ]
    sheet.text(176, 116, "Type", font="Helvetica-Bold")
    sheet.text(276, 116, "Held as", font="Helvetica-Bold")
    for number, row in enumerate(rows):
        top = 120 + 14 * number
        for left, right in ((72, 172), (172, 272), (272, 400)):
            sheet.fill(left, top, right, top + 14, gray=1 if number % 2 else 0.8)
        for x, text in zip((76, 176, 276), row, strict=True):
            sheet.text(x, top + 10, text)
    found = sheet.convert()
    assert found.rows()[1:] == rows
    assert found.header() == ["", "Type", "Held as"]


def test_lines_beside_each_other_in_two_drawn_cells_are_rows_where_one_column_has_numbers(sheet: Sheet) -> None:
    sheet.grid([72, 230, 290], [120, 136, 176, 192], [["Pump", "Share"], ["", ""], ["All", "48"]])
    for index, (name, share) in enumerate((("Small pumps", "8/16"), ("Large pumps", "4/7"))):
        sheet.text(76, 148 + 13 * index, name)
        sheet.text(234, 148 + 13 * index, share)
    assert sheet.convert().rows() == [
        ["Pump", "Share"],
        ["Small pumps", "8/16"],
        ["Large pumps", "4/7"],
        ["All", "48"],
    ]


def test_a_text_that_was_broken_in_its_cell_beside_two_numbers_is_one_row(sheet: Sheet) -> None:
    sheet.grid([72, 180, 290], [120, 136, 176, 192], [["Pump", "Share"], ["", ""], ["All", "48"]])
    for index, (name, share) in enumerate((("Small pumps that were", "36 of those"), ("seen at rest", "12 at noon"))):
        sheet.text(76, 148 + 13 * index, name)
        sheet.text(184, 148 + 13 * index, share)
    assert len(sheet.convert().rows()) == 3


def test_gaps_between_drawn_cells_make_no_columns(sheet: Sheet) -> None:
    edges = [72.0, 190.0, 200.0, 290.0, 300.0, 390.0]
    rows = [["North", "", "922", "", "24"], ["South", "", "153", "", "3"], ["West", "", "61", "", "7"]]
    sheet.grid(edges, [136, 152, 168, 184], rows, header=False)
    for y in (120, 136):
        sheet.line(72, y, 390, y)
    for x in (72, 190, 290, 390):
        sheet.line(x, 120, x, 136)
    for x, text in ((204, "Leased"), (304, "Owned")):
        sheet.text(x, 132, text, font=BOLD)
    found = sheet.convert()
    assert found.rows() == [["", "Leased", "Owned"], ["North", "922", "24"], ["South", "153", "3"], ["West", "61", "7"]]


def test_a_first_row_over_all_columns_is_the_caption_and_the_next_one_the_header(sheet: Sheet) -> None:
    for y in (120, 136, 152, 168, 184):
        sheet.line(72, y, 390, y)
    for x, top in ((72, 120), (230, 136), (390, 120)):
        sheet.line(x, top, x, 184)
    texts = [("At rest, as of March", ""), ("Pump", "Years"), ("Small", "23"), ("Large", "17")]
    for row, (name, years) in enumerate(texts):
        sheet.text(76, 132 + 16 * row, name, font=BOLD if row < 2 else "Helvetica")
        sheet.text(234, 132 + 16 * row, years, font=BOLD if row < 2 else "Helvetica")
    found = sheet.convert()
    assert found.header() == ["Pump", "Years"]
    assert [block.text for block in found.document.blocks if block.kind == "table"] == ["At rest, as of March"]


def test_a_list_between_two_lines_is_no_table_of_bullets(sheet: Sheet) -> None:
    y = 120.0
    for _ in range(4):
        sheet.line(72, y, 500, y)
        sheet.text(76, y + 12, "•")
        sheet.text(100, y + 12, "Each pump of the north has a valve of its own")
        y += 16
    sheet.line(72, y, 500, y)
    assert not sheet.convert().tables()


def test_a_framed_command_is_no_table_of_its_prompt(sheet: Sheet) -> None:
    sheet.grid([72, 90, 300], [120, 136], [["$", "make install"]], header=False)
    found = sheet.convert()
    assert not found.tables()
    assert "$ make install" in " ".join(found.outline())


def test_the_lines_of_a_running_header_and_footer_make_no_table(sheet: Sheet) -> None:
    sheet.text(72, 60, "The X-100 board, second edition")
    sheet.text(440, 60, "2004-06")
    sheet.line(72, 66, 500, 66)
    for y, number, title in ((100, "3.1", "Parts of the model"), (130, "3.1.1", "How it looks")):
        sheet.text(72, y, number, font=BOLD, size=12)
        sheet.text(130, y, title, font=BOLD, size=12)
    sheet.line(72, 780, 500, 780)
    sheet.text(72, 792, "Pumps of the North")
    sheet.text(490, 792, "9")
    assert not sheet.convert().tables()


def test_captions_that_stand_below_their_tables_are_theirs(sheet: Sheet) -> None:
    y = 100.0
    for number in (1, 2):
        sheet.grid(XS, [y + 16 * row for row in range(6)], RATINGS)
        sheet.text(72, y + 96, f"Table {number}: Ratings of board {number}.")
        y += 116
    tables = [block.text for block in sheet.convert().document.blocks if block.kind == "table"]
    assert tables == ["Table 1: Ratings of board 1.", "Table 2: Ratings of board 2."]


def test_a_first_column_that_shorter_lines_leave_out_has_one_text_for_all_their_rows(sheet: Sheet) -> None:
    pumps = [["North", "P1", "9", "33"], ["", "P2", "12", "24"], ["", "P3", "7", "30"]]
    wells = [["South", "W1", "3", "5"], ["", "W2", "4", "6"], ["", "W3", "8", "9"]]
    rows = [["Site", "Name", "Least", "Most"], *pumps, *wells]
    for index, row in enumerate(rows):
        sheet.line(72 if index in (0, 1, 4) else 180, 120 + 16 * index, 430, 120 + 16 * index)
        for x, text in zip([72, 180, 280, 360], row, strict=True):
            below = 16 if text in ("North", "South") else 0
            sheet.text(x + 4, 131 + 16 * index + below, text, font=BOLD if index == 0 else "Helvetica")
    sheet.line(72, 120 + 16 * 7, 430, 120 + 16 * 7)
    found = sheet.convert()
    assert found.rows() == [rows[0], *(["North", *row[1:]] for row in pumps), *(["South", *row[1:]] for row in wells)]
    assert found.header() == rows[0]


def test_totals_between_shorter_lines_are_rows_with_their_own_labels(sheet: Sheet) -> None:
    rows = [
        ["", "2022", "2021"],
        ["Pumps", "20", "30"],
        ["Wells", "40", "50"],
        ["Total", "60", "80"],
        ["Net", "9", "7"],
    ]
    for index, row in enumerate(rows):
        for x, text in zip([72, 280, 360], row, strict=True):
            sheet.text(x + 4, 131 + 16 * index, text)
    for y, start in ((120, 72), (136, 72), (168, 270), (184, 270), (200, 72)):
        sheet.line(start, y, 430, y)
    assert [row for row in sheet.convert().rows() if row[0]] == rows[1:]


def test_a_double_line_sets_off_the_header_of_a_table_without_lines_between_columns(sheet: Sheet) -> None:
    rows = [
        ["Item", "Description", "Key"],
        ["Speed", "How fast it runs", "pump-speed"],
        ["Level", "How low", "well-low"],
    ]
    for y in (120, 138, 139, 158, 178):
        for start, end in ((72, 179), (180.4, 329), (330.4, 430)):
            sheet.line(start, y, end, y)
    for index, row in enumerate(rows):
        for x, text in zip([72, 180, 330], row, strict=True):
            sheet.text(x + 4, 132 + 20 * index, text)
    found = sheet.convert()
    assert found.rows() == rows
    assert found.header() == rows[0]


def test_a_long_text_beside_a_name_and_a_value_is_a_row_between_lines(sheet: Sheet) -> None:
    for y in (120, 138, 238, 258):
        sheet.line(72, y, 430, y)
    for y, row in ((132, ["Item", "Description", "Key"]), (150, ["Speed", "How fast it runs:", "speed"])):
        for x, text in zip([72, 180, 330], row, strict=True):
            sheet.text(x + 4, y, text, font=BOLD if y == 132 else "Helvetica")
    for index, text in enumerate(["- low: at night", "- high: by day", "- none: at rest", "- set: by hand"]):
        sheet.text(184, 164 + 14 * index, text)
    for x, text in zip([72, 180, 330], ["Level", "How low it is", "level"], strict=True):
        sheet.text(x + 4, 251, text)
    assert [row[::2] for row in sheet.convert().rows()] == [["Item", "Key"], ["Speed", "speed"], ["Level", "level"]]


def test_a_name_in_the_middle_of_the_height_of_its_row_belongs_to_it(sheet: Sheet) -> None:
    for y in (120, 140, 160, 190, 210):
        sheet.line(72, y, 430, y)
    rows = [["Menu", "Key", "What it does"], ["Start", "s", "Starts the pump"], ["Stop", "e", "Stops it"]]
    for y, row in zip((134, 154, 204), rows, strict=True):
        for x, text in zip([72, 180, 230], row, strict=True):
            sheet.text(x + 4, y, text)
    sheet.text(76, 178, "Reload")
    sheet.text(234, 171, "Reads the levels of all wells")
    sheet.text(234, 185, "again")
    assert sheet.convert().rows() == [*rows[:2], ["Reload", "", "Reads the levels of all wells again"], rows[2]]


def test_headings_over_the_middle_of_columns_of_short_cells_are_their_headings(sheet: Sheet) -> None:
    rows = [
        ["Format", "Option", "Meaning"],
        ["ASCII", "-a", "-"],
        ["Binary log of wells", "-binary", "All that was logged"],
    ]
    for index, row in enumerate(rows):
        sheet.line(72, 120 + 18 * index, 430, 120 + 18 * index)
        for x, text in zip([130, 230, 350] if index == 0 else [72, 200, 280], row, strict=True):
            sheet.text(x + 4, 133 + 18 * index, text, font=BOLD if index == 0 else "Helvetica")
    sheet.line(72, 174, 430, 174)
    found = sheet.convert()
    assert (found.header(), found.rows()) == (rows[0], rows)


def test_a_title_row_stands_once_as_the_caption(sheet: Sheet) -> None:
    sheet.grid([72, 430], [120, 136], [["Limits of the north pump"]])
    sheet.grid(
        [72, 180, 280, 430],
        [136, 152, 168, 184],
        [["Name", "Least", "Most"], ["Speed", "9", "33"], ["Level", "3", "7"]],
    )
    found = sheet.convert()
    assert found.rows() == [["Name", "Least", "Most"], ["Speed", "9", "33"], ["Level", "3", "7"]]
    assert [block.text for block in found.document.blocks].count("Limits of the north pump") <= 2
    assert (
        " ".join(block.text for block in found.document.blocks if block.kind == "paragraph")
        == "Limits of the north pump"
    )


def test_a_row_that_a_page_break_cut_is_one_row(sheet: Sheet) -> None:
    sheet.grid(
        [72, 180, 400, 470], [700, 716, 732], [["Field", "Meaning", "Type"], ["speed", "How fast the pump", "int"]]
    )
    sheet.next_page()
    rows = [["Field", "Meaning", "Type"], ["", "runs at night.", ""], ["level", "How low the well is.", "int"]]
    sheet.grid([72, 180, 400, 470], [80, 96, 112, 128], rows)
    found = sheet.convert()
    assert found.rows(0)[1:] == [["speed", "How fast the pump runs at night.", "int"]]
    assert found.rows(1)[1:] == [["level", "How low the well is.", "int"]]


def test_the_last_row_of_aligned_texts_goes_on_below_its_last_column(sheet: Sheet) -> None:
    rows = (
        ("BC", "16", "The first pair."),
        ("DE", "16", "The second pair."),
        ("HL", "8", "The third pair: H is high,"),
    )
    for index, row in enumerate(rows):
        for x, cell in zip((72, 172, 272), row, strict=True):
            sheet.text(x, 100 + 14 * index, cell)
    sheet.text(272, 142, "L is low.")
    sheet.text(72, 170, "All of them are there from the start.")
    found = sheet.convert()
    assert found.rows()[-1] == ["HL", "8", "The third pair: H is high, L is low."]
    assert found.outline()[1:] == ["text All of them are there from the start."]


def test_a_word_that_a_cells_line_cuts_keeps_its_row_together(sheet: Sheet) -> None:
    lines = (
        ("Pump", "Compares and fills tanks."),
        ("Valve/", "Lets water out, and com-"),
        ("Tap", "pares both sides of it."),
    )
    for y in (100, 118, 164):
        sheet.line(72, y, 430, y)
    for index, (name, said) in enumerate((("Part", "What it does"), *lines)):
        y = 112 if index == 0 else 118 + 14 * index
        sheet.text(76, y, name, font=BOLD if index == 0 else "Helvetica")
        sheet.text(200, y, said, font=BOLD if index == 0 else "Helvetica")
    assert sheet.convert().rows()[-1] == ["Valve/ Tap", "Lets water out, and compares both sides of it."]


def test_names_below_pictures_are_no_table(sheet: Sheet) -> None:
    for row in range(4):
        for column in range(3):
            x, y = 100 + 120 * column, 100 + 18 * row
            sheet.dot(x, y, x + 12, y + 8)
            sheet.text(x, y + 16, f"pump{row}{column}", size=9)
    assert sheet.convert().tables() == []


CARD = [
    ["ordered pair", "pair"],
    ["a well", "well"],
    ["the guide of all pumps", "guide"],
    ["default level of water", "level(real)"],
    ["change of direction", "turn"],
]


def test_lines_of_a_reference_card_are_rows(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 100, LOREM) + 20
    for index, (said, typed) in enumerate(CARD):
        sheet.text(72, y + 12 * index, said)
        sheet.text(220, y + 12 * index, typed, font="Courier")
    found = sheet.convert()
    assert found.rows() == CARD
    assert found.header() == []


def test_a_paragraph_whose_pieces_have_a_ground_of_their_own_is_no_table(sheet: Sheet) -> None:
    sheet.fill(72, 100, 542, 112, gray=1)
    sheet.fill(72, 112, 190, 124, gray=1)
    sheet.fill(190, 112, 542, 124, gray=1)
    sheet.fill(72, 124, 260, 136, gray=1)
    sheet.fill(260, 124, 542, 136, gray=1)
    sheet.text(
        72,
        110,
        "In the first year the whole of the gain was 86 and came from the audit of the years before, which had ended",
    )
    sheet.text(72, 122, "in the spring of 2014.")
    sheet.text(190 - 18, 122, "Of the second year nothing is known but the size of the loss from it, which was")
    sheet.text(72, 134, "2016 and more, as the assessment said")
    sheet.text(260 - 12, 134, "at the end. There was no such amount in the third year.")
    (block,) = sheet.convert().document.blocks
    assert block.kind == "paragraph"


def test_gaps_between_the_cells_of_a_grid_do_not_part_it(sheet: Sheet) -> None:
    rows = [["Product", "Series", "Adults"], ["First", "One", "2021"], ["Second", "Two", "2022"]]
    for x in (72, 168, 264):
        for y in (100, 120, 140, 160):
            sheet.line(x, y, x + 90, y)
        sheet.line(x, 100, x, 160)
    for number, row in enumerate(rows):
        for x, text in zip((72, 168, 264), row, strict=True):
            sheet.text(x + 4, 114 + 20 * number, text, font=BOLD if number == 0 else "Helvetica")
    sheet.text(112, 111, "a", size=5)
    found = sheet.convert()
    assert found.rows()[1:] == rows[1:]
    assert found.header() == ["Product a", "Series", "Adults"]


def test_a_cell_beside_one_over_several_columns_without_a_side_between_them_keeps_its_text(sheet: Sheet) -> None:
    for y in (100, 120, 160, 180):
        sheet.line(72, y, 360, y)
    sheet.line(168, 140, 360, 140)
    for x in (72, 360):
        sheet.line(x, 100, x, 180)
    for x in (168, 264):
        sheet.line(x, 100, x, 120)
        sheet.line(x, 140, x, 180)
    for y, row in (
        (114, ("Series", "Adults", "Children")),
        (154, ("", "2021", "2022")),
        (174, ("Two", "2023", "2024")),
    ):
        for x, text in zip((72, 168, 264), row, strict=True):
            sheet.text(x + 4, y, text, font=BOLD if y == 114 else "Helvetica")
    sheet.text(76, 148, "One")
    sheet.text(240, 134, "two doses")
    assert sheet.convert().rows() == [
        ["Series", "Adults", "Children"],
        ["One", "two doses", "two doses"],
        ["One", "2021", "2022"],
        ["Two", "2023", "2024"],
    ]


def test_rows_between_the_shaded_ones_have_the_same_columns(sheet: Sheet) -> None:
    xs = [72, 200, 260, 420]
    rows = [
        ["Pump", "Bar", "Remark"],
        ["P-100", "4", "with a valve"],
        ["P-200", "6", "without one"],
        ["P-300", "8", "for hot water"],
        ["P-400", "9", "for cold water"],
        ["P-500", "12", "on request"],
    ]
    for index, row in enumerate(rows):
        y = 100 + 16 * index
        for x, end, text in zip(xs, xs[1:], row, strict=False):
            if index % 2 == 0:
                sheet.line(x, y, end, y)
                sheet.line(x, y + 16, end, y + 16)
                sheet.line(x, y, x, y + 16)
                sheet.line(end, y, end, y + 16)
            sheet.text(x + 4, y + 12, text)
    sheet.line(72, 100, 72, 196)
    sheet.line(420, 100, 420, 196)
    assert sheet.convert().rows() == rows


def test_a_cell_that_is_shaded_piece_by_piece_is_one_cell(sheet: Sheet) -> None:
    """Word draws the margins and the lines of a shaded cell each as a rectangle of its own."""
    lefts, rights = (72, 202, 302), (200, 300, 420)
    rows = [
        (100, 116, ["Quantity", "Symbol", "Most"]),
        (118, 146, ["Current drawn | while asleep", "Isl", "4 µA"]),
        (148, 176, ["Time until it | answers again", "tup", "2 ms"]),
    ]
    for index, (top, bottom, texts) in enumerate(rows):
        for left, right, text in zip(lefts, rights, texts, strict=True):
            gray = (0.8, 0.95)[index % 2]
            lines = text.split(" | ")
            start = (top + bottom - 12 * len(lines)) / 2
            sheet.fill(left, top, left + 5, bottom, gray)
            sheet.fill(right - 5, top, right, bottom, gray)
            if start > top:
                sheet.fill(left + 5, top, right - 5, start, gray)
                sheet.fill(left + 5, bottom - (start - top), right - 5, bottom, gray)
            for number, line in enumerate(lines):
                sheet.fill(left + 5, start + 12 * number, right - 5, start + 12 * (number + 1), gray)
                sheet.text(
                    left + 5, start + 12 * number + 9, line, font="Helvetica-Bold" if index == 0 else "Helvetica"
                )
    found = sheet.convert()
    assert found.header() == ["Quantity", "Symbol", "Most"]
    assert found.rows()[1:] == [
        ["Current drawn while asleep", "Isl", "4 µA"],
        ["Time until it answers again", "tup", "2 ms"],
    ]


def test_the_line_above_a_single_row_of_cells_names_them(sheet: Sheet) -> None:
    xs = [180.0 + 24 * index for index in range(7)]
    names = ["RS", "RW", "D3", "D2", "D1", "D0"]
    for x, name in zip(xs, names, strict=False):
        sheet.text(x + 5, 112, name, size=7)
    sheet.text(150, 134, "Code")
    sheet.grid(xs, [120.0, 140.0], [["0", "0", "0", "1", "I", "S"]], header=False)
    sheet.paragraph(72, 170, "The cursor moves to the right when I is set, and to the left when it is not.")
    found = sheet.convert()
    assert found.header() == names
    assert found.rows()[1:] == [["0", "0", "0", "1", "I", "S"]]


def test_signs_in_shaded_cells_of_their_own_belong_to_their_numbers(sheet: Sheet) -> None:
    edges = [72, 150, 164, 260, 276, 360]
    for left, right, heading in ((72, 164, "Rate"), (164, 260, "Due"), (260, 360, "Amount")):
        sheet.text((left + right) / 2 - 12, 96, heading, font=BOLD)
        sheet.line(left, 100, right - 6, 100)
    rows = [
        ("3.20", "%", "July 2029", "£", "300"),
        ("3.55", "%", "June 2034", "$", "1,450"),
        ("4.20", "%", "May 2052", "$", "500"),
    ]
    for index, row in enumerate(rows):
        top = 101 + 14 * index
        for left, right, text in zip(edges, edges[1:], row, strict=False):
            sheet.fill(left, top, right, top + 14, gray=(0.85, 0.99)[index % 2])
            sheet.text(right - 4 - stringWidth(text, "Helvetica", 10), top + 11, text)
    found = sheet.convert()
    assert found.header() == ["Rate", "Due", "Amount"]
    assert found.rows()[1:] == [
        ["3.20 %", "July 2029", "£300"],
        ["3.55 %", "June 2034", "$1,450"],
        ["4.20 %", "May 2052", "$500"],
    ]


def test_texts_in_columns_above_a_grid_make_no_table_with_the_lines_of_header_and_footer(sheet: Sheet) -> None:
    sheet.line(72, 60, 500, 60)
    sheet.line(72, 780, 500, 780)
    sheet.text(72, 100, "POWER", size=12, font=BOLD)
    for y, row in (
        (130, ("VDD = 2.7 V", "Rate = 77 Hz", "CL = 330 nF")),
        (142, ("Mux = 65", "Bus = 6800", "All open")),
    ):
        for x, text in zip((76, 216, 356), row, strict=True):
            sheet.text(x, y, text)
    sheet.grid(
        [72, 220, 360, 500],
        [150, 168, 186, 204],
        [["Pattern", "Typ.", "Max."], ["Off", "190", "304"], ["On", "192", "308"]],
    )
    found = sheet.convert()
    assert found.headings() == ["h1 POWER"]
    assert found.header() == ["Pattern", "Typ.", "Max."]


def test_what_stands_between_the_upper_two_of_three_lines_is_the_header(sheet: Sheet) -> None:
    for y in (100, 118, 166):
        sheet.line(72, y, 330, y)
    rows = [
        ("Distribution", "Name"),
        ("truncated Poisson", "poistr"),
        ("truncated binomial", "bintr"),
        ("geometric", "geom"),
    ]
    for index, (name, short) in enumerate(rows):
        y = 113 if index == 0 else 117 + 15 * index
        sheet.text(76, y, name)
        sheet.text(230, y, short)
    found = sheet.convert()
    assert found.header() == ["Distribution", "Name"]
    assert found.rows()[1:] == [list(row) for row in rows[1:]]


def test_points_of_a_diagram_are_no_table(sheet: Sheet) -> None:
    xs, ys = [72.0, 172.0, 272.0, 372.0], [100.0, 140.0, 180.0, 220.0]
    sheet.grid(xs, ys, [["+", "", "+ +"], ["", "+ +", "+"], ["+ + +", "", ""]], header=False)
    assert not any(entry.startswith("table") for entry in sheet.convert().outline())
