"""Links to a place of the same file (a destination, as LaTeX sets them for `Section 3`), which docling-parse leaves out."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from kgrag.documents.pdf.geometry import Box

__all__ = ["links_of"]


def links_of(document: Any, page: Any, height: float) -> Iterator[tuple[Box, str]]:
    """Yield where links to places of the same file lie, and where they lead; `height` in points turns pdfium's coordinates into ours."""
    import pypdfium2.raw as pdfium

    position, link, rect = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        target = _destination(document, link)
        if target and pdfium.FPDFLink_GetAnnotRect(link, rect):
            left, right = sorted((rect.left, rect.right))
            bottom, top = sorted((rect.bottom, rect.top))
            yield Box(left, height - top, right, height - bottom), target


def _destination(document: Any, link: Any) -> str:
    """Return where a link inside the file leads, as a fragment that PDF viewers read (RFC 8118); empty for any other link."""
    import pypdfium2.raw as pdfium

    destination = pdfium.FPDFLink_GetDest(document, link)
    if not destination:
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_GOTO:
            return ""
        destination = pdfium.FPDFAction_GetDest(document, action)
    number = pdfium.FPDFDest_GetDestPageIndex(document, destination) if destination else -1
    size = pdfium.FS_SIZEF()
    if number < 0 or not pdfium.FPDF_GetPageSizeByIndexF(document, number, size):
        return ""
    flags, place = [ctypes.c_int() for _ in range(3)], [ctypes.c_float() for _ in range(3)]
    known = pdfium.FPDFDest_GetLocationInPage(destination, *flags, *place) and flags[1].value
    top = round(max(0.0, size.height - place[1].value)) if known else 0
    return f"#page={number + 1}&zoom=100,0,{top}" if top else f"#page={number + 1}"
