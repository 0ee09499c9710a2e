"""Bytes to text: byte order mark, declaration, UTF-8, and at last detection; and text that was encoded twice put right.

Text that was encoded twice (`â€™` for `’`) is known by its sequences: UTF-8 read as Windows-1252. A sequence is repaired where it is
written in no language: `Ã¼` in `fÃ¼r`, but not `Ã”` after a word in capitals (`“IRMÃ”`), which is a letter and a quotation mark.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kgrag.errors import DocumentError
from kgrag.text.language import language
from kgrag.text.surrogates import without_surrogates

__all__ = [
    "CONTROLS",
    "HEAD_BYTES",
    "OLE_MAGIC",
    "PACKED",
    "DecodedText",
    "decode",
    "exceeds_unpacked",
    "foreign_content",
    "no_archive",
    "repair_text",
    "unpacked",
    "unpacked_file",
    "wide_encoding",
]

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
UTF_16_SHARE = 0.8
"""Of every second byte, that are 0: text of two bytes a letter."""
PACKED = ".gz"
MAX_UNPACKED = 100_000_000
"""Bytes."""
PIECE = 1_000_000
"""Bytes that are unpacked at once to count them."""
DECLARATION_BYTES = 4096
"""Where a page may declare its encoding; browsers look at the first 1024 bytes."""
DETECTION_BYTES = 200_000
HEAD_BYTES = 512
"""From which a file is known."""
CANDIDATES = [
    *("cp1252", "cp1250", "cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
]
"""What undeclared legacy text is in practice; a wider choice mistakes `µ` and `°` for letters."""
USUAL_LEADS = {
    "euc_kr": (0xA1, 0xC8),
    "gb18030": (0xA1, 0xD7),
    "euc_jp": (0xA1, 0xCF),
    "shift_jis": (0x81, 0x97),
    "big5": (0xA1, 0xC6),
}
"""First bytes of signs, syllables and the usual half of the characters; where two fit, the first one is narrower."""
JAPANESE = ("euc_jp", "shift_jis")
MOST_ARE_USUAL = 0.85
KANA, JAMO, HALF_WIDTH = re.compile("[\u3041-\u30fa]"), re.compile("[\u3131-\u318e]"), re.compile("[\uff61-\uff9f]")
HALF_WIDTH_SHARE = 0.2
"""Of a text's characters: with more half-width katakana it is no Japanese, but Chinese read so."""
JAPANESE_SHIFT = b"\x1b$B"
"""What ISO-2022-JP, which is ASCII otherwise, has before Japanese letters."""
WESTERN = "cp1252"
WESTERN_SHARE = 0.35
"""Text with a smaller share of non-ASCII bytes, markup apart, is taken for Western: other scripts use more."""
CENTRAL_EUROPEAN = ("Czech", "Hungarian", "Polish", "bs", "hr", "ro", "sk", "sl")
LATIN_ENCODINGS = {**dict.fromkeys(CENTRAL_EUROPEAN, "cp1250"), "Turkish": "cp1254", "lt": "cp1257", "lv": "cp1257"}
"""Language → how its Latin letters were encoded on Windows; Western otherwise. They agree on `°`, `±` and `µ`."""
MIN_FOR_LANGUAGE = 200
"""Bytes of a text whose language is asked."""
ISO_LATIN_2 = re.compile(
    rb"[A-Za-z][\xa1\xa5\xa6\xa9\xac\xae\xb1\xb5\xb6\xb9\xbc\xbe][a-z]|(?<![A-Za-z\x80-\xff])[\xa6\xa9\xac\xae\xb6\xb9\xbc\xbe][a-z]"
)
"""Letters of ISO 8859-2 in a word that are signs in Windows-1250."""
WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")
TAG = re.compile(rb"<[^>]*>")
TEXTUAL = ("pdf", "rtf", "ps")
"""Kinds of files that may be without control characters."""
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP_MAGIC = b"PK\x03\x04"
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
LATIN_1_BYTES = {byte: chr(byte) for byte in range(0x80, 0x100)}
CP1252_BYTES = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in LATIN_1_BYTES}
BYTE_OF = {character: byte for table in (LATIN_1_BYTES, CP1252_BYTES) for byte, character in table.items()}
"""Character → the byte that it is in Windows-1252; what that leaves undefined is itself, as browsers have it."""
CONTINUATION = "".join(character for character, byte in BYTE_OF.items() if byte < 0xC0)
SEQUENCE = re.compile(
    f"[Â-ß][{re.escape(CONTINUATION)}]|[à-ï][{re.escape(CONTINUATION)}]{{2}}|[ð-ô][{re.escape(CONTINUATION)}]{{3}}"
)
"""Two to four bytes of UTF-8, each read as a character."""
PUNCTUATION = frozenset("‘’“”«»‹›–—…")
"""Continuation bytes that authors write right after a letter."""
ANGSTROM = "Å"
AFTER_NUMBER = re.compile(r"\d\s?$")
MIN_FOREIGN = 8
"""Characters of a line that must stand for letters of another script before any is believed: a stray pair (`ß£`) is two.
Pairs that authors write (`CAFÉ’S`) do not count."""
FEW_NULLS = 0.001
"""Of a text's characters: with more NULs it is none. Comments of programs have them where they speak of them."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text and how it was read."""

    text: str
    note: str = ""
    """What the user should know: an encoding that was guessed, characters that could not be read."""


