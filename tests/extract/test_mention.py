from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from kgrag.extract.base import Extractor
from kgrag.extract.mention import MentionExtractor
from kgrag.types import Chunk, Document, Extraction, content_id


def document(title: str, product: str | None = None) -> Document:
    return Document(id=content_id(title), path=f"{title}.md", title=title, sha256="0", format="md", product=product)


def chunk(title: str, text: str, *, headings: Sequence[str] = (), position: int = 0) -> Chunk:
    return Chunk(
        id=content_id(title, str(position), text),
        document_id=content_id(title),
        source_id=title,
        position=position,
        title=title,
        headings=tuple(headings),
        text=text,
        tokens=len(text.split()),
    )


def extract(chunks: Sequence[Chunk], *, products: Sequence[str] = ()) -> list[Extraction]:
    extractor = MentionExtractor()
    extractor.prepare([document(c.title, c.title if c.title in products else None) for c in chunks], chunks)
    return [extractor.read(c) for c in chunks]


def named(extraction: Extraction) -> dict[str, tuple[str, str]]:
    return {entity.name: (entity.type, entity.role) for entity in extraction.entities}


def said(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(relation.head.name, relation.type, relation.tail.name) for relation in extraction.relations}


X100 = chunk(
    "X-100", "The X-100 is a microcontroller board. It features the LPS22HB and runs at 64 MHz.", headings=["Overview"]
)
X1000 = chunk("X-1000", "The X-1000 replaces the X-100. It uses a lps22hb too.", headings=["Overview"])


def test_the_extractor_keeps_its_contract() -> None:
    assert isinstance(MentionExtractor(), Extractor)


def test_a_title_that_is_a_word_as_any_is_named_by_its_own_document_alone() -> None:
    mail = chunk("message", "The pump stops. What is to be done?")
    manuals = [chunk(f"Pump {n}", "Each message says which pump sent it.") for n in "ABC"]
    own, *others = extract([mail, *manuals])
    assert named(own)["message"] == ("Title", "title")
    assert all("message" not in named(other) for other in others)
    daemon = chunk("pumpd", "The daemon pumpd asks each pump; pumpd is a server.")
    _, other = extract([daemon, chunk("Notes", "Start pumpd first, then the server.")])
    assert named(other)["pumpd"] == ("Title", "mention")


def test_two_small_words_are_no_term_that_is_one_word() -> None:
    texts = ["We keep a TODO there.", "Look at the TODO here.", "It says in the TODO how."]
    chunks = [chunk("Notes", text, headings=[f"Part {n}"], position=n) for n, text in enumerate(texts)]
    *_, last = extract([*chunks, chunk("Notes", "There is much to do.", headings=["Part 9"], position=9)])
    assert "TODO" in named(extract(chunks)[0])
    assert named(last).keys() == {"Notes"}


def test_what_stands_for_something_else_is_no_name() -> None:
    texts = [
        "Read DS20.XXXX there.",
        "Open the file XXXX now.",
        "Write it to XXXX or NN, never to OWFS.",
        "Use OWFS or XXXX.",
    ]
    chunks = [
        chunk("Notes", text, headings=[f"Part {n}"], position=n) for n, text in enumerate([*texts, "It is in OWFS."])
    ]
    assert {name for one in extract(chunks) for name in named(one)} == {"Notes", "OWFS"}


def test_titles_are_found_in_other_chunks_as_these_write_them() -> None:
    first, second = extract([X100, X1000], products=["X-100", "X-1000"])
    assert named(first)["X-100"] == ("Product", "title")
    assert named(second)["X-100"] == ("Product", "mention")
    assert named(second)["lps22hb"] == ("Part", "mention")
    assert {e.normal for e in first.entities} & {e.normal for e in second.entities} == {"x100", "lps22hb"}


def test_names_that_differ_in_a_number_are_two_things() -> None:
    first, second = extract([X100, X1000], products=["X-100", "X-1000"])
    assert "x1000" not in {e.normal for e in first.entities}
    assert ("X-1000", "REPLACES", "X-100") in said(second)


