"""Questions that nobody wrote: made of the structure that authors left, and of a graph's triples (docs/evaluation.md)."""

from __future__ import annotations

from kgrag.evaluate.questions.draft import Draft, question_line
from kgrag.evaluate.questions.kinds import KINDS, drafts_of
from kgrag.evaluate.questions.material import Material, StatedRelation
from kgrag.evaluate.questions.selection import Selection, select

__all__ = ["KINDS", "Draft", "Material", "Selection", "StatedRelation", "drafts_of", "question_line", "select"]
