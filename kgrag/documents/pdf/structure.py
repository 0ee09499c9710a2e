"""Recovering a PDF's structure: pages of words and lines in, blocks in reading order out."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from kgrag.documents.pdf.aligned_tables import find_aligned_tables
from kgrag.documents.pdf.blocks import PageBlock, TableBlock, TextBlock
from kgrag.documents.pdf.captions import is_caption, names_figure
from kgrag.documents.pdf.contents import Contents, comparable, find_contents, without_leaders
from kgrag.documents.pdf.definitions import with_terms
from kgrag.documents.pdf.figures import drawings_of, figure_blocks
from kgrag.documents.pdf.furniture import RunningLine, remove_furniture
from kgrag.documents.pdf.geometry import Word, bounding_box, is_typewriter, lines_of
from kgrag.documents.pdf.headings import listing_of, mark_headings
from kgrag.documents.pdf.option_dashes import with_option_dashes
from kgrag.documents.pdf.outline import Outline, OutlinedHeadings, find_outlined, folded_titles
from kgrag.documents.pdf.pages import Page
from kgrag.documents.pdf.paragraphs import LineStatistics, blocks_of_region, line_statistics
from kgrag.documents.pdf.reading_order import Region, is_beside_text, regions_of
from kgrag.documents.pdf.row_tables import find_row_tables, has_groups
from kgrag.documents.pdf.ruled_tables import find_ruled_tables, with_row_above
from kgrag.documents.pdf.run_in_headings import with_run_in_headings
from kgrag.documents.pdf.sign_columns import with_signs_joined
from kgrag.documents.pdf.slides import repeated_words
from kgrag.documents.pdf.table_headers import continued, has_paragraph_as_heading, is_prose, with_cut_row
from kgrag.documents.pdf.value_grids import better_tables
from kgrag.documents.pdf.value_tables import ValueTables, find_value_tables

__all__ = ["Structure", "recover_structure"]

_MAX_NOTES = 6
"""At the foot of a column, between the parts of a paragraph."""
_SHORTER = 0.2
"""Share of a paragraph's width by which the last line of its column may be shorter."""
_MIN_PICTURES, _PICTURED = 4, 0.8
"""Pictures from which rows and columns of their names may be no table, and their share of the cells."""
_TITLE_GAP = 3.0
"""Line heights between two titles of a table, or the last one and its columns."""
_MAX_TITLE_LINES = 3
_LISTING_GAP = 0.8
"""Line heights between two lines of a listing, at most."""
_OFF_CENTRE = 2.0
"""Line heights by which a title may miss the middle of its table."""
_ASIDE = re.compile(r"\([^()]+\)")
_NOTE_SIZE = 0.95
"""Of the text: notes are smaller."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A document's blocks in reading order, and what was left out of them."""

    blocks: tuple[PageBlock, ...]
    removed: tuple[RunningLine, ...]
    textless_pages: tuple[int, ...]
    page_count: int
    outline_title: str = ""
    """The entry of the outline above all others."""
    shapeless_pages: tuple[int, ...] = ()
    """Pages whose lines and fills could not be read."""
    unreadable_pages: tuple[int, ...] = ()
    """Pages whose fonts do not say which letters they are, and that were not read from their picture."""
    pictures: tuple[tuple[int, float], ...] = ()
    """Pages whose words were read from a picture, with the mean confidence (0 to 1)."""
    steps: tuple[int, ...] = ()
    """Pages that show the one before with more on it, of which only that was kept."""


