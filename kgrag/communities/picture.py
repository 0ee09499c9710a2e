"""Communities as a picture: an SVG file that any browser shows, each community as wide as it has entities, its parts below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from kgrag.types import Community

__all__ = ["render_svg"]

WIDTH, ROW, GAP, MARGIN = 1600.0, 64.0, 2.0, 16.0
"""Pixels."""
TITLE_HEIGHT = 34.0
CHARACTER = 6.4
"""Pixels that a character takes at 12 pixels, on average."""
LINE = 15.0
NARROWEST_LABEL = 40.0
NARROWEST_BOX = 1.0
GOLDEN_ANGLE = 137.508
"""Degrees of hue between neighbours: colours that follow each other are far apart."""


def render_svg(communities: Sequence[Community], *, graph: str) -> str:
    """Draw the tree, level by level from the top, largest first; pointing at a box shows its label, size and summary."""
    children: dict[str | None, list[Community]] = defaultdict(list)
    for one in communities:
        children[one.parent].append(one)
    for some in children.values():
        some.sort(key=lambda one: (-one.size, one.label, one.key))
    total = sum(one.size for one in children[None]) or 1
    scale = (WIDTH - 2 * MARGIN) / total
    depth = max((one.level for one in communities), default=0) + 1
    height = TITLE_HEIGHT + depth * ROW + MARGIN
    boxes: list[str] = []

    def draw(one: Community, left: float, hue: float) -> None:
        width = one.size * scale
        if width < NARROWEST_BOX:
            return
        boxes.append(_box(one, left, width, hue))
        place = left
        for child in children[one.key]:
            draw(child, place, hue)
            place += child.size * scale

    place = MARGIN
    for number, root in enumerate(children[None]):
        draw(root, place, number * GOLDEN_ANGLE % 360)
        place += root.size * scale
    title = f"{graph}: {len(communities)} communities of {total} entities, {depth} levels"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH:g}" height="{height:g}" fill="#ffffff"/>',
            f'<text x="{MARGIN:g}" y="22" font-size="15" fill="#222222">{escape(title)}</text>',
            *boxes,
            "</svg>\n",
        ]
    )


def _box(one: Community, left: float, width: float, hue: float) -> str:
    top = TITLE_HEIGHT + one.level * ROW
    inner = max(width - GAP, NARROWEST_BOX / 2)
    lightness = min(88, 72 + 5 * one.level)
    told = "\n".join(part for part in (f"{one.label} ({one.size} entities)", one.summary) if part)
    lines = _lines(f"{one.label} ({one.size})", inner) if inner >= NARROWEST_LABEL else []
    text = "".join(
        f'<text x="{left + 5:.1f}" y="{top + LINE * (number + 1) + 2:.1f}" fill="#222222">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f'<g><title>{escape(told)}</title><rect x="{left:.1f}" y="{top:.1f}" width="{inner:.1f}" height="{ROW - GAP:g}" rx="3" '
        f'fill="hsl({hue:.0f},55%,{lightness}%)"/>{text}</g>'
    )


def _lines(text: str, width: float) -> list[str]:
    """Break a label into lines that fit, at most as many as a row has; what does not fit ends in an ellipsis."""
    most, room = int((ROW - GAP) // LINE) - 1, max(int((width - 10) // CHARACTER), 1)
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    cut = [line if len(line) <= room else f"{line[: room - 1]}…" for line in lines[:most]]
    if len(lines) > most:
        cut[-1] = f"{cut[-1][: room - 1].rstrip('…')}…"
    return cut
