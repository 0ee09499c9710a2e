"""Recovered page blocks written as the document's blocks: lines joined into running text, tables into rows, links and places kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from statistics import median

from kgrag.documents.blocks import Block, Link, RemovedLine, TableRow, boxes_around, join_header_rows
from kgrag.documents.cut_words import CONJUNCTIONS
from kgrag.documents.inline_text import CJK, INVISIBLE, resolve_href, sentence_around
from kgrag.documents.pdf.blocks import Cell, PageBlock, TableBlock, TextBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, lines_of, pieces_of
from kgrag.types import PageBox

__all__ = ["LineJoiner", "cells_of", "lines_in", "written"]

_DESTINATION = re.compile(r"page=(\d+)(?:&zoom=100,0,(\d+))?")
_DEEPER = 6.0
"""Points by which a list item must be indented to belong to the item before it."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LEFT = re.compile(r"(\S*[^\W_])([-\u2010\u00ad])$")
_HYPHENATED = 0.03
"""Share of lines that end in a hyphen from which a document is hyphenated: compounds alone make about one in a hundred."""
_MIN_CUTS = 5
_COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]")
"""`read-` + `while-write`: one hyphen of a word with several."""
_RIGHT = re.compile(r"[^\W\d_]+")
_NAME_END = re.compile(r"(?<![\w-])[^\W\d_]{2,}$")
_URL_TAIL = re.compile(r"(?:https?://|www\.)\S*$")
_URL_HEAD = re.compile(r"[\w/.?&=%#~+-]+$")
_CODE_GAP = 1.7
"""Widths of a letter from which a gap within a line of code is several spaces."""
_SOFT_HYPHEN = "\u00ad"
_URL_SLACK = 0.12
"""Share of the column width that a broken URL may leave free at the line's end."""


def written(page_blocks: Sequence[PageBlock], *, document_path: str) -> tuple[list[Block], list[RemovedLine]]:
    """Return the document's blocks, and the lines of its tables of contents, which are in none."""
    writer = _Writer(LineJoiner(lines_in(block) for block in page_blocks), document_path)
    for block in page_blocks:
        writer.write(block)
    return _with_anchors(writer.blocks, document_path), writer.contents


def _with_anchors(blocks: Sequence[Block], document_path: str) -> list[Block]:
    """Give the blocks that links of the document lead to their fragments as anchors."""
    links = [link for block in blocks for link in block.links]
    fragments = dict.fromkeys(
        link.href.partition("#")[2] for link in links if link.href.startswith(f"{document_path}#")
    )
    anchors: dict[int, list[str]] = {}
    for fragment in fragments:
        if place := _DESTINATION.fullmatch(fragment):
            index = _block_at(blocks, int(place[1]), float(place[2] or 0))
            if index is not None:
                anchors.setdefault(index, []).append(fragment)
    return [
        replace(block, anchors=(*block.anchors, *anchors[index])) if index in anchors else block
        for index, block in enumerate(blocks)
    ]


def _block_at(blocks: Sequence[Block], page: int, top: float) -> int | None:
    """Return the block that begins at a place of a page or next below it; where none does, the first of a later page."""
    ends = ((box, index) for index, block in enumerate(blocks) for box in block.boxes)
    below = [(box.page, box.top, index) for box, index in ends if (box.page, box.bottom) > (page, top)]
    return min(below)[2] if below else None


def lines_in(block: PageBlock) -> Sequence[Line]:
    """Return the lines of a block, those on the next page included."""
    if isinstance(block, TableBlock):
        return [line for cell in block.cells for line in lines_of(cell.words)]
    return block.lines if block.tail is None else [*block.lines, *block.tail.lines]


def cells_of(table: TableBlock) -> list[list[Cell | None]]:
    """Return a table as a grid; a cell over several fields stands in each."""
    grid: list[list[Cell | None]] = [[None] * table.column_count for _ in range(table.row_count)]
    for cell in table.cells:
        for row in range(cell.row, min(cell.row + cell.row_span, table.row_count)):
            for column in range(cell.column, min(cell.column + cell.column_span, table.column_count)):
                grid[row][column] = cell
    return grid


