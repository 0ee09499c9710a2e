"""The text of an answer while its JSON is still being written."""

from __future__ import annotations

import json
import re

__all__ = ["GrowingAnswer"]

BEGINS = re.compile(r'(?<!\\)"answer"\s*:\s*"')
WHOLE = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")
"""An escape that is not there as a whole, or the first half of a pair."""


class GrowingAnswer:
    """Takes the pieces of a JSON object, gives what each adds to the string of its key `answer`."""

    def __init__(self) -> None:
        self._written = ""
        self._start: int | None = None
        self._given = 0

    def add(self, piece: str) -> str:
        """Take a piece; return what can be shown because of it."""
        self._written += piece
        if self._start is None:
            begins = BEGINS.search(self._written)
            if begins is None:
                return ""
            self._start = begins.end()
        inside = WHOLE.match(self._written, self._start)
        raw = HALF_ESCAPE.sub("", inside.group() if inside else "")
        try:
            text: str = json.loads(f'"{raw}"', strict=False)
        except ValueError:
            return ""
        added, self._given = text[self._given :], max(self._given, len(text))
        return added
