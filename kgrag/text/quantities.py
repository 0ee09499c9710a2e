"""Numbers and their units: `3.3 V`, `260 – 1260 hPa`, `5 V ± 0.25 V`, `2x I2C`. One grammar, for texts (`quantities`) and for names.

Names are read by `kgrag.resolve.reading`, which takes numbers without a unit as well and asks `unit_after` and `canonical_quantity`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from kgrag.text.numerals import in_digits
from kgrag.text.units import SYMBOLS, UNIT_CASEFOLDS, canonical_unit, dimension, scale

__all__ = [
    "BOUNDS",
    "CURRENCIES",
    "NUMBER",
    "Quantity",
    "canonical_quantity",
    "has_dimension",
    "has_quantity",
    "number_value",
    "numbers",
    "plain_number",
    "quantities",
    "unit_after",
]

THIN_SPACES = "\u00a0\u2009\u202f"
"""Spaces that group digits; after an ordinary one a new number may begin."""
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
NUMBER = (
    rf"(?:\d{{1,3}}(?:[{THIN_SPACES}'’]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    rf"(?:\s?[x×·]\s?10(?:\^[-−]?\d+|⁻?[{POWERS}]+)|[eE][-+]?\d+(?![\w.]))?"
)
"""A number in digits, grouped or not, with its power of ten. One grammar: texts and names are read by it."""
CURRENCIES = "$¢£¤¥\u058f\u060b\u09f2\u09f3\u0e3f\u17db\u20a0-\u20cf\ufdfc"
"""As a set of a regular expression."""
BOUNDS = "<>≤≥≪≫≠~≈≅≃∼"
PLUS_MINUS = r"(?:±|∓|\+/-|\+-)"
MAX_DIGITS, MAX_POWER = 40, 99
"""What is longer is no number that anybody measured: it stays as it is written."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_AND_COMMA = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+")
_GROUPS = str.maketrans(dict.fromkeys(f"{THIN_SPACES} '’") | {"−": "-"})


def _any_of(symbols: Iterable[str]) -> str:
    """Return a pattern of any of the symbols, the longest that fits first.

    Those that begin alike stand together: an expression looks at each of its alternatives by its first character, one after the other.
    """
    by_first: dict[str, list[str]] = {}
    for symbol in sorted(symbols, key=lambda symbol: (-len(symbol), symbol)):
        by_first.setdefault(symbol[0], []).append(symbol[1:])
    groups = (f"{re.escape(first)}(?:{'|'.join(map(re.escape, rests))})" for first, rests in sorted(by_first.items()))
    return f"(?=[{''.join(map(re.escape, sorted(by_first)))}])(?:{'|'.join(groups)})"


AFTER_UNIT = r"(?![^\W_]|[²³⁴/]\w)"
UNIT = _any_of(SYMBOLS) + AFTER_UNIT
QUANTITY = re.compile(
    # What it may begin with comes first: most characters of a text are looked at no further.
    rf"(?=[{BOUNDS}±∓+\-−–\d])"
    r"(?<![\w.,^])(?<!\w[-−–/])"
    # `0-9A-F` are characters, no amperes.
    r"(?!0-9[A-Za-z]-[A-Za-z])"
    rf"(?P<bound>[{BOUNDS}]\s?)?(?P<sign>(?:{PLUS_MINUS}|[-−–+])\s?)?(?P<low>{NUMBER})(?:\s?(?P<low_unit>{UNIT}))?"
    rf"(?:\s?(?:[-−–—…~]|\.\.\.?|to|through)\s?(?P<high_sign>[-−–+](?=\d))?(?P<high>{NUMBER})(?:\s?-?(?P<high_unit>{UNIT}))?)?"
    rf"(?:-(?P<hyphened>{UNIT}))?"
    rf"(?:\s?{PLUS_MINUS}\s?(?P<tolerance>{NUMBER})\s?(?P<tolerance_unit>{UNIT}))?"
)
LOOSE_QUANTITY = re.compile(
    r"[\d½¼¾⅓⅔⅛⅜⅝⅞][\s" + THIN_SPACES + r"]{0,2}-?" + _any_of({symbol.casefold() for symbol in SYMBOLS}) + r"(?![^\W_])"
)
ANY_NUMBER = re.compile(rf"(?<![^\W_])(?<!\d[.,])(?P<sign>(?<![\w.,)])[-−](?=\d))?(?<![^\W_])(?P<digits>{NUMBER})")
"""A number, with or without a unit; a minus between two numbers or in a name (`260-1260`, `X-100`) is no sign."""
COUNT_UNIT = "x"
COUNT = re.compile(r"(?=\d)(?<![\w.,])(?<!\w-)(?<!\d )(\d+) ?[x×](?= [^\W\d]| ?\()")


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
            found.append(Quantity(match.group(), *match.span(), float(match[1]), COUNT_UNIT))
    return sorted(found, key=lambda quantity: quantity.start)


