"""Text of a page that a script shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.html_slides import convert_page

REVEAL = """<html><head><title>Deck</title></head><body><section data-markdown><script type="text/template">
# Pump
It starts at 5 bar & more.
</script></section><section data-markdown><textarea data-template>## Speed
It runs at &lt; 30 rpm.</textarea></section></body></html>"""
REMARK = """<html><body><textarea id="source">
class: center, middle

# Pump
---
name: speed
## Speed
It runs at .red[30 rpm].
???
Say it twice.
</textarea><script>var show = remark.create();</script></body></html>"""
STRAPDOWN = """<html><body><xmp theme="united" style="display:none;"># Pump

- 5 bar
</xmp><script src="strapdown.js"></script></body></html>"""


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        (
            REVEAL,
            [
                ("heading", "Pump"),
                ("paragraph", "It starts at 5 bar & more."),
                ("heading", "Speed"),
                ("paragraph", "It runs at < 30 rpm."),
            ],
        ),
        (
            REMARK,
            [
                ("heading", "Pump"),
                ("heading", "Speed"),
                ("paragraph", "It runs at 30 rpm."),
                ("paragraph", "Say it twice."),
            ],
        ),
        (STRAPDOWN, [("heading", "Pump"), ("list_item", "- 5 bar")]),
    ],
)
def test_markdown_that_a_program_shows_is_read(page: str, blocks: list[tuple[str, str]]) -> None:
    read = convert_page(page.encode(), Path("a.html"), document_path="a.html")
    assert [(block.kind, block.text) for block in read.blocks] == blocks


def test_a_shadow_root_is_shown_and_another_template_is_not() -> None:
    page = b"<x-a><template shadowrootmode=open><p>5 bar</p></template></x-a><template><p>none</p></template><p>end</p>"
    read = convert_page(page, Path("a.html"), document_path="a.html")
    assert [block.text for block in read.blocks] == ["5 bar", "end"]


def test_what_is_no_such_page_stays_as_it_is() -> None:
    page = b"<body><xmp># a</xmp><textarea id=source># b</textarea><p>data-markdown</p></body>"
    assert convert_page(page, Path("a.html"), document_path="a.html").blocks[0].text == "# a"


def test_a_page_that_a_script_fills_names_the_script() -> None:
    page = b"<html><body><div id=app></div><script src='app.js'></script></body></html>"
    read = convert_page(page, Path("a.html"), document_path="a.html")
    assert (read.blocks, [(line.rule, line.text) for line in read.removed]) == ((), [("script", "app.js")])
