"""Outlook's own files (`.msg`) to a mail as it is sent: `mail.py` reads that.

A `.msg` is a compound file (olefile) with a stream for each property. python-oxmsg 0.0.2 refuses a whole file for one property that it does
not know, and does not enter mails that are attached; extract-msg is under the GPL.
"""

from __future__ import annotations

import codecs
import mimetypes
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.header import Header
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.parser import HeaderParser
from email.utils import format_datetime
from io import BytesIO
from pathlib import Path

import olefile
from compressed_rtf import decompress

from kgrag.errors import DocumentError

__all__ = ["mail_of_outlook"]

SUBJECT, BODY, HTML, RTF = 0x0037, 0x1000, 0x1013, 0x1009
HEADERS = 0x007D
SENDER_NAME, SENDER_ADDRESS, SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
TO, CC = 0x0E04, 0x0E03
SENT_AT, RECEIVED_AT = 0x0039, 0x0E06
TEXT_CODE_PAGE, HTML_CODE_PAGE = 0x3FFD, 0x3FDE
FILE, LONG_NAME, SHORT_NAME, SHOWN_NAME, MIME_TYPE, CONTENT_ID = 0x3701, 0x3707, 0x3704, 0x3001, 0x370E, 0x3712
UNICODE, BYTES_TEXT, BINARY, STORAGE, NUMBER, TIME = 0x001F, 0x001E, 0x0102, 0x000D, 0x0003, 0x0040
"""Types of properties."""
PROPERTIES = "__properties_version1.0"
ATTACHMENT = "__attach_version1.0_#"
HEADER_BYTES = {"root": 32, "embedded": 24, "attachment": 8}
"""What stands before the fixed properties."""
EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
CODE_PAGES = {65001: "utf-8", 20127: "ascii", 20866: "koi8_r", 21866: "koi8_u", 54936: "gb18030"} | {
    50220: "iso2022_jp",
    50221: "iso2022_jp",
    51932: "euc_jp",
    51949: "euc_kr",
    936: "gb18030",
}
ISO_8859 = 28590
"""The code page of ISO 8859-1 is one more."""
DEFAULT = "cp1252"
TEXT_FILE = "text of the mail.rtf"
"""What the text is called where it is in RTF alone."""
PLAIN_TYPES = frozenset({"application", "audio", "image", "text", "video"})
"""Not those that have parts."""
MAX_DEPTH = 40


def mail_of_outlook(data: bytes, path: Path) -> bytes:
    """Write a `.msg` as a mail with its files. Raises `DocumentError` where it is none."""
    if not olefile.isOleFile(data=data):
        raise DocumentError(path, "is no Outlook file: it is no compound file")
    with olefile.OleFileIO(BytesIO(data)) as ole:
        root = _Storage(ole, (), HEADER_BYTES["root"])
        if not ole.exists(PROPERTIES):
            raise DocumentError(path, "is no Outlook file: it has no properties of a message")
        return _mail(root, depth=0).as_bytes()


