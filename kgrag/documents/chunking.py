"""Blocks to chunks: by kgrag's own packer (`structure`), Docling's HybridChunker (`hybrid`), sections and characters (`recursive`), pages
and characters (`pages`), or clusters of sentences (`semantic`).

What a chunk costs is what `Chunk.embedded_text` costs: title, headings and text. The packer keeps sections apart, even two with the same
heading, fills each window with what stands under one heading, and cuts tables by rows, each part under the column headings. `recursive`
is how LARAG (Bolognesi et al., 2026) and many others cut: what stands under one heading, in parts of 1,000 characters that overlap by 150;
`pages` how De Faveri (2026) does: what stands on one page, so that a citation names one page.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, groupby, takewhile
from typing import Literal, NamedTuple, cast

from kgrag.documents.blocks import Block, Link, TableRow, boxes_around, markdown_lines, named_cells
from kgrag.documents.semantic import Embed, clustered
from kgrag.text.row_groups import heads_of_rows
from kgrag.text.sentences import sentences
from kgrag.types import Chunk, Document, Hyperlink, content_id, with_context

__all__ = ["Chunker", "chunk_blocks", "fit_title"]

MAX_HEADING_CHARACTERS = 200
"""A longer heading is a paragraph that someone made a heading."""
MAX_BLOCK_CHARACTERS = 20_000
"""A longer text is cut at white space before it is tokenized: memory stays small, whatever a file has in one line."""
TITLE_SHARE = 4
"""A title, and any one heading, takes at most this fraction (a quarter) of the window; title and headings together at most half."""
COUNTS_REMEMBERED = 1024
"""The chunker counts the same texts several times, soon after each other; counting is most of its time."""
LIST_MARKERS = " -0123456789."
"""What an item of a list, and so perhaps its term, begins with."""
MAX_HEADING_LINES, MAX_HEADING_LINE_WORDS = 6, 6
"""Of the paragraphs that only head the block below them: `max-size`, `Type: integer`, `Default: 4 MB`."""
PROPERTY = re.compile(
    r"(?:defaults?|range|values?|type|units?|min(?:imum)?|max(?:imum)?|examples?|since|required)\b[^:.]{0,20}: ", re.I
)
"""Behind a description it is of that, and heads nothing."""
ENDS_SENTENCE = (".", "!", "?", ":", ";", ",", "…")
MOST_LINKS_PASSED = 1000
"""Links without their words in a part of a text, more than those with them, behind which none is looked for."""
MIN_CELL_CHARACTERS = 40
"""A smaller part of a cell is not worth the row's name."""

RECURSIVE_CHARACTERS, RECURSIVE_OVERLAP = 1000, 150
"""Of a part, and of what it repeats of the one before, both at most: LARAG, section 3.1."""
PAGES_CHARACTERS, PAGES_OVERLAP = 1000, 200
"""The same of parts of pages: De Faveri, algorithm 2."""

Chunker = Literal["structure", "hybrid", "recursive", "pages", "semantic"]
CountTokens = Callable[[str], int]
Section = tuple[int, ...]
"""Indexes of the headings above a block, outermost first."""


def fit_title(title: str, *, count_tokens: CountTokens, max_tokens: int) -> str:
    """Put a title on one line and shorten it where it would take more than a quarter of the window (`…` stands for the rest)."""
    title = " ".join(title.split())
    limit = max_tokens // TITLE_SHARE
    if len(title) <= MAX_HEADING_CHARACTERS and count_tokens(title) <= limit:
        return title
    return (
        _longest_start(title[:MAX_HEADING_CHARACTERS], lambda start: count_tokens(f"{start} …") <= limit).rstrip()
        + " …"
    )


def chunk_blocks(
    document: Document,
    blocks: Sequence[Block],
    *,
    count_tokens: CountTokens,
    max_tokens: int,
    chunker: Chunker = "structure",
    embed: Embed | None = None,
) -> tuple[Chunk, ...]:
    """Cut a document into chunks, in reading order; the `embedded_text` of each has at most `max_tokens` tokens.

    `semantic` needs `embed`, and puts sentences together that are far apart: such chunks stand where their first sentence does.
    """
    return tuple(_Chunking(document, blocks, count_tokens, max_tokens, chunker, embed).chunks())


