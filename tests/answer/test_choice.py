import asyncio

import numpy as np
import pytest

from kgrag.answer.candidates import candidates
from kgrag.answer.choice import FEATURES, LEARNT, PROMISING, choice_features, choice_scores, promising
from kgrag.answer.rules import extract_answer
from kgrag.answer.weighing import (
    CHOICE_WEIGHT,
    READ_STATEMENTS,
    candidates_by_weights,
    first_candidates,
    weighed_candidates,
)
from kgrag.common.boosted_trees import read_trees
from kgrag.models.minilm import MiniLM
from kgrag.text.questions import read_question
from kgrag.types import Evidence

QUESTION = "How long does the pump wait before it tries again?"


def passage(text: str, *, score: float, title: str = "Pump") -> Evidence:
    return Evidence(
        text=text,
        score=score,
        chunk_id=title,
        source_id=title,
        document="pump.md",
        document_id=title,
        title=title,
        tokens=9,
    )


EVIDENCE = (
    passage("The pump tries again where it fails. It tells the panel that it waits.", score=1.0),
    passage("retry-pause: Seconds between two attempts. Default: 40 seconds.", score=0.9, title="Settings of the pump"),
)


def test_statements_have_a_row_of_all_features_and_the_best_logit_lags_behind_none() -> None:
    asked = read_question(QUESTION)
    found = asyncio.run(candidates_by_weights(asked, EVIDENCE, MiniLM()))
    rows = choice_features(asked, found, EVIDENCE)
    column = {name: rows[:, place] for place, name in enumerate(FEATURES)}
    assert rows.shape == (len(found), len(FEATURES)) and np.isfinite(rows).all()
    assert column["logit_lag"].max() == 0.0 and column["similarity_lag"].max() == 0.0
    assert column["score_rank"].tolist() == pytest.approx([1 / (1 + place) for place in range(len(found))])
    assert set(column["asks_amount"]) == {1.0} and set(column["asks_name"]) == {0.0}


def test_trees_have_their_part_of_the_order_and_every_statement_stays() -> None:
    asked = read_question(QUESTION)
    before = asyncio.run(candidates_by_weights(asked, EVIDENCE, MiniLM()))
    scores = choice_scores(asked, before, EVIDENCE)
    assert scores is not None
    half = [
        CHOICE_WEIGHT * score + (1 - CHOICE_WEIGHT) * one.score
        for one, score in zip(before, scores.tolist(), strict=True)
    ]
    chosen = asyncio.run(weighed_candidates(asked, EVIDENCE, MiniLM()))
    assert [one.score for one in chosen] == pytest.approx(sorted(half, reverse=True))
    assert sorted(one.text for one in chosen) == sorted(one.text for one in before)
    assert "40 seconds" in chosen[0].text


def test_statements_that_were_not_read_together_with_the_question_stay_as_they_were_weighed() -> None:
    asked = read_question(QUESTION)
    found = asyncio.run(candidates_by_weights(asked, EVIDENCE, MiniLM()))
    found[-1].logit = None
    assert choice_scores(asked, found, EVIDENCE) is None and choice_scores(asked, [], EVIDENCE) is None


def test_what_is_shipped_was_learnt_from_these_features() -> None:
    assert read_trees(LEARNT).features == tuple(FEATURES)


def test_what_only_announces_is_given_where_nothing_else_is_below_the_identifier() -> None:
    text = passage("max_items: sets how many items these have:", score=1.0, title="Lists")
    answer = asyncio.run(extract_answer("What does max_items set?", [text], embedder=MiniLM()))
    assert "sets how many items these have" in answer.text and answer.citations


def test_most_of_what_is_read_is_chosen_by_weights_and_the_rest_by_trees_all_in_their_order() -> None:
    """What says the question's words loudest is read anyway; what the trees add has the value in other words."""
    said = [f"The pump tries again in mode {number}, and waits for valve {number}." for number in range(30)]
    settings = ["retry-pause: Seconds between two attempts. Default: 40 seconds.", "colour: Colour of the panel."]
    evidence = (
        passage(" ".join(settings), score=1.0, title="Settings"),
        *(passage(text, score=0.5, title=f"Mode {number}") for number, text in enumerate(said)),
    )
    asked = read_question(QUESTION)
    found = first_candidates(asked, evidence)
    scores = read_trees(PROMISING).scores(choice_features(asked, found, evidence))
    chosen = promising(asked, found, evidence, READ_STATEMENTS)
    places = [found.index(one) for one in chosen]
    assert len(found) > len(chosen) == READ_STATEMENTS
    assert places == sorted(places)
    assert places[:16] == list(range(16))
    left = set(range(len(found))) - set(places)
    assert min(scores[places[16:]]) >= max(scores[list(left)])
    assert any("40 seconds" in one.text for one in chosen)
    assert promising(asked, found[:9], evidence, READ_STATEMENTS) == found[:9]


def test_what_is_said_below_one_name_is_said_of_it_together_where_a_name_is_asked_for() -> None:
    text = "quiet_start: The valves open one after another.\nThe operator gets no message from them.\n\nquiet_stop: All valves close."
    evidence = [passage(text, score=1.0, title="Settings")]
    asked = read_question("Which setting opens the valves without a message?")
    by_text = {one.text: one for one in candidates(asked, evidence)}
    opens = next(one for text, one in by_text.items() if "open one after" in text)
    closes = next(one for text, one in by_text.items() if "All valves close" in text)
    assert 0.0 < opens.covered["messag"] < 1.0 and "messag" not in closes.covered
    is_asked = read_question("Does the panel open the valves without a message?")
    assert not any("messag" in one.covered for one in candidates(is_asked, evidence) if "open one after" in one.text)
