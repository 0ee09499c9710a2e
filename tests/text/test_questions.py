import pytest

from kgrag.text.questions import asks_across, families_said, read_question


@pytest.mark.parametrize(
    ("question", "families"),
    [
        ("How do Nano and Nicla boards differ?", [("Nano",), ("Nicla",)]),
        ("Compare the memory of the TPR, THM and WX-32 modules.", [("TPR",), ("THM",), ("WX-32",)]),
        ("What is new in the X-100 family?", [("X-100",)]),
        ("What sets the Nano product family apart?", [("Nano",)]),
        ("What do Tarnfell TPR sensors have in common?", [("Tarnfell TPR", "TPR")]),
        ("Which X-100 board is the smallest?", [("X-100",)]),
        ("Which voltage does the X-100 need?", []),
        ("Which board is the smallest?", []),
        ("Does the X-100 work with sensors of other makers?", []),
    ],
)
def test_a_name_before_a_plural_is_a_family(question: str, families: list[tuple[str, ...]]) -> None:
    assert list(families_said(question)) == families


@pytest.mark.parametrize(
    "question", ["AAAAAAAA " * 200, "A, " * 600, "Nano and " * 200, "which " * 300, "X" * 2000, "1-" * 900]
)
def test_a_question_of_nothing_but_capitals_is_read_at_once(question: str) -> None:
    # A pattern that tries every way to divide it would not come back.
    assert list(families_said(f"{question} x")) == []
    assert not asks_across(f"{question} x")


@pytest.mark.parametrize(
    ("question", "across"),
    [
        ("Which boards have a DAC?", True),
        ("If fast readings are required, which sensor is appropriate?", True),
        ("What is shared by products with Wi-Fi?", True),
        ("How long does the battery last?", False),
        ("Who directed the film?", False),
    ],
)
def test_a_question_for_things_of_a_sort_asks_across(question: str, across: bool) -> None:
    assert asks_across(question) == across


def test_an_identifier_with_dots_is_one_name() -> None:
    assert read_question("What does merge.conflictStyle diff3 show?").names == ("merge.conflictStyle", "diff3")
    assert read_question("What is the default of gc.pruneExpire?").names == ("gc.pruneExpire",)
    assert read_question("Ask the X-100. Does it sleep?").names == ("X-100",)


def test_a_few_words_are_a_search_and_a_name_alone_asks_what_it_is() -> None:
    assert read_question("WX-32 current consumption").is_search and read_question("pinout").is_search
    assert not read_question("which current?").is_search and not read_question("is it waterproof").is_search
    assert read_question("E-12").kind == "definition"
    assert read_question("E-12 on the carrier").kind != "definition"


def test_an_amount_is_one_term_and_one_name_however_it_is_written() -> None:
    for written in ("5V", "5 V", "5-V", "5 volts"):
        read = read_question(f"Does the X-100 run on {written}?")
        assert read.terms == {"x", "100", "run", written.casefold()} and read.names == ("X-100", written)
        assert [(amount.value, amount.unit) for amount in read.amounts] == [(5.0, "V")]
    assert read_question("Why has February 28 days?").amounts == ()


@pytest.mark.parametrize(
    ("question", "dimension", "terms"),
    [
        ("supply voltage of X-100 in volts", "voltage", {"suppli", "voltag", "x", "100"}),
        ("What is the highest temperature in degrees Celsius?", "temperature", {"highest", "temperatur"}),
        ("How big is it in mm?", "length", {"big"}),
    ],
)
def test_a_unit_that_is_asked_for_says_what_is_measured_and_is_no_term(
    question: str, dimension: str, terms: set[str]
) -> None:
    read = read_question(question)
    assert read.kind == "quantity" and dimension in read.dimensions and read.terms == terms


def test_a_unit_that_is_asked_about_stays_a_term() -> None:
    assert "volt" in read_question("Is the threshold given in volts?").terms
    assert {"second", "minut"} <= read_question("Is it in seconds or in minutes?").terms


def test_what_about_a_name_asks_what_it_is_and_contractions_say_nothing() -> None:
    assert read_question("And what about the X-1000?").kind == "definition"
    assert read_question("My board doesn't start").terms == {"board", "start"}


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("Which supply voltage do the X-100 and the BME688 need?", [{"x", "100"}, {"bme688"}]),
        ("What does E-11 mean, and what E-12?", [{"11"}, {"12"}]),
        ("What is the range of the TPR-40, the TPR-400 and the THM-7?", [{"tpr", "40"}, {"tpr", "400"}, {"thm", "7"}]),
        ("On the X-100, what does E-12 mean?", []),
        ("On the X-100, what do E-11 and E-12 mean?", [{"11"}, {"12"}]),
        ("How do the X-100 and the X-1000 differ?", []),
        ("Does the X-100 work with the WX-32 and the TPR-40?", []),
        ("Which supply does the X-100 need in the BME688 kit?", []),
    ],
)
def test_one_thing_asked_of_several_is_asked_of_each(question: str, things: list[set[str]]) -> None:
    asked = read_question(question)
    alone = [one.terms & frozenset().union(*things) for one in asked.each] if things else []
    assert alone == things
    assert things or asked.each == (asked,)


def test_no_longer_and_the_verb_that_asks_what_a_thing_does_are_no_terms() -> None:
    assert read_question("Which valves no longer open?").terms == read_question("Which valves open?").terms
    assert read_question("What is the hose good for?").terms == read_question("What is the hose for?").terms
    assert read_question("Which valves no longer open in it?").kind == "list"
    assert read_question("Is the hose no longer than 5 m?").terms > {"longer"}
    assert read_question("What does pumpdelta control?").terms == {"pumpdelta"}
