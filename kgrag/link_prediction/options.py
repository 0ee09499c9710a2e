"""How a link predictor is built and trained."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgrag.link_prediction.graph import Attachment
from kgrag.link_prediction.sampling import Sampler

__all__ = ["PAPER", "Edges", "PredictorKind", "TrainingOptions"]

PredictorKind = Literal["ncn", "vgae", "peg", "seal", "mlp"]
Edges = Literal["nearest", "names", "hyperlinks", "adjacent"]
"""What joins chunks: each among the nearest of the other; a name that few chunks have and one of them is about; a link; reading order."""

Count = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(ge=0.0, lt=1.0)]


class TrainingOptions(BaseModel):
    """Everything that a predictor's weights depend on besides the graph and the questions. `PAPER` is LP-RAG's own choice."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    predictor: PredictorKind = "ncn"
    edges: tuple[Edges, ...] = ("names", "hyperlinks")
    neighbours: Count = 5
    """k of the edges `nearest`."""
    attach: Attachment = "topn"
    """How a question without known edges is joined to the graph."""
    nearest_chunks: Count = 5
    """Chunks that `topn` joins it to."""
    attach_by: Literal["cosine", "one"] = "cosine"
    """Weight of these edges."""
    train_attached: bool = True
    """Training questions are joined to the graph as new ones are, so that nothing differs later; False: by the edges to be predicted
    (the paper), those of the current batch taken out (`mask`)."""
    mask: bool = True
    """Take the edges that are being predicted out of the graph, where they are in it."""
    supervise: Literal["questions", "all"] = "questions"
    """What is predicted: edges of questions, or those between chunks as well (the paper)."""
    hidden: Count = 64
    layers: Annotated[int, Field(ge=1, le=5)] = 1
    input_dropout: Rate = 0.3
    dropout: Rate = 0.1
    residual: bool = True
    """Add the cosine, times a learnt factor, to the logit: training begins with the order of dense retrieval."""
    sampler: Sampler = "near"
    negatives: Count = 4
    """Negatives for each positive, drawn anew in each epoch."""
    learning_rate: Annotated[float, Field(gt=0.0, le=1.0)] = 0.0024
    weight_decay: Annotated[float, Field(ge=0.0, le=1.0)] = 1e-4
    batch: Count = 1024
    """Positives in a batch."""
    epochs: Count = 20
    patience: Count = 5
    """Epochs without a lower loss on held-out questions, after which training ends; the best epoch's weights are kept."""
    seed: Annotated[int, Field(ge=0)] = 7


PAPER = TrainingOptions(
    edges=("nearest",),
    attach="all",
    attach_by="one",
    train_attached=False,
    supervise="all",
    hidden=256,
    input_dropout=0.7,
    dropout=0.05,
    residual=False,
    sampler="uniform",
    negatives=1,
    learning_rate=0.0043,
    weight_decay=1e-8,
    batch=1152,
    epochs=100,
    patience=100,
)
"""LP-RAG's settings of NCN; what the paper leaves open is as in NCN's public code (batch, dropout, masking)."""
