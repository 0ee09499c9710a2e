"""The context budget: how much evidence is shown."""

from __future__ import annotations

from collections.abc import Iterable

from kgrag.types import Evidence

__all__ = ["fitting"]


def fitting(evidence: Iterable[Evidence], *, top: int | None, tokens: int | None) -> list[Evidence]:
    """Take evidence, best first, up to `top` pieces and `tokens` tokens: a piece that does not fit any more is left out, the next tried."""
    taken: list[Evidence] = []
    used = 0
    for piece in evidence:
        if top is not None and len(taken) >= top:
            break
        if tokens is None or used + piece.tokens <= tokens:
            taken.append(piece)
            used += piece.tokens
    return taken
