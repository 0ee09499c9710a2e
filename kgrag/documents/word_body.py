"""A Word file's XML made plain before Docling reads it: one run a paragraph, and nothing in a place where Docling does not look.

Docling makes a text item of every run of equal formatting and strips it, so that `3.` `3` (bold) ` V` comes out as `3. 3 V`, and nobody
can tell `X-1000` from `X- 1000` any more. So formatting that says nothing is taken off, and a paragraph is one item; raised digits become
`⁶`; and links, which also part runs, become marks in the text that `docling_blocks` turns into links again.

What Docling passes over in silence (2.x, tried with the files that other readers are tested with) is brought where it looks: footnotes and
endnotes behind the paragraph that refers to them, tables within tables behind the outer one, controls and accepted changes in table cells,
the words of SmartArt, the numbers that Word writes before paragraphs (`word_numbering.py`),
text that was moved, that runs the other way or has a reading printed above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from kgrag.documents.docling_blocks import (
    LINK_END,
    LINK_START,
    LINK_TEXT,
    NO_HEADER,
    NUMBER_END,
    NUMBER_START,
    STRAY_MARK,
)
from kgrag.documents.inline_text import superscript
from kgrag.documents.office_drawings import (
    CHART,
    DIAGRAM_DATA,
    DIAGRAM_RELATIONS,
    LOCKED_CANVAS,
    chart_lines,
    diagram_lines,
    drawn_lines,
)
from kgrag.documents.word_numbering import mark_numbers
from kgrag.documents.word_tables import WORD, mark_tables_without_header

__all__ = ["PreparedWord", "prepare_word", "words_of"]

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATION_ID = f"{{{RELATIONS}}}id"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MEANINGLESS = tuple(
    f"{WORD}{name}"
    for name in (
        "b",
        "bCs",
        "i",
        "iCs",
        "u",
        "strike",
        "dstrike",
        "vertAlign",
        "color",
        "sz",
        "szCs",
        "highlight",
        "em",
    )
)
WRAPPERS = tuple(
    f"{WORD}{name}" for name in ("ins", "moveTo", "customXml", "smartTag", "dir", "bdo", "ruby", "rubyBase")
)
"""Around what is read; in a ruby beside its reading."""
NOT_READ = tuple(f"{WORD}{name}" for name in ("del", "moveFrom", "rubyPr", "rt", "customXmlPr", "smartTagPr"))
PARTS_OF_TEXT = tuple(f"{WORD}{name}" for name in ("t", "tab", "br", "cr", "noBreakHyphen", "sym", "drawing", "pict"))
LETTERS = re.compile(r"[^\W_]+")
NOTES = ("footnote", "endnote")
COMMENT_MARKS = tuple(f"{WORD}comment{name}" for name in ("RangeStart", "RangeEnd", "Reference"))
PICTURES = tuple(f"{WORD}{name}" for name in ("drawing", "pict", "object"))
CONTENTS_STYLE = re.compile(r"toc \d|table of figures|table of authorities", re.IGNORECASE)
"""Word's own names of the styles of its tables of contents, which are the same in all languages."""
ENDS_WITH_PAGE = re.compile(r"[\divxlcdm]+\s*$")


@dataclass(frozen=True, slots=True)
class PreparedWord:
    """A .docx with all its text where Docling reads it."""

    package: bytes
    link_targets: list[str]
    """Where its links lead, by the number in their marks."""
    words: frozenset[str]
    """All of its words, by which it is seen whether any were lost."""
    contents: tuple[str, ...] = ()
    """Lines of tables of contents, which were taken out."""
    comments: tuple[str, ...] = ()
    """What readers remarked on the text, which is not in it."""


