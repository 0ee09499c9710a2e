"""What a page is made of once its structure is recovered: text blocks and tables, each with page and place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgrag.documents.pdf.geometry import Box, Line, Word

__all__ = ["Cell", "PageBlock", "TableBlock", "TextBlock", "TextKind"]

TextKind = Literal["text", "list", "heading", "title", "figure", "code"]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines that belong together: a paragraph, a list item, a heading, lines of code, or the labels of a figure."""

    kind: TextKind
    page: int
    box: Box
    lines: tuple[Line, ...]
    marker: str = ""
    """Bullet or number of a list item."""
    indent: float = 0.0
    """x at which a list item's marker stands, from the left edge of its column where the page has columns."""
    level: int = 0
    """Of a heading, from 1."""
    tail: TextBlock | None = None
    """The rest of a paragraph that goes on on the next page."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    row: int
    column: int
    row_span: int
    column_span: int
    box: Box
    words: tuple[Word, ...]
    header: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table, or a table of contents or an index (`index`)."""

    page: int
    box: Box
    row_count: int
    column_count: int
    cells: tuple[Cell, ...]
    index: bool = False
    caption: TextBlock | None = None
    """Its title: a bold line or `Table 3: ...` right above it."""
    header_from: int | None = None
    """The page whose table this one continues, where its header row was taken over from there."""


PageBlock = TextBlock | TableBlock