class _Piece(NamedTuple):
    """What goes into one chunk: text, and the blocks that it is made of, whole or in part."""

    blocks: tuple[int, ...]
    text: str
    page: int | None = None
    """The page that all of it stands on, where it was cut by pages."""


class _Chunking:
    """One document on its way to chunks."""

    def __init__(
        self,
        document: Document,
        blocks: Sequence[Block],
        count_tokens: CountTokens,
        max_tokens: int,
        chunker: Chunker,
        embed: Embed | None,
    ) -> None:
        self._document = document
        self._count = lru_cache(maxsize=COUNTS_REMEMBERED)(count_tokens)
        self._max_tokens = max_tokens
        self._chunker = chunker
        self._embed = embed
        self._blocks: list[Block] = []
        """The packer's are parts of the document's, each of which fits the window but for long texts."""
        self._sections: list[Section] = []
        """Of each block; a heading's own ends with itself."""
        self._captions: set[int] = set()
        """Indexes of the paragraphs that are captions of the tables below them."""
        self._paths: dict[Section, tuple[str, ...]] = {}
        for block in blocks:
            self._take(block)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks."""
        by = {
            "structure": self._packed,
            "hybrid": self._packed_by_docling,
            "recursive": self._packed_recursively,
            "pages": self._packed_by_pages,
            "semantic": self._packed_by_meaning,
        }
        packed = list(by[self._chunker]())
        headings_with_text = {section[-1] for section, _ in packed if section}
        uses = Counter(index for _, piece in packed for index in piece.blocks)
        links_left = {index: list(self._blocks[index].links) for index in uses}
        shown: set[int] = set()
        position = 0
        for section, piece in packed:
            new = [index for index in section if index not in shown]
            shown.update(new)
            # Headings above that have no chunk of their own: their ids are where this chunk is.
            own = {*(index for index in new if index not in headings_with_text), *section[-1:]}
            for text in self._within_window(section, piece.text or self._blocks[section[-1]].text):
                links = [link for index in new for link in self._blocks[index].links]
                for index in piece.blocks:
                    links.extend(_taken(links_left[index], text, last=uses[index] == 1))
                yield self._chunk(position, section, text, [*sorted(own), *piece.blocks], links, page=piece.page)
                position += 1
                new = []
            for index in piece.blocks:
                uses[index] -= 1

    def _take(self, block: Block) -> None:
        """Note a block and its section; the packer's are cut where they are too large."""
        if block.kind == "heading" and not self._is_heading(block.text):
            block = replace(block, kind="paragraph", level=0)
        section = self._sections[-1] if self._sections else ()
        if block.kind == "heading":
            outer = tuple(index for index in section if self._blocks[index].level < block.level)
            section = (*outer, len(self._blocks))
        if block.kind == "table" and block.text and self._blocks and self._blocks[-1].text == block.text:
            self._captions.add(len(self._blocks) - 1)
        whole = _with_rows(block, block.rows) if block.kind == "table" else block  # with the ids of its rows
        for part in self._parts(block, section) if self._chunker in ("structure", "semantic") else (whole,):
            self._blocks.append(part)
            self._sections.append(section)

    def _packed(self) -> Iterator[tuple[Section, _Piece]]:
        """Yield what stands under one heading, merged up to the window; what is longer is split at its sentences.

        Headings side by side with nothing below them are one piece under the heading above them, and one alone has a piece without text:
        no word is lost.
        """
        for (above, is_empty), runs in groupby(self._runs(), lambda run: (run[0][:-1], not run[1])):
            if is_empty:
                yield from self._headings_alone(above, [section for section, _ in runs])
            else:
                for section, members in runs:
                    yield from ((section, piece) for piece in self._packed_section(section, members))

    def _headings_alone(self, above: Section, sections: Sequence[Section]) -> Iterator[tuple[Section, _Piece]]:
        if len(sections) == 1:
            yield sections[0], _Piece((), "")
            return
        pieces = [_Piece((section[-1],), self._blocks[section[-1]].text) for section in sections]
        at = 0
        while at < len(pieces):
            taken = self._how_many_fit(above, [piece.text for piece in pieces[at : at + self._max_tokens]])
            yield above, _joined(pieces[at : at + taken])
            at += taken

    def _packed_section(self, section: Section, members: Sequence[int]) -> Iterator[_Piece]:
        """Yield what stands under one heading, in pieces none of which ends with what announces the next one, where both fit together."""
        units = self._with_ends(self._units(members))
        pieces = [piece for unit in units for piece in self._fitting(section, unit)]
        at = 0
        while at < len(pieces):
            window = [self._opened(section, pieces[at]), *pieces[at + 1 : at + self._max_tokens]]
            taken = self._how_many_fit(section, [piece.text for piece in window])
            kept = taken
            while kept > 1 and at + kept < len(pieces) and _announces(pieces[at + kept - 1].text):
                kept -= 1
            following = pieces[at + kept : at + taken + 1]
            if kept < taken and self._fits(
                section, _joined([self._opened(section, following[0]), *following[1:]]).text
            ):
                taken = kept
            yield _joined(window[:taken])
            at += taken

    def _runs(self) -> Iterator[tuple[Section, list[int]]]:
        """Yield the blocks that stand under one heading, without it; none for a heading that has nothing below it."""
        runs = [(section, list(run)) for section, run in groupby(range(len(self._blocks)), self._sections.__getitem__)]
        for (section, run), following in zip(runs, [*(section for section, _ in runs[1:]), ()], strict=False):
            members = [index for index in run if self._blocks[index].kind != "heading"]
            if members or section[-1] not in following:
                yield section, members

    def _packed_recursively(self) -> Iterator[tuple[Section, _Piece]]:
        """Yield what stands under one heading, in parts."""
        for section, members in self._runs():
            if not members:
                yield section, _Piece((), "")
                continue
            written = [(index, self._blocks[index].written) for index in members]
            for piece in _parts_with_overlap(written, RECURSIVE_CHARACTERS, RECURSIVE_OVERLAP):
                yield section, piece

    def _packed_by_pages(self) -> Iterator[tuple[Section, _Piece]]:
        """Yield what stands on one page, headings among it, in parts; without pages the document is one.

        A part is under the headings that all of it is under.
        """
        written: list[tuple[int | None, int, str]] = []
        for index, block in enumerate(self._blocks):
            text, cut = block.written, block.page_break
            if cut is None:
                written.append((block.page_start, index, text))
            else:
                cut = text.rfind(" ", 0, cut) + 1  # cleaning may have moved it
                written += [(block.page_start, index, text[:cut].rstrip()), (block.page_end, index, text[cut:])]
        for page, on_it in groupby(written, key=lambda one: one[0]):
            texts = [(index, text) for _, index, text in on_it]
            for piece in _parts_with_overlap(texts, PAGES_CHARACTERS, PAGES_OVERLAP):
                section = _shared([self._sections[index] for index in piece.blocks])
                yield section, piece._replace(page=page)

    def _units(self, members: Sequence[int]) -> Iterator[list[_Piece]]:
        """Yield what should stay together: the items of a list with the paragraph that announces them, lines that head a block with it.

        Every other block is for itself.
        """
        pieces = [_Piece((index,), self._blocks[index].written) for index in members]
        lead: list[_Piece] = []
        """Lines that head what follows, or the paragraph that may announce a list."""
        for kind, run in groupby(pieces, lambda piece: self._blocks[piece.blocks[0]].kind):
            stand_together = list(run)
            if kind == "list_item":
                announces = stand_together[-1:] if _announces(stand_together[-1].text) else []
                items = stand_together[: len(stand_together) - len(announces)]
                if lead or items:
                    yield lead + items
                lead = announces
                continue
            for piece in stand_together:
                if lead and self._terms_of(lead[-1]) != self._terms_of(piece):
                    yield from ([one] for one in lead)  # of another definition
                    lead = []
                if not lead and kind == "paragraph" and PROPERTY.match(piece.text):
                    yield [piece]
                    continue
                if lead and not self._heads(lead[-1]):
                    # What a colon announces in one line heads nothing, and neither does a listing.
                    is_announced = kind == "code" or (kind == "paragraph" and _only_heads(piece.text))
                    announced = [piece] if is_announced else []
                    yield [*lead, *announced]
                    lead = []
                    if announced:
                        continue
                if kind == "paragraph" and (self._heads(piece) or _announces(piece.text)):
                    lead = [*lead, piece]
                else:
                    yield [*lead, piece]
                    lead = []
                if len(lead) > MAX_HEADING_LINES:
                    yield [lead.pop(0)]
        if lead:
            yield lead

    def _heads(self, piece: _Piece) -> bool:
        """Whether a paragraph is a line that heads what follows, or the caption of the table below it."""
        return _only_heads(piece.text) or piece.blocks[0] in self._captions

    def _with_ends(self, units: Iterable[list[_Piece]]) -> Iterator[list[_Piece]]:
        """Yield the units, the short ends of definitions (`Default is 30.`, `Default: 30`) with what they end."""
        before: list[_Piece] = []
        for unit in units:
            if before and len(unit) == 1 and self._ends(before[-1], unit[0]):
                before += unit
                continue
            if before:
                yield before
            before = unit
        if before:
            yield before

    def _ends(self, before: _Piece, piece: _Piece) -> bool:
        """Whether a short paragraph says the last of what stands before it."""
        terms = self._terms_of(piece)
        is_short = (
            self._blocks[piece.blocks[0]].kind == "paragraph" and len(piece.text.split()) <= MAX_HEADING_LINE_WORDS
        )
        return is_short and terms == self._terms_of(before) and (terms != () or PROPERTY.match(piece.text) is not None)

    def _terms_of(self, piece: _Piece) -> tuple[str, ...]:
        return self._blocks[piece.blocks[0]].terms

    def _fitting(self, section: Section, unit: Sequence[_Piece]) -> Iterator[_Piece]:
        """Yield a unit whole, or in pieces that fit."""
        at = 0
        while at < len(unit):
            window = unit[at : at + self._max_tokens]
            opening = self._opening(section, self._blocks[window[0].blocks[0]], window[0].text)
            taken = self._how_many_fit(section, [opening + window[0].text, *(piece.text for piece in window[1:])])
            while taken > 1 and taken < len(window) and _announces(window[taken - 1].text):
                taken -= 1
            if taken == 1 < len(window) and _announces(window[0].text):
                taken = 2  # cut in what is announced
            piece = _joined(window[:taken])
            at += taken
            for text in self._split_at_sentences(section, piece.text, opening=opening):
                yield _Piece(piece.blocks, text)

    def _opened(self, section: Section, piece: _Piece) -> _Piece:
        block = self._blocks[piece.blocks[0]]
        return piece._replace(text=self._opening(section, block, piece.text) + piece.text)

    def _opening(self, section: Section, block: Block, text: str) -> str:
        """Return what a chunk begins with whose first text is of a block: the terms of the definitions that it goes on with, written as
        before their first words; outer ones, and at last all, go where they would take more than a quarter of the window.
        """
        terms = [term.removesuffix(":") for term in block.terms if term not in self._path(section)]
        if terms and text.lstrip(LIST_MARKERS).startswith(terms[-1].lstrip(LIST_MARKERS) + ":"):
            terms.pop()
        while terms:
            opening = ": ".join(terms) + (": " if block.kind == "paragraph" else ":\n")
            if self._count(opening) <= self._max_tokens // TITLE_SHARE:
                return opening
            del terms[0]
        return ""

    def _how_many_fit(self, section: Section, texts: Sequence[str]) -> int:
        """Say how many of the texts fit the window together, at least one: estimated by their sum, then counted.

        No more fit than the window has tokens: who has many texts gives so many of them.
        """
        room = self._max_tokens - self._count(self._embedded(section, ""))
        ends = self._count("")  # what the tokenizer puts before and behind each text
        number, total = 1, self._count(texts[0]) - ends
        while number < len(texts) and (total := total + self._count(texts[number]) - ends) <= room:
            number += 1
        while number < len(texts) and self._fits(section, "\n".join(texts[: number + 1])):
            number += 1
        while number > 1 and not self._fits(section, "\n".join(texts[:number])):
            number -= 1
        return number

    def _split_at_sentences(self, section: Section, text: str, *, opening: str = "") -> Sequence[str]:
        """Split a text that is too long where semchunk does: at paragraphs, sentences, words; each part leaves room for `opening`."""
        if self._fits(section, opening + text):
            return [text]
        from semchunk.semchunk import chunkerify

        room = self._max_tokens - self._count(self._embedded(section, opening + text)) + self._count(text)
        while room > 0:
            parts = cast("list[str]", chunkerify(self._count, chunk_size=room)(text))
            longest = max(self._count(self._embedded(section, opening + part)) for part in parts)
            if longest <= self._max_tokens:
                return parts
            room -= longest - self._max_tokens
        return [text]  # `_within_window` cuts it

    def _packed_by_docling(self) -> Iterator[tuple[Section, _Piece]]:
        """Yield what HybridChunker makes of the document."""
        from kgrag.documents.hybrid_chunker import pack

        context = self._count(with_context("", title=self._document.title))
        for indexes, text in pack(self._blocks, count_tokens=self._count, max_tokens=self._max_tokens - context):
            content = tuple(index for index in indexes if self._blocks[index].kind != "heading")
            yield self._sections[(content or indexes[-1:])[0]], _Piece(content, text)

    def _packed_by_meaning(self) -> Iterator[tuple[Section, _Piece]]:
        """Yield tables by themselves, and the sentences of the rest, headings among them, that are of one cluster.

        A cluster is under the headings that all of its sentences are under.
        """
        if self._embed is None:
            raise ValueError("The chunker semantic needs vectors of sentences: expected `embed`, got None.")
        found: list[tuple[int, str]] = []
        pieces: list[tuple[int, Section, _Piece]] = []
        for index, block in enumerate(self._blocks):
            if block.kind == "table":
                pieces.append((index, self._sections[index], _Piece((index,), block.written)))
            elif block.kind in ("heading", "code"):
                found.append((index, block.text))
            else:
                found += [(index, block.text[one.start : one.end]) for one in sentences(block.text)]
        for places in clustered([text for _, text in found], embed=self._embed):
            members = [found[place] for place in places]
            section = _shared([self._sections[index] for index, _ in members])
            lines = [
                " ".join(text.strip() for _, text in run) for _, run in groupby(members, key=lambda member: member[0])
            ]
            indexes = tuple(dict.fromkeys(index for index, _ in members))
            for text in self._split_at_sentences(section, "\n".join(lines)):
                pieces.append((members[0][0], section, _Piece(indexes, text)))
        yield from ((section, piece) for _, section, piece in sorted(pieces, key=lambda one: one[0]))

    def _is_heading(self, text: str) -> bool:
        return len(text) <= MAX_HEADING_CHARACTERS and self._count(text) <= self._max_tokens // TITLE_SHARE

    def _parts(self, block: Block, section: Section) -> Iterator[Block]:
        """Yield a block in parts: tables fit the window, texts fit memory."""
        if block.kind == "table":
            yield from self._table_parts(block, section)
            return
        pieces = list(_cut_at_space(block.text, MAX_BLOCK_CHARACTERS))
        left = list(block.links)
        for number, text in enumerate(pieces):
            links = tuple(_taken(left, text, last=number == len(pieces) - 1))
            yield block if len(pieces) == 1 else replace(block, text=text, links=links)

    def _table_parts(self, block: Block, section: Section) -> Iterator[Block]:
        """Yield a table in parts that fit, each under caption, column headings and the row that heads its first one.

        A row that alone does not fit becomes text.
        """
        caption = block.text if self._count(block.text) <= self._max_tokens // TITLE_SHARE else ""
        block = replace(block, text="")  # the first part follows its caption
        head, lines = markdown_lines(block.header, block.rows)
        opening = self._opening(section, block, "")

        def fits(numbers: Sequence[int]) -> bool:
            table = "\n".join([block.text, *head, *(lines[number] for number in numbers)]).lstrip()
            return self._fits(section, opening + table)

        room = self._max_tokens - self._count(self._embedded(section, "\n".join([opening, caption, *head])))
        # Column headings that alone are too much are not counted with each row again.
        has_room = fits(())
        left = deque(range(len(lines)))
        heads = heads_of_rows(row.cells for row in block.rows)
        while left:
            again = [head for head in (heads[left[0]],) if head is not None]
            if again and not fits([*again, left[0]]):
                again = []
            batch: list[int] = []
            budget = room - sum(self._count(lines[number]) for number in again)
            while left and has_room and ((cost := self._count(lines[left[0]])) <= budget or not batch):
                budget -= cost
                batch.append(left.popleft())
            while batch and not fits([*again, *batch]):  # lines cost a little more or less together than apart
                left.appendleft(batch.pop())
            if batch:
                yield _with_rows(block, [block.rows[number] for number in (*again, *batch)])
                block = replace(block, text=caption)
                continue
            row = _with_rows(block, [block.rows[left.popleft()]], header=False)
            for text in self._row_as_text(block.header, row.rows[0], section):
                yield replace(row, kind="paragraph", text=text, rows=(), header=None)

    def _row_as_text(self, header: TableRow | None, row: TableRow, section: Section) -> Iterator[str]:
        """Yield a row as lines of `column: cell`, in parts that fit, each of which begins with the row's first cell.

        A cell is cut between sentences where its part is not much shorter for it, and the next part says its column again.
        """
        first, *others = named_cells(header, row) or [""]
        if not self._fits(section, f"{first}\n{'x' * MIN_CELL_CHARACTERS}"):
            first, others = "", [first, *others]
        opening = [first] if first else []
        columns = frozenset(header.cells if header else ())
        if not others:
            yield first
        at = 0
        while at < len(others):
            taken = self._how_many_fit(section, [*opening, *others[at : at + self._max_tokens]]) - len(opening)
            if not opening and taken == 1 and not self._fits(section, others[at]):
                taken = 0
            lines = [*opening, *others[at : at + taken]]
            at += taken
            if at < len(others):
                cell, start = others[at], ""
                if not taken or len(cell) > MIN_CELL_CHARACTERS:
                    start = _longest_start(cell, lambda start: self._fits(section, "\n".join([*lines, start])))  # noqa: B023  (called at once)
                if len(start) < min(MIN_CELL_CHARACTERS, len(cell)) and taken:
                    start = ""
                start = _whole_sentences(start) if len(start) < len(cell) else start
                lines.append(start.rstrip())
                others[at] = _further(cell, len(start), columns)
                at += not others[at]
            yield "\n".join(lines).rstrip()

    def _path(self, section: Section) -> tuple[str, ...]:
        """Return the headings of a section; outer ones go first where title and headings would take more than half of the window."""
        if section not in self._paths:
            headings = tuple(self._blocks[index].text for index in section)
            while (
                len(headings) > 1
                and self._count(with_context("", title=self._document.title, headings=headings)) > self._max_tokens // 2
            ):
                headings = headings[1:]
            self._paths[section] = headings
        return self._paths[section]

    def _embedded(self, section: Section, text: str) -> str:
        return with_context(text, title=self._document.title, headings=self._path(section))

    def _fits(self, section: Section, text: str) -> bool:
        return self._count(self._embedded(section, text)) <= self._max_tokens

    def _within_window(self, section: Section, text: str) -> Iterator[str]:
        """Yield `text`, in parts where it is too long all the same (the chunker splits by estimates)."""
        while not self._fits(section, text):
            start = _longest_start(text, lambda start: self._fits(section, start))
            yield start.rstrip()
            text = text[len(start) :].lstrip()
        yield text

    def _chunk(
        self,
        position: int,
        section: Section,
        text: str,
        parts: Sequence[int],
        links: Sequence[Link],
        *,
        page: int | None = None,
    ) -> Chunk:
        members = [self._blocks[index] for index in parts]
        placed = [block for block in members if block.page_start is not None]
        placed = [block for block in placed if block.kind != "heading"] or placed
        starts = [block.page_start for block in placed if block.page_start is not None]
        ends = [block.page_end for block in placed if block.page_end is not None]
        chunk = Chunk(
            id=content_id(self._document.id, str(position), text),
            document_id=self._document.id,
            source_id=self._document.id,
            position=position,
            title=self._document.title,
            headings=self._path(section),
            text=text,
            page_start=page or min(starts, default=None),
            page_end=page or max((*starts, *ends), default=None),
            tokens=0,
            anchors=tuple(dict.fromkeys(anchor for part in members for anchor in part.anchors)),
            links=tuple(
                Hyperlink(href=link.href, anchor=link.anchor, context=link.context, position=number)
                for number, link in enumerate(links)
            ),
            boxes=tuple(
                dict.fromkeys(box for block in members for box in block.boxes if page is None or box.page == page)
            ),
        )
        return chunk.model_copy(update={"tokens": self._count(chunk.prompted_text)})


