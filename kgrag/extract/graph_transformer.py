"""The `graph_transformer` extractor: LangChain's LLMGraphTransformer, by tool call or by prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from kgrag.errors import InputError
from kgrag.extract.by_framework import FrameworkExtractor
from kgrag.extract.conversation import Conversation, ReadingModel
from kgrag.extract.prompts import INSTRUCTIONS, escaped, prompt_template
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Named, Stated, Statement
from kgrag.models.base import ChatModel
from kgrag.models.frameworks.langchain import ChatPromptTemplate, Document, LangChainModel, LLMGraphTransformer
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
PROPERTIES = ("description",)
"""Asked for of every entity and relation, unless the caller says others."""


class GraphTransformerExtractor(FrameworkExtractor):
    """An `Extractor` of typed entities and relations with properties (tool mode) or of typed triples (prompt mode)."""

    name = "graph_transformer"

    def __init__(
        self,
        model: ChatModel,
        *,
        instructions: str = INSTRUCTIONS,
        schema: ExtractionSchema | None = None,
        mode: Literal["tool", "prompt"] = "tool",
        node_properties: Sequence[str] | None = None,
        relationship_properties: Sequence[str] | None = None,
    ) -> None:
        """Take a model; a `schema` gives allowed nodes and relationships. Raises `InputError` for properties in prompt mode."""
        if mode == "prompt" and (node_properties or relationship_properties):
            raise InputError(
                "LLMGraphTransformer asks for properties by tool call only: expected no properties in prompt mode."
            )
        nodes = [] if mode == "prompt" else list(PROPERTIES if node_properties is None else node_properties)
        relations = (
            [] if mode == "prompt" else list(PROPERTIES if relationship_properties is None else relationship_properties)
        )
        template = prompt_template(
            instructions, form=FORMS[mode], schema=escaped(schema.in_words()) if schema else "", text="input"
        )
        super().__init__(model, schema=schema, depends_on=(template, mode, *nodes, "/", *relations))
        self._properties = bool(nodes), bool(relations)
        write: Callable[[Stated], Any] = self._graph if mode == "tool" else self._triples
        self._transformer = LLMGraphTransformer(
            llm=LangChainModel(chat_model=ReadingModel(model, form="json", write=write)),
            prompt=ChatPromptTemplate.from_messages([("human", template)]),
            allowed_nodes=[label for label, _ in schema.entity_types] if schema else [],
            allowed_relationships=_allowed(schema) if schema else [],
            node_properties=nodes or False,
            relationship_properties=relations or False,
            ignore_tool_usage=mode == "prompt",
        )

    async def _run(self, chunk: Chunk, said: Conversation) -> Stated:
        graph = await self._transformer.aprocess_response(Document(page_content=chunk.prompted_text))
        sent, allowed = said.stated, set(self._entity_labels.values())
        # The transformer writes names in title case and types in capitals; it keeps the order, so each is one that was sent.
        return Stated(
            named=[n for n in sent.named if not allowed or self.entity_label(n.type) in allowed],
            statements=list(self._sent(graph.relationships, sent.statements)),
        )

    def _sent(self, kept: Sequence[Any], sent: Sequence[Statement]) -> Iterator[Statement]:
        """Find the statements that the transformer kept among those that it was sent."""
        waiting = iter(kept)
        wanted = next(waiting, None)
        for statement in sent:
            if wanted is not None and self._is(wanted, statement):
                yield statement
                wanted = next(waiting, None)

    def _is(self, relation: Any, statement: Statement) -> bool:
        return (
            str(relation.source.id) in (statement.head, statement.head.title())
            and str(relation.target.id) in (statement.tail, statement.tail.title())
            and str(relation.type).casefold() == self.relation_label(statement.type).replace(" ", "_").casefold()
        )

    def _graph(self, stated: Stated) -> dict[str, Any]:
        """Write the graph as arguments of the transformer's tool."""
        of_nodes, of_relations = self._properties
        nodes: dict[tuple[str, str], dict[str, Any]] = {}
        for named in [
            *stated.named,
            *(Named(n, t) for s in stated.statements for n, t in ((s.head, s.head_type), (s.tail, s.tail_type))),
        ]:
            node = {"id": named.name, "type": self.entity_label(named.type)}
            nodes.setdefault((named.name, node["type"]), node | _described(named.description, of_nodes))
        return {
            "nodes": list(nodes.values()),
            "relationships": [
                {
                    "source_node_id": s.head,
                    "source_node_type": self.entity_label(s.head_type),
                    "target_node_id": s.tail,
                    "target_node_type": self.entity_label(s.tail_type),
                    "type": self.relation_label(s.type),
                }
                | _described(s.description, of_relations)
                for s in stated.statements
            ],
        }

    def _triples(self, stated: Stated) -> str:
        """Write the triples as the JSON that the transformer's prompt mode reads."""
        return json.dumps(
            [
                {
                    "head": s.head,
                    "head_type": self.entity_label(s.head_type),
                    "relation": self.relation_label(s.type),
                    "tail": s.tail,
                    "tail_type": self.entity_label(s.tail_type),
                }
                for s in stated.statements
            ],
            ensure_ascii=False,
        )


def _described(description: str, wanted: bool) -> dict[str, Any]:
    return {"properties": [{"key": "description", "value": description}]} if wanted and description else {}


def _allowed(schema: ExtractionSchema) -> list[Any]:
    """Give the allowed relationships: patterns where there are some, else types."""
    return list(schema.patterns) if schema.patterns else [label for label, _ in schema.relation_types]
