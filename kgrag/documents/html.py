"""HTML to blocks: headings with their levels, lists, tables, listings, links; and the ids that links point to.

A page is parsed; what makers of pages write in their own ways is made plain HTML in the tree, one notion in one module; the tree is walked.
Docling's own HTML backend drops ids, and with them where the authors' links lead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html_bold_headings import make_headings
from kgrag.documents.html_contents import make_headings_of_contents
from kgrag.documents.html_docbook import make_reference_entries
from kgrag.documents.html_doxygen import make_members
from kgrag.documents.html_grids import make_definitions, make_tables, put_releases_below
from kgrag.documents.html_groff import make_lists
from kgrag.documents.html_layout import make_sections_of_items, make_titles_of_boxes
from kgrag.documents.html_main import beside_main
from kgrag.documents.html_preformatted import make_sections
from kgrag.documents.html_scribble import make_listings
from kgrag.documents.html_tabs import label_tabs
from kgrag.documents.html_templates import without_template_code
from kgrag.documents.html_walk import Walk
from kgrag.documents.html_word import make_word_lists_and_titles
from kgrag.documents.inline_text import FILE_SUFFIX, collapse
from kgrag.documents.text_encoding import decode
from kgrag.errors import DocumentError

__all__ = ["blocks_of_html", "convert_html", "is_title"]

SHADOW_ROOT = ("shadowrootmode", "shadowroot")
"""Attributes of a template that is shown in its place; any other one is not shown."""
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
XHTML = re.compile(r"\s*<\?xml\b|.{0,2000}?<html\b[^>]{0,1000}?\bxmlns\s*=", re.DOTALL | re.IGNORECASE)
"""How a page begins in which `<![CDATA[` holds text: for HTML it is a comment, up to the first `>`."""
PANEL = re.compile(r"<!--(End of )?(?:Navigation Panel|Table of Child-Links)-->")
"""Between which LaTeX2HTML writes what leads to other pages and below, in no element of its own."""
LEADS_ON = re.compile(r"\s*[0-5]?(?:\.\d*)?\s*;\s*url\s*=\s*\S", re.IGNORECASE)
"""What a page says that shows another one within seconds."""
MOST_ON_THE_WAY = 50
"""Words of a page that only leads on: `The node you are looking for is at ...`."""


def convert_html(
    data: bytes, path: Path, *, document_path: str, prepare: Callable[[str], str] = lambda text: text
) -> BlockDocument:
    """Convert an HTML page, in whatever encoding, its text first by `prepare`; of a template what is no code.

    Raises `DocumentError` for what is no text or cannot be parsed.
    """
    decoded = decode(data, path)
    text, removed = without_template_code(prepare(decoded.text))
    notes = (decoded.note,) if decoded.note else ()
    if removed and not text.strip():
        return BlockDocument((), "", removed, notes)
    converted = blocks_of_html(text, path, document_path=document_path, is_page=True)
    blocks = converted.blocks
    if removed and not any(character.isalnum() for block in blocks for line in block.lines for character in line):
        blocks = ()
    return BlockDocument(blocks, converted.title, (*removed, *converted.removed), notes)


def blocks_of_html(text: str, path: Path, *, document_path: str, is_page: bool = False) -> BlockDocument:
    """Convert a page that is text already. `is_page`: somebody wrote it as HTML, where a line in bold may be a heading.

    Raises `DocumentError` where it cannot be parsed.
    """
    root = _parse(text, path)
    title = root.find(".//head/title")
    base = root.find(".//head/base")
    walk = Walk(document_path, base=base.get("href", "") if base is not None else "")
    for template in root.iter("template"):
        if any(template.get(name) is not None for name in SHADOW_ROOT):
            template.tag = "div"
    for part in (root, *root.itersiblings()):  # libxml2 gives what comes after </html> a root of its own
        make_lists(part)
        make_word_lists_and_titles(part)
        make_tables(part)
        make_definitions(part)
        put_releases_below(part)
        make_members(part)
        make_listings(part)
        if is_page:
            label_tabs(part)
            make_titles_of_boxes(part)
            make_reference_entries(part)
            make_sections(part)
            make_headings_of_contents(part)
            make_headings(part)
            make_sections_of_items(part)
        walk.through(part, beside=beside_main(part) if is_page else frozenset())
    blocks, removed = walk.finish(), walk.removed
    if _leads_on(root) and sum(len(line.split()) for block in blocks for line in block.lines) < MOST_ON_THE_WAY:
        removed += [RemovedLine("redirect", line) for block in blocks for line in block.lines]
        blocks = ()
    removed += [RemovedLine("frame", source) for frame in root.iter("frame") if (source := frame.get("src"))]
    if not blocks:  # whatever the page shows, a program puts there
        removed += [RemovedLine("script", script.get("src") or "within the page") for script in root.iter("script")]
    said = collapse("".join(title.itertext())) if title is not None else ""
    return BlockDocument(blocks=blocks, title=said if is_title(said) else "", removed=tuple(removed))


def is_title(text: str) -> bool:
    """Whether what a document says of itself can be its title: it has a letter, and is no name of a file."""
    return any(map(str.isalpha, text)) and not (FILE_SUFFIX.search(text) and " " not in text)


def _leads_on(root: Any) -> bool:
    said = (meta for meta in root.iter("meta") if (meta.get("http-equiv") or "").lower() == "refresh")
    return any(LEADS_ON.match(meta.get("content") or "") for meta in said)


def _parse(text: str, path: Path) -> Any:
    from lxml import etree

    if "<![CDATA[" in text and XHTML.match(text):
        text = CDATA.sub(lambda said: escape(said[1], quote=False), text)
    text = PANEL.sub(lambda mark: "</nav>" if mark[1] else "<nav>", text)
    # Bytes, because lxml refuses text that declares an encoding; surrogates and control characters cannot be in XML trees.
    data = text.replace("\0", "").encode("utf-8", "replace")
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(path, f"cannot be parsed as HTML: {error}") from error
    if root is None:
        raise DocumentError(path, "has no HTML elements")
    if too_deep := next((entry for entry in parser.error_log if "depth" in entry.message), None):
        raise DocumentError(path, f"is nested too deeply for a document ({too_deep.message.partition(',')[0]})")
    return root
