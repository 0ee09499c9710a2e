"""Text files to blocks, by way of HTML: reStructuredText by its marks, other text by how its lines are laid out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.restructured_text import LONGEST_LINE, is_restructured_text, restructured_text_html
from kgrag.documents.text_encoding import PACKED, decode
from kgrag.types import Scalar

__all__ = ["TextPage", "convert_text", "text_page"]


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
    """Convert a text file. Raises `DocumentError` for what is no text."""
    page = text_page(data, path)
    converted = blocks_of_html(f"<html><body>{page.html}</body></html>", path, document_path=document_path)
    return BlockDocument(converted.blocks, "", (*page.removed, *converted.removed), page.notes, page.metadata)


def text_page(data: bytes, path: Path) -> TextPage:
    """Turn a text file into HTML. Raises `DocumentError` for what is no text."""
    decoded = decode(data, path)
    notes = [decoded.note] if decoded.note else []
    suffix = (Path(path.stem) if path.suffix.lower() == PACKED else path).suffix.lower()
    if suffix in (".rst", ".rest") or is_restructured_text(decoded.text):
        if max(map(len, decoded.text.splitlines()), default=0) > LONGEST_LINE:
            notes.append(f"has a line of more than {LONGEST_LINE:,} characters: read as plain text")
        else:
            try:
                html, metadata, removed = restructured_text_html(decoded.text, suffix=suffix)
            except RecursionError:
                notes.append("is nested too deeply for reStructuredText: read as plain text")
            else:
                return TextPage(html, metadata, removed, tuple(notes))
    return TextPage(plain_text_html(decoded.text), notes=tuple(notes))
