"""Kinds and classes of elements that several readers of HTML ask for."""

from __future__ import annotations

from typing import Any

__all__ = ["BOLD", "HEADINGS", "classes_of"]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BOLD = frozenset({"b", "strong"})


def classes_of(element: Any) -> frozenset[str]:
    """Return the classes of an element of lxml's tree; of None, none."""
    return frozenset(() if element is None else (element.get("class") or "").split())
