"""Bodies as endpoints write them: OpenAI's protocol (which Azure, Ollama and vLLM speak), some of Ollama's own, and Cohere's."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kgrag.models.base import Vectors
from kgrag.testing.behaviours import Behaviour, as_text
from kgrag.testing.requests import ModelRequest

__all__ = ["chat", "chat_stream", "cohere_embeddings", "cohere_rerank", "error", "model_list", "openai_embeddings"]

STREAM_CHARACTERS = 40


def estimated_tokens(text: str) -> int:
    """Tokens for the usage that is reported: a quarter of the characters, at least one."""
    return max(1, len(text) // 4)


def chat(request: ModelRequest, behaviour: Behaviour) -> dict[str, Any]:
    """Return a chat completion; data becomes a call of the request's tool where it has tools."""
    message, finish_reason = _message(request, behaviour)
    said = message["content"] or "".join(call["function"]["arguments"] for call in message.get("tool_calls", ()))
    return {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
        "usage": _usage(request, behaviour, said),
    }


def chat_stream(request: ModelRequest, behaviour: Behaviour) -> bytes:
    """Return the same as server-sent events."""
    whole = chat(request, behaviour)
    message, finish_reason = whole["choices"][0]["message"], whole["choices"][0]["finish_reason"]
    text = message["content"] or ""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + STREAM_CHARACTERS]} for start in range(0, len(text), STREAM_CHARACTERS)]
    if calls := message.get("tool_calls"):
        deltas.append({"tool_calls": [call | {"index": index} for index, call in enumerate(calls)]})
    common = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events = [common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append(common | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
    if (request.body.get("stream_options") or {}).get("include_usage"):
        events.append(common | {"choices": [], "usage": whole["usage"]})
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def openai_embeddings(request: ModelRequest, vectors: Vectors) -> dict[str, Any]:
    """Return embeddings, as numbers or as base64 of float32, as asked."""
    as_base64 = request.body.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode() if as_base64 else row.tolist(),
        }
        for index, row in enumerate(vectors)
    ]
    tokens = sum(map(estimated_tokens, request.texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": request.model, "usage": usage}


def cohere_embeddings(request: ModelRequest, vectors: Vectors) -> dict[str, Any]:
    """Return embeddings as Cohere's `/v2/embed` does."""
    return {
        "id": f"embed-{request.number}",
        "embeddings": {"float": vectors.tolist()},
        "texts": request.texts,
        "meta": {
            "api_version": {"version": "2"},
            "billed_units": {"input_tokens": sum(map(estimated_tokens, request.texts))},
        },
        "response_type": "embeddings_by_type",
    }


def cohere_rerank(request: ModelRequest) -> dict[str, Any]:
    """Return scores as Cohere's `/v2/rerank` does, best first: the share of the query's words that a passage has."""
    wanted = set(re.findall(r"\w+", str(request.body.get("query", "")).casefold()))
    scores = [
        len(wanted & set(re.findall(r"\w+", str(text).casefold()))) / max(1, len(wanted)) for text in request.texts
    ]
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    results = [{"index": index, "relevance_score": scores[index]} for index in order]
    top = request.body.get("top_n") or len(results)
    return {
        "id": f"rerank-{request.number}",
        "results": results[:top],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
    }


def model_list(names: Sequence[str]) -> dict[str, Any]:
    """Return the models of `/models`."""
    return {"object": "list", "data": [model(name) for name in names]}


def model(name: str) -> dict[str, Any]:
    """Return one model."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "kgrag.testing"}


def error(behaviour: Behaviour) -> dict[str, Any]:
    """Return an error as OpenAI words it (`error.message`) and as Cohere does (`message`)."""
    kind = {401: "authentication_error", 429: "requests"}.get(behaviour.status, "invalid_request_error")
    said: Mapping[str, Any] = {
        "message": behaviour.error_message,
        "type": kind if behaviour.status < 500 else "server_error",
        "param": None,
        "code": behaviour.error_code or None,
    }
    return {"error": said, "message": behaviour.error_message}


def hashed_vectors(texts: Sequence[str], dimensions: int) -> Vectors:
    """Embed texts as `HashingEmbedder` does."""
    from kgrag.testing.scripted import HashingEmbedder

    return HashingEmbedder(dimensions=dimensions).embed(texts) if texts else np.zeros((0, dimensions), np.float32)


def _message(request: ModelRequest, behaviour: Behaviour) -> tuple[dict[str, Any], str]:
    reply = behaviour.reply if behaviour.reply is not None else ""
    tools = [tool["name"] for tool in request.tools]
    choice = request.body.get("tool_choice")
    asked = choice["function"]["name"] if isinstance(choice, Mapping) and "function" in choice else None
    as_call = behaviour.tool is not None or (tools and choice != "none" and (asked or not isinstance(reply, str)))
    if not as_call:
        return {"role": "assistant", "content": as_text(reply), "refusal": None}, behaviour.finish_reason
    function = {"name": behaviour.tool or asked or tools[0], "arguments": as_text(reply)}
    call = {"id": f"call_{request.number}", "type": "function", "function": function}
    finish_reason = "tool_calls" if behaviour.finish_reason == "stop" else behaviour.finish_reason
    return {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}, finish_reason


def _usage(request: ModelRequest, behaviour: Behaviour, said: str) -> dict[str, int]:
    # Endpoints count the form that they are asked for as part of the prompt.
    form = json.dumps([request.schema, request.tools]) if request.schema or request.tools else ""
    prompt, completion = behaviour.usage or (
        estimated_tokens(request.prompt + form),
        estimated_tokens(said) if said else 0,
    )
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
