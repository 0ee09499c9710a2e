"""The kinds of questions that are made, and what makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from kgrag.errors import InputError
from kgrag.evaluate.questions import graph, structure, tables
from kgrag.evaluate.questions.draft import Draft
from kgrag.evaluate.questions.material import Material

__all__ = ["KINDS", "drafts_of"]

KINDS: Mapping[str, Callable[[Material], Iterator[Draft]]] = MappingProxyType(
    {
        "hyperlinks": structure.hyperlinks,
        "headings": structure.headings,
        "captions": structure.captions,
        "definitions": structure.definitions,
        "faq": structure.faq,
        "cross_references": structure.cross_references,
        "table_cells": tables.table_cells,
        "comparisons": lambda material: chain(tables.comparisons(material), graph.same_relation(material)),
        "triples": graph.triples,
        "bridges": graph.bridges,
        "communities": graph.communities,
        "unanswerable": tables.unanswerable,
    }
)


def drafts_of(material: Material, kinds: Sequence[str]) -> dict[str, list[Draft]]:
    """Return the drafts of each kind, each question once. Raises `InputError` for a kind that there is not."""
    if wrong := [kind for kind in kinds if kind not in KINDS]:
        raise InputError(f"Expected kinds of questions out of {', '.join(KINDS)}, got {', '.join(wrong)}.")
    found = {}
    for kind in kinds:
        by_question = {draft.question: draft for draft in KINDS[kind](material) if draft.question.strip()}
        found[kind] = list(by_question.values())
    return found
