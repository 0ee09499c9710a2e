"""The order in which evidence is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kgrag.types import Evidence

__all__ = ["arranged"]


def arranged(
    evidence: Sequence[Evidence], order: Literal["document", "ends"], *, places: Mapping[str, int]
) -> list[Evidence]:
    """Arrange evidence that comes best first; `places` are the positions of chunks in their documents.

    `document`: the pieces of one document together in reading order, documents by their best piece. `ends`: the best pieces first and
    last, the weakest in the middle, where models read least carefully (Liu et al., Lost in the Middle, TACL 2024).
    """
    if order == "ends":
        return [*evidence[::2], *reversed(evidence[1::2])]
    first: dict[str, int] = {}
    for place, piece in enumerate(evidence):
        first.setdefault(piece.document_id or piece.source_id, place)
    return sorted(
        evidence,
        key=lambda piece: (
            first[piece.document_id or piece.source_id],
            places.get(piece.chunk_id or "", 0),
            -piece.score,
        ),
    )
