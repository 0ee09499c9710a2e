r"""RTF with its letters and the rows of its tables as they are.

pandoc reads every byte (`\'e0`) as Western, so that Russian, Greek or Japanese comes out as `Ïðèâåò`. Bytes are in the code page of their
font, or else of the document (Rich Text Format Specification 1.9.1, "Code Page Support").

A row begins for pandoc where its properties stand (`\trowd`), and what its cell said so far is lost there. But a row that has those of the
row above need not repeat them, Word writes them behind the cells too, and those of a table in a cell stand within that cell ("Table
Definitions"). So they are written once, before the first cell.

Bullets of WordPad and of Word before 97 are text before the words of a paragraph (`\pntext`): such paragraphs are written as items of a
list. Numbers stay text, since a list would count anew behind a paragraph between its items.

A heading has a level for pandoc where its paragraph says one; programs that write less leave that to the style (`heading 1`).
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

__all__ = ["with_letters"]

TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})?(?P<space> ?)"
    r"|\\'(?P<byte>[0-9A-Fa-f]{2})|(?P<symbol>\\[^A-Za-z'])|(?P<brace>[{}])|(?P<text>[^\\{}]+)|."
)
CHARSETS = MappingProxyType(
    {0: "cp1252", 2: "", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950"}
    | {161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251"}
    | {222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"}
)
"""`\fcharset` → the code page of a font; 2 is a font of symbols, whose bytes stay."""
DOCUMENT_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}
OTHER_PAGES = {
    936: "gbk",
    1361: "johab",
    10000: "mac_roman",
    10006: "mac_greek",
    10007: "mac_cyrillic",
    10081: "mac_turkish",
    65001: "utf-8",
}
TWO_BYTES = frozenset({"cp932", "cp949", "johab", "gbk", "cp950"})
HIGH_SURROGATES, LOW_SURROGATES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
STARRED_NOTE = re.compile(r"\\\*\s*\\footnote\b")
BULLET = re.compile(r"\{\\pntext\b(?:\\'[89A-Fa-f][0-9A-Fa-f]|\\[a-z]+-?\d*[ ]?|[^\\{}\w])*+\}")
"""What stands before an item of a list, if it is no number."""
ITEM = r"\ls1 "
LISTS = (
    r"{\*\listtable{\list{\listlevel\levelnfc23\leveljc0\levelstartat1{\leveltext\'01\'b7;}{\levelnumbers;}}\listid1}}"
    r"{\*\listoverridetable{\listoverride\listid1\listoverridecount0\ls1}}"
)
"""The list of bullets that `ITEM` is of, as Word 97 and later say it."""
WORD = re.compile(r"\\[A-Za-z]+-?\d*")
UNSHOWN = frozenset({"pict", "objdata", "fldinst", "shpinst", "nonshppict"})
"""Groups that are no text, beside those that begin with `\\*`."""
HEADING_STYLE = re.compile(r"\s*heading ([1-9])\s*[;,]", re.IGNORECASE)
SHOWN = frozenset({"cell", "par", "tab", "line"})


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds until a group ends."""

    font: int = -1
    fallbacks: int = 1
    """How many characters behind a `\\u` stand for it where that is not known."""
    lists_fonts: bool = False
    is_shown: bool = True
    is_deleted: bool = False
    """Whether its text was taken out while changes were tracked."""
    in_table: bool = False
    lists_styles: bool = False
    style: int = -1
    """Of a group of the style sheet."""


def with_letters(rtf: str) -> str:
    """Return RTF, a character a byte, with characters for bytes and numbers of letters that are not in ASCII, and with its notes.

    LibreOffice says of its footnotes that who does not know them passes over them (`{\\*\\footnote`), and so does pandoc, which knows them.
    """
    if "\\listtable" not in rtf:
        before, bullet, behind = rtf.partition(first[0]) if (first := BULLET.search(rtf)) else (rtf, "", "")
        rtf = f"{before}{LISTS}{BULLET.sub(lambda _: ITEM, bullet + behind)}" if bullet else rtf
    return "".join(_Reader(STARRED_NOTE.sub(r"\\footnote", rtf)).parts())


