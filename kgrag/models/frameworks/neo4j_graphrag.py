"""neo4j-graphrag calls our `ChatModel`; its components are imported here and nowhere else, because they move between its versions."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from kgrag.common.waiting import wait_for
from kgrag.models.base import ChatModel, Message
from kgrag.models.frameworks import framework_missing

try:
    from neo4j_graphrag.components.entity_relation_extractor import LLMEntityRelationExtractor, OnError
    from neo4j_graphrag.components.graph_pruning import GraphPruning
    from neo4j_graphrag.components.schema import GraphSchema, SchemaFromTextExtractor
    from neo4j_graphrag.components.types import TextChunk
    from neo4j_graphrag.exceptions import SchemaExtractionError
    from neo4j_graphrag.generation.prompts import ERExtractionTemplate, Text2CypherTemplate
    from neo4j_graphrag.llm import LLMBase, LLMResponse
    from neo4j_graphrag.llm.types import LLMUsage
    from neo4j_graphrag.retrievers.text2cypher import extract_cypher
except ImportError as error:
    raise framework_missing("neo4j-graphrag", extra="neo4j-graphrag", cause=error) from error

# It warns of each text of which nothing is left by the schema; a build counts what is left out, and a warning a chunk hides the rest.
logging.getLogger("neo4j_graphrag.components.graph_pruning").addFilter(lambda record: record.levelno > logging.WARNING)

__all__ = [
    "ERExtractionTemplate",
    "GraphPruning",
    "GraphSchema",
    "LLMEntityRelationExtractor",
    "Neo4jGraphRagModel",
    "OnError",
    "SchemaExtractionError",
    "SchemaFromTextExtractor",
    "Text2CypherTemplate",
    "TextChunk",
    "extract_cypher",
]


class Neo4jGraphRagModel(LLMBase):
    """A `ChatModel` as neo4j-graphrag's LLM; `response_format` becomes the schema of the reply."""

    supports_structured_output = True

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model_name=model.name)
        self._model = model

    def invoke(self, input: Any, *args: Any, **kwargs: Any) -> LLMResponse:  # noqa: A002 - the framework's name
        """Wait for the model's reply."""
        return wait_for(self.ainvoke(input, *args, **kwargs))

    async def ainvoke(
        self,
        input: Any,  # noqa: A002 - the framework's name
        message_history: Any = None,
        system_instruction: str | None = None,
        response_format: type[BaseModel] | dict[str, Any] | None = None,
        **_: Any,
    ) -> LLMResponse:
        """Ask the model. Raises what it raises."""
        messages = [Message("system", system_instruction)] if system_instruction else []
        history: Sequence[Any] = getattr(message_history, "messages", message_history) or []
        turns = [*history, {"role": "user", "content": input}] if isinstance(input, str) else [*history, *input]
        messages.extend(Message(turn["role"], turn["content"]) for turn in turns)
        schema = response_format if response_format is None or isinstance(response_format, dict) else None
        if isinstance(response_format, type):
            schema = _json_schema(response_format)
        reply = await self._model.reply(messages, schema=schema)
        # By a schema the framework parses the content as JSON, which may stand in a fence in the text.
        content = json.dumps(reply.data, ensure_ascii=False) if isinstance(reply.data, dict | list) else reply.text
        return LLMResponse(
            content=content,
            usage=LLMUsage(
                request_tokens=reply.usage.prompt_tokens,
                response_tokens=reply.usage.completion_tokens,
                total_tokens=reply.usage.prompt_tokens + reply.usage.completion_tokens,
            ),
        )


@lru_cache(maxsize=32)
def _json_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()
