"""HTML pages: structure, ids, links, tables, boilerplate, and what hostile pages do (nothing)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.html import blocks_of_html, convert_html
from kgrag.errors import DocumentError

LONG = " ".join(["The regulator delivers up to 250 mA to the board and to what takes its supply from it."] * 3)


def page(body: str, *, head: str = "") -> BlockDocument:
    html = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return convert_html(html.encode(), Path("a.html"), document_path="docs/a.html")


def texts(document: BlockDocument) -> list[str]:
    return ["\n".join(block.lines) for block in document.blocks]


def only(document: BlockDocument) -> Block:
    (block,) = document.blocks
    return block


def test_headings_paragraphs_lists_and_code_keep_their_order_and_kind() -> None:
    document = page(
        "<h1>X-100</h1><p>A <b>pressure</b> sensor.</p><h3>Pins</h3>"
        "<ol><li>VDD<ul><li>3.3 V</li></ul></li><li><p>GND</p><p>0 V</p></li></ol>"
        "<pre><code>if x:\n    y()\n</code></pre>"
    )
    assert [(block.kind, block.level, block.text) for block in document.blocks] == [
        ("heading", 1, "X-100"),
        ("paragraph", 0, "A pressure sensor."),
        ("heading", 3, "Pins"),
        ("list_item", 1, "1. VDD"),
        ("list_item", 2, "  - 3.3 V"),
        ("list_item", 1, "2. GND"),
        ("list_item", 1, "   0 V"),
        ("code", 0, "if x:\n    y()"),
    ]


def test_who_wrote_a_text_and_when_is_no_heading() -> None:
    document = page(
        '<h1 class="title">IPsec</h1><h3 class="author"><span class="firstname">Tom</span> <span class="surname">E.</span></h3>'
        '<h2 class="date">2006</h2><p>Two <b>tunnels</b>.</p><h2>Caution</h2>'
    )
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("heading", "IPsec"),
        ("paragraph", "Tom E."),
        ("paragraph", "2006"),
        ("paragraph", "Two tunnels."),
        ("heading", "Caution"),
    ]


def test_a_heading_of_linked_pictures_is_navigation() -> None:
    link = "<a href='{0}.html'><img src='{0}.png' alt='[{0} page]'></a>"
    document = page(
        f"<h1>{link.format('Home')} {link.format('Parts')}</h1><h2>X-100 <a href='a'><img alt='(R)'></a></h2>"
    )
    assert texts(document) == ["X-100 (R)"]
    assert [line.rule for line in document.removed] == ["navigation"]


@pytest.mark.parametrize("said", ["5", "users_guide.txt", "map.eps"])
def test_a_number_or_a_files_name_is_no_title(said: str) -> None:
    assert page("<p>5 V</p>", head=f"<title>{said}</title>").title == ""
    assert page("<p>5 V</p>", head=f"<title>{said} of the X-100</title>").title == f"{said} of the X-100"


@pytest.mark.parametrize(
    ("html", "removed"),
    [
        (
            "<html><frameset cols='50,50'><frame src='menu.html'><frame src='main.html'></frameset></html>",
            ["frame"] * 2,
        ),
        (
            "<html><head><meta http-equiv='Refresh' content='0; url=Basic.html#shar'></head><body>"
            "<p>The node you are looking for is at <a href='Basic.html#shar'>shar</a>.</p></body></html>",
            ["redirect"],
        ),
        (
            "<html><body class='SRPage'><div id='SRIndex'><div class='SRStatus'>Loading...</div></div></body></html>",
            ["navigation"],
        ),
    ],
)
def test_pages_of_frames_and_those_that_lead_on_have_no_text_of_their_own(html: str, removed: list[str]) -> None:
    document = convert_html(html.encode(), Path("a.html"), document_path="a.html")
    assert (document.blocks, [line.rule for line in document.removed]) == ((), removed)


def test_a_page_that_is_loaded_anew_is_read() -> None:
    document = page("<p>The supply is 5 V.</p>", head="<meta http-equiv='refresh' content='300'>")
    assert texts(document) == ["The supply is 5 V."]


def test_terms_stand_before_their_definitions() -> None:
    document = page(
        "<dl><dt id='n'>-n</dt><dt>--dry-run</dt><dd><p>Do nothing.</p><p>Really.</p></dd><dt>-v:</dt><dd>Say more.</dd></dl>"
    )
    assert texts(document) == ["-n, --dry-run: Do nothing.", "Really.", "-v: Say more."]
    assert document.blocks[0].anchors == ("n",)


def test_a_term_that_says_its_value_and_defines_nothing_is_a_line_of_its_own() -> None:
    nested = "<dl><dt>The default is: <b>30</b></dt><dd></dd></dl>"
    document = page(
        f"<dl><dt>-n</dt><dt>--wait</dt><dd><p>How long it waits.</p>{nested}</dd><dt>-q</dt><dd></dd></dl>"
    )
    assert texts(document) == ["-n, --wait: How long it waits.", "The default is: 30", "-q:"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("10<sup>6</sup> cycles", "10⁶ cycles"),
        ("I<sup>2</sup>C at V<sub>DD</sub>", "I²C at VDD"),
        ("3.3&nbsp;V,\n  0.5\u2009mA", "3.3 V, 0.5 mA"),
        ("±0.5&#176;C &micro;A &#937; ½", "±0.5°C µA Ω ½"),
        ("X&#8209;100 and soft\u00adware", "X‑100 and software"),
        ("Tap\n<b>\n Settings\n</b>\n.", "Tap Settings."),
        ("Range <b>.5</b> to 1 mA", "Range .5 to 1 mA"),
        ("one<br>two", "one\ntwo"),
        ("ネット\n   ワーク。\n次の <b>電源\nは</b>\n5 V です。", "ネットワーク。次の 電源は 5 V です。"),
        ("네트워크\n설정", "네트워크 설정"),
        ("Tap <img src='s.png' alt='Settings'> now", "Tap Settings now"),
        ("<img src='s.png' alt='house'>Start <img src='b.png' alt='X'>ylene", "house Start Xylene"),
        ("Pumps <img src='p.png' alt='Pump works logo'>", "Pumps"),
        ("a<!-- no -->b<script>c</script>d<style>e</style>f", "abdf"),
    ],
)
def test_inline_text_is_what_a_reader_sees(html: str, text: str) -> None:
    assert only(page(f"<p>{html}</p>")).text == text


def test_ids_of_an_element_and_those_around_it_are_anchors() -> None:
    document = page(
        "<section id='s1'><h2 id='h'>H</h2><p>one <span id='in'>two</span></p></section>"
        "<a name='old'></a><div id='empty'></div><section id='s2'><p id='p'>three</p></section><div id='last'></div>"
    )
    assert [block.anchors for block in document.blocks] == [
        ("s1", "h"),
        ("s1", "in"),
        ("last", "s2", "p", "old", "empty"),
    ]


def test_links_have_their_words_their_sentence_and_where_they_lead() -> None:
    block = only(
        page(
            "<p>Start. See <a href='b.html#vdd'>the <b>power</b> page</a> and <a href='https://e.com'>us</a>. End.</p>"
        )
    )
    assert [(link.href, link.anchor, link.context) for link in block.links] == [
        ("docs/b.html#vdd", "the power page", "See the power page and us."),
        ("https://e.com", "us", "See the power page and us."),
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "3.1 amqp<a class='anchor hidden-xs' href='#amqp' aria-hidden='true'>#</a> <a href='#toc-amqp' aria-hidden='true'>TOC</a>",
        "3.1 amqp<a class='headerlink' href='page.html#amqp' title='Permalink'>link</a>",
        "<a class='anchor' href='#amqp'>3.1 amqp</a>",
    ],
)
def test_what_generators_put_beside_a_heading_is_no_part_of_it(heading: str) -> None:
    assert texts(page(f"<h3 id='amqp'>{heading}</h3><p>Text.</p>")) == ["3.1 amqp", "Text."]


def test_a_link_around_blocks_is_one_of_each_and_permalinks_are_none() -> None:
    document = page(
        "<a href='b.html'><div>one</div><div>two</div></a>"
        "<h2 id='x'>Title<a href='#x'>¶</a></h2><a href='javascript:x()'>run</a>"
    )
    assert [(block.text, len(block.links)) for block in document.blocks] == [
        ("one", 1),
        ("two", 1),
        ("Title", 0),
        ("run", 0),
    ]


def test_a_heading_that_leads_back_to_the_contents_is_no_link_and_a_footnote_that_is_one_link_stays() -> None:
    document = page(
        "<nav class='contents'><ul><li><a id='id1' href='#supply'>Supply</a></li></ul></nav>"
        "<section id='supply'><h2><a class='toc-backref' href='#id1'>Supply</a><a class='headerlink' href='#supply'>¶</a></h2>"
        "<p>At most 3.6 V <a id='id2' href='#f1'>[1]</a>, see <a href='b.html#x'>rails</a>.</p></section>"
        "<h2><a href='b.html'>Rails</a></h2>"
        "<aside class='footnote' id='f1' role='note'><a href='#id2'>1</a><p><a href='https://example.com/x'>Ratings</a></p></aside>"
    )
    assert [(block.kind, block.text) for block in document.blocks if block.kind == "heading"] == [
        ("heading", "Supply"),
        ("heading", "Rails"),
    ]
    inside = [link.href.partition("#")[2] for block in document.blocks for link in block.links if "docs/a" in link.href]
    anchors = {anchor for block in document.blocks for anchor in block.anchors}
    assert inside == ["f1", "id2"] and set(inside) <= anchors
    assert "docs/b.html" in {link.href for block in document.blocks for link in block.links}
    assert any("Ratings" in block.text for block in document.blocks)


def test_a_table_keeps_its_header_its_spans_and_the_ids_and_links_of_its_rows() -> None:
    block = only(
        page(
            "<table id='t'><thead><tr><th rowspan=2>Name</th><th colspan=2>Voltage</th></tr><tr><th>Min</th><th>Max</th></tr></thead>"
            "<tr id='r1'><td rowspan=2>VDD</td><td>3.0 V</td><td><a href='b.html'>3.6 V</a></td></tr>"
            "<tr><td>1 | 2</td><td><ul><li>a<li>b</ul></td></tr>"
            "<tr><td colspan=3>Note</td></tr></table>"
        )
    )
    assert block.kind == "table" and block.header is not None
    assert block.header.cells == ("Name", "Voltage Min", "Voltage Max")
    assert [row.cells for row in block.rows] == [
        ("VDD", "3.0 V", "3.6 V"),
        ("VDD", "1 | 2", "- a; - b"),
        ("Note", "", ""),
    ]
    assert block.rows[0].anchors == ("r1",) and block.anchors == ("t",)
    assert [(link.href, link.context) for link in block.links] == [("docs/b.html", "VDD | 3.0 V | 3.6 V")]


def test_a_cell_outside_of_rows_is_a_row() -> None:
    table = only(page("<table><tr><td>-inlet</td><td>-outlet</td></tr><tr><td>-pump</tr><td>-valve</td></tr></table>"))
    assert [row.cells for row in table.rows] == [("-inlet", "-outlet"), ("-pump", ""), ("-valve", "")]


def test_numbers_beside_a_listing_are_counted_and_those_in_it_stand_apart() -> None:
    listing = "<pre>open(a)\nwait(5)\nclose(a)\n</pre>"
    document = page(f"<table><tr><td class=n><pre>7\n8\n9</pre></td><td>{listing}</td></tr></table>")
    assert only(document).text == "open(a)\nwait(5)\nclose(a)"
    assert {line.rule for line in document.removed} == {"line number"}
    assert (
        only(page("<pre><img alt='1' src=1.png>open(a)\n<img alt='2' src=2.png>close(a)</pre>")).text
        == "1 open(a)\n2 close(a)"
    )
    beside = page(f"<table><tr><td><pre>7\n9</pre></td><td>{listing}</td></tr></table>")
    assert texts(beside)[0] == "7\n9"


def test_paragraphs_of_a_cell_that_end_in_a_mark_are_sentences_of_it() -> None:
    cell = "<p>It is off, if not set.</p><p>Note: it costs time</p><p>These are known (now):</p><ul><li>a<li>b</ul>"
    table = only(page(f"<table><tr><th>Name</th><th>Says</th></tr><tr><td>speed</td><td>{cell}</td></tr></table>"))
    said = "It is off, if not set. Note: it costs time; These are known (now): - a; - b"
    assert [row.cells for row in table.rows] == [("speed", said)]


@pytest.mark.parametrize(
    ("first", "second", "names_columns"),
    [
        ("<td><b>Key</b></td><td><p><strong>Does</strong></p></td>", "<td>Z</td><td>Zoom out</td>", True),
        ('<td align="center">Key</td><td><center>Does</center></td>', '<td align="center">Z</td><td>Zoom</td>', True),
        ("<td><b>Key</b></td><td>Does</td>", "<td><b>Z</b></td><td>Zoom out</td>", False),
        ("<td><b>Key</b></td><td><b>Does</b></td>", "<td><b>Z</b></td><td><b>Zoom out</b></td>", False),
        ("<td><b>Key</b> of it</td><td><b>Does</b></td>", "<td>Z</td><td>Zoom out</td>", False),
    ],
)
def test_a_first_row_that_is_bold_or_centred_names_the_columns(first: str, second: str, names_columns: bool) -> None:
    table = only(page(f"<table><tr>{first}</tr><tr>{second}</tr></table>"))
    assert (table.header is not None) == names_columns


def test_a_table_that_only_places_things_is_read_as_if_it_were_not_there() -> None:
    document = page(
        "<table><tr><td><img src=x></td><td><b>TIP</b> Press twice.</td></tr></table>"
        "<table><tr><td><h2>H</h2></td><td>x</td></tr></table>"
    )
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("paragraph", "TIP Press twice."),
        ("heading", "H"),
        ("paragraph", "x"),
    ]


def test_boilerplate_is_left_out_and_counted_by_rule() -> None:
    document = page(
        "<header>Acme</header><nav><a href=a>Home</a></nav><div class='breadcrumb'>Docs / X</div>"
        "<main><header><h1>X-100</h1></header>"
        "<aside class='note'>Do not exceed <a href='v'>3.6 V.</a></aside><aside><a href=b>More</a></aside>"
        "<div class='toc'><a href='#a'>A</a></div><p>text</p>"
        "<button>Copy</button></main><footer>© Acme</footer><div role='navigation'>Next</div>"
    )
    assert texts(document) == ["X-100", "Do not exceed 3.6 V.", "text"]
    assert [(line.rule, line.text) for line in document.removed] == [
        ("page header", "Acme"),
        ("navigation", "Home"),
        ("breadcrumbs", "Docs / X"),
        ("navigation", "More"),
        ("table of contents", "A"),
        ("form control", "Copy"),
        ("page footer", "© Acme"),
        ("navigation", "Next"),
    ]


def test_bars_of_links_are_left_out_whatever_they_are_called() -> None:
    document = page(
        "<div id='path'><a href=/>Acme</a> &gt; <a href=/docs>Docs</a> &gt; X-100</div>"
        "<div class='up'><a href=..><img alt='<-' src=up.gif></a></div>"
        "<p>Languages: <a href=de hreflang=de>de</a> | <a href=fr hreflang=fr>fr</a></p>"
        "<div class='docsidebar'><ul><li><a href=a>Rails</a></ul></div>"
        "<p>See <a href=a>Rails</a> or <a href=b>Supply</a>.</p>"
        "<div><a href=a title='previous chapter'>Rails</a> <a href=b title='next chapter'>Supply</a></div>"
        "<div id='footer'><p>Copyright 2026 Acme.</p><p><a href=i>Imprint</a></p></div>"
    )
    assert texts(document) == ["See Rails or Supply."]
    assert [line.rule for line in document.removed] == [
        *("breadcrumbs", "navigation", "navigation", "navigation", "page footer", "page footer")
    ]


def test_content_that_is_only_named_like_boilerplate_stays() -> None:
    document = page(
        "<div id='header'><h1>add</h1><p>Adds files.</p></div><div class='menu'><p>The menu has 5 entries.</p></div>"
        "<p><a href=a>File</a> and <a href=b>Edit</a></p><div class='sidebar-box'><p>Press twice.</p></div>"
        "<div class='footer'><p>Currents are said at the foot of the page.</p></div>"
    )
    assert texts(document) == [
        *("add", "Adds files.", "The menu has 5 entries.", "File and Edit", "Press twice."),
        "Currents are said at the foot of the page.",
    ]


def test_the_title_is_the_pages_own() -> None:
    assert page("<h1>H</h1>", head="<title>X-100\n data &amp; sheet</title>").title == "X-100 data & sheet"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "cp1252"])
def test_encodings_are_honoured(encoding: str) -> None:
    declared = {
        "iso-8859-1": "<meta charset=iso-8859-1>",
        "cp1252": "<?xml version='1.0' encoding='windows-1252'?>",
    }.get(encoding, "")
    document = convert_html(
        f"{declared}<p>3,3 V ± 5 % – 10 µA".replace("–", "-").encode(encoding), Path("a.html"), document_path="a.html"
    )
    assert texts(document) == ["3,3 V ± 5 % - 10 µA"]
    assert document.notes == ()


def test_latin_1_without_a_declaration_is_read_and_said() -> None:
    document = convert_html("<p>Größe 10 µm ± 2 %".encode("latin-1"), Path("a.html"), document_path="a.html")
    assert texts(document) == ["Größe 10 µm ± 2 %"]
    assert "cp1252" in document.notes[0]


@pytest.mark.parametrize("levels", [300, 1900])
def test_deep_nesting_is_walked(levels: int) -> None:
    assert texts(page("<div id=x>" * levels + "deep 3.3 V" + "</div>" * levels + "<p>after</p>")) == [
        "deep 3.3 V",
        "after",
    ]


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "ul><li", "table><tr><td"])
def test_nesting_beyond_all_measure_is_refused_with_a_reason(tag: str) -> None:
    with pytest.raises(DocumentError, match="nested too deeply"):
        page(f"<{tag}>" * 10_000 + "deep")


@pytest.mark.parametrize(
    "body",
    [
        "<table><tr><td colspan=999999999 rowspan=999999999>a<td>b<tr><td>c<td>d</table>",
        "<table><tr><td rowspan=-1 colspan=x>a<td>b<tr><td>c<td>d</table>",
        "<ol start=99999999999999999999><li>a</ol>",
        "<a href='http://[x'>a</a>",
        "<p>a\x01b\x08\ufffe</p>",
        "<p id=''>a<p id='\ud800'>b",
        "<base href='http://[x'><a href='b'>a</a>",
        "</p></div></html>a<b",
        "<svg><p>a</svg><math><mi>a</math>b",
        "<select><p>a</select>b",
    ],
)
def test_wrong_markup_does_no_harm(body: str) -> None:
    html = f"<html><body>{body}</body></html>".encode("utf-8", "surrogatepass")
    document = convert_html(html, Path("a.html"), document_path="a.html")
    assert any("a" in text or "b" in text for text in texts(document))


MARKUP = [
    *(
        "<p>",
        "</p>",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<a href=b>",
        "</a>",
        "<h2>",
        "</h2>",
        "<dl>",
        "<dt>",
    ),
    *(
        "<dd>",
        "</dl>",
        "<pre>",
        "</pre>",
        "<br>",
        "<div id=i>",
        "</div>",
        "<sup>",
        "</sup>",
        "<b>",
        "</b>",
        "</body>",
        "</html>",
    ),
]


@given(st.lists(st.sampled_from([*MARKUP, "5", " V ", "x", "\n"]), max_size=40))
def test_no_markup_loses_a_word(parts: list[str]) -> None:
    found = "".join(texts(page("".join(parts)))).replace("⁵", "5")
    wanted = "".join(part for part in parts if not part.startswith("<"))
    assert all(found.count(word) >= wanted.count(word) for word in "5Vx")


BOX = '<h2>Supply</h2><p>one</p><div class="{}"><h3 class="title">Note</h3><p>two</p></div><p>three</p>'


@pytest.mark.parametrize("name", ["note", "admonition tip", "warning"])
def test_boxes_are_paragraphs_of_their_section(name: str) -> None:
    blocks = page(BOX.format(name)).blocks
    assert [(block.kind, block.text) for block in blocks] == [
        ("heading", "Supply"),
        ("paragraph", "one"),
        ("paragraph", "Note"),
        ("paragraph", "two"),
        ("paragraph", "three"),
    ]


@pytest.mark.parametrize(
    "bar",
    [
        '<div class="navheader"><p>Chapter 3. Rails</p><p><a href="a.html">Prev</a> <a href="b.html">Next</a></p></div>',
        '<p>Next: <a href="a.html">Rails</a>, Previous: <a href="b.html">Supply</a>, Up: <a href="i.html">Top</a></p>',
        '<table><tr><td><a href="a.html">Prev</a></td><td><a href="i.html">Up</a></td><td><a href="b.html">Next</a></td></tr></table>',
    ],
)
def test_bars_to_the_pages_before_and_after_go(bar: str) -> None:
    document = page(f"<h1>Rails</h1>{bar}<p>text</p>")
    assert [block.text for block in document.blocks] == ["Rails", "text"]
    assert {line.rule for line in document.removed} == {"navigation"}


@pytest.mark.parametrize(
    "text",
    [
        '<p>Press <a href="a.html">Next</a> to move <a href="b.html">Up</a> in the list.</p>',
        '<p>See <a href="a.html">the next chapter</a> and <a href="b.html">the previous one</a>.</p>',
        '<h2 class="note">G4</h2>',
    ],
)
def test_sentences_with_such_words_stay(text: str) -> None:
    assert page(f"<h1>Keys</h1>{text}").blocks[1:]


@pytest.mark.parametrize(
    ("frame", "rule"),
    [
        (
            '<div id="top"><div id="titlearea"><table><tr><td><div id="projectname">X-100 2.5.1</div></td></tr></table></div></div>',
            "page header",
        ),
        (
            '<div class="tabs"><ul class="tablist"><li><a href="i.html">Main Page</a></li><li><a href="f.html">Files</a></li></ul></div>',
            "navigation",
        ),
        (
            '<div class="header"><div class="summary"><a href="#a">Public Types</a> | <a href="#b">Functions</a></div></div>',
            "navigation",
        ),
        (
            '<div id="package-header"><span class="caption">x: a package</span><ul><li><a href="i.html">Index</a></li></ul></div>',
            "page header",
        ),
        ('<div id="footer"><p>Produced by <a href="h">Haddock</a> version 2</p></div>', "page footer"),
        (
            '<table><tr><td><a href="i">Home</a></td><td><a href="l">Libraries</a></td><td><a href="p">People</a></td></tr></table>',
            "navigation",
        ),
        (
            '<div class="spirit-nav"><a href="a"><img alt="Prev"></a><a href="b"><img alt="Next"></a></div>',
            "navigation",
        ),
        ('<div class="modal" role="dialog"><h4>Keyboard Shortcuts</h4><p>Press s to search.</p></div>', "dialog"),
        (
            '<div class="footer"><p>© 2020 The Company. '
            + "The documentation is licensed under its licence. " * 10
            + "</p></div>",
            "page footer",
        ),
        (
            '<div class="navigationbar"><ul><li><a href="i">X 5.15</a></li><li><a href="c">Classes</a></li></ul></div>',
            "navigation",
        ),
    ],
)
def test_the_frame_of_a_generators_page_is_left_out(frame: str, rule: str) -> None:
    read = page(f"{frame}<h1>Power</h1><p>At 3.3 V.</p><p>{LONG}</p>")
    assert [block.text for block in read.blocks] == ["Power", "At 3.3 V.", LONG]
    assert {line.rule for line in read.removed} <= {rule}


def test_a_summary_of_methods_stays() -> None:
    methods = "".join(
        f"<tr><td><a href='#{name}'>{name}</a></td><td>int</td></tr>" for name in ("first", "second", "third")
    )
    read = page(
        f"<h1>Class</h1><div class='summary'><table><tr><th>Method</th><th>Type</th></tr>{methods}</table></div>"
    )
    assert [row.cells[0] for row in read.blocks[1].rows] == ["first", "second", "third"]


def test_a_page_of_links_keeps_them() -> None:
    read = page(
        "<h1>Manual</h1><p><a href='1.html'>Power</a> <a href='2.html'>Pins</a> <a href='3.html'>Orders</a></p>"
    )
    assert texts(read) == ["Manual", "Power Pins Orders"]
    assert len(read.blocks[1].links) == 3


def test_links_that_skip_the_frame_and_forms_of_search_are_left_out() -> None:
    read = page(
        '<a href="#c">Skip to content</a><form class="search"><label>Search terms:</label></form><p id="c">Skip to 3.3 V.</p>'
    )
    assert texts(read) == ["Skip to 3.3 V."]
    assert [line.rule for line in read.removed] == ["navigation", "form control"]


def test_links_at_the_edge_of_a_page_stay_where_words_are_beside_them() -> None:
    read = page("<p>See <a href='a'>A</a>, <a href='b'>B</a> and <a href='c'>C</a>.</p><p>At 3.3 V.</p>")
    assert [block.text for block in read.blocks] == ["See A, B and C.", "At 3.3 V."]


def test_numbers_of_lines_are_no_words_of_a_listing() -> None:
    read = page(
        '<div class="fragment"><pre><span class="lineno">   13</span>class A {\n<span class="lineno">   14</span>  int b = 13;</pre></div>'
        '<p><span class="lineno">Line numbers</span> are 2.</p>'
    )
    assert [block.text for block in read.blocks] == ["class A {\n  int b = 13;", "Line numbers are 2."]
    assert [(line.rule, line.text) for line in read.removed] == [("line number", "13"), ("line number", "14")]


def test_labels_that_are_drawn_as_boxes_beside_each_other_are_words_of_their_own() -> None:
    labels = '<span class="mlabel">protected</span><span class="mlabel">pure virtual</span>'
    assert only(page(f"<p>void f()<span class='mlabels'>{labels}</span>, see g<span>et</span></p>")).text == (
        "void f() protected pure virtual, see get"
    )


def test_a_page_with_a_few_nul_characters_is_read_without_them_and_that_is_said() -> None:
    document = page(f"<p>Padded with '\0' to length n.</p><p>{LONG * 10}</p>")
    assert document.blocks[0].text == "Padded with '' to length n."
    assert document.notes == ("1 NUL characters were left out",)


def table_of(document: BlockDocument) -> list[tuple[str, ...]]:
    """Return the rows of the only table, its header first."""
    (table,) = (block for block in document.blocks if block.kind == "table")
    assert table.header is not None
    return [table.header.cells, *(row.cells for row in table.rows)]


def test_summaries_of_javadoc_are_tables() -> None:
    document = page(
        '<div class="summary-table three-column-summary"><div class="table-header col-first">Type</div>'
        '<div class="table-header col-second">Method</div><div class="table-header col-last">Description</div>\n'
        '<div class="col-first">int</div><div class="col-second"><a href="#size()">size</a>()</div>'
        '<div class="col-last">&nbsp;</div>'
        '<div class="col-first">void</div><div class="col-second">clear()</div>'
        '<div class="col-last"><div>Empties</div><div>it</div></div></div>'
        '<h3 id="size()">size</h3><p>How many.</p>'
    )
    assert table_of(document) == [
        ("Type", "Method", "Description"),
        ("int", "size()", ""),
        ("void", "clear()", "Empties; it"),
    ]
    assert [link.href for link in document.blocks[0].rows[0].links] == ["docs/a.html#size()"]


def test_elements_with_roles_of_a_table_are_one_where_all_they_say_is_in_cells() -> None:
    header = '<div role="row"><span role="columnheader">Pin</span><span role="columnheader">Volt</span></div>'
    body = '<div role="rowgroup"><div role="row"><span role="rowheader">VDD</span> <span role="cell">3.3</span></div></div>'
    assert table_of(page(f'<div role="table">{header}{body}</div>')) == [("Pin", "Volt"), ("VDD", "3.3")]
    beside = page(f'<div role="table"><p>All pins</p>{header}{body}</div>')
    assert "table" not in {block.kind for block in beside.blocks}
    assert "All pins" in texts(beside)


def test_a_cell_that_names_its_row_makes_no_header_of_it() -> None:
    document = page(
        "<table><thead><tr><th>Constructor</th><th>Description</th></tr></thead>"
        '<tbody><tr><th scope="row">Reader()</th><td>&nbsp;</td></tr></tbody></table>'
    )
    assert table_of(document) == [("Constructor", "Description"), ("Reader()", "")]


def test_members_of_scaladoc_are_said_once_and_their_attributes_are_no_section() -> None:
    document = page(
        '<div class="header-container-left"><a href="#x">Learn</a></div><h4>Types</h4><div class="documentableElement">type A'
        '<div class="documentableBrief doc"><p>Names of the elements</p></div>'
        '<div class="cover"><div class="doc"><p>Names of the elements, in order.</p></div>'
        '<h2 class="h200">Attributes</h2><dl class="attributes"><dt>Since</dt><dd>3.1</dd></dl></div></div>'
        '<div class="documentableBrief doc"><p>Only here</p></div><div class="cover"><dl><dt>Since</dt><dd>3.2</dd></dl></div>'
        '<div class="copy-popup-wrapper"><span>Link copied to clipboard</span></div>'
    )
    assert [(block.kind, *block.lines) for block in document.blocks] == [
        ("heading", "Types"),
        ("paragraph", "type A"),
        ("paragraph", "Names of the elements, in order."),
        ("paragraph", "Attributes"),
        ("paragraph", "Since: 3.1"),
        ("paragraph", "Only here"),
        ("paragraph", "Since: 3.2"),
    ]
    assert [line.rule for line in document.removed] == ["page header", "said twice", "form control"]


def test_members_of_older_scaladoc_are_said_once() -> None:
    document = page(
        '<h4>Methods</h4><p class="shortcomment cmt">Counts pulses.</p>'
        '<div class="fullcomment"><div class="comment cmt"><p>Counts pulses. Stops at 99.</p></div></div>'
        '<p class="shortcomment cmt">Only here.</p><div class="fullcomment"><div class="comment cmt"><p>More.</p></div></div>'
    )
    assert texts(document) == ["Methods", "Counts pulses. Stops at 99.", "Only here.", "More."]
    assert [line.rule for line in document.removed] == ["said twice"]


def test_what_is_drawn_for_the_eye_beside_its_words_is_said_once() -> None:
    formula = "<span><math><mi>P</mi><mo>=</mo><mi>UI</mi></math></span><span aria-hidden='true'><span>P</span>=<span>UI</span></span>"
    document = page(
        f"<p>It takes <span class='katex'>{formula}</span> watts.</p><p><i aria-hidden='true'>content_copy</i> Copies the row.</p>"
        "<p><span aria-hidden='true'>All that is said</span></p><div aria-hidden='true'><p>A part that opens.</p></div>"
    )
    assert texts(document) == ["It takes P=UI watts.", "Copies the row.", "All that is said", "A part that opens."]
    assert [(line.rule, line.text) for line in document.removed] == [
        ("drawn beside its words", "P=UI"),
        ("drawn beside its words", "content_copy"),
    ]


def test_a_table_in_a_cell_below_named_columns_is_text_of_the_cell() -> None:
    inner = "<table><tr><td>0</td><td>off</td></tr><tr><td>1</td><td>on</td></tr></table>"
    rows = f"<tr><td>mode</td><td>{inner}</td></tr><tr><td>rate</td><td>1 to 9</td></tr>"
    document = page(f"<table><tr><th>Name</th><th>Values</th></tr>{rows}</table>")
    assert table_of(document) == [("Name", "Values"), ("mode", "0 | off; 1 | on"), ("rate", "1 to 9")]
    note = "<tfoot><tr><td colspan='2'>Of the first edition.</td></tr></tfoot>"
    noted = page(f"<table><tr><th>Name</th><th>Values</th></tr>{rows}{note}</table>")
    assert table_of(noted)[:2] == [("Name", "Values"), ("mode", "0 | off; 1 | on")]
    assert [block.kind for block in page(f"<table>{rows}</table>").blocks].count(
        "table"
    ) == 1  # the inner one: it has no names


def test_short_names_above_numbers_name_the_columns_of_a_table_without_marks() -> None:
    def table(*rows: str) -> Block:
        cells = ("".join(f"<td>{cell}</td>" for cell in row.split("|")) for row in rows)
        return only(page(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"))

    body = ("Supply|V|24", "Current|A|3", "Power|W|72")
    named = table("Quantity|Unit|Maximum", *body)
    assert named.header is not None
    assert named.header.cells == ("Quantity", "Unit", "Maximum")
    assert table(*body).header is None
    assert table("Supply|V|none", "Current|V|3", "Power|W|72", "Weight|kg|1").header is None  # V comes again
    assert table("Name|Pump", "Voltage|24", "Current|3", "Power|72").header is None


def test_listings_of_scribble_are_listings() -> None:
    line = "<tr><td><span>(</span><a href='r.html#for'>for</a><span>&nbsp;</span>(x)</td></tr><tr><td>&nbsp;&nbsp;(print&nbsp;x))</td></tr>"
    block = only(page(f'<blockquote class="SCodeFlow"><table class="RktBlk">{line}</table></blockquote>'))
    assert (block.kind, block.text) == ("code", "(for (x)\n  (print x))")
    assert [link.href for link in block.links] == ["docs/r.html#for"]


def test_the_mark_that_leads_back_from_a_note_is_no_word() -> None:
    document = page(
        '<p>5 V<a href="#fn1" id="ref1"><sup>1</sup></a></p><section role="doc-endnotes"><ol>'
        '<li id="fn1"><p>By USB.<a href="#ref1" role="doc-backlink">↩︎</a></p></li></ol></section>'
    )
    assert texts(document) == ["5 V¹", "1. By USB."]
    assert "fn1" in document.blocks[1].anchors


def test_what_rustdoc_says_of_every_type_is_left_out_and_its_fields_are_definitions() -> None:
    document = page(
        """<nav class="sidebar"><h2><a href="#">Settings</a></h2></nav><rustdoc-topbar><h2><a href="#">Settings</a></h2></rustdoc-topbar>
        <main><div class="main-heading"><div class="rustdoc-breadcrumbs"><a href="index.html">pump</a></div>
        <h1>Struct <span>Settings</span></h1><rustdoc-toolbar><button>Copy</button></rustdoc-toolbar>
        <a class="src" href="s.html">Source</a></div>
        <h2 id="fields">Fields</h2><span id="structfield.pressure" class="structfield section-header"><code>pressure: u32</code></span>
        <div class="docblock"><p>In bar; the default is 5.</p></div>
        <h2 id="trait-implementations">Trait Implementations</h2><section><h3>impl Debug for Settings</h3></section>
        <h2 id="blanket-implementations">Blanket Implementations</h2>
        <div id="blanket-implementations-list"><section><h3>impl Any for T</h3><p>Read more</p></section></div></main>"""
    )
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("heading", "Struct Settings"),
        ("heading", "Fields"),
        ("paragraph", "pressure: u32: In bar; the default is 5."),
        ("heading", "Trait Implementations"),
        ("heading", "impl Debug for Settings"),
    ]
    assert document.blocks[2].terms == ("pressure: u32",)
    assert {line.rule for line in document.removed} == {
        "navigation",
        "breadcrumbs",
        "link to the source",
        "what every type has",
    }


DOXYGEN = """<h1>Valves</h1><table class="memberdecls">
<tr class="heading"><td colspan="2"><h2 class="groupheader"><a id="fns"></a>Functions</h2></td></tr>
<tr class="memitem:a1"><td class="memItemLeft">int&#160;</td>
<td class="memItemRight"><a href="#a1">valve_open</a> (<a href="bar.html">bar_t</a> *p)</td></tr>
<tr class="memdesc:a1"><td class="mdescLeft">&#160;</td><td class="mdescRight">Opens a valve.  <a href="#a1">More...</a><br></td></tr>
<tr class="separator:a1"><td class="memSeparator" colspan="2">&#160;</td></tr>
<tr class="memitem:a2"><td class="memItemLeft">void&#160;</td>
<td class="memItemRight"><a href="#a2">valve_close</a> ()</td></tr>
<tr class="memitem:a3"><td class="memTemplParams" colspan="2">template&lt;class T &gt; </td></tr>
<tr class="memitem:a3"><td class="memTemplItemLeft">T&#160;</td>
<td class="memTemplItemRight"><a href="#a3">valve_state</a> () const</td></tr>
<tr class="memdesc:a3"><td class="mdescLeft">&#160;</td><td class="mdescRight">Says whether it is open.</td></tr>
</table>
<h2 class="memtitle"><span class="permalink"><a href="#a1">&#9670;&nbsp;</a></span>valve_open()</h2>
<div class="memitem"><div class="memproto"><table class="memname">
<tr><td class="memname">int valve_open </td><td>(</td>
<td class="paramtype"><a href="bar.html">bar_t</a> *&#160;</td>
<td class="paramname"><em>p</em>, </td></tr>
<tr><td class="paramkey"></td><td></td>
<td class="paramtype">int&#160;</td>
<td class="paramname"><em>wait</em>&#160;</td></tr>
<tr><td></td><td>)</td><td></td><td></td></tr></table></div>
<div class="memdoc"><p>It takes a second.</p><dl class="params"><dt>Parameters</dt><dd><table class="params">
<tr><td class="paramdir">[in]</td><td class="paramname">p</td><td>the pressure</td></tr>
<tr><td class="paramdir">[in]</td><td class="paramname">wait</td><td>seconds</td></tr></table></dd></dl></div></div>"""


def test_members_of_doxygen_stand_with_what_is_said_of_them() -> None:
    document = page(DOXYGEN)
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("heading", "Valves"),
        ("heading", "Functions"),
        ("paragraph", "int valve_open (bar_t *p): Opens a valve."),
        ("paragraph", "void valve_close ()"),
        ("paragraph", "template<class T > T valve_state () const: Says whether it is open."),
        ("heading", "valve_open()"),
        ("paragraph", "int valve_open(bar_t * p, int wait)"),
        ("paragraph", "It takes a second."),
        ("paragraph", "Parameters:"),
        ("paragraph", "[in] p: the pressure"),
        ("paragraph", "[in] wait: seconds"),
    ]
    assert [link.href for link in document.blocks[2].links] == ["docs/a.html#a1", "docs/bar.html"]
    assert document.blocks[9].terms == ("Parameters", "[in] p")


def test_enumerators_of_doxygen_have_one_header_and_descriptions_no_links_to_details() -> None:
    document = page(
        """<head><meta name="generator" content="Doxygen 1.9.4"></head><p>States of a valve. <a href="a.html#details">More...</a></p>
