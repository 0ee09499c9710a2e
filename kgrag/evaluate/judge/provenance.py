"""Whether an answer rests on the right documents and pages: De Faveri's measures, of the citations of an answer.

Source: A. De Faveri, Building and Evaluating a Document-Grounded QA System (thesis, Bologna 2026), evaluation metrics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kgrag.evaluate.gold_questions import states
from kgrag.types import Answer, Citation

if TYPE_CHECKING:
    from kgrag.models.minilm import MiniLM

__all__ = [
    "answer_similarity",
    "cited_pages",
    "gold_places_cited",
    "pages_cited",
    "sources_cited",
]


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


def sources_cited(facts: Sequence[frozenset[str]], answer: Answer) -> float | None:
    """Return the share of gold facts with a page (`path#page=4`) of which a citation names the document; None without such a fact."""
    cited = {citation.document for citation in answer.citations}
    return _share(facts, lambda path, page: any(_is_path(document, path) for document in cited))


def pages_cited(facts: Sequence[frozenset[str]], answer: Answer) -> float | None:
    """Return the share of gold facts with a page of which a citation names such a page; None without such a fact.

    The thesis's page accuracy where each fact has one page; of a fact that several pages state any will do.
    """
    cited = cited_pages(answer.citations)
    return _share(
        facts,
        lambda path, page: any(page in pages for document, pages in cited.items() if _is_path(document, path)),
    )


def _share(facts: Sequence[frozenset[str]], cites: Callable[[str, int], bool]) -> float | None:
    """Return the share of facts of which any page is cited, of those that have pages."""
    places = [[place.partition("#page=") for place in fact if "#page=" in place] for fact in facts]
    expected = [fact for fact in places if fact]
    if not expected:
        return None
    return sum(any(page.isdigit() and cites(path, int(page)) for path, _, page in fact) for fact in expected) / len(
        expected
    )


def _is_path(document: str, path: str) -> bool:
    return document == path or document.endswith(f"/{path}")


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
