"""Where a page has figures: labels inside a drawing are no paragraphs and no headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kgrag.common.groups import joined_groups
from kgrag.documents.pdf.blocks import TextBlock, TextKind
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, is_typewriter, lines_of, pieces_of
from kgrag.documents.pdf.pages import Page, Rule

__all__ = ["Drawing", "drawings_of", "figure_blocks"]

_GRAIN = 6.0
"""Points: shapes less than two fields of this size apart are one figure."""
_MIN_SIDE = 30.0
_MIN_SHAPES = 6
"""Straight lines and boxes needed for a figure that has neither an image nor a curve."""
_FRAME = 0.96
"""Share of a frame's width that its lines and shades have; those of its sides stand in the rest."""
_SEPARATOR = 0.6
"""Share of the page width from which a lone line separates sections."""
_LONG_LABEL = 8
"""Words in a row from which text inside a figure's box is running text on a coloured ground."""

_SAME_LINE, _WORD_GAP = 0.3, 0.8
"""Line heights by which two words of a line may differ, and between them."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """An image, a diagram, or a framed text."""

    box: Box
    frame: bool = False
    """All lines and shades are as wide as it is, or at its sides: office programs frame a listing line by line."""


def drawings_of(page: Page, tables: Sequence[Box], rules: Iterable[Rule]) -> list[Drawing]:
    """Return the images, drawings and diagrams of a page; `rules` are the lines that made no table."""
    shapes: list[tuple[Box, int]] = [(box, _MIN_SHAPES) for box in (*page.images, *page.drawings)]
    shapes.extend((fill.box, 1) for fill in page.fills)
    for rule in rules:
        if rule.end - rule.start < _SEPARATOR * page.width:
            shapes.append((_rule_box(rule), 1))
    shapes = [(box, weight) for box, weight in shapes if not any(table.holds(box.center, 2.0) for table in tables)]
    drawings: list[Drawing] = []
    for group in _clusters(shapes, page):
        box, weight = bounding_box(shape for shape, _ in group), sum(weight for _, weight in group)
        if weight >= _MIN_SHAPES and box.width >= _MIN_SIDE and box.height >= _MIN_SIDE:
            drawings.append(Drawing(box, all(weight == 1 and _is_of_frame(shape, box) for shape, weight in group)))
    return drawings


def _is_of_frame(shape: Box, box: Box) -> bool:
    at_side = min(shape.x1 - box.x0, box.x1 - shape.x0) <= (1 - _FRAME) * box.width
    return at_side or shape.width >= _FRAME * box.width


def _rule_box(rule: Rule) -> Box:
    if rule.horizontal:
        return Box(rule.start, rule.at, rule.end, rule.at)
    return Box(rule.at, rule.start, rule.at, rule.end)


def _clusters(shapes: Sequence[tuple[Box, int]], page: Page) -> list[list[tuple[Box, int]]]:
    """Group shapes, with their weights, that are near each other, on a coarse raster: linear in their number."""
    return [[shapes[index] for index in group] for group in joined_groups(len(shapes), _near(shapes, page))]


def _near(shapes: Sequence[tuple[Box, int]], page: Page) -> Iterator[tuple[int, int]]:
    columns, rows = int(page.width / _GRAIN) + 1, int(page.height / _GRAIN) + 1
    field = [-1] * (columns * rows)
    for index, (box, _) in enumerate(shapes):
        left, right = max(0, int(box.x0 / _GRAIN) - 1), min(columns - 1, int(box.x1 / _GRAIN) + 1)
        top, bottom = max(0, int(box.y0 / _GRAIN) - 1), min(rows - 1, int(box.y1 / _GRAIN) + 1)
        for row in range(top, bottom + 1):
            for place in range(row * columns + left, row * columns + right + 1):
                if field[place] >= 0:
                    yield index, field[place]
                field[place] = index


def figure_blocks(page: Page, drawings: Sequence[Drawing], words: Iterable[Word]) -> list[TextBlock]:
    """Collect the labels inside each figure, or the lines in a frame, and text that is turned, as one block per figure."""
    free = list(words)
    blocks: list[TextBlock] = []
    taken: set[Word] = set()
    for drawing in sorted(drawings, key=lambda drawing: -drawing.box.area):
        box = drawing.box
        inside = [word for word in free if word not in taken and box.holds(word.box.center, 2.0)]
        level = lines_of(word for word in inside if word.level)
        pieces = [piece for line in level for piece in pieces_of(line, 1.0)]
        labels = [piece for piece in pieces if len(piece.words) < _LONG_LABEL]
        if sum(len(label.words) for label in labels) < len(inside) / 2 and not any(
            box.touches(image) for image in page.images
        ):
            continue
        if _is_in_text(labels, [word for word in free if word.level and not box.holds(word.box.center, 2.0)]):
            continue
        if drawing.frame:
            labels = level
        labels.extend(_turned_lines(inside))
        if labels:
            taken.update(word for label in labels for word in label.words)
            is_listing = drawing.frame and 2 * sum(is_typewriter(word.font) for word in inside) > len(inside)
            kind: TextKind = "code" if is_listing else "figure"
            blocks.append(TextBlock(kind, page.number, bounding_box(label.box for label in labels), tuple(labels)))
    turned = [word for word in free if not word.level and word not in taken]
    if turned:
        lines = tuple(_turned_lines(turned))
        blocks.append(TextBlock("figure", page.number, bounding_box(line.box for line in lines), lines))
    return blocks


def _is_in_text(labels: Sequence[Line], outside: Sequence[Word]) -> bool:
    """Whether most labels have a word of the same line right beside them: the names of buttons, framed within a sentence."""
    beside = sum(
        any(
            abs(word.box.center[1] - label.box.center[1]) < _SAME_LINE * label.size
            and max(label.box.x0 - word.box.x1, word.box.x0 - label.box.x1) < _WORD_GAP * label.size
            for word in outside
        )
        for label in labels
    )
    return 2 * beside > len(labels)


def _turned_lines(words: Iterable[Word]) -> list[Line]:
    """Put turned words that follow each other into lines."""
    turned = [word for word in words if not word.level]
    turned.sort(key=lambda word: (word.turned, word.box.center[0], -word.turned * word.box.center[1]))
    lines: list[list[Word]] = []
    for word in turned:
        before = lines[-1][-1] if lines else None
        follows = (
            before is not None
            and before.turned == word.turned
            and abs(before.box.center[0] - word.box.center[0]) < 0.5 * word.box.width
            and max(before.box.y0 - word.box.y1, word.box.y0 - before.box.y1) < word.box.width
        )
        if follows:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [
        Line(
            tuple(line),
            bounding_box(word.box for word in line),
            " ".join(word.text for word in line),
            line[0].box.width,
            line[0].font,
            bold=False,
            code=False,
            typewriter=False,
        )
        for line in lines
    ]
