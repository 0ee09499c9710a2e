"""Pages of a PDF as pictures, and where a quotation stands on them: for those who want to see a source with their own eyes.

pdfium is not thread-safe, and files are of anybody: whoever serves many people calls these functions in a process of its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from kgrag.documents.pdf.geometry import Box
from kgrag.documents.pdf.page_view import view_of
from kgrag.errors import DocumentError
from kgrag.text.quotes import TextWord, find_quote, text_words
from kgrag.types import PageBox

__all__ = ["MAX_PIXELS", "page_sizes", "places_of_quote", "render_page", "text_under"]

MAX_PIXELS = 25_000_000
"""Of one picture: a page may say that it is a kilometre wide."""
AROUND_POINTS = 1.5
"""By which a word may stand out of its box: boxes are rounded, and drawn around the baseline's letters."""
LINE_OVERLAP = 0.5
"""Letters whose heights overlap by this share stand on one line."""
LETTER_SLACK_POINTS = 0.6
"""A mark is drawn so much wider than its letters."""


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except (pypdfium2.PdfiumError, FileNotFoundError) as error:
        raise DocumentError(path, f"cannot be opened: {error}") from error
    try:
        yield document
    finally:
        document.close()


def _page(document: Any, path: Path, number: int) -> Any:
    if not 1 <= number <= len(document):
        raise DocumentError(path, f"expected a page from 1 to {len(document)}, got {number}")
    return document[number - 1]


def page_sizes(path: Path) -> list[tuple[float, float]]:
    """Return width and height of every page in points, as it is shown (turned pages turned)."""
    with _opened(path) as document:
        return [tuple(document.get_page_size(index)) for index in range(len(document))]


def render_page(path: Path, number: int, *, width: int) -> bytes:
    """Draw a page (from 1) `width` pixels wide, at most `MAX_PIXELS` in all, as PNG. Raises `DocumentError`."""
    with _opened(path) as document:
        page = _page(document, path, number)
        across, down = page.get_size()
        if across <= 0 or down <= 0:
            raise DocumentError(path, f"page {number} has no size")
        scale = min(width / across, (MAX_PIXELS / (across * down)) ** 0.5)
        picture = page.render(scale=scale).to_pil()
        file = io.BytesIO()
        picture.convert("RGB").save(file, "PNG", compress_level=4)
        return file.getvalue()


def places_of_quote(path: Path, quote: str, boxes: Sequence[PageBox]) -> list[PageBox]:
    """Return a box around each line of a quotation where it stands inside `boxes`; empty where it does not. Raises `DocumentError`."""
    found: list[PageBox] = []
    with _opened(path) as document:
        for number in sorted({box.page for box in boxes}):
            page = _page(document, path, number)
            with closing(page.get_textpage()) as text:
                letters = _Letters(page, text)
                words = letters.inside([box for box in boxes if box.page == number])
                for place in find_quote(words, quote):
                    found += letters.lines([words[index] for index in place.words], number)
    return list(dict.fromkeys(found))


def text_under(path: Path, boxes: Sequence[PageBox]) -> str:
    """Return the text that stands under boxes, as pdfium extracts it, a line for each box. Raises `DocumentError`."""
    with _opened(path) as document:
        parts = []
        for box in boxes:
            page = _page(document, path, box.page)
            left, bottom, right, top = view_of(page).bounds(Box(box.left, box.top, box.right, box.bottom))
            with closing(page.get_textpage()) as text:
                parts.append(text.get_text_bounded(left=left, bottom=bottom, right=right, top=top))
    return "\n".join(parts)


class _Letters:
    """The letters of a page with their places, from the top left."""

    def __init__(self, page: Any, text: Any) -> None:
        self._text = text
        self._view = view_of(page)
        self._written = "".join(self._character(index) for index in range(text.count_chars()))

    def _character(self, index: int) -> str:
        import pypdfium2.raw as pdfium

        code = pdfium.FPDFText_GetUnicode(self._text, index)
        # One character for each of pdfium's, so that places in the text are numbers of letters; 2 is its mark of a hyphen at a line's end.
        return chr(code) if 0 < code < 0x110000 and code not in (2, 0xFFFE) and not 0xD800 <= code < 0xE000 else " "

    def _box(self, index: int) -> tuple[float, float, float, float]:
        box = self._view.box(*self._text.get_charbox(index))
        return box.x0, box.y0, box.x1, box.y1

    def inside(self, boxes: Sequence[PageBox]) -> list[TextWord]:
        """Return the words whose middle is inside one of the boxes."""
        return [word for word in text_words(self._written) if any(self._is_inside(word, box) for box in boxes)]

    def _is_inside(self, word: TextWord, box: PageBox) -> bool:
        first, last = self._box(word.start), self._box(word.end - 1)
        x, y = (first[0] + last[2]) / 2, (first[1] + first[3]) / 2
        if last[1] > first[3]:  # hyphenated: its beginning counts
            x = (first[0] + first[2]) / 2
        return (
            box.left - AROUND_POINTS <= x <= box.right + AROUND_POINTS
            and box.top - AROUND_POINTS <= y <= box.bottom + AROUND_POINTS
        )

    def lines(self, words: Sequence[TextWord], page: int) -> list[PageBox]:
        """Return a box around the words of each line, words that follow each other on it together."""
        found: list[list[float]] = []
        previous_end = -1
        for word in words:
            # What stands between two words of a place (brackets, signs, a full stop) belongs to it.
            start = previous_end if previous_end >= 0 and word.start - previous_end <= MOST_BETWEEN else word.start
            while start > 0 and start > previous_end and self._written[start - 1] in LEADING:
                start -= 1
            end = word.end
            while end < len(self._written) and self._written[end] in TRAILING:
                end += 1
            for index in range(start, end):
                if self._written[index].isspace():
                    continue
                left, top, right, bottom = self._box(index)
                if right <= left or bottom <= top:
                    continue
                line = found[-1] if found else None
                if line is not None and _share_line(line, top, bottom) and left >= line[0] - (bottom - top):
                    line[:] = [min(line[0], left), min(line[1], top), max(line[2], right), max(line[3], bottom)]
                else:
                    found.append([left, top, right, bottom])
            previous_end = end
        slack = LETTER_SLACK_POINTS
        return [
            PageBox(
                page=page,
                left=round(left - slack, 1),
                top=round(top - slack, 1),
                right=round(right + slack, 1),
                bottom=round(bottom + slack, 1),
            )
            for left, top, right, bottom in found
        ]


MOST_BETWEEN = 4
LEADING = "-–−±+<>≤≥~≈([\"'“‘$€£#"
TRAILING = ".,;:!?)]%°\"'”’"


def _share_line(line: Sequence[float], top: float, bottom: float) -> bool:
    overlap = min(line[3], bottom) - max(line[1], top)
    return overlap >= LINE_OVERLAP * min(line[3] - line[1], bottom - top)
