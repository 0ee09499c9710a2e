"""Running headers and footers: lines that stand at the same place in the margins of many pages, but for page numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from kgrag.documents.pdf.geometry import Line, Word, line_of, lines_of, pieces_of
from kgrag.documents.pdf.outline import folded_titles
from kgrag.documents.pdf.pages import Page

__all__ = ["RunningLine", "remove_furniture"]

_MARGIN = 0.12
"""Share of the page height, at top and bottom, in which running headers and footers stand."""
_OUTER_MARGIN = 0.4
"""Share in which the outermost line of a page may be one: a page of a small book on a large sheet."""
_LARGER = 1.1
"""Of a page's words: larger ones are a heading's."""
_RULED = 0.8
"""Share of the width of a page's text that the line below a large running header covers."""
_PIECE_GAP = 1.5
"""Line heights between two pieces of a line."""
_MOVE = 4.0
"""Points by which a running line's place may differ between pages."""
_MIN_SHARE = 0.3
"""Of the pages: left and right pages may have different lines, and a chapter's pages their own."""
_PART_SHARE = 0.6
"""Of the pages of a part of the document, from the first one that has the line to the last."""
_MIN_OF_PART = 20
_SMALL = 0.8
"""Share of the height of a page's words up to which its last line is in small type."""
_SLOT_MOVE = 1.5
"""Points, for lines whose text changes from chapter to chapter."""
_SLOT_SHARE = 0.5
_SLOT_TEXTS = 0.5
"""Different texts per page up to which a place is a running line's: the first lines of the body are all different."""
_SLOT_TITLES = 0.5
"""Share of them that are titles of the outline, where they are all different: a header that names each page's section."""
_BESIDE_SHARE = 0.6
"""Of the pages with a page number: those that have something beside it."""
_ATTACHED = 0.9
"""Line heights: body text at most this far away makes a repeated line part of the body."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d{1,6}")
_ROMAN_NUMBER = re.compile(r"^\W*[ivxlc]+\W*$")
_DATE = re.compile(r"^\d{1,4}([/.-])\d{1,2}\1\d{1,4}$")
"""What a browser prints above each page, beside the title."""
_MIN_COUNTING = 3
_COUNTING_SHARE = 0.8
_PAGE_NUMBER = re.compile(
    r"^\W*(?:page|seite|página|pagina|p\.)?\s*(\d{1,5})(?:\s*(?:/|of|von|de|di)\s*\d{1,5})?\W*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RunningLine:
    """A running header or footer, written with `#` for the numbers that change."""

    text: str
    top: bool
    pages: tuple[int, ...]
    examples: tuple[str, ...]
    """The different texts, as written; at most three."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a line in a margin."""

    page: int
    top: bool
    distance: float
    """Points from the page's upper or lower edge."""
    line: Line

    @property
    def key(self) -> str:
        """Its text without the numbers."""
        return _NUMBER.sub("#", self.line.text.casefold())


def remove_furniture(
    pages: Sequence[Page], titles: frozenset[str] = frozenset()
) -> tuple[list[Page], tuple[RunningLine, ...]]:
    """Return the pages without their running headers and footers, and what was removed.

    A piece of a line in the margins, or of a page's first or last line, is one if the same text, numbers apart, stands at the same
    height of at least three tenths (and two) of the pages, or of twenty and most of a part's, if it is a page number that counts with
    the pages, or if it stands beside one in its font. In the margins it is one, too, if it begins or ends with such a number, or if it
    stands where half of the pages, or of the left or right ones, have a line of the same style, with few different texts (chapter
    titles) or with titles of the outline, of which `titles` are `folded_titles`. Not if body text follows closely. A page's last line,
    wherever it stands, is one if it is a page number alone and counts with as many pages, or says the same in small type on twenty and
    most of a part's.
    """
    pieces = [piece for page in pages for piece in _margin_pieces(page)]
    within = {page.number: _MARGIN * page.height for page in pages}
    in_margins = [piece for piece in pieces if piece.distance <= within[piece.page]]
    counting = _counting(pieces, len(pages))
    series = [
        *_same_text(pieces, len(pages)),
        *counting,
        *_beside_numbers(counting, pieces, titles),
        *_with_page_number(in_margins, len(pages)),
        *_same_slot(in_margins, len(pages), titles),
    ]
    running = [*_without_body(series, {page.number: page for page in pages}), *_repeated_last_lines(pages)]
    gone: dict[int, set[Word]] = defaultdict(set)
    removed: list[RunningLine] = []
    for group in running:
        fresh = [piece for piece in group if not gone[piece.page].issuperset(piece.line.words)]
        for piece in fresh:
            gone[piece.page].update(piece.line.words)
        removed.extend(_removed(fresh))
    kept = [replace(page, words=tuple(word for word in page.words if word not in gone[page.number])) for page in pages]
    return kept, tuple(removed)


