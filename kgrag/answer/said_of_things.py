"""What statements say of which thing: the amounts that are stated of it, and whether it has a feature.

A statement counts for the thing that it is about: the thing of its document unless it names another, the thing that heads its row or
column in a comparison. How directly it says a property is its score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgrag.answer.statement import Statement
from kgrag.answer.statements import statements
from kgrag.text.name_shapes import part_numbers
from kgrag.text.names import Gazetteer, normal_form
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.set_questions import MEASURED_BY, SAID_AS, SetQuestion
from kgrag.text.units import scale
from kgrag.text.words import FUNCTION_WORDS, plain, singular, stem, stems
from kgrag.types import Evidence, Listing

__all__ = ["ReaderOfThings", "Said"]

MINIMUM, TYPICAL, MAXIMUM = (
    re.compile(said, re.IGNORECASE)
    for said in (r"min(?:imum)?\.?", r"(?:typ(?:ical)?|nom(?:inal)?)\.?", r"max(?:imum)?\.?")
)
UNIT_HEADER = re.compile(r"units?|einheit", re.IGNORECASE)
PLAIN_HEADER = re.compile(
    r"|value|values|details?|specifications?|description|remark|condition|\d+|min(?:imum)?\.?|typ(?:ical)?\.?|nom(?:inal)?\.?|max(?:imum)?\.?",
    re.IGNORECASE,
)
"""Headers of columns that do not say what is in them."""
SIGNED_NUMBER = re.compile(r"\s*(?P<sign>[-−–+]?)\s?(?P<digits>\d[\d.,]*)\s*(?:[(\[].*)?")
NOT_SAID = re.compile(
    r"\b(?:no|not|n't|without|lacks?|n/a|none|except|unless|cannot|neither|nor)\b|n't\b", re.IGNORECASE
)
PERHAPS = re.compile(
    r"\b(?:optional(?:ly)?|option|if|compatible|compatibility|accessor(?:y|ies)|external|sold separately|not included|such as|e\.g"
    r"|can be (?:connected|added|attached)|requires?|attacks?)\b",
    re.IGNORECASE,
)
ASIDE = re.compile(
    r"application|example|accessor|related|compatible|not included|caution|conformity|certif|history|revision|contents|reference"
    r"|getting started|examples? of|use cases?|documentation",
    re.IGNORECASE,
)
"""Headings of sections that speak of other things too."""
INSTRUCTS = re.compile(
    r"(?:connect|use|add|attach|combine|plug|install|put|link|see|visit|integrat(?:e|ing)|leverage)\b", re.IGNORECASE
)
STATES = re.compile(
    r"\b(?:ha(?:s|ve)(?! to\b)|features?|includes?|(?<!even )with|on-?board|built-?in|integrated|embedded|equipped"
    r"|offers?|provides?|contains?|carr(?:y|ies)|combin(?:es|ing)|supports?|uses?|measures?|comes?|through|via|gives?|switches)\b",
    re.IGNORECASE,
)
ITEM_WORDS = 9
"""An item, heading or cell of so many words that has the words of a feature states it; a longer one needs a verb."""
WEIGHT_OF_WORDS = 0.5
OF_ITEM, OF_SENTENCE, OF_HEADING = 1.0, 0.8, 0.6
"""How directly an item or cell, a sentence with a verb, and a heading over something else say that a thing has what is asked for."""
BRACKETS = re.compile(r"\([^()]*\)")
HEADING_WORDS, WORDS_BEFORE_SUBJECT = 6, 2
NOTHING = frozenset(["", "-", "–", "—", "✗", "✕"])
LAST_LATIN = 0x24F
ALSO = r"(?:(?:,| and| or| &|/)\s*\w+){1,3}"
"""Between the words of a name: `humidity and temperature sensor` is a humidity sensor."""
ENUMERATED = re.compile(r"(?P<numbers>(?:\d+(?:\.\d+)?(?:,| or| and)\s+(?:(?:or|and)\s+)?){2,})$")
"""Before an amount: `8, 4, 1, and 0.5 Hz` are four. A single number may count something else: `sockets 3 and 5 V`."""
IS_ONE = re.compile(r"\b(?:is|are)(?: an?| the)?(?: [\w-]+){0,2}\s*$", re.IGNORECASE)
"""Before what a thing is: `The SHT21 and SHT25 are humidity sensors`."""
SECTION_NUMBER = re.compile(r"^[\d.]+\s+")


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount of a statement: a number, or a range, in the unit of `unit`."""

    low: float
    high: float
    typical: float | None
    unit: Quantity
    text: str

    def size(self, value: float) -> float:
        """Return a value of it in the unit that its unit is a multiple of."""
        return value * float(scale(self.unit.unit)[0])


