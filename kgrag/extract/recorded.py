"""The `recorded` extractor: extractions that were made elsewhere (a batch API, another program, a data set), read from a file.

Each line of the file is a record: the `id` of a ready passage or of a chunk, and what was extracted from it, as data (`entities`,
`triples`, and the other keys that `kgrag.extract.replies` knows) or as the raw `reply` of a model. Records are read as replies are: what
is not quite in that form is mended or accounted for, and every name is compared with the chunk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgrag.errors import InputError, ModelReplyError
from kgrag.extract.graph_data import read_data
from kgrag.extract.grounding import ground
from kgrag.extract.replies import read_reply
from kgrag.extract.statements import Stated, typed
from kgrag.text.names import NORMAL_FORM_VERSION
from kgrag.types import Chunk, Document, Extraction, content_id

__all__ = ["NAMELESS_LINES", "STRAY_RECORDS", "RecordedExtractor"]

VERSION = "5"
"""Goes up when the same record would give another extraction."""
NAMELESS_LINES = "lines of the file that are no record"
STRAY_RECORDS = "records whose id is of no chunk"
NO_RECORD = "no record of it"
SHOWN_IDS = 5
ID_OF_BROKEN = re.compile(r'\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*,')
"""The id at the beginning of a line that is not JSON as a whole: cut off, or with a comma too many."""


class RecordedExtractor:
    """An `Extractor` that asks no model. The whole file is held in memory; several records of one id add up."""

    name = "recorded"

    def __init__(self, file: Path) -> None:
        """Read the file's lines. Raises `InputError` where it cannot be read or has no record."""
        self._file = file
        self._records: dict[str, list[str]] = {}
        nameless = []
        for number, line in enumerate(_lines(file), start=1):
            if line.strip():
                key = _id_of(line)
                if key:
                    self._records.setdefault(key, []).append(line)
                else:
                    nameless.append(number)
        if not self._records:
            raise InputError(
                f'{file}: expected JSON lines {{"id": ..., "entities": [...], "triples": [[head, relation, tail], ...]}}, '
                "got no line with an id. Check --recorded."
            )
        self._nameless = tuple(nameless)
        self._stray: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Of the whole file; `chunk_fingerprint` is of what it says of one chunk."""
        records = (part for key, lines in sorted(self._records.items()) for part in (key, *lines))
        return content_id(VERSION, NORMAL_FORM_VERSION, *records)

    def chunk_fingerprint(self, chunk: Chunk) -> str:
        """Of the chunk's records: a changed file extracts the chunks anew whose records changed."""
        return content_id(VERSION, NORMAL_FORM_VERSION, self.name, *self._of(chunk))

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Find the records that are of no chunk. Raises `InputError` where none is of any."""
        stray, example = set(self._records), ""
        for chunk in chunks:
            stray.difference_update(_ids(chunk))
            example = example or _ids(chunk)[-1]
        self._stray = tuple(sorted(stray))
        if example and len(stray) == len(self._records):
            raise InputError(
                f"{self._file}: expected ids of ready passages or chunks, such as {example!r}, got {len(stray):,} others, "
                f"such as {self._stray[0]!r}: no record is of a chunk of this store."
            )

    @property
    def remarks(self) -> Mapping[str, tuple[int, str]]:
        """What of the file is in no extraction: how many of what, and which. Valid after `prepare`."""
        said = {}
        if self._stray:
            said[STRAY_RECORDS] = (len(self._stray), f"{self._file}: {_named(self._stray)}")
        if self._nameless:
            said[NAMELESS_LINES] = (len(self._nameless), f"{self._file}: lines {_named(map(str, self._nameless))}")
        return said

    async def extract(self, chunk: Chunk) -> Extraction:
        """Read the chunk's records. Raises `ModelReplyError` where there is none, or nothing in them can be used."""
        lines = self._of(chunk)
        if not lines:
            raise ModelReplyError(f"{self._file}: {NO_RECORD} ({' or '.join(map(repr, _ids(chunk)))}).")
        stated, raw = Stated(), "\n".join(lines)
        for line in lines:
            read = _read(line, chunk)
            stated.named += read.named
            stated.statements += read.statements
            stated.mended += read.mended
            stated.lost += read.lost
        if stated.lost and not stated.size:
            raise ModelReplyError(f"Expected entities and relations, got none: {stated.reason}.", reply=raw)
        return ground(typed(stated), chunk, reply=raw)

    def _of(self, chunk: Chunk) -> list[str]:
        return [line for key in _ids(chunk) for line in self._records.get(key, ())]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").split("\n")  # not splitlines: JSON may have U+2028 in it
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{file}: expected JSON lines in UTF-8 with recorded extractions, cannot read it: {error}. Check --recorded."
        ) from error


def _id_of(line: str) -> str:
    """Read the id of a record; empty where the line has none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        begins = ID_OF_BROKEN.match(line)
        data = {"id": json.loads(begins[1])} if begins else None
    key = data.get("id") if isinstance(data, dict) else None
    return str(key).strip() if isinstance(key, str | int) and not isinstance(key, bool) else ""


def _read(line: str, chunk: Chunk) -> Stated:
    """Read one record; of one that is broken, its complete items."""
    try:
        data: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        # Without its id, which is no name.
        return read_reply(ID_OF_BROKEN.sub("{", line), chunk_text=chunk.prompted_text)
    said = {key: value for key, value in data.items() if key != "id"}
    if isinstance(reply := said.get("reply"), str):
        return read_reply(reply, chunk_text=chunk.prompted_text)
    return read_data(said)


def _ids(chunk: Chunk) -> tuple[str, ...]:
    """By what a record may name a chunk: its id, and for a ready passage the passage's own."""
    return (chunk.id,) if chunk.source_id == chunk.document_id else (chunk.id, chunk.source_id)


def _named(keys: Iterable[str]) -> str:
    shown = list(keys)
    more = f" and {len(shown) - SHOWN_IDS:,} more" if len(shown) > SHOWN_IDS else ""
    return ", ".join(shown[:SHOWN_IDS]) + more
