"""How well statements say what is asked in other words: each term by the word of a statement that is nearest to it in meaning.

Two words are as near as what the embedding model knows of each before it reads any context (`halt` and `stop`): that costs no run of the
model. It takes opposites for near, and for what is asked only of the one best statement the words are compared as they stand, in context.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kgrag.answer.candidates import PLACE_WEIGHTS, Candidate, in_context, share_said
from kgrag.errors import ModelMissing
from kgrag.models.base import Embedder, TokenVectors, Vectors
from kgrag.models.minilm import MiniLM
from kgrag.text.answer_shapes import by_default
from kgrag.text.questions import Question
from kgrag.text.words import FUNCTION_WORDS, stems
from kgrag.types import Evidence

__all__ = ["WordReader", "asked_in_context", "near_coverage", "rare_words", "reader_of"]

FROM, FULLY = 0.15, 0.45
"""The cosines from which a word says something of another, and from which it says it as well as another word can. Chosen on the
development halves of the support questions and clapnq, where others do as well."""
OTHER_WORD = 0.8
"""How much another word that means the same counts beside the word itself."""
MIN_LETTERS = 3
COMMON = 0.2
"""What a term weighs that is as frequent as `the`, beside a rare one."""
FIRST_RANK, RARE_RANK = 1996, 20000
"""Where the model's vocabulary begins to list words, the most frequent first, and where they are rare."""


@runtime_checkable
class WordReader(Protocol):
    """An embedding model that says what it knows of single words."""

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """Return what the model knows of each word without context, of unit length; zeros for what is no single token."""
        ...

    def word_rank(self, word: str) -> int | None:
        """Say where the word stands in the vocabulary, the more frequent the earlier; None for what is no single token."""
        ...

    def token_places(self, text: str) -> list[tuple[int, int]]:
        """Return where each token begins and ends."""
        ...

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return a vector for each token of each text."""
        ...


def reader_of(embedder: Embedder) -> WordReader | None:
    """Return the embedder where it reads words, else MiniLM; None where that is not installed: words then say only themselves."""
    if isinstance(embedder, WordReader):
        return embedder
    minilm = MiniLM()
    try:
        minilm.word_rank("the")
    except ModelMissing:
        return None
    return minilm


def near_coverage(
    asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], reader: WordReader | None
) -> list[Mapping[str, float]]:
    """Return for each statement how well it says each term: as `Candidate.covered`, or by a word that is near where that is more.

    A name or number is said by nothing but itself.
    """
    names = _names(asked)
    meant = {term: word for term, word in _words_of(asked).items() if _has_meaning(word) and term not in names}
    if reader is None or not meant:
        return [candidate.covered for candidate in found]
    terms = list(meant)
    known = reader.word_vectors(list(meant.values()))
    near: dict[str, NDArray[np.float32]] = {}

    def nearest(text: str) -> NDArray[np.float32]:
        if text not in near:
            words = sorted({word for word, _ in stems(text) if _has_meaning(word)})
            near[text] = (known @ reader.word_vectors(words).T).max(axis=1, initial=0.0)
        return near[text]

    said: list[Mapping[str, float]] = []
    for candidate in found:
        statement, piece = candidate.statement, evidence[candidate.evidence]
        places = (
            statement.text,
            statement.label,
            statement.before,
            statement.heading,
            f"{piece.title} {piece.section}",
        )
        cosines = np.stack([nearest(text) for text in places])
        meaning = np.clip((cosines - FROM) / (FULLY - FROM), 0.0, 1.0) * OTHER_WORD
        best = (meaning * np.array(PLACE_WEIGHTS)[:, None]).max(axis=0)
        others = {term: float(share) for term, share in zip(terms, best, strict=True) if share}
        said.append({term: max(candidate.covered.get(term, 0.0), others.get(term, 0.0)) for term in asked.terms})
    return said


def rare_words(asked: Question, weights: Mapping[str, float], reader: WordReader | None) -> dict[str, float]:
    """Return the weights of terms, less for those that any English text may have: that `first` or `somebody` is not said means little."""
    if reader is None:
        return dict(weights)
    words = _words_of(asked)
    return {term: weight * _rarity(words.get(term, term), reader) for term, weight in weights.items()}


def asked_in_context(
    asked: Question,
    terms: frozenset[str],
    candidate: Candidate,
    evidence: Sequence[Evidence],
    reader: WordReader | None,
) -> float:
    """How near the words of a statement, in their context, come to terms of the question in theirs: mean cosine by weight, -1 to 1.

    Without a reader the share of the terms that it says.
    """
    weights = candidate.weights
    if reader is None:
        return share_said(weights, candidate.covered, terms)
    text = by_default(asked.text)
    of_question, of_statement = reader.token_vectors([text, in_context(candidate, evidence)])
    places = reader.token_places(text)
    near = 0.0
    for term in terms:
        vectors = _tokens_of(term, text, places, of_question)
        if len(vectors) and len(of_statement):
            mean = vectors.astype(np.float32).mean(axis=0)
            near += weights[term] * float((of_statement.astype(np.float32) @ mean).max() / np.linalg.norm(mean))
        else:  # an amount, of several words
            near += weights[term] * candidate.covered.get(term, 0.0)
    return near / sum(weights[term] for term in terms)


def _words_of(asked: Question) -> dict[str, str]:
    """The terms of a question, each with the word that it is of, as the question has it first."""
    found: dict[str, str] = {}
    for word, stem in stems(by_default(asked.text)):
        if stem in asked.terms:
            found.setdefault(stem, word)
    return found


def _names(asked: Question) -> set[str]:
    """The terms that are names or numbers: nothing but themselves says them."""
    named = {word for name in asked.names for word in name.casefold().split()}
    return {term for term in asked.terms if term in named or any(map(str.isdigit, term))}


def _has_meaning(word: str) -> bool:
    return len(word) >= MIN_LETTERS and word.isalpha() and word not in FUNCTION_WORDS


def _rarity(word: str, reader: WordReader) -> float:
    """From `COMMON` for the most frequent words to 1."""
    rank = reader.word_rank(word)
    if rank is None or rank >= RARE_RANK:
        return 1.0
    share = math.log(max(rank, FIRST_RANK) / FIRST_RANK) / math.log(RARE_RANK / FIRST_RANK)
    return COMMON + (1.0 - COMMON) * share


def _tokens_of(term: str, text: str, places: Sequence[tuple[int, int]], vectors: TokenVectors) -> TokenVectors:
    """The vectors of the tokens of the first word of a text that has the term as its stem."""
    at = 0
    for word, stem in stems(text):
        begins = text.casefold().find(word, at)
        if begins < 0:
            continue
        at = begins + len(word)
        if stem == term:
            inside = [row for row, (first, end) in enumerate(places) if first >= begins and end <= at]
            return vectors[inside]
    return vectors[:0]
