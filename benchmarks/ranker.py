"""Learn the weights of the step `learnt`, and hand out weights that were learnt without one set.

    python -m benchmarks.ranker --stores DIR [--sets ...]                          the weights that pipelines/default.toml has
    python -m benchmarks.carry_over --stores DIR --learnt benchmarks.ranker:trained_without     what such weights are worth

The first prints `[step.weights]`, learnt from the questions of the sets whose licences allow to hand on what was learnt from them. The
second asks every set by weights of the others. Both learn from the gold questions of each set, the first with `--made` also from made
ones, which `python -m benchmarks.carry_over --make` writes to `DIR/NAME.made.jsonl`. `benchmarks.ranker:adapted` takes such weights and
adapts them to the documents of the set that is asked, by its made questions (`kgrag build --learn`). The features of a set are kept in
`DIR/NAME.features.npz`.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from benchmarks.carry_over import Fold, Place, places_of
from benchmarks.retrieval_quality import CACHE, DATA, questions_of
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions
from kgrag.evaluate.learn_ranker import CARRY_OVER, Example, adapt, collect, fit, up_to_reading, with_weights
from kgrag.evaluate.retrieval import Traces
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.retrieve import Pipeline, Retriever, load_pipeline
from kgrag.retrieve.features import FEATURES
from kgrag.types import content_id

MAY_BE_SHIPPED = ("2wiki", "hotpotqa", "musique", "arduino", "emanual", "clapnq")
"""Under MIT, Apache-2.0 or CC BY-SA 4.0. Not financebench (CC BY-NC 4.0, for measuring only) nor git_html (GPL-2.0)."""
PIPELINE = "default"


def trained_without(fold: Fold, opened: KnowledgeGraph) -> Traces:
    """Return the default pipeline with weights learnt from the other sets that may be shipped."""
    others = [place for place in fold.others if place.set.name in MAY_BE_SHIPPED]
    weights = fit(corpora_of(others, DATA, made=False), among=CARRY_OVER)
    print(f"without {fold.held_out.set.name}: {weights}")
    return Retriever(opened.store, opened.embedder, with_weights(_pipeline(), weights), graph=fold.held_out.graph)


def adapted(fold: Fold, opened: KnowledgeGraph) -> Traces:
    """Return the same, adapted to the held-out set's documents by questions made of them, as `kgrag build --learn` does.

    The set's own questions have no part in it; made ones that are like them are left out.
    """
    others = [place for place in fold.others if place.set.name in MAY_BE_SHIPPED]
    before = fit(corpora_of(others, DATA, made=False), among=CARRY_OVER)
    found = adapt(examples_of(fold.held_out, DATA, made=True, opened=opened), before, made=True)
    print(
        f"{fold.held_out.set.name}, {found.questions} made questions: {found.after:.3f} against {found.before:.3f}, "
        f"{found.difference.value:+.3f} [{found.difference.low:+.3f}, {found.difference.high:+.3f}], "
        f"{'adapted' if found.better else 'left as it was'}"
    )
    return Retriever(opened.store, opened.embedder, with_weights(_pipeline(), found.weights), graph=fold.held_out.graph)


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
    asked = place.made.read_text(encoding="utf-8") if made else ""
    key = content_id(*(step.model_dump_json() for step in up_to_reading(_pipeline())), *FEATURES, asked)
    kept = place.store.with_name(f"{place.set.name}{'.made' if made else ''}.features.npz")
    if kept.is_file():
        with np.load(kept, allow_pickle=False) as read:
            if str(read["key"]) == key:
                return _unpacked(read["features"], read["facts"], read["shapes"], read["groups"])
    with nullcontext(opened) if opened else place.opened() as graph:
        questions: Sequence[GoldQuestion] = (
            read_gold_questions(place.made)[0] if made else questions_of(place.set, data, graph.store)
        )
        retriever = Retriever(graph.store, graph.embedder, _pipeline(), graph=place.graph)
        examples = asyncio.run(collect(retriever, questions))
    np.savez_compressed(
        kept,
        key=key,
        features=np.concatenate([one.features for one in examples]),
        facts=np.concatenate([one.facts.ravel() for one in examples]),
        shapes=np.array([one.facts.shape for one in examples]),
        groups=np.array([one.group for one in examples]),
    )
    return examples


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
    """Print the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default=",".join(MAY_BE_SHIPPED))
    parser.add_argument("--made", action="store_true", help="learn from made questions as well")
    arguments = parser.parse_args()
    places = places_of(arguments.sets, arguments.data, arguments.stores)
    corpora = corpora_of(places, arguments.data, made=arguments.made)
    print(f"[step.weights]  # of {sum(map(len, corpora))} questions in {len(corpora)} files")
    for name, weight in fit(corpora, among=CARRY_OVER).items():
        print(f"{name} = {weight}")


if __name__ == "__main__":
    main()
