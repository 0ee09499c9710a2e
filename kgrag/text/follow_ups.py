"""A question that leans on the turns before it, completed by rules so that it can be asked alone.

`And the X-1000?` after `Which supply voltage does the X-100 need?` asks for the supply voltage of the X-1000; `How heavy is it?` after that
asks for the weight of the X-1000. What the turns before named is carried over where a question names nothing; a question that only names
something takes the words of the last one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.text.courtesies import without_courtesies
from kgrag.text.names import normal_form
from kgrag.text.negation import negates
from kgrag.text.questions import names_of_question
from kgrag.text.words import ASKING_WORDS, FUNCTION_WORDS, plain, stems, words

__all__ = ["Completed", "complete_question", "questions_asked", "unfaithful"]

LOOK_BACK = 4
"""Turns that are looked at for a name."""
MAX_CARRIED = 2
"""Names that are carried over."""
MAX_ADDED_CHARACTERS = 300
ANOTHER = re.compile(
    r"^\s*(?:and|but|or|so|ok(?:ay)?|now|then)?[\s,]*(?:what|how)\s+about\b|^\s*(?:and|or)\b(?!\s+(?:what|which|who|where|when|why|how|is|are|does|do|can|"
    r"could|should|will|would|has|have|did|was|were)\b)|^\s*(?:and|or)\s+(?:for|of|on|in|with)\b|^\s*(?:(?:the )?same )(?:for|of|with)\b",
    re.IGNORECASE,
)
"""How a question begins that asks the last one of something else."""
OPENING = re.compile(
    r"^\s*(?:(?:and|but|or|so|ok(?:ay)?|now|then)[\s,]+)*(?:(?:what|how)\s+about\s+|(?:the\s+)?same\s+)?"
    r"(?:(?:that|those|the\s+ones?)\s+)?(?:for|of|on|in|with)?\s*",
    re.IGNORECASE,
)
JOINING = re.compile(r"^\s*(?:and|but|so|ok(?:ay)?|now|then)[\s,]+", re.IGNORECASE)
POSSESSIVE = re.compile(r"\b(its|their)\b", re.IGNORECASE)
PRONOUN = re.compile(
    r"\b(?:it|they|them|this one|that one|(?<!after )(?<!before )(?:that|this)(?=\s*[?.!]*$))\b", re.IGNORECASE
)
IMPERSONAL = re.compile(
    r"\b(?:is|was|does|will|would|can|could|may|might)\s+it\s+(?:mean|matter|possible|necessary|okay|safe to)\b",
    re.IGNORECASE,
)
DEMONSTRATIVE = re.compile(
    r"\b(?:this|that|these|those|the(?: same)?)\s+"
    r"(boards?|devices?|sensors?|modules?|products?|controllers?|carriers?|units?|kits?|shields?|one)\b",
    re.IGNORECASE,
)
ASKED_FOR = re.compile(
    r"^\W*(?:(?:and|but|so)\W+)?(?:\w+\s+)?(?:which|what|how\s+(?:much|many))\s+.*?\b(?:is|are|was|were|does|do|did|has|have|can|could|may|"
    r"might|must|should|will|would)\b",
    re.IGNORECASE,
)
"""What is asked for, up to the verb: `Which LoRa module does`. A name in it is a property, where a pronoun is the subject."""
ALIKE = re.compile(r"\b(?:instead|the\s+same)\b|\b(?:as\s+well|too|likewise)\s*[?.!]*$", re.IGNORECASE)
"""How a question ends that asks of something else what the last one asked: `Does the X-1000 have the same?`."""
CLAUSE = re.compile(r",\s*(?:what|which|who|where|when|why|how|is|are|does|do|can)\b", re.IGNORECASE)
AMOUNT = re.compile(r"^\W*(?:(?:and|but|so)\W+)?how\s+(?:much|many)\s+(?=(?:does|do|has)\b.*\bhave\W*$)", re.IGNORECASE)
AMOUNT_OF = re.compile(r"^\W*how\s+(?:much|many)\s+(?P<what>.+?)\s+(?:does|do|is|are|has|have|can)\b", re.IGNORECASE)
_BY_WORD = r"(?:what|which|who|where|when|why|how)\b"
_BY_VERB = r"(?:is|are|was|were|do|does|did|can|could|may|might|must|should|will|would|has|have)\b"
NEXT_QUESTION = re.compile(
    rf"\?\s+(?:(?:and|also|but|or)\s+)*(?=(?:{_BY_WORD}|{_BY_VERB}))|,?\s+and\s+(?:also\s+)?(?={_BY_WORD}(?: [\w-]+){{0,4}}? {_BY_VERB})",
    re.IGNORECASE,
)
"""Between two questions in one: `... of the X-100? And can it ...`, `... and how much flash does it have?`."""
ASKS = re.compile(rf"{_BY_WORD}|{_BY_VERB}", re.IGNORECASE)
LEANS = re.compile(r"\b(?:it|its|they|them|their|he|she|him|his|her)\b", re.IGNORECASE)
MOST_QUESTIONS, LEAST_WORDS = 3, 3
UNNAMING = frozenset(
    {
        *(
            "i",
            "i2c",
            "spi",
            "uart",
            "usb",
            "can",
            "gpio",
            "pwm",
            "adc",
            "dac",
            "ram",
            "sram",
            "flash",
            "eeprom",
            "led",
            "leds",
        ),
        *(
            "wi-fi",
            "wifi",
            "bluetooth",
            "ble",
            "dc",
            "ac",
            "ip",
            "id",
            "pdf",
            "hz",
            "v",
            "a",
            "ma",
            "gps",
            "gnss",
            "imu",
            "rgb",
            "cpu",
        ),
        *(
            "mcu",
            "rtc",
            "poe",
            "ethernet",
            "ip67",
            "ce",
            "fcc",
            "rohs",
            "tls",
            "mqtt",
            "ssid",
            "http",
            "modbus",
            "rs485",
            "rs-485",
        ),
        *("jtag", "swd", "vin", "gnd", "ok"),
    }
)
"""Capitals that name a property and no product: a question with only these still lacks what it is about."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A question that can be asked alone, and what was carried over (nothing: it is as it was written)."""

    text: str
    carried: tuple[str, ...] = ()
    note: str = ""
    """How it was completed, where that is not by rules alone."""