def test_sentences_become_relations_with_the_sentence_that_says_them() -> None:
    first, _ = extract([X100, X1000], products=["X-100", "X-1000"])
    assert said(first) >= {
        ("X-100", "IS_A", "microcontroller board"),
        ("X-100", "HAS_PART", "LPS22HB"),
        ("X-100", "HAS_VALUE", "64 MHz"),
    }
    assert {r.description for r in first.relations if r.type == "IS_A"} == {"The X-100 is a microcontroller board."}


def test_what_is_denied_is_not_said() -> None:
    (extraction, _) = extract([chunk("X-100", "The X-100 does not support the LPS22HB."), X1000])
    assert said(extraction) == set()


def test_table_rows_give_values_with_their_unit() -> None:
    table = "| Parameter | Min | Max | Unit |\n|---|---|---|---|\n| Supply voltage | 3.0 | 3.6 | V |\n| Clock | | 64 MHz | |"
    (extraction,) = extract([chunk("X-100", table)], products=["X-100"])
    assert said(extraction) >= {
        ("X-100", "HAS_VALUE", "3.0 V"),
        ("X-100", "HAS_VALUE", "3.6 V"),
        ("X-100", "HAS_VALUE", "64 MHz"),
    }
    assert "Parameter: Supply voltage; Min: 3.0; Max: 3.6; Unit: V" in {r.description for r in extraction.relations}


def test_a_row_about_a_part_is_said_of_the_part() -> None:
    table = "| Part | Supply |\n|---|---|\n| LPS22HB | 1.8 V |"
    (extraction,) = extract([chunk("X-100", table)], products=["X-100"])
    assert said(extraction) == {("LPS22HB", "HAS_VALUE", "1.8 V")}


def test_a_column_headed_by_a_thing_is_about_that_thing() -> None:
    table = "| Property | X-100 Rev 3 | X-1000 |\n|---|---|---|\n| Standby | 0.5 mA | 5 mA |"
    (extraction, _) = extract([chunk("X-1000", table), X100], products=["X-100", "X-1000"])
    assert said(extraction) == {("X-100", "HAS_VALUE", "0.5 mA"), ("X-1000", "HAS_VALUE", "5 mA")}


def test_a_name_and_value_line_is_a_fact_of_the_document() -> None:
    (extraction,) = extract([chunk("X-100", "Supply voltage: 3.3 V")], products=["X-100"])
    assert said(extraction) == {("X-100", "HAS_VALUE", "3.3 V")}


def test_a_heading_is_no_thing_but_a_chunk_is_about_what_its_headings_name() -> None:
    chunks = [
        chunk("X-100", "Some text.", headings=["Features", "4.2 Pressure Sensing by LPS22HB"]),
        chunk("X-1000", "Other text of the LPS22HB.", headings=["Features", "4.1 Output Stage Wiring"]),
    ]
    first, second = extract(chunks, products=["X-100", "X-1000"])
    assert named(first) == {"X-100": ("Product", "title"), "LPS22HB": ("Part", "title")}
    assert named(second) == {"X-1000": ("Product", "title"), "LPS22HB": ("Part", "mention")}
    assert said(first) == set()


def pages(*texts: str, title: str = "Flasher manual") -> list[Chunk]:
    """The chunks of a manual, each with a section of its own."""
    return [chunk(title, text, headings=[f"Section {i}"], position=i) for i, text in enumerate(texts)]


def test_a_manual_says_of_a_setting_what_it_is_by_default_and_since_when_it_is_there() -> None:
    chunks = pages(
        "max_idle (default: 100s): The maximal time.\nThis feature is available in Flasher 2.3 and later.\nflasher.conf, write(8)",
        "See the max_idle parameter in flasher.conf. The write(8) daemon reads the flasher.conf file. Call write(8).",
    )
    first, second = extract(chunks)
    assert said(first) == {("max_idle", "HAS_DEFAULT", "100s"), ("max_idle", "AVAILABLE_SINCE", "Flasher 2.3")}
    assert said(second) == {
        ("max_idle", "IS_A", "parameter"),
        ("max_idle", "CONFIGURED_IN", "flasher.conf"),
        ("write(8)", "IS_A", "daemon"),
        ("flasher.conf", "IS_A", "file"),
    }


