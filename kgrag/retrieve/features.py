"""What is known about each piece of evidence for a question, as numbers that mean the same in every corpus: what a learnt ranker reads.

Most are shares, of the question's words or of what the best piece has, so that a weight which was learnt on one corpus holds on another.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgrag.common.boosted_trees import BoostedTrees, read_trees
from kgrag.retrieve.state import Candidate, State
from kgrag.retrieve.texts import REMEMBERED_TEXTS, ReadText, read_text
from kgrag.text.quantities import has_dimension, quantities
from kgrag.text.questions import Question, read_question
from kgrag.text.words import ASKING_WORDS, FUNCTION_WORDS, content_terms, share_said, stems
from kgrag.types import Evidence

__all__ = ["FEATURES", "SHIPPED_TREES", "TREES", "Sign", "features", "shipped_trees", "with_trees"]

Sign = Literal[0, 1]

FEATURES: Mapping[str, Sign] = MappingProxyType(
    {
        "score": 1,  # before, over the best piece's
        "score_rank": 1,  # 1 for the first, 1/2 for the second, 1/3 for the third
        "seeds": 1,  # what the seed steps gave, the same way
        "cosine": 1,  # of question and chunk
        "cosine_share": 1,  # over the greatest
        "cosine_rank": 1,  # 1 for the first, 1/2 for the sixth
        "words_share": 1,  # full-text score over the greatest
        "words_rank": 1,
        "words_trusted": 1,  # words_share, times the share of the question that the best full-text hits have
        "terms": 1,  # the question's words that the text has, by idf among the pieces
        "terms_rank": 1,  # as score_rank
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
        "all_first": 0,  # share of the pieces that begin their document: what sort of corpus it is, the same for all pieces
        "all_alone": 0,  # share of the pieces whose document is 0
        "trees": 1,  # what boosted trees make of all the others
    }
)
"""What there is, and its sign: 1 where more never makes a piece worse, 0 where that depends on the corpus."""
TREES = "trees"

HITS_READ = 10
"""Best full-text hits whose words are compared with the question's."""
SHIPPED_TREES = Path(__file__).with_name("ranker.safetensors")
SHORT_TOKENS = 25
BEST_OF_DOCUMENT = 3
HALF_RANK = 5
"""The rank's feature is a half so many places after the first."""
Column = NDArray[np.float64]


def features(state: State, *, of: Collection[str] = FEATURES, trees: BoostedTrees | None = None) -> NDArray[np.float64]:
    """Return one row for each piece of the state's evidence and a column for each of FEATURES, in their order: [pieces, features].

    The columns of those that are not among `of` are 0, and what only they need is not read. `trees` are those that are asked; None: the
    shipped ones.
    """
    known = _Known(state)
    nothing = np.zeros(len(state.evidence))
    rows = np.column_stack([_COLUMNS[name](known) if name in of else nothing for name in FEATURES if name != TREES])
    return with_trees(rows, trees or shipped_trees()) if TREES in of else np.column_stack([rows, nothing])


def with_trees(rows: NDArray[np.float64], trees: BoostedTrees) -> NDArray[np.float64]:
    """Return rows of all features but the last with what trees say of them as the last."""
    return np.column_stack([rows, trees.scores(rows)])


def shipped_trees() -> BoostedTrees:
    """Return what `benchmarks.ranker` learnt from the questions of several corpora."""
    return read_trees(SHIPPED_TREES)


