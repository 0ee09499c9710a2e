"""all-MiniLM-L6-v2 in torch with corrections that are learnt, for `benchmarks.train_cross_encoder`.

Each matrix of the encoder stays as it was published, and the product of two thin ones is added to it (LoRA: Hu et al. 2021, arXiv
2106.09685), in half precision (bfloat16), which processors with AVX-512 or AMX multiply fast.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from torch import nn
from torch.nn import functional

from benchmarks.cross_encoder_examples import Example
from kgrag.models.cross_encoder import MATRICES, PAIR_TOKENS, QUESTION_TOKENS
from kgrag.models.minilm_graph import CLS_ID, SEP_ID
from kgrag.models.minilm_onnx import HEADS, HIDDEN, LAYER_NORM_EPSILON, LAYERS, Tensors

__all__ = ["Network"]

HALF = torch.bfloat16
WEIGHT_DECAY, CLIPPED, LEAST_RATE = 0.01, 1.0, 0.02
WARM_UP = 50
"""Steps in which the rate rises; behind them it falls to `LEAST_RATE` of itself."""
POOLED_BATCHES = 20
"""Batches whose questions are sorted by length: little of a batch is padding then."""
NEAREST = 12
"""Of the texts that do not answer, from which two thirds of those that are drawn come."""
MOST_INTEGER = 127


class _Corrected(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """A matrix as published, and the correction that is learnt."""

    def __init__(self, weight: NDArray[np.float32], bias: NDArray[np.float32], rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.from_numpy(weight.copy()).to(HALF))
        self.register_buffer("bias", torch.from_numpy(bias.copy()).to(HALF))
        self.narrow = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.wide = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, entry: torch.Tensor) -> torch.Tensor:
        published = functional.linear(entry, self.weight, self.bias)
        return published + functional.linear(functional.linear(entry, self.narrow.to(HALF)), self.wide.to(HALF))


class Network(nn.Module):  # type: ignore[misc]
    """The encoder, and a layer that makes one number of its first state and of the mean of all."""

    def __init__(self, tensors: Tensors, *, rank: int) -> None:
        super().__init__()
        table = {name: torch.from_numpy(values.copy()) for name, values in tensors.items()}
        self._words = table["embeddings.word_embeddings.weight"]
        self._positions = (
            table["embeddings.position_embeddings.weight"] + table["embeddings.token_type_embeddings.weight"][0]
        )
        self._norms = {name: table[name].to(HALF) for name in table if "LayerNorm" in name}
        self.matrices = nn.ModuleDict()
        for layer in range(LAYERS):
            for matrix in MATRICES:
                name = f"encoder.layer.{layer}.{matrix}"
                corrected = _Corrected(tensors[f"{name}.weight"], tensors[f"{name}.bias"], rank)
                self.matrices[_key(name)] = corrected
        self.head = nn.Linear(2 * HIDDEN, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return a logit for each row of ids, of which those under `mask` count."""
        rows, tokens = ids.shape
        hidden = self._norm(self._words[ids].to(HALF) + self._positions[:tokens].to(HALF), "embeddings.LayerNorm")
        hide = torch.where(mask, 0.0, -1e4)[:, None, None, :].to(HALF)
        for layer in range(LAYERS):
            prefix = f"encoder.layer.{layer}"
            query, key, value, out, up, down = (self.matrices[_key(f"{prefix}.{matrix}")] for matrix in MATRICES)
            q, k, v = (
                one(hidden).view(rows, tokens, HEADS, HIDDEN // HEADS).transpose(1, 2) for one in (query, key, value)
            )
            seen = torch.softmax(q @ k.transpose(-1, -2) * (HIDDEN // HEADS) ** -0.5 + hide, -1) @ v
            attended = out(seen.transpose(1, 2).reshape(rows, tokens, HIDDEN))
            hidden = self._norm(hidden + attended, f"{prefix}.attention.output.LayerNorm")
            hidden = self._norm(hidden + down(functional.gelu(up(hidden))), f"{prefix}.output.LayerNorm")
        states = hidden.float()
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        logits: torch.Tensor = self.head(torch.cat([states[:, 0], mean], -1)).squeeze(-1)
        return logits

    def fit(
        self, examples: Sequence[Example], *, rng: random.Random, others: int, batch: int, rate: float, rounds: int
    ) -> None:
        """Learn from examples, each with at most so many texts that do not answer, `rounds` times."""
        learnt = [parameter for parameter in self.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(learnt, lr=rate, weight_decay=WEIGHT_DECAY)
        steps = rounds * -(-len(examples) // batch)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1.0, (step + 1) / WARM_UP) * max(LEAST_RATE, 1.0 - step / steps)
        )
        for number in range(rounds):
            total = 0.0
            for chosen in _batches(examples, batch, rng):
                loss = self._loss(chosen, others, rng)
                loss.backward()
                nn.utils.clip_grad_norm_(learnt, CLIPPED)
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
                total += float(loss.detach()) * len(chosen)
            print(
                f"round {number + 1} of {rounds}: loss {total / len(examples):.3f} of {len(examples)} questions",
                flush=True,
            )

    def _loss(self, chosen: Sequence[Example], others: int, rng: random.Random) -> torch.Tensor:
        groups = []
        for example in chosen:
            right = [rng.choice(example.right)] if example.right else []
            groups.append((example.question, right, _drawn(example.others, others, rng)))
        logits = self(*_padded([(asked, text) for asked, right, wrong in groups for text in (*right, *wrong)]))
        losses, start = [], 0
        for _, right, wrong in groups:
            own = logits[start : start + len(right) + len(wrong)]
            start += len(own)
            truth = torch.zeros(len(own))
            truth[: len(right)] = 1.0
            loss = functional.binary_cross_entropy_with_logits(own, truth)
            if right:
                loss = loss + functional.cross_entropy(own[None], torch.zeros(1, dtype=torch.long))
            losses.append(loss)
        return torch.stack(losses).mean()

    def _norm(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self._norms[f"{name}.weight"], self._norms[f"{name}.bias"]
        return functional.layer_norm(hidden, (HIDDEN,), weight, bias, LAYER_NORM_EPSILON)

    def learnt(self) -> dict[str, torch.Tensor]:
        """Return a copy of all that is learnt, by name."""
        return {name: value.detach().clone() for name, value in self.named_parameters() if value.requires_grad}

    def restore(self, learnt: dict[str, torch.Tensor]) -> None:
        """Go back to what `learnt` returned, or to a mean of several."""
        with torch.no_grad():
            for name, value in self.named_parameters():
                if value.requires_grad:
                    value.copy_(learnt[name])

    def save(self, file: Path) -> None:
        """Write what was learnt: integers of 8 bits, with a scale for each row of a narrow matrix and each column of a wide one."""
        kept: dict[str, NDArray[Any]] = {
            "head.weight": self.head.weight.detach().numpy()[0],
            "head.bias": self.head.bias.detach().numpy(),
        }
        for key, matrix in self.matrices.items():
            for side, values, axis in (("narrow", matrix.narrow, 1), ("wide", matrix.wide, 0)):
                numbers = values.detach().numpy()
                scale = np.abs(numbers).max(axis=axis, keepdims=True) / MOST_INTEGER
                kept[f"{_name(key)}.{side}"] = np.rint(numbers / np.maximum(scale, 1e-12)).astype(np.int8)
                kept[f"{_name(key)}.{side}.scale"] = scale.astype(np.float32)
        save_file(kept, file)


def _key(name: str) -> str:
    """Return a name as torch takes it for a module: without dots."""
    return name.replace(".", "-")


def _name(key: str) -> str:
    return key.replace("-", ".")


def _batches(examples: Sequence[Example], size: int, rng: random.Random) -> Iterator[list[Example]]:
    order = rng.sample(examples, len(examples))
    for start in range(0, len(order), size * POOLED_BATCHES):
        pool = sorted(
            order[start : start + size * POOLED_BATCHES], key=lambda one: max(map(len, (*one.right, *one.others)))
        )
        parts = [pool[first : first + size] for first in range(0, len(pool), size)]
        rng.shuffle(parts)
        yield from parts


def _drawn(others: Sequence[list[int]], count: int, rng: random.Random) -> list[list[int]]:
    """Draw texts that do not answer, two thirds of them of the nearest."""
    near, far = others[:NEAREST], others[NEAREST:]
    drawn = rng.sample(near, min(len(near), count if not far else -(-2 * count // 3)))
    return drawn + rng.sample(far, min(len(far), count - len(drawn)))


def _padded(pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor]:
    rows = []
    for question, text in pairs:
        asked = question[:QUESTION_TOKENS]
        rows.append([CLS_ID, *asked, SEP_ID, *text[: PAIR_TOKENS - 3 - len(asked)], SEP_ID])
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
    mask = torch.zeros_like(ids, dtype=torch.bool)
    for place, row in enumerate(rows):
        mask[place, : len(row)] = True
    return ids, mask
