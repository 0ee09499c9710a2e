"""Manuals in GNU Info (`.info`, `.info-1`) to blocks: nodes are read as plain text, with headings, anchors and references as Info has."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from html import escape, unescape
from itertools import pairwise
from pathlib import Path

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.info_layout import FOOTNOTES, InfoLayout
from kgrag.documents.text_encoding import decode, unpacked
from kgrag.errors import DocumentError

__all__ = ["convert_info"]

NODE_START = "\x1f"
TOP = "Top"
"""The node that the manual begins with."""
DIRECTORY_ENTRY = re.compile(r"^\* ([^:\n]+): \(([^()\n]+)\)\.", re.MULTILINE)
"""How the directory of all manuals names one: `* GnuTLS: (gnutls).  Transport Layer Security`."""
HEADER = re.compile(r"File: *(?P<file>[^,\n]+?)(?:\.info)?,[^\n]*?Node: *(?P<node>[^,\n\x7f]+)(?:,[^\n]*)?$")
IMAGE = re.compile(rb"\0\x08\[image\s([^\0]*)\0\x08\]")
SAID_OF_IMAGE = re.compile(rb'(?:text|alt)="([^"]*)"')
MARK = re.compile(rb"\0\x08\[\w+\0\x08\]")
"""A mark for Info readers: that a menu is an index."""
MENU = "* Menu:"
ENTRY = "* "
"""Of a menu, which may have lines and titles of its own between them."""
LEVELS = {"*": 2, "=": 3, "-": 4, ".": 5}
"""What a title is underlined with → its level; that of the manual is 1."""
REFERENCE = re.compile(
    r"(?P<seen>\b[Ss]ee\s+)?\*(?P<see>[Nn]ote)\s+(?:(?P<whole>[^:<>]+)::|(?P<label>[^:<>]+):\s+(?P<node>(?:\([^)<>]*\))?[^.,<>]*)(?P<end>[.,]))(?P<closing>\)?)"
)


def convert_info(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a file of an Info manual, packed or not. Raises `DocumentError` where it has no nodes.

    Menus, indexes and the lines that lead from node to node are left out and counted, as is what stands before the first node.
    """
    data = IMAGE.sub(_said_of_image, unpacked(data, path))
    decoded = decode(MARK.sub(b"", data), path.with_suffix(""))
    before, *nodes = decoded.text.split(NODE_START)
    removed = _removed("front matter", before)
    manual, file = _Manual(), ""
    for node in nodes:
        header, _, body = node.lstrip("\n").partition("\n")
        if named := HEADER.match(header):
            removed += _removed("navigation", header)
            file = named["file"]
            text, left_out = _text_of(body)
            removed += left_out
            manual.add(" ".join(named["node"].split()), text)
    if not manual.nodes:
        raise DocumentError(path, "is no Info manual: it has no nodes")
    names = [entry[1] for entry in DIRECTORY_ENTRY.finditer(before) if entry[2] == file]
    manual.file, manual.name = file, names[0] if len(names) == 1 else file
    read = blocks_of_html(f"<html><body>{manual.html()}</body></html>", path, document_path=document_path)
    notes = (decoded.note,) if decoded.note else ()
    # The second part of a long manual, and one whose first node has no heading, begin with the heading of a section.
    return BlockDocument(read.blocks, manual.title or manual.name, (*removed, *read.removed), notes)


class _Manual:
    """The nodes of a file."""

    def __init__(self) -> None:
        self.file = self.name = ""
        """As the directory of all manuals has it."""
        self.title = ""
        self.nodes: dict[str, list[str]] = {}
        """Identifier → lines."""

    def add(self, node: str, lines: list[str]) -> None:
        """Add a node, or more of one."""
        self.nodes.setdefault(_identifier(node), []).extend(lines)

    def html(self) -> str:
        """Write everything as HTML; the first heading of the node Top is the title."""
        layout = InfoLayout(list(self.nodes.values()))
        written = []
        for identifier, lines in self.nodes.items():
            written.append(f'<a id="{escape(identifier)}"></a>')
            written.append(layout.html(lines, heading=partial(self._heading, identifier)))
        return REFERENCE.sub(lambda reference: _written(reference, self.nodes), "\n".join(written))

    def _heading(self, node: str, title: str, underlined_with: str) -> str:
        level = LEVELS[underlined_with]
        if not self.title and node == next(iter(self.nodes)) == TOP:
            level, self.title = 1, self._with_name(title)
            title = self.title
        return f"<h{level}>{escape(title)}</h{level}>"

    def _with_name(self, title: str) -> str:
        """Return a title that says what the manual is of: `Introduction` and `Overview` do not."""
        if title == TOP:
            return self.name
        said = _letters(title)
        is_named = _letters(self.file) in said or all(_letters(word) in said for word in re.split(r"\W+", self.name))
        if said in _letters(self.name) and not is_named:
            return self.name if self.name != self.file else title
        return title if is_named else f"{self.name}: {title}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _text_of(node: str) -> tuple[list[str], list[RemovedLine]]:
    """Return a node's lines, and those that are left out: menus, each to what is said of its last entry, and the line above notes."""
    # Of a line of blanks these stay: it ends the row of a table.
    lines = [line.rstrip() or line for line in node.replace("\f", "\n").expandtabs().splitlines()]
    kept, removed = list[str](), list[RemovedLine]()
    menus = [i for i, line in enumerate(lines) if line == MENU]
    ended = 0
    for start, after in pairwise([*menus, len(lines)]):
        kept += lines[ended:start]
        ended = max((i for i in range(start, after) if lines[i].startswith(ENTRY)), default=start) + 1
        while ended < after and lines[ended].startswith(" "):
            ended += 1
        removed += _removed("menu", "\n".join(lines[start:ended]))
    kept += lines[ended:]
    removed += [RemovedLine("line above notes", line.strip()) for line in kept if FOOTNOTES.fullmatch(line)]
    return [line for line in kept if not FOOTNOTES.fullmatch(line)], removed


def _said_of_image(image: re.Match[bytes]) -> bytes:
    said = SAID_OF_IMAGE.findall(image[1])
    return said[-1] if said else b""


def _written(reference: re.Match[str], known: Collection[str]) -> str:
    """Write a reference as a sentence has it, with a link where its node is in this file."""
    label = " ".join((reference["whole"] or reference["label"]).split())
    node = " ".join((reference["node"] or label).split())
    see = "See" if (reference["seen"] or reference["see"])[0].isupper() else "see"
    aim = _identifier(unescape(node))
    said = label if label == node or not node.startswith("(") else f"{label} {node}".rstrip()
    link = f'<a href="#{escape(aim)}">{said}</a>' if aim in known else said
    end = reference["closing"] or reference["end"] or ""  # Info wants a full stop even before a bracket
    return f"{see} {link}{end}"


def _identifier(node: str) -> str:
    return "-".join(node.split())


def _removed(rule: str, text: str) -> list[RemovedLine]:
    return [RemovedLine(rule, line.strip()) for line in text.splitlines() if line.strip()]
