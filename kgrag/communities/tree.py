"""Communities as text: the tree with labels, and one level with its summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kgrag.errors import InputError
from kgrag.types import Community

__all__ = ["parts_of_wholes", "render_level", "render_tree"]


def parts_of_wholes(communities: Sequence[Community]) -> dict[str | None, list[Community]]:
    """Return the communities within each, by its key, the largest first; under None those that are in no other."""
    children: dict[str | None, list[Community]] = defaultdict(list)
    for one in communities:
        children[one.parent].append(one)
    for some in children.values():
        some.sort(key=lambda one: (-one.size, one.label, one.key))
    return children


def render_tree(communities: Sequence[Community]) -> str:
    """Draw the tree, the largest first; communities without a summary are counted, not listed, where they are roots."""
    children = parts_of_wholes(communities)
    roots = [one for one in children[None] if one.summary or children[one.key]]
    small = [one for one in children[None] if not one.summary and not children[one.key]]
    lines: list[str] = []

    def add(one: Community, before: str, mark: str, below: str) -> None:
        lines.append(f"{before}{mark}{one.label} ({one.size})")
        inside = children[one.key]
        for number, child in enumerate(inside, start=1):
            last = number == len(inside)
            add(child, before + below, "└─ " if last else "├─ ", "   " if last else "│  ")

    for root in roots:
        add(root, "", "", "")
    if small:
        entities = sum(one.size for one in small)
        lines.append(f"and {len(small)} communities below the size floor of summaries ({entities} entities)")
    return "\n".join(lines)


def render_level(communities: Sequence[Community], level: int) -> str:
    """Show the communities of one level with summaries, key terms and sources. Raises `InputError` where there are none."""
    there = sorted({one.level for one in communities})
    if level not in there:
        raise InputError(
            f"--level: there are communities at levels {', '.join(map(str, there)) or 'none'}, not at {level}."
        )
    blocks = []
    for one in communities:
        if one.level != level:
            continue
        lines = [f"{one.label} ({one.size} entities)"]
        if one.summary:
            lines.append(f"  {one.summary}")
        if one.key_terms:
            lines.append(f"  Key terms: {', '.join(one.key_terms)}")
        for citation in one.citations:
            page = f", page {citation.page_start}" if citation.page_start is not None else ""
            section = f", {citation.section}" if citation.section else ""
            lines.append(f"  [{citation.number}] {citation.document}{page}{section}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