def prepare_word(package: bytes) -> PreparedWord:
    """Make a .docx plain. What python-docx raises on a broken one is not caught."""
    from docx import Document
    from lxml import etree

    targets: list[str] = []
    document = Document(BytesIO(package))
    body: Any = document.element.body
    # Docling takes whatever is in a table for an element.
    etree.strip_tags(body, etree.Comment, etree.ProcessingInstruction)
    contents = _take_contents(body, document.styles.element)
    comments = _take_comments(body, document.part)
    _join_drop_caps(body)
    mark_tables_without_header(body, NO_HEADER)
    numbering = next((one for one in document.part.rels.values() if one.reltype == f"{RELATIONS}/numbering"), None)
    if numbering is not None and not numbering.is_external:
        lists = etree.fromstring(numbering.target_part.blob)
        mark_numbers(body, lists, document.styles.element, start=NUMBER_START, end=NUMBER_END, behind=NO_HEADER)
    _plain(body, document.part, targets)
    _place_diagrams(body, document.part)
    behind: dict[Any, Any] = {}
    for kind in NOTES:
        _place_notes(body, kind, document.part, targets, behind)
    _lift_inner_tables(body)
    out = BytesIO()
    document.save(out)
    words = frozenset(words_of(map(_text, body.iter(f"{WORD}p"))))
    return PreparedWord(out.getvalue(), targets, words, tuple(contents), comments)


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the runs of letters and digits in texts, those of marks left out."""
    return {word for text in texts for word in LETTERS.findall(STRAY_MARK.sub("", text))}


def _take_contents(body: Any, styles: Any) -> list[str]:
    """Take out the lines of tables of contents, which lead to a page; return them."""
    named = {
        style.get(f"{WORD}styleId")
        for style in styles.iterfind(f"{WORD}style")
        if (name := style.find(f"{WORD}name")) is not None and CONTENTS_STYLE.fullmatch(name.get(f"{WORD}val", ""))
    }
    lines = []
    for style in list(body.iter(f"{WORD}pStyle")):
        paragraph = next(style.iterancestors(f"{WORD}p"), None)
        if style.get(f"{WORD}val") not in named or paragraph is None or paragraph.getparent() is None:
            continue
        text = " ".join(_text(paragraph).split())
        # A paragraph that ends a section has to stay.
        if (ENDS_WITH_PAGE.search(text) or not text) and paragraph.find(f"{WORD}pPr/{WORD}sectPr") is None:
            if text:
                lines.append(text)
            paragraph.getparent().remove(paragraph)
    return lines


def _take_comments(body: Any, part: Any) -> tuple[str, ...]:
    """Take out what readers remarked; return its paragraphs. Docling writes it behind the text, as if it were the text's."""
    from lxml import etree

    for mark in list(body.iter(COMMENT_MARKS)):
        mark.getparent().remove(mark)
    related = next((one for one in part.rels.values() if one.reltype == f"{RELATIONS}/comments"), None)
    if related is None or related.is_external:
        return ()
    del part.rels[related.rId]
    paragraphs = etree.fromstring(related.target_part.blob).iter(f"{WORD}p")
    return tuple(text for one in paragraphs if (text := " ".join(_text(one).split())))


def _join_drop_caps(body: Any) -> None:
    """Put a first letter that is drawn over several lines, a paragraph of its own, before the rest of its word."""
    for frame in list(body.iter(f"{WORD}framePr")):
        letter: Any = next(frame.iterancestors(f"{WORD}p"), None)
        rest = letter.getnext() if letter is not None else None
        if frame.get(f"{WORD}dropCap") not in ("drop", "margin") or rest is None or rest.tag != f"{WORD}p":
            continue
        properties = rest.find(f"{WORD}pPr")
        for number, run in enumerate(list(letter.iterfind(f"{WORD}r"))):
            rest.insert(number + (properties is not None), run)
        letter.getparent().remove(letter)


def _text(paragraph: Any) -> str:
    """A paragraph's text, with a blank where it has something else; that of a box in it is of the box's own paragraphs."""
    own = (one for one in paragraph.iter(*PARTS_OF_TEXT) if next(one.iterancestors(f"{WORD}p")) is paragraph)
    return "".join((one.text or "") if one.tag == f"{WORD}t" else " " for one in own)


