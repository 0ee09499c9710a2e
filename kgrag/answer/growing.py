"""The text of an answer while its JSON is still being written."""

from __future__ import annotations

import json
import re

from kgrag.models.thoughts import without_thoughts
from kgrag.text.surrogates import without_controls

__all__ = ["GrowingAnswer"]

BEGINS = re.compile(r'(?<!\\)"answer"\s*:\s*"')
PLAIN, ESCAPE = r"""[^"\\]""", r"\\[^u]"
UNIT, HIGH, LOW = (
    r"\\u(?![dD][89abAB])[0-9a-fA-F]{4}",
    r"\\u[dD][89abAB][0-9a-fA-F]{2}",
    r"\\u[dD][c-fC-F][0-9a-fA-F]{2}",
)
NO_LOW = r"(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F])"
WHOLE = re.compile(rf"(?:{PLAIN}|{ESCAPE}|{UNIT}|{HIGH}{LOW}|{HIGH}{NO_LOW})*", re.DOTALL)
"""What is there as a whole: no half of an escape at the end, nor the first half of a surrogate pair."""


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
            if not BEGINS.search(self._written):
                return ""
            blank = self._written[len(self._written.rstrip()) :]
            said = without_thoughts(self._written).rstrip() + blank
            begins = BEGINS.search(said)
            if begins is None:  # a draft, in what the model still thinks
                return ""
            self._written, self._start = said, begins.end()
        inside = WHOLE.match(self._written, self._start)
        try:
            text: str = json.loads(f'"{inside.group() if inside else ""}"', strict=False)
        except ValueError:
            return ""
        added, self._given = text[self._given :], max(self._given, len(text))
        return str(without_controls(added))
