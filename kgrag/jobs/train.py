"""`kgrag train ranker`: the weights of a pipeline's ranking, adapted to one store and kept only where they are better there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kgrag.common.progress import Progress, Silent
from kgrag.common.whole_files import write_whole
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import read_gold_questions
from kgrag.evaluate.learn_ranker import Adapted, adapt, collect, pipeline_file, weights_of, with_weights
from kgrag.jobs.questions import QuestionOptions, questions_beside
from kgrag.models.base import ChatModel, Embedder
from kgrag.retrieve import Pipeline, Retriever, load_pipeline
from kgrag.retrieve.pipeline import expect_pipeline_place
from kgrag.store.graph import GraphStore

__all__ = ["TrainedRanker", "train_ranker"]


@dataclass(frozen=True)
class TrainedRanker:
    """What came out."""

    adapted: Adapted
    out: Path | None
    """The pipeline file that was written; None where the weights that there were are kept."""
    questions: Path
    made: int
    """Questions that were made, 0 where a file was given."""
    asked: int
    without_gold: int
    """Lines of the file that say no evidence, and are not asked."""


async def train_ranker(
    out: Path,
    *,
    store: GraphStore,
    graph: str,
    embedder: Embedder,
    questions: Path | None = None,
    options: QuestionOptions | None = None,
    pipeline: str = "default",
    model: ChatModel | None = None,
    progress: Progress | None = None,
) -> TrainedRanker:
    """Learn from the questions of a file, or from made ones (written beside `out`), and write a pipeline file where that is better.

    Better is what `kgrag.evaluate.learn_ranker.adapt` says. Raises `InputError` where there are too few questions.
    """
    progress = progress or Silent()
    expect_pipeline_place(out)
    chosen = load_pipeline(pipeline)
    if not isinstance(chosen, Pipeline):
        raise InputError(f"Expected a pipeline with steps, got {pipeline}, which chooses another one by the question.")
    made = 0
    if questions is None:
        questions, report = await questions_beside(
            out, options or QuestionOptions(), store=store, graph=graph, embedder=embedder, progress=progress
        )
        made = sum(report.taken.values())
    asked, without_gold = read_gold_questions(questions)
    retriever = Retriever(store, embedder, chosen, chat=model, graph=graph or None)
    with progress.step("Features", len(asked), "questions") as step:
        examples = await collect(retriever, asked, advance=step.advance)
    adapted = adapt(examples, weights_of(chosen), made=made > 0)
    if not adapted.better:
        return TrainedRanker(adapted, None, questions, made, len(asked), without_gold)
    comments = (
        f"{chosen.name} with a ranker learnt from {adapted.questions} questions ({questions.name}), by kgrag train ranker.",
        f"Held-out gain {adapted.after:.3f} against {adapted.before:.3f} before: {adapted.difference:+.3f}.",
    )
    write_whole(out, pipeline_file(with_weights(chosen, adapted.weights), comments=comments))
    return TrainedRanker(adapted, out, questions, made, len(asked), without_gold)
