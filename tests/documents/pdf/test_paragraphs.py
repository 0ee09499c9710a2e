from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from kgrag.documents.pdf.geometry import Box, Word, is_typewriter, lines_of
from kgrag.documents.pdf.pages import with_accented_letters

if TYPE_CHECKING:
    from conftest import Sheet


FIRST = "The controller wakes once a minute, reads humidity and temperature, and sleeps again until the next minute has gone by."
SECOND = (
    "Two pressure sensors report the pressure drop across an air filter. An alarm is raised when it has to be changed."
)


def test_lines_are_joined_to_paragraphs(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 120, FIRST, width=250)
    sheet.paragraph(72, y + 10, SECOND, width=250)
    assert sheet.convert().outline() == [f"text {FIRST}", f"text {SECOND}"]


def test_the_raised_mark_of_a_note_is_no_letter_of_its_first_word(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 120, FIRST, width=250)
    for mark, text in (("a", "Humidity is relative."), ("b", "Temperature is in degrees.")):
        sheet.text(72, y + 30 - 3, mark, size=6)
        sheet.text(75.5, y + 30, text)
        y += 30
    assert sheet.convert().outline()[1:] == ["text a Humidity is relative.", "text b Temperature is in degrees."]


def test_a_short_last_line_ends_a_paragraph_without_extra_space(sheet: Sheet) -> None:
    first = "All of the boards share one housing. Order codes begin with TF and have five digits. Short end."
    y = sheet.paragraph(72, 120, first, width=250)
    sheet.paragraph(72, y, SECOND, width=250)
    assert sheet.convert().outline() == [f"text {first}", f"text {SECOND}"]


def test_bullets_make_list_items_with_their_wrapped_lines(sheet: Sheet) -> None:
    y = 120.0
    for text in (FIRST, SECOND):
        sheet.text(72, y, "•")
        y = sheet.paragraph(86, y, text, width=250)
    assert sheet.convert().outline() == [f"- {FIRST}", f"- {SECOND}"]


def test_a_bullet_as_low_as_its_glyph_belongs_to_the_line_far_beside_it() -> None:
    bullet = Word("•", Box(72, 101.2, 75, 103.4), "Arial", bold=False)
    words = [Word("Phones", Box(90, 100, 130, 107.2), "Arial", bold=False), bullet]
    assert [line.text for line in lines_of(words)] == ["• Phones"]


def test_drawn_squares_are_bullets_and_indentation_nests(sheet: Sheet) -> None:
    for y, x, text in ((120, 86, "Interfaces"), (134, 106, "2x I2C"), (148, 106, "1x SPI"), (162, 86, "Power")):
        sheet.fill(x - 10, y - 6, x - 7, y - 3, gray=0)
        sheet.text(x, y, text)
    found = sheet.convert()
    assert found.outline() == ["- Interfaces", "- 2x I2C", "- 1x SPI", "- Power"]
    assert [block.level for block in found.document.blocks] == [1, 2, 2, 1]


def test_numbered_items_keep_their_numbers(sheet: Sheet) -> None:
    for index, text in enumerate(("Switch the rail off.", "Wait 8 s.", "Enter standby.")):
        sheet.text(72, 120 + 14 * index, f"{index + 1}. {text}")
    assert sheet.convert().outline() == ["1. Switch the rail off.", "2. Wait 8 s.", "3. Enter standby."]


def test_the_asterisk_operator_marks_items_of_a_list(sheet: Sheet) -> None:
    for index, text in enumerate(["open the valve", "start the pump"]):
        sheet.text(72, 120 + 14 * index, "∗", font="Symbol")
        sheet.text(86, 120 + 14 * index, text)
    assert [block.kind for block in sheet.convert().document.blocks] == ["list_item", "list_item"]


def test_a_negative_value_is_no_list_item(sheet: Sheet) -> None:
    sheet.text(72, 120, "- 40 °C is the lower limit of storage.")
    assert sheet.convert().outline() == ["text - 40 °C is the lower limit of storage."]


