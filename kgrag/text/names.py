"""How names compare: one key per name, and the names of a text found by it.

`normal_form` folds what writers vary without meaning (case, hyphens and spaces beside letters, trade marks, width of characters) and
keeps what tells two technical names apart: every digit, decimal point, sign, revision, and the case of a unit that follows a number.
`Gazetteer` finds known names in a text by the same key. `quantities` lives in `kgrag.text.quantities` and is given here too.

A text is read as pieces (runs of letters, numbers, raised numbers) and the gaps between them. What a gap adds to the key depends only on
the gap and on the kinds of piece beside it, so it is worked out once and remembered.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from kgrag.text.quantities import Quantity, quantities
from kgrag.text.units import UNIT_CASEFOLDS, canonical_unit

__all__ = [
    "LEGAL_FORMS",
    "NORMAL_FORM_VERSION",
    "Gazetteer",
    "NameMatch",
    "Quantity",
    "normal_form",
    "quantities",
    "subject_of_title",
    "without_brackets",
]

NORMAL_FORM_VERSION = "2"
"""Goes up when a name gets another normal form: keys of entities are made of it, so chunks are extracted anew."""

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
LENGTHS = frozenset({"m", "mm", "cm", "km", "µm", "μm", "um", "in", "ft"})
REMEMBERED_TITLES = 1 << 13
"""A question looks at the titles of hundred documents, and the next one at many of the same."""
REMEMBERED_GAP_CHARACTERS = 12

FEW_NAMES = 16
"""Of so many a gazetteer looks whether a text has the beginning of any, before it reads the text."""
NO_LETTERS_OR_DIGITS = bytes(c for c in range(128) if not chr(c).isalnum())
LETTERS_OF_A_SMALL_WORD = 3
"""Titles differ in whether they capitalise `the` and `of`."""
STRONG_TAIL = frozenset("+#°^%-")
BREAK = re.compile(
    r"\n\s*\n|\n\s*[^\w\s]|[;!?|]\s|\w{5}\.\s|\d\.\s|(?<!\bno)(?<!\brev)(?<!\bvol)[.:,]\s+\d", re.IGNORECASE
)
"""What a name does not run across unless it is written so itself: lines, sentences, items of a list."""


LEGAL_FORMS = frozenset(
    [
        "inc",
        "incorporated",
        "ltd",
        "limited",
        "llc",
        "gmbh",
        "ag",
        "corp",
        "corporation",
        "co",
        "company",
        "plc",
        "srl",
        "spa",
        "sa",
        "bv",
        "kg",
        "oy",
        "ab",
    ]
)
"""Of companies: they come and go."""
TITLE_BREAK = re.compile(r"[,:;|(\[]|\s[-–—]\s|[–—]")
"""What ends the name that a title begins with."""
BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A known name in a text: `text[start:end]` is `written` as the text writes it, `key` its normal form."""

    key: str
    written: str
    start: int
    end: int


def normal_form(name: str) -> str:
    """Make the key that two spellings of one name share and two names never do.

    Folded: case of words; spaces, hyphens, underscores and full stops beside a letter (`Wi-Fi` = `WiFi` = `wi fi`, `Rev2` = `Rev 2`,
    `3.3V` = `3.3 V`); brackets, quotation marks and trade marks; compatibility characters (`µ`, `Ω`, full width, `I²C` = `I2C`).
    Kept: digits and what stands between them, signs (`±5 V`, `D-`), symbols (`C++`, `5 %`), powers (`10²`), accents, and the case of a unit
    after a number (`5 mA`, `5 MA`). A name made of nothing but separators is its own key.
    """
    name = SQUARED_UNITS.sub(lambda m: unicodedata.normalize("NFKC", m.group()), unicodedata.normalize("NFC", name))
    pieces = _read(name)
    return pieces.whole() if pieces.forms else name.strip()


