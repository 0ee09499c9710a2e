"""The model-free extractor: what a careful reader takes from a chunk without understanding it.

Entities are the known names of the corpus (`corpus_names`) where the chunk writes them, its own title and headings, and its quantities.
Relations are what table rows, `Name: value` lines, definitions and plain verbs say, each with its sentence or row as description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from kgrag.extract.corpus_names import PART, PRODUCT, SECTION, TITLE, CorpusNames, informative_heading
from kgrag.extract.patterns import definition, statements
from kgrag.text.names import NORMAL_FORM_VERSION, NameMatch, normal_form, quantities
from kgrag.text.quantities import Quantity
from kgrag.text.sentences import Sentence, sentences
from kgrag.types import Chunk, Document, Entity, Extraction, Relation, content_id

__all__ = ["MentionExtractor"]

VERSION = "2"
"""Goes up when the same chunk would give another extraction."""

QUANTITY, CLASS = "Quantity", "Class"
ITS_SUBJECT = re.compile(
    r"(?:it|he|she|they|this (?:\w+)|the (?:board|module|device|product|carrier|shield|kit|sensor|unit|system"
    r"|film|song|album|band|company))\b(?!['’]s)",
    re.IGNORECASE,
)
"""What stands for the chunk's subject at the beginning of a sentence."""
NAME_VALUE = re.compile(r"^(?P<name>[^\W\d][^:.;|(]{1,60}):\s+(?P<value>\S.{0,100})$")
UNIT_COLUMN = re.compile(r"units?|einheit", re.IGNORECASE)
NUMBER_CELL = re.compile(r"[-−–+±]?\s?\d[\d.,]*(?:\s?(?:to|[-–…])\s?[-−–+]?\d[\d.,]*)?")
ENDS_AS_SENTENCE = re.compile(r"(?:\S+\s+){7}.*[.!?。]$")
"""A value of eight words and a full stop is a sentence after a colon."""
THINGS = frozenset({PRODUCT, TITLE, PART})
"""What a table row may be about by its first cell; any other first cell is the name of a property."""
LIST_GOES_ON = re.compile(r"[\s®™]*(?:,|and|&|or|,\s*and)\s*(?:the|his wife|her husband|their|an?)?\s*", re.IGNORECASE)
MODIFIES = re.compile(
    r"[®™]?\s(?!(?:and|or|of|in|on|at|by|from|with|for|to|is|was|are|were|who|which|that|as|via|when|while|before|after|until)\b)[a-z]"
)
"""After a name: it only qualifies what follows (`the German band`)."""


T = TypeVar("T")


class MentionExtractor:
    """An `Extractor` without a model. `prepare` must have seen the corpus; the same corpus and chunk give the same extraction."""

    name = "mention"

    def __init__(self) -> None:
        self._names = CorpusNames([], [])

    @property
    def fingerprint(self) -> str:
        """Of this version and of the names that the corpus has."""
        return content_id(self.name, VERSION, NORMAL_FORM_VERSION, self._names.fingerprint)

    @property
    def names(self) -> CorpusNames:
        """The names of the corpus, after `prepare`."""
        return self._names

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Learn the names of the corpus: one pass over its text."""
        self._names = CorpusNames(documents, chunks)

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk; `empty` where it names nothing."""
        return self.read(chunk)

    def read(self, chunk: Chunk) -> Extraction:
        """Extract one chunk, blocking."""
        return _Reading(chunk, self._names).extraction()


