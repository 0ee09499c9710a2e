"""Halves of surrogate pairs: JSON can write them (`"\\ud83d"`), and a shell gives them for bytes that are no UTF-8; no file, database or
tokenizer takes them."""

from __future__ import annotations

from typing import Any

__all__ = ["without_surrogates"]


def without_surrogates(value: Any) -> Any:
    """Return text, or data with text in it, however deep: whole pairs are joined, and each half that is alone is U+FFFD."""
    copies: list[list[Any] | dict[Any, Any]] = []

    def whole(item: Any) -> Any:
        match item:
            case str() if not item.isascii():
                return _joined(item)
            case list() | dict():
                copies.append(item.copy())
                return copies[-1]
        return item

    made = whole(value)
    while copies:
        match copies.pop():
            case list() as items:
                items[:] = [whole(item) for item in items]
            case dict() as entries:
                pairs = [(whole(key), whole(item)) for key, item in entries.items()]
                entries.clear()
                entries.update(pairs)
    return made


def _joined(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
