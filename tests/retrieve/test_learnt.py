import asyncio
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from safetensors.numpy import save_file

from kgrag.errors import InputError, PipelineError
from kgrag.retrieve.features import FEATURES, features
from kgrag.retrieve.pipeline import read_pipeline
from kgrag.retrieve.state import Candidate, Hit, NamedEntity, Query, Resources, State
from kgrag.retrieve.steps.learnt import Learnt
from kgrag.testing import HashingEmbedder
from kgrag.types import Evidence

RESOURCES = Resources(None, HashingEmbedder(), "mention")  # type: ignore[arg-type]
QUESTION = "Which supply voltage does the X-100 need?"
COLUMNS = {name: column for column, name in enumerate(FEATURES)}


def piece(
    key: str, text: str, *, title: str = "", section: str = "", document: str = "d", score: float = 0.5
) -> Evidence:
    return Evidence(
        chunk_id=key, source_id="", document="d", document_id=document, title=title, section=section, text=text,
        tokens=len(text.split()), score=score,
    )  # fmt: skip


def found(*pieces: Evidence, **more: object) -> State:
    return State(Query(QUESTION, QUESTION, QUESTION), evidence=pieces, **more)  # type: ignore[arg-type]


def column(state: State, name: str) -> list[float]:
    values: list[float] = features(state)[:, COLUMNS[name]].tolist()
    return values


def test_features_of_scores_say_what_each_step_gave() -> None:
    one = (
        Candidate("a", 0.5, cosine=0.4, words=3.0).scored(0.7, "named", by="names").scored(0.8, "beside", by="adjacent")
    )
    other = Candidate("b", 0.4, cosine=0.8)
    state = found(piece("a", "one"), piece("b", "two"), candidates={"a": one, "b": other})
    assert column(state, "score") == [1.0, 0.5]
    assert column(state, "seeds") == pytest.approx([1.0, 0.8])
    assert column(state, "by_names") == pytest.approx([0.2, 0.0])
    assert column(state, "by_adjacent") == pytest.approx([0.1, 0.0])
    assert column(state, "cosine") == [0.4, 0.8]
    assert column(state, "cosine_share") == [0.5, 1.0]
    assert column(state, "words_share") == [1.0, 0.0]
    assert column(state, "words_rank") == [1.0, 0.0]


def test_features_of_texts_compare_words_sentences_titles_and_quantities_with_the_question() -> None:
    whole = piece("a", "The X-100 needs a supply voltage of 24 V.", title="X-100", section="X-100 > Supply")
    half = piece("b", "A supply is there.\n\nThe voltage is measured.", title="TPR", section="TPR > Notes")
    state = found(whole, half, piece("c", "Paint it green."))
    terms, sentence = column(state, "terms"), column(state, "sentence")
    assert terms[0] == 1.0 > terms[1] > terms[2] == 0.0
    assert sentence[0] == 1.0 and terms[1] > sentence[1] > 0.0
    assert column(state, "one_sentence") == [1.0, 0.0, 0.0]
    assert column(state, "identifiers") == [1.0, 0.0, 0.0]
    assert column(state, "title_asked") == [1.0, 0.0, 0.0]
    assert column(state, "heading_asked") == [1.0, 0.0, 0.0]
    assert column(state, "quantity") == [1.0, 0.0, 0.0]
    assert column(state, "pairs")[0] > 0.0 == column(state, "pairs")[2]


def test_features_of_names_places_and_documents() -> None:
    named = NamedEntity("k", "X-100", (Hit("a", 0.5, ("d", 0)),))
    member = NamedEntity("m", "X-100 mini", (Hit("b", 0.5, ("e", 3)),), family="x-100")
    pieces = (piece("a", "one"), piece("b", "two", document="e"), piece("c", "three"))
    state = found(*pieces, named=(named, member), places={"a": 0, "b": 3, "c": 1})
    assert column(state, "named") == [1.0, 0.0, 0.0]
    assert column(state, "family") == [0.0, 1.0, 0.0]
    assert column(state, "first") == [1.0, 0.0, 0.0]
    assert column(state, "early") == [1.0, 0.25, 0.5]
    assert column(state, "document") == pytest.approx([2 / 3, 0.0, 2 / 3])


