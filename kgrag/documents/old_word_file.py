"""The text of a file of Word 97 to 2003 with its styles, as [MS-DOC] lays it down: pieces of text, and runs of properties over them.

No library on PyPI reads these files, and programs that do (antiword, catdoc, LibreOffice) are not on every machine.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kgrag.documents.old_word_lists import old_word_lists
from kgrag.documents.word_numbering import NumberedList

__all__ = ["CHAPTERS", "FIELD_BEGINS", "FIELD_ENDS", "FIELD_SHOWS", "WordCharacter", "WordFile", "WordParagraph"]

CHAPTERS = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header boxes")
"""Parts of the text, one behind the other."""
LENGTHS_AT, PARTS_AT = 0x4C, 0x9A
"""In the stream of the document: lengths of the chapters, and where the parts of the table stream are, eight bytes for each."""
STYLES, CHARACTERS, PARAGRAPHS, PIECES, LISTS, LIST_REFERENCES = 1, 12, 13, 33, 73, 74
NOTES = {"footnotes": (2, 3), "endnotes": (46, 47)}
"""Numbers of these parts; of notes, where they are referred to and where each begins."""
PAGE, PAGE_NUMBER = 512, 0x3F_FFFF
CHARACTER_ENTRY, PARAGRAPH_ENTRY = 1, 13
"""Bytes of what says where the properties of a run are."""
IN_BYTES = 0x4000_0000
"""Of the place of a piece: its characters are bytes, and it stands at half of the rest."""
ENCODING = "cp1252"
IN_TABLE, ENDS_ROW, HEADS_TABLE, LIST_LEVEL, LIST = 0x2416, 0x2417, 0x3404, 0x260A, 0x460B
DELETED, HIDDEN, BOLD = 0x0800, 0x083C, 0x0835
OPERANDS = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
"""Bytes of the value of a property, by the kind in its number; all others begin with their length."""
TABLE_DEFINITION = 0xD608
"""Its length has two bytes."""
HEADINGS, CONTENTS, TITLE, NO_STYLE = range(1, 10), range(19, 28), 62, 0xFFF
"""Numbers of Word's own styles."""
OWN_BYTES, PARAGRAPH_STYLE = 10, 1
"""Of what every style begins with, where the file does not say how many; and the kind of a style."""
MOST_LISTS = 0x7FE
"""What is above says that a paragraph is in no list any more."""
MOST_BASES = 20
MOST_CHARACTERS = 50_000_000
FIELD_BEGINS, FIELD_SHOWS, FIELD_ENDS = "\x13", "\x14", "\x15"
CELL_END, PARAGRAPH_END, PAGE_END = "\x07", "\r", "\x0c"


@dataclass(frozen=True, slots=True)
class WordCharacter:
    """A character that is shown, or begins, parts or ends a field."""

    text: str
    is_bold: bool


@dataclass(frozen=True, slots=True)
class WordParagraph:
    """A paragraph, a cell's last one, or the end of a row."""

    begin: int
    """Where it begins, counted in characters of the whole text."""
    end: int
    characters: tuple[WordCharacter, ...]
    level: int
    """Of a heading; 0 of others."""
    is_title: bool
    is_contents: bool
    """Whether it is of a table of contents."""
    list_number: int
    """By which it names its list; 0 of what is no item."""
    list_level: int
    """Of an item of a list, from 0; -1 of others."""
    in_table: bool
    ends_cell: bool
    ends_row: bool
    heads_table: bool


@dataclass(frozen=True, slots=True)
class _Run:
    begin: int
    end: int
    style: int
    said: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Style:
    own: int
    """The number of Word's own style that it is."""
    base: int
    """The style that it is made from."""
    said: Mapping[int, int]
    """Properties of its paragraphs."""


NOTHING = _Run(0, 0, 0, {})


