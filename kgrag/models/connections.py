"""From settings and environment to where a model is and how to get in."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from kgrag.errors import InputError, ModelError
from kgrag.models.endpoint_errors import Connection
from kgrag.models.keys import Key, read_key, redacted
from kgrag.models.names import LOCAL_PROVIDERS, ModelName
from kgrag.settings import Settings

__all__ = ["connection"]

Role = Literal["chat", "embedder", "reranker"]
OLLAMA_PORT = 11434


@dataclass(frozen=True, slots=True)
class _Provider:
    base_url: str | None
    """Where it is, unless something says otherwise."""
    url_variable: str
    key_variables: tuple[str, ...]
    needs_key: bool = True


PROVIDERS = {
    "openai": _Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",)),
    "azure": _Provider(None, "AZURE_OPENAI_ENDPOINT", ("AZURE_OPENAI_API_KEY",)),
    "ollama": _Provider(f"http://127.0.0.1:{OLLAMA_PORT}/v1", "OLLAMA_HOST", ("OLLAMA_API_KEY",), needs_key=False),
    "cohere": _Provider("https://api.cohere.com", "CO_API_URL", ("CO_API_KEY", "COHERE_API_KEY")),
}


def connection(model: ModelName, role: Role, settings: Settings) -> Connection:
    """Say how to reach a model; a local one is started by its first request.

    Raises `InputError` for a base URL that is none, `ModelError` for a missing key.
    """
    if model.provider in LOCAL_PROVIDERS:
        return _local(model, settings)
    provider = PROVIDERS[model.provider]
    own = {"chat": None, "embedder": settings.embedder_base_url, "reranker": settings.reranker_base_url}[role]
    shared = role == "chat" or _shares_endpoint(model, settings)
    given = own or (settings.base_url if shared else None)
    url = given or _from_environment(model.provider, provider) or provider.base_url
    if url is None:
        raise InputError(f"{model} needs the address of its endpoint: set --base-url or {provider.url_variable}.")
    variables = provider.key_variables
    if shared and settings.api_key_env:
        variables = (settings.api_key_env,)
    # An endpoint of one's own often has no key; one that wants it will say so.
    required = variables != provider.key_variables or (provider.needs_key and url == provider.base_url)
    try:
        key = read_key(variables, key_file=settings.api_key_file if shared else None, required=required)
    except ModelError as error:
        raise ModelError(f"{model}: {error}") from None
    return Connection(
        model,
        _checked(url, model),
        key,
        settings.timeout_s,
        os.environ.get("OPENAI_API_VERSION") or settings.api_version,
    )


def _local(model: ModelName, settings: Settings) -> Connection:
    """Say how a model is reached that kgrag serves: the first request starts its server, so what only plans starts none."""
    from kgrag.models.local_server import check_installed, local_model_file, serve_locally

    file = local_model_file(model.provider, model.model)
    check_installed()
    waiting = Connection(model, "", Key(None, "the local server"), settings.timeout_s, settings.api_version)

    def started() -> Connection:
        server = serve_locally(file)
        return replace(waiting, base_url=server.base_url, key=Key(SecretStr(server.key), "the local server"))

    return replace(waiting, start=started)


def _shares_endpoint(model: ModelName, settings: Settings) -> bool:
    """Whether `base_url` and the key's settings are for this embedder or reranker too."""
    provider, colon, _ = settings.model.partition(":")
    return not colon or provider == model.provider


def _from_environment(name: str, provider: _Provider) -> str | None:
    value = os.environ.get(provider.url_variable, "").strip()
    if not value or name != "ollama":
        return value or None
    # OLLAMA_HOST is what Ollama's server listens on: a host, with or without scheme and port.
    parts = urlsplit(value if "://" in value else f"http://{value}")
    host = "127.0.0.1" if parts.hostname in (None, "0.0.0.0", "::") else parts.hostname  # noqa: S104  compared, not bound
    return f"{parts.scheme}://{host}:{parts.port or OLLAMA_PORT}/v1"


def _checked(url: str, model: ModelName) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"The base URL of {model} is {redacted(url)!r}; expected one like http://127.0.0.1:8000/v1.")
    if parts.username or parts.password or parts.query:
        raise InputError(
            f"The base URL of {model} has a user, a password or a query in it. Leave them out: keys come from the environment "
            "(docs/models.md), because settings are shown."
        )
    return url
