"""The `simple_kg` extractor: the extractor and the pruning of neo4j-graphrag's SimpleKGPipeline, one chunk at a time.

The pipeline object itself spends more time on its own bookkeeping for each text than on all of its components, splits texts again and
writes to a database.
"""

from __future__ import annotations

from typing import Any

from kgrag.extract.by_framework import FrameworkExtractor
from kgrag.extract.graph_data import read_data
from kgrag.extract.prompts import prompt_template
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Stated
from kgrag.models.base import ChatModel
from kgrag.models.frameworks.neo4j_graphrag import (
    ERExtractionTemplate,
    GraphPruning,
    GraphSchema,
    LLMEntityRelationExtractor,
    Neo4jGraphRagModel,
    OnError,
    TextChunk,
)
from kgrag.types import Chunk

__all__ = ["SimpleKGExtractor"]

FORM = """\
Return JSON in this form and nothing else:
{{"nodes": [{{"id": "0", "label": "Product", "properties": {{"name": "X-100", "description": "one sentence"}}}}],
 "relationships": [{{"type": "HAS_PART", "start_node_id": "0", "end_node_id": "1", "properties": {{"description": "one sentence"}}}}]}}
Give every node an id of its own and the properties name and description; relationships refer to nodes by id.
If the text states nothing, return {{"nodes": [], "relationships": []}}."""


class SimpleKGExtractor(FrameworkExtractor):
    """An `Extractor` of typed entities and relations, free or by a schema."""

    name = "simple_kg"
    repairs_json = True
    framework = "neo4j-graphrag"

    def __init__(
        self,
        model: ChatModel,
        *,
        instructions: str | None = None,
        schema: ExtractionSchema | None = None,
        as_shipped: bool = False,
    ) -> None:
        """Take a model; with `instructions` the framework's prompt is replaced by theirs."""
        self._template = ERExtractionTemplate()
        if instructions is not None:
            text = prompt_template(instructions, form=FORM, schema="{schema}" if schema else "", text="text")
            self._template = ERExtractionTemplate(template=text)
        super().__init__(model, schema=schema, as_shipped=as_shipped, depends_on=(self._template.template,))
        self._graph_schema = GraphSchema.model_validate(_graph_schema(schema)) if schema else GraphSchema.create_empty()
        self._has_schema = schema is not None

    async def _run(self, chunk: Chunk, model: ChatModel) -> Stated:
        # The pipeline's default is to log what it cannot parse and to go on without: nothing of the reply is kept either way.
        extractor = LLMEntityRelationExtractor(
            llm=Neo4jGraphRagModel(model),
            prompt_template=self._template,
            create_lexical_graph=False,
            on_error=OnError.RAISE,
        )
        graph = await extractor.extract_for_chunk(
            self._graph_schema, "", TextChunk(text=chunk.prompted_text, index=chunk.position, uid=chunk.id)
        )
        if self._has_schema and graph.nodes:
            graph = (await GraphPruning().run(graph=graph, schema=self._graph_schema)).graph
        return read_data(graph.model_dump(include={"nodes", "relationships"}))


def _graph_schema(schema: ExtractionSchema) -> dict[str, Any]:
    """Write a schema as neo4j-graphrag's; every type may have a description besides its name."""
    properties = [{"name": "name", "type": "STRING"}, {"name": "description", "type": "STRING"}]
    return {
        "node_types": [
            {"label": label, "description": description, "properties": properties, "additional_properties": True}
            for label, description in schema.entity_types
        ],
        "relationship_types": [
            {"label": label, "description": description, "additional_properties": True}
            for label, description in schema.relation_types
        ],
        "patterns": [list(pattern) for pattern in schema.patterns],
    }
