"""The texts under `source/`: a small Markdown of headings, paragraphs, lists, tables and page breaks, read into typed blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from source.facts import fill

__all__ = ["Block", "Bullets", "Contents", "Heading", "PageBreak", "Paragraph", "Table", "read_blocks"]


@dataclass(frozen=True, slots=True)
class Heading:
    """`## text`: level 1 is the document's title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines up to an empty one; `**bold**` inside."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines that begin with `- `."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Lines that begin with `|`; the first row is the header, the paragraph `Table: ...` before it the caption."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PageBreak:
    """`---`."""


@dataclass(frozen=True, slots=True)
class Contents:
    """`[contents]`: a table of contents."""


Block = Heading | Paragraph | Bullets | Table | PageBreak | Contents


def read_blocks(path: Path) -> list[Block]:
    """Read a text and put the facts in."""
    blocks: list[Block] = []
    caption = ""
    for part in re.split(r"\n\s*\n", fill(path.read_text(encoding="utf-8")).strip()):
        lines = [line.strip() for line in part.splitlines()]
        match lines[0]:
            case "---":
                blocks.append(PageBreak())
            case "[contents]":
                blocks.append(Contents())
            case first if heading := re.fullmatch(r"(#+) (.+)", first):
                blocks.append(Heading(len(heading[1]), heading[2]))
            case first if first.startswith("|"):
                header, _, *rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
                blocks.append(Table(caption, header, tuple(rows)))
                caption = ""
            case first if first.startswith("- "):
                blocks.append(Bullets(tuple(" ".join(item.split()) for item in re.split(r"\n\s*- ", part[2:]))))
            case first if first.startswith("Table: "):
                caption = " ".join(lines).removeprefix("Table: ")
            case _:
                blocks.append(Paragraph(" ".join(lines)))
    return blocks
