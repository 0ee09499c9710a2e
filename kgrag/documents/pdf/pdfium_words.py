"""The words of a page as pdfium alone has them, for pages that the first reader lost."""

from __future__ import annotations

import ctypes
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kgrag.documents.pdf.geometry import Box, Word, bounding_box
from kgrag.documents.pdf.page_view import PageView

__all__ = ["READ_CODES", "character_at", "font_of", "words_of"]

_MAX_NAME_BYTES = 256
_TEX_CODES = str.maketrans(
    {
        "\x0b": "ff", "\x0c": "fi", "\x0e": "ffi", "\x0f": "ffl",
        "\x10": "“", "\x11": "”", "\x12": "„", "\x13": "«", "\x14": "»", "\x15": "–", "\x16": "—",
        "\x88": "•",
        "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl",
    }
)  # fmt: skip
"""Codes below the letters in TeX's encodings OT1 and T1 (Cork), and the bullet of TS1, which pdfium gives as they are."""
_OWN_CODES = {**{chr(code): text for code, text in _TEX_CODES.items()}, "\r": "fl", "\x02": "-", "\ufffe": "-"}
"""What codes stand for that pdfium did not make up itself: TeX's, `fl` among them, and hyphens at the end of a line."""
READ_CODES = {code: text for code, text in _OWN_CODES.items() if code != "\r"}
"""The same without the end of a line, which pdfium makes up."""

_HIGH_HALVES, _LOW_HALVES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_SAME_LINE = 0.5
"""Points by which the baselines of one line differ."""
_BELOW_LETTERS = 0.27
"""Of the height of a line's tallest letter: how far a line goes below its baseline."""
_UPRIGHT = math.radians(15)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A character as pdfium alone has it."""

    text: str
    box: Box
    line: int
    baseline: float
    angle: float
    font: str


def words_of(text_page: Any, view: PageView) -> tuple[Word, ...]:
    """Return a page's words, each as high as its line: bitmap fonts say no size."""
    runs = [run for line in _lines(text_page, view) for run in _runs(line)]
    above: dict[tuple[int, float], float] = defaultdict(float)
    for run in runs:
        for one in run:
            if one.text.isalnum():
                above[one.line, one.baseline] = max(above[one.line, one.baseline], one.baseline - one.box.y0)
    return tuple(_word(run, above[run[0].line, run[0].baseline]) for run in runs)


def font_of(text_page: Any, index: int) -> str:
    """Return the name of a character's font; empty where it has none."""
    import pypdfium2.raw as pdfium

    buffer = ctypes.create_string_buffer(_MAX_NAME_BYTES)
    length = pdfium.FPDFText_GetFontInfo(text_page, index, buffer, _MAX_NAME_BYTES, ctypes.c_int())
    return buffer.value.decode("utf-8", "replace") if 0 < length <= _MAX_NAME_BYTES else ""


def character_at(text_page: Any, index: int) -> str:
    """Return a character; empty where there is none. pdfium has those beyond the basic plane (letters of formulas) as two halves."""
    import pypdfium2.raw as pdfium

    code: int = pdfium.FPDFText_GetUnicode(text_page, index)
    if code in _HIGH_HALVES:
        low = pdfium.FPDFText_GetUnicode(text_page, index + 1)
        code = 0x10000 + ((code - _HIGH_HALVES.start) << 10) + low - _LOW_HALVES.start if low in _LOW_HALVES else 0
    return chr(code) if 0 < code < 0x110000 and code not in _LOW_HALVES else ""


def _lines(text_page: Any, view: PageView) -> Iterator[list[_Placed]]:
    """Yield the characters between pdfium's line ends that lie on the page."""
    import pypdfium2.raw as pdfium

    line: list[_Placed] = []
    number, bounds = 0, pdfium.FS_RECTF()
    x, y = ctypes.c_double(), ctypes.c_double()
    for index in range(pdfium.FPDFText_CountChars(text_page)):
        character = character_at(text_page, index)
        made_up = pdfium.FPDFText_IsGenerated(text_page, index) == 1
        if made_up and character == "\n":
            yield line
            line, number = [], number + 1
            continue
        pdfium.FPDFText_GetLooseCharBox(text_page, index, bounds)
        pdfium.FPDFText_GetCharOrigin(text_page, index, x, y)
        box = view.box(bounds.left, bounds.bottom, bounds.right, bounds.top)
        if not character or not 0 <= box.center[1] <= view.height or box.center[0] < 0:
            continue
        line.append(
            _Placed(
                character if made_up else _OWN_CODES.get(character, character),
                box,
                line=number,
                baseline=round(view.point(x.value, y.value)[1] / _SAME_LINE) * _SAME_LINE,
                angle=math.remainder(pdfium.FPDFText_GetCharAngle(text_page, index) + view.angle, math.tau),
                font=font_of(text_page, index),
            )
        )
    yield line


def _runs(line: Sequence[_Placed]) -> Iterator[list[_Placed]]:
    """Part a line into words: at spaces, and where font, baseline or direction change."""
    for (is_space, *_), group in groupby(line, key=lambda one: (one.text.isspace(), one.baseline, one.angle, one.font)):
        if not is_space:
            yield list(group)


def _word(run: Sequence[_Placed], above: float) -> Word:
    """Make a word that reaches so far above its baseline as the tallest letter of its line."""
    box, baseline = bounding_box(one.box for one in run), run[0].baseline
    level = abs(run[0].angle) < _UPRIGHT
    if level and above:
        box = Box(box.x0, baseline - above, box.x1, baseline + _BELOW_LETTERS * above)
    text = "".join(one.text for one in run)
    return Word(text, box, run[0].font, bold=False, turned=0 if level else (1 if run[0].angle > 0 else -1))