class _Known:
    """What the features are made of, each made when it is first asked for; lists have an item for each piece."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.pieces = state.evidence
        self.question = read_question(state.query.question)
        self.asked = self.question.words or content_terms(state.query.question)
        self.identifiers = frozenset(term for term in self.asked if any(character.isdigit() for character in term))

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The candidate that each piece was read for."""
        by_source = {(one.chunk_id or one.source, one.statement): one for one in self.state.candidates.values()}
        return [_candidate(piece, by_source) for piece in self.pieces]

    @cached_property
    def gains(self) -> list[dict[str, float]]:
        """What each step added."""
        return [one.gained for one in self.candidates]

    @cached_property
    def scores(self) -> Column:
        """Before."""
        return _column(one.score for one in self.candidates)

    @cached_property
    def terms(self) -> Column:
        """The share of the question's words that each has, by weight."""
        return _column(self.weigh.share(text.terms) for text in self.texts)

    @cached_property
    def documents(self) -> Column:
        """What the seeds gave to the best pieces of its document."""
        return _of_documents(self)

    @cached_property
    def cosine(self) -> Column:
        """Of question and chunk."""
        return _column(max(one.cosine, 0.0) for one in self.candidates)

    @cached_property
    def words(self) -> Column:
        """Full-text scores."""
        return _column(one.words for one in self.candidates)

    @cached_property
    def seeds(self) -> Column:
        """What the seed steps gave, over the best piece's."""
        gains = zip(self.candidates, self.gains, strict=True)
        return _shares(_column(one.score - sum(gained.values()) for one, gained in gains))

    @cached_property
    def texts(self) -> list[ReadText]:
        """What is shown."""
        return [read_text(piece.text) for piece in self.pieces]

    @cached_property
    def together(self) -> list[list[frozenset[str]]]:
        """Those of the question's words that stand in one sentence."""
        return [text.said_together(self.asked) for text in self.texts]

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Words that stand beside each other in the question."""
        said = stems(self.state.query.question)
        return frozenset(pairwise(one for folded, one in said if folded not in FUNCTION_WORDS | ASKING_WORDS))

    @cached_property
    def titles(self) -> list[frozenset[str]]:
        """Their words."""
        return [_terms(piece.title) for piece in self.pieces]

    @cached_property
    def headings(self) -> list[frozenset[str]]:
        """Their words beyond those of the title."""
        return [_terms(piece.section) - title for piece, title in zip(self.pieces, self.titles, strict=True)]

    @cached_property
    def places(self) -> list[int | None]:
        """Where in its document each chunk stands."""
        return [self.state.places.get(piece.chunk_id or "") for piece in self.pieces]

    @cached_property
    def weights(self) -> dict[str, float]:
        """The question's words by how few of the pieces have them (idf as BM25 has it): the pieces stand for the corpus."""
        counts = Counter(term for text in self.texts for term in self.asked & text.terms)
        pieces = len(self.pieces)
        return {term: math.log(1.0 + (pieces - counts[term] + 0.5) / (counts[term] + 0.5)) for term in self.asked}

    @cached_property
    def weigh(self) -> _Weighing:
        """Weighs the question's words."""
        return _Weighing(self.asked, self.weights)


def _candidate(piece: Evidence, by_source: Mapping[tuple[str, str], Candidate]) -> Candidate:
    source = piece.chunk_id or piece.source_id
    known = by_source.get((source, piece.text)) or by_source.get((source, ""))
    return known or Candidate(source, piece.score)


def _by(step: str) -> Callable[[_Known], Column]:
    return lambda known: _column(gained.get(step, 0.0) for gained in known.gains)


def _about(known: _Known, *, family: bool) -> Column:
    chunks = {hit.chunk_id for one in known.state.named if bool(one.family) == family for hit in one.chunks}
    return _column(piece.chunk_id in chunks for piece in known.pieces)


def _beyond_titles(known: _Known) -> Column:
    besides = {title: _Weighing(known.asked - title, known.weights) for title in set(known.titles)}
    return _column(besides[title].share(text.terms) for title, text in zip(known.titles, known.texts, strict=True))


def _pairs(known: _Known) -> Column:
    count = max(len(known.pairs), 1)
    return _column(text.count_pairs(known.pairs) / count for text in known.texts)


def _one_sentence(known: _Known) -> Column:
    best = _column(max((share_said(known.asked, one) for one in some), default=0.0) for some in known.together)
    return np.maximum(best - 0.5, 0.0) * 2.0


