"""Blocks to chunks: by kgrag's own packer (`structure`), Docling's HybridChunker (`hybrid`), sections and characters (`recursive`), pages
and characters (`pages`), or clusters of sentences (`semantic`).

What a chunk costs is what `Chunk.embedded_text` costs: title, headings and text. The packer keeps sections apart, even two with the same
heading, fills each window with what stands under one heading, and cuts tables by rows, each part under the column headings. `recursive`
is how LARAG (Bolognesi et al., 2026) and many others cut: what stands under one heading, in parts of 1,000 characters that overlap by 150;
`pages` how De Faveri (2026) does: what stands on one page, so that a citation names one page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, takewhile
from typing import Literal, cast

from kgrag.documents.blocks import Block, Link
from kgrag.documents.chunk_tables import table_parts, with_rows
from kgrag.documents.chunk_units import Piece, announces, joined, units
from kgrag.documents.chunk_window import MAX_HEADING_CHARACTERS, ChunkWindow, CountTokens, cut_at_space
from kgrag.documents.semantic import Embed, clustered
from kgrag.text.sentences import sentences
from kgrag.types import Chunk, Document, Hyperlink, content_id, with_context

__all__ = ["Chunker", "chunk_blocks"]

MAX_BLOCK_CHARACTERS = 20_000
"""A longer text is cut at white space before it is tokenized: memory stays small, whatever a file has in one line."""
LIST_MARKERS = " -0123456789."
"""What an item of a list, and so perhaps its term, begins with."""
MOST_LINKS_PASSED = 1000
"""Links without their words in a part of a text, more than those with them, behind which none is looked for."""

RECURSIVE_CHARACTERS, RECURSIVE_OVERLAP = 1000, 150
"""Of a part, and of what it repeats of the one before, both at most: LARAG, section 3.1."""
PAGES_CHARACTERS, PAGES_OVERLAP = 1000, 200
"""The same of parts of pages: De Faveri, algorithm 2."""

Chunker = Literal["structure", "hybrid", "recursive", "pages", "semantic"]
Section = tuple[int, ...]
"""Indexes of the headings above a block, outermost first."""


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
        self._window = ChunkWindow(document.title, count_tokens=count_tokens, max_tokens=max_tokens)
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
            for text in self._window.within(self._path(section), piece.text or self._blocks[section[-1]].text):
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
        if block.kind == "heading" and not (
            len(block.text) <= MAX_HEADING_CHARACTERS and self._window.is_short(block.text)
        ):
            block = replace(block, kind="paragraph", level=0)
        section = self._sections[-1] if self._sections else ()
        if block.kind == "heading":
            outer = tuple(index for index in section if self._blocks[index].level < block.level)
            section = (*outer, len(self._blocks))
        if block.kind == "table" and block.text and self._blocks and self._blocks[-1].text == block.text:
            self._captions.add(len(self._blocks) - 1)
        whole = with_rows(block, block.rows) if block.kind == "table" else block  # with the ids of its rows
        for part in self._parts(block, section) if self._chunker in ("structure", "semantic") else (whole,):
            self._blocks.append(part)
            self._sections.append(section)

    def _packed(self) -> Iterator[tuple[Section, Piece]]:
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

    def _headings_alone(self, above: Section, sections: Sequence[Section]) -> Iterator[tuple[Section, Piece]]:
        if len(sections) == 1:
            yield sections[0], Piece((), "")
            return
        pieces = [Piece((section[-1],), self._blocks[section[-1]].text) for section in sections]
        at = 0
        while at < len(pieces):
            taken = self._window.how_many_fit(
                self._path(above), [piece.text for piece in pieces[at : at + self._window.max_tokens]]
            )
            yield above, joined(pieces[at : at + taken])
            at += taken

    def _packed_section(self, section: Section, members: Sequence[int]) -> Iterator[Piece]:
        """Yield what stands under one heading, in pieces none of which ends with what announces the next one, where both fit together."""
        together = units(self._blocks, members, captions=self._captions)
        pieces = [piece for unit in together for piece in self._fitting(section, unit)]
        at = 0
        while at < len(pieces):
            window = [self._opened(section, pieces[at]), *pieces[at + 1 : at + self._window.max_tokens]]
            taken = self._window.how_many_fit(self._path(section), [piece.text for piece in window])
            kept = taken
            while kept > 1 and at + kept < len(pieces) and announces(pieces[at + kept - 1].text):
                kept -= 1
            following = pieces[at + kept : at + taken + 1]
            if kept < taken and self._window.fits(
                self._path(section), joined([self._opened(section, following[0]), *following[1:]]).text
            ):
                taken = kept
            yield joined(window[:taken])
            at += taken

    def _runs(self) -> Iterator[tuple[Section, list[int]]]:
        """Yield the blocks that stand under one heading, without it; none for a heading that has nothing below it."""
        runs = [(section, list(run)) for section, run in groupby(range(len(self._blocks)), self._sections.__getitem__)]
        for (section, run), following in zip(runs, [*(section for section, _ in runs[1:]), ()], strict=False):
            members = [index for index in run if self._blocks[index].kind != "heading"]
            if members or section[-1] not in following:
                yield section, members

    def _packed_recursively(self) -> Iterator[tuple[Section, Piece]]:
        """Yield what stands under one heading, in parts."""
        for section, members in self._runs():
            if not members:
                yield section, Piece((), "")
                continue
            written = [(index, self._blocks[index].written) for index in members]
            for piece in _parts_with_overlap(written, RECURSIVE_CHARACTERS, RECURSIVE_OVERLAP):
                yield section, piece

    def _packed_by_pages(self) -> Iterator[tuple[Section, Piece]]:
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

    def _fitting(self, section: Section, unit: Sequence[Piece]) -> Iterator[Piece]:
        """Yield a unit whole, or in pieces that fit."""
        at = 0
        while at < len(unit):
            window = unit[at : at + self._window.max_tokens]
            opening = self._opening(section, self._blocks[window[0].blocks[0]], window[0].text)
            taken = self._window.how_many_fit(
                self._path(section), [opening + window[0].text, *(piece.text for piece in window[1:])]
            )
            while taken > 1 and taken < len(window) and announces(window[taken - 1].text):
                taken -= 1
            if taken == 1 < len(window) and announces(window[0].text):
                taken = 2  # cut in what is announced
            piece = joined(window[:taken])
            at += taken
            for text in self._window.split_at_sentences(self._path(section), piece.text, opening=opening):
                yield Piece(piece.blocks, text)

    def _opened(self, section: Section, piece: Piece) -> Piece:
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
            if self._window.is_short(opening):
                return opening
            del terms[0]
        return ""

    def _packed_by_docling(self) -> Iterator[tuple[Section, Piece]]:
        """Yield what HybridChunker makes of the document."""
        from kgrag.documents.hybrid_chunker import pack

        context = self._window.count(with_context("", title=self._document.title))
        for indexes, text in pack(
            self._blocks, count_tokens=self._window.count, max_tokens=self._window.max_tokens - context
        ):
            content = tuple(index for index in indexes if self._blocks[index].kind != "heading")
            yield self._sections[(content or indexes[-1:])[0]], Piece(content, text)

    def _packed_by_meaning(self) -> Iterator[tuple[Section, Piece]]:
        """Yield tables by themselves, and the sentences of the rest, headings among them, that are of one cluster.

        A cluster is under the headings that all of its sentences are under.
        """
        if self._embed is None:
            raise ValueError("The chunker semantic needs vectors of sentences: expected `embed`, got None.")
        found: list[tuple[int, str]] = []
        pieces: list[tuple[int, Section, Piece]] = []
        for index, block in enumerate(self._blocks):
            if block.kind == "table":
                pieces.append((index, self._sections[index], Piece((index,), block.written)))
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
            for text in self._window.split_at_sentences(self._path(section), "\n".join(lines)):
                pieces.append((members[0][0], section, Piece(indexes, text)))
        yield from ((section, piece) for _, section, piece in sorted(pieces, key=lambda one: one[0]))

    def _parts(self, block: Block, section: Section) -> Iterator[Block]:
        """Yield a block in parts: tables fit the window, texts fit memory."""
        if block.kind == "table":
            opening = self._opening(section, block, "")
            yield from table_parts(block, headings=self._path(section), opening=opening, window=self._window)
            return
        pieces = list(cut_at_space(block.text, MAX_BLOCK_CHARACTERS))
        left = list(block.links)
        for number, text in enumerate(pieces):
            links = tuple(_taken(left, text, last=number == len(pieces) - 1))
            yield block if len(pieces) == 1 else replace(block, text=text, links=links)

    def _path(self, section: Section) -> tuple[str, ...]:
        """Return the headings of a section that its chunks have."""
        if section not in self._paths:
            self._paths[section] = self._window.path(tuple(self._blocks[index].text for index in section))
        return self._paths[section]

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
        return chunk.model_copy(update={"tokens": self._window.count(chunk.prompted_text)})


def _parts_with_overlap(written: Sequence[tuple[int, str]], characters: int, overlap: int) -> Iterator[Piece]:
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
        yield Piece(tuple(inside), text[start:end])


def _shared(sections: Sequence[Section]) -> Section:
    """Return the headings, outermost first, that several sections have in common."""
    shared = sections[0]
    for section in sections[1:]:
        same = (one == other for one, other in zip(shared, section, strict=False))
        shared = shared[: sum(takewhile(bool, same))]
    return shared


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
