"""The one form of a document from conversion to chunks: a sequence of blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kgrag.types import PageBox, Scalar

__all__ = [
    "Block",
    "BlockDocument",
    "BlockKind",
    "Link",
    "RemovedLine",
    "TableRow",
    "boxes_around",
    "join_header_rows",
    "left_out",
    "markdown_lines",
    "named_cells",
    "of_part",
]

BlockKind = Literal["heading", "paragraph", "list_item", "code", "table"]
MOST_NAMED = 10
"""In a note on what is left out."""


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
    box: PageBox | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list item, code listing or table."""

    kind: BlockKind
    text: str = ""
    """A list item's with its indentation and marker; of a table that is cut, the caption that its further parts repeat."""
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
    boxes: tuple[PageBox, ...] = ()
    """Where it stands on the page; two boxes for a paragraph that goes on on the next one. Empty where the format has no such places."""
    page_break: int | None = None
    """Where in `text` what stands on the next page begins, of a text on two pages."""
    terms: tuple[str, ...] = ()
    """What the definitions are of that the block lies in, outermost first; the text of a definition's first block begins with its term."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The block's text by lines; a table's rows, cells parted by ` | `."""
        if self.kind == "table":
            rows = ((self.header,) if self.header else ()) + self.rows
            return tuple(" | ".join(row.cells) for row in rows)
        return tuple(self.text.splitlines())

    @property
    def written(self) -> str:
        """The block as a chunk has it: its text, or its table in Markdown."""
        if self.kind != "table":
            return self.text
        head, body = markdown_lines(self.header, self.rows)
        return "\n".join([*([self.text] if self.text else ()), *head, *body])


@dataclass(frozen=True, slots=True)
class RemovedLine:
    """A line that is in no chunk."""

    rule: str
    text: str
    page: int | None = None
    """1-based; None where the format has no pages."""

    def __str__(self) -> str:
        return f"p. {self.page}: {self.text}" if self.page else self.text


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


def join_header_rows(rows: Sequence[TableRow]) -> TableRow | None:
    """Make one row of column headings of several: `Supply voltage` over `Min` becomes `Supply voltage Min`."""
    if not rows:
        return None
    width = max(len(row.cells) for row in rows)
    columns: list[str] = []
    for column in range(width):
        parts = [row.cells[column] for row in rows if column < len(row.cells) and row.cells[column]]
        columns.append(" ".join(dict.fromkeys(parts)))
    anchors = tuple(dict.fromkeys(anchor for row in rows for anchor in row.anchors))
    links = tuple(link for row in rows for link in row.links)
    return TableRow(tuple(columns), anchors, links, next(iter(boxes_around(row.box for row in rows)), None))


def boxes_around(boxes: Iterable[PageBox | None]) -> tuple[PageBox, ...]:
    """Return one box around those of each page."""
    by_page: dict[int, list[PageBox]] = {}
    for box in boxes:
        if box is not None:
            by_page.setdefault(box.page, []).append(box)
    return tuple(
        PageBox(
            page=page,
            left=min(box.left for box in found),
            top=min(box.top for box in found),
            right=max(box.right for box in found),
            bottom=max(box.bottom for box in found),
        )
        for page, found in by_page.items()
    )


def markdown_lines(header: TableRow | None, rows: Sequence[TableRow]) -> tuple[list[str], list[str]]:
    """Write a table: the lines of its header with the rule below, and those of its body. Without column headings they are blank."""
    width = max((len(row.cells) for row in (*rows, *((header,) if header else ()))), default=0)
    names = header.cells if header else ("",) * width
    return [_markdown_row(names), "|" + " --- |" * width], [_markdown_row(row.cells) for row in rows]


def _markdown_row(cells: Sequence[str]) -> str:
    """Write a row; a `|` in a cell is escaped and a line break becomes a blank."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def named_cells(header: TableRow | None, row: TableRow) -> list[str]:
    """Write the cells of a row that have text, each with its column's heading: `Min: 3.0 V`."""
    names = header.cells if header else ("",) * len(row.cells)
    return [f"{name}: {cell}" if name else cell for name, cell in zip(names, row.cells, strict=False) if cell]


def of_part(blocks: Sequence[Block], name: str, *, parts: set[str], document_path: str) -> list[Block]:
    """Give the blocks of a part (a page of a book, an attachment) the anchors and links of the whole: `path#part:id`.

    `parts` are the names of all parts, to which links within the whole lead.
    """

    def anchors(own: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{name}:{ident}" for ident in own)

    def link(one: Link) -> Link:
        target, mark, fragment = one.href.partition("#")
        if target not in parts:
            return one
        return replace(one, href=f"{document_path}#{target}{':' if mark and fragment else ''}{fragment}")

    def row(one: TableRow) -> TableRow:
        return replace(one, anchors=anchors(one.anchors), links=tuple(map(link, one.links)))

    written = [
        replace(
            block,
            anchors=anchors(block.anchors),
            links=tuple(map(link, block.links)),
            header=row(block.header) if block.header else None,
            rows=tuple(map(row, block.rows)),
        )
        for block in blocks
    ]
    if written:
        written[0] = replace(written[0], anchors=(name, *written[0].anchors))
    return written


def left_out(what: str, names: Collection[str]) -> str:
    """Return the note on what of a document is not followed, with the names of the first ten: `left out what it includes: a.xml`."""
    return f"left out {what}: {', '.join(list(names)[:MOST_NAMED])}{' ...' if len(names) > MOST_NAMED else ''}"
