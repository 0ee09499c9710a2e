"""Options that several commands share, and groups of those that are settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar, get_args, get_type_hints

import typer

__all__ = [
    "AllowedHosts",
    "AsJson",
    "AskingSettings",
    "BaseUrl",
    "Budget",
    "CallSettings",
    "Concurrency",
    "EachGraph",
    "Embedder",
    "Graph",
    "HostedSettings",
    "Model",
    "ModelSettings",
    "Pipelines",
    "Prices",
    "QuestionSettings",
    "RetrievalSettings",
    "Store",
    "Top",
    "Users",
    "Where",
    "setting",
    "takes_settings",
]

F = TypeVar("F", bound=Callable[..., Any])

SETTINGS_PANEL = "Settings (without them: KGRAG_* in the environment, then kgrag.toml)"


def setting(*names: str, **shown: Any) -> Any:
    """Return an option that is a setting: its default is not the command's, and its help says it where it has one."""
    return typer.Option(*names, show_default=False, rich_help_panel=SETTINGS_PANEL, **shown)


def takes_settings(command: F) -> F:
    """Give a command the options of the `TypedDict` that its last parameter, `**settings: Unpack[...]`, names.

    Each is a field of `kgrag.settings.Settings`, and None where it is not given.
    """
    signature = inspect.signature(command, eval_str=True)
    *own, settings = signature.parameters.values()
    (group,) = get_args(settings.annotation)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in get_type_hints(group, include_extras=True).items()
    ]
    command.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return command


Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="A folder (embedded database) or neo4j://host:7687 (with NEO4J_USERNAME, NEO4J_PASSWORD, NEO4J_DATABASE). Default: ./.kgrag",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Pipelines = Annotated[
    str,
    typer.Option(
        "--pipelines", help="Names or TOML files, separated by commas; RAG_* for all of a kind, all for every one."
    ),
]
EachGraph = Annotated[
    str | None,
    typer.Option("--graph", "-g", help="Which graph. Default: every graph of the store.", show_default=False),
]
Top = Annotated[
    int | None, typer.Option("--top", min=1, help="Cut after so many pieces of evidence.", show_default=False)
]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, help="Cut after so many tokens of evidence.", show_default=False)
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="FIELD=VALUE: only documents of which this holds (product, category, version, title, path, format, or of their metadata). "
        "May be given several times.",
        show_default=False,
    ),
]
Users = Annotated[
    Path | None, typer.Option("--users", help="A file of users; kgrag users add makes one.", show_default=False)
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allowed-host",
        help="A further name by which it may be called. May be given several times.",
        show_default=False,
    ),
]

Model = Annotated[
    str | None,
    setting(
        "--model",
        "-m",
        help="openai:NAME (any endpoint of that protocol, with --base-url), azure:DEPLOYMENT, ollama:NAME. Default: rules (model-free).",
    ),
]
BaseUrl = Annotated[
    str | None,
    setting(
        "--base-url",
        help="Of the model's endpoint, such as http://127.0.0.1:8000/v1. Keys come from the environment: OPENAI_API_KEY, ...",
    ),
]
Embedder = Annotated[
    str | None,
    setting(
        "--embedder",
        help="minilm (default), minilm-int8, openai:NAME, azure:NAME, ollama:NAME, cohere:NAME or sentence-transformers:NAME.",
    ),
]
Graph = Annotated[str | None, setting("--graph", "-g", help="The graph that is used instead of the pipeline's own.")]
Reranker = Annotated[
    str | None,
    setting("--reranker", help="sentence-transformers:NAME or cohere:NAME, for pipelines that rerank. Default: none."),
]
Pipeline = Annotated[
    str | None, setting("--pipeline", "-p", help="A file of pipelines/ by its name, or the path of a TOML file.")
]
Concurrency = Annotated[int | None, setting("--concurrency", min=1, help="Model calls under way at once. Default: 32.")]
RequestsPerMinute = Annotated[
    int | None, setting("--requests-per-minute", min=1, help="Of each hosted model. Default: no limit.")
]
TokensPerMinute = Annotated[
    int | None, setting("--tokens-per-minute", min=1, help="Of each hosted model. Default: no limit.")
]
TimeoutS = Annotated[float | None, setting("--timeout-s", help="Of one request to a model. Default: 120.")]
ModelCache = Annotated[
    str | None,
    setting("--model-cache", help='A file of replies that were paid for, or "off". Default: in ~/.cache/kgrag.'),
]
Prices = Annotated[Path | None, setting("--prices", help="A TOML file with prices of models, over kgrag's own.")]


class ModelSettings(TypedDict):
    """The models of a command."""

    model: Model
    base_url: BaseUrl
    embedder: Embedder


class QuestionSettings(ModelSettings):
    """Models, and the graph that questions are made of or asked of."""

    graph: Graph


class RetrievalSettings(QuestionSettings):
    """What pipelines retrieve with."""

    reranker: Reranker


class AskingSettings(RetrievalSettings):
    """What questions are asked with."""

    pipeline: Pipeline


class CallSettings(TypedDict):
    """How hosted models are called."""

    timeout_s: TimeoutS
    model_cache: ModelCache


class HostedSettings(ModelSettings, CallSettings):
    """Models of a job of many calls, which have a pace and a price."""

    concurrency: Concurrency
    requests_per_minute: RequestsPerMinute
    tokens_per_minute: TokensPerMinute
    prices: Prices
