"""DITA topics to blocks: written as HTML, which is walked as a page is.

A topic is one file: a concept, a task, a reference. What other files say of it (maps, keys, reused content) is not followed, and named.
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

__all__ = ["convert_dita"]


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


TOPICS = _named("topic concept task reference troubleshooting glossentry glossgroup learningContent")
MAPS = _named("map bookmap subjectScheme learningMap")
ROOTS = TOPICS | MAPS | {"dita"}
PARTS = _named(
    "section example prereq context result postreq tutorialinfo refsyn condition cause remedy tasktroubleshooting"
)
"""Parts of a topic, which may have a title."""
HTML_OF = {
    element: html
    for html, elements in {
        "section": " ".join([*TOPICS, *PARTS]),
        "div": "dita abstract body conbody taskbody refbody troublebody glossBody info stepxmp stepresult stepsection steptroubleshooting "
        "bodydiv sectiondiv itemgroup lq messagepanel consequence howtoavoid typeofhazard fn",
        "p": "p shortdesc cmd glossterm glossdef glossSurfaceForm glossUsage",
        "ul": "ul sl steps-unordered choices",
        "ol": "ol steps substeps",
        "li": "li sli step substep choice",
        "dl": "dl parml",
        "dt": "dt pt dthd",
        "dd": "dd pd ddhd",
        "table": "simpletable properties choicetable table",
        "tr": "strow sthead property prophead chrow chhead row",
        "td": "stentry proptype propvalue propdesc choption chdesc entry",
        "th": "proptypehd propvaluehd propdeschd choptionhd chdeschd",
        "tbody": "thead tbody",
        "pre": "codeblock pre screen msgblock lines",
        "code": "codeph filepath cmdname option parmname varname userinput systemoutput apiname msgnum msgph tt xmlelement xmlatt",
        "b": "b uicontrol wintitle",
        "i": "i term cite",
        "sub": "sub",
        "sup": "sup",
        "figure": "fig",
        "img": "image",
        "a": "xref",
    }.items()
    for element in elements.split()
}
"""Element → what it is in HTML; others are spans."""
DROPPED = "dropped"
LEFT_OUT = {
    **dict.fromkeys(
        _named("prolog titlealts metadata data data-about indexterm index-base colspec foreign object param"), ""
    ),
    "draft-comment": "comment",
    "required-cleanup": "comment",
    "related-links": "related links",
}
"""Element → the rule by which its words are counted; without one they are no words of the text."""
ELSEWHERE = ("conref", "conkeyref", "keyref")
"""Attributes that take an element's content from another file."""


