"""Families in the question: whatever has a name that begins with the family's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from kgrag.retrieve.seeds import likeness
from kgrag.retrieve.settings import Names
from kgrag.retrieve.state import NamedEntity
from kgrag.store.graph import GraphStore
from kgrag.text.names import normal_form
from kgrag.text.questions import families_said

__all__ = ["families_in_question", "goes_on"]

FEWEST_MEMBERS = 2
"""A name that begins one other name only is no family's."""
WORD_END = re.compile(r"(?=\s)|(?<!\d)(?=-)|(?=-(?!\d))")
"""Spaces and hyphens, but for what stands between two digits."""


async def families_in_question(
    store: GraphStore, question: str, vector: list[float], *, graph: str, settings: Names
) -> tuple[NamedEntity, ...]:
    """Find the families that the question names, and of each member the chunks about it that are nearest to the question."""
    if not settings.members:
        return ()
    said = [[normal_form(name) for name in names] for names in families_said(question)]
    families = sorted({family for names in said for family in names} - {""})
    if not families:
        return ()
    rows = await asyncio.to_thread(
        store.search.read,
        "retrieve/family_chunks",
        graph=graph,
        families=families,
        vector=vector,
        limit=settings.members,
    )
    members = {family: _members(family, rows) for family in families}
    meant = dict.fromkeys(next((family for family in names if members.get(family)), "") for names in said)
    return tuple(
        NamedEntity(row["key"], row["name"], tuple(likeness(chunk) for chunk in row["chunks"]), family)
        for family in meant
        if family
        for row in members[family]
    )


def goes_on(name: str, family: str) -> bool:
    """Tell whether a name has more words after the family's: `Nano 33` after `nano` and `X-100` after `x`, not `Nanotech` or `X-1000`."""
    return any(normal_form(name[: end.start()]) == family for end in WORD_END.finditer(name))


def _members(family: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep those whose name is the family's or goes on after it; none where it begins fewer than two names."""
    longer = [row for row in rows if row["family"] == family and goes_on(row["name"], family)]
    if len(longer) < FEWEST_MEMBERS:
        return []
    return [*longer, *(row for row in rows if row["family"] == family and row["normal"] == family)]
