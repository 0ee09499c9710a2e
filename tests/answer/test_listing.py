"""Answers to questions that count and list, from what was listed."""

from __future__ import annotations

from kgrag.answer import answer_from_listing
from kgrag.types import Answer, Evidence, Listing, Thing

SAID = {
    "Dorn 5": """\
# Ratings

| Parameter | Min | Typ | Max | Unit |
| --- | --- | --- | --- | --- |
| Supply current | - | 4 | 6 | mA |
| Supply current, heater on | - | 45 | 50 | mA |

- 512 kB flash, 64 kB RAM
- On-board microphone
- Heater for condensing air
""",
    "Dorn 50": """\
The Dorn 50 draws 12 mA. It has 2 MB of flash.

There is no microphone. The heater of any sensor on the rail has to be switched off by hand.

Even with every heater on it takes 180 mA of the supply of the whole rail. Connect a microphone to the Dorn 5 instead.
""",
    "Dorn 7": "The Dorn 7 is a relay for the rail. It weighs 9 g.",
    "Guide": """\
| Property | Dorn 5 | Dorn 50 | Dorn 7 |
| --- | --- | --- | --- |
| RAM | 64 kB | 1 MB | - |
| Microphone | yes | no | no |
""",
}
MORE = {
    "Dorn 5": """\
- 2 simultaneous connections
- 4 MB flash for settings

The Dorn 5 is a humidity and temperature sensor. It has a rate that can select between 8, 4, 1, and 0.5 Hz.
""",
    "Dorn 50": """\
It can have the I2C addresses 0x44 or 0x45. Its rate is 2 Hz on sockets 3 and 5.

Start-up of the Dorn 50 takes 3 s: it starts within 2.5 s on a warm day.
""",
    "Dorn 7": "The Dorn 7 and its brothers are pressure, humidity or temperature sensors of the rail with many more uses than that.",
}
THINGS = tuple(Thing(name=name, group="dorns", documents=(name,)) for name in ("Dorn 5", "Dorn 50", "Dorn 7"))


def asked(
    question: str, *, only: tuple[str, ...] = tuple(SAID), said: dict[str, str] = SAID, unread: int = 0
) -> Answer | None:
    evidence = tuple(
        Evidence(
            chunk_id=name,
            source_id=name,
            document=name,
            document_id=name,
            title=name,
            text=said[name],
            tokens=1,
            score=1.0,
        )
        for name in only
    )
    return answer_from_listing(
        question, Listing(things=THINGS, evidence=evidence, unread=unread, cypher="MATCH (n) RETURN n")
    )


def answering(answer: Answer | None) -> list[str]:
    assert answer is not None
    assert answer.table is not None
    return [row.cells[0] for row in answer.table.rows if row.answers]


def test_what_says_the_property_in_the_fewest_other_words_counts() -> None:
    answer = asked("Which modules draw less than 10 mA?")
    assert answering(answer) == ["Dorn 5"]
    assert answer is not None
    assert answer.text.startswith("1 module: Dorn 5; of 3 modules, 2 state a current.")
    assert "45" not in answer.text


def test_each_row_cites_what_says_it_and_the_statement_is_shown() -> None:
    answer = asked("Which modules have more than 100 kB of flash?")
    assert answering(answer) == ["Dorn 5", "Dorn 50"]
    assert answer is not None
    assert answer.table is not None
    cited = {citation.number: citation for citation in answer.citations}
    said_of = {row.cells[0]: [cited[number].quote for number in row.citations] for row in answer.table.rows}
    assert said_of == {
        "Dorn 5": ["512 kB flash, 64 kB RAM"],
        "Dorn 50": ["The Dorn 50 draws 12 mA. It has 2 MB of flash."],
    }
    assert "MATCH (n) RETURN n" in answer.text
    assert [piece.chunk_id for piece in answer.evidence] == ["Dorn 5", "Dorn 50"]


def test_the_amount_beside_the_word_is_that_of_the_property() -> None:
    answer = asked("What is the RAM of each module?")
    assert answer is not None
    assert answer.table is not None
    assert {row.cells[0]: row.cells[1] for row in answer.table.rows} == {"Dorn 5": "64 kB", "Dorn 50": "1 MB"}
    assert (answer.table.asked, answer.table.stated) == (3, 2)


