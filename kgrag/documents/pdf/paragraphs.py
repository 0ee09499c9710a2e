"""Paragraphs and list items from the lines of a region."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kgrag.documents.inline_text import CJK
from kgrag.documents.pdf.blocks import PageBlock, TextBlock
from kgrag.documents.pdf.bullets import BULLET, ORDINAL, SURE_BULLET
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, is_typewriter, line_of, pieces_of
from kgrag.documents.pdf.reading_order import Region
from kgrag.text.words import LEADING_ON

__all__ = ["LineStatistics", "blocks_of_region", "line_statistics", "section_number"]

_LOOSE = 1.28
"""Times the usual distance between lines: more begins a new paragraph."""
_ON_GRID = 0.04
"""Share of the usual distance between the lines of the text by which two lines that follow each other may miss it."""
_WIDE_GAP = 1.5
"""Line heights between two words of a line that is no text, but has columns."""
_NAME_WORDS, _TEXT_WORDS = 5, 3
"""Most words of a name, and fewest of the text that begins far behind it in the same font."""
_TEXT_SHARE = 0.25
"""Of the characters of listings: a document with as many others has its text's size from these."""
_WIDE_WORDS, _MIN_WIDE, _MOST = 6, 3, 0.8
"""Words of a line, lines that go on in small letters, and the share of them that are as far apart, from which a text is set wide."""
_SAME_PITCH, _WIDEST = 0.16, 3.5
"""Line heights by which these distances may differ, and the largest from line to line."""
_CODE_LOOSE = 2.6
"""Line heights from line to line within a listing: one empty line."""
_LARGE_CODE = 1.25
"""Times the body size from which a bold line in a typewriter font is a heading that names a function, and no command."""
_OTHER_SIZE = 0.1
"""Relative difference in size between two lines of different kind."""
_FITS = 0.5
"""Line heights of room left after the next line's first word: the line was ended on purpose."""
_INDENT = 0.8
"""Line heights by which a first line is indented, or a list item's text hangs."""
_FIRST_LINE = 2.5
"""Line heights by which the marker of an item may be indented whose next lines begin at the margin."""
_MARK_REACH = 2.5
"""Line heights between a drawn bullet and its text."""
_RAISED = 0.85
"""Share of the height of a text's first line below which what stands before it is a raised mark."""
_NOTE_REACH = 4.0
"""Line heights between such a mark and its text."""
_NOTE_MARK = re.compile(r"^\(?(?:\d{1,2}|[a-z]|[ivx]{1,4}|[*†‡]{1,3})\)?$")
_DASH = re.compile(r"^[*–—-]$|^o$")
_INITIAL = re.compile(r"^[A-Z]\.$")
"""Also of a person's name."""
_REFERENCE = re.compile(r"^\[(\d{1,4})\]$")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_LOOSE_LINE = 1.5
"""Line heights from line to line within a paragraph, at most."""
_COUNT = re.compile(r"(\d{1,2})\.")
_SECTION = re.compile(r"^(?:(\d{1,3}(?:\.\d{1,3})*)\.?|([A-Z](?:\.\d{1,3})+)\.?)$")
_SENTENCE_END = re.compile(r"[.:!?;。：！？][)\"'”’]?$")


@dataclass(frozen=True, slots=True)
class LineStatistics:
    """What is usual in a document."""

    body_size: float
    """Height in points of most characters of its text."""
    pitch: float
    """Most frequent distance between two lines of a paragraph, in line heights."""
    typed: bool = False
    """The whole document is set in a typewriter font, which then says nothing about code."""
    wide_pitch: float = 0.0
    """Distance between two lines of a paragraph, in line heights, in a region that is set wider than the document; else 0."""


def section_number(line: Line) -> str:
    """Return the number that a heading begins with (`4.2.1`, `A.1`), or nothing."""
    match = _SECTION.match(line.words[0].text) if len(line.words) > 1 else None
    return (match[1] or match[2]) if match else ""