def _of_documents(known: _Known) -> Column:
    by_document: dict[str, list[float]] = defaultdict(list)
    for piece, score in zip(known.pieces, known.seeds, strict=True):
        by_document[piece.document_id].append(float(score))
    best = {document: sorted(scores, reverse=True)[:BEST_OF_DOCUMENT] for document, scores in by_document.items()}
    several = {document for document, scores in by_document.items() if len(scores) > 1 and document}
    return _column(
        sum(best[piece.document_id]) / BEST_OF_DOCUMENT if piece.document_id in several else 0.0
        for piece in known.pieces
    )


def _trust(known: _Known) -> float:
    """Return the greatest share of the question's words that one of the best full-text hits has: see `Hybrid.coverage`."""
    words = _shares(known.words)
    best = [int(place) for place in np.argsort(-words, kind="stable")[:HITS_READ] if words[place] > 0.0]
    return max((share_said(known.asked, known.texts[place].terms) for place in best), default=0.0)


_COLUMNS: Mapping[str, Callable[[_Known], Column]] = {
    "score": lambda known: _shares(known.scores),
    "score_rank": lambda known: _ranks(known.scores, half=1),
    "seeds": lambda known: known.seeds,
    "cosine": lambda known: known.cosine,
    "cosine_share": lambda known: _shares(known.cosine),
    "cosine_rank": lambda known: _ranks(known.cosine),
    "words_share": lambda known: _shares(known.words),
    "words_rank": lambda known: _ranks(known.words) * (known.words > 0.0),
    "words_trusted": lambda known: _shares(known.words) * _trust(known),
    "terms": lambda known: known.terms,
    "terms_rank": lambda known: _ranks(known.terms, half=1),
    "sentence": lambda known: _column(max(map(known.weigh.share, some), default=0.0) for some in known.together),
    "one_sentence": _one_sentence,
    "pairs": _pairs,
    "identifiers": lambda known: _column(share_said(known.identifiers, text.terms) for text in known.texts),
    "title": lambda known: _column(map(known.weigh.share, known.titles)),
    "title_asked": lambda known: _column(share_said(title, known.asked) for title in known.titles),
    "heading": lambda known: _column(map(known.weigh.share, known.headings)),
    "heading_asked": lambda known: _column(share_said(heading, known.asked) for heading in known.headings),
    "beyond_title": _beyond_titles,
    "quantity": lambda known: _column(_has_quantity(piece.text, known.question) for piece in known.pieces),
    "named": lambda known: _about(known, family=False),
    "family": lambda known: _about(known, family=True),
    **{name: _by(name.removeprefix("by_")) for name in FEATURES if name.startswith("by_")},
    "length": lambda known: _column(math.log((piece.tokens + 1) / 100) for piece in known.pieces),
    "short": lambda known: _column(piece.tokens < SHORT_TOKENS for piece in known.pieces),
    "first": lambda known: _column(place == 0 for place in known.places),
    "early": lambda known: _column(0.0 if place is None else 1.0 / (1 + place) for place in known.places),
    "document": lambda known: known.documents,
    "all_first": lambda known: np.full(len(known.pieces), _mean(place == 0 for place in known.places)),
    "all_alone": lambda known: np.full(len(known.pieces), _mean(share == 0.0 for share in known.documents)),
}
"""Makes the column of each feature but what trees say."""


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
    return _has_any_quantity(text) if question.dimensions == ("",) else _measures(text, frozenset(question.dimensions))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _terms(text: str) -> frozenset[str]:
    return content_terms(text)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _measures(text: str, dimensions: frozenset[str]) -> bool:
    return has_dimension(text, dimensions)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _has_any_quantity(text: str) -> bool:
    return bool(quantities(text))


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)


def _shares(values: Column) -> Column:
    best = float(values.max(initial=0.0))
    return np.maximum(values, 0.0) / best if best > 0.0 else np.zeros_like(values)


def _mean(flags: Iterable[bool]) -> float:
    known = list(flags)
    return sum(known) / len(known) if known else 0.0


def _ranks(values: Column, *, half: int = HALF_RANK) -> Column:
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    return 1.0 / (1.0 + ranks / half)
