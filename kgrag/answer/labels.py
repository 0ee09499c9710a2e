"""Terms: what a line, an item or a row begins with, which it and what stands below it are about; and which of them are properties.

`buffer-limit: ...`, `-t threads  ...`, `max-time - ...`; `Default: 60` is a property of the term before, or of what is described below.
"""

from __future__ import annotations

import re

from kgrag.text.name_shapes import identifiers
from kgrag.text.sentences import Sentence

__all__ = [
    "ASKED_MARK",
    "BEGINS_THING",
    "DESCRIBES",
    "MAX_FIELD_WORDS",
    "PROPERTY",
    "SAYS_OF_ROW",
    "defined_by",
    "is_synopsis",
    "label_of",
    "may_be_example",
    "named_by_field",
    "term_alone",
    "values_of",
]

QUOTES = "'‘’`"
WITHIN_NAME = re.compile(r"\w[-_.]\w")
LABEL = re.compile(
    r"(?P<label>[^\s:.!?](?>\([^()\n]{1,60}\)|[^:.!?\[]|::?(?=[A-Za-z_])|\[[^\]\n]{0,30}\]|\[){0,70}?|[^\s:]{1,60}):\s+(?=\S)"
)
OPTION = re.compile(
    r"(?P<label>[-−‐]{1,2}[A-Za-z][\w-]*(?:[ =,/]{1,2}(?:[-−‐]{1,2}[A-Za-z][\w-]*|[<\[{][^>\]}]*[>\]}]+))*)\s+(?=[A-Z(:\w])"
)
_OPTION_NAME, _IN_BRACKETS, _IN_CAPITALS = (
    r"[-−‐]{1,2}[A-Za-z][\w-]*",
    r"(?:<[^<>\n]{1,40}>|\[[^\[\]\n]{1,40}\])",
    r"[A-Z][A-Z_]+",
)
# Capitals right behind a name are of the name: else there were as many ways to read them as they can be divided.
_OPTION_FORM = rf"{_OPTION_NAME}(?:[ =]?{_IN_BRACKETS}(?:{_IN_CAPITALS})?|[ =]{_IN_CAPITALS})*"
PLAIN_OPTIONS_ALONE = re.compile(rf"(?P<label>{_OPTION_FORM}(?:(?:, ?| or | \| | ){_OPTION_FORM})*)")
"""A line of nothing but an option in its forms: `-m, --memory <size>`."""
MIN_WORDS_BELOW = 4
"""What is said of an option in the line below it: so many words, or a sentence. Else it may be a heading."""
_QUOTED_OPTION = r"[‘'\"“](?P<{}>--?[A-Za-z][^’'\"”\n]*)[’'\"”]"
OPTIONS_ALONE = re.compile(rf"{_QUOTED_OPTION.format('label')}(?:[\s,/]+(?:or )?{_QUOTED_OPTION.format('other')})*")
_TYPE = r"(?:value|number|integer|string|text|word|filename|file|directory|folder|path|list|name|seconds|boolean|yes|no|on|off|true|false)"
SETTING_ALONE = re.compile(
    r"(?P<label>[A-Za-z][\w.-]+)\s?=\s?(?:(?:\d digit )?number"
    rf"|(?!(?:yes|no|on|off|true|false)\.?$){_TYPE}(?:[/|]{_TYPE})*|(?!on|off|yes|no)[A-Z]*|<[^<>]+>|\{{[^{{}}]+\}})\.?"
)
"""A line of nothing but options in quotation marks, or a setting without its value: what the paragraphs below it are about."""
EXAMPLE_ALONE = re.compile(r"[\w.-]+\s?=\s?[A-Z]+\.?")
"""A setting whose value may be one, and not a word for one, `folders = ALL`."""
ASSIGNED = re.compile(r"[\w.-]+\s?=")
TERM_ALONE = re.compile(
    r"(?P<label>(?:[A-Z][a-z]+[A-Z]\w*|\w{1,60}_\w{1,60}|--?[A-Za-z][\w-]{0,60})(?: [\w<>\[\]|.-]{1,60}){0,3}):"
)
"""The term of a definition that is said below it, or below its other forms: `AutoPurgeJobs Yes:`, `AutoPurgeJobs No:`."""
NAME_WITH_REMARK = re.compile(r"(?P<label>(?=\w*[_.-]\w)[\w.-]+) \((?:[^()\n]|\([^()\n]{0,60}\)){61,200}\):\s+(?=\S)")
"""A name and a long remark in brackets before the colon: `title-format (parameters: ..., by default ...): ...`."""
PROPERTIES_BELOW = re.compile(r"(?P<label>[\w.<>\[\]|-]{1,60}(?: [\w.<>\[\]|-]{1,60}){0,3}):")
DEFAULT_BELOW = re.compile(r"(?:defaults?|type|syntax|usage): \S", re.IGNORECASE)
"""A term above properties of it: `string charset:` above `Default: auto`."""
DASH = re.compile(r"(?P<label>(?:[`\"“‘']?[%$@]?[\w./-]*[\w][`\"”’']?)(?: \([^()\n]{1,30}\))?) [-–—] (?=[\w(])")
"""An item that begins with a name and a dash: `max-time - the longest time that ...`."""
NAME_BEFORE_SENTENCE = re.compile(r"(?P<label>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+) (?=[A-Z][a-z]* [a-z])")
"""A setting and then what is said of it, which a colon or a line may have parted: `max_idle This setting is only for servers.`"""
COLUMN = re.compile(r"(?P<label>\S(?:[^\n]{0,40}?\S)?) {3,}(?=\S)")
"""A listing in columns: what stands left says what the rest is about."""
CLAUSE = re.compile(
    r"(?:if|when|while|now|here|there|thus|so|then|also|because|since|although|unless|and|but|or|this|these|you|we|it|they)(?: \S+){3,}",
    re.IGNORECASE,
)
"""A line that a colon ends in mid-sentence (`Now a request with a Content-Encoding: gzip header is ...`): no term stands before it."""
ENDS_IN_FIELD_NAME = re.compile(r"\w (?:an?|the) [A-Z]\w*(?:-[A-Z]\w*)+$")
"""`Bounces have an X-Failed-Recipients: header that ...`: the colon is the name's."""
ENUMERATED = re.compile(r"[<{\[][\w-]+(?: ?\| ?[\w-]+)+[>}\]]")
MAX_LABEL_WORDS = 9
MAX_FIELD_WORDS = 6
"""A label with so few words is a field of a record (`Module: mod_auth`): no paragraph below it is about it."""
PROPERTY = re.compile(
    r"(?:(?:the )?(?:(?:default|allowed|possible|valid|initial|factory|recommended)s?\b"
    r"|(?:type|range|units?|value|min|max|minimum|maximum|effect)\b)"
    r"(?![-_.]\w)"
    r"|(?:specifies|description|notes?|examples?|context|format|scope|since|available|availability|required|optional)$"
    r"|(?:syntax|synopsis|usage|operation|directive)$)",
    re.IGNORECASE,
)
"""A label that names no thing but what is said of one (`Default value: 60`): of what stands before it under the same heading."""
ASKED_MARK = re.compile(r"(?:Q(?:uestion)?\s?\d*|\d{1,3}(?:\.\d{1,3})*)[.:)]\s+", re.IGNORECASE)
"""Before a question of a list of questions and answers: `Q: `, `Q. `, `3.1. `."""
ASKED_TERM = re.compile(rf"(?P<label>{ASKED_MARK.pattern}[^\n]{{3,400}}?\?): (?=\S)", re.IGNORECASE)
BEGINS_THING = re.compile(
    r"(?:syntax|synopsis|usage|operation|directive): (?P<name>[A-Za-z][\w.-]*\w)(?=\s|$)", re.IGNORECASE
)
"""A first property that has the name of a further thing, whose other properties and description follow: `Syntax: max-items <number>`."""
SAYS_OF_ROW = re.compile(r"(?:description|meaning|explanation|details?|purpose)", re.IGNORECASE)
"""The column of a table that says what the first cell of a row means."""
MAX_NAME_WORDS = 4
DESCRIBES = re.compile(r"(?:specifies|description)$", re.IGNORECASE)
"""A property that says what its thing is, and so what the others are of."""


