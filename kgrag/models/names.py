"""Names of models: `openai:gpt-4o-mini`, `ollama:qwen2.5:7b`, `minilm`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgrag.common.plugins import registered
from kgrag.errors import InputError, did_you_mean

__all__ = [
    "CHAT_GROUP",
    "CHAT_PROVIDERS",
    "EMBEDDING_GROUP",
    "EMBEDDING_PROVIDERS",
    "JUDGE",
    "LOCAL_PROVIDERS",
    "RERANK_GROUP",
    "RERANK_PROVIDERS",
    "ModelName",
    "is_hosted",
]

LOCAL_PROVIDERS = ("gguf", "local")
"""Served by kgrag itself (`kgrag.models.local_server`): `gguf:PATH`, and `local:smollm2`, which a package carries."""
CHAT_PROVIDERS = ("openai", "azure", "ollama", *LOCAL_PROVIDERS)
"""All speak the OpenAI protocol; `openai` with a base URL is any such endpoint (vLLM, LM Studio, a gateway)."""
EMBEDDING_PROVIDERS = ("openai", "azure", "ollama", "cohere", "sentence-transformers")
RERANK_PROVIDERS = ("cohere", "sentence-transformers")
CHAT_GROUP, EMBEDDING_GROUP, RERANK_GROUP = "kgrag.models", "kgrag.embedders", "kgrag.rerankers"
"""Groups of entry points by which other packages add providers: callables `(name, settings)` that return a `ChatModel`, an `Embedder`, a
`Reranker`."""
JUDGE = "judge"
"""A flag that is no setting."""
IN_PROCESS = frozenset({"sentence-transformers"})


@dataclass(frozen=True, slots=True)
class ModelName:
    """A provider and its own name for a model."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"

    @classmethod
    def parse(
        cls, name: str, providers: tuple[str, ...], *, builtin: tuple[str, ...], setting: str, group: str = ""
    ) -> ModelName:
        """Read `provider:model`. Raises `InputError` that lists what may stand there; `setting` is the flag's name.

        Packages add providers by entry points of the group.
        """
        providers = (*providers, *sorted(set(registered(group)) - set(providers))) if group else providers
        provider, colon, model = name.partition(":")
        if colon and provider in providers and model.strip():
            return cls(provider, model.strip())
        forms = [*builtin, *(f"{provider}:NAME" for provider in providers)]
        hint = did_you_mean(name, builtin)
        if not hint and not colon and re.search(r"gpt|[\d-]", name) and "openai" in providers:  # `gpt-4o`, `llama3`
            hint = f" Did you mean openai:{name}?"
        variable = "" if setting == JUDGE else f" or KGRAG_{setting.upper()}"
        raise InputError(
            f"Unknown {setting} {name!r}: expected one of {', '.join(forms)}. Set --{setting}{variable}.{hint}"
        )


def is_hosted(name: str) -> bool:
    """Whether using the model means calling an endpoint: `openai:...` is, `rules`, `minilm` and `sentence-transformers:...` are not."""
    provider, colon, _ = name.partition(":")
    return bool(colon) and provider not in IN_PROCESS
