"""Whether a statement has the amount, number, count or unit that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgrag.answer.cues import (
    BARE_DEFAULT,
    DEFAULT_SAID,
    DIGITS,
    NUMBER,
    SETTING_WORD,
    asks_default,
    asks_limit,
    cued,
    is_cue_asked,
)
from kgrag.answer.statement import Statement
from kgrag.text.abbreviations import initials
from kgrag.text.answer_shapes import asks_for_figure
from kgrag.text.name_shapes import identifiers
from kgrag.text.numerals import COUNT_BY_WORD
from kgrag.text.periods import MONTHS
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.questions import Question
from kgrag.text.units import SYMBOLS, UNIT_WORDS, canonical_unit, dimension
from kgrag.text.words import FUNCTION_WORDS, stem, stems, words

__all__ = ["amounts", "fits_count", "fits_number", "fits_quantity", "fits_unit", "fits_value", "says_only_change"]

YEAR = re.compile(r"\b(?:19|20)\d\d\b")
FIGURE_WORDS = 8
"""First words of a sentence that say which figure it is about: `Net sales increased 18.3% to ...`."""
OF_FIGURE = re.compile(
    r"^(?:as an? (?:percent(?:age)?|share|proportion) of|relative to|compared (?:to|with)|excluding) [^,]{3,60}, ",
    re.IGNORECASE,
)
"""`As a percentage of net sales, gross profit ...`: no figure of net sales."""
FIGURE_ELSEWHERE = 0.4
_CHANGES = (
    r"(?:increas|decreas|declin|grow|grew|rose|ris(?:e|en|ing)\b|fall|fell|improv|chang|expand|contract|reduc|gain(?:s|ed|ing)\b|drop"
    r"|higher|lower|up\b|down\b)"
)
_FIGURE = (
    r"[$€£¥]? ?\(?\d[\d.,]*\)?(?: ?(?:%|percent(?:age points)?|basis points|bps|thousand|million|billion|trillion))?"
)
ASKS_CHANGE = re.compile(rf"\b{_CHANGES}|\b(?:share|percent(?:age)?|proportion)\b|%", re.IGNORECASE)
ONLY_CHANGE = re.compile(
    rf"\b{_CHANGES}\w*(?: of| by)?(?: approximately| about| nearly| almost| over)? {_FIGURE}(?:,? (?:or|and) {_FIGURE})*"
    rf"|{_FIGURE} (?:increase|decrease|decline|growth|rise|drop|improvement|reduction|higher|lower)\b"
    r"|\d[\d.,]* ?(?:%|percent) of\b",
    re.IGNORECASE,
)
"""By how much a figure changed, or what share it is of another one: not the figure (`revenue increased by $4 million, or 8%`)."""
CALENDAR = re.compile(rf"\b(?:{MONTHS})\.? \d{{1,2}}\b,?")
SCALED = re.compile(r"\bin (?:thousands|millions|billions)\b|[$€£¥] ?(?:000s?|mm?|bn)\b", re.IGNORECASE)
"""Heads a table of sums of money, or of counts that are as large: its cells have no unit of their own."""
_PERIOD_WORDS = "fiscal year years quarter month months week weeks ended first second third fourth full prior"
PERIOD_TERMS = frozenset(stem(word) for word in words(_PERIOD_WORDS))
"""Say when, not what."""
_GOES_ON = r"(?!(?:for|to|from|with|at|by|per|as|is|are|was|were|when|if|that|which|because|while)\b)"
COUNTED = re.compile(rf"\b(?:\d[\d,.]*|{'|'.join(COUNT_BY_WORD)})\b(?:[\s-]+{_GOES_ON}[\w®]+){{0,4}}", re.IGNORECASE)
"""A number and what it counts: of `a 452 response for all recipients` the response."""
COUNTED_THINGS = re.compile(
    rf"(?<![\w.])(?:\d[\d,.]*|one|half|{'|'.join(COUNT_BY_WORD)})[ -]"
    r"(?:bit|byte|pixel|point|dot|line|column|row|character|char|digit|decimal|decimal place|level|step|sample|page)s?\b",
    re.IGNORECASE,
)
"""An amount of what has no unit: `six pixels`."""
MONEY = re.compile(r"[$€£¥] ?\d")
OFTEN_ASKED = re.compile(r"\bhow often\b", re.IGNORECASE)
_PERIOD = r"(?:millisecond|second|minute|hour|day|night|week|month|year)"
OFTEN_SAID = re.compile(
    rf"\b(?:once|twice|times) (?:(?:a|an|per|each|every|in) ){{1,2}}{_PERIOD}s?\b|\bevery (?:\w+ )?{_PERIOD}s?\b"
    r"|\b(?:hourly|daily|nightly|weekly|monthly|yearly|annually)\b"
    rf"|\b(?:period|interval|frequency)\b[^.;]{{0,30}}?\b(?:an?|one) {_PERIOD}\b",
    re.IGNORECASE,
)
"""`three times an hour`, `every minute`, `the usual interval is a day`: how often, without an amount of time."""
BEYOND = re.compile(r"\b(?:below|above|exceed(?:s|ed|ing)?|(?:less|more|greater|higher|lower) than) $", re.IGNORECASE)
LIMIT_ASKED = re.compile(
    r"\b(?:below|above|exceed\w*|limit|threshold|trip\w*|until|(?<!wait )before|than|when|too)\b", re.IGNORECASE
)
AS_CONDITION = 0.5
"""What has the amount only as the limit at which something happens."""
RANGE_ASKED = re.compile(
    r"\b(?:which|what) (?:\w+ )?range\b|\brange of\b|^(?:between )?(?:which|what) values\b", re.IGNORECASE
)
RANGE = re.compile(r"\d\S*\s?(?:to|through|[-–—…]|\.{2,3})\s?[-+]?\d|\bbetween\s[-+]?\d|\bfrom\s[-+]?\d", re.IGNORECASE)
BITS_ASKED = re.compile(r"\bbits?\b|\bresolution\b|\bwidth\b|\bdepth\b|\bfine\b|\bprecis", re.IGNORECASE)
UNIT_LETTERS = 3
"""`min` and longer: `m` and `s` are too often something else."""
VALUE_BEHIND_UNIT = re.compile(r"<(\w+)> [\[(](\d[\d.]*)[\])]")
"""`PingInterval = <seconds> (60)`: what is to be given, and its default."""
PORT = re.compile(r"\bports?\b", re.IGNORECASE)
IN_DIGITS = re.compile(r"(?<![\w.])\d")
"""No port is called by a word: `if there is more than one` has none."""
UNIT_COLUMN = re.compile(r"units?", re.IGNORECASE)
BARE_NUMBER = re.compile(r"[-−–+±]?\d[\d.,]*")
_UNIT = rf"(?:{UNIT_WORDS}|ms|kB|KB|MB|GB|kHz|MHz|Hz|points?)"
SAYS_UNIT = re.compile(
    rf"\b(?:in|as|are|is|of|unit(?:s)?:?|number of|per) (?:(?:the |an? )?(?:units?|tenths?|hundredths?|thousandths?|multiples|steps) of )?"
    rf"(?:an? |the |\w+[- ])?{_UNIT}\b|[(\[<=]{_UNIT}[)\]>]|\b(?:tenths|hundredths|thousandths) of\b|^{_UNIT} "
    rf"|\b(?:time|period|interval|delay|timeout|size|length|limit|rate|distance|angle)s?,? \(?(?:in )?{_UNIT}\b",
)
"""`The time in milliseconds`, `number of seconds`, `<seconds>`."""
NAMES_UNIT = re.compile(rf"\b{_UNIT}\b")
AMOUNT_HAS_UNIT = 0.7


def fits_quantity(asked: Question, statement: Statement) -> float:
    """Whether a statement has an amount of the dimension that is asked for, or of any where the question does not tell."""
    text, measured = statement.text, amounts(statement)
    if RANGE_ASKED.search(asked.text):
        return 1.0 if RANGE.search(text) else 0.4 if measured else 0.0
    if asked.dimensions == ("",):
        if statement.cells and SCALED.search(text):
            return cued(asked, statement, 0.8) * _is_of_figure(asked, statement)
        if measured or COUNTED_THINGS.search(text) or MONEY.search(text):
            return cued(asked, statement, 0.8)
        return 0.3 if NUMBER.search(text) else 0.0
    of_dimension = [q for q in measured if q.dimension in asked.dimensions and not _says_width(asked, q.text)]
    if of_dimension and _are_conditions(asked, text, of_dimension):
        return AS_CONDITION
    is_often = OFTEN_ASKED.search(asked.text) and OFTEN_SAID.search(text)
    if of_dimension or is_often or _number_with_unit_apart(asked, statement):
        return cued(asked, statement, 0.8)
    return 0.4 * fits_value(asked, statement)


def amounts(statement: Statement) -> list[Quantity]:
    """The quantities of a statement; in a row whose unit stands in a cell of its own, that of each number: `Max: 70; Unit: °C`."""
    found = quantities(statement.text)
    unit = next((value for header, value in statement.cells if UNIT_COLUMN.fullmatch(header)), "")
    if unit and canonical_unit(unit) in SYMBOLS:
        bare = [value for _, value in statement.cells if BARE_NUMBER.fullmatch(value)]
        found += [one for value in bare for one in quantities(f"{value} {unit}")]
    found += [one for match in VALUE_BEHIND_UNIT.finditer(statement.text) for one in quantities(match.expand(r"\2 \1"))]
    return found


def _are_conditions(asked: Question, text: str, amounts: Sequence[Quantity]) -> bool:
    """Whether amounts stand only as what something is above or below (`undervoltage: below 9 V`), and the question asks for no limit."""
    if asks_limit(asked) or LIMIT_ASKED.search(asked.text):
        return False
    return all(BEYOND.search(text[: amount.start]) for amount in amounts)


def _says_width(asked: Question, amount: str) -> bool:
    """Whether an amount says of what width a program or number is: `32-bit` where no bits are asked for."""
    return amount.casefold().endswith("-bit") and BITS_ASKED.search(asked.text) is None


def _number_with_unit_apart(asked: Question, statement: Statement) -> bool:
    """Whether a default stands as a bare number beside a unit of the dimension asked for: `The default value is 5 (minutes).`"""
    return BARE_DEFAULT.search(statement.text) is not None and any(
        len(word) >= UNIT_LETTERS and dimension(canonical_unit(word)) in asked.dimensions
        for word in words(statement.text)
    )


def fits_value(asked: Question, statement: Statement) -> float:
    """A number, or a word that a setting can have; more where it stands beside what makes it a default or a limit."""
    if (IN_DIGITS if PORT.search(asked.text) else NUMBER).search(statement.text):
        return cued(asked, statement, 0.5)
    if DIGITS.search(asked.text):
        return 0.0
    if statement.own_label and is_cue_asked(asked, statement.label):
        return 1.0  # `Default: root:root`, whatever the value is.
    if asks_default(asked) and DEFAULT_SAID.search(statement.text):
        return 1.0
    has_word = SETTING_WORD.search(statement.text) or identifiers(statement.text) - identifiers(asked.text)
    return 0.5 * cued(asked, statement, 0.4) if has_word else 0.0


def _is_of_figure(asked: Question, statement: Statement) -> float:
    """How much a row's first cell, or the first words of a sentence, say the figure that is asked for and no other: 0 to 1."""
    head = (
        statement.cells[0][1] if statement.cells else " ".join(OF_FIGURE.sub("", statement.text).split()[:FIGURE_WORDS])
    )
    said = {one for word, one in stems(head) if word not in FUNCTION_WORDS and word.isalpha()}
    terms = {one for one in asked.terms - asked.subject_terms if one.isalpha()} - PERIOD_TERMS
    for name in asked.names:
        if spelled := initials(name):
            terms.add(stem(name))
            said |= {stem(name)} if spelled.search(head) else set()
    if not NUMBER.search(_without_dates(statement.text)):
        return 0.0
    if not terms or not said:
        return 1.0
    share = len(terms & said) / len(terms)
    own = len((terms | asked.terms) & said) / len(said) if statement.cells else 1.0
    return FIGURE_ELSEWHERE + (1.0 - FIGURE_ELSEWHERE) * share * (1.0 + own) / 2


