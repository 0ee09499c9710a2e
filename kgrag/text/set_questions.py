"""Questions that count and list: what they ask about which things, where their wording says so. Without a model.

    How many boards have Wi-Fi?                          things `boards`, aspect `Wi-Fi`
    Which modules draw less than 10 mA?                  things `modules`, aspect `current`, below 10 mA
    Which controller has the largest flash?              things `controller`, aspect `flash`, the most
    What is the supply voltage of each sensor?           things `sensor`, aspect `supply voltage`
    How many products are there per family?              things `products`, in groups

A question that is worded in another way is not read (None): it is answered as any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kgrag.text.answer_shapes import DIMENSIONS
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.questions import MAX_QUESTION_CHARACTERS
from kgrag.text.units import scale
from kgrag.text.words import FUNCTION_WORDS, plain, singular

__all__ = ["GENERIC_NOUNS", "MEASURED_BY", "SAID_AS", "Comparison", "SetQuestion", "compare", "read_set_question"]

Operator = Literal["<", "<=", ">", ">=", "between", "="]
Selection = Literal["all", "most", "least"]

GENERIC_NOUNS = frozenset(
    "board device document item manual model module part product system thing unit variant".split()  # noqa: SIM905
)
"""Nouns that mean whatever the documents are about, where no name or family has them."""

MEASURED_BY = {**DIMENSIONS, "time": "time"}
"""A word of a property to what its amounts measure: `response time` is a time, though `what time` asks for no amount."""
SAID_AS: dict[str, tuple[str, ...]] = {
    "clock": ("clock", "core", "cpu", "processor", "microcontroller", "microprocessor"),
    "weight": ("weight", "weigh", "mass"),
    "ram": ("ram", "sram"),
    "sram": ("sram", "ram"),
    "supply": ("supply", "need", "power"),
    "current": ("current", "consumption", "draw"),
    "temperature": ("temperature", "thermal"),
    "size": ("size", "dimension", "measure"),
}
"""Words that documents say a property by."""
PROPERTY_OF_VERB = {"draw": "current", "consume": "current", "weigh": "weight", "cost": "price"}
PROPERTY_OF_DIMENSION = {"voltage": "supply", "current": "current", "mass": "weight"}
"""What is compared where only an amount is said: `Which sensors need more than 3 V?`"""

MOST = "largest|biggest|highest|greatest|most|maximum|max"
LEAST = "smallest|lowest|least|minimum|min|fewest"
SUPERLATIVES: dict[str, tuple[Selection, str]] = {
    "heaviest": ("most", "weight"), "lightest": ("least", "weight"), "fastest": ("most", "clock"), "slowest": ("least", "clock"),
    "longest": ("most", "length"), "shortest": ("least", "length"), "widest": ("most", "width"), "narrowest": ("least", "width"),
}  # fmt: skip
OPERATORS: tuple[tuple[Operator, str], ...] = (
    ("<=", r"at most|up to|no more than|not more than|not above|not over|a maximum of"),
    (">=", r"at least|no less than|not less than|not below|not under|a minimum of"),
    ("<", r"(?:less|fewer|lower|smaller|lighter|shorter|slower) than|below|under"),
    (">", r"(?:more|greater|higher|larger|bigger|heavier|longer|faster) than|above|over|exceed(?:s|ing)?|beyond"),
    ("between", r"between|from"),
    ("=", r"exactly|equal to|of"),
)
COMPARES = re.compile(
    "|".join(rf"(?P<o{place}>\b(?:{said}))" for place, (_, said) in enumerate(OPERATORS)), re.IGNORECASE
)
AFTER_AMOUNT = re.compile(r"\s*or (?P<which>less|fewer|lower|more|higher|greater)\b", re.IGNORECASE)

_VERBS = (
    *(
        "do not have",
        "does not have",
        "have no",
        "has no",
        "have",
        "has",
        "having",
        "with",
        "without",
        "lacks?",
        "is",
        "are",
    ),
    *(
        "draws?",
        "consumes?",
        "takes?",
        "needs?",
        "requires?",
        "weighs?",
        "supports?",
        "includes?",
        "features?",
        "contains?",
    ),
    *(
        "carry",
        "carries",
        "offers?",
        "provides?",
        "uses?",
        "measures?",
        "withstands?",
        "tolerates?",
        "delivers?",
        "costs?",
    ),
    *("works? (?:at|with)", "runs? (?:at|with|on)", "comes? with"),
)
VERB = "|".join(_VERBS)
HAS = frozenset("have has having support include feature contain carry offer provide use measure with come".split())  # noqa: SIM905
WITHOUT = re.compile(r"do(?:es)? not have|ha(?:ve|s) no|without|lacks?", re.IGNORECASE)
GROUPED = re.compile(
    r",? (?:per|by|for each|for every|in each|in every) (?:product )?(?:family|category|line|kind)\b", re.IGNORECASE
)
NOUN = r"(?P<noun>[\w.+/-]+(?: [\w.+/-]+){0,4}?)"
COUNTS = re.compile(
    rf"(?:how many|(?:what is )?the number of) {NOUN}(?: (?:are|is) there(?: (?:with|that|which))?)?(?: (?P<verb>{VERB})\b(?P<rest>.*))?",
    re.IGNORECASE,
)
CHOOSES = re.compile(rf"(?:which|what)(?: of the)? {NOUN} (?:that )?(?P<verb>{VERB})\b(?P<rest>.*)", re.IGNORECASE)
LISTS = re.compile(
    rf"(?:list|name|show|give)(?: me)?(?: all| every)(?: of)?(?: the)? {NOUN}(?: (?:that |which )?(?P<verb>{VERB})\b(?P<rest>.*))?",
    re.IGNORECASE,
)
ARE_THERE = re.compile(rf"(?:which|what) {NOUN} are there", re.IGNORECASE)
OF_EACH = re.compile(
    r"(?:what (?:is|are)|list|show|give)(?: me)? the (?P<aspect>.+?) (?:of|among|for) "
    r"(?P<each>the|all(?: of)?(?: the)?|each|every|any)(?: of the)? (?P<noun>[\w.+/-]+(?: [\w.+/-]+){0,3})",
    re.IGNORECASE,
)
MAX_NOUN_WORDS, MAX_ASPECT_WORDS = 4, 4
REFERS = re.compile(r"\b(?:it|its|they|them|this|these|that|those|and|or|but|because|when|if|so)\b", re.IGNORECASE)
"""Words of a question with another structure than is read here."""
GENERIC_TAIL = frozenset(
    "capability chip connectivity connector interface module output port slot socket support".split()  # noqa: SIM905
)

NOT_AMOUNTS = frozenset(
    "address code colour color connector family interface manufacturer name number protocol purpose sku type vendor version".split()  # noqa: SIM905
)
"""What of a thing is no amount: a number beside such a word is another one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What an amount must be; `high` only of `between`."""

    operator: Operator
    low: Quantity
    high: Quantity | None = None


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question about every thing of a sort.

    `noun` are the words for the things, as written; `aspect` those for what is asked of them (empty: only which there are). `dimension` is
    what its amounts measure ("" where the aspect is something that a thing has or has not).
    """

    text: str
    noun: tuple[str, ...]
    counts: bool = False
    aspect: tuple[str, ...] = ()
    dimension: str = ""
    measured: bool = False
    """Whether amounts are asked for, even where their dimension is not known."""
    comparison: Comparison | None = None
    select: Selection = "all"
    without: bool = False
    """Whether those are asked for that do not have it."""
    grouped: bool = False


