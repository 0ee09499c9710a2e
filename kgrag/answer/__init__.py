"""Answers from evidence, with citations and abstention. Model-free here: `extract_answer`."""

from kgrag.answer.rules import extract_answer

__all__ = ["extract_answer"]
