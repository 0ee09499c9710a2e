"""Which text blocks are headings, and of which level: from size, weight, numbering and the document's own table of contents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgrag.documents.pdf.block_styles import LARGER, MAX_LINES, SAME_SIZE, is_bold, numbered_text, size_of, text_of
from kgrag.documents.pdf.blocks import PageBlock, TextBlock
from kgrag.documents.pdf.captions import CAPTION
from kgrag.documents.pdf.contents import comparable
from kgrag.documents.pdf.geometry import bounding_box, pieces_of
from kgrag.documents.pdf.heading_levels import levels_of
from kgrag.documents.pdf.outline import LABEL, LABEL_REACH, Outline, OutlinedHeadings
from kgrag.documents.pdf.paragraphs import LineStatistics, section_number
from kgrag.documents.pdf.printed_title import BEGINS, with_title
from kgrag.text.name_shapes import is_code_name

__all__ = ["Listing", "listing_of", "mark_headings"]

_NOT_SMALLER = 0.97
_MAX_CHARACTERS = 160
_MAX_BOLD_WORDS = 12
"""Words of a heading that is only bold."""
_LEAD_IN_WORDS = 2
"""A bold `Note:` or `Please note:` is no heading."""
_ANNOUNCES = re.compile(
    r"^the following\b|\b(?:is|are|as follows|shows?|lists?|contains?|summarizes?|reconciles?|the following)\b",
    re.IGNORECASE,
)
"""A sentence that ends in a colon is no heading: `The following table shows the sales:`."""
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_OPERATOR = re.compile(r"[=<>≤≥≈≡∑∏∫∂∇√∝∞∈∀∃→×÷⟨⟩⎛⎝⎡⎣|^{}\U0001d400-\U0001d7ff]")
_ADDRESS = re.compile(r"\S@\S+\.\w|https?://|^www\.")
_MAX_LARGE_WORDS = 14
"""Words up to which a line that is only a little larger than the body may be a heading."""
_MUCH_LARGER = 1.4
_WIDE_GAP = 1.5
"""Line heights between two names of columns: a bold line of three is the header of rows."""
_SENTENCE = re.compile(r"[.,;。，；]$")
_NOTE = re.compile(r"^(?:notes?|sources?): \S|^[*†‡§]", re.IGNORECASE)
_NOTE_NUMBER = re.compile(r"^(\d{1,2})[ )]\s*\S")
_NOTE_GAP = 1.0
"""Times its size that a note may be from the next one."""
_LETTER = re.compile(r"[^\W\d_]")

_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_COUNTED = re.compile(r"([IVX]{1,5}|[A-Z])\. +([A-Z].*)")
_MIN_COUNTED = 3
_MIN_LISTED = 5
_LISTED_SHARE = 0.6
"""Of an outline's entries that must be found on the pages for it to decide."""
_COMPLETE = 0.25
"""Headings a page from which an outline is taken to have all of them."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What the document itself says about its headings: its printed table of contents, and its outline."""

    titles: frozenset[str] = frozenset()
    """`comparable` titles that the printed table of contents names."""
    unfound: Mapping[str, int] = field(default_factory=dict)
    """Level of the outline's entries that were not found where they lead, by `comparable` title."""
    decides: bool = False
    """Whether the outline has the document's headings, so that nothing of the size of a heading that it does not name is one."""
    complete: bool = False
    """Whether it has them to their full depth."""
    numbers: frozenset[str] = frozenset()
    """Section numbers of the outline's headings that were found."""
    smallest: float = 0.0
    """Size of the smallest of them, in points."""


def listing_of(outline: Outline, outlined: OutlinedHeadings, titles: frozenset[str], page_count: int) -> Listing:
    """Say what the outline and the table of contents decide; `outlined` are the outline's headings that were found."""
    found = {comparable(text_of(block)) for block in outlined.blocks}
    unfound = {comparable(e.title): e.level for e in outline.entries if comparable(e.title) not in found}
    decides = len(outlined.blocks) >= _MIN_LISTED and outlined.share >= _LISTED_SHARE
    complete = decides and len(outlined.blocks) >= _COMPLETE * page_count
    numbers = frozenset(section_number(block.lines[0]) for block in outlined.blocks)
    smallest = min(map(size_of, outlined.blocks), default=0.0)
    return Listing(titles, unfound, decides, complete, numbers, smallest)


