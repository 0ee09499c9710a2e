"""A long PDF in parts of some pages, which can be read beside each other: pages say nothing of each other until structure is recovered.

parts_of ─► read_part, of each ─► their pages in order ─► convert_file(source, pages=pages)
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from kgrag.documents.discovery import Source
from kgrag.documents.reading import failure_of, pdf_mode

if TYPE_CHECKING:
    from kgrag.documents.pdf.pages import Page

__all__ = ["LONG_BYTES", "PART_PAGES", "may_have_parts", "parts_of", "read_part"]

PART_PAGES = 100
"""Pages of a part, at most: 4 to 10 s of a processor, and minutes where they are pictures."""
LONG_BYTES = 500_000
"""Smaller PDFs are read as a whole: a page of plain text has more than 2,000."""


def may_have_parts(source: Source) -> bool:
    """Return whether a file is worth the look into it that `parts_of` takes."""
    try:
        return (
            source.format == "pdf" and source.path.suffix.lower() == ".pdf" and source.path.stat().st_size >= LONG_BYTES
        )
    except OSError:  # It is that file's failure when its turn comes.
        return False


def parts_of(source: Source, *, pdf: str, pages: int = PART_PAGES) -> list[range]:
    """Return the numbers of pages (from 1) of each part of a PDF; nothing where it has no more than `pages`, or models read it.

    Raises `DocumentError`, and `InputError` for an unknown PDF mode.
    """
    from kgrag.documents.pdf.conversion import count_pages, is_read_natively

    if not is_read_natively(pdf_mode(pdf)):
        return []
    with failure_of(source.path):
        count = count_pages(source.path)
    parts = math.ceil(count / pages)
    ends = [count * part // parts for part in range(parts + 1)] if parts > 1 else []
    return [range(first + 1, last + 1) for first, last in pairwise(ends)]


def read_part(source: Source, numbers: range) -> list[Page]:
    """Read some pages of a PDF. Raises `DocumentError`."""
    from kgrag.documents.pdf.conversion import read_with_pictures

    with failure_of(source.path):
        return read_with_pictures(source.path, numbers)
