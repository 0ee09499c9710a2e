"""Whether a statement says what a thing is or means."""

from __future__ import annotations

import re

from kgrag.answer.statement import Statement
from kgrag.text.answer_shapes import ROLE_ASKED
from kgrag.text.questions import Question
from kgrag.text.words import content_terms, stems

__all__ = ["fits_definition"]

DEFINES = re.compile(
    r"\b(?:is|are|was|were|means?|defines?|specif(?:y|ies)|refers? to|stands? for|denotes?|describes?|called|known as|consists? of"
    r"|controls?|sets?|determines?|performs?|configures?|indicates?|causes?|enables?|disables?|allows?)\b"
)
PASSIVE = re.compile(r" (?!(?:called|known|defined|described|meant|made|composed)\b)(?:\w+ly )?\w{2,}ed\b")
"""`is invoked`: says what is done with a thing, not what it is."""
PASSIVE_DEFINES = 0.5
SAID_ELSEWHERE = re.compile(
    r"[(,;] ?(?:see|as described|described|explained) (?:also )?(?:above|below|earlier|later)\b", re.IGNORECASE
)
"""`Sets the state to idle (see above).`: what that means is said elsewhere."""
SIGNATURE = re.compile(r"(?:[\w, ]+ = )?(?P<name>[\w.:]+)\(.*\).*")
"""A function with what it takes: the row of `scale(X, factor)` and of `Y = scale(X, factor)` is that of `scale`."""
PLACEHOLDER = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}")
"""What is to be put in its place where it is said how a thing is written."""
ELSEWHERE = re.compile(r"\s*(?:something|nothing|another|a different)\b", re.IGNORECASE)
"""`means something else`: not what."""
BEGINS_SECTION = 0.8
"""What begins a paragraph of the section that is headed by what is asked for (`Needs Checkout`)."""
DOES = 0.9
SAYS_WHAT_IT_DOES = re.compile(
    r"(?:[A-Z]\w+ly )?[A-Z]?[a-z]+s (?!(?:is|are|was|were|can|could|may|might|must|should|will|would|do|does|have|has|of|and|or"
    r"|that|which|who|in|on|with|for|from|as|at|by|not|cannot|only|when|if|to)\b)[a-z<]"
)
"""`Creates a new section.`, below the name of what does it."""
FROM_ABOVE = 0.5
"""How much a term of the thing counts that only stands above a sentence that says the others."""
WORDS = re.compile(r"\w+")
ASKS = re.compile(r"^(?:.*[,:;] )?(?:what|who) (?:is|are|was|were|does|do|did)\b", re.IGNORECASE)
OF_WHAT = re.compile(r"\b(?:of|in|on|for|mean|stand|do)\b", re.IGNORECASE)
MOST_BEFORE = 4
"""Other words before what defines: in a sentence about the thing it is the subject."""


def fits_definition(asked: Question, statement: Statement) -> float:
    """Whether a statement defines, less where it says that it is said elsewhere."""
    return _defines(asked, statement) * (PASSIVE_DEFINES if SAID_ELSEWHERE.search(statement.text) else 1.0)


def _defines(asked: Question, statement: Statement) -> float:
    """Whether what is asked for (`heartbeat` of `What is the heartbeat of a data source?`) stands before a word that defines."""
    thing = OF_WHAT.split(ASKS.sub("", ROLE_ASKED.sub(r"what \g<asks> \g<thing>mean", asked.text)), maxsplit=1)[0]
    terms = {s for w, s in stems(thing) if s in asked.terms} or asked.terms
    if statement.own_label and {s for _, s in stems(statement.label)} & terms:
        return 1.0
    if any(terms == content_terms(header) for header, value in statement.cells if value):
        return 1.0
    if len(statement.cells) > 1 and {s for _, s in stems(SIGNATURE.sub(r"\g<name>", statement.cells[0][1]))} <= terms:
        return 1.0  # the row of `E11`
    if _is_synopsis(statement.text):
        return 0.0
    if _is_named(statement.heading, asked):
        if SAYS_WHAT_IT_DOES.match(statement.text):
            return DOES
        if not statement.before:
            return BEGINS_SECTION
    match = DEFINES.search(statement.text)
    if match is None or not terms:
        return 0.0
    if ELSEWHERE.match(statement.text, match.end()):
        return 0.0
    if PASSIVE.match(statement.text, match.end()):
        return PASSIVE_DEFINES
    said_before = {s for _, s in stems(statement.text[: match.start()])}
    if len(said_before) > len(terms) + MOST_BEFORE:
        return 0.3
    # The rest of what is asked for may be what it stands below: `A value of zero means no limit.`
    headed = {s for _, s in stems(statement.label or statement.heading)}
    above = headed - said_before if headed <= terms else set()
    return (len(said_before & terms) + FROM_ABOVE * len(above)) / len(terms) if said_before & terms else 0.0


def _is_synopsis(text: str) -> bool:
    """Whether a line only says how a thing is written, `<label> FILL <value>[, <value>]`: a name and what is to be put there."""
    rest = text
    while (shorter := PLACEHOLDER.sub(" ", rest)) != rest:
        rest = shorter
    return rest != text and len(WORDS.findall(rest)) <= 1


def _is_named(heading: str, asked: Question) -> bool:
    """Whether a question has a heading's words as they stand there."""
    return bool(heading) and re.search(rf"(?<!\w){re.escape(heading)}(?!\w)", asked.text, re.IGNORECASE) is not None
