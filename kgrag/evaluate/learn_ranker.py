"""Learning the weights of the step `learnt` from questions with gold evidence, and how far they can be trusted."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kgrag.common.boosted_trees import BoostedTrees
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import GoldQuestion, states
from kgrag.evaluate.statistics import Interval, paired_difference
from kgrag.retrieve import Retriever
from kgrag.retrieve.features import FEATURES, features
from kgrag.retrieve.pipeline import Pipeline
from kgrag.retrieve.state import State
from kgrag.retrieve.step import Step, run_step
from kgrag.retrieve.steps.evidence import Read
from kgrag.retrieve.steps.learnt import Learnt
from kgrag.retrieve.steps.proximity import Proximity

__all__ = [
    "CARRY_OVER",
    "SPREAD_RANK",
    "Adapted",
    "Example",
    "adapt",
    "collect",
    "fit",
    "gain_of",
    "pipeline_file",
    "up_to_reading",
    "weights_of",
    "with_weights",
]

FOLDS = 5
REGULARISATION = 0.03
"""Times the sum of squared weights, of features in standard deviations; chosen among 0.003 to 0.1, which differ little."""
FEWEST_EXAMPLES = 20
"""Questions with gold among their candidates that weights are learnt from."""
CARRY_OVER = ("score", "terms", "sentence", "one_sentence", "pairs", "identifiers", "quantity", "length")
"""Features whose weights hold for other corpora: the score of the steps before, and what the text says of the question. Weights of all
features, learnt on some corpora, rank others worse than no learning (docs/results.md)."""
SPREAD_RANK = 10
MOST_STEPS = 500

Features = NDArray[np.float64]
Flags = NDArray[np.bool_]
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its pieces of evidence as they were before ranking."""

    features: Features
    """[pieces, features]."""
    facts: Flags
    """Whether a piece states a gold fact: [pieces, facts]."""
    group: str
    """Questions of one document are learnt from together or not at all."""

    @property
    def gold(self) -> Flags:
        """Whether a piece states any of them: [pieces]."""
        return np.asarray(self.facts.any(axis=1), dtype=np.bool_)


async def collect(
    retriever: Retriever, questions: Sequence[GoldQuestion], *, advance: Callable[[], None] | None = None
) -> list[Example]:
    """Run the pipeline of each question up to where texts are read, and take the features of what is there."""
    steps = up_to_reading(retriever.pipeline)
    trees = next((one.asked_trees() for one in retriever.pipeline.steps if isinstance(one, Learnt)), None)
    examples = []
    for question in questions:
        state = replace(retriever.start(question.question), hidden=question.hidden)
        for step in steps:
            state, _ = await run_step(step, state, retriever.resources, name=step.kind)
        examples.append(_example(state, question, trees))
        if advance is not None:
            advance()
    return examples


def up_to_reading(pipeline: Pipeline) -> tuple[Step, ...]:
    """Return the steps up to `read`. Raises `InputError` where the pipeline has none."""
    for place, step in enumerate(pipeline.steps):
        if isinstance(step, Read):
            return pipeline.steps[: place + 1]
    raise InputError(f"Expected a pipeline with the step read, got {pipeline.name}: {', '.join(pipeline.step_names)}.")