<p>Read <a href="b.html#more">More about valves...</a></p><table class="fieldtable"><tr><th colspan="2">Enumerator</th></tr>
<tr><td class="fieldname">OPEN&#160;</td><td class="fielddoc"><p>It lets through.</p></td></tr>
<tr><td class="fieldname">SHUT&#160;</td><td class="fielddoc"></td></tr></table>"""
    )
    assert [block.text for block in document.blocks[:2]] == ["States of a valve.", "Read More about valves..."]
    table = document.blocks[2]
    assert table.header is not None
    assert [table.header.cells, *(row.cells for row in table.rows)] == [
        ("Enumerator", ""),
        ("OPEN", "It lets through."),
        ("SHUT", ""),
    ]


def test_a_line_in_bold_above_a_text_is_a_heading_below_the_one_above_it() -> None:
    document = page(
        f"<h1>Pumps</h1><p><b>Double checking</b><br>{LONG}</p><hr><a name='faq'><b>Questions</b><br>"
        f"<p>Why?<br>{LONG}</p></a>"
    )
    headings = [(block.level, block.text) for block in document.blocks if block.kind == "heading"]
    assert headings == [(1, "Pumps"), (2, "Double checking"), (2, "Questions")]


@pytest.mark.parametrize(
    "body",
    [
        "<p><b>Pump Works</b><br>Long Street 12<br>Town</p>",
        f"<p><b>Note</b><br>{LONG}</p>",
        f"<p><b>It is on.</b><br>{LONG}</p>",
        f"<p>First <b>this</b><br>{LONG}</p>",
        f"<ul><li><b>Speed</b><br>{LONG}</li></ul>",
        f"<table><tr><td><b>Speed</b><br>{LONG}</td><td>3</td></tr></table>",
        f"<p><b>Speed</b> is<br>{LONG}</p>",
    ],
)
def test_other_lines_in_bold_are_no_headings(body: str) -> None:
    assert not [block for block in page(body).blocks if block.kind == "heading"]


