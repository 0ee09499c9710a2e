"""Characters that are no text. Halves of surrogate pairs: JSON can write them (`"\\ud83d"`), and a shell gives them for bytes that are no
UTF-8; no file, database or tokenizer takes them. Control characters, which a terminal obeys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = ["without_controls", "without_surrogates"]

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""And marks that turn the direction of what stands between them."""


def without_surrogates(value: Any) -> Any:
    """Return text, or data with text in it, however deep: whole pairs are joined, and each half that is alone is U+FFFD."""
    return _each_text(value, _joined)


def without_controls(value: Any) -> Any:
    """Return text, or data with text in it, however deep, without control characters but tabs and ends of lines."""
    return _each_text(value, lambda text: CONTROL.sub("", text))


def _each_text(value: Any, changed: Callable[[str], str]) -> Any:
    copies: list[list[Any] | dict[Any, Any]] = []

    def whole(item: Any) -> Any:
        match item:
            case str():
                return changed(item)
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
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