def complete_question(question: str, turns: Sequence[str], *, product: str | None = None) -> Completed:
    """Complete a question from the turns before it (completed questions, oldest first), or from a chosen product.

    A question without turns and without a product is never changed, nor is one that names what it is about.
    """
    before = [turn for turn in turns[-LOOK_BACK:] if turn.strip()]
    asked = " ".join((without_courtesies(question) if before else question).split())
    own = _subjects(asked)
    if before and ANOTHER.search(asked) and not _has_verb(asked) and not (own and CLAUSE.search(asked)):
        swapped = _asked_of(before[-1], OPENING.sub("", asked), own)
        if swapped is not None:
            return swapped
    if before and own and ALIKE.search(asked):
        swapped = _asked_of(before[-1], own[-1], own[-1:])
        if swapped is not None:
            return swapped
    if before and own and (opening := AMOUNT.search(asked)) and (amount := AMOUNT_OF.search(before[-1])):
        return Completed(f"{asked[: opening.end()]}{amount['what']} {asked[opening.end() :]}", (amount["what"],))
    if own and not (before and _is_of_another(asked)):
        return Completed(asked)
    carried = next((names for turn in reversed(before) if (names := _asked_about(turn))), ())[:MAX_CARRIED]
    if not carried and product:
        carried = (product,)
    if not carried:
        return Completed(asked)
    return Completed(_about(asked, carried), carried)


def questions_asked(question: str) -> tuple[str, ...]:
    """Return the questions that are asked in one, each so that it can be asked alone; the question itself where it is one, or they cannot.

    `What is the RAM of the X-100, and what does it weigh?` → the first, and `What does the X-100 weigh?`.
    """
    parts = [part.strip() for part in NEXT_QUESTION.split(question)]
    if not 1 < len(parts) <= MOST_QUESTIONS or not all(
        ASKS.match(part) and len(part.split()) >= LEAST_WORDS for part in parts
    ):
        return (question,)
    asked: list[str] = []
    for part in parts:
        completed = complete_question(f"{part.rstrip('?.! ')}?", asked)
        if LEANS.search(completed.text):
            return (question,)
        asked.append(completed.text)
    return tuple(asked)


def unfaithful(completed: str, question: str, turns: Sequence[str]) -> str:
    """Return why somebody else's completion of a question may not be asked; empty where it may.

    It asks something, and not what a turn asked before; it says nothing that neither the question nor a turn said, and all that the
    question names, numbers and denies.
    """
    if not completed or len(completed) > len(question) + MAX_ADDED_CHARACTERS or "\n" in completed:
        return "it is no single question"
    known = {stem for said in (question, *turns) for _, stem in stems(said)}
    added = [word for word, stem in stems(completed) if stem not in known and word not in FUNCTION_WORDS | ASKING_WORDS]
    if added:
        return f"it says {added[0][:40]!r}, which nobody asked"
    names, own = _names(completed), _names(question)
    if not any(plain(word) not in FUNCTION_WORDS | ASKING_WORDS for word in words(completed)):
        return "it asks nothing"
    if invented := names.keys() - own.keys() - {normal for turn in turns for normal in _names(turn)}:
        return f"it names {names[min(invented)][:40]!r}, which nobody asked"
    if lost_names := own.keys() - names.keys():
        return f"it leaves {own[min(lost_names)][:40]!r} out"
    if lost := {word for word in words(question) if any(map(str.isdigit, word))} - set(words(completed)):
        return f"it leaves {min(lost)[:40]!r} out"
    if negates(question) != negates(completed):
        return "it denies what was asked, or the other way round"
    if completed in turns and any(plain(word) not in FUNCTION_WORDS | ASKING_WORDS for word in words(question)):
        return "it asks what was asked before"
    return ""


