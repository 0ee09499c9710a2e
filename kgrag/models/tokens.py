"""Tokens of models whose tokenizer is not at hand: an estimate that needs no download and is the same everywhere.

Hosted models tell the true number only after a call. The estimate splits a text as OpenAI's byte-pair encodings do before they look into
their vocabulary (words, numbers by three digits, punctuation, white space), and counts what a piece of such a length becomes on average.
"""

from __future__ import annotations

import math
import re

__all__ = ["estimate_tokens"]

PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]+|_+|\n+|[ \t]{2,}")
ASCII_LETTERS_OF_A_TOKEN = 6.0
BYTES_OF_A_TOKEN = 2.6
"""Of letters outside ASCII, in UTF-8."""
PUNCTUATION_OF_A_TOKEN = 2.0


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: on average a little more than OpenAI's cl100k_base has (docs/models.md says how much)."""
    count = 0
    for piece in PIECES.findall(text):
        first = piece[0]
        if first.isdigit() or first.isspace():
            count += 1
        elif piece.isascii():
            count += math.ceil(len(piece) / (ASCII_LETTERS_OF_A_TOKEN if first.isalpha() else PUNCTUATION_OF_A_TOKEN))
        else:
            count += math.ceil(len(piece.encode("utf-8", "replace")) / BYTES_OF_A_TOKEN)
    return count
