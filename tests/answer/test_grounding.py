"""Every sentence of a generated answer is held against what it cites."""

from __future__ import annotations

import asyncio

import pytest

from kgrag.answer.grounding import Claim, check_claims, claims_of, with_claims_marked, without_ungrounded
from kgrag.models.minilm import MiniLM
from kgrag.types import Evidence

TEXTS = {
    "X-100": """## Supply
The X-100 Rev 3 needs a supply voltage of 3.3 V and draws 0.5 mA in standby.
It does not tolerate 5 V signals. Its relay opens after 1.5 s.

| Parameter | Min | Max | Unit |
| --- | --- | --- | --- |
| Operating temperature | -40 | 85 | °C |
| Supply current | 12 | 310 | mA |
""",
    "X-1000": """The X-1000 is an industrial controller; its supply voltage is 230 V AC. Unlike the X-100 it has 16 digital inputs.
The standby current of the X-1000 is 5 mA, that of the X-100 is 0.5 mA.""",
    "K1": """The radio is the NINA module W102. It has a printed antenna of 19 dBm. It does not provide a socket for an external microphone.
In a vehicle with 12 V the X-1000 runs, but the K1 does not. The adapter makes a 1.8 V rail. There is no 1.8 V rail on the K1.""",
}
EVIDENCE = [
    Evidence(chunk_id=title, source_id=title, document=f"{title}.pdf", title=title, text=text, tokens=9, score=1.0)
    for title, text in TEXTS.items()
]
EMBEDDER = MiniLM()


def check(text: str, question: str = "What does the X-100 need?") -> list[Claim]:
    return asyncio.run(check_claims(text, EVIDENCE, question=question, embedder=EMBEDDER))


def problems(text: str, question: str = "What does the X-100 need?") -> str:
    return "; ".join(problem for claim in check(text, question) for problem in claim.problems)


@pytest.mark.parametrize(
    "text",
    [
        "The X-100 Rev 3 needs a supply voltage of 3.3 V [1].",
        "In standby the X-100 draws 0.5 mA [1].",
        "In standby the X-100 draws 500 µA [1].",
        "It operates at temperatures from -40 °C to 85 °C [1].",
        "It operates down to -40 °F, its operating temperature being at least -40 °C [1].",
        "The supply current is at most 310 mA [1].",
        "The X-1000 has sixteen digital inputs [2].",
        "The X-1000 draws 5 mA in standby, the X-100 0.5 mA [1][2].",
        "The supply current ranges over 298 mA: from 12 mA to 310 mA [1].",
        "The passages do not say what the X-100 weighs.",
        "It does not say what the X-100 weighs.",
        "The X-100 Rev 3 does not tolerate signals of 5 V [1].",
        "The radio is the NINA-W102 [3].",
        "In a vehicle with 12 V the K1 does not run [3].",
        "The adapter has a 1.8 V rail, and the K1 has no 1.8 V rail [3].",
    ],
)
def test_what_the_cited_passage_says_is_grounded(text: str) -> None:
    assert problems(text) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The X-100 needs 230 V AC and contains plutonium [1].", "230 V is not in [1]"),
        ("The X-100 contains plutonium [1].", "plutonium"),
        ("The X-100 needs a supply voltage of 3.4 V [1].", "3.4 V is not in [1]"),
        ("In standby the X-100 draws 0.5 A [1].", "0.5 A is not in [1]"),
        ("It operates at temperatures from 40 °C to 85 °C [1].", "40 °C"),
        ("The X-200 needs a supply voltage of 3.3 V [1].", "X-200 is not in [1]"),
        ("The X-100 Rev 4 needs a supply voltage of 3.3 V [1].", "Rev 4 is not in [1]"),
        ("The supply voltage of the X-100 is 230 V [2].", "230 V is said of X-1000 there, not of X-100"),
        ("The X-1000 has 18 digital inputs [2].", "18 is not in [2]"),
        ("The X-100 needs a Zigbee gateway of Contoso [1].", "Contoso is not in [1]"),
        ("The X-100 Rev 3 does not need a supply voltage of 3.3 V [1].", "[1] says"),
        ("The X-100 Rev 3 does not draw 0.5 mA in standby [1].", "[1] says"),
        ("It does not have a printed antenna of 19 dBm [3].", "[3] says"),
        ("It provides a socket for an external microphone [3].", "[3] says"),
        ("The radio is the NINA-W103 [3].", "NINA-W103 is not in [3]"),
        ("Its relay is closed by a hydraulic pump every morning [2].", "says nothing near enough"),
    ],
)
def test_what_the_cited_passage_does_not_say_is_named(text: str, said: str) -> None:
    assert said in problems(text)


def test_a_sentence_without_a_mark_is_held_against_what_its_line_cites() -> None:
    first, second = claims_of("It needs 3.3 V. It weighs 5 g [2].\nIt is red. [1] It is [3] blue.")[:2]
    assert (first.cited, second.cited) == ((2,), (2,))
    assert [claim.cited for claim in claims_of("It is red. [1] It is blue [2].")] == [(1,), (2,)]


def test_an_answer_that_cites_nothing_is_not_grounded() -> None:
    assert "it cites no passage" in problems("The X-100 needs a supply voltage of 3.3 V.")


def test_what_fails_is_marked_or_taken_out() -> None:
    text = "The X-100 needs a supply voltage of 3.3 V [1]. It weighs 900 kg [1]. It has 16 digital inputs [2]."
    claims = check(text)
    marked = with_claims_marked(text, claims)
    assert marked.replace(" [unverified]", "") == text
    assert "It weighs 900 kg [1]. [unverified]" in marked
    assert "900" not in without_ungrounded(text, claims)
    assert "3.3 V [1]." in without_ungrounded(text, claims)
    wrong = "It weighs 900 kg [1]."
    assert without_ungrounded(wrong, check(wrong)) == ""


def test_a_number_of_the_question_may_be_denied_but_not_said() -> None:
    question = "Can the X-100 run from 12 V?"
    assert "12 V" not in problems(
        "No, the X-100 cannot run from 12 V: it needs a supply voltage of 3.3 V [1].", question
    )
    assert "12 V is not in [1]" in problems("The X-100 runs from 12 V [1].", question)
