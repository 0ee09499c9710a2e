"""What a question asks: the names in it, the shape that its answer must have, how its evidence is spread, and for how many things.

One reading, for retrieval and answers alike: `read_question`. The functions below it rewrite a question for retrieval without a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from kgrag.errors import InputError
from kgrag.text.answer_shapes import AUXILIARIES, ROLE_ASKED, AnswerKind, answer_shape, by_default, unit_asked
from kgrag.text.name_shapes import NAME
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.surrogates import without_surrogates
from kgrag.text.words import ASKING_WORDS, FUNCTION_WORDS, LIGHT_VERBS, UNSPACED, content_terms, plain, words

__all__ = [
    "Question",
    "QuestionType",
    "asks_across",
    "checked_question",
    "content_wording",
    "coordinated_questions",
    "families_said",
    "keywords",
    "names_of_question",
    "read_question",
    "topic",
    "type_by_rules",
]

QuestionType = Literal["factual", "reasoning", "disambiguation", "multi_hop", "summary"]

QUOTED = re.compile(r"[\"“”]([^\"“”]{2,60})[\"“”]|(?<!\w)['‘]([^'‘’]{2,60})['’](?!\w)")

_SORTS = """
        adapter board camera carrier chip component controller converter device display edition gateway instrument kit
        machine member meter microcontroller model module platform probe processor product sensor shield tool transmitter
        variant version
"""
SORTS = {sort: f"{sort}s" for sort in _SORTS.split()} | {
    "accessory": "accessories",
    "category": "categories",
    "family": "families",
}
"""Words for the things that technical documents are about, and their plurals."""
MAX_QUESTION_CHARACTERS = 2000
"""Of a question that are looked at."""
MAX_FAMILY_WORDS = 5
"""Of a family's name."""
ONE, MANY = "|".join(SORTS), "|".join(SORTS.values())
GROUP = "family|families|series|range|line|line-?up"
OF_MANY = re.compile(rf"(?: [a-z]+)? (?:{MANY}|{GROUP})\b")
"""What follows a name that is meant for several: `boards`, `product family`."""
OF_ONE = re.compile(rf" (?:{ONE})\b")
CHOICE = re.compile(r"\b(?:which|what)(?: |$)", re.IGNORECASE)
FAMILY_JOINT = re.compile(r"(?:,|,? (?:and|or|vs\.?|versus))(?: the)? ")
LIST_COMMA = re.compile(r",(?: the)? ")
ACROSS = re.compile(rf"\b(?:which|what) (?:[\w-]+ ){{0,3}}?(?:{ONE}|{MANY}|{GROUP})\b|\b(?:{MANY})\b", re.IGNORECASE)

THINGS = r"(?:products|devices|boards|models|modules|sensors|systems|variants|versions|editions|famil(?:y|ies)|series|categories|documents)"
"""What a collection is a collection of: who asks which of them asks for all."""


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


