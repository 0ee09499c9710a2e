"""Duplicate entities: names read as text and numbers, candidates, decisions, groups, merge plans. Knows no framework."""

from __future__ import annotations

from kgrag.resolve.plan import Decisions, GraphEntity, MergeGroup, MergePlan, PairReason, make_plan
from kgrag.resolve.reading import NameReading, read_name
from kgrag.resolve.records import contradiction
from kgrag.resolve.similarity import conflict

__all__ = [
    "METHODS",
    "Decisions",
    "GraphEntity",
    "MergeGroup",
    "MergePlan",
    "NameReading",
    "PairReason",
    "conflict",
    "contradiction",
    "make_plan",
    "read_name",
]

METHODS = ("rules", "llm", "thesis", "threshold", "none")
"""Ways to resolve: ours without and with a model, and the simple ones for comparison."""
