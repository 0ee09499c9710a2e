import asyncio

import pytest

from kgrag.retrieve.adaptive import ask_type
from kgrag.testing import ScriptedChatModel
from kgrag.text.questions import type_by_rules


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the supply voltage of the X-100?", "factual"),
        ("Summarize the functionality of the gesture detection.", "summary"),
        ("Why should the X-100 be mounted upright?", "reasoning"),
        ("Which board is more suitable for battery operation, the X-100 or the X-200?", "reasoning"),
        ("How do the X-100 and the X-200 differ?", "disambiguation"),
        ("Where was the director of the film that won in 1999 born?", "multi_hop"),
        ("Which devices have an RS-485 port?", "summary"),
        ("How do the Alpha and Beta families differ in memory?", "summary"),
        ("I am confused: is TX the input or the output?", "disambiguation"),
        ("My X-100 does not start. What could be causing this?", "reasoning"),
        ("What steps do I need to complete before the X-100 answers?", "multi_hop"),
        ("How does the X-100 communicate with the X-200?", "multi_hop"),
    ],
)
def test_rules_tell_the_type_by_the_wording(question: str, kind: str) -> None:
    assert type_by_rules(question) == kind


def test_the_model_tells_the_type_and_rules_stand_in_for_a_reply_that_is_none() -> None:
    model = ScriptedChatModel(['{"type": "summary"}', '{"type": "easy"}', "no"])
    question = "What is the supply voltage of the X-100?"
    replies = [asyncio.run(ask_type(model, question)) for _ in range(3)]
    assert [kind for kind, _, _ in replies] == ["summary", "factual", "factual"]
    assert [bool(remark) for _, _, remark in replies] == [False, True, True]
    assert all(usage.calls == 1 for _, usage, _ in replies)
