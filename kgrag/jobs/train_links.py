"""`kgrag train lp`: a link predictor between questions and chunks, trained on questions that are made of the documents."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from kgrag.common.progress import Progress, Silent
from kgrag.common.toml_files import read_toml
from kgrag.common.whole_files import write_whole
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions, states
from kgrag.evaluate.learn_ranker import pipeline_file
from kgrag.jobs.questions import QuestionOptions, questions_beside
from kgrag.link_prediction.cloze import QUESTIONS, cloze_questions
from kgrag.link_prediction.model_file import ModelFile, write_model
from kgrag.link_prediction.options import PAPER, TrainingOptions
from kgrag.link_prediction.sampling import batches
from kgrag.link_prediction.training import Supervision, Trained, train
from kgrag.models.base import Embedder
from kgrag.retrieve.chunk_graph import StoredChunks, stored_chunks
from kgrag.retrieve.pipeline import Pipeline, expect_pipeline_place
from kgrag.retrieve.steps.evidence import Budget, Read
from kgrag.retrieve.steps.link_prediction import LinkPrediction
from kgrag.retrieve.steps.near_duplicates import NearDuplicates
from kgrag.retrieve.steps.query import Embed
from kgrag.store.graph import GraphStore
from kgrag.types import Chunk, Evidence

__all__ = ["LinkOptions", "TrainedLinks", "chunks_of_facts", "supervision_of", "train_links", "training_options"]

EMBEDDED_AT_ONCE = 256
LIKE_PAPER = Path("paper")


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """What is trained, and on what. Raises `InputError` where nothing is left to train on."""

    training: TrainingOptions = field(default_factory=TrainingOptions)
    made: int = 1000
    """Questions that are made of the documents' structure at most, where no file is given; 0: none."""
    cloze: bool = True
    """Take words of chunks and a neighbour as questions besides, two for each chunk."""
    most_clozes: int = 250
    """Such questions at most: of a store with more than half as many chunks, so many are about chunks drawn from all. Of two for every
    chunk a predictor learns what such questions are like, and people's questions lose by it (docs/link-prediction.md)."""
    hops: int = 1
    """Neighbours that a cloze question is about besides its chunk, at most."""


@dataclass(frozen=True)
class TrainedLinks:
    """What came out."""

    out: Path
    """A pipeline file with the predictor beside it."""
    model: Path
    trained: Trained
    questions: int
    chunks: int
    edges: int
    """Between chunks."""
    unplaced: int
    """Questions of the file whose gold evidence no chunk is."""
    without_gold: int
    """Lines of the file that say no evidence, and are not learnt from."""
    question_seconds: float
    """To make and to embed the questions."""
    training_seconds: float
    bytes: int
    """Of the model's file."""


def training_options(
    file: Path | None = None, *, predictor: str | None = None, seed: int | None = None
) -> TrainingOptions:
    """Read settings from a TOML file (`paper`: LP-RAG's), some said beside it. Raises `InputError` that names what is wrong."""
    said = {"predictor": predictor, "seed": seed}
    try:
        if file == LIKE_PAPER:
            settings: dict[str, Any] = PAPER.model_dump()
        else:
            settings = read_toml(file) if file is not None else {}
        settings |= {name: value for name, value in said.items() if value is not None}
        return TrainingOptions.model_validate(settings, strict=False)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise InputError(f"{file or 'Training'}: expected settings of a link predictor, got {wrong}.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: expected a TOML file with settings of a link predictor: {error}") from error


async def train_links(
    out: Path,
    *,
    store: GraphStore,
    graph: str,
    embedder: Embedder,
    questions: Path | None = None,
    options: LinkOptions | None = None,
    progress: Progress | None = None,
) -> TrainedLinks:
    """Train a predictor, and write it (`.npz`) and a pipeline that takes its seeds by it. Goes on where it was stopped.

    Raises `InputError` where there are too few questions, the store has no vectors, or `out` is no place for a `.toml` file.
    """
    progress = progress or Silent()
    options = options or LinkOptions()
    expect_pipeline_place(out)  # the predictor, and what is made on the way, take the same name with other endings
    chunks = await asyncio.to_thread(stored_chunks, store, graph, options.training)
    if not chunks.ids:
        raise InputError("Expected a store with chunks that have vectors, got none: kgrag build makes them.")
    begun = time.perf_counter()
    asked: list[GoldQuestion] = []
    without_gold = 0
    if questions is None and options.made:
        made = QuestionOptions(limit=options.made, seed=options.training.seed)
        questions, _ = await questions_beside(out, made, store=store, graph=graph, embedder=embedder, progress=progress)
    if questions is not None:
        asked, without_gold = read_gold_questions(questions)
    supervision, unplaced = await supervision_of(
        asked, chunks, store=store, embedder=embedder, options=options, progress=progress
    )
    asked_at = time.perf_counter()
    model = out.with_suffix(".npz")
    with progress.step("Training", options.training.epochs, "epochs") as step:
        trained = await asyncio.to_thread(
            train,
            chunks.graph,
            supervision,
            options.training,
            checkpoint=out.with_suffix(".checkpoint"),
            advance=step.advance,
        )
    trained_at = time.perf_counter()
    write_model(model, ModelFile(trained, embedder.name, chunks.digest, len(supervision.vectors)))
    write_whole(out, pipeline_file(_pipeline(out.stem, model), comments=(f"By kgrag train lp: {model.name}.",)))
    return TrainedLinks(
        out=out,
        model=model,
        trained=trained,
        questions=len(supervision.vectors),
        chunks=len(chunks.ids),
        edges=chunks.graph.adjacency.nnz // 2,
        unplaced=unplaced,
        without_gold=without_gold,
        question_seconds=asked_at - begun,
        training_seconds=trained_at - asked_at,
        bytes=model.stat().st_size,
    )


