"""Training: binary cross-entropy with negative sampling over the edges between questions and chunks, as LP-RAG has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import autograd.numpy as anp
import numpy as np
from autograd import value_and_grad
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import coo_array, csr_array, triu

from kgrag.errors import InputError
from kgrag.link_prediction.graph import ChunkGraph, Vectors, attached, with_questions
from kgrag.link_prediction.layers import Dropout, Parameters
from kgrag.link_prediction.options import TrainingOptions
from kgrag.link_prediction.predictors import Predictor, Shape, predictor_of
from kgrag.link_prediction.sampling import Negatives

__all__ = ["Calibration", "Supervision", "Trained", "predictor_for", "question_edges", "train"]

HELD_OUT = 0.1
"""Share of the questions that is not learnt from: for the epoch to stop at and for calibration."""
FEWEST_QUESTIONS = 20
MOMENTS = (0.9, 0.999)
"""Of Adam (Kingma and Ba, ICLR 2015)."""

Indexes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Supervision:
    """Questions and the chunks that they are about."""

    vectors: Vectors
    """[questions, dimensions], each of length 1."""
    edges: Indexes
    """[edges, 2]: question, chunk."""


class Calibration(NamedTuple):
    """The probability of a link is 1 / (1 + exp(-(factor · logit + shift))): Platt's, on held-out questions."""

    factor: float = 1.0
    shift: float = 0.0

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each logit."""
        from scipy.special import expit

        return np.asarray(expit(self.factor * logits.astype(np.float64) + self.shift))


@dataclass(frozen=True)
class Trained:
    """A predictor's weights with how they came about."""

    options: TrainingOptions
    predictor: Predictor
    parameters: Parameters
    calibration: Calibration
    losses: tuple[float, ...] = ()
    """On held-out questions, by epoch."""
    best_epoch: int = 0
    """The epoch whose weights these are, from 1."""


def predictor_for(options: TrainingOptions, dimensions: int) -> Predictor:
    """Return the network that the options describe, for vectors of so many dimensions."""
    sizes = {"hidden", "layers", "input_dropout", "dropout", "residual"}
    return predictor_of(options.predictor, Shape(dimensions, **options.model_dump(include=sizes)))


def question_edges(vectors: Vectors, questions: Vectors, options: TrainingOptions) -> csr_array:
    """Return the edges that join questions without known edges to the graph: [questions, chunks]."""
    weight = None if options.attach_by == "cosine" else 1.0
    return attached(vectors, questions, options.attach, nearest_chunks=options.nearest_chunks, weight=weight)


