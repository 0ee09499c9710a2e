"""Kinds of elements that several readers of HTML ask for."""

from __future__ import annotations

__all__ = ["BOLD", "HEADINGS"]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BOLD = frozenset({"b", "strong"})
