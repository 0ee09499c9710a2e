"""Manual pages that groff wrote as HTML: lists and definitions are known by how far a paragraph is indented."""

from __future__ import annotations

from pathlib import Path

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.html import convert_html

GROFF = '<meta name="generator" content="groff -Thtml, see www.gnu.org">'
BODY = """<h1 align="center">XSET</h1>
<a href="#NAME">NAME</a><br>
<a href="#OPTIONS">OPTIONS</a><br>
<hr>
<h2>OPTIONS <a name="OPTIONS"></a></h2>
<p style="margin-left:11%; margin-top: 1em"><b>xset</b> sets the X-100.</p>
<p style="margin-left:11%; margin-top: 1em"><b>max_load:</b>
20A</p>
<p style="margin-left:22%;">What it carries.</p>
<p style="margin-left:22%; margin-top: 1em"><i>unit</i></p>
<p style="margin-left:28%;">As written behind the number.</p>
<p style="margin-left:22%;">Of each output.</p>
<table width="100%" border="0" rules="none" frame="void">
<tr><td width="11%"></td><td width="3%"><p><b>-v</b></p></td><td width="8%"></td>
<td width="78%"><p>Says more.</p></td></tr>
<tr><td width="11%"></td><td width="3%"><p><b>-q</b></p></td><td width="8%"></td>
<td width="78%"><p>Says less.</p></td></tr></table>
<p style="margin-left:11%;">It watches:</p>
<table width="100%" border="0" rules="none" frame="void">
<tr><td width="11%"></td><td width="1%"><p>&bull;</p></td><td width="2%"></td><td width="86%"><p>the load, and</p></td></tr>
<tr><td width="11%"></td><td width="1%"><p>&bull;</p></td><td width="2%"></td><td width="86%"><p>its heat.</p></td></tr></table>
<p style="margin-left:11%;"><b>Warning</b> of what it does at night:</p>
<p style="margin-left:22%;">Nothing.</p>
"""


def page(head: str) -> BlockDocument:
    html = f"<!doctype html><html><head>{head}</head><body>{BODY}</body></html>"
    return convert_html(html.encode(), Path("a.html"), document_path="docs/a.html")


def test_what_groff_indents_below_a_term_or_puts_beside_it_is_its_definition() -> None:
    document = page(GROFF)
    assert [(block.kind, block.terms, block.written) for block in document.blocks] == [
        ("heading", (), "XSET"),
        ("heading", (), "OPTIONS"),
        ("paragraph", (), "xset sets the X-100."),
        ("paragraph", ("max_load: 20A",), "max_load: 20A: What it carries."),
        ("paragraph", ("max_load: 20A", "unit"), "unit: As written behind the number."),
        ("paragraph", ("max_load: 20A",), "Of each output."),
        ("paragraph", ("-v",), "-v: Says more."),
        ("paragraph", ("-q",), "-q: Says less."),
        ("paragraph", (), "It watches:"),
        ("list_item", (), "- the load, and"),
        ("list_item", (), "- its heat."),
        ("paragraph", (), "Warning of what it does at night:"),
        ("paragraph", (), "Nothing."),
    ]
    assert {(line.rule, line.text) for line in document.removed} == {("navigation", "NAME"), ("navigation", "OPTIONS")}


def test_pages_of_other_programs_are_read_without_their_margins() -> None:
    assert not any(block.terms for block in page("").blocks)