def test_the_kind_of_what_texinfo_defines_is_a_part_of_its_term() -> None:
    document = page(
        '<dl class="def"><dt><span class="category">Pump Conf: </span><span><strong>max-flow</strong> <var>n</var>'
        '</span></dt><dd><p>At most so much.</p></dd></dl><dl><dt><span class="category-def">: </span>'
        "<strong>stop</strong></dt><dd>Stops it.</dd></dl>"
    )
    assert texts(document) == ["Pump Conf max-flow n: At most so much.", "stop: Stops it."]


@pytest.mark.parametrize(
    "bar",
    [
        '<p>Previous: <a href="b.html" rel="prev">Pump of <code>flow</code>.</a>, Up: <a href="c.html">Pumps</a>'
        ' [<a href="i.html" rel="contents">Contents</a>][<a href="x.html" rel="index">Index</a>]</p>',
        '<p>[<a href="i.html" rel="contents">Contents</a>][<a href="x.html" rel="index">Index</a>]</p>',
    ],
)
def test_a_bar_of_texinfo_goes_whatever_is_marked_in_it(bar: str) -> None:
    document = page(f"<p>{LONG}</p>{bar}")
    assert texts(document) == [LONG]
    assert [one.rule for one in document.removed] == ["navigation"]


def test_ends_of_lines_in_a_listing_are_those_of_any_system() -> None:
    page = "<h1>T</h1><pre>&#13;group = core\nport = 1&#13;\nlog&#13;next</pre>"
    code = next(
        block for block in blocks_of_html(page, Path("a.html"), document_path="a.html").blocks if block.kind == "code"
    )
    assert code.text == "group = core\nport = 1\nlog\nnext"


