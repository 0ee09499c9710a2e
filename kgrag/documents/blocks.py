"""The form that every format is brought into before cleaning and chunking: a document as a sequence of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgrag.documents.cleaning_report import RemovedLine
from kgrag.types import Scalar

__all__ = ["Block", "BlockDocument", "BlockKind", "Link", "TableRow"]

BlockKind = Literal["heading", "paragraph", "list_item", "code", "table"]


@dataclass(frozen=True, slots=True)
class Link:
    """A hyperlink where it was set; `kgrag.types.Hyperlink` without its place in a chunk."""

    href: str
    """As `Hyperlink.href`: `path#fragment` inside the corpus, else the URL."""
    anchor: str
    context: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: as many cells as the table has columns, spans filled in."""

    cells: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list item, code listing or table."""

    kind: BlockKind
    text: str = ""
    """A list item's with its indentation and marker; empty for a table."""
    level: int = 0
    """Of a heading: from 0 (document title), smaller is outer. Of a list item: its depth, from 1."""
    page_start: int | None = None
    page_end: int | None = None
    anchors: tuple[str, ...] = ()
    """Ids of the HTML elements that the block is, has or lies in, outermost first."""
    links: tuple[Link, ...] = ()
    header: TableRow | None = None
    """A table's column headings, several rows of them joined into one."""
    rows: tuple[TableRow, ...] = ()
    """A table's body."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The block's text by lines; a table's rows, cells parted by ` | `."""
        if self.kind == "table":
            rows = ((self.header,) if self.header else ()) + self.rows
            return tuple(" | ".join(row.cells) for row in rows)
        return tuple(self.text.splitlines())


@dataclass(frozen=True, slots=True)
class BlockDocument:
    """A converted document."""

    blocks: tuple[Block, ...]
    title: str = ""
    """As the document gives it; empty where it gives none."""
    removed: tuple[RemovedLine, ...] = ()
    """Lines that conversion left out: navigation, page headers."""
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    """What the document says about itself beside its title."""