def recover_structure(pages: Sequence[Page], outline: Outline | None = None) -> Structure:
    """Recover the outline's headings, running lines, tables of contents, tables, figures, paragraphs, lists and headings, in order."""
    outline, pages = outline or Outline(), with_option_dashes(pages)
    textless = tuple(page.number for page in pages if not page.words)
    unreadable = tuple(page.number for page in pages if page.unreadable and not page.words)
    shapeless = tuple(page.number for page in pages if not page.shapes_read)
    pictures = tuple((page.number, page.read_confidence) for page in pages if page.read_confidence is not None)
    repeated = repeated_words(pages)
    outlined = find_outlined(pages, outline)
    titles = frozenset(title for entry in outline.entries for title in folded_titles(entry.title))
    pages = [_without_words(_without_headings(page, outlined), repeated.get(page.number, set())) for page in pages]
    # What all steps of a slide have does not run over the document for that.
    whole, removed = remove_furniture([page for page in pages if page.number not in repeated], titles)
    steps = [page for page in pages if page.number in repeated]
    pages = sorted([*whole, *steps], key=lambda page: page.number)
    contents = find_contents(pages, frozenset(comparable(entry.title) for entry in outline.entries))
    listings = not _is_typed(pages)
    regions = {page.number: _page_regions(page, contents, outlined, listings=listings) for page in pages}
    usual = line_statistics(
        (word for page in pages for word in page.words), (region for found in regions.values() for region in found)
    )
    blocks: list[PageBlock] = []
    for page in pages:
        for region in (_with_aligned_tables(region, page, usual) for region in regions[page.number]):
            blocks.extend(blocks_of_region(region, page.number, page.marks, usual))
    blocks = with_run_in_headings(blocks)
    blocks = with_terms(mark_headings(blocks, usual, listing_of(outline, outlined, contents.titles, len(pages))))
    return Structure(
        blocks=tuple(_across_pages(_with_captions(blocks))),
        removed=removed,
        textless_pages=textless,
        page_count=len(pages),
        outline_title=outline.title,
        shapeless_pages=shapeless,
        unreadable_pages=unreadable,
        pictures=pictures,
        steps=tuple(repeated),
    )


def _without_headings(page: Page, outlined: OutlinedHeadings) -> Page:
    taken = {word for block in outlined.on(page.number) for line in block.lines for word in line.words}
    return _without_words(page, taken)


def _without_words(page: Page, taken: Set[Word]) -> Page:
    return replace(page, words=tuple(word for word in page.words if word not in taken)) if taken else page


def _is_typed(pages: Sequence[Page]) -> bool:
    """Whether a document is set in a typewriter font, which then is not that of listings."""
    typed = plain = 0
    for word in (word for page in pages for word in page.words):
        if is_typewriter(word.font):
            typed += len(word.text)
        else:
            plain += len(word.text)
    return typed > plain


def _page_regions(page: Page, contents: Contents, outlined: OutlinedHeadings, *, listings: bool) -> list[Region]:
    """Take tables and figures out of a page, and put what remains into reading order; `listings` are what is in a typewriter font."""
    index = [table for table in contents.tables if table.page == page.number]
    rest = without_leaders([word for word in page.words if (page.number, word) not in contents.words])
    ruled = find_ruled_tables(replace(page, words=tuple(rest)))
    spanning = [table for table in find_row_tables(page, ruled.unused_rules, rest) if has_groups(table)]
    rest = _without(rest, spanning)
    found = _value_tables(page, rest)
    values, in_values = better_tables(_without_listings(found, rest) if listings else found, ruled.tables)
    rest = [word for word in rest if word not in in_values]
    grids = [
        with_row_above(joined, rest, in_values) if (joined := with_signs_joined(table)) is not table else table
        for table in ruled.tables
        if not any(table.box.touches(other.box) for other in values) and not is_prose(table)
    ]
    rest = _without(rest, grids)
    by_rows = [
        table
        for table in find_row_tables(page, ruled.unused_rules, rest)
        # What goes around a grid stands between the lines of a running header and footer.
        if not (
            is_prose(table) or _names_pictures(table, page) or any(table.box.holds(grid.box.center) for grid in grids)
        )
    ]
    rest = _without(rest, by_rows)
    tables = [*index, *spanning, *values, *grids, *by_rows]
    drawings = drawings_of(page, [table.box for table in tables], ruled.unused_rules)
    figures = figure_blocks(page, drawings, rest)
    labels = {word for figure in figures for line in figure.lines for word in line.words}
    rest = [word for word in rest if word not in labels]
    return regions_of(rest, [*tables, *figures, *outlined.on(page.number)])


