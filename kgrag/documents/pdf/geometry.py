"""Boxes, words and lines on a page.

Coordinates are PDF points (1/72 inch) with the origin in the top left corner: `y0` is a box's upper edge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from kgrag.documents.inline_text import CJK

__all__ = ["Box", "Line", "Word", "bounding_box", "is_typewriter", "line_of", "lines_of", "pieces_of"]

_WORD_GAP = 0.1
"""Share of the glyph height up to which a change of font is no change of word: the space of a narrow font is about 0.15."""
_RAISED_SIZE = 0.88
_RAISED_SHIFT = 0.15
_BOLD_SHARE = 0.9
_TYPEWRITER = re.compile(
    r"mono|nimbusmon|courier|consol|menlo|typewriter|cm(?:sl|i|v)?tt|lmtt|sourcecode|inconsolata|lettergothic|^(?:t1x|tx)tt"
    r"|^(?:sf|ec|l[abcd])(?:tt|it|st|tc)\d",
    re.IGNORECASE,
)
"""The last: Computer Modern with the letters of Europe (cm-super, EC) and of Cyrillic (LH)."""
_MIDDLE = 0.15
"""Share of a line's height by which the middle of low glyphs may be off (Chinese in fonts that have each glyph's own height)."""
_LOW_SIGNS = frozenset("-–—−•·∙▪▫■□●○◦‣")
_SIGN_MIDDLE = 0.4
"""The same for a dash in such a font, which stands for nothing in a column of numbers, and for a bullet."""
_SMALL_LETTERS = 0.6
_BASELINE = 0.08
_UNEVEN = 0.12
"""Share of a line's height by which words without ascenders may miss its middle, in fonts that have each glyph's own height."""
_NEAR_LINES = 5
_SMALLEST = 0.1
"""Points: glyphs of a font without height (Type 3) have size 0, by which nothing can be divided."""
_TINY = 0.75
"""Relative height below which a glyph (a raised sign, a small symbol) need not reach its line's middle."""
_NOTE_MARK = 2
"""Letters that the mark of a note has at most."""
_OVER = re.compile(r"[/⁄]\s?\d*")
"""What follows the numerator of a fraction."""
_SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with upright sides."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Points."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Points."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Square points."""
        return max(0.0, self.width) * max(0.0, self.height)

    @property
    def center(self) -> tuple[float, float]:
        """The middle, (x, y)."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def holds(self, point: tuple[float, float], slack: float = 0.0) -> bool:
        """Whether a point lies inside, or at most `slack` points outside."""
        x, y = point
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack

    def touches(self, other: Box, slack: float = 0.0) -> bool:
        """Whether two boxes overlap, or are at most `slack` points apart."""
        return (
            self.x0 - slack <= other.x1
            and other.x0 <= self.x1 + slack
            and self.y0 - slack <= other.y1
            and other.y0 <= self.y1 + slack
        )


def bounding_box(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around at least one box."""
    found = list(boxes)
    return Box(
        min(box.x0 for box in found),
        min(box.y0 for box in found),
        max(box.x1 for box in found),
        max(box.y1 for box in found),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """Characters without a space between them, in one font. Each is only equal to itself: sets of them are asked often."""

    text: str
    box: Box
    font: str
    bold: bool
    turned: int = 0
    """1 for text that runs upwards, -1 for text that runs downwards (also when it only slants)."""
    link: str | None = None
    """Target of the link annotation that lies on it."""
    spaced: bool = False
    """A space stands before it, though it touches the word before."""

    @property
    def level(self) -> bool:
        """Whether it runs from left to right."""
        return self.turned == 0


@dataclass(frozen=True, slots=True)
class Line:
    """Words side by side, left to right."""

    words: tuple[Word, ...]
    box: Box
    text: str
    size: float
    """Height of most of its characters, in points."""
    font: str
    bold: bool
    """At least nine tenths of its characters are."""
    code: bool
    """At least nine tenths of its characters are in a typewriter font, and not bold."""
    typewriter: bool
    """At least nine tenths of its characters are in such a font, bold or not."""

    @property
    def pitch_base(self) -> float:
        """The y from which distances to other lines are measured: the middle, which sub- and superscripts hardly move."""
        return self.box.center[1]


@cache
def is_typewriter(font: str) -> bool:
    """Whether a font of this name has letters of one width."""
    return bool(_TYPEWRITER.search(font))


def line_of(words: Sequence[Word]) -> Line:
    """Make a line of at least one word, whatever their order."""
    ordered = tuple(sorted(words, key=lambda word: word.box.x0))
    sizes: Counter[tuple[float, str]] = Counter()
    bold = code = typewriter = 0
    for word in ordered:
        sizes[round(word.box.height, 1), word.font] += len(word.text)
        bold += len(word.text) if word.bold else 0
        if is_typewriter(word.font):
            typewriter += len(word.text)
            code += 0 if word.bold else len(word.text)
    (size, font), _ = max(sizes.items(), key=lambda entry: (entry[1], entry[0]))
    return Line(
        words=ordered,
        box=bounding_box(word.box for word in ordered),
        text=_joined(ordered),
        size=max(size, _SMALLEST),
        font=font,
        bold=bold >= _BOLD_SHARE * sum(sizes.values()),
        code=code >= _BOLD_SHARE * sum(sizes.values()),
        typewriter=typewriter >= _BOLD_SHARE * sum(sizes.values()),
    )


def _joined(words: Sequence[Word]) -> str:
    """Write words with spaces where there are gaps, and raised digits as superscripts: `mm` + `2` is `mm²`, never `mm2`.

    Raised digits before a stroke are the numerator of a fraction: `48 1/2`. A raised sign that a line begins with is the mark of a note,
    and no letter of the first word.
    """
    parts = [words[0].text]
    for index, (left, right) in enumerate(pairwise(words)):
        gap = right.box.x0 - left.box.x1
        height = min(left.box.height, right.box.height)
        text = right.text
        if gap < 2 * _WORD_GAP * height and _is_raised(right.box, left.box) and not text.strip("0123456789+-−"):
            over = index + 2 < len(words) and _OVER.fullmatch(words[index + 2].text)
            parts.append(f" {text}" if over and left.text[-1].isdigit() else text.translate(_SUPERSCRIPTS))
            continue
        both_cjk = bool(CJK.match(left.text[-1]) and CJK.match(text[0]))
        touching = (
            not right.spaced
            and abs(gap) < _WORD_GAP * height
            and (left.font != right.font or left.box.height != right.box.height)
        )
        if index == 0 and len(left.text) <= _NOTE_MARK and _is_raised(left.box, right.box):
            touching = False
        if (
            left.text.isdigit()
            and _OVER.fullmatch(text)
            and gap < _WORD_GAP * height
            and _is_raised(left.box, right.box)
        ):
            touching = True
        parts.append(text if touching or (both_cjk and gap < height) else f" {text}")
    return "".join(parts)


def _is_raised(box: Box, beside: Box) -> bool:
    """Whether a word is smaller than the one beside it and stands above its baseline."""
    return box.height < _RAISED_SIZE * beside.height and beside.y1 - box.y1 > _RAISED_SHIFT * beside.height


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Group words into lines, top to bottom: words of one line overlap in height, and tiny ones stand close to a large one."""
    groups: list[list[Word]] = []
    cores: list[Box] = []
    for word in sorted(words, key=lambda word: (word.box.y0, word.box.x0)):
        for index in range(len(groups) - 1, max(-1, len(groups) - _NEAR_LINES), -1):
            if _same_line(word, cores[index], groups[index]):
                groups[index].append(word)
                if word.box.height > cores[index].height:
                    cores[index] = word.box
                break
        else:
            groups.append([word])
            cores.append(word.box)
    lines = [line_of(group) for group in _with_raised(groups, cores)]
    return sorted(lines, key=lambda line: (line.pitch_base, line.box.x0))


def _same_line(word: Word, core: Box, group: Sequence[Word]) -> bool:
    box = word.box
    if box.y0 > core.y1 or box.y1 < core.y0:
        return False
    small, large = (box, core) if box.height <= core.height else (core, box)
    if large.y0 <= small.center[1] <= large.y1:
        if small.height > _TINY * large.height:
            slack = _UNEVEN * large.height
            if small.y0 - slack <= large.center[1] <= small.y1 + slack:
                return True
        else:
            off_middle = abs(small.center[1] - large.center[1]) / large.height
            if off_middle < (_SIGN_MIDDLE if small is box and word.text in _LOW_SIGNS else _MIDDLE):
                return True
            if _gap([box], [other.box for other in group]) < large.height:
                return True
    return any(_on_baseline(box, other.box) for other in group)


def _on_baseline(box: Box, other: Box) -> bool:
    """Whether two words of about one size end at the same height; in some fonts the box of `as` is lower than that of `SG&A`."""
    low, high = sorted((box.height, other.height))
    return low > _SMALL_LETTERS * high and abs(box.y1 - other.y1) <= _BASELINE * high


def _with_raised(groups: Sequence[list[Word]], cores: Sequence[Box]) -> list[list[Word]]:
    """Put raised words, which came before the line that they belong to, into it."""
    lines = [list(group) for group in groups]
    for index, core in enumerate(cores):
        for other in range(index + 1, min(len(cores), index + _NEAR_LINES)):
            large = cores[other]
            tiny = core.height <= _TINY * large.height and large.y0 <= core.center[1] <= large.y1
            if tiny and _gap([word.box for word in groups[index]], [word.box for word in lines[other]]) < large.height:
                lines[other].extend(lines[index])
                lines[index] = []
                break
    return [line for line in lines if line]


def _gap(some: Iterable[Box], others: Sequence[Box]) -> float:
    """Points between two groups of boxes, side by side."""
    return min(max(other.x0 - box.x1, box.x0 - other.x1) for box in some for other in others)


def pieces_of(line: Line, gap: float) -> list[Line]:
    """Cut a line where the space between two words is wider than `gap` line heights."""
    pieces: list[Line] = []
    start = 0
    for index in range(1, len(line.words) + 1):
        at_end = index == len(line.words)
        if at_end or line.words[index].box.x0 - line.words[index - 1].box.x1 > gap * line.size:
            pieces.append(line_of(line.words[start:index]))
            start = index
    return pieces
