"""A chart of quality over tokens, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["quality_over_tokens"]

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 250, 24, 44
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8e5ea2", "#b8860b", "#2a9d8f", "#6b705c", "#d1495b")
GRID_STEPS = 5


def quality_over_tokens(curves: Mapping[str, Mapping[int, float]], *, title: str) -> str:
    """Draw a line for each pipeline: the mean share of gold facts inside a budget, over that budget in tokens. Returns the SVG."""
    budgets = sorted({budget for curve in curves.values() for budget in curve})
    right = max(budgets)

    def x(tokens: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * tokens / right

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="15" font-size="13">{escape(title)}</text>',
    ]
    for step in range(GRID_STEPS + 1):
        share = step / GRID_STEPS
        parts.append(f'<path d="M{LEFT} {y(share):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:.1f}</text>')
    for budget in budgets:
        parts.append(f'<text x="{x(budget):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{budget}</text>')
    parts.append(f'<text x="{x(right / 2):.1f}" y="{HEIGHT - 8}" text-anchor="middle">tokens of evidence</text>')
    for place, (name, curve) in enumerate(curves.items()):
        parts += _line(name, [(x(budget), y(curve[budget])) for budget in sorted(curve)], place)
    return "\n".join([*parts, "</svg>", ""])


def _line(name: str, points: Sequence[tuple[float, float]], place: int) -> list[str]:
    """Draw one pipeline with its entry in the legend; colours begin again with dashes where there are more pipelines than colours."""
    colour = COLOURS[place % len(COLOURS)]
    dashes = f' stroke-dasharray="{2 + 2 * (place // len(COLOURS))} 3"' if place >= len(COLOURS) else ""
    path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
    row = TOP + 8 + 15 * place
    start = WIDTH - RIGHT + 14
    return [
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>',
        f'<path d="M{start} {row}h18" stroke="{colour}" stroke-width="1.8"{dashes}/>',
        f'<text x="{start + 24}" y="{row + 4}">{escape(name)}</text>',
    ]