@lru_cache(maxsize=256)
def read_set_question(question: str) -> SetQuestion | None:
    """Read a question that counts or lists; None where its wording is another."""
    text = " ".join(question[:MAX_QUESTION_CHARACTERS].split()).rstrip(" ?.!")
    grouped = GROUPED.search(text) is not None
    text = GROUPED.sub("", text)
    if match := ARE_THERE.fullmatch(text):
        return _read(question, match["noun"], "", "", counts=False, grouped=grouped)
    for pattern, counts in ((COUNTS, True), (LISTS, False), (CHOOSES, False)):
        if match := pattern.fullmatch(text):
            return _read(
                question, match["noun"], match["verb"] or "", match["rest"] or "", counts=counts, grouped=grouped
            )
    if match := OF_EACH.fullmatch(text):
        last = plain(match["noun"].split()[-1])
        many = singular(last) != last or match["each"].casefold() != "the"
        return _of_each(question, match["noun"], match["aspect"], grouped=grouped) if many else None
    return None


def _read(question: str, noun: str, verb: str, rest: str, *, counts: bool, grouped: bool) -> SetQuestion | None:
    said = tuple(noun.split())
    if len(said) > MAX_NOUN_WORDS or any(plain(word) in FUNCTION_WORDS for word in said):
        return None
    if not verb:
        return SetQuestion(question, said, counts=counts, grouped=grouped)
    many = counts or singular(plain(said[-1])) != plain(said[-1])
    select, rest = _selection(rest)
    without = WITHOUT.fullmatch(verb) is not None
    comparison, rest = _comparison(rest)
    if REFERS.search(rest) or (not many and select == "all" and comparison is None):
        return None
    aspect = _aspect(rest)
    stem_of_verb = singular(plain(verb.split()[0]))
    if select != "all" or comparison is not None:
        superlative = next((SUPERLATIVES[plain(word)] for word in aspect if plain(word) in SUPERLATIVES), None)
        if superlative:
            # `the longest` is the longest thing, `the longest watchdog period` is a watchdog period.
            others = tuple(word for word in aspect if plain(word) not in SUPERLATIVES)
            select, aspect = superlative[0], others or (superlative[1],)
        dimension = comparison.low.dimension if comparison else _dimension(aspect)
        if not aspect:
            implied = PROPERTY_OF_VERB.get(stem_of_verb) or PROPERTY_OF_DIMENSION.get(dimension)
            aspect = (implied,) if implied else ()
        if not aspect or len(aspect) > MAX_ASPECT_WORDS:
            return None
        return SetQuestion(
            question, said, counts=counts, aspect=aspect, dimension=dimension, measured=True, comparison=comparison, select=select,
            grouped=grouped,
        )  # fmt: skip
    if COMPARES.search(rest) and any(word.isdigit() for word in aspect):
        return None  # `more than 10 sockets` compares how many, which is not read
    amounts = quantities(rest)
    if not (without or stem_of_verb in HAS or plain(verb.split()[0]) in HAS) or not aspect:
        return None
    if len(amounts) > 1 or len(aspect) > MAX_ASPECT_WORDS + len(amounts):
        return None
    return SetQuestion(question, said, counts=counts, aspect=aspect, without=without, grouped=grouped)