def mark_headings(blocks: Sequence[PageBlock], usual: LineStatistics, listing: Listing) -> list[PageBlock]:
    """Return the blocks with title and headings marked. Those of kind `heading` are the outline's, and stay with their level."""
    counted = {} if listing.decides else _counted_headings(blocks)
    marked = [id(block) in counted or _is_heading(blocks, index, usual, listing) for index, block in enumerate(blocks)]
    blocks, marked = _with_labels(blocks, marked)
    blocks, marked, title = with_title(blocks, marked, usual, decides=listing.decides)
    if listing.decides:
        marked = [is_heading and _is_listed(block, listing) for block, is_heading in zip(blocks, marked, strict=True)]
    headings = [
        block for block, is_heading in zip(blocks, marked, strict=True) if is_heading and isinstance(block, TextBlock)
    ]
    levels = levels_of([heading for heading in headings if heading is not title], listing.unfound, counted)
    result: list[PageBlock] = []
    for block, is_heading in zip(blocks, marked, strict=True):
        if block is title and isinstance(block, TextBlock):
            result.append(replace(block, kind="title"))
        elif is_heading and isinstance(block, TextBlock):
            result.append(replace(block, kind="heading", level=levels[id(block)]))
        else:
            result.append(block)
    return result


def _with_labels(blocks: Sequence[PageBlock], marked: Sequence[bool]) -> tuple[list[PageBlock], list[bool]]:
    """Put `Chapter 2` together with the title that stands below it: the two are one heading."""
    whole: list[PageBlock] = []
    kept: list[bool] = []
    for block, is_heading in zip(blocks, marked, strict=True):
        label = whole[-1] if whole and kept[-1] else None
        if (
            is_heading
            and isinstance(block, TextBlock)
            and isinstance(label, TextBlock)
            and label.kind == block.kind == "text"
            and label.page == block.page
            and LABEL.match(text_of(label))
            and 0 <= block.box.y0 - label.box.y1 < LABEL_REACH * block.lines[0].size
        ):
            whole[-1] = replace(label, lines=(*label.lines, *block.lines), box=bounding_box((label.box, block.box)))
            continue
        whole.append(block)
        kept.append(is_heading)
    return whole, kept


def _counted_headings(blocks: Sequence[PageBlock]) -> dict[int, int]:
    """Return the level of each block (by its id) that is a heading of a paper: `II. METHODS`, and within it `A. Pumps`, in order.

    There are at least three with Roman numbers, from `I.` on, in capitals, bold or in another font than the text; those with letters begin
    with `A.` below each and are of one font that is not the text's, or bold.
    """
    fonts: Counter[str] = Counter()
    for block in blocks:
        if isinstance(block, TextBlock) and block.kind == "text":
            fonts.update({line.font: len(line.text) for line in block.lines})
    body = fonts.most_common(1)[0][0] if fonts else ""

    def stands_out(block: TextBlock) -> bool:
        return is_bold(block) or all(line.font != body for line in block.lines)

    candidates = [
        (block, match[1], match[2])
        for block in blocks
        if isinstance(block, TextBlock)
        and block.kind in ("text", "list")
        and len(block.lines) <= MAX_LINES
        and (match := _COUNTED.match(numbered_text(block)))
        and not _SENTENCE.search(match[2])
    ]
    chapters: dict[int, int] = {}
    for at, (block, number, title) in enumerate(candidates):
        is_next = len(chapters) < len(_ROMAN) and number == _ROMAN[len(chapters)]
        if is_next and (title.upper() == title or stands_out(block)):
            chapters[id(block)] = at
    if len(chapters) < _MIN_COUNTED:
        return {}
    levels = dict.fromkeys(chapters, 1)
    sections: list[TextBlock] = []
    style, expected = "", "A"
    for at, (block, number, _) in enumerate(candidates):
        if id(block) in chapters:
            expected = "A"
        elif number == expected and at > min(chapters.values()) and stands_out(block):
            style = style or block.lines[0].font
            if block.lines[0].font == style:
                sections.append(block)
                expected = chr(ord(expected) + 1)
    return levels | {id(block): 2 for block in sections}


def _is_listed(block: PageBlock, listing: Listing) -> bool:
    """Whether a heading stays beside an outline that decides: it is named, or goes on below what is named."""
    if not isinstance(block, TextBlock):
        return False
    if block.kind == "heading" or comparable(text_of(block)) in listing.unfound or _is_named(block, listing.titles):
        return True
    number = section_number(block.lines[0])
    if "." in number:
        return number.rpartition(".")[0] in listing.numbers and number not in listing.numbers
    return not listing.complete and size_of(block) < (1 - SAME_SIZE) * listing.smallest


