"""PowerPoint 97 to 2003 (`.ppt`) to blocks: titles, texts and notes of slides in their order, as [MS-PPT] lays them down.

Tables there are shapes beside each other: the text of each cell is a paragraph.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import olefile

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.old_properties import title_of
from kgrag.errors import DocumentError

__all__ = ["convert_old_slides"]

DOCUMENT, CURRENT_USER = "PowerPoint Document", "Current User"
USER_EDIT, PLACES = 0x0FF5, 0x1772
SLIDE_LIST, SLIDE, NOTES, SLIDE_PLACE = 0x0FF0, 0x03EE, 0x03F0, 0x03F3
SLIDES_OF_DECK, NOTES_OF_DECK = 0, 2
"""Instances of the list of slides: the slides, and their notes."""
SLIDE_ATOM, NOTES_REFERENCE = 0x03EF, 16
TITLES, BODIES, NOTES_TEXT = frozenset({0, 6}), frozenset({1, 5, 7, 8}), 2
"""Kinds of texts."""
OTHER_TEXT = 4
USER_BYTES = 20
ENCRYPTED = 0xF3D1C4DF
IS_CONTAINER = 0x0F
DEEPEST = 40
MOST_EDITS = 10_000
PLAIN = str.maketrans({"\x0b": " ", "\x00": None})


class _Kind(IntEnum):
    """Kinds of records that say texts."""

    BOX = 0xF00D
    HEADER = 0x0F9F
    TEXT = 0x0FA0
    TEXT_IN_BYTES = 0x0FA8
    OUTLINE = 0x0F9E


@dataclass(frozen=True, slots=True)
class _Record:
    kind: int
    instance: int
    content: bytes
    is_container: bool


def convert_old_slides(data: bytes, path: Path) -> BlockDocument:
    """Convert a file of PowerPoint 97 to 2003. Raises `DocumentError` where it is something else, or has a password."""
    with olefile.OleFileIO(BytesIO(data)) as ole:
        if not ole.exists(DOCUMENT) or not ole.exists(CURRENT_USER):
            raise DocumentError(path, "is no presentation: it has no slides of one")
        stream, user = (bytes(ole.openstream(name).read()) for name in (DOCUMENT, CURRENT_USER))
        if len(user) < USER_BYTES:
            raise DocumentError(
                path, "is of PowerPoint 95 or older: open it in PowerPoint or LibreOffice and save it as .pptx"
            )
        token, edit = struct.unpack_from("<II", user, 12)
        if token == ENCRYPTED:
            raise DocumentError(path, "is encrypted: save a copy without a password")
        title = title_of(ole)
    blocks = tuple(
        block for number, slide in enumerate(_slides(stream, edit), start=1) for block in _blocks(slide, number)
    )
    titles = (block.text for block in blocks if block.kind == "heading")
    return BlockDocument(blocks, title or next(titles, ""))


def _slides(stream: bytes, edit: int) -> Iterator[list[tuple[int, str]]]:
    """Yield the texts of each slide with their kinds, those of its notes last."""
    places, document = _places(stream, edit)
    lists = {
        record.instance: list(_records(record.content))
        for record in _records(_content(stream, places.get(document, -1)))
        if record.kind == SLIDE_LIST
    }
    notes = {
        struct.unpack_from("<I", one.content, 12)[0]: struct.unpack_from("<I", one.content)[0]
        for one in lists.get(NOTES_OF_DECK, [])
        if one.kind == SLIDE_PLACE
    }
    records = lists.get(SLIDES_OF_DECK, [])
    begins = [at for at, one in enumerate(records) if one.kind == SLIDE_PLACE]
    for begin, end in pairwise([*begins, len(records)]):
        slide = _content(stream, places.get(struct.unpack_from("<I", records[begin].content)[0], -1))
        outline = list(_texts(iter(records[begin + 1 : end]), []))
        texts = list(_texts(_all_records(slide), outline))
        if not any(one in texts for one in outline):
            texts = [*outline, *texts]
        reference = next((one.content for one in _records(slide) if one.kind == SLIDE_ATOM), b"")
        place = (
            notes.get(struct.unpack_from("<I", reference, NOTES_REFERENCE)[0])
            if len(reference) >= NOTES_REFERENCE + 4
            else None
        )
        if place is not None:
            said = _texts(_all_records(_content(stream, places.get(place, -1))), [])
            texts += [(kind, text) for kind, text in said if kind == NOTES_TEXT]
        yield texts


def _blocks(texts: list[tuple[int, str]], number: int) -> Iterator[Block]:
    title = next((text for kind, text in texts if kind in TITLES and text.strip()), "")
    if title:
        yield Block("heading", " ".join(title.split()), 1, number, number)
    for kind, text in texts:
        if kind in TITLES and text == title:
            continue
        for line in (" ".join(one.translate(PLAIN).split()) for one in text.split("\r")):
            if line and kind in BODIES:
                yield Block("list_item", f"- {line}", 1, number, number)
            elif line:
                yield Block("paragraph", line, 0, number, number)


def _places(stream: bytes, edit: int) -> tuple[dict[int, int], int]:
    """Return where the parts of the file are, as it was last saved, and the number of the one that lists the slides."""
    places: dict[int, int] = {}
    document, seen = 0, set[int]()
    while edit and edit not in seen and len(seen) < MOST_EDITS:
        seen.add(edit)
        said = _content(stream, edit, USER_EDIT)
        if len(said) < 20:
            break
        before, listed, first = struct.unpack_from("<III", said, 8)
        document = document or first
        entries = _content(stream, listed, PLACES)
        at = 0
        while at + 4 <= len(entries):
            head = struct.unpack_from("<I", entries, at)[0]
            number, count = head & 0xFFFFF, head >> 20
            for offset, (place,) in enumerate(
                struct.iter_unpack("<I", entries[at + 4 : at + 4 + (len(entries) - at - 4) // 4 * 4][: 4 * count])
            ):
                places.setdefault(number + offset, place)
            at += 4 + 4 * count
        edit = before
    return places, document


def _content(stream: bytes, at: int, kind: int | None = None) -> bytes:
    """Return what the record at a place has; nothing where there is none, or one of another kind."""
    if not 0 <= at <= len(stream) - 8:
        return b""
    _, found, size = struct.unpack_from("<HHI", stream, at)
    return stream[at + 8 : at + 8 + size] if kind in (None, found) else b""


def _records(content: bytes) -> Iterator[_Record]:
    at = 0
    while at + 8 <= len(content):
        head, kind, size = struct.unpack_from("<HHI", content, at)
        yield _Record(kind, head >> 4, content[at + 8 : at + 8 + size], head & IS_CONTAINER == IS_CONTAINER)
        at += 8 + size


def _all_records(content: bytes, depth: int = 0) -> Iterator[_Record]:
    """Yield the records in others, too, in their order."""
    for record in _records(content):
        if record.kind == _Kind.BOX or not record.is_container:
            yield record
        if (record.is_container or record.kind == _Kind.BOX) and depth < DEEPEST:
            yield from _all_records(record.content, depth + 1)


def _texts(records: Iterator[_Record], outline: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield texts with their kinds; one that stands in the outline by its number there."""
    kind = OTHER_TEXT
    for record in records:
        match record.kind:
            case _Kind.BOX:
                kind = OTHER_TEXT
            case _Kind.HEADER if len(record.content) >= 4:
                kind = struct.unpack_from("<I", record.content)[0]
            case _Kind.TEXT:
                yield kind, record.content.decode("utf-16-le", "replace")
            case _Kind.TEXT_IN_BYTES:
                yield kind, record.content.decode("latin-1")
            case _Kind.OUTLINE if len(record.content) >= 4:
                number = struct.unpack_from("<I", record.content)[0]
                if number < len(outline):
                    yield outline[number]
