"""Extractors: from a chunk to the entities and relations that it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kgrag.common.plugins import registered
from kgrag.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from kgrag.extract.base import Extractor
    from kgrag.extract.schema import ExtractionSchema
    from kgrag.models.base import ChatModel
    from kgrag.settings import Settings

__all__ = [
    "EXTRACTORS",
    "GROUP",
    "NEEDS_MODEL",
    "asks_model",
    "check_extractor_name",
    "extractor_names",
    "open_extractor",
]

GROUP = "kgrag.extractors"
"""The group of entry points by which another package adds an extractor: a callable `(model=..., settings=...) -> Extractor`.
With an attribute `needs_model = True` it is only called with a model."""
NEEDS_MODEL = ("llm", "simple_kg", "graph_transformer", "path")
"""Extractors of kgrag that ask a chat model: `llm` by kgrag's prompt, each other through a framework, which its extra brings."""
EXTRACTORS = ("mention", "recorded", *NEEDS_MODEL)
"""Names of kgrag's own extractors; the first two need no model."""


def extractor_names() -> tuple[str, ...]:
    """Return all names that `open_extractor` knows: kgrag's own, and those that other packages add."""
    return (*EXTRACTORS, *sorted(set(registered(GROUP)) - set(EXTRACTORS)))


def check_extractor_name(name: str) -> None:
    """Raise `InputError` where a name is none that `open_extractor` knows. Nothing is loaded."""
    if name not in EXTRACTORS and name not in extractor_names():
        raise InputError(
            f"Unknown extractor {name!r}: expected one of {', '.join(extractor_names())}. Set --extractor or KGRAG_EXTRACTOR."
            + did_you_mean(name, extractor_names())
        )


def asks_model(name: str) -> bool:
    """Whether an extractor asks a chat model."""
    if name in EXTRACTORS:
        return name in NEEDS_MODEL
    point = registered(GROUP).get(name)
    return point is not None and bool(getattr(point.load(), "needs_model", False))


def open_extractor(name: str, *, model: ChatModel | None = None, settings: Settings | None = None) -> Extractor:
    """Return a new extractor of that name; those that ask a model ask `model`, by the prompt, schema and options of `settings`.

    Raises `InputError` for an unknown name, a missing model or a wrong option, `ModelMissing` where the framework's extra is not installed.
    """
    from kgrag.settings import Settings

    check_extractor_name(name)
    chosen = settings or Settings()
    if asks_model(name) and model is None:
        raise InputError(
            f"The extractor {name} asks a language model: expected one, got none. "
            "Set --model (openai:NAME, ollama:NAME, ...), or take --extractor mention, which needs no model."
        )
    if name == "mention":
        from kgrag.extract.mention import MentionExtractor

        return MentionExtractor()
    if name == "recorded":
        from kgrag.extract.recorded import RecordedExtractor

        if chosen.recorded is None:
            raise InputError("The extractor recorded reads a file: expected one, got none. Set --recorded FILE.")
        return RecordedExtractor(chosen.recorded)
    if name not in EXTRACTORS:
        return cast("Extractor", registered(GROUP)[name].load()(model=model, settings=chosen))
    return _asking(name, cast("ChatModel", model), chosen)


def _asking(name: str, model: ChatModel, settings: Settings) -> Extractor:
    """Open one of the extractors that ask a model."""
    from kgrag.extract.prompts import read_instructions
    from kgrag.extract.schema import read_schema

    instructions = read_instructions(settings.prompt)
    wanted = settings.extraction_schema

    def make(schema: ExtractionSchema | None) -> Extractor:
        match name:
            case "llm":
                from kgrag.extract.llm import LLMExtractor

                return LLMExtractor(model, instructions=instructions, schema=schema, gleaning=settings.gleaning)
            case "simple_kg":
                from kgrag.extract.simple_kg import SimpleKGExtractor

                return SimpleKGExtractor(
                    model, instructions=instructions, schema=schema, as_shipped=settings.as_shipped
                )
            case "graph_transformer":
                from kgrag.extract.graph_transformer import GraphTransformerExtractor

                return GraphTransformerExtractor(
                    model,
                    instructions=instructions,
                    schema=schema,
                    mode=settings.transformer_mode,
                    node_properties=settings.node_properties or (),
                    relationship_properties=settings.relationship_properties or (),
                    as_shipped=settings.as_shipped,
                )
            case _:
                from kgrag.extract.path import PathExtractor

                # Its triples have no types: a schema is for the others.
                return PathExtractor(
                    model,
                    instructions=instructions,
                    max_paths_per_chunk=settings.max_paths_per_chunk,
                    as_shipped=settings.as_shipped,
                )

    if wanted == "induced" and name != "path":
        from kgrag.extract.induced import InducingExtractor

        return InducingExtractor(model, make)
    return make(None if wanted in ("none", "induced") else read_schema(wanted))