def _is_named(block: TextBlock, titles: frozenset[str]) -> bool:
    return comparable(numbered_text(block)) in titles or comparable(text_of(block)) in titles


def _is_heading(blocks: Sequence[PageBlock], index: int, usual: LineStatistics, listing: Listing) -> bool:
    block = blocks[index]
    if isinstance(block, TextBlock) and block.kind == "heading":
        return True
    if not isinstance(block, TextBlock) or block.kind == "figure" or len(block.lines) > MAX_LINES:
        return False
    if block.kind == "code" and not is_bold(block):
        return False
    text = text_of(block)
    if len(text) > _MAX_CHARACTERS or not _LETTER.search(text) or CAPTION.match(text):
        return False
    named = _is_named(block, listing.titles) or comparable(text) in listing.unfound
    size = size_of(block)
    bold = is_bold(block)
    if block.kind == "list":
        return named and block.marker != "-" and (bold or size > LARGER * usual.body_size)
    if named and (bold or size >= _NOT_SMALLER * usual.body_size):
        return True
    if block.kind == "code" or _is_formula(text) or _ADDRESS.search(text) or _is_footnote(blocks, index):
        return False
    numbered = bool(section_number(block.lines[0]))
    announces = text.endswith(":") and bool(_ANNOUNCES.search(text))
    if announces and not numbered and size < _MUCH_LARGER * usual.body_size:
        return False
    if size >= LARGER * usual.body_size:
        if numbered:
            return True
        goes_on = not bold and (text[0].islower() or len(text.split()) > _MAX_LARGE_WORDS)
        return not _SENTENCE.search(text) and not (goes_on and size < _MUCH_LARGER * usual.body_size)
    is_small = size < _NOT_SMALLER * usual.body_size and not BEGINS.fullmatch(text)
    if not bold or is_small or _SENTENCE.search(text):
        return False
    if len(pieces_of(block.lines[0], _WIDE_GAP)) > 2 or _is_term_alone(blocks, index):
        return False
    if numbered:
        return True
    following = blocks[index + 1] if index + 1 < len(blocks) else None
    if text.endswith(":") and len(text.split()) <= _LEAD_IN_WORDS:
        return False
    alone = len(block.lines) == 1 and len(text.split()) <= _MAX_BOLD_WORDS and (text[0].isupper() or text[0].isdigit())
    goes_on = isinstance(following, TextBlock) and not is_bold(following)
    return alone and goes_on


def _is_term_alone(blocks: Sequence[PageBlock], index: int) -> bool:
    """Whether a name is one of several terms, of which it alone has no text: one beside it begins with a name in the same font."""
    block = blocks[index]
    if not isinstance(block, TextBlock) or not _is_name(block) or len(block.lines[0].words) > 1:
        return False
    for other in (*blocks[max(index - 1, 0) : index], *blocks[index + 1 : index + 2]):
        if isinstance(other, TextBlock) and other.kind == block.kind and _is_name(other):
            same = other.lines[0].words[0].font == block.lines[0].font and not is_bold(other)
            if same and abs(other.box.x0 - block.box.x0) < size_of(block) / 2:
                return True
    return False


def _is_name(block: TextBlock) -> bool:
    return is_code_name(block.lines[0].words[0].text)


def _is_formula(text: str) -> bool:
    """Whether a text has signs of a formula, and less than half of it is words."""
    words = sum(map(len, _LONG_WORD.findall(text)))
    return bool(_OPERATOR.search(text)) and 2 * words < len("".join(text.split()))


def _is_footnote(blocks: Sequence[PageBlock], index: int) -> bool:
    """Whether a text is a note below a table: `Note: ...`, `* ...`, or one of several that stand together with numbers before them."""
    block = blocks[index]
    if not isinstance(block, TextBlock):
        return False
    if _NOTE.match(text_of(block)):
        return True
    if not (number := _NOTE_NUMBER.match(text_of(block))):
        return False
    for other in (*blocks[max(index - 1, 0) : index], *blocks[index + 1 : index + 2]):
        if not isinstance(other, TextBlock) or other.page != block.page:
            continue
        gap = max(block.box.y0 - other.box.y1, other.box.y0 - block.box.y1)
        beside = _NOTE_NUMBER.match(text_of(other))
        if gap < _NOTE_GAP * size_of(block) and (_NOTE.match(text_of(other)) or (beside and beside[1] != number[1])):
            return True
    return False
