"""Answers from evidence, with citations and abstention: `extract_answer` without a model, `generate_answer` by one."""

from kgrag.answer.generated import generate_answer
from kgrag.answer.prompt import read_instructions
from kgrag.answer.rules import extract_answer

__all__ = ["extract_answer", "generate_answer", "read_instructions"]
