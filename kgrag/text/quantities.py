"""Numbers with units in a text: `3.3 V`, `260 – 1260 hPa`, `5 V ± 0.25 V`, `2x I2C`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from kgrag.text.units import SYMBOLS, canonical_unit, dimension

__all__ = ["Quantity", "has_quantity", "quantities"]

THIN_SPACES = "\u00a0\u2009\u202f"
"""Spaces that group digits; after an ordinary one a new number may begin."""
NUMBER = (
    rf"(?:\d{{1,3}}(?:[,{THIN_SPACES}]\d{{3}})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?![.,]?\d)"
    r"(?:\s?[x×·]\s?10\^?[-−⁻]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]+|[eE][-+]?\d+)?"
)
UNIT = (
    "(?:"
    + "|".join(map(re.escape, sorted(SYMBOLS, key=lambda symbol: (-len(symbol), symbol))))
    + r")(?![^\W_]|[²³⁴/]\w)"
)
PLUS_MINUS = r"(?:±|\+/-|\+-)"
QUANTITY = re.compile(
    r"(?<![\w.,^])(?<!\w[-−–/])"
    rf"(?P<bound>[<>≤≥~≈]\s?)?(?P<sign>(?:{PLUS_MINUS}|[-−–+])\s?)?(?P<low>{NUMBER})(?:\s?(?P<low_unit>{UNIT}))?"
    rf"(?:\s?(?:[-−–—…~]|\.\.\.?|to|through)\s?(?P<high_sign>[-−–+](?=\d))?(?P<high>{NUMBER})(?:\s?-?(?P<high_unit>{UNIT}))?)?"
    rf"(?:-(?P<hyphened>{UNIT}))?"
    rf"(?:\s?{PLUS_MINUS}\s?(?P<tolerance>{NUMBER})\s?(?P<tolerance_unit>{UNIT}))?"
)
LOOSE_QUANTITY = re.compile(
    r"[\d½¼¾⅓⅔⅛⅜⅝⅞][\s"
    + THIN_SPACES
    + r"]{0,2}-?(?:"
    + "|".join(
        map(re.escape, sorted({symbol.casefold() for symbol in SYMBOLS}, key=lambda symbol: (-len(symbol), symbol)))
    )
    + r")(?![^\W_])"
)
COUNT = re.compile(r"(?<![\w.,])(?<!\w-)(?<!\d )(\d+) ?[x×](?= [^\W\d]| ?\()")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, as `text[start:end]` of the text that it was found in.

    `value` is the number (the lower end of a range), `upper` the other end of a range, `tolerance` what stands after ±. `sign` is `±`
    for `±5 V` (then `value` is positive), `bound` one of < > ≤ ≥ ~ where written. `unit` is canonical (`µA` for `uA`), `x` for `2x`.
    """

    text: str
    start: int
    end: int
    value: float
    unit: str
    upper: float | None = None
    tolerance: float | None = None
    tolerance_unit: str = ""
    sign: str = ""
    bound: str = ""

    @property
    def dimension(self) -> str:
        """What it measures: voltage, current, time, ...; "" where that is not known. The first call imports pint."""
        return dimension(self.unit)


def quantities(text: str) -> list[Quantity]:
    """Find the quantities of a text, in order and without overlap. A number without a unit is none."""
    found = [quantity for match in QUANTITY.finditer(text) if (quantity := _quantity(match))]
    for match in COUNT.finditer(text):
        if not any(q.start < match.end() and match.start() < q.end for q in found):
            found.append(Quantity(match.group(), *match.span(), float(match[1]), "x"))
    return sorted(found, key=lambda quantity: quantity.start)


def has_quantity(text: str) -> bool:
    """Whether a text may have a quantity: a number before a unit, in whatever case and with or without a space. Rather yes than no."""
    return LOOSE_QUANTITY.search(text.casefold()) is not None


def _quantity(match: re.Match[str]) -> Quantity | None:
    unit = match["hyphened"] or match["high_unit"] or match["low_unit"]
    if unit is None:
        return None
    end, is_range, tolerance = match.end(), match["high"] is not None, match["tolerance"]
    if is_range and not (match["high_unit"] or match["hyphened"]):
        # `3.3 V - 5`: without a unit of its own the second number is not the other end of a range.
        is_range, tolerance, end = False, None, match.end("low_unit")
    sign = (match["sign"] or "").strip()
    plus_minus = sign in ("±", "+/-", "+-")
    return Quantity(
        text=match.string[match.start() : end],
        start=match.start(),
        end=end,
        value=_number(match["low"]) * (1 if plus_minus or sign in ("", "+") else -1),
        unit=canonical_unit(unit),
        upper=_number(match["high"]) * (1 if match["high_sign"] in (None, "+") else -1) if is_range else None,
        tolerance=_number(tolerance) if tolerance else None,
        tolerance_unit=canonical_unit(match["tolerance_unit"]) if tolerance else "",
        sign="±" if plus_minus else "",
        bound=(match["bound"] or "").strip().replace("≈", "~"),
    )


def _number(written: str) -> float:
    """Read a number: `1,260` and `1 260` (thin space) are thousands, `3,3` and `0,125` decimals, `1.5e3` and `2 × 10⁶` powers."""
    plain = unicodedata.normalize("NFKC", written).replace("−", "-").replace(" ", "")
    mantissa, _, power = re.sub(r"[x×·]10\^?", "e", plain).casefold().partition("e")
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", mantissa):
        mantissa = mantissa.replace(",", "")
    value = float(mantissa.replace(",", "."))
    return value * 10.0 ** int(power) if power else value
