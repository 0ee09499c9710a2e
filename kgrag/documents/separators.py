"""Tables as text (`.csv`, `.tsv`): by which character their cells are separated and quoted, and their rows.

`csv.Sniffer` decides by the first quoted cell or by how often a character stands in each line, takes a decimal comma for a separator, and
quadratic time for some files. Here a reading is as good as its rows are equally long and its cells look like something (van den Burg,
Nazábal and Sutton: Wrangling messy CSV files by detecting row and type patterns, 2019, section 3).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

__all__ = ["DATE", "NUMBER", "Rows", "Separated", "separated"]

SAMPLE_CHARACTERS = 50_000
"""From which the separator is found out."""
SEPARATORS = ",;\t|"
DECLARED = re.compile(r'"?sep=(?P<separator>[^\r\n])"?\s*(?:\r\n|\r|\n)', re.IGNORECASE)
"""A first line by which Excel is told the separator."""
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
NUMBER = re.compile(
    r"(?=.*\d)[<>≤≥~±≈]?\s?[-+−(]?\s?[$€£¥]?\s?(?:\d{1,3}(?:[ .,'’\u00a0\u202f]\d{3})+|\d+)?(?:[.,]\d*)?(?:e[-+]?\d+)?\s?[)%‰]?"
    r"(?:\s?(?:€|\$|£|¥|EUR|USD|CHF|GBP))?",
    re.IGNORECASE,
)
"""A whole cell: with decimal point or comma, bound, sign, currency."""
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?: \d{1,2}:\d{2}.*)?"
    r"|\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[ap]m)?",
    re.IGNORECASE,
)
UNKNOWN = re.compile(r"[^\s;|][;|\t]\S|\"|[^\W\d],[^\W\d]")
"""What a cell would not have in it: a separator without a blank, a quotation mark."""
ONE_CELL = 0.001
"""How good a row of one cell is."""
BETTER = 1.001
"""Times as good must a reading be to be taken in place of a simpler one."""
OF_THIS_NAME = 2.0
"""Times as good is the separator that a file's name says."""
QUOTED = re.compile(r'"((?:[^"]|"")*)"')
PROSE = re.compile(r"[,;|](?P<blank>[ \t]|$)?", re.MULTILINE)
PROSE_SHARE, EVEN_SHARE = 0.9, 0.8
"""Commas that are nearly all followed by a blank, in rows of which fewer than so many are equally long, are those of sentences."""
MOST_LINES = 200
"""Of one row; more are a quotation mark that is not closed."""
MOST_UNCLOSED = 20
"""After so many, quotation marks are read as letters."""
END = "\ue000"
"""Stands in a row of its own behind the last one where all quotation marks are closed."""


