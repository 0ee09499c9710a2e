"""The walk through a page: its elements in their order become blocks, with the links and the ids that links point to.

A loop, not a recursion: pages may be nested as deeply as libxml2 allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kgrag.documents.blocks import Block, Link, RemovedLine
from kgrag.documents.html_boilerplate import boilerplate_rule, is_box_label
from kgrag.documents.html_tables import is_data_table, table_block
from kgrag.documents.html_tags import BLOCK_ELEMENTS, HEADING_LEVELS, UNSEEN, class_names, classes_of
from kgrag.documents.inline_text import InlineText, collapse, resolve_href, sentence_around, superscript
from kgrag.documents.list_numbers import DECIMAL, MARKER, kind_of_list, numeral

__all__ = ["Walk"]

LISTS = frozenset({"ul", "ol", "menu", "dir"})
LINES = frozenset({"div", "ol", "ul", "li"})
"""Elements that are lines in a listing without paragraphs: Docusaurus', those that google-code-prettify numbers."""
ABOUT_THE_TEXT = frozenset(
    [
        "author",
        "authorgroup",
        "corpauthor",
        "collab",
        "editor",
        "othercredit",
        "date",
        "pubdate",
        "releaseinfo",
        "edition",
    ]
)
"""Classes of headings on title pages (DocBook's) under which nothing stands but what goes on."""
PERMALINK_MARKS = frozenset({"", "#", "¶", "◆", "§", "🔗", "\uf0c1", "\uf08d", "↩", "↩\ufe0e", "↩\ufe0f", "↑"})
"""Texts of the links to themselves that generators put beside headings (icon fonts' among them), and back from a note."""
PERMALINK_CLASSES = frozenset({"anchor", "anchorlink", "header-anchor", "headerlink", "heading-anchor", "permalink"})
LOGO = "logo"
ORNAMENTS = frozenset({LOGO, "icon", "permalink"})
"""What generators say that a picture is which shows nothing."""
WORD = re.compile(r"[^\W_]+")
LABELS = frozenset({"mlabel", "badge", "tsd-tag"})
"""Classes of the small boxes that Doxygen (`protected`, `pure virtual`), Bootstrap and TypeDoc put beside each other."""
MAX_ENCLOSING_TERMS = 3
"""Of the definitions around a block, counted from the inside: class, method, parameter."""
MAX_ENCLOSING_ANCHORS = 64
"""Ids of a block, counted from the inside: no page of use is nested deeper."""


