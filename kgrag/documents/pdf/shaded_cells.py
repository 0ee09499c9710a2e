"""Cells that are shaded piece by piece: Word draws margins and lines of text of a cell each as a rectangle of the same colour.

The sides of these pieces are not seen. Where cells have a gap between them, the pieces that touch each other are one cell.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter

from kgrag.common.groups import joined_groups
from kgrag.documents.pdf.geometry import Box, bounding_box

__all__ = ["whole_cells"]

_TOUCHES = 0.3
"""Points by which two rectangles that touch may miss each other."""
_GAP = 6.0
"""Points between two cells of a row, at most."""
_BESIDE = 0.8
"""Share of the lower cell's height by which two cells stand beside each other."""
_FILLED = 0.98
"""Share of its box that the pieces of a cell fill."""
_MAX_PIECES = 3_000
"""Of one colour on a page: more are a picture."""

Colour = tuple[int, int, int]
_BLACK = (0, 0, 0)
"""Also the colour of rectangles that are only drawn around."""


def whole_cells(pieces: Sequence[tuple[Box, Colour]]) -> dict[int, Box]:
    """Return the box of the cell that a rectangle is a piece of, by the rectangle's index; the others are cells by themselves."""
    by_colour: dict[Colour, list[int]] = defaultdict(list)
    for index, (_, colour) in enumerate(pieces):
        if colour != _BLACK:
            by_colour[colour].append(index)
    groups = [
        [indexes[place] for place in group]
        for indexes in by_colour.values()
        if len(indexes) <= _MAX_PIECES
        for group in joined_groups(len(indexes), _touching([pieces[index][0] for index in indexes]))
    ]
    boxes = [bounding_box(pieces[index][0] for index in group) for group in groups]
    inorder = sorted(boxes, key=attrgetter("x0"))
    starts = [box.x0 for box in inorder]
    ends = sorted(boxes, key=attrgetter("x1"))
    last = [box.x1 for box in ends]
    found: dict[int, Box] = {}
    for group, box in zip(groups, boxes, strict=True):
        if len(group) < 2 or not _is_filled(box, {pieces[index][0] for index in group}):
            continue
        after = inorder[bisect_right(starts, box.x1 + _TOUCHES) : bisect_right(starts, box.x1 + _GAP)]
        before = ends[bisect_left(last, box.x0 - _GAP) : bisect_left(last, box.x0 - _TOUCHES)]
        if any(_overlap(box, other) >= _BESIDE * min(box.height, other.height) for other in (*after, *before)):
            found.update(dict.fromkeys(group, box))
    return found


def _is_filled(box: Box, pieces: set[Box]) -> bool:
    return _FILLED * box.area <= sum(piece.area for piece in pieces) <= box.area / _FILLED


def _overlap(one: Box, other: Box) -> float:
    return min(one.y1, other.y1) - max(one.y0, other.y0)


def _touching(boxes: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of rectangles that share a part of a side."""
    by_left = sorted(range(len(boxes)), key=lambda index: boxes[index].x0)
    by_top = sorted(range(len(boxes)), key=lambda index: boxes[index].y0)
    lefts, tops = [boxes[index].x0 for index in by_left], [boxes[index].y0 for index in by_top]
    for index, box in enumerate(boxes):
        beside = by_left[bisect_left(lefts, box.x1 - _TOUCHES) : bisect_right(lefts, box.x1 + _TOUCHES)]
        below = by_top[bisect_left(tops, box.y1 - _TOUCHES) : bisect_right(tops, box.y1 + _TOUCHES)]
        for other in beside:
            if _overlap(box, boxes[other]) > _TOUCHES:
                yield index, other
        for other in below:
            if min(box.x1, boxes[other].x1) - max(box.x0, boxes[other].x0) > _TOUCHES:
                yield index, other