def fit(
    corpora: Sequence[Sequence[Example]], *, among: Collection[str] = tuple(FEATURES), prior: Weights | None = None
) -> dict[str, float]:
    """Learn weights of the features `among` them that put gold pieces first; each corpus counts the same, however large.

    Listwise: the mean negative logarithm of what a softmax over a question's pieces gives to its gold ones (ListNet, Cao et al., ICML
    2007), and REGULARISATION times the squared distance from `prior` (None: from 0). Where the sign of a feature is known, its weight
    has it. The weights are scaled so that from the first to the tenth piece scores fall as far as the best possible seed's. Raises
    `InputError` where fewer than FEWEST_EXAMPLES questions have gold among their candidates.
    """
    used = [[one for one in corpus if one.gold.any()] for corpus in corpora]
    used = [corpus for corpus in used if corpus]
    count = sum(map(len, used))
    if count < FEWEST_EXAMPLES:
        raise InputError(
            f"Expected at least {FEWEST_EXAMPLES} questions whose gold evidence is found at all, got {count}: "
            "make more (kgrag questions make) or look at what the questions' evidence names."
        )
    shares = [(one, 1.0 / len(used) / len(corpus)) for corpus in used for one in corpus]
    rows = np.concatenate([one.features for one, _ in shares])
    middle, deviation = rows.mean(axis=0), rows.std(axis=0)
    deviation[deviation < 1e-9] = np.inf  # What is the same everywhere orders nothing.
    standard = (rows - middle) / deviation
    sizes = np.array([len(one.features) for one, _ in shares])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(shares)), sizes)
    weight = np.array([share for _, share in shares])[owner]
    wanted = np.concatenate([one.gold / one.gold.sum() for one, _ in shares])
    before = np.zeros(len(FEATURES))
    if prior is not None:
        known = _vector(prior)
        before = known * np.where(np.isinf(deviation), 0.0, deviation) * _temperature(known, [one for one, _ in shares])

    def loss(weights: Features) -> tuple[float, Features]:
        scores = standard @ weights
        scores -= np.maximum.reduceat(scores, starts)[owner]
        exponential = np.exp(scores)
        total = np.add.reduceat(exponential, starts)[owner]
        away = weights - before
        value = -float((weight * wanted * (scores - np.log(total))).sum()) + REGULARISATION * float(away @ away)
        return value, standard.T @ (weight * (exponential / total - wanted)) + 2.0 * REGULARISATION * away

    bounds = [
        (0.0, 0.0) if name not in among else (0.0, None) if sign else (None, None) for name, sign in FEATURES.items()
    ]
    found = minimize(loss, before, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": MOST_STEPS})
    learnt = np.asarray(found.x) / deviation
    learnt *= _spread(_vector({"score": 1.0}), shares) / max(_spread(learnt, shares), 1e-9)
    return {name: round(float(one), 4) for name, one in zip(FEATURES, learnt, strict=True) if abs(one) >= 5e-5}


def gain_of(example: Example, weights: Weights) -> float:
    """Return the mean over facts of 1 / log2(1 + rank of the first piece that states it); 0 for one that none does."""
    order = np.argsort(-(example.features @ _vector(weights)), kind="stable")
    ranked = example.facts[order]
    ranks = np.where(ranked.any(axis=0), ranked.argmax(axis=0) + 1.0, math.inf)
    return float(np.mean(1.0 / np.log2(1.0 + ranks))) if ranks.size else 0.0


@dataclass(frozen=True, slots=True)
class Adapted:
    """Weights for one corpus, with what they were worth on questions that they were not learnt from."""

    weights: Mapping[str, float]
    """The adapted ones where they are better, else those from before."""
    better: bool
    questions: int
    """With gold among their candidates."""
    before: float
    """Mean gain (`gain_of`) of the weights from before."""
    after: float
    """Mean gain of adapted ones, each question ranked by weights that were learnt without it and its document."""
    difference: Interval


def adapt(examples: Sequence[Example], before: Weights, *, made: bool = False) -> Adapted:
    """Learn weights from one corpus, near those from before, and keep them only where held-out questions say that they are better.

    From `made` questions only weights of CARRY_OVER, and of what had one before: they are not what people ask, as another corpus is not.
    Five folds, by documents. Better: the 95 % interval of the paired difference is above 0. Raises `InputError` as `fit` does.
    """
    among = {*CARRY_OVER, *before} if made else FEATURES
    used = [one for one in examples if one.gold.any()]
    folds = [int(hashlib.sha256(one.group.encode()).hexdigest(), 16) % FOLDS for one in used]
    old = [gain_of(one, before) for one in used]
    new = [0.0] * len(used)
    for fold in sorted(set(folds)):
        weights = fit([[one for one, of in zip(used, folds, strict=True) if of != fold]], among=among, prior=before)
        for place, of in enumerate(folds):
            if of == fold:
                new[place] = gain_of(used[place], weights)
    weights = fit([used], among=among, prior=before)
    difference = paired_difference(new, old, [one.group for one in used])
    better = difference.low > 0.0
    return Adapted(
        weights if better else before, better, len(used), float(np.mean(old)), float(np.mean(new)), difference
    )


def weights_of(pipeline: Pipeline) -> dict[str, float]:
    """Return the weights that rank a pipeline's evidence as it does: those of its step `learnt`, or of its score and `proximity`."""
    weights = {"score": 1.0}
    for step in pipeline.steps:
        if isinstance(step, Learnt):
            return dict(step.weights)
        if isinstance(step, Proximity):
            weights["one_sentence"] = step.weight
    return weights


def with_weights(pipeline: Pipeline, weights: Weights) -> Pipeline:
    """Return the pipeline with a learnt ranker of these weights: in place of the one that it has, or of `proximity`, or after `read`."""
    trees = next((one.trees for one in pipeline.steps if isinstance(one, Learnt)), None)
    ranker = Learnt(weights=dict(weights), trees=trees)
    replaced = next(
        (kind for kind in (Learnt, Proximity) if any(isinstance(one, kind) for one in pipeline.steps)), None
    )
    if replaced is not None:
        steps = tuple(ranker if isinstance(step, replaced) else step for step in pipeline.steps)
    else:
        read = len(up_to_reading(pipeline))
        steps = (*pipeline.steps[:read], ranker, *pipeline.steps[read:])
    return pipeline.model_copy(update={"steps": steps})


def pipeline_file(pipeline: Pipeline, *, comments: Sequence[str]) -> str:
    """Write a pipeline as a TOML file that reads as the same pipeline, with comments at its head."""
    lines = [f"# {comment}" for comment in comments]
    about = pipeline.model_dump(include={"description", "graph", "without_graph"}, exclude_none=True)
    lines += [f"{key} = {_toml(value)}" for key, value in about.items()]
    for step in pipeline.steps:
        values = step.model_dump(exclude_none=True)
        lines += ["", "[[step]]"]
        lines += [f"{key} = {_toml(value)}" for key, value in values.items() if not isinstance(value, dict)]
        for key, table in values.items():
            if isinstance(table, dict):
                lines += ["", f"[step.{key}]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)  # JSON's escapes are TOML's.
        case tuple() | list():
            return f"[{', '.join(map(_toml, value))}]"
    return str(value)


def _example(state: State, question: GoldQuestion, trees: BoostedTrees | None) -> Example:
    facts = np.array([[states(piece, fact) for fact in question.facts] for piece in state.evidence], dtype=np.bool_)
    return Example(
        features(state, trees=trees),
        facts.reshape(len(state.evidence), len(question.facts)),
        question.document or question.id,
    )


def _vector(weights: Weights) -> Features:
    return np.array([weights.get(name, 0.0) for name in FEATURES])


def _spread(weights: Features, shares: Sequence[tuple[Example, float]]) -> float:
    """Return how far scores fall from the first piece to the tenth, median over questions."""
    falls = []
    for one, _ in shares:
        scores = np.sort(one.features @ weights)[::-1]
        falls.append(float(scores[0] - scores[min(SPREAD_RANK, len(scores)) - 1]))
    return float(np.median(falls))


def _temperature(weights: Features, examples: Sequence[Example]) -> float:
    """Return the factor that makes these weights likeliest, since the scale that they have in a pipeline is not a softmax's."""
    scored = [(one.features @ weights, one.gold) for one in examples]

    def loss(factor: float) -> float:
        total = 0.0
        for scores, gold in scored:
            scaled = factor * (scores - scores.max())
            total -= float(scaled[gold].mean() - np.log(np.exp(scaled).sum()))
        return total

    return float(min(np.geomspace(0.5, 64.0, 29), key=loss))
