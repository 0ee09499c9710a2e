"""The only door to language, embedding and rerank models: a name in, a model out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgrag.errors import InputError

if TYPE_CHECKING:
    from kgrag.models.base import Embedder

__all__ = ["CHAT_MODELS", "EMBEDDERS", "check_chat_model", "open_embedder"]

EMBEDDERS = ("minilm",)
"""Names that `open_embedder` knows."""
CHAT_MODELS = ("rules",)
"""Names that may answer: `rules` is model-free, its answers are made of the documents' own sentences."""


def open_embedder(name: str) -> Embedder:
    """Return the embedder of that name; its weights are loaded on first use. Raises `InputError` for an unknown name."""
    match name:
        case "minilm":
            from kgrag.models.minilm import MiniLM

            return MiniLM()
        case _:
            raise InputError(
                f"Unknown embedder {name!r}: expected one of {', '.join(EMBEDDERS)}. Set --embedder or KGRAG_EMBEDDER."
            )


def check_chat_model(name: str) -> None:
    """Raise `InputError` where `name` is no model that can answer."""
    if name not in CHAT_MODELS:
        raise InputError(
            f"Unknown model {name!r}: expected one of {', '.join(CHAT_MODELS)}. Set --model or KGRAG_MODEL."
        )
