"""Triples in CSV files, under the names of columns that are in use."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from kgrag.common.csv_quotes import check_quotes
from kgrag.errors import InputError
from kgrag.evaluate.triples import GoldTriple

__all__ = ["read_triples"]

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "head": ("head", "subject"),
    "relation": ("relation", "predicate", "type"),
    "tail": ("tail", "object"),
    "chunk": ("chunk_id", "chunk", "subject_chunk"),
    "source": ("source", "extractor"),
    "text": ("text", "sentence", "description"),
}
NEEDED = ("head", "relation", "tail")


def read_triples(file: Path) -> list[GoldTriple]:
    """Read the triples of a CSV file with a header line: head (or subject), relation, tail (or object); chunk_id, source and text if there.

    Raises `InputError` that says which column or line is missing what.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            text = opened.read()
        check_quotes(text)
        rows = csv.DictReader(io.StringIO(text, newline=""))
        header = list(rows.fieldnames or ())
        columns = {field: next((name for name in names if name in header), None) for field, names in COLUMNS.items()}
        if missing := [f"{field} (or {COLUMNS[field][1]})" for field in NEEDED if columns[field] is None]:
            raise InputError(
                f"{file}: expected a column {' and a column '.join(missing)}, got {', '.join(header) or 'no header'}."
            )
        triples = []
        for row in rows:
            values = {field: (row.get(name) or "").strip() for field, name in columns.items() if name is not None}
            if empty := [field for field in NEEDED if not values[field]]:
                raise InputError(f"{file}, line {rows.line_num}: expected a triple, {' and '.join(empty)} is empty.")
            triples.append(GoldTriple(**values))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: expected a CSV file in UTF-8, cannot read it: {error}.") from error
    if not triples:
        raise InputError(f"{file}: expected triples, it has none.")
    return triples
