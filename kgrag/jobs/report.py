"""What a build did, counted while it runs."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kgrag.types import Usage

__all__ = ["BuildReport", "Failure", "GraphReport"]


class Failure(BaseModel):
    """Something that was not done, and why."""

    model_config = ConfigDict(frozen=True)

    stage: Literal["convert", "embed", "extract"]
    subject: str
    """The document's path, or the chunk's id; of an entity that has no vector its key."""
    scope: str = ""
    """The graph that a chunk could not be extracted for; the embedder of a chunk without a vector, or with rows without; the graph of such
    an entity."""
    reason: str


class GraphReport(BaseModel):
    """What a graph holds after a build, whichever builds wrote it, and what this build's extraction of it cost."""

    entities: int = 0
    relations: int = 0
    ungrounded: int = 0
    """Relations whose head or tail no chunk was found to have."""
    remarks: Counter[str] = Field(default_factory=Counter)
    """What this build noticed about what the model said: numbers that the chunk does not have, names that were dropped, ..."""
    usage: Usage = Usage()
    """What this build's calls used."""
    expected: Usage = Usage()
    """What `kgrag build --dry-run` expects of these calls."""


class BuildReport(BaseModel):
    """What a build did; `failures` and `ignored_files` name what it did not do. The only mutable type: it is filled as the build goes."""

    files: int = 0
    """Found that can be read as documents, whatever became of them."""
    new_documents: int = 0
    updated_documents: int = 0
    """Documents that took the place of one that their file had before: the file changed, or is read anew by other settings."""
    unchanged_files: int = 0
    removed_documents: list[str] = Field(default_factory=list)
    """Paths of documents whose files are gone or whose content was replaced by none."""
    moved_documents: dict[str, str] = Field(default_factory=dict)
    """Path before → path now, of documents whose files were moved or renamed: their vectors and extractions stay."""
    chunks_written: int = 0
    chunks_embedded: int = 0
    extractions: dict[str, Counter[str]] = Field(default_factory=dict)
    """Graph → state (ok, empty, mended, partial, failed, unchanged) → chunks."""
    graphs: dict[str, GraphReport] = Field(default_factory=dict)
    schemas: dict[str, str] = Field(default_factory=dict)
    """Graph → its induced schema, as a schema file."""
    models: dict[str, Usage] = Field(default_factory=dict)
    """Model → what it used by the meter: checks, repairs and embeddings included."""
    hyperlinks: int = 0
    """Between all chunks that the store has now."""
    links: dict[str, int] = Field(default_factory=dict)
    """What became of all hyperlinks (`kgrag.store.links.LinkCounts`)."""
    ignored_files: dict[str, int] = Field(default_factory=dict)
    """Suffix → files of a kind that kgrag does not read."""
    failures: list[Failure] = Field(default_factory=list)
    removed_lines: dict[str, list[str]] = Field(default_factory=dict)
    """Cleaning rule → the lines that it removed, with path and page: what `--explain-cleaning` shows."""
    notes: list[str] = Field(default_factory=list)
    seconds: dict[str, float] = Field(default_factory=dict)
    """Stage → wall time."""

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for was done."""
        return not self.failures
