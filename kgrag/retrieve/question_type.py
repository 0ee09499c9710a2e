"""What type a question is of: by rules, or by a chat model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel
from kgrag.retrieve import prompts
from kgrag.retrieve.pipeline import QuestionType
from kgrag.types import Usage

__all__ = ["TYPES", "ask_type", "type_by_rules"]

TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

THINGS = r"(?:products|devices|boards|models|modules|sensors|systems|variants|versions|editions|famil(?:y|ies)|series|categories|documents)"
"""What a collection is a collection of: who asks which of them asks for all."""


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


# A summary: an overview, or all things that have something, or how groups of things differ.
SUMMARY = _pattern(
    r"\b(?:summar\w+|overview|outline|overall|in general|list (?:all|the|every)|all (?:of )?the|across (?:all|the))\b",
    r"\b(?:main|key|major|typical|general) (?:\w+ )?(?:differences|options|features|functions|purposes?|applications)\b",
    r"\b(?:main|key|typical) (?:\w+ )?(?:capabilities|steps|uses)\b",
    rf"^(?:which|what)(?: \w+){{0,3}} {THINGS}(?! (?:of|is|was|has)\b)",
    r"\bby the (?:largest|greatest|highest|smallest) number of\b|\bmost (?:commonly|widely|frequently|often)\b",
    rf"\b(?:compare|differ\w*)\b.*\b(?:{THINGS}|across)\b|\b(?:{THINGS}|across)\b.*\bdiffer\w*",
    r"\bwhat (?:kinds?|types?|sorts?) of\b.*\b(?:can|could|possible|are there)\b",
)
# Who says so takes one thing for another.
CONFUSED = _pattern(r"\bI (?:am confused|assumed|thought|mixed up)\b|\bdifference between\b")
CAUSE = _pattern(
    r"\b(?:why|explain|reasons?)\b",
    r"\b(?:caus\w+|missed|missing|wrong|fault\w*|problem)\b[^.?]*\?",
    r"\bhow (?:does|do|would|could)\b.*\b(?:affect|influence|impact)",
)
# Several steps, or parts that act together: each is said somewhere else.
STEPS = _pattern(
    r"\b(?:steps?|procedure|next|together|combin\w+|interact\w*)\b|\bhow (?:can|should|do|could) I\b|\bI want to\b",
    r"\bwhat\b.*\b(?:needs?|must|have) to\b|^how (?:does|do|can)\b.*\b(?:with|us(?:es?|ing)|through|over)\b",
)
JUDGEMENT = _pattern(
    r"\b(?:suit\w*|recommend\w*|appropriate|better|best|prefer\w*|advantages?|benefits?|enough|sufficient|safe\w*|would|should|suppose|possible)\b",
    r"^(?:can|could|may|if)\b|^which (?:\w+ )?(?:supports?|provides?)\b",
)
TROUBLE = _pattern(
    r"\b(?:I|my)\b.*\b(?:cannot|can't|(?:does|do|did|is)(?:n't| not)|nothing|never|no longer|fail\w*|error|stuck|slow\w*|unstable)\b"
)
# Which of two things or meanings, or whether something is so of this one.
SENSE = _pattern(
    r"\b(?:differ\w*|distinguish\w*|compar\w+|versus|vs|both|either|equivalent|same|instead of|rather than|only|expected)\b",
    r"\b(?:refers?|referring|mean(?:s|ing)?|stand for|appl(?:y|ies)|or (?:the|an?|is|did|does|do)|which (?:one|of))\b|, [^,]+ or [^,]+\?$",
    r"^(?:does|do|is|are|was|were|did|has|have)\b",
)
# Something of something of something.
CHAIN = _pattern(
    r"\b(?:of|by|in|from|on|at) the \w+(?: \w+){0,3} (?:that|which|who|where|whose|of|used|made|found|located|born|written)\b",
    r"\b(?:that|which|whose)\b.*\b(?:that|which|whose)\b|\bthe \w+ of (?:the )?(?:\w+ ){1,3}of\b|\bthe \w+ of .*'s \w+",
    r"\b(?:where|when) (?:is|was|did|does|has) (?:the \w+ of\b|.*'s \w+)|\balso\b.*\b(?:have|has|uses?|support)",
)


def type_by_rules(question: str) -> QuestionType:
    """Tell the type by the question's wording, which decides in this order; how well is said by `benchmarks.question_types`."""
    if SUMMARY.search(question):
        return "summary"
    if CONFUSED.search(question):
        return "disambiguation"
    if CAUSE.search(question):
        return "reasoning"
    if STEPS.search(question):
        return "multi_hop"
    if JUDGEMENT.search(question):
        return "reasoning"
    if SENSE.search(question):
        return "disambiguation"
    if TROUBLE.search(question):
        return "reasoning"
    return "multi_hop" if CHAIN.search(question) else "factual"


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