def _plain(root: Any, part: Any, targets: list[str]) -> None:
    """Take off what only wraps or formats text, below an element of a part; mark its links."""
    for element in [found for found in root.iter(NOT_READ) if found.getparent() is not None]:
        element.getparent().remove(element)
    for wrapper in list(root.iter(WRAPPERS)):
        # A ruby is in a run, and its base has runs of its own.
        if wrapper.tag == f"{WORD}ruby" and wrapper.getparent().tag == f"{WORD}r":
            _replace(wrapper.getparent(), list(wrapper))
        else:
            _replace(wrapper, list(wrapper))
    for table in list(root.iter(f"{WORD}tbl")):
        for control in list(table.iter(f"{WORD}sdt")):
            content = control.find(f"{WORD}sdtContent")
            _replace(control, [] if content is None else list(content))
        _complete_grid(table)
    for properties in list(root.iter(f"{WORD}rPr")):
        _level(properties)
    for hyperlink in list(root.iter(f"{WORD}hyperlink")):
        relation = part.rels.get(hyperlink.get(RELATION_ID, ""))
        target = relation.target_ref if relation is not None and relation.is_external else ""
        fragment = hyperlink.get(f"{WORD}anchor")
        _mark(hyperlink, f"{target}#{fragment}" if target and fragment else target, targets)


def _complete_grid(table: Any) -> None:
    """Give a table the list of its columns that it lacks: Docling drops one whose list is short, in silence."""
    columns = max((sum(map(_span, row.iterfind(f"{WORD}tc"))) for row in table.iterfind(f"{WORD}tr")), default=0)
    properties, grid = table.find(f"{WORD}tblPr"), table.find(f"{WORD}tblGrid")
    if properties is None:
        table.insert(0, properties := table.makeelement(f"{WORD}tblPr"))
    if grid is None:
        properties.addnext(grid := table.makeelement(f"{WORD}tblGrid"))
    for _ in range(columns - len(grid)):
        grid.append(grid.makeelement(f"{WORD}gridCol"))


def _span(cell: Any) -> int:
    """Over how many columns a cell goes."""
    span = cell.find(f"{WORD}tcPr/{WORD}gridSpan")
    columns = span.get(f"{WORD}val", "") if span is not None else ""
    return int(columns) if columns.isdigit() else 1


def _replace(element: Any, others: list[Any]) -> None:
    """Put elements in the place of another one."""
    parent = element.getparent()
    place = parent.index(element)
    parent.remove(element)
    for offset, other in enumerate(others):
        parent.insert(place + offset, other)


def _level(properties: Any) -> None:
    """Take formatting off a run; digits that stand high stay so."""
    script = properties.find(f"{WORD}vertAlign")
    if script is not None and script.get(f"{WORD}val") == "superscript":
        for text in properties.getparent().iter(f"{WORD}t"):
            text.text = superscript(text.text)
    for name in MEANINGLESS:
        for element in properties.findall(name):
            properties.remove(element)


def _mark(hyperlink: Any, target: str, targets: list[str]) -> None:
    """Put a link's runs in its place, with marks around its words where it leads out of the file."""
    texts = [text for text in hyperlink.iter(f"{WORD}t") if text.text]
    if target and texts:
        texts[0].text = f"{LINK_START}{len(targets)}{LINK_TEXT}{texts[0].text}"
        texts[-1].text = f"{texts[-1].text}{LINK_END}"
        for text in texts:
            text.set(XML_SPACE, "preserve")
        targets.append(target)
    for style in list(hyperlink.iter(f"{WORD}rStyle")):
        style.getparent().remove(style)
    _replace(hyperlink, list(hyperlink))