@lru_cache(maxsize=REMEMBERED_TITLES)
def subject_of_title(title: str) -> str:
    """Return the normal form of the name that a document's title begins with, without a company's legal form.

    `PepsiCo, Inc., FORM 10-K` and `PepsiCo Inc: annual report` are about `pepsico`, `X-100 Pro data sheet` is about all of it.
    """
    words = TITLE_BREAK.split(title, maxsplit=1)[0].split()
    while len(words) > 1 and words[-1].strip(".").casefold() in LEGAL_FORMS:
        words.pop()
    return normal_form(" ".join(words))


def without_brackets(name: str) -> str:
    """Leave out the brackets at the end that tell a name from others like it: `Theodred II (Bishop of Elmham)`, `Amber (song)`."""
    return BRACKETS.sub("", name)


@dataclass(slots=True)
class _Pieces:
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

    def whole(self) -> str:
        """The key of the whole text."""
        lead = _glue(EDGE, self.text[: self.starts[0]], self.kinds[0])
        return lead + self.core() + _glue(self.kinds[-1], self.text[self.ends[-1] :], EDGE)


def _after_space(gap: str) -> str:
    return "" if not gap or gap[-1].isspace() else gap.split()[-1]


def _read(text: str) -> _Pieces:
    if '"' in text or "'" in text:
        text = _with_primes(text)
    text = text.replace("×", "x")
    pieces = _Pieces(text, [], [], [], [], [])
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


class Gazetteer:
    """Finds known names in texts: leftmost, then longest, by normal form, and never inside a longer word, number or part number.

    `X-100` is not found in `X-1000`, `X-100.5` or `X-100-2`; `Nano 33 BLE` is not reported inside `Nano 33 BLE Sense` when both are
    known (and `X-100` is found in `X-100 Rev 2` when that is no known name). It is quick because few words begin a name, and a
    bisection of the sorted keys says after each further word whether any key goes on like that.
    """

    def __init__(self, names: Iterable[str], *, as_written: Iterable[str] = ()) -> None:
        """Learn `names`, and which of them are found only with the capitals that they are written with.

        `as_written` is for names that are ordinary words (a film called `Changed It`): the words of a match that are longer than three
        letters, and its first word, must begin with a capital where the name has one.
        """
        self._cores: dict[str, dict[tuple[str, str], str]] = {}
        self._runs_across_breaks: set[str] = set()
        first: set[str] = set()
        for name in names:
            read = _read(unicodedata.normalize("NFC", name))
            if not read.forms:
                continue
            first.add(read.forms[0].lower())
            whole, core = normal_form(name), read.core()
            lead, tail = (
                _glue(EDGE, read.text[: read.starts[0]], read.kinds[0]),
                _glue(read.kinds[-1], read.text[read.ends[-1] :], EDGE),
            )
            self._cores.setdefault(core, {})[lead, tail] = whole
            if BREAK.search(name):
                self._runs_across_breaks.add(whole)
        self._sorted = sorted(self._cores)
        self._as_written: dict[str, list[str]] = {}
        for name in as_written:
            self._as_written.setdefault(normal_form(name), []).append(name)
        self._begins: dict[str, bool] = {}
        plain = all(one.isascii() and one.isalnum() for one in first)
        self._first = [one.encode() for one in sorted(first)] if plain and len(first) <= FEW_NAMES else None

    def __len__(self) -> int:
        return sum(len(ends) for ends in self._cores.values())

    def find(self, text: str) -> list[NameMatch]:
        """Find the known names of a text, in order and without overlap."""
        if not self._cores or self._has_none(text):
            return []
        pieces = _read(text)
        forms, glues, kinds, begins = pieces.forms, pieces.glues, pieces.kinds, self._begins
        found: list[NameMatch] = []
        i, n = 0, len(forms)
        while i < n:
            key = forms[i] if kinds[i] != UNIT else forms[i].casefold()
            begin = begins.get(key)
            if begin is None:
                begin = begins[key] = self._goes_on(key)
            if not begin:
                i += 1
                continue
            match, last = None, i
            j = i
            while True:
                if key in self._cores and (here := self._match(pieces, i, j, key)):
                    match, last = here, j
                j += 1
                if j == n:
                    break
                key += glues[j] + forms[j]
                if not self._goes_on(key):
                    break
            if match:
                # Reading writes some characters otherwise; the match is as the text has it.
                found.append(match if pieces.text == text else replace(match, written=text[match.start : match.end]))
            i = last + 1
        return found

    def _has_none(self, text: str) -> bool:
        """Say of few names whether a plain text has not even the beginning of one, divided or not (`Micro SD`): quick to see."""
        if self._first is None or not text.isascii():
            return False
        folded = text.lower().encode().translate(None, NO_LETTERS_OR_DIGITS)
        return not any(begin in folded for begin in self._first)

    def _goes_on(self, key: str) -> bool:
        at = bisect_left(self._sorted, key)
        return at < len(self._sorted) and self._sorted[at].startswith(key)

    def _match(self, pieces: _Pieces, first: int, last: int, core: str) -> NameMatch | None:
        if not (_may_begin(pieces, first) and _may_end(pieces, last)):
            return None
        lead, tail = pieces.lead(first), pieces.tail(last)
        for name_lead, name_tail in ((lead, tail), (lead, ""), ("", tail), ("", "")):
            key = self._cores[core].get((name_lead, name_tail))
            if key is None:
                continue
            if (lead and not name_lead and pieces.kinds[first] == NUMBER) or (
                not name_tail and tail[:1] in STRONG_TAIL and tail
            ):
                return None
            start, end = pieces.starts[first], pieces.ends[last]
            written = pieces.text[start:end]
            if key not in self._runs_across_breaks and BREAK.search(written):
                return None
            if name_lead or name_tail:
                start -= len(name_lead) if pieces.text[max(0, start - len(name_lead)) : start] == name_lead else 0
                end += len(name_tail) if pieces.text[end : end + len(name_tail)] == name_tail else 0
                written = pieces.text[start:end]
            if written.count("(") > written.count(")") and pieces.text[end : end + 1] == ")":
                end += 1
                written = pieces.text[start:end]
            spellings = self._as_written.get(key)
            if spellings and not any(_same_capitals(written, spelling) for spelling in spellings):
                return None
            return NameMatch(key, written, start, end)
        return None


