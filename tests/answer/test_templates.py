"""The shipped templates: what each says, where its slots go, and what a reply by it becomes."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from kgrag.answer import generate_answer, read_instructions
from kgrag.answer.chains import schema_for
from kgrag.answer.prompt import CLOSED_TEMPLATES, answer_messages, template_names
from kgrag.errors import InputError
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.types import Answer, Evidence

SEED = Evidence(
    chunk_id="c1",
    source_id="s",
    document="a.html",
    text="SENTINEL-SEED: the X-100 needs 3.3 V.",
    tokens=9,
    score=1.0,
    why=("dense 0.61",),
)
REACHED = Evidence(
    chunk_id="c2",
    source_id="s",
    document="b.html",
    text="SENTINEL-LINKED: the X-100 weighs 12 g.",
    tokens=9,
    score=0.5,
    why=("walk: hop 1 from c1 by 'weight', 0.40",),
)
QUESTION = "SENTINEL-QUESTION: which voltage?"


def written(name: str, *evidence: Evidence) -> str:
    messages = answer_messages(read_instructions(Path(name)), question=QUESTION, evidence=evidence or (SEED, REACHED))
    return "\n".join(message.content for message in messages)


def answered(reply: dict[str, object], *, template: str | None = None, **options: bool) -> Answer:
    instructions = read_instructions(
        Path(template) if template else None, open_knowledge=options.get("open_knowledge", False)
    )
    model = ScriptedChatModel([json.dumps(reply)])
    return asyncio.run(
        generate_answer(
            QUESTION, [SEED, REACHED], model=model, embedder=HashingEmbedder(), instructions=instructions, **options
        )
    )


def test_the_five_templates_and_the_four_strategies_are_there() -> None:
    assert {"detailed", "minimal", "steps", "strict", "conversational"} <= set(template_names())
    assert {"basic", "expert", "reasoning", "linked"} <= set(template_names())


@pytest.mark.parametrize("name", template_names())
def test_a_template_has_every_slot_once_and_no_unfilled_one(name: str) -> None:
    prompt = written(name)
    for sentinel in ("SENTINEL-SEED", "SENTINEL-LINKED", "SENTINEL-QUESTION"):
        assert prompt.count(sentinel) == 1, sentinel
    assert not re.search(r"\{(evidence|seeds|linked|question)\}", prompt)
    assert re.search(r"\[passage 2\]", prompt), "every template asks for citations in the form that is read"


def test_templates_differ_in_what_they_are_about() -> None:
    texts = {name: read_instructions(Path(name)) for name in template_names()}
    assert min(texts, key=lambda name: len(texts[name])) in ("minimal", "basic")
    assert "References" in texts["detailed"] and "References" not in texts["minimal"]
    assert "Choose the passages" in texts["steps"] and texts["steps"].index("Choose") < texts["steps"].index('"answer"')
    assert "Each claim has the passage" in texts["strict"] and "one sentence" in texts["strict"]
    assert "conversation" in texts["conversational"]
    assert "Warning:" in texts["expert"] and "missing" in texts["reasoning"]


def test_what_only_a_link_led_to_is_a_block_of_its_own() -> None:
    prompt = written("linked")
    found, reached = prompt.index("Found for the question"), prompt.index("Reached by links")
    assert found < prompt.index("SENTINEL-SEED") < reached < prompt.index("SENTINEL-LINKED")
    assert "<passage 1 " in prompt and "<passage 2 " in prompt, "numbers go on over both blocks"
    alone = written("linked", SEED)
    assert alone.index("(none)") > alone.index("Reached by links")
    other = REACHED.model_copy(update={"why": ("dense 0.50", "link: hyperlink weight")})
    assert written("linked", SEED, other).count("(none)") == 1, "what the search found too is no link's alone"


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(InputError, match="conversational, detailed"):
        read_instructions(Path("formal"))


def test_reasoning_has_a_field_of_its_own_and_is_kept_apart() -> None:
    assert next(iter(schema_for(read_instructions(Path("steps")))["properties"])) == "reasoning"
    assert "reasoning" not in schema_for(read_instructions(Path("strict")))["properties"]
    reply = {
        "reasoning": "Passage 1 names 5 V and 9 V.",
        "quotes": [],
        "answered": True,
        "answer": "It needs 3.3 V [passage 1].",
    }
    answer = answered(reply, template="steps")
    assert answer.text == "It needs 3.3 V [1]." and answer.reasoning == "Passage 1 names 5 V and 9 V."
    del reply["reasoning"]
    assert answered(reply, template="steps").text == "It needs 3.3 V [1].", (
        "a reply without it is an answer all the same"
    )


def test_open_knowledge_adds_to_the_instructions_and_is_refused_where_they_forbid_it() -> None:
    for name in template_names():
        if name in CLOSED_TEMPLATES:
            with pytest.raises(InputError, match="forbids what is not in the passages"):
                read_instructions(Path(name), open_knowledge=True)
        else:
            closed, opened = read_instructions(Path(name)), read_instructions(Path(name), open_knowledge=True)
            assert opened.startswith(closed) and opened != closed


def test_a_refusal_is_an_abstention_whatever_the_model_says_of_it() -> None:
    for said in ("The documents do not answer this [passage 1].", "Lo siento, los fragmentos no mencionan la receta."):
        answer = answered({"answered": True, "quotes": [], "answer": said}, template="strict")
        assert answer.abstained and answer.citations == () and "taken for an abstention" in answer.notes[0]
    denied = answered({"answered": True, "quotes": [], "answer": "The X-100 has no display [passage 1]."})
    assert not denied.abstained


MIXED = {
    "answered": True,
    "quotes": [],
    "answer": "The X-100 needs 3.3 V [passage 1]. Its weight is 99 kg [passage 2]. Kangaroos were first described by Joseph Banks.",
}


def test_own_knowledge_and_what_the_documents_say_are_told_apart() -> None:
    closed = answered(MIXED)
    assert closed.text.count("[unverified]") == 2 and "[own knowledge]" not in closed.text
    opened = answered(MIXED, open_knowledge=True)
    assert opened.text.endswith("Joseph Banks. [own knowledge]")
    assert opened.text.count("[unverified]") == 1, "what is cited for what it does not say fails as ever"
    own = [note for note in opened.notes if "own knowledge" in note]
    assert len(own) == 1 and "Kangaroos" in own[0]
    assert [one.number for one in opened.citations] == [1, 2]


def test_strict_takes_out_what_fails_and_leaves_marked_own_knowledge() -> None:
    answer = answered(MIXED, open_knowledge=True, strict=True)
    assert "99 kg" not in answer.text and answer.text.endswith("Joseph Banks. [own knowledge]")
    assert "Kangaroos" not in answered(MIXED, strict=True).text
