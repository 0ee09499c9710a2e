"""The `simple_kg` extractor: the components that neo4j-graphrag's SimpleKGPipeline is made of, with a writer that collects.

The pipeline object itself spends more time on its own bookkeeping for each text than on all of its components, splits texts again and
writes to a database; so the extractor, the pruning by schema and a `KGWriter` are called directly, one chunk at a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgrag.extract.by_framework import FrameworkExtractor
from kgrag.extract.conversation import Conversation, ReadingModel
from kgrag.extract.prompts import INSTRUCTIONS, prompt_template
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Named, Stated, Statement
from kgrag.models.base import ChatModel
from kgrag.models.frameworks.neo4j_graphrag import (
    ERExtractionTemplate,
    GraphPruning,
    GraphSchema,
    KGWriter,
    KGWriterModel,
    LexicalGraphConfig,
    LLMEntityRelationExtractor,
    Neo4jGraph,
    Neo4jGraphRagModel,
    OnError,
    TextChunk,
)
from kgrag.types import Chunk

__all__ = ["CollectingWriter", "SimpleKGExtractor"]

FORM = """\
Return JSON in this form and nothing else:
{{"nodes": [{{"id": "0", "label": "Product", "properties": {{"name": "X-100", "description": "one sentence"}}}}],
 "relationships": [{{"type": "HAS_PART", "start_node_id": "0", "end_node_id": "1", "properties": {{"description": "one sentence"}}}}]}}
Give every node an id of its own and the properties name and description; relationships refer to nodes by id.
If the text states nothing, return {{"nodes": [], "relationships": []}}."""


class CollectingWriter(KGWriter):
    """A `KGWriter` that keeps the graph instead of writing it to a database."""

    def __init__(self) -> None:
        self.graph = Neo4jGraph()

    async def run(self, graph: Neo4jGraph, lexical_graph_config: LexicalGraphConfig | None = None) -> KGWriterModel:
        """Keep the graph."""
        self.graph = graph
        return KGWriterModel(status="SUCCESS")


class SimpleKGExtractor(FrameworkExtractor):
    """An `Extractor` of typed entities and relations with descriptions, free or by a schema."""

    name = "simple_kg"

    def __init__(
        self,
        model: ChatModel,
        *,
        instructions: str = INSTRUCTIONS,
        schema: ExtractionSchema | None = None,
        structured: bool = True,
    ) -> None:
        """Take a model; `structured` asks it by JSON schema, else the prompt alone says the form."""
        template = prompt_template(instructions, form=FORM, schema="{schema}" if schema else "", text="text")
        super().__init__(model, schema=schema, depends_on=(template, str(structured)))
        self._graph_schema = GraphSchema.model_validate(_graph_schema(schema)) if schema else GraphSchema.create_empty()
        self._extractor = LLMEntityRelationExtractor(
            llm=Neo4jGraphRagModel(ReadingModel(model, form="json", write=self._neo4j_graph)),
            prompt_template=ERExtractionTemplate(template=template),
            create_lexical_graph=False,
            on_error=OnError.RAISE,
            use_structured_output=structured,
        )
        self._pruning = GraphPruning()

    async def _run(self, chunk: Chunk, said: Conversation) -> Stated:
        graph = await self._extractor.extract_for_chunk(
            self._graph_schema, "", TextChunk(text=chunk.prompted_text, index=chunk.position, uid=chunk.id)
        )
        if self._schema and graph.nodes:
            graph = (await self._pruning.run(graph=graph, schema=self._graph_schema)).graph
        writer = CollectingWriter()
        await writer.run(graph)
        nodes = {node.id: _named(node.properties, node.label) for node in writer.graph.nodes}
        statements = [
            _statement(nodes[relation.start_node_id], relation.type, nodes[relation.end_node_id], relation.properties)
            for relation in writer.graph.relationships
        ]
        return Stated(named=list(nodes.values()), statements=statements)

    def _neo4j_graph(self, stated: Stated) -> str:
        """Write the graph as neo4j-graphrag's JSON; names are properties, so that ids may be numbers."""
        numbers: dict[tuple[str, str], str] = {}
        nodes: list[dict[str, Any]] = []

        def number(name: str, kind: str, description: str = "") -> str:
            label = self.entity_label(kind)
            if (name, label) not in numbers:
                numbers[name, label] = str(len(nodes))
                nodes.append({"id": str(len(nodes)), "label": label, "properties": {"name": name}})
            properties = nodes[int(numbers[name, label])]["properties"]
            if description:
                properties["description"] = "; ".join(filter(None, (properties.get("description"), description)))
            return numbers[name, label]

        for named in stated.named:
            number(named.name, named.type, named.description)
        relationships = [
            {
                "type": self.relation_label(s.type),
                "start_node_id": number(s.head, s.head_type),
                "end_node_id": number(s.tail, s.tail_type),
                "properties": {"description": s.description} if s.description else {},
            }
            for s in stated.statements
        ]
        return json.dumps({"nodes": nodes, "relationships": relationships}, ensure_ascii=False)


def _named(properties: Mapping[str, Any], label: str) -> Named:
    return Named(str(properties["name"]), label, str(properties.get("description", "")))


def _statement(head: Named, kind: str, tail: Named, properties: Mapping[str, Any]) -> Statement:
    return Statement(head.name, kind, tail.name, head.type, tail.type, str(properties.get("description", "")))


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
