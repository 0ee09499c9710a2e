"""The kinds of nodes and relationships that a store has, and the columns of their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["IMPORT", "KINDS", "Column", "Kind"]

ColumnType = Literal["string", "long", "double", "boolean", "string[]", "float[]"]


@dataclass(frozen=True, slots=True)
class Column:
    """A property, with its type in the words of Neo4j's import."""

    name: str
    type: ColumnType = "string"


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes or relationships of one kind: a file, named as the statement of the digest that reads them."""

    name: str
    columns: tuple[Column, ...]
    label: str = ""
    """Label or type of all; empty where each row says its own."""
    ends: tuple[str, str] = ("", "")
    """Of relationships: the kinds of their sources and targets."""

    @property
    def is_relationship(self) -> bool:
        """Whether it has ends."""
        return bool(self.ends[0])

    @property
    def header(self) -> list[str]:
        """The first row of the file. The first column of a node's properties identifies it."""
        if not self.is_relationship:
            first, *others = self.columns
            fields = [f"{first.name}:ID({self.name})", *(f"{column.name}:{column.type}" for column in others)]
            return fields if self.label else [*fields, ":LABEL"]
        fields = [f":START_ID({self.ends[0]})", f":END_ID({self.ends[1]})"]
        return [*fields, *([] if self.label else [":TYPE"]), *(f"{one.name}:{one.type}" for one in self.columns)]


def _columns(names: str) -> tuple[Column, ...]:
    """Read `name name:type ...`."""
    made = []
    for said in names.split():
        name, _, type_ = said.partition(":")
        made.append(Column(name, type_ or "string"))  # type: ignore[arg-type]
    return tuple(made)


KINDS: tuple[Kind, ...] = (
    Kind("document", _columns("id path title sha256 format product category version metadata"), "Document"),
    Kind(
        "chunk",
        _columns(
            "id document_id source_id position:long title headings:string[] section text prompted page_start:long page_end:long "
            "tokens:long anchors:string[] links boxes embedding:float[]"
        ),
        "Chunk",
    ),
    Kind("table_row", _columns("id chunk_id text embedding:float[]"), "__TableRow__"),
    Kind(
        "entity",
        _columns(
            "key graph name type normal description aliases:string[] mentions:long descriptions:string[] types:string[] embedding:float[]"
        ),
    ),
    Kind(
        "member",
        _columns("key graph survivor name type normal properties mentions relations embedding:float[]"),
        "__Member__",
    ),
    Kind("merge", _columns("key graph members:string[] reasons"), "__Merge__"),
    Kind(
        "community",
        _columns(
            "key graph level:long size:long structure label summary key_terms:string[] full_content citations content_hash "
            "embedding:float[]"
        ),
    ),
    Kind(
        "work",
        _columns(
            "key stage subject scope version state reason result attempts:long calls:long tokens:long completion_tokens:long cost:double "
            "seconds:double at"
        ),
        "__Work__",
    ),
    Kind("from_document", (), "FROM_DOCUMENT", ("chunk", "document")),
    Kind("row_of", (), "ROW_OF", ("table_row", "chunk")),
    Kind("next_chunk", (), "NEXT_CHUNK", ("chunk", "chunk")),
    Kind("links_to", _columns("href anchor context position:long"), "LINKS_TO", ("chunk", "chunk")),
    Kind("from_chunk", _columns("name role description says:string[]"), "FROM_CHUNK", ("entity", "chunk")),
    Kind(
        "relation",
        _columns(
            "description weight:long chunks:string[] descriptions:string[] reasons:string[] grounded:boolean reason score:double"
        ),
        "",
        ("entity", "entity"),
    ),
    Kind("merged_into", (), "MERGED_INTO", ("member", "entity")),
    Kind("in_community", (), "IN_COMMUNITY", ("entity", "community")),
    Kind("parent_community", (), "PARENT_COMMUNITY", ("community", "community")),
)
"""In the order in which they are written: what a relationship joins is there before it."""

IMPORT = Kind("import", _columns("key export kind rows:long"), "__Import__")
"""How far an import is: the digest of what is imported, the kind that is under way, and how many of its rows are in."""
