"""Which documents a question is asked of: those whose fields say what is wanted of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kgrag.errors import InputError
from kgrag.types import Document

__all__ = ["documents_where"]

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


def _value(document: Document, field: str) -> str:
    """What a document says of a field; empty where it says nothing."""
    value = getattr(document, field) if field in FIELDS else document.metadata.get(field)
    return "" if value is None else str(value)
