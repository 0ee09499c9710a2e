"""Which names of a question its evidence lacks, and without which of them there is hardly an answer."""

import pytest

from kgrag.answer.subject import unknown_names
from kgrag.text.questions import read_question
from kgrag.types import Evidence

TEXT = """keep_for is how long snapshots are kept. RestartRate limits how often the filter is restarted.
The daemon reads its settings anew at SIGHUP. X-100 boards have a flash of 2 MB. store_tool loads a dump.
At most 5 downloads run at the same time. Postina-II keeps letters. After IO errors it stops (PumpPads only).
Keys of version 3.1 are not read."""


def lacking(question: str) -> list[tuple[str, bool]]:
    """The names without which there is hardly an answer, and whether each is exact."""
    return lacking_of(question)[0]


def lacking_of(question: str) -> tuple[list[tuple[str, bool]], list[str]]:
    """The same, and the names that are only worth saying."""
    piece = Evidence(
        chunk_id="chunk",
        source_id="keeper",
        document="keeper.md",
        title="Keeper",
        section="Settings",
        page_start=1,
        page_end=1,
        text=TEXT,
        tokens=60,
        score=1.0,
    )
    fatal, noted = unknown_names(read_question(question), [piece])
    return [(name.name, name.is_exact) for name in fatal], [name.name for name in noted]


@pytest.mark.parametrize(
    "question",
    [
        'I set "keep_for 14d" but old snapshots stay. Why?',
        "What unit has RestartRate 10/1h?",
        "Does kill -HUP make the daemon read its settings?",
        "I have a list of 40 URLs. How many downloads run at the same time?",
        "Why does it stop when I store_tool a dump?",
        "Does Postina keep letters?",
        "Are keys of v3 read?",
        "What stops it at an I/O error?",
    ],
)
def test_a_value_a_signal_a_count_and_the_asker_are_no_names_that_the_documents_lack(question: str) -> None:
    assert lacking(question) == []


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How much flash has the X-300?", "X-300"),
        ('I set "keep_all 14d" but old snapshots stay. Why?', "keep_all 14d"),
        ("What unit has RestopRate 10/1h?", "RestopRate 10/1h"),
        ("What does -USR1 do to the daemon?", "-USR1"),
        ("How much flash has the Keeper 40?", "Keeper 40"),
        ("Are keys of v2 read?", "v2"),
    ],
)
def test_what_differs_in_a_number_or_is_another_setting_is_lacking(question: str, name: str) -> None:
    assert (name, True) in lacking(question)


def test_a_line_of_several_words_that_begins_with_a_small_one_is_not_exact() -> None:
    assert lacking("'vlan id 10' never matches. Why?") == [("vlan id 10", False)]


@pytest.mark.parametrize(("name", "is_there"), [("PumpPad", True), ("PumpPads", True), ("PumpPack", False)])
def test_a_name_is_said_by_its_plural(name: str, is_there: bool) -> None:
    without, noted = lacking_of(f"When does a {name} stop?")
    assert (name in [*(one for one, _ in without), *noted]) != is_there
