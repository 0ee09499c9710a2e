"""The seam that every extractor implements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kgrag.types import Chunk, Document, Extraction, Usage

if TYPE_CHECKING:
    from kgrag.extract.schema import ExtractionSchema

__all__ = ["Extractor", "FingerprintsChunks", "InducesSchema", "RemarksOnInput", "chunk_fingerprints"]


@runtime_checkable
class Extractor(Protocol):
    """Turns a chunk into entities and relations, from the chunk's own words. It never touches the database.

    The build calls `prepare` once with the whole corpus, then `extract` for each chunk whose ledger entry is missing, failed, or
    made by another `fingerprint`; an extraction with an unchanged `digest` is not written again.
    """

    @property
    def name(self) -> str:
        """The name of the extractor and, unless the user says otherwise, of the graph that it makes."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of all that its output depends on besides the chunk: version, model, prompt, schema, gazetteer. Valid after `prepare`."""
        ...

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Learn what must be known of the corpus as a whole (the mention extractor's gazetteer). Cheap; order must not matter."""
        ...

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk.

        Returns `state="empty"` where there is nothing to say, with a reason `"mended"` where a reply had to be put right and `"partial"`
        where something of it is lost. Raises
        `ModelReplyError` when the model's answer cannot be used (the build records it as failed), `ModelUnavailable` when the model
        cannot be reached for now (the build waits) and another `ModelError` when waiting would not help (the build stops).
        """
        ...


@runtime_checkable
class InducesSchema(Extractor, Protocol):
    """An extractor that works out its schema from samples: after `prepare` and before `fingerprint` it must `induce` one, or `use` one."""

    schema: ExtractionSchema | None

    @property
    def induction(self) -> str:
        """Of what a schema is induced by; a schema of another induction is not to be used."""
        ...

    async def induce(self) -> Usage:
        """Ask the model for a schema and use it. Raises `ModelReplyError` where it gives none, and what the model raises."""
        ...

    def use(self, schema: ExtractionSchema) -> None:
        """Extract by a schema that is known."""
        ...


@runtime_checkable
class FingerprintsChunks(Extractor, Protocol):
    """An extractor of which not every chunk depends on the same: the ledger's fingerprint is of each chunk."""

    def chunk_fingerprint(self, chunk: Chunk) -> str:
        """Of all that the extraction of this chunk depends on besides the chunk. Valid after `prepare`."""
        ...


@runtime_checkable
class RemarksOnInput(Extractor, Protocol):
    """An extractor that reads more than the chunks, and may find that some of it belongs to none."""

    @property
    def remarks(self) -> Mapping[str, tuple[int, str]]:
        """What was not used of its input: how many of what, and which. Valid after `prepare`."""
        ...


def chunk_fingerprints(extractor: Extractor) -> Callable[[Chunk], str]:
    """Return what gives the fingerprint of a chunk's extraction. To be called after `prepare`."""
    if isinstance(extractor, FingerprintsChunks):
        return extractor.chunk_fingerprint
    fingerprint = extractor.fingerprint
    return lambda _: fingerprint
