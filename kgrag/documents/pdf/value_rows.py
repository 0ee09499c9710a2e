"""A line of a page read as a row of a table of values: a label, and numbers with their signs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, line_of
from kgrag.documents.pdf.value_headings import STACKED
from kgrag.documents.pdf.value_units import UNIT

__all__ = [
    "CURRENCY",
    "LABEL_GAP",
    "NUMBER",
    "SIGN",
    "SPAN",
    "Row",
    "Value",
    "is_number",
    "row_of",
    "wide_pieces",
    "with_notes",
]

_PIECE_GAP = 0.45
"""Line heights between two numbers."""
LABEL_GAP = 0.9
"""Line heights between a label and the first number of its row."""
_SIGN_REACH = 2.5
"""Line heights between a number and the `%` or bracket after it."""
_RAISED = 0.85
"""Share of the height of a line's words below which `(1)` is a reference to a note."""
CURRENCY = re.compile(r"^(?:US|A|C|HK)?[$€£¥]$")
SIGN = re.compile(r"^(?:\)?%\)?|\)|pts?|bps)$")
NUMBER = re.compile(
    r"^[-–—−+±~<>≤≥]?\(?(?:US)?[$€£¥]?\(?[-–—−+]?(?:\d+(?:[.,]\d+)*|\.\d+)\)?[%x×]?\)?(?:pts?|bps)?[*†#]?$|^\d{1,2}/\d{1,2}/\d{2,4}$"
)
_NO_NUMBER = re.compile(r"^(?:[-–—−]+[%)]?|\*+|#|[Nn][./]?[AaMm]\.?|NMF?|\((?:[a-z]{1,2}|[ivx]{1,4})\)|[⁰¹²³⁴⁵⁶⁷⁸⁹]+)$")
"""What stands in the place of a number: a dash, `N/A`, a reference to a note."""
_DASH = re.compile(r"^[-–—−]+$")
_NOTE = re.compile(r"^\([\da-z]{1,2}\)$|^[⁰¹²³⁴⁵⁶⁷⁸⁹]+$")
_LETTERED = re.compile(r"^(?:\((?:[a-z]{1,2}|[ivx]{1,4})\)|\*+|[†#])$")
_DATE = re.compile(r"^\d{1,2}/\d{1,2}/\d{2,4}$")
YEAR = re.compile(r"^(?:19|20)\d\d(?:[EAF]|\*)?$")
SPAN = re.compile(r"^(?:years?|yrs?\.?|months?|days?)$", re.IGNORECASE)
"""What a number may have behind it in a column of terms: `7 years`."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its signs."""

    words: tuple[Word, ...]
    number: tuple[float, float]
    """From x to x, without a currency sign, which stands far to its left."""

    @property
    def box(self) -> Box:
        """Around all its words."""
        return bounding_box(word.box for word in self.words)

    @property
    def is_year(self) -> bool:
        """Whether it is a year, with or without a reference to a note."""
        texts = [word.text for word in self.words]
        return any(map(YEAR.match, texts)) and all(YEAR.match(text) or _NO_NUMBER.match(text) for text in texts)

    def as_word(self) -> Word:
        """One word: `$1,343`, `(5.2)%`; words of a range stay parted by a blank."""
        text = self.words[0].text
        for left, right in pairwise(self.words):
            glued = CURRENCY.match(left.text) or SIGN.match(right.text) or left.text.endswith("(")
            text += right.text if glued else f" {right.text}"
        return replace(self.words[0], text=text, box=self.box, link=None)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the page: a label and numbers; without numbers it is any text."""

    line: Line
    label: tuple[Word, ...]
    values: tuple[Value, ...]

    @property
    def size(self) -> float:
        """Height of its words: dashes have none, and some fonts give each glyph its own."""
        return max(self.line.size, median(sorted(word.box.height for word in self.line.words)), 1.0)

    @property
    def is_header(self) -> bool:
        """Whether its numbers are years: several, or one beside other headings; or dates in bold type."""
        if len(self.values) > 1 and all(_DATE.match(word.text) for value in self.values for word in value.words):
            return all(word.bold for word in self.line.words)
        if not all(value.is_year for value in self.values):
            return False
        if len(self.values) > 1 or not self.label or len(wide_pieces(self.label, self.size)) > 1:
            return True
        return bool(UNIT.search(" ".join(word.text for word in self.label)))

    @property
    def middle(self) -> float:
        """The y of the middle of its words, which a raised reference to a note does not move."""
        return median(word.box.center[1] for word in self.line.words)

    @property
    def label_end(self) -> float:
        """The x where the label ends."""
        return max((word.box.x1 for word in self.label), default=self.line.box.x0)


def with_notes(lines: Sequence[Line]) -> list[Line]:
    """Put raised references to notes that stand on a label's line behind their number, which is on the line below."""
    result = list(lines)
    for index, (line, below) in enumerate(pairwise(lines)):
        line = result[index]
        words = list(line.words)
        tall = max(word.box.height for word in words)
        notes: list[Word] = []
        while len(words) > 1 and _NOTE.match(words[-1].text) and words[-1].box.height < _RAISED * tall:
            if words[-1].box.x0 - words[-2].box.x1 < LABEL_GAP * line.size and not notes:
                break
            notes.append(words.pop())
        values = row_of(below).values
        near = below.pitch_base - line.pitch_base < STACKED[0] * line.size
        behind = all(
            any(0 < note.box.x0 - value.box.x1 < _SIGN_REACH * below.size for value in values) for note in notes
        )
        if notes and near and behind and not row_of(line_of(words)).values:
            result[index] = line_of(words)
            result[index + 1] = line_of([*below.words, *notes])
    return result