def label_of(text: str) -> str:
    """Return the term that a text begins with, also a question as the term of its answer; empty where it begins with none."""
    if asked := ASKED_TERM.match(text):
        return asked["label"]
    match = (
        COLUMN.match(text)
        or _dashed(text)
        or NAME_BEFORE_SENTENCE.match(text)
        or NAME_WITH_REMARK.match(text)
        or LABEL.match(text)
        or OPTION.match(text)
    )
    label = " ".join(match["label"].split()) if match else ""
    is_within_brackets = label.count("(") > label.count(")")
    is_clause = CLAUSE.match(label) or ENDS_IN_FIELD_NAME.search(label) or is_within_brackets
    return label if len(label.split()) <= MAX_LABEL_WORDS and not is_clause else ""


def _dashed(text: str) -> re.Match[str] | None:
    """A name before a dash: one word that is an identifier, or is written small."""
    match = DASH.match(text)
    return match if match and (text[0].islower() or text[0] in "%$@" or identifiers(match["label"])) else None


def term_alone(line: str, *, below: str, in_list: bool) -> str:
    """Return the term of a line of nothing else, which is what the paragraphs `below` it are about; empty for any other line.

    What ends in a colon in a list announces what is below it.
    """
    if may_be_example(line) and (not below or ASSIGNED.match(below)):
        return ""  # A line of settings, of which nothing is said.
    match = OPTIONS_ALONE.fullmatch(line) or SETTING_ALONE.fullmatch(line)
    if match is None and not in_list and _describes_option(below):
        match = PLAIN_OPTIONS_ALONE.fullmatch(line)
    if match is None and not in_list:
        match = TERM_ALONE.fullmatch(line)
    if match is None and not in_list and DEFAULT_BELOW.match(below) and not CLAUSE.match(line):
        match = PROPERTIES_BELOW.fullmatch(line)
    return match["label"] if match else ""