@dataclass(frozen=True, slots=True)
class Separated:
    """How rows are written."""

    separator: str
    """Empty where a row is one cell."""
    quote: str = '"'
    """Empty where cells are not quoted."""
    escape: str = ""
    """What stands before a quotation mark that is part of a cell; empty where such a mark is doubled."""

    def read(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """Yield rows. Raises `csv.Error` for a cell of more than 131,072 characters: a quotation mark that is not closed, too."""
        if not self.separator:
            return ([_unquoted(line.rstrip("\r\n"))] for line in lines)
        return csv.reader(
            lines,
            delimiter=self.separator,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            quotechar=self.quote or None,
            escapechar=self.escape or None,
            doublequote=not self.escape,
            skipinitialspace=True,
        )


def separated(text: str, *, preferred: str = "") -> Separated:
    """Find out how a text's rows are written; `preferred` is the separator that the file's name says."""
    if declared := DECLARED.match(text):
        return Separated(declared["separator"])
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > len(sample):
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    best, most = Separated(""), 0.0
    lengths: Counter[int] = Counter()
    for how in _possible(sample, preferred):
        found = [row for row in Rows(sample, how) if any(row)]
        goodness = _goodness(found) * (OF_THIS_NAME if how.separator == preferred else 1)
        if goodness > most * BETTER:
            best, most, lengths = how, goodness, Counter(map(len, found))
    if best.separator and lengths.most_common(1)[0][1] < EVEN_SHARE * lengths.total():
        marks = [mark["blank"] is not None for mark in PROSE.finditer(sample) if mark[0][0] == best.separator]
        if sum(marks) > PROSE_SHARE * len(marks):
            return Separated("")
    return best


class Rows:
    """The rows of a text, one after the other. A line with a quotation mark that is not closed is read by itself, its marks as letters."""

    def __init__(self, text: str, how: Separated) -> None:
        declared = DECLARED.match(text)
        self._lines = _Lines(text, declared.end() if declared else 0)
        self._how = how
        self.unclosed = 0
        """Lines with such a quotation mark so far."""

    def __iter__(self) -> Iterator[list[str]]:
        """Yield each row as its cells; an empty line as an empty row."""
        how = self._how
        rows = how.read(self._lines)
        while True:
            begun = self._lines.begin_row()
            try:
                row = next(rows)
            except (csv.Error, _Unclosed):
                row = [END, END]
            if row == [END]:
                return
            if row and row[-1].endswith(END):
                line = self._lines.line_at(begun)
                row = line.split(how.separator)
                if how.quote:
                    self.unclosed += 1
                    if self.unclosed == MOST_UNCLOSED:
                        how = replace(how, quote="")
                rows = how.read(self._lines)
            yield row


class _Unclosed(Exception):
    """A row has more lines than rows have."""


class _Lines:
    """Lines of a text with their ends, and `END`; from any place again."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        self._of_row = 0

    def begin_row(self) -> int:
        """Say where the next row begins."""
        self._of_row = 0
        return self._at

    def line_at(self, start: int) -> str:
        """Return the line that begins there, without its end; the next line is the one after it."""
        line = LINE.match(self._text, start)
        self._at = line.end() if line else len(self._text)
        return line[0].rstrip("\r\n") if line else ""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._at > len(self._text):
            raise StopIteration
        self._of_row += 1
        if self._of_row > MOST_LINES:
            raise _Unclosed
        line = LINE.match(self._text, self._at)
        self._at = line.end() if line else len(self._text) + 1
        return line[0] if line else END


def _unquoted(line: str) -> str:
    quoted = QUOTED.fullmatch(line)
    return quoted[1].replace('""', '"') if quoted else line


def _possible(sample: str, preferred: str) -> Iterator[Separated]:
    """Yield the ways to read a text, simple ones first."""
    yield Separated("")
    found = [separator for separator in SEPARATORS if separator in sample]
    found.sort(key=lambda separator: separator != preferred)
    for separator in found or ([" "] if " " in sample else []):
        if not _escapes(sample, separator):
            yield Separated(separator)
        if '\\"' in sample:
            yield Separated(separator, escape="\\")
        if re.search(rf"(?:^|{re.escape(separator)})'", sample, re.MULTILINE):
            yield Separated(separator, "'")
        if '"' in sample:
            yield Separated(separator, "")


def _escapes(sample: str, separator: str) -> bool:
    r"""Whether a quoted cell goes on behind a `\"`: a mark that closed it would have a separator or the end of the line behind it."""
    mark = re.escape(separator)
    return re.search(rf'(?:^|{mark}) ?"[^"\r\n]*\\"(?!\s*(?:{mark}|["\r\n]|\Z))', sample, re.MULTILINE) is not None


def _goodness(rows: Sequence[Sequence[str]]) -> float:
    """Say how good a reading is: equally long rows with many cells that look like something."""
    lengths = Counter(map(len, rows))
    if not rows or lengths.keys() == {1}:
        return ONE_CELL * len(rows)
    pattern = sum(count * max(ONE_CELL, (length - 1) / length) for length, count in lengths.items()) / len(lengths)
    cells = [cell.strip() for row in rows for cell in row if cell.strip()]
    known = sum(bool(NUMBER.fullmatch(cell) or DATE.fullmatch(cell)) or not UNKNOWN.search(cell) for cell in cells)
    return pattern * known / max(1, len(cells))
