"""SVG by matplotlib; what is text or axis takes the colour of the page, light or dark."""

from __future__ import annotations

import importlib.util
import io
import re
from html import escape
from typing import Any

from kgrag.errors import InputError

__all__ = ["INK", "PALETTE", "figure", "require_matplotlib", "svg"]

INK = "#010203"
"""Stands for the page's text colour: replaced by `currentColor` in the SVG."""
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999")
"""Okabe and Ito: told apart by people who are colour-blind."""


def require_matplotlib() -> None:
    """Raise `InputError` with the extra that brings matplotlib where it is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("Charts are drawn with matplotlib, which is not installed. Run: pip install 'kgrag[charts]'")


def figure(width: float, height: float) -> tuple[Any, Any]:
    """Return an empty figure of that size in inches, and its axes."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    colours: Any = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kgrag", "font.size": 9, **colours}):
        drawn = Figure(figsize=(width, height), layout="constrained")
        drawn.patch.set_alpha(0.0)
        axes = drawn.add_subplot()
    axes.patch.set_alpha(0.0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return drawn, axes


def svg(drawn: Any, label: str) -> str:
    """Return a figure as an SVG element; `label` says to who cannot see it what it shows."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kgrag"}):
        drawn.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()[out.getvalue().index("<svg") :].replace(INK, "currentColor")
    # Text without a colour of its own is black in SVG.
    text = re.sub(r"<text (?![^>]*fill)", '<text fill="currentColor" ', text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
