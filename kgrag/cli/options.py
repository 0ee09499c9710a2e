"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AllowedHosts",
    "AsJson",
    "BaseUrl",
    "Budget",
    "Concurrency",
    "Embedder",
    "Graph",
    "Model",
    "ModelCache",
    "Pipeline",
    "Pipelines",
    "Prices",
    "RequestsPerMinute",
    "Reranker",
    "Store",
    "TimeoutS",
    "TokensPerMinute",
    "Top",
    "Users",
    "Where",
]

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
Pipeline = Annotated[
    str | None,
    typer.Option(
        "--pipeline", "-p", help="A file of pipelines/ by its name, or the path of a TOML file.", show_default=False
    ),
]
Pipelines = Annotated[
    str,
    typer.Option(
        "--pipelines", help="Names or TOML files, separated by commas; RAG_* for all of a kind, all for every one."
    ),
]
Graph = Annotated[
    str | None,
    typer.Option("--graph", "-g", help="The graph that is used instead of the pipeline's own.", show_default=False),
]
Reranker = Annotated[
    str | None,
    typer.Option(
        "--reranker",
        help="sentence-transformers:NAME or cohere:NAME, for pipelines that rerank. Default: none.",
        show_default=False,
    ),
]
Top = Annotated[
    int | None, typer.Option("--top", min=1, help="Cut after so many pieces of evidence.", show_default=False)
]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, help="Cut after so many tokens of evidence.", show_default=False)
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="openai:NAME (any endpoint of that protocol, with --base-url), azure:DEPLOYMENT, ollama:NAME. Default: rules (model-free).",
        show_default=False,
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="minilm (default), minilm-int8, openai:NAME, azure:NAME, ollama:NAME, cohere:NAME or sentence-transformers:NAME.",
        show_default=False,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        help="Of the model's endpoint, such as http://127.0.0.1:8000/v1. Keys come from the environment: OPENAI_API_KEY, ...",
        show_default=False,
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, help="Model calls under way at once. Default: 32.", show_default=False),
]
RequestsPerMinute = Annotated[
    int | None,
    typer.Option("--requests-per-minute", min=1, help="Of each hosted model. Default: no limit.", show_default=False),
]
TokensPerMinute = Annotated[
    int | None,
    typer.Option("--tokens-per-minute", min=1, help="Of each hosted model. Default: no limit.", show_default=False),
]
TimeoutS = Annotated[
    float | None, typer.Option("--timeout-s", help="Of one request to a model. Default: 120.", show_default=False)
]
ModelCache = Annotated[
    str | None,
    typer.Option(
        "--model-cache",
        help='A file of replies that were paid for, or "off". Default: in ~/.cache/kgrag.',
        show_default=False,
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option("--prices", help="A TOML file with prices of models, over kgrag's own.", show_default=False),
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