@pytest.mark.parametrize(
    ("template", "title", "left"),
    [
        (
            '{% extends "base.html" %}\n{% block title %}Valve{% endblock %}\n{# later #}<p>Open the {{ name }} valve.</p>',
            "",
            ["Valve", "Open the valve."],
        ),
        ("{{#each parts}}<p>Part: {{this}}</p>{{/each}}<p>All of them.</p>", "", ["Part:", "All of them."]),
        ('<title>{{ page.title }}</title>{% include "head.html" %}\n{{ content }}', "", []),
        ("{%- for one in all -%}<a href='{{ one }}'>{{ one }} | </a>{% endfor %}", "", []),
    ],
)
def test_of_a_template_what_is_no_code_is_read(template: str, title: str, left: list[str]) -> None:
    document = convert_html(template.encode(), Path("a.html"), document_path="a.html")
    assert (document.title, texts(document)) == (title, left)
    assert {line.rule for line in document.removed} == {"template"}


@pytest.mark.parametrize(
    "body",
    [
        "<p>The mark {{ name }} stands for a name.</p>",
        "<p>The tag {% now %} says the time.</p>",
        "<pre>{% if open %}\nyes\n{% endif %}</pre><p>What is between {% if open %} and {% endif %} is shown.</p>",
        "<code>" * 1000 + "{% if a %}",
    ],
)
def test_a_page_about_templates_keeps_their_marks(body: str) -> None:
    shown = "".join(texts(page(body)))
    assert "{{ name }}" in shown or "{%" in shown