@given(st.text(max_size=80), st.lists(st.text(max_size=120), max_size=6), st.randoms())
def test_features_are_finite_and_do_not_depend_on_the_order_of_pieces(
    question: str, texts: list[str], chance: object
) -> None:
    pieces = [piece(str(place), text, title=text[:10], document=text[:1]) for place, text in enumerate(texts)]
    asked = Query(question, question, question)
    rows = features(State(asked, evidence=tuple(pieces)))
    assert rows.shape == (len(texts), len(FEATURES)) and np.isfinite(rows).all()
    bounded = [COLUMNS[name] for name in FEATURES if name not in ("length", "trees")]
    assert (rows[:, bounded] >= 0.0).all() and (rows[:, bounded] <= 1.0).all()
    turned = features(State(asked, evidence=tuple(reversed(pieces))))[::-1]
    ranks = [
        COLUMNS[name] for name in ("cosine_rank", "words_rank", "score_rank", "terms_rank", "trees")
    ]  # ties go to the first
    assert np.allclose(np.delete(rows, ranks, axis=1), np.delete(turned, ranks, axis=1))


def test_pieces_are_ordered_by_the_weights_and_say_which_features_decided() -> None:
    plain, titled = piece("a", "Paint it green.", score=0.9), piece("b", "See there.", title="X-100", score=0.1)
    ranked = asyncio.run(Learnt(weights={"title_asked": 0.5, "length": -0.01})(found(plain, titled), RESOURCES))
    assert [one.chunk_id for one in ranked.evidence] == ["b", "a"]
    assert ranked.evidence[0].score == pytest.approx(0.5 - 0.01 * math.log(3 / 100))
    assert ranked.evidence[0].why[-1].startswith("learnt 0.54: title_asked")


def test_trees_order_pieces_and_the_reason_names_the_features_that_they_asked(tmp_path: Path) -> None:
    names = tuple(FEATURES)[:-1]
    tree = {
        "roots": np.array([0], dtype=np.int32),
        "feature": np.array([COLUMNS["title_asked"], 0, 0], dtype=np.int16),
        "threshold": np.array([0.5, 0.0, 0.0]),
        "children": np.array([[1, 2], [1, 1], [2, 2]], dtype=np.int32),
        "value": np.array([0.5, 0.25, 1.0], dtype=np.float32),
    }
    mine, others = tmp_path / "mine", tmp_path / "others"
    save_file(tree, mine, metadata={"features": ",".join(names)})
    save_file(tree, others, metadata={"features": ",".join(names[1:])})
    plain, titled = piece("a", "Paint it green.", score=0.9), piece("b", "See there.", title="X-100", score=0.1)
    ranker = Learnt(weights={"trees": 2.0}, trees=str(mine))
    ranked = asyncio.run(ranker(found(plain, titled), RESOURCES))
    assert [(one.chunk_id, one.score) for one in ranked.evidence] == [("b", 2.0), ("a", 0.5)]
    assert ranked.evidence[0].why[-1] == "learnt 2.00: title_asked"
    with pytest.raises(InputError, match=r"Expected trees over the features score, .* got score_rank, .*others"):
        asyncio.run(Learnt(weights={"trees": 1.0}, trees=str(others))(found(plain, titled), RESOURCES))


def test_equal_pieces_stay_in_their_order_and_nothing_is_lost() -> None:
    pieces = tuple(piece(str(number), "The same.", document=str(number)) for number in range(5))
    ranked = asyncio.run(Learnt(weights={"terms": 1.0})(found(*pieces), RESOURCES))
    assert [one.chunk_id for one in ranked.evidence] == ["0", "1", "2", "3", "4"]
    assert asyncio.run(Learnt(weights={"terms": 1.0})(found(), RESOURCES)).evidence == ()


def test_weights_of_unknown_features_and_no_numbers_are_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"expected features out of score, .* got hybird"):
        Learnt(weights={"hybird": 1.0})
    with pytest.raises(ValidationError, match="finite numbers, got others for terms"):
        Learnt(weights={"terms": math.nan})
    with pytest.raises(PipelineError, match=r"step 1 \(learnt\): weights: Field required"):
        read_pipeline({"description": "d", "step": [{"kind": "learnt"}]}, name="mine")


def test_a_file_of_trees_that_is_none_is_refused_before_the_first_question(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Expected boosted trees that benchmarks.ranker wrote, got .*absent"):
        Learnt(weights={"trees": 1.0}, trees=str(tmp_path / "absent")).check(RESOURCES)
    Learnt(weights={"trees": 1.0}).check(RESOURCES)
    Learnt(weights={"terms": 1.0}, trees=str(tmp_path / "absent")).check(RESOURCES)
