"""Which text blocks are headings, and of which level: from size, weight, numbering and the document's own table of contents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from kgrag.documents.pdf.blocks import PageBlock, TableBlock, TextBlock
from kgrag.documents.pdf.contents import comparable
from kgrag.documents.pdf.paragraphs import LineStatistics, section_number

__all__ = ["is_caption", "mark_headings"]

_LARGER = 1.12
"""Times the body size from which a line is a heading by its size alone."""
_NOT_SMALLER = 0.97
_MAX_LINES = 3
_MAX_CHARACTERS = 160
_MAX_BOLD_WORDS = 12
"""Words of a heading that is only bold."""
_LEAD_IN_WORDS = 2
"""A bold `Note:` or `Please note:` is no heading."""
_SAME_SIZE = 0.04
_MAX_LEVEL = 6
_CAPTION = re.compile(
    r"^(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle|photo|image|diagram)\s*\d", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.,;。，；]$")
_CAPTION_GAP = 1.6
"""Line heights between a caption and its table."""
_LETTER = re.compile(r"[^\W\d_]")

Style = tuple[float, bool]


def mark_headings(
    blocks: Sequence[PageBlock], usual: LineStatistics, titles: frozenset[str], outline: Mapping[str, int]
) -> list[PageBlock]:
    """Return the blocks with headings marked; `titles` come from the table of contents, `outline` (with levels) from the bookmarks."""
    marked = [_is_heading(blocks, index, usual, titles, outline) for index in range(len(blocks))]
    headings = [
        block for block, is_heading in zip(blocks, marked, strict=True) if is_heading and isinstance(block, TextBlock)
    ]
    title = _title(headings, usual, _contents_heading(blocks))
    for index in _subtitles(blocks, marked, title):
        marked[index] = False
    headings = [
        block for block, is_heading in zip(blocks, marked, strict=True) if is_heading and isinstance(block, TextBlock)
    ]
    levels = _levels([heading for heading in headings if heading is not title], outline)
    result: list[PageBlock] = []
    for block, is_heading in zip(blocks, marked, strict=True):
        if block is title and isinstance(block, TextBlock):
            result.append(replace(block, kind="title"))
        elif is_heading and isinstance(block, TextBlock):
            result.append(replace(block, kind="heading", level=levels[id(block)]))
        else:
            result.append(block)
    return result


def _is_heading(
    blocks: Sequence[PageBlock], index: int, usual: LineStatistics, titles: frozenset[str], outline: Mapping[str, int]
) -> bool:
    block = blocks[index]
    if not isinstance(block, TextBlock) or block.kind in ("figure", "code") or len(block.lines) > _MAX_LINES:
        return False
    text = _text(block)
    if len(text) > _MAX_CHARACTERS or not _LETTER.search(text) or _CAPTION.match(text):
        return False
    named = comparable(_numbered_text(block)) in titles or comparable(text) in titles or comparable(text) in outline
    size = _size(block)
    bold = _bold(block)
    if block.kind == "list":
        return named and block.marker != "-" and (bold or size > _LARGER * usual.body_size)
    if named and (bold or size >= _NOT_SMALLER * usual.body_size):
        return True
    if size >= _LARGER * usual.body_size:
        return not _SENTENCE.search(text) or bool(section_number(block.lines[0]))
    if not bold or size < _NOT_SMALLER * usual.body_size or _SENTENCE.search(text):
        return False
    if section_number(block.lines[0]):
        return True
    following = blocks[index + 1] if index + 1 < len(blocks) else None
    if text.endswith(":") and len(text.split()) <= _LEAD_IN_WORDS:
        return False
    alone = len(block.lines) == 1 and len(text.split()) <= _MAX_BOLD_WORDS and (text[0].isupper() or text[0].isdigit())
    goes_on = isinstance(following, TextBlock) and not _bold(following)
    return alone and goes_on


def is_caption(block: TextBlock, table: TableBlock) -> bool:
    """Whether a text is the caption of the table below it: bold or `Table 3: ...`, close, and no heading."""
    close = block.page == table.page and -1.0 <= table.box.y0 - block.box.y1 <= _CAPTION_GAP * block.lines[-1].size
    return (
        block.kind == "text"
        and close
        and len(block.lines) <= _MAX_LINES
        and (_bold(block) or bool(_CAPTION.match(_text(block))))
    )


def _text(block: TextBlock) -> str:
    return " ".join(line.text for line in block.lines)


def _numbered_text(block: TextBlock) -> str:
    return f"{block.marker} {_text(block)}" if block.marker not in ("", "-") else _text(block)


def _size(block: TextBlock) -> float:
    """Of the section number where there is one: it is set in the heading's font even where the title's font has no fixed height."""
    first = block.lines[0]
    return max(first.size, first.words[0].box.height) if section_number(first) else first.size


def _bold(block: TextBlock) -> bool:
    first = block.lines[0]
    return all(line.bold for line in block.lines) or bool(section_number(first) and first.words[0].bold)


def _style(block: TextBlock) -> Style:
    return round(_size(block), 1), _bold(block)


def _contents_heading(blocks: Sequence[PageBlock]) -> TextBlock | None:
    """The text right above the first table of contents."""
    for above, below in pairwise(blocks):
        if isinstance(above, TextBlock) and isinstance(below, TableBlock) and below.index:
            return above
    return None


def _title(headings: Sequence[TextBlock], usual: LineStatistics, contents: TextBlock | None) -> TextBlock | None:
    """The document's title: the largest text of the first page, when nothing later is as large."""
    first_page = [heading for heading in headings if heading.page == headings[0].page and heading is not contents]
    if not first_page:
        return None
    largest = max(first_page, key=lambda heading: (_size(heading), -heading.box.y0))
    rest = [heading for heading in headings if heading is not largest]
    if section_number(largest.lines[0]) or _size(largest) < 1.3 * usual.body_size or not rest:
        return None
    return largest if all(_size(heading) < (1 - _SAME_SIZE) * _size(largest) for heading in rest) else None


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
        if isinstance(following, TableBlock) and following.index:
            break
        elsewhere = any(
            _style(other) == _style(block)
            for other in later
            if isinstance(other, TextBlock) and other.page > title.page
        )
        if elsewhere and 2 * len(numbered) < len(later):
            break
        subtitles.append(index)
    return subtitles


