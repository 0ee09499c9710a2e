"""Grounding: what a model stated, compared with its chunk. Spelling restored, what is not there marked, numbers checked, sizes limited.

Frameworks and models change how names are written: LangChain title-cases them ("3.3 kΩ" becomes "3.3 Kω"), LlamaIndex capitalises
them. A name that the chunk has is put back as the chunk writes it. One that it has not is kept, and what says it is not grounded.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from kgrag.errors import ModelReplyError
from kgrag.extract.statements import Stated, Statement, counted
from kgrag.store.identifiers import entity_type, relation_type
from kgrag.text.names import Gazetteer, normal_form
from kgrag.text.sentences import sentences
from kgrag.types import Chunk, Entity, Extraction, Relation, Usage, WorkState

__all__ = [
    "NOT_GROUNDED",
    "OUTSIDE_SCHEMA",
    "STRANGE_SENTENCES",
    "UNKNOWN_NUMBERS",
    "ChunkSurface",
    "entity_label",
    "ground",
]

MAX_NAME_CHARACTERS = 300
"""A longer name is no name: it is dropped and counted."""
MAX_DESCRIPTION_CHARACTERS = 2_000
MAX_STATEMENTS = 1_000
"""Of one chunk, and as many entities: a model that repeats itself without end fills no database."""

OUTSIDE_SCHEMA = "entities and relations outside the schema"
NOT_GROUNDED = "relations not grounded"
UNKNOWN_NUMBERS = "numbers that the chunk does not have"
STRANGE_SENTENCES = "sentences that the chunk does not have"
DROPPED_NAMES = f"names dropped (empty, or longer than {MAX_NAME_CHARACTERS} characters)"
CUT_DESCRIPTIONS = f"descriptions cut after {MAX_DESCRIPTION_CHARACTERS:,} characters"
DROPPED_STATEMENTS = f"statements dropped (more than {MAX_STATEMENTS:,} in one reply)"

DROPPED = (DROPPED_NAMES, DROPPED_STATEMENTS)
"""Remarks that say that something the model said is not in the extraction."""

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
UNIT_OF_A_LETTER = re.compile(r"\d\s?([^\W\d_])(?!\w)")
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|[\ud800-\udfff]"
)
"""Control characters, marks that turn or hide text, and halves of surrogate pairs."""
RAISED_AND_LOWERED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉")
DASHES = frozenset("‐‑‒–—―−﹘﹣－")
SINGLE_QUOTES, DOUBLE_QUOTES = frozenset("‘’‚′´`"), frozenset("“”„″«»")
UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")


class ChunkSurface:
    """A chunk's text, prepared for finding names in it as they are written there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: tuple[str, list[int]] | None = None
        self._squeezed: str | None = None
        self._sentences: list[str] | None = None
        self._numbers: frozenset[str] | None = None
        self._spellings: dict[str, str | None] = {}

    def spelling(self, name: str) -> str | None:
        """Find a name: as the text writes it, or None. Capitals, kinds of spaces, dashes and quotation marks may differ."""
        if name not in self._spellings:
            self._spellings[name] = self._verbatim(name) or self._alike(name)
        return self._spellings[name]

    def spellings(self, names: Iterable[str]) -> dict[str, str | None]:
        """Find names; those that are not there letter by letter are looked for by their normal form (`3.3V` is `3.3 V`)."""
        found = {name: self.spelling(name) for name in names}
        missing = [name for name, spelling in found.items() if spelling is None and self._may_have(name)]
        while missing:
            keys = {match.key: match.written for match in Gazetteer(missing).find(self.text)}
            now = {name: keys[key] for name in missing if (key := normal_form(name)) in keys}
            if not now:
                break
            found.update(now)
            self._spellings.update(now)
            # A longer name hides a shorter one inside it: look again without it.
            missing = [name for name in missing if name not in now]
        return found

    def unknown_numbers(self, text: str) -> list[str]:
        """Name the numbers of `text` that the chunk does not have; `20,000` and `20000` are one number."""
        if not any(character.isdigit() for character in text):
            return []
        if self._numbers is None:
            self._numbers = frozenset(_numbers(self.text))
        return [number for number in dict.fromkeys(_numbers(text)) if number not in self._numbers]

    def sentence(self, head: str, tail: str) -> str:
        """Quote the first sentence or table row that has both names; empty where none has."""
        if self._sentences is None:
            self._sentences = [sentence.text for sentence in sentences(self.text)]
        return next((text for text in self._sentences if head in text and tail in text), "")

    def says(self, sentence: str) -> bool:
        """Whether the text has a sentence or a row, whatever its capitals, spaces and marks."""
        if self._folded is None:
            self._folded = _fold(self.text)
        return _fold(sentence)[0].strip() in self._folded[0]

    def _may_have(self, name: str) -> bool:
        """Whether the letters and digits of a name stand somewhere in a row: a cheap condition for looking closer."""
        if self._squeezed is None:
            self._squeezed = _squeeze(self.text)
        return _squeeze(name) in self._squeezed

    def _verbatim(self, name: str) -> str | None:
        start = self.text.find(name)
        while start >= 0:
            if _stands_alone(self.text, start, start + len(name)):
                return name
            start = self.text.find(name, start + 1)
        return None

    def _alike(self, name: str) -> str | None:
        """Find a name with other capitals or marks: what is found must have the same normal form, or be what a framework makes of it."""
        if self._folded is None:
            self._folded = _fold(self.text)
        folded, places = self._folded
        wanted = _fold(name)[0].strip()
        start = folded.find(wanted) if wanted else -1
        while start >= 0:
            first, last = places[start], places[start + len(wanted) - 1]
            written = self.text[first : last + 1]
            if (
                "\n" not in written
                and _stands_alone(self.text, first, last + 1)
                and (_is_respelled(name, written) or normal_form(written) == normal_form(name))
            ):
                return written
            start = folded.find(wanted, start + 1)
        return None


