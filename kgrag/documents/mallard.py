"""Pages of Mallard (the help of GNOME and MATE) to blocks: written as HTML, which is walked as a page is.

What a page takes from other files (XInclude, titles of pages that it links to without words of its own) is not followed, and named.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgrag.documents.blocks import BlockDocument, RemovedLine, left_out
from kgrag.documents.docbook_writer import element_name
from kgrag.documents.html import blocks_of_html
from kgrag.documents.inline_text import collapse
from kgrag.documents.text_encoding import decode
from kgrag.documents.xml_files import parse_text
from kgrag.errors import DocumentError
from kgrag.types import Scalar

__all__ = ["convert_mallard"]

HTML_OF = {
    element: html
    for html, elements in {
        "section": "page section",
        "div": "div example figure listing synopsis quote note",
        "p": "p desc cite",
        "ul": "list tree",
        "ol": "steps",
        "dl": "terms",
        "li": "item",
        "pre": "screen",
        "code": "code cmd file input output sys var",
        "b": "app gui key hi",
        "i": "em",
        "a": "link",
        "table": "table",
        "thead": "thead",
        "tbody": "tbody",
        "tfoot": "tfoot",
        "tr": "tr",
        "td": "td",
        "th": "th",
    }.items()
    for element in elements.split()
}
"""Element → what it is in HTML; others are spans."""
BLOCKS = frozenset(
    {"page", "section", "div", "example", "figure", "listing", "synopsis", "quote", "note", "item", "td", "th"}
)
"""What has blocks in it: `code` and `media` are some there, and words of a line elsewhere."""
JOINED_BY = {"guiseq": " > ", "keyseq": "+"}
"""Elements whose parts have a mark between them on the page."""
DROPPED = "dropped"
NOT_SAID = frozenset({"keywords", "links", "col", "colgroup"})
"""Words for searches, places for links: nothing of the text."""
COUNTED = {"comment": "comment", "credit": "front matter", "license": "front matter"}
"""Element → the rule by which its words are counted as left out."""


def convert_mallard(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a page, packed or not; its description stands below its title. Raises `DocumentError` where it is no page of Mallard."""
    decoded = decode(data, path)
    root, unknown = parse_text(decoded.text, path)
    if element_name(root) != "page":
        raise DocumentError(path, f"is XML, but no page of Mallard: its first element is {element_name(root)}")
    writer = _Writer(root)
    read = blocks_of_html(f"<html><body>{writer.html()}</body></html>", path, document_path=document_path)
    notes = [decoded.note] if decoded.note else []
    for what, names in (
        ("what it includes", writer.included),
        ("titles that other pages say", writer.elsewhere),
        ("what another file says of its entities", unknown),
    ):
        if names:
            notes.append(left_out(what, names))
    return BlockDocument(read.blocks, writer.title, (*writer.removed, *read.removed), tuple(notes), writer.metadata)


class _Writer:
    """Renames the elements of a page in place."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._names = {element: element_name(element) for element in root.iter() if isinstance(element.tag, str)}
        self._levels: dict[Any, int] = {}
        self.title = ""
        self.removed: list[RemovedLine] = []
        self.included: dict[str, None] = {}
        self.elsewhere: dict[str, None] = {}
        self.metadata: dict[str, Scalar] = {}

    def html(self) -> str:
        """Return the page as HTML."""
        from lxml import etree

        for info in [element for element, name in self._names.items() if name == "info"]:
            self._read_info(info)
        for element, name in self._names.items():
            parent = element.getparent()
            level = self._levels.get(parent, 0)
            self._levels[element] = level + (name in ("page", "section"))
            if element.tag != DROPPED:
                self._rename(element, name, level)
        etree.strip_elements(self._root, DROPPED, with_tail=False)
        return str(etree.tostring(self._root, method="html", encoding="unicode"))

    def _read_info(self, info: Any) -> None:
        """Take what is said about a page or a section: its description goes below the title, the rest out."""
        described = None
        for element in info.iter():
            name = self._names.get(element, "")
            if name in COUNTED:
                self._count(element, COUNTED[name])
            elif name == "desc" and described is None:
                described = element
            elif name == "revision" and info.getparent() is self._root and element.get("pkgversion"):
                self.metadata["version"] = str(element.get("pkgversion"))
        title = next((one for one in info.itersiblings() if self._names.get(one) == "title"), None)
        if described is not None and collapse("".join(described.itertext())):
            described.tail = "\n"
            (title if title is not None else info).addnext(described)
        for element in info.iter():
            element.tag = DROPPED

    def _rename(self, element: Any, name: str, level: int) -> None:
        said = dict(element.attrib)
        parent = self._names.get(element.getparent(), "")
        element.attrib.clear()
        if "id" in said:
            element.set("id", said["id"])
        if name == "include":
            self.included.setdefault(said.get("href", "itself"))
        if name in NOT_SAID or name == "include":
            element.tag = DROPPED
            return
        if name in COUNTED:
            self._count(element, COUNTED[name])
            element.tag = DROPPED
            return
        element.tag = HTML_OF.get(name, "span")
        match name:
            case "title" | "subtitle":
                self._name(element, parent, level)
            case "note":
                kind = said.get("style", "note").split(" ")[0] or "note"
                inner = next(iter(element), element)
                first = inner if self._names.get(inner, "") in ("p", "title") else element
                first.text = f"{kind.capitalize()}: {(first.text or '').lstrip()}"
            case "guiseq" | "keyseq":
                element.text = ""
                for item in element:
                    item.tail = JOINED_BY[name] if item.getnext() is not None else ""
            case "code" if parent in BLOCKS:
                element.tag = "pre"
            case "desc" if parent in ("figure", "listing"):
                element.tag = "div"
            case "media" if parent in BLOCKS:
                element.tag = "div"
            case "item" if parent == "terms":
                element.tag = "dd"
                for term in [one for one in element if self._names.get(one) == "title"]:
                    element.addprevious(term)  # a `dt` before its `dd`
            case "link":
                self._link(element, said)

    def _name(self, element: Any, parent: str, level: int) -> None:
        """Write a title: of a page or a section as a heading, of an item of terms as the term, else as a paragraph."""
        if parent in ("page", "section"):
            element.tag = f"h{min(max(level, 1), 6)}"
            if not self.title and parent == "page":
                self.title = collapse("".join(element.itertext()))
        elif parent == "terms":
            element.tag = "dt"
        else:
            element.tag = "caption" if parent == "table" else "p"

    def _link(self, element: Any, said: dict[str, str]) -> None:
        page, mark, fragment = said.get("xref", "").partition("#")
        page += ".page" if page and ":" not in page else ""
        target = f"{page}{mark}{fragment}"
        if "xref" not in said:
            target = said.get("href", "")
        element.set("href", target)
        if not len(element) and not (element.text or "").strip():
            self.elsewhere.setdefault(said.get("xref") or target)
            element.text = said.get("xref") or target

    def _count(self, element: Any, rule: str) -> None:
        lines = (collapse(line) for line in "".join(element.itertext()).splitlines())
        self.removed.extend(RemovedLine(rule, line) for line in lines if line)