PUMP_TEXT = "<p>" + "The pump runs until the tank is full or the float rises. " * 5 + "</p>"


@pytest.mark.parametrize(
    "bar",
    [
        "<table class=n><tr><td><a href=a><img alt=Prev src=p></a></td><td><a href=b><img alt=Up src=u></a></td>"
        "<th>Pump Manual</th><td><a href=c><img alt=Next src=n></a></td></tr></table>",
        f"<div>Chapter: {' '.join(f'<a href=c{n}.html>{n}</a>' for n in range(1, 12))} <a href=i.html>Ind</a></div>",
        "<div class=NavPanel><p><a href=a>Wiring</a></p><p><a href=b>Priming</a></p></div>",
        "<div class=t-navbar><p><a href=a>Wiring</a></p><p><a href=b>Priming</a></p></div>",
    ],
)
def test_bars_with_a_title_rows_of_numbers_and_menus_by_any_spelling_are_navigation(bar: str) -> None:
    document = page(f"{bar}{PUMP_TEXT}")
    assert len(texts(document)) == 1
    assert {line.rule for line in document.removed} == {"navigation"}


def test_a_footer_of_links_with_a_heading_is_left_out_and_one_with_text_stays() -> None:
    links = "<h3>Community</h3><ul><li><a href=a>Forum</a></li><li><a href=b>Contribute code</a></li></ul>"
    document = page(f"{PUMP_TEXT}<div id=footer>{links}</div>")
    assert len(texts(document)) == 1
    assert {line.rule for line in document.removed} == {"page footer"}
    assert "Seals" in texts(page(f"{PUMP_TEXT}<div id=footer><h3>Seals</h3><p>Replace them yearly.</p></div>"))