def test_a_paragraph_goes_on_over_a_page_break(sheet: Sheet) -> None:
    sheet.paragraph(72, 120, FIRST, width=250)
    sheet.text(72, 700, "The last line of this page reaches the margin of the column and goes")
    sheet.next_page()
    sheet.text(72, 110, "on at the top of the next page.")
    found = sheet.convert()
    assert found.outline()[-1].endswith("of the column and goes on at the top of the next page.")
    last = found.document.blocks[-1]
    assert ([box.page for box in last.boxes], last.page_start, last.page_end) == ([1, 2], 1, 2)


@pytest.mark.parametrize("right", [310, 279], ids=["a wide gutter", "8.5 points between them"])
def test_two_columns_of_text_are_read_one_after_the_other(sheet: Sheet, right: float) -> None:
    sheet.text(72, 100, "1 Description", size=15)
    sheet.paragraph(72, 125, f"{FIRST} {SECOND}", width=210)
    sheet.paragraph(right, 125, f"{SECOND} {FIRST}", width=210)
    assert sheet.convert().outline() == ["h1 1 Description", f"text {FIRST} {SECOND}", f"text {SECOND} {FIRST}"]


def test_columns_whose_lines_stand_at_different_heights_are_read_one_after_the_other(sheet: Sheet) -> None:
    sheet.paragraph(72, 125, f"{FIRST} {SECOND}", width=210)
    sheet.paragraph(310, 131, f"{SECOND} {FIRST}", width=210)
    assert sheet.convert().outline() == [f"text {FIRST} {SECOND}", f"text {SECOND} {FIRST}"]


def test_columns_of_a_listing_stay_apart_as_they_do_on_the_page(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 100, FIRST)
    rows = ("RATE     12   samples a second", "GAIN      3   of the amplifier", "MODE=x    1   how it waits")
    for index, row in enumerate(rows):
        for column, cell in ((0, row[:9]), (9, row[9:14]), (14, row[14:])):
            blanks = len(cell) - len(cell.lstrip())
            sheet.text(72 + 6 * (column + blanks), y + 12 * index, cell.strip(), font="Courier")
    sheet.paragraph(72, y + 12 * len(rows), SECOND)
    assert sheet.convert().outline()[1] == "code " + "\n".join(rows)


def test_lines_in_a_typewriter_font_are_code_with_their_indentation(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 120, FIRST, width=250) + 10
    for index, text in enumerate(("void loop() {", "  feed();", "}")):
        indent = len(text) - len(text.lstrip())
        sheet.text(72 + 6 * indent, y + 12 * index, text.strip(), font="Courier")
    sheet.paragraph(72, y + 60, SECOND, width=250)
    assert sheet.convert().outline() == [f"text {FIRST}", "code void loop() {\n  feed();\n}", f"text {SECOND}"]


def test_a_word_printed_twice_for_a_shadow_is_read_once(sheet: Sheet) -> None:
    sheet.text(72, 120, "Caution: hot surface")
    sheet.text(72.4, 120.2, "Caution: hot surface")
    assert sheet.convert().outline() == ["text Caution: hot surface"]


def test_a_word_that_the_typesetter_broke_is_joined_and_counted(sheet: Sheet) -> None:
    sheet.text(72, 120, "The low-power mode keeps the whole config-")
    sheet.text(72, 132.5, "uration of the board. Nothing else in low-")
    sheet.text(72, 145, "power mode is kept, only this configuration.")
    found = sheet.convert()
    assert found.outline() == [
        "text The low-power mode keeps the whole configuration of the board. "
        "Nothing else in low-power mode is kept, only this configuration."
    ]


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("Op´erations math´ematiques et m´ecanique", "Opérations mathématiques et mécanique"),
        ("Table des mati`eres, aoˆut, fran¸cais, d´ej`a", "Table des matières, août, français, déjà"),
        ("Die Gr¨oße und das ¨Ol", "Die Größe und das Öl"),
        ("Set x`DEFINE and `name` to 5´ or f´(x)", "Set x`DEFINE and `name` to 5´ or f´(x)"),
    ],
)
def test_accents_that_are_drawn_beside_their_letters_are_on_them(drawn: str, read: str) -> None:
    assert " ".join(with_accented_letters(word) for word in drawn.split()) == read


