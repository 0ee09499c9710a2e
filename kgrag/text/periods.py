"""Years and quarters: whether what a statement says is of another period than the one that a question asks for."""

from __future__ import annotations

import re

__all__ = ["MONTHS", "asks_when_at_all", "is_of_another_period", "is_of_another_year", "period_announced"]

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_MONTH = f"{MONTHS}|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
ASKED_YEAR = re.compile(
    rf"\b(?:in|of|for|since|during|and|or|to|from|fiscal|fy|year|years|ended|quarter|(?:{_MONTH})(?: \d{{1,2}},?)?) ?((?:19|20)\d\d)\b"
    r"(?! ?(?:bytes|[kmg]?b\b|ms\b|hz\b|pixels|seconds|entries|characters|bits|\w+s\b))",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?<![\w.,$-])(?<!; )(?<!: )(?:19|20)\d\d(?![\w,]\d|\w|\.\d)|(?:19|20)\d\d(?=;|:|$)")
"""Not the one that begins a name: `2019 Integration Plan`."""
PERIOD = re.compile(rf"(?:\b(?:{_MONTH})\.? (?:\d{{1,2}}, ?)?|\bfiscal (?:year )?)?(?:{YEAR.pattern})", re.IGNORECASE)
YEAR_BEFORE = re.compile(
    r"\b(?:prior|previous|last|preceding|earlier)[ -](?:fiscal )?(?:year|period)|\byear (?:ago|earlier|before)"
    r"|\bsame (?:period|quarter) (?:of )?last",
    re.IGNORECASE,
)
WHENEVER = re.compile(r"\bwhen (?:does|do|will|would|must|should|shall|can|may)\b", re.IGNORECASE)
ONCE_WAS = re.compile(r"\b(?:was|were)\b[^.;]{0,60}?\b(?:18|19|20)\d\d\b", re.IGNORECASE)
QUARTER = re.compile(r"\bquarters?\b|\bthree months\b|\b[1-4]q(?:\d\d)?\b|\bq[1-4]\b", re.IGNORECASE)
WHOLE_YEAR = re.compile(
    r"\b(?:full|whole|fiscal|entire) year\b|\btwelve months\b|\byear ended\b|\bannual(?:ly)?\b|\b(?:fiscal|fy|in) ?(?:19|20)\d\d\b"
    r"|\b(?:current|prior) year\b(?! quarter)",
    re.IGNORECASE,
)


def asks_when_at_all(question: str) -> bool:
    """Whether a question asks when something is ever so, and for no date: `When does it reconnect?`."""
    return WHENEVER.search(question) is not None


def is_of_another_year(question: str, text: str) -> bool:
    """Whether a question asks for a year, and a text says years but not that one. `The prior year` of a text with 2023 is 2022."""
    asked = set(ASKED_YEAR.findall(question))
    said = set(YEAR.findall(text)) if asked else set()
    if said and YEAR_BEFORE.search(text):
        said |= {str(int(year) - 1) for year in said}
    return bool(said) and not said & asked


def period_announced(sentence: str) -> str:
    """Return the one date or year in a sentence that announces something: `March 3, 2021` of `Loans at March 3, 2021 were as follows:`."""
    found = [match[0] for match in PERIOD.finditer(sentence)] if sentence.endswith(":") else []
    return found[0] if len(found) == 1 else ""


def is_of_another_period(question: str, text: str, above: str) -> bool:
    """Whether a text is about a quarter where a whole year is asked for, or the other way, or about what once was.

    `It was built in 1998`, asked when it reconnects. What stands above it says it where the text itself does not.
    """
    if asks_when_at_all(question) and ONCE_WAS.search(text):
        return True
    of_quarter, of_year = QUARTER.search(question) is not None, WHOLE_YEAR.search(question) is not None
    if of_quarter == of_year:
        return False
    if not QUARTER.search(text) and not WHOLE_YEAR.search(text):
        text = above
    has_quarter, has_year = QUARTER.search(text) is not None, WHOLE_YEAR.search(text) is not None
    return (of_quarter and has_year and not has_quarter) or (of_year and has_quarter and not has_year)