def test_a_list_of_links_in_a_cell_beside_the_text_is_navigation() -> None:
    links = "".join(f"<li><a href=p{n}.html>Part {n}</a></li>" for n in range(6))
    document = page(f"<table><tr><td><ul>{links}</ul></td><td>{PUMP_TEXT}</td></tr></table>")
    assert len(texts(document)) == 1
    assert len(document.removed) == 6
    short = page(f"<table><tr><td><ul>{links}</ul></td><td><p>Parts of the pump</p></td></tr></table>")
    assert len(texts(short)) == 7


def test_a_paragraph_with_empty_anchors_is_no_bar() -> None:
    said = "The page scrolls up when the end is reached."
    assert texts(page(f"<p><a name=i1></a>{said[:9]}<a name=i2></a>{said[9:]} Next it stops.</p>")) == [
        f"{said} Next it stops."
    ]


def test_a_paragraph_in_bold_above_text_is_a_heading_and_a_caption_or_a_label_is_none() -> None:
    def kinds(above: str, below: str = PUMP_TEXT) -> Sequence[tuple[str, int]]:
        return [(block.kind, block.level) for block in page(f"<h1>X-100</h1>{above}{below}").blocks][1:]

    assert kinds("<p><a name=seals></a><b>Seals</b></p>") == [("heading", 2), ("paragraph", 0)]
    for above in (
        "<p><b>Table 4-1. Seals</b></p>",
        "<p><b>Model: X-100</b></p>",
        "<p class=title><b>Seals and bushes</b></p>",
        "<p><b>Never</b> run it dry</p>",
    ):
        assert kinds(above) == [("paragraph", 0), ("paragraph", 0)]
    assert kinds("<p><b>List of parts</b></p>", f"<p><a href=a.html>{'Seal ' * 20}</a></p>") == [("paragraph", 0)] * 2
    assert kinds("<p><b>Contents</b></p>", f"<dl class=toc><dt>{'Seal ' * 20}</dt></dl>") == [("paragraph", 0)] * 2