def _margin_pieces(page: Page) -> list[_Piece]:
    """The lines in the margins, cut at wide gaps: the left part of a footer may stay the same while the right part changes."""
    band = _MARGIN * page.height
    upright = [word for word in page.words if word.level]
    words = [word for word in upright if not band < word.box.center[1] < page.height - band]
    words += [word for word in _outermost(upright, page) if word not in words]
    pieces: list[_Piece] = []
    for line in (piece for whole in lines_of(words) for piece in pieces_of(whole, _PIECE_GAP)):
        y = line.box.center[1]
        top = y < page.height / 2
        pieces.append(_Piece(page.number, top, y if top else page.height - y, line))
    return pieces


def _outermost(words: Sequence[Word], page: Page) -> list[Word]:
    """The first and the last line of a page, where they stand in its upper and lower part.

    They are no larger than its text, but for a first line above a line that is drawn over most of its width.
    """
    if not words:
        return []
    size = _LARGER * median(word.box.height for word in words)
    first = min(words, key=lambda word: word.box.y0).box
    last = max(words, key=lambda word: word.box.y1).box
    width = max(word.box.x1 for word in words) - min(word.box.x0 for word in words)
    is_set_off = any(
        rule.horizontal and 0 <= rule.at - first.y1 < first.height and rule.end - rule.start > _RULED * width
        for rule in page.rules
    )
    return [
        word
        for word in words
        if (
            word.box.center[1] < first.y1
            and word.box.y1 < _OUTER_MARGIN * page.height
            and (word.box.height <= size or is_set_off)
        )
        or (
            word.box.center[1] > last.y0 and word.box.y0 > (1 - _OUTER_MARGIN) * page.height and word.box.height <= size
        )
    ]