class _Storage:
    """A folder of the compound file: a message, or what is attached to it."""

    def __init__(self, ole: olefile.OleFileIO, where: tuple[str, ...], header_bytes: int) -> None:
        self._ole = ole
        self._where = where
        self._fixed = self._read_fixed(header_bytes)

    def _read_fixed(self, header_bytes: int) -> dict[tuple[int, int], bytes]:
        stream = self._stream(PROPERTIES) or b""
        entries = (stream[at : at + 16] for at in range(header_bytes, len(stream) - 15, 16))
        return {(number, kind): entry[8:] for entry in entries for kind, number in [struct.unpack("<HH", entry[:4])]}

    def _stream(self, name: str) -> bytes | None:
        where = [*self._where, name]
        if not self._ole.exists(where) or self._ole.get_type(where) != olefile.STGTY_STREAM:
            return None
        return bytes(self._ole.openstream(where).read())

    def binary(self, number: int) -> bytes:
        return self._stream(f"__substg1.0_{number:04X}{BINARY:04X}") or b""

    def text(self, number: int) -> str:
        if (data := self._stream(f"__substg1.0_{number:04X}{UNICODE:04X}")) is not None:
            return data.decode("utf-16-le", "replace").rstrip("\0")
        data = self._stream(f"__substg1.0_{number:04X}{BYTES_TEXT:04X}") or b""
        return data.decode(self.encoding(TEXT_CODE_PAGE), "replace").rstrip("\0")

    def encoding(self, number: int) -> str:
        """Return the encoding that a property names by the number of its code page."""
        value = self._fixed.get((number, NUMBER)) or self._fixed.get((TEXT_CODE_PAGE, NUMBER))
        page = struct.unpack("<I", value[:4])[0] if value else 0
        name = CODE_PAGES.get(page) or (f"iso8859-{page - ISO_8859}" if 0 < page - ISO_8859 < 17 else f"cp{page}")
        try:
            return codecs.lookup(name).name
        except LookupError:
            return DEFAULT

    def time(self, number: int) -> datetime | None:
        value = self._fixed.get((number, TIME))
        try:
            return EPOCH + timedelta(microseconds=struct.unpack("<Q", value)[0] // 10) if value else None
        except OverflowError:
            return None

    def attached(self) -> Iterator[_Storage]:
        """Yield what is attached, in its order."""
        depth = len(self._where)
        names = {
            path[depth]
            for path in self._ole.listdir(streams=False, storages=True)
            if tuple(path[:depth]) == self._where and len(path) == depth + 1 and path[depth].startswith(ATTACHMENT)
        }
        for name in sorted(names):
            yield _Storage(self._ole, (*self._where, name), HEADER_BYTES["attachment"])

    def message(self) -> _Storage | None:
        """The mail that is attached, where it is one."""
        where = (*self._where, f"__substg1.0_{FILE:04X}{STORAGE:04X}")
        is_message = self._ole.exists([*where, PROPERTIES])
        return _Storage(self._ole, where, HEADER_BYTES["embedded"]) if is_message else None


def _mail(message: _Storage, *, depth: int) -> Message:
    mail = MIMEMultipart("mixed")
    for name, value in _headers(message).items():
        mail[name] = Header(value, "utf-8", maxlinelen=10**6).encode()
    texts = MIMEMultipart("alternative")
    if text := message.text(BODY):
        texts.attach(_part("text/plain", text.encode("utf-8", "replace"), charset="utf-8"))
    if html := message.binary(HTML):
        texts.attach(_part("text/html", html, charset=message.encoding(HTML_CODE_PAGE)))
    elif written := message.text(HTML):
        texts.attach(_part("text/html", written.encode("utf-8", "replace"), charset="utf-8"))
    if texts.get_payload():
        mail.attach(texts)
    elif packed := message.binary(RTF):
        mail.attach(_part("application/rtf", decompress(packed), name=TEXT_FILE))
    for attached in message.attached():
        inner = attached.message()
        if inner is not None and depth < MAX_DEPTH:
            mail.attach(MIMEMessage(_mail(inner, depth=depth + 1)))
        else:
            mail.attach(_file(attached))
    return mail


def _headers(message: _Storage) -> dict[str, str]:
    """The header as it came with the mail, or what Outlook knows of one that was not sent."""
    sent = HeaderParser().parsestr(message.text(HEADERS))
    name, address = message.text(SENDER_NAME), message.text(SENDER_SMTP) or message.text(SENDER_ADDRESS)
    sender = f"{name} <{address}>" if name and "@" in address and name != address else name or address
    at = message.time(SENT_AT) or message.time(RECEIVED_AT)
    known = {"Subject": message.text(SUBJECT), "From": sender, "To": message.text(TO), "Cc": message.text(CC)}
    known["Date"] = str(sent["Date"] or "") or (format_datetime(at) if at else "")
    return {name: " ".join(value.split()) for name, value in known.items() if value.strip()}


def _file(attached: _Storage) -> Message:
    name = attached.text(LONG_NAME) or attached.text(SHORT_NAME) or attached.text(SHOWN_NAME)
    kind = attached.text(MIME_TYPE) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    is_inline = bool(attached.text(CONTENT_ID)) and kind.startswith("image/")
    return _part(kind, attached.binary(FILE), name=name or "a file without a name", inline=is_inline)


def _part(kind: str, data: bytes, *, charset: str = "", name: str = "", inline: bool = False) -> Message:
    main, _, sub = kind.partition("/")
    is_plain = main in PLAIN_TYPES and sub
    part = MIMEBase(main if is_plain else "application", sub if is_plain else "octet-stream")
    part.set_payload(codecs.encode(data, "base64").decode("ascii"))
    part["Content-Transfer-Encoding"] = "base64"
    if charset:
        part.set_param("charset", charset)
    if name:
        part.add_header("Content-Disposition", "inline" if inline else "attachment", filename=("utf-8", "", name))
    return part