def _is_respelled(name: str, written: str) -> bool:
    """Whether a name is what a framework's capitals make of what is written, and no unit of one letter became another (`5 s`, `5 S`)."""
    return name in (written.title(), written.capitalize()) and UNIT_OF_A_LETTER.findall(
        name
    ) == UNIT_OF_A_LETTER.findall(written)


def ground(
    stated: Stated,
    chunk: Chunk,
    *,
    reply: str,
    said: int | None = None,
    remarks: Mapping[str, int] | None = None,
    usage: Usage | None = None,
) -> Extraction:
    """Make an extraction of what was stated: names as the chunk writes them, types mended, what the chunk does not say marked.

    `stated.mended` and `stated.lost` become state and reason: `partial` where something was lost, `mended` where nothing was. `said` is
    how much the reply stated before a schema left something out of it, `remarks` what was noticed before. Raises `ModelReplyError` with
    the raw `reply` where it stated something and nothing of that can be used.
    """
    entities, relations, noticed = _Grounding(stated, chunk).grounded()
    noticed |= {remark: count for remark, count in (remarks or {}).items() if count}
    usage = usage or Usage()
    if not entities and (stated.size if said is None else said) and OUTSIDE_SCHEMA not in noticed:
        raise ModelReplyError("Expected names, got none that can be one.", reply=reply, usage=usage)
    lost = [*stated.lost, *(f"{noticed[remark]} {remark}" for remark in DROPPED if remark in noticed)]
    state: WorkState = "partial" if lost else "mended" if stated.mended else "ok" if entities else "empty"
    return Extraction(
        chunk_id=chunk.id,
        entities=entities,
        relations=relations,
        state=state,
        reason="; ".join(counted([*stated.mended, *lost])),
        remarks=noticed,
        usage=usage,
    )


