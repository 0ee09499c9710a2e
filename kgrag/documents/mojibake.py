"""Characters put right: text that was encoded twice (`â€™` for `’`), by ftfy and nothing else that ftfy can do; what is no character."""

from __future__ import annotations

import re
from dataclasses import replace

from kgrag.documents.blocks import Block, Link, TableRow
from kgrag.documents.cleaning_report import RepairedLine

__all__ = ["repair_block", "repair_text"]

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
SURROGATES = re.compile("[\ud800-\udfff]")
RARE = frozenset(map(chr, range(0x0530, 0x2000)))
"""Scripts from Armenian to Greek Extended: a text in them has many of their letters, while a stray pair of signs (`ß£`) makes one."""
MIN_RARE = 4
"""Letters of a rare script that a repair must bring to light to be believed."""


def repair_text(text: str) -> str:
    """Return `text` with double encoding undone, without control characters, and with `\ufffd` for half of a surrogate pair.

    `µ`, `²`, `½`, ligatures and full-width letters stay as they are: they were written so.
    """
    if text.isascii():
        return CONTROLS.sub("", text)
    if SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "\n".join(line if line.isascii() else _repair_line(line) for line in CONTROLS.sub("", text).split("\n"))


def _repair_line(line: str) -> str:
    from ftfy import fix_encoding

    repaired = fix_encoding(line)
    rare = sum(character in RARE and character not in line for character in repaired)
    return line if 0 < rare < MIN_RARE else repaired


def repair_block(block: Block) -> tuple[Block, list[RepairedLine]]:
    """Repair a block's words; also return which lines changed."""
    if all(line.isascii() and not CONTROLS.search(line) for line in block.lines):
        return block, []
    repaired = replace(
        block,
        text=repair_text(block.text),
        links=_links(block.links),
        header=_row(block.header) if block.header else None,
        rows=tuple(_row(row) for row in block.rows),
    )
    pairs = zip(block.lines, repaired.lines, strict=False)
    changed = [RepairedLine(before, after, block.page_start) for before, after in pairs if before != after]
    return (repaired, changed) if changed else (block, [])


def _row(row: TableRow) -> TableRow:
    return TableRow(tuple(map(repair_text, row.cells)), row.anchors, _links(row.links))


def _links(links: tuple[Link, ...]) -> tuple[Link, ...]:
    return tuple(Link(link.href, repair_text(link.anchor), repair_text(link.context)) for link in links)