class _Reading:
    """One chunk on its way to an extraction."""

    def __init__(self, chunk: Chunk, names: CorpusNames) -> None:
        self._chunk = chunk
        self._names = names
        self._entities: dict[tuple[str, str], Entity] = {}
        self._relations: dict[tuple[str, str, str, str, str], Relation] = {}

    def extraction(self) -> Extraction:
        subject = self._titles()
        chunk = self._chunk
        matches = [(m.start, m.end, self._mention(m)) for m in self._names.find(chunk.text)]
        measured = [(q.start, q.end, self._quantity(q)) for q in quantities(chunk.text)]
        for sentence in sentences(chunk.text):
            inside = _within(matches, sentence.start, sentence.end)
            amounts = _within(measured, sentence.start, sentence.end)
            if sentence.cells:
                self._row(sentence, subject)
            elif (pair := NAME_VALUE.match(sentence.text)) and not ENDS_AS_SENTENCE.search(pair["value"]):
                self._named_value(sentence, pair, subject, inside, amounts)
            else:
                self._prose(sentence, subject, inside, amounts)
        entities = tuple(self._entities.values())
        return Extraction(
            chunk_id=chunk.id,
            entities=entities,
            relations=tuple(self._relations.values()),
            state="ok" if entities else "empty",
        )

    def _titles(self) -> Entity | None:
        """Name what the chunk belongs to, and give back what its statements are about."""
        chunk = self._chunk
        product_name = self._names.product_of.get(chunk.document_id)
        title = self._known(chunk.title, role="title")
        product = self._known(product_name, role="title") if product_name else None
        subject = product or title
        if product and title and title.normal != product.normal:
            self._relate(product, "DOCUMENTED_IN", title, chunk.title)
        whole = subject
        for heading in chunk.headings:
            section = self._known(informative_heading(heading), role="title", only=SECTION)
            if section and whole and (section.type, section.normal) != (whole.type, whole.normal):
                self._relate(section, "PART_OF", whole, chunk.section)
                whole = section
        return subject

    def _known(self, name: str, *, role: str, only: str = "") -> Entity | None:
        """The entity of a name of the corpus, None for a name that says nothing (a generic heading)."""
        kind = self._names.type_of(name) if name.strip() else None
        if kind is None or (only == SECTION and kind in (TITLE, PRODUCT)):
            return None
        return self._entity(name.strip(), kind, self._names.entity_key(normal_form(name)), role=role)

    def _entity(self, name: str, kind: str, normal: str, *, role: str = "mention") -> Entity:
        key = (kind, normal)
        known = self._entities.get(key)
        if known is None:
            known = self._entities[key] = Entity(
                name=name, type=kind, normal=normal, role="title" if role == "title" else "mention"
            )
        return known

    def _mention(self, match: NameMatch) -> Entity:
        return self._entity(match.written, self._names.type_of_key(match.key), self._names.entity_key(match.key))

    def _quantity(self, quantity: Quantity) -> Entity | None:
        # A count (`2x`) is a quantity of the sentence, but no thing of its own.
        return None if quantity.unit == "x" else self._entity(quantity.text, QUANTITY, _normal(quantity.text))

    def _relate(self, head: Entity, kind: str, tail: Entity, description: str) -> None:
        if (head.type, head.normal) != (tail.type, tail.normal):
            key = (head.type + head.normal, kind, tail.type, tail.normal, description)
            self._relations.setdefault(key, Relation(head=head, type=kind, tail=tail, description=description))

    def _row(self, row: Sentence, subject: Entity | None) -> None:
        """Say of the row's own name, or of the chunk's subject, what its cells hold."""
        first = row.cells[0][1]
        named = self._names.find(first)
        own = self._mention(named[0]) if len(named) == 1 and _fills(named[0], first) else None
        own_thing = own if own and own.type in THINGS else None
        owner = own_thing or subject
        if owner is None:
            return
        unit = next((value for header, value in row.cells if UNIT_COLUMN.fullmatch(header.strip())), "")
        for header, value in row.cells[1:]:
            # In a comparison the column is what the cell is about.
            column = [m for m in self._names.find(header) if self._names.type_of_key(m.key) in THINGS]
            about = self._mention(column[0]) if len(column) == 1 and not own_thing else owner
            measured = quantities(value)
            if not measured and unit and NUMBER_CELL.fullmatch(value) and not UNIT_COLUMN.fullmatch(header.strip()):
                measured = quantities(f"{value} {unit}")
            for quantity in measured:
                if tail := self._quantity(quantity):
                    self._relate(about, "HAS_VALUE", tail, row.text)
            for match in self._names.find(value):
                self._relate_listed(about, self._mention(match), row.text)

    def _named_value(
        self,
        sentence: Sentence,
        pair: re.Match[str],
        subject: Entity | None,
        inside: Sequence[tuple[int, int, Entity]],
        amounts: Sequence[tuple[int, int, Entity | None]],
    ) -> None:
        """Say of the subject what a `Name: value` line holds."""
        value_start = sentence.start + pair.start("value")
        named = [e for start, end, e in inside if end <= value_start]
        owner = named[0] if len(named) == 1 and normal_form(pair["name"]) == named[0].normal else subject
        if owner is None:
            return
        for start, _, tail in (*amounts, *inside):
            if start >= value_start and tail is not None:
                self._relate_listed(owner, tail, sentence.text)

    def _relate_listed(self, owner: Entity, tail: Entity, description: str) -> None:
        """Relate what a table or a list only sets beside each other."""
        match tail.type:
            case "Quantity":
                kind = "HAS_VALUE"
            case "Part" if owner.type in (PRODUCT, TITLE):
                kind = "HAS_PART"
            case "Term" | "Section":
                kind = "HAS_ATTRIBUTE"
            case _:
                kind = "RELATED_TO"
        self._relate(owner, kind, tail, description)

    def _prose(
        self,
        sentence: Sentence,
        subject: Entity | None,
        inside: Sequence[tuple[int, int, Entity]],
        amounts: Sequence[tuple[int, int, Entity | None]],
    ) -> None:
        """Take definitions and what verbs say from a sentence."""
        written = self._chunk.text[sentence.start : sentence.end]
        about = self._subject_of(written, sentence.start, subject, inside)
        if about is None:
            return
        owner, subject_end = about
        if name := definition(written, subject_end):
            self._relate(owner, "IS_A", self._entity(name, CLASS, _normal(name)), sentence.text)
        for statement in statements(written):
            if statement.start < subject_end:
                continue
            head = owner
            before = [
                (end, e)
                for start, end, e in inside
                if subject_end <= end - sentence.start <= statement.start
                and not set(written[end - sentence.start : statement.start]) & set(",;:.")
                and statement.start - (end - sentence.start) <= 2
            ]
            if before:
                head = before[-1][1]
            span = (sentence.start + statement.end, sentence.start + statement.object_end)
            tails = _within(inside, *span)
            if statement.one_object:
                tails = _right_after(tails, span[0], self._chunk.text)
            if statement.type in ("HAS_VALUE", "HAS_PART", "SUPPORTS", "REQUIRES", "PROVIDES"):
                values = [e for _, _, e in _within(amounts, *span) if e is not None]
                for value in values:
                    self._relate(head, "HAS_VALUE", value, sentence.text)
                if statement.type == "HAS_VALUE":
                    continue
            for _, _, tail in tails:
                pair = (tail, head) if statement.reversed else (head, tail)
                self._relate(pair[0], statement.type, pair[1], sentence.text)

    def _subject_of(
        self, written: str, offset: int, subject: Entity | None, inside: Sequence[tuple[int, int, Entity]]
    ) -> tuple[Entity, int] | None:
        """What a sentence is about, and where its name ends in it: a name at its beginning, or what a pronoun stands for."""
        lead = re.match(r"(?:[\"'“]|the |an? |both |all |arduino®? )*", written, re.IGNORECASE)
        begin = lead.end() if lead else 0
        for start, end, entity in inside:
            if start - offset <= begin:
                return entity, end - offset
        if subject and (pronoun := ITS_SUBJECT.match(written)):
            return subject, pronoun.end()
        return None


def _right_after(tails: Sequence[tuple[int, int, Entity]], position: int, text: str) -> list[tuple[int, int, Entity]]:
    """The first name after a verb and those that a list adds to it, if no other name comes before."""
    found: list[tuple[int, int, Entity]] = []
    for start, end, entity in tails:
        gap = text[position:start]
        if MODIFIES.match(text, end):
            continue
        if LIST_GOES_ON.fullmatch(gap) if found else not set(gap) & set(",;:."):
            found.append((start, end, entity))
            position = end
        else:
            break
    return found


def _fills(match: NameMatch, cell: str) -> bool:
    return match.start == 0 and match.end >= len(cell.rstrip(" .:®™"))


def _within(spans: Sequence[tuple[int, int, T]], start: int, end: int) -> list[tuple[int, int, T]]:
    return [span for span in spans if start <= span[0] and span[1] <= end]


_normal = lru_cache(maxsize=1 << 16)(normal_form)
