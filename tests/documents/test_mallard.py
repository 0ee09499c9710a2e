"""Pages of Mallard."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents import discover
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.mallard import convert_mallard
from kgrag.errors import DocumentError

PAGE = """<page xmlns="http://projectmallard.org/1.0/" type="topic" id="fill" xmlns:xi="http://www.w3.org/2001/XInclude">
<info>
  <link type="guide" xref="index#tank"/><revision pkgversion="3.2" date="2020-01-01" status="final"/>
  <credit type="author"><name>A. Author</name></credit><keywords>water, pump</keywords>
  <desc>Bring the tank to its level.</desc>
  <xi:include href="legal.xml"/>
</info>
<title>Fill the tank</title>
<steps>
  <item><p>Choose <guiseq><gui>Tank</gui><gui>Fill</gui></guiseq> or press
    <keyseq><key>Ctrl</key><key>F</key></keyseq>.</p></item>
  <item><p>Wait; see <link xref="level"/> and <link xref="valve#open">the valve</link>.</p></item>
</steps>
<note style="warning"><p>Never above 90 %.</p></note>
<section id="keys"><title>Settings</title>
  <terms>
    <item><title><code>max-level</code></title><p>Where it stops.</p><p>Default: 80 %</p></item>
    <item><title>Speed</title><p>In l/s.</p></item>
  </terms>
  <table><title>Speeds</title><thead><tr><td><p>Pump</p></td><td><p>l/s</p></td></tr></thead>
    <tbody><tr><td><p>P1</p></td><td><p>5</p></td></tr></tbody></table>
  <listing><title>tank.conf</title><code>level=80
speed=5</code></listing>
  <comment><p>Ask again.</p></comment>
  <xi:include href="more.xml"/>
</section>
</page>"""


def converted(text: str) -> BlockDocument:
    return convert_mallard(text.encode(), Path("help/fill.page"), document_path="help/fill.page")


def test_a_page_is_its_steps_terms_tables_and_listings() -> None:
    read = converted(PAGE)
    assert read.title == "Fill the tank"
    assert [(block.kind, block.text) for block in read.blocks if block.kind != "table"] == [
        ("heading", "Fill the tank"),
        ("paragraph", "Bring the tank to its level."),
        ("list_item", "1. Choose Tank > Fill or press Ctrl+F."),
        ("list_item", "2. Wait; see level and the valve."),
        ("paragraph", "Warning: Never above 90 %."),
        ("heading", "Settings"),
        ("paragraph", "max-level: Where it stops."),
        ("paragraph", "Default: 80 %"),
        ("paragraph", "Speed: In l/s."),
        ("paragraph", "Speeds"),
        ("paragraph", "tank.conf"),
        ("code", "level=80\nspeed=5"),
    ]
    [table] = [block for block in read.blocks if block.kind == "table"]
    assert table.header and table.header.cells == ("Pump", "l/s")
    assert [row.cells for row in table.rows] == [("P1", "5")]


def test_what_a_page_takes_from_others_is_named_and_its_links_lead_there() -> None:
    read = converted(PAGE)
    assert read.notes == ("left out what it includes: more.xml", "left out titles that other pages say: level")
    assert [link.href for block in read.blocks for link in block.links] == ["help/level.page", "help/valve.page#open"]
    assert {(one.rule, one.text) for one in read.removed} == {("front matter", "A. Author"), ("comment", "Ask again.")}
    assert read.metadata == {"version": "3.2"}


def test_pages_are_known_by_their_namespace(tmp_path: Path) -> None:
    (tmp_path / "fill.page").write_text(PAGE)
    (tmp_path / "wiki.page").write_text("# A page of a wiki\n")
    assert [(one.path.name, one.format) for one in discover([tmp_path]).sources] == [("fill.page", "mallard")]
    with pytest.raises(DocumentError, match="no page of Mallard: its first element is stack"):
        converted("<stack/>")