def test_a_line_that_ends_with_a_word_that_leads_on_is_not_the_last_of_its_paragraph(sheet: Sheet) -> None:
    sheet.text(
        72, 100, "The archive is called MSPCCS.jar. Copies of this file are located in the folder .../GEOTRANS3/linux,"
    )
    sheet.text(72, 112.5, "where the build puts them, and the")
    sheet.text(72, 125, "GEOTRANS3 folder of Windows.")
    sheet.text(72, 137.5, "A line that ends early without one is the last.")
    assert sheet.convert().outline() == [
        "text The archive is called MSPCCS.jar. Copies of this file are located in the folder .../GEOTRANS3/linux, where the build puts "
        "them, and the GEOTRANS3 folder of Windows.",
        "text A line that ends early without one is the last.",
    ]


def test_the_raised_mark_of_a_note_stands_before_its_text(sheet: Sheet) -> None:
    for row, (mark, text) in enumerate((("(1)", "Without rent."), ("(**)", "Less than one."))):
        sheet.text(72, 96 + 24 * row, mark, size=6.5)
        sheet.text(94, 99 + 24 * row, text)
    assert sheet.convert().outline() == ["(1) Without rent.", "text (**) Less than one."]


def test_an_item_that_is_indented_as_a_paragraph_goes_on_at_the_margin(sheet: Sheet) -> None:
    sheet.text(72, 120, "You meet this test if the pump was at rest on at least:")
    sheet.text(84, 132.5, "1. 31 days of this year, and of these")
    sheet.text(72, 145, "at least one in each month, and")
    sheet.text(84, 157.5, "2. 183 days of the last three years,")
    sheet.text(72, 170, "counting all days of this one and")
    sheet.text(72, 182.5, "a third of those of the others.")
    assert sheet.convert().outline()[1:] == [
        "1. 31 days of this year, and of these at least one in each month, and",
        "2. 183 days of the last three years, counting all days of this one and a third of those of the others.",
    ]


def test_a_fraction_is_no_number_with_an_exponent(sheet: Sheet) -> None:
    sheet.text(72, 120, "The rate is 48")
    x = 72 + stringWidth("The rate is 48", "Helvetica", 10)
    sheet.text(x, 116, "1", size=6)
    sheet.text(x + 3.4, 120, "/2 cents a mile.")
    assert sheet.convert().outline() == ["text The rate is 48 1/2 cents a mile."]


def test_a_paragraph_goes_on_over_a_table_and_its_caption_and_never_from_a_caption(sheet: Sheet) -> None:
    cut = [
        "The filters of the air are at rest while the pumps of the north run, and are",
        "changed by the people of the wells, who come with a ladder and a lamp, by",
    ]
    for row, line in enumerate(cut):
        sheet.text(72, 700 + 12.5 * row, line)
    sheet.next_page()
    sheet.grid([72, 180, 330], [80, 96, 112], [["Filter", "Pressure"], ["Small", "12 Pa"]])
    sheet.text(72, 126, "Table 1: What the filters hold back")
    sheet.paragraph(72, 160, f"night once a year. {SECOND}", width=350)
    found = sheet.convert().outline()
    assert found[0] == f"text {' '.join(cut)} night once a year. {SECOND}"
    assert "text Table 1: What the filters hold back" in found


def test_an_item_whose_lines_begin_below_its_bullet_goes_on_with_a_small_letter(sheet: Sheet) -> None:
    sheet.paragraph(72, 100, FIRST, width=400)
    sheet.text(72, 140, "•")
    sheet.text(84, 140, "None of the pumps was at rest, so that you cannot leave it out on")
    sheet.text(72.6, 152.5, "line 30.")
    sheet.text(72, 165, "•")
    sheet.text(84, 165, "Enter what the valves lost on line 59.")
    assert sheet.convert().outline()[1:] == [
        "- None of the pumps was at rest, so that you cannot leave it out on line 30.",
        "- Enter what the valves lost on line 59.",
    ]