def foreign_content(head: bytes) -> str | None:
    """Name what a file is by its first bytes, where that is none of the text formats: `a PDF file`, `an OLE file (old Office)`."""
    import filetype

    if head.startswith(OLE_MAGIC):
        return "an OLE file (encrypted or old Office)"
    kind = None if head.startswith(tuple(mark for mark, _ in BYTE_ORDER_MARKS)) else filetype.guess(head)
    if kind is None or not (BINARY.search(head) or kind.extension in TEXTUAL):  # `BMP390 ...` is no picture
        return None
    name = kind.extension.upper()
    return f"{'an' if name[0] in 'AEFHILMNORSX' else 'a'} {name} file"


def no_archive(head: bytes, expected: str) -> str:
    """Say what a file is that should be an archive and is none that can be opened; `expected` is what its name says: `a .docx`."""
    if head.startswith(ZIP_MAGIC):
        return f"is {expected} that was cut short (its ZIP archive has no end): get the file again"
    kind = foreign_content(head)
    return f"its content is {kind}, not {expected}" if kind else f"is not {expected}, or a broken one"


def decode(data: bytes, path: Path) -> DecodedText:
    """Decode a text file, a packed one (`.gz`) unpacked. Raises `DocumentError` for what is no text."""
    data = unpacked(data, path)
    if kind := foreign_content(data[:HEAD_BYTES]):
        raise DocumentError(path, f"its content is {kind}, not the text that its name says")
    decoded = _decode(data)
    if nulls := decoded.text.count("\0"):
        if nulls > FEW_NULLS * len(decoded.text):
            raise DocumentError(path, "its content is binary, not text (it has NUL characters)")
        left_out = f"{nulls} NUL characters were left out"
        note = f"{decoded.note}; {left_out}" if decoded.note else left_out
        decoded = DecodedText(decoded.text.replace("\0", ""), note)
    if not decoded.text.strip():
        raise DocumentError(path, "the file is empty: it has nothing but white space")
    return decoded


