"""Tables in parts that fit a chunk: by rows, each part under caption, column headings and the row that heads its first one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from kgrag.documents.blocks import Block, TableRow, boxes_around, markdown_lines, named_cells
from kgrag.documents.chunk_window import ChunkWindow, longest_start
from kgrag.text.row_groups import heads_of_rows
from kgrag.text.sentences import sentences

__all__ = ["table_parts", "with_rows"]

MIN_CELL_CHARACTERS = 40
"""A smaller part of a cell is not worth the row's name."""


def table_parts(block: Block, *, headings: tuple[str, ...], opening: str, window: ChunkWindow) -> Iterator[Block]:
    """Yield a table in parts that fit, each under caption, column headings and the row that heads its first one.

    A row that alone does not fit becomes text. `opening` is what a chunk begins with whose first text is of this table.
    """
    caption = block.text if window.is_short(block.text) else ""
    block = replace(block, text="")  # the first part follows its caption
    head, lines = markdown_lines(block.header, block.rows)

    def fits(numbers: Sequence[int]) -> bool:
        table = "\n".join([block.text, *head, *(lines[number] for number in numbers)]).lstrip()
        return window.fits(headings, opening + table)

    room = window.max_tokens - window.cost(headings, "\n".join([opening, caption, *head]))
    # Column headings that alone are too much are not counted with each row again.
    has_room = fits(())
    left = deque(range(len(lines)))
    heads = heads_of_rows(row.cells for row in block.rows)
    while left:
        again = [head for head in (heads[left[0]],) if head is not None]
        if again and not fits([*again, left[0]]):
            again = []
        batch: list[int] = []
        budget = room - sum(window.count(lines[number]) for number in again)
        while left and has_room and ((cost := window.count(lines[left[0]])) <= budget or not batch):
            budget -= cost
            batch.append(left.popleft())
        while batch and not fits([*again, *batch]):  # lines cost a little more or less together than apart
            left.appendleft(batch.pop())
        if batch:
            yield with_rows(block, [block.rows[number] for number in (*again, *batch)])
            block = replace(block, text=caption)
            continue
        row = with_rows(block, [block.rows[left.popleft()]], header=False)
        for text in _row_as_text(block.header, row.rows[0], headings, window):
            yield replace(row, kind="paragraph", text=text, rows=(), header=None)


def _row_as_text(
    header: TableRow | None, row: TableRow, headings: tuple[str, ...], window: ChunkWindow
) -> Iterator[str]:
    """Yield a row as lines of `column: cell`, in parts that fit, each of which begins with the row's first cell.

    A cell is cut between sentences where its part is not much shorter for it, and the next part says its column again.
    """
    first, *others = named_cells(header, row) or [""]
    if not window.fits(headings, f"{first}\n{'x' * MIN_CELL_CHARACTERS}"):
        first, others = "", [first, *others]
    opening = [first] if first else []
    columns = frozenset(header.cells if header else ())
    if not others:
        yield first
    at = 0
    while at < len(others):
        taken = window.how_many_fit(headings, [*opening, *others[at : at + window.max_tokens]]) - len(opening)
        if not opening and taken == 1 and not window.fits(headings, others[at]):
            taken = 0
        lines = [*opening, *others[at : at + taken]]
        at += taken
        if at < len(others):
            cell, start = others[at], ""
            if not taken or len(cell) > MIN_CELL_CHARACTERS:
                start = longest_start(cell, lambda start: window.fits(headings, "\n".join([*lines, start])))  # noqa: B023  (called at once)
            if len(start) < min(MIN_CELL_CHARACTERS, len(cell)) and taken:
                start = ""
            start = _whole_sentences(start) if len(start) < len(cell) else start
            lines.append(start.rstrip())
            others[at] = _further(cell, len(start), columns)
            at += not others[at]
        yield "\n".join(lines).rstrip()


def with_rows(block: Block, rows: Sequence[TableRow], *, header: bool = True) -> Block:
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
