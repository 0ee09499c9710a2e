"""LangChain calls our `ChatModel`; tools become the schema of the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from kgrag.common.waiting import wait_for
from kgrag.errors import InputError
from kgrag.models.base import ChatModel, Message
from kgrag.models.frameworks import framework_missing
from kgrag.models.structured import parse_object

try:
    from langchain_core.documents import Document
    from langchain_core.exceptions import OutputParserException
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.output_parsers import PydanticToolsParser
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableConfig, RunnableLambda
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_experimental.graph_transformers import LLMGraphTransformer
except ImportError as error:
    raise framework_missing("langchain-experimental", extra="langchain", cause=error) from error

__all__ = ["ChatPromptTemplate", "Document", "LLMGraphTransformer", "LangChainModel", "asking"]

ROLES: Mapping[str, Any] = {"human": "user", "ai": "assistant", "system": "system"}


def asking(model: ChatModel) -> RunnableConfig:
    """Return the configuration of a call in which a `LangChainModel` asks this model instead of its own."""
    return {"configurable": {"chat_model": model}}


class LangChainModel(BaseChatModel):
    """A `ChatModel` as LangChain's chat model. With one tool bound the reply is a call of that tool; more than one is refused."""

    chat_model: Any
    """The `ChatModel` (pydantic would check a protocol's members by calling them)."""

    @property
    def _llm_type(self) -> str:
        return "kgrag"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Let the reply be a call of the tool. Raises `InputError` for more than one."""
        if len(tools) != 1:
            raise InputError(f"A kgrag model answers by one tool; got {len(tools)}. Bind one tool at a time.")
        function = convert_to_openai_tool(tools[0])["function"]
        return self.bind(tool_name=function["name"], tool_schema=function["parameters"], **kwargs)

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **_: Any) -> Any:
        """Reply as an object of the pydantic class `schema`, or with `include_raw` as raw, parsed and parsing_error.

        LangChain's own does the same by a chain of runnables that goes through a thread three times and makes the JSON schema anew at
        every call: most of a chunk's time.
        """
        model, parser = self.bind_tools([schema]), PydanticToolsParser(tools=[schema], first_tool_only=True)

        def parse(raw: Any) -> Any:
            if not include_raw:
                return parser.invoke(raw)
            try:
                return {"raw": raw, "parsed": parser.invoke(raw), "parsing_error": None}
            except (OutputParserException, ValidationError) as error:
                return {"raw": raw, "parsed": None, "parsing_error": error}

        async def aask(messages: Any, config: RunnableConfig) -> Any:
            return parse(await model.ainvoke(messages, config=config))

        return RunnableLambda(lambda messages, config: parse(model.invoke(messages, config=config)), afunc=aask)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Ask the model of this call: see `asking`."""
        if own := (config or {}).get("configurable", {}).get("chat_model"):
            kwargs["chat_model"] = own
        return await super().ainvoke(input, config, **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return wait_for(self._agenerate(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        model: ChatModel = kwargs.get("chat_model") or self.chat_model
        asked = [Message(ROLES[message.type], str(message.content)) for message in messages]
        tool = kwargs.get("tool_name")
        reply = await model.reply(asked, schema=kwargs.get("tool_schema"))
        usage = {
            "input_tokens": reply.usage.prompt_tokens,
            "output_tokens": reply.usage.completion_tokens,
            "total_tokens": reply.usage.prompt_tokens + reply.usage.completion_tokens,
        }
        if tool is None:
            answer = AIMessage(content=reply.text, usage_metadata=usage)
        else:
            # LangChain's own clients leave arguments that are no JSON object out of the calls.
            arguments = reply.data if isinstance(reply.data, dict) else parse_object(reply.text)
            call = {"name": tool, "args": arguments, "id": "call_1", "type": "tool_call"}
            calls = [call] if arguments is not None else []
            answer = AIMessage(content="" if calls else reply.text, tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=answer)])
