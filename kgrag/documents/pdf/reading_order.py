"""The order in which the parts of a page are read: columns one after the other, where the page has columns of running text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from kgrag.documents.pdf.blocks import PageBlock, TableBlock
from kgrag.documents.pdf.bullets import SURE_BULLET
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, is_typewriter, line_of, lines_of, pieces_of

__all__ = ["Region", "is_beside_text", "regions_of"]

_MIN_GUTTER = 8.0
"""Points between two columns."""
_MIN_LINES = 4
_COLUMN_GAP = 2.0
"""Line heights from line to line within a column."""
_MIN_WORDS = 3
"""Median of the words in a column's lines: with fewer it is a column of a table, or a list of names and values."""
_MIN_FILL = 0.5
"""Median share of a column's width that its lines fill."""
_OFF_MIDDLE = 0.04
"""Share of the width of a page's text by which the gutter of a paper may be off its middle."""
_MIN_PAPER_WORDS, _PAPER_FILL = 4, 0.85
"""The same for the columns of a paper that end above a wide table or figure."""
_WORD_SPACE = 0.7
"""Line heights."""
_SECTION_GAP = 1.3
"""Times the distance between the lines above: how far below them a title stands that ends the columns."""
_MIN_ITEMS, _ITEMS = 3, 0.6
"""Items of a list that is such a column, and their share of the lines that begin at its left edge: others are its title, or go on there."""
_AT_EDGE = 0.5
"""Line heights."""
_NARROW = 0.4
"""Share of the page's text up to which a left column may be one of labels."""
_BESIDE, _GOES_ON = 0.5, 0.1
"""Shares of the lines of such a column that stand beside a line of the other one, and that go on with a small letter."""
_CELL_GAP = 2.0
"""Line heights between two cells of one row, at least."""
_ROWS = 0.8
"""Share of the lines with words on both sides that must have cells on both, to be the rows of one table."""
_TABLE_SIDE = 0.3
"""Share of the height of such a card that a side with tables has, at least: less is what stands beside a title."""
_CARD = 0.5
"""Share of the page's height from which what is left of it may be one."""
_BY_CHANCE = 0.7
"""Lines with words on both sides, for each table, that may be titles at one height: more are the rows of a table."""
_MIN_WIDTH = 0.15
"""Share of the page's text width."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that is read top to bottom."""

    lines: tuple[Line, ...]
    atoms: tuple[PageBlock, ...]
    """Tables and figures, which stand for themselves."""
    left: float = 0.0
    """x of the left edge of the column that it is, from which its lists are indented; 0 where the page has no columns there."""


@dataclass(frozen=True, slots=True)
class _Band:
    """What stands side by side at one height."""

    words: tuple[Word, ...]
    atoms: tuple[PageBlock, ...]
    boxes: tuple[Box, ...]
    y: float
    line: Line | None = None
    """The line that its words are, where it was not divided."""
    centers: tuple[float, ...] = ()
    """The x of its words' middles, from the left."""


def regions_of(words: Sequence[Word], atoms: Sequence[PageBlock]) -> list[Region]:
    """Split a page into regions, in reading order."""
    bands = [
        _Band(line.words, (), tuple(word.box for word in line.words), line.pitch_base, line, _centers(line.words))
        for line in lines_of(words)
    ]
    bands.extend(_Band((), (atom,), (atom.box,), atom.box.center[1]) for atom in atoms)
    return [_region(group, left) for group, left in _ordered(sorted(bands, key=lambda band: band.y))]


def _centers(words: Sequence[Word]) -> tuple[float, ...]:
    return tuple(sorted(word.box.center[0] for word in words))


def _region(bands: Sequence[_Band], left: float) -> Region:
    whole = [band.line for band in bands if band.words]
    lines = [line for line in whole if line is not None]
    if len(lines) < len(whole):
        lines = lines_of(word for band in bands for word in band.words)
    return Region(
        lines=tuple(lines),
        atoms=tuple(atom for band in bands for atom in band.atoms),
        left=left,
    )


def _ordered(bands: list[_Band], column: float = 0.0) -> list[tuple[list[_Band], float]]:
    """Group bands in reading order, each group with the left edge of the column that it is in."""
    start = 0
    plain: list[_Band] = []
    ordered: list[tuple[list[_Band], float]] = []
    left = min((box.x0 for band in bands for box in band.boxes), default=0.0)
    right = max((box.x1 for band in bands for box in band.boxes), default=0.0)
    free = [_free(band, left, right) for band in bands]
    while start < len(bands):
        end, gutter = _column_run(bands, free, start, left, right)
        if gutter is None:
            plain.append(bands[start])
            start += 1
            continue
        if plain:
            ordered.append((plain, column))
            plain = []
        for side in _sides(bands[start:end], gutter):
            ordered.extend(_ordered(side, min(box.x0 for band in side for box in band.boxes)))
        start = end
    if plain:
        ordered.append((plain, column))
    return ordered


