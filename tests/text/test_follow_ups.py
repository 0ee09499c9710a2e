"""Questions completed from the turns before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.follow_ups import complete_question, questions_asked

SUPPLY = "Which supply voltage does the X-100 need?"


@pytest.mark.parametrize(
    ("question", "completed"),
    [
        ("And the X-1000?", "Which supply voltage does the X-1000 need?"),
        ("Thanks! And what about the X-1000?", "Which supply voltage does the X-1000 need?"),
        ("What about the TPR-40?", "Which supply voltage does the TPR-40 need?"),
        ("and for the TCB-4?", "Which supply voltage does the TCB-4 need?"),
        ("How heavy is it?", "How heavy is the X-100?"),
        ("What is its weight?", "What is the X-100's weight?"),
        ("Is that board waterproof?", "Is the X-100 waterproof?"),
        ("Does it have I2C?", "Does the X-100 have I2C?"),
        ("And what is the standby current?", "What is the standby current, for the X-100?"),
        ("How many slots are there?", "How many slots are there, for the X-100?"),
    ],
)
def test_what_a_follow_up_lacks_is_carried_over(question: str, completed: str) -> None:
    assert complete_question(question, [SUPPLY]).text == completed


@pytest.mark.parametrize(
    "question",
    [
        "What is the standby current of the X-1000?",
        "How does the X-1000 differ from it?",
        "Does the THM-7 plug into the TCB-4?",
    ],
)
def test_a_question_that_names_what_it_is_about_stays(question: str) -> None:
    done = complete_question(question, [SUPPLY])
    assert (done.text, done.carried) == (question, ())


def test_the_last_name_counts_and_earlier_turns_where_it_named_none() -> None:
    assert complete_question("How heavy is it?", [SUPPLY, "And what of the X-1000?"]).carried == ("X-1000",)
    assert complete_question("How heavy is it?", [SUPPLY, "Is that so?"]).carried == ("X-100",)


def test_a_chosen_product_is_what_a_question_is_about_that_names_nothing() -> None:
    assert complete_question("How heavy is it?", [], product="X-100").text == "How heavy is the X-100?"
    assert complete_question(SUPPLY, [], product="X-1000").text == SUPPLY


@given(st.text(max_size=300))
def test_a_first_question_is_never_changed_but_for_its_spaces(question: str) -> None:
    done = complete_question(question, [])
    assert (done.text, done.carried) == (" ".join(question.split()), ())


@given(st.text(max_size=200), st.lists(st.text(max_size=100), max_size=6))
def test_nothing_that_is_typed_breaks_it(question: str, turns: list[str]) -> None:
    assert isinstance(complete_question(question, turns).text, str)


def test_two_questions_in_one_are_each_asked_alone() -> None:
    assert questions_asked("What is the RAM of the X-100 and how much flash does it have?") == (
        "What is the RAM of the X-100?",
        "How much flash does the X-100 have?",
    )
    assert questions_asked("Does the X-100 sleep? And can it do RS-485?") == (
        "Does the X-100 sleep?",
        "Can the X-100 do RS-485?",
    )


@pytest.mark.parametrize(
    "question",
    [
        "What is X and what?",
        "What happens when it starts and how it stops?",
        "who is rosaline? how is she related?",
        "Why?",
    ],
)
def test_what_cannot_be_asked_alone_stays_one_question(question: str) -> None:
    assert questions_asked(question) == (question,)
