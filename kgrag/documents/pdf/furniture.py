"""Running headers and footers: lines that stand at the same place in the margins of many pages, but for page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.documents.pdf.geometry import Line, Word, lines_of
from kgrag.documents.pdf.pages import Page

__all__ = ["RemovedLine", "remove_furniture"]

_MARGIN = 0.12
"""Share of the page height, at top and bottom, in which running headers and footers stand."""
_MOVE = 4.0
"""Points by which a running line's place may differ between pages."""
_MIN_SHARE = 0.3
"""Of the pages: left and right pages may have different lines, and a chapter's pages their own."""
_ATTACHED = 0.6
"""Line heights: body text at most this far away makes a repeated line part of the body."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"^\W*(?:page|seite|página|pagina|p\.)?\s*(\d{1,5})(?:\s*(?:/|of|von|de|di)\s*\d{1,5})?\W*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RemovedLine:
    """A running header or footer, written with `#` for the numbers that change."""

    text: str
    top: bool
    pages: tuple[int, ...]
    examples: tuple[str, ...]
    """The different texts, as written; at most three."""


def remove_furniture(pages: Sequence[Page]) -> tuple[list[Page], tuple[RemovedLine, ...]]:
    """Return the pages without their running headers and footers, and what was removed.

    A piece of a line is one if the same text, numbers apart, stands at the same height of at least three tenths (and two) of the
    pages, or if it is a page number that counts with the pages; not if body text follows closely.
    """
    places: dict[tuple[str, bool], list[tuple[int, float, Line]]] = defaultdict(list)
    counting: dict[tuple[int, bool], list[tuple[int, float, Line]]] = defaultdict(list)
    for page in pages:
        for line in _margin_pieces(page):
            top = line.box.center[1] < page.height / 2
            places[_NUMBER.sub("#", line.text.casefold()), top].append((page.number, _height(line, page, top), line))
            if number := _PAGE_NUMBER.match(line.text):
                counting[int(number[1]) - page.number, top].append((page.number, _height(line, page, top), line))
    needed = max(2, _MIN_SHARE * len(pages))
    lettered = [(key, found) for (key, _), found in places.items() if key.strip("#,. /|-–—()")]
    numbered = [("#", found) for found in counting.values()]
    groups = [
        (key, group)
        for key, found in [*lettered, *numbered]
        for group in _same_height(found)
        if len({number for number, _, _ in group}) >= needed
    ]
    gone: dict[int, set[Word]] = defaultdict(set)
    for _, group in groups:
        for page_number, _, line in group:
            gone[page_number].update(line.words)
    by_number = {page.number: page for page in pages}
    attached = [group for _, group in groups if _belongs_to_body(group, by_number, gone)]
    for group in attached:
        for page_number, _, line in group:
            gone[page_number].difference_update(line.words)
    removed = [_removed(key, group, by_number) for key, group in groups if group not in attached]
    kept = [replace(page, words=tuple(word for word in page.words if word not in gone[page.number])) for page in pages]
    return kept, tuple(removed)


def _belongs_to_body(
    group: Sequence[tuple[int, float, Line]], pages: dict[int, Page], gone: dict[int, set[Word]]
) -> bool:
    """Whether body text follows closely on most of the pages: the header row of a table that goes on from page to page."""
    close = 0
    for number, _, line in group:
        reach = _ATTACHED * line.size
        close += any(
            word not in gone[number] and word.box.touches(line.box, reach) and word.level
            for word in pages[number].words
        )
    return close > len(group) / 2


def _removed(key: str, group: Sequence[tuple[int, float, Line]], pages: dict[int, Page]) -> RemovedLine:
    texts = tuple(dict.fromkeys(line.text for _, _, line in group))
    number, _, line = group[0]
    return RemovedLine(
        text=texts[0] if len(texts) == 1 else key,
        top=line.box.center[1] < pages[number].height / 2,
        pages=tuple(sorted({number for number, _, _ in group})),
        examples=texts[:3],
    )


def _margin_pieces(page: Page) -> list[Line]:
    """The lines in the margins, cut at wide gaps: the left part of a footer may stay the same while the right part changes."""
    band = _MARGIN * page.height
    words = [word for word in page.words if word.level and not band < word.box.center[1] < page.height - band]
    pieces: list[Line] = []
    for line in lines_of(words):
        start = 0
        for index in range(1, len(line.words) + 1):
            at_end = index == len(line.words)
            if at_end or line.words[index].box.x0 - line.words[index - 1].box.x1 > 1.5 * line.size:
                pieces.extend(lines_of(line.words[start:index]))
                start = index
    return pieces


def _height(line: Line, page: Page, top: bool) -> float:
    return line.box.center[1] if top else page.height - line.box.center[1]


def _same_height(found: Sequence[tuple[int, float, Line]]) -> list[list[tuple[int, float, Line]]]:
    groups: list[list[tuple[int, float, Line]]] = []
    for entry in sorted(found, key=lambda entry: entry[1]):
        if groups and entry[1] - groups[-1][0][1] <= _MOVE:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups
