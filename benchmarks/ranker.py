"""Learn the boosted trees of the step `learnt`, and hand out trees that were learnt without one set.

    pip install lightgbm
    python -m benchmarks.ranker --stores DIR --manuals MANUALS [--sets ...] [--out FILE]
    KGRAG_MANUALS=MANUALS python -m benchmarks.carry_over --stores DIR --learnt benchmarks.ranker:trained_without

The first writes `kgrag/retrieve/ranker.safetensors`, which pipelines/default.toml asks, learnt from the questions of sets whose licences
allow to hand on what was learnt from them, and from the support questions that are for training (`benchmarks/support`, `training-*`), asked
of the manuals of Debian packages in the folder MANUALS (`benchmarks/answer_sets.py`). The second asks every set by trees of the others,
kept as `DIR/without-NAME.safetensors`. `benchmarks.ranker:adapted` takes such trees and adapts them to the documents of the set that is
asked, by questions made of them (`python -m benchmarks.carry_over --make` writes those to `DIR/NAME.made.jsonl`), as `kgrag build --learn`
does. The features of a set are kept in `DIR/NAME.features.npz`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import DATA
from benchmarks.answer_sets import TRAINING, AnswerSet, answer_sets
from benchmarks.answers import has_value
from benchmarks.boosting import Asked, learn_order, write_trees
from benchmarks.carry_over import Fold, Place, places_of
from benchmarks.retrieval_quality import parser_of_sets, questions_of
from kgrag.common.boosted_trees import read_trees
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions
from kgrag.evaluate.learn_ranker import SPREAD_RANK, Example, adapt, collect, up_to_reading
from kgrag.evaluate.retrieval import Traces
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.retrieve import Pipeline, Retriever, load_pipeline
from kgrag.retrieve.features import FEATURES, SHIPPED_TREES, TREES, features, with_trees
from kgrag.retrieve.step import run_step
from kgrag.retrieve.steps.learnt import Learnt
from kgrag.text.words import words
from kgrag.types import content_id

MAY_BE_SHIPPED = ("2wiki", "hotpotqa", "musique", "arduino", "emanual", "clapnq")
"""Under MIT, Apache-2.0 or CC BY-SA 4.0. Not financebench (CC BY-NC 4.0, for measuring only) nor git_html (GPL-2.0)."""
PIPELINE, GRAPH = "default", "mention"
MANUALS = "KGRAG_MANUALS"
"""The environment's variable with the folder of unpacked packages, for `trained_without`."""
SAID_OF_PASSAGE = 0.8
"""The share of a passage's words that a piece has which states what the passage does."""


def trained_without(fold: Fold, opened: KnowledgeGraph) -> Traces:
    """Return the default pipeline with trees learnt from the other sets that may be shipped."""
    return _retriever(fold, opened, {TREES: 1.0})


def adapted(fold: Fold, opened: KnowledgeGraph) -> Traces:
    """Return the same, adapted to the held-out set's documents by questions made of them, as `kgrag build --learn` does.

    The set's own questions have no part in it; made ones that are like them are left out.
    """
    trees = read_trees(_without(fold))
    examples = [
        replace(one, features=with_trees(one.features[:, :-1], trees))
        for one in examples_of(fold.held_out, DATA, made=True, opened=opened)
    ]
    found = adapt(examples, {TREES: 1.0}, made=True)
    print(
        f"{fold.held_out.set.name}, {found.questions} made questions: {found.after:.3f} against {found.before:.3f}, "
        f"{found.difference:+.3f}, "
        f"{'adapted' if found.better else 'left as it was'}"
    )
    return _retriever(fold, opened, found.weights)


def _retriever(fold: Fold, opened: KnowledgeGraph, weights: Mapping[str, float]) -> Retriever:
    pipeline = _pipeline()
    ranker = Learnt(weights=dict(weights), trees=str(_without(fold)))
    steps = tuple(ranker if isinstance(step, Learnt) else step for step in pipeline.steps)
    ranked = pipeline.model_copy(update={"steps": steps})
    return Retriever(opened.store, opened.embedder, ranked, graph=fold.held_out.graph)


def _without(fold: Fold) -> Path:
    """Return the trees that were learnt from the other sets, from the file where they are kept."""
    stores = fold.held_out.store.parent
    file = stores / f"without-{fold.held_out.set.name}.safetensors"
    if not file.is_file():
        others = [place for place in fold.others if place.set.name in MAY_BE_SHIPPED]
        manuals = os.environ.get(MANUALS)
        write_learnt(
            corpora_of(others, DATA, made=False) + (of_manuals(Path(manuals), stores) if manuals else []), file
        )
    return file


def write_learnt(corpora: Sequence[Sequence[Example]], out: Path) -> None:
    """Learn trees of which each corpus counts the same, and write them."""
    names = list(FEATURES)[:-1]
    asked = [
        Asked(one.features[:, :-1], one.gold, str(number)) for number, corpus in enumerate(corpora) for one in corpus
    ]
    trees = learn_order(asked, [FEATURES[name] for name in names])
    write_trees(trees, names, out, of=asked, falls_to=SPREAD_RANK)


