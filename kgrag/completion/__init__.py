"""Knowledge-graph completion: which relations between entities may hold that no chunk states."""

from __future__ import annotations

from collections.abc import Callable

from kgrag.completion.embeddings import ComplEx, EmbeddingSettings, TransE
from kgrag.completion.neighbours import AdamicAdar, CommonNeighbours
from kgrag.completion.rules import Rules
from kgrag.completion.triples import LinkPredictor
from kgrag.errors import InputError

__all__ = ["METHODS", "open_predictor"]

METHODS: dict[str, Callable[[int], LinkPredictor]] = {
    "rules": lambda seed: Rules(),
    "complex": lambda seed: ComplEx(EmbeddingSettings(seed=seed)),
    "transe": lambda seed: TransE(EmbeddingSettings(seed=seed)),
    "common-neighbours": lambda seed: CommonNeighbours(),
    "adamic-adar": lambda seed: AdamicAdar(),
}
"""By name; each takes the seed, which only the embeddings need."""


def open_predictor(method: str, *, seed: int) -> LinkPredictor:
    """Return the predictor of that name. Raises `InputError` for another name."""
    if method not in METHODS:
        raise InputError(f"Method of completion: expected one of {', '.join(METHODS)}; got {method!r}.")
    return METHODS[method](seed)
