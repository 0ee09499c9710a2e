"""How passages are shown to a model: which calls are made, what each is shown, and that citations mean what they meant."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from kgrag.answer import generate_answer
from kgrag.answer.prompt import MERGE, REFINE
from kgrag.errors import ModelReplyError
from kgrag.models.endpoint_errors import ContextOverflow
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.types import Answer, Evidence

SAID = ["The X-100 needs 3.3 V.", "The weather is fine.", "The X-100 weighs 9 g.", "Its fuse is rated 1.5 A."]
EVIDENCE = [
    Evidence(chunk_id=f"c{n}", source_id="s", document=f"d{n}.md", text=text, tokens=10, score=1.0 - n / 10)
    for n, text in enumerate(SAID)
]
NOTHING = {"quotes": [], "answered": False, "answer": "These passages do not say it."}


def said(answer: str, *quoted: int) -> dict[str, Any]:
    return {"quotes": [{"passage": n, "quote": SAID[n - 1]} for n in quoted], "answered": True, "answer": answer}


def ask(chain: str, replies: list[Any], **options: Any) -> tuple[Answer, ScriptedChatModel]:
    model = ScriptedChatModel([reply if isinstance(reply, Exception) else json.dumps(reply) for reply in replies])
    asked = generate_answer(
        "What is known of the X-100?",
        EVIDENCE,
        model=model,
        embedder=HashingEmbedder(),
        chain=chain,  # type: ignore[arg-type]
        batch_tokens=options.pop("batch_tokens", 20),
        **options,
    )
    return asyncio.run(asked), model


def passages(model: ScriptedChatModel) -> list[list[int]]:
    """The numbers of the passages that each call was shown."""
    return [[int(n) for n in re.findall(r"(?m)^<passage (\d+) \w+>$", call[-1].content)] for call in model.calls]


def test_all_passages_go_into_one_call() -> None:
    answer, model = ask("stuff", [said("It needs 3.3 V [1] and weighs 9 g [3].", 1, 3)])
    assert passages(model) == [[1, 2, 3, 4]]
    assert [citation.number for citation in answer.citations] == [1, 3]


def test_answers_of_batches_are_merged_and_cite_the_passages_of_their_batches() -> None:
    replies = [
        said("It needs 3.3 V [1].", 1),
        said("It weighs 9 g [3].", 3),
        said("It needs 3.3 V [1] and weighs 9 g [3]."),
    ]
    answer, model = ask("map_reduce", replies)
    assert passages(model) == [[1, 2], [3, 4], []]
    merging = model.calls[2][-1].content
    assert MERGE in merging and "It needs 3.3 V [1]." in merging and "It weighs 9 g [3]." in merging
    assert merging.endswith("Question: What is known of the X-100?")
    assert answer.text == "It needs 3.3 V [1] and weighs 9 g [3]."
    assert [(c.number, c.document, c.quote) for c in answer.citations] == [(1, "d0.md", SAID[0]), (3, "d2.md", SAID[2])]
    assert answer.usage.calls == 3 and len(answer.evidence) == 4


def test_the_only_batch_that_answers_is_not_merged_with_anything() -> None:
    answer, model = ask("map_reduce", [NOTHING, said("It weighs 9 g [3].", 3)])
    assert (len(model.calls), answer.text, answer.abstained) == (2, "It weighs 9 g [3].", False)
    silent, model = ask("map_reduce", [NOTHING, NOTHING])
    assert (len(model.calls), silent.abstained, silent.citations) == (2, True, ())


def test_a_batch_whose_reply_is_of_no_use_is_named_and_does_not_end_the_others() -> None:
    broken = ModelReplyError("scripted: not JSON", reply="???")
    answer, _ = ask("map_reduce", [broken, said("It weighs 9 g [3].", 3)])
    assert answer.text == "It weighs 9 g [3]."
    assert any("not in the answer" in note and "not JSON" in note for note in answer.notes)
    with pytest.raises(ModelReplyError):
        ask("map_reduce", [broken, broken])
    with pytest.raises(ModelReplyError):
        ask("refine", [broken, broken])


def test_an_answer_is_refined_batch_by_batch() -> None:
    replies = [said("It needs 3.3 V [1].", 1), said("It needs 3.3 V [1] and weighs 9 g [3].", 3)]
    answer, model = ask("refine", replies)
    assert passages(model) == [[1, 2], [3, 4]]
    first, second = (call[-1].content for call in model.calls)
    assert REFINE not in first and REFINE in second
    assert re.search(r"<answer so far (\w+)>\nIt needs 3\.3 V \[1\]\.\n</answer \1>\n\n<passage 3 \1>", second)
    assert [(c.number, c.quote) for c in answer.citations] == [(1, SAID[0]), (3, SAID[2])]


def test_a_batch_that_answers_nothing_leaves_the_answer_as_it_is() -> None:
    answer, model = ask("refine", [said("It needs 3.3 V [1].", 1), NOTHING])
    assert (answer.text, answer.abstained, answer.usage.calls) == ("It needs 3.3 V [1].", False, 2)
    answer, model = ask("refine", [NOTHING, said("It weighs 9 g [3].", 3)])
    assert answer.text == "It weighs 9 g [3]."
    assert REFINE not in model.calls[1][-1].content


def test_what_does_not_fit_the_window_at_once_is_asked_in_batches_and_merged() -> None:
    full = ContextOverflow("The context length is 100.", detail="")
    first, second = said("It needs 3.3 V [1].", 1), said("It weighs 9 g [3].", 3)
    merged = said("It needs 3.3 V [1] and weighs 9 g [3].")
    answer, model = ask("stuff", [full, first, second, merged])
    assert passages(model) == [[1, 2, 3, 4], [1, 2], [3, 4], []]
    assert answer.text == "It needs 3.3 V [1] and weighs 9 g [3]." and answer.usage.calls == 3
    assert [(c.number, c.quote) for c in answer.citations] == [(1, SAID[0]), (3, SAID[2])]
    assert any("too small for 4 passages at once" in note for note in answer.notes)


def test_a_passage_that_alone_is_too_long_is_named_and_does_not_end_the_others() -> None:
    full = ContextOverflow("The context length is 100.", detail="")
    for chain in ("map_reduce", "refine"):
        answer, _ = ask(chain, [full, said("It weighs 9 g [3].", 3), NOTHING, NOTHING], batch_tokens=10)
        assert answer.text == "It weighs 9 g [3]."
        assert any("not in the answer" in note and "context length" in note for note in answer.notes)
        with pytest.raises(ContextOverflow):
            ask(chain, [full] * 4, batch_tokens=10)


@pytest.mark.parametrize("chain", ["map_reduce", "refine"])
def test_a_batch_that_is_too_long_for_the_window_is_halved_and_nothing_left_out(chain: str) -> None:
    full = ContextOverflow("The context length is 100.", detail="")
    last = said("It needs 3.3 V [1] and weighs 9 g [3].", 1, 3)
    replies = [full, said("It needs 3.3 V [1].", 1), last] if chain == "refine" else [full, last, NOTHING]
    answer, model = ask(chain, replies, batch_tokens=1000)
    assert passages(model) == [[1, 2, 3, 4], [1, 2], [3, 4]]
    assert len(answer.evidence) == 4
    assert {citation.number for citation in answer.citations} == {1, 3}


def test_form_and_explanation_are_asked_for_and_a_missing_form_is_noted() -> None:
    options = {"form": "yes/no", "explanation": "Its supply\nvoltage."}
    right, model = ask("stuff", [said("No, it needs 3.3 V [1].", 1)], **options)
    (call,) = model.calls
    assert call[-1].content.endswith(
        "Question: What is known of the X-100?\nWhat is meant: Its supply voltage.\nGive the answer in this form: yes/no"
    )
    assert right.notes == ()
    wrong, _ = ask("stuff", [said("It needs 3.3 V [1].", 1)], **options)
    assert wrong.notes == ("The answer was to have this form: yes/no. It has no yes or no at its beginning.",)
    unnumbered, _ = ask("stuff", [said("The weather is fine [2].", 2)], form="number")
    assert any("It has no number" in note for note in unnumbered.notes)
