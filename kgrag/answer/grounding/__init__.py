"""Whether the sentences of a generated answer are grounded: each is held against the passages that it cites.

Numbers with their units, names and part numbers of a sentence must be in a passage that it cites, or follow from one by a unit conversion;
a number that a passage says of another part or product does not count. Beyond that a sentence must be near a statement of what it cites
in meaning and share its content terms (thresholds: `python -m benchmarks.planted_answers`), and must not say the opposite of the statement
that it is nearest to.
"""

from kgrag.answer.grounding.check import check_claims
from kgrag.answer.grounding.claims import (
    Claim,
    Thresholds,
    claims_of,
    set_own_knowledge_apart,
    ungrounded_notes,
    with_claims_marked,
    without_ungrounded,
)
from kgrag.answer.grounding.names import names_of_claim

__all__ = [
    "Claim",
    "Thresholds",
    "check_claims",
    "claims_of",
    "names_of_claim",
    "set_own_knowledge_apart",
    "ungrounded_notes",
    "with_claims_marked",
    "without_ungrounded",
]
