"""Names are put back as the chunk writes them, numbers and units never changed."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kgrag.extract.grounding import NOT_GROUNDED, UNKNOWN_NUMBERS, ChunkSurface, ground
from kgrag.extract.statements import Named, Stated, Statement
from kgrag.types import Chunk, Entity, Relation

TEXT = (
    "The Arduino Due has a clock speed of 84 MHz, draws 5 mA over 3.3 kΩ and gives 20,000 MW. The LPS22HB sensor and the X-1000 "
    "need Wi‑Fi, 3.3V, -5 V and I²C; see X-100-2. Two temperature sensors."
)


def chunk(text: str = TEXT, *, title: str = "", headings: tuple[str, ...] = ()) -> Chunk:
    return Chunk(
        id="c", document_id="d", source_id="d", position=0, title=title, headings=headings, text=text, tokens=1
    )


def held(stated: Stated, of: Chunk) -> tuple[tuple[Entity, ...], tuple[Relation, ...], dict[str, int]]:
    extraction = ground(stated, of, reply="")
    return extraction.entities, extraction.relations, extraction.remarks


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("5 Ma", "5 mA"),
        ("3.3 Kω", "3.3 kΩ"),
        ("Lps22Hb", "LPS22HB"),
        ("20,000 Mw", "20,000 MW"),
        ("Arduino due", "Arduino Due"),
        ("Clock speed of 84 mhz", "clock speed of 84 MHz"),
        ("WiFi", "Wi‑Fi"),
        ("3.3 V", "3.3V"),
        ("I2C", "I²C"),
        ("Temperature Sensor", "temperature sensor"),
    ],
)
def test_what_frameworks_make_of_a_name_is_put_back(name: str, written: str) -> None:
    assert ChunkSurface(TEXT).spellings([name])[name] == written
    assert written in TEXT


@pytest.mark.parametrize("name", ["X-100", "5 V", "5 MA", "20,000 mW", "33 kΩ", "100", "3 V", "sensor board"])
def test_another_number_unit_or_part_number_is_not_found(name: str) -> None:
    assert ChunkSurface(TEXT).spellings([name])[name] is None


@pytest.mark.parametrize(("said", "chunk"), [("5 S", "5 s"), ("10 k", "10 K"), ("1 m", "1 M"), ("2 t", "2 T")])
def test_units_of_one_letter_are_told_apart_by_its_case(said: str, chunk: str) -> None:
    assert ChunkSurface(f"It says: {chunk}.").spellings([said])[said] is None


WORDS = st.sampled_from(
    [
        "5 mA",
        "3.3 kΩ",
        "LPS22HB",
        "20,000 MW",
        "-40 °C",
        "X-100",
        "X-1000",
        "Wi-Fi",
        "I²C",
        "temperature",
        "Board",
        "µA 7",
        "84 MHz",
        "10²",
        "µC",
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=12), st.data())
def test_a_restored_name_stands_in_the_text_has_the_same_digits_and_is_restored_to_itself(
    words: list[str], data: st.DataObject
) -> None:
    text = ", ".join(words)
    name = data.draw(st.sampled_from(words))
    changed = data.draw(
        st.sampled_from([name.title(), name.capitalize(), name, name.replace(" ", ""), name.replace(" ", "\u202f")])
    )
    found = ChunkSurface(text).spellings([changed])[changed]
    assume(found is not None)
    assert found is not None and found in text
    assert re.sub(r"\D", "", found) == re.sub(r"\D", "", changed)
    assert ChunkSurface(text).spellings([found])[found] == found


@given(st.text(max_size=200), st.text(min_size=1, max_size=20))
def test_any_name_in_any_text_is_found_verbatim_or_not_at_all(text: str, name: str) -> None:
    found = ChunkSurface(text).spellings([name])[name]
    assert found is None or found in text


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("C", "It is written in C++.", None),
        ("C++", "It is written in C++.", "C++"),
        ("Model B", "Take Model B+ for that.", None),
        ("LQ22", "Both LQ22+LQ23 fit.", "LQ22"),
    ],
)
def test_a_sign_that_ends_a_name_belongs_to_it(name: str, text: str, found: str | None) -> None:
    assert ChunkSurface(text).spelling(name) == found


def test_what_the_chunk_does_not_say_is_kept_and_marked_with_the_reason() -> None:
    stated = Stated(
        statements=[
            Statement("Arduino Due", "draws", "5 mA"),
            Statement("Arduino Due", "costs", "99 EUR", description="It costs 99 EUR."),
        ]
    )
    entities, relations, remarks = held(stated, chunk())
    assert [(r.grounded, r.reason) for r in relations] == [
        (True, ""),
        (False, "the chunk does not say '99 EUR' (tail); the chunk does not have the number 99"),
    ]
    assert remarks[NOT_GROUNDED] == 1 and remarks[UNKNOWN_NUMBERS] == 2
    assert {e.name for e in entities} == {"Arduino Due", "5 mA", "99 EUR"}


def test_types_are_mended_sizes_limited_and_drops_counted() -> None:
    stated = Stated(
        named=[
            Named("x" * 400, "Part"),
            Named("LPS22HB", "`) DETACH DELETE n //", "d" * 5000),
            Named("LPS22HB", "SENSOR\x00"),
        ],
        statements=[Statement("Arduino Due", "has`]->() part", "\u202eLPS22HB", "chunk", "sensor")] * 1500,
    )
    entities, relations, remarks = held(stated, chunk())
    assert {e.type for e in entities} == {"DETACH DELETE n", "Sensor", "Chunk_"}
    assert [r.type for r in relations] == ["HAS_PART"] and relations[0].tail.name == "LPS22HB"
    assert max(len(e.description) for e in entities) == 2000
    assert sorted(remarks.values()) == [1, 1, 500]


def test_the_entity_of_a_title_or_heading_has_that_role() -> None:
    stated = Stated(named=[Named("Arduino due"), Named("Power"), Named("5 mA")])
    entities, _, _ = held(stated, chunk(title="Arduino Due", headings=("Power",)))
    assert [(e.name, e.role) for e in entities] == [("Arduino Due", "title"), ("Power", "title"), ("5 mA", "mention")]


def test_a_relation_without_words_of_its_own_gets_the_sentence_that_says_it() -> None:
    text = "The X-100 is a board. The X-100 draws 5 mA. It is green."
    twice = [
        Statement("X-100", "draws", "5 mA"),
        Statement("X-100", "is a", "board", description="as it says"),
        Statement("X-100", "is a", "board", description="and says again"),
    ]
    _, relations, _ = held(Stated(statements=twice), chunk(text))
    assert [r.description for r in relations] == ["The X-100 draws 5 mA.", "as it says; and says again"]
