"""Which texts are the captions of tables and figures."""

from __future__ import annotations

import re

from kgrag.documents.pdf.block_styles import MAX_LINES, is_bold, text_of
from kgrag.documents.pdf.blocks import TableBlock, TextBlock

__all__ = ["CAPTION", "is_caption", "names_figure"]

CAPTION = re.compile(
    r"^(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle|photo|image|diagram)\s*(?:\d|[IVX]+[.:]|[A-Z]\.?\d)",
    re.IGNORECASE,
)
"""What the caption of a figure or table begins with."""
_OF_TABLE = re.compile(r"^(?:table|tab\.|tabelle)\s*(?:[A-Z]\.?)?[\dIVX]+(?:[.-]\d+)*[.:]\s", re.IGNORECASE)
"""A caption that says so, which may be long and stand farther from its table."""
_CAPTION_GAP = 1.6
"""Line heights between a caption and its table."""
_FAR_CAPTION_GAP = 3.0
_LONGEST_CAPTION = 8
"""Lines."""


def is_caption(block: TextBlock, table: TableBlock, *, numbered: bool = False, below: bool = False) -> bool:
    """Whether a text is the caption of the table below it: bold or `Table 3: ...`, close, and no heading.

    One that is `numbered` says so; one that stands `below` has its table above it.
    """
    text = text_of(block)
    says_so = bool(_OF_TABLE.match(text))
    if numbered and not says_so:
        return False
    gap, lines = (_FAR_CAPTION_GAP, _LONGEST_CAPTION) if says_so else (_CAPTION_GAP, MAX_LINES)
    apart = block.box.y0 - table.box.y1 if below else table.box.y0 - block.box.y1
    close = block.page == table.page and -1.0 <= apart <= gap * block.lines[-1].size
    is_above = block.box.x0 < table.box.x1 and table.box.x0 < block.box.x1
    return (
        block.kind == "text"
        and close
        and (is_above or not says_so)
        and len(block.lines) <= lines
        and (is_bold(block) or bool(CAPTION.match(text)))
    )


def names_figure(block: TextBlock) -> bool:
    """Whether a text is the caption of a figure or table: `Figure 2: ...`."""
    return bool(CAPTION.match(text_of(block))) and block.kind == "text"
