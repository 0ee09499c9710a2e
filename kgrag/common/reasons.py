"""Reasons as they are shown: what failed may end with all of a model's reply."""

from __future__ import annotations

__all__ = ["shortened"]

SHOWN_CHARACTERS = 400


def shortened(reason: str) -> str:
    """Return a reason of at most so many characters; what is cut off is marked."""
    return reason[:SHOWN_CHARACTERS] + "..." * (len(reason) > SHOWN_CHARACTERS)
