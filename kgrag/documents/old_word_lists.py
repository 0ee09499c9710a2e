"""Lists of a file of Word 97 to 2003 and how their items are numbered, as [MS-DOC] lays them down (2.9.131 and 2.9.130)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kgrag.documents.word_numbering import LEVELS, NumberedLevel, NumberedList

__all__ = ["old_word_lists"]

KINDS = {
    0: "decimal",
    1: "upperRoman",
    2: "lowerRoman",
    3: "upperLetter",
    4: "lowerLetter",
    11: "japaneseCounting",
    14: "decimalFullWidth",
    15: "decimalHalfWidth",
    18: "decimalEnclosedCircle",
    22: "decimalZero",
    23: "bullet",
    30: "ideographTraditional",
    31: "ideographZodiac",
    33: "taiwaneseCounting",
    35: "taiwaneseCountingThousand",
    37: "chineseCounting",
    39: "chineseCountingThousand",
    255: "none",
}
"""[MS-OSHARED] 2.2.1.3, MSONFC."""
LIST_BYTES, REFERENCE_BYTES, OVERRIDE_BYTES, LEVEL_BYTES = 28, 16, 8, 28
IS_SIMPLE, IS_LEGAL, GOES_ON, SAYS_START, SAYS_LEVEL = 0x01, 0x04, 0x08, 0x10, 0x20


def old_word_lists(table: bytes, lists_at: int, references_at: int) -> dict[int, NumberedList]:
    """Return the number by which paragraphs name a list → that list; what is broken is left out.

    `lists_at` and `references_at` are where they begin in the stream of the table. Lists that share a definition go on with each other's
    numbers, until one says where it begins.
    """
    try:
        definitions = dict(_definitions(table, lists_at))
    except (struct.error, IndexError):
        return {}
    lists: dict[int, NumberedList] = {}
    try:
        for number, definition, overrides, starts in _references(table, references_at):
            if definition in definitions:
                shared = definitions[definition]
                lists[number] = NumberedList(shared.levels | overrides, shared.counts, starts)
    except (struct.error, IndexError):
        pass
    return lists


def _definitions(table: bytes, at: int) -> Iterator[tuple[int, NumberedList]]:
    (count,) = struct.unpack_from("<h", table, at)
    begins = range(at + 2, at + 2 + LIST_BYTES * max(0, count), LIST_BYTES)
    level_at = begins.stop
    for begin in begins:
        (name,) = struct.unpack_from("<i", table, begin)
        levels: dict[int, NumberedLevel] = {}
        for level in range(1 if table[begin + 26] & IS_SIMPLE else LEVELS):
            levels[level], level_at = _level(table, level_at)
        yield name, NumberedList(levels)


def _references(table: bytes, at: int) -> Iterator[tuple[int, int, dict[int, NumberedLevel], dict[int, int]]]:
    """Yield the number of each list, what defines it, levels of its own, and where levels begin."""
    (count,) = struct.unpack_from("<i", table, at)
    begins = range(at + 4, at + 4 + REFERENCE_BYTES * max(0, count), REFERENCE_BYTES)
    more_at = begins.stop
    for number, begin in enumerate(begins, start=1):
        definition, overridden = struct.unpack_from("<i8xB", table, begin)
        levels: dict[int, NumberedLevel] = {}
        starts: dict[int, int] = {}
        more_at += 4
        for _ in range(overridden):
            start, flags = struct.unpack_from("<iI", table, more_at)
            more_at += OVERRIDE_BYTES
            if flags & SAYS_LEVEL:
                levels[flags & 0xF], more_at = _level(table, more_at)
                start = levels[flags & 0xF].start
            if flags & SAYS_START:
                starts[flags & 0xF] = start
        yield number, definition, levels, starts


def _level(table: bytes, at: int) -> tuple[NumberedLevel, int]:
    """Return a level and where it ends."""
    start, kind, flags = struct.unpack_from("<iBB", table, at)
    character_bytes, paragraph_bytes = table[at + 24], table[at + 25]
    at += LEVEL_BYTES + character_bytes + paragraph_bytes
    (length,) = struct.unpack_from("<H", table, at)
    written = table[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
    text = "".join(f"%{ord(sign) + 1}" if ord(sign) < LEVELS else sign for sign in written)
    return (
        NumberedLevel(text, KINDS.get(kind, ""), start, not flags & GOES_ON, bool(flags & IS_LEGAL)),
        at + 2 + 2 * length,
    )