def test_what_contents_lead_to_is_a_heading_where_its_mark_stands_within_it() -> None:
    names = ("seal", "rotor", "bush")
    links = " ".join(f"<a href=#{name}1>{name}</a>" for name in names)
    text = "".join(f"<p><b><a name={name}1></a>{name}</b></p>Turn it." for name in names)
    document = page(f"{links}<blockquote>{text}</blockquote>")
    assert [block.text for block in document.blocks if block.kind == "heading"] == list(names)


def test_listings_of_doxygen_keep_their_lines_and_indentation_without_what_is_shown_on_hovering() -> None:
    document = page(
        """<p>Open a valve:</p><div class="fragment"><div class="line"><a id="l00001"></a><span class="lineno">    1</span>
<span class="keywordflow">if</span> (<a href="valve_8h.html#a1">is_shut</a>(valve)) {</div>
<div class="line"><span class="lineno">    2</span>    open(valve, 3);</div><div class="line"><span class="lineno">    3</span>}</div>
<div class="ttc" id="aa1"><div class="ttname"><a href="valve_8h.html">is_shut</a></div><div class="ttdoc">Whether it is shut.</div></div>
</div><!-- fragment --><p>Then wait.</p>"""
    )
    assert [block.kind for block in document.blocks] == ["paragraph", "code", "paragraph"]
    assert document.blocks[1].text.splitlines()[-2:] == ["    open(valve, 3);", "}"]
    assert "Whether" not in " ".join(texts(document))
    assert {line.rule for line in document.removed} == {"line number"}


def test_diagrams_of_doxygen_are_left_out_with_what_announces_them() -> None:
    document = page(
        """<div class="dynheader">Collaboration diagram for Valve:</div><div class="dyncontent"><div class="center"><img src="valve.png"/>
</div><center><span class="legend">[<a href="graph_legend.html">legend</a>]</span></center></div><p>A valve.</p>"""
    )
    assert texts(document) == ["A valve."]
    assert {line.rule for line in document.removed} == {"diagram"}


def test_the_letter_that_doxygen_draws_before_a_name_is_no_part_of_it() -> None:
    entry = '<tr><td class="entry"><span class="icona"><span class="icon">C</span></span><a href="{0}.html">{0}</a></td><td>{1}</td></tr>'
    rows = entry.format("Valve", "A valve.") + entry.format("Pump", "A pump.")
    assert only(page(f'<table class="directory">{rows}</table>')).lines == ("Valve | A valve.", "Pump | A pump.")


def test_the_title_of_contents_that_a_program_writes_goes_with_them() -> None:
    document = page(
        '<div id="toc"><div id="toctitle">Table of Contents</div><noscript><p>Needs scripts.</p></noscript></div><p>Open it.</p>'
    )
    assert texts(document) == ["Open it."]


def test_bars_whose_links_have_keys_are_navigation_in_any_language() -> None:
    document = page(
        """<ul class="docnav"><li><a accesskey="p" href="a.html"><strong>Zurück</strong></a></li><li>Pumpen im Betrieb</li>
<li><a accesskey="n" href="c.html"><strong>Weiter</strong></a></li></ul><h1>Druck</h1><p>Höchstens 6 bar.</p>
<ul><li><a accesskey="x" href="d.html">Ventile</a></li><li><a accesskey="y" href="e.html">Filter</a></li></ul>"""
    )
    assert texts(document) == ["Druck", "Höchstens 6 bar.", "- Ventile", "- Filter"]
    assert {line.rule for line in document.removed} == {"navigation"}


def test_a_table_of_docbook_may_have_one_row() -> None:
    cells = "<tr><td><p>pressure</p></td><td><p>what to hold, in bar</p></td></tr>"
    assert only(page(f'<div class="informaltable"><table>{cells}</table></div>')).kind == "table"
    assert [block.kind for block in page(f"<table>{cells}</table>").blocks] == ["paragraph", "paragraph"]


def test_tabs_in_the_caption_of_a_table_are_no_words_of_it() -> None:
    document = page(
        """<table><caption><span>All Methods</span><span><a href="javascript:show(1);">Static Methods</a></span></caption>
<tr><th>Type</th><th>Method</th></tr><tr><td>int</td><td>bar()</td></tr></table>"""
    )
    assert [block.kind for block in document.blocks] == ["table"]


def test_the_address_of_a_picture_says_nothing() -> None:
    document = page(
        """<p><img alt="../_images/valve.jpg" src="../_images/valve.jpg"/></p><p><img alt="A/B valve" src="_images/ab.png"/></p>"""
    )
    assert texts(document) == ["A/B valve"]


MAIN = f"<h1>Flow meter</h1><p>{LONG}</p>"


def test_what_stands_beside_the_main_part_of_a_page_is_counted() -> None:
    beside = '<div id="help"><h2>Keys</h2><p>Press ? for help.</p></div><div class="bar"><h1>The Meter Book</h1></div>'
    document = page(f'<div>{beside}<div id="content"><main>{MAIN}</main></div></div>')
    assert texts(document) == ["Flow meter", LONG]
    assert [line.rule for line in document.removed] == ["beside the main part"] * 3