def line_statistics(words: Iterable[Word], regions: Iterable[Region]) -> LineStatistics:
    """Count characters per size over the words, and distances over the lines that follow each other in a region.

    Where a document has much text beside its listings, the listings do not count: their font may be smaller.
    """
    sizes: dict[bool, Counter[float]] = {True: Counter(), False: Counter()}
    for word in words:
        sizes[is_typewriter(word.font)][round(word.box.height, 1)] += len(word.text)
    pitches: Counter[float] = Counter()
    regions = list(regions)
    lines = [line for region in regions for line in region.lines]
    for region in regions:
        for above, below in zip(region.lines, region.lines[1:], strict=False):
            pitch = (below.pitch_base - above.pitch_base) / above.size if above.size else 0.0
            if abs(above.box.x0 - below.box.x0) < above.size and 0.7 < pitch < 2.0 and len(above.words) > 3:
                pitches[round(pitch * 20) / 20] += len(above.words)
    in_text = sizes[False].total() >= _TEXT_SHARE * sizes[True].total()
    counted = sizes[False] if in_text else sizes[False] + sizes[True]
    return LineStatistics(
        body_size=counted.most_common(1)[0][0] if counted else 10.0,
        pitch=pitches.most_common(1)[0][0] if pitches else 1.2,
        typed=2 * sum(len(line.text) for line in lines if line.code) > sum(len(line.text) for line in lines),
    )


def blocks_of_region(region: Region, page: int, marks: Sequence[Box], usual: LineStatistics) -> list[PageBlock]:
    """Put a region's lines together and its tables and figures between them, top to bottom."""
    edges = _right_edges(region.lines)
    usual = _with_wide_lines(region.lines, edges, usual)
    entries: list[Line | PageBlock] = sorted([*_with_note_marks(region.lines), *region.atoms], key=_height)
    blocks: list[PageBlock] = []
    current: list[Line] = []
    marker: tuple[str, float] | None = None

    def close() -> None:
        nonlocal current, marker
        if current:
            blocks.append(_text_block(page, current, marker, usual, region.left))
        current, marker = [], None

    for entry in entries:
        if not isinstance(entry, Line):
            close()
            blocks.append(entry)
            continue
        code = _is_code(entry, usual) and not SURE_BULLET.match(entry.words[0].text)
        is_heading = _is_large_number(entry, usual) and not (marker and _is_next_item(entry, marker, usual))
        found = None if code or is_heading else _marker(entry, marks)
        if found is not None and not (current and _is_within(found[0], current, entry, marker, edges)):
            close()
            marker, entry = found[:2], found[2]
            current = [entry]
        elif current and not _breaks(current, entry, marker, edges, usual):
            current.append(entry)
        else:
            close()
            current = [entry]
    close()
    return blocks


def _with_wide_lines(lines: Sequence[Line], edge: float, usual: LineStatistics) -> LineStatistics:
    """Return the statistics with the distance of a region's own lines, where its text is set wider than the document's: exhibits, drafts.

    Lines that reach the edge go on in the next one, so most of them stand as far above it as the lines of a paragraph do.
    """
    pitches: Counter[float] = Counter()
    for above, below in pairwise(lines):
        pitch = (below.pitch_base - above.pitch_base) / above.size
        if (
            pitch > 0.7
            and len(above.words) >= _WIDE_WORDS
            and not _would_fit(above, below, edge)
            and below.text[0].islower()
        ):
            pitches[round(pitch * 10) / 10] += 1
    if pitches.total() < _MIN_WIDE:
        return usual
    own, _ = pitches.most_common(1)[0]
    as_far = sum(count for pitch, count in pitches.items() if abs(pitch - own) < _SAME_PITCH)
    is_wide = _LOOSE * usual.pitch < own < _WIDEST and as_far >= _MOST * pitches.total()
    return replace(usual, wide_pitch=own) if is_wide else usual


def _height(entry: Line | PageBlock) -> float:
    """Where on the page a line, table, figure or heading stands; a heading is above what goes on beside it (LaTeX's run-in headings)."""
    return entry.box.y0 if isinstance(entry, TextBlock) and entry.kind == "heading" else entry.box.center[1]


def _with_note_marks(lines: Sequence[Line]) -> list[Line]:
    """Put the raised mark of a note, which stands apart at the left of its text, into the text's first line."""
    joined: list[Line] = []
    for line in sorted(lines, key=lambda line: line.box.center[1]):
        mark = joined[-1] if joined else None
        if (
            mark is not None
            and len(mark.words) == 1
            and _NOTE_MARK.match(mark.text)
            and mark.size < _RAISED * line.size
            and line.box.y0 < mark.box.y1
            and 0 < line.box.x0 - mark.box.x1 < _NOTE_REACH * line.size
        ):
            joined[-1] = line_of([*mark.words, *line.words])
        else:
            joined.append(line)
    return joined


def _is_code(line: Line, usual: LineStatistics) -> bool:
    """Whether a line is of a listing: in a typewriter font, and if it is bold no larger than text, and without a section's number."""
    if usual.typed or not line.typewriter:
        return False
    return line.code or (line.size < _LARGE_CODE * usual.body_size and not section_number(line))


