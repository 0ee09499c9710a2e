"""Blocks to chunks, by Docling's HybridChunker with the embedder's tokenizer.

What a chunk costs is what `Chunk.embedded_text` costs: title, headings and text. The chunker sees each heading as its number, so that two
sections with the same heading are not merged. Tables are cut by rows beforehand, each part under the column headings, because Docling's own
way may exceed the window (docling #3428) and cuts wide tables between a row's name and its values.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kgrag.documents.blocks import Block, Link, TableRow
from kgrag.documents.tables import markdown_lines, named_cells
from kgrag.types import Chunk, Document, Hyperlink, content_id, with_context

__all__ = ["chunk_blocks", "fit_title"]

MAX_HEADING_CHARACTERS = 200
"""A longer heading is a paragraph that someone made a heading."""
MAX_BLOCK_CHARACTERS = 20_000
"""A longer text is cut at white space before it is tokenized: memory stays small, whatever a file has in one line."""
TITLE_SHARE = 4
"""A title, and any one heading, takes at most this fraction (a quarter) of the window; title and headings together at most half."""
COUNTS_REMEMBERED = 1024
"""The chunker counts the same texts several times, soon after each other; counting is most of its time."""
MIN_CELL_CHARACTERS = 40
"""A smaller part of a cell is not worth the row's name."""

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
    document: Document, blocks: Sequence[Block], *, count_tokens: CountTokens, max_tokens: int
) -> tuple[Chunk, ...]:
    """Cut a document into chunks, in reading order; the `embedded_text` of each has at most `max_tokens` tokens."""
    return tuple(_Chunking(document, blocks, count_tokens, max_tokens).chunks())


@dataclass(frozen=True, slots=True)
class _Part:
    """A block, or a part of one that fits the window."""

    kind: str
    text: str
    level: int
    page_start: int | None
    page_end: int | None
    anchors: tuple[str, ...]
    links: tuple[Link, ...]


