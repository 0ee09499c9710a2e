from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Sheet

STEPS = ("Close both valves.", "Drain the pump at its lower screw.", "Take the lid off.")


def show(sheet: Sheet, page: int, steps: int) -> None:
    sheet.text(72, 40, "Pumps: a course")
    sheet.text(72, 100, "Service", size=20)
    for index, step in enumerate(STEPS[:steps]):
        sheet.text(72, 160 + 60 * index, step)
    sheet.text(520, 800, f"{page}/4")
    sheet.next_page()


def test_a_slide_that_is_shown_step_by_step_is_read_once(sheet: Sheet) -> None:
    for page in (1, 2, 3):
        show(sheet, page, page)
    sheet.text(72, 40, "Pumps: a course")
    sheet.text(72, 100, "Storage", size=20)
    sheet.text(72, 160, "Keep the pump dry.")
    sheet.text(520, 800, "4/4")
    found = sheet.convert()
    assert found.outline() == [
        "title Service",
        *(f"text {step}" for step in STEPS),
        "h1 Storage",
        "text Keep the pump dry.",
    ]
    assert [block.page_start for block in found.document.blocks][:4] == [1, 1, 2, 3]
    assert "2 page(s) repeat the slide before, of these only what is new is kept: 2, 3" in found.document.notes


def test_pages_that_differ_in_a_word_are_no_steps(sheet: Sheet) -> None:
    for copy in ("customer", "supplier"):
        sheet.text(72, 100, f"Receipt for the {copy}")
        sheet.paragraph(72, 160, "Sign here and send it back.")
        sheet.next_page()
    assert sheet.convert().outline() == [
        line
        for copy in ("customer", "supplier")
        for line in (f"text Receipt for the {copy}", "text Sign here and send it back.")
    ]


def test_pages_with_nothing_more_than_the_one_before_stay(sheet: Sheet) -> None:
    for number in (7, 7, 8):
        sheet.text(72, 100, "Pumps of the north")
        sheet.text(72, 300, f"Certificate {number}")
        sheet.text(72, 700, "Signed by hand")
        sheet.next_page()
    assert [line for line in sheet.convert().outline() if "Cert" in line] == [
        f"text Certificate {n}" for n in (7, 7, 8)
    ]
