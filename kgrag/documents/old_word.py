"""Word 97 to 2003 (`.doc`) to blocks, by way of HTML: headings by their styles, tables, lists, links, notes and boxes of text.

What was deleted or is hidden is left out; comments, headers and footers, and tables of contents are, too, and counted. The numbers before
paragraphs, which stand nowhere in the file, are counted as Word counts them. Of Word 6 and 95 the text alone is read.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import groupby
from pathlib import Path

import olefile

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.list_numbers import MARKER
from kgrag.documents.old_properties import title_of
from kgrag.documents.old_word_file import (
    FIELD_BEGINS,
    FIELD_ENDS,
    FIELD_SHOWS,
    WordCharacter,
    WordFile,
    WordParagraph,
)
from kgrag.errors import DocumentError

__all__ = ["convert_old_word"]

MAIN, TABLES = "WordDocument", ("0Table", "1Table")
FIRST_OF_WORD_97 = 0xC1
ENCRYPTED, SECOND_TABLE = 0x0100, 0x0200
ENCODING = "cp1252"
PLAIN = str.maketrans({"\x0b": "\n", "\x1e": "-", "\x0e": " ", **dict.fromkeys("\x00\x01\x02\x03\x04\x05\x06\x08\x1f")})
"""Breaks of lines and hyphens as Word writes them; marks of pictures and notes are nothing."""
ENDS = re.compile(r"[\r\x07\x0c]")
INSTRUCTION = re.compile(r"\x13[^\x13-\x15]*(?:\x14|(?=\x15))|\x15")
LINK = re.compile(r'\s*HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)"')
LEFT_OUT = {**dict.fromkeys(("headers", "header boxes"), "running header or footer"), "comments": "comment"}
DEEPEST_HEADING, DEEPEST_LIST = 6, 8


def convert_old_word(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a file of Word 97 to 2003. Raises `DocumentError` where it is something else, or has a password."""
    with olefile.OleFileIO(BytesIO(data)) as ole:
        if not ole.exists(MAIN):
            raise DocumentError(path, "is no Word document: it has no text of one")
        main = bytes(ole.openstream(MAIN).read())
        version, flags = struct.unpack_from("<H", main, 2)[0], struct.unpack_from("<H", main, 0x0A)[0]
        if flags & ENCRYPTED:
            raise DocumentError(path, "is encrypted: save a copy without a password")
        title = title_of(ole)
        is_old = version < FIRST_OF_WORD_97
        table = b"" if is_old else bytes(ole.openstream(TABLES[bool(flags & SECOND_TABLE)]).read())
    removed: list[RemovedLine] = []
    html = _html_of_word_6(main) if is_old else _Writer(WordFile(main, table), removed).html()
    converted = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
    return BlockDocument(converted.blocks, title, (*removed, *converted.removed))


def _html_of_word_6(main: bytes) -> str:
    begin, end = struct.unpack_from("<II", main, 0x18)
    text = INSTRUCTION.sub("", main[begin:end].decode(ENCODING, "replace"))
    return "".join(f"<p>{_html(one)}</p>" for one in ENDS.split(text))


def _html(text: str) -> str:
    return escape(text.translate(PLAIN)).replace("\n", "<br>")


@dataclass(slots=True)
class _Field:
    """What Word computes: its instruction, whether what follows is what that gives, and where a link leads."""

    instruction: str = ""
    shows: bool = False
    target: str = ""


