"""Texts of DokuWiki and TWiki, which are called `.txt`: told by their marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.text_files import convert_text


def read(text: str) -> list[tuple[str, int, str]]:
    document = convert_text(text.encode(), Path("a.txt"), document_path="a.txt")
    return [(block.kind, block.level, "\n".join(block.lines)) for block in document.blocks]


def test_dokuwiki() -> None:
    text = (
        "====== Pump ======\n\nIt **starts** at once, see [[valve|the valve]] ((Not at night.)).\n\n===== Parts =====\n\n"
        "  * Seal\n    * of rubber\n  * Bolt\n\n^ Part ^ Size ^\n| Bolt | M6 |\n\n<code>\nstart\n</code>\n~~NOTOC~~\n"
    )
    assert read(text)[:8] == [
        ("heading", 1, "Pump"),
        ("paragraph", 0, "It starts at once, see the valve ¹."),
        ("heading", 2, "Parts"),
        ("list_item", 1, "- Seal"),
        ("list_item", 2, "  - of rubber"),
        ("list_item", 1, "- Bolt"),
        ("table", 0, "Part | Size\nBolt | M6"),
        ("code", 0, "start"),
    ]
    assert "Not at night." in read(text)[8][2]


def test_twiki() -> None:
    text = (
        "%TOC%\n---+ Pump\n   * Seal\n      * of rubber\n   1 Mount it\n   1 Start it\n\n"
        "---++ Parts\n| *Part* | *Size* |\n| Bolt | M6 |\n"
    )
    assert read(text) == [
        ("heading", 1, "Pump"),
        ("list_item", 1, "- Seal"),
        ("list_item", 2, "  - of rubber"),
        ("list_item", 1, "1. Mount it"),
        ("list_item", 1, "2. Start it"),
        ("heading", 2, "Parts"),
        ("table", 0, "Part | Size\nBolt | M6"),
    ]


@pytest.mark.parametrize(
    "text", ["====== Pump ======\n\nIt starts.\n", "== Pump ==\n\n'''It''' [[starts]].\n", "---+ Pump\nIt starts.\n"]
)
def test_few_marks_make_no_wiki(text: str) -> None:
    assert any(mark in line for _, _, line in read(text) for mark in ("It starts", "[[starts]]"))
