"""Texts in tables that are opened in a spreadsheet."""

from __future__ import annotations

import re

__all__ = ["plain_cell"]

FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]*\Z)")
"""What begins so is a formula for spreadsheets, unless it is a signed number alone; answers are made of what documents say."""


def plain_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet computes: a formula gets a `'` before it."""
    return f"'{text}" if FORMULA.match(text) else text