class _Writer:
    def __init__(self, joiner: LineJoiner, document_path: str) -> None:
        self.blocks: list[Block] = []
        self.contents: list[RemovedLine] = []
        self._joiner = joiner
        self._document_path = document_path
        self._indents: list[float] = []
        """Of the open lists, outermost first."""

    def write(self, block: PageBlock) -> None:
        if isinstance(block, TableBlock):
            self._indents.clear()
            if block.caption is not None:
                self._text(block.caption)
            self._table(block)
        else:
            self._text(block)

    def _text(self, block: TextBlock) -> None:
        lines = lines_in(block)
        if block.kind != "list":
            self._indents.clear()
        match block.kind:
            case "title" | "heading":
                text = " ".join(self._joiner.join(lines).split())
                number = f"{block.marker} " if block.marker not in ("", "-") else ""
                self._add(Block("heading", text, 0 if block.kind == "title" else block.level), block, number)
            case "list":
                marker = block.marker.strip() if any(map(str.isalnum, block.marker)) else "-"
                depth = self._depth(block.indent)
                self._add(Block("list_item", self._joiner.join(lines), depth), block, f"{'  ' * (depth - 1)}{marker} ")
            case "code":
                self._add(Block("code", _listing(lines)), block)
            case "figure":
                self._add(Block("paragraph", "\n".join(line.text for line in lines)), block)
            case _:
                self._add(Block("paragraph", self._joiner.join(lines)), block)

    def _add(self, block: Block, found: TextBlock, prefix: str = "") -> None:
        """Keep a block with its page, place and links; `prefix` is a list item's indentation and marker."""
        text = INVISIBLE.sub("", block.text)
        if not text.strip():
            return
        parts = [found] if found.tail is None else [found, found.tail]
        text = text.strip() if block.kind != "code" else text
        self.blocks.append(
            Block(
                block.kind,
                prefix + text,
                block.level,
                found.page,
                parts[-1].page,
                links=tuple(self._links(lines_in(found), text)),
                boxes=tuple(_page_box(part.page, part.box) for part in parts),
                page_break=len(prefix) + self._page_break(found, text) if found.tail is not None else None,
            )
        )

    def _page_break(self, found: TextBlock, text: str) -> int:
        """Where in the text of a block the lines of its second page begin; a word that the break cuts belongs to that page."""
        first = INVISIBLE.sub("", self._joiner.join(found.lines)).strip() + " "
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, text, strict=False)))
        return text.rfind(" ", 0, same) + 1

    def _depth(self, indent: float) -> int:
        while self._indents and indent < self._indents[-1] - _DEEPER:
            self._indents.pop()
        if not self._indents or indent > self._indents[-1] + _DEEPER:
            self._indents.append(indent)
        return len(self._indents)

    def _table(self, table: TableBlock) -> None:
        header: list[TableRow] = []
        body: list[TableRow] = []
        for number, cells in enumerate(cells_of(table)):
            row = self._row(number, cells, table.page)
            is_header = not body and any(cell is not None and cell.header for cell in cells)
            if any(row.cells):
                (header if is_header else body).append(row)
        if table.index:
            lines = (" | ".join(filter(None, row.cells)) for row in (*header, *body))
            self.contents.extend(RemovedLine("table of contents", line, table.page) for line in lines)
            return
        if not body:
            header, body = [], header
        if body:
            self.blocks.append(
                Block(
                    "table",
                    self._joiner.join(table.caption.lines) if table.caption is not None else "",
                    page_start=table.page,
                    page_end=table.page,
                    links=tuple(link for row in (*header, *body) for link in row.links),
                    header=join_header_rows(header),
                    rows=tuple(body),
                    boxes=(_page_box(table.page, table.box),),
                )
            )

    def _row(self, number: int, cells: Sequence[Cell | None], page: int) -> TableRow:
        """Write a row; a cell over several columns is said once, unless it heads them."""
        texts: list[str] = []
        links: list[Link] = []
        boxes: list[PageBox] = []
        for column, cell in enumerate(cells):
            first = cell is not None and (column == 0 or cells[column - 1] is not cell)
            texts.append(self._cell_text(cell) if cell is not None and (first or cell.header) else "")
            if cell is not None and first and cell.row == number:
                links.extend(self._links(lines_of(cell.words), texts[-1]))
                if cell.row_span == 1:
                    boxes.append(_page_box(page, cell.box))
        context = " | ".join(texts)
        box = next(iter(boxes_around(boxes)), None)
        return TableRow(tuple(texts), (), tuple(Link(link.href, link.anchor, context) for link in links), box)

    def _cell_text(self, cell: Cell) -> str:
        return " ".join(INVISIBLE.sub("", self._joiner.join(lines_of(cell.words), cell.box.x1)).split())

    def _links(self, lines: Sequence[Line], text: str) -> Iterator[Link]:
        """Yield the links on some lines: neighbouring words with the same target are one."""
        runs: list[list[Word]] = []
        before: str | None = None
        for word in (word for line in lines for word in line.words):
            if word.link is not None and word.link == before:
                runs[-1].append(word)
            elif word.link is not None:
                runs.append([word])
            before = word.link
        for run in runs:
            target = resolve_href(run[0].link or "", self._document_path)
            words = " ".join(self._joiner.join(lines_of(run)).split())
            if target and words:
                place = max(0, text.find(words))
                yield Link(target, words, sentence_around(text, place, place + len(words)))


def _page_box(page: int, box: Box) -> PageBox:
    left, top, right, bottom = (round(value, 1) for value in (box.x0, box.y0, box.x1, box.y1))
    return PageBox(page=page, left=left, top=top, right=right, bottom=bottom)


def _listing(lines: Sequence[Line]) -> str:
    """Lines of code, indented as they stand on the page, and with its gaps: columns stay apart."""
    left = min(line.box.x0 for line in lines)
    width = max(median(word.box.width / len(word.text) for line in lines for word in line.words), 1.0)
    return "\n".join(" " * round((line.box.x0 - left) / width) + _spaced(line, width) for line in lines)


