"""A name read as text and facts: quantities, ordinals, versions, dates, model numbers.

`read_name` gives three things that resolution compares:

- `form`, the normal form: two names with the same form are the same. Letters are folded as in `kgrag.text.names.normal_form`, and what is
  one quantity has one spelling: `3.3V` = `3.3 V` = `3,3 V` = `3300 mV` = `3V3`, `Rev2` = `revision 2`, `Mk II` = `mark 2`.
- `signature`, the facts alone: two names with different signatures are never the same thing. It is an equality, so nothing that is
  joined through others can bring two signatures together.
- `models`, the words that mix letters and digits, for part numbers that share their digits (`LPS22HB`, `LPS22HH`).

Names without a digit and without a word that counts (`two`, `second`, `II`) take the short way.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from kgrag.resolve.number_words import (
    BOUND_BY_WORD,
    COUNTED,
    KIND_BY_WORD,
    MONTH_BY_WORD,
    NUMBER_BY_WORD,
    ORDINAL_BY_WORD,
    ROMAN_NUMBERS,
    roman_number,
)
from kgrag.text.names import DASHES, LOWERED_DIGITS, ON_THE_LINE, RAISED_DIGITS, SQUARED_UNITS
from kgrag.text.units import SYMBOLS, UNIT_CASEFOLDS, canonical_unit, scale

__all__ = ["NameReading", "read_name"]


class NameReading(NamedTuple):
    """A name as resolution compares it."""

    form: str
    """Equal for names that are the same by rule."""
    signature: str
    """The facts in canonical spelling, those of one kind in the order of the name; "" where there are none."""
    words: tuple[str, ...]
    """Words and facts in order, case folded, a fact as `⟨3.3 V⟩`."""
    models: frozenset[str]
    """Words of letters and digits, case folded, without separators: `lps22hb`, `x100`."""


_MONTHS = "|".join(sorted(MONTH_BY_WORD, key=len, reverse=True))
_KINDS = "|".join(sorted(KIND_BY_WORD, key=len, reverse=True))
_ROMAN = r"(?-i:X{0,3}(?:IX|IV|V?I{1,3}|V)|X{1,3})"
_NUMBER = r"(?:\d{1,3}(?:[\u00a0\u2009\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)" + (
    r"(?:\s?[x·]\s?10\^-?\d+|[eE][-+]?\d+(?![\w.]))?(?:\^-?\d+)?"
)
SCAN = re.compile(
    rf"""
      (?P<iso>(?<![\d-])\d{{4}}-\d\d-\d\d(?![\d-]))
    | (?P<dmy>(?<![\d.])(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\.?[\s-]+(?P<m1>{_MONTHS})\b\.?,?[\s-]+(?P<y1>\d{{4}})(?!\d))
    | (?P<mdy>(?<!\w)(?P<m2>{_MONTHS})\b\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y2>\d{{4}})(?!\d))
    | (?P<my>(?<!\w)(?P<m3>{_MONTHS})\b\.?,?\s+(?P<y3>\d{{4}})(?![\d-]))
    | (?P<kind>(?<![^\W_])(?P<noun>{_KINDS}|(?<=\w[\s_-])r)[\s._-]*
        (?:(?P<of>\d+(?:\.\d+)*(?:[\s.-]?(?:rc|alpha|beta|pre|dev)[\s.-]?\d*|[a-z])?)(?![^\W_]|[.]\d)|(?P<roman>{_ROMAN})(?!\w)|(?P<letter>[a-z])(?![\w.-])))
    | (?P<rkm>(?<![\w.])\d{{1,3}}V\d{{1,2}}(?![\w.]))
    | (?P<ordinal>(?<![\w.])\d+)(?:st|nd|rd|th)(?![^\W_])
    | (?P<decade>(?<![\w.])(?:1[5-9]|20)\d0)['’]?s(?![^\W_])
    | (?P<number>(?P<bound>[<>≤≥~≈]=?\s?)?
        (?P<sign>(?:(?<![\w)])|(?<=[±])|(?<=\s))(?:±|\+/-|\+-|\+(?!\+)|-(?=[\d.]))\s?|±\s?|(?<=[\w%°])\+/-\s?)?
        (?P<currency>[$€£¥]\s?)?(?P<digits>{_NUMBER}|(?<![\w.])\.\d+))
    | (?P<symbol>(?<=[^\W_])(?:\+{{1,2}}|\#)(?![^\W_])|(?-i:(?<=[A-Z])-(?![^\W_]|\s?[\d(])))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LETTERS_2 = r"[^\W\d_]+(?:[²³23](?![.,]?\d|[^\W_]))?"
UNIT = re.compile(rf"\s?-?\s?(%\s?RH\b|%|[$€£¥]|°\s?[CF](?![^\W_])|°|{_LETTERS_2})(?:([/·])({_LETTERS_2}|°[CF]?))?")
INCHES = re.compile(r'\s?"(?!\w)')
JOIN = re.compile(
    r"\s*(?:(?P<range>-|to|through|\.\.\.?|…)|(?P<times>[x*])|(?P<each>[/:]))\s*|\s*(?P<beside>)", re.IGNORECASE
)
WORD = re.compile(r"[^\W\d_]+")
ALPHANUMERIC = re.compile(r"[^\W_]+")
TOKEN = re.compile(r"[^\W\d_]+|[\d+\-±<>≤≥~≈.#$€£¥]")
"""Where a word or what may begin a fact stands."""
MODEL = re.compile(r"[^\W_]+(?:-\d[^\W_]*)?")
COUNTS = re.compile(r"[\d#+]|[A-Z]-(?![^\W_])")
HAS_BOTH = re.compile(r"(?!\d+x$)(?:.*?[^\W\d_]-?\d|.*?\d[^\W\d_])", re.IGNORECASE)
"""A letter beside a digit; the `x` of `2x` only counts."""
BEGIN_FACTS = frozenset((*MONTH_BY_WORD, *KIND_BY_WORD, "r"))
"""Words that a fact may begin with."""
CURRENCIES = frozenset("$€£¥")
KEPT_SYMBOLS = frozenset("+#%/\\*=@^~<>±$€£|§°′″")
"""Of the gaps between words: what makes another name."""
_CLEANED = DASHES | str.maketrans({"×": "x", "✕": "x", "μ": "µ", "\u2126": "Ω", "″": '"', "⁄": "/"})
_VULGAR = re.compile(r"(\d?)([½⅓⅔¼¾⅛⅜⅝⅞])")
_RAISED = re.compile(rf"(?<=[^\W\d_])[{RAISED_DIGITS}{LOWERED_DIGITS}]+|([{RAISED_DIGITS}{LOWERED_DIGITS}]+)")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_AND_COMMA = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+")
_SEPARATORS = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f'’"))
USB_TYPE = re.compile(r"\b(usb)[\s-]*type[\s-]*([abc])\b", re.IGNORECASE)
"""The rule for `USB Type-C` = `USB-C`."""


def _units_by_case() -> frozenset[str]:
    by_letters: dict[str, set[str]] = {}
    for symbol in SYMBOLS:
        by_letters.setdefault(symbol.casefold(), set()).add(symbol)
    return frozenset(
        symbol for symbols in by_letters.values() if len({canonical_unit(s) for s in symbols}) > 1 for symbol in symbols
    )


UNITS_BY_CASE = _units_by_case()
"""Units that only their case tells from another, so that it tells names that are nothing but a unit: `MB` and `Mb`."""


@lru_cache(maxsize=1 << 16)
def read_name(name: str) -> NameReading:
    """Read a name. Equal `form`s are the same thing by rule, different `signature`s are never the same thing."""
    text = _clean(name)
    if text in UNITS_BY_CASE:
        fact = f"unit {canonical_unit(text)}"
        return NameReading(f"⟨{fact}⟩", fact, (f"⟨{fact}⟩",), frozenset())
    written = WORD.findall(text)
    words = tuple(map(str.casefold, written))
    if COUNTS.search(text) is None and COUNTED.isdisjoint(words) and ROMAN_NUMBERS.isdisjoint(written):
        return NameReading(_form(text, words), "", words, frozenset())
    return _Reading(text).result()


def _clean(name: str) -> str:
    """Write characters one way; every word, digit and sign stays."""
    if not name.isascii():
        name = unicodedata.normalize("NFC", SQUARED_UNITS.sub(lambda m: unicodedata.normalize("NFKC", m.group()), name))
        name = _VULGAR.sub(lambda m: f"{m[1]} " + unicodedata.normalize("NFKC", m[2]).replace("⁄", "/"), name)
        name = _RAISED.sub(lambda m: ("^" if m[1] else "") + m.group().translate(ON_THE_LINE), name)
        name = name.translate(_CLEANED)
        if not name.isascii():
            name = "".join(c if c in "µ°…\u00a0\u2009\u202f" else unicodedata.normalize("NFKC", c) for c in name)
            name = unicodedata.normalize("NFC", name).replace("μ", "µ")
    if "&" in name:
        name = name.replace("&", " and ")
    if "_" in name:
        name = name.replace("_", " ")
    if "sb" in name or "SB" in name:
        name = USB_TYPE.sub(r"\1 \2", name)
    return name


def _form(text: str, words: tuple[str, ...]) -> str:
    """Words without what separates them, and the symbols that mean something."""
    joined = "".join(words)
    if len(joined) == len(text) or not KEPT_SYMBOLS.intersection(text):
        return joined or text.strip()
    return "".join(c.casefold() if c.isalpha() else c for c in text if c.isalpha() or c in KEPT_SYMBOLS)


class _Number:
    """A number on its way to a fact."""

    __slots__ = ("bound", "digits", "end", "joined", "sign", "start", "unit")

    def __init__(self, bound: str, sign: str, digits: str, unit: str, start: int, end: int) -> None:
        self.bound, self.sign, self.digits, self.unit = bound, sign, digits, unit
        self.start, self.end = start, end
        self.joined = ""
        """How it is joined to the number before it: "" where it is not, else one of `..`, x, /, :, ±."""


class _Reading:
    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        """Words; facts between ⟨ and ⟩; symbols."""
        self._facts: list[tuple[str, str]] = []
        """Kind and canonical spelling."""
        self._run: list[_Number] = []
        self._pending: list[str] = []
        """Words after a number that may join it to another (`to`, `x`)."""
        self._consumed: list[tuple[int, int]] = []
        """Where facts stand that are no part of a model number."""

    def result(self) -> NameReading:
        text = self._text
        position, end = 0, 0
        while token := TOKEN.search(text, position):
            start, found = token.start(), token.group()
            plain = found[0].isalpha() and found.casefold() not in BEGIN_FACTS
            match = None if plain else SCAN.match(text, start)
            if match is None and not found[0].isalpha():
                position = start + 1
                continue
            if start > end:
                self._symbols(text[end:start])
            position = end = self._word(found, start, token.end()) if match is None else self._take(match)
        self._close_run()
        self._symbols(text[end:])
        if len(self._facts) > 1:
            self._facts.sort(key=itemgetter(0))
        signature = "|".join([fact for _, fact in self._facts])
        words = tuple([piece for piece in self._pieces if piece not in KEPT_SYMBOLS])
        for start, stop in self._consumed:
            text = text[:start] + " " * (stop - start) + text[stop:]
        return NameReading("".join(self._pieces) or text.strip(), signature, words, _models(text))

    def _take(self, match: re.Match[str]) -> int:
        if match["number"]:
            return self._number(match)
        self._close_run()
        self._consumed.append(match.span())
        if match["iso"]:
            self._fact("date", f"date {match['iso']}")
        elif match["dmy"] or match["mdy"]:
            month, day = match["m1"] or match["m2"], match["d1"] or match["d2"]
            self._fact("date", f"date {match['y1'] or match['y2']}-{MONTH_BY_WORD[month.casefold()]:02}-{int(day):02}")
        elif match["my"]:
            self._fact("date", f"date {match['y3']}-{MONTH_BY_WORD[match['m3'].casefold()]:02}")
        elif match["kind"]:
            kind_of = KIND_BY_WORD.get(match["noun"].casefold(), "revision")
            roman = match["roman"]
            # Generation X is no tenth one.
            value = (
                match["of"]
                or match["letter"]
                or (roman if roman == "X" and kind_of != "mark" else str(roman_number(roman)))
            )
            self._fact(kind_of, f"{kind_of} {re.sub(r'[ -]', '', value.casefold())}")
        elif match["rkm"]:
            whole, _, part = match["rkm"].upper().partition("V")
            self._fact("V", _quantity("", "", f"{whole}.{part}", "V"))
        elif match["ordinal"]:
            return self._ordinal(int(match["ordinal"]), match.end())
        elif match["decade"]:
            self._fact("number", f"{match['decade']}s")
        elif match["symbol"]:
            before = ALPHANUMERIC.findall(self._text[: match.start()])[-1].casefold()
            self._fact("symbol", before + match["symbol"])
        return match.end()

    def _fact(self, kind: str, fact: str) -> None:
        self._facts.append((kind, fact))
        self._pieces.append(f"⟨{fact}⟩")

    def _symbols(self, gap: str) -> None:
        if gap and not gap.isspace() and not self._run:
            self._pieces.extend(c for c in gap if c in KEPT_SYMBOLS)

    def _word(self, word: str, start: int, end: int) -> int:
        folded = word.casefold()
        if self._run:
            if not self._pending and JOIN.fullmatch(self._text[self._run[-1].end : end]):
                self._pending.append(folded)
                return end
            self._close_run()
        number = NUMBER_BY_WORD.get(folded)
        if number is not None:
            unit, unit_end = _unit_after(self._text, end)
            if unit or number != 1 or self._pieces:
                self._run.append(_Number("", "", str(number), unit, start, unit_end))
                return unit_end
            self._pieces.append(folded)
        elif folded in ORDINAL_BY_WORD and not (self._pieces and self._pieces[-1] in ("per", "each", "every")):
            return self._ordinal(ORDINAL_BY_WORD[folded], end)
        elif folded in BOUND_BY_WORD:
            self._fact("bound", BOUND_BY_WORD[folded])
        elif word in ROMAN_NUMBERS and self._pieces and not self._is_glued(start, end):
            self._fact("number", str(roman_number(word)))
        else:
            self._pieces.append(folded)
        return end

    def _is_glued(self, start: int, end: int) -> bool:
        """Whether a digit stands right beside: the `XI` of `STM32H747XI` is no number."""
        return self._text[start - 1].isdigit() or self._text[end : end + 2].lstrip("-")[:1].isdigit()

    def _ordinal(self, number: int, end: int) -> int:
        """An ordinal, with its noun where that is one that is numbered too: `second edition` is `edition 2`."""
        noun = WORD.match(self._text, len(self._text) - len(self._text[end:].lstrip(" -")))
        kind = KIND_BY_WORD.get(noun.group().casefold()) if noun else None
        if kind and noun:
            self._fact(kind, f"{kind} {number}")
            return noun.end()
        self._fact("ordinal", f"{number}.")
        return end

    def _number(self, match: re.Match[str]) -> int:
        text, start, end = self._text, match.start(), match.end()
        first = match.start("digits")
        alone = not (
            start == first
            and start
            and (text[start - 1].isalpha() or (text[start - 1] in "-_" and text[start - 2 : start - 1].isalpha()))
        )
        before = JOIN.fullmatch(text[self._run[-1].end : start]) if self._run else None
        alone = alone or bool(before and (before["times"] or (before["range"] and self._run[-1].unit)))
        unit, unit_end = _unit_after(text, end) if alone else ("", end)
        unit = unit or (match["currency"] or "").strip()
        sign = (match["sign"] or "").strip()
        bound = (match["bound"] or "").strip().replace("≈", "~").replace("<=", "≤").replace(">=", "≥")
        number = _Number(bound, "±" if sign in ("±", "+/-", "+-") else sign, match["digits"], unit, start, unit_end)
        if self._run:
            gap = text[self._run[-1].end : start]
            joined = before
            if number.sign == "±" and not gap.strip():
                number.joined = "±"
            elif joined and joined["range"] and not bound:
                number.joined = ".."
            elif joined and joined["times"]:
                number.joined = "x"
            elif joined and joined["each"] and gap == gap.strip():
                number.joined = joined["each"]
            if not number.joined:
                self._close_run()
        self._pending = []
        self._run.append(number)
        return unit_end

    def _close_run(self) -> None:
        """Turn the numbers that are joined to each other into one fact."""
        run, pending = self._run, self._pending
        if not run:
            return
        self._run, self._pending = [], []
        if len(run) == 1 and not run[0].unit:
            self._fact("number", _quantity(run[0].bound, run[0].sign, run[0].digits, ""))
            self._pieces.extend(word for word in pending if word != "x")
            return
        self._consumed.append((run[0].start, run[-1].end))
        for i in range(len(run) - 2, -1, -1):
            if not run[i].unit and run[i + 1].joined:
                run[i].unit = run[i + 1].unit
        measured = any(number.unit or number.sign for number in run)
        fact = ""
        for number in run:
            if number.joined == ".." and number.sign == "+":
                number.sign = ""  # `-40 to +85`
            joint = "-" if number.joined == ".." and not measured else number.joined
            fact += joint.replace("±", " ") + _quantity(number.bound, number.sign, number.digits, number.unit)
        kinds = {scale(number.unit)[1] if number.unit else "number" for number in run}
        self._facts.append(("+".join(sorted(kinds)), fact))
        self._pieces.append(f"⟨{fact}⟩")
        # `2x I2C` says no more than `2 I2C`.
        self._pieces.extend(word for word in pending if word != "x")


def _unit_after(text: str, end: int) -> tuple[str, int]:
    """The unit that follows a number, canonical, and where it ends; "" where none does."""
    match = UNIT.match(text, end)
    if match is None:
        quote = INCHES.match(text, end)
        return ("inch", quote.end()) if quote and text.count('"', 0, end) % 2 == 0 else ("", end)
    if match[2] and (whole := _squared(canonical_unit(f"{match[1]}{match[2]}{match[3]}"))) in SYMBOLS:
        return whole, match.end()
    symbol, stop = _squared(canonical_unit(match[1])), match.end(1)
    following = text[stop : stop + 1]
    if symbol == "in" and text[stop : stop + 2].strip() and text[stop : stop + 2].strip().isalnum():
        # `16 in 2006` has no inches.
        return "", end
    if following.isdigit() or (
        symbol not in SYMBOLS and symbol not in CURRENCIES and symbol.casefold() not in UNIT_CASEFOLDS
    ):
        # `ESP 32 S3` has no siemens.
        return "", end
    return symbol, stop


def _squared(unit: str) -> str:
    """Write a square with a raised two: `m2` is `m²`."""
    raised = unit[:-1] + {"2": "²", "3": "³"}.get(unit[-1], unit[-1])
    return raised if raised in SYMBOLS else unit.replace("N·m", "Nm").replace(" ", "")


@lru_cache(maxsize=1 << 16)
def _quantity(bound: str, sign: str, digits: str, unit: str) -> str:
    """Write a number one way: by value where it has a unit, by its digits where it has none (`1.10` is not `1.1`, a version may be)."""
    plain = digits.translate(_SEPARATORS)
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    elif _THOUSANDS_AND_COMMA.fullmatch(plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif plain.count(",") == 1:
        plain = plain.replace(",", ".")
    if plain.startswith("."):
        plain = f"0{plain}"
    if not unit:
        return f"{bound}{sign}{plain}"
    power_of_ten = re.sub(r"^10\^", "1e", re.sub(r"\s?[x·]\s?10\^", "e", plain.casefold()))
    mantissa, _, power = power_of_ten.partition("e")
    if mantissa.count(".") > 1 or "^" in mantissa or "," in mantissa:
        return f"{bound}{sign}{plain} {unit}"
    size, base = scale(unit)
    value = Fraction(mantissa) * size * (Fraction(10) ** int(power) if power else 1)
    return f"{bound}{sign}{_decimal(value)} {base}"


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


def _models(text: str) -> frozenset[str]:
    """Words that have a letter and a digit; a hyphen before a digit is part of one (`X-100`)."""
    return frozenset(
        [
            token.casefold().replace("-", "")
            for token in MODEL.findall(text)
            if not token.isalpha() and HAS_BOTH.match(token)
        ]
    )