def _of_each(question: str, noun: str, aspect_said: str, *, grouped: bool) -> SetQuestion | None:
    said = tuple(noun.split())
    select, rest = _selection(aspect_said)
    aspect = _aspect(rest)
    if (
        not aspect
        or len(aspect) > MAX_ASPECT_WORDS
        or singular(plain(aspect[-1])) in NOT_AMOUNTS
        or REFERS.search(rest)
        or any(plain(w) in FUNCTION_WORDS for w in said)
    ):
        return None
    return SetQuestion(
        question, said, aspect=aspect, dimension=_dimension(aspect), measured=True, select=select, grouped=grouped
    )


def _selection(rest: str) -> tuple[Selection, str]:
    """Take the superlative out: `the largest flash` → most, `flash`."""
    for select, said in (("most", MOST), ("least", LEAST)):
        if match := re.search(rf"\bthe (?:{said})\b|^ ?(?:{said})\b", rest, re.IGNORECASE):
            return select, rest[: match.start()] + rest[match.end() :]  # type: ignore[return-value]
    if match := re.search(rf"\bthe (?P<one>{'|'.join(SUPERLATIVES)})\b", rest, re.IGNORECASE):
        return SUPERLATIVES[plain(match["one"])][0], rest[: match.start()] + match["one"] + rest[match.end() :]
    return "all", rest


