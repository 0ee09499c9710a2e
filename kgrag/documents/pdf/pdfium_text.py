"""What docling-parse does not tell, from pdfium: the dashes as they are, and the names of fonts that are not embedded.

docling-parse writes `–`, `—` and `−` all as `-`, which makes `0 – 10 V` a `0 - 10 V`; and for the standard fonts that a file need
not embed (Helvetica, Times, Courier) it gives the name of the resource, `F2`, from which nobody sees that it is bold.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from types import TracebackType
from typing import Any

from kgrag.documents.pdf.geometry import Box

__all__ = ["PdfiumText"]

_DASHES = "–—−"
_AS_HYPHEN = str.maketrans(dict.fromkeys(_DASHES, "-"))
_SLACK = 0.3
"""Points around a word in which its characters are looked up."""
_RESOURCE_NAME = re.compile(r"^[A-Za-z]{0,3}\d*$")
_MAX_NAME_BYTES = 256


class PdfiumText:
    """Looks at a page at a time; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        import pypdfium2

        self._document = pypdfium2.PdfDocument(path)
        self._page_height = 0.0
        self._text: Any = None
        self._has_dashes = False
        self._fonts: dict[str, str] = {}

    def __enter__(self) -> PdfiumText:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._document.close()

    def turn_to(self, page_number: int, page_height: float) -> None:
        """Go to a page (from 1); `page_height` in points turns boxes into pdfium's coordinates."""
        self._page_height = page_height
        self._text = self._document[page_number - 1].get_textpage()
        text = self._text.get_text_range()
        self._has_dashes = any(dash in text for dash in _DASHES)
        self._fonts = {}

    def with_dashes(self, word: str, box: Box) -> str:
        """Return the word with its dashes, where pdfium has the same word at the same place; else unchanged."""
        if not self._has_dashes or "-" not in word:
            return word
        bottom, top = self._page_height - box.y1, self._page_height - box.y0
        found: str = self._text.get_text_bounded(
            left=box.x0 - _SLACK, bottom=bottom, right=box.x1 + _SLACK, top=top
        ).strip()
        return found if found.translate(_AS_HYPHEN) == word else word

    def font_name(self, name: str, box: Box) -> str:
        """Return the font's own name where docling-parse knows only its resource's; `box` holds a word in that font."""
        if not _RESOURCE_NAME.match(name):
            return name
        if name not in self._fonts:
            own = self._font_at(box)
            if not own:
                return name
            self._fonts[name] = own
        return self._fonts[name]

    def _font_at(self, box: Box) -> str:
        import pypdfium2.raw as pdfium

        x, y = box.center
        index = self._text.get_index(x, self._page_height - y, box.width / 2, box.height / 2)
        if index is None:
            return ""
        buffer = ctypes.create_string_buffer(_MAX_NAME_BYTES)
        length = pdfium.FPDFText_GetFontInfo(self._text, index, buffer, _MAX_NAME_BYTES, ctypes.c_int())
        return buffer.value.decode("utf-8", "replace") if 0 < length <= _MAX_NAME_BYTES else ""
