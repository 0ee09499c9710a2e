"""The dashes that a PDF really has: docling-parse writes `–`, `—` and `−` all as `-`, which makes `0 – 10 V` a `0 - 10 V`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from kgrag.documents.pdf.geometry import Box

__all__ = ["Dashes"]

_DASHES = "–—−"
_AS_HYPHEN = str.maketrans(dict.fromkeys(_DASHES, "-"))
_SLACK = 0.3
"""Points around a word in which its characters are looked up."""


class Dashes:
    """Looks up words in pdfium's text of the page; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        import pypdfium2

        self._document = pypdfium2.PdfDocument(path)
        self._text: Any = None

    def __enter__(self) -> Dashes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._document.close()

    def turn_to(self, page_number: int) -> None:
        """Go to a page (from 1). Looks at its text only if it has a dash at all."""
        text = self._document[page_number - 1].get_textpage()
        self._text = text if any(dash in text.get_text_range() for dash in _DASHES) else None

    def restored(self, word: str, box: Box, page_height: float) -> str:
        """Return the word with its dashes, where pdfium has the same word at the same place; else unchanged."""
        if self._text is None or "-" not in word:
            return word
        found: str = self._text.get_text_bounded(
            left=box.x0 - _SLACK, bottom=page_height - box.y1, right=box.x1 + _SLACK, top=page_height - box.y0
        ).strip()
        return found if found.translate(_AS_HYPHEN) == word else word
