"""How people write to a support desk what a manual writes out: `pls`, `whats`, `w/`, `how come`, or all in capitals. English."""

from __future__ import annotations

import re

from kgrag.text.words import FUNCTION_WORDS, NEGATED_VERBS, words

__all__ = ["written_out"]

_SHORT = {
    "pls": "please", "plz": "please", "plse": "please", "thx": "thanks", "tnx": "thanks", "thnx": "thanks", "any1": "anyone",
    "some1": "someone", "every1": "everyone", "y'all": "you", "y’all": "you", "yall": "you",
    "dunno": "don't know", "whats": "what is", "wheres": "where is", "hows": "how is", "whos": "who is", "theres": "there is",
} | {f"{verb}nt": f"{verb}n't" for verb in NEGATED_VERBS}  # fmt: skip
"""Short forms of words that a document has in full, in small letters."""
SHORT = re.compile(
    rf"(?<![\w./@<-])(?:{'|'.join(sorted(map(re.escape, _SHORT), key=len, reverse=True))})(?![\w/@>-]|\.\w)"
)
YOU = re.compile(r"\b(can|do|if|could|would|should|did|may) u(?= \w)")
WITH, WITHOUT = re.compile(r"(?<=\s)w/\s?(?=\w)", re.IGNORECASE), re.compile(r"(?<=\s)w/o\s?(?=\w)", re.IGNORECASE)
WHY = re.compile(r"\bhow come\b(?:,? that\b)?", re.IGNORECASE)
MAY = re.compile(
    r"\b(?:is|would) (?:it|that) (?:be )?(?:ok(?:ay)?|al(?:l )?right|fine) (?:to|if (?:i|we|you))\b"
    r"|\b(?:is|would) it (?:be )?(?:ok(?:ay)?|al(?:l )?right|fine) for (?:me|us) to\b|^(?:am i|are we) (?:ok(?:ay)?|allowed|good) to\b",
    re.IGNORECASE,
)
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
STAMP = re.compile(
    r"\[?(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|\s?[+-]\d\d:?\d\d)?(?!\w)\]?:?\s*"
    rf"|\b(?:{_MONTHS}) {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d\s*"
)
"""When a line of a log was written: no document says it."""
SHOUTED_WORDS = 4
"""So many words all in capitals, one of function among them, are no identifiers."""


def written_out(question: str) -> str:
    """Return a question with what is shortened in writing put in full: `pls`, `whats`, `w/`, `how come` (why), `is it ok to` (can I).

    A time stamp of a log goes, and a question all in capitals is written small, but for words with a digit.
    """
    if _is_shouted(question):
        question = " ".join(word if any(map(str.isdigit, word)) else word.lower() for word in question.split(" "))
    question = STAMP.sub("", question) if len(STAMP.sub("", question).split()) > 1 else question
    question = WITHOUT.sub("without ", question)
    question = WITH.sub("with ", question)
    question = YOU.sub(r"\1 you", question)
    question = SHORT.sub(lambda match: _SHORT[match[0]], question)
    return MAY.sub("can I", WHY.sub("why", question))


def _is_shouted(question: str) -> bool:
    said = [word for word in words(question) if word.isalpha()]
    return (
        len(said) >= SHOUTED_WORDS
        and all(word.isupper() for word in said)
        and any(word.lower() in FUNCTION_WORDS for word in said)
    )