def _same_text(pieces: Sequence[_Piece], page_count: int) -> list[list[_Piece]]:
    by_text: dict[tuple[str, bool], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        if piece.key.strip("#,. /|-–—()") or _DATE.match(piece.line.text):
            by_text[piece.key, piece.top].append(piece)
    return [
        group
        for found in by_text.values()
        for same_height in _same_height(found, _MOVE)
        for group in _same_or_counting(same_height)
        if _on_enough_pages(group, page_count)
    ]


def _on_enough_pages(group: Sequence[_Piece], page_count: int) -> bool:
    """Whether a line is on three tenths of the pages, or on most of those of one part: a report, before its exhibits."""
    count = _page_count(group)
    numbers = [piece.page for piece in group]
    part = max(numbers) - min(numbers) + 1
    return count >= max(2, _MIN_SHARE * page_count) or count >= max(_MIN_OF_PART, _PART_SHARE * part)


def _same_or_counting(group: Sequence[_Piece]) -> list[list[_Piece]]:
    """The whole group if a number in its texts counts with the pages, else one group per text: pins `A1`, `A2` are no page numbers."""
    offsets: Counter[tuple[int, int]] = Counter()
    for piece in group:
        offsets.update(
            {(index, int(number) - piece.page) for index, number in enumerate(_DIGITS.findall(piece.line.text))}
        )
    if offsets and offsets.most_common(1)[0][1] >= _COUNTING_SHARE * len(group):
        return [list(group)]
    by_text: dict[str, list[_Piece]] = defaultdict(list)
    for piece in group:
        by_text[piece.line.text].append(piece)
    return list(by_text.values())


def _counting(pieces: Sequence[_Piece], page_count: int) -> list[list[_Piece]]:
    by_offset: dict[tuple[int, bool], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        if number := _PAGE_NUMBER.match(piece.line.text):
            by_offset[int(number[1]) - piece.page, piece.top].append(piece)
    needed = max(2, _MIN_SHARE * page_count)
    counting = [
        group for found in by_offset.values() for group in _same_height(found, _MOVE) if _page_count(group) >= needed
    ]
    roman = [piece for piece in pieces if _ROMAN_NUMBER.match(piece.line.text)]
    return [[*group, *(piece for piece in roman if _stands_as(piece, group))] for group in counting]


def _stands_as(piece: _Piece, numbers: Sequence[_Piece]) -> bool:
    """Whether a piece stands where page numbers do, in their font: the Roman ones of a preface."""
    like = numbers[0]
    return piece.top == like.top and piece.line.font == like.line.font and abs(piece.distance - like.distance) <= _MOVE


def _with_page_number(pieces: Sequence[_Piece], page_count: int) -> list[list[_Piece]]:
    """What begins or ends with a number that counts with the pages, at one place and in one font: `Safety 12`, `13 Wiring`."""
    series: dict[tuple[int, bool, bool, str], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        words = piece.line.words
        for is_last, number in ((False, words[0].text), (True, words[-1].text)):
            if len(words) > 1 and _DIGITS.fullmatch(number):
                series[int(number) - piece.page, piece.top, is_last, piece.line.font].append(piece)
    needed = max(_MIN_COUNTING, _MIN_SHARE * page_count)
    return [
        group for found in series.values() for group in _same_height(found, _SLOT_MOVE) if _page_count(group) >= needed
    ]


def _beside_numbers(
    counting: Sequence[list[_Piece]], pieces: Sequence[_Piece], titles: frozenset[str]
) -> Iterator[list[_Piece]]:
    """Yield what stands in the line of a page number on most of the pages that have one there: titles of chapters.

    They are in its font, or named by the outline.
    """
    for numbers in counting:
        by_page = {piece.page: piece for piece in numbers}
        group = [
            piece
            for piece in pieces
            if (number := by_page.get(piece.page))
            and piece is not number
            and piece.top == number.top
            and abs(piece.distance - number.distance) <= _SLOT_MOVE
        ]
        in_font = [piece for piece in group if piece.line.font == by_page[piece.page].line.font]
        for found in (in_font, group if _name_sections(group, titles) else []):
            if len({piece.page for piece in found}) >= _BESIDE_SHARE * len(by_page):
                yield found


def _repeated_last_lines(pages: Sequence[Page]) -> list[list[_Piece]]:
    """What stands right below the text: pages of a report that was printed from a browser are filled to any height.

    Titles in small type that are the same on twenty pages and most of a part's, and then page numbers that count.
    """
    by_text: dict[tuple[str, str], list[_Piece]] = defaultdict(list)
    for page in pages:
        piece = _last_line(page.number, page.height, words := [word for word in page.words if word.level])
        if piece is not None and piece.line.size < _SMALL * median(word.box.height for word in words):
            by_text[piece.line.text, piece.line.font].append(piece)
    titles = [group for group in by_text.values() if len(group) >= _MIN_OF_PART and _on_enough_pages(group, len(pages))]
    gone = {word for group in titles for piece in group for word in piece.line.words}
    by_offset: dict[int, list[_Piece]] = defaultdict(list)
    for page in pages:
        piece = _last_line(page.number, page.height, [word for word in page.words if word.level and word not in gone])
        if piece is not None and (number := _PAGE_NUMBER.match(piece.line.text)):
            by_offset[int(number[1]) - page.number].append(piece)
    counting = [group for group in by_offset.values() if len(group) > 2 and _on_enough_pages(group, len(pages))]
    return [*titles, *counting]


def _last_line(page: int, height: float, words: Sequence[Word]) -> _Piece | None:
    """The lowest line of a page that has others."""
    if not words:
        return None
    lowest = max(words, key=lambda word: word.box.y1).box
    line = line_of([word for word in words if word.box.y1 > lowest.y0 and word.box.center[1] > lowest.y0])
    return _Piece(page, False, height - line.box.center[1], line) if len(line.words) < len(words) else None


def _same_slot(pieces: Sequence[_Piece], page_count: int, titles: frozenset[str]) -> list[list[_Piece]]:
    by_style: dict[tuple[str, float, bool], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        by_style[piece.line.font, round(piece.line.size), piece.top].append(piece)
    return [
        group
        for found in by_style.values()
        for group in _same_height(found, _SLOT_MOVE)
        if _page_count(group) >= max(4, _SLOT_SHARE * _page_count_of_sides(group, page_count))
        and (len({piece.key for piece in group}) <= _SLOT_TEXTS * len(group) or _name_sections(group, titles))
    ]


def _page_count_of_sides(group: Sequence[_Piece], page_count: int) -> float:
    """How many pages could have the line: left pages, right pages, or all."""
    return page_count / 2 if len({piece.page % 2 for piece in group}) == 1 else page_count


def _name_sections(group: Sequence[_Piece], titles: frozenset[str]) -> bool:
    named = sum(not titles.isdisjoint(folded_titles(piece.line.text)) for piece in group)
    return named >= _SLOT_TITLES * len(group)


def _page_count(group: Sequence[_Piece]) -> int:
    return len({piece.page for piece in group})


def _same_height(found: Sequence[_Piece], move: float) -> list[list[_Piece]]:
    groups: list[list[_Piece]] = []
    for piece in sorted(found, key=lambda piece: piece.distance):
        if groups and piece.distance - groups[-1][0].distance <= move:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _without_body(series: Sequence[list[_Piece]], pages: dict[int, Page]) -> list[list[_Piece]]:
    """Leave out what turns out to be body text, and then what belongs to that."""
    running = list(series)
    while True:
        gone: dict[int, set[Word]] = defaultdict(set)
        for piece in (piece for group in running for piece in group):
            gone[piece.page].update(piece.line.words)
        kept = [group for group in running if not _belongs_to_body(group, pages, gone)]
        if len(kept) == len(running):
            return kept
        running = kept


def _belongs_to_body(group: Sequence[_Piece], pages: dict[int, Page], gone: dict[int, set[Word]]) -> bool:
    """Whether body text is close on most of the pages, or stands on the same line: a table that goes on from page to page."""
    with_body = 0
    bare_number = all(_PAGE_NUMBER.match(piece.line.text) for piece in group)
    for piece in group:
        box, reach = piece.line.box, _ATTACHED * piece.line.size
        with_body += any(
            word.box.touches(box, reach) or (not bare_number and box.y0 <= word.box.center[1] <= box.y1)
            for word in pages[piece.page].words
            if word.level and word not in gone[piece.page]
        )
    return with_body > len(group) / 2


def _removed(group: Sequence[_Piece]) -> list[RunningLine]:
    """One entry per text, numbers apart."""
    by_key: dict[str, list[_Piece]] = defaultdict(list)
    for piece in group:
        by_key["#" if _PAGE_NUMBER.match(piece.line.text) else piece.key].append(piece)
    entries: list[RunningLine] = []
    for key, pieces in by_key.items():
        texts = tuple(dict.fromkeys(piece.line.text for piece in pieces))
        numbers = tuple(sorted({piece.page for piece in pieces}))
        entries.append(RunningLine(texts[0] if len(texts) == 1 else key, pieces[0].top, numbers, texts[:3]))
    return entries
