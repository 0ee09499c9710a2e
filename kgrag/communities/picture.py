"""Communities as a picture: an SVG file that any browser shows, each community as wide as it has entities, its parts below it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

from kgrag.common.plots import INK, PALETTE, figure, svg
from kgrag.communities.tree import parts_of_wholes
from kgrag.types import Community

__all__ = ["render_svg"]

WIDTH, ROW, TITLE = 16.0, 0.9, 0.5
"""Inches."""
GAP = 0.02
"""Between boxes, in inches: narrower communities are not drawn."""
FONT = 9
CHARACTERS_PER_INCH = 12.0
"""At that size of font, on average."""
NARROWEST_LABEL = 0.5
LINES = 3


def render_svg(communities: Sequence[Community], *, graph: str) -> str:
    """Draw the tree, level by level from the top, largest first; pointing at a box shows its label, size and summary.

    Raises `InputError` where matplotlib is not installed.
    """
    children = parts_of_wholes(communities)
    total = sum(one.size for one in children[None]) or 1
    depth = max((one.level for one in communities), default=0) + 1
    drawn, axes = figure(WIDTH, TITLE + ROW * depth)
    axes.set(xlim=(0, WIDTH), ylim=(ROW * depth, 0))
    axes.set_axis_off()
    title = f"{graph}: {len(communities)} communities of {total} entities, {depth} levels"
    axes.set_title(title, loc="left", parse_math=False)
    tooltips: list[str] = []

    def draw(one: Community, left: float, colour: str) -> None:
        width = one.size * WIDTH / total - GAP
        if width <= 0:
            return
        _box(axes, one, left, width, colour, name=f"community-{len(tooltips)}")
        tooltips.append("\n".join(part for part in (f"{one.label} ({one.size} entities)", one.summary) if part))
        for child in children[one.key]:
            draw(child, left, colour)
            left += child.size * WIDTH / total

    left = 0.0
    for number, root in enumerate(children[None]):
        draw(root, left, PALETTE[number % len(PALETTE)])
        left += root.size * WIDTH / total
    return re.sub(
        r'<g id="community-(\d+)">',
        lambda group: f"{group[0]}<title>{escape(tooltips[int(group[1])])}</title>",
        svg(drawn, title),
    )


def _box(axes: Any, one: Community, left: float, width: float, colour: str, *, name: str) -> None:
    from matplotlib.patches import Rectangle

    top = one.level * ROW
    opacity = max(0.25, 0.6 - 0.12 * one.level)
    axes.add_patch(Rectangle((left, top), width, ROW - GAP, facecolor=colour, alpha=opacity, gid=name))
    if width >= NARROWEST_LABEL:
        room = int(width * CHARACTERS_PER_INCH)
        label = textwrap.fill(f"{one.label} ({one.size})", room, max_lines=LINES, placeholder="…")
        place = {"x": left + 0.07, "y": top + 0.07, "verticalalignment": "top", "in_layout": False}
        axes.text(s=label, fontsize=FONT, color=INK, parse_math=False, **place)
