import tomllib

import numpy as np
import pytest

from kgrag.errors import InputError
from kgrag.evaluate.learn_ranker import Example, adapt, fit, gain_of, pipeline_file, weights_of, with_weights
from kgrag.retrieve import Pipeline, load_pipeline, pipeline_names
from kgrag.retrieve.features import FEATURES
from kgrag.retrieve.pipeline import read_pipeline

COLUMNS = {name: column for column, name in enumerate(FEATURES)}


def corpus(by: dict[str, float], *, questions: int = 60, seed: int = 1, noise: float = 0.05) -> list[Example]:
    """Questions of 20 pieces, of which the one with the greatest weighted sum of random features states the only fact."""
    chance = np.random.default_rng(seed)
    examples = []
    for number in range(questions):
        features = chance.random((20, len(FEATURES)))
        value = sum(weight * features[:, COLUMNS[name]] for name, weight in by.items())
        best = int(np.argmax(value + noise * chance.standard_normal(20)))
        facts = np.zeros((20, 1), dtype=np.bool_)
        facts[best, 0] = True
        examples.append(Example(features, facts, f"document {number // 2}"))
    return examples


def test_what_decides_is_learnt_from_other_corpora_and_ranks_a_new_one() -> None:
    weights = fit([corpus({"seeds": 1.0, "title": 0.5}, seed=seed) for seed in (1, 2)])
    assert weights["seeds"] > weights["title"] > max(w for name, w in weights.items() if name not in ("seeds", "title"))
    new = corpus({"seeds": 1.0, "title": 0.5}, seed=3)
    learnt, by_seeds = (float(np.mean([gain_of(one, some) for one in new])) for some in (weights, {"seeds": 1.0}))
    assert learnt > by_seeds + 0.1


def test_a_feature_whose_sign_is_known_never_counts_against_a_piece() -> None:
    against = fit([corpus({"seeds": 1.0, "terms": -1.0, "length": -1.0})])
    assert "terms" not in against and against["length"] < 0.0


def test_a_large_corpus_does_not_outvote_a_small_one() -> None:
    small, large = corpus({"title": 1.0}, questions=30), corpus({"heading": 1.0}, questions=300, seed=2)
    weights = fit([small, large])
    assert weights["title"] == pytest.approx(weights["heading"], rel=0.35)


def test_too_few_questions_with_gold_are_refused_with_their_number() -> None:
    lost = [Example(one.features, np.zeros_like(one.facts), one.group) for one in corpus({"seeds": 1.0})]
    with pytest.raises(InputError, match="at least 20 questions whose gold evidence is found at all, got 7"):
        fit([corpus({"seeds": 1.0}, questions=7), lost])


def test_the_gain_of_a_question_counts_every_fact_by_its_first_piece() -> None:
    features = np.zeros((3, len(FEATURES)))
    features[:, COLUMNS["score"]] = [0.9, 0.5, 0.1]
    facts = np.array([[True, False, False], [True, True, False], [False, False, False]])
    assert gain_of(Example(features, facts, "d"), {"score": 1.0}) == pytest.approx((1.0 + 1 / np.log2(3) + 0.0) / 3)


def test_a_corpus_where_something_else_decides_is_adapted_to_and_one_of_chance_is_not() -> None:
    before = {"seeds": 1.0}
    gained = adapt(corpus({"seeds": 0.3, "heading": 1.0}, questions=150), before)
    assert gained.better and gained.after > gained.before and gained.difference.low > 0.0
    assert gained.weights["heading"] > 0.0
    made = adapt(corpus({"seeds": 0.3, "heading": 1.0, "terms": 0.5}, questions=150), before, made=True)
    assert made.better and made.weights["terms"] > 0.0 and "heading" not in made.weights
    chance = adapt(corpus({}, questions=150, noise=1.0), before)
    assert not chance.better and chance.weights == before
    same = adapt(corpus({"seeds": 1.0}, questions=150), before)
    assert not same.better and same.weights == before


@pytest.mark.parametrize("name", [name for name in pipeline_names() if name not in ("adaptive",)])
def test_a_pipeline_that_is_written_reads_as_the_same(name: str) -> None:
    pipeline = load_pipeline(name)
    assert isinstance(pipeline, Pipeline)
    assert read_pipeline(tomllib.loads(pipeline_file(pipeline, comments=["made here"])), name=name) == pipeline


def test_a_ranker_takes_the_place_of_the_one_before_of_proximity_or_stands_after_reading() -> None:
    plain, default = load_pipeline("hybrid"), load_pipeline("default")
    assert isinstance(plain, Pipeline) and isinstance(default, Pipeline)
    ranked = with_weights(plain, {"seeds": 1.0})
    assert [step.kind for step in ranked.steps] == ["embed", "hybrid", "read", "learnt", "near_duplicates", "budget"]
    assert weights_of(plain) == {"score": 1.0} and weights_of(ranked) == {"seeds": 1.0}
    again = with_weights(ranked, {"title": 1.0})
    assert [step.kind for step in again.steps] == [step.kind for step in ranked.steps]
    assert weights_of(again) == {"title": 1.0}
    assert len(with_weights(default, {"seeds": 1.0}).steps) == len(default.steps)
    assert weights_of(default)["trees"] == 0.5
    mine = read_pipeline(
        tomllib.loads(pipeline_file(ranked, comments=[]).replace('learnt"', 'learnt"\ntrees = "mine"')), name="mine"
    )
    assert 'trees = "mine"' in pipeline_file(with_weights(mine, {"title": 1.0}), comments=[])
    written = read_pipeline(tomllib.loads(pipeline_file(ranked, comments=[])), name="hybrid")
    assert written == ranked