def test_framed_names_of_buttons_are_words_of_their_sentence(sheet: Sheet) -> None:
    lines = [
        ("To start the pump push the", "Start", "button of the board and"),
        ("wait until the lamp of the", "Ready", "field is green."),
    ]
    for index, (before, name, after) in enumerate(lines):
        x, y = 75 + stringWidth(before, "Helvetica", 10), 120 + 19 * index
        end = x + stringWidth(name, "Helvetica", 10)
        for text, at in ((before, 72.0), (name, x), (after, end + 3)):
            sheet.text(at, y, text)
        for frame in (
            (x - 1, y - 9, end + 1, y - 9),
            (x - 1, y + 3, end + 1, y + 3),
            (x - 1, y - 9, x - 1, y + 3),
            (end + 1, y - 9, end + 1, y + 3),
        ):
            sheet.line(*frame)
    assert [block.text for block in sheet.convert().document.blocks] == [" ".join(line) for line in lines]


def test_terms_far_before_what_is_said_of_them_end_in_a_colon(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 100, FIRST) + 20
    for index, (term, said) in enumerate(
        (("set pump on", "Starts the pump at once."), ("set pump off", "Stops it again."))
    ):
        sheet.text(72, y + 20 * index, term)
        sheet.text(220, y + 20 * index, said)
    sheet.text(72, y + 60, "set pump slow")
    outline = sheet.convert().outline()
    assert outline[1:] == [
        "text set pump on: Starts the pump at once.",
        "text set pump off: Stops it again.",
        "text set pump slow",
    ]


def test_bold_terms_below_each_other_end_in_a_colon_and_begun_sentences_do_not(sheet: Sheet) -> None:
    rows = (
        ("max_rate", "is how fast the pump runs."),
        ("Level two", "Fills the tank."),
        ("Level three", "Fills it up."),
        ("You must", "close the valve."),
        ("You should", "open it again."),
    )
    for index, (term, said) in enumerate(rows):
        sheet.text(72, 100 + 24 * index, term, font="Helvetica-Bold")
        sheet.text(72 + stringWidth(term, "Helvetica-Bold", 10) + 4, 100 + 24 * index, said)
    assert sheet.convert().outline() == [
        "text max_rate: is how fast the pump runs.",
        "text Level two: Fills the tank.",
        "text Level three: Fills it up.",
        "text You must close the valve.",
        "text You should open it again.",
    ]


def test_options_that_tex_set_with_an_en_dash_have_their_hyphens(sheet: Sheet) -> None:
    text = "Give –verbose to see all (or –quiet), and –rate=5 for – as a rule – 5–6 turns of the 3–phase pump."
    sheet.paragraph(72, 100, text)
    told = "Give --verbose to see all (or --quiet), and --rate=5 for – as a rule – 5–6 turns of the 3–phase pump."
    assert sheet.convert().outline() == [f"text {told}"]


def test_dashes_around_remarks_stay(sheet: Sheet) -> None:
    text = "The pump –which is loud– the valve –which is small– and the tank –which leaks– are checked."
    sheet.paragraph(72, 100, text)
    assert sheet.convert().outline() == [f"text {text}"]


def test_short_texts_behind_terms_in_another_font_are_lines_of_their_own(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 100, FIRST) + 20
    for index, (term, said) in enumerate((("fill <level>", "Fills the tank"), ("empty", "Empties it"))):
        sheet.text(72, y + 12 * index, term, font="Helvetica-Bold")
        sheet.text(220, y + 12 * index, said)
    outline = sheet.convert().outline()
    assert [line.partition(" ")[2].split(":")[0].split()[0] for line in outline[1:]] == ["fill", "empty"]


def test_a_bold_item_that_counts_on_is_no_heading(sheet: Sheet) -> None:
    for number, (text, font) in enumerate((("Wells of the north", "Helvetica"), ("Pumps", "Helvetica-Bold")), start=11):
        sheet.text(90, 100 + 20 * number, f"{number}.", font=font)
        sheet.text(112, 100 + 20 * number, text, font=font)
    sheet.paragraph(72, 400, FIRST)
    assert sheet.convert().outline()[:2] == ["11. Wells of the north", "12. Pumps"]