def _column_run(
    bands: Sequence[_Band], free: Sequence[Sequence[tuple[float, float]]], start: int, left: float, right: float
) -> tuple[int, tuple[float, float] | None]:
    """Find the longest run of bands from `start` on with a free vertical strip through all of them that makes columns of text."""
    strips = free[start]
    end = start + 1
    while end < len(bands):
        narrowed = [strip for strip in _common(strips, free[end]) if _within(strip, left, right) >= _MIN_GUTTER]
        # What the lines of a ragged text leave free at the right is no strip between columns.
        if not narrowed or (_inside(strips, left, right) and not _inside(narrowed, left, right)):
            break
        strips, end = narrowed, end + 1
    for strip in sorted(_inside(strips, left, right), key=lambda strip: strip[0] - strip[1]):
        is_above = end < len(bands)
        if _has_space_at(bands[start], strip):
            continue
        if _makes_columns(bands[start:end], strip, right - left) and (
            not is_above or _are_of_paper(bands[start:end], strip, (left + right) / 2, right - left)
        ):
            for count in _section_ends(bands[start:end], strip):
                if _makes_columns(bands[start : start + count], strip, right - left):
                    return start + count, strip
            return start + _columns_end(bands[start:end], strip, is_last=not is_above), strip
        if (
            not is_above
            and bands[-1].y - bands[start].y > _CARD * (bands[-1].y - bands[0].y)
            and _parts_tables(bands[start:], strip)
        ):
            return end, strip
    return start + 1, None


def _free(band: _Band, left: float, right: float) -> list[tuple[float, float]]:
    free: list[tuple[float, float]] = []
    reached = left - _MIN_GUTTER
    for box in sorted(band.boxes, key=lambda box: box.x0):
        if box.x0 - reached >= _MIN_GUTTER:
            free.append((reached, box.x0))
        reached = max(reached, box.x1)
    if right + _MIN_GUTTER - reached >= _MIN_GUTTER:
        free.append((reached, right + _MIN_GUTTER))
    return free


def _inside(strips: Sequence[tuple[float, float]], left: float, right: float) -> list[tuple[float, float]]:
    return [strip for strip in strips if strip[0] > left and strip[1] < right]


def _within(strip: tuple[float, float], left: float, right: float) -> float:
    """How wide a strip is between the edges of the page's text: its margins part no columns."""
    return min(strip[1], right) - max(strip[0], left)


def _common(some: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others]
    return [strip for strip in both if strip[1] - strip[0] >= _MIN_GUTTER]


def _sides(bands: Sequence[_Band], gutter: tuple[float, float]) -> tuple[list[_Band], list[_Band]]:
    middle = (gutter[0] + gutter[1]) / 2
    sides: tuple[list[_Band], list[_Band]] = ([], [])
    for band in bands:
        for side, wanted in zip(sides, (True, False), strict=True):
            words = tuple(word for word in band.words if (word.box.center[0] < middle) == wanted)
            atoms = tuple(atom for atom in band.atoms if (atom.box.center[0] < middle) == wanted)
            if words or atoms:
                boxes = tuple(word.box for word in words) + tuple(atom.box for atom in atoms)
                side.append(_Band(words, atoms, boxes, band.y, centers=_centers(words)))
    return sides


def _columns_end(bands: Sequence[_Band], gutter: tuple[float, float], *, is_last: bool) -> int:
    """Count the bands until both columns are at their end: the longer one ends where a wide gap follows the end of the shorter.

    What the left one has to the end of the page is its own, however wide the gaps in it (`is_last`).
    """
    sides = [_sides([band], gutter) for band in bands]
    end = 1 + min(max(index for index, side in enumerate(sides) if side[which]) for which in (0, 1))
    while end < len(bands) and bands[end].y - bands[end - 1].y <= _COLUMN_GAP * bands[end].boxes[0].height:
        end += 1
    is_left = len(bands) - end >= _MIN_LINES and not any(right for _, right in sides[end:])
    return len(bands) if is_last and is_left else end