@dataclass(frozen=True, slots=True)
class Said:
    """What one statement says of a thing. `score` is how directly it says the property."""

    thing: str
    score: float
    evidence: int
    statement: Statement
    amount: _Amount | None = None
    denies: bool = False


class _Sought:
    """Something that a thing may have: a name or words in a row, however they are spelt, or an amount with words: `1.8 V rail`."""

    def __init__(self, aspect: Sequence[str], names: Gazetteer) -> None:
        self._names = names
        said = " ".join(aspect)
        forms = {said, " ".join((*aspect[:-1], singular(aspect[-1])))}
        inside = [place for place, word in enumerate(aspect[:-1]) if word.isalpha() and word.islower()]
        forms |= {" ".join((*aspect[:place], _plural(aspect[place]), *aspect[place + 1 :])) for place in inside}
        self._phrase = Gazetteer(sorted(forms | {f"{form}s" for form in forms}))
        *first, last = map(re.escape, (*aspect[:-1], singular(aspect[-1])))
        joined = rf"\b{' '.join(first)}{ALSO}\s+{last}(?:e?s)?\b" if first and last.isalpha() else r"(?!)"
        self._joined = re.compile(joined, re.IGNORECASE)
        self.amount = next(iter(quantities(said)), None)
        rest = said.replace(self.amount.text, " ") if self.amount else ""
        self._words = {one for word, one in stems(rest) if word not in FUNCTION_WORDS}

    def find(self, text: str) -> tuple[int, int] | None:
        """Return where a text has it, start and end: not inside a thing's name (`UNO R4 WiFi`)."""
        phrases = self._phrase.find(text)
        named = self._names.find(text) if phrases else []
        for found in phrases:
            if not any(name.start < found.end and found.start < name.end for name in named):
                return found.start, found.end
        if joined := self._joined.search(text):
            return joined.span()
        if self.amount is None or not self._words <= {one for _, one in stems(text)}:
            return None
        same = (one for one in quantities(text) if normal_form(one.text) == normal_form(self.amount.text))
        return next(((one.start, one.end) for one in same), None)


