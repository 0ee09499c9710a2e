import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kgrag.answer import generate_answer, read_template
from kgrag.answer.template import fill_template
from kgrag.errors import InputError, ModelReplyError
from kgrag.testing import ScriptedChatModel
from kgrag.types import Answer, Evidence

EVIDENCE = [
    Evidence(
        chunk_id="c1",
        source_id="s",
        document="docs/x-100.pdf",
        section="Supply",
        page_start=3,
        page_end=3,
        text="The X-100 needs 3.3 V.",
        tokens=9,
        score=1.0,
    ),
    Evidence(chunk_id="c2", source_id="s", document="docs/other.md", text="Nothing {of} use.", tokens=4, score=0.5),
]


def generate(reply: Any, **options: Any) -> tuple[Answer, ScriptedChatModel]:
    model = ScriptedChatModel([json.dumps(reply)])
    return asyncio.run(
        generate_answer("Which voltage?", options.pop("evidence", EVIDENCE), model=model, **options)
    ), model


def test_the_model_is_shown_numbered_passages_with_their_places_and_the_question() -> None:
    _, model = generate({"answered": True, "answer": "3.3 V [1]."})
    ((message,),) = model.calls
    assert "[1] (docs/x-100.pdf, page 3, Supply)\nThe X-100 needs 3.3 V." in message.content
    assert "[2] (docs/other.md)\nNothing {of} use." in message.content
    assert message.content.endswith("Question: Which voltage?")


def test_an_answer_has_its_citations_its_model_and_what_it_used() -> None:
    answer, _ = generate({"answered": True, "answer": "It needs 3.3 V [1]."})
    assert (answer.text, answer.abstained, answer.model, answer.notes) == ("It needs 3.3 V [1].", False, "scripted", ())
    (citation,) = answer.citations
    assert (citation.document, citation.page_start, citation.quote) == ("docs/x-100.pdf", 3, "The X-100 needs 3.3 V.")
    assert answer.usage.calls == 1
    assert answer.evidence == tuple(EVIDENCE)


def test_unknown_numbers_and_missing_citations_are_noted() -> None:
    answer, _ = generate({"answered": True, "answer": "It needs 3.3 V [5]."})
    assert answer.text == "It needs 3.3 V."
    assert "[5]" in answer.notes[0]
    assert "cited no passage" in answer.notes[1]


def test_an_abstention_is_recognised_and_cites_nothing() -> None:
    answer, _ = generate({"answered": False, "answer": "The passages name no current, only a voltage [1]."})
    assert (answer.abstained, answer.citations, answer.notes) == (True, (), ())
    assert "no current" in answer.text


def test_without_evidence_no_model_is_asked() -> None:
    answer, model = generate({}, evidence=[])
    assert answer.abstained
    assert model.calls == []


def test_an_empty_answer_is_an_error() -> None:
    with pytest.raises(ModelReplyError, match="empty"):
        generate({"answered": True, "answer": " "})


def test_a_template_may_come_from_a_file_and_keeps_its_other_braces(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text('Q: {question}\nSay {"a": 1}.\n{evidence}\nEnd.')
    _, model = generate({"answered": True, "answer": "x [1]"}, template=read_template(file))
    prompt = model.calls[0][0].content
    assert prompt.startswith('Q: Which voltage?\nSay {"a": 1}.\n[1] (docs/x-100.pdf')
    assert prompt.endswith("Nothing {of} use.\nEnd.")


def test_what_a_template_does_not_place_follows_at_its_end() -> None:
    prompt = fill_template("Answer in French.", question="Which {evidence}?", evidence=EVIDENCE)
    assert prompt.startswith("Answer in French.\n\nPassages:\n\n[1]")
    assert prompt.endswith("Question: Which {evidence}?")


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\x00"])
def test_a_template_file_that_cannot_be_used_is_named(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=r"prompt\.txt"):
        read_template(file)