def _has_space_at(band: _Band, gutter: tuple[float, float]) -> bool:
    """Whether what parts a line there is no more than the space between two of its words: it is set in large type."""
    middle = sum(gutter) / 2
    ends = [box.x1 for box in band.boxes if box.center[0] < middle]
    starts = [box.x0 for box in band.boxes if box.center[0] >= middle]
    return bool(ends and starts) and min(starts) - max(ends) < _WORD_SPACE * band.boxes[0].height


def _section_ends(bands: Sequence[_Band], gutter: tuple[float, float]) -> Iterator[int]:
    """Yield how many bands stand above each title between columns that end and columns that begin.

    Both sides have a line right below it, at one height, and a gap above it.
    """
    middle = sum(gutter) / 2
    beside = [
        (bool(band.centers) and band.centers[-1] > middle) or any(atom.box.center[0] > middle for atom in band.atoms)
        for band in bands
    ]
    last = 0
    for index in range(1, len(bands) - 1):
        if beside[index - 1]:
            last = index
        title, after = bands[index], bands[index + 1]
        if (
            last
            and not beside[index]
            and title.words
            and all(word.bold for word in title.words)
            and beside[index + 1]
            and after.centers
            and after.centers[0] < middle
            and title.y - bands[last - 1].y > _COLUMN_GAP * title.boxes[0].height
            and title.y - bands[index - 1].y > _SECTION_GAP * (bands[index - 1].y - bands[max(index - 2, 0)].y)
        ):
            yield index


def _makes_columns(bands: Sequence[_Band], gutter: tuple[float, float], width: float) -> bool:
    if len(bands) < _MIN_LINES or not _has_words_for_columns(bands, (gutter[0] + gutter[1]) / 2):
        return False
    for side in _sides(bands, gutter):
        lines = [(bounding_box(band.boxes), len(band.words)) for band in side if band.words]
        if len(lines) < _MIN_LINES:
            return False
        extent = max(box.x1 for box, _ in lines) - min(box.x0 for box, _ in lines)
        if (
            extent < _MIN_WIDTH * width
            or median(count for _, count in lines) < _MIN_WORDS
            or median(box.width for box, _ in lines) < _MIN_FILL * extent
        ):
            return False
    return not (
        _has_listing(bands, gutter)
        or _has_labels(bands, gutter, width)
        or _has_rows(bands, gutter)
        or _is_card(bands, gutter)
    )


def _parts_tables(bands: Sequence[_Band], gutter: tuple[float, float]) -> bool:
    """Whether what is left of a page has tables on one side of a strip, and on the other, beside them, tables or lines of text: a card."""
    height = bounding_box(box for band in bands for box in band.boxes).height
    middle = sum(gutter) / 2
    across = sum(bool(band.centers) and band.centers[0] < middle < band.centers[-1] for band in bands)
    if across > _BY_CHANCE * sum(isinstance(atom, TableBlock) for band in bands for atom in band.atoms):
        return False
    boxes: list[Box] = []
    tables = 0
    for side in _sides(bands, gutter):
        boxes.append(bounding_box(box for band in side for box in band.boxes))
        if any(isinstance(atom, TableBlock) for band in side for atom in band.atoms):
            tables += 1
            if boxes[-1].height < _TABLE_SIDE * height:
                return False
            continue
        lines = [bounding_box(band.boxes) for band in side]
        if len(lines) < _MIN_LINES or median(box.width for box in lines) < _MIN_FILL * boxes[-1].width:
            return False
        if median(len(band.words) for band in side) < _MIN_WORDS:
            return False
    return tables > 0 and min(box.y1 for box in boxes) > max(box.y0 for box in boxes)


def _has_listing(bands: Sequence[_Band], gutter: tuple[float, float]) -> bool:
    """Whether most of both sides is in a typewriter font: the lines of one listing, with what is said of each behind it."""
    return all(
        2 * sum(is_typewriter(word.font) for band in side for word in band.words)
        > sum(len(band.words) for band in side)
        for side in _sides(bands, gutter)
    )


def _is_card(bands: Sequence[_Band], gutter: tuple[float, float]) -> bool:
    """Whether what one types stands on one side, and on the other what it does: line by line, and in no full lines of text."""
    sides = _sides(bands, gutter)
    typed = [
        2 * sum(is_typewriter(word.font) for band in side for word in band.words)
        > sum(len(band.words) for band in side)
        for side in sides
    ]
    heights = [{band.y for band in side if band.words} for side in sides]
    if typed[0] == typed[1] or len(heights[0] & heights[1]) < _ROWS * max(map(len, heights)):
        return False
    texts = [bounding_box(band.boxes) for band in sides[typed.index(False)] if band.words]
    extent = max(box.x1 for box in texts) - min(box.x0 for box in texts)
    return median(box.width for box in texts) < _PAPER_FILL * extent