def test_a_title_above_the_main_part_and_notes_below_it_stay() -> None:
    notes = '<section class="footnotes"><ol><li>At 20 °C.</li></ol></section>'
    document = page(f'<div><h1>Flow meter</h1></div><div role="main"><p>{LONG}</p></div>{notes}')
    assert texts(document) == ["Flow meter", LONG, "1. At 20 °C."]


def test_the_main_part_has_no_word_where_it_is_one_of_several_or_says_less_than_what_is_beside_it() -> None:
    two = page(f"<main>{MAIN}</main><p>Sold by Acme.</p><main>{MAIN}</main>")
    assert "Sold by Acme." in texts(two)
    longer = page(f"<main><p>{LONG}</p></main><div><p>{LONG} And the meter, too.</p></div>")
    assert texts(longer) == [LONG, f"{LONG} And the meter, too."]


@pytest.mark.parametrize(
    "tabs",
    [
        '<div class="set"><input type="radio"/><div class="labels"><label for="a">Linux</label><label>macOS</label></div>'
        "<div><div><p>Use apt.</p></div><div><p>Use brew.</p></div></div></div>",
        '<div><ul role="tablist"><li role="tab">Linux</li><li role="tab">macOS</li></ul><div><div role="tabpanel"><p>Use apt.</p>'
        '</div><div role="tabpanel" hidden><p>Use brew.</p></div></div></div>',
        '<div><div role="tablist"><button role="tab" aria-controls="p0">Linux</button><button role="tab" aria-controls="p1">macOS'
        '</button></div><div id="p0" role="tabpanel"><p>Use apt.</p></div><div id="p1" role="tabpanel"><p>Use brew.</p></div></div>',
        '<ul class="nav nav-tabs"><li><a href="#apt">Linux</a></li><li><a href="#brew">macOS</a></li></ul>'
        '<div class="tab-content"><div id="apt"><p>Use apt.</p></div><div id="brew"><p>Use brew.</p></div></div>',
    ],
    ids=["labels", "roles", "buttons", "Bootstrap"],
)
def test_the_label_of_a_tab_stands_above_what_it_shows(tabs: str) -> None:
    assert texts(page(f"<h1>Install</h1>{tabs}")) == ["Install", "Linux", "Use apt.", "macOS", "Use brew."]


def test_tabs_that_are_not_as_many_as_their_parts_stay_where_they_are() -> None:
    tabs = '<ul role="tablist"><li role="tab">Linux</li><li role="tab">macOS</li></ul><div><p>Use a package.</p></div>'
    assert texts(page(tabs)) == ["- Linux", "- macOS", "Use a package."]


def test_text_in_cdata_is_text_in_a_page_of_xml_alone() -> None:
    listing = "<pre><![CDATA[$ run <all> && stop]]></pre>"
    xhtml = f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>{listing}</body></html>'
    document = convert_html(xhtml.encode(), Path("a.xht"), document_path="a.xht")
    assert texts(document) == ["$ run <all> && stop"]
    script = '<html xmlns="http://www.w3.org/1999/xhtml"><body><script>//<![CDATA[\na < b\n//]]></script><p>5 V</p></body></html>'
    assert texts(convert_html(script.encode(), Path("a.html"), document_path="a.html")) == ["5 V"]


def test_panels_of_latex2html_are_navigation_though_they_are_in_no_element() -> None:
    document = page(
        '<!--Navigation Panel--><a href="n2.html"><img alt="next" src="next.gif"></a><br><b>Next:</b> <a href="n2.html">Valves</a>'
        '<!--End of Navigation Panel--><h1>Pumps</h1><!--Table of Child-Links--><strong>Subsections</strong><ul><li><a href="#a">Seal</a>'
        "</ul><!--End of Table of Child-Links--><p>They pump.</p>"
    )
    assert texts(document) == ["Pumps", "They pump."]
    assert {line.rule for line in document.removed} == {"navigation"}


def test_a_release_that_rustdoc_draws_beside_a_heading_stands_below_it() -> None:
    document = page(
        '<p>Before.</p><section><span class="rightside"><span class="since" title="Stable since version 1.5">1.5</span> · '
        '<a class="src" href="m.rs.html">Source</a></span><h4>fn open()</h4></section><p>Opens it.</p>'
    )
    assert texts(document) == ["Before.", "fn open()", "Stable since version 1.5", "Opens it."]


def test_what_generators_write_beside_listings_and_headings_is_no_text() -> None:
    document = page(
        '<a href="#" class="top">Back to top</a><div class="dropdown-menu"><a href="a.rst">.rst</a></div>'
        '<div class="language-bash"><span class="lang">bash</span><pre>run</pre></div><p>In <span class="lang">German</span>.</p>'
        '<h3><code class="tsd-tag">Protected</code>active</h3>'
    )
    assert texts(document) == ["run", "In German.", "Protected active"]
    assert [line.rule for line in document.removed] == ["navigation", "navigation", "language of a listing"]


@pytest.mark.parametrize(
    "listing",
    [
        "<pre><code><div class=line>if x:<br></div><div class=line><br></div><div class=line>    y()<br></div></code></pre>",
        '<pre class="linenums"><ol><li>if x:</li><li></li>\n<li>    y()</li></ol></pre>',
    ],
    ids=["Docusaurus", "prettify"],
)
def test_a_listing_whose_lines_are_blocks_is_one_listing(listing: str) -> None:
    block = only(page(listing))
    assert (block.kind, [line for line in block.lines if line]) == ("code", ["if x:", "    y()"])


def test_a_pre_with_paragraphs_in_it_is_no_listing_of_lines() -> None:
    assert texts(page("<pre>Pumps<p>Old</p><div>New</div></pre>")) == ["Pumps", "Old", "New"]


def test_tabs_that_choose_rows_of_one_table_are_put_nowhere() -> None:
    tabs = '<div role="tablist"><button role="tab" aria-controls="t">All</button><button role="tab" aria-controls="t">Static</button></div>'
    table = "<table><tr><th>Name</th><th>Use</th></tr><tr><td>open</td><td>Opens.</td></tr></table>"
    assert [block.kind for block in page(f'{tabs}<div id="t" role="tabpanel">{table}</div>').blocks] == ["table"]


def test_a_button_that_heads_what_it_opens_is_kept_and_others_are_controls() -> None:
    answer = f"<div><p>{LONG}</p></div>"
    asked = '<button class="accordion">Which supply?</button>', '<button aria-expanded="false">Which board?</button>'
    headed = "<h3><button type=button>Which fuse?</button></h3>"
    document = page("".join(f"<section>{one}{answer}</section>" for one in (*asked, headed, "<button>Copy</button>")))
    assert texts(document) == ["Which supply?", LONG, "Which board?", LONG, "Which fuse?", LONG, LONG]
    assert [block.kind for block in document.blocks].count("heading") == 1
    menu = '<button aria-expanded="true">Menu</button><ul><li><a href="a.html">Pumps and valves</a></ul>'
    assert [line.text for line in page(menu + "<h3>Type <button>Copy</button></h3>").removed] == ["Menu", "Copy"]


def test_the_footer_of_a_figure_or_of_a_section_of_an_article_is_its_own() -> None:
    note = "<footer>Sources: our own <b>measurements</b>.</footer>"
    kept = f"<figure>{note}</figure><article><section><p>{LONG}</p>{note}</section></article>"
    assert texts(page(kept)).count("Sources: our own measurements.") == 2
    left_out = f"<article><p>{LONG}</p>{note}</article>{note}<section><footer>© Smith</footer></section>"
    assert texts(page(left_out)) == [LONG]
