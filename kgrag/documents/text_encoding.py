"""Bytes to text: byte order mark, declaration, UTF-8, and at last detection; and text that was encoded twice put right.

The repair (`â€™` becomes `’`) is by ftfy, encoding only.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from kgrag.errors import DocumentError

__all__ = ["CONTROLS", "DecodedText", "decode", "foreign_content", "repair_text"]

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
DECLARATION = re.compile(
    rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]{1,100}?encoding\s*=\s*[\"']([\w.:-]+)", re.I
)
DECLARATION_BYTES = 4096
"""Where a page may declare its encoding; browsers look at the first 1024 bytes."""
DETECTION_BYTES = 200_000
CANDIDATES = ["cp1252", "cp1250", "cp1251", "cp1253", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
"""What undeclared legacy text is in practice; a wider choice mistakes `µ` and `°` for letters."""
WESTERN = "cp1252"
WESTERN_SHARE = 0.35
"""Text with a smaller share of non-ASCII bytes, markup apart, is taken for Western: other scripts use more."""
TAG = re.compile(rb"<[^>]*>")
MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an OLE file (encrypted or old Office)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
)
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
SURROGATES = re.compile("[\ud800-\udfff]")
RARE = frozenset(map(chr, range(0x0530, 0x2000)))
"""Scripts from Armenian to Greek Extended: a text in them has many of their letters, while a stray pair of signs (`ß£`) makes one."""
MIN_RARE = 4
"""Letters of a rare script that a repair must bring to light to be believed."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text and how it was read."""

    text: str
    note: str = ""
    """What the user should know: an encoding that was guessed, characters that could not be read."""


def foreign_content(head: bytes) -> str | None:
    """Name what a file is by its first bytes, where that is none of the text formats."""
    return next((name for magic, name in MAGIC if head.startswith(magic)), None)


def decode(data: bytes, path: Path) -> DecodedText:
    """Decode a text file. Raises `DocumentError` for what is no text."""
    if kind := foreign_content(data):
        raise DocumentError(path, f"its content is {kind}, not the text that its name says")
    decoded = _decode(data)
    if "\0" in decoded.text:
        raise DocumentError(path, "its content is binary, not text (it has NUL characters)")
    if not decoded.text.strip():
        raise DocumentError(path, "the file is empty: it has nothing but white space")
    return decoded


def _decode(data: bytes) -> DecodedText:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _read_as(data[len(mark) :], encoding)
    declared = _declared(data)
    for candidate in filter(None, (declared, "utf-8")):
        try:
            return DecodedText(data.decode(candidate))
        except UnicodeDecodeError:
            continue
    if declared:
        return _read_as(data, declared)
    guess = _guess(data)
    return _read_as(data, guess, f"is not UTF-8 and declares no encoding; read as {guess}")


def _read_as(data: bytes, encoding: str, note: str = "") -> DecodedText:
    text = data.decode(encoding, "replace")
    lost = text.count("\ufffd")
    if lost and not note:
        note = f"{lost} characters are not valid {encoding}"
    return DecodedText(text, note)


def _declared(data: bytes) -> str | None:
    """Return the encoding that a page declares, as browsers take it."""
    match = DECLARATION.search(data[:DECLARATION_BYTES])
    if match is None:
        return None
    label = (match[1] or match[2]).decode("ascii").lower()
    try:
        encoding = codecs.lookup(label).name
    except LookupError:
        return None
    if encoding.startswith("utf-16") or encoding.startswith(
        "utf-32"
    ):  # a declaration that was read as ASCII cannot be true
        return "utf-8"
    return WESTERN if encoding in ("iso8859-1", "ascii") else encoding


def _guess(data: bytes) -> str:
    sample = TAG.sub(b"", data[:DETECTION_BYTES])
    if sum(byte > 127 for byte in sample) < WESTERN_SHARE * len(sample):
        return WESTERN
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=CANDIDATES).best()
    return best.encoding if best else WESTERN


def repair_text(text: str) -> str:
    """Return `text` with double encoding undone, without control characters, and with `\ufffd` for half of a surrogate pair.

    `µ`, `²`, `½`, ligatures and full-width letters stay as they are: they were written so.
    """
    if text.isascii():
        return CONTROLS.sub("", text)
    if SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "\n".join(line if line.isascii() else _repair_line(line) for line in CONTROLS.sub("", text).split("\n"))


def _repair_line(line: str) -> str:
    from ftfy import fix_encoding

    repaired = fix_encoding(line)
    rare = sum(character in RARE and character not in line for character in repaired)
    return line if 0 < rare < MIN_RARE else repaired
