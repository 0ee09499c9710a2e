"""A text as pieces and the gaps between them, of which the key of a name is made.

Pieces are runs of letters, numbers and raised numbers. What a gap adds to the key depends only on the gap and on the kinds of piece beside
it, so it is worked out once and remembered.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from kgrag.text.units import UNIT_CASEFOLDS, canonical_unit

__all__ = [
    "DASHES",
    "LOWERED_DIGITS",
    "NUMBER",
    "ON_THE_LINE",
    "OPTION",
    "RAISED_DIGITS",
    "SQUARED_UNITS",
    "UNIT",
    "Pieces",
    "read_pieces",
]

EDGE, WORD, CAPITALS, NUMBER, RAISED, UNIT = "", "w", "c", "n", "r", "u"
"""Kinds of piece; EDGE is the end of the text. A unit is a word after a number that stands alone: `3.3 V`, not the `H` of `STM32H747`."""

RAISED_DIGITS, LOWERED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "₀₁₂₃₄₅₆₇₈₉"
ON_THE_LINE = str.maketrans(RAISED_DIGITS + LOWERED_DIGITS, "0123456789+-0123456789")
PIECE = re.compile(
    rf"([^\W\d_{RAISED_DIGITS}{LOWERED_DIGITS}]+)|(\d+(?:[.,]\d+)*)|([{RAISED_DIGITS}{LOWERED_DIGITS}]+)"
)
DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹘﹣－", "-") | dict.fromkeys("®™©℠", None))
DROPPED = frozenset(".,;:!?¡¿·•…'\"‘’“”„«»`´¨†‡¶")
BETWEEN_NUMBERS = frozenset(",;:.")
"""Punctuation that means something between two digits (`12:30`) and nothing elsewhere."""
SQUARED_UNITS = re.compile("[\u3371-\u33df\u2100-\u214f]")
"""Compatibility characters such as `㎃` and `℃` that stand for several."""
OPTION = re.compile(r"(?<![^\s(\[{|,/`'\"“‘])-[^\W\d_](?![^\W_])")
"""The letter of an option, whose case tells it from another: `-v`, `rm -R`."""
LENGTHS = frozenset({"m", "mm", "cm", "km", "µm", "μm", "um", "in", "ft"})
REMEMBERED_GAP_CHARACTERS = 12


@dataclass(slots=True)
class Pieces:
    """The pieces of a text as parallel lists; `glues[i]` is what the gap before piece i adds to the key."""

    text: str
    forms: list[str]
    kinds: list[str]
    glues: list[str]
    starts: list[int]
    ends: list[int]

    def opening(self, index: int) -> str:
        """The form of a piece that begins a name: without its number before it, a unit is a word."""
        return self.forms[index].casefold() if self.kinds[index] == UNIT else self.forms[index]

    def core(self) -> str:
        """The key without what stands before the first piece and after the last."""
        return self.opening(0) + "".join(g + f for g, f in zip(self.glues[1:], self.forms[1:], strict=True))

    def lead(self, index: int) -> str:
        """What stands tightly before a piece, as it would begin a key."""
        before = self.text[self.ends[index - 1] if index else 0 : self.starts[index]]
        return _glue(EDGE, _after_space(before), self.kinds[index])

    def tail(self, index: int) -> str:
        """What stands tightly after a piece, as it would end a key."""
        last = index + 1 == len(self.forms)
        after = self.text[self.ends[index] :] if last else self.text[self.ends[index] : self.starts[index + 1]]
        return _glue(
            self.kinds[index], after.split(maxsplit=1)[0] if after.strip() and not after[0].isspace() else "", EDGE
        )

    def around(self) -> tuple[str, str]:
        """What stands before the first piece and after the last, as it begins and ends the key of the whole text."""
        return (
            _glue(EDGE, self.text[: self.starts[0]], self.kinds[0]),
            _glue(self.kinds[-1], self.text[self.ends[-1] :], EDGE),
        )

    def whole(self) -> str:
        """The key of the whole text."""
        lead, tail = self.around()
        return lead + self.core() + tail


def _after_space(gap: str) -> str:
    return "" if not gap or gap[-1].isspace() else gap.split()[-1]


def read_pieces(text: str) -> Pieces:
    """Read a text as pieces."""
    if '"' in text or "'" in text:
        text = _with_primes(text)
    text = text.replace("×", "x")
    pieces = Pieces(text, [], [], [], [], [])
    forms, kinds, glues, starts, ends = pieces.forms, pieces.kinds, pieces.glues, pieces.starts, pieces.ends
    kind, end, alone = EDGE, 0, False
    for match in PIECE.finditer(text):
        start, before = match.start(), kind
        gap = text[end:start]
        end = match.end()
        written = match.group()
        group = match.lastindex
        if group == 1:
            kind, form = _word(written)
            if end - start == 1 and gap[-1:] == "-" and OPTION.match(text, start - 1):
                # `-v` and `-V` are two options.
                form, gap, start = f"-{written}", gap[:-1], start - 1
            if form in UNIT_CASEFOLDS and _is_unit(before, gap, alone, form, text[end : end + 2]):
                kind, form = UNIT, _unit(written)
                if len(forms) > 1 and kinds[-1] == NUMBER and not glues[-1]:
                    # Joined to the word before it the number would not stand alone in the key, and its unit would be no unit there.
                    glues[-1] = " "
        elif group == 2:
            kind, form = NUMBER, written if written.isascii() else _ascii_digits(written)
            alone = (before not in (WORD, CAPITALS, UNIT) or gap not in ("", "-")) and "^" not in gap
        else:
            kind, form = RAISED, written.translate(ON_THE_LINE)
        forms.append(form)
        kinds.append(kind)
        glues.append(_glue(before, gap, kind))
        starts.append(start)
        ends.append(end)
    return pieces


@lru_cache(maxsize=1 << 17)
def _word(written: str) -> tuple[str, str]:
    """Kind and form of a run of letters. Characters such as `½` and `①` stay, because their plain digits would join other digits."""
    # Two letters may be an ion (`Cl-`).
    kind = CAPITALS if written.isupper() or (len(written) == 2 and written[0].isupper()) else WORD
    if written.isascii():
        return kind, written.lower()
    plain = "".join(c if unicodedata.category(c) == "No" else unicodedata.normalize("NFKC", c) for c in written)
    if len(plain) == 1 and unicodedata.name(plain, "").startswith("GREEK "):
        return kind, plain  # Ω is a unit, ω a frequency
    # Some presentation forms are compatible with a space and a mark.
    return kind, "".join(unicodedata.normalize("NFC", plain.casefold()).split())


def _is_unit(before: str, gap: str, alone: bool, form: str, following: str) -> bool:
    if before == UNIT:
        if gap not in ("/", "·", "*"):
            return False
    elif before != NUMBER or not alone or _glue(NUMBER, gap, WORD) not in ("", "°"):
        return False
    # `ESP 32-S3` has no siemens, while `5 M2` is not `5 m2`.
    return not following[:1].isdigit() or (form in LENGTHS and following[:1] in "23" and not following[1:].isdigit())


def _unit(written: str) -> str:
    return unicodedata.normalize("NFKC", canonical_unit(unicodedata.normalize("NFC", written)))


def _ascii_digits(written: str) -> str:
    return "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in written)


def _with_primes(text: str) -> str:
    """Write `5"` and `5'` with primes, so that inches are not taken for a closing quotation mark; every character keeps its place."""
    for quote, prime in (('"', "″"), ("'", "′")):
        for match in re.finditer(rf"(?<=\d){quote}(?!\w)", text):
            if text.count(quote, 0, match.start()) % 2 == 0:
                text = text[: match.start()] + prime + text[match.end() :]
    return text


def _glue(before: str, gap: str, after: str) -> str:
    """What the gap between two pieces adds to the key."""
    if len(gap) <= REMEMBERED_GAP_CHARACTERS:
        return _remembered_glue(before, gap, after)
    return _glue_of(before, gap, after)


def _glue_of(before: str, gap: str, after: str) -> str:
    marks = _joined_signs(gap.translate(DASHES)) if gap else ""
    numbers = before in (NUMBER, RAISED) and after == NUMBER
    kept: list[str] = []
    for i, mark in enumerate(marks):
        tight_left, tight_right = i == 0 and before != EDGE, i == len(marks) - 1 and after != EDGE
        if mark == "-":
            power = kept[-1:] == ["^"]
            rest = marks[i + 1 :]
            # `-$5`, and at the beginning also `- 40 °C`: nothing stands before that the dash could join.
            sign = after == NUMBER and all(
                unicodedata.category(c) == "Sc" or (c.isspace() and before == EDGE) for c in rest
            )
            kept.append("-" if power else _dash(before, after, tight_left, tight_right, sign, numbers))
        elif mark == "." and tight_right and not tight_left and after == NUMBER:
            kept.append(" 0." if not kept and (numbers or before == UNIT) else "0.")
        elif mark in DROPPED:
            if numbers and tight_left and tight_right and mark in BETWEEN_NUMBERS:
                kept.append(mark)
        elif not mark.isspace() and _means_something(mark):
            kept.append(mark)
    glue = _joined_signs("".join(kept))
    if after == RAISED and (glue or before not in (WORD, CAPITALS)):
        return glue + "^"
    if not glue and after != EDGE and (numbers or (before == UNIT)):
        return " "
    return glue


def _joined_signs(marks: str) -> str:
    return marks.replace("+/-", "±").replace("<=", "≤").replace(">=", "≥")


_remembered_glue = lru_cache(maxsize=1 << 14)(_glue_of)


def _dash(before: str, after: str, tight_left: bool, tight_right: bool, sign: bool, numbers: bool) -> str:
    if sign and not tight_left:
        return "-" if before == EDGE else " -"
    if before == CAPITALS and tight_left and not tight_right:
        # A pin or a pole: `USB D-`.
        return "-" if after == EDGE else "- "
    return "-" if numbers else ""


def _means_something(mark: str) -> bool:
    category = unicodedata.category(mark)
    if category == "Sk":
        return mark == "^"
    return category not in ("Cc", "Cf", "Cn", "Co", "Cs", "Pc", "Ps", "Pe", "Pi", "Pf")
