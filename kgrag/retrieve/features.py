"""What is known about each piece of evidence for a question, as numbers that mean the same in every corpus: what a learnt ranker reads.

Most are shares, of the question's words or of what the best piece has, so that a weight which was learnt on one corpus holds on another.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import filterfalse, pairwise
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieve.state import Candidate, State
from kgrag.retrieve.steps.proximity import terms_by_sentence
from kgrag.text.quantities import quantities
from kgrag.text.questions import Question, read_question
from kgrag.text.words import ASKING_WORDS, FUNCTION_WORDS, content_terms, plain_words, share_said, stem, stems
from kgrag.types import Evidence

__all__ = ["FEATURES", "Sign", "features"]

Sign = Literal[0, 1]

FEATURES: Mapping[str, Sign] = MappingProxyType(
    {
        "score": 1,  # before, over the best piece's
        "seeds": 1,  # what the seed steps gave, the same way
        "cosine": 1,  # of question and chunk
        "cosine_share": 1,  # over the greatest
        "cosine_rank": 1,  # 1 for the first, 1/2 for the sixth
        "words_share": 1,  # full-text score over the greatest
        "words_rank": 1,
        "words_trusted": 1,  # words_share, times the share of the question that the best full-text hits have
        "terms": 1,  # the question's words that the text has, by idf among the pieces
        "sentence": 1,  # the same of its best sentence
        "one_sentence": 1,  # how far more than half of the question's words stand in one sentence
        "pairs": 1,  # pairs of words that stand beside each other in both
        "identifiers": 1,  # the question's words with digits that the text has
        "title": 1,  # the question's words that the title has, by idf
        "title_asked": 1,  # the title's words that the question has
        "heading": 1,  # the headings' beyond the title's
        "heading_asked": 1,
        "beyond_title": 1,  # of the question's words that the title does not have, those that the text has, by idf
        "quantity": 1,  # the question asks for a quantity, and the text has one of that dimension
        "named": 1,  # it is about something that the question names
        "family": 1,  # it is about a member of a family that the question names
        "by_names": 1,  # what each step added to the score
        "by_adjacent": 1,
        "by_links": 1,
        "by_paths": 1,
        "length": 0,  # natural logarithm of tokens over 100
        "short": 0,  # fewer than SHORT_TOKENS tokens
        "first": 0,  # it begins its document
        "early": 0,  # 1 / (1 + its position)
        "document": 0,  # what the seeds gave to the best three pieces of its document, mean; 0 where it is the only one
    }
)
"""What there is, and its sign: 1 where more never makes a piece worse, 0 where that depends on the corpus."""

HITS_READ = 10
"""Best full-text hits whose words are compared with the question's."""
SHORT_TOKENS = 25
BEST_OF_DOCUMENT = 3
HALF_RANK = 5
"""The rank's feature is a half so many places after the first."""
REMEMBERED_TEXTS = 2000
"""Of pieces that were read lately: a warm store asks for the same ones again."""

Column = NDArray[np.float64]


def features(state: State) -> NDArray[np.float64]:
    """Return one row for each piece of the state's evidence and a column for each of FEATURES, in their order: [pieces, features]."""
    pieces = state.evidence
    question = read_question(state.query.question)
    asked = question.words or content_terms(state.query.question)
    weights = _idf(pieces, asked)
    candidates = [_candidate(piece, by_source) for by_source in [_by_source(state.candidates)] for piece in pieces]
    columns = {
        **_of_scores(candidates),
        **_of_texts(pieces, asked, state.query.question, weights),
        **_of_headings(pieces, asked, weights),
        **_of_names(pieces, state),
        **_of_places(pieces, state),
    }
    columns["quantity"] = _column(_has_quantity(piece.text, question) for piece in pieces)
    columns["words_trusted"] = columns["words_share"] * _trust(columns["words_share"], pieces, asked)
    columns["document"] = _of_documents(pieces, columns["seeds"])
    return np.column_stack([columns[name] for name in FEATURES]) if pieces else np.zeros((0, len(FEATURES)))


def _by_source(candidates: Mapping[str, Candidate]) -> dict[tuple[str, str], Candidate]:
    return {(one.chunk_id or one.source, one.statement): one for one in candidates.values()}


def _candidate(piece: Evidence, by_source: Mapping[tuple[str, str], Candidate]) -> Candidate:
    source = piece.chunk_id or piece.source_id
    known = by_source.get((source, piece.text)) or by_source.get((source, ""))
    return known or Candidate(source, piece.score)


def _of_scores(candidates: Sequence[Candidate]) -> dict[str, Column]:
    cosine = _column(max(one.cosine, 0.0) for one in candidates)
    words = _column(one.words for one in candidates)
    gains = [one.gained for one in candidates]
    by_step = {f"by_{step}": _column(gained.get(step, 0.0) for gained in gains) for step in STEPS}
    return {
        "score": _shares(_column(one.score for one in candidates)),
        "seeds": _shares(_column(one.score - sum(one.gained.values()) for one in candidates)),
        "cosine": cosine,
        "cosine_share": _shares(cosine),
        "cosine_rank": _ranks(cosine),
        "words_share": _shares(words),
        "words_rank": _ranks(words) * (words > 0.0),
        **by_step,
    }