def train(
    graph: ChunkGraph,
    supervision: Supervision,
    options: TrainingOptions,
    *,
    checkpoint: Path | None = None,
    advance: Callable[[], None] | None = None,
) -> Trained:
    """Learn to predict the edges of questions; the same arguments give the same weights.

    `checkpoint` is written after every epoch and gone on from where it belongs to the same arguments; it is deleted in the end. Raises
    `InputError` for fewer than FEWEST_QUESTIONS questions with edges.
    """
    asked = np.unique(supervision.edges[:, 0])
    if len(asked) < FEWEST_QUESTIONS:
        raise InputError(
            f"Expected at least {FEWEST_QUESTIONS} questions with gold chunks to train on, got {len(asked)}: "
            "make more (kgrag questions make), or leave --questions out."
        )
    shuffled = np.random.default_rng([options.seed, 0]).permutation(asked)
    held_out = np.isin(supervision.edges[:, 0], shuffled[: max(int(len(asked) * HELD_OUT), 1)])
    offset = graph.chunks
    positives = np.column_stack([supervision.edges[:, 0] + offset, supervision.edges[:, 1]])
    learning, checking = positives[~held_out], positives[held_out]
    seen = _training_graph(graph, supervision, options, learning)
    linked = _linked(seen, positives, graph.adjacency if options.supervise == "all" else None)
    sampler = Negatives(seen, linked, options.sampler)
    between_chunks = np.column_stack(triu(graph.adjacency).nonzero()).astype(np.intp)
    targets = np.concatenate([learning, between_chunks]) if options.supervise == "all" else learning
    predictor = predictor_for(options, graph.vectors.shape[1])
    run = _Run.begun(predictor.initial(np.random.default_rng([options.seed, 1])))
    digest = options.model_dump_json() + f" {graph.vectors.shape} {targets.shape} {float(supervision.vectors.sum())!r}"
    if checkpoint is not None:
        run = _Run.read(checkpoint, digest) or run
    fixed = np.random.default_rng([options.seed, 2])
    check = _with_negatives(checking, sampler, options, fixed)
    descend = value_and_grad(lambda parameters, *rest: _loss(predictor, parameters, *rest))
    while len(run.losses) < options.epochs and len(run.losses) - run.best_epoch <= options.patience:
        generator = np.random.default_rng([options.seed, 3, len(run.losses)])
        for batch in np.array_split(generator.permutation(len(targets)), -(-len(targets) // options.batch)):
            drawn = _with_negatives(targets[batch], sampler, options, generator)
            visible = seen.without(targets[batch]) if _masks(options) else seen
            _, gradient = descend(run.parameters, visible, *drawn, Dropout(generator))
            run.step(gradient, options)
        run.finished(float(_loss(predictor, run.parameters, seen, *check, Dropout())))
        if checkpoint is not None:
            run.write(checkpoint, digest)
        if advance is not None:
            advance()
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    logits = np.asarray(predictor.logits(run.best, seen, check[0], Dropout()))
    calibration = _calibrated(logits, check[1])
    return Trained(options, predictor, run.best, calibration, tuple(run.losses), run.best_epoch)


def _masks(options: TrainingOptions) -> bool:
    # Edges that attach a question are there whether or not they are true; taking out the true ones would give them away.
    return options.mask and (not options.train_attached or options.supervise == "all")


def _training_graph(
    graph: ChunkGraph, supervision: Supervision, options: TrainingOptions, learning: Indexes
) -> ChunkGraph:
    if options.train_attached:
        edges = question_edges(graph.vectors[: graph.chunks], supervision.vectors, options)
    else:
        ends = (learning[:, 0] - graph.chunks, learning[:, 1])
        shape = (len(supervision.vectors), graph.chunks)
        edges = csr_array(coo_array((np.ones(len(learning), dtype=np.float32), ends), shape=shape)).sign()
    return with_questions(graph, supervision.vectors, csr_array(edges))


def _linked(seen: ChunkGraph, positives: Indexes, chunks: csr_array | None) -> csr_array:
    size = len(seen.vectors)
    ends = np.concatenate([positives, positives[:, ::-1]])
    if chunks is not None:
        ends = np.concatenate([ends, np.column_stack(chunks.nonzero())])
    return csr_array(coo_array((np.ones(len(ends), dtype=np.float32), ends.T), shape=(size, size)))


def _with_negatives(
    positives: Indexes, sampler: Negatives, options: TrainingOptions, generator: np.random.Generator
) -> tuple[Indexes, NDArray[np.float32], NDArray[np.float32]]:
    """Return pairs, whether each is a link, and what each counts: the negatives of a positive together as much as it."""
    ends = np.repeat(positives[:, 0], options.negatives)
    drawn = sampler.draw(ends, generator)
    found = drawn >= 0
    pairs = np.concatenate([positives, np.column_stack([ends, drawn])[found]])
    truth = np.concatenate([np.ones(len(positives)), np.zeros(int(found.sum()))]).astype(np.float32)
    counts = np.where(truth > 0.0, 1.0, 1.0 / options.negatives).astype(np.float32)
    return pairs, truth, counts / np.float32(len(positives))


def _loss(
    predictor: Predictor,
    parameters: Parameters,
    graph: ChunkGraph,
    pairs: Indexes,
    truth: NDArray[np.float32],
    counts: NDArray[np.float32],
    dropout: Dropout,
) -> Any:
    """- Σ log σ(logit) over links - mean over drawn negatives of log(1 - σ(logit)), by positive."""
    logits = predictor.logits(parameters, graph, pairs, dropout)
    entropy = anp.logaddexp(np.float32(0.0), logits) - truth * logits
    return anp.sum(counts * entropy) + predictor.penalty(parameters, graph)


def _calibrated(logits: NDArray[np.float32], truth: NDArray[np.float32]) -> Calibration:
    def loss(both: NDArray[np.float64]) -> float:
        values = both[0] * logits + both[1]
        return float(np.mean(np.logaddexp(0.0, values) - truth * values))

    found = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead")
    return Calibration(max(float(found.x[0]), 1e-3), float(found.x[1]))


@dataclass
class _Run:
    """How far training has come."""

    parameters: Parameters
    first: Parameters
    second: Parameters
    """Adam's moments."""
    best: Parameters
    steps: int = 0
    losses: list[float] = field(default_factory=list)
    best_epoch: int = 0
    """Number of the epoch with the lowest loss, from 1; 0 before the first."""

    @classmethod
    def begun(cls, parameters: Parameters) -> _Run:
        return cls(
            parameters,
            {name: np.zeros_like(value) for name, value in parameters.items()},
            {name: np.zeros_like(value) for name, value in parameters.items()},
            parameters,
        )

    def step(self, gradient: Parameters, options: TrainingOptions) -> None:
        """Take one step of Adam; the decay of weights is part of the gradient."""
        self.steps += 1
        one, two = MOMENTS
        changed = {}
        for name, value in self.parameters.items():
            slope = gradient[name] + options.weight_decay * value
            self.first[name] = np.asarray(one * self.first[name] + (1.0 - one) * slope, dtype=np.float32)
            self.second[name] = np.asarray(two * self.second[name] + (1.0 - two) * slope * slope, dtype=np.float32)
            first = self.first[name] / (1.0 - one**self.steps)
            second = self.second[name] / (1.0 - two**self.steps)
            changed[name] = (value - options.learning_rate * first / (np.sqrt(second) + 1e-8)).astype(np.float32)
        self.parameters = changed

    def finished(self, loss: float) -> None:
        """Note an epoch."""
        self.losses.append(loss)
        if loss <= min(self.losses):
            self.best, self.best_epoch = self.parameters, len(self.losses)

    def write(self, file: Path, digest: str) -> None:
        """Keep it, whole or not at all."""
        arrays = {
            f"{kind} {name}": value
            for kind, some in (("now", self.parameters), ("m", self.first), ("v", self.second), ("best", self.best))
            for name, value in some.items()
        }
        about = {"digest": digest, "steps": self.steps, "losses": self.losses, "best_epoch": self.best_epoch}
        partial = file.with_name(f"{file.name}.new")
        with partial.open("wb") as out:
            np.savez(out, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
        partial.replace(file)

    @classmethod
    def read(cls, file: Path, digest: str) -> _Run | None:
        """Return what was kept for the same training, None where nothing was, or of another one."""
        try:
            with np.load(file, allow_pickle=False) as kept:
                about = json.loads(str(kept["about"]))
                if about["digest"] != digest:
                    return None
                parts: dict[str, Parameters] = {"now": {}, "m": {}, "v": {}, "best": {}}
                for key in kept.files:
                    kind, _, name = key.partition(" ")
                    if name:
                        parts[kind][name] = kept[key]
        except (OSError, ValueError, KeyError, BadZipFile):
            return None
        return cls(
            parts["now"], parts["m"], parts["v"], parts["best"], about["steps"], about["losses"], about["best_epoch"]
        )
