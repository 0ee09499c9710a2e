"""Which text blocks are headings, and of which level: from size, weight, numbering and the document's own table of contents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from kgrag.documents.pdf.blocks import PageBlock, TableBlock, TextBlock
from kgrag.documents.pdf.contents import comparable
from kgrag.documents.pdf.geometry import bounding_box, pieces_of
from kgrag.documents.pdf.outline import LABEL, LABEL_REACH, Outline, OutlinedHeadings
from kgrag.documents.pdf.paragraphs import LineStatistics, section_number
from kgrag.text.name_shapes import is_code_name

__all__ = ["Listing", "is_caption", "listing_of", "mark_headings", "names_figure"]

_LARGER = 1.12
"""Times the body size from which a line is a heading by its size alone."""
_NOT_SMALLER = 0.97
_MAX_LINES = 3
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
_BEGINS = re.compile(
    r"^(?:[1I][.:]?\s+)?(?:abstract|introduction|zusammenfassung|einleitung|résumé|resumen)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_OPERATOR = re.compile(r"[=<>≤≥≈≡∑∏∫∂∇√∝∞∈∀∃→×÷⟨⟩⎛⎝⎡⎣|^{}\U0001d400-\U0001d7ff]")
_ADDRESS = re.compile(r"\S@\S+\.\w|https?://|^www\.")
_MAX_LARGE_WORDS = 14
"""Words up to which a line that is only a little larger than the body may be a heading."""
_MUCH_LARGER = 1.4
_SAME_SIZE = 0.04
_TITLE_GAP = 0.6
"""Line heights between two lines of a title."""
_PAGE_TITLE_GAP = 1.0
"""The same on a title page."""
_MAX_LEVEL = 6
_MAX_TITLE_PAGE_WORDS = 60
_MAX_TITLE_WORDS = 14
"""Of a text on a title page; what is longer describes something."""
_CAPTION = re.compile(
    r"^(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle|photo|image|diagram)\s*(?:\d|[IVX]+[.:]|[A-Z]\.?\d)",
    re.IGNORECASE,
)
_OF_TABLE = re.compile(r"^(?:table|tab\.|tabelle)\s*(?:[A-Z]\.?)?[\dIVX]+(?:[.-]\d+)*[.:]\s", re.IGNORECASE)
"""A caption that says so, which may be long and stand farther from its table."""
_WIDE_GAP = 1.5
"""Line heights between two names of columns: a bold line of three is the header of rows."""
_SENTENCE = re.compile(r"[.,;。，；]$")
_CAPTION_GAP = 1.6
"""Line heights between a caption and its table."""
_FAR_CAPTION_GAP = 3.0
_LONGEST_CAPTION = 8
"""Lines."""
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
_KNOWN_SHARE = 0.2
"""Of the headings of a style whose level their numbers or labels say, for the others to have it: `18 U.S.C. Section 1350` says none."""
_COMPLETE = 0.25
"""Headings a page from which an outline is taken to have all of them."""

Style = tuple[float, bool]


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
    found = {comparable(_text(block)) for block in outlined.blocks}
    unfound = {comparable(e.title): e.level for e in outline.entries if comparable(e.title) not in found}
    decides = len(outlined.blocks) >= _MIN_LISTED and outlined.share >= _LISTED_SHARE
    complete = decides and len(outlined.blocks) >= _COMPLETE * page_count
    numbers = frozenset(section_number(block.lines[0]) for block in outlined.blocks)
    smallest = min(map(_size, outlined.blocks), default=0.0)
    return Listing(titles, unfound, decides, complete, numbers, smallest)


def mark_headings(blocks: Sequence[PageBlock], usual: LineStatistics, listing: Listing) -> list[PageBlock]:
    """Return the blocks with title and headings marked. Those of kind `heading` are the outline's, and stay with their level."""
    counted = {} if listing.decides else _counted_headings(blocks)
    marked = [id(block) in counted or _is_heading(blocks, index, usual, listing) for index, block in enumerate(blocks)]
    blocks, marked = _with_labels(blocks, marked)
    front = _front_matter(blocks, marked)
    title = _title(blocks, marked, usual, _contents_heading(blocks), listing, front)
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
    if listing.decides:
        marked = [is_heading and _is_listed(block, listing) for block, is_heading in zip(blocks, marked, strict=True)]
    headings = [
        block for block, is_heading in zip(blocks, marked, strict=True) if is_heading and isinstance(block, TextBlock)
    ]
    levels = _levels([heading for heading in headings if heading is not title], listing, counted)
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
            and LABEL.match(_text(label))
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
        return _bold(block) or all(line.font != body for line in block.lines)

    candidates = [
        (block, match[1], match[2])
        for block in blocks
        if isinstance(block, TextBlock)
        and block.kind in ("text", "list")
        and len(block.lines) <= _MAX_LINES
        and (match := _COUNTED.match(_numbered_text(block)))
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


def _is_listed(block: PageBlock, listing: Listing) -> bool:
    """Whether a heading stays beside an outline that decides: it is named, or goes on below what is named."""
    if not isinstance(block, TextBlock):
        return False
    if block.kind == "heading" or comparable(_text(block)) in listing.unfound or _is_named(block, listing.titles):
        return True
    number = section_number(block.lines[0])
    if "." in number:
        return number.rpartition(".")[0] in listing.numbers and number not in listing.numbers
    return not listing.complete and _size(block) < (1 - _SAME_SIZE) * listing.smallest


def _is_named(block: TextBlock, titles: frozenset[str]) -> bool:
    return comparable(_numbered_text(block)) in titles or comparable(_text(block)) in titles


def _is_heading(blocks: Sequence[PageBlock], index: int, usual: LineStatistics, listing: Listing) -> bool:
    block = blocks[index]
    if isinstance(block, TextBlock) and block.kind == "heading":
        return True
    if not isinstance(block, TextBlock) or block.kind == "figure" or len(block.lines) > _MAX_LINES:
        return False
    if block.kind == "code" and not _bold(block):
        return False
    text = _text(block)
    if len(text) > _MAX_CHARACTERS or not _LETTER.search(text) or _CAPTION.match(text):
        return False
    named = _is_named(block, listing.titles) or comparable(text) in listing.unfound
    size = _size(block)
    bold = _bold(block)
    if block.kind == "list":
        return named and block.marker != "-" and (bold or size > _LARGER * usual.body_size)
    if named and (bold or size >= _NOT_SMALLER * usual.body_size):
        return True
    if block.kind == "code" or _is_formula(text) or _ADDRESS.search(text) or _is_footnote(blocks, index):
        return False
    numbered = bool(section_number(block.lines[0]))
    announces = text.endswith(":") and bool(_ANNOUNCES.search(text))
    if announces and not numbered and size < _MUCH_LARGER * usual.body_size:
        return False
    if size >= _LARGER * usual.body_size:
        if numbered:
            return True
        goes_on = not bold and (text[0].islower() or len(text.split()) > _MAX_LARGE_WORDS)
        return not _SENTENCE.search(text) and not (goes_on and size < _MUCH_LARGER * usual.body_size)
    is_small = size < _NOT_SMALLER * usual.body_size and not _BEGINS.fullmatch(text)
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
    goes_on = isinstance(following, TextBlock) and not _bold(following)
    return alone and goes_on


def _is_term_alone(blocks: Sequence[PageBlock], index: int) -> bool:
    """Whether a name is one of several terms, of which it alone has no text: one beside it begins with a name in the same font."""
    block = blocks[index]
    if not isinstance(block, TextBlock) or not _is_name(block) or len(block.lines[0].words) > 1:
        return False
    for other in (*blocks[max(index - 1, 0) : index], *blocks[index + 1 : index + 2]):
        if isinstance(other, TextBlock) and other.kind == block.kind and _is_name(other):
            same = other.lines[0].words[0].font == block.lines[0].font and not _bold(other)
            if same and abs(other.box.x0 - block.box.x0) < _size(block) / 2:
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
    if _NOTE.match(_text(block)):
        return True
    if not (number := _NOTE_NUMBER.match(_text(block))):
        return False
    for other in (*blocks[max(index - 1, 0) : index], *blocks[index + 1 : index + 2]):
        if not isinstance(other, TextBlock) or other.page != block.page:
            continue
        gap = max(block.box.y0 - other.box.y1, other.box.y0 - block.box.y1)
        beside = _NOTE_NUMBER.match(_text(other))
        if gap < _NOTE_GAP * _size(block) and (_NOTE.match(_text(other)) or (beside and beside[1] != number[1])):
            return True
    return False


def is_caption(block: TextBlock, table: TableBlock, *, numbered: bool = False, below: bool = False) -> bool:
    """Whether a text is the caption of the table below it: bold or `Table 3: ...`, close, and no heading.

    One that is `numbered` says so; one that stands `below` has its table above it.
    """
    text = _text(block)
    says_so = bool(_OF_TABLE.match(text))
    if numbered and not says_so:
        return False
    gap, lines = (_FAR_CAPTION_GAP, _LONGEST_CAPTION) if says_so else (_CAPTION_GAP, _MAX_LINES)
    apart = block.box.y0 - table.box.y1 if below else table.box.y0 - block.box.y1
    close = block.page == table.page and -1.0 <= apart <= gap * block.lines[-1].size
    is_above = block.box.x0 < table.box.x1 and table.box.x0 < block.box.x1
    return (
        block.kind == "text"
        and close
        and (is_above or not says_so)
        and len(block.lines) <= lines
        and (_bold(block) or bool(_CAPTION.match(text)))
    )


def names_figure(block: TextBlock) -> bool:
    """Whether a text is the caption of a figure or table: `Figure 2: ...`."""
    return bool(_CAPTION.match(_text(block))) and block.kind == "text"


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


def _front_matter(blocks: Sequence[PageBlock], marked: Sequence[bool]) -> frozenset[int]:
    """Ids of what looks like headings above the abstract or introduction of a first page: title, authors, where they work."""
    headings = [block for block, is_heading in zip(blocks, marked, strict=True) if is_heading]
    first_page = [block for block in headings if block.page == headings[0].page and isinstance(block, TextBlock)]
    begins = next((index for index, block in enumerate(first_page) if _BEGINS.match(_text(block))), 0)
    return frozenset(id(block) for block in first_page[:begins] if block.kind != "heading")


def _title(
    blocks: Sequence[PageBlock],
    marked: Sequence[bool],
    usual: LineStatistics,
    contents: TextBlock | None,
    listing: Listing,
    front: frozenset[int],
) -> TextBlock | None:
    """The document's title: the largest text of the first page with a heading, above what the outline names.

    Without an outline nothing later may be as large.
    """
    headings = [
        block for block, is_heading in zip(blocks, marked, strict=True) if is_heading and isinstance(block, TextBlock)
    ]
    first_page = [heading for heading in headings if heading.page == headings[0].page and heading is not contents]
    candidates = list(takewhile(lambda heading: not (listing.decides and heading.kind == "heading"), first_page))
    if not candidates:
        return None
    # Not what is drawn by a font, where there is anything else.
    candidates = [heading for heading in candidates if _WORD.search(_text(heading))] or candidates
    largest = max(candidates, key=lambda heading: (round(_size(heading), 1), -heading.box.y0))
    on_title_page = _is_title_page(blocks, largest.page)
    rest = [heading for heading in headings if heading is not largest and id(heading) not in front]
    if section_number(largest.lines[0]) or not rest:
        return None
    is_first = listing.decides and largest is blocks[0] and _bold(largest)
    if _size(largest) < (_LARGER if is_first else 1.3) * usual.body_size and not on_title_page:
        return None
    if listing.decides or on_title_page:
        return largest
    return largest if all(_size(heading) < (1 - _SAME_SIZE) * _size(largest) for heading in rest) else None


def _rest_of_title(blocks: Sequence[PageBlock], title: TextBlock) -> TextBlock | None:
    """What goes on right below a title in its style: a title whose lines are centred, or end early."""
    below = next((after for block, after in pairwise(blocks) if block is title), None)
    if not isinstance(below, TextBlock) or below.page != title.page or below.kind not in ("text", "heading"):
        return None
    gap = _PAGE_TITLE_GAP if _is_title_page(blocks, title.page) else _TITLE_GAP
    close = below.box.y0 - title.box.y1 < gap * _size(title)
    same = _bold(below) == _bold(title) and abs(_size(below) - _size(title)) <= _SAME_SIZE * _size(title)
    return below if close and same and len(title.lines) + len(below.lines) <= _MAX_LINES + 1 else None


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
        if _BEGINS.match(_text(block)):
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


def _levels(headings: Sequence[TextBlock], listing: Listing, counted: Mapping[int, int]) -> dict[int, int]:
    """Level of each heading: the outline's, or what it is `counted` as; else its number's depth; else by its size among the known."""
    levels: dict[int, int] = {}
    votes: dict[Style, Counter[int]] = defaultdict(Counter)
    for heading in headings:
        number = section_number(heading.lines[0]) or (heading.marker.strip("().") if heading.marker != "-" else "")
        level = number.count(".") + 1 if number else listing.unfound.get(comparable(_text(heading)), 0)
        level = heading.level or counted.get(id(heading), 0) or level or int(bool(LABEL.match(heading.lines[0].text)))
        if level:
            levels[id(heading)] = min(level, _MAX_LEVEL)
            votes[_style(heading)][levels[id(heading)]] += 1
    styles = Counter(map(_style, headings))
    known = {
        style: counted.most_common(1)[0][0]
        for style, counted in votes.items()
        if counted.total() >= _KNOWN_SHARE * styles[style]
    }
    ranks = _ranks(set(styles), known)
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
