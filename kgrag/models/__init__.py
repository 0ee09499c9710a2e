"""The only door to language, embedding and rerank models: a name in, a model out.

    model = open_chat_model("openai:gpt-4o-mini")
    model = open_chat_model("openai:qwen", base_url="http://127.0.0.1:8000/v1", concurrency=8)
    embedder = open_embedder("ollama:nomic-embed-text")

Hosted models come with everything that is in `models/stack.py` around them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kgrag.common.plugins import registered
from kgrag.errors import InputError
from kgrag.models.names import (
    CHAT_GROUP,
    CHAT_PROVIDERS,
    EMBEDDING_GROUP,
    EMBEDDING_PROVIDERS,
    LOCAL_PROVIDERS,
    RERANK_GROUP,
    RERANK_PROVIDERS,
    ModelName,
    is_hosted,
)

if TYPE_CHECKING:
    from kgrag.models.base import ChatModel, Embedder, Reranker
    from kgrag.models.meter import Meter
    from kgrag.models.stack import Stack
    from kgrag.settings import Settings

__all__ = [
    "CHAT_MODELS",
    "EMBEDDERS",
    "check_model_names",
    "is_hosted",
    "open_chat_model",
    "open_embedder",
    "open_reranker",
]

EMBEDDERS = ("minilm", "minilm-int8")
"""Names of embedders that need no endpoint and no extra."""
CHAT_MODELS = ("rules",)
"""Names that may answer without a model: `rules` makes answers of the documents' own sentences."""


def check_model_names(settings: Settings) -> None:
    """Raise `InputError` where a name is none that these functions know. Nothing is loaded, reached or read."""
    if settings.model not in CHAT_MODELS:
        ModelName.parse(settings.model, CHAT_PROVIDERS, builtin=CHAT_MODELS, setting="model", group=CHAT_GROUP)
    if settings.embedder not in EMBEDDERS:
        ModelName.parse(
            settings.embedder, EMBEDDING_PROVIDERS, builtin=EMBEDDERS, setting="embedder", group=EMBEDDING_GROUP
        )
    if settings.reranker is not None:
        ModelName.parse(settings.reranker, RERANK_PROVIDERS, builtin=(), setting="reranker", group=RERANK_GROUP)


def open_chat_model(
    name: str,
    *,
    settings: Settings | None = None,
    meter: Meter | None = None,
    setting: str = "model",
    **overrides: Any,
) -> ChatModel:
    """Return a chat model: `openai:NAME`, `azure:DEPLOYMENT`, `ollama:NAME`, one served here (`gguf:PATH`, `local:smollm2`), or a provider
    that another package adds.

    `overrides` are settings (`base_url`, `concurrency`, `timeout_s`, ...) for where `settings` is not given; the rest comes from `KGRAG_*`
    and `kgrag.toml`. Models that share a `meter` are counted together. `setting` is the flag that named it. Raises `InputError` for an
    unknown name and `ModelError` for a missing key; nothing is sent.
    """
    from kgrag.models.connections import connection
    from kgrag.models.endpoint import Endpoint
    from kgrag.models.openai_chat import ChatOptions, OpenAIChatModel

    parsed = ModelName.parse(name, CHAT_PROVIDERS, builtin=CHAT_MODELS, setting=setting, group=CHAT_GROUP)
    stack = _stack(settings, meter, overrides, model=name)
    if parsed.provider not in CHAT_PROVIDERS:
        return stack.chat(registered(CHAT_GROUP)[parsed.provider].load()(name, stack.settings))
    if parsed.provider in LOCAL_PROVIDERS:  # it answers one request after the other; those that wait must not time out
        stack = replace(stack, settings=stack.settings.model_copy(update={"concurrency": 1}))
    options = ChatOptions(stack.settings.temperature, stack.settings.max_completion_tokens, stack.settings.seed)
    return stack.chat(OpenAIChatModel(Endpoint(connection(parsed, "chat", stack.settings)), options=options))


def open_embedder(
    name: str, *, settings: Settings | None = None, meter: Meter | None = None, **overrides: Any
) -> Embedder:
    """Return an embedder: one of `EMBEDDERS`, a hosted one (`openai:`, `azure:`, `ollama:`, `cohere:`), `sentence-transformers:NAME`, or
    one of a provider that another package adds.

    Weights are loaded on first use. Raises `InputError` for an unknown name, `ModelMissing` where an extra is not installed, and
    `ModelError` for a missing key; nothing is sent.
    """
    if name in EMBEDDERS:
        from kgrag.models.minilm import MiniLM, MiniLMInt8

        return MiniLM() if name == "minilm" else MiniLMInt8()
    parsed = ModelName.parse(name, EMBEDDING_PROVIDERS, builtin=EMBEDDERS, setting="embedder", group=EMBEDDING_GROUP)
    if parsed.provider == "sentence-transformers":
        from kgrag.models import sentence_transformers_models as local
        from kgrag.models.batches import BatchingEmbedder

        return BatchingEmbedder(local.SentenceTransformersEmbedder(parsed), batch_texts=local.BATCH_TEXTS)
    from kgrag.models import cohere_models, openai_embedder
    from kgrag.models.connections import connection
    from kgrag.models.endpoint import Endpoint

    stack = _stack(settings, meter, overrides, embedder=name)
    if parsed.provider not in EMBEDDING_PROVIDERS:
        return stack.own_embedder(registered(EMBEDDING_GROUP)[parsed.provider].load()(name, stack.settings))
    at = connection(parsed, "embedder", stack.settings)
    wanted: dict[str, Any] = {
        "dimensions": stack.settings.embedder_dimensions,
        "max_tokens": stack.settings.embedder_max_tokens,
    }
    if parsed.provider == "cohere":
        return stack.embedder(cohere_models.CohereEmbedder(at, **wanted))
    return stack.embedder(openai_embedder.OpenAIEmbedder(Endpoint(at), **wanted))


def open_reranker(
    name: str, *, settings: Settings | None = None, meter: Meter | None = None, **overrides: Any
) -> Reranker:
    """Return a reranker: `cohere:NAME`, or the cross-encoder `sentence-transformers:NAME`.

    Raises as `open_embedder` does.
    """
    parsed = ModelName.parse(name, RERANK_PROVIDERS, builtin=(), setting="reranker", group=RERANK_GROUP)
    if parsed.provider == "sentence-transformers":
        from kgrag.models.sentence_transformers_models import CrossEncoderReranker

        return CrossEncoderReranker(parsed)
    from kgrag.models.cohere_models import CohereReranker
    from kgrag.models.connections import connection

    stack = _stack(settings, meter, overrides, reranker=name)
    if parsed.provider not in RERANK_PROVIDERS:
        return stack.reranker(registered(RERANK_GROUP)[parsed.provider].load()(name, stack.settings))
    return stack.reranker(CohereReranker(connection(parsed, "reranker", stack.settings)))


def _stack(settings: Settings | None, meter: Meter | None, overrides: dict[str, Any], **name: str) -> Stack:
    """Take settings as given or read them, and make what goes around a model."""
    from kgrag.models.meter import Meter
    from kgrag.models.prices import load_prices
    from kgrag.models.stack import Stack, open_cache
    from kgrag.settings import load_settings

    if settings is not None and overrides:
        raise InputError(f"Settings were given, and {', '.join(sorted(overrides))} besides: give one or the other.")
    chosen = settings or load_settings(**name, **overrides)
    return Stack(chosen, meter or Meter(load_prices(chosen.prices)), open_cache(chosen))
