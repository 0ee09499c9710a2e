"""What the three extractors by language model have in common: one chunk in, the framework's work, entities and relations out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from kgrag.extract.accounting import accounted
from kgrag.extract.conversation import Conversation
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Stated
from kgrag.extract.surface import entity_label
from kgrag.models.base import ChatModel
from kgrag.store.identifiers import relation_type
from kgrag.types import Chunk, Document, Extraction, content_id

__all__ = ["FrameworkExtractor"]

VERSION = "1"
"""Goes up when the same reply would give another extraction."""


class FrameworkExtractor(ABC):
    """An `Extractor` that lets a framework ask a model about each chunk's `prompted_text`.

    Every chunk ends in one of four ways: ok, empty (the model says that there is nothing), repaired (with what was mended or lost as the
    reason), or `ModelReplyError` with the raw reply. The framework's objects are made once and serve all chunks.
    """

    name: str

    def __init__(self, model: ChatModel, *, depends_on: Sequence[str], schema: ExtractionSchema | None = None) -> None:
        self._model = model
        self._schema = schema
        self._depends_on = (VERSION, self.name, model.name, schema.digest if schema else "", *depends_on)
        # The frameworks compare types letter by letter; a type of the schema is that type however the model writes it.
        self._entity_labels = (
            {entity_label(label).casefold(): label for label, _ in schema.entity_types} if schema else {}
        )
        self._relation_labels = {relation_type(label): label for label, _ in schema.relation_types} if schema else {}

    @property
    def fingerprint(self) -> str:
        """Of version, model, prompt, schema and options."""
        return content_id(*self._depends_on)

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Need nothing of the corpus."""
        return None

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk. Raises `ModelReplyError` with the raw reply and its cost, and `ModelError` from the model."""
        said = Conversation(chunk.prompted_text)
        with said.current():
            stated = await self._run(chunk, said)
        return accounted(
            stated,
            chunk,
            reason=said.reason,
            reply=said.reply,
            said=said.stated.size,
            outside=_outside(said.stated, stated),
            usage=said.usage,
        )

    def entity_label(self, written: str) -> str:
        """Name a type of entity as the schema does, or as the store will."""
        label = entity_label(written)
        return self._entity_labels.get(label.casefold(), label)

    def relation_label(self, written: str) -> str:
        """Name a type of relation as the schema does, or as the store will."""
        label = relation_type(written)
        return self._relation_labels.get(label, label)

    @abstractmethod
    async def _run(self, chunk: Chunk, said: Conversation) -> Stated:
        """Let the framework extract a chunk: what it gives back, in the model's spelling."""


def _outside(said: Stated, kept: Stated) -> int:
    """Count what the framework left out of what it was given."""
    return len(_names(said) - _names(kept)) + len(said.statements) - len(kept.statements)


def _names(stated: Stated) -> set[str]:
    return {named.name for named in stated.named} | {end for s in stated.statements for end in (s.head, s.tail)}
