"""Texts in tables that are opened in a spreadsheet."""

from __future__ import annotations

__all__ = ["plain_cell"]

FORMULA = ("=", "@", "\t", "\r")
"""With one of these a cell is a formula for spreadsheets; answers are made of what documents say."""


def plain_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet computes: a formula gets a `'` before it."""
    return f"'{text}" if text.startswith(FORMULA) else text
