"""Whether an answer rests on the right documents and pages: De Faveri's measures as published, and their precise forms.

Source: A. De Faveri, Building and Evaluating a Document-Grounded QA System (thesis, Bologna 2026), evaluation metrics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from kgrag.evaluate.gold_questions import states
from kgrag.types import Answer, Citation

if TYPE_CHECKING:
    from kgrag.models.minilm import MiniLM

__all__ = [
    "answer_similarity",
    "cited_pages",
    "gold_places_cited",
    "page_accuracy",
    "page_precision",
    "pages_cited",
    "source_accuracy",
]

Pages = Mapping[str, Set[int]]
"""Source → pages, from 1."""


def source_accuracy(expected: Set[str], found: Set[str], *, as_published: bool = False) -> float | None:
    """Return the share of expected sources that were found.

    Where no source is expected: None, as there is nothing to find; `as_published` 1, as the thesis counts.
    """
    if not expected:
        return 1.0 if as_published else None
    return len(expected & found) / len(expected)


def page_accuracy(expected: Pages, found: Pages, *, as_published: bool = False) -> float | None:
    """Return the share of expected pages, over all sources, that were found. Without an expected page as `source_accuracy`."""
    wanted = sum(len(pages) for pages in expected.values())
    if not wanted:
        return 1.0 if as_published else None
    return sum(len(pages & found.get(source, frozenset())) for source, pages in expected.items()) / wanted


def page_precision(expected: Pages, found: Pages) -> float | None:
    """Return the share of found pages that are expected ones; None where no page was found."""
    total = sum(len(pages) for pages in found.values())
    return (
        sum(len(pages & expected.get(source, frozenset())) for source, pages in found.items()) / total
        if total
        else None
    )


def cited_pages(citations: Sequence[Citation]) -> dict[str, set[int]]:
    """Return the pages that an answer's citations name, by document."""
    pages: dict[str, set[int]] = {}
    for citation in citations:
        if citation.page_start is not None:
            span = range(citation.page_start, (citation.page_end or citation.page_start) + 1)
            pages.setdefault(citation.document, set()).update(span)
    return pages


def gold_places_cited(facts: Sequence[frozenset[str]], answer: Answer) -> float | None:
    """Return the share of gold facts that a cited passage is a place of (its id, its element, its page); None without a gold place.

    Source and page accuracy in one: as exact as the gold place is written. An answer that cites nothing cites none of them.
    """
    if not facts:
        return None
    numbers = {citation.chunk_id for citation in answer.citations}
    cited = [piece for piece in answer.evidence if piece.chunk_id is not None and piece.chunk_id in numbers]
    return sum(any(states(piece, fact) for piece in cited) for fact in facts) / len(facts)


def pages_cited(facts: Sequence[frozenset[str]], answer: Answer) -> float | None:
    """Return the share of gold facts with a page (`path#page=4`) of which a citation names such a page; None without such a fact.

    `page_accuracy` where each fact has one page; of a fact that several pages state any will do.
    """
    expected = [pages for fact in facts if (pages := [one for one in fact if "#page=" in one])]
    if not expected:
        return None
    cited = cited_pages(answer.citations)
    return sum(any(_cites_page(cited, page) for page in pages) for pages in expected) / len(expected)


def _cites_page(cited: Pages, place: str) -> bool:
    path, _, page = place.partition("#page=")
    return page.isdigit() and any(
        int(page) in pages for document, pages in cited.items() if document == path or document.endswith(f"/{path}")
    )


def answer_similarity(expected: Sequence[str], answers: Sequence[str], *, embedder: MiniLM) -> list[float]:
    """Return the cosines of expected and given answers, to four places, each cut to the model's first window.

    What a model writes after the word "reference(s)" is its list of sources and does not count.
    """
    given = [re.split(r"references?", answer, maxsplit=1, flags=re.IGNORECASE)[0] for answer in answers]
    texts = [embedder.first_window(text.strip()) for text in (*expected, *given)]
    different = list(dict.fromkeys(texts))  # the same answer is expected of each program
    vectors = dict(zip(different, embedder.embed(different), strict=True))
    half = len(expected)
    return [round(float(vectors[a] @ vectors[b]), 4) for a, b in zip(texts[:half], texts[half:], strict=True)]
