import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.models.base import ChatModel
from kgrag.retrieve import Resources, State, Step
from kgrag.retrieve.state import Query
from kgrag.retrieve.steps.query import Decompose, Hyde, Keywords, Rewrite, StepBack
from kgrag.store.fulltext import fulltext_query
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.text.questions import content_wording, coordinated_questions, keywords, topic

QUESTION = "Which is lighter, the X-100 or the X-200 Rev 3, at 3.3 V?"


def prepared(step: Step, *replies: str, chat: ChatModel | None = None) -> State:
    model = chat or (ScriptedChatModel(list(replies)) if replies else None)
    resources = Resources(None, HashingEmbedder(), "mention", chat=model)  # type: ignore[arg-type]
    return asyncio.run(step(State(Query(QUESTION, QUESTION, QUESTION)), resources))


def test_content_wording_keep_names_numbers_and_their_order() -> None:
    assert content_wording("Please describe the supply voltage of the X-100.") == "supply voltage X-100"
    assert content_wording("What is it?") == "What is it?"


def test_keywords_are_names_then_quantities_then_long_words() -> None:
    assert keywords(QUESTION, 8)[:3] == ("X-100", "X-200 Rev 3", "3.3 V")
    assert "lighter" in keywords(QUESTION, 8)
    assert keywords("What does the standby current depend on?", 2) == ("standby", "current")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Which is lighter, the X-100 or the X-200?", ("Which is lighter, the X-100?", "Which is lighter, the X-200?")),
        ("Compare the A1, B2 and C3 boards.", ("Compare the A1 boards.", "Compare the B2 boards.", "Compare the C3 boards.")),
        ("How heavy is it and what does it cost to run?", ("How heavy is it", "what does it cost to run")),
        ("What is the weight of the X-100?", ()),
    ],
)  # fmt: skip
def test_a_question_that_joins_things_has_a_part_for_each(question: str, parts: tuple[str, ...]) -> None:
    assert coordinated_questions(question, 4) == parts


def test_the_topic_has_no_names_and_no_numbers() -> None:
    assert topic("What is the standby current of the X-100 Rev 3 at 3.3 V?") == "standby current"
    assert topic("X-100?") == ""


@pytest.mark.parametrize("value", [None, 5, {"a": 1}, [None], [["a"]], [{"a": "b"}]])
@pytest.mark.parametrize(
    ("step", "name"),
    [(Rewrite(), "search_text"), (Keywords(), "keywords"), (Decompose(), "sub_questions"), (StepBack(), "question"), (Hyde(), "text")],
)  # fmt: skip
def test_a_reply_of_other_kinds_than_asked_for_leaves_the_question(step: Step, name: str, value: object) -> None:
    state = prepared(step, json.dumps({name: value}))
    assert state.query == Query(QUESTION, QUESTION, QUESTION)
    (remark,) = state.remarks
    assert "could not be used, the question stays as it is" in remark


def test_no_more_sub_questions_are_looked_for_than_were_asked_for() -> None:
    state = prepared(Decompose(most=3), json.dumps({"sub_questions": [f"What is part {n}?" for n in range(500)]}))
    assert len(state.query.parts) == 3


@given(st.text(max_size=200))
def test_wording_takes_any_text(question: str) -> None:
    content_wording(question)
    topic(question)
    assert len(keywords(question, 5)) <= 5
    assert len(coordinated_questions(question, 3)) <= 3


@pytest.mark.parametrize(
    ("step", "reply", "query"),
    [
        (Rewrite(), {"search_text": "X-100 weight"}, {"dense": "X-100 weight", "sparse": "X-100 weight"}),
        (
            Keywords(channel="sparse", boost=3.0),
            {"keywords": ["X-100", "weight", "X-100"]},
            {"keywords": ("X-100", "weight"), "boost": 3.0, "dense": QUESTION},
        ),
        (Keywords(channel="dense"), {"keywords": ["weight"]}, {"dense": f"{QUESTION} weight", "keywords": ()}),
        (Hyde(), {"text": "The X-100 weighs 12 g."}, {"dense": "The X-100 weighs 12 g.", "sparse": QUESTION}),
    ],
)  # fmt: skip
def test_what_the_model_says_is_what_is_looked_for(
    step: Step, reply: dict[str, object], query: dict[str, object]
) -> None:
    state = prepared(step, json.dumps(reply))
    assert {name: getattr(state.query, name) for name in query} == query
    assert state.query.question == QUESTION
    assert state.usage.calls == 1


@pytest.mark.parametrize(
    ("step", "reply", "parts"),
    [
        (Decompose(most=2), {"sub_questions": ["a b?", "c d?", "a b?"]}, [("a b?", 1.0), ("c d?", 1.0)]),
        (StepBack(weight=0.3), {"question": "What do boards weigh?"}, [("What do boards weigh?", 0.3)]),
        (Decompose(), {"sub_questions": [QUESTION]}, []),
    ],
)  # fmt: skip
def test_sub_questions_and_the_more_general_one_are_looked_for_besides(
    step: Step, reply: dict[str, object], parts: Sequence[tuple[str, float]]
) -> None:
    state = prepared(step, json.dumps(reply))
    assert [(part.text, part.weight) for part in state.query.parts] == list(parts)
    assert state.query.dense == QUESTION


@pytest.mark.parametrize("reply", ["I cannot do that.", "[]", '{"wrong": 1}'])
def test_a_reply_that_cannot_be_used_leaves_the_question_and_is_remarked(reply: str) -> None:
    state = prepared(Rewrite(), reply)
    assert state.query == Query(QUESTION, QUESTION, QUESTION)
    (remark,) = state.remarks
    assert remark.startswith("rewrite")
    assert state.usage.calls == 1


def test_keywords_weigh_more_in_a_full_text_query_and_are_escaped() -> None:
    query = fulltext_query("supply voltage", keywords=['X-100 "Pro"', "  ", "AND"], boost=2.0)
    assert query == 'supply voltage "X-100 \\"Pro\\""^2 "AND"^2'
