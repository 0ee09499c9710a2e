"""What can be set, and from where: flags, then `KGRAG_*` in the environment, then `kgrag.toml` in the working directory."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from kgrag.errors import InputError, did_you_mean

__all__ = ["SETTINGS_FILE", "Settings", "load_settings"]

SETTINGS_FILE = "kgrag.toml"
SECRET = re.compile(r"key|secret|token$|password|passwd|credential|auth|base_url", re.IGNORECASE)
"""Names of settings, known and unknown, whose values are never shown."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MIXED = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9]{16,}|[0-9a-fA-F]{24,}|(?:sk|pk|rk|hf|gsk|xai)_\w{8,}")
"""What is a key rather than the name of a variable."""


class _SettingsFile(TomlConfigSettingsSource):
    """`kgrag.toml`, also with the byte order mark that editors on Windows write."""

    def _read_file(self, file_path: Path | Traversable) -> dict[str, Any]:
        return tomllib.loads(file_path.read_text(encoding="utf-8-sig"))


class Settings(BaseSettings):
    """Every setting with its default; a result records those it was made with."""

    model_config = SettingsConfigDict(env_prefix="KGRAG_", toml_file=SETTINGS_FILE, extra="forbid", frozen=True)

    store: str = "./.kgrag"
    """A folder (embedded database) or a `neo4j://` address."""
    embedder: str = "minilm"
    model: str = "rules"
    """Who answers and extracts: `rules` is model-free, `openai:NAME`, `azure:NAME` and `ollama:NAME` are hosted."""
    reranker: str | None = None
    base_url: str | None = None
    """Of the hosted model's endpoint. Embedder and reranker of the same provider share it, and both where `model` is `rules`."""
    embedder_base_url: str | None = None
    reranker_base_url: str | None = None
    api_key_env: str | None = None
    """Another environment variable with the key than the provider's own; shared as `base_url` is. A key itself is never a setting."""
    api_key_file: Path | None = None
    """A file with the key; shared as `base_url` is."""
    api_version: str = "2024-10-21"
    """Of Azure's API."""
    temperature: float = Field(default=0.0, ge=0.0)
    seed: int | None = None
    """Sent with every request where it is set, for endpoints that sample by it; another seed is another call."""
    max_completion_tokens: int | None = Field(default=None, gt=0)
    """Of one reply; a longer one is cut, which counts as failed."""
    requests_per_minute: int | None = Field(default=None, gt=0)
    """Of each hosted model."""
    tokens_per_minute: int | None = Field(default=None, gt=0)
    """Of each hosted model, prompt and reply together."""
    timeout_s: float = Field(default=120.0, gt=0.0)
    """Of one request, from its sending to the end of its reply."""
    retries: int = Field(default=5, ge=0)
    """How often a request is made again when the endpoint is away or busy."""
    model_cache: str = ""
    """A file of replies that were paid for; empty is the one in the user's cache folder, "off" is none."""
    prices: Path | None = None
    """A file with prices of models, over the package's own."""
    embedder_dimensions: int | None = Field(default=None, gt=0)
    """Ask a hosted embedder for shorter vectors than its own."""
    embedder_max_tokens: int | None = Field(default=None, gt=0)
    """Window of a hosted embedder that kgrag does not know."""
    answer_prompt: Path | None = None
    """A file with the instructions for answers by a model instead of kgrag's own, or the name of a shipped template."""
    open_knowledge: bool = False
    """A model may add what it knows from elsewhere to an answer, marked and apart from what the documents say."""
    answer_gate: float = Field(default=0.0, ge=0.0, le=1.0)
    """Ask a model only where the evidence answers at least so probably; 0 always asks."""
    answer_chain: Literal["stuff", "map_reduce", "refine"] = "stuff"
    """How a model is shown the evidence: at once, in batches whose answers it merges, or batch by batch, each with the answer so far."""
    chain_tokens: int = Field(default=1500, gt=0)
    """Of the passages of one batch."""
    answer_strict: bool = False
    """Take sentences of a model's answer that what they cite does not support out, instead of marking them."""
    extractor: Annotated[tuple[str, ...], NoDecode] = Field(default=("mention",), min_length=1)
    """One or several, each of which makes a graph of its own; in the environment separated by commas."""
    graph: str | None = None
    """Another name for the graph of a single extractor."""
    recorded: Path | None = None
    """The file that the extractor `recorded` reads."""
    prompt: str | None = None
    """`kgrag`, or a file with instructions for extraction, instead of the extractor's own prompt."""
    as_shipped: bool = False
    """Keep of a framework's extraction only what its own parser gives."""
    gleaning: bool = False
    """Let `llm` ask once more for what its first reply left out."""
    retry: Literal["failed", "partial"] = "failed"
    """What a build asks for again: chunks that failed, or those of which something was lost as well."""
    extraction_schema: str = "none"
    """Types that `llm`, `simple_kg` and `graph_transformer` may use: `none`, `induced` (from samples), or a JSON or TOML file."""
    max_paths_per_chunk: int = Field(default=10, gt=0)
    """Triplets that `path` asks for."""
    transformer_mode: Literal["tool", "prompt"] = "tool"
    """How `graph_transformer` asks: by a tool call, or by prompt alone."""
    node_properties: Annotated[tuple[str, ...] | None, NoDecode] = None
    """Properties of entities that `graph_transformer` asks for in tool mode; None is as the framework ships: none."""
    relationship_properties: Annotated[tuple[str, ...] | None, NoDecode] = None
    """The same for relations."""
    chunk_tokens: int = Field(default=512, ge=64)
    """Of the longest chunk; never more than the embedder's window."""
    pipeline: str = "default"
    pdf: Literal["auto", "native", "standard"] = "auto"
    chunker: Literal["structure", "hybrid", "recursive", "pages", "semantic"] = "structure"
    """kgrag's packer, Docling's HybridChunker as shipped, sections or pages in parts of 1,000 characters, or clusters of sentences."""
    table_rows: bool = False
    """Rows of tables get vectors of their own, for pipelines that look for them."""
    max_file_mb: int = Field(default=100, gt=0)
    """Larger files are reported, not read."""
    processes: int | None = Field(default=None, ge=1)
    """That convert PDF and Office files beside each other; None is one a core where there is much to convert, 1 the build's own."""
    engine: Literal["local", "ray"] = "local"
    """Who does the work of a build: this machine, or a Ray cluster."""
    ray_address: str | None = None
    """Of the cluster, such as `auto` or `HOST:6379`; None starts one on this machine for the build."""
    concurrency: int = Field(default=32, gt=0)
    """Calls of a model that are under way at once."""
    wait_s: float = Field(default=600.0, ge=0.0)
    """How long a build waits for a model or a database server that is away before it gives up."""

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        """Refuse a key where the name of a variable is expected."""
        if value is None or (VARIABLE.fullmatch(value) and (value in os.environ or not MIXED.fullmatch(value))):
            return value
        raise ValueError("expected the name of an environment variable, such as MY_API_KEY; a key is never a setting")

    @field_validator("base_url", "embedder_base_url", "reranker_base_url")
    @classmethod
    def _has_no_user(cls, value: str | None) -> str | None:
        """Refuse a user or a password in an address, with or without a scheme."""
        if value is not None and "@" in value.partition("://")[2 if "://" in value else 0].partition("/")[0]:
            raise ValueError("expected an address without a user and a password; keys come from the environment")
        return value

    @field_validator("extractor", "node_properties", "relationship_properties", mode="before")
    @classmethod
    def _separated(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags, environment, file."""
        return init_settings, env_settings, _SettingsFile(settings_cls)


def load_settings(**flags: Any) -> Settings:
    """Read the settings; a flag that is None or an empty list was not given.

    Raises `InputError` that names the setting and where it may come from.
    """
    if os.path.lexists(SETTINGS_FILE) and not os.path.isfile(SETTINGS_FILE):  # noqa: PTH113  a name that it cannot read raises nothing
        raise InputError(
            f"{Path.cwd() / SETTINGS_FILE}: expected a file with settings, got a folder or a link to nowhere."
        )
    try:
        return Settings(**{name: value for name, value in flags.items() if value not in (None, [])})
    except ValidationError as error:
        problems = "; ".join(
            _problem(".".join(map(str, e["loc"])), e["msg"], e["input"], kind=e["type"]) for e in error.errors()
        )
        # Without its cause, which shows every value.
        raise InputError(f"Settings (flags, KGRAG_* or {SETTINGS_FILE}): {problems}") from None
    except ValueError as error:  # tomllib: not TOML
        raise InputError(f"{Path(SETTINGS_FILE).resolve()} is not valid TOML: {error}") from error


def _problem(name: str, message: str, value: Any, *, kind: str) -> str:
    """Say what is wrong with a setting; a value that may be a secret is not shown."""
    if SECRET.search(name):
        hint = ": a key is never a setting, it comes from the environment (docs/models.md)" if name == "api_key" else ""
        return f"{name}: {message}{hint}"
    if kind == "extra_forbidden":
        return f"{name}: there is no such setting (got {value!r}).{did_you_mean(name, Settings.model_fields)}"
    return f"{name}: {message} (got {value!r})"