def _same_capitals(written: str, name: str) -> bool:
    of_match, of_name = (re.findall(r"[^\W\d_]+", text) for text in (written, name))
    if len(of_match) != len(of_name):
        return written == name
    return all(
        there[0].islower() or here[0].isupper()
        for i, (here, there) in enumerate(zip(of_match, of_name, strict=True))
        if i == 0 or len(there) > LETTERS_OF_A_SMALL_WORD
    )


def _may_begin(pieces: _Pieces, index: int) -> bool:
    """Whether a name may begin with this piece: not inside a word, a part number or an address."""
    start = pieces.starts[index]
    if not index or pieces.ends[index - 1] < start - 1:
        return not (start and pieces.text[start - 1] == "_")
    if pieces.ends[index - 1] == start:
        return False
    before, mark = (
        pieces.text[pieces.starts[index - 1] : pieces.ends[index - 1]],
        pieces.text[start - 1].translate(DASHES),
    )
    if mark == "-":
        return pieces.kinds[index] != NUMBER and before.islower() and len(before) > 1
    if mark in "_@":
        return False
    if mark == ".":
        return not pieces.text[start].islower()
    return not (mark in ",:/" and pieces.kinds[index] == NUMBER and pieces.kinds[index - 1] == NUMBER)


def _may_end(pieces: _Pieces, index: int) -> bool:
    """Whether a name may end with this piece."""
    end = pieces.ends[index]
    if index + 1 == len(pieces.forms) or pieces.starts[index + 1] > end + 1:
        return pieces.text[end : end + 1] != "_"
    if pieces.starts[index + 1] == end:
        return False
    after, mark = pieces.text[end + 1 : pieces.ends[index + 1]], pieces.text[end].translate(DASHES)
    if mark == "-":
        return after.islower() and len(after) > 2
    if mark == "_":
        return False
    if mark == ".":
        return not after[0].islower()
    return not (mark in ",:/" and pieces.kinds[index] == NUMBER and pieces.kinds[index + 1] == NUMBER)