class _Writer:
    """Writes one file as HTML, and says what it left out."""

    def __init__(self, file: WordFile, removed: list[RemovedLine]) -> None:
        self._file = file
        self._removed = removed
        self._fields: list[_Field] = []
        """Those that are open."""
        self._labels: dict[int, str] = {}
        """Where a paragraph begins → the number before it."""

    def html(self) -> str:
        """Write the text, notes behind what refers to them, and boxes of text behind all."""
        notes: dict[int, list[str]] = {}
        paragraphs = list(self._file.paragraphs("text"))
        self._count(paragraphs)
        for kind in ("footnotes", "endnotes"):
            for reference, note in self._file.notes(kind):
                notes.setdefault(reference, []).extend(f"<p>{self._line(one)}</p>" for one in note)
        parts = list(self._blocks(paragraphs, notes))
        parts += [f"<p>{line}</p>" for one in self._file.paragraphs("boxes") if (line := self._line(one))]
        for chapter, rule in LEFT_OUT.items():
            lines = ("".join(one.text for one in paragraph.characters) for paragraph in self._file.paragraphs(chapter))
            self._removed += [
                RemovedLine(rule, " ".join(line.translate(PLAIN).split())) for line in lines if line.strip()
            ]
        return "".join(parts)

    def _count(self, paragraphs: Iterable[WordParagraph]) -> None:
        """Number the paragraphs of lists; one of which all was deleted is none."""
        lists = self._file.lists()
        for one in paragraphs:
            is_there = one.characters or one.begin == one.end
            if is_there and one.list_number in lists and (label := lists[one.list_number].next_label(one.list_level)):
                self._labels[one.begin] = label

    def _blocks(self, paragraphs: Sequence[WordParagraph], notes: dict[int, list[str]]) -> Iterator[str]:
        for kind, run in groupby(paragraphs, _kind):
            group = list(run)
            if kind == "table":
                yield self._table(group)
            elif kind == "list":
                yield self._list(group)
            for one in group:
                if not kind:
                    yield self._block(one)
                yield from _notes_in(one, notes)

    def _block(self, paragraph: WordParagraph) -> str:
        line = self._line(paragraph)
        if paragraph.is_contents:
            said = re.sub(r"<[^>]*>", "", line)
            self._removed.append(RemovedLine("table of contents", " ".join(said.split())))
            return ""
        if paragraph.is_title or paragraph.level:
            level = min(paragraph.level or 1, DEEPEST_HEADING)
            return f"<h{level}>{line}</h{level}>"
        return f"<p>{line}</p>"

    def _list(self, items: Sequence[WordParagraph]) -> str:
        parts: list[str] = []
        depth = 0
        for item in items:
            level = min(item.list_level, DEEPEST_LIST) + 1
            label = self._labels.pop(item.begin, "")
            marker = f' {MARKER}="{escape(label)}"' if label else ""
            parts.append("<ul>" * (level - depth) + "</ul>" * (depth - level) + f"<li{marker}>{self._line(item)}</li>")
            depth = level
        return "".join(parts) + "</ul>" * depth

    def _table(self, paragraphs: Iterable[WordParagraph]) -> str:
        rows: list[str] = []
        cells: list[str] = []
        cell: list[str] = []
        for paragraph in paragraphs:
            if paragraph.ends_row:
                tag = "th" if paragraph.heads_table and not rows else "td"
                rows.append("<tr>" + "".join(f"<{tag}>{one}</{tag}>" for one in cells) + "</tr>")
                cells, cell = [], []
                continue
            cell.append(f"<p>{self._line(paragraph)}</p>")
            if paragraph.ends_cell:
                cells.append("".join(cell))
                cell = []
        rest = "".join([*cells, *cell])
        return f"<table>{''.join(rows)}</table>{rest}"

    def _line(self, paragraph: WordParagraph) -> str:
        """Write a paragraph without what fields are told to show, links as links."""
        parts: list[str] = []
        for (target, bold), run in groupby(self._visible(paragraph.characters), key=lambda one: one[:2]):
            text = _html("".join(character for _, _, character in run))
            text = f"<b>{text}</b>" if bold and text.strip() else text
            parts.append(f'<a href="{escape(target)}">{text}</a>' if target else text)
        line, label = "".join(parts), self._labels.get(paragraph.begin, "")
        return f"{escape(label)} {line}" if label and line.strip() else line

    def _visible(self, characters: Iterable[WordCharacter]) -> Iterator[tuple[str, bool, str]]:
        """Yield where a character leads to, whether it is bold, and itself; a field may go on over paragraphs."""
        for one in characters:
            if one.text == FIELD_BEGINS:
                self._fields.append(_Field())
            elif one.text == FIELD_SHOWS and self._fields:
                self._fields[-1].shows = True
                link = LINK.match(self._fields[-1].instruction)
                self._fields[-1].target = link[1] if link else ""
            elif one.text == FIELD_ENDS and self._fields:
                self._fields.pop()
            elif all(field.shows for field in self._fields):
                target = next((field.target for field in reversed(self._fields) if field.target), "")
                yield target, one.is_bold, one.text
            else:
                self._fields[-1].instruction += one.text


def _kind(paragraph: WordParagraph) -> str:
    if paragraph.in_table:
        return "table"
    return "list" if paragraph.list_level >= 0 and not paragraph.level else ""


def _notes_in(paragraph: WordParagraph, notes: dict[int, list[str]]) -> Iterator[str]:
    for reference in [one for one in notes if paragraph.begin <= one <= paragraph.end]:
        yield from notes.pop(reference)