def _names(text: str) -> dict[str, str]:
    """Return the names in a question as written, by their normal forms."""
    return {normal_form(name): name for _, _, name in names_of_question(text)}


def _subjects(question: str) -> tuple[str, ...]:
    """Return what a question is about, as far as it names it: names that are more than a property."""
    found = []
    for _, _, name in names_of_question(question):
        if not all(plain(word) in UNNAMING for word in name.split()) and not re.fullmatch(r"[\d.,%]+\w{0,3}", name):
            found.append(name)
    return tuple(dict.fromkeys(found))


def _has_verb(question: str) -> bool:
    """Whether something is asked besides a name: `and what does the X-100 weigh?`."""
    said = [plain(word) for word in words(OPENING.sub("", question))]
    return bool(said) and said[0] in {
        "what",
        "which",
        "who",
        "where",
        "when",
        "why",
        "how",
        "is",
        "are",
        "does",
        "do",
        "can",
        "could",
        "should",
        "has",
        "have",
    }


def _asked_about(question: str) -> tuple[str, ...]:
    """Return the subjects of a question without the properties that it asks for, where it names anything else."""
    asked_for = ASKED_FOR.search(question)
    return _subjects(question[asked_for.end() :] if asked_for is not None else "") or _subjects(question)


def _is_of_another(question: str) -> bool:
    """Whether a pronoun is what a question is about, whatever properties it names: `Which LoRa module does it contain?`."""
    pronoun = POSSESSIVE.search(question) or PRONOUN.search(question) or DEMONSTRATIVE.search(question)
    if pronoun is None or IMPERSONAL.search(question):
        return False
    asked_for = ASKED_FOR.search(question)
    property_until = asked_for.end() if asked_for is not None else 0
    # A name before the pronoun is what it stands for: `Does the X-100 keep its time?`.
    names = names_of_question(question)
    return not any(property_until <= start < pronoun.start() for start, _, name in names if _subjects(name))


def _alike(name: str, other: str) -> tuple[bool, int]:
    """Return how much two names are things of one kind: of one shape, and the letters with which both begin."""
    shape, of_other = (re.sub(r"[a-z]+", "a", re.sub(r"\d+", "0", one)) for one in (name, other))
    shared = next((i for i, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), min(len(name), len(other)))
    return shape == of_other, shared


def _asked_of(last: str, new: str, own: tuple[str, ...]) -> Completed | None:
    """Ask the last question of what the new one says: its name in the place of the last one's, or its words in that of what was asked."""
    new = new.strip(" ?.!")
    subjects = _asked_about(last)
    if not new or not subjects:
        return None
    if own:
        spans = [(start, end, name) for start, end, name in names_of_question(last) if name in subjects]
        start, end = spans[0][0], spans[-1][1]
        if not re.fullmatch(r"(?:\s|,|/|\band\b|\bor\b|\bthe\b|\bto\b)*", _between(last, spans)):
            # They are things of several kinds (a pin of a board): the new one takes the place of what is most like it.
            start, end, _ = max(spans, key=lambda span: _alike(span[2], own[-1]))
        before, after = last[:start], last[end:]
        bare = (
            re.sub(r"^(?:the|an?)\s+", "", new, flags=re.IGNORECASE)
            if re.search(r"(?:\b(?:the|an?)|['’]s?)\s+$", before, re.IGNORECASE)
            else new
        )
        if re.match(rf"\s+{re.escape(bare.split()[-1])}\b", after):  # `the M4 core` for the M7 of an M7 core
            after = after.lstrip()[len(bare.split()[-1]) :]
        text = f"{before}{bare}{after}"
        return Completed(text, (last,))
    return Completed(f"What about {new} of the {' and the '.join(subjects[:MAX_CARRIED])}?", subjects[:MAX_CARRIED])


def _between(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    return "".join(text[end:start] for (_, end, _), (start, _, _) in pairwise(spans))


def _about(question: str, carried: tuple[str, ...]) -> str:
    """Say what a question is about: in the place of a pronoun, else at its end."""
    subject = "the " + " and the ".join(carried)
    text = JOINING.sub("", question) if JOINING.match(question) else question
    text = text[:1].upper() + text[1:]
    if POSSESSIVE.search(text):
        possessive = f"{subject}'s" if not subject.endswith("s") else f"{subject}'"
        return POSSESSIVE.sub(possessive, text, count=1)
    if DEMONSTRATIVE.search(text):
        return DEMONSTRATIVE.sub(subject, text, count=1)
    if PRONOUN.search(text) and not IMPERSONAL.search(text):
        return PRONOUN.sub(subject, text, count=1)
    ending = text[-1:] if text[-1:] in "?!." else "?"
    return f"{text.rstrip('?!. ')}, for {subject}{ending}"
