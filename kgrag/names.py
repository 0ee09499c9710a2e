"""How names compare: one key per name, and the names of a text found by it.

`normal_form` folds what writers vary without meaning (case, hyphens and spaces beside letters, trade marks, widths of characters) and
keeps what tells two technical names apart: every digit, decimal point, sign, revision, and the case of a unit that follows a number.
`Gazetteer` finds known names in a text by the same key. Quantities are in `kgrag.quantities`, and re-exported here.

A text is read as pieces (runs of letters, numbers, superscripts) and the gaps between them. What a gap adds to the key depends only on the gap
and on the kinds of piece beside it, so it is computed once and remembered.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from kgrag.quantities import Quantity, quantities
from kgrag.units import UNIT_CASEFOLDS, canonical_unit_symbol

__all__ = ["Gazetteer", "NameMatch", "Quantity", "normal_form", "quantities"]

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
LOWERED = "₀₁₂₃₄₅₆₇₈₉"
RAISED_TO_PLAIN = str.maketrans(RAISED + LOWERED, "0123456789+-0123456789")
DASHES = "‐‑‒–—―−﹘﹣－"
PIECE = re.compile(rf"([^\W\d_{RAISED}{LOWERED}]+)|(\d+(?:[.,]\d+)*)|([{RAISED}{LOWERED}]+)")

WORD, NUMBER, RAISED_NUMBER, UNIT, NOTHING = "W", "N", "S", "U", ""
"""Kinds of piece. A unit is a word right after a number that stands alone (`3.3 V`, not the `H` of `STM32H747`); NOTHING is the edge of the text."""

IGNORED = set("®™©℠")
DROPPED_PUNCTUATION = set(".,;:!?¡¿·•…'\"‘’“”„«»`´¨†‡¶")
BETWEEN_NUMBERS = set(",;:.")
"""Punctuation that means something between two digits (`12:30`, `1;2`) and nothing elsewhere."""
LENGTHS = {"m", "mm", "cm", "km", "µm", "μm", "um", "in", "ft"}
REVISION_WORDS = {"rev", "revision", "mk", "gen"}
"""A name that one of these and a number follow is another name: `Nano 33 BLE Sense` is not meant by `Nano 33 BLE Sense Rev2`."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A known name in a text: `text[start:end]` is `written`, and its key is `key`."""

    key: str
    written: str
    start: int
    end: int


def normal_form(name: str) -> str:
    """Make the key under which two spellings of one name are equal and two names never are.

    Folded: case of words, spaces, hyphens, underscores and full stops beside a letter (`Wi-Fi` = `WiFi` = `wi fi`, `Rev2` = `Rev 2`,
    `3.3V` = `3.3 V`), brackets and quotation marks, trade marks, compatibility characters (`µ`, `Ω`, full width, `I²C` = `I2C`).
    Kept: digits and what stands between them, decimal points, signs (`±5 V`, `D-`), symbols (`C++`, `5 %`), exponents (`10²`), accents, and
    the case of a unit after a number (`5 mA`, `5 MA`). A name of separators only is its own key.
    """
    pieces = _read(name)
    if not pieces.forms:
        return _edge(unicodedata.normalize("NFKC", name), before=True) or name.strip().casefold()
    lead = _lead(name[: pieces.starts[0]], pieces.kinds[0])
    tail = _tail(name[pieces.ends[-1] :], pieces.kinds[-1], name[pieces.starts[-1] : pieces.ends[-1]])
    return lead + pieces.key(0, len(pieces.forms) - 1) + tail


@dataclass(slots=True)
class _Pieces:
    """The pieces of a text, as parallel lists: `glues[i]` is what the gap before piece i adds to the key."""

    text: str
    forms: list[str]
    kinds: list[str]
    glues: list[str]
    starts: list[int]
    ends: list[int]

    def key(self, first: int, last: int) -> str:
        """Join pieces `first` to `last`, both included."""
        parts = [self._opening(first)]
        for i in range(first + 1, last + 1):
            parts.append(self.glues[i])
            parts.append(self.forms[i])
        return "".join(parts)

    def _opening(self, first: int) -> str:
        """A unit is one only after its number: a name that begins with it is a word."""
        return self.forms[first].casefold() if self.kinds[first] == UNIT else self.forms[first]


def _read(text: str) -> _Pieces:
    if '"' in text or "'" in text:
        text = _primes(text)
    pieces = _Pieces(text, [], [], [], [], [])
    forms, kinds, glues, starts, ends = pieces.forms, pieces.kinds, pieces.glues, pieces.starts, pieces.ends
    kind, end, alone, gap = NOTHING, 0, False, ""
    for match in PIECE.finditer(text):
        start = match.start()
        gap = text[end:start]
        previous, written = kind, match.group()
        match match.lastindex:
            case 1:
                kind, form = WORD, _word(written)
                unit_may_follow = (previous == NUMBER and alone and _joins_unit(gap)) or (previous == UNIT and gap in ("/", "·", "*"))
                if unit_may_follow and form in UNIT_CASEFOLDS and not _digit_follows(text, match.end(), form):
                    kind, form = UNIT, canonical_unit_symbol(written)
            case 2:
                kind, form = NUMBER, _digits(written)
                alone = not (previous in (WORD, UNIT) and gap in ("", "-"))
            case _:
                kind, form = RAISED_NUMBER, written.translate(RAISED_TO_PLAIN)
        glues.append("" if gap == " " and kind == WORD and previous == WORD else _glue(previous, gap, kind, written_upper(text, start, previous, ends)))
        forms.append(form)
        kinds.append(kind)
        starts.append(start)
        end = match.end()
        ends.append(end)
    return pieces
