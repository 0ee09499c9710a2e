"""Mail (`.eml`, `.mbox`) to blocks: who wrote to whom and when, what they wrote, and the files that came with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from pathlib import Path

from kgrag.documents.blocks import Block, BlockDocument, RemovedLine, of_part
from kgrag.documents.html import blocks_of_html
from kgrag.documents.mail_parts import MailPart, header, mail_parts, sent_at, text_of, without_signature
from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.text_encoding import PACKED, foreign_content, unpacked
from kgrag.errors import DocumentError

__all__ = ["convert_mail"]

BOX = ".mbox"
BEGINS_MAIL = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n")
ESCAPED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
KNOWN = ("from", "to", "subject", "date", "received", "message-id", "content-type")
"""A mail has one of these lines in its header."""
NO_SUBJECT = "(no subject)"
LONGEST_LINE = 300
"""Characters of the names of all to whom a mail went; `...` stands for the rest."""
MAX_MAILS_IN_MAIL = 10
"""Mails attached to mails attached to mails."""
SMALL_PICTURE_BYTES = 20_000
"""Of a picture within the text: a smaller one is a logo."""
SAME_CHARACTERS = 3
"""A quoted line with fewer says nothing of where it is from."""

ReadFile = Callable[[str, bytes], BlockDocument]
"""Converts a file, by its name and its content. Raises `DocumentError`."""


def convert_mail(data: bytes, path: Path, *, document_path: str, read_file: ReadFile) -> BlockDocument:
    """Convert a mail, or a box of them with a section for each. Raises `DocumentError` where there is none.

    `read_file` converts what is attached. Signatures are left out, and below an answer in a box what it quotes of mails before it.
    """
    data = unpacked(data, path)
    if kind := foreign_content(data[:512]):
        raise DocumentError(path, f"its content is {kind}, not the mail that its name says")
    name = path.stem if path.suffix.lower() == PACKED else path.name
    is_box = name.lower().endswith(BOX)
    mails = [_parsed(one, path) for one in (_mails(data) if is_box else [data])]
    pieces = len(mails)
    mails = [one for one in mails if any(one.get(line) is not None for line in KNOWN)]
    if not mails:
        raise DocumentError(path, "is no mail: it has neither From, To, Subject nor Date")
    writer = _Writer(path, document_path, read_file, is_box=is_box)
    for mail in mails:
        writer.add(mail, level=1 if is_box else 0)
    no_mails = (f"{pieces - len(mails)} pieces of the box are no mails",) if pieces > len(mails) else ()
    notes = (*no_mails, *writer.notes())
    if not writer.has_text and notes:
        raise DocumentError(path, f"has no text: {'; '.join(notes)}")
    if is_box:
        return BlockDocument(tuple(writer.blocks), Path(name).stem, tuple(writer.removed), notes, {"mails": len(mails)})
    said = {"from": header(mails[0], "from"), "to": header(mails[0], "to"), "date": sent_at(mails[0])}
    metadata = {key: value for key, value in said.items() if value}
    return BlockDocument(tuple(writer.blocks), header(mails[0], "subject"), tuple(writer.removed), notes, metadata)


def _parsed(data: bytes, path: Path) -> Message:
    try:
        return BytesParser(policy=compat32).parsebytes(data.removeprefix(b"\xef\xbb\xbf").lstrip())
    except RecursionError as error:
        raise DocumentError(path, "is nested too deeply for a mail") from error


def _mails(data: bytes) -> Iterator[bytes]:
    """Part a box into its mails; what stands above the first line that begins one is a piece as well, often a mail without that line."""
    begins = list(BEGINS_MAIL.finditer(data))
    starts = [0, *(begin.end() for begin in begins)]
    ends = [*(begin.start() for begin in begins), len(data)]
    for start, end in zip(starts, ends, strict=True):
        if mail := data[start:end].strip():
            yield ESCAPED_FROM.sub(rb"\1", mail)


class _Writer:
    """Writes mails as blocks."""

    def __init__(self, path: Path, document_path: str, read_file: ReadFile, *, is_box: bool) -> None:
        self.blocks: list[Block] = []
        self.removed: list[RemovedLine] = []
        self.has_text = False
        """Whether there is more than who wrote to whom."""
        self._path = path
        self._document_path = document_path
        self._read_file = read_file
        self._is_box = is_box
        self._notes: Counter[str] = Counter()
        self._written: set[str] = set()
        """Lines of the mails before."""
        self._files: Counter[str] = Counter()

    def notes(self) -> tuple[str, ...]:
        """Return what the user should know, each once with how often it is so."""
        return tuple(f"{note} ({count} times)" if count > 1 else note for note, count in self._notes.items())

    def add(self, mail: Message, *, level: int, within: int = 0) -> None:
        """Write a mail, below a heading where `level` is not 0; `within` so many others."""
        if within > MAX_MAILS_IN_MAIL:
            self._notes[f"mails within more than {MAX_MAILS_IN_MAIL} others are left out"] += 1
            return
        if level:
            self.blocks.append(Block("heading", header(mail, "subject") or NO_SUBJECT, level))
        if line := _who_and_when(mail):
            self.blocks.append(Block("paragraph", line))
        before = set(self._written)
        for part in mail_parts(mail):
            self._add_part(part, before, level=level, within=within)

    def _add_part(self, part: MailPart, before: set[str], *, level: int, within: int) -> None:
        match part.kind:
            case "mail":
                self.add(part.message, level=level + 1, within=within + 1)
            case "plain" | "html":
                self._add_text(part, before, level=level)
            case "text file":
                self._begin_file(part.name, level)
                self._add_text(part, before, level=level + 1)
            case "file":
                self._add_file(part, level=level)
            case "seal":
                self.removed.append(RemovedLine("seal of a mail", part.message.get_content_type()))
            case "encrypted":
                is_signed = str(part.message.get_param("smime-type", "")).lower() == "signed-data"
                self._notes[f"a part is {'packed into its signature (S/MIME)' if is_signed else 'encrypted'}"] += 1
            case "beyond":
                self._notes["has more parts, or parts within parts, than are read"] += 1

    def _add_text(self, part: MailPart, before: set[str], *, level: int) -> None:
        text, note = text_of(part.message, self._path)
        if note:
            self._notes[note] += 1
        if not text.strip():
            return
        if part.kind == "plain":
            text, signature = without_signature(text)
            self.removed += [RemovedLine("signature", line.strip()) for line in signature]
            if self._is_box:
                text = self._without_history(text, before)
            html = f"<html><body>{plain_text_html(text, titled=False)}</body></html>"
        else:
            html = text
        try:
            read = blocks_of_html(html, self._path, document_path=self._document_path)
        except DocumentError as error:
            self._notes[f"a part of it cannot be read: {error.reason}"] += 1
            return
        self.removed += read.removed
        self._extend(read.blocks, level)

    def _without_history(self, text: str, before: set[str]) -> str:
        """Leave out what is quoted below all that was written, where it stands in a mail before."""
        lines = text.rstrip().split("\n")
        end = len(lines)
        while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith(">")):
            end -= 1
        history = [line.strip() for line in lines[end:] if line.strip(" >\t")]
        known = [line for line in history if (said := _comparable(line)) in before or len(said) < SAME_CHARACTERS]
        self._written.update(map(_comparable, lines))
        if len(known) < len(history):
            return text
        self.removed += [RemovedLine("quoted mail", line) for line in history]
        return "\n".join(lines[:end])

    def _add_file(self, part: MailPart, *, level: int) -> None:
        content = part.message.get_payload(decode=True)
        data = content if isinstance(content, bytes) else str(part.message).encode("utf-8", "replace")
        is_picture = part.message.get_content_maintype() == "image"
        if is_picture and part.is_inline and len(data) < SMALL_PICTURE_BYTES:
            self.removed.append(RemovedLine("small picture", part.name))
            return
        try:
            if not data:
                raise DocumentError(self._path, "is empty")
            read = self._read_file(part.name, data)
        except DocumentError as error:
            self._notes[f"attached {part.name}: {error.reason}"] += 1
            return
        name = self._begin_file(part.name, level)
        self.removed += read.removed
        for note in read.notes:
            self._notes[f"attached {part.name}: {note}"] += 1
        self._extend(of_part(read.blocks, name, parts={name, part.name}, document_path=self._document_path), level + 1)

    def _begin_file(self, written: str, level: int) -> str:
        """Write the heading of an attached file; return its name, which is its own."""
        self._files[written] += 1
        name = written if self._files[written] == 1 else f"{written} ({self._files[written]})"
        self.blocks.append(Block("heading", f"Attachment: {name}", level + 1))
        return name

    def _extend(self, blocks: Sequence[Block], level: int) -> None:
        self.has_text = self.has_text or bool(blocks)
        self.blocks += [
            replace(block, level=block.level + level) if block.kind == "heading" else block for block in blocks
        ]


def _who_and_when(mail: Message) -> str:
    """Write from whom a mail is, to whom it went and when, on one line."""
    said = {"From": header(mail, "from"), "To": header(mail, "to"), "Cc": header(mail, "cc"), "Date": sent_at(mail)}
    return "; ".join(f"{name}: {_shortened(value)}" for name, value in said.items() if value)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE].rsplit(' ', 1)[0]} ..."


def _comparable(line: str) -> str:
    return " ".join(line.lstrip("> \t").split())
