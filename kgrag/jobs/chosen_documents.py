"""Which documents are meant: those whose fields say what is wanted of them, or that are called something."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from kgrag.documents.discovery import stored_path
from kgrag.errors import InputError
from kgrag.types import Document

__all__ = ["documents_called", "documents_where"]

FIELDS = ("product", "category", "version", "title", "path", "format")
VALUES_NAMED = 10
"""Of the values that a field has, where none is the one that was given."""


def documents_where(conditions: Sequence[str], documents: Iterable[Document]) -> list[str]:
    """Return the ids of the documents of which every condition (`FIELD=VALUE`) holds; of one field, any of its values.

    A field is one of `FIELDS`, or a name in the document's metadata. Case does not matter. Raises `InputError` for what is no condition,
    and where no document has a value.
    """
    wanted: dict[str, set[str]] = defaultdict(set)
    for condition in conditions:
        field, equals, value = condition.partition("=")
        if not (field.strip() and equals and value.strip()):
            raise InputError(f"--where {condition}: expected FIELD=VALUE, such as product=X-100.")
        wanted[field.strip()].add(value.strip())
    left = list(documents)
    for field, values in wanted.items():
        said = {document.id: _value(document, field) for document in left}
        known = {one.casefold() for one in said.values()}
        if missing := [value for value in sorted(values) if value.casefold() not in known]:
            there = sorted({one for one in said.values() if one})
            has = f"{', '.join(there[:VALUES_NAMED])}{', ...' if len(there) > VALUES_NAMED else ''}"
            left_of = " of those that the conditions before leave" if len(wanted) > 1 else ""
            wrong = f"--where {field}={missing[0]}: no document{left_of} has "
            if not there:
                raise InputError(
                    f"{wrong}a field {field!r}. Fields are {', '.join(FIELDS)}, and those of the documents' metadata."
                )
            raise InputError(f"{wrong}that {field}. There are: {has}.")
        folded = {value.casefold() for value in values}
        left = [document for document in left if said[document.id].casefold() in folded]
    return [document.id for document in left]


def documents_called(name: str, documents: Sequence[Document]) -> list[Document]:
    """Return the document of a path or id, or of a title that one file has. Raises `InputError` where there is none, or several."""
    # `./x.md`, and a name with bytes that are no UTF-8, come as a shell gives them.
    paths = {name, stored_path(Path(name))}
    found = [one for one in documents if one.id == name or one.path in paths] or [
        one for one in documents if one.title == name
    ]
    if not found:
        raise InputError(
            f"No document has the path, id or title {name!r}. `kgrag cypher 'MATCH (d:Document) RETURN d.path'` lists them."
        )
    if len(several := sorted({one.path for one in found})) > 1:
        raise InputError(
            f"{name!r} is the title of several documents ({', '.join(several)}): say which, by path or id."
        )
    return found


def _value(document: Document, field: str) -> str:
    """What a document says of a field; empty where it says nothing."""
    value = getattr(document, field) if field in FIELDS else document.metadata.get(field)
    return "" if value is None else str(value)