def _is_large_number(line: Line, usual: LineStatistics) -> bool:
    """`1. Introduction` in large or bold type is a heading and not the first item of a list."""
    return bool(section_number(line)) and (line.size > (1 + _OTHER_SIZE) * usual.body_size or line.bold)


def _is_next_item(line: Line, marker: tuple[str, float], usual: LineStatistics) -> bool:
    """Whether a line in bold type, and no larger than text, counts on from the list item above it: `12.`, **13. Terms**."""
    first, before = line.words[0], _COUNT.fullmatch(marker[0])
    here = _COUNT.fullmatch(first.text)
    counts_on = here and before and int(here[1]) == int(before[1]) + 1
    is_below = abs(first.box.x0 - marker[1]) < line.size and line.size <= (1 + _OTHER_SIZE) * usual.body_size
    return bool(counts_on) and is_below


def _right_edges(lines: Sequence[Line]) -> float:
    return max((line.box.x1 for line in lines), default=0.0)


def _marker(line: Line, marks: Sequence[Box]) -> tuple[str, float, Line] | None:
    """Return a list item's marker, the x where it stands, and the line without it."""
    first = line.words[0]
    if len(line.words) > 1 and (BULLET.match(first.text) or ORDINAL.match(first.text)):
        rest = line.words[1:]
        is_minus = _DASH.match(first.text) and re.match(r"\d", rest[0].text)
        if not is_minus and rest[0].box.x0 > first.box.x1:
            ordinal = ORDINAL.match(first.text)
            return first.text if ordinal else "-", first.box.x0, line_of(rest)
    for mark in marks:
        x, y = mark.center
        between = first.box.x0 - mark.x1
        if line.box.y0 < y < line.box.y1 and 0 < between < _MARK_REACH * line.size and mark.height < 0.7 * line.size:
            return "-", x, line
    return None


def _is_within(
    ordinal: str, current: Sequence[Line], line: Line, marker: tuple[str, float] | None, edge: float
) -> bool:
    """Whether an ordinal stands at the begin of a line by chance, within a paragraph: `see (b) and | (c) below`, `K. Moe, | L. Noe`.

    The line above is full and ends no sentence, or in an initial, and the ordinal is no first one and does not count on from an item.
    """
    above = current[-1]
    sign = ordinal.strip("().")
    if not ORDINAL.match(ordinal) or _counts_on(marker[0].strip("().") if marker else "", sign):
        return False
    is_initial = bool(_INITIAL.match(ordinal))
    goes_on = not _SENTENCE_END.search(above.text) or (is_initial and bool(_INITIAL.match(above.words[-1].text)))
    is_below = line.pitch_base - above.pitch_base < _LOOSE_LINE * above.size and above.font == line.font
    is_aligned = abs(line.box.x0 - above.box.x0) < 0.3 * line.size or (is_initial and len(current) == 1)
    return goes_on and is_below and is_aligned and not _would_fit(above, line, edge)


def _counts_on(before: str, sign: str) -> bool:
    """Whether an ordinal is the first of its kind, or the one after another."""
    if sign.isdigit():
        return sign == "1" or (before.isdigit() and int(sign) == int(before) + 1)
    if sign in _ROMAN and (sign == "i" or before in _ROMAN):
        return sign == "i" or _ROMAN.index(sign) == _ROMAN.index(before) + 1
    return sign in ("a", "A") or (len(before) == len(sign) == 1 and ord(sign) == ord(before) + 1)


