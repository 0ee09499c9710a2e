"""LlamaIndex calls our `ChatModel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgrag.common.waiting import wait_for
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.frameworks import framework_missing

try:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
    from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY
    from llama_index.core.indices.property_graph import SimpleLLMPathExtractor
    from llama_index.core.llms.custom import CustomLLM
    from llama_index.core.prompts import PromptTemplate
    from llama_index.core.prompts.default_prompts import DEFAULT_KG_TRIPLET_EXTRACT_PROMPT
    from llama_index.core.schema import TextNode
except ImportError as error:
    raise framework_missing("llama-index-core", extra="llama-index", cause=error) from error

__all__ = [
    "DEFAULT_KG_TRIPLET_EXTRACT_PROMPT",
    "KG_NODES_KEY",
    "KG_RELATIONS_KEY",
    "LlamaIndexModel",
    "PromptTemplate",
    "SimpleLLMPathExtractor",
    "TextNode",
]

ROLES: Mapping[str, Any] = {"user": "user", "assistant": "assistant", "system": "system"}


class LlamaIndexModel(CustomLLM):
    """A `ChatModel` as LlamaIndex's LLM, asked by messages."""

    chat_model: Any
    """The `ChatModel` (pydantic would check a protocol's members by calling them)."""

    @property
    def metadata(self) -> LLMMetadata:
        """Say that it is a chat model."""
        return LLMMetadata(model_name=self.chat_model.name, is_chat_model=True)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Wait for the model's reply to messages."""
        return wait_for(self.achat(messages, **kwargs))

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Ask the model by messages. Raises what it raises."""
        reply = await self._ask([Message(ROLES[m.role.value], m.content or "") for m in messages])
        return ChatResponse(message=ChatMessage(role="assistant", content=reply.text))

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Wait for the model's reply to a prompt."""
        return wait_for(self.acomplete(prompt, formatted=formatted))

    async def acomplete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Ask the model by a prompt. Raises what it raises."""
        return CompletionResponse(text=(await self._ask([Message("user", prompt)])).text)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """Give the whole reply as one piece."""
        response = self.complete(prompt)
        return iter([CompletionResponse(text=response.text, delta=response.text)])

    async def _ask(self, messages: Sequence[Message]) -> Reply:
        model: ChatModel = self.chat_model
        return await model.reply(messages)
