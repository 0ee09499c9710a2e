"""Links to a place of the same file (a destination, as LaTeX sets them for `Section 3`), which docling-parse leaves out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from kgrag.documents.pdf.geometry import Box
from kgrag.documents.pdf.page_view import PageView, view_of

__all__ = ["links_of"]


def links_of(document: Any, page: Any, view: Callable[[int], PageView]) -> Iterator[tuple[Box, str]]:
    """Yield where links of a page to places of the same file lie, and where they lead; `view` says how a page, by its index, is shown."""
    import pypdfium2.raw as pdfium

    position, link, rect = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        target = _destination(document, link, view)
        if target and pdfium.FPDFLink_GetAnnotRect(link, rect):
            yield view_of(page).box(rect.left, rect.bottom, rect.right, rect.top), target


def _destination(document: Any, link: Any, view: Callable[[int], PageView]) -> str:
    """Return where a link inside the file leads, as a fragment that PDF viewers read (RFC 8118); empty for any other link."""
    import pypdfium2.raw as pdfium

    destination = pdfium.FPDFLink_GetDest(document, link)
    if not destination:
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_GOTO:
            return ""
        destination = pdfium.FPDFAction_GetDest(document, action)
    number = pdfium.FPDFDest_GetDestPageIndex(document, destination) if destination else -1
    if not 0 <= number < len(document):
        return ""
    flags, place = [ctypes.c_int() for _ in range(3)], [ctypes.c_float() for _ in range(3)]
    known = pdfium.FPDFDest_GetLocationInPage(destination, *flags, *place) and flags[1].value
    top = round(max(0.0, view(number).point(place[0].value, place[1].value)[1])) if known else 0
    return f"#page={number + 1}&zoom=100,0,{top}" if top else f"#page={number + 1}"