class WordFile:
    """The streams of a document and of its table."""

    def __init__(self, main: bytes, table: bytes) -> None:
        self._main = main
        self._table = table
        lengths = [max(0, one) for one in struct.unpack_from(f"<{len(CHAPTERS)}i", main, LENGTHS_AT)]
        self._spans = {name: (sum(lengths[:at]), sum(lengths[: at + 1])) for at, name in enumerate(CHAPTERS)}
        self._text, self._places = self._read_pieces()
        self._paragraphs = self._read_runs(PARAGRAPHS, PARAGRAPH_ENTRY)
        self._characters = self._read_runs(CHARACTERS, CHARACTER_ENTRY)
        self._styles = self._read_styles()

    def paragraphs(self, chapter: str) -> Iterator[WordParagraph]:
        """Yield the paragraphs of one of `CHAPTERS`."""
        begin, stop = self._spans[chapter]
        stop = min(stop, len(self._text))
        at = begin
        while at < stop:
            ends = (self._text.find(mark, at, stop) for mark in (PARAGRAPH_END, CELL_END, PAGE_END))
            end = min((one for one in ends if one >= 0), default=stop - 1)
            yield self._paragraph(at, end)
            at = end + 1

    def lists(self) -> dict[int, NumberedList]:
        """Return the number by which paragraphs name a list → that list, before any item was counted."""
        places = (struct.unpack_from("<I", self._main, PARTS_AT + 8 * part)[0] for part in (LISTS, LIST_REFERENCES))
        return old_word_lists(self._table, *places)

    def notes(self, kind: str) -> Iterator[tuple[int, list[WordParagraph]]]:
        """Yield for each of the `footnotes` or `endnotes` where it is referred to, and its paragraphs."""
        references, begins = (self._numbers(part) for part in NOTES[kind])
        paragraphs = list(self.paragraphs(kind))
        first = self._spans[kind][0]
        for number, (begin, end) in enumerate(pairwise(begins)):
            note = [one for one in paragraphs if first + begin <= one.begin < first + end]
            if number < len(references) and note:
                yield references[number], note

    def _paragraph(self, begin: int, end: int) -> WordParagraph:
        run = _at(self._paragraphs, self._place(end))
        style, sti = run.style, self._sti(run.style)
        list_number = run.said.get(LIST, self._said_by_style(style, LIST))
        list_number = list_number if list_number <= MOST_LISTS else 0
        ends_row = bool(run.said.get(ENDS_ROW))
        return WordParagraph(
            begin,
            end,
            tuple(self._shown(begin, end)),
            level=next((one.own for one in self._bases(style) if one.own in HEADINGS), 0),
            is_title=sti == TITLE,
            is_contents=sti in CONTENTS,
            list_number=list_number,
            list_level=run.said.get(LIST_LEVEL, self._said_by_style(style, LIST_LEVEL)) if list_number else -1,
            in_table=bool(run.said.get(IN_TABLE)) or ends_row,
            ends_cell=self._text[end : end + 1] == CELL_END,
            ends_row=ends_row,
            heads_table=bool(run.said.get(HEADS_TABLE)),
        )

    def _shown(self, begin: int, end: int) -> Iterator[WordCharacter]:
        run = NOTHING
        for at in range(begin, end):
            place = self._place(at)
            if not run.begin <= place < run.end:
                run = _at(self._characters, place)
            if not run.said.get(DELETED) and not run.said.get(HIDDEN):
                yield WordCharacter(self._text[at], bool(run.said.get(BOLD)))

    def _part(self, number: int) -> bytes:
        begin, size = struct.unpack_from("<II", self._main, PARTS_AT + 8 * number)
        return self._table[begin : begin + size]

    def _numbers(self, part: int) -> list[int]:
        """Return the places with which a table begins: as many as grow."""
        data = self._part(part)
        numbers: list[int] = []
        for (number,) in struct.iter_unpack("<i", data[: len(data) // 4 * 4]):
            if number < 0 or (numbers and number < numbers[-1]):
                break
            numbers.append(number)
        return numbers

    def _read_pieces(self) -> tuple[str, list[tuple[int, int, int]]]:
        """Return the text, and of each piece its first character, its place in the stream, and the bytes of a character."""
        data, at = self._part(PIECES), 0
        while data[at : at + 1] == b"\x01":  # properties that pieces refer to
            at += 3 + struct.unpack_from("<H", data, at + 1)[0]
        if data[at : at + 1] != b"\x02":
            raise ValueError("it has no table of pieces")
        size = struct.unpack_from("<I", data, at + 1)[0]
        table = data[at + 5 : at + 5 + size]
        count = max(0, (len(table) - 4) // 12)
        ends = struct.unpack_from(f"<{count + 1}I", table) if count else (0,)
        texts: list[str] = []
        places: list[tuple[int, int, int]] = []
        length = 0
        for number in range(count):
            place = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * number + 2)[0]
            characters = max(0, ends[number + 1] - ends[number])
            width = 1 if place & IN_BYTES else 2
            begin = (place & ~IN_BYTES) // 2 if width == 1 else place
            raw = self._main[begin : begin + characters * width]
            text = raw.decode(ENCODING if width == 1 else "utf-16-le", "replace")
            text = text.ljust(characters)[:characters] if len(raw) == characters * width else text[:characters]
            places.append((length, begin, width))
            texts.append(text)
            length += len(text)
            if length > MOST_CHARACTERS:
                raise ValueError("it has more characters than a document")
        return "".join(texts), places

    def _place(self, at: int) -> int:
        """Return where a character stands in the stream."""
        index = bisect_right(self._places, at, key=lambda one: one[0]) - 1
        if index < 0:
            return 0
        first, begin, width = self._places[index]
        return begin + (at - first) * width

    def _read_runs(self, part: int, entry: int) -> list[_Run]:
        """Return the runs of characters or paragraphs with their properties, in the order of their places."""
        data = self._part(part)
        count = max(0, (len(data) - 4) // 8)
        runs: list[_Run] = []
        for number in struct.unpack_from(f"<{count}I", data, 4 * (count + 1)) if count else ():
            at = (number & PAGE_NUMBER) * PAGE
            page = self._main[at : at + PAGE]
            if len(page) == PAGE:
                runs += _runs_of_page(page, entry)
        return sorted(runs, key=lambda one: one.begin)

    def _read_styles(self) -> list[_Style]:
        data = self._part(STYLES)
        size_of_all = struct.unpack_from("<H", data)[0] if len(data) > 1 else 0
        own_bytes = struct.unpack_from("<H", data, 4)[0] if size_of_all > 3 and len(data) > 5 else OWN_BYTES
        styles: list[_Style] = []
        at = 2 + size_of_all
        while at >= 2 and at + 2 <= len(data):
            size = struct.unpack_from("<H", data, at)[0]
            styles.append(_style(data[at + 2 : at + 2 + size], own_bytes))
            at += 2 + size
        return styles

    def _sti(self, style: int) -> int:
        return self._styles[style].own if style < len(self._styles) else NO_STYLE

    def _bases(self, style: int) -> Iterator[_Style]:
        """Yield a style and those that it is made from."""
        for _ in range(MOST_BASES):
            if style >= len(self._styles):
                return
            yield self._styles[style]
            style = self._styles[style].base

    def _said_by_style(self, style: int, number: int) -> int:
        """Return what the paragraphs of a style are told by it or what it is made from; 0 where nothing is."""
        return next((one.said[number] for one in self._bases(style) if number in one.said), 0)


def _style(data: bytes, own_bytes: int) -> _Style:
    if len(data) < 4:
        return _Style(NO_STYLE, NO_STYLE, {})
    own, base = struct.unpack_from("<HH", data)
    said: dict[int, int] = {}
    if base & 0xF == PARAGRAPH_STYLE and len(data) > own_bytes + 2:
        at = own_bytes + 2 + 2 * struct.unpack_from("<H", data, own_bytes)[0] + 2
        at += at % 2
        if at + 4 <= len(data):
            said = _properties(data[at + 4 : at + 2 + struct.unpack_from("<H", data, at)[0]])
    return _Style(own & 0xFFF, base >> 4, said)


def _at(runs: list[_Run], place: int) -> _Run:
    index = bisect_right(runs, place, key=lambda one: one.begin) - 1
    return runs[index] if index >= 0 and place < runs[index].end else NOTHING


def _runs_of_page(page: bytes, entry: int) -> Iterator[_Run]:
    count = page[PAGE - 1]
    if 4 * (count + 1) + entry * count >= PAGE:
        return
    places = struct.unpack_from(f"<{count + 1}I", page)
    for number in range(count):
        at = 2 * page[4 * (count + 1) + entry * number]
        style, said = 0, b""
        if at and entry == CHARACTER_ENTRY:
            said = page[at + 1 : at + 1 + page[at]]
        elif at:
            size, begin = (2 * page[at] - 1, at + 1) if page[at] else (2 * page[at + 1], at + 2)
            properties = page[begin : begin + size]
            style, said = (struct.unpack_from("<H", properties)[0], properties[2:]) if len(properties) > 1 else (0, b"")
        yield _Run(places[number], places[number + 1], style, _properties(said))


def _properties(data: bytes) -> dict[int, int]:
    """Read properties with their values, the first bytes of which are kept."""
    said: dict[int, int] = {}
    at = 0
    while at + 2 < len(data):
        number = struct.unpack_from("<H", data, at)[0]
        at += 2
        size = OPERANDS.get(number >> 13)
        if size is None:
            size = 1 + (
                struct.unpack_from("<H", data, at)[0]
                if number == TABLE_DEFINITION and at + 2 <= len(data)
                else data[at]
            )
        said[number] = int.from_bytes(data[at : at + min(size, 2)], "little")
        at += size
    return said
