"""Pages that are one text in `pre`."""

from __future__ import annotations

from pathlib import Path

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.html import blocks_of_html

TEXT = "       The  pump  runs  until  the tank is full or the float rises to the\n       mark of the glass.\n" * 6
LONG = "\n".join(["", "=" * 60, ""])


def page(body: str) -> BlockDocument:
    return blocks_of_html(f"<html><body>{body}</body></html>", Path("a.html"), document_path="a.html", is_page=True)


def headings(document: BlockDocument) -> list[str]:
    return [block.text for block in document.blocks if block.kind == "heading"]


def test_lines_in_bold_at_the_margin_of_a_page_in_one_pre_are_headings_with_their_ids_and_links() -> None:
    document = page(
        f"<pre>PUMP(8)\n\n<b><a name='n'>NAME</a></b>\n{TEXT}\n<b>SEE</b> <b>ALSO</b>\n{TEXT}       <a href='valve.html'>valve(8)</a>\n"
        f"<b>pumpd</b>\n{TEXT}   <b>Inset</b>\n<b>It stops.</b>\n</pre>"
    )
    assert headings(document) == ["NAME", "SEE ALSO"]
    assert [block.kind for block in document.blocks] == ["code", "heading", "code", "heading", "code"]
    assert "n" in document.blocks[1].anchors
    assert [link.href for link in document.blocks[4].links] == ["valve.html"]
    assert document.blocks[2].text == TEXT.strip("\n")


def test_lines_below_rules_of_a_page_in_one_pre_are_headings() -> None:
    document = page(
        f"<h1>Help</h1><pre>Pumps\n{TEXT}{LONG}1. Priming\t\t*<b>prime</b>*\n{TEXT}{LONG}\n2. Seals\n{TEXT}</pre>"
    )
    assert headings(document) == ["Help", "1. Priming *prime*", "2. Seals"]


def test_a_listing_beside_text_or_with_one_such_line_stays_whole() -> None:
    two = f"<pre><b>Pump</b>\n{TEXT}\n<b>Valve</b>\n{TEXT}</pre>"
    assert headings(page(two)) == ["Pump", "Valve"]
    assert headings(page(f"{two}<p>{TEXT * 2}</p>")) == []
    assert headings(page(f"<h2>One</h2><h2>Two</h2>{two}")) == ["One", "Two"]
    one = page(f"<pre><b>Pump</b>\n{TEXT}\n{TEXT}</pre>")
    assert headings(one) == []
    assert one.blocks[0].text == f"Pump\n{TEXT}\n{TEXT}".rstrip()