# A summary: an overview, or all things that have something, or how groups of things differ.
OF_SUMMARY = _pattern(
    r"\b(?:summar\w+|overview|outline|overall|in general|list (?:all|the|every)|all (?:of )?the|across (?:all|the))\b",
    r"\b(?:main|key|major|typical|general) (?:\w+ )?(?:differences|options|features|functions|purposes?|applications)\b",
    r"\b(?:main|key|typical) (?:\w+ )?(?:capabilities|steps|uses)\b",
    rf"^(?:which|what)(?: \w+){{0,3}} {THINGS}(?! (?:of|is|was|has)\b)",
    r"\bby the (?:largest|greatest|highest|smallest) number of\b|\bmost (?:commonly|widely|frequently|often)\b",
    rf"\b(?:compare|differ\w*)\b.*\b(?:{THINGS}|across)\b|\b(?:{THINGS}|across)\b.*\bdiffer\w*",
    r"\bwhat (?:kinds?|types?|sorts?) of\b.*\b(?:can|could|possible|are there)\b",
)
# Who says so takes one thing for another.
CONFUSED = _pattern(r"\bI (?:am confused|assumed|thought|mixed up)\b|\bdifference between\b")
CAUSE = _pattern(
    r"\b(?:why|explain|reasons?)\b",
    r"\b(?:caus\w+|missed|missing|wrong|fault\w*|problem)\b[^.?]*\?",
    r"\bhow (?:does|do|would|could)\b.*\b(?:affect|influence|impact)",
)
# Several steps, or parts that act together: each is said somewhere else.
STEPS = _pattern(
    r"\b(?:steps?|procedure|next|together|combin\w+|interact\w*)\b|\bhow (?:can|should|do|could) I\b|\bI want to\b",
    r"\bwhat\b.*\b(?:needs?|must|have) to\b|^how (?:does|do|can)\b.*\b(?:with|us(?:es?|ing)|through|over)\b",
)
JUDGEMENT = _pattern(
    r"\b(?:suit\w*|recommend\w*|appropriate|better|best|prefer\w*|advantages?|benefits?|enough|sufficient|safe\w*|would|should|suppose|possible)\b",
    r"^(?:can|could|may|if)\b|^which (?:\w+ )?(?:supports?|provides?)\b",
)
TROUBLE = _pattern(
    r"\b(?:I|my)\b.*\b(?:cannot|can't|(?:does|do|did|is)(?:n't| not)|nothing|never|no longer|fail\w*|error|stuck|slow\w*|unstable)\b"
)
# Which of two things or meanings, or whether something is so of this one.
SENSE = _pattern(
    r"\b(?:differ\w*|distinguish\w*|compar\w+|versus|vs|both|either|equivalent|same|instead of|rather than|only|expected)\b",
    r"\b(?:refers?|referring|mean(?:s|ing)?|stand for|appl(?:y|ies)|or (?:the|an?|is|did|does|do)|which (?:one|of))\b|, [^,]+ or [^,]+\?$",
    r"^(?:does|do|is|are|was|were|did|has|have)\b",
)
# Something of something of something.
CHAIN = _pattern(
    r"\b(?:of|by|in|from|on|at) the \w+(?: \w+){0,3} (?:that|which|who|where|whose|of|used|made|found|located|born|written)\b",
    r"\b(?:that|which|whose)\b.*\b(?:that|which|whose)\b|\bthe \w+ of (?:the )?(?:\w+ ){1,3}of\b|\bthe \w+ of .*'s \w+",
    r"\b(?:where|when) (?:is|was|did|does|has) (?:the \w+ of\b|.*'s \w+)|\balso\b.*\b(?:have|has|uses?|support)",
)

SHORTEST_KEYWORD = 4
TERM = re.compile(r"[^\s?!,;:()\"“”]+")
JOINT = re.compile(
    r"\s*(?:,\s*(?:and|or)\s+|,\s*|\s+(?:and|or|versus|vs\.?|than|with)\s+)(?:(?:the|an?|its)\s+)?", re.IGNORECASE
)
CLAUSE = re.compile(r"[;?]\s+|,?\s+and\s+(?=(?:what|which|who|where|when|why|how)\b)", re.IGNORECASE)


MOST_SEARCHED = 5
QUESTION_WORDS = (
    frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how", "whether"]) | AUXILIARIES
)
"""A search has none of them."""


MOST_AMOUNTS = 20
"""Of a question; what comes behind them are words."""
SAID_IN_WORDS = frozenset(["day", "week", "month", "year", "x"])
STANDS_FOR = re.compile(r"\b(?:stands?|is short|an abbreviation) for\b|\bgood for(?=\s*[?.!]?$)", re.IGNORECASE)
"""Asks for a meaning, and need not be said."""
NO_LONGER = re.compile(
    r"\b(?:no|not any|any) longer\b(?! than\b)|\b(?:no|any) ?more(?=\s*(?:[?.,;!]|$))", re.IGNORECASE
)
"""`Which commands no longer work in it?` asks for what does not: nothing is longer."""
OF_ANOTHER = re.compile(r"(?:(?:and|but|so|now) )?(?:what|how) about ", re.IGNORECASE)
"""`And what about the X-1000?`, without a question before."""