def test_an_exhibit_that_is_set_wider_than_the_document_has_whole_paragraphs(sheet: Sheet) -> None:
    y = 80.0
    for _ in range(8):
        y = sheet.paragraph(72, y, 3 * f"{FIRST} ", width=450) + 8
    sheet.next_page()
    wide = f"{SECOND} {FIRST} {SECOND} {FIRST}"
    y = sheet.paragraph(72, 80, wide, width=450, pitch=2.2)
    sheet.paragraph(72, y + 12, FIRST, width=450, pitch=2.2)
    assert sheet.convert().outline()[8:] == [f"text {wide}", f"text {FIRST}"]


def test_initials_at_the_begin_of_a_line_are_no_items_and_references_are_entries(sheet: Sheet) -> None:
    sheet.text(72, 100, "[1] R. Marlow, T. Denholm, A. Quist, P. Varga, B. Olsen, M. Ferreira, Y.")
    sheet.text(88, 112, "K. Lindgren, Losses of small pumps at rest.")
    sheet.text(72, 124, "[2] R. Marlow, T. Denholm, A. Quist, P. Varga, B. Olsen, M. Ferreira, H.")
    sheet.text(88, 136, "L. Okafor, Wear of valves.")
    assert sheet.convert().outline() == [
        "text [1] R. Marlow, T. Denholm, A. Quist, P. Varga, B. Olsen, M. Ferreira, Y. K. Lindgren, Losses of small pumps at rest.",
        "text [2] R. Marlow, T. Denholm, A. Quist, P. Varga, B. Olsen, M. Ferreira, H. L. Okafor, Wear of valves.",
    ]


def test_an_ordinal_that_stands_at_the_begin_of_a_line_by_chance_is_no_item(sheet: Sheet) -> None:
    sheet.text(72, 100, "Four settings were compared: (a) both valves open, (b) the left one closed, and")
    sheet.text(72, 112, "(c) both valves closed, which is how the pump is delivered from the factory.")
    assert sheet.convert().outline() == [
        "text Four settings were compared: (a) both valves open, (b) the left one closed, and (c) both valves closed, "
        "which is how the pump is delivered from the factory."
    ]


def test_a_framed_listing_in_the_font_of_the_text_keeps_its_lines_in_order(sheet: Sheet) -> None:
    lines = (
        "DRAIN_FIRST:",
        "if the screw is open then wait and close it",
        "DRAIN_NEVER:",
        "keep both valves as they are now",
        "START:",
        "begin with the left one, slowly",
    )
    sheet.paragraph(72, 260, f"{FIRST} {SECOND}", width=480)
    for index, line in enumerate(
        lines
    ):  # each line has a shade and two sides of its own, as an office program draws them
        top, bottom = 100 + 14 * index, 114 + 14 * index
        sheet.fill(72, top, 500, bottom)
        sheet.line(72, top, 500, top)
        sheet.line(72, top, 72, bottom)
        sheet.line(500, top, 500, bottom)
        sheet.text(80, bottom - 4, line)
    assert sheet.convert().outline()[0] == "text " + "\n".join(lines)


def test_a_framed_listing_in_a_typewriter_font_is_code(sheet: Sheet) -> None:
    sheet.paragraph(72, 260, f"{FIRST} {SECOND}", width=480)
    lines = (
        "begin",
        "  # wait until the water is high enough",
        "  open left",
        "  open right",
        "  open both pumps",
        "end",
    )
    for index, line in enumerate(lines):
        top, bottom = 100 + 14 * index, 114 + 14 * index
        sheet.fill(72, top, 500, bottom)
        sheet.line(72, top, 500, top)
        sheet.line(72, top, 72, bottom)
        sheet.line(500, top, 500, bottom)
        sheet.text(80 + 6 * (len(line) - len(line.lstrip())), bottom - 4, line.lstrip(), font="Courier")
    assert sheet.convert().outline()[0] == "code " + "\n".join(lines)


@pytest.mark.parametrize(
    ("font", "typed"),
    [
        ("SFTT1000", True),
        ("LCTT0900", True),
        ("ECST1000", True),
        ("t1xtt", True),
        ("SFRM1000", False),
        ("SFTI1000", False),
    ],
)
def test_typewriter_fonts_of_tex_are_known_in_other_alphabets(font: str, typed: bool) -> None:
    assert is_typewriter(font) is typed
