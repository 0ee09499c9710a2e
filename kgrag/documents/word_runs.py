"""Prepare a Word file so that Docling keeps its words whole.

Docling makes a text item of every run of equal formatting and strips it, so that `3.` `3` (bold) ` V` comes out as `3. 3 V`, and nobody
can tell `X-1000` from `X- 1000` any more. Here formatting that says nothing is taken off beforehand, so that a paragraph is one item;
raised digits become `⁶`; and links, which also part runs, become marks in the text that `docling_blocks` turns into links again.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from kgrag.documents.inline_text import superscript

__all__ = ["LINK_END", "LINK_START", "LINK_TEXT", "mark_links"]

LINK_START, LINK_TEXT, LINK_END = "\ufdd0", "\ufdd1", "\ufdd2"
"""Around a link: start, its number, text, its words, end. Unicode keeps these characters for a program's inner use."""
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MEANINGLESS = tuple(
    f"{WORD}{name}"
    for name in (
        "b",
        "bCs",
        "i",
        "iCs",
        "u",
        "strike",
        "dstrike",
        "vertAlign",
        "color",
        "sz",
        "szCs",
        "highlight",
        "em",
    )
)


def mark_links(path: Path) -> tuple[bytes, list[str]]:
    """Return the file with uniform runs and marked links, and where the links lead, by number.

    Raises what python-docx raises for a broken file: `KeyError`, `ValueError`, `zipfile.BadZipFile`, `lxml.etree.XMLSyntaxError`.
    """
    from docx import Document

    targets: list[str] = []
    document = Document(str(path))
    body: Any = document.element.body
    for properties in list(body.iter(f"{WORD}rPr")):
        _level(properties)
    for hyperlink in list(body.iter(f"{WORD}hyperlink")):
        relation = document.part.rels.get(hyperlink.get(RELATION_ID, ""))
        target = relation.target_ref if relation is not None and relation.is_external else ""
        fragment = hyperlink.get(f"{WORD}anchor")
        _unwrap(hyperlink, f"{target}#{fragment}" if target and fragment else target, targets)
    out = BytesIO()
    document.save(out)
    return out.getvalue(), targets


def _level(properties: Any) -> None:
    """Take formatting off a run; digits that stand high stay so."""
    script = properties.find(f"{WORD}vertAlign")
    if script is not None and script.get(f"{WORD}val") == "superscript":
        for text in properties.getparent().iter(f"{WORD}t"):
            text.text = superscript(text.text)
    for name in MEANINGLESS:
        for element in properties.findall(name):
            properties.remove(element)


def _unwrap(hyperlink: Any, target: str, targets: list[str]) -> None:
    """Put a link's runs in its place, with marks around its words where it leads out of the file."""
    texts = [text for text in hyperlink.iter(f"{WORD}t") if text.text]
    if target and texts:
        texts[0].text = f"{LINK_START}{len(targets)}{LINK_TEXT}{texts[0].text}"
        texts[-1].text = f"{texts[-1].text}{LINK_END}"
        for text in texts:
            text.set(XML_SPACE, "preserve")
        targets.append(target)
    for style in list(hyperlink.iter(f"{WORD}rStyle")):
        style.getparent().remove(style)
    parent = hyperlink.getparent()
    place = parent.index(hyperlink)
    for child in list(hyperlink):
        parent.insert(place, child)
        place += 1
    parent.remove(hyperlink)
