"""The title that a file of Office 97 to 2003 has in its properties, as [MS-OLEPS] has them.

Not by olefile, which reads as many properties as a broken file says that it has: thousands of millions.
"""

from __future__ import annotations

import struct

import olefile

from kgrag.documents.html import is_title

__all__ = ["title_of"]

SUMMARY = "\x05SummaryInformation"
SECTION_AT = 44
"""Where the stream says where its properties are."""
CODE_PAGE, TITLE = 1, 2
BYTES_TEXT, WIDE_TEXT = 0x1E, 0x1F
UTF_8, UTF_16 = 65001, 1200
DEFAULT = "cp1252"
MOST_PROPERTIES = 1_000


def title_of(ole: olefile.OleFileIO) -> str:
    """Return a file's title; empty where it has none that says something, or its properties are broken."""
    try:
        if not ole.exists(SUMMARY):
            return ""
        title = " ".join(_title(bytes(ole.openstream(SUMMARY).read())).replace("\0", " ").split())
    except (OSError, struct.error):
        return ""
    return title if is_title(title) else ""


def _title(data: bytes) -> str:
    begin = struct.unpack_from("<I", data, SECTION_AT)[0]
    count = min(struct.unpack_from("<I", data, begin + 4)[0], MOST_PROPERTIES)
    places = dict(struct.unpack_from("<II", data, begin + 8 + 8 * number) for number in range(count))
    if TITLE not in places:
        return ""
    at = begin + places[TITLE]
    kind, size = struct.unpack_from("<II", data, at)
    if kind == WIDE_TEXT:
        return data[at + 8 : at + 8 + 2 * size].decode("utf-16-le", "replace")
    if kind != BYTES_TEXT:
        return ""
    page = struct.unpack_from("<H", data, begin + places[CODE_PAGE] + 4)[0] if CODE_PAGE in places else 0
    name = {UTF_8: "utf-8", UTF_16: "utf-16-le"}.get(page, f"cp{page}")
    try:
        return data[at + 8 : at + 8 + size].decode(name, "replace")
    except LookupError:
        return data[at + 8 : at + 8 + size].decode(DEFAULT, "replace")