def _levels(headings: Sequence[TextBlock], outline: Mapping[str, int]) -> dict[int, int]:
    """Level of each heading: its number's depth; else its bookmark's; else by its size among those whose level is known."""
    levels: dict[int, int] = {}
    votes: dict[Style, Counter[int]] = defaultdict(Counter)
    for heading in headings:
        number = section_number(heading.lines[0]) or (heading.marker.strip("().") if heading.marker != "-" else "")
        level = number.count(".") + 1 if number else outline.get(comparable(_text(heading)), 0)
        if level:
            levels[id(heading)] = min(level, _MAX_LEVEL)
            votes[_style(heading)][levels[id(heading)]] += 1
    known = {style: counted.most_common(1)[0][0] for style, counted in votes.items()}
    ranks = _ranks({_style(heading) for heading in headings}, known)
    for heading in headings:
        levels.setdefault(id(heading), ranks[_style(heading)])
    return levels


def _ranks(styles: set[Style], known: Mapping[Style, int]) -> dict[Style, int]:
    """Rank styles, the largest first; bold before regular of the same size; a style with a known level keeps it."""
    ranks: dict[Style, int] = {}
    level = 0
    before: Style | None = None
    for style in sorted(styles, reverse=True):
        if style in known:
            level = known[style]
        elif before is None:
            above = [known[other] for other in styles if other in known]
            level = max(1, min(above) - 1) if above else 1
        elif not (abs(before[0] - style[0]) <= _SAME_SIZE * before[0] and before[1] == style[1]):
            level += 1
        ranks[style] = min(max(level, 1), _MAX_LEVEL)
        before = style
    return ranks