def of_manuals(manuals: Path, cache: Path) -> list[list[Example]]:
    """Return the examples of the support questions for training, half of the sets as one corpus and half as another.

    A piece states what is asked for where it has the value, and most words of the passage that the question was written to.
    """
    sets = answer_sets(manuals)
    found = [_of_manual_set(sets[name], cache) for name in map("support-{}".format, TRAINING) if name in sets]
    return [corpus for corpus in ([one for half in found[start::2] for one in half] for start in (0, 1)) if corpus]


def _of_manual_set(one: AnswerSet, cache: Path) -> list[Example]:
    key = _key("".join(map(str, one.rows)))
    kept = cache / f"{one.name}.features.npz"
    if (known := _kept(kept, key)) is not None:
        return known
    with one.opened(cache) as graph:
        retriever = Retriever(graph.store, graph.embedder, _pipeline(), graph=GRAPH)
        examples = asyncio.run(_collected(retriever, one.rows))
    _keep(kept, key, examples)
    return examples


async def _collected(retriever: Retriever, rows: Sequence[dict[str, Any]]) -> list[Example]:
    steps, found = up_to_reading(retriever.pipeline), []
    for row in rows:
        if not row["answers"]:
            continue
        state = retriever.start(row["question"])
        for step in steps:
            state, _ = await run_step(step, state, retriever.resources, name=step.kind)
        flags = [[_states(piece.text, row)] for piece in state.evidence]
        facts = np.array(flags, dtype=np.bool_).reshape(len(flags), 1)
        found.append(Example(features(state), facts, row["manual"]))
    return found


def _states(text: str, row: dict[str, Any]) -> bool:
    passage = set(row.get("words", ()))
    said = {word.casefold() for word in words(text)}
    return has_value(text, row["answers"]) and len(said & passage) >= SAID_OF_PASSAGE * len(passage)


def corpora_of(places: Sequence[Place], data: Path, *, made: bool) -> list[list[Example]]:
    """Return the examples of each set: of its gold questions, and with `made` of its made ones as a corpus of its own."""
    found = []
    for place in places:
        if place.set.questions:
            found.append(examples_of(place, data, made=False))
        if made and place.made.is_file():
            found.append(examples_of(place, data, made=True))
    return found


def examples_of(place: Place, data: Path, *, made: bool, opened: KnowledgeGraph | None = None) -> list[Example]:
    """Return the features of a set's questions, from the file where they are kept; `opened` is its store where that is open already."""
    key = _key(place.made.read_text(encoding="utf-8") if made else "")
    kept = place.store.with_name(f"{place.set.name}{'.made' if made else ''}.features.npz")
    if (known := _kept(kept, key)) is not None:
        return known
    with nullcontext(opened) if opened else place.opened() as graph:
        questions: Sequence[GoldQuestion] = (
            read_gold_questions(place.made)[0] if made else questions_of(place.set, data, graph.store)
        )
        retriever = Retriever(graph.store, graph.embedder, _pipeline(), graph=place.graph)
        examples = asyncio.run(collect(retriever, questions))
    _keep(kept, key, examples)
    return examples


def _key(asked: str) -> str:
    """Hash what features depend on: the steps before ranking, which features there are, and what is asked."""
    return content_id(*(step.model_dump_json() for step in up_to_reading(_pipeline())), *FEATURES, asked)


def _kept(file: Path, key: str) -> list[Example] | None:
    if file.is_file():
        with np.load(file, allow_pickle=False) as read:
            if str(read["key"]) == key:
                return _unpacked(read["features"], read["facts"], read["shapes"], read["groups"])
    return None


def _keep(file: Path, key: str, examples: Sequence[Example]) -> None:
    np.savez_compressed(
        file,
        key=key,
        features=np.concatenate([one.features for one in examples]),
        facts=np.concatenate([one.facts.ravel() for one in examples]),
        shapes=np.array([one.facts.shape for one in examples]),
        groups=np.array([one.group for one in examples]),
    )


def _unpacked(features: np.ndarray, facts: np.ndarray, shapes: np.ndarray, groups: np.ndarray) -> list[Example]:
    examples, row, cell = [], 0, 0
    for (pieces, count), group in zip(shapes.tolist(), groups.tolist(), strict=True):
        flags = facts[cell : cell + pieces * count].reshape(pieces, count)
        examples.append(Example(features[row : row + pieces], flags, group))
        row, cell = row + pieces, cell + pieces * count
    return examples


def _pipeline() -> Pipeline:
    pipeline = load_pipeline(PIPELINE)
    assert isinstance(pipeline, Pipeline)
    return pipeline


def main() -> None:
    """Write the trees."""
    parser = parser_of_sets(__doc__, sets=MAY_BE_SHIPPED)
    parser.add_argument("--manuals", type=Path, help="folder with Debian's packages, unpacked")
    parser.add_argument("--made", action="store_true", help="learn from made questions as well")
    parser.add_argument("--out", type=Path, default=SHIPPED_TREES)
    arguments = parser.parse_args()
    places = places_of(arguments.sets, arguments.data, arguments.stores)
    corpora = corpora_of(places, arguments.data, made=arguments.made)
    if arguments.manuals:
        corpora += of_manuals(arguments.manuals, arguments.stores)
    write_learnt(corpora, arguments.out)
    print(f"{arguments.out}: learnt from {sum(map(len, corpora)):,} questions in {len(corpora)} corpora")


if __name__ == "__main__":
    main()