async def supervision_of(
    asked: Sequence[GoldQuestion],
    chunks: StoredChunks,
    *,
    store: GraphStore,
    embedder: Embedder,
    options: LinkOptions,
    progress: Progress,
) -> tuple[Supervision, int]:
    """Return questions as vectors with the chunks that they are about, and how many of `asked` no chunk answers."""
    stored = await asyncio.to_thread(lambda: {chunk.id: chunk for chunk in store.documents.chunks(list(chunks.ids))})
    in_order = [stored[chunk] for chunk in chunks.ids]
    facts_of = await asyncio.to_thread(chunks_of_facts, store, chunks)
    placed = [(question.question, places) for question in asked if (places := sorted(set(chain(*facts_of(question)))))]
    unplaced = len(asked) - len(placed)
    if options.cloze:
        generator = np.random.default_rng([options.training.seed, 4])
        about = batches(chunks.graph.adjacency, generator, most=options.hops)
        if len(about) > (most := max(options.most_clozes // QUESTIONS, 1)):
            about = [about[place] for place in np.sort(generator.choice(len(about), size=most, replace=False))]
        clozes = cloze_questions([chunk.embedded_text for chunk in in_order], about, generator)
        placed += [(text, places.tolist()) for text, places in clozes]
    edges = [(number, place) for number, (_, places) in enumerate(placed) for place in places]
    vectors: list[NDArray[np.float32]] = [np.zeros((0, embedder.dimensions), dtype=np.float32)]
    with progress.step("Questions", len(placed), "questions") as step:
        for start in range(0, len(placed), EMBEDDED_AT_ONCE):
            some = [text for text, _ in placed[start : start + EMBEDDED_AT_ONCE]]
            vectors.append(np.asarray(await embedder.embed_queries(some), dtype=np.float32))
            step.advance(len(some))
    return Supervision(np.concatenate(vectors), np.array(edges, dtype=np.intp).reshape(-1, 2)), unplaced


def chunks_of_facts(store: GraphStore, chunks: StoredChunks) -> Callable[[GoldQuestion], list[list[int]]]:
    """Return what tells for a question which chunks (as their places) state each of its facts; [] for a fact that none does."""
    stored = {chunk.id: chunk for chunk in store.documents.chunks(list(chunks.ids))}
    paths = {document.id: document.path for document in store.documents.all()}
    pieces = [_piece(stored[chunk], paths[stored[chunk].document_id]) for chunk in chunks.ids]
    by_source: dict[str, list[int]] = {}
    for place, piece in enumerate(pieces):
        for source in {str(piece.chunk_id), piece.source_id, *piece.anchors}:
            by_source.setdefault(source, []).append(place)

    def of_fact(fact: frozenset[str]) -> list[int]:
        known = {place for source in fact for place in by_source.get(source, ())}
        # A page or a section of a file is looked for one by one.
        return sorted(known or {place for place, piece in enumerate(pieces) if states(piece, fact)})

    return lambda question: [of_fact(fact) for fact in question.facts]


def _piece(chunk: Chunk, path: str) -> Evidence:
    return Evidence(
        chunk_id=chunk.id,
        source_id=chunk.source_id,
        document=path,
        anchors=chunk.anchors,
        page_start=chunk.page_start,
        page_end=chunk.page_end,
        text="",
        tokens=0,
        score=0.0,
    )


def _pipeline(name: str, model: Path) -> Pipeline:
    return Pipeline(
        name=name,
        description="Chunks that the question is likeliest linked to, by a link predictor that was trained on the documents.",
        steps=(Embed(), LinkPrediction(model=model.name), Read(), NearDuplicates(), Budget()),
    )
