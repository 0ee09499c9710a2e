"""The three seams to models. Their docstrings are the contract; `kgrag.testing` has scripted ones for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ModelReplyError
from kgrag.types import Usage

__all__ = [
    "ChatModel",
    "Embedder",
    "Message",
    "Reply",
    "Reranker",
    "TokenVectors",
    "Vectors",
    "as_floats",
    "expect_scores",
    "expect_unit_vectors",
    "expect_vectors",
    "share_read",
]

UNIT_TOLERANCE = 0.01
"""Vectors in half precision, or of 8 bits, are not quite of unit length."""

Vectors = NDArray[np.float32]
"""Shape [n, dimensions], float32, each row of unit length."""
TokenVectors = NDArray[np.float16]
"""Of one text, [tokens, dimensions], each row of unit length in half precision: a cosine is right to 0.001, and twice as many are kept."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a chat model answered.

    `text` is the raw reply. `data` is the validated object where a schema was asked for, else None. `usage` is always filled: a
    model that counts nothing reports its calls and seconds. `mended` says what was wrong with a first reply, where the model had to be
    asked again for one that is valid.
    """

    text: str
    data: Any | None = None
    usage: Usage = field(default_factory=Usage)
    mended: str = ""


@runtime_checkable
class ChatModel(Protocol):
    """A language model that answers messages.

    `name` identifies it in settings, cache keys and results (`openai:gpt-4o-mini`, `rules`). Implementations are safe to call
    concurrently from one event loop and hold no conversation: every call carries all of it.
    """

    @property
    def name(self) -> str:
        """How settings, cache keys and results call it."""
        ...

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer `messages`, the last of which is the user's.

        With `schema` (JSON schema of an object) the reply's `data` is an object that validates against it; one repair round is
        allowed. Raises `ModelReplyError`, with the raw reply, when the model does not manage that, `ModelUnavailable` when it
        cannot be reached for now (a build waits), and another `ModelError` when waiting would not help (a bad key, an unknown name).
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of unit length, so that a dot product is a cosine.

    The same text gives the same vector (to float32 rounding), whatever it is batched with. A text longer than `max_tokens`
    is embedded over all of its windows (mean of the windows' vectors, normalised), never cut. An empty text is allowed.
    """

    @property
    def name(self) -> str:
        """How the store remembers what it was built with."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens of one window, without special tokens: no chunk is made longer."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count tokens of `text` by the model's own tokenizer, without special tokens."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: [len(texts), dimensions] in the order given. Raises `ModelError`."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with: the same shape. Some models put an instruction before queries. Raises `ModelError`."""
        ...


def as_floats(given: Any) -> NDArray[np.float32]:
    """Return what was given as an array in which a number that is too large is infinite. Raises `TypeError` and `ValueError`."""
    with np.errstate(over="ignore"):
        return np.asarray(given, dtype=np.float32)


def expect_vectors(given: Any, texts: int, *, model: str) -> Vectors:
    """Return what was given for so many texts as an array. Raises `ModelReplyError` where it is no vector of finite numbers for each."""
    try:
        vectors: Vectors = as_floats(given)
    except (TypeError, ValueError) as error:
        raise ModelReplyError(
            f"{model}: expected {texts} vectors of numbers, got {type(given).__name__}: {error}."
        ) from error
    if vectors.ndim != 2 or len(vectors) != texts or (texts and not vectors.shape[1]):
        raise ModelReplyError(f"{model}: expected {texts} vectors of numbers, got another shape: {vectors.shape}.")
    if wrong := int((~np.isfinite(vectors).all(axis=1)).sum()):
        raise ModelReplyError(
            f"{model}: expected {texts} vectors of numbers, got {wrong} with values that are not finite."
        )
    return vectors


def expect_unit_vectors(given: Any, texts: int, *, model: str) -> Vectors:
    """The same where they have to be of unit length as well, or of zeros as an empty text may be: else no dot product is a cosine."""
    vectors = expect_vectors(given, texts, model=model)
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = lengths[(np.abs(lengths - 1.0) > UNIT_TOLERANCE) & (lengths > 0.0)]
    if len(wrong):
        raise ModelReplyError(
            f"{model}: expected vectors of length 1, got {len(wrong)} of {texts} of another ({wrong[0]:.4g}): divide each by its length."
        )
    return vectors


def expect_scores(given: Any, passages: int, *, model: str) -> NDArray[np.float32]:
    """Return what was given for so many passages as an array. Raises `ModelReplyError` where it is no finite number for each."""
    try:
        scores = as_floats(given)
    except (TypeError, ValueError) as error:
        raise ModelReplyError(f"{model}: expected {passages} scores, got {type(given).__name__}: {error}.") from error
    if scores.shape != (passages,):
        raise ModelReplyError(f"{model}: expected {passages} scores, got another shape: {scores.shape}.")
    if wrong := int((~np.isfinite(scores)).sum()):
        raise ModelReplyError(f"{model}: expected {passages} scores, got {wrong} that are not finite.")
    return scores


def share_read(embedder: Embedder, text: str) -> float:
    """Return how much of a text an embedder was trained to read, from 0 to 1: what its method of this name says, else all of it."""
    said = getattr(embedder, "share_read", None)
    return 1.0 if said is None else float(said(text))


@runtime_checkable
class Reranker(Protocol):
    """Scores passages against a query; higher is better, and only the order within one call means something."""

    @property
    def name(self) -> str:
        """How settings and results call it."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score each passage: shape [len(passages)], in the order given, finite.

        Raises `ModelReplyError` for a reply without them (a question is then answered from the order that was there), else `ModelError`.
        """
        ...
