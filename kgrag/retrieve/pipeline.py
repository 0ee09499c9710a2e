"""What a retrieval pipeline is: the settings of every step (`kgrag.retrieve.settings`), read from a TOML file and checked.

A file under `pipelines/` is a pipeline by the file's name; a path to any other TOML file works as well.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationError

from kgrag.errors import PipelineError
from kgrag.retrieve.settings import (
    Adjacent,
    Breadth,
    Context,
    Expansion,
    Names,
    Proximity,
    QueryStep,
    Rerank,
    SeedsOfAKind,
    StepSettings,
)
from kgrag.text.questions import QuestionType

__all__ = [
    "Adaptive",
    "AdaptivePipeline",
    "Pipeline",
    "listed_pipelines",
    "load_pipeline",
    "pipeline_names",
]


def _listed(value: Any) -> Any:
    """Take `[section]` and `[[section]]` alike."""
    return (value,) if isinstance(value, Mapping) else tuple(value) if isinstance(value, list) else value


class Adaptive(StepSettings):
    """Takes another pipeline by the type of the question (`kgrag.retrieve.adaptive`)."""

    otherwise: str
    """For a type that the map does not have."""
    map: dict[QuestionType, str]
    """The pipeline of each type."""
    without_model: Literal["rules"] | None = None
    """Tell the type by rules where there is no chat model."""


class Pipeline(StepSettings):
    """One way of finding evidence. Frozen; `name` is recorded with every result."""

    name: str
    description: str
    graph: str = "mention"
    """The named graph that names, entities, communities and expansions use."""
    without_graph: str | None = None
    """The graph that is used where the store does not have that one."""
    query: Annotated[tuple[QueryStep, ...], BeforeValidator(_listed)] = ()
    seeds: Annotated[tuple[SeedsOfAKind, ...], BeforeValidator(_listed), Field(min_length=1)]
    names: Names | None = None
    adjacent: Adjacent | None = None
    expansion: Annotated[tuple[Expansion, ...], BeforeValidator(_listed)] = ()
    proximity: Proximity | None = None
    breadth: Breadth | None = None
    rerank: Rerank | None = None
    context: Context = Context()


class AdaptivePipeline(StepSettings):
    """A file that only says which pipeline is taken for which type of question."""

    name: str
    description: str
    adaptive: Adaptive


def load_pipeline(name: str) -> Pipeline | AdaptivePipeline:
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
    kind = AdaptivePipeline if "adaptive" in content else Pipeline
    try:
        return kind.model_validate({"name": file.stem, **content})
    except ValidationError as error:
        problems = "; ".join(_problem(kind, content, details) for details in error.errors())
        raise PipelineError(f"{file}: {problems}") from error


def pipeline_names() -> list[str]:
    """Name the pipelines that kgrag ships, sorted."""
    return sorted(file.stem for file in _folder().glob("*.toml"))


def listed_pipelines(text: str) -> list[str]:
    """Read names or files separated by commas, each once; `RAG_*` stands for every shipped pipeline that matches, `all` for every one.

    Raises `PipelineError` where a pattern matches none, or nothing is named.
    """
    found: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        pattern = "*" if part == "all" else part
        matching = fnmatch.filter(pipeline_names(), pattern) if "*" in pattern else [part]
        if not matching:
            raise PipelineError(f"{part}: expected to match one of {', '.join(pipeline_names())}.")
        found += matching
    if not found:
        raise PipelineError(f"Expected names of pipelines separated by commas, got {text!r}.")
    return list(dict.fromkeys(found))


def _problem(kind: type[StepSettings], content: Mapping[str, Any], error: Any) -> str:
    """Say what is wrong with a file: the key as the file has it, what is allowed there, and what it says."""
    path, section, owner = _place(kind, content, error["loc"])
    message = error["msg"]
    match error["type"]:
        case "union_tag_invalid":
            path = [*path, "kind"]
            value = section.get("kind") if isinstance(section, Mapping) else section
            message = f"Input should be {error['ctx']['expected_tags']}"
        case "union_tag_not_found":
            path = [*path, "kind"]
            value, message = section, "Field required"
        case "extra_forbidden":
            allowed = sorted(set(owner.model_fields) - ({"name"} if owner is kind else set()))
            value, message = error["input"], f"There is no such key; allowed are {', '.join(allowed)}"
        case _:
            value = error["input"]
    return f"{'.'.join(path)}: {message} (got {_shown(value)})"


def _place(
    kind: type[StepSettings], content: Mapping[str, Any], where: Sequence[str | int]
) -> tuple[list[str], Any, type[StepSettings]]:
    """Follow pydantic's place of an error through the file: the path as the file has it, what stands there, and whose key it is."""
    path: list[str] = []
    at: Any = content
    owner: type[StepSettings] = kind
    for part in where:
        if isinstance(part, int):
            if isinstance(at, list):
                path.append(str(part))
                at = at[part]
        elif isinstance(at, Mapping) and part not in at and part == at.get("kind"):
            owner = _KINDS[part]  # the tag by which pydantic told the kind
        else:
            path.append(part)
            at = at.get(part) if isinstance(at, Mapping) else None
            owner = _SECTIONS.get(part, owner)
    return path, at, owner


def _kinds() -> Iterator[tuple[str, type[StepSettings]]]:
    for union in (QueryStep, SeedsOfAKind, Expansion):
        for settings in get_args(get_args(union)[0]):
            for kind in get_args(settings.model_fields["kind"].annotation):
                yield kind, settings


_KINDS = dict(_kinds())
_SECTIONS: dict[str, type[StepSettings]] = {
    "names": Names,
    "adjacent": Adjacent,
    "breadth": Breadth,
    "proximity": Proximity,
    "rerank": Rerank,
    "context": Context,
    "adaptive": Adaptive,
}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _folder() -> Path:
    """The pipelines lie in the repository's root, and inside the package in a wheel."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_pipelines"
    return installed if installed.is_dir() else package.parent / "pipelines"
