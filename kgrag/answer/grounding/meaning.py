"""Whether a sentence is near what it cites in meaning, and does not say the opposite of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kgrag.answer.grounding.claims import Claim, Thresholds
from kgrag.answer.grounding.names import names_of_claim
from kgrag.answer.grounding.passages import Passage, PassageStatement
from kgrag.models.base import Embedder, Vectors
from kgrag.text.negation import opposes
from kgrag.text.words import content_terms, stems

__all__ = ["check_meaning"]

EMBEDDED_STATEMENTS = 8
"""Of what a sentence cites, for each sentence: those that share most words with it."""


async def check_meaning(
    claims: Sequence[Claim], sources: Mapping[int, Passage], embedder: Embedder, limits: Thresholds
) -> None:
    """Fail sentences that are far from all that they cite, or say the opposite of what they are nearest to."""
    checked = [claim for claim in claims if any(n in sources for n in claim.cited) and claim.has_to_be_said]
    near = [_nearest_by_words(claim, [sources[n] for n in claim.cited if n in sources]) for claim in checked]
    texts = list(dict.fromkeys(_headed(statement, source) for some in near for statement, source in some))
    if not texts:
        return
    place = {text: number for number, text in enumerate(texts)}
    vectors: Vectors = await embedder.embed_documents([*texts, *(claim.text for claim in checked)])
    for claim, some, vector in zip(checked, near, vectors[len(texts) :], strict=True):
        cosines = vectors[[place[_headed(statement, source)] for statement, source in some]] @ vector
        best = int(np.argmax(cosines))
        nearest = some[best][0].text
        claim.similarity = float(cosines[best])
        # Names and numbers have been checked; what is said of them is in the other words.
        named = content_terms(" ".join(names_of_claim(claim.text)))
        wanted = frozenset(t for t in content_terms(claim.text) - named if not any(c.isdigit() for c in t))
        known = frozenset().union(*(sources[n].terms for n in claim.cited if n in sources))
        claim.coverage = len(wanted & known) / len(wanted) if wanted else 1.0
        cited = [statement.text for n in claim.cited if n in sources for statement in sources[n].statements]
        claim.opposes = opposes(claim.text, nearest, cited)
        failing = claim.fails_by(limits)
        if failing == "support":
            absent = sorted({w for w, s in stems(claim.text) if s in wanted - known})
            lacking = f" ({', '.join(absent[:5])} not in it)" if absent else ""
            claim.fail("support", f"{claim.marks} says nothing near enough{lacking}")
        elif failing == "opposite":
            claim.fail("opposite", f"{claim.marks} says “{nearest}”")


def _nearest_by_words(claim: Claim, cited: Sequence[Passage]) -> list[tuple[PassageStatement, Passage]]:
    """The statements of what a sentence cites that share most words with it: those are worth embedding."""
    wanted = content_terms(claim.text)
    every = [(statement, source) for source in cited for statement in source.statements]
    return sorted(every, key=lambda one: -len(wanted & one[0].terms) / (len(one[0].terms) + 1) ** 0.5)[
        :EMBEDDED_STATEMENTS
    ]


def _headed(statement: PassageStatement, source: Passage) -> str:
    title = source.title.partition("\n")[0]
    return f"{title}: {statement.text}" if title else statement.text
