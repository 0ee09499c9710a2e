"""What a question asks for: its telling words, the names in it, and the shape that an answer must have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kgrag.text.name_shapes import NAME

__all__ = ["Asked", "read_question", "stem", "stems"]

WORD = re.compile(r"[^\W_]+(?:[.,'’][^\W_]+)*")
ASKING = """
    a an the this that these those some any all both each every either neither no not only just also too than then
    so such and or but if as of in on at to from by with for about into onto over under between among per via
    against without within is are was were be been being am do does did done have has had having can could may
    might must shall should will would what which who whom whose when where why how there here it its they their
    them he she his her him i you your we our my me us one much many more most less least very out up down off
    again same other another please tell give name list describe explain summarize summarise summary provide short
    sentence compare comparison regarding concerning according document documents documentation documented
    provided mean means meaning refer refers referring used use uses using
"""
FUNCTION_WORDS = frozenset(ASKING.split())
"""Words that ask rather than say what is asked for."""
SUFFIXES = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e", "y")
SHORTEST_STEM = 3

DIMENSIONS = {
    "voltage": "voltage", "volt": "voltage", "current": "current", "power": "power", "wattage": "power", "temperature": "temperature",
    "frequency": "frequency", "clock": "frequency", "rate": "frequency", "memory": "data", "flash": "data", "ram": "data",
    "sram": "data", "eeprom": "data", "storage": "data", "bits": "data", "bit": "data", "pressure": "pressure", "humidity": "humidity",
    "weight": "mass", "weigh": "mass", "mass": "mass", "heavy": "mass", "distance": "length", "length": "length", "width": "length",
    "height": "length", "far": "length", "tall": "length", "long": "time", "duration": "time", "latency": "time", "delay": "time",
    "resistance": "resistance", "capacitance": "capacitance", "inductance": "inductance", "charge": "charge", "angle": "angle",
    "area": "area", "speed": "speed",
}  # fmt: skip
"""A word of the question to what the quantity of its answer measures."""
ALSO = {
    "frequency": ("frequency", "data rate"), "speed": ("speed", "frequency", "data rate"), "humidity": ("humidity", "share"),
    "power": ("power", "current"), "time": ("time", "length"),
}  # fmt: skip
MEASURE_WORDS = re.compile(
    r"\b(?:range|resolution|accuracy|tolerance|depth|size|capacity|speed|minimum|maximum|min|max|value|rating"
    r"|how (?:much|fast|high|low|long|far|heavy|large|big|hot|cold|wide|deep))\b",
    re.IGNORECASE,
)
QUOTED = re.compile(r"[\"“”]([^\"“”]{2,60})[\"“”]|(?<!\w)['‘]([^'‘’]{2,60})['’](?!\w)")
SENTENCE_START = re.compile(r"(?:^|[.?!])\s*$")
SUMMARY = re.compile(
    r"\b(?:summar|overview|describe|compare|comparison|differ\b|differences?\b|features|capabilit|functionalit|list|advantages|steps)",
    re.IGNORECASE,
)
ASKS_FOR_A_THING = re.compile(r"\b(?:which|what) (?:boards?|sensors?|products?|modules?|devices?)\b")
WHY = re.compile(r"\bwhy\b|\breason\b|\bexplain\b", re.IGNORECASE)
HOW_TO = re.compile(r"^how (?:do|can|to|should|is|are|does)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read.

    `terms` are the stems of its telling words, `subject_terms` those of them that its names have; `names` what it names, as written;
    `dimensions` what a quantity in the answer would measure (empty: none is asked for; ("",): any); `kind` is who, when, where, count,
    quantity, why, summary or plain.
    """

    text: str
    terms: frozenset[str]
    subject_terms: frozenset[str]
    names: tuple[str, ...]
    kind: str
    dimensions: tuple[str, ...] = ()


def read_question(question: str) -> Asked:
    """Read a question."""
    terms = frozenset(s for word, s in stems(question) if word not in FUNCTION_WORDS)
    names = tuple(dict.fromkeys(_names(question)))
    words = [word.casefold() for word in WORD.findall(question)]
    kind, dimensions = _kind(question, words)
    subject_terms = terms & {s for name in names for _, s in stems(name)}
    return Asked(question, terms, subject_terms, names, kind, dimensions)


def stems(text: str) -> list[tuple[str, str]]:
    """The words of a text, folded, each with its stem."""
    return [(word, stem(word)) for word in (w.casefold() for w in WORD.findall(text))]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Cut the commonest English endings, so that `measures`, `measured` and `measuring` meet; a word with a digit stays."""
    word = word.removesuffix("'s").removesuffix("’s")
    if not word.isalpha():
        return word
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= SHORTEST_STEM:
            return word[: -len(suffix)]
    return word


def _kind(question: str, words: list[str]) -> tuple[str, tuple[str, ...]]:
    text = question.casefold()
    named = [DIMENSIONS[word] for word in words if word in DIMENSIONS]
    measured = tuple(dict.fromkeys(d for dimension in named for d in ALSO.get(dimension, (dimension,))))
    if SUMMARY.search(text):
        return "summary", ()
    if WHY.search(text):
        return "why", ()
    if "how many" in text:
        return "count", ()
    if (
        measured
        and re.search(r"\b(?:what|which|how)\b", text)
        and not re.search(r"\b(?:which|what) (?:board|sensor|product|module|device)", text)
    ):
        return "quantity", measured
    if MEASURE_WORDS.search(text) and re.match(r"(?:what|how)\b", text):
        return "quantity", ("",)
    for word, kind in (("who", "who"), ("whom", "who"), ("whose", "who"), ("when", "when"), ("where", "where")):
        if word in words:
            return kind, ()
    return ("when", ()) if re.search(r"\b(?:what|which) (?:year|date|day|month)\b", text) else ("plain", ())


def _names(question: str) -> Iterator[str]:
    for match in QUOTED.finditer(question):
        yield (match[1] or match[2]).strip()
    for match in NAME.finditer(question):
        name = match.group().rstrip(".,")
        if SENTENCE_START.search(question, 0, match.start()):
            # The first word of a sentence has its capital from there.
            word, _, rest = name.partition(" ")
            if word.casefold() in FUNCTION_WORDS or (word[1:].islower() and not rest):
                name = rest
        if len(name) > 1 and name.casefold() not in FUNCTION_WORDS:
            yield name