def _announces(text: str) -> bool:
    """Whether a text ends where what it speaks of begins."""
    return text.endswith(":")


def _only_heads(text: str) -> bool:
    """Whether a paragraph is a line that heads what follows: a few words, and no end of a sentence but a property's."""
    if len(text.split()) > MAX_HEADING_LINE_WORDS:
        return False
    return not text.endswith(ENDS_SENTENCE) or (text.endswith(".") and PROPERTY.match(text) is not None)


def _parts_with_overlap(written: Sequence[tuple[int, str]], characters: int, overlap: int) -> Iterator[_Piece]:
    """Yield texts of blocks (index, text), a line break between them, in parts of at most `characters`.

    They are cut where semchunk does: at paragraphs, then lines, sentences, words. Each begins with whole words of the one before, at most
    `overlap` characters of them.
    """
    from semchunk.semchunk import chunk

    indexes = [index for index, _ in written]
    ends = list(accumulate(len(text) + 1 for _, text in written))
    text = "\n".join(text for _, text in written)
    spans = [(0, len(text))]
    if len(text) > characters:
        # `overlap` of semchunk makes chunks of pieces as small as the overlap, which are a third shorter than they may be.
        parts = chunk(text, characters - overlap, len, memoize=False, offsets=True)
        spans = cast("tuple[list[str], list[tuple[int, int]]]", parts)[1]
    for number, (first, end) in enumerate(spans):
        start = _word_start(text, max(spans[number - 1][0], first - overlap), first) if number else first
        inside = indexes[bisect_right(ends, start) : bisect_left(ends, end) + 1]
        yield _Piece(tuple(inside), text[start:end])


