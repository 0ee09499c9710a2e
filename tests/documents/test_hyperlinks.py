"""Where links lead and what is said around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.inline_text import CONTEXT_CHARACTERS, resolve_href, sentence_around


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


def test_the_base_of_a_page_counts() -> None:
    assert resolve_href("a.html", "docs/x.html", base="https://example.com/m/") == "https://example.com/m/a.html"
    assert resolve_href("a.html", "docs/x.html", base="sub/") == "docs/sub/a.html"


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
