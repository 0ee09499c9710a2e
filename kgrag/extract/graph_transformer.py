"""The `graph_transformer` extractor: LangChain's LLMGraphTransformer, by tool call or by prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from kgrag.errors import InputError
from kgrag.extract.by_framework import FrameworkExtractor
from kgrag.extract.graph_data import read_data
from kgrag.extract.prompts import escaped, prompt_template
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Stated
from kgrag.models.base import ChatModel
from kgrag.models.frameworks.langchain import (
    ChatPromptTemplate,
    Document,
    LangChainModel,
    LLMGraphTransformer,
    asking,
)
from kgrag.types import Chunk

__all__ = ["GraphTransformerExtractor"]

FORMS = {
    "tool": """\
Give nodes and relationships in the form that the tool asks for. The id of a node is its name.
If the text states nothing, give empty lists.""",
    "prompt": """\
Return a JSON list in this form and nothing else:
[{{"head": "X-100", "head_type": "Product", "relation": "HAS_PART", "tail": "LQ22", "tail_type": "Part"}}]
If the text states nothing, return [].""",
}


class GraphTransformerExtractor(FrameworkExtractor):
    """An `Extractor` of typed entities and relations, with properties where they are asked for (tool mode)."""

    name = "graph_transformer"
    framework = "langchain-experimental"

    def __init__(
        self,
        model: ChatModel,
        *,
        instructions: str | None = None,
        schema: ExtractionSchema | None = None,
        mode: Literal["tool", "prompt"] = "tool",
        node_properties: Sequence[str] = (),
        relationship_properties: Sequence[str] = (),
        as_shipped: bool = False,
    ) -> None:
        """Take a model; a `schema` gives allowed nodes and relationships. Raises `InputError` for properties in prompt mode."""
        if mode == "prompt" and (node_properties or relationship_properties):
            raise InputError(
                "LLMGraphTransformer asks for properties by tool call only: expected no properties in prompt mode."
            )
        template = None
        if instructions is not None:
            types = escaped(schema.in_words()) if schema else ""
            template = prompt_template(instructions, form=FORMS[mode], schema=types, text="input")
        super().__init__(
            model,
            schema=schema,
            as_shipped=as_shipped,
            depends_on=(template or "", mode, *node_properties, "/", *relationship_properties),
        )
        self.repairs_json = mode == "prompt"
        self._transformer = LLMGraphTransformer(
            llm=LangChainModel(chat_model=model),
            prompt=ChatPromptTemplate.from_messages([("human", template)]) if template else None,
            allowed_nodes=[label for label, _ in schema.entity_types] if schema else [],
            allowed_relationships=_allowed(schema) if schema else [],
            node_properties=list(node_properties) or False,
            relationship_properties=list(relationship_properties) or False,
            ignore_tool_usage=mode == "prompt",
        )

    async def _run(self, chunk: Chunk, model: ChatModel) -> Stated:
        document = Document(page_content=chunk.prompted_text)
        graph = await self._transformer.aprocess_response(document, config=asking(model))
        nodes = [{"id": node.id, "type": node.type, "properties": node.properties} for node in graph.nodes]
        relationships = [
            {
                "source_node_id": relation.source.id,
                "source_node_type": relation.source.type,
                "target_node_id": relation.target.id,
                "target_node_type": relation.target.type,
                "type": relation.type,
                "properties": relation.properties,
            }
            for relation in graph.relationships
        ]
        return read_data({"nodes": nodes, "relationships": relationships})


def _allowed(schema: ExtractionSchema) -> list[Any]:
    """Give the allowed relationships: patterns where there are some, else types."""
    return list(schema.patterns) if schema.patterns else [label for label, _ in schema.relation_types]