class _Reader:
    def __init__(self, rtf: str) -> None:
        self._rtf = rtf
        self._page = "cp1252"
        self._pages: dict[int, str] = {}
        """Of fonts."""
        self._levels: dict[int, int] = {}
        """Of styles that are headings."""
        self._default_font = -1
        self._group = _Group()
        self._outer: list[_Group] = []
        self._bytes = bytearray()
        """Of letters that are not written yet."""
        self._high = 0
        """The first half of a character beyond 16 bits, that waits for the second."""
        self._to_skip = 0
        self._after_word = False
        """Whether a control word was written last that a letter or a blank would become part of."""
        self._row_begun = False
        """Whether a row of a table has begun that has not ended."""
        self._row_ended = False
        """Whether the last thing that was shown is a row."""
        self._is_utf8 = _is_utf8(rtf)

    def parts(self) -> Iterator[str]:
        """Yield the text in parts."""
        place = 0
        while token := TOKEN.match(self._rtf, place):
            place = token.end()
            if self._group.is_deleted and (token["byte"] or token["text"] or token["word"] == "u"):
                self._drop(token)
                continue
            if self._begins_row(token):
                yield from self._written(self._letters(), "\\trowd ")
            if token["byte"]:
                yield from self._byte(token)
            elif token["text"]:
                yield from self._text(token["text"])
            elif token["word"] == "bin":
                end = place + max(0, int(token["number"] or 0))
                yield from self._written(self._letters(), self._rtf[token.start() : end])
                place = end
            elif token["word"] == "u" and token["number"]:
                yield from self._unicode(int(token["number"]))
            else:
                yield from self._written(self._letters(), self._control(token))
        yield from self._written(self._letters())

    def _drop(self, token: re.Match[str]) -> None:
        """Read a text that was deleted, for what of it stands for a letter before."""
        after_word = self._after_word
        if token["byte"]:
            deque(self._byte(token), maxlen=0)
        elif token["text"]:
            deque(self._text(token["text"]), maxlen=0)
        elif token["number"]:
            deque(self._unicode(int(token["number"])), maxlen=0)
        self._bytes.clear()
        self._after_word = after_word

    def _begins_row(self, token: re.Match[str]) -> bool:
        """Whether this is the first of a row, and no properties stand before it."""
        is_shown = token["byte"] or token["word"] in SHOWN or token["word"] == "u" or (token["text"] or "").strip()
        if not is_shown or not self._group.is_shown or not self._row_ended:
            return False
        self._row_ended = False
        self._row_begun = self._group.in_table
        return self._row_begun

    def _written(self, *parts: str) -> Iterator[str]:
        for part in filter(None, parts):
            if self._after_word and (part[0].isalnum() or part[0] in " -"):
                yield " "
            self._after_word = WORD.fullmatch(part) is not None
            yield part

    def _byte(self, token: re.Match[str]) -> Iterator[str]:
        value = int(token["byte"], 16)
        if self._to_skip:
            self._to_skip -= 1
        elif self._code_page() and (value >= 0x80 or self._waits_for_second()):
            self._bytes.append(value)
            if not self._waits_for_second():
                yield from self._written(self._letters())
        else:
            yield from self._written(self._letters(), token[0])

    def _text(self, text: str) -> Iterator[str]:
        if self._group.lists_styles and (heading := HEADING_STYLE.match(text)):
            self._levels[self._group.style] = int(heading[1]) - 1
        begin = 0
        while self._to_skip and begin < len(text):
            self._to_skip -= text[begin] not in "\r\n"
            begin += 1
        text = text[begin:]
        if self._waits_for_second():
            text = text.lstrip("\r\n")
            if not text:
                return
            self._bytes += text[:1].encode("latin-1")
            text = text[1:]
        data = text.encode("latin-1")
        if not data.isascii():
            text = data.decode("utf-8", "ignore") if self._is_utf8 else self._decoded(data)
        yield from self._written(self._letters(), text)

    def _unicode(self, number: int) -> Iterator[str]:
        code = number % 0x10000 if -0x8000 <= number < 0x10000 else number
        self._to_skip = self._group.fallbacks
        letters = self._letters()
        if code in HIGH_SURROGATES:
            self._high = code
        elif self._high and code in LOW_SURROGATES:
            letters += chr(0x10000 + (self._high - 0xD800) * 0x400 + code - 0xDC00)
            self._high = 0
        elif code < 0x110000 and code not in LOW_SURROGATES:
            letters += f"\\'{code:02x}" if code < 0x80 else chr(code)
        yield from self._written(letters)

    def _control(self, token: re.Match[str]) -> str:
        word, number = token["word"], int(token["number"] or 0)
        if token["brace"]:
            self._to_skip = 0
            if token["brace"] == "{":
                self._outer.append(self._group)
            elif self._outer:
                self._group = self._outer.pop()
        elif word is None or word in ("par", "line", "tab"):
            if self._to_skip:
                self._to_skip -= 1
            if token["symbol"] == "\\*":
                self._group = replace(self._group, is_shown=False)
        elif word in UNSHOWN:
            self._group = replace(self._group, is_shown=False)
        elif word == "deleted":
            self._group = replace(self._group, is_deleted=token["number"] != "0")
        elif word in ("pard", "intbl"):
            self._group = replace(self._group, in_table=word == "intbl")
        elif word == "stylesheet":
            self._group = replace(self._group, lists_styles=True)
        elif word == "s" and self._group.lists_styles:
            self._group = replace(self._group, style=number)
        elif word == "s" and number in self._levels:
            return f"{token[0]}\\outlinelevel{self._levels[number]}"
        elif word == "cell":
            self._row_begun = True
        elif word == "nestcell":
            return "\\par"
        elif word == "row":
            self._row_begun, self._row_ended = False, True
        elif word == "trowd":
            if self._row_begun or not self._group.is_shown:
                return ""
            self._row_begun, self._row_ended = True, False
        elif word == "uc":
            self._group = replace(self._group, fallbacks=max(0, number))
            return ""
        elif word in DOCUMENT_PAGES:
            self._page = DOCUMENT_PAGES[word]
        elif word == "ansicpg":
            self._page = _known(number) or self._page
        elif word == "deff":
            self._default_font = number
        elif word == "fonttbl":
            self._group = replace(self._group, lists_fonts=True)
        elif word in ("f", "plain"):
            self._group = replace(self._group, font=number if word == "f" else self._default_font)
            if word == "plain":
                self._group = replace(self._group, is_deleted=False)
        elif word in ("fcharset", "cpg") and self._group.lists_fonts:
            page = CHARSETS.get(number) if word == "fcharset" else _known(number) or None
            if page is not None:
                self._pages[self._group.font] = page
        return token[0]

    def _code_page(self) -> str:
        font = self._group.font if self._group.font >= 0 else self._default_font
        return self._pages.get(font, self._page)

    def _waits_for_second(self) -> bool:
        """Whether the bytes so far end within a letter of two."""
        if not self._bytes or self._code_page() not in TWO_BYTES:
            return False
        try:
            self._bytes.decode(self._code_page())
        except UnicodeDecodeError as error:
            return error.end == len(self._bytes) and error.start == len(self._bytes) - 1
        return False

    def _letters(self) -> str:
        written = self._decoded(bytes(self._bytes))
        self._bytes.clear()
        return written

    def _decoded(self, data: bytes) -> str:
        return data.decode(self._code_page() or "latin-1", "replace")


def _known(number: int) -> str:
    """Return the name of a code page by its number on Windows, if Python has it."""
    try:
        return codecs.lookup(OTHER_PAGES.get(number, f"cp{number}")).name
    except LookupError:
        return ""


def _is_utf8(rtf: str) -> bool:
    """Whether its bytes beyond ASCII are UTF-8, as some programs write them."""
    data = rtf.encode("latin-1")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not data.isascii()