def unpacked(data: bytes, path: Path) -> bytes:
    """Unpack a file that is called `.gz`; another one is as it is. Raises `DocumentError`."""
    if path.suffix.lower() != PACKED:
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(MAX_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DocumentError(path, f"is no gzip file, or a broken one: {error}") from error
    if len(unpacked) > MAX_UNPACKED:
        raise DocumentError(path, f"has more than {MAX_UNPACKED // 1_000_000} MB when it is unpacked: unpack it first")
    return unpacked


def exceeds_unpacked(path: Path, size: int) -> bool:
    """Whether a file that is called `.gz` has more than `size` bytes when it is unpacked; a broken one says so when it is read."""
    if path.suffix.lower() != PACKED:
        return False
    try:
        with gzip.open(path) as file:
            while size >= 0 and (piece := file.read(PIECE)):
                size -= len(piece)
    except (OSError, EOFError, zlib.error):
        return False
    return size < 0


@contextmanager
def unpacked_file(path: Path) -> Iterator[Path]:
    """Give a file that is called `.gz` unpacked, for as long as it is read, and any other as it is. Raises `DocumentError`."""
    if path.suffix.lower() != PACKED:
        yield path
        return
    with TemporaryDirectory(prefix="kgrag-unpacked-") as folder:
        file = Path(folder, path.stem)
        file.write_bytes(unpacked(path.read_bytes(), path))
        yield file


def wide_encoding(head: bytes) -> str | None:
    """Name the encoding of a text that begins so, where it is one of two or four bytes a character; Latin text needs no mark for it."""
    for mark, encoding in BYTE_ORDER_MARKS[1:]:
        if head.startswith(mark):
            return encoding
    even, odd = head[:DECLARATION_BYTES:2], head[1:DECLARATION_BYTES:2]
    for encoding, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if high.count(0) > UTF_16_SHARE * len(high) and low.count(0) <= FEW_NULLS * len(low):
            return encoding
    return None


def _decode(data: bytes) -> DecodedText:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _read_as(data[len(mark) :], encoding)
    if (wide := wide_encoding(data)) and len(data) % 2 == 0:
        return _read_as(data, wide, f"has no byte order mark; read as {wide}")
    declared = "iso2022_jp" if JAPANESE_SHIFT in data else _declared(data)
    for candidate in filter(None, (declared, "utf-8")):
        try:
            return DecodedText(data.decode(candidate))
        except UnicodeDecodeError:
            continue
    if declared:
        read = _read_as(data, declared)
        if not _is_utf_8(declared) or 2 * read.text.count("\ufffd") <= sum(not c.isascii() for c in read.text):
            return read
        guess = _guess(data)
        return _read_as(data, guess, f"is not the {declared} that it declares; read as {guess}")
    guess = _guess(data)
    return _read_as(data, guess, f"is not UTF-8 and declares no encoding; read as {guess}")


def _is_utf_8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"


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
    if len(data) > DETECTION_BYTES:
        sample = sample[: sample.rfind(b"\n")]  # no half of a character at the end
    if sum(byte > 127 for byte in sample) < WESTERN_SHARE * len(sample):
        if len(sample) < MIN_FOR_LANGUAGE:
            return WESTERN
        encoding = LATIN_ENCODINGS.get(language(sample.decode("ascii", "ignore")), WESTERN)
        is_iso = encoding == "cp1250" and ISO_LATIN_2.search(sample) and not WINDOWS_ONLY.search(sample)
        return "iso8859_2" if is_iso else encoding
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=CANDIDATES).best()
    guess = best.encoding if best else WESTERN
    if best is None or len(HALF_WIDTH.findall(str(best))) > HALF_WIDTH_SHARE * len(str(best)):
        return _east_asian(sample) or guess
    return guess


def _east_asian(sample: bytes) -> str:
    """Return the encoding in which nearly all letters of a text are usual ones; nothing where there is none.

    Data sheets have short texts between numbers and units, which detection by language takes for noise.
    """
    shares = {encoding: _usual_share(sample, encoding) for encoding in USUAL_LEADS}
    best = max(shares, key=lambda encoding: shares[encoding])
    return best if shares[best] >= MOST_ARE_USUAL else ""


