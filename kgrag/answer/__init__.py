"""Answers from evidence, with citations and abstention: `extract_answer` without a model, `generate_answer` by one."""

from kgrag.answer.generated import generate_answer
from kgrag.answer.rules import extract_answer
from kgrag.answer.template import read_template

__all__ = ["extract_answer", "generate_answer", "read_template"]
