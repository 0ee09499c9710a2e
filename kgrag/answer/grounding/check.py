"""All checks of a generated answer, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.answer.grounding.claims import Claim, Thresholds, claims_of
from kgrag.answer.grounding.meaning import check_meaning
from kgrag.answer.grounding.names import check_names, check_subject
from kgrag.answer.grounding.passages import Passage
from kgrag.answer.grounding.values import check_numbers
from kgrag.models.base import Embedder
from kgrag.types import Evidence

__all__ = ["check_claims"]


async def check_claims(
    text: str,
    evidence: Sequence[Evidence],
    *,
    question: str,
    embedder: Embedder,
    thresholds: Thresholds | None = None,
) -> list[Claim]:
    """Check every sentence of an answer whose citations are written `[1]`, numbers being places in `evidence` from 1."""
    limits = thresholds or Thresholds()
    claims = claims_of(text)
    sources = {n: Passage(evidence[n - 1]) for claim in claims for n in claim.cited if 1 <= n <= len(evidence)}
    asked = Passage.of_text(question)
    known_titles = {piece.title for piece in evidence if piece.title}
    for claim in claims:
        cited = [sources[n] for n in claim.cited if n in sources]
        if not cited:
            if claim.has_to_be_said:
                claim.fail("support", "it cites no passage")
            continue
        check_numbers(claim, cited, asked)
        check_names(claim, cited, asked)
        if not claim.problems:
            check_subject(claim, cited, known_titles)
    await check_meaning(claims, sources, embedder, limits)
    return claims
