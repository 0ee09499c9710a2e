"""What people say around a question is left out, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import read_question


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (
            "Hi, could you please tell me the supply voltage of the X-100? Thanks!",
            "what is the supply voltage of the X-100?",
        ),
        (
            "Hello support team, I was wondering how much current it draws. Thank you in advance.",
            "how much current it draws.",
        ),
        ("I'd like to know if the X-100 supports 5 V", "whether the X-100 supports 5 V"),
        ("Can anyone help me? What is E-12?", "What is E-12?"),
        ("Quick question: which fuse fits?", "which fuse fits?"),
        (
            "Good morning! Sorry to bother you. I have a question: which fuse fits? Any help would be appreciated.",
            "which fuse fits?",
        ),
        ("Any idea why the WX-32 resets?", "why the WX-32 resets?"),
        ("Need help with X-100 error E-20", "X-100 error E-20"),
        ("Thanks! And what about the X-1000?", "And what about the X-1000?"),
        ("Great, thanks a lot! How do I reset it?", "How do I reset it?"),
        ("Hey y'all, whats the weight? thx", "what is the weight?"),
        ("pls tell me the max current", "what is the max current"),
        ("Can someone please advise on the warranty period?", "what is the warranty period?"),
        ("x-100 datasheets pls", "x-100 datasheets"),
        ("any1 know which fuse fits?", "which fuse fits?"),
        ("Dear Sir or Madam, what is the weight?\n\nKind regards, Tom", "what is the weight?"),
    ],
)
def test_what_is_asked_is_left(said: str, asked: str) -> None:
    assert without_courtesies(said) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Hello interval default of OSPF?",
        "What does the hello command print?",
        "How do I say thanks in SMTP?",
        "How do I say please?",
        "Thanks to which feature can it sleep?",
        "Can you set the baud rate?",
        "Does the X-100 help with noise?",
        "I need a fuse for the X-100.",
        "Thanks!",
        "Hi",
    ],
)
def test_a_question_that_has_such_words_stays(question: str) -> None:
    assert without_courtesies(question) == question


@given(st.text(max_size=200))
def test_something_is_left_of_anything(text: str) -> None:
    left = without_courtesies(text)
    assert left.strip() or not text.strip()
    assert without_courtesies(left.upper()) or not text.strip()


def test_what_is_asked_with_if_is_a_question_for_yes_or_no() -> None:
    assert read_question(without_courtesies("Do you know if the X-100 has a display?")).kind == "yes/no"