def _place_notes(body: Any, kind: str, part: Any, targets: list[str], behind: dict[Any, Any]) -> None:
    """Put the paragraphs of notes behind the paragraph, list or table that refers to them, once each, and those of no reference last.

    `behind` has for each of these the last of the notes that follow it.
    """
    from lxml import etree

    related = next((one for one in part.rels.values() if one.reltype == f"{RELATIONS}/{kind}s"), None)
    if related is None or related.is_external:
        return
    root: Any = etree.fromstring(related.target_part.blob)
    _plain(root, related.target_part, targets)
    # Their pictures are in relation to the part of the notes.
    etree.strip_elements(root, etree.Comment, *PICTURES, with_tail=False)
    notes = {
        note.get(f"{WORD}id"): [child for child in note if child.tag in (f"{WORD}p", f"{WORD}tbl")]
        for note in root.iter(f"{WORD}{kind}")
        if note.get(f"{WORD}type", "normal") == "normal"
    }
    ends = _ends_of_lists(body)
    for reference in list(body.iter(f"{WORD}{kind}Reference")):
        top = _top(reference, body)
        place = ends.get(top, top)
        for element in notes.pop(reference.get(f"{WORD}id"), []):
            behind.get(place, place).addnext(note := deepcopy(element))
            behind[place] = note
    for element in (element for note in notes.values() for element in note):
        last = body.find(f"{WORD}sectPr")
        last.addprevious(deepcopy(element)) if last is not None else body.append(deepcopy(element))


def _place_diagrams(body: Any, part: Any) -> None:
    """Put the words of a SmartArt, of shapes of PowerPoint, and the titles of charts behind the paragraph or table that they stand in."""
    for diagram in list(body.iter(DIAGRAM_RELATIONS)):
        relation = part.rels.get(diagram.get(DIAGRAM_DATA, ""))
        if relation is not None and not relation.is_external:
            _place_lines(diagram_lines(relation.target_part.blob), behind=_top(diagram, body))
    for chart in list(body.iter(CHART)):
        relation = part.rels.get(chart.get(RELATION_ID, ""))
        if relation is not None and not relation.is_external:
            _place_lines(chart_lines(relation.target_part.blob), behind=_top(chart, body))
    for canvas in list(body.iter(LOCKED_CANVAS)):
        _place_lines(drawn_lines(canvas), behind=_top(canvas, body))
        canvas.getparent().remove(canvas)  # where no box is around it, Docling reads it


def _place_lines(lines: Sequence[str], *, behind: Any) -> None:
    for line in reversed(lines):
        paragraph = behind.makeelement(f"{WORD}p")
        run = paragraph.makeelement(f"{WORD}r")
        text = run.makeelement(f"{WORD}t")
        text.text = line
        run.append(text)
        paragraph.append(run)
        behind.addnext(paragraph)


def _top(element: Any, body: Any) -> Any:
    """The part of the body that has an element."""
    while element.getparent() is not body:
        element = element.getparent()
    return element


def _ends_of_lists(body: Any) -> dict[Any, Any]:
    """Items of lists, each with the last one of its list: a paragraph between two items would end the list."""
    ends: dict[Any, Any] = {}
    last = None
    for element in reversed(body):
        last = (element if last is None else last) if _is_item(element) else None
        if last is not None:
            ends[element] = last
    return ends


def _is_item(element: Any) -> bool:
    return element.tag == f"{WORD}p" and element.find(f"{WORD}pPr/{WORD}numPr") is not None


def _lift_inner_tables(body: Any) -> None:
    """Put the tables within the cells of a table behind it."""
    tables = list(body.iter(f"{WORD}tbl"))
    outer = [table for table in tables if next(table.iterancestors(f"{WORD}tbl"), None) is None]
    for behind in outer:
        for table in [inner for inner in behind.iter(f"{WORD}tbl") if inner is not behind]:
            table.getparent().remove(table)
            behind.addnext(table)
            behind = table