def _spaced(line: Line, width: float) -> str:
    """The text of a line of code with as many spaces in each wide gap as letters of that width would fill."""
    pieces = pieces_of(line, _CODE_GAP * width / line.size)
    gaps = (max(2, round((right.box.x0 - left.box.x1) / width)) for left, right in pairwise(pieces))
    return "".join((pieces[0].text, *(" " * gap + piece.text for gap, piece in zip(gaps, pieces[1:], strict=True))))


class LineJoiner:
    """Joins the lines of one document; whether a hyphen at a line's end stays is decided by the document's own words.

    `low-` + `power` is `low-power` where the document writes that elsewhere, and `config-` + `uration` is `configuration` where it
    writes that. Where it writes neither: the hyphen stays in a document whose lines are not hyphenated (browsers and word processors
    break only at hyphens that are there), between two words of the document, and after anything with a digit or a capital inside
    (part numbers, pin names); else it goes.
    """

    def __init__(self, paragraphs: Iterable[Sequence[Line]]) -> None:
        self._words: Counter[str] = Counter()
        cuts: list[tuple[str, str]] = []
        line_count = 0
        for lines in paragraphs:
            line_count += len(lines)
            self._words.update(word.casefold() for text in _without_halves(lines) for word in _WORD.findall(text))
            cuts.extend(cut for above, below in pairwise(lines) if (cut := _cut_word(above.text, below.text)))
        joined = sum(self._words[first + second] > self._words[f"{first}-{second}"] for first, second in cuts)
        self._is_hyphenated = joined > 0 or len(cuts) >= max(_MIN_CUTS, _HYPHENATED * line_count)

    def join(self, lines: Sequence[Line], right_edge: float | None = None) -> str:
        """Join lines, top to bottom; `right_edge` is where their column ends (broken URLs are joined only there)."""
        text = ""
        previous: Line | None = None
        edge = right_edge if right_edge is not None else max((line.box.x1 for line in lines), default=0.0)
        for line in lines:
            text = self._append(text, line.text, previous, edge) if previous is not None else line.text
            previous = line
        return text

    def _append(self, text: str, following: str, previous: Line, edge: float) -> str:
        last_word = text.rpartition(" ")[2]
        left = _LEFT.match(last_word)
        if left is not None:
            return self._hyphenated(text, following, left)
        if _URL_TAIL.search(last_word):
            head = following.split(" ", 1)[0]
            at_edge = edge - previous.box.x1 <= _URL_SLACK * max(1.0, edge - previous.box.x0)
            is_more = _URL_HEAD.match(head) and re.search(r"[/._=?&%#\d-]", head.rstrip(".,"))
            if is_more and (at_edge or text[-1] in "/_=?&%#"):
                return text + following
        if CJK.match(text[-1:]) and CJK.match(following[:1]):
            return text + following
        return f"{text} {following}"

    def _hyphenated(self, text: str, following: str, left: re.Match[str]) -> str:
        hyphen = left[2]
        stem = text[: -len(hyphen)]
        if hyphen == _SOFT_HYPHEN:
            return stem + following
        right = _RIGHT.match(following)
        if right is not None and right[0].casefold() in CONJUNCTIONS:
            return f"{text} {following}"
        cut = _cut_word(text, following)
        if cut is not None and self._goes(*cut):
            return stem + following
        if cut is None and right is not None and self._is_name(stem, right[0]):
            return stem + following
        return text + following

    def _is_name(self, stem: str, rest: str) -> bool:
        """Whether a name that a line end cut (`AT-` + `mega48P`) is only written without the hyphen elsewhere (`ATmega8`)."""
        first = _NAME_END.search(stem)
        if first is None:
            return False
        name, rest = first[0].casefold(), rest.casefold()
        return self._words[name + rest] > 0 and not self._words[f"{name}-{rest}"]

    def _goes(self, first: str, second: str) -> bool:
        hyphenated, joined = self._words[f"{first}-{second}"], self._words[first + second]
        if hyphenated or joined:
            return joined > hyphenated
        return self._is_hyphenated and not (self._words[first] and self._words[second])


def _cut_word(text: str, following: str) -> tuple[str, str] | None:
    """The two parts of a word that a line end may have cut, case folded; None where the hyphen is surely the author's."""
    left, right = _LEFT.match(text.rpartition(" ")[2]), _RIGHT.match(following)
    if left is None or right is None or right[0].casefold() in CONJUNCTIONS:
        return None
    token = left[1].lstrip("([\"'“‘")
    plain = token.isalpha() and token[1:].islower() and right[0].islower()
    return (token.casefold(), right[0].casefold()) if plain and not _COMPOUND.match(following) else None


def _without_halves(lines: Sequence[Line]) -> Iterator[str]:
    """The lines without the two parts of words that a line end cuts, which are no words."""
    cut = False
    for line in lines:
        text = line.text.partition(" ")[2] if cut else line.text
        cut = _LEFT.match(line.text.rpartition(" ")[2]) is not None
        yield text.rpartition(" ")[0] if cut else text
