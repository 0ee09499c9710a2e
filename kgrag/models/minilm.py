"""all-MiniLM-L6-v2 on onnxruntime, without torch: the embedder that needs no key and no download.

Its vectors equal those of sentence-transformers (cosine 0.9999999); weights and graph are in `minilm_graph.py`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from kgrag.models.base import TokenVectors, Vectors
from kgrag.models.minilm_graph import published_weights, session_of, token_states, tokenizer, weights_folder
from kgrag.models.minilm_onnx import HIDDEN
from kgrag.models.recent import RecentVectors

__all__ = ["MiniLM", "MiniLMInt8"]

WINDOW_TOKENS = 256
"""The model's `max_seq_length`, the two special tokens included."""
LATIN_ENDS = "\u0250"
"""Before this letter Unicode has the Latin ones, up to Latin Extended-B."""
BATCH_TOKENS = 512
"""Padded tokens of one run: little enough that texts of one length are together (22 statements of an answer: 1,131 tokens, padded to 1,370;
with 2048 to 1,912, and 1.7 times the processor time), enough that a run is more than its overhead (128 took as long). Vectors are equal."""
TOKEN_VECTORS_BYTES = 512_000_000
"""Of token vectors that are kept; a chunk of 150 tokens has 115 kB of them. The 2,138 chunks of the Arduino manuals have 330 MB."""
VECTORS_BYTES = 16_000_000
"""Of vectors that are kept: about 10,000 statements."""
BLANKS = re.compile(r"[ \t\n\r]+")
"""No token of the model goes across them: a text has as many as its words together, and documents have the same words again and again."""
WORDS_REMEMBERED, REMEMBERED_CHARACTERS = 1 << 17, 64
"""How many words' tokens are kept, of words of how many characters at most."""