def _comparison(rest: str) -> tuple[Comparison | None, str]:
    """Take the comparison out: `a clock of more than 100 MHz` → above 100 MHz, `a clock of`."""
    amounts = quantities(rest)
    if not amounts:
        return None, rest
    first, last = amounts[0], amounts[-1]
    before, after = rest[: first.start], rest[last.end :]
    if len(amounts) == 1 and first.upper is not None:
        # `between 3 and 4 V` and `from 3 V to 4 V` are one range.
        return Comparison("between", _end_of(first, first.value), _end_of(first, first.upper)), _without_operator(
            before
        ) + after
    found = [match for match in COMPARES.finditer(before) if not before[match.end() :].strip(" a")]
    if len(amounts) == 2 and found and re.fullmatch(r"\s*(?:and|to)\s*", rest[first.end : last.start]):
        return Comparison("between", first, last), before[: found[-1].start()] + after
    if len(amounts) > 1:
        return None, rest
    if suffix := AFTER_AMOUNT.match(after):
        operator: Operator = "<=" if plain(suffix["which"]) in ("less", "fewer", "lower") else ">="
        return Comparison(operator, first), before + after[suffix.end() :]
    if not found:
        return None, rest
    kind = next(OPERATORS[int(name[1:])][0] for name, said in found[-1].groupdict().items() if said)
    if kind == "between":
        return None, rest
    return Comparison(kind, first), before[: found[-1].start()] + after


def _end_of(quantity: Quantity, value: float) -> Quantity:
    return Quantity(quantity.text, quantity.start, quantity.end, value, quantity.unit)


def _without_operator(before: str) -> str:
    found = list(COMPARES.finditer(before))
    return before[: found[-1].start()] if found and not before[found[-1].end() :].strip() else before


def _aspect(rest: str) -> tuple[str, ...]:
    """The words for what is asked of the things; what only says that there is a place for it is left out at the end."""
    kept = [word for word in re.findall(r"[^\s,;()]+", rest) if plain(word) not in FUNCTION_WORDS]
    while len(kept) > 1 and singular(plain(kept[-1])) in GENERIC_TAIL:
        kept.pop()
    return tuple(kept)


def _dimension(aspect: tuple[str, ...]) -> str:
    return next((MEASURED_BY[plain(word)] for word in reversed(aspect) if plain(word) in MEASURED_BY), "")


def compare(comparison: Comparison, low: float, high: float, *, of: Quantity) -> bool:
    """Say whether a stated amount, a number (`low` = `high`) or a range in the unit of `of`, is as the comparison wants.

    A range is above 100 °C where its upper end is, below where its lower end is, at most 100 °C and between two amounts where all of it
    is. Amounts of other dimensions never are.
    """
    size, base = scale(of.unit)
    wanted = [comparison.low, *([comparison.high] if comparison.high else [])]
    sizes = [scale(one.unit) for one in wanted]
    if any(other != base for _, other in sizes):
        return False
    ends = [one.value * float(factor) for one, (factor, _) in zip(wanted, sizes, strict=True)]
    least, most = low * float(size), high * float(size)
    match comparison.operator:
        case "<":
            return least < ends[0]
        case "<=":
            return most <= ends[0]
        case ">":
            return most > ends[0]
        case ">=":
            return most >= ends[0]
        case "between":
            return ends[0] <= least and most <= ends[-1]
        case "=":
            return least <= ends[0] <= most