class ReaderOfThings:
    """Reads what statements say of which thing."""

    def __init__(self, asked: SetQuestion, listing: Listing) -> None:
        self._asked = asked
        self._evidence = listing.evidence
        self._things = {normal_form(thing.name): thing.name for thing in listing.things}
        self._names = Gazetteer([*(thing.name for thing in listing.things), *listing.others])
        self._of_document = {document: thing.name for thing in listing.things for document in thing.documents}
        self._terms = [
            (
                frozenset(stem(form) for form in SAID_AS.get(plain(word), (word,))),
                MEASURED_BY.get(plain(word)) == asked.dimension != "",
            )
            for word in asked.aspect
        ]
        self._sought = _Sought(asked.aspect, self._names)
        self._name_terms = {stem for name in (*self._things.values(), *listing.others) for _, stem in stems(name)}

    def amounts(self) -> list[Said]:
        """Return the amounts that are stated of the things."""
        return [said for place, piece in enumerate(self._evidence) for said in self._amounts_of(place, piece)]

    def _amounts_of(self, place: int, piece: Evidence) -> Iterator[Said]:
        for statement in statements(piece):
            if statement.items or _is_foreign(statement) or (ASIDE.search(statement.heading) and not statement.cells):
                continue
            if statement.cells:
                yield from self._row(place, piece, statement)
            else:
                yield from self._sentence(place, piece, statement)

    def _row(self, place: int, piece: Evidence, statement: Statement) -> Iterator[Said]:
        cells = statement.cells
        unit = next((value for header, value in cells if UNIT_HEADER.fullmatch(header.strip())), "")
        first = cells[0][1]
        own = self._named(first) if self._begins(first) else None
        limits: dict[str, Quantity] = {}
        of_limits = ""
        for header, value in cells[0 if not cells[0][0] else 1 :]:
            header = header.strip()
            if UNIT_HEADER.fullmatch(header):
                continue
            about = self._heads(header)
            thing = self._about(own, about, piece)
            if not thing or (about is None and own is None and any(part_numbers(header))):
                continue
            is_limit = any(limit.fullmatch(header) for limit in (MINIMUM, TYPICAL, MAXIMUM))
            label = " ".join(
                [
                    *([header] if header and about is None and not PLAIN_HEADER.fullmatch(header) else []),
                    *(text for head, text in self._label_cells(cells, own=own is not None) if text != value),
                ]
            )
            measured = quantities(value)
            if is_limit and (number := SIGNED_NUMBER.fullmatch(value if not measured else "")) and unit:
                measured = quantities(f"{number['sign']}{number['digits']} {unit}")
            if is_limit and measured:
                limits[header], of_limits = measured[0], thing
                continue
            for quantity in measured:
                score = self._score(f"{label} {self._beside(value, quantity)}")
                if score:
                    yield Said(thing, score, place, statement, _amount(quantity))
        if limits:
            label = " ".join(text for _, text in self._label_cells(cells, own=own is not None))
            if score := self._score(label):
                yield Said(of_limits, score, place, statement, _limits(limits))

    @staticmethod
    def _label_cells(cells: Sequence[tuple[str, str]], *, own: bool) -> Iterator[tuple[str, str]]:
        """The cells that say what a row is about: the first ones without an amount; of a thing's own row none."""
        for header, value in () if own else cells:
            head = header.strip()
            if any(limit.fullmatch(head) for limit in (MINIMUM, TYPICAL, MAXIMUM)) or UNIT_HEADER.fullmatch(head):
                return
            if quantities(value):
                return
            yield header, value

    def _sentence(self, place: int, piece: Evidence, statement: Statement) -> Iterator[Said]:
        text = statement.text
        thing = self._subject(piece, statement)
        if thing is None:
            return
        found = quantities(text)
        for position, quantity in enumerate(found):
            start = found[position - 1].end if position else 0
            end = found[position + 1].start if position + 1 < len(found) else len(text)
            label = self._clause(text[start : quantity.start], text[quantity.end : end])
            whole = label if len(found) > 1 else text[: quantity.start] + " " + text[quantity.end :]
            score = max(self._score(label), self._score(whole))
            if score:
                yield Said(thing, score, place, statement, _amount(quantity, before=text[: quantity.start]))

    @staticmethod
    def _clause(before: str, after: str) -> str:
        """The words that a quantity belongs to: those behind it up to a comma, else those before it."""
        following = re.split(r"[,;/+&(|]|\band\b|\bwith\b|\. ", after, maxsplit=1)[0]
        preceding = re.split(r"[,;/+&(|]|\. ", before)[-1]
        if re.search(r"[:=]\s*$|\b(?:of|is|to|at|up to|from)\s*$", preceding) or not re.search(r"\w", following):
            return f"{preceding} {following}"
        return following

    def _beside(self, value: str, quantity: Quantity) -> str:
        found = quantities(value)
        if len(found) == 1:
            return value.replace(quantity.text, " ")
        place = found.index(quantity)
        start = found[place - 1].end if place else 0
        end = found[place + 1].start if place + 1 < len(found) else len(value)
        return self._clause(value[start : quantity.start], value[quantity.end : end])

    def _score(self, label: str) -> float:
        """How directly a label says the property: 0 where it has no word of it, or lacks one that the amount does not imply."""
        said = {one for word, one in stems(label) if word not in FUNCTION_WORDS and not word.isdigit()}
        literal = [bool(forms & said) for forms, _ in self._terms]
        if not any(literal) or not all(one or implied for one, (_, implied) in zip(literal, self._terms, strict=True)):
            return 0.0
        asked = {form for forms, _ in self._terms for form in forms}
        others = said - asked - self._name_terms
        return sum(literal) / (sum(literal) + len(others)) + WEIGHT_OF_WORDS * sum(literal) / len(literal)

    def features(self) -> list[Said]:
        """Return what says of the things that they have what is asked for, or denies it."""
        return [
            said
            for place, piece in enumerate(self._evidence)
            for statement in statements(piece, short=True)
            if not (
                statement.items
                or ASIDE.search(statement.heading)
                or _lists_contents(statement)
                or _is_foreign(statement)
            )
            for said in (self._cells if statement.cells else self._feature)(place, piece, statement)
        ]

    def _feature(self, place: int, piece: Evidence, statement: Statement) -> Iterator[Said]:
        text, heading = statement.text, SECTION_NUMBER.sub("", statement.heading)
        inside = self._sought.find(text)
        if inside is None and (len(heading.split()) > HEADING_WORDS or not self._sought.find(heading)):
            return
        thing = self._subject(piece, statement)
        if not thing:
            return
        if inside is None:
            yield Said(thing, OF_HEADING, place, statement)
            return
        short = len(text.split()) <= ITEM_WORDS
        if NOT_SAID.search(_clause(text, *inside)):
            yield Said(thing, OF_ITEM, place, statement, denies=True)
        elif not (PERHAPS.search(text) or INSTRUCTS.match(text)) and (
            short or STATES.search(text) or IS_ONE.search(text[: inside[0]])
        ):
            yield Said(thing, OF_ITEM if short else OF_SENTENCE, place, statement)

    def _cells(self, place: int, piece: Evidence, statement: Statement) -> Iterator[Said]:
        cells = statement.cells
        head, first = cells[0]
        row_is_about_it = self._sought.find(first) is not None
        for place_of_cell, (header, value) in enumerate(cells):
            context = f"{head} {first} {header} {value}" if self._sought.amount and place_of_cell else value
            inside = self._sought.find(context)
            if inside is None and not (row_is_about_it and place_of_cell) and not self._sought.find(header):
                continue
            own = self._named(first) if self._begins(first) else None
            thing = self._about(own, self._heads(header), piece)
            if not thing:
                continue
            if inside is None and (NOT_SAID.match(value) or value.strip() in NOTHING):
                yield Said(thing, OF_ITEM, place, statement, denies=True)
            elif not PERHAPS.search(value):
                yield Said(thing, OF_ITEM, place, statement)

    def _named(self, text: str) -> str | None:
        """The one thing that a text names: "" for one that is not asked about, None for none or several."""
        found = {match.key for match in self._names.find(text)}
        return self._things.get(next(iter(found)), "") if len(found) == 1 else None

    def _heads(self, header: str) -> str | None:
        """The thing that a column is about: its header is the name, at most with a bracket behind it (`X-100 (Rev 3)`)."""
        found = self._names.find(header)
        rest = BRACKETS.sub("", header[found[0].end :]) if len(found) == 1 else header
        return self._named(header) if len(found) == 1 and not (header[: found[0].start] + rest).strip(" ®™") else None

    def _begins(self, text: str) -> bool:
        return any(match.start == 0 for match in self._names.find(text)) and len(text.split()) <= ITEM_WORDS

    def _about(self, of_row: str | None, of_column: str | None, piece: Evidence) -> str:
        """What a cell is about: the thing of its row or column, else that of the document; "" for none that is asked about."""
        if of_row is not None:
            return of_row
        return of_column if of_column is not None else self._of_document.get(piece.document_id, "")

    def _subject(self, piece: Evidence, statement: Statement) -> str:
        """What a sentence is about: the thing of its document, or the one that it begins with; "" for another."""
        own = self._of_document.get(piece.document_id, "")
        named = self._names.find(statement.text)
        if not named:
            return own
        if len(statement.text[: named[0].start].split()) <= WORDS_BEFORE_SUBJECT:
            return self._things.get(named[0].key, "")
        return own if normal_form(own) in {match.key for match in named} else ""