def has_dimension(text: str, dimensions: frozenset[str]) -> bool:
    """Say whether a text has a quantity of one of the dimensions. It is read up to the first."""
    if dimension(COUNT_UNIT) in dimensions:
        return any(quantity.dimension in dimensions for quantity in quantities(text))
    if not _units_of(dimensions).search(text):
        return False
    return any(
        (unit := _unit(match)) and dimension(canonical_unit(unit)) in dimensions and _quantity(match)
        for match in QUANTITY.finditer(text)
    )


@lru_cache(maxsize=64)
def _units_of(dimensions: frozenset[str]) -> re.Pattern[str]:
    """Return what any text with a quantity of one of the dimensions has: a digit or a hyphen before one of their units."""
    symbols = [symbol for symbol, unit in SYMBOLS.items() if dimension(unit) in dimensions]
    return re.compile(rf"(?:[\d{POWERS}]\s?-?|-){_any_of(symbols)}{AFTER_UNIT}" if symbols else r"(?!)")


def has_quantity(text: str) -> bool:
    """Whether a text may have a quantity: a number before a unit, in whatever case and with or without a space. Rather yes than no."""
    return LOOSE_QUANTITY.search(text.casefold()) is not None


def _unit(match: re.Match[str]) -> str | None:
    return match["hyphened"] or match["high_unit"] or match["low_unit"]


def _quantity(match: re.Match[str]) -> Quantity | None:
    unit = _unit(match)
    if unit is None:
        return None
    end, is_range, tolerance = match.end(), match["high"] is not None, match["tolerance"]
    if is_range and not (match["high_unit"] or match["hyphened"]):
        # `3.3 V - 5`: without a unit of its own the second number is not the other end of a range.
        is_range, tolerance, end = False, None, match.end("low_unit")
    start, sign = match.start(), (match["sign"] or "").strip()
    if sign and match["sign"] != sign and _begins_line(match.string, match.start("sign")):
        # The mark of a list item.
        start, sign = match.start("low"), ""
    plus_minus = sign in ("±", "∓", "+/-", "+-")
    value, upper = number_value(match["low"]), number_value(match["high"]) if is_range else None
    spread = number_value(tolerance) if tolerance else None
    if value is None or (is_range and upper is None) or (tolerance and spread is None):
        return None
    return Quantity(
        text=match.string[start:end],
        start=start,
        end=end,
        value=float(value) * (1 if plus_minus or sign in ("", "+") else -1),
        unit=canonical_unit(unit),
        upper=float(upper) * (1 if match["high_sign"] in (None, "+") else -1) if upper is not None else None,
        tolerance=float(spread) if spread is not None else None,
        tolerance_unit=canonical_unit(match["tolerance_unit"]) if spread is not None else "",
        sign="∓" if sign == "∓" else "±" if plus_minus else "",
        bound=(match["bound"] or "").strip().replace("≈", "~"),
    )


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


@lru_cache(maxsize=1 << 14)
def number_value(written: str) -> Fraction | None:
    """Read a number exactly: `1,260` and `1 260` (thin space) are thousands, `3,3` and `0,125` decimals, `1.5e3` and `2 × 10⁶` powers.

    None for what is no one number (`1.2.3`), and for what has more than 40 digits or a power above 99.
    """
    plain = written.translate(_GROUPS)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain).replace("−", "-")
    mantissa, _, power = re.sub(r"[x×·]10\^?", "e", plain).casefold().partition("e")
    if mantissa.startswith("10^"):
        mantissa, power = "1", mantissa[3:]
    if len(mantissa) > MAX_DIGITS or len(power) > len(str(MAX_POWER)) + 1 or "^" in mantissa + power:
        return None
    if _THOUSANDS.fullmatch(mantissa):
        mantissa = mantissa.replace(",", "")
    elif _THOUSANDS_AND_COMMA.fullmatch(mantissa):
        mantissa = mantissa.replace(".", "").replace(",", ".")
    mantissa = mantissa.replace(",", ".")
    if mantissa.count(".") > 1 or abs(int(power or 0)) > MAX_POWER:
        return None
    value = Fraction(mantissa)
    return value * Fraction(10) ** int(power) if power else value


