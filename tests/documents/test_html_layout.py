"""Pages that are laid out by lists and tables: sections in items, boxes with a title."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.html import convert_html


def read(body: str) -> list[tuple[str, int, str]]:
    document = convert_html(f"<html><body>{body}</body></html>".encode(), Path("a.html"), document_path="a.html")
    return [(block.kind, block.level, "\n".join(block.lines)) for block in document.blocks]


def test_items_with_headings_are_sections_at_whatever_depth() -> None:
    method = "<li><h4>open</h4><pre>void open()</pre><div>Opens the valve.</div></li>"
    assert read(f"<ul><li><h3>Methods</h3><ul>{method}</ul></li></ul>") == [
        ("heading", 3, "Methods"),
        ("heading", 4, "open"),
        ("code", 0, "void open()"),
        ("paragraph", 0, "Opens the valve."),
    ]


def test_items_without_headings_between_those_with_some_stay_items() -> None:
    assert read("<ul><li>one</li><li>two</li><li><h4>Three</h4>text</li><li>four</li></ul>") == [
        ("list_item", 1, "- one"),
        ("list_item", 1, "- two"),
        ("heading", 4, "Three"),
        ("paragraph", 0, "text"),
        ("list_item", 1, "- four"),
    ]


def test_numbered_items_with_headings_keep_their_numbers() -> None:
    assert read("<ol><li><h3>Unpack</h3>the valve</li></ol>")[1] == ("list_item", 1, "1. the valve")


def test_blocks_of_an_only_item_are_no_items_but_paragraphs_of_one_are() -> None:
    assert read("<ul><li><div>open(): void</div><div>Opens the valve.</div></li></ul>") == [
        ("paragraph", 0, "open(): void"),
        ("paragraph", 0, "Opens the valve."),
    ]
    assert read("<ul><li><p>Open the valve.</p><p>Wait.</p></li></ul>")[0] == ("list_item", 1, "- Open the valve.")


def test_a_table_that_never_has_two_cells_beside_each_other_lays_out_and_its_title_is_a_heading() -> None:
    inner = (
        '<table><tr><td colspan="3">&nbsp;<br>class <b>Valve</b>(Part)</td></tr>'
        "<tr><td>&nbsp;</td><td>&nbsp;</td><td>Opens and closes.</td></tr></table>"
    )
    outer = f"<table><tr><td colspan=2><b>Classes</b></td></tr><tr><td>&nbsp;</td><td>{inner}</td></tr></table>"
    assert read(outer) == [
        ("heading", 2, "Classes"),
        ("heading", 3, "class Valve(Part)"),
        ("paragraph", 0, "Opens and closes."),
    ]


def test_a_row_in_bold_above_rows_of_several_cells_is_no_heading() -> None:
    rows = "<tr><td colspan=2><b>Ratings</b></td></tr><tr><td>Supply</td><td>24 V</td></tr>"
    assert [kind for kind, _, _ in read(f"<table>{rows}</table>")] == ["table"]


def test_a_table_of_fields_to_fill_in_has_no_title() -> None:
    form = "<tr><td colspan=2><b>Your search terms</b></td></tr><tr><td><input name=q></td><td></td></tr>"
    assert read(f"<table>{form}</table>") == [("paragraph", 0, "Your search terms")]


def test_headings_right_in_a_list_stay_headings_and_the_lists_below_them_lists() -> None:
    body = "<ul><h3>idle_time</h3><ul><li>Type: Integer</li><li>Default: 40</li></ul><p>Seconds until the pump rests.</p></ul>"
    assert read(body) == [
        ("heading", 3, "idle_time"),
        ("list_item", 1, "- Type: Integer"),
        ("list_item", 1, "- Default: 40"),
        ("paragraph", 0, "Seconds until the pump rests."),
    ]


def test_items_beside_headings_right_in_a_list_stay_items_in_their_places() -> None:
    body = "<ul><li>Before</li><h3>idle_time</h3><li>Default: 40</li><p>Rests.</p><li>Unit: s</li></ul>"
    assert read(body) == [
        ("list_item", 1, "- Before"),
        ("heading", 3, "idle_time"),
        ("list_item", 1, "- Default: 40"),
        ("paragraph", 0, "Rests."),
        ("list_item", 1, "- Unit: s"),
    ]


def test_an_anchor_behind_the_last_definition_of_a_page_leaves_it_its_term() -> None:
    body = "<dl><dt>idle_time</dt><dd><p>Seconds until it rests.</p><a id='end'></a></dd></dl>"
    document = convert_html(f"<html><body>{body}</body></html>".encode(), Path("a.html"), document_path="a.html")
    assert [(block.terms, block.anchors) for block in document.blocks] == [(("idle_time",), ("end",))]


@pytest.mark.parametrize(
    "member",
    [
        '<div class="top"><p class="src"><a id="v:open" class="def">open</a> :: Int <a href="src/V.html" class="link">Source</a></p>'
        '<div class="doc"><p>Opens it.</p><p>At most once.</p></div></div>',
        '<div class="method-detail"><div class="method-heading"><span class="method-name" id="v:open">open</span> :: Int'
        '<span class="method-click-advice">click to toggle source</span></div>\n'
        '<div class="method-description"><p>Opens it.</p><p>At most once.</p></div></div>',
        '<div class="signature"><b id="v:open">open</b> :: Int <a href="#v:open">#</a></div><div class="doc"><p>Opens it.</p>'
        "<p>At most once.</p></div>",
    ],
    ids=["Haddock", "RDoc", "Crystal"],
)
def test_what_is_said_of_a_function_below_it_is_its_definition(member: str) -> None:
    document = convert_html(
        f"<html><body><h1>Valves</h1>{member}</body></html>".encode(), Path("a.html"), document_path="a.html"
    )
    assert [block.text for block in document.blocks] == ["Valves", "open :: Int: Opens it.", "At most once."]
    assert document.blocks[2].terms == ("open :: Int",)
    assert "v:open" in document.blocks[1].anchors
