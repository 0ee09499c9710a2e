"""The model-free extractor: what a careful reader takes from a chunk without understanding it.

Entities are the known names of the corpus (`corpus_names`) where the chunk, its title or its headings write them, and its quantities. A
heading is no thing, but a chunk is about what its headings name. Relations are what table rows, `Name: value` lines, definitions, defaults
of settings and plain verbs say, each with its sentence or row as description, and only of what is named: a row without a name of its own,
or a pronoun, stands for the document's thing where the document is about one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from kgrag.extract.corpus_names import IDENTIFIER, PART, PRODUCT, TERM, TITLE, CorpusNames
from kgrag.extract.patterns import (
    available_since,
    class_after,
    default_value,
    definition,
    file_after,
    own_default,
    predicate_begins,
    said_of_object,
    statements,
)
from kgrag.text.names import NORMAL_FORM_VERSION, NameMatch, normal_form, quantities
from kgrag.text.quantities import Quantity
from kgrag.text.sentences import Sentence, sentences
from kgrag.types import Chunk, Document, Entity, Extraction, Relation, content_id

__all__ = ["MentionExtractor"]

VERSION = "15"
"""Goes up when the same chunk would give another extraction."""

QUANTITY, CLASS, VALUE, VERSION_OF = "Quantity", "Class", "Value", "Version"
ITS_SUBJECT = re.compile(
    r"(?:it|he|she|they|this (?:\w+)|the (?:board|module|device|product|carrier|shield|kit|sensor|unit|system"
    r"|film|song|album|band|company))\b(?!['’]s)",
    re.IGNORECASE,
)
"""What stands for the document's one thing at the beginning of a sentence."""
PRONOUN = re.compile(r"(?:it|he|she|they)\b(?!['’]s)", re.IGNORECASE)
"""What stands for what the sentence before was about."""
NAME_VALUE = re.compile(r"^(?P<name>[^\W\d][^:.;|(]{1,60}):\s+(?P<value>\S.{0,100})$")
ITEM = re.compile(r"(?P<name>[A-Za-z][\w.-]*(?:\([1-9]\))?)(?:\s\([^()]*\)(?::|$)|:(?=\s|$)|\s[-–—]\s)")
"""The beginning of an item of a list of settings: `max_idle (default: 100s): The maximal ...`."""
BEGINS_ITEM = re.compile(rf"--?[A-Za-z]|(?=[a-z]|[A-Z]{{2}}|[A-Z][a-z]+[A-Z]){ITEM.pattern}")
"""The beginning of any item, also of one that is no known setting (`--force`, `preview: 0 or 1`, `MaxIdle:`)."""
CONFIGURATION = re.compile(r"\.(?:conf|cfg|cf|ini|toml|ya?ml|json|users)$")
NAME_SHAPE = re.compile(r"[A-Z]{2,}|[A-Z]?[a-z]+[A-Z]\w*")
UNIT_COLUMN = re.compile(r"units?|einheit", re.IGNORECASE)
WORDS = re.compile(r"[^\W_]{2,}")
VALUE_WORDS = 10
NUMBER_CELL = re.compile(r"[-−–+±]?\s?\d[\d.,]*(?:\s?(?:to|[-–…])\s?[-−–+]?\d[\d.,]*)?")
ENDS_AS_SENTENCE = re.compile(r"(?:\S+\s+){7}.*[.!?。]$")
"""A value of eight words and a full stop is a sentence after a colon."""
OTHER_WORDS = 3
"""So many words beside names may stand in a cell that lists names; one with more tells something, not what the column says of the row."""
THINGS = frozenset({PRODUCT, TITLE, PART, IDENTIFIER})
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
        before: Entity | None = None
        item = self._setting(chunk.headings[-1]) if chunk.headings else None
        matches = [(m.start, m.end, self._mention(m)) for m in self._names.find(chunk.text)]
        measured = [(q.start, q.end, self._quantity(q)) for q in quantities(chunk.text)]
        for sentence in sentences(chunk.text):
            if (begun := self._item(sentence)) or BEGINS_ITEM.match(sentence.text):
                item = begun
            inside = _within(matches, sentence.start, sentence.end)
            amounts = _within(measured, sentence.start, sentence.end)
            self._beside(sentence, inside)
            if version := available_since(sentence.text):
                if sentence.text.endswith(":"):  # what follows is available, not what the item before is about
                    item = None
                elif item:
                    came = self._entity(version, VERSION_OF, _normal(version))
                    self._relate(item, "AVAILABLE_SINCE", came, sentence.text)
            if sentence.cells:
                self._row(sentence, subject)
            elif (value := own_default(sentence.text)) is not None:
                if item and value:
                    self._default(item, value, sentence.text)
            elif (pair := NAME_VALUE.match(sentence.text)) and not ENDS_AS_SENTENCE.search(pair["value"]):
                self._named_value(sentence, pair, subject, inside, amounts)
            else:
                before = self._prose(sentence, subject, before, inside, amounts)
        entities = tuple(self._entities.values())
        return Extraction(
            chunk_id=chunk.id,
            entities=entities,
            relations=tuple(self._relations.values()),
            state="ok" if entities else "empty",
        )

    def _titles(self) -> Entity | None:
        """Name what the chunk belongs to and what its headings name; give back what statements without a name are about."""
        chunk = self._chunk
        product_name = self._names.product_of.get(chunk.document_id)
        title = self._known(chunk.title)
        product = self._known(product_name) if product_name else None
        subject = product or title
        if product and title and title.normal != product.normal:
            self._relate(product, "DOCUMENTED_IN", title, chunk.title)
        for heading in chunk.headings:
            for match in self._names.find(heading):
                if (kind := self._names.type_of_key(match.key)) != TITLE:
                    self._entity(match.written, kind, self._names.entity_key(match.key), role="title")
        return subject if chunk.document_id in self._names.about_one_thing else None

    def _known(self, name: str) -> Entity | None:
        """The entity of a title or product, None for a text that is no name."""
        kind = self._names.type_of(name) if name.strip() else None
        if kind is None:
            return None
        return self._entity(name.strip(), kind, self._names.entity_key(normal_form(name)), role="title")

    def _entity(self, name: str, kind: str, normal: str, *, role: str = "mention") -> Entity:
        key = (kind, normal)
        known = self._entities.get(key)
        if known is None:
            known = self._entities[key] = Entity(
                name=" ".join(name.split()), type=kind, normal=normal, role="title" if role == "title" else "mention"
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

    def _item(self, sentence: Sentence) -> Entity | None:
        """The setting that a list item is about, None where the sentence begins none; say what it is where nobody sets it."""
        if found := default_value(sentence.text):
            name, value = found
            if setting := self._setting(name):
                self._default(setting, value, sentence.text)
        item = ITEM.match(sentence.text)
        return self._setting(item["name"]) if item else None

    def _setting(self, name: str) -> Entity | None:
        """What a text is the name of that may be set (`max_idle`, `MaxIdle`), None for any other text."""
        kind = self._names.type_of(name)
        if kind == IDENTIFIER or (kind == TERM and NAME_SHAPE.fullmatch(name)):
            return self._entity(name, kind, self._names.entity_key(normal_form(name)))
        return None

    def _default(self, setting: Entity, value: str, description: str) -> None:
        value = value.removeprefix(f"{setting.name} ")  # as it is written in a file: `Default: MaxIdle 100`
        if value.casefold() == "none":
            return
        measured = [q for q in quantities(value) if q.text == value and q.unit != "x"]
        kind, normal = (QUANTITY, _normal(measured[0].text)) if measured else (VALUE, _normal(value))
        self._relate(setting, "HAS_DEFAULT", self._entity(value, kind, normal), description)

    def _beside(self, sentence: Sentence, inside: Sequence[tuple[int, int, Entity]]) -> None:
        """Say what names are whose class stands right after them, and in which file a setting is."""
        text = self._chunk.text
        for i, (start, end, entity) in enumerate(inside):
            if entity.type not in (IDENTIFIER, PART) and not (
                entity.type == TERM and NAME_SHAPE.fullmatch(text, start, end)
            ):
                continue
            if name := class_after(entity.name, text, end):
                self._relate(entity, "IS_A", self._entity(name, CLASS, _normal(name)), sentence.text)
            following = inside[i + 1] if i + 1 < len(inside) else None
            if (
                following
                and "." not in entity.name
                and following[2].type == IDENTIFIER
                and CONFIGURATION.search(following[2].name)
                and file_after(text, end, following[0])
            ):
                self._relate(entity, "CONFIGURED_IN", following[2], sentence.text)

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
            # In a manual's table a cell may tell of other things than of the row's: `Represents the 16-bit integer as text`.
            is_value = subject is not None or len(WORDS.findall(value)) <= OTHER_WORDS + len(measured)
            for quantity in measured:
                if (is_value or quantity.start <= len("a ")) and (tail := self._quantity(quantity)):
                    self._relate(about, "HAS_VALUE", tail, row.text)
            for match in self._listed(value):
                self._relate_listed(about, self._mention(match), row.text, subject=subject)

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
        # `Quick Start: for 99 % of all users` tells of a page of an index what is in it.
        if owner is None or (owner.type == TITLE and owner is not subject):
            return
        tails = [*amounts, *(inside if self._listed(pair["value"]) else ())]
        for start, _, tail in tails if len(pair["value"].split()) <= VALUE_WORDS else ():
            if start >= value_start and tail is not None:
                self._relate_listed(owner, tail, sentence.text, subject=subject)

    def _listed(self, cell: str) -> Sequence[NameMatch]:
        """The names in a cell that does little else than list them."""
        found = self._names.find(cell)
        words = len(WORDS.findall(cell)) - sum(len(WORDS.findall(match.written)) for match in found)
        return found if words <= OTHER_WORDS else ()

    def _relate_listed(self, owner: Entity, tail: Entity, description: str, *, subject: Entity | None) -> None:
        """Relate what a table or a list sets beside each other.

        Of the document's one thing (`subject`) that says something whatever the tail is; of another only what it has or measures.
        """
        if tail.type == QUANTITY:
            self._relate(owner, "HAS_VALUE", tail, description)
        elif tail.type == PART and owner.type in (PRODUCT, TITLE):
            self._relate(owner, "HAS_PART", tail, description)
        elif owner is subject:
            self._relate(owner, "HAS_ATTRIBUTE" if tail.type == TERM else "RELATED_TO", tail, description)

    def _prose(
        self,
        sentence: Sentence,
        subject: Entity | None,
        before: Entity | None,
        inside: Sequence[tuple[int, int, Entity]],
        amounts: Sequence[tuple[int, int, Entity | None]],
    ) -> Entity | None:
        """Take definitions and what verbs say from a sentence; give back what it is about. `before`: what the one before was about."""
        written = self._chunk.text[sentence.start : sentence.end]
        about = self._subject_of(written, sentence.start, subject, before, inside)
        if about is None:
            return None
        owner, subject_end = about
        if name := definition(written, subject_end):
            self._relate(owner, "IS_A", self._entity(name, CLASS, _normal(name)), sentence.text)
        said = subject_end
        for statement in statements(written):
            if statement.start < subject_end or not predicate_begins(
                written, said, statement.start, first=said == subject_end
            ):
                continue
            said = statement.end
            span = (sentence.start + statement.end, sentence.start + statement.object_end)
            tails = _within(inside, *span)
            if statement.one_object:
                tails = _right_after(tails, span[0], self._chunk.text)
            else:
                tails = [t for t in tails if said_of_object(self._chunk.text, span[0], t[0], t[1], span[1])]
            if statement.type in ("HAS_VALUE", "HAS_PART"):
                for start, _, value in _within(amounts, *span):
                    near = statement.type == "HAS_VALUE" and said_of_object(
                        self._chunk.text, span[0], start, start, span[1]
                    )
                    if value is not None and (near or owner is subject):
                        self._relate(owner, "HAS_VALUE", value, sentence.text)
                if statement.type == "HAS_VALUE":
                    continue
            for _, _, tail in tails:
                pair = (tail, owner) if statement.reversed else (owner, tail)
                self._relate(pair[0], statement.type, pair[1], sentence.text)
        return owner

    def _subject_of(
        self,
        written: str,
        offset: int,
        subject: Entity | None,
        before: Entity | None,
        inside: Sequence[tuple[int, int, Entity]],
    ) -> tuple[Entity, int] | None:
        """What a sentence is about, and where its name ends in it: a name at its beginning, or what a pronoun stands for."""
        lead = re.match(r"(?:[\"'“]|the |an? |both |all |arduino®? )*", written, re.IGNORECASE)
        begin = lead.end() if lead else 0
        for start, end, entity in inside:
            if start - offset <= begin:
                return entity, end - offset
        if subject and (pronoun := ITS_SUBJECT.match(written)):
            return subject, pronoun.end()
        if before and (pronoun := PRONOUN.match(written)):
            return before, pronoun.end()
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