def _of_texts(
    pieces: Sequence[Evidence], asked: frozenset[str], question: str, weights: Mapping[str, float]
) -> dict[str, Column]:
    said = [stemmed for folded, stemmed in stems(question) if folded not in FUNCTION_WORDS | ASKING_WORDS]
    pairs = _pairs(said)
    identifiers = frozenset(term for term in asked if any(character.isdigit() for character in term))
    read = [_read(piece.text) for piece in pieces]
    sentences = [terms_by_sentence(piece.text) for piece in pieces]
    # Few of the sentences differ in which of the question's words they have.
    said_in = [{asked & one for one in some} for some in sentences]
    half = [max((share_said(asked, one) for one in some), default=0.0) for some in said_in]
    titles = [_terms(piece.title) for piece in pieces]
    weigh = _Weighing(asked, weights)
    besides = {title: _Weighing(asked - title, weights) for title in set(titles)}
    beyond = [besides[title].share(terms) for title, (terms, _) in zip(titles, read, strict=True)]
    return {
        "terms": _column(weigh.share(terms) for terms, _ in read),
        "sentence": _column(max(map(weigh.share, some), default=0.0) for some in said_in),
        "one_sentence": np.maximum(_column(half) - 0.5, 0.0) * 2.0,
        "pairs": _column(len(pairs & beside) / len(pairs) if pairs else 0.0 for _, beside in read),
        "identifiers": _column(share_said(identifiers, terms) for terms, _ in read),
        "title": _column(map(weigh.share, titles)),
        "title_asked": _column(share_said(title, asked) for title in titles),
        "beyond_title": _column(beyond),
    }


def _of_headings(pieces: Sequence[Evidence], asked: frozenset[str], weights: Mapping[str, float]) -> dict[str, Column]:
    weigh = _Weighing(asked, weights)
    headings = [_terms(piece.section) - _terms(piece.title) for piece in pieces]
    return {
        "heading": _column(map(weigh.share, headings)),
        "heading_asked": _column(share_said(heading, asked) for heading in headings),
    }


def _of_names(pieces: Sequence[Evidence], state: State) -> dict[str, Column]:
    named = {hit.chunk_id for entity in state.named if not entity.family for hit in entity.chunks}
    members = {hit.chunk_id for entity in state.named if entity.family for hit in entity.chunks}
    return {
        "named": _column(piece.chunk_id in named for piece in pieces),
        "family": _column(piece.chunk_id in members for piece in pieces),
    }


def _of_places(pieces: Sequence[Evidence], state: State) -> dict[str, Column]:
    places = [state.places.get(piece.chunk_id or "") for piece in pieces]
    return {
        "length": _column(math.log((piece.tokens + 1) / 100) for piece in pieces),
        "short": _column(piece.tokens < SHORT_TOKENS for piece in pieces),
        "first": _column(place == 0 for place in places),
        "early": _column(0.0 if place is None else 1.0 / (1 + place) for place in places),
    }


def _of_documents(pieces: Sequence[Evidence], seeds: Column) -> Column:
    by_document: dict[str, list[float]] = defaultdict(list)
    for piece, score in zip(pieces, seeds, strict=True):
        by_document[piece.document_id].append(float(score))
    best = {document: sorted(scores, reverse=True)[:BEST_OF_DOCUMENT] for document, scores in by_document.items()}
    several = {document for document, scores in by_document.items() if len(scores) > 1 and document}
    return _column(
        sum(best[piece.document_id]) / BEST_OF_DOCUMENT if piece.document_id in several else 0.0 for piece in pieces
    )


def _trust(words: Column, pieces: Sequence[Evidence], asked: frozenset[str]) -> float:
    """Return the greatest share of the question's words that one of the best full-text hits has: see `Hybrid.coverage`."""
    best = [int(place) for place in np.argsort(-words, kind="stable")[:HITS_READ] if words[place] > 0.0]
    return max((share_said(asked, _read(pieces[place].text)[0]) for place in best), default=0.0)


def _idf(pieces: Sequence[Evidence], asked: frozenset[str]) -> dict[str, float]:
    """Weigh the question's words by how few of the pieces have them (idf as BM25 has it): the pieces stand for the corpus."""
    counts = Counter(term for piece in pieces for term in asked & _read(piece.text)[0])
    return {term: math.log(1.0 + (len(pieces) - counts[term] + 0.5) / (counts[term] + 0.5)) for term in asked}


class _Weighing:
    """The share of a question's words that a text has, each word by its weight."""

    def __init__(self, asked: frozenset[str], weights: Mapping[str, float]) -> None:
        self._asked = asked
        # Sorted, because the sum of floats depends on its order, and that of a set on chance.
        self._weights = [(term, weights[term]) for term in sorted(asked)]
        self._total = sum(weight for _, weight in self._weights)
        self._known: dict[frozenset[str], float] = {}

    def share(self, terms: frozenset[str]) -> float:
        """Weigh the words that are among `terms`; from 0 to 1."""
        said = self._asked & terms
        found = self._known.get(said)
        if found is None:
            has = sum(weight for term, weight in self._weights if term in said)
            found = self._known[said] = has / self._total if self._total > 0.0 else 0.0
        return found


def _has_quantity(text: str, question: Question) -> bool:
    if not question.dimensions:
        return False
    found = _dimensions(text)
    return bool(found) if question.dimensions == ("",) else not found.isdisjoint(question.dimensions)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _read(text: str) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Return the stems of a text's content words, and which stand beside each other."""
    row = list(map(stem, filterfalse(FUNCTION_WORDS.__contains__, plain_words(text))))
    return frozenset(row), _pairs(row)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _terms(text: str) -> frozenset[str]:
    return content_terms(text)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _dimensions(text: str) -> frozenset[str]:
    return frozenset(quantity.dimension for quantity in quantities(text))


def _pairs(row: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(row))


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)


def _shares(values: Column) -> Column:
    best = float(values.max(initial=0.0))
    return np.maximum(values, 0.0) / best if best > 0.0 else np.zeros_like(values)


def _ranks(values: Column) -> Column:
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    return 1.0 / (1.0 + ranks / HALF_RANK)


STEPS = tuple(name.removeprefix("by_") for name in FEATURES if name.startswith("by_"))
"""Steps whose part of the score is a feature of its own."""