def _value_tables(page: Page, words: Sequence[Word]) -> ValueTables:
    """Find the tables of values of a page; where one has a paragraph for a heading or for labels, in each half of the page's text there.

    In two columns a table stands beside text, whose lines would be its labels.
    """
    found = find_value_tables(page, words)
    left, right = min((word.box.x0 for word in words), default=0.0), max((word.box.x1 for word in words), default=0.0)
    middle = (left + right) / 2
    across = [
        table
        for table in found.tables
        if (has_paragraph_as_heading(table) or _has_labels_on_both_sides(table, middle))
        and is_beside_text([word for word in words if table.box.holds(word.box.center)], middle, right - left)
    ]
    if not across:
        return found
    parts = [[word for word in words if not any(table.box.holds(word.box.center) for table in across)]]
    for table in across:
        there = [word for word in words if table.box.holds(word.box.center)]
        parts += [[word for word in there if (word.box.center[0] < middle) == is_left] for is_left in (True, False)]
    halves = [find_value_tables(page, part) for part in parts]
    tables = [table for half in halves for table in half.tables if not has_paragraph_as_heading(table)]
    return replace(found, tables=tuple(tables), words=frozenset().union(*(half.words for half in halves)))


def _without_listings(found: ValueTables, words: Sequence[Word]) -> ValueTables:
    """Leave out tables that are some lines of a listing: in its font, with another line of it right above or below."""
    typed = [table for table in found.tables if all(_is_code(word) for cell in table.cells for word in cell.words)]
    if not typed:
        return found
    lines = [line for line in lines_of(word for word in words if word.level) if line.code]
    inside = [
        table
        for table in typed
        if any(
            -1.0 <= max(line.box.y0 - table.box.y1, table.box.y0 - line.box.y1) < _LISTING_GAP * line.size
            for line in lines
        )
    ]
    taken = {word for word in found.words if any(table.box.holds(word.box.center, 1.0) for table in inside)}
    return ValueTables(tuple(table for table in found.tables if table not in inside), found.words - taken)


def _is_code(word: Word) -> bool:
    return is_typewriter(word.font) and not word.bold


def _has_labels_on_both_sides(table: TableBlock, middle: float) -> bool:
    """Whether most rows have letters both left and right of the middle of the page's text."""
    sides: dict[int, set[bool]] = {row: set() for row in range(table.row_count)}
    for cell in table.cells:
        if not cell.header:
            sides[cell.row].update(
                word.box.center[0] < middle for word in cell.words if any(map(str.isalpha, word.text))
            )
    return 2 * sum(len(found) == 2 for found in sides.values()) > len(sides)


def _names_pictures(table: TableBlock, page: Page) -> bool:
    """Whether cells are what is written below the pictures of a figure: nearly each has one."""
    filled = sum(bool(cell.words) for cell in table.cells)
    # Those of the first row stand above its names.
    box = replace(table.box, y0=table.box.y0 - table.box.height / table.row_count)
    return sum(box.holds(image.center) for image in page.images) >= max(_MIN_PICTURES, _PICTURED * filled)


def _without(words: Sequence[Word], tables: Sequence[TableBlock]) -> list[Word]:
    taken = {word for table in tables for cell in table.cells for word in cell.words}
    taken.update(word for table in tables if table.caption for line in table.caption.lines for word in line.words)
    return [word for word in words if word not in taken]


def _with_aligned_tables(region: Region, page: Page, usual: LineStatistics) -> Region:
    found = find_aligned_tables(region.lines, page.number, page.fills, typed=usual.typed)
    tables = [table for table in found if not _names_pictures(table, page)]
    taken = {word for table in tables for cell in table.cells for word in cell.words}
    lines = tuple(line for line in region.lines if not taken.intersection(line.words))
    return replace(region, lines=lines, atoms=(*region.atoms, *tables))