@dataclass(frozen=True)
class Question:
    """A question, read.

    `terms` are the stems of its content words (`default`, where a clause means it), `subject_terms` those of them that its names have;
    `names` what it names, as written;
    `dimensions` what a quantity in the answer would measure (empty: none is asked for; ("",): any); `kind` is the shape of the answer.
    """

    text: str
    terms: frozenset[str]
    subject_terms: frozenset[str]
    names: tuple[str, ...]
    kind: AnswerKind
    dimensions: tuple[str, ...] = ()
    amounts: tuple[Quantity, ...] = ()
    """What it says with a unit: each is one of its terms as it is written, case folded, and `5V` is no other than `5 volts`."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Its terms with the words of amounts in the place of amounts: what single words of a text are held against."""
        amounts = [amount.text for amount in self.amounts]
        return (self.terms - {amount.casefold() for amount in amounts}) | content_terms(" ".join(amounts))

    @cached_property
    def type(self) -> QuestionType:
        """How its evidence is spread over the documents: see `type_by_rules`."""
        return type_by_rules(self.text)

    @cached_property
    def families(self) -> tuple[tuple[str, ...], ...]:
        """Names that it uses for more than one thing: see `families_said`."""
        return tuple(families_said(self.text))

    @cached_property
    def each(self) -> tuple[Question, ...]:
        """The same question of each thing alone where it asks one thing of several (`What do the X-100 and the TPR-40 weigh?`).

        Else itself: whether something is so of both, and how they differ, is asked of them together.
        """
        things = () if self.kind in ("yes/no", "comparison") else _things_in_a_row(self.text)
        terms = [content_terms(thing) for thing in things]
        if len(things) < 2 or not all(one <= self.subject_terms for one in terms):
            return (self,)
        others = [frozenset().union(*terms) - one for one in terms]
        return tuple(
            replace(self, terms=self.terms - other, subject_terms=self.subject_terms - other) for other in others
        )

    @cached_property
    def is_search(self) -> bool:
        """Whether it is a few words to search for and no question: `WX-32 current consumption`."""
        said = [plain(word) for word in words(self.text)]
        return 0 < len(said) <= MOST_SEARCHED and "?" not in self.text and QUESTION_WORDS.isdisjoint(said)

    @cached_property
    def across(self) -> bool:
        """Whether it is about whichever things of a sort there are."""
        return asks_across(self.text)


def checked_question(question: str) -> str:
    """Return a question as it can be asked, searched for and kept. Raises `InputError` for an empty one, and for what is no text."""
    if not isinstance(question, str):
        raise InputError(f"Expected a question as text, got {type(question).__name__}.")
    if not question.strip():
        raise InputError("Expected a question, got an empty text.")
    return str(without_surrogates(question))


@lru_cache(maxsize=256)
def read_question(question: str) -> Question:
    """Read a question."""
    meant = NO_LONGER.sub("", question)
    shape = answer_shape(meant)
    meant = STANDS_FOR.sub("mean", ROLE_ASKED.sub(r"what \g<asks> \g<thing>mean", by_default(meant)))
    if shape.kind == "quantity":  # A passage that gives the amount need not say `in volts`.
        meant = meant.replace(unit_asked(question)[0], "")
    found = _amounts(meant)
    for amount in reversed(found):
        meant = f"{meant[: amount.start]} {meant[amount.end :]}"
    amounts = {amount.text.casefold(): amount for amount in found}
    terms = content_terms(meant, without=ASKING_WORDS | LIGHT_VERBS) or content_terms(meant)
    names = tuple(dict.fromkeys(_names_and_amounts(question)))
    subject_terms = terms & content_terms(" ".join(names))
    terms |= frozenset(amounts)
    read = Question(question, terms, subject_terms, names, shape.kind, shape.dimensions, tuple(amounts.values()))
    if len(names) == 1 and terms == subject_terms and (read.is_search or OF_ANOTHER.match(question)):
        return replace(read, kind="definition")  # `E-12` alone asks what it is.
    return read


