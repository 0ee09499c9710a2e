"""Chunks: never longer than the window, nothing lost, sections kept apart, tables with their header; and golden files.

`KGRAG_UPDATE_GOLDEN=1 pytest tests/documents/test_chunking.py` writes the golden files anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from kgrag.documents import Converted
from kgrag.documents.blocks import Block, Link, TableRow
from kgrag.documents.chunk_window import fit_title
from kgrag.documents.chunking import chunk_blocks
from kgrag.documents.html import blocks_of_html
from kgrag.documents.hybrid_chunker import _Tokenizer, docling_document
from kgrag.testing import HashingEmbedder
from kgrag.types import Chunk, Document, PageBox

GOLDEN = Path(__file__).parent / "golden"
MAX_TOKENS = 60
count_words = HashingEmbedder().count_tokens


def document(title: str = "X-100") -> Document:
    return Document(id="d", path="docs/a.html", title=title, sha256="", format="html")


def chunked(*blocks: Block, title: str = "X-100", max_tokens: int = MAX_TOKENS) -> tuple[Chunk, ...]:
    return chunk_blocks(document(title), blocks, count_tokens=count_words, max_tokens=max_tokens)


def h(text: str, level: int = 1, *anchors: str) -> Block:
    return Block("heading", text, level, anchors=anchors)


def p(text: str, *anchors: str, page: int | None = None, links: tuple[Link, ...] = ()) -> Block:
    return Block("paragraph", text, 0, page, page, anchors, links)


def table(header: tuple[str, ...] | None, *rows: tuple[str, ...]) -> Block:
    body = tuple(
        TableRow(row, (f"r{number}",), (Link(f"b.html#{number}", row[0], row[0]),)) for number, row in enumerate(rows)
    )
    links = tuple(link for row in body for link in row.links)
    return Block("table", links=links, header=TableRow(header) if header else None, rows=body)


def test_what_stands_under_one_heading_is_merged_and_sections_are_not() -> None:
    chunks = chunked(
        h("Power"), p("one"), p("two"), h("Power"), p("three"), h("Rails", 2), p("four"), h("End", 1), p("five")
    )
    assert [(chunk.headings, chunk.text) for chunk in chunks] == [
        (("Power",), "one\ntwo"),
        (("Power",), "three"),
        (("Power", "Rails"), "four"),
        (("End",), "five"),
    ]
    assert [chunk.position for chunk in chunks] == [0, 1, 2, 3]


def test_what_is_under_one_heading_is_counted_a_window_at_a_time() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text.split())

    paragraphs = [p(f"Valve {number} opens.") for number in range(3_000)]
    chunks = chunk_blocks(document(), [h("Valves"), *paragraphs], count_tokens=count, max_tokens=MAX_TOKENS)
    assert "\n".join(chunk.text for chunk in chunks) == "\n".join(block.text for block in paragraphs)
    assert max(counted) <= 20 * MAX_TOKENS


def test_what_announces_a_list_stands_with_it() -> None:
    words = "word " * 20
    item = Block("list_item", "It cannot restore what was never kept. " * 2)
    chunks = chunked(h("Limits"), p(words), p("The limits of it are:"), item, item, max_tokens=40)
    assert any(chunk.text.startswith("The limits of it are:\nIt cannot") for chunk in chunks)
    assert chunks[0].text == words
    before_rows = chunked(
        h("Limits"), p(words), p("The limits of it are:"), table(("Name", "Value"), ("a", "1 V " * 20)), max_tokens=40
    )
    assert before_rows[0].text.endswith("The limits of it are:"), "a table has its caption and its header"


def test_chunks_that_go_on_with_a_definition_begin_with_its_terms() -> None:
    more = "It is taken for each unit of its own and never for what lies below it in the tree of units"
    page = (
        f"<h1>Units</h1><dl><dt>weights<dd><dl><dt>-w<dd><p>A share.<p>with {more}.<p>{more}.</dl><dt>none<dd>Off.</dl>"
    )
    found = blocks_of_html(page, Path("a.html"), document_path="docs/a.html").blocks
    chunks = chunked(*found, max_tokens=40)
    assert [chunk.text.split(more)[0] for chunk in chunks] == [
        "weights:\n-w: A share.\nwith ",
        "weights: -w: ",
    ]
    assert chunks[-1].text.endswith(".\nnone: Off."), "within a chunk a term is not said again"
    assert all(count_words(chunk.prompted_text) <= 40 for chunk in chunks)


def test_terms_that_take_too_much_of_the_window_are_left_out_from_the_outermost() -> None:
    wide = "word " * 12
    block = Block("paragraph", "sentence one. " * 20, terms=(wide, "-w"))
    chunks = chunked(h("Units"), block, max_tokens=40)
    assert len(chunks) > 1
    assert all(chunk.text.startswith("-w: sentence one.") for chunk in chunks)


def test_headings_nest_by_level_whatever_levels_are_used() -> None:
    chunks = chunked(h("A", 3), h("B", 5), p("b"), h("C", 4), p("c"), h("D", 5), p("d"), h("E", 2), p("e"))
    assert [chunk.headings for chunk in chunks] == [("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)]


def test_a_heading_with_nothing_below_is_a_chunk_so_that_no_word_is_lost() -> None:
    chunks = chunked(h("Ratings"), h("3.3 V", 2), h("5 V", 2), p("text"), h("Last"))
    assert [(chunk.headings, chunk.text) for chunk in chunks] == [
        (("Ratings", "3.3 V"), "3.3 V"),
        (("Ratings", "5 V"), "text"),
        (("Last",), "Last"),
    ]


def test_headings_side_by_side_with_nothing_below_are_one_chunk_below_the_heading_above_them() -> None:
    chunks = chunked(
        h("Modules"), h("Pump", 2, "pump"), h("Valve", 2, "valve"), h("Tank", 2, "tank"), p("It holds 5 l."), h("End")
    )
    assert [(chunk.headings, chunk.text) for chunk in chunks] == [
        (("Modules",), "Pump\nValve"),
        (("Modules", "Tank"), "It holds 5 l."),
        (("End",), "End"),
    ]
    assert chunks[0].anchors == ("pump", "valve")


@pytest.mark.parametrize("words", range(30, 60, 3))
@pytest.mark.parametrize("kind", ["paragraph", "list_item"])
def test_no_chunk_ends_with_what_announces_the_listing_of_the_next(words: int, kind: str) -> None:
    code = Block("code", "\n".join(f"step {number}" for number in range(10)))
    lead = Block(kind, "- Start the pump like this:", 1)  # type: ignore[arg-type]
    chunks = chunked(p("word " * words), lead, code, p("It starts."))
    assert [chunk.text for chunk in chunks if chunk.text.endswith("this:")] == []


def test_a_listing_that_is_longer_than_a_window_is_cut_behind_what_announces_it() -> None:
    code = Block("code", "\n".join(f"step {number}" for number in range(100)))
    chunks = chunked(p("word " * 40), p("Start the pump like this:"), code)
    assert any(chunk.text.startswith("Start the pump like this:\nstep 0\nstep 1\n") for chunk in chunks)
    assert (
        " ".join(chunk.text for chunk in chunks).split()
        == ["word"] * 40 + f"Start the pump like this: {code.text}".split()
    )


@pytest.mark.parametrize("words", range(30, 60, 3))
def test_no_chunk_ends_with_the_name_of_an_item_that_the_next_one_describes(words: int) -> None:
    items = [
        Block("list_item", text, 1)
        for text in ("- Grid:", "  It shows when all are free.", "- Times:", "  They may be moved by hand.")
    ]
    chunks = chunked(p("word " * words), *items)
    assert [chunk.text for chunk in chunks if chunk.text.endswith(":")] == []


def test_tokens_and_windows_count_what_is_embedded() -> None:
    chunks = chunked(
        h("A heading of six whole words"), *(p(f"word{n} " * 17) for n in range(9)), title="A title of five words"
    )
    assert all(count_words(chunk.embedded_text) == chunk.tokens <= MAX_TOKENS for chunk in chunks)
    assert max(chunk.tokens for chunk in chunks) > MAX_TOKENS // 2


def test_a_long_table_repeats_its_header_and_loses_no_row() -> None:
    rows = [(f"Parameter {number}", f"{number}.3 V", "at 25 °C") for number in range(40)]
    chunks = chunked(h("Ratings"), table(("Name", "Value", "Condition"), *rows))
    assert len(chunks) > 5
    seen = []
    for chunk in chunks:
        head, rule, *body = chunk.text.splitlines()
        assert (head, rule) == ("| Name | Value | Condition |", "| --- | --- | --- |")
        seen.extend(tuple(cell.strip() for cell in line.strip("|").split("|")) for line in body)
        assert set(chunk.anchors) == {f"r{cell[10:]}" for cell, *_ in [line.strip("| ").split(" |") for line in body]}
        assert [link.anchor for link in chunk.links] == [line.strip("| ").split(" |")[0] for line in body]
    assert seen == rows


def test_a_row_that_fills_a_window_alone_becomes_text_with_its_column_names() -> None:
    chunks = chunked(table(("Name", "Note"), ("VDD", "3.3 V"), ("VIN", "word " * 100), ("GND", "0 V")))
    assert chunks[0].text.endswith("| VDD | 3.3 V |")
    assert all(chunk.text.startswith("Name: VIN\n") for chunk in chunks[1:-1])
    assert chunks[1].text.startswith("Name: VIN\nNote: word word")
    assert chunks[-1].text.endswith("| GND | 0 V |")
    assert sum(chunk.text.count("word") for chunk in chunks) == 100


def test_a_cell_is_cut_between_sentences_and_says_its_column_again() -> None:
    told = [f"Sentence {number} tells how the {number} boxes are closed at night." for number in range(12)]
    chunks = chunked(table(("Name", "Note"), ("VIN", " ".join(told))))
    lines = [chunk.text.splitlines() for chunk in chunks]
    assert len(lines) > 2
    assert all(name == "Name: VIN" and note.startswith("Note: Sentence") for name, note in lines)
    assert " ".join(note.removeprefix("Note: ") for _, note in lines) == " ".join(told)
    assert all(note.endswith("night.") for _, note in lines)
    plain = chunked(table(None, ("VIN", "Note: " + " ".join(told))))
    assert [chunk.text.count("Note: ") for chunk in plain] == [1] + [0] * (len(plain) - 1)


def test_a_table_of_thousands_of_columns_is_counted_once_and_not_again_with_each_cell_and_row() -> None:
    names = tuple(f"c{number}" for number in range(3000))
    rows = [tuple(f"{row}.{number}" for number in range(3000)) for row in range(5)]
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count_words(text)

    chunks = chunk_blocks(document(), [table(names, *rows)], count_tokens=count, max_tokens=254)
    said = "\n".join(chunk.text for chunk in chunks)
    assert all(f"c{number}: {row}.{number}" in said for row in range(5) for number in (0, 1, 1499, 2999))
    assert counted < 8 * len(said)


def test_a_table_without_column_headings_has_blank_ones() -> None:
    (chunk,) = chunked(table(None, ("VDD | IO", "3.3 V")))
    assert chunk.text == "|  |  |\n| --- | --- |\n| VDD \\| IO | 3.3 V |"


def test_pages_are_those_of_the_content() -> None:
    chunks = chunked(
        Block("heading", "Power", 1, 1, 1), p("one", page=2), p("two", page=3), Block("heading", "Last", 1, 4, 4)
    )
    assert [(chunk.page_start, chunk.page_end) for chunk in chunks] == [(2, 3), (4, 4)]
    assert (chunked(p("one"))[0].page_start, chunked(p("one"))[0].page_end) == (None, None)


def test_ids_are_where_their_content_is() -> None:
    chunks = chunked(
        h("Power", 1, "s", "power"),
        h("Rails", 2, "s", "rails"),
        p("one", "s", "x"),
        p("long " * 53, "s", "y"),
        h("More", 2, "more"),
        p("two", "s"),
    )
    assert [chunk.anchors for chunk in chunks] == [("s", "power", "rails", "x"), ("s", "rails", "y"), ("more", "s")]


def test_a_link_is_in_the_chunk_that_has_its_words_and_only_there() -> None:
    links = tuple(Link(f"b.html#{name}", name, "context") for name in ("alpha", "omega"))
    heading = Block("heading", "See alpha", 1, links=(Link("c.html", "alpha", "See alpha"),))
    chunks = chunked(heading, p("alpha " + "word " * 120 + "omega", links=links))
    assert [(link.href, link.position) for link in chunks[0].links] == [("c.html", 0), ("b.html#alpha", 1)]
    assert [[link.href for link in chunk.links] for chunk in chunks[1:-1]] == [[] for _ in chunks[1:-1]]
    assert [link.href for link in chunks[-1].links] == ["b.html#omega"]


def test_a_heading_that_is_a_paragraph_is_read_as_one() -> None:
    chunks = chunked(h("word " * 80), p("text"))
    assert {chunk.headings for chunk in chunks} == {()}
    assert sum(chunk.text.count("word") for chunk in chunks) == 80


def test_deep_paths_give_up_their_outer_headings_first() -> None:
    chunks = chunked(*(h(f"heading number {level} of this deep path", level) for level in range(1, 9)), p("text"))
    assert chunks[0].headings[-1] == "heading number 8 of this deep path"
    assert 1 <= len(chunks[0].headings) < 8
    assert chunks[0].tokens <= MAX_TOKENS // 2 + 2


@pytest.mark.parametrize("title", ["word " * 300, "x" * 5000, "日" * 400, "a\n\n b ", ""])
def test_titles_fit_a_quarter_of_the_window(title: str, count_tokens: Callable[[str], int]) -> None:
    fitted = fit_title(title, count_tokens=count_tokens, max_tokens=254)
    assert count_tokens(fitted) <= 254 // 4
    assert "\n" not in fitted


@pytest.mark.parametrize(
    "text", ["x" * 300_000, "3.3V," * 50_000, "日" * 60_000, ("-" * 500 + " ") * 100, "a\n" * 5000]
)
def test_text_without_places_to_split_is_split_all_the_same(text: str, count_tokens: Callable[[str], int]) -> None:
    chunks = chunk_blocks(document(), [p(text)], count_tokens=count_tokens, max_tokens=254)
    assert max(count_tokens(chunk.embedded_text) for chunk in chunks) <= 254
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(text.split())


some_words = ["3.3 V", "X-1000", "sensor.", "260 – 1260 hPa", "日本", "a", "|", "----"]
words = st.lists(st.sampled_from(some_words), min_size=1, max_size=60).map(" ".join)
some_blocks = st.lists(
    st.one_of(
        st.builds(h, words, st.integers(0, 7)),
        st.builds(p, words),
        st.builds(lambda text: Block("list_item", f"- {text}", 1), words),
        st.builds(lambda text: Block("code", text.replace(" ", "\n")), words),
        st.lists(st.tuples(words, words), min_size=1, max_size=6).map(lambda rows: table(("A", "B"), *rows)),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(some_blocks, words)
def test_no_chunk_is_too_long_and_no_word_is_lost(blocks: list[Block], title: str) -> None:
    chunks = chunked(*blocks, title=fit_title(title, count_tokens=count_words, max_tokens=MAX_TOKENS))
    assert all(count_words(chunk.embedded_text) <= MAX_TOKENS for chunk in chunks)
    everything = " ".join(" ".join((*chunk.headings, chunk.text)) for chunk in chunks)
    for block in blocks:
        for word in " ".join(block.lines).split():
            assert word.strip("|") in everything
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_hybrid_is_doclings_chunker_as_it_is_shipped_on_a_real_document() -> None:
    blocks = (
        h("Power"),
        p("The board takes 5 V. " * 5),
        Block("list_item", "- 2x I2C", 1),
        Block("list_item", "  - 400 kHz", 2),
        table(("Name", "Value"), ("VDD", "3.3 V"), ("VIN", "5 V")),
        h("Rails", 2),
        p("four", "x"),
    )
    chunks = chunk_blocks(document(), blocks, count_tokens=count_words, max_tokens=MAX_TOKENS, chunker="hybrid")
    written, _ = docling_document(blocks)
    tokenizer = _Tokenizer(counter=count_words, limit=MAX_TOKENS - 1)
    shipped = list(HybridChunker(tokenizer=tokenizer, always_emit_headings=True).chunk(written))
    assert [chunk.text for chunk in chunks] == [chunk.text for chunk in shipped]
    assert "VDD, Value = 3.3 V" in chunks[-2].text
    assert [chunk.headings for chunk in chunks[-2:]] == [("Power",), ("Power", "Rails")]
    assert chunks[-1].anchors == ("x",)
    assert [link.anchor for chunk in chunks for link in chunk.links] == ["VDD", "VIN"]


def test_places_go_through_tables_and_packing() -> None:
    def at(top: float) -> PageBox:
        return PageBox(page=3, left=72, top=top, right=300, bottom=top + 10)

    rows = tuple(TableRow((f"Parameter {number}", "3.3 V"), box=at(100.0 + 10 * number)) for number in range(30))
    header = TableRow(("Name", "Value"), box=at(90))
    blocks = [
        Block("heading", "Ratings", 1, 3, 3, boxes=(at(50),)),
        Block("paragraph", "All at 25 °C.", 0, 3, 3, boxes=(at(70),)),
        Block("table", "", 0, 3, 3, header=header, rows=rows, boxes=(at(90).model_copy(update={"bottom": 400}),)),
    ]
    text, *tables = chunk_blocks(document(), blocks, count_tokens=count_words, max_tokens=MAX_TOKENS)
    assert text.boxes == (at(50), at(70))
    places = [chunk.boxes[-1] for chunk in tables]
    assert {place.top for place in places} == {90}  # each part has the column headings
    assert [place.bottom for place in places] == sorted({place.bottom for place in places})
    assert places[0].bottom < places[-1].bottom == 400


@pytest.mark.parametrize("name", ["manual.html", "datasheet.md"])
def test_chunks_are_as_in_the_golden_file(name: str, convert: Callable[..., Converted]) -> None:
    converted = convert(f"boards/X-100/{name}", (GOLDEN / name).read_bytes())
    found = "".join(f"{chunk.model_dump_json(indent=1)}\n" for chunk in converted.chunks)
    golden = GOLDEN / f"{name}.chunks.json"
    if os.environ.get("KGRAG_UPDATE_GOLDEN") == "1":
        golden.write_text(found)
    assert found == golden.read_text(), "chunks changed: if that is wanted, run again with KGRAG_UPDATE_GOLDEN=1"


def test_further_parts_of_a_table_repeat_its_caption_and_the_first_does_not() -> None:
    rows = [(f"Item {number}", f"{number},000") for number in range(40)]
    whole = table(("(in millions)", "2023"), *rows)
    captioned = Block("table", "Net sales by item", header=whole.header, rows=whole.rows, links=whole.links)
    texts = [chunk.text for chunk in chunked(h("Sales"), p("Net sales by item"), captioned)]
    assert len(texts) > 2
    assert all(text.count("Net sales by item") == 1 for text in texts)
    assert all("| (in millions) | 2023 |" in text for text in texts)
    assert [row for text in texts for row in text.splitlines() if "Item" in row] == [f"| {a} | {b} |" for a, b in rows]


def test_further_parts_of_a_table_repeat_the_row_that_heads_their_first_one() -> None:
    rows = [
        row
        for year in ("2025", "2024")
        for row in ((year, "", ""), *((f"Item {number}", f"{year}{number}", "7") for number in range(30)))
    ]
    rows += [("Total", "1", "2"), *((f"Note {number}", "3", "4") for number in range(30))]
    texts = [chunk.text for chunk in chunked(h("Sales"), table(("Sales", "East", "West"), *rows))]
    first = [text.splitlines()[2] for text in texts if text.startswith("| Sales")]
    assert len(first) > 5
    heads = ["| 2025 |  |  |", "| 2024 |  |  |"]
    for text in texts:
        head = ""
        for line in text.splitlines()[2:]:
            head = line if line in heads else head
            if line.startswith("| Item"):
                assert head == next(one for one in heads if one[2:6] in line)
    assert first[-1].startswith("| Note")


@given(st.lists(st.lists(st.text("abc. \n", min_size=1, max_size=1800), max_size=4), min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_recursive_parts_keep_to_their_section_and_length_and_give_its_text_back(sections: list[list[str]]) -> None:
    written = [
        ["\n".join(line for line in text.splitlines() if line.strip()).strip() for text in one] for one in sections
    ]
    blocks = []
    for number, texts in enumerate(written):
        blocks += [h(f"Section {number}"), *(p(text, f"b{number}") for text in texts if text)]
    chunks = chunk_blocks(document(), blocks, count_tokens=len, max_tokens=10_000, chunker="recursive")
    for number, texts in enumerate(written):
        own = [chunk for chunk in chunks if chunk.headings == (f"Section {number}",)]
        whole = "\n".join(text for text in texts if text)
        if not whole:
            assert [chunk.text for chunk in own] == [f"Section {number}"]
            continue
        place = 0
        for chunk in own:
            assert len(chunk.text) <= 1000
            start = whole.find(chunk.text, max(0, place - 150))
            assert start >= 0 and not whole[place:start].strip(), (
                "nothing is lost, and at most 150 characters are repeated"
            )
            place = start + len(chunk.text)
        assert not whole[place:].strip()


def test_a_link_is_in_the_recursive_part_that_has_its_words() -> None:
    link = Link("b.html#rails", "the rails page", "See the rails page.")
    filler = "The supply is stable and quiet here. " * 40
    block = p(filler + "See the rails page. " + filler, "power", links=(link,))
    chunks = chunk_blocks(document(), [h("Power"), block], count_tokens=len, max_tokens=10_000, chunker="recursive")
    assert len(chunks) > 3
    with_link = [chunk for chunk in chunks if chunk.links]
    assert len(with_link) == 1 and "the rails page" in with_link[0].text
    assert all(chunk.anchors == ("power",) for chunk in chunks)


page_texts = st.lists(st.lists(st.text("abc. \n", min_size=1, max_size=1800), max_size=3), min_size=1, max_size=4)


@given(page_texts, st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_parts_of_pages_keep_to_one_page_and_length_and_give_its_text_back(
    pages: list[list[str]], headed: bool
) -> None:
    written = [[" ".join(text.split()) for text in one] for one in pages]
    blocks = []
    for number, texts in enumerate(written, start=1):
        heading = [Block("heading", f"Part {number}", 1, number, number)] if headed else []
        blocks += [*heading, *(p(text, page=number) for text in texts if text)]
    chunks = chunk_blocks(document(), blocks, count_tokens=len, max_tokens=10_000, chunker="pages")
    assert all(chunk.page_start == chunk.page_end for chunk in chunks)
    for number, texts in enumerate(written, start=1):
        whole = "\n".join([*([f"Part {number}"] if headed else []), *(text for text in texts if text)])
        place, starts = 0, [-1]
        for chunk in (chunk for chunk in chunks if chunk.page_start == number):
            assert len(chunk.text) <= 1000
            start = whole.find(chunk.text, max(0, place - 200))
            assert start >= 0 and not whole[place:start].strip(), "no gap, and at most 200 characters are repeated"
            assert start > starts[-1]
            starts.append(start)
            place = start + len(chunk.text)
            if any(sign.isspace() for sign in chunk.text[1:] + whole[place : place + 1]):
                assert not whole[place : place + 1].strip() or whole[place - 1] in ". \n", "words stay whole"
        assert not whole[place:].strip()


def test_a_sentence_over_a_page_break_is_in_one_chunk_with_both_pages_or_in_one_of_each_page(
    sheet_path: Path, convert: Callable[..., Converted]
) -> None:
    canvas = Canvas(str(sheet_path), pagesize=A4)
    first = [
        "The controller reads up to eight sensors and keeps the readings",
        "through a power failure of any length, which the",
    ]
    for place, line in enumerate(first):
        canvas.drawString(72, 130 - 14 * place, line)
    canvas.showPage()
    canvas.drawString(72, 750, "watchdog tells from a restart by hand.")
    canvas.save()

    (chunk,) = convert(sheet_path.name).chunks
    assert (chunk.page_start, chunk.page_end) == (1, 2)
    assert "any length, which the watchdog tells" in chunk.text
    before, after = convert(sheet_path.name, chunker="pages").chunks
    assert [(one.page_start, one.page_end) for one in (before, after)] == [(1, 1), (2, 2)]
    assert (before.text, after.text) == (" ".join(first), "watchdog tells from a restart by hand.")
    assert [{box.page for box in one.boxes} for one in (before, after)] == [{1}, {2}]


@pytest.fixture
def sheet_path(tmp_path: Path) -> Path:
    return tmp_path / "a.pdf"


def test_lines_that_head_a_paragraph_stand_with_it() -> None:
    said = "It is the number of calls that are taken at once; the rest waits for its turn outside"
    chunks = chunked(
        h("Settings"), p(" ".join(["words"] * 40) + "."), p("max_calls"), p("Type: integer"), p("Default: 20."), p(said)
    )
    assert chunks[1].text == f"max_calls\nType: integer\nDefault: 20.\n{said}"


def test_lines_that_head_nothing_are_lost_nowhere() -> None:
    lines = [f"line {number}" for number in range(40)]
    chunks = chunked(h("Index"), *map(p, lines), max_tokens=30)
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == lines


@pytest.mark.parametrize("words", range(20, 50, 3))
def test_the_short_end_of_a_definition_stands_with_what_it_ends(words: int) -> None:
    said = (
        "CommTimeout: " + " ".join(["word"] * words) + ".",
        "How long it waits before it looks again.",
        "Default is 30.",
    )
    chunks = chunked(h("Settings"), *(Block("paragraph", text, terms=("CommTimeout",)) for text in said))
    assert chunks[-1].text.endswith("How long it waits before it looks again.\nDefault is 30.")


@pytest.mark.parametrize("words", range(20, 50, 3))
def test_a_line_that_is_announced_heads_nothing(words: int) -> None:
    said = "Here is more that is said of it, and it says nothing of what was shown above it."
    chunks = chunked(
        h("Settings"),
        p(" ".join(["word"] * words) + "."),
        p("The link is renamed to this:"),
        p("/var/current -> 27"),
        p(said),
    )
    (shown,) = [chunk.text for chunk in chunks if "/var/current" in chunk.text]
    assert "The link is renamed to this:\n/var/current -> 27" in shown


@pytest.mark.parametrize("words", range(20, 50, 3))
@pytest.mark.parametrize("terms", [True, False])
def test_a_property_behind_a_description_is_of_it_and_heads_nothing(words: int, terms: bool) -> None:
    blocks = []
    for name, value in (("idle_timeout", "300"), ("listen_port", "21")):
        of = (name,) if terms else ()
        blocks += [] if terms else [p(name)]
        blocks += [
            Block("paragraph", " ".join([name] * words) + ".", terms=of),
            Block("paragraph", f"Default: {value}", terms=of),
        ]
    chunks = chunked(h("Options"), *blocks)
    (with_first,) = [chunk.text for chunk in chunks if "Default: 300" in chunk.text]
    assert with_first.partition("Default: 300")[0].count("idle_timeout") >= words // 2


@pytest.mark.parametrize("words", range(20, 50, 3))
def test_a_long_caption_stands_with_its_table(words: int) -> None:
    caption = "What was lost on loans in each of the years (in thousands of dollars)"
    losses = replace(table(("", "2024", "2023"), ("Losses", "17", "12")), text=caption)
    chunks = chunked(h("Results"), p(" ".join(["word"] * words) + "."), p(caption), losses)
    (shown,) = [chunk.text for chunk in chunks if "| 17 |" in chunk.text]
    assert shown.index(caption) < shown.index("| 17 |")