def may_be_example(line: str) -> bool:
    """Whether a line may set a value, and not say of what sort the value is."""
    return EXAMPLE_ALONE.fullmatch(line) is not None


def named_by_field(text: str, label: str) -> str:
    """Return the name that a field is: `timeout` of `Attribute: timeout`; empty where it is more than a name."""
    value = text.removeprefix(label).removeprefix(":").strip()
    is_name = text.startswith(f"{label}:") and 0 < len(value.split()) <= MAX_NAME_WORDS and value[-1] not in ".:;!?"
    return value if is_name else ""


def _describes_option(line: str) -> bool:
    said = len(line.split()) >= MIN_WORDS_BELOW or line.endswith(".")
    return said and not line.startswith(("-", "|")) and not PLAIN_OPTIONS_ALONE.match(line)


def defined_by(row: Sentence) -> str:
    """The first cell of a row that says what it is: one of two cells in a table without a header; else nothing."""
    if len(row.cells) != 2 or any(header for header, _ in row.cells):
        return ""
    term = row.text.partition(": ")[0]
    return term if len(term.split()) <= MAX_LABEL_WORDS else ""


def values_of(label: str) -> frozenset[str]:
    """Return the values that a setting's term enumerates: `off` and `internal` of `Forwarding = <off|internal> (internal)`."""
    match = ENUMERATED.search(label)
    return frozenset(value.strip() for value in match[0].strip("<>{}[]").split("|")) if match else frozenset()


def is_synopsis(text: str, label: str) -> bool:
    """Whether a name is only followed by how it is written: `'pwd': pwd [-LP]`, `The lease-time statement: lease-time time;`."""
    first = text.removeprefix(label).lstrip(": ").split(" ")[0]
    is_named = WITHIN_NAME.search(first) and first in (word.strip(QUOTES) for word in label.split())
    return first == label.strip(QUOTES) or bool(is_named)