class _Chunking:
    """One document on its way to chunks."""

    def __init__(self, document: Document, blocks: Sequence[Block], count_tokens: CountTokens, max_tokens: int) -> None:
        self._document = document
        self._count = lru_cache(maxsize=COUNTS_REMEMBERED)(count_tokens)
        self._max_tokens = max_tokens
        self._parts: list[_Part] = []
        self._paths: dict[Section, tuple[str, ...]] = {}
        self._divide(blocks)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks."""
        from kgrag.documents.docling_chunker import Piece, pack

        packed = list(
            pack(
                [Piece(part.kind, part.text, part.level) for part in self._parts],
                contextualize=self._embedded,
                count_tokens=self._count,
                max_tokens=self._max_tokens,
            )
        )
        headings_with_text = {chunk.section[-1] for chunk in packed if chunk.section}
        uses = Counter(index for chunk in packed for index in chunk.pieces)
        links_left = {index: list(self._parts[index].links) for index in uses}
        waiting: list[int] = []
        """Headings above the next chunk that have no chunk of their own: their ids are where that chunk is."""
        shown: set[int] = set()
        position = 0
        for chunk in packed:
            new = [index for index in chunk.section if index not in shown]
            shown.update(new)
            waiting = [index for index in new if index not in headings_with_text]
            own = {*waiting, *chunk.section[-1:]}
            pieces = [index for index in chunk.pieces if self._parts[index].kind != "heading"]
            body = chunk.text or self._parts[chunk.section[-1]].text
            for text in self._within_window(chunk.section, body):
                links = [*(link for index in new for link in self._parts[index].links)]
                for index in pieces:
                    links.extend(_taken(links_left[index], text, last=uses[index] == 1))
                yield self._chunk(position, chunk.section, text, [*sorted(own), *pieces], links)
                position += 1
                new = []
            for index in pieces:
                uses[index] -= 1

    def _divide(self, blocks: Sequence[Block]) -> None:
        """Make parts of blocks: what is too large for the chunker is cut here."""
        section: dict[int, int] = {}
        for block in blocks:
            if block.kind == "heading" and not self._is_heading(block.text):
                block = replace(block, kind="paragraph", level=0)
            if block.kind == "heading":
                section = {level: index for level, index in section.items() if level < block.level}
                section[block.level] = len(self._parts)
            path = tuple(section[level] for level in sorted(section))
            for text, anchors, links in self._texts(block, path):
                self._parts.append(
                    _Part(
                        block.kind,
                        text,
                        block.level,
                        block.page_start,
                        block.page_end,
                        (*block.anchors, *anchors),
                        links,
                    )
                )

    def _is_heading(self, text: str) -> bool:
        return len(text) <= MAX_HEADING_CHARACTERS and self._count(text) <= self._max_tokens // TITLE_SHARE

    def _texts(self, block: Block, section: Section) -> Iterator[tuple[str, tuple[str, ...], tuple[Link, ...]]]:
        """Yield (text, further anchors, links) for each part of a block."""
        if block.kind == "table":
            yield from self._table_parts(block, section)
        else:
            pieces = list(_cut_at_space(block.text, MAX_BLOCK_CHARACTERS))
            left = list(block.links)
            for number, text in enumerate(pieces):
                yield text, (), tuple(_taken(left, text, last=number == len(pieces) - 1))

    def _table_parts(self, block: Block, section: Section) -> Iterator[tuple[str, tuple[str, ...], tuple[Link, ...]]]:
        """Yield a table in parts that fit, each under the column headings; a row that alone does not fit becomes text."""
        head, lines = markdown_lines(block.header, block.rows)
        costs = [self._count(line) for line in lines]

        def written(numbers: Sequence[int]) -> str:
            return "\n".join([*head, *(lines[number] for number in numbers)])

        def part(numbers: Sequence[int]) -> tuple[str, tuple[str, ...], tuple[Link, ...]]:
            rows = [*((block.header,) if block.header else ()), *(block.rows[number] for number in numbers)]
            return written(numbers), *_marks(rows)

        left = deque(range(len(lines)))
        while left:
            batch: list[int] = []
            budget = self._max_tokens - self._count(self._embedded(section, written([])))
            while left and (not batch or costs[left[0]] <= budget):
                budget -= costs[left[0]]
                batch.append(left.popleft())
            while batch and not self._fits(
                section, written(batch)
            ):  # lines cost a little more or less together than apart
                left.appendleft(batch.pop())
            if batch:
                yield part(batch)
            else:
                row = block.rows[left.popleft()]
                yield from ((text, *_marks([row])) for text in self._row_as_text(block.header, row, section))

    def _row_as_text(self, header: TableRow | None, row: TableRow, section: Section) -> Iterator[str]:
        """Yield a row as lines of `column: cell`, in parts that fit, each of which begins with the row's first cell."""
        first, *others = named_cells(header, row) or [""]
        if not self._fits(section, f"{first}\n{'x' * MIN_CELL_CHARACTERS}"):
            first, others = "", [first, *others]
        lines = [first] if first else []
        for cell in others:
            while not self._fits(section, "\n".join([*lines, cell])):
                start = _longest_start(cell, lambda start: self._fits(section, "\n".join([*lines, start])))  # noqa: B023  (called at once)
                if len(start) < min(MIN_CELL_CHARACTERS, len(cell)) and len(lines) > bool(first):
                    start = ""
                yield "\n".join([*lines, start.rstrip()]).rstrip()
                cell, lines = cell[len(start) :].lstrip(), [first] if first else []
            lines.append(cell)
        yield "\n".join(lines)

    def _path(self, section: Section) -> tuple[str, ...]:
        """Return the headings of a section; outer ones go first where title and headings would take more than half of the window."""
        if section not in self._paths:
            headings = tuple(self._parts[index].text for index in section)
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

    def _chunk(self, position: int, section: Section, text: str, parts: Sequence[int], links: Sequence[Link]) -> Chunk:
        members = [self._parts[index] for index in parts]
        starts = [part.page_start for part in members if part.page_start is not None and part.kind != "heading"]
        ends = [
            part.page_end or part.page_start
            for part in members
            if part.page_start is not None and part.kind != "heading"
        ]
        if not starts:
            starts = ends = [part.page_start for part in members if part.page_start is not None]
        chunk = Chunk(
            id=content_id(self._document.id, str(position), text),
            document_id=self._document.id,
            source_id=self._document.id,
            position=position,
            title=self._document.title,
            headings=self._path(section),
            text=text,
            page_start=min(starts, default=None),
            page_end=max((page for page in ends if page is not None), default=None),
            tokens=0,
            anchors=tuple(dict.fromkeys(anchor for part in members for anchor in part.anchors)),
            links=tuple(
                Hyperlink(href=link.href, anchor=link.anchor, context=link.context, position=number)
                for number, link in enumerate(links)
            ),
        )
        return chunk.model_copy(update={"tokens": self._count(chunk.prompted_text)})


def _marks(rows: Sequence[TableRow]) -> tuple[tuple[str, ...], tuple[Link, ...]]:
    """Return the ids and links of rows."""
    anchors = tuple(dict.fromkeys(anchor for row in rows for anchor in row.anchors))
    return anchors, tuple(link for row in rows for link in row.links)


def _taken(links: list[Link], text: str, *, last: bool) -> list[Link]:
    """Take from `links` those whose words are in this part of their text; with the last part, all that are left."""
    words = " ".join(text.split())
    taken = [link for link in links if last or link.anchor in words]
    links[:] = [link for link in links if not (last or link.anchor in words)]
    return taken


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


def _longest_start(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest start of `text` that fits, ending at white space where there is any; at least one character."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle - 1)
    spaces = [match.end() for match in re.finditer(r"\s+", text[:low])]
    at_space = next((end for end in reversed(spaces) if fits(text[:end])), 0)
    return text[: at_space or low]
