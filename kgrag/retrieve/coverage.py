"""How much the full-text index knows of a question."""

from __future__ import annotations

from collections.abc import Iterable

from kgrag.text.words import content_terms, share_said

__all__ = ["best_coverage"]


def best_coverage(question: str, hits: Iterable[str]) -> float:
    """Return the greatest share of the question's content words that one of the best hits has.

    Scaled scores say who is best, not how good the best is. A long question that no chunk has the words of is one for the vectors;
    one whose words stand together in a chunk is one for the full-text index. No hits, no coverage.
    """
    asked = content_terms(question)
    return max((share_said(asked, content_terms(hit)) for hit in hits), default=0.0)