def convert_dita(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a DITA topic, packed or not. A map has titles of other files alone. Raises `DocumentError` where it is no DITA."""
    decoded = decode(data, path)
    root, unknown = parse_text(decoded.text, path)
    name = element_name(root)
    if name not in ROOTS:
        raise DocumentError(path, f"is XML, not DITA: its first element is {name}")
    if name in MAPS:
        titles = [
            collapse(one.get("navtitle") or one.get("href") or "") for one in root.iter() if isinstance(one.tag, str)
        ]
        return BlockDocument((), "", tuple(RemovedLine("table of contents", title) for title in titles if title))
    writer = _Writer(root)
    html = writer.html()
    read = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
    notes = [decoded.note] if decoded.note else []
    for what, names in (("is said elsewhere", writer.elsewhere), ("another file says of its entities", unknown)):
        if names:
            notes.append(left_out(f"what {what}", names))
    return BlockDocument(read.blocks, writer.title, (*writer.removed, *read.removed), tuple(notes), writer.metadata)


class _Writer:
    """Renames the elements of a topic in place."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._names = {element: element_name(element) for element in root.iter() if isinstance(element.tag, str)}
        self._levels: dict[Any, int] = {}
        self._columns: dict[str, int] = {}
        """Of the table that is being written: name → place."""
        self.title = ""
        self.removed: list[RemovedLine] = []
        self.elsewhere: dict[str, None] = {}
        self.metadata: dict[str, Scalar] = {}

    def html(self) -> str:
        """Return the topic as HTML."""
        from lxml import etree

        for element, name in self._names.items():
            parent = element.getparent()
            level = self._levels[parent] if parent is not None else 0
            self._levels[element] = level + (name in TOPICS or name in PARTS)
            self._rename(element, name, level)
        etree.strip_elements(self._root, DROPPED, with_tail=False)
        return str(etree.tostring(self._root, method="html", encoding="unicode"))

    def _rename(self, element: Any, name: str, level: int) -> None:
        said = dict(element.attrib)
        element.attrib.clear()
        if "id" in said:
            element.set("id", said["id"])
        empty = not len(element) and not (element.text or "").strip()
        for where in ELSEWHERE if empty else ():
            if where in said:
                self.elsewhere.setdefault(said[where])
        if name in LEFT_OUT:
            self._leave_out(element, name)
            return
        element.tag = HTML_OF.get(name, "span")
        match name:
            case "title":
                self._name(element, level)
            case "note" | "hazardstatement":
                kind = said.get("othertype", "note") if said.get("type") == "other" else said.get("type", "note")
                element.tag = "div"
                element.text = f"{kind.capitalize()}: {(element.text or '').lstrip()}"
            case "menucascade":
                element.text = ""
                for item in element:
                    item.tail = " > " if item.getnext() is not None else item.tail
            case "xref":
                file, mark, fragment = said.get("href", "").partition("#")
                if file or fragment:
                    element.set("href", f"{file}{mark}{fragment.rpartition('/')[2]}")
            case "image":
                alt = element.find("{*}alt")
                element.set("alt", said.get("alt") or (_words(alt) if alt is not None else ""))
                element.set("src", said.get("href", ""))
            case "alt" if self._names.get(element.getparent()) == "image":
                element.tag = DROPPED
            case "tgroup":
                columns = [column for column in element if self._names.get(column) == "colspec"]
                self._columns = {one.get("colname", f"col{n + 1}"): n for n, one in enumerate(columns)}
                element.tag = "tbody"
            case "entry":
                self._span(element, said)

    def _name(self, element: Any, level: int) -> None:
        """Write a title: of a topic or a part of one as a heading, of a table or a figure as its caption."""
        parent = self._names.get(element.getparent(), "")
        if parent in ("table", "simpletable"):
            element.tag = "caption"
        elif parent == "fig":
            element.tag = "figcaption"
        else:
            element.tag = f"h{min(max(level, 1), 6)}"
            if not self.title and parent in TOPICS:
                self.title = _words(element)

    def _span(self, cell: Any, said: dict[str, str]) -> None:
        """Write a cell of a table of CALS."""
        row = cell.getparent()
        if row is not None and self._names.get(row.getparent()) == "thead":
            cell.tag = "th"
        first, last = (self._columns.get(said.get(one, "")) for one in ("namest", "nameend"))
        if first is not None and last is not None and last > first:
            cell.set("colspan", str(last - first + 1))
        if (more := said.get("morerows", "")[:4]).isdecimal():
            cell.set("rowspan", str(int(more) + 1))

    def _leave_out(self, element: Any, name: str) -> None:
        if rule := LEFT_OUT[name]:
            lines = (collapse(line) for line in "".join(element.itertext()).splitlines())
            self.removed.extend(RemovedLine(rule, line) for line in lines if line)
        elif name == "prolog":
            self.metadata.update(
                {
                    key: words
                    for key, path in (("product", ".//{*}prodname"), ("version", ".//{*}vrm[@version]"))
                    if (found := element.find(path)) is not None and (words := found.get("version") or _words(found))
                }
            )
        element.tag = DROPPED


def _words(element: Any) -> str:
    return collapse("".join(element.itertext()))