def _breaks(
    current: Sequence[Line], line: Line, marker: tuple[str, float] | None, edge: float, usual: LineStatistics
) -> bool:
    """Whether a line begins a new block after the lines so far."""
    above = current[-1]
    size = max(above.size, line.size)
    is_code, begins_code = _is_code(line, usual), _is_code(current[0], usual)
    if is_code and begins_code:
        return line.pitch_base - above.pitch_base > _CODE_LOOSE * size
    if is_code != begins_code and (is_code or _is_code(above, usual)):
        return not _flows(above, line, edge)
    if _is_next_label(current[0], line) or _is_next_reference(current[0], line):
        return True
    distance, grid = line.pitch_base - above.pitch_base, usual.pitch * usual.body_size
    if distance > _LOOSE * usual.pitch * size:
        # Full lines as far apart as those of the text, in a font whose glyphs say too little height, or of a text that is set wide.
        on_grid = line.font == above.font and abs(distance - grid) <= _ON_GRID * grid
        is_wide = distance <= _LOOSE * usual.wide_pitch * size
        if not (on_grid or is_wide) or _would_fit(above, line, edge) or len(pieces_of(above, _WIDE_GAP)) > 1:
            return True
    if abs(line.size - above.size) > _OTHER_SIZE * size and not _uneven(above, line):
        return True
    starts_new = not (line.text[0].islower() or _ends_within(above)) or bool(_SENTENCE_END.search(above.text))
    ended_early = _would_fit(above, line, edge)
    if above.bold != line.bold and (ended_early or (above.bold and section_number(current[0]))):
        return True
    if marker is not None and line.box.x0 < current[0].box.x0 - _INDENT * size:
        hangs_under_marker = abs(line.box.x0 - marker[1]) < 0.3 * size
        goes_on_at_margin = _goes_on_at_margin(current, line, marker[1])
        if goes_on_at_margin:
            return False
        if not hangs_under_marker or (ended_early and starts_new):
            return True
    if (
        marker is None
        and len(current) > 1
        and line.box.x0 > above.box.x0 + _INDENT * size
        and not _centred(above, line)
    ):
        return True
    return ended_early and starts_new and not _centred(above, line)


def _is_next_label(first: Line, line: Line) -> bool:
    """Whether a line has a name and, far behind it, the begin of a text, and both stand where those of a block's first line do."""
    if line.typewriter or abs(first.box.x0 - line.box.x0) >= 0.3 * line.size:
        return False
    there, here = pieces_of(first, _WIDE_GAP), pieces_of(line, _WIDE_GAP)
    if len(there) != 2 or len(here) != 2 or abs(there[1].box.x0 - here[1].box.x0) >= 0.3 * line.size:
        return False
    return all(
        len(name.words) <= _NAME_WORDS and (len(text.words) >= _TEXT_WORDS or name.font != text.font)
        for name, text in (there, here)
    )


def _is_next_reference(first: Line, line: Line) -> bool:
    """Whether a line begins the next entry of a numbered list of references: `[13]` where that of `[12]` stands."""
    before, here = _REFERENCE.match(first.words[0].text), _REFERENCE.match(line.words[0].text)
    if not before or not here or int(here[1]) != int(before[1]) + 1:
        return False
    there, box = first.words[0].box, line.words[0].box
    return min(abs(there.x0 - box.x0), abs(there.x1 - box.x1)) < 0.3 * line.size


def _goes_on_at_margin(current: Sequence[Line], line: Line, marker: float) -> bool:
    """Whether an item whose marker is indented, as the first line of a paragraph is, goes on at the margin."""
    above = current[-1]
    if not 0 < marker - line.box.x0 < _FIRST_LINE * line.size or _SENTENCE_END.search(above.text):
        return False
    same_edge = len(current) == 1 or abs(above.box.x0 - line.box.x0) < 0.3 * line.size
    return same_edge and (line.text[0].islower() or len(current) > 1 or line.text[0].isdigit())


def _ends_within(above: Line) -> bool:
    """Whether a line ends with a word that leads on (`the`, `of`, `and`): what comes next is too long for it, such as an address."""
    return len(above.words) > 1 and above.words[-1].text in LEADING_ON


def _flows(above: Line, line: Line, edge: float) -> bool:
    """Whether one line is only a long file name or command within a paragraph: the other follows it without a break."""
    return not _would_fit(above, line, edge) and line.pitch_base - above.pitch_base < 1.5 * above.size


def _uneven(above: Line, line: Line) -> bool:
    """Fonts whose glyphs have each their own height, as embedded for Chinese, give lines of one paragraph different sizes."""
    return bool(CJK.search(above.text) and CJK.search(line.text)) and above.bold == line.bold


def _would_fit(above: Line, line: Line, edge: float) -> bool:
    return above.box.x1 + 0.2 * above.size + line.words[0].box.width + _FITS * above.size < edge


def _centred(above: Line, line: Line) -> bool:
    middle = abs(above.box.center[0] - line.box.center[0]) < 0.5 * line.size
    return middle and abs(above.box.x0 - line.box.x0) > 0.5 * line.size


def _text_block(
    page: int, lines: Sequence[Line], marker: tuple[str, float] | None, usual: LineStatistics, left: float
) -> TextBlock:
    box = bounding_box(line.box for line in lines)
    if marker is None and all(_is_code(line, usual) for line in lines):
        return TextBlock("code", page, box, tuple(lines))
    if marker is None:
        return TextBlock("text", page, box, tuple(lines))
    return TextBlock("list", page, box, tuple(lines), marker=marker[0], indent=marker[1] - left)
