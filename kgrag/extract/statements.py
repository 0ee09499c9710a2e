"""What a model said about a chunk, before it is grounded in the chunk: names and statements in the model's own spelling."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kgrag.text.names import normal_form

__all__ = ["Form", "Named", "Stated", "Statement", "counted", "has_types", "read_path", "typed"]

A_TYPE = re.compile(r"[^\W\d]\w*(?:[ _-]\w+){0,2}")
"""Of an entity: one word to three."""
Form = Literal["json", "lines", "records"]
"""How a reply is written: JSON, one triple a line, or GraphRAG's delimited records."""


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that the model named."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple that the model stated."""

    head: str
    type: str
    tail: str
    head_type: str = ""
    tail_type: str = ""
    description: str = ""
    condition: str = ""
    """When a quantity holds: `at 25 °C`."""
    sentence: str = ""
    """What the model gives as the chunk's own words for it."""


@dataclass(slots=True)
class Stated:
    """All that one reply states, and what was wrong with it.

    `form` is None where nothing in the reply looks like an answer. `mended` says what was put right without loss (a fence was taken
    off), `lost` what could not be used. A reply of the right form that states nothing and lost nothing is an answer: the chunk is empty.
    """

    named: list[Named] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    form: Form | None = None
    mended: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How much it states."""
        return len(self.named) + len(self.statements)

    @property
    def reason(self) -> str:
        """What was wrong, in words; empty where nothing was."""
        return "; ".join(counted([*self.mended, *self.lost]))


def counted(notes: Sequence[str]) -> list[str]:
    """Say each note once, with its number where it came several times, in order of appearance."""
    return [note if count == 1 else f"{note} ({count} times)" for note, count in Counter(notes).items()]


def typed(stated: Stated) -> Stated:
    """Give names without a type the one that the same reply gives them elsewhere: in a list of triples they have none."""
    types: dict[str, str] = {}
    for named in stated.named:
        if named.type:
            types.setdefault(normal_form(named.name), named.type)
    if not types:
        return stated

    def type_of(name: str, kind: str) -> str:
        return kind or types.get(normal_form(name), "")

    return replace(
        stated,
        named=[replace(n, type=type_of(n.name, n.type)) for n in stated.named],
        statements=[
            replace(s, head_type=type_of(s.head, s.head_type), tail_type=type_of(s.tail, s.tail_type))
            for s in stated.statements
        ],
    )


def has_types(parts: Sequence[str], chunk_text: str) -> bool:
    """Whether five parts are a triple with the types of its ends, as the chunk has the fourth of them and not the third.

    Names with commas have five parts, too (`May 25, 1862, born in, Salem, Ohio`): their parts are no types, or the chunk has them whole.
    """
    text = chunk_text.casefold()
    if len(parts) != 5 or parts[3].casefold() not in text or parts[2].casefold() in text:
        return False
    is_whole = all(f"{name}, {more}".casefold() in text for name, more in (parts[:2], parts[3:]))
    return not is_whole and all(map(A_TYPE.fullmatch, (parts[1], parts[4])))


def read_path(parts: list[str], stated: Stated, *, chunk_text: str = "") -> None:
    """Read a triple, or a path of another length: five parts are two triples, four are a head, words of a relation, and a tail.

    Five are one triple where its ends are followed by their types (`X-100, Board, HAS_PART, LQ22, Part`).
    """
    if any(not re.search(r"[^\W_]", part) for part in parts):
        stated.lost.append("a triple has an empty part")
        parts = [part for part in parts if re.search(r"[^\W_]", part)]
    match len(parts):
        case 0 | 1:
            stated.lost.append(f"a triple has {len(parts)} parts of three")
        case 2:
            stated.lost.append("a triple has two parts of three (kept as an entity with a description)")
            stated.named.append(Named(parts[0], "", parts[1]))
        case 3 if not re.search(r"[^\W\d_]", parts[1]):
            stated.lost.append("a triple has a number for its relation")
        case 3:
            stated.statements.append(Statement(*parts))
        case 5 if has_types(parts, chunk_text):
            head, head_type, kind, tail, tail_type = parts
            stated.statements.append(Statement(head, kind, tail, head_type, tail_type))
        case count if count % 2:
            stated.mended.append(f"a path of {count} parts was read as {count // 2} triples")
            for i in range(0, count - 2, 2):
                stated.statements.append(Statement(parts[i], parts[i + 1], parts[i + 2], description=" ".join(parts)))
        case count:
            stated.mended.append(f"a triple of {count} parts was read with the middle ones as its relation")
            stated.statements.append(Statement(parts[0], " ".join(parts[1:-1]), parts[-1], description=" ".join(parts)))
