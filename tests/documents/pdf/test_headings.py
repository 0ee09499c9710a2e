from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from kgrag.documents.pdf import convert_pdf
from kgrag.documents.pdf.titles import is_title

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


def test_a_number_of_one_heading_in_many_says_no_level_of_the_others(sheet: Sheet) -> None:
    y = section(sheet, 60, "Large Valves", size=16.0)
    for text in ("Supply", "Reset", "Storage", "18 Rules"):
        y = section(sheet, y, text, size=13.0)
    y = section(sheet, y, "Small Valves", size=16.0)
    section(sheet, y, "Inlets", size=13.0)
    sheet.next_page()
    y = section(sheet, 60, "Outlets", size=13.0)
    section(sheet, y, "Springs", size=13.0)
    found = dict(line.split(" ", 1)[::-1] for line in sheet.convert().headings())
    assert {found[text] for text in ("Large Valves", "Small Valves")} == {"h1"}
    assert {found[text] for text in ("Supply", "Storage", "Inlets", "Springs")} == {"h2"}


def test_a_bold_line_of_the_body_size_that_heads_a_paragraph_is_a_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    section(sheet, y, "Storage conditions", size=10)
    assert sheet.convert().headings() == ["h1 1 Ratings", "h2 Storage conditions"]


def test_a_bold_note_is_no_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    section(sheet, y, "Note:", size=10)
    assert sheet.convert().headings() == ["h1 1 Ratings"]


def test_a_bold_sentence_that_announces_a_table_is_no_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    section(sheet, y, "The following table shows the ratings of the board:", size=10)
    assert sheet.convert().headings() == ["h1 1 Ratings"]


