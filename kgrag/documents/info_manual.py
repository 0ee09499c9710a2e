"""Manuals in GNU Info (`.info`, `.info-1`) to blocks: nodes are read as plain text, with headings, anchors and references as Info has."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.text_encoding import decode, unpacked
from kgrag.errors import DocumentError

__all__ = ["convert_info"]

NODE_START = "\x1f"
TOP = "Top"
"""The node that the manual begins with."""
UNDERLINED_OFF_BY = 2
"""Characters that the line below a title may be longer or shorter than it."""
DIRECTORY_ENTRY = re.compile(r"^\* ([^:\n]+): \(([^()\n]+)\)\.", re.MULTILINE)
"""How the directory of all manuals names one: `* GnuTLS: (gnutls).  Transport Layer Security`."""
HEADER = re.compile(r"File: *(?P<file>[^,\n]+?)(?:\.info)?,[^\n]*?Node: *(?P<node>[^,\n\x7f]+)(?:,[^\n]*)?$")
IMAGE = re.compile(rb"\0\x08\[image\s([^\0]*)\0\x08\]")
SAID_OF_IMAGE = re.compile(rb'(?:text|alt)="([^"]*)"')
MARK = re.compile(rb"\0\x08\[\w+\0\x08\]")
"""A mark for Info readers: that a menu is an index."""
MENU = re.compile(r"^\* Menu:.*", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(?P<title>\S[^\n]*)\n(?P<rule>([*=.-])\3+)$", re.MULTILINE)
LEVELS = {"*": 2, "=": 3, "-": 4, ".": 5}
"""What a title is underlined with → its level; that of the manual is 1."""
PLACE = "\ue000{}"
"""A line that plain text is left with where a heading or an anchor was written."""
PLACED = re.compile(r"<p>\ue000(\d+)</p>")
REFERENCE = re.compile(
    r"\*(?P<see>[Nn]ote)\s+(?:(?P<whole>[^:<>]+)::|(?P<label>[^:<>]+):\s+(?P<node>(?:\([^)<>]*\))?[^.,<>]*)(?P<end>[.,]))(?P<closing>\)?)"
)


def convert_info(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a file of an Info manual, packed or not. Raises `DocumentError` where it has no nodes.

    Menus, indexes and the lines that lead from node to node are left out and counted, as is what stands before the first node.
    """
    data = IMAGE.sub(_said_of_image, unpacked(data, path))
    decoded = decode(MARK.sub(b"", data), path.with_suffix(""))
    before, *nodes = decoded.text.replace(PLACE[0], "").split(NODE_START)
    removed = _removed("front matter", before)
    manual, file = _Manual(), ""
    for node in nodes:
        header, _, body = node.lstrip("\n").partition("\n")
        if named := HEADER.match(header):
            removed += _removed("navigation", header)
            file = named["file"]
            removed += [line for menu in MENU.findall(body) for line in _removed("menu", menu)]
            manual.add(" ".join(named["node"].split()), MENU.sub("", body))
    if not manual.nodes:
        raise DocumentError(path, "is no Info manual: it has no nodes")
    read = blocks_of_html(f"<html><body>{manual.html()}</body></html>", path, document_path=document_path)
    notes = (decoded.note,) if decoded.note else ()
    # The second part of a long manual, and one whose first node has no heading, begin with the heading of a section.
    names = {entry[2]: entry[1] for entry in reversed(list(DIRECTORY_ENTRY.finditer(before)))}
    title = manual.title or names.get(file, file)
    return BlockDocument(read.blocks, title, (*removed, *read.removed), notes)


class _Manual:
    """The nodes of a file, as one plain text."""

    def __init__(self) -> None:
        self.title = ""
        self.nodes: set[str] = set()
        """Their identifiers."""
        self._text: list[str] = []
        self._placed: list[str] = []
        """What is HTML already; the text has its place."""

    def add(self, node: str, body: str) -> None:
        """Add a node: its anchor, its headings, its text."""
        identifier = _identifier(node)
        self.nodes.add(identifier)
        self._text += [self._place(f'<a id="{escape(identifier)}"></a>'), HEADING.sub(self._heading, body)]

    def html(self) -> str:
        """Write everything as HTML."""
        html = plain_text_html("\n\n".join(self._text))
        html = REFERENCE.sub(lambda reference: _written(reference, self.nodes), html)
        return PLACED.sub(lambda place: self._placed[int(place[1])], html)

    def _heading(self, heading: re.Match[str]) -> str:
        title = heading["title"]
        if abs(len(title) - len(heading["rule"])) > UNDERLINED_OFF_BY:
            return heading[0]
        level = LEVELS[heading["rule"][0]]
        if not self.title and self.nodes == {TOP}:
            level, self.title = 1, title
        return "\n" + self._place(f"<h{level}>{escape(title)}</h{level}>") + "\n"

    def _place(self, html: str) -> str:
        self._placed.append(html)
        return PLACE.format(len(self._placed) - 1)


def _said_of_image(image: re.Match[bytes]) -> bytes:
    said = SAID_OF_IMAGE.findall(image[1])
    return said[-1] if said else b""


def _written(reference: re.Match[str], known: set[str]) -> str:
    """Write a reference as a sentence has it, with a link where its node is in this file."""
    label = " ".join((reference["whole"] or reference["label"]).split())
    node = " ".join((reference["node"] or label).split())
    see = "See" if reference["see"] == "Note" else "see"
    aim = _identifier(unescape(node))
    said = label if label == node or not node.startswith("(") else f"{label} {node}".rstrip()
    link = f'<a href="#{escape(aim)}">{said}</a>' if aim in known else said
    end = reference["closing"] or reference["end"] or ""  # Info wants a full stop even before a bracket
    return f"{see} {link}{end}"


def _identifier(node: str) -> str:
    return "-".join(node.split())


def _removed(rule: str, text: str) -> list[RemovedLine]:
    return [RemovedLine(rule, line.strip()) for line in text.splitlines() if line.strip()]