def test_a_default_on_a_line_of_its_own_is_that_of_the_setting_before_and_never_the_manuals() -> None:
    sections = {
        "List": "max_idle: How long the Flasher waits. Default: 100 seconds (more by night).",
        "max_idle": "How many may wait.\nDefault: 50.",
        "MinIdle": "Default: MinIdle 5\nMAXWAIT: In all.\nDefault: 7\nSet MinIdle.",
        "Others": "max_idle: How long.\nDefault: 3 * the time of a pump (5 s).",
        "Options": "- `--fast`: Be fast.\nDefault: 20 seconds",
        "low_water": "How many.\nDefault: None\nIt is less than MinIdle.",
        "More": "The low_water of the MinIdle.",
    }
    found = extract(
        [
            chunk("Flasher", text, headings=["Settings", heading], position=n)
            for n, (heading, text) in enumerate(sections.items())
        ]
    )
    assert set().union(*map(said, found)) == {
        ("max_idle", "HAS_DEFAULT", "100 seconds"),
        ("max_idle", "HAS_DEFAULT", "50"),
        ("MinIdle", "HAS_DEFAULT", "5"),
    }


@pytest.mark.parametrize("word", ["w", "_", "A-1", "é", "aGVsbG8/+9x"])
def test_a_picture_that_is_written_in_letters_is_read_once_and_not_from_each_letter(word: str) -> None:
    """In seconds of processor time: at a word of 200,000 letters, from each of them, it was minutes."""
    text = f"max_idle (default: 100s)\n{word * (200_000 // len(word))} ends."
    began = time.process_time()
    first, _ = extract(pages(text, "The max_idle value."))
    assert time.process_time() - began < 20
    assert said(first) == {("max_idle", "HAS_DEFAULT", "100s")}


def test_what_a_group_of_settings_has_in_common_is_not_said_of_the_one_before() -> None:
    chunks = pages("max_idle (default: 100s)\nAvailable in Flasher version 2.3 and later:", "The max_idle value.")
    assert said(extract(chunks)[0]) == {("max_idle", "HAS_DEFAULT", "100s")}


def test_an_identifier_is_found_only_as_it_is_written() -> None:
    _, second = extract(pages("Set max_idle here.", "The max idle of max_idle and /etc/max_idle/x."))
    assert [e.name for e in second.entities if e.type == "Identifier"] == ["max_idle"]


def test_rows_of_a_long_manual_are_not_said_of_its_product() -> None:
    table = "| Device | Flash |\n|---|---|\n| first | 19456 bytes |"
    manual = pages(*["The Flasher writes memories."] * 120, table)
    assert said(extract(manual, products=["Flasher manual"])[-1]) == set()


def test_the_pages_of_a_manual_are_not_about_its_product() -> None:
    extractor = MentionExtractor()
    titles = [f"Flasher page {i}" for i in range(5)]
    chunks = [chunk(title, "Flasher.\nTime limit: 300 s") for title in titles]
    extractor.prepare([document(title, "Flasher") for title in titles], chunks)
    assert said(extractor.read(chunks[0])) == {("Flasher", "DOCUMENTED_IN", "Flasher page 0")}


@pytest.mark.parametrize(
    ("text", "is_said"),
    [("See /opt/share/doc and opt-in rules.", False), ("The OPT runs.", True), ("Of /opt: the opt/2 runs.", False)],
)
def test_a_folder_that_most_documents_do_not_name_is_no_product(text: str, is_said: bool) -> None:
    extractor = MentionExtractor()
    titles = [f"Flasher page {i}" for i in range(5)]
    chunks = [chunk(title, text) for title in titles]
    extractor.prepare([document(title, "opt") for title in titles], chunks)
    assert (("opt", "DOCUMENTED_IN", "Flasher page 0") in said(extractor.read(chunks[0]))) == is_said


