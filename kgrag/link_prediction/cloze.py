"""Questions without a model: sentences of connected chunks with the words taken out that lead from one to the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS, stems

__all__ = ["QUESTIONS", "cloze_questions"]

KEPT_WORDS = (4, 9)
"""A question has from so many to so many words of each of its chunks."""
QUESTIONS = 2
"""For each batch, as LP-RAG asks its model for."""

Terms = list[tuple[str, str]]


def cloze_questions(
    texts: Sequence[str], batches: Sequence[NDArray[np.intp]], generator: np.random.Generator
) -> list[tuple[str, NDArray[np.intp]]]:
    """Return questions for each batch of chunks, with the chunks that they are about.

    From each chunk of a batch, words of one sentence, drawn by how rare they are; words that the batch's chunks share are left out
    where it has several, so that what leads from chunk to chunk has to be found in the graph. A chunk without words gives none.
    """
    read = [_sentences(text) for text in texts]
    idf = _idf([{stem for sentence in one for _, stem in sentence} for one in read])
    found = []
    for batch in batches:
        inside = [{stem for sentence in read[chunk] for _, stem in sentence} for chunk in batch]
        shared = {stem for stem, count in Counter(stem for one in inside for stem in one).items() if count > 1}
        for _ in range(QUESTIONS):
            parts = [_words(read[chunk], shared, idf, generator) for chunk in batch]
            said = [word for part in parts for word in part]
            if said and all(parts):
                found.append((f"{' '.join(said)}?", batch))
    return found


def _sentences(text: str) -> list[Terms]:
    split = (
        [(folded, stem) for folded, stem in stems(one.text) if folded not in FUNCTION_WORDS] for one in sentences(text)
    )
    return [terms for terms in split if terms]


def _idf(documents: Sequence[set[str]]) -> dict[str, float]:
    counts = Counter(term for terms in documents for term in terms)
    return {term: math.log(1.0 + len(documents) / count) for term, count in counts.items()}


def _words(
    split: Sequence[Terms], shared: set[str], idf: dict[str, float], generator: np.random.Generator
) -> list[str]:
    able = [[(word, idf[stem]) for word, stem in sentence if stem not in shared] for sentence in split]
    able = [sentence for sentence in able if len(sentence) >= 3] or [sentence for sentence in able if sentence]
    if not able:
        return []
    words = able[int(generator.integers(len(able)))]
    weights = np.array([weight for _, weight in words])
    count = min(int(generator.integers(KEPT_WORDS[0], KEPT_WORDS[1] + 1)), len(words))
    kept = generator.choice(len(words), size=count, replace=False, p=weights / weights.sum())
    return [words[place][0] for place in sorted(kept)]