def says_only_change(asked: Question, statement: Statement) -> bool:
    """Whether a sentence only says by how much a figure changed, or what share it is of another one, and the figure is asked for."""
    if statement.cells or not asks_for_figure(asked.text) or ASKS_CHANGE.search(asked.text):
        return False
    figures = _without_dates(statement.text)
    return NUMBER.search(figures) is not None and not NUMBER.search(ONLY_CHANGE.sub("", figures))


def _without_dates(text: str) -> str:
    return YEAR.sub("", CALENDAR.sub("", text))


def _counted(asked: Question) -> frozenset[str]:
    """The stems of what is to be counted, or done with it."""
    after = asked.text.casefold().rpartition("how many")[2]
    return frozenset(s for w, s in stems(after) if w not in FUNCTION_WORDS)


def _is_default_of_counted(asked: Question, statement: Statement) -> bool:
    """Whether a default without its unit (`The default is 3.`) is of what is to be counted: its label or what stands before it says so."""
    if not BARE_DEFAULT.search(statement.text) or not asks_default(asked):
        return False
    above = f"{statement.label} {statement.before}"
    return bool((_counted(asked) - {stem("default")}) & {one for _, one in stems(above)})


def _counts(asked: Question, text: str) -> float:
    wanted = _counted(asked)
    counted = [{s for _, s in stems(m.group())} for m in COUNTED.finditer(text)]
    return 1.0 if any(near & wanted for near in counted) else 0.2 if counted else 0.0


def fits_number(asked: Question, statement: Statement) -> float:
    """A number, of the figure that is asked for."""
    return fits_value(asked, statement) * (_is_of_figure(asked, statement) if asks_for_figure(asked.text) else 1.0)


def fits_count(asked: Question, statement: Statement) -> float:
    """How many there are of what is to be counted."""
    if _is_default_of_counted(asked, statement):
        return 1.0
    counted = max(_counts(asked, statement.text) * cued(asked, statement, 0.6), 0.7 * fits_value(asked, statement))
    if any(q.dimension in asked.dimensions for q in quantities(statement.text)):
        return max(counted, cued(asked, statement, 0.8))  # `how many volts`
    return counted


def fits_unit(asked: Question, statement: Statement) -> float:
    """In full for what says a unit without an amount (`in milliseconds`); an amount that is a default has one, too."""
    said = f"{statement.label} {statement.text}"
    if SAYS_UNIT.search(said):
        return 1.0
    return AMOUNT_HAS_UNIT if NAMES_UNIT.search(said) or any(one.unit for one in amounts(statement)) else 0.0
