"""Whether statements answer a question, as a cross-encoder has it that reads each together with the question."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.errors import ModelMissing
from kgrag.models.cross_encoder import MiniLMCrossEncoder

__all__ = ["read_together"]


def read_together(question: str, statements: Sequence[str]) -> list[float | None]:
    """Return a logit for each statement, written with what it is about; None without MiniLM's weights. Blocks."""
    try:
        return [float(logit) for logit in MiniLMCrossEncoder().logits(question, statements)]
    except ModelMissing:
        return [None] * len(statements)
