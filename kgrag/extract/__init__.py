"""Extractors: from a chunk to the entities and relations that it states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgrag.errors import InputError

if TYPE_CHECKING:
    from kgrag.extract.base import Extractor
    from kgrag.extract.schema import ExtractionSchema
    from kgrag.models.base import ChatModel
    from kgrag.settings import Settings

__all__ = ["EXTRACTORS", "NEEDS_MODEL", "open_extractor"]

NEEDS_MODEL = ("simple_kg", "graph_transformer", "path")
"""Extractors that ask a chat model through a framework; each needs the framework's extra."""
EXTRACTORS = ("mention", "recorded", *NEEDS_MODEL)
"""Names that `open_extractor` knows; the first two need no model."""


def open_extractor(name: str, *, model: ChatModel | None = None, settings: Settings | None = None) -> Extractor:
    """Return a new extractor of that name; those of `NEEDS_MODEL` ask `model`, by the prompt, schema and options of `settings`.

    Raises `InputError` for an unknown name, a missing model or a wrong option, `ModelMissing` where the framework's extra is not installed.
    """
    if name == "mention":
        from kgrag.extract.mention import MentionExtractor

        return MentionExtractor()
    if name == "recorded":
        from kgrag.extract.recorded import RecordedExtractor

        if settings is None or settings.recorded is None:
            raise InputError("The extractor recorded reads a file: expected one, got none. Set --recorded FILE.")
        return RecordedExtractor(settings.recorded)
    if name not in NEEDS_MODEL:
        raise InputError(
            f"Unknown extractor {name!r}: expected one of {', '.join(EXTRACTORS)}. Set --extractor or KGRAG_EXTRACTOR."
        )
    if model is None:
        raise InputError(
            f"The extractor {name} asks a language model: expected one, got none. "
            "Set --model (openai:NAME, ollama:NAME, ...), or take --extractor mention, which needs no model."
        )
    from kgrag.extract.prompts import read_instructions
    from kgrag.extract.schema import read_schema
    from kgrag.settings import Settings

    chosen = settings or Settings()
    instructions = read_instructions(chosen.prompt)
    wanted = chosen.extraction_schema
    schema = None if wanted in ("none", "induced") else read_schema(wanted)
    match name:
        case "simple_kg":
            from kgrag.extract.simple_kg import SimpleKGExtractor

            def make(schema: ExtractionSchema | None) -> Extractor:
                return SimpleKGExtractor(model, instructions=instructions, schema=schema)

        case "graph_transformer":
            from kgrag.extract.graph_transformer import GraphTransformerExtractor

            def make(schema: ExtractionSchema | None) -> Extractor:
                return GraphTransformerExtractor(
                    model,
                    instructions=instructions,
                    schema=schema,
                    mode=chosen.transformer_mode,
                    node_properties=chosen.node_properties,
                    relationship_properties=chosen.relationship_properties,
                )

        case _:
            from kgrag.extract.path import PathExtractor

            # Its triples have no types: a schema is for the other two.
            return PathExtractor(model, instructions=instructions, max_paths_per_chunk=chosen.max_paths_per_chunk)
    if wanted == "induced":
        from kgrag.extract.induced import InducingExtractor

        return InducingExtractor(model, make)
    return make(schema)
