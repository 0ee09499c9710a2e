"""What a name looks like in running text when nobody has listed it: part numbers and proper names, by their shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["NAME", "part_numbers"]

MAX_PART_CHARACTERS = 24
NAME_WORD = r"(?:[^\W\d_]*[A-Z0-9][\w®™]*(?:[-.+/][A-Za-z0-9][\w]*)*\+*)"
NAME = re.compile(rf"(?<![\w-]){NAME_WORD}(?:[ ]{NAME_WORD})*")
"""Words with a capital or a digit, in a row: `Nano 33 BLE Sense Rev2`, `X-100`, `mBlock`."""
PART_SHAPE = re.compile(
    r"(?<![\w@/.+-])(?=[A-Za-z]*-?\d)[A-Za-z]{1,8}-?\d[\w]*(?:-[A-Z0-9][\w]*)*(?![\w@]|[.+]\w)", re.ASCII
)
ORDINAL = re.compile(r"\d(?:st|nd|rd|th|s)$")
URL = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+|\]\([^)\s]*\)")
REVISION_ONLY = re.compile(
    r"(?:rev|ver|v|fig|table|page|class|type|step|part|cat|usb|ip|iso|en|iec|ieee|rs)-?\d+\w?", re.IGNORECASE
)


def part_numbers(text: str) -> Iterator[str]:
    """Find what has the shape of a part number: letters and digits in one word, such as LPS22HB, nRF52840 and X-100."""
    for match in PART_SHAPE.finditer(URL.sub(lambda m: " " * len(m.group()), text)):
        part = match.group()
        digits = sum(c.isdigit() for c in part)
        letters = sum(c.isalpha() for c in part)
        if (
            len(part) <= MAX_PART_CHARACTERS
            and letters
            and (digits > 2 or (digits == 2 and letters > 2))
            and any(c.isupper() for c in part)
            and not REVISION_ONLY.fullmatch(part)
            and not ORDINAL.search(part)
        ):
            yield part
