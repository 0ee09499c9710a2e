"""Characters of a name that are neither letter nor digit, and what they mean to resolution."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["is_fact", "is_symbol"]

FORM_SYMBOLS = frozenset("+#%/\\*=@^~<>±|§°′″")
"""Symbols that make another name, and no fact by themselves: writers leave them out (`TCP/IP`)."""
PUNCTUATION = frozenset(".,;:!?¡¿·•…'\"´`¨†‡¶、。・‧")
"""All other symbols mean something; brackets, dashes, quotation marks and separators are told by their category."""


@lru_cache(maxsize=4096)
def is_symbol(character: str) -> bool:
    """Whether a character that is neither letter nor digit means something: all do that are not listed as punctuation."""
    if character in FORM_SYMBOLS:
        return True
    if character in PUNCTUATION or character.isalnum() or character.isspace() or character == "_":
        return False
    return unicodedata.category(character) in ("Sm", "Sc", "So", "Po", "Mn", "Mc", "Me", "Nl", "No")


def is_fact(character: str) -> bool:
    """Whether it tells two things apart as a number does; marks of scripts other than Latin are letters of theirs."""
    if character.isalnum() or character in FORM_SYMBOLS or not is_symbol(character):
        return False
    return (
        unicodedata.category(character)[0] != "M"
        or "\u0300" <= character <= "\u036f"
        or "\u20d0" <= character <= "\u20ff"
    )
