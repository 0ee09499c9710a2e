"""How well a text answers a question: MiniLM reads both together, with weights that were trained for it.

The embedder compares what a question and a text mean by themselves; here each word of one is read with the other in view, which tells an
answer from a text on the same subject. What was trained is a small correction of each matrix of all-MiniLM-L6-v2 (a product of two thin
ones, LoRA: Hu et al. 2021) and one layer behind it, in `cross_encoder.safetensors`; `python -m benchmarks.train_cross_encoder` makes it
([docs/answers.md](../../docs/answers.md) says of what).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgrag.models.minilm_graph import SEP_ID, published_weights, session_of, token_states, tokenizer
from kgrag.models.minilm_onnx import LAYERS, Tensors

__all__ = ["MiniLMCrossEncoder"]

QUESTION_TOKENS = 60
"""Of a question that are read: its first ones."""
PAIR_TOKENS = 112
"""Of question and text together, special tokens included. Both as in training."""
ONE_TEXT = 1
"""Tokens of a batch, so that it has one text: integers of 8 bits have one scale in a batch, and a score would depend on what is beside."""
MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""Of a layer: those that are corrected."""


class MiniLMCrossEncoder:
    """A `Reranker` without a server: logits of how probably a text of at most some sentences answers a question in English.

    Raises `ModelMissing` on first use where the package with MiniLM's weights is not installed.
    """

    name = "minilm-cross-encoder"
    correction = Path(__file__).with_name("cross_encoder.safetensors")
    """What was learnt: the shipped file, or another one that training wrote."""

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score each text: shape [len(passages)]; 0 means as probably as not. What is beyond `PAIR_TOKENS` is not read."""
        return await asyncio.to_thread(self.logits, query, passages)

    def logits(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Do the same, blocking."""
        scores = np.zeros(len(passages), dtype=np.float32)
        if not passages:
            return scores
        encoded = tokenizer().encode_batch([query, *passages], add_special_tokens=False)
        asked = encoded[0].ids[:QUESTION_TOKENS]
        most = PAIR_TOKENS - 3 - len(asked)
        pairs = [(place, [*asked, SEP_ID, *one.ids[:most]]) for place, one in enumerate(encoded[1:])]
        head = _learnt(self.correction)
        kind = f"{self.name}-int8-{_version(self.correction)}"
        session = session_of(kind, partial(_corrected_weights, self.correction), int8=True)
        for place, states in token_states(session, pairs, batch_tokens=ONE_TEXT):
            read = np.concatenate([states[0], states.mean(axis=0)])
            scores[place] = read @ head["head.weight"] + head["head.bias"][0]
        return scores


@cache
def _version(correction: Path) -> str:
    """Name what was learnt by its content: a graph that is kept is of one."""
    return hashlib.sha256(correction.read_bytes()).hexdigest()[:12]


@cache
def _learnt(correction: Path) -> Tensors:
    from safetensors.numpy import load

    tensors: Tensors = load(correction.read_bytes())
    return tensors


def _corrected_weights(correction: Path) -> Tensors:
    """Add the corrections to the published weights: integers of 8 bits, each row or column of a thin matrix with a scale of its own."""
    tensors, learnt = dict(published_weights()), _learnt(correction)
    for layer in range(LAYERS):
        for matrix in MATRICES:
            name = f"encoder.layer.{layer}.{matrix}"
            narrow, wide = (
                learnt[f"{name}.{part}"].astype(np.float32) * learnt[f"{name}.{part}.scale"]
                for part in ("narrow", "wide")
            )
            tensors[f"{name}.weight"] = tensors[f"{name}.weight"] + wide @ narrow
    return tensors