def row_of(line: Line) -> Row:
    """Read a line from its right end as long as there are numbers."""
    pieces = _pieces(line)
    tall = max(word.box.height for word in line.words)
    values: list[Value] = []
    index = len(pieces)
    signs: list[Word] = []
    while index > 0:
        piece = pieces[index - 1]
        if all(SIGN.match(word.text) for word in piece) or _is_note_of_number(pieces, index - 1, line.size):
            signs = [*piece, *signs]
        elif len(piece) == 1 and CURRENCY.match(piece[0].text):
            if not values or signs or CURRENCY.match(values[-1].words[0].text):
                break
            values[-1] = Value((piece[0], *values[-1].words), values[-1].number)
        elif all(_NOTE.match(word.text) and word.box.height < _RAISED * tall for word in piece):
            signs = [*piece, *signs]
        elif all(_is_value(word.text) for word in piece):
            if signs and signs[0].box.x0 - piece[-1].box.x1 > _SIGN_REACH * line.size:
                break
            numbers = [word for word in (*piece, *signs) if not CURRENCY.match(word.text)]
            if not numbers:
                break
            values.append(Value((*piece, *signs), (numbers[0].box.x0, numbers[-1].box.x1)))
            signs = []
        else:
            break
        index -= 1
    if signs and values and all(_NOTE.match(word.text) for word in signs):
        index, signs = index + 1, []
    label = tuple(word for piece in pieces[:index] for word in piece)
    values.reverse()
    if signs or not values or not any(NUMBER.match(word.text) for value in values for word in value.words):
        return Row(line, line.words, ()) if not _only_dashes(values, signs) else Row(line, label, tuple(values))
    if not label and len(values) > 1 and values[0].is_year and not all(value.is_year for value in values):
        label, values = values[0].words, values[1:]  # a year that heads its row
    spans = any(SPAN.match(word.text) for value in values for word in value.words)
    if spans and (len(wide_pieces(label, line.size)) != 1 or UNIT.search(" ".join(word.text for word in label))):
        return Row(line, line.words, ())  # headings: `1 year`, `5 years`
    close = bool(label) and values[0].box.x0 - label[-1].box.x1 < LABEL_GAP * line.size
    if close and (len(values) < 2 or not CURRENCY.match(values[0].words[0].text)):
        return Row(line, line.words, ())
    return Row(line, label, tuple(values))


def _is_note_of_number(pieces: Sequence[Sequence[Word]], at: int, size: float) -> bool:
    """Whether a piece is a reference `(a)` right after a number, and not in its place."""
    if at == 0 or not all(_LETTERED.match(word.text) for word in pieces[at]):
        return False
    before = pieces[at - 1][-1]
    return bool(NUMBER.match(before.text)) and pieces[at][0].box.x0 - before.box.x1 < _SIGN_REACH * size


def _only_dashes(values: Sequence[Value], signs: Sequence[Word]) -> bool:
    return len(values) > 1 and not signs


def _is_value(text: str) -> bool:
    return any(form.match(text) for form in (NUMBER, _NO_NUMBER, SIGN, CURRENCY, SPAN))


def _pieces(line: Line) -> list[list[Word]]:
    """Words close to each other; a currency sign begins a piece."""
    pieces: list[list[Word]] = [[line.words[0]]]
    for left, right in pairwise(line.words):
        wide = right.box.x0 - left.box.x1 > _PIECE_GAP * line.size
        if wide or CURRENCY.match(right.text) or (NUMBER.match(left.text) and NUMBER.match(right.text)):
            pieces.append([right])
        else:
            pieces[-1].append(right)
    return pieces


def is_number(word: Word) -> bool:
    """Whether a word is a number, or a dash in the place of one, and no year."""
    return bool((NUMBER.match(word.text) and not YEAR.match(word.text)) or _DASH.match(word.text))


def wide_pieces(words: Sequence[Word], size: float) -> list[list[Word]]:
    """Cut words of one line where the gap is as wide as between a label and its number; `size` is the line's height."""
    if not words:
        return []
    pieces: list[list[Word]] = [[words[0]]]
    for left, right in pairwise(words):
        if right.box.x0 - left.box.x1 > LABEL_GAP * size:
            pieces.append([right])
        else:
            pieces[-1].append(right)
    return pieces