def _lists_contents(statement: Statement) -> bool:
    """Whether a row is a line of a table of contents that was kept: `3.2 Wi-Fi module; 1: 8`."""
    cells = statement.cells
    return bool(cells) and SECTION_NUMBER.match(cells[0][1]) is not None and all(one.isdigit() for _, one in cells[1:])


def _is_foreign(statement: Statement) -> bool:
    """Whether a statement is for a good part in another script than Latin: whether it denies something is not read there."""
    if statement.text.isascii():
        return False
    letters = [c for c in statement.text if c.isalpha()]
    return sum(ord(c) > LAST_LATIN for c in letters) * 4 > len(letters)


def _clause(text: str, start: int, end: int) -> str:
    """What stands between the marks around a place: `no 5 V rail` of `It has USB, no 5 V rail; and ...`."""
    before = re.split(r"[,;:.(]\s", text[:start])[-1]
    after = re.split(r"[,;:.)]\s", text[end:], maxsplit=1)[0]
    return f"{before}{text[start:end]}{after}"


def _amount(quantity: Quantity, *, before: str = "") -> _Amount:
    """Read a quantity as the range that it says: `±5 V` is from -5 V to 5 V, `up to 5 V` stays 5 V; an enumeration as all that it spans."""
    low, high = quantity.value, quantity.upper if quantity.upper is not None else quantity.value
    if quantity.sign == "±":
        low, high = -high, high
    others = ENUMERATED.search(before)
    numbers = [float(one) for one in re.findall(r"[\d.]+", others["numbers"].replace(",", " "))] if others else []
    said = f"{others['numbers']}{quantity.text}" if others else quantity.text
    return _Amount(min(low, high, *numbers), max(low, high, *numbers), None, quantity, said)


def _limits(cells: Mapping[str, Quantity]) -> _Amount:
    """Read the columns Min, Typ and Max of a row as one amount."""
    values = [quantity.value for quantity in cells.values()]
    uppers = [quantity.upper for quantity in cells.values() if quantity.upper is not None]
    typical = next((one.value for header, one in cells.items() if TYPICAL.fullmatch(header)), None)
    text = ", ".join(f"{header.lower().rstrip('.')} {one.text}" for header, one in cells.items())
    return _Amount(min(values), max([*values, *uppers]), typical, next(iter(cells.values())), text)


def _plural(word: str) -> str:
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