def test_notes_below_a_table_are_no_headings_however_large(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    for text in ("1 At the connector", "2 Without a load", "Note: Values are rounded", "* Estimated"):
        sheet.text(72, y, text, size=12, font=BOLD)
        y += 18
    section(sheet, y + 30, "2 Pins", size=15)
    assert sheet.convert().headings() == ["h1 1 Ratings", "h1 2 Pins"]


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


def test_the_outline_decides_what_is_a_heading_and_its_level(sheet: Sheet) -> None:
    sheet.text(72, 60, "Telnet Commands", size=9)
    y = 120.0
    for text, level in (("1 Setup", 0), ("Telnet Commands", 1), ("Scripts", 1), ("2 Targets", 0), ("Reset", 1)):
        sheet.bookmark(text.lstrip("12 "), level)
        y = section(sheet, y, text, size=11, font="Helvetica")
    section(sheet, y, "reset halt [target]", size=15)
    assert sheet.convert().headings() == ["h1 1 Setup", "h2 Telnet Commands", "h2 Scripts", "h1 2 Targets", "h2 Reset"]


def test_the_text_beside_a_heading_of_the_outline_is_below_it(sheet: Sheet) -> None:
    y = 120.0
    for name in ("Rotate", "Scale", "Shear", "Flip", "Crop"):
        sheet.bookmark(name, 0)
        sheet.text(72, y, name, size=10, font=BOLD)
        sheet.text(124, y, f"The option {name.lower()} changes the picture as it is read, and the one", size=10.2)
        sheet.text(72, y + 12, "that was written first is the one that comes first.", size=10.2)
        y += 40
    said = "The option scale changes the picture as it is read, and the one that was written first is the one that comes first."
    assert sheet.convert().outline()[2:4] == ["h1 Scale", f"text {said}"]


def test_numbered_headings_below_the_outlines_last_level_stay(sheet: Sheet) -> None:
    y = 120.0
    for text in ("1 Setup", "1.1 Board", "1.2 Host", "2 Targets", "2.1 Reset"):
        sheet.bookmark(text, text.count("."))
        y = section(sheet, y, text, size=13)
        if text == "1.1 Board":
            y = section(sheet, y, "1.1.1 Jumpers", size=11)
    assert "h3 1.1.1 Jumpers" in sheet.convert().headings()


def test_an_outline_of_chapters_alone_leaves_smaller_headings_alone(sheet: Sheet) -> None:
    for number in range(5):
        sheet.bookmark(f"Chapter {number}", 0)
        y = section(sheet, 120, f"Chapter {number}", size=18)
        for text in ("Purpose", "Limits", "Use", "Wiring"):
            y = section(sheet, y, f"{text} {number}", size=13)
        for _ in range(5):
            sheet.next_page()
            sheet.paragraph(72, 120, LOREM)
        sheet.next_page()
    headings = sheet.convert().headings()
    assert headings[:3] == ["h1 Chapter 0", "h2 Purpose 0", "h2 Limits 0"]
    assert len(headings) == 25


def test_a_title_in_two_centred_lines_is_one_and_may_be_as_large_as_the_outlines_chapters(sheet: Sheet) -> None:
    sheet.text(150, 120, "Serial Interface of the X-100 and the", size=18, font=BOLD)
    sheet.text(190, 142, "X-200 Controllers†", size=18, font=BOLD)  # the mark of a footnote
    sheet.next_page()
    for text in ("Overview", "Wiring", "Frames", "Timing", "Errors"):
        sheet.bookmark(text, 0)
        section(sheet, 120, text, size=18)
        sheet.next_page()
    found = sheet.convert()
    assert found.document.title == "Serial Interface of the X-100 and the X-200 Controllers"
    assert found.headings()[1:3] == ["h1 Overview", "h1 Wiring"]


def test_a_running_header_or_a_registration_number_is_no_title(sheet: Sheet) -> None:
    sheet.metadata_title("0000078003-23-000088")
    for number in range(1, 5):
        sheet.text(72, 40, "Chapter 12: Flash Commands", size=9)
        sheet.text(400, 40, f"Page {number}", size=9)
        sheet.paragraph(72, 120, LOREM)
        sheet.next_page()
    assert sheet.convert().document.title == ""


def test_a_marking_on_every_page_is_no_title(sheet: Sheet) -> None:
    for _ in range(4):
        sheet.text(250, 40, "COMPANY CONFIDENTIAL", size=9)
        sheet.paragraph(72, 120, LOREM)
        sheet.next_page()
    assert sheet.convert().document.title == ""


@pytest.mark.parametrize(
    "marking", ["UNCLASSIFIED", "Confidential", "For internal use only", "Draft", "- Preliminary information -"]
)
def test_who_may_read_it_and_how_final_it_is_are_no_titles(marking: str) -> None:
    assert not is_title(marking)
    assert is_title(f"Pumps: {marking}")
    assert is_title(f"{marking} pumps")


def test_a_stroke_between_names_makes_no_file_name_and_parts_of_a_title_may_stand_apart(sheet: Sheet) -> None:
    assert is_title("ABC/Net Pump User's Manual")
    assert not is_title("manuals/pump")
    assert not is_title("/home/me/my manual")
    sheet.metadata_title("Pump User Manual - Pump 7.0")
    sheet.text(72, 90, "Lifting water out of wells of any depth", size=24)
    sheet.text(72, 120, "Pump User Manual", size=14)
    sheet.paragraph(72, 160, f"This is Pump 7.0. {LOREM}")
    sheet.next_page()
    for number in range(3):
        sheet.text(72, 100 + 100 * number, f"{number + 1} Part", size=14)
        sheet.paragraph(72, 130 + 100 * number, LOREM)
    assert sheet.convert().document.title == "Pump User Manual - Pump 7.0"


def test_a_filing_is_named_after_who_filed_what_for_when(sheet: Sheet) -> None:
    lines = ("UNITED STATES", "FORM 10-K", "For the fiscal year ended December 2, 2022", "EXAMPLE INC.")
    for row, text in enumerate(lines):
        sheet.text(200, 100 + 40 * row, text, size=14, font=BOLD)
    sheet.text(150, 250, "(Exact name of registrant as specified in its charter)")
    sheet.paragraph(72, 300, LOREM)
    assert sheet.convert().document.title == "EXAMPLE INC., FORM 10-K, fiscal year ended December 2, 2022"


def test_authors_and_where_they_work_are_no_headings(sheet: Sheet) -> None:
    sheet.text(120, 100, "Unsupervised Parsing of Ratings", size=15, font=BOLD)
    sheet.text(200, 130, "Ann Author and Bob Writer", size=14.8)
    sheet.text(200, 150, "Institute of Sensors, Example University", size=13)
    y = section(sheet, 190, "Abstract", size=11)
    y = section(sheet, y, "1. Introduction", size=11)
    section(sheet, y, "1.1. Earlier Work", size=10)
    found = sheet.convert()
    assert found.document.title == "Unsupervised Parsing of Ratings"
    assert found.headings()[1:] == ["h1 Abstract", "h1 1. Introduction", "h2 1.1. Earlier Work"]


def test_a_formula_or_a_line_of_the_text_in_a_larger_font_is_no_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    sheet.text(200, y, "f(x) = g(x) + a + b (2)", size=13)
    y = sheet.paragraph(72, y + 40, LOREM) + 20
    sheet.text(72, y, "which is why every board of the series has it", size=12)
    y = sheet.paragraph(72, y + 40, LOREM) + 20
    sheet.text(72, y, "support@example.com", size=13)
    sheet.paragraph(72, y + 40, LOREM)
    assert sheet.convert().headings() == ["h1 1 Ratings"]


def test_a_heading_far_down_the_first_page_is_no_title(sheet: Sheet) -> None:
    y = 120.0
    for _ in range(8):
        y = sheet.paragraph(72, y, LOREM) + 40
    for text in ("Overall results", "Results by region"):
        y = section(sheet, y, text, size=12)
    assert sheet.convert().document.title == ""


def test_commands_in_bold_typewriter_are_a_listing_line_by_line_and_no_headings(sheet: Sheet) -> None:
    sheet.text(72, 100, "3 Commands", size=16, font="Helvetica-Bold")
    sheet.paragraph(
        72, 130, "Send one of these to the receiver, or what its maker says of the others in the manual of the chip."
    )
    for index, command in enumerate(("CFG-RATE meas nav time", "CFG-TP interval length status", "CFG-RST reset")):
        sheet.text(90, 170 + 14 * index, command, font="Courier-Bold")
    sheet.paragraph(
        72, 230, "Each is answered by an acknowledgement, which the receiver sends within a second of the command."
    )
    sheet.text(72, 270, "3.1 cfg_open", size=14, font="Courier-Bold")
    sheet.paragraph(
        72, 290, "It opens the receiver and returns its handle, which all others take as their first argument here."
    )
    outline = sheet.convert().outline()
    assert "code CFG-RATE meas nav time\nCFG-TP interval length status\nCFG-RST reset" in outline
    assert [line for line in outline if line.startswith("h")] == ["h1 3 Commands", "h2 3.1 cfg_open"]


def test_a_book_without_an_outline_has_its_title_page_and_its_chapters_with_their_labels(sheet: Sheet) -> None:
    sheet.text(72, 100, "x4D x4C", size=34)
    sheet.text(200, 200, "pumptools 1.4", size=17, font="Helvetica-Bold")
    sheet.text(180, 240, "Jane Doe and Craig Roe", size=12)
    sheet.text(240, 270, "Sep 27, 2014", size=12)
    for number, title in enumerate(("Introduction", "Use"), start=1):
        sheet.next_page()
        sheet.text(72, 150, f"Chapter {number}", size=20, font="Helvetica-Bold")
        sheet.text(72, 190, title, size=25, font="Helvetica-Bold")
        sheet.paragraph(
            72, 240, "The pump is driven by the board, and what drives the board is said in the chapter that follows."
        )
        sheet.text(72, 290, f"{number}.1 Flow of water", size=14, font="Helvetica-Bold")
        sheet.paragraph(
            72,
            310,
            "Water comes in at the side that is marked, and leaves it at the other side when the valve is open.",
        )
    assert sheet.convert().headings() == [
        "title pumptools 1.4",
        "h1 Chapter 1 Introduction",
        "h2 1.1 Flow of water",
        "h1 Chapter 2 Use",
        "h2 2.1 Flow of water",
    ]


def test_a_first_page_that_describes_something_is_no_title_page(sheet: Sheet) -> None:
    sheet.text(72, 100, "User Manual SKU: X-100", size=10)
    sheet.text(72, 140, "Description", size=14, font="Helvetica-Bold")
    sheet.paragraph(
        72, 160, "The X-100 is a board for pumps that runs from a battery and says by radio what each of them does."
    )
    sheet.next_page()
    sheet.text(72, 140, "Ratings", size=14, font="Helvetica-Bold")
    sheet.paragraph(
        72, 160, "The board draws 4 mA while it sleeps and 40 mA while it sends, which it does once in each minute."
    )
    assert sheet.convert().headings() == ["h1 Description", "h1 Ratings"]


@pytest.mark.parametrize(
    "name", ["PowerPoint Presentation", "TeX output 2004.01.02:1204", "Adobe FrameMaker 7.0", "Layout 1", "Abstract"]
)
def test_the_name_of_a_program_or_of_a_part_is_no_title(name: str) -> None:
    assert not is_title(name)
    assert is_title(f"Pumps and {name}")


def test_the_stem_of_a_files_name_is_a_title_where_it_is_printed(sheet: Sheet) -> None:
    sheet.metadata_title("an_0034-b")
    sheet.text(72, 80, "Pumps of the North", size=11, font=BOLD)
    sheet.paragraph(72, 120, LOREM)
    assert sheet.convert().document.title == "Pumps of the North"


@pytest.mark.parametrize("name", ["Remote control 1.vsd", "kernels.eps", "sheet.dvi", "Notes.odt"])
def test_a_files_name_is_no_title(name: str) -> None:
    assert not is_title(name)
    assert is_title(f"{name} explained")


def test_a_title_may_begin_with_the_name_of_a_program() -> None:
    assert is_title("Ghostscript 9.1 for pumps")
    assert is_title("LibreOffice Writer Guide")
    assert not is_title("GPL Ghostscript 9.26")
    assert not is_title("OpenOffice.org 3.2")


def test_a_numbered_title_that_its_paragraph_goes_on_from_is_a_heading(sheet: Sheet) -> None:
    first = "This says all of what you have to know of the pumps and of their many"
    second = "valves, and what to do where one of them does not open."
    titles = ("1.1. How do I begin.", "1.2. Which pump fits?", "1.3. Where do I ask.")
    for index, title in enumerate(titles):
        y = 100 + 40 * index
        sheet.text(72, y, title, font=BOLD)
        sheet.paragraph(72 + stringWidth(title, BOLD, 10) + 4, y, first, width=380)
        sheet.text(72, y + 12, second)
    sheet.text(72, 240, "1.4. What is left of", font=BOLD)
    sheet.text(72, 252, "the tank.", font=BOLD)
    sheet.text(
        72 + stringWidth("the tank.", BOLD, 10) + 4, 252, "Nothing is left of it, and nobody has ever asked for more."
    )
    found = sheet.convert()
    assert found.headings() == [
        "h2 1.1. How do I begin",
        "h2 1.2. Which pump fits?",
        "h2 1.3. Where do I ask",
        "h2 1.4. What is left of the tank",
    ]
    assert found.outline().count(f"text {first} {second}") == len(titles)


def test_bold_names_of_columns_head_nothing(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 100, f"{LOREM} {LOREM}") + 20
    for x, name in ((72, "Name"), (172, "Size"), (272, "Comment")):
        sheet.text(x, y, name, font=BOLD)
    sheet.paragraph(72, y + 16, f"PC 20 {LOREM} {LOREM}")
    assert sheet.convert().headings() == []


def test_a_term_without_text_beside_one_with_text_is_no_heading(sheet: Sheet) -> None:
    y = sheet.paragraph(72, 100, f"{LOREM} {LOREM}") + 20
    sheet.text(72, y, "SET_PUMP_LEVEL", font=BOLD)
    y += 20
    sheet.text(72, y, "GET_PUMP_LEVEL", font=BOLD)
    sheet.text(72 + stringWidth("GET_PUMP_LEVEL", BOLD, 10) + 6, y, "Says how much water the pump has moved so far.")
    sheet.paragraph(72, y + 30, f"{LOREM} {LOREM}")
    assert sheet.convert().headings() == []


def test_a_larger_sentence_that_announces_a_table_is_no_heading(sheet: Sheet) -> None:
    y = section(sheet, 120, "1 Ratings", size=15)
    sheet.text(72, y, "The following table shows the ratings of the board:", size=12)
    sheet.paragraph(
        72, y + 40, "The board is rated for use in rooms that are dry, and for no more than ten hours a day."
    )
    assert sheet.convert().headings() == ["h1 1 Ratings"]


def test_lines_of_text_between_listings_in_a_smaller_font_are_no_headings(sheet: Sheet) -> None:
    sheet.text(72, 60, "Driving the pump", size=16, font=BOLD)
    y = sheet.paragraph(72, 90, f"{LOREM} {LOREM} {LOREM} {LOREM}", size=11) + 20
    for what in ("starts", "stops", "resets", "empties"):
        sheet.text(72, y, f"This {what} the pump", size=11)
        for line in range(6):
            sheet.text(
                72, y + 14 + 10 * line, f"pump.{what}(valve={line}, water=250, wait=True)", size=8, font="Courier"
            )
        y += 95
    assert sheet.convert().headings() == ["h1 Driving the pump"]


def test_a_title_of_three_lines_on_a_title_page_is_one(sheet: Sheet) -> None:
    for number, line in enumerate(("Water Services (WS)", "Guide to the", "WS Pump Board Version 3")):
        sheet.text(72, 160 + 31 * number, line, size=17, font=BOLD)
    sheet.text(72, 300, "Prepared by the board of wells", size=11)
    sheet.next_page()
    sheet.text(72, 100, "1. SCOPE", size=13, font=BOLD)
    sheet.paragraph(72, 120, LOREM)
    assert sheet.convert().document.title == "Water Services (WS) Guide to the WS Pump Board Version 3"


def test_the_bold_first_line_is_the_title_of_a_document_with_an_outline_though_it_is_little_larger(
    sheet: Sheet,
) -> None:
    sheet.text(160, 130, "PUMPWORKS - Water for nucleotides", size=12, font=BOLD)
    y = sheet.paragraph(72, 260, f"{LOREM} {LOREM} {LOREM}") + 20
    for number, title in enumerate(("Wells", "Pumps", "Valves", "Boards", "Lines"), start=1):
        sheet.bookmark(f"{number} {title}", 0)
        sheet.text(72, y, f"{number} {title}", size=14, font=BOLD)
        y = sheet.paragraph(72, y + 20, LOREM) + 20
    assert sheet.convert().document.title == "PUMPWORKS - Water for nucleotides"


def test_a_running_header_that_names_a_version_is_no_title_where_the_first_page_has_one(sheet: Sheet) -> None:
    for page in range(4):
        if page:
            sheet.next_page()
        sheet.text(72, 40, "pump-36.3.8i", size=9)
        sheet.text(300, 820, str(page + 1), size=9)
        if page == 0:
            sheet.text(72, 90, "The PUMP program package", size=12, font=BOLD)
            sheet.text(72, 115, "Aims", size=12, font=BOLD)
        sheet.paragraph(72, 140, f"{LOREM} {page} {LOREM}")
    assert sheet.convert().document.title == "The PUMP program package"


def test_a_running_header_with_the_number_of_a_chapter_is_no_title(sheet: Sheet) -> None:
    for page in range(4):
        if page:
            sheet.next_page()
        sheet.text(72, 40, "4: Valves and what they do", size=9)
        sheet.text(300, 820, str(page + 1), size=9)
        if page == 0:
            sheet.text(72, 90, "Chapter 4: Valves", size=12, font=BOLD)
            sheet.text(72, 115, "Other sources", size=12, font=BOLD)
        sheet.paragraph(72, 140, f"{LOREM} {page} {LOREM}")
    assert sheet.convert().document.title == ""


def test_a_font_whose_name_ends_in_a_b_is_bold(sheet: Sheet) -> None:
    sheet.paragraph(72, 100, LOREM)
    sheet.text(72, 160, "1. Wiring", font="Helvetica-Bold")
    sheet.paragraph(72, 180, LOREM)
    path = sheet.save()
    path.write_bytes(path.read_bytes().replace(b"/BaseFont /Helvetica-Bold", b"/BaseFont /AdvOT8d31c0f.B"))
    blocks = convert_pdf(path, document_path=path.name, mode="native").blocks
    assert [block.text for block in blocks if block.kind == "heading"] == ["1. Wiring"]


def test_a_title_with_the_number_of_another_part_is_not_the_documents(sheet: Sheet) -> None:
    sheet.metadata_title("PMP150 data sheet Rev. 1.4")
    sheet.text(72, 100, "PMP280 humidity pump", size=14, font=BOLD)
    sheet.paragraph(72, 130, "The PMP280 lifts water that is as warm as 85 °C and says how much of it is left. " * 3)
    sheet.text(72, 260, "Features", size=14, font=BOLD)
    sheet.paragraph(72, 280, "It has a valve that opens by itself and shuts when the pressure falls. " * 3)
    assert sheet.convert().document.title == "PMP280 humidity pump"


def test_a_title_with_a_cross_for_its_sign_is_printed(sheet: Sheet) -> None:
    sheet.metadata_title("48 x 84 wells controller")
    sheet.text(72, 100, "INTEGRATED WELLS", size=22, font=BOLD)
    sheet.text(72, 140, "48 × 84 wells controller", size=14)
    sheet.paragraph(72, 180, "Wells are measured once a day with a line that is let down from the rim. " * 3)
    sheet.text(72, 260, "Features", size=14, font=BOLD)
    sheet.paragraph(72, 280, "It has a valve that opens by itself and shuts when the pressure falls. " * 3)
    assert sheet.convert().document.title == "48 x 84 wells controller"


@pytest.mark.parametrize("kind", ["Advance Information", "DATA SHEET", "Product specification"])
def test_the_kind_of_a_document_is_no_title(kind: str) -> None:
    assert not is_title(kind)
    assert is_title(f"Pump {kind}")
