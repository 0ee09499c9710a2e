"""Answers from evidence, with citations and abstention: `extract_answer` without a model, `generate_answer` by one."""

from kgrag.answer.generated import generate_answer
from kgrag.answer.listing import answer_from_listing
from kgrag.answer.prompt import read_instructions
from kgrag.answer.reading import in_another_language, language_not_read, last_question, without_typing_errors
from kgrag.answer.rules import (
    evidence_probability,
    extract_answer,
    nearest_statements,
    refuse_before_asking,
    refuse_language,
    said_of_language,
)

__all__ = [
    "answer_from_listing",
    "evidence_probability",
    "extract_answer",
    "generate_answer",
    "in_another_language",
    "language_not_read",
    "last_question",
    "nearest_statements",
    "read_instructions",
    "refuse_before_asking",
    "refuse_language",
    "said_of_language",
    "without_typing_errors",
]