def plain_number(written: str) -> str:
    """Write a number one way: `1,260` and `1260`, `0.50` and `0.5`; what is no one number (a word, `1.2.3`) stays as it is."""
    value = number_value(written) if re.fullmatch(NUMBER, written) else None
    return written if value is None else _decimal(value)


def numbers(text: str) -> list[str]:
    """Return all numbers of a text in order, each written one way (`plain_number`), whatever unit they have.

    Spelled ones are among them where they are numbers beyond doubt. Digits after a letter (`BMP390`) belong to a name and are none.
    """
    found = ANY_NUMBER.finditer(in_digits(text))
    return [f"{'-' if match['sign'] else ''}{plain_number(match['digits'])}" for match in found]


@lru_cache(maxsize=1 << 16)
def canonical_quantity(bound: str, sign: str, digits: str, unit: str) -> str:
    """Write a number one way: by value where it has a unit, by its digits where it has none (`1.10` is not `1.1`, a version may be)."""
    value = number_value(digits) if unit else None
    if value is None:
        plain = digits.translate(_GROUPS)
        if _THOUSANDS.fullmatch(plain):
            plain = plain.replace(",", "")
        elif _THOUSANDS_AND_COMMA.fullmatch(plain):
            plain = plain.replace(".", "").replace(",", ".")
        elif plain.count(",") == 1:
            plain = plain.replace(",", ".")
        plain = f"0{plain}" if plain.startswith(".") else plain
        return f"{bound}{sign}{plain} {unit}".rstrip()
    size, base = scale(unit)
    return f"{bound}{sign}{_decimal(value * size)} {base}"


def _decimal(value: Fraction) -> str:
    """Write a fraction as a decimal where it is one, exactly."""
    rest, digits = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        digits = max(digits, count)
    if rest != 1 or digits == 0:
        return str(value)
    scaled = str(value.numerator * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{scaled[:-digits]}.{scaled[-digits:]}".rstrip("0").rstrip(".")


_LETTERS_2 = r"[^\W\d_]+(?:[²³]|\^?[23](?![.,]?\d|[^\W_]))?"
UNIT_AFTER = re.compile(
    rf"\s?-?\s?(%\s?RH\b|[%‰‱]|[{CURRENCIES}]|°\s?[CF](?![^\W_])|°|{_LETTERS_2})(?:([/·])({_LETTERS_2}|°[CF]?))?"
)
KIND_OF_VOLTAGE = re.compile(r"\s?(AC|DC)(?![^\W_])", re.IGNORECASE)
INCHES = re.compile(r'\s?"(?!\w)')
CURRENCY = re.compile(f"[{CURRENCIES}]")


def unit_after(text: str, end: int) -> tuple[str, int]:
    """Read the unit that follows a number which ends at `end`: canonical, and where it ends; "" where none does."""
    match = UNIT_AFTER.match(text, end)
    if match is None:
        quote = INCHES.match(text, end)
        return ("inch", quote.end()) if quote and text.count('"', 0, end) % 2 == 0 else ("", end)
    if match[2] and (whole := _squared(canonical_unit(f"{match[1]}{match[2]}{match[3]}"))) in SYMBOLS:
        return whole, match.end()
    symbol, stop = _squared(canonical_unit(match[1])), match.end(1)
    if symbol.casefold() == "in":
        # `16 in 2006` has no inches, nor has `3 in 1`.
        return ("", end) if text[stop : stop + 2].strip()[:1].isalnum() else ("inch", stop)
    if text[stop : stop + 1].isdigit() or not (
        symbol in SYMBOLS or symbol in "‰‱" or CURRENCY.fullmatch(symbol) or symbol.casefold() in UNIT_CASEFOLDS
    ):
        # `ESP 32 S3` has no siemens.
        return "", end
    if symbol == "V" and (kind := KIND_OF_VOLTAGE.match(text, stop)):
        return f"V{kind[1].upper()}", kind.end()
    return symbol, stop


def _squared(unit: str) -> str:
    """Write a square with a raised two: `m2` and `m^2` are `m²`."""
    raised = unit[:-1].removesuffix("^") + {"2": "²", "3": "³"}.get(unit[-1], unit[-1])
    return raised if raised in SYMBOLS else unit.replace("N·m", "Nm").replace(" ", "")
