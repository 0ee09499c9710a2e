"""Defaults and limits: what a question for one says, and what a statement says beside the value."""

from __future__ import annotations

import re

from kgrag.answer.statement import Statement
from kgrag.text.answer_shapes import WHEN_UNSET
from kgrag.text.name_shapes import IDENTIFIER
from kgrag.text.numerals import COUNT_BY_WORD
from kgrag.text.questions import Question

__all__ = [
    "ABBREVIATED_DEFAULT",
    "BARE_DEFAULT",
    "DEFAULT_SAID",
    "DIGITS",
    "NO_VALUE",
    "NUMBER",
    "OF_DEFAULT",
    "SAYS_DEFAULT",
    "SETTING_WORD",
    "asks_default",
    "asks_limit",
    "cued",
    "is_cue_asked",
    "is_of_another_cue",
    "is_of_limit_asked",
]

_NO_PRONOUN = "".join(
    rf"(?<!\b{word} )"
    for word in "a the this that each every which any new old same other another right wrong default first last".split()  # noqa: SIM905
)
"""`a new one`, `the default one`: no number."""
NUMBER = re.compile(
    r"(?<![\w.])[-+]?\d[\w.,]*|\b0x[0-9a-fA-F]+\b"
    rf"|{_NO_PRONOUN}\b(?!one(?:[^\w ]|$| (?:of|is|or|and|that|who|which|can|may)\b))(?:{'|'.join(COUNT_BY_WORD)}|zero|half)\b",
    re.IGNORECASE,
)
"""A number, in digits or a word; not the pronoun `one`."""
_ABBREVIATED = r"[(\[](?:def|dflt|deflt)\b"
ABBREVIATED_DEFAULT = re.compile(_ABBREVIATED, re.IGNORECASE)
"""`Low, Medium (def.), High`, `(def. 20)`: how usages of programs write it."""
SAYS_DEFAULT = re.compile(rf"\bdefault(?:s|ed)?\b|\bnormally\b|\binitially\b|{_ABBREVIATED}", re.IGNORECASE)
DIGITS = re.compile(
    r"\b(?:ports?|limit|maxim\w+|minim\w+|at most|at least|how (?:many|often|long|large|big))\b", re.IGNORECASE
)
"""What only a number answers; a default or a value may also be a word."""
SETTING_WORD = re.compile(
    r"\b(?:on|off|yes|no|none|true|false|enabled|disabled|unlimited|all|any|unset)\b", re.IGNORECASE
)
CUES = (
    (
        re.compile(rf"\bdefault|{WHEN_UNSET.pattern}", re.IGNORECASE),
        re.compile(
            r"\bdefault(?:s|ed|ing)?\b|\b(?:if|when|unless)\b[^.,]{0,40}\b(?:not|no|un)\w*|\bunset|\bfactory|\bassume"
            rf"|{_ABBREVIATED}",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"\bmaximum|\b(?:great|larg|high|bigg|long)est\b|\bat most|\blimit"
            r"|\bhow (?:big|long|large|many|much|deep|high)\b.*\b(?:can|may|could|be)\b|\bmax\b|\bup to\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\bmaxim|\bmax\b|\ballowed\b|\brange\b|\bvalid\b|\bat most|\blimit|\bup to\b|\bno more\b|\bmore than|\bless than|\bexceed"
            r"|\bbetween\b|\bcannot\b|\bonly\b|\bexactly\b|\bmust\b|\bto \d",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\bminimum|\b(?:small|low|short|old|earli|slow)est\b|\bat least\b|\bmin\b", re.IGNORECASE),
        re.compile(
            r"\bminim|\bmin\b|\ballowed\b|\brange\b|\bvalid\b|\bat least\b|\bno less\b|\bor (?:newer|later|higher|above|more)\b",
            re.IGNORECASE,
        ),
    ),
)
"""What a question for a default or limit says, and what a statement says beside the value."""
DEFAULT_SAID = re.compile(
    r"\bdefault(?: (?:value|setting|mode|level|format|type))?(?: is|:| =) [\"“‘']?[\w./-]+[\"”’']?(?:[.;,)]|$)"
    r"|\bdefault (?:(?:[\w-]+ )?for|value of) [^.;:]{3,50}? is [\"“‘']?(?!to |the |an? |not )[\w./-]+"
    r"|\b(?:as|to) [\"“‘']?(?!the |an? |it |this )[\w./-]+[\"”’']? by default\b"
    r"|\b(?:is|are) set to [\"“‘']?(?!the |an? |it |this )[\w./-]+[\"”’']? (?:if|when|unless)\b"
    r"|\bdefault is to use (?!the |an? )[\w./-]+|\b[\w./-]+[\"”’']? is (?:used|assumed|taken) (?:if|when|unless) \w"
    r"|\bby default,? (?:the |an? )?[^.;,]{2,60} (?:is|are) (?:used|assumed|taken|chosen)\b"
    r"|\bdefaults? to [\"“‘']?(?!the |an? |not )[\w./-]+[\"”’']?(?:[.;,)]|$)"
    r"|(?:^|[.:;(] ?)[\"“‘']?(?!this\b|that\b|it\b|which\b|there\b)[\w./-]+[\"”’']? is (?:the|used by) default\b(?! \w+ (?:for|of|to)\b)",
    re.IGNORECASE,
)
"""`The default value is info.`, `The default path for builds is /usr/lib, while ...`, `It defaults to gre.`"""
BARE_DEFAULT = re.compile(r"\bdefault(?:s to| value is| is|:| =) ?[\"“‘']?\d+\b", re.IGNORECASE)
DEFAULT_IN_BRACKETS = re.compile(r"[\w.-]+\s?=\s?(?:<[^<>]+>|\[[^\[\]]+\]|\{[^{}]+\}|[A-Z]+) \([^()\s]+\)")
"""`Port = <PORT> (655)`: a setting, what it takes, and its default."""
NO_VALUE = re.compile(r":\s*(?:none|nothing|n/a|-|unset|empty)\W*$", re.IGNORECASE)
OF_DEFAULT = re.compile(r"default", re.IGNORECASE)
"""A setting's value is its default, whatever unit another property says."""
NEAR_CHARACTERS = 60


def asks_default(asked: Question) -> bool:
    """Whether a question asks for what holds where nothing is set."""
    return CUES[0][0].search(asked.text) is not None


def asks_limit(asked: Question) -> bool:
    """Whether a question asks for a default or a limit."""
    return any(asks.search(asked.text) for asks, _ in CUES)


def is_cue_asked(asked: Question, label: str) -> bool:
    """Whether a property's label says the default or the limit that a question asks for."""
    return any(asks.search(asked.text) and asks.match(label) for asks, _ in CUES)


def is_of_another_cue(asked: Question, label: str) -> bool:
    """Whether a property is a limit where the default is asked for, or the other way round."""
    wanted = [asks for asks, _ in CUES if asks.search(asked.text)]
    return bool(wanted) and any(asks.match(label) for asks, _ in CUES) and not any(asks.match(label) for asks in wanted)


def is_of_limit_asked(asked: Question, statement: Statement) -> bool:
    """Whether a property is of a setting that is itself the limit asked for: the default of `recipients_max`."""
    above = f"{statement.heading} {statement.owner} {statement.before}".replace("_", " ")
    return any(asks.search(asked.text) and said.search(above) for asks, said in CUES)


def cued(asked: Question, statement: Statement, without: float) -> float:
    """1 where a value stands near the words that a default or limit has, `without` where it stands far from them or there are none."""
    wanted = [said for asks, said in CUES if asks.search(asked.text)]
    if not wanted:
        return 1.0
    if asks_default(asked):
        if statement.own_label and DEFAULT_IN_BRACKETS.fullmatch(statement.label):
            return 1.0
        wanted = wanted[:1]  # The default of what may be set: no limit.
    text = statement.text
    values = [m.span() for pattern in (NUMBER, SETTING_WORD, IDENTIFIER) for m in pattern.finditer(text)]
    above = f"{statement.heading} {statement.label}"
    near = sum(
        said.search(above) is not None
        or any(
            a - NEAR_CHARACTERS < m.end() and m.start() < b + NEAR_CHARACTERS
            for m in said.finditer(text)
            for a, b in values
        )
        for said in wanted
    )
    return without + (1.0 - without) * near / len(wanted)