class _Grounding:
    """Makes entities and relations of what was stated of one chunk, and counts what is remarkable."""

    def __init__(self, stated: Stated, chunk: Chunk) -> None:
        self._stated = stated
        self._surface = ChunkSurface(chunk.prompted_text)
        names = [n.name for n in stated.named] + [name for s in stated.statements for name in (s.head, s.tail)]
        self._cleaned = {name: _clean(name) for name in dict.fromkeys(names)}
        self._written = self._surface.spellings(dict.fromkeys(filter(None, self._cleaned.values())))
        self._titles = _titles(chunk.title, chunk.headings)
        self._keys: dict[tuple[str, str], tuple[str, str, str] | None] = {}
        self._entities: dict[tuple[str, str], Entity] = {}
        self._relations: dict[tuple[str, str, str, str, str], Relation] = {}
        self._remarks: Counter[str] = Counter()

    def grounded(self) -> tuple[tuple[Entity, ...], tuple[Relation, ...], dict[str, int]]:
        """Return entities, relations, and how often each remark was made."""
        stated, remarks = self._stated, self._remarks
        for named in stated.named[:MAX_STATEMENTS]:
            if self._entity(named.name, named.type, named.description) is None:
                remarks[DROPPED_NAMES] += 1
        for statement in stated.statements[:MAX_STATEMENTS]:
            self._relate(statement)
        for said in (stated.named, stated.statements):
            remarks[DROPPED_STATEMENTS] += max(0, len(said) - MAX_STATEMENTS)
        return (
            tuple(self._entities.values()),
            tuple(self._relations.values()),
            {note: n for note, n in remarks.items() if n},
        )

    def _entity(self, name: str, kind: str, description: str = "") -> Entity | None:
        """Make the entity of a name as it came, or find it again; None for what is no name."""
        if (name, kind) not in self._keys:
            self._keys[name, kind] = self._key_of(name, kind)
        key = self._keys[name, kind]
        if key is None:
            return None
        spelling, label, normal = key
        known = self._entities.get((label, normal))
        if known is None or (description and description not in known.description):
            self._count_unknown_numbers(description)
            known = self._entities[label, normal] = Entity(
                name=known.name if known else spelling,
                type=label,
                normal=normal,
                description=self._described(known.description if known else "", description),
                role="title" if normal in self._titles else "mention",
            )
        return known

    def _key_of(self, name: str, kind: str) -> tuple[str, str, str] | None:
        """Spelling, label and normal form; None for what is no name."""
        clean = self._cleaned[name]
        if not clean or len(clean) > MAX_NAME_CHARACTERS:
            return None
        spelling = self._written[clean] or clean
        if self._written[clean] is None:
            self._count_unknown_numbers(clean)
        return spelling, entity_label(kind), normal_form(spelling)

    def _relate(self, statement: Statement) -> None:
        """Make the relation that is stated, or add what is said of it to the one that is there."""
        head = self._entity(statement.head, statement.head_type)
        tail = self._entity(statement.tail, statement.tail_type)
        if head is None or tail is None:
            self._remarks[DROPPED_NAMES] += 1
            return
        kind = relation_type(statement.type)
        key = (head.type, head.normal, kind, tail.type, tail.normal)
        said = self._described(_saying(statement, head, tail, self._surface, self._remarks))
        if known := self._relations.get(key):
            if said and said not in known.description:
                both = self._described(known.description, said)
                self._relations[key] = known.model_copy(update={"description": both})
            return
        problems = self._not_said(statement, head, tail)
        self._remarks[NOT_GROUNDED] += bool(problems)
        self._count_unknown_numbers(statement.description)
        self._relations[key] = Relation(
            head=head,
            type=kind,
            tail=tail,
            description=said or ("" if problems else self._surface.sentence(head.name, tail.name)),
            grounded=not problems,
            reason="; ".join(problems),
        )

    def _not_said(self, statement: Statement, head: Entity, tail: Entity) -> list[str]:
        """Why a relation is not grounded: names that the chunk has not, and then its numbers; empty for one that is."""
        problems = [
            f"the chunk does not say {end.name!r} ({part})"
            for part, end, name in (("head", head, statement.head), ("tail", tail, statement.tail))
            if self._written[self._cleaned[name]] is None
        ]
        if problems:
            strange = self._surface.unknown_numbers(f"{head.name} {tail.name} {statement.description}")
            problems += [f"the chunk does not have the number {number}" for number in strange]
        return problems

    def _described(self, *parts: str) -> str:
        """Put descriptions together, without control characters and not too long."""
        clean = CONTROL.sub("", "; ".join(filter(None, parts))).strip()
        if len(clean) > MAX_DESCRIPTION_CHARACTERS:
            self._remarks[CUT_DESCRIPTIONS] += 1
            clean = clean[: MAX_DESCRIPTION_CHARACTERS - 1].rstrip() + "…"
        return clean

    def _count_unknown_numbers(self, text: str) -> None:
        self._remarks[UNKNOWN_NUMBERS] += len(self._surface.unknown_numbers(text))


