"""The lines, shaded rectangles and drawings of a page, from the shapes that docling-parse reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from kgrag.documents.pdf.geometry import Box
from kgrag.documents.pdf.shaded_cells import whole_cells

if TYPE_CHECKING:
    from docling_core.types.doc.page import PdfShape

__all__ = ["Fill", "Rule", "Shapes", "read_shapes", "rules_of_images"]

_THIN = 3.0
"""Points: a filled rectangle at most this thick is a ruling line."""
_MARK = 8.0
"""Points: a shape at most this wide and high is a bullet or a speck."""
_OUTSIDE = 5.0
"""Points beyond the page: such a shape is only seen in part (a clipped background), so its box says nothing."""
_STRAIGHT = 0.5
"""Points by which a line may lean and still be straight."""
_ABUTS = 0.1
"""Points between thin images of which a picture is put together in strips; rules have more between them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line, horizontal or vertical."""

    horizontal: bool
    at: float
    """y of a horizontal rule, x of a vertical one."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Fill:
    """A rectangle that is larger than a line: a shaded cell, or a frame."""

    box: Box
    rgb: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shapes:
    """What is drawn on a page."""

    rules: tuple[Rule, ...]
    fills: tuple[Fill, ...]
    marks: tuple[Box, ...]
    """Small shapes: bullets are drawn as such."""
    drawings: tuple[Box, ...]
    """Shapes with curves or slanting lines."""


def read_shapes(shapes: Iterable[PdfShape], width: float, height: float) -> Shapes:
    """Put the shapes of a page, so large in points, where they belong."""
    rules: list[Rule] = []
    marks: list[Box] = []
    drawings: list[Box] = []
    drawn: list[_Rectangle] = []
    for shape in shapes:
        _sort_shape(shape, (width, height), rules, drawn, marks, drawings)
    rectangles = _with_whole_cells(drawn)
    return Shapes(
        rules=(*rules, *(side for rectangle in rectangles for side in rectangle.sides)),
        fills=tuple(Fill(rectangle.box, rectangle.rgb) for rectangle in rectangles if rectangle.is_fill),
        marks=(*marks, *(rectangle.box for rectangle in rectangles if rectangle.is_mark)),
        drawings=tuple(drawings),
    )


def rules_of_images(images: Sequence[Box]) -> dict[Box, Rule]:
    """Return the images that are rules, as such: Ghostscript writes those of dvips as pictures of one dot."""
    thin = [box for box in images if min(box.width, box.height) <= _THIN / 2 and max(box.width, box.height) > _THIN]
    lying = sorted((box for box in thin if box.height < box.width), key=lambda box: box.y0)
    standing = sorted((box for box in thin if box.width < box.height), key=lambda box: box.x0)
    strips = {
        *(box for pair in pairwise(lying) if abs(pair[1].y0 - pair[0].y1) <= _ABUTS for box in pair),
        *(box for pair in pairwise(standing) if abs(pair[1].x0 - pair[0].x1) <= _ABUTS for box in pair),
    }
    return {
        box: Rule(True, box.center[1], box.x0, box.x1)
        if box.height < box.width
        else Rule(False, box.center[0], box.y0, box.y1)
        for box in thin
        if box not in strips
    }


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """A rectangle as it is drawn, and what it is where it is no piece of a cell."""

    box: Box
    rgb: tuple[int, int, int]
    sides: tuple[Rule, ...] = ()
    is_fill: bool = False
    is_mark: bool = False


def _sort_shape(
    shape: PdfShape,
    page_size: tuple[float, float],
    rules: list[Rule],
    rectangles: list[_Rectangle],
    marks: list[Box],
    drawings: list[Box],
) -> None:
    """Put a shape where it belongs."""
    width, height = page_size
    points = [(point.x, height - point.y) for point in shape.points]
    if len(points) < 2:
        return
    xs, ys = [x for x, _ in points], [y for _, y in points]
    box = Box(min(xs), min(ys), max(xs), max(ys))
    segments = list(pairwise(points))
    slants = any(abs(a[0] - b[0]) > _STRAIGHT and abs(a[1] - b[1]) > _STRAIGHT for a, b in segments)
    is_rectangle = len(points) in (4, 5) and not slants and box.area > 0
    color = shape.rgb_filling
    rgb = (color.r, color.g, color.b)
    if box.width <= _MARK and box.height <= _MARK and min(box.width, box.height) > 0.3 * max(box.width, box.height):
        if is_rectangle:
            rectangles.append(_Rectangle(box, rgb, is_mark=True))
        else:
            marks.append(box)
        return
    if box.x0 < -_OUTSIDE or box.y0 < -_OUTSIDE or box.x1 > width + _OUTSIDE or box.y1 > height + _OUTSIDE:
        return
    if slants:
        if box.area < 0.9 * width * height:
            drawings.append(box)
        return
    if box.height <= _THIN < box.width:
        sides = [Rule(True, box.center[1], box.x0, box.x1)]
    elif box.width <= _THIN < box.height:
        sides = [Rule(False, box.center[0], box.y0, box.y1)]
    elif box.area >= 0.9 * width * height:
        return
    else:
        # A rectangle of four points is closed by the fill.
        sides = list(_sides([*segments, (points[-1], points[0])] if len(points) == 4 else segments))
    if is_rectangle:
        rectangles.append(_Rectangle(box, rgb, tuple(sides), is_fill=min(box.width, box.height) > _THIN))
    else:
        rules.extend(sides)


def _sides(segments: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> Iterator[Rule]:
    for (x0, y0), (x1, y1) in segments:
        if abs(y0 - y1) <= _STRAIGHT < abs(x0 - x1):
            yield Rule(True, (y0 + y1) / 2, min(x0, x1), max(x0, x1))
        elif abs(x0 - x1) <= _STRAIGHT < abs(y0 - y1):
            yield Rule(False, (x0 + x1) / 2, min(y0, y1), max(y0, y1))


def _with_whole_cells(rectangles: Sequence[_Rectangle]) -> list[_Rectangle]:
    """Return the rectangles, a cell in place of those that are its pieces."""
    whole = whole_cells([(rectangle.box, rectangle.rgb) for rectangle in rectangles])
    result: dict[_Rectangle, None] = {}
    for index, rectangle in enumerate(rectangles):
        box = whole.get(index)
        if box is not None:
            corners = ((box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1), (box.x0, box.y0))
            rectangle = _Rectangle(box, rectangle.rgb, tuple(_sides(list(pairwise(corners)))), is_fill=True)
        result[rectangle] = None
    return list(result)
