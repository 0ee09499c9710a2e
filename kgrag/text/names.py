"""How names compare: one key per name, and the names of a text found by it.

`normal_form` folds what writers vary without meaning (case, hyphens and spaces beside letters, trade marks, width of characters) and
keeps what tells two technical names apart: every digit, decimal point, sign, revision, and the case of a unit that follows a number and of
an option's letter.
`Gazetteer` finds known names in a text by the same key. `quantities` lives in `kgrag.text.quantities` and is given here too.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from kgrag.text.name_pieces import DASHES, NUMBER, SQUARED_UNITS, UNIT, Pieces, read_pieces
from kgrag.text.quantities import Quantity, quantities

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

NORMAL_FORM_VERSION = "3"
"""Goes up when a name gets another normal form: keys of entities are made of it, so chunks are extracted anew."""

REMEMBERED_TITLES = 1 << 13
"""A question looks at the titles of hundred documents, and the next one at many of the same."""
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


LEGAL_FORMS = frozenset([
    "inc", "incorporated", "ltd", "limited", "llc", "gmbh", "ag", "corp", "corporation", "co", "company", "plc", "srl", "spa", "sa", "bv",
    "kg", "oy", "ab",
])  # fmt: skip
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
    after a number (`5 mA`, `5 MA`), of an option's letter (`-v`, `-V`) and of a Greek letter that stands alone (`Ω`, `ω`).
    A name made of nothing but separators is its own key.
    """
    name = SQUARED_UNITS.sub(lambda m: unicodedata.normalize("NFKC", m.group()), unicodedata.normalize("NFC", name))
    pieces = read_pieces(name)
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
            read = read_pieces(unicodedata.normalize("NFC", name))
            if not read.forms:
                continue
            first.add(read.forms[0].lower())
            whole = normal_form(name)
            self._cores.setdefault(read.core(), {})[read.around()] = whole
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
        pieces = read_pieces(text)
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

    def _match(self, pieces: Pieces, first: int, last: int, core: str) -> NameMatch | None:
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


def _may_begin(pieces: Pieces, index: int) -> bool:
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


def _may_end(pieces: Pieces, index: int) -> bool:
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