def _usual_share(sample: bytes, encoding: str) -> float:
    """Say how many of the letters beyond ASCII are in the part of a character set that has the usual ones."""
    try:
        letters = [letter for letter in sample.decode(encoding) if not letter.isascii()]
    except UnicodeDecodeError:
        return 0.0
    least, most = USUAL_LEADS[encoding]
    usual = 0
    for letter in letters:
        lead, *trail = letter.encode(encoding)
        is_strange = JAMO.match(letter) or (encoding not in JAPANESE and KANA.match(letter))
        usual += least <= lead <= most and not is_strange and (encoding != "gb18030" or trail[0] >= 0xA1)
    return usual / max(1, len(letters))


def repair_text(text: str) -> str:
    """Return `text` with double encoding undone, without control characters, and with `\ufffd` for half of a surrogate pair.

    `µ`, `²`, `½`, ligatures and full-width letters stay as they are: they were written so.
    """
    if text.isascii():
        return CONTROLS.sub("", text)
    text = without_surrogates(text)
    return "\n".join(line if line.isascii() else _repair_line(line) for line in CONTROLS.sub("", text).split("\n"))


def _repair_line(line: str) -> str:
    """Undo double encoding where the line proves it; twice encoded twice is undone twice."""
    while True:
        found = [(match, meant) for match in SEQUENCE.finditer(line) if (meant := _decoded(match[0]))]
        foreign = sum(
            len(match[0]) for match, meant in found if not _is_western(meant) and _is_in_no_language(line, match)
        )
        proven: list[tuple[re.Match[str], str]] = []
        for run in _adjacent(found):
            western = any(_is_western(meant) and _is_in_no_language(line, match) for match, meant in run)
            proven += [one for one in run if (western if _is_western(one[1]) else foreign >= MIN_FOREIGN)]
        if not proven:
            return line
        parts, end = [], 0
        for match, meant in proven:
            parts += [line[end : match.start()], meant]
            end = match.end()
        line = "".join(parts) + line[end:]


def _adjacent(found: Sequence[tuple[re.Match[str], str]]) -> list[list[tuple[re.Match[str], str]]]:
    """Group sequences that follow each other without a gap: `Ã¶ÃŸ`; one that is proven proves the others."""
    runs: list[list[tuple[re.Match[str], str]]] = []
    for one in found:
        if runs and runs[-1][-1][0].end() == one[0].start():
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _decoded(sequence: str) -> str:
    """Return the character that a sequence was meant as; nothing where it is no UTF-8, or stands for a control character."""
    try:
        meant = bytes(BYTE_OF[character] for character in sequence).decode()
    except UnicodeDecodeError:
        return ""
    return "" if "\x80" <= meant <= "\x9f" else meant


def _is_western(meant: str) -> bool:
    """Whether a character is of Latin script, or a sign that texts of all scripts have."""
    return meant <= "\u024f" or meant in "Ωμπ" or "\u2000" <= meant <= "\u2bff" or "\ufb00" <= meant <= "\ufb06"


def _is_in_no_language(line: str, match: re.Match[str]) -> bool:
    """Whether no author writes these characters in a row.

    A capital letter with a sign such as `¼` or `°` after it that ends no word in capitals (`MÃ¼ller`, `25 Â°`); with a quotation mark or
    dash after it, only inside a word, or as a sign of multiplication after a number (`2 Ã— 3`). An `Å` in no word is a unit (`Å³`).
    """
    lead, rest = match[0][0], match[0][1:]
    before, after = line[: match.start()][-1:], line[match.end() :][:1]
    if lead == ANGSTROM and not before.isalpha() and not after.isalpha():
        return False
    if all(character in PUNCTUATION for character in rest):
        times = match[0] == "Ã—" and AFTER_NUMBER.search(line[: match.start()])
        return lead.isupper() and (before.islower() or bool(times))
    return len(rest) > 1 or (lead.isupper() and (after.islower() or not before.isupper()))