def _shared(sections: Sequence[Section]) -> Section:
    """Return the headings, outermost first, that several sections have in common."""
    shared = sections[0]
    for section in sections[1:]:
        same = (one == other for one, other in zip(shared, section, strict=False))
        shared = shared[: sum(takewhile(bool, same))]
    return shared


def _joined(pieces: Sequence[_Piece]) -> _Piece:
    blocks = dict.fromkeys(index for piece in pieces for index in piece.blocks)
    return _Piece(tuple(blocks), "\n".join(piece.text for piece in pieces if piece.text))


def _with_rows(block: Block, rows: Sequence[TableRow], *, header: bool = True) -> Block:
    """Return a table with some of its rows, and with their ids, links, pages and places."""
    marked = [*((block.header,) if block.header and header else ()), *rows]
    boxes = boxes_around(row.box for row in marked)
    return replace(
        block,
        rows=tuple(rows),
        anchors=tuple(dict.fromkeys((*block.anchors, *(anchor for row in marked for anchor in row.anchors)))),
        links=tuple(link for row in marked for link in row.links),
        boxes=boxes or block.boxes,
    )


def _taken(links: list[Link], text: str, *, last: bool) -> list[Link]:
    """Take from `links` those whose words are in this part of their text; with the last part, all that are left."""
    words = " ".join(text.split())
    taken: list[Link] = []
    left: list[Link] = []
    for link in links:
        if not last and len(left) - len(taken) > MOST_LINKS_PASSED:
            break  # they stand in reading order: what is behind these is of a later part
        (taken if last or link.anchor in words else left).append(link)
    links[: len(taken) + len(left)] = left
    return taken