class MiniLM:
    """An `Embedder`: all-MiniLM-L6-v2, 384 dimensions, windows of 254 tokens and two special ones.

    Raises `ModelMissing` on first use where the package with the weights is not installed or its weights are not the published ones.
    """

    name = "minilm"
    dimensions = HIDDEN
    max_tokens = WINDOW_TOKENS - 2
    _int8 = False
    _batch_tokens = BATCH_TOKENS
    _recent_tokens: RecentVectors[TokenVectors] = RecentVectors(TOKEN_VECTORS_BYTES)
    _recent: RecentVectors[Vectors] = RecentVectors(VECTORS_BYTES)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of `text`, without special ones."""
        words = BLANKS.split(text)
        return sum(_tokens_of_word(word) if len(word) <= REMEMBERED_CHARACTERS else _tokens(word) for word in words)

    def share_read(self, text: str) -> float:
        """Say how much of a text the model was trained to read: the share of its letters that are Latin; 1 where it has none."""
        letters = [character for character in text if character.isalpha()]
        return sum(character < LATIN_ENDS for character in letters) / len(letters) if letters else 1.0

    def first_window(self, text: str) -> str:
        """Cut a text to what one window of the model reads, as sentence-transformers does silently."""
        encoding = tokenizer().encode(text, add_special_tokens=False)
        return text[: encoding.offsets[self.max_tokens - 1][1]] if len(encoding.ids) > self.max_tokens else text

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), 384]. A long text is the mean of its windows."""
        return await asyncio.to_thread(self.embed, texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries: this model treats them as it treats documents."""
        return await asyncio.to_thread(self.embed, texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, blocking: [len(texts), 384], unit length. What this process read lately is kept (about 10,000 texts)."""
        if not texts:
            return np.zeros((0, HIDDEN), dtype=np.float32)
        return np.stack(self._recent.of(texts, lambda missing: list(self._embed(missing))))

    @classmethod
    def forget(cls) -> None:
        """Forget what this process read lately, as a measurement needs it."""
        cls._recent_tokens.forget()
        cls._recent.forget()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), HIDDEN), dtype=np.float32)
        for owner, states in self._token_states(texts):
            mean = states.mean(axis=0)
            sums[owner] += mean / max(float(np.linalg.norm(mean)), 1e-12)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        vectors: Vectors = sums / np.maximum(norms, 1e-12)
        return vectors

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Embed every token of each text (for late interaction): a list of [tokens, 384], unit length, special tokens left out.

        In half precision. What this process read lately is kept (about 4,000 chunks); the arrays are read-only.
        """
        return self._recent_tokens.of(texts, self._embed_tokens)

    def token_places(self, text: str) -> list[tuple[int, int]]:
        """Return where each token of `token_vectors` begins and ends in the text."""
        places: list[tuple[int, int]] = tokenizer().encode(text, add_special_tokens=False).offsets
        return places

    def word_rank(self, word: str) -> int | None:
        """Say where a word, its case folded, stands in the vocabulary, which lists the frequent ones first; None for what is no token."""
        rank: int | None = tokenizer().token_to_id(word)
        return rank

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """Return what the model knows of single words before it reads their context: [len(words), 384], unit length.

        Zeros for what is no token of its own. Runs no model.
        """
        vectors = np.zeros((len(words), HIDDEN), dtype=np.float32)
        for row, word in enumerate(words):
            if (rank := self.word_rank(word)) is not None:
                vectors[row] = self._word_table[rank]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(norms, 1e-12)
        return unit

    def _embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        parts: list[list[tuple[int, TokenVectors]]] = [[] for _ in texts]
        for order, (owner, states) in enumerate(self._token_states(texts)):
            inner = states[1:-1]
            unit = inner / np.maximum(np.linalg.norm(inner, axis=1, keepdims=True), 1e-12)
            parts[owner].append((order, unit.astype(np.float16)))
        empty = np.zeros((0, HIDDEN), dtype=np.float16)
        return [np.concatenate([vectors for _, vectors in windows]) if windows else empty for windows in parts]

    def _token_states(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """Yield (index of the text, [tokens, 384]) for each window of each text; a text's windows come in order."""
        windows: list[tuple[int, list[int]]] = []
        for owner, encoding in enumerate(tokenizer().encode_batch(list(texts), add_special_tokens=False)):
            windows.extend((owner, ids) for ids in _split_evenly(encoding.ids, self.max_tokens))
        yield from token_states(self._session, windows, batch_tokens=self._batch_tokens)

    @cached_property
    def _word_table(self) -> Any:
        """The rows of the model's first layer, read from the file as they are needed."""
        from safetensors import safe_open

        tensors: Any = safe_open(weights_folder() / "model.safetensors", framework="numpy")
        return tensors.get_slice("embeddings.word_embeddings.weight")

    @cached_property
    def _session(self) -> Any:
        return session_of(self.name, published_weights, int8=self._int8)


class MiniLMInt8(MiniLM):
    """The same model, its products with weights of 8-bit integers: half the processor time of `MiniLM` for a chunk, vectors near its.

    What is multiplied is scaled over the whole batch, so each text is a batch: its vector depends on nothing else.
    """

    name = "minilm-int8"
    _int8 = True
    _batch_tokens = 0
    _recent_tokens: RecentVectors[TokenVectors] = RecentVectors(TOKEN_VECTORS_BYTES)
    _recent: RecentVectors[Vectors] = RecentVectors(VECTORS_BYTES)


def _split_evenly(ids: list[int], size: int) -> list[list[int]]:
    """Cut `ids` into as few windows of at most `size` as possible, of nearly equal length; at least one."""
    count = max(1, -(-len(ids) // size))
    return [ids[len(ids) * k // count : len(ids) * (k + 1) // count] for k in range(count)]


def _tokens(text: str) -> int:
    return len(tokenizer().encode(text, add_special_tokens=False).ids)


_tokens_of_word = lru_cache(maxsize=WORDS_REMEMBERED)(_tokens)
