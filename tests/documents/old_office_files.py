"""Writes files of Word, PowerPoint and Excel as their versions before 2007 do, small enough to read: for tests."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from tests.documents.outlook_file import compound_file

TEXT_AT, PARAGRAPH_PAGE, CHARACTER_PAGE = 0x400, 8, 9
IN_TABLE, ENDS_ROW = struct.pack("<HB", 0x2416, 1), struct.pack("<HB", 0x2417, 1)
LIST_ITEM = struct.pack("<HH", 0x460B, 1)
BOLD, DELETED = struct.pack("<HB", 0x0835, 1), struct.pack("<HB", 0x0800, 1)
STYLES = ((0, 0xFFF), (2, 0xFFF), (0xFFE, 1), (19, 0xFFF))
"""Normal, heading 2, one of a user's that is made from heading 2, and `toc 1`, as (Word's own number, base).

Behind them is `heading 1`, whose paragraphs are items of the first list.
"""


def word_file(
    paragraphs: Sequence[tuple[str, int, bytes]],
    *,
    characters: Sequence[tuple[int, int, bytes]] = (),
    notes: Sequence[tuple[int, str]] = (),
    comments: str = "",
    title: str = "",
    flags: int = 0,
    lists: tuple[bytes, bytes] = (b"", b""),
) -> bytes:
    """Write paragraphs (text with its mark at the end, number of the style in `STYLES`, properties) as a .doc.

    `characters` have properties from one place of the text to another, `notes` stand where they are referred to; `lists` are what
    `word_lists` writes.
    """
    text = "".join(one for one, _, _ in paragraphs)
    notes_text = "".join(note for _, note in notes)
    whole = text + notes_text + comments
    spans, at = [], 0
    for one, style, said in [*paragraphs, *((note, 0, b"") for _, note in notes), (comments, 0, b"")]:
        if one:
            spans.append((at, at + len(one), struct.pack("<H", style) + said))
            at += len(one)
    main = bytearray(TEXT_AT) + whole.encode("cp1252")
    main = main.ljust(512 * PARAGRAPH_PAGE, b"\0") + _page(spans, 13) + _page(characters, 1)
    struct.pack_into("<HH", main, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", main, 0x0A, 0x0200 | flags)
    struct.pack_into("<8i", main, 0x4C, len(text), len(notes_text), 0, 0, len(comments), 0, 0, 0)
    table = bytearray(8)
    styles = b"".join(struct.pack("<HHH", 4, own, base << 4) for own, base in STYLES)
    numbered = struct.pack("<HHHHH", 1, 0xFFF << 4 | 1, 0, 0, 0) + struct.pack("<HHH", 1, ord("N"), 0)
    numbered += struct.pack("<HH", 2 + len(LIST_ITEM), 0) + LIST_ITEM
    styles += struct.pack("<H", len(numbered)) + numbered
    pieces = struct.pack("<II", 0, len(whole)) + struct.pack("<HIH", 0, 0x40000000 | 2 * TEXT_AT, 0)
    begins = [0]
    for _, note in notes:
        begins.append(begins[-1] + len(note))
    parts = {
        1: struct.pack("<H", 2) + bytes(2) + styles,
        2: struct.pack(f"<{len(notes) + 1}i", *(at for at, _ in notes), len(text)) + bytes(2 * len(notes)),
        3: struct.pack(f"<{len(begins)}i", *begins),
        12: struct.pack("<III", TEXT_AT, TEXT_AT + len(whole), CHARACTER_PAGE),
        13: struct.pack("<III", TEXT_AT, TEXT_AT + len(whole), PARAGRAPH_PAGE),
        33: b"\x02" + struct.pack("<I", len(pieces)) + pieces,
        73: lists[0],
        74: lists[1],
    }
    for number, content in parts.items():
        struct.pack_into("<II", main, 0x9A + 8 * number, len(table), len(content))
        table += content
    streams = {"WordDocument": bytes(main), "1Table": bytes(table)}
    if title:
        streams["\x05SummaryInformation"] = summary(title.encode("cp1252"), count=2)
    return compound_file(streams)


def word_lists(
    definitions: Sequence[Sequence[tuple[str, int]]], references: Sequence[tuple[int, int | None]]
) -> tuple[bytes, bytes]:
    """Write lists, each as one level or nine (its text with `%1` for numbers, and their kind), and what paragraphs name: (which of them,
    where its first level begins anew)."""
    heads, levels = struct.pack("<h", len(definitions)), b""
    for name, definition in enumerate(definitions):
        heads += struct.pack("<ii18xBB", name, 0, len(definition) == 1, 0)
        for text, kind in definition:
            written = re.sub("%([1-9])", lambda sign: chr(int(sign[1]) - 1), text)
            levels += struct.pack("<iBB9xB8xBBBB", 1, kind, 0, 0, 2, 3, 0, 0) + bytes(5)
            levels += struct.pack("<H", len(written)) + written.encode("utf-16-le")
    named, more = struct.pack("<i", len(references)), b""
    for name, start in references:
        named += struct.pack("<i8xBBBB", name, start is not None, 0, 0, 0)
        more += b"\xff" * 4 + (b"" if start is None else struct.pack("<iI", start, 0x10))
    return heads + levels, named + more


def summary(title: bytes, *, count: int) -> bytes:
    """Write properties: the code page 1252 and a title; `count` is how many there are said to be."""
    said = struct.pack("<HHHH", 2, 0, 1252, 0) + struct.pack("<II", 0x1E, len(title)) + title
    section = struct.pack("<IIIIII", 24 + len(said), count, 1, 24, 2, 32) + said
    return bytes(28) + bytes(16) + struct.pack("<I", 48) + section


def _page(spans: Sequence[tuple[int, int, bytes]], entry: int) -> bytes:
    """Write a page of runs with their properties; the last goes on to the end."""
    page = bytearray(512)
    page[511] = len(spans)
    struct.pack_into(f"<{len(spans)}I", page, 0, *(TEXT_AT + begin for begin, _, _ in spans))
    struct.pack_into("<I", page, 4 * len(spans), TEXT_AT + (spans[-1][1] if spans else 0))
    at = 510
    for number, (_, _, said) in enumerate(spans):
        even = said + b"\0" * (len(said) % 2)
        data = bytes([len(said)]) + said if entry == 1 else bytes([0, len(even) // 2]) + even
        at = (at - len(data)) // 2 * 2
        page[at : at + len(data)] = data
        page[4 * (len(spans) + 1) + entry * number] = at // 2
    return bytes(page)


def record(kind: int, content: bytes = b"", *, instance: int = 0, container: bool = False) -> bytes:
    """Write a record of PowerPoint."""
    return struct.pack("<HHI", instance << 4 | (0xF if container else 0), kind, len(content)) + content


def text_record(kind: int, text: str) -> bytes:
    """Write a text with its kind (0 title, 1 body, 2 notes, 4 other)."""
    return record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, text.encode("utf-16-le"))


def slides_file(outline: bytes, boxes: bytes, notes: bytes) -> bytes:
    """Write a .ppt of one slide: what its outline says, what its boxes of text say, and its notes."""
    place = struct.pack("<IIIII", 2, 0, 0, 256, 0)
    listed = record(0x0FF0, record(0x03F3, place) + outline, container=True)
    listed += record(0x0FF0, record(0x03F3, struct.pack("<IIIII", 3, 0, 0, 300, 0)), instance=2, container=True)
    slide = record(0x03EF, bytes(16) + struct.pack("<II", 300, 0)) + record(0xF00D, boxes, container=True)
    stream, places = b"", []
    for content in (
        record(0x03E8, listed, container=True),
        record(0x03EE, slide, container=True),
        record(0x03F0, record(0xF00D, notes, container=True), container=True),
    ):
        places.append(len(stream))
        stream += content
    directory = len(stream)
    stream += record(0x1772, struct.pack("<IIII", 3 << 20 | 1, *places))
    edit = len(stream)
    stream += record(0x0FF5, struct.pack("<IIIIIII", 256, 0, 0, directory, 1, 0, 0))
    user = record(0x0FF6, struct.pack("<III", 20, 0xE391C05F, edit))
    return compound_file({"PowerPoint Document": stream, "Current User": user})


def sheet_file(rows: Sequence[Sequence[str | float]]) -> bytes:
    """Write a .xls as Excel 4 does: one sheet, without a compound file around it."""
    written = struct.pack("<HHHHH", 0x0409, 6, 0, 0x10, 0)
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            head = struct.pack("<HHH", number, column, 0)
            if isinstance(value, str):
                content = head + struct.pack("<H", len(value)) + value.encode("cp1252")
                written += struct.pack("<HH", 0x0204, len(content)) + content
            else:
                written += struct.pack("<HH", 0x0203, 14) + head + struct.pack("<d", value)
    return written + struct.pack("<HH", 0x000A, 0)