def _word_start(text: str, low: int, high: int) -> int:
    """Return where the first word that begins between two places begins; the second of them where none does."""
    return next((place for place in range(low, high) if not text[place].isspace() and text[place - 1].isspace()), high)


def _cut_at_space(text: str, size: int) -> Iterator[str]:
    """Yield `text` in parts of at most `size` characters, cut at line ends or else blanks where there are any."""
    while len(text) > size:
        window = text[:size]
        cut = window.rfind("\n") + 1 or window.rfind(" ") + 1 or size
        if part := window[:cut].rstrip():
            yield part
        text = text[cut:]
    if text.strip():
        yield text


def _whole_sentences(start: str) -> str:
    """Return the start of a cell without the sentence that is cut at its end, where half of it and more is left."""
    begun = [sentence.start for sentence in sentences(start)]
    is_cut = len(begun) > 1 and not start.rstrip().endswith((".", "!", "?", ";", ":"))
    return start[: begun[-1]] if is_cut and begun[-1] >= len(start) // 2 else start


def _further(cell: str, taken: int, columns: Set[str]) -> str:
    """Return what is left of `column: cell`, which says its column again where that leaves room."""
    name, rest = cell.partition(": ")[0], cell[taken:].lstrip()
    has_room = len(name) < MIN_CELL_CHARACTERS and taken >= 2 * MIN_CELL_CHARACTERS
    return f"{name}: {rest}" if rest and has_room and name in columns else rest


def _longest_start(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest start of `text` that fits, ending at white space where there is any; at least one character."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle - 1)
    spaces = [match.end() for match in re.finditer(r"\s+", text[:low])]
    at_space = next((end for end in reversed(spaces) if fits(text[:end])), 0)
    return text[: at_space or low]
