"""The title on a document's first pages, and what stands around it: subtitles, authors, dates, which are no headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from kgrag.documents.pdf.block_styles import LARGER, MAX_LINES, SAME_SIZE, is_bold, size_of, style_of, text_of
from kgrag.documents.pdf.blocks import PageBlock, TableBlock, TextBlock
from kgrag.documents.pdf.geometry import bounding_box
from kgrag.documents.pdf.paragraphs import LineStatistics, section_number

__all__ = ["BEGINS", "with_title"]

_TITLE_GAP = 0.6
"""Line heights between two lines of a title."""
_PAGE_TITLE_GAP = 1.0
"""The same on a title page."""
_MAX_TITLE_PAGE_WORDS = 60
_MAX_TITLE_WORDS = 14
"""Of a text on a title page; what is longer describes something."""
BEGINS = re.compile(
    r"^(?:[1I][.:]?\s+)?(?:abstract|introduction|zusammenfassung|einleitung|résumé|resumen)\b", re.IGNORECASE
)
"""The first heading of a paper, below its title and authors."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def with_title(
    blocks: Sequence[PageBlock], marked: Sequence[bool], usual: LineStatistics, *, decides: bool
) -> tuple[list[PageBlock], list[bool], TextBlock | None]:
    """Find the title among the blocks that are `marked` as headings, whole, and unmark what belongs to it.

    The outline `decides` where it has the document's headings. Returns blocks, marks and title.
    """
    blocks, marked = list(blocks), list(marked)
    front = _front_matter(blocks, marked)
    title = _title(blocks, marked, usual, _contents_heading(blocks), front, decides=decides)
    while title is not None and (rest := _rest_of_title(blocks, title)):
        whole = replace(title, lines=(*title.lines, *rest.lines), box=bounding_box((title.box, rest.box)))
        start = next(index for index, block in enumerate(blocks) if block is title)
        blocks = [*blocks[:start], whole, *blocks[start + 2 :]]
        marked = [*marked[: start + 1], *marked[start + 2 :]]
        title = whole
    for index in _subtitles(blocks, marked, title):
        marked[index] = False
    if title is not None and _is_title_page(blocks, title.page):
        marked = [
            is_heading
            and (
                block is title or block.page != title.page or (isinstance(block, TextBlock) and block.kind == "heading")
            )
            for block, is_heading in zip(blocks, marked, strict=True)
        ]
    if title is not None:
        marked = [
            is_heading and (block is title or id(block) not in front)
            for block, is_heading in zip(blocks, marked, strict=True)
        ]
    return blocks, marked, title


def _is_title_page(blocks: Sequence[PageBlock], page: int) -> bool:
    """Whether a page before all others has nothing but a few short lines: the title, authors, a date, whatever their size."""
    there = [block for block in blocks if block.page == page]
    words = [sum(len(line.words) for line in block.lines) for block in there if isinstance(block, TextBlock)]
    return (
        page == blocks[0].page < blocks[-1].page
        and len(words) == len(there)
        and sum(words) <= _MAX_TITLE_PAGE_WORDS
        and max(words) <= _MAX_TITLE_WORDS
    )


def _contents_heading(blocks: Sequence[PageBlock]) -> TextBlock | None:
    """The text right above the first table of contents."""
    for above, below in pairwise(blocks):
        if isinstance(above, TextBlock) and isinstance(below, TableBlock) and below.index:
            return above
    return None


def _front_matter(blocks: Sequence[PageBlock], marked: Sequence[bool]) -> frozenset[int]:
    """Ids of what looks like headings above the abstract or introduction of a first page: title, authors, where they work."""
    headings = [block for block, is_heading in zip(blocks, marked, strict=True) if is_heading]
    first_page = [block for block in headings if block.page == headings[0].page and isinstance(block, TextBlock)]
    begins = next((index for index, block in enumerate(first_page) if BEGINS.match(text_of(block))), 0)
    return frozenset(id(block) for block in first_page[:begins] if block.kind != "heading")


def _title(
    blocks: Sequence[PageBlock],
    marked: Sequence[bool],
    usual: LineStatistics,
    contents: TextBlock | None,
    front: frozenset[int],
    *,
    decides: bool,
) -> TextBlock | None:
    """The document's title: the largest text of the first page with a heading, above what the outline names.

    Without an outline nothing later may be as large.
    """
    headings = [
        block for block, is_heading in zip(blocks, marked, strict=True) if is_heading and isinstance(block, TextBlock)
    ]
    first_page = [heading for heading in headings if heading.page == headings[0].page and heading is not contents]
    candidates = list(takewhile(lambda heading: not (decides and heading.kind == "heading"), first_page))
    if not candidates:
        return None
    # Not what is drawn by a font, where there is anything else.
    candidates = [heading for heading in candidates if _WORD.search(text_of(heading))] or candidates
    largest = max(candidates, key=lambda heading: (round(size_of(heading), 1), -heading.box.y0))
    on_title_page = _is_title_page(blocks, largest.page)
    rest = [heading for heading in headings if heading is not largest and id(heading) not in front]
    if section_number(largest.lines[0]) or not rest:
        return None
    is_first = decides and largest is blocks[0] and is_bold(largest)
    if size_of(largest) < (LARGER if is_first else 1.3) * usual.body_size and not on_title_page:
        return None
    if decides or on_title_page:
        return largest
    return largest if all(size_of(heading) < (1 - SAME_SIZE) * size_of(largest) for heading in rest) else None


def _rest_of_title(blocks: Sequence[PageBlock], title: TextBlock) -> TextBlock | None:
    """What goes on right below a title in its style: a title whose lines are centred, or end early."""
    below = next((after for block, after in pairwise(blocks) if block is title), None)
    if not isinstance(below, TextBlock) or below.page != title.page or below.kind not in ("text", "heading"):
        return None
    gap = _PAGE_TITLE_GAP if _is_title_page(blocks, title.page) else _TITLE_GAP
    close = below.box.y0 - title.box.y1 < gap * size_of(title)
    same = is_bold(below) == is_bold(title) and abs(size_of(below) - size_of(title)) <= SAME_SIZE * size_of(title)
    return below if close and same and len(title.lines) + len(below.lines) <= MAX_LINES + 1 else None


def _subtitles(blocks: Sequence[PageBlock], marked: Sequence[bool], title: TextBlock | None) -> list[int]:
    """Indexes of what stands right below the title and heads nothing: a subtitle, authors, a document number.

    Such a line has no number where the document's headings have, or has a style that no later heading has.
    """
    if title is None:
        return []
    start = next(index for index, block in enumerate(blocks) if block is title) + 1
    later = [block for block, is_heading in zip(blocks[start:], marked[start:], strict=True) if is_heading]
    numbered = [block for block in later if isinstance(block, TextBlock) and section_number(block.lines[0])]
    subtitles: list[int] = []
    for index in range(start, len(blocks)):
        block = blocks[index]
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        if not marked[index] or not isinstance(block, TextBlock) or block.page != title.page or block in numbered:
            break
        if BEGINS.match(text_of(block)):
            break
        if isinstance(following, TableBlock) and following.index:
            break
        elsewhere = any(
            style_of(other) == style_of(block)
            for other in later
            if isinstance(other, TextBlock) and other.page > title.page
        )
        if elsewhere and 2 * len(numbered) < len(later):
            break
        subtitles.append(index)
    return subtitles