def _has_labels(bands: Sequence[_Band], gutter: tuple[float, float], width: float) -> bool:
    """Whether the left side is a column of names, each beside the first line of what is said of it, and no text of its own."""
    left, right = _sides(bands, gutter)
    lines = [(bounding_box(band.boxes), band) for band in left if band.words]
    extent = max(box.x1 for box, _ in lines) - min(box.x0 for box, _ in lines)
    beside = {band.y for band in right if band.words}
    goes_on = sum(min(band.words, key=lambda word: word.box.x0).text[0].islower() for _, band in lines)
    return (
        extent <= _NARROW * width
        and len(left) < len(right)
        and sum(band.y in beside for _, band in lines) >= _BESIDE * len(lines)
        and goes_on <= _GOES_ON * len(lines)
    )


def _has_rows(bands: Sequence[_Band], gutter: tuple[float, float]) -> bool:
    """Whether what stands on both sides are the rows of one table: on each side of a line there are cells, far from each other."""
    middle = (gutter[0] + gutter[1]) / 2
    parted = whole = 0
    for band in bands:
        sides = [[word for word in band.words if (word.box.center[0] < middle) == is_left] for is_left in (True, False)]
        if all(sides):
            whole += 1
            parted += all(len(pieces_of(line_of(side), _CELL_GAP)) > 1 for side in sides)
    return whole >= _MIN_LINES and parted >= _ROWS * whole


def _are_of_paper(bands: Sequence[_Band], gutter: tuple[float, float], middle: float, width: float) -> bool:
    """Whether columns that end above something wide are those of a page of text: two alike, lists or full lines of words and no listings.

    What stands side by side above a text or a table may else be a part of that table, or what is said of each line of code.
    """
    if max(gutter[0] - middle, middle - gutter[1]) > _OFF_MIDDLE * width:
        return False
    for side in _sides(bands, gutter):
        words = [word for band in side for word in band.words]
        lines = [(bounding_box(word.box for word in band.words), len(band.words)) for band in side if band.words]
        extent = max(box.x1 for box, _ in lines) - min(box.x0 for box, _ in lines)
        typed = sum(is_typewriter(word.font) for word in words)
        if _is_list(side):
            continue
        if (
            len(lines) < _MIN_LINES
            or median(count for _, count in lines) < _MIN_PAPER_WORDS
            or median(box.width for box, _ in lines) < _PAPER_FILL * extent
            or 2 * typed > len(words)
        ):
            return False
    return True


def _is_list(side: Sequence[_Band]) -> bool:
    """Whether a side is a list: at its left edge stand the bullets of items, and nothing beside their texts."""
    firsts = [min(band.words, key=lambda word: word.box.x0) for band in side if band.words]
    left = min(first.box.x0 for first in firsts)
    height = median(first.box.height for first in firsts)
    at_edge = [first for first in firsts if first.box.x0 - left < _AT_EDGE * height]
    bullets = sum(bool(SURE_BULLET.match(first.text)) for first in at_edge)
    return bullets >= _MIN_ITEMS and bullets >= _ITEMS * len(at_edge)


def is_beside_text(words: Sequence[Word], middle: float, width: float) -> bool:
    """Whether the middle of a page parts some of its words, and what is on one side of it is a column of text."""
    sides = [[word for word in words if (word.box.center[0] < middle) == is_left] for is_left in (True, False)]
    if not all(sides):
        return False
    start, end = max(word.box.x1 for word in sides[0]), min(word.box.x0 for word in sides[1])
    if end - start < _MIN_GUTTER or abs((start + end) / 2 - middle) > _OFF_MIDDLE * width:
        return False
    for side in sides:
        lines = lines_of(side)
        extent = bounding_box(line.box for line in lines).width
        has_words = median(len(line.words) for line in lines) > _MIN_PAPER_WORDS
        if has_words and median(line.box.width for line in lines) >= _PAPER_FILL * extent:
            return True
    return False


def _has_words_for_columns(bands: Sequence[_Band], middle: float) -> bool:
    """Whether both sides have lines enough, with words enough: asked for nearly every line of a page, so it only counts."""
    left = [bisect_left(band.centers, middle) for band in bands]
    right = [len(band.centers) - count for band, count in zip(bands, left, strict=True)]
    for counts in ([count for count in left if count], [count for count in right if count]):
        if len(counts) < _MIN_LINES or median(counts) < _MIN_WORDS:
            return False
    return True