def _with_captions(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    """Give each table the caption that stands right above it, or below it in a document whose numbered captions stand there."""
    if _captions_are_below(blocks):
        return _with_captions_below(blocks)
    result: list[PageBlock] = []
    for block in blocks:
        before = result[-1] if result else None
        if isinstance(block, TableBlock) and block.caption is None and (titles := _titles_above(result, block)):
            lines = tuple(line for title in titles for line in title.lines)
            caption = replace(titles[0], lines=lines, box=bounding_box(line.box for line in lines))
            result[-len(titles) :] = [replace(block, caption=caption)]
        elif (
            isinstance(block, TableBlock)
            and isinstance(before, TextBlock)
            and not block.index
            and block.caption is None
            and is_caption(before, block)
        ):
            result[-1] = replace(block, caption=before)
        else:
            result.append(block)
    return result


def _titles_above(blocks: Sequence[PageBlock], table: TableBlock) -> list[TextBlock]:
    """Return the bold titles that stand centred above a table, which reaches up to its unit between them and `(Unaudited)`."""
    top = min((word.box.y0 for cell in table.cells if cell.column for word in cell.words), default=table.box.y0)
    titles: list[TextBlock] = []
    for block in reversed(blocks):
        if not isinstance(block, TextBlock) or block.kind != "text" or block.page != table.page:
            break
        size = block.lines[-1].size
        is_centred = abs(block.box.center[0] - table.box.center[0]) < _OFF_CENTRE * size
        is_near = -1.0 <= top - block.box.y1 <= _TITLE_GAP * size and len(block.lines) <= _MAX_TITLE_LINES
        if not (is_centred and is_near and all(line.bold for line in block.lines)):
            break
        titles.insert(0, block)
        top = block.box.y0
    return titles if len(titles) > 1 and not _ASIDE.fullmatch(titles[0].lines[0].text) else []


def _captions_are_below(blocks: Sequence[PageBlock]) -> bool:
    """Whether more numbered captions have a table only above them than only below them."""
    above = below = 0
    for index, block in enumerate(blocks):
        if isinstance(block, TextBlock):
            after = blocks[index + 1] if index + 1 < len(blocks) else None
            before = blocks[index - 1] if index else None
            is_above = isinstance(after, TableBlock) and is_caption(block, after, numbered=True)
            is_below = isinstance(before, TableBlock) and is_caption(block, before, numbered=True, below=True)
            above += is_above and not is_below
            below += is_below and not is_above
    return below > above


def _with_captions_below(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    result: list[PageBlock] = []
    for index, block in enumerate(blocks):
        before = result[-1] if result else None
        if isinstance(block, TextBlock):
            is_numbered = isinstance(before, TableBlock) and is_caption(block, before, numbered=True, below=True)
            if isinstance(before, TableBlock) and is_numbered and not before.index and before.caption is None:
                result[-1] = replace(before, caption=block)
                continue
        elif isinstance(before, TextBlock) and not block.index and block.caption is None:
            after = blocks[index + 1] if index + 1 < len(blocks) else None
            is_numbered = isinstance(after, TextBlock) and is_caption(after, block, numbered=True, below=True)
            if not is_numbered and not names_figure(before) and is_caption(before, block):
                result[-1] = replace(block, caption=before)
                continue
        result.append(block)
    return result


def _across_pages(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    """Give tables that go on from the page before their header, and put paragraphs together that the end of a page or column cut."""
    joined: list[PageBlock] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if isinstance(block, TableBlock) and isinstance(before, TableBlock) and before.page == block.page - 1:
            if not (block.index or before.index or block.caption):
                block = continued(block, before)
                joined[-1], block = with_cut_row(before, block)
        elif isinstance(block, TextBlock) and (index := _cut(joined, block)) is not None:
            cut = joined[index]
            if isinstance(cut, TextBlock):
                joined[index] = replace(cut, tail=block)
                continue
        joined.append(block)
    return joined


def _cut(blocks: Sequence[PageBlock], block: TextBlock) -> int | None:
    """Return the index of the paragraph that a block goes on from: the last one, or the last one above notes, tables and figures.

    Notes stand at the foot of its column, and tables and figures at the top of the next one.
    """
    for index in range(len(blocks) - 1, max(-1, len(blocks) - 1 - _MAX_NOTES), -1):
        before = blocks[index]
        if isinstance(before, TableBlock) or before.kind == "figure" or names_figure(before):
            continue
        if _goes_on(before, block) and (before is blocks[-1] or _ends_full(before)):
            return index
        if before.tail is not None or not before.lines[0].size < _NOTE_SIZE * block.lines[0].size:
            return None
    return None


def _ends_full(block: TextBlock) -> bool:
    """Whether the last of several lines is about as long as the others."""
    return len(block.lines) > 1 and block.lines[-1].box.x1 >= block.box.x1 - _SHORTER * block.box.width


def _goes_on(before: TextBlock, block: TextBlock) -> bool:
    is_higher = before.page == block.page and block.box.y0 < before.lines[-1].box.y0
    in_next_column = is_higher and block.box.x0 > before.box.x1 and _ends_full(before)
    return (
        (before.page == block.page - 1 or in_next_column)
        and before.tail is None
        and before.kind in ("text", "list")
        and block.kind == "text"
        and block.lines[0].text[0].islower()
        and before.lines[-1].text[-1] not in ".:!?;"
        and before.lines[-1].font == block.lines[0].font
    )
