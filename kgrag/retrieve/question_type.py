"""What type a question is of: by rules, or by a chat model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel
from kgrag.retrieve import prompts
from kgrag.retrieve.pipeline import QuestionType
from kgrag.retrieve.preparation.wording import coordinated_questions
from kgrag.types import Usage

__all__ = ["TYPES", "ask_type", "type_by_rules"]

TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

SUMMARY = re.compile(
    r"\b(?:summari[sz]e|summary|overview|outline|describe|description|list (?:all|the|every)|all the|features|functionalit\w+|capabilit\w+"
    r"|what are the (?:main|key|typical|different|available|supported|functions|uses|applications|steps))\b",
    re.IGNORECASE,
)
REASONING = re.compile(
    r"\b(?:why|how (?:does|do|would|could|can|is|are|to)\b.*\b(?:affect|influence|impact|help|ensure|support|improve)\w*|explain|reason"
    r"|suitable|recommend\w*|should|better|best|prefer\w*|advantage\w*|benefit\w*|suppose|would it be|is it possible|can .* be used)\b",
    re.IGNORECASE,
)
DISAMBIGUATION = re.compile(
    r"\b(?:differ\w*|distinguish\w*|compare\w*|comparison|versus|vs|both|either|same as|instead of|confus\w*|or the)\b"
    r"|\bwhich (?:one|of|board|boards|product|products|device|devices|module|modules|sensor|sensors|model|models|version|variant)\b",
    re.IGNORECASE,
)
MULTI_HOP = re.compile(
    r"\b(?:of|by|in|from|on|at) the \w+(?: \w+){0,3} (?:that|which|who|where|whose|of|used|made|found|located|born|written)\b"
    r"|\b(?:that|which|whose)\b.*\b(?:that|which|whose)\b|\bthe \w+ of (?:the )?(?:\w+ ){1,3}of\b|\balso\b.*\b(?:have|has|uses?|support)",
    re.IGNORECASE,
)


def type_by_rules(question: str) -> QuestionType:
    """Tell the type by the question's wording: summary before reasoning before disambiguation before multi_hop; else factual."""
    if SUMMARY.search(question):
        return "summary"
    if REASONING.search(question):
        return "reasoning"
    if DISAMBIGUATION.search(question) or len(coordinated_questions(question, 3)) > 1:
        return "disambiguation"
    return "multi_hop" if MULTI_HOP.search(question) else "factual"


async def ask_type(model: ChatModel, question: str) -> tuple[QuestionType, Usage, str]:
    """Ask the model for the type; a reply that is none gives that of the rules, and what was wrong with it (else empty)."""
    schema = prompts.object_schema(type={"type": "string", "enum": list(TYPES)})
    try:
        reply = await model.reply(prompts.messages(prompts.QUESTION_TYPE, question=question), schema=schema)
    except ModelReplyError as error:
        return type_by_rules(question), error.usage, f"the type of the question is told by rules: {error}"
    said = reply.data.get("type") if isinstance(reply.data, Mapping) else None
    if said not in TYPES:
        wrong = (
            f"the type of the question is told by rules: expected one of {', '.join(TYPES)}, got {reply.text[:80]!r}"
        )
        return type_by_rules(question), reply.usage, wrong
    return said, reply.usage, ""