def test_a_product_that_a_title_names_is_one_whatever_its_pages_say() -> None:
    extractor = MentionExtractor()
    titles = ["The X 100", *(f"Page {i}" for i in range(5))]
    chunks = [chunk(title, "Press the button.") for title in titles]
    extractor.prepare([document(title, "x-100") for title in titles], chunks)
    assert ("x-100", "DOCUMENTED_IN", "Page 4") in said(extractor.read(chunks[-1]))


def test_opinions_are_no_classes() -> None:
    text = "The X-100 is a natural place to begin. The X-100 is a good option."
    assert said(extract([chunk("X-100", text)])[0]) == set()


def test_a_verb_is_said_of_the_thing_only_where_nothing_leads_away() -> None:
    text = (
        "The X-100 team uses the LPS22HB. The X-100 board features the nRF52840 processor. The X-100 stores data of the LPS22HB. "
        "The X-100 supports writing to the LPS22HB."
    )
    assert said(extract([chunk("X-100", text), X1000])[0]) == {
        ("X-100", "HAS_PART", "nRF52840"),
        ("nRF52840", "IS_A", "processor"),
    }


def test_a_product_is_documented_in_its_document() -> None:
    extractor = MentionExtractor()
    extractor.prepare([document("X-100 datasheet", "X-100")], [chunk("X-100 datasheet", "Text.")])
    extraction = extractor.read(chunk("X-100 datasheet", "Text."))
    assert said(extraction) == {("X-100", "DOCUMENTED_IN", "X-100 datasheet")}


def test_a_title_is_found_without_its_parenthesis_where_that_is_unambiguous() -> None:
    chunks = [
        chunk("Theodred II (Bishop of Elmham)", "A medieval bishop."),
        chunk("Changed It (song)", "A song."),
        chunk("Changed It (album)", "An album."),
        chunk("Elmham", "Theodred II lived there. Changed It is a song."),
    ]
    found = extract(chunks)[-1]
    assert {e.normal for e in found.entities if e.type == "Title"} == {"elmham", "theodrediibishopofelmham"}


def test_a_title_that_is_an_ordinary_word_is_matched_only_with_its_capital_inside_a_sentence() -> None:
    text = "Due to its size it is due. Payments are due, due and due. Due dates are due; it is due."
    chunks = [chunk("Due", "An Arduino board."), chunk("Other", f"{text} The Due is a board.")]
    found = [e for e in extract(chunks)[1].entities if e.normal == "due"]
    assert [e.name for e in found] == ["Due"]
    assert not [e for e in extract([chunks[0], chunk("Other", text)])[1].entities if e.normal == "due"]


def test_rows_of_pins_are_not_part_numbers() -> None:
    pins = " ".join(f"GPIO{n}" for n in range(20))
    (extraction,) = extract([chunk("X-100", f"Pins {pins} and the LPS22HB.")])
    assert [e.name for e in extraction.entities if e.type == "Part"] == ["LPS22HB"]


def test_a_chunk_that_names_nothing_is_empty() -> None:
    assert extract([chunk("", "nothing here to see")])[0].state == "empty"


def test_names_are_as_written_in_the_chunk() -> None:
    for extraction, source in zip(extract([X100, X1000]), [X100, X1000], strict=True):
        assert all(e.name in source.text or e.name == source.title for e in extraction.entities)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_corpus_does_not_matter(seed: int) -> None:
    chunks = [
        chunk(f"Board {n}", f"Board {n} connects to Board {n + 1} and the BME68{n} by Acme Sensors.", position=n)
        for n in range(8)
    ]
    documents = [document(c.title) for c in chunks]
    straight, shuffled = MentionExtractor(), MentionExtractor()
    straight.prepare(documents, chunks)
    random.Random(seed).shuffle(documents)
    mixed = random.Random(seed).sample(chunks, len(chunks))
    shuffled.prepare(documents, mixed)
    assert straight.fingerprint == shuffled.fingerprint
    assert [straight.read(c).digest for c in chunks] == [shuffled.read(c).digest for c in chunks]


def test_the_fingerprint_follows_the_names_of_the_corpus() -> None:
    one, two = MentionExtractor(), MentionExtractor()
    one.prepare([document("X-100")], [X100])
    two.prepare([document("X-100"), document("X-1000")], [X100, X1000])
    assert one.fingerprint != two.fingerprint