def _amounts(text: str) -> list[Quantity]:
    """The quantities of a text but for days to years and counts, which are words like others: `28 days` is `twenty-eight` in February."""
    return [one for one in quantities(text) if one.unit not in SAID_IN_WORDS][:MOST_AMOUNTS]


def _names_and_amounts(question: str) -> Iterator[str]:
    """What a question names; an amount is one name however it is written: `5V`, `5 V`, `5 volts`."""
    amounts = [one for one in _amounts(question) if one.unit != "°"]
    named = names_of_question(question, quoted=True)
    alone = [one for one in amounts if not any(start < one.end and one.start < end for start, end, _ in named)]
    for start, end, name in sorted([*named, *((one.start, one.end, one.text) for one in alone)]):
        yield next((one.text for one in amounts if one.start <= start and end <= one.end), name)


ATTACHED = re.compile(r"(?:[\w.-]*[\w][._])?\Z")
"""What a name goes on from without a space: the first parts of an identifier."""
MAX_ATTACHED = 100
"""Characters of it."""


ATTRIBUTIVE = re.compile(
    r"(?<=\w)-(?:based|capable|certified|compatible|compliant|driven|enabled|equipped|like|powered|ready|related|series|specific|style|type)\b"
)
"""What a name ends in that says of something else how it is: `X-100-based boards`, `I2C-compatible`."""


def names_of_question(question: str, *, quoted: bool = False) -> list[tuple[int, int, str]]:
    """Find what a question names, as start, end and text: words with a capital or a digit in a row, and what is in quotation marks.

    The capital with which a sentence begins makes no name of a word that asks, nor of one that stands alone.
    """
    found = []
    if quoted:
        for match in QUOTED.finditer(question):
            group = 1 if match[1] else 2
            found.append((*match.span(group), match[group].strip()))
    # No space divides a name from Japanese or Chinese text: `KDEのインストール`.
    question = UNSPACED.sub(lambda run: "\n" * len(run[0]), question)
    for match in NAME.finditer(question):
        start, name = match.start(), match.group().rstrip(".,")
        if question[:start].rstrip()[-1:] in ("", ".", "?", "!"):
            opening, _, rest = name.partition(" ")
            if plain(opening) in FUNCTION_WORDS | ASKING_WORDS or (not rest and opening[1:].islower()):
                start, name = start + len(opening) + 1, rest
        if name.startswith("I "):
            start, name = start + 2, name[2:]
        begin = start - len(ATTACHED.search(question[max(0, start - MAX_ATTACHED) : start])[0])  # type: ignore[index]
        if name and begin < start:  # within an identifier (`merge.conflictStyle`): it is a name by itself
            first, _, name = name.partition(" ")
            found.append((begin, start + len(first), question[begin : start + len(first)]))
            start += len(first) + 1
        while end := ATTRIBUTIVE.search(name):
            found.append((start, start + end.start(), name[: end.start()]))
            start, name = start + end.end() + 1, name[end.end() + 1 :]
        if name and plain(name) not in FUNCTION_WORDS and len(name) > 1:
            found.append((start, start + len(name), name))
    return found


def type_by_rules(question: str) -> QuestionType:
    """Tell the type by the question's wording, which decides in this order; how well is said by `benchmarks.question_types`."""
    if OF_SUMMARY.search(question):
        return "summary"
    if CONFUSED.search(question):
        return "disambiguation"
    if CAUSE.search(question):
        return "reasoning"
    if STEPS.search(question):
        return "multi_hop"
    if JUDGEMENT.search(question):
        return "reasoning"
    if SENSE.search(question):
        return "disambiguation"
    if TROUBLE.search(question):
        return "reasoning"
    return "multi_hop" if CHAIN.search(question) else "factual"


def _things_in_a_row(question: str) -> tuple[str, ...]:
    """Return the first names that `and` or `or` joins: `the X-100, the X-1000 and the TPR-40`, `the X-100 need, and which the X-1000`."""
    row: list[str] = []
    end, joined = 0, False
    for start, stop, name in names_of_question(question):
        between = {plain(word) for word in words(question[end:start])}
        joins = bool(between & {"and", "or"}) and between <= FUNCTION_WORDS | ASKING_WORDS | LIGHT_VERBS
        if not joins and not LIST_COMMA.fullmatch(question, end, start):
            if joined:
                break
            row.clear()
        joined = joins
        row.append(name)
        end = stop
    return tuple(dict.fromkeys(row)) if joined else ()


