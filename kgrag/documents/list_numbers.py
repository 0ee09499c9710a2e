"""Numbers before the items of lists: how a list of HTML has them, and as they are written (kinds as in ECMA-376, 17.18.59)."""

from __future__ import annotations

import re
from typing import Any

from kgrag.documents.html_tags import classes_of

__all__ = ["DECIMAL", "MARKER", "kind_of_list", "numeral"]

DECIMAL = "decimal"
MARKER = "data-kgrag-marker"
"""Attribute by which our own writers of HTML say what stands before an item."""
BY_TYPE = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
BY_NAME = {
    "loweralpha": "lowerLetter",
    "lowerlatin": "lowerLetter",
    "upperalpha": "upperLetter",
    "upperlatin": "upperLetter",
    "lowerroman": "lowerRoman",
    "upperroman": "upperRoman",
}
"""Classes of docutils and Asciidoctor, numerations of DocBook and, with a hyphen, CSS's own names."""
STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*\b((?:lower|upper)-(?:alpha|latin|roman))\b", re.IGNORECASE)
ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
MAX_ROMAN = 3999
IDEOGRAPHS = "零一二三四五六七八九十"
COUNTED = frozenset(
    ["chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting", "taiwaneseCountingThousand"]
)
"""Kinds that write the numbers below a hundred alike."""
SEQUENCES = {
    "decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
}
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
MAX_LETTERED = 780
"""Word's own: thirty times `z`."""


def kind_of_list(element: Any) -> str:
    """Return the kind of the numbers of an `ol`: by its style, its class or its type, else decimal."""
    style = STYLE.search(element.get("style", ""))
    names = [style[1].lower().replace("-", "")] if style else classes_of(element)
    named = next((BY_NAME[name] for name in sorted(names) if name in BY_NAME), None)
    return named or BY_TYPE.get(element.get("type", ""), DECIMAL)


def numeral(number: int, kind: str) -> str:
    """Write a number; nothing for numerals that are not known here, and numbers that these cannot write."""
    match kind:
        case "decimal" | "decimalHalfWidth":
            return str(number)
        case "decimalFullWidth":
            return str(number).translate(FULL_WIDTH)
        case _ if kind in COUNTED and 0 < number < 100:
            tens, ones = divmod(number, 10)
            return (IDEOGRAPHS[tens] if tens > 1 else "") + ("十" if tens else "") + (IDEOGRAPHS[ones] if ones else "")
        case _ if 0 < number <= len(SEQUENCES.get(kind, "")):
            return SEQUENCES[kind][number - 1]
        case "decimalZero":
            return f"{number:02}"
        case "lowerLetter" | "upperLetter" if 0 < number <= MAX_LETTERED:
            letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letter.upper() if kind == "upperLetter" else letter
        case "lowerRoman" | "upperRoman" if 0 < number <= MAX_ROMAN:
            written = ""
            for value, sign in ROMAN:
                written += sign * (number // value)
                number %= value
            return written.upper() if kind == "upperRoman" else written
        case _:
            return ""
