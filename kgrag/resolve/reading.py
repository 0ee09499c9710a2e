"""A name read as text and facts: quantities, ordinals, versions, dates, designators, symbols, model numbers.

`read_name` gives three things that resolution compares:

- `form`, the normal form: two names with the same form are the same. Letters are folded as in `kgrag.text.names.normal_form`, and what is
  one quantity has one spelling: `3.3V` = `3.3 V` = `3,3 V` = `3300 mV` = `3V3`, `Rev2` = `revision 2`, `Mk II` = `mark 2`.
- `signature`, the facts alone: two names with different signatures are never the same thing. It is an equality, so nothing that is
  joined through others can bring two signatures together. Every symbol that is not listed as punctuation is a fact.
- `models`, the words that mix letters and digits, for part numbers that share their digits (`LPS22HB`, `LPS22HH`).

Names without a digit, a symbol, a single letter and a word that counts (`two`, `half`, `XIV`) take the short way.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from kgrag.resolve.one_spelling import in_one_spelling
from kgrag.resolve.symbols import is_fact, is_symbol
from kgrag.text.name_pieces import OPTION
from kgrag.text.numerals import (
    BOUND_BY_WORD,
    KIND_BY_WORD,
    MONTH_BY_WORD,
    NUMBER_BY_WORD,
    ORDINAL_BY_WORD,
    is_roman_number,
    roman_number,
)
from kgrag.text.quantities import BOUNDS, CURRENCIES, NUMBER, canonical_quantity, unit_after
from kgrag.text.units import SYMBOLS, canonical_unit, scale

__all__ = ["NameReading", "read_name"]

MAX_CHARACTERS = 1000
"""A longer text is no name: it is one with those that are written exactly so, and its whole text is its signature."""


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
_NAME_NUMBER = NUMBER + r"(?:\^-?\d+)?"
SCAN = re.compile(
    rf"""
      (?P<iso>(?<![\d-])(?P<y0>\d{{4}})(?P<join>[-/.])(?P<m0>0[1-9]|1[0-2])(?P=join)(?P<d0>0[1-9]|[12]\d|3[01])(?![\d-]|\.\d))
    | (?P<dotted>(?<![\d.])(?P<d4>0?[1-9]|[12]\d|3[01])\.\s?(?P<m4>0?[1-9]|1[0-2])\.\s?(?P<y4>(?:1[5-9]|20)\d\d)(?![\d.]\d|\d))
    | (?P<dmy>(?<![\d.])(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\.?[\s-]+(?P<m1>{_MONTHS})\b\.?,?[\s-]+(?P<y1>\d{{4}})(?!\d))
    | (?P<mdy>(?<!\w)(?P<m2>{_MONTHS})\b\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y2>\d{{4}})(?!\d))
    | (?P<my>(?<!\w)(?P<m3>{_MONTHS})\b\.?,?\s+(?P<y3>\d{{4}})(?![\d-]))
    | (?P<kind>(?<![^\W_])(?P<noun>{_KINDS}|(?<=\w[\s_-])r)[\s._-]*
        (?:(?P<of>\d+(?:\.\d+)*(?:[\s.-]?(?:rc|alpha|beta|pre|dev)[\s.-]?\d*|[a-z])?)(?![^\W_]|[.]\d)|(?P<roman>{_ROMAN})(?!\w)|(?P<letter>[a-z])(?![\w.-])))
    | (?P<version>(?<![\w.])\d{{1,5}}\.\d{{1,5}}\.\d{{1,5}}(?![\w.,]|\s?[%°]))
    | (?P<rkm>(?<![\w.-])\d{{1,3}}(?:V|(?-i:[RKkMnpuµ]))\d{{1,2}}(?![\w.]))
    | (?P<hex>(?<![\w.])0x[0-9a-f]{{1,64}}(?!\w))
    | (?P<ordinal>(?<![\w.])\d{{1,15}})(?:st|nd|rd|th)(?![^\W_])
    | (?P<decade>(?<![\w.])(?:1[5-9]|20)\d0)['’]?s(?![^\W_])
    | (?P<number>(?P<bound>[{BOUNDS}]=?\s?)?
        (?P<sign>(?:(?<![\w)])|(?<=[±])|(?<=\s))(?:[±∓]|\+/-|\+-|\+(?!\+)|-(?=[\d.]|[{CURRENCIES}]\s?[\d.]))\s?|[±∓]\s?|(?<=[\w%°])\+/-\s?)?
        (?:(?P<currency>[{CURRENCIES}]\s?)(?P<inner>-(?=[\d.]))?)?(?P<digits>{_NAME_NUMBER}|(?<![\w.])\.\d+))
    | (?P<symbol>(?<=[^\W_])(?:\+{{1,2}}|\#)(?![^\W_])|(?-i:(?:(?<=[A-Z])|(?<=(?<![^\W_])[A-Z][a-z]))-(?![^\W_]|\s?[\d(])))
    """,
    re.VERBOSE | re.IGNORECASE,
)
UNIT_BY_RKM = {"V": "V", "R": "Ω", "K": "kΩ", "M": "MΩ", "N": "nF", "P": "pF", "U": "µF", "µ": "µF", "Μ": "µF"}
"""`4k7` is 4.7 kΩ: the letter stands where the decimal point would."""
JOIN = re.compile(
    r"\s*(?:(?P<range>-|to|through|\.\.\.?|…)|(?P<times>[x*])|(?P<each>[/:]))\s*|\s*(?P<beside>)", re.IGNORECASE
)
WORD = re.compile(r"[^\W\d_]+")
ALPHANUMERIC = re.compile(r"[^\W_]+")
TOKEN = re.compile(rf"[^\W\d_]+|[\d+\-±∓.#{CURRENCIES}{BOUNDS}]")
"""Where a word or what may begin a fact stands."""
DETACHED_SIGN = re.compile(rf"[-+]\s+(?=[{CURRENCIES}]?\s?\.?\d)")
"""`- 40 °C`: a sign where nothing stands before it that it could join to the number."""
MODEL = re.compile(r"[^\W_]+(?:-\d[^\W_]*)?")
HAS_BOTH = re.compile(r"(?!\d+x$)(?:.*?[^\W\d_]-?\d|.*?\d[^\W\d_])", re.IGNORECASE)
"""A letter beside a digit; the `x` of `2x` only counts."""
BEGIN_FACTS = frozenset((*MONTH_BY_WORD, *KIND_BY_WORD, "r"))
"""Words that a fact may begin with."""
QUALIFIERS = frozenset(
    ["ac", "dc", "quarter", "half", "full", "single", "dual", "double", "triple", "quad", "quadruple", "⟨am⟩", "⟨pm⟩"]
)
"""Words that tell two things apart as numbers do."""
COUNTED = frozenset((*NUMBER_BY_WORD, *ORDINAL_BY_WORD, *KIND_BY_WORD, *BOUND_BY_WORD, *QUALIFIERS, "in"))
"""Words that make a name worth a second look."""
LONG_WAY = re.compile(r"[\d#+]|[A-Z][a-z]?-(?![^\W_])|(?<![^\W_])[^\W\d_](?![^\W_])")
GREEK = re.compile("[\u0370-\u03ff]")
INITIAL_BEFORE, INITIAL_AFTER = re.compile(r"(?<![^\W_])[^\W\d_]\.\s?$"), re.compile(r"\.\s?[^\W\d_]\.")
"""Of several initials (`J. R. R. Tolkien`) none tells persons apart by itself."""
SMALL_CONJUNCTIONS = frozenset("yeoàé")
"""Single letters that are words between others: `Ortega y Gasset`."""


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
    if len(name) > MAX_CHARACTERS:
        text = " ".join(name.split())
        return NameReading(f"⟨{text}⟩", text, (f"⟨{text}⟩",), frozenset())
    text = in_one_spelling(name)
    if text in UNITS_BY_CASE:
        fact = f"unit {canonical_unit(text)}"
        return NameReading(f"⟨{fact}⟩", fact, (f"⟨{fact}⟩",), frozenset())
    written = WORD.findall(text)
    words = tuple(map(str.casefold, written))
    if (
        LONG_WAY.search(text) is None
        and COUNTED.isdisjoint(words)
        and not any(map(is_roman_number, written))
        and ((text.isascii() and "$" not in text) or not any(map(is_fact, text)))
    ):
        return NameReading(_form(text, words), "", words, frozenset())
    return _Reading(text).result()


def _form(text: str, words: tuple[str, ...]) -> str:
    """Words without what separates them, and the symbols that mean something."""
    joined = "".join(words)
    if len(joined) == len(text) or not any(map(is_symbol, text)):
        return joined or text.strip()
    return "".join(c.casefold() if c.isalpha() else c for c in text if c.isalpha() or is_symbol(c))


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
        self._sign = ("", -1)
        """A detached sign, and where the number begins that it is of."""

    def result(self) -> NameReading:
        text = self._text
        position, end = 0, 0
        while token := TOKEN.search(text, position):
            start, found = token.start(), token.group()
            if found in "+-" and (sign := self._detached(start)):
                if start > end:
                    self._symbols(text[end:start])
                position = end = sign
                continue
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
        words = tuple([piece for piece in self._pieces if len(piece) > 1 or piece.isalnum()])
        for start, stop in self._consumed:
            text = text[:start] + " " * (stop - start) + text[stop:]
        return NameReading("".join(self._pieces) or text.strip(), signature, words, _models(text))

    def _take(self, match: re.Match[str]) -> int:
        if match["number"]:
            return self._number(match)
        self._close_run()
        self._consumed.append(match.span())
        if match["iso"]:
            self._fact("date", f"date {match['y0']}-{match['m0']}-{match['d0']}")
        elif match["dotted"]:
            self._fact("date", f"date {match['y4']}-{int(match['m4']):02}-{int(match['d4']):02}")
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
        elif match["version"]:
            self._fact("version", f"version {match['version']}")
        elif match["rkm"]:
            letter = next(c for c in match["rkm"] if not c.isdigit())
            whole, _, part = match["rkm"].partition(letter)
            unit = UNIT_BY_RKM[letter.upper()]
            self._fact(scale(unit)[1], canonical_quantity("", "", f"{whole}.{part}", unit))
        elif match["hex"]:
            self._fact("number", f"0x{match['hex'][2:].casefold().lstrip('0') or '0'}")
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
        if not gap or gap.isspace():
            return
        if self._run and any(map(is_fact, gap)):
            self._close_run()
        if not self._run:
            for character in filter(is_symbol, gap):
                if is_fact(character):
                    self._fact("symbol", character)
                else:
                    self._pieces.append(character)

    def _detached(self, start: int) -> int:
        """Where the number of a detached sign begins; 0 where the dash joins something, as in `260 - 1260 hPa`."""
        match = DETACHED_SIGN.match(self._text, start)
        if (
            match is None
            or self._run
            or (start and not (self._text[start - 1].isspace() or self._text[start - 1] in "(,;:="))
        ):
            return 0
        self._sign = (self._text[start], match.end())
        return match.end()

    def _word(self, word: str, start: int, end: int) -> int:
        folded = word.casefold()
        if self._run:
            if not self._pending and JOIN.fullmatch(self._text[self._run[-1].end : end]):
                self._pending.append(folded)
                return end
            self._close_run()
        number = NUMBER_BY_WORD.get(folded)
        if number is not None:
            unit, unit_end = unit_after(self._text, end)
            if unit or number != 1 or self._pieces:
                self._run.append(_Number("", "", str(number), unit, start, unit_end))
                return unit_end
            self._pieces.append(folded)
        elif folded in ORDINAL_BY_WORD and not (self._pieces and self._pieces[-1] in ("per", "each", "every")):
            return self._ordinal(ORDINAL_BY_WORD[folded], end)
        elif folded in BOUND_BY_WORD:
            self._fact("bound", BOUND_BY_WORD[folded])
        elif is_roman_number(word) and self._is_numeral(word, start, end):
            self._fact("number", str(roman_number(word)))
        elif folded in QUALIFIERS or (folded in ("am", "pm") and self._text[start - 1 : start] == "⟨"):
            self._fact("qualifier", folded)
        elif len(word) == 1 and self._is_designator(word, start, end):
            cased = GREEK.match(word) or (start and OPTION.match(self._text, start - 1))  # Ω is a unit, ω a frequency
            self._fact("letter", word if cased else folded)
        else:
            self._pieces.append(folded)
        return end

    def _is_numeral(self, word: str, start: int, end: int) -> bool:
        """A Roman number stands behind what it numbers; at the beginning where it is long or a name follows: `IX Corps`, not `IV bag`."""
        if self._is_glued(start, end):
            return False
        return bool(self._pieces) or len(word) > 2 or self._text[end : end + 2].strip()[:1].isupper()

    def _is_designator(self, letter: str, start: int, end: int) -> bool:
        """Whether a single letter tells things apart (`Type A`, `USB-C`), and is no article, initial, or part of a word or model number."""
        text = self._text
        before, after = text[max(0, start - 2) : start], text[end : end + 2]
        if before[-1:] in ("'", "’") or after[:1] in ("'", "’") or (after[:1] == "." and after[1:].isalpha()):
            return False
        if before[-1:] == "." and before[:1].isalpha():
            return False
        if after[:1] == "." and (
            INITIAL_BEFORE.search(text, max(0, start - 4), start) or INITIAL_AFTER.match(text, end)
        ):
            return False
        if self._is_glued(start, end) or after.lstrip(" -")[:1].isdigit() or before.rstrip(" -")[-1:].isdigit():
            return False
        if GREEK.match(letter):
            return True
        if after[:1] == "-" and after[1:].isalpha():
            return False
        if not self._pieces:
            following = text[end:].lstrip()
            return letter not in "AaI" and after[:1] != "." and (not following or following[0].islower())
        if not text[end:].strip(" ."):
            return True
        return letter != "a" and letter not in SMALL_CONJUNCTIONS

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
            and self._sign[1] != start
            and (text[start - 1].isalpha() or (text[start - 1] in "-_" and text[start - 2 : start - 1].isalpha()))
        )
        before = JOIN.fullmatch(text[self._run[-1].end : start]) if self._run else None
        alone = alone or bool(before and (before["times"] or (before["range"] and self._run[-1].unit)))
        unit, unit_end = unit_after(text, end) if alone else ("", end)
        unit = unit or (match["currency"] or "").strip()
        sign = (match["sign"] or match["inner"] or "").strip()
        if self._sign[1] == start:
            sign = sign or self._sign[0]
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
            self._fact("number", canonical_quantity(run[0].bound, run[0].sign, run[0].digits, ""))
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
            fact += joint.replace("±", " ") + canonical_quantity(number.bound, number.sign, number.digits, number.unit)
        kinds = {scale(number.unit)[1] if number.unit else "number" for number in run}
        self._facts.append(("+".join(sorted(kinds)), fact))
        self._pieces.append(f"⟨{fact}⟩")
        # `2x I2C` says no more than `2 I2C`.
        self._pieces.extend(word for word in pending if word != "x")


def _models(text: str) -> frozenset[str]:
    """Words that have a letter and a digit; a hyphen before a digit is part of one (`X-100`)."""
    return frozenset(
        [
            token.casefold().replace("-", "")
            for token in MODEL.findall(text)
            if not token.isalpha() and HAS_BOTH.match(token)
        ]
    )