def families_said(question: str) -> Iterator[tuple[str, ...]]:
    """Yield the names that the question uses for more than one thing: `Nano boards`, `Nano and Nicla families`, `which Nano board`.

    Each with its ends, the longest first: the first words may be the maker's (`Arduino Nano boards`) or only begin the sentence.
    """
    question = question[:MAX_QUESTION_CHARACTERS]
    row: list[str] = []
    """Names that are joined to the next one."""
    end = 0
    for match in NAME.finditer(question):
        if not FAMILY_JOINT.fullmatch(question, end, match.start()):
            row.clear()
        row.append(match[0])
        end = match.end()
        chosen = CHOICE.search(question, max(match.start() - len("which "), 0), end)
        if OF_MANY.match(question, end) or (chosen and OF_ONE.match(question, end)):
            yield from filter(None, map(_ends_of_family, row))
            row.clear()


def _ends_of_family(name: str) -> tuple[str, ...]:
    said = CHOICE.sub("", name).split()[-MAX_FAMILY_WORDS:]
    return tuple(" ".join(said[first:]) for first in range(len(said)))


def asks_across(question: str) -> bool:
    """Tell whether the question is about whichever things of a sort there are: `Which boards have ...?`, `How many sensors ...?`."""
    return ACROSS.search(question[:MAX_QUESTION_CHARACTERS]) is not None


def content_wording(question: str) -> str:
    """Return the question without function words and words that only ask, as written and in order; itself where nothing is left."""
    said = [match[0].rstrip(".") for match in TERM.finditer(question)]
    kept = [word for word in said if plain(word) not in FUNCTION_WORDS | ASKING_WORDS]
    return " ".join(kept) or question


def keywords(question: str, most: int) -> tuple[str, ...]:
    """Return up to `most` keywords: names and part numbers, then quantities, then the longest content words."""
    names = [name for _, _, name in names_of_question(question)]
    amounts = [quantity.text for quantity in quantities(question)]
    inside = " ".join((*names, *amounts)).casefold().split()
    words = [
        word
        for word in content_wording(question).split()
        if len(word) >= SHORTEST_KEYWORD and word.casefold() not in inside
    ]
    words.sort(key=lambda word: -len(word))  # stable: equal lengths stay in the question's order
    return tuple(dict.fromkeys((*names, *amounts, *words)))[:most]


def coordinated_questions(question: str, most: int) -> tuple[str, ...]:
    """Return a question for each of the things or clauses that the question joins; nothing where it joins none.

    `Which is lighter, the X-100 or the X-200?` → `Which is lighter, the X-100?`, `Which is lighter, the X-200?`
    """
    found = names_of_question(question)
    for first in range(len(found)):
        last = first
        while last + 1 < len(found) and JOINT.fullmatch(question[found[last][1] : found[last + 1][0]]):
            last += 1
        if last > first:
            before, after = question[: found[first][0]], question[found[last][1] :]
            return tuple(f"{before}{name}{after}".strip() for _, _, name in found[first : last + 1])[:most]
    clauses = [clause.strip(" ?.") for clause in CLAUSE.split(question)]
    clauses = [clause for clause in clauses if len(clause.split()) > 2]
    return tuple(clauses[:most]) if len(clauses) > 1 else ()


def topic(question: str) -> str:
    """Return the content words without names, part numbers and quantities; nothing where only those are there."""
    rest = question
    for start, end, _ in reversed(names_of_question(question)):
        rest = rest[:start] + rest[end:]
    for quantity in reversed(quantities(rest)):
        rest = rest[: quantity.start] + rest[quantity.end :]
    words = content_wording(rest).split()
    return " ".join(word for word in words if any(c.isalpha() for c in word) and word.casefold() not in FUNCTION_WORDS)