def entity_label(written: str) -> str:
    """Name a model's type as the store will: `board`, `Board` and `BOARD` are one."""
    return entity_type(written[:1].upper() + written[1:])


def _clean(name: str) -> str:
    """Take what is no part of a name off it: control characters, spaces at its ends and runs of them."""
    return " ".join(CONTROL.sub("", name).split())


def _saying(statement: Statement, head: Entity, tail: Entity, surface: ChunkSurface, remarks: Counter[str]) -> str:
    """Put description, condition and sentence together; a sentence that is not the chunk's gives way to one that has both names."""
    sentence = statement.sentence
    if sentence and not surface.says(sentence):
        remarks[STRANGE_SENTENCES] += 1
        sentence = surface.sentence(head.name, tail.name)
    context = ", ".join(filter(None, (statement.description, statement.condition)))
    return ": ".join(filter(None, (context, sentence)))


@lru_cache(maxsize=1024)
def _titles(title: str, headings: tuple[str, ...]) -> frozenset[str]:
    return frozenset(normal_form(name) for name in (title, *headings) if name.strip())


def _numbers(text: str) -> list[str]:
    return [
        number.replace(",", "") if GROUPED.fullmatch(number) else number
        for number in NUMBER.findall(unicodedata.normalize("NFKC", text))
    ]


@lru_cache(maxsize=8192)
def _folded(character: str) -> str:
    if character in RAISED_AND_LOWERED:
        return character
    if character in UNSEEN:
        return ""
    if character in DASHES:
        return "-"
    if character in SINGLE_QUOTES:
        return "'"
    if character in DOUBLE_QUOTES:
        return '"'
    return unicodedata.normalize("NFKC", character).casefold()


def _fold(text: str) -> tuple[str, list[int]]:
    """Fold a text for comparison: the folded text, and for each of its characters the place in the text that it comes from."""
    pieces: list[str] = []
    places: list[int] = []
    space = True
    for place, character in enumerate(text):
        if character.isspace():
            if not space:
                pieces.append(" ")
                places.append(place)
            space = True
            continue
        folded = _folded(character)
        if folded:
            pieces.append(folded)
            places.extend([place] * len(folded))
            space = False
    return "".join(pieces), places


def _squeeze(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is no part of a longer word, number or part number; a plural s after it is allowed."""
    return _may_begin(text, start) and _may_end(text, start, end)


def _may_begin(text: str, start: int) -> bool:
    if not start or not text[start].isalnum():
        return True
    before = text[start - 1]
    if before.isalnum() or before == "_":
        return False
    earlier = text[start - 2] if start > 1 else " "
    if before in DASHES or before == "-":
        if text[start].isdigit():
            return earlier.isdigit()  # the other end of a range; else a sign
        return not earlier.isalnum() or _word_before(text, start - 1).islower()
    if before in "±+" and text[start].isdigit():
        return False
    return not (before in ".," and text[start].isdigit() and earlier.isdigit())


def _may_end(text: str, start: int, end: int) -> bool:
    if end == len(text) or not text[end - 1].isalnum():
        return True
    after, later = text[end], text[end + 1 : end + 2]
    if after in "sS" and text[end - 1].isalpha() and not (later.isalnum() or later == "_"):
        return True
    if after.isalnum() or after == "_":
        return False
    if after in "+#" and not text[end:].lstrip("+#")[:1].isalnum():  # `C` is not C++
        return False
    if (after in DASHES or after == "-") and later.isalnum():
        word = re.match(r"\w+", text[end + 1 :])
        if later.isdigit():
            return text[start:end].isdigit()  # one end of a range
        return word is not None and word[0].islower() and len(word[0]) > 2
    return not (after in ".," and later.isdigit() and text[end - 1].isdigit())


def _word_before(text: str, end: int) -> str:
    word = re.search(r"\w+$", text[max(0, end - 40) : end])
    return word[0] if word else ""
