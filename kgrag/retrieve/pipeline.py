"""What a retrieval pipeline is: the settings of every step, read from a TOML file and checked.

A file under `pipelines/` is a pipeline by the file's name; a path to any other TOML file works as well.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgrag.errors import PipelineError

__all__ = [
    "Context",
    "GraphExpansion",
    "LinkExpansion",
    "Names",
    "Pipeline",
    "Seeds",
    "load_pipeline",
    "pipeline_names",
]

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1, le=1000)]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Seeds(_Settings):
    """Which chunks a question finds by itself."""

    kind: Literal["dense", "sparse", "hybrid"]
    candidates: Count = 100
    """Chunks taken from each index."""
    fusion: Literal["minmax", "rrf"] = "minmax"
    """How `hybrid` joins the two lists (`kgrag.retrieve.fusion`)."""
    alpha: Share = 0.5
    """Weight of dense against sparse, for `minmax`."""
    coverage: bool = False
    """For `minmax`: sparse counts only as far as the best sparse hits have the question's words (`kgrag.retrieve.coverage`)."""
    rrf_k: Count = 60
    """Rank offset of reciprocal rank fusion; 60 is that of Cormack, Clarke and Büttcher (SIGIR 2009)."""


class Names(_Settings):
    """Preference for chunks about something that the question names."""

    weight: Share
    """What a chunk about something that the question names gains, on the scale on which the best possible seed has 1."""
    chunks: Count = 50
    """Chunks about one name that become candidates, nearest to the question first."""


class Adjacent(_Settings):
    """Support from the chunk before or after: what a document says of one thing often goes on in the next chunk."""

    weight: Share
    """Share of the better neighbour's score that a candidate gains, where that neighbour is a candidate itself."""


class LinkExpansion(_Settings):
    """Follow names and hyperlinks from seeds to the chunks that they lead to."""

    kind: Literal["links"]
    seeds: Count = 10
    """Seeds whose links are followed."""
    weight: Share
    """Share of a seed's score that a link by the rarest of names hands on."""
    entities: Count = 30
    """Names followed from one seed, rarest first."""
    chunks: Count = 10
    """Chunks that one name leads to, nearest to the question first."""
    hyperlinks: Annotated[int, Field(ge=0, le=1000)] = 10
    """Hyperlinks followed from one seed, in reading order."""


class GraphExpansion(_Settings):
    """Expand seeds over entities and relations, as in the thesis."""

    kind: Literal["kg"]
    seeds: Count = 8
    weight: Share = 0.5
    """Share of a seed's score that a chunk sharing all its entities gets."""
    entities: Count = 20
    """Entities of one seed, rarest first."""
    chunks: Count = 10
    """Chunks that share them, by the rarity of what is shared."""
    neighbours: Count = 30
    """Relations of these entities to others, best supported first; as many again for the second hop."""
    hops: Literal[1, 2] = 2
    relations: Annotated[int, Field(ge=0, le=1000)] = 10
    """Relations shown as evidence of their own."""


class Context(_Settings):
    """What of the ranking is shown."""

    top: Count = 20
    tokens: Annotated[int, Field(ge=1)] | None = None
    """Budget; a piece that does not fit any more is left out and the next one tried."""
    near_duplicate: Share = 1.0
    """A chunk that shares this share of its words with a better one is not shown; 1 leaves out exact copies only."""


class Pipeline(_Settings):
    """One way of finding evidence. Frozen; `name` is recorded with every result."""

    name: str
    description: str
    graph: str = "mention"
    """The named graph that names and expansion use."""
    seeds: Seeds
    names: Names | None = None
    adjacent: Adjacent | None = None
    expansion: Annotated[LinkExpansion | GraphExpansion, Field(discriminator="kind")] | None = None
    context: Context = Context()


def load_pipeline(name: str) -> Pipeline:
    """Read the pipeline of that name, or the TOML file at that path. Raises `PipelineError` that says what is wrong and where."""
    file = Path(name) if name.endswith(".toml") else _folder() / f"{name}.toml"
    if name not in pipeline_names() and not (name.endswith(".toml") and file.is_file()):
        raise PipelineError(
            f"There is no pipeline {name!r}: expected the path of a .toml file or one of {', '.join(pipeline_names())}."
        )
    try:
        content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PipelineError(f"{file}: expected a pipeline in TOML: {error}") from error
    try:
        return Pipeline.model_validate({"name": file.stem, **content})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']} (got {_shown(e['input'])})" for e in error.errors()
        )
        raise PipelineError(f"{file}: {problems}") from error


def pipeline_names() -> list[str]:
    """Name the pipelines that kgrag ships, sorted."""
    return sorted(file.stem for file in _folder().glob("*.toml"))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _folder() -> Path:
    """The pipelines lie in the repository's root, and inside the package in a wheel."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_pipelines"
    return installed if installed.is_dir() else package.parent / "pipelines"
