"""Halves of surrogate pairs: JSON can write them (`"\\ud83d"`), and a shell gives them for bytes that are no UTF-8; no file, database or
tokenizer takes them."""

from __future__ import annotations

from typing import Any

__all__ = ["without_surrogates"]


def without_surrogates(value: Any) -> Any:
    """Return text, or data with text in it: whole pairs are joined, and each half that is alone is U+FFFD."""
    match value:
        case str() if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [without_surrogates(item) for item in value]
        case dict():
            return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value
