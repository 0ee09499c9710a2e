"""A pipeline as a drawing in text: its steps in the order in which they run, each with its settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgrag.retrieve.pipeline import AdaptivePipeline, Pipeline
from kgrag.retrieve.settings import StepSettings

__all__ = ["drawn"]

Box = tuple[str, str]
"""A step's name and its settings."""


def drawn(pipeline: Pipeline | AdaptivePipeline) -> str:
    """Draw a pipeline: its description, then a box for each step, joined by arrows."""
    boxes = list(_types(pipeline) if isinstance(pipeline, AdaptivePipeline) else _steps(pipeline))
    head = f"{pipeline.name}: {pipeline.description}"
    if isinstance(pipeline, Pipeline):
        instead = f", or {pipeline.without_graph} where the store does not have it" if pipeline.without_graph else ""
        head += f"\ngraph: {pipeline.graph}{instead}"
    return f"{head}\n\n{_boxes(boxes)}"


def _steps(pipeline: Pipeline) -> Iterator[Box]:
    yield "question", ""
    yield from ((f"query: {step.kind}", _settings(step)) for step in pipeline.query if step.kind != "feedback")
    yield "embed", "the question, and its parts where it has any"
    yield from ((f"query: {step.kind}", _settings(step)) for step in pipeline.query if step.kind == "feedback")
    yield from ((f"seeds: {seeds.kind}", _settings(seeds)) for seeds in pipeline.seeds)
    if len(pipeline.seeds) > 1:
        yield "fusion", "scores of each kind times its weight, added"
    if pipeline.names is not None:
        yield "names", _settings(pipeline.names)
    if pipeline.adjacent is not None:
        yield "adjacent", _settings(pipeline.adjacent)
    yield from ((f"expansion: {one.kind}", _settings(one)) for one in pipeline.expansion)
    if pipeline.proximity is not None:
        yield "proximity", _settings(pipeline.proximity)
    if pipeline.rerank is not None:
        yield f"rerank: {pipeline.rerank.kind}", _settings(pipeline.rerank)
    context = pipeline.context
    yield "near-duplicates", f"near_duplicate {context.near_duplicate:g}"
    if pipeline.breadth is not None:
        yield "breadth", _settings(pipeline.breadth)
    tokens = f", tokens {context.tokens}" if context.tokens else ""
    yield "budget", f"top {context.top}{tokens}"
    if context.order != "score":
        yield f"order: {context.order}", ""
    yield "evidence", ""


def _types(pipeline: AdaptivePipeline) -> Iterator[Box]:
    adaptive = pipeline.adaptive
    yield "question", ""
    yield "type of the question", f"by the chat model, else by {adaptive.without_model or 'none'}"
    yield from adaptive.map.items()
    yield "otherwise", adaptive.otherwise


def _settings(step: StepSettings) -> str:
    """Write the settings that a step of this kind has, kind left out."""
    values = step.model_dump(exclude={"kind"})
    if values.get("without_model") is None:
        values.pop("without_model", None)
    return ", ".join(f"{key} {_written(value)}" for key, value in values.items())


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _boxes(boxes: Sequence[Box]) -> str:
    width = max(len(name) for name, _ in boxes)
    lines = []
    for position, (name, settings) in enumerate(boxes):
        if position:
            lines.append(f"  {'│':>{width // 2}}")
        lines.append(f"  {name:<{width}}  {settings}".rstrip())
    return "\n".join(lines)