def test_the_largest_is_told_across_units() -> None:
    answer = asked("Which module has the largest flash?")
    assert answering(answer) == ["Dorn 50"]
    assert answer is not None
    assert answer.table is not None
    assert [row.cells[0] for row in answer.table.rows] == ["Dorn 50", "Dorn 5"]


def test_what_is_denied_or_said_of_another_thing_is_not_had() -> None:
    without_the_guide = ("Dorn 5", "Dorn 50", "Dorn 7")
    answer = asked("How many modules have a microphone?", only=without_the_guide)
    assert answering(answer) == ["Dorn 5"]
    assert answer is not None
    assert answer.text.startswith(
        "1 of 3 modules have microphone, as far as the documents state it: they say it of 1, deny it of 1, and do"
    )
    assert answering(asked("How many modules have a microphone?", only=("Guide",))) == ["Dorn 5"]


def test_what_has_to_be_done_to_a_part_and_what_it_takes_even_with_one_do_not_say_that_a_thing_has_it() -> None:
    assert answering(asked("Which modules have a heater?")) == ["Dorn 5"]


def test_a_column_that_only_names_a_thing_is_about_that_of_the_document() -> None:
    text = "| Part | Dorn 50 support |\n| --- | --- |\n| Bluetooth | yes |\n"
    evidence = Evidence(chunk_id="a", source_id="a", document="a", document_id="Dorn 5", text=text, tokens=1, score=1.0)
    answer = answer_from_listing(
        "Which modules have Bluetooth?", Listing(things=THINGS, evidence=(evidence,), cypher="")
    )
    assert answering(answer) == ["Dorn 5"]


def test_things_can_be_asked_for_that_are_denied_something() -> None:
    assert answering(asked("Which modules have no microphone?", only=("Guide",))) == ["Dorn 50", "Dorn 7"]


def test_what_no_document_states_is_not_answered_by_counting() -> None:
    assert asked("Which modules have more than 3 kPa of pressure?") is None
    assert asked("How many modules have Bluetooth?") is None


def test_things_are_counted_by_family() -> None:
    answer = asked("How many modules are there per family?")
    assert answer is not None
    assert "| dorns | 3 |" in answer.text
    assert answer.text.startswith("There are 3 modules.")


def test_a_reference_of_a_document_is_no_citation_of_ours() -> None:
    listing = Listing(
        things=THINGS[:1],
        evidence=(
            Evidence(
                chunk_id="a",
                source_id="a",
                document="a",
                document_id="Dorn 5",
                text="- Wi-Fi radio [7] | 2 antennas",
                tokens=1,
                score=1.0,
            ),
        ),
        cypher="",
    )
    answer = answer_from_listing("Which modules have Wi-Fi?", listing)
    assert answer is not None
    assert "Wi-Fi radio (7) \\| 2 antennas" in answer.text


def test_names_with_something_between_enumerations_and_items_that_begin_with_an_amount_are_read() -> None:
    def answers(question: str) -> list[str]:
        return answering(asked(question, only=tuple(MORE), said=MORE))

    assert answers("Which dorns have a flash of more than 1 MB?") == ["Dorn 5"]
    assert answers("Which dorns have a humidity sensor?") == ["Dorn 5", "Dorn 7"]
    assert answers("Which dorns have a temperature sensor?") == ["Dorn 5", "Dorn 7"]
    assert answers("Which dorns have the I2C address 0x44?") == ["Dorn 50"]
    assert answers("Which dorns have a rate of more than 5 Hz?") == ["Dorn 5"]
    assert answers("Which dorns have a rate of less than 1 Hz?") == ["Dorn 5"]
    assert answers("Which dorn has the longest start time?") == ["Dorn 50"]


def test_an_answer_says_how_many_passages_were_not_read() -> None:
    answer = asked("How many dorns have a microphone?", unread=1200)
    assert answer is not None
    assert "1,200 of 1,204 passages that may say more were not read" in answer.text
    everything = asked("How many dorns have a microphone?")
    assert everything is not None and "not read" not in everything.text