@pytest.mark.parametrize(
    "text", ["", "\x00", "`}{`\n" * 50, "X" * 10_000, "| a |\n|---|\n| `b\\|c` |", "= , = . , = ", "(((((" * 100]
)
def test_hostile_text_is_only_text(text: str) -> None:
    (extraction,) = extract([chunk("X-100", text, headings=["`h`", "}" * 500])])
    assert named(extraction) == {"X-100": ("Title", "title")} and not extraction.relations


def test_a_name_that_goes_over_a_line_is_one_line() -> None:
    (found,) = extract([chunk("Pump", "The pump weighs 12\nkg and runs at 3.3\nV.")])
    assert {"12 kg", "3.3 V"} <= named(found).keys()


def settings(*texts: str) -> list[Extraction]:
    return extract([chunk("Flasher", text, headings=[f"Part {n}"], position=n) for n, text in enumerate(texts)])


def test_a_class_before_a_further_name_is_that_names() -> None:
    _, after, alone = settings(
        "max_idle and min_idle are set here.",
        "Set the max_idle parameter min_idle first.",
        "The max_idle parameter counts.",
    )
    assert said(after) == set()
    assert said(alone) == {("max_idle", "IS_A", "parameter")}


def test_a_driver_is_not_the_part_that_it_drives() -> None:
    assert said(settings("Install the PL2303 driver.", "The PL2303 chip is there.")[0]) == set()


def test_what_an_item_says_is_not_said_of_a_setting_before_it() -> None:
    first, second = settings(
        "max_idle: How long to wait.\nforce: 0 or 1. Added in Flasher 2.3. It forces.",
        "max_idle: Again.\n--force\nAdded in Flasher 2.4.",
    )
    assert said(first) == said(second) == set()


def test_acronyms_that_and_joins_are_two_names_and_the_end_of_a_word_is_none() -> None:
    text = "Supported AXFR and IXFR of a pumpd-II zone."
    first, *_ = settings(text, f"Again: {text}", f"Once more: {text}")
    assert {"AXFR", "IXFR"} <= named(first).keys()
    assert not {"AXFR and IXFR", "II"} & named(first).keys()


def test_a_class_is_whole() -> None:
    (first,) = extract([chunk("Pump Labs", "Pump Labs is a recognized not-for-profit foundation that pumps.")])
    assert ("Pump Labs", "IS_A", "recognized not-for-profit foundation") in said(first)


def test_a_folder_that_is_a_word_as_any_is_named_by_its_own_documents_alone() -> None:
    own = document("Notes").model_copy(update={"product": "etc"})
    chunks = [chunk("Notes", "The pump."), *(chunk(f"Pump {n}", "Use water, oil, etc. as you like.") for n in "ABC")]
    extractor = MentionExtractor()
    extractor.prepare([own, *(document(c.title) for c in chunks[1:])], chunks)
    assert named(extractor.read(chunks[0]))["etc"] == ("Product", "title")
    assert "etc" not in named(extractor.read(chunks[1]))


def test_a_line_about_another_page_gives_that_page_no_value() -> None:
    index, _ = extract([chunk("Handbook", "Quick Start: Set up 99 % of all pumps."), chunk("Quick Start", "Begin.")])
    assert not any(relation.type == "HAS_VALUE" for relation in index.relations)


def test_one_of_many_settings_of_a_thing_is_not_that_thing() -> None:
    texts = ["Set a TLS parameter there.", "We need TLS here.", "Set the TLS parameter there, and TLS."]
    first, _, third = settings(*texts)
    assert said(first) == set()
    assert said(third) == {("TLS", "IS_A", "parameter")}


def test_what_a_cell_of_a_manual_tells_of_other_things_is_no_value_of_its_row() -> None:
    table = "| Name | Meaning |\n| --- | --- |\n| max_idle | Tells how the 16-bit integer of a frame looks |\n| min_idle | 5 s at most |"
    first, *_ = settings(f"{table}", "max_idle, min_idle", *["Something else."] * 120)
    assert said(first) == {("min_idle", "HAS_VALUE", "5 s")}