class Walk:
    """One walk through a page or a part of it."""

    def __init__(self, document_path: str, *, base: str = "", keep_all: bool = False) -> None:
        self.blocks: list[Block] = []
        self.removed: list[RemovedLine] = []
        self._document_path = document_path
        self._base = base
        self._keep_all = keep_all
        self._beside: frozenset[Any] = frozenset()
        self._text = InlineText()
        self._links: list[tuple[int, int, str]] = []
        self._open_links: list[tuple[Any, int, str]] = []
        self._open_ids: list[str] = []
        self._ids: list[str] = []
        """Ids of inline elements in the text that is being put together, and of empty elements before it."""
        self._blocks_at: list[int] = []
        """For each open element, how many blocks there were when it began."""
        self._lists: list[list[Any]] = []
        """For each open list: the kind of its numbers (none for bullets), the last one, and the marker that waits for its item's text."""
        self._preserved = 0
        self._is_listing = False
        """Whether the open `pre` has lines alone."""
        self._heading: Any = None
        self._term_end = -1
        """Length of the text when a term (`dt`) in it was complete; -1 where there is none."""
        self._terms: list[str] = []
        """For each open `dl`, the terms whose definition is open."""

    def through(self, root: Any, *, beside: frozenset[Any] = frozenset()) -> None:
        """Visit an element and all that it contains, in document order, but what stands `beside` the page's main part."""
        self._beside = beside
        if not self._start(root):
            return
        stack: list[tuple[Any, Iterator[Any]]] = [(root, iter(root))]
        while stack:
            element, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._end(element)
                if stack:
                    self._add(element.tail)
            elif self._start(child):
                stack.append((child, iter(child)))
            else:
                self._add(child.tail)

    def finish(self) -> tuple[Block, ...]:
        """End the last block and return all."""
        self._flush()
        if self._ids and self.blocks:
            self.blocks[-1] = _with_anchors(self.blocks[-1], self._ids)
        return tuple(self.blocks)

    def _start(self, element: Any) -> bool:
        """Enter an element; False where it is left out or was dealt with as a whole."""
        tag = element.tag
        if not isinstance(tag, str) or tag in UNSEEN:
            return False
        if not self._keep_all:
            if rule := boilerplate_rule(element) or ("beside the main part" if element in self._beside else None):
                self._remove(element, rule)
                return False
            if tag == "a" and self._is_permalink(element):
                self._ids.extend(_ids(element))
                return False
        if tag == "table" and is_data_table(element):
            self._table(element)
            return False
        self._open_ids.extend(_ids(element))
        self._blocks_at.append(len(self.blocks))
        if tag in BLOCK_ELEMENTS:
            self._start_block(element, tag)
        elif tag == "a" and (href := element.get("href")) and not self._is_whole_heading(element, href):
            self._open_links.append((element, self._text.mark(), href))
        elif tag == "br":
            self._text.add_line_break()
        elif tag == "img":
            self._text.add_picture(_said_by_picture(element))
        if _is_label(element):
            self._add(" ")
        if tag in ("sup", "sub"):
            self._add(superscript(element.text) if tag == "sup" else element.text)
        else:
            self._add(element.text)
        return True

    def _is_permalink(self, link: Any) -> bool:
        """Whether a link leads to where it stands, or from a heading to the contents: a mark for eyes, no words of the document."""
        href, words = link.get("href") or "", "".join(link.itertext()).strip()
        # Some put the whole heading into a link to itself.
        if self._heading is not None and "#" in href and words != "".join(self._heading.itertext()).strip():
            named = PERMALINK_CLASSES & class_names(link)
            if named or link.get("aria-hidden") == "true":
                return True
        return href.startswith("#") and words in PERMALINK_MARKS

    def _is_whole_heading(self, link: Any, href: str) -> bool:
        """Whether a heading is in a link into its own page, to itself or back to the contents: its words stay, the link is for eyes."""
        if self._keep_all or self._heading is None or not href.startswith("#"):
            return False
        return collapse("".join(link.itertext())) == collapse("".join(self._heading.itertext()).rstrip("¶#§🔗 "))

    def _start_block(self, element: Any, tag: str) -> None:
        if self._heading is not None:  # a heading is one line, whatever is in it
            self._text.add(" ")
            return
        if self._is_line(tag):
            self._text.end_line()
            return
        match tag:
            case "dt" if self._term_end >= 0:
                self._text.add_separator(",")
                self._term_end = -1
            case "dd" if self._term_end >= 0:
                term = str(self._text).strip()
                # Manual pages set whole lines as terms of nothing: `The default is: 30`.
                says_itself = ": " in term and not "".join(element.itertext()).strip()
                if self._terms and not says_itself:
                    self._terms[-1] = term
                self._text.add_separator("" if term.endswith(":") or says_itself else ":")
                self._term_end = self._text.length
            case "p" | "div" if self._term_end >= 0 and self._text.length == self._term_end:
                pass  # the definition's first paragraph goes on after its term
            case "td" | "th":
                self._flush()
            case "pre":
                self._flush()
                self._preserved += 1
                self._is_listing = next(element.iter("p", "table", *HEADING_LEVELS), None) is None
            case _:
                self._flush()
        if tag == "dl":
            self._terms.append("")
        elif tag == "dt" and self._terms:
            self._terms[-1] = ""
        if tag in LISTS:
            self._lists.append([kind_of_list(element) if tag == "ol" else "", _number(element, "start", 1) - 1, ""])
        elif tag == "li" and self._lists:
            kind, last, _ = self._lists[-1]
            number = _number(element, "value", last + 1)
            counted = f"{numeral(number, kind) or numeral(number, DECIMAL)}." if kind else "-"
            marker = element.get(MARKER) or counted
            self._lists[-1] = [kind, number, f"{marker} "]
        elif tag in HEADING_LEVELS and not is_box_label(element) and not _is_about_the_text(element):
            self._heading = element

    def _end(self, element: Any) -> None:
        tag = element.tag
        if tag == "a" and self._open_links and self._open_links[-1][0] is element:
            _, start, href = self._open_links.pop()
            self._links.append((start, self._text.length, href))
        if _is_label(element) and (element.tail or "")[:1].isalnum():
            self._add(" ")
        ids = _ids(element)
        begun = self._blocks_at.pop()
        if tag in BLOCK_ELEMENTS:
            self._end_block(element, tag)
        if ids:
            del self._open_ids[-len(ids) :]
            if tag not in BLOCK_ELEMENTS or tag == "dt" or len(self.blocks) == begun:
                self._ids.extend(ids)

    def _end_block(self, element: Any, tag: str) -> None:
        if self._heading is not None:
            if self._heading is element:
                self._flush(heading=HEADING_LEVELS[tag])
                self._heading = None
        elif self._is_line(tag):
            self._text.end_line()
            return
        elif tag == "dt":
            self._term_end = self._text.length or -1
        elif tag == "pre":
            self._flush(code=True)
            self._preserved = max(0, self._preserved - 1)
        else:
            self._flush()
        if tag == "dl" and self._terms:
            self._terms.pop()
        elif tag in LISTS and self._lists:
            self._lists.pop()
        elif tag == "li" and self._lists:
            self._lists[-1][2] = ""

    def _is_line(self, tag: str) -> bool:
        return self._preserved > 0 and self._is_listing and tag in LINES

    def _add(self, text: str | None) -> None:
        if text:
            if self._preserved:
                self._text.add_preserved(text)
            else:
                self._text.add(text)

    def _flush(self, *, heading: int | None = None, code: bool = False) -> None:
        """Make a block of the text so far."""
        self._term_end = -1
        written = str(self._text)
        text = written.strip("\n") if code else written.strip()
        if not text.strip():
            if self._text.length:
                self._reset_text()
            return
        for _, start, href in self._open_links:  # a link around several blocks is one of each
            self._links.append((start, self._text.length, href))
        links = tuple(link for span in self._links if (link := self._link(written, *span)))
        anchors = _unique([*self._open_ids[-MAX_ENCLOSING_ANCHORS:], *self._ids])
        if heading is not None:
            block = Block("heading", " ".join(text.split()), heading, anchors=anchors, links=links)
        elif code:
            block = Block("code", text, anchors=anchors, links=links)
        elif self._lists:
            depth = len(self._lists)
            indent, marker = "  " * (depth - 1), self._lists[-1][2]
            self._lists[-1][2] = " " * len(marker)
            block = Block("list_item", f"{indent}{marker}{text}", depth, anchors=anchors, links=links)
        else:
            block = Block("paragraph", text, anchors=anchors, links=links)
        self.blocks.append(self._within_definition(block))
        self._ids.clear()
        self._reset_text()

    def _within_definition(self, block: Block) -> Block:
        terms = tuple(filter(None, self._terms[-MAX_ENCLOSING_TERMS:]))
        return replace(block, terms=terms) if terms else block

    def _reset_text(self) -> None:
        self._text = InlineText()
        self._links = []
        self._open_links = [(element, 0, href) for element, _, href in self._open_links]

    def _link(self, text: str, start: int, end: int, href: str) -> Link | None:
        anchor = collapse(text[start:end])
        target = resolve_href(href, self._document_path, base=self._base) if anchor else None
        return Link(target, anchor, sentence_around(text, start, end)) if target else None

    def _table(self, element: Any) -> None:
        self._flush()

        def read(part: Any) -> Walk:
            walk = Walk(self._document_path, base=self._base, keep_all=self._keep_all)
            walk.through(part)
            walk.finish()
            self.removed.extend(walk.removed)
            return walk

        caption = element.find("caption")
        if caption is not None:
            self.blocks.extend(read(caption).blocks)
        block = table_block(element, lambda cell: read(cell).blocks, own_ids=_ids(element))
        if block is None:
            self._ids.extend(_ids(element))
            return
        block = _with_anchors(block, [*self._open_ids[-MAX_ENCLOSING_ANCHORS:], *self._ids])
        self.blocks.append(self._within_definition(block))
        self._ids.clear()

    def _remove(self, element: Any, rule: str) -> None:
        if element.tag in BLOCK_ELEMENTS:
            self._flush()
        walk = Walk(self._document_path, keep_all=True)
        walk.through(element)
        self.removed.extend(RemovedLine(rule, line) for block in walk.finish() for line in block.lines)


