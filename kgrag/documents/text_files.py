"""Text files to blocks, by way of HTML: reStructuredText and AsciiDoc by their marks, other text by how its lines are laid out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kgrag.documents.asciidoc import asciidoc_html, is_asciidoc
from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.html_slides import convert_page
from kgrag.documents.html_templates import without_page_code
from kgrag.documents.pandoc import convert_with_pandoc
from kgrag.documents.pandoc_formats import missing_pandoc
from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.restructured_text import LONGEST_LINE, is_restructured_text, restructured_text_html
from kgrag.documents.text_encoding import PACKED, decode, unpacked
from kgrag.documents.vim_help import is_vim_help, vim_help_html
from kgrag.documents.wiki_text import wiki_of
from kgrag.types import Scalar

__all__ = ["TextPage", "convert_text", "text_page"]


BEGINS_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!DOCTYPE\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TextPage:
    """A text file as HTML."""

    html: str
    """What is in the `body`."""
    metadata: dict[str, Scalar] = field(default_factory=dict)
    removed: tuple[RemovedLine, ...] = ()
    notes: tuple[str, ...] = ()
    """For the user."""


def convert_text(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a text file, which may be a page of HTML in truth. Raises `DocumentError` for what is no text."""
    if BEGINS_HTML.match(unpacked(data, path)[:HEAD_BYTES]):
        read = convert_page(data, path, document_path=document_path)
        return BlockDocument(read.blocks, read.title, read.removed, (*read.notes, "is HTML, and read as that"))
    if (wiki := wiki_of(unpacked(data, path).decode("utf-8", "replace"))) and not missing_pandoc():
        return convert_with_pandoc(data, path, format_=wiki, document_path=document_path)
    page = text_page(data, path)
    converted = blocks_of_html(f"<html><body>{page.html}</body></html>", path, document_path=document_path)
    metadata = dict(page.metadata)
    title = str(metadata.pop("title", ""))
    return BlockDocument(converted.blocks, title, (*page.removed, *converted.removed), page.notes, metadata)


def text_page(data: bytes, path: Path) -> TextPage:
    """Turn a text file into HTML. Raises `DocumentError` for what is no text."""
    decoded = decode(data, path)
    text = decoded.text
    notes = [decoded.note] if decoded.note else []
    suffix = (Path(path.stem) if path.suffix.lower() == PACKED else path).suffix.lower()
    text, code = without_page_code(text)
    if suffix == ".txt" and is_vim_help(text):
        html, removed = vim_help_html(text)
        return TextPage(html, {}, (*code, *removed), tuple(notes))
    markup = _markup_of(text, suffix)
    if markup and max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        notes.append(f"has a line of more than {LONGEST_LINE:,} characters: read as plain text")
    elif markup:
        try:
            if markup == "AsciiDoc":
                html, removed = asciidoc_html(text)
                return TextPage(html, {}, (*code, *removed), tuple(notes))
            html, metadata, removed = restructured_text_html(text, suffix=suffix)
            return TextPage(html, metadata, (*code, *removed), tuple(notes))
        except RecursionError:
            notes.append(f"is nested too deeply for {markup}: read as plain text")
    return TextPage(plain_text_html(text), removed=code, notes=tuple(notes))


def _markup_of(text: str, suffix: str) -> str | None:
    if suffix in (".rst", ".rest"):
        return "reStructuredText"
    if suffix in (".adoc", ".asciidoc"):
        return "AsciiDoc"
    if is_restructured_text(text):
        return "reStructuredText"
    return "AsciiDoc" if is_asciidoc(text) else None
