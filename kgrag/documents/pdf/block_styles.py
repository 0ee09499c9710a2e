"""Text, size and weight of a block, by which headings, titles and captions are told."""

from __future__ import annotations

from kgrag.documents.pdf.blocks import TextBlock
from kgrag.documents.pdf.paragraphs import section_number

__all__ = [
    "LARGER",
    "MAX_LEVEL",
    "MAX_LINES",
    "SAME_SIZE",
    "Style",
    "is_bold",
    "numbered_text",
    "size_of",
    "style_of",
    "text_of",
]

LARGER = 1.12
"""Times the body size from which a line is a heading by its size alone."""
MAX_LINES = 3
"""Of a heading, a title, a caption without a number."""
SAME_SIZE = 0.04
"""Relative difference of two sizes that are one."""
MAX_LEVEL = 6
"""Of a heading."""

Style = tuple[float, bool]


def text_of(block: TextBlock) -> str:
    """Return its lines with spaces between them."""
    return " ".join(line.text for line in block.lines)


def numbered_text(block: TextBlock) -> str:
    """Return the same behind a list item's number."""
    return f"{block.marker} {text_of(block)}" if block.marker not in ("", "-") else text_of(block)


def size_of(block: TextBlock) -> float:
    """Return its height in points.

    Of the section number where there is one: it is set in the heading's font even where the title's font has no fixed height.
    """
    first = block.lines[0]
    return max(first.size, first.words[0].box.height) if section_number(first) else first.size


def is_bold(block: TextBlock) -> bool:
    """Whether all lines are, or the section number that it begins with."""
    first = block.lines[0]
    return all(line.bold for line in block.lines) or bool(section_number(first) and first.words[0].bold)


def style_of(block: TextBlock) -> Style:
    """Return size and weight, by which headings of one level are alike."""
    return round(size_of(block), 1), is_bold(block)