def _said_by_picture(picture: Any) -> str:
    """Return the words in the place of a picture; none where they are no words, its address, or say that it is a logo."""
    said = (picture.get("alt") or "").strip()
    if "/" in said and said.rpartition("/")[2] == (picture.get("src") or "").rpartition("/")[2]:
        return ""  # Sphinx writes the address where a picture is given no words
    kind = WORD.findall(said.lower())
    return said if kind and kind[-1] != LOGO and not (len(kind) == 1 and kind[0] in ORNAMENTS) else ""


def _is_about_the_text(heading: Any) -> bool:
    return not ABOUT_THE_TEXT.isdisjoint(class_names(heading))


def _is_label(element: Any) -> bool:
    """Whether an element is drawn as a small box beside others, with no space written between them."""
    return element.tag in ("span", "code") and not LABELS.isdisjoint(classes_of(element))


def _ids(element: Any) -> list[str]:
    """Return what a link can point to: the element's id, and the name of an old `<a name>`."""
    ids = [element.get("id")]
    if element.tag == "a":
        ids.append(element.get("name"))
    return [ident for ident in dict.fromkeys(ids) if ident]


def _unique(anchors: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(anchors))


def _with_anchors(block: Block, anchors: list[str]) -> Block:
    return replace(block, anchors=_unique([*anchors, *block.anchors]))


def _number(element: Any, attribute: str, usual: int) -> int:
    written = element.get(attribute, "").strip()
    return int(written) if written.lstrip("-").isdecimal() and len(written) < 9 else usual
