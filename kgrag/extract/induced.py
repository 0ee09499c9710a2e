"""A schema induced from samples: the types that the documents need, worked out once by the model, then used for every chunk."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kgrag.errors import InputError, ModelReplyError
from kgrag.extract.base import Extractor
from kgrag.extract.schema import ExtractionSchema, schema_from_data
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.frameworks.neo4j_graphrag import Neo4jGraphRagModel, SchemaExtractionError, SchemaFromTextExtractor
from kgrag.models.structured import parse_object
from kgrag.types import Chunk, Document, Extraction, Usage, content_id

__all__ = ["InducingExtractor"]

VERSION = "1"
SOURCE = "The induced schema"
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
        asked = _SchemaModel(self._model)
        extractor = SchemaFromTextExtractor(llm=Neo4jGraphRagModel(asked))
        try:
            found = await extractor.run(text="\n\n---\n\n".join(texts))
            schema = schema_from_data(found.model_dump(include={"node_types", "relationship_types"}), source=SOURCE)
        except (SchemaExtractionError, InputError) as error:
            raise asked.failure(str(error)) from error
        self.use(schema)
        return asked.usage

    def use(self, schema: ExtractionSchema) -> None:
        """Extract by this schema."""
        self.schema, self._extractor = schema, self._make(schema)

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk by the schema; without one where none was induced yet (an estimate of the prompts needs no call for it)."""
        return await self._extractor.extract(chunk)


class _SchemaModel:
    """The model as SchemaFromTextExtractor sees it: its reply is a schema in the form that is asked for, or it is asked once more.

    The framework's own parser drops types without properties and refuses a fence; here a schema is taken however it is written.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name
        self.usage = Usage()
        self.last = ""

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Ask for a schema. Raises `ModelReplyError` where neither reply has one, and what the model raises."""
        try:
            found = await self._ask(messages)
        except InputError as error:
            wrong = (
                f"That reply cannot be used: {error} Write the schema again, as JSON in the form that was asked for."
            )
            again = (*messages, Message("assistant", self.last or "(empty)"), Message("user", wrong))
            try:
                found = await self._ask(again)
            except InputError as still:
                raise self.failure(str(still)) from still
        named = [{"name": "name", "type": "STRING"}]
        types = {
            "node_types": [
                {"label": label, "description": text, "properties": named} for label, text in found.entity_types
            ],
            "relationship_types": [{"label": label, "description": text} for label, text in found.relation_types],
            "patterns": [],
            "constraints": [],
        }
        return Reply(json.dumps(types, ensure_ascii=False), usage=self.usage)

    async def _ask(self, messages: Sequence[Message]) -> ExtractionSchema:
        """Ask once. Raises `InputError` that says why the reply is no schema."""
        try:
            reply = await self._model.reply(messages)
            self.last, self.usage = reply.text, self.usage + reply.usage
        except ModelReplyError as error:
            if not error.usage.calls:
                raise
            self.last, self.usage = error.reply, self.usage + error.usage
        data = parse_object(self.last)
        if data is None:
            raise InputError(f"{SOURCE}: expected a JSON object, got none.")
        return schema_from_data({key: data[key] for key in data if key != "patterns"}, source=SOURCE)

    def failure(self, why: str) -> ModelReplyError:
        """Make the error that ends an induction."""
        return ModelReplyError(
            f"{self.name}: expected a schema of the documents, got none: {why} Write one and give it by --schema FILE.",
            reply=self.last,
            usage=self.usage,
        )
