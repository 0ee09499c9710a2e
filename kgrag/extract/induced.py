"""A schema induced from samples: the types that the documents need, worked out once by the model, then used for every chunk."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kgrag.errors import InputError, ModelReplyError
from kgrag.extract.base import Extractor
from kgrag.extract.schema import ExtractionSchema, schema_from_data
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.frameworks.neo4j_graphrag import Neo4jGraphRagModel, SchemaExtractionError, SchemaFromTextExtractor
from kgrag.types import Chunk, Document, Extraction, Usage, content_id

__all__ = ["InducingExtractor"]

VERSION = "1"
SAMPLES = 8
SAMPLE_CHARACTERS = 2_000
"""Of one sample: eight of them fit every model's window."""


class InducingExtractor:
    """An `Extractor` that is to have a schema before it extracts: `induce` asks the model for one, `use` takes one that is known.

    Samples are chunks from all over the corpus, the same whatever the order of the chunks. The schema is induced by neo4j-graphrag's
    SchemaFromTextExtractor, which SimpleKGPipeline would run for each text anew. Only its types are taken: a few samples cannot show
    every combination of types.
    """

    def __init__(self, model: ChatModel, make: Callable[[ExtractionSchema | None], Extractor]) -> None:
        self._model = model
        self._make = make
        self._extractor = make(None)
        self._samples: list[Chunk] = []
        self.name = self._extractor.name
        self.schema: ExtractionSchema | None = None

    @property
    def fingerprint(self) -> str:
        """Of the extractor with the schema; valid after `induce` or `use`."""
        return self._extractor.fingerprint

    @property
    def induction(self) -> str:
        """Of what a schema is induced by: version and model. A known schema of another induction is not used."""
        return content_id("induced", VERSION, self._model.name)

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Take the samples."""
        self._samples = heapq.nsmallest(SAMPLES, chunks, key=lambda chunk: content_id("sample", chunk.id))

    async def induce(self) -> Usage:
        """Ask the model for the schema of the samples. Raises `ModelReplyError` where it gives none, and what the model raises."""
        texts = [chunk.prompted_text[:SAMPLE_CHARACTERS] for chunk in self._samples]
        asked = _Counted(self._model)
        extractor = SchemaFromTextExtractor(llm=Neo4jGraphRagModel(asked), use_structured_output=True)
        try:
            found = await extractor.run(text="\n\n---\n\n".join(texts))
            schema = schema_from_data(
                found.model_dump(include={"node_types", "relationship_types"}), source="The schema"
            )
        except (SchemaExtractionError, InputError) as error:
            raise ModelReplyError(
                f"{self._model.name}: expected a schema of the documents, got none: {error} Write one and give it by --schema FILE.",
                reply=asked.last,
                usage=asked.usage,
            ) from error
        self.use(schema)
        return asked.usage

    def use(self, schema: ExtractionSchema) -> None:
        """Extract by this schema."""
        self.schema, self._extractor = schema, self._make(schema)

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk by the schema; without one where none was induced yet (an estimate of the prompts needs no call for it)."""
        return await self._extractor.extract(chunk)


class _Counted:
    """The model, with what it was asked for the schema cost."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name
        self.usage = Usage()
        self.last = ""

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        reply = await self._model.reply(messages, schema=schema)
        self.usage += reply.usage
        self.last = reply.text
        return reply
