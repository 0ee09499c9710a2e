"""Pages that word processors saved: Word's lists are paragraphs, Google's are not nested."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.html import convert_html

BLANKS = "<span style='font:7.0pt \"Times New Roman\"'>&nbsp;&nbsp;&nbsp; </span>"


def read(body: str) -> list[tuple[str, int, str]]:
    document = convert_html(f"<html><body>{body}</body></html>".encode(), Path("a.html"), document_path="a.html")
    return [(block.kind, block.level, block.text) for block in document.blocks]


def item(marker: str, text: str, style: str) -> str:
    return f'<p class=MsoNormal style="{style}"><span style="font-family:Symbol"><span>{marker}{BLANKS}</span></span>{text}</p>'


def test_paragraphs_with_a_marker_and_blanks_are_items_as_deep_as_their_style_says() -> None:
    assert read(
        item("·", "Check the seal.", "mso-list:l3 level1 lfo2")
        + item("o", "Look for <b>cracks</b>.", "mso-list:l3 level2 lfo2")
        + item("3.", "Close the valve.", "margin-left:.5in;text-indent:-.25in")
        + item("a)", "Wait.", "margin-left:72.0pt")
    ) == [
        ("list_item", 1, "- Check the seal."),
        ("list_item", 2, "  - Look for cracks."),
        ("list_item", 1, "3. Close the valve."),
        ("list_item", 2, "  - a) Wait."),
    ]


def test_a_heading_keeps_its_number_and_a_paragraph_that_says_more_before_the_blanks_stays() -> None:
    assert read(f"<h2><span>2.{BLANKS}</span>Safety</h2>") == [("heading", 2, "2. Safety")]
    assert read(f"<p><span>From the list of all parts:{BLANKS}</span>seal</p>")[0][0] == "paragraph"


@pytest.mark.parametrize(("style", "level"), [("MsoTitle", 1), ("MsoHeading8", 6)])
def test_styles_without_an_element_of_their_own_are_headings(style: str, level: int) -> None:
    assert read(f'<p class="{style}">Pump manual</p><p class="{style}">&nbsp;</p><p>It pumps.</p>') == [
        ("heading", level, "Pump manual"),
        ("paragraph", 0, "It pumps."),
    ]


def test_lists_of_google_are_as_deep_as_their_class_says() -> None:
    lists = '<ul class="c1 lst-kix_a1b2-0 start"><li>Seal</li></ul><ul class="lst-kix_a1b2-1"><li>O-ring</li></ul>'
    assert read(lists) == [("list_item", 1, "- Seal"), ("list_item", 2, "  - O-ring")]
