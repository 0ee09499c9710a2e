"""Where links lead and what is said around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.chunking import Chunker, chunk_blocks
from kgrag.documents.html import blocks_of_html
from kgrag.documents.inline_text import CONTEXT_CHARACTERS, resolve_href, sentence_around
from kgrag.retrieve.steps.walk import words_around
from kgrag.testing import HashingEmbedder
from kgrag.types import Document


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("power.html", "docs/x/power.html"),
        ("./power.html#vdd", "docs/x/power.html#vdd"),
        ("../y/a%20b.html#%C3%A4", "docs/y/a b.html#ä"),
        ("#vdd", "docs/x/a.html#vdd"),
        ("", None),
        ("power.html?lang=en#vdd", "docs/x/power.html#vdd"),
        ("sub/./../power.html", "docs/x/power.html"),
        ("guide/", "docs/x/guide/index.html"),
        ("../../", "index.html"),
        ("https://example.com/a%20b#c", "https://example.com/a%20b#c"),
        ("//example.com/a", "//example.com/a"),
        ("/root/a.html", "/root/a.html"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("javascript:alert(1)", None),
        (" JavaScript:alert(1)", None),
        ("data:text/html,x", None),
        ("http://[broken", "http://[broken"),
        (
            "HTTPS://Docs.Example.COM:8443/Guide/A.html?Lang=EN#Vdd",
            "https://docs.example.com:8443/Guide/A.html?Lang=EN#Vdd",
        ),
        ("//Example.COM/A", "//example.com/A"),
        ("ftp://User:Pass@Example.com/A", "ftp://User:Pass@example.com/A"),
        ("MailTo:A@example.com", "mailto:A@example.com"),
        ("?page=2", "docs/x/a.html"),
    ],
)
def test_links_are_resolved_as_documents_are_known(href: str, target: str | None) -> None:
    assert resolve_href(href, "docs/x/a.html") == target


@pytest.mark.parametrize("page", ["a.html", "docs/x/a.html"])
@given(
    folders=st.lists(st.sampled_from(["..", ".", "sub", "two words"]), max_size=3),
    name=st.sampled_from(["power.html", "a b.html", ""]),
    fragment=st.sampled_from(["", "#vdd", "#über"]),
)
def test_a_resolved_link_is_resolved_already(page: str, folders: list[str], name: str, fragment: str) -> None:
    href = "/".join([*folders, name]) + fragment
    first = resolve_href(href, page)
    if first is not None and not first.startswith("/"):
        assert resolve_href(first, "root.html") == first


@given(
    scheme=st.sampled_from(["https:", "HTTP:", ""]),
    host=st.sampled_from(["Example.COM", "example.com:80", "Me@Example.com", "ÄPFEL.example"]),
    rest=st.sampled_from(["", "/", "/A.html", "/a/../B.html?X=Y#Z", "?Q", "#F"]),
)
def test_a_resolved_url_is_resolved_already_whatever_case_its_host_has(scheme: str, host: str, rest: str) -> None:
    written = [
        resolve_href(f"{one}//{two}{rest}", "docs/x.html")
        for one in (scheme, scheme.lower())
        for two in (host, host.lower())
    ]
    assert len({one and one.replace("Me@", "me@") for one in written}) == 1
    assert written[0] is not None and written[0].endswith(rest)
    assert resolve_href(written[0], "root.html") == written[0]


def test_the_base_of_a_page_counts() -> None:
    assert resolve_href("a.html", "docs/x.html", base="https://example.com/m/") == "https://example.com/m/a.html"
    assert resolve_href("a.html", "docs/x.html", base="sub/") == "docs/sub/a.html"


@pytest.mark.parametrize(
    ("row", "anchor", "context"),
    [
        (
            "<td>VDD</td><td>3.3 V, <a href='power.html#vdd'>the power page</a> says more of it</td>",
            "the power page",
            "VDD 3.3 V, the power page says more of it",
        ),
        ("<td><a href='power.html'>VDD</a></td><td>Supply of the logic</td>", "VDD", "VDD Supply of the logic"),
        (
            f"<td>{'one two three ' * 9}</td><td>{'four five six ' * 5} see <a href='a.html'>rails</a> {'and more of it ' * 5}</td>",
            "rails",
            "four five six see rails and more of it and more",
        ),
    ],
)
def test_the_words_around_a_link_in_a_table_go_beyond_its_cell_only_where_that_is_short(
    row: str, anchor: str, context: str
) -> None:
    page = f"<table><tr><th>Name</th><th>What</th></tr><tr>{row}</tr></table>"
    (block,) = blocks_of_html(page, Path("a.html"), document_path="a.html").blocks
    (link,) = block.links
    assert link.anchor == anchor
    around = words_around(link.context, link.anchor, words=12)
    assert anchor in around and len(around.split()) <= 12
    assert words_around(link.context, link.anchor, words=len(anchor.split())) == anchor
    assert context in around


def test_a_link_out_of_the_working_directory_is_absolute() -> None:
    target = resolve_href("../../elsewhere/a.html#b", "docs/x.html")
    assert target is not None and target.startswith("/") and target.endswith("/elsewhere/a.html#b")


def test_the_context_is_the_sentence() -> None:
    text = "The pump runs at 3.3 V. See the power page for more. It ends."
    start = text.index("power")
    assert sentence_around(text, start, start + 10) == "See the power page for more."


@given(st.text(max_size=3000), st.data())
def test_the_context_has_the_link_and_is_short(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 50)))
    context = sentence_around(text, start, end)
    assert len(context) <= CONTEXT_CHARACTERS + 50
    if "\n" not in text[start:end]:
        assert text[start:end].strip() in context


SITE = {
    "index.html": "<h1 id='top'>Manual</h1><p>Begin with <a href='start/'>the start</a> or <a href='power.html#vdd'>power</a>.</p>",
    "start/index.html": "<section id='begin'><h1>Start</h1><p>Then <a href='../power.html?lang=en'>power</a> and "
    "<a href='#wire'>wires</a>.</p></section><section id='wire'><h2>Wires</h2><p>See <a href='HTTPS://Example.COM/A'>here</a>.</p></section>",
    "power.html": "<h1>Power</h1><dl><dt id='vdd'>VDD</dt><dd>3.3 V, <a href='./pins.html#p1'>pin 1</a></dd></dl>"
    "<a name='old'></a><p>Old.</p>",
    "pins.html": "<h1>Pins<a class='headerlink' href='#pins'>¶</a></h1><table id='pins'><tr><th>Pin</th><th>Name</th></tr>"
    "<tr id='p1'><td>1</td><td><a href='power.html#old'>VDD</a></td></tr></table>",
    "help.html": "<nav><a href='index.html'>Home</a></nav><p>Write to <a href='mailto:a@example.com'>us</a> or "
    "<a href='javascript:x()'>call</a>, see <a href='gone.html'>more</a>.</p><footer><a href='power.html'>Power</a></footer>",
}
"""Five pages; below what a person finds in them."""
ANCHORS = {
    "index.html": {"top"},
    "start/index.html": {"begin", "wire"},
    "power.html": {"vdd", "old"},
    "pins.html": {"pins", "p1"},
    "help.html": set(),
}
LEADS = {
    "index.html": ["start/index.html", "power.html#vdd"],
    "start/index.html": ["power.html", "start/index.html#wire", "https://example.com/A"],
    "power.html": ["pins.html#p1"],
    "pins.html": ["power.html#old"],
    "help.html": ["mailto:a@example.com", "gone.html"],
}
CHUNKERS: tuple[Chunker, ...] = ("structure", "hybrid", "recursive", "pages")
SECTIONS = {
    "index.html": [("Manual",)],
    "start/index.html": [("Start",), ("Start", "Wires")],
    "power.html": [("Power",)],
    "pins.html": [("Pins",)],
    "help.html": [()],
}


def test_sections_anchors_and_targets_of_a_site_are_those_that_a_person_lists() -> None:
    count = HashingEmbedder().count_tokens
    for path, body in SITE.items():
        blocks = blocks_of_html(
            f"<!doctype html><html><body>{body}</body></html>", Path(path), document_path=path
        ).blocks
        document = Document(id=path, path=path, title="", sha256="", format="html")
        for chunker in CHUNKERS:
            chunks = chunk_blocks(document, blocks, count_tokens=count, max_tokens=200, chunker=chunker)
            assert {anchor for chunk in chunks for anchor in chunk.anchors} == ANCHORS[path], (path, chunker)
            assert [link.href for chunk in chunks for link in chunk.links] == LEADS[path], (path, chunker)
            assert chunker == "pages" or [chunk.headings for chunk in chunks] == SECTIONS[path], (path, chunker)
