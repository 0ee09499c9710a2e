"""Pages whose headings are elements of any kind: their own table of contents says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.html import convert_html

CONTENTS = """<div><a href="#supply">Supply of the X-100</a> <a href="#limits">Limits (<code>--limit</code>)</a>
<a href="#fan">Fan</a></div>"""
NESTED = """<div class="one"><a id="supply"></a><div class="head"><div class="no">1</div><div class="t">Supply of the X-100</div></div>
<div class="text"><div>It takes 5 V.</div>
<div class="two"><a id="limits"></a><div class="head"><div class="no">1.1</div><div class="t">Limits (<code>--limit</code>)</div></div>
<div class="text"><div>At most 3 A.</div></div></div></div></div>
<div class="one"><a id="fan"></a><div class="head"><div class="no">2</div><div class="t">Fan</div></div>
<div>It runs at night.</div></div>"""


def page(body: str) -> BlockDocument:
    html = f"<!doctype html><html><head><title>X-100</title></head><body>{body}</body></html>"
    return convert_html(html.encode(), Path("a.html"), document_path="docs/a.html")


def headings(document: BlockDocument) -> list[tuple[int, str]]:
    return [(block.level, " ".join(block.lines)) for block in document.blocks if block.kind == "heading"]


def test_what_the_contents_of_a_page_lead_to_are_its_headings_with_their_numbers() -> None:
    document = page(CONTENTS + NESTED)
    assert headings(document) == [(2, "1 Supply of the X-100"), (3, "1.1 Limits (--limit)"), (2, "2 Fan")]
    said = [" ".join(block.lines) for block in document.blocks]
    assert "1.1" not in said and "At most 3 A." in said


def test_without_numbers_a_section_within_another_is_one_level_below_it() -> None:
    body = NESTED
    for number in ("1", "1.1", "2"):
        body = body.replace(f'<div class="no">{number}</div>', "")
    assert headings(page(CONTENTS + body)) == [(2, "Supply of the X-100"), (3, "Limits (--limit)"), (2, "Fan")]


@pytest.mark.parametrize(
    "body",
    [
        # Terms that an index leads to are terms.
        '<dl><dt id="supply">Supply of the X-100</dt><dd>5 V.</dd><dt id="limits">Limits (--limit)</dt><dd>3 A.</dd>'
        '<dt id="fan">Fan</dt><dd>At night.</dd></dl>',
        # So is what a sentence goes on from.
        '<p id="supply"><b>Supply of the X-100</b> is 5 V.</p><p id="limits"><b>Limits (--limit)</b> are 3 A.</p>'
        '<p id="fan"><b>Fan</b> of the night.</p>',
        # Two are no table of contents.
        '<p id="supply">Supply of the X-100</p><p>5 V.</p><p id="limits">Limits (--limit)</p><p>3 A.</p>',
    ],
)
def test_what_is_led_to_otherwise_is_no_heading(body: str) -> None:
    assert headings(page(CONTENTS + body)) == []


def test_a_page_with_headings_of_its_own_keeps_those_alone() -> None:
    own = "<h1>X-100</h1><h2>Supply</h2><h2>Limits</h2>"
    assert headings(page(own + CONTENTS + NESTED)) == [(1, "X-100"), (2, "Supply"), (2, "Limits")]
