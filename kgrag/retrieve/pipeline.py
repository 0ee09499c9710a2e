"""What a retrieval pipeline is: an ordered list of steps, read from a TOML file and checked.

A file under `pipelines/` is a pipeline by the file's name; a path to any other TOML file works as well.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializeAsAny, ValidationError

from kgrag.common.toml_files import read_toml
from kgrag.common.whole_files import expect_place
from kgrag.errors import InputError, PipelineError, did_you_mean
from kgrag.retrieve.step import StatePart, Step
from kgrag.retrieve.steps import kinds, step_class
from kgrag.text.questions import QuestionType

__all__ = [
    "Adaptive",
    "AdaptivePipeline",
    "Pipeline",
    "drawn",
    "listed_pipelines",
    "load_pipeline",
    "pipeline_names",
    "read_pipeline",
]

SUFFIX = ".toml"
REPLACED = {
    "query": "its kind; terms is content_terms, names is rule_keywords; hyde and feedback stand after embed",
    "seeds": "its kind, after embed",
    "names": "names",
    "adjacent": "adjacent",
    "expansion": "its kind",
    "proximity": "proximity",
    "breadth": "diversification, with read pieces = 100",
    "rerank": "its kind",
    "context": "near_duplicates (threshold), budget (top, tokens) and arrange (order)",
}
"""Sections of files before steps were a list, and the kinds of steps that they are now."""


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Pipeline(_Settings):
    """One way of finding evidence. Frozen; `name` is recorded with every result."""

    name: str
    description: str
    graph: str | None = None
    """The named graph that names, entities, communities and expansions use; None: `mention`, or the only one that the store has."""
    without_graph: str | None = None
    """The graph that is used where the store does not have that one."""
    steps: tuple[SerializeAsAny[Step], ...]
    """In the file: `[[step]]`, in the order in which they run."""

    @property
    def step_names(self) -> list[str]:
        """The kinds of the steps, numbered where there are several of one: `hybrid`, `hybrid 2`."""
        seen: Counter[str] = Counter()
        names = []
        for step in self.steps:
            seen[step.kind] += 1
            names.append(step.kind if seen[step.kind] == 1 else f"{step.kind} {seen[step.kind]}")
        return names


class Adaptive(_Settings):
    """Takes another pipeline by the type of the question (`kgrag.retrieve.adaptive`)."""

    otherwise: str
    """For a type that the map does not have."""
    map: dict[QuestionType, str] = {}
    """The pipeline of each type; empty: none was learnt, and every question takes `otherwise`."""
    without_model: Literal["rules"] | None = None
    """Tell the type by rules where there is no chat model."""


class AdaptivePipeline(_Settings):
    """A file that only says which pipeline is taken for which type of question."""

    name: str
    description: str
    adaptive: Adaptive


def expect_pipeline_place(file: Path) -> None:
    """See that a pipeline can be written there and taken from there, before the work that finds it. Raises `InputError`."""
    if file.suffix != SUFFIX:
        raise InputError(
            f"{file}: expected the name of a pipeline's file, which ends in {SUFFIX}: --pipeline takes no other."
        )
    expect_place(file)


def load_pipeline(name: str) -> Pipeline | AdaptivePipeline:
    """Read the pipeline of that name, or the TOML file at that path. Raises `PipelineError` that says what is wrong and where."""
    file = Path(name) if name.endswith(SUFFIX) else _folder() / f"{name}.toml"
    if name not in _shipped() and not (name.endswith(SUFFIX) and file.is_file()):
        raise PipelineError(
            f"There is no pipeline {name!r}: expected the path of a .toml file or one of {', '.join(pipeline_names())}."
            + did_you_mean(name, pipeline_names())
        )
    try:
        content = read_toml(file)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PipelineError(f"{file}: expected a pipeline in TOML: {error}") from error
    try:
        return read_pipeline(content, name=file.stem, folder=file.absolute().parent)
    except PipelineError as error:
        raise PipelineError(f"{file}: {error}") from error


def read_pipeline(content: Mapping[str, Any], *, name: str, folder: Path | None = None) -> Pipeline | AdaptivePipeline:
    """Make a pipeline of what a file says. Raises `PipelineError` with every problem: step, kind and key.

    Files that its steps name are looked for in `folder`; None: in the working directory.
    """
    if old := [section for section in REPLACED if section in content]:
        instead = "; ".join(f"[{section}] → kind: {REPLACED[section]}" for section in old)
        raise PipelineError(
            "this is the form before steps were a list: write a [[step]] with its kind and its settings for each section, in the "
            f"order in which they run, from embed over read to budget ({instead}). docs/retrieval.md has an example."
        )
    try:
        if "adaptive" in content:
            return AdaptivePipeline.model_validate({"name": name, **content})
        about = {key: value for key, value in content.items() if key != "step"}
        return Pipeline.model_validate({"name": name, **about, "steps": _steps(content.get("step"), folder)})
    except ValidationError as error:
        kind = AdaptivePipeline if "adaptive" in content else Pipeline
        raise PipelineError("; ".join(_problems(kind, error))) from error


def pipeline_names() -> list[str]:
    """Name the pipelines that kgrag ships, sorted; an adaptive one without a learnt map is none to choose."""
    return list(_shipped_and_ready())


def listed_pipelines(text: str) -> list[str]:
    """Read names or files separated by commas; `RAG_*` stands for every shipped pipeline that matches, `all` for every one.

    What a pattern gives besides is taken once. Raises `PipelineError` where a pattern matches none, a name stands twice or nothing is
    named.
    """
    parts = [part for part in (part.strip() for part in text.split(",")) if part]
    if twice := next((part for part in parts if parts.count(part) > 1), None):
        raise PipelineError(f"Expected each pipeline once, got {twice} several times in {text!r}.")
    found: list[str] = []
    for part in parts:
        pattern = "*" if part == "all" else part
        matching = fnmatch.filter(pipeline_names(), pattern) if "*" in pattern else [part]
        if not matching:
            raise PipelineError(f"{part}: expected to match one of {', '.join(pipeline_names())}.")
        found += matching
    if not found:
        raise PipelineError(f"Expected names of pipelines separated by commas, got {text!r}.")
    return list(dict.fromkeys(found))


def drawn(pipeline: Pipeline | AdaptivePipeline) -> str:
    """Draw a pipeline in text: its description, then a box for each step with its settings, joined by lines."""
    head = f"{pipeline.name}: {pipeline.description}"
    if isinstance(pipeline, AdaptivePipeline):
        adaptive = pipeline.adaptive
        types = [("type of the question", f"by the chat model, else by {adaptive.without_model or 'none'}")]
        boxes = [*(types if adaptive.map else []), *adaptive.map.items(), ("otherwise", adaptive.otherwise)]
    else:
        instead = f", or {pipeline.without_graph} where the store does not have it" if pipeline.without_graph else ""
        head += f"\ngraph: {pipeline.graph or 'mention, or the only one of the store'}{instead}"
        boxes = [(step.kind, _settings(step)) for step in pipeline.steps]
    boxes = [("question", ""), *boxes, *([("evidence", "")] if isinstance(pipeline, Pipeline) else [])]
    width = max(len(name) for name, _ in boxes)
    line = f"\n  {'│':>{width // 2}}\n"
    return f"{head}\n\n{line.join(f'  {name:<{width}}  {settings}'.rstrip() for name, settings in boxes)}"


def _settings(step: Step) -> str:
    values = step.model_dump(exclude={"kind"}, exclude_none=True)
    return ", ".join(f"{key} {_written(value)}" for key, value in values.items())


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _steps(tables: Any, folder: Path | None) -> tuple[Step, ...]:
    """Make the steps of their tables. Raises `PipelineError` with all that is wrong with them."""
    if not isinstance(tables, list) or not tables:
        raise PipelineError("step: expected at least one [[step]] with a kind, got none.")
    steps: list[Step] = []
    problems: list[str] = []
    for number, table in enumerate(tables, start=1):
        kind = table.get("kind") if isinstance(table, Mapping) else None
        step = step_class(kind) if isinstance(kind, str) else None
        if step is None:
            problems.append(f"step {number}: kind: expected one of {', '.join(kinds())} (got {_shown(kind)})")
            continue
        try:
            steps.append(step.model_validate(table, context={"folder": folder}))
        except ValidationError as error:
            problems += [f"step {number} ({kind}): {problem}" for problem in _problems(step, error)]
    problems = problems or list(_order_problems(steps))
    if problems:
        raise PipelineError("; ".join(problems))
    return tuple(steps)


def _order_problems(steps: Sequence[Step]) -> Iterator[str]:
    """Check by what each step needs and gives: needs come before, and what was read to make another part changes no more."""
    given: set[StatePart] = {"query"}
    read_by: dict[StatePart, str] = {}
    for number, step in enumerate(steps, start=1):
        where = f"step {number} ({step.kind})"
        for part in step.needs:
            if part not in given:
                giving = [kind for kind in kinds() if (one := step_class(kind)) is not None and part in one.gives]
                yield f"{where}: needs {part}, which no step before it gives; these do: {', '.join(giving)}"
        for part in step.gives:
            if part in read_by:
                yield f"{where}: changes {part} after {read_by[part]} has read it: put it before that step"
        for part in step.needs:
            if step.gives and part not in step.gives:
                read_by.setdefault(part, where)
        given.update(step.gives)
    if "shown" not in given:
        yield f'step {len(steps)}: no step says what is shown: end with kind = "budget"'


def _problems(model: type[BaseModel], error: ValidationError) -> Iterator[str]:
    """Say what is wrong: the key, what is allowed there, and what the file says."""
    for details in error.errors():
        message, value = details["msg"], _shown(details["input"])
        if details["type"] == "extra_forbidden":
            allowed = {*model.model_fields} - {"kind", "name"}
            named = sorted(allowed - {"steps"} | {"step"} if "steps" in allowed else allowed)
            message = f"There is no such key; allowed are {', '.join(named)}"
        if details["type"] == "missing":
            value = "nothing"
        yield f"{'.'.join(map(str, details['loc']))}: {message} (got {value})"


def _shown(value: object) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _shipped() -> list[str]:
    return sorted(file.stem for file in _folder().glob("*.toml"))


@lru_cache(maxsize=1)
def _shipped_and_ready() -> tuple[str, ...]:
    def ready(pipeline: Pipeline | AdaptivePipeline) -> bool:
        return isinstance(pipeline, Pipeline) or bool(pipeline.adaptive.map)

    return tuple(name for name in _shipped() if ready(load_pipeline(name)))


def _folder() -> Path:
    """The pipelines lie in the repository's root, and inside the package in a wheel."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_pipelines"
    return installed if installed.is_dir() else package.parent / "pipelines"
