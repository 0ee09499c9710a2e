"""What tells whether evidence answers: the logits of its statements taken together, and how well the best one was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kgrag.answer.abstention import FEATURES, answer_probability, evidence_features
from kgrag.answer.candidates import Candidate
from kgrag.answer.judgement import judge
from kgrag.answer.weighing import weighed_candidates
from kgrag.models.minilm import MiniLM
from kgrag.text.questions import Question, read_question
from kgrag.types import Evidence

EMBEDDER = MiniLM()
TEXT = """The pump rests between two cycles. After a power cut the pump goes on where it stopped.
A cycle that was broken off is written to the journal. The journal keeps the last forty cycles."""
EVIDENCE = [
    Evidence(
        chunk_id="1",
        source_id="Pump",
        document="pump.md",
        title="Pump",
        section="Cycles",
        text=TEXT,
        tokens=40,
        score=1.0,
    )
]
ASKED = read_question("Does the pump begin anew when the mains fail?")


def features(asked: Question, logits: Sequence[float], *, score: float | None = None) -> dict[str, float]:
    """The features of the evidence's first statements, as if they had been read so."""
    found = asyncio.run(weighed_candidates(asked, EVIDENCE, EMBEDDER))[: len(logits)]
    assert len(found) == len(logits)
    for candidate, logit in zip(found, logits, strict=True):
        candidate.logit = logit
    if score is not None:
        found[0].score = score
    return dict(zip(FEATURES, evidence_features(asked, found, EVIDENCE, EMBEDDER), strict=True))


def test_where_no_statement_is_sure_the_others_tell_whether_the_evidence_speaks_of_it() -> None:
    off, near = features(ASKED, [-2.0, -9.0, -9.0, -9.0]), features(ASKED, [-2.0, -3.0, -3.0, -3.0])
    assert near["read"] > off["read"]
    assert answer_probability(list(near.values())) > answer_probability(list(off.values()))


def test_one_sure_statement_tells_more_than_several_that_are_unsure() -> None:
    assert features(ASKED, [3.0, -6.0, -6.0])["read"] > features(ASKED, [-3.0, -3.0, -3.0])["read"]


def test_evidence_of_few_statements_is_no_surer_than_with_others_that_do_not_answer() -> None:
    one, two = features(ASKED, [1.0]), features(ASKED, [1.0, -5.5])
    assert one["read"] == pytest.approx(two["read"])


def test_the_score_of_the_best_statement_counts() -> None:
    low, high = features(ASKED, [-2.0, -6.0], score=0.6), features(ASKED, [-2.0, -6.0], score=0.9)
    assert (low["score"], high["score"]) == (0.6, 0.9)
    assert answer_probability(list(high.values())) > answer_probability(list(low.values()))


def test_statements_that_were_not_read_count_as_one_that_was_read_so_so() -> None:
    found: list[Candidate] = asyncio.run(weighed_candidates(ASKED, EVIDENCE, EMBEDDER))
    for candidate in found:
        candidate.logit = None
    unread = dict(zip(FEATURES, evidence_features(ASKED, found, EVIDENCE, EMBEDDER), strict=True))
    assert features(ASKED, [-9.0] * 4)["read"] < unread["read"] < features(ASKED, [4.0] * 4)["read"]


def test_what_stands_below_a_setting_is_given_where_it_nearly_answers() -> None:
    piece = EVIDENCE[0].model_copy(
        update={"text": "max_rest: The pump rests for 40 seconds. It rests at night as well."}
    )
    asked = read_question("How many seconds does max_rest take in bad weather?")
    found = asyncio.run(weighed_candidates(asked, [piece], EMBEDDER))
    assert found[0].statement.label == "max_rest"

    def probability(score: float) -> float:
        found[0].score = score
        return answer_probability(evidence_features(asked, found, [piece], EMBEDDER))

    nearly = next(score / 100 for score in range(-300, 300) if probability(score / 100) >= 0.38)
    found[0].score = nearly
    assert probability(nearly) < 0.5 == judge(asked, found, [piece], EMBEDDER).probability
    found[0].statement = replace(found[0].statement, label="", text="The pump rests for 40 seconds with --max-rest.")
    assert judge(asked, found, [piece], EMBEDDER).probability == 0.5
    found[0].statement = replace(found[0].statement, text="The pump rests for 40 seconds.")
    assert judge(asked, found, [piece], EMBEDDER).probability < 0.5


def test_what_stands_below_a_setting_is_not_given_so_where_what_is_named_is_lacking() -> None:
    piece = EVIDENCE[0].model_copy(
        update={"text": "max_rest: The pump rests for 40 seconds. It rests at night as well."}
    )
    asked = read_question("How many seconds does max_rest take at 12 V in bad weather?")
    found = asyncio.run(weighed_candidates(asked, [piece], EMBEDDER))
    measured = list(evidence_features(asked, found, [piece], EMBEDDER))[:-1]
    found[0].score = next(n / 100 for n in range(-500, 500) if answer_probability([*measured, n / 100]) >= 0.42)
    judged = judge(asked, found, [piece], EMBEDDER)
    assert judged.unknown and judged.probability < 0.5
