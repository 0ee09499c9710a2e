"""What a mail is made of: its header, the text that its author wrote, and the files that came with it."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal

from kgrag.documents.discovery import FORMATS
from kgrag.documents.text_encoding import decode
from kgrag.errors import DocumentError

__all__ = ["MailPart", "header", "mail_parts", "sent_at", "text_of", "without_signature"]

MAX_DEPTH = 40
"""Of parts within parts; mails of use have five."""
MAX_PARTS = 2000
MAX_HEADER = 20_000
"""Characters of a line of the header that are looked at."""
DATA_TABLE = re.compile(r"<th\b", re.IGNORECASE)
WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-1": "cp1252",
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "ks_c_5601-1987": "cp949",
}
"""Declared encoding → what programs write under that name."""
UNKNOWN = "\ufffd"
LOST_SHARE = 0.02
"""Of the bytes beyond ASCII: with more unknown characters the declared encoding is not the one."""
SEALED = re.compile(
    r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Z][^\n]*\n)*|-----BEGIN PGP SIGNATURE-----.*?-----END PGP SIGNATURE-----",
    re.DOTALL,
)
"""What PGP writes around a text."""
OF_PAGES = frozenset({"text/css", "text/javascript", "application/javascript", "application/x-javascript"})
"""What a page that was saved with all it needs has beside its text."""
SEALS = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature", "application/ms-tnef"}
)
"""Parts that are for programs."""
SIGNATURE_LINES = 15
"""Below `-- `, at most."""
FOOTER_LINES = 8
FOOTER = re.compile(r"[_=-]{20,}$")
FOOTER_SAYS = re.compile(r"mailing[ -]?list|unsubscribe|list-?info", re.IGNORECASE)
SENT_FROM = re.compile(
    r"-*\s*(?:Sent from (?:my|Mail|Outlook|Yahoo)|Get Outlook for|Von meinem \w+ gesendet|Gesendet von|Envoyé de mon)\b.{0,60}"
)
"""The line of a program."""


@dataclass(frozen=True, slots=True)
class MailPart:
    """A part that has no parts."""

    kind: Literal["plain", "html", "text file", "file", "mail", "seal", "encrypted", "beyond"]
    message: Message
    name: str = ""
    """Of a file."""
    is_inline: bool = False
    """Whether it is shown within the text."""


def header(message: Message, name: str) -> str:
    """Return a line of the header as people read it, on one line; empty where there is none."""
    for key, raw in message.raw_items():
        if key.lower() != name:
            continue
        text = str(raw)[:MAX_HEADER]
        if not text.isascii():  # bytes that are not encoded as the standard wants it
            data = text.encode("utf-8", "surrogateescape")
            try:
                text = data.decode()
            except UnicodeDecodeError:
                text = data.decode("cp1252", "replace")
        return " ".join(_decoded(text).split())
    return ""


def _decoded(written: str) -> str:
    """Decode words of a header that are encoded (`=?utf-8?q?...?=`); what cannot be stays as it is written."""
    try:
        parts = decode_header(written)
    except HeaderParseError:
        return written.encode("utf-8", "replace").decode()
    text = "".join(part if isinstance(part, str) else _as_text(part, charset or "latin-1") for part, charset in parts)
    return text.encode("utf-8", "replace").decode()


def _as_text(data: bytes, charset: str) -> str:
    charset = WIDER.get(charset.lower(), charset)
    try:
        return data.decode(charset, "replace")
    except (LookupError, ValueError):  # an encoding that is none
        return data.decode("utf-8", "replace")


def sent_at(message: Message) -> str:
    """Return when a mail was sent, `2024-03-05 10:22+01:00`; as it is written where that is no date."""
    written = header(message, "date")
    try:
        return parsedate_to_datetime(written).isoformat(sep=" ", timespec="minutes") if written else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return written


def mail_parts(message: Message) -> Iterator[MailPart]:
    """Yield the parts of a mail in their order; of parts that say the same in several ways one, and the files of all."""
    count = 0
    stack: list[tuple[Message, int, bool, bool]] = [(message, 0, True, False)]
    while stack:
        part, depth, is_said, is_inline = stack.pop()
        count += 1
        if depth > MAX_DEPTH or count > MAX_PARTS:
            yield MailPart("beyond", part)
            return
        children = _children(part)
        if not children:
            yield from _leaf(part, is_said=is_said, is_inline=is_inline)
        elif part.get_content_type() == "message/rfc822":
            yield from (MailPart("mail", child) for child in children)
        else:
            kind = part.get_content_subtype()
            best = _best(children) if kind == "alternative" else None
            stack += [
                (child, depth + 1, is_said and (best is None or child is best), is_inline or kind == "related")
                for child in reversed(children)
            ]


def _best(children: list[Message]) -> Message | None:
    """Choose among parts that say the same: plain text, but for a table or where there is none."""
    plain = next((child for child in children if child.get_content_type() == "text/plain" and _has_text(child)), None)
    other = next((child for child in reversed(children) if _first_html(child) is not None), None)
    html = _first_html(other) if other is not None else None
    if plain is None or (html is not None and DATA_TABLE.search(_raw(html).decode("latin-1"))):
        return other if other is not None else children[-1] if children else None
    return plain


def _first_html(part: Message) -> Message | None:
    stack = [part]
    for _ in range(MAX_PARTS):
        if not stack:
            break
        one = stack.pop()
        if children := _children(one):
            stack += reversed(children)
        elif one.get_content_type() == "text/html" and _has_text(one):
            return one
    return None


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _has_text(part: Message) -> bool:
    return not part.is_multipart() and bool(_raw(part).strip())


def _raw(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _leaf(part: Message, *, is_said: bool, is_inline: bool) -> Iterator[MailPart]:
    kind = part.get_content_type()
    name = _file_name(part)
    is_file = part.get_content_disposition() == "attachment" or (bool(name) and part.get_content_maintype() != "text")
    if kind in OF_PAGES:
        return
    if kind in SEALS:
        yield MailPart("seal", part, name)
    elif kind in ("application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted"):
        yield MailPart("encrypted", part, name)
    elif part.get_content_maintype() == "text" and is_file and Path(name).suffix.lower() not in FORMATS:
        yield MailPart("text file", part, name)
    elif part.get_content_maintype() in ("text", "multipart") and not is_file:  # multipart: without parts
        if is_said:
            yield MailPart("html" if kind == "text/html" else "plain", part)
    elif is_said or is_file:  # else another way to say what is read
        yield MailPart("file", part, name or _unnamed(kind), is_inline and not _is_attached(part))


def _unnamed(kind: str) -> str:
    """Call a file without a name by its type, with the suffix by which it is read."""
    suffix = mimetypes.guess_extension(kind, strict=False)
    return f"unnamed{suffix}" if suffix else f"a part of the type {kind}"


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _file_name(part: Message) -> str:
    try:
        written = part.get_filename() or ""
    except (LookupError, ValueError, TypeError):  # an encoding that is none
        return ""
    name = re.split(r"[/\\]", _decoded(written[:MAX_HEADER]))[-1]
    return " ".join(name.split())[:150]


def text_of(part: Message, path: Path) -> tuple[str, str]:
    """Return the text of a part, and a note where its encoding was guessed."""
    data = _raw(part)
    if not data.strip():
        return "", ""
    charset = str(part.get_content_charset("us-ascii"))
    text, note = _as_text(data, WIDER.get(charset, charset)), ""
    lost = text.count(UNKNOWN)
    if lost > LOST_SHARE * sum(byte > 127 for byte in data):
        try:
            decoded = decode(data, path.with_suffix(""))
        except DocumentError as error:
            return "", f"a part of it cannot be read: {error.reason}"
        if decoded.text.count(UNKNOWN) < lost:
            text, note = decoded.text, decoded.note and f"a part {decoded.note}"
    lost = text.count(UNKNOWN)
    if lost and not note:
        note = f"{lost} characters of a part cannot be read as {charset}"
    if str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text, keeps_blank=str(part.get_param("delsp", "")).lower() != "yes")
    return text.replace("\r\n", "\n"), note


def _unflowed(text: str, *, keeps_blank: bool) -> str:
    """Put lines together that end in a blank (RFC 3676)."""
    written: list[tuple[str, list[str]]] = []
    goes_on = False
    for line in text.splitlines():
        content = line.lstrip(">")
        marks, content = line[: len(line) - len(content)], content.removeprefix(" ")
        if goes_on and written and written[-1][0] == marks and content != "-- ":
            written[-1][1].append(content)
        else:
            written.append((marks, [content]))
        goes_on = content.endswith(" ") and content != "-- "
        if goes_on and not keeps_blank:
            written[-1][1][-1] = content[:-1]
    return "\n".join(f"{'> ' * len(marks)}{''.join(parts)}" for marks, parts in written)


def without_signature(text: str) -> tuple[str, list[str]]:
    """Return what an author wrote without signature, footer of a mailing list and name of the program; and the lines of these."""
    left_out = [line for seal in SEALED.finditer(text) for line in seal[0].splitlines()]
    text = SEALED.sub("", text)
    lines = text.rstrip().split("\n")
    for number in range(max(0, len(lines) - FOOTER_LINES), len(lines)):
        if FOOTER.match(lines[number].strip()) and FOOTER_SAYS.search("\n".join(lines[number:])):
            left_out += lines[number:]
            del lines[number:]
            break
    for number in reversed(range(max(0, len(lines) - SIGNATURE_LINES - 1), len(lines))):
        if lines[number].rstrip() == "--":
            left_out += lines[number + 1 :]
            del lines[number:]
            break
    kept = [line for line in lines if not SENT_FROM.fullmatch(line.strip())]
    left_out += [line for line in lines if SENT_FROM.fullmatch(line.strip())]
    return "\n".join(kept), [line for line in left_out if line.strip()]
