"""Technical documents to a knowledge graph, and cited answers from it.

import kgrag

kg = kgrag.open("./my.kg")
kg.build("docs/")
kg.ask("What is the supply voltage of the X-100?")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.errors import (
        CypherWriteError,
        DocumentError,
        IdentifierError,
        InputError,
        Interrupted,
        KgragError,
        ModelError,
        ModelMissing,
        ModelReplyError,
        ModelUnavailable,
        PipelineError,
        StoreError,
        StoreLocked,
        StoreMismatch,
        StoreReadOnly,
        StoreUnavailable,
    )
    from kgrag.knowledge_graph import AsyncKnowledgeGraph, KnowledgeGraph
    from kgrag.knowledge_graph import open_graph as open  # noqa: A004  `kgrag.open`, like `gzip.open`
    from kgrag.settings import Settings
    from kgrag.types import Answer, Chunk, Citation, Community, Document, Entity, Evidence, Extraction, Relation, Usage

__all__ = [
    "Answer",
    "AsyncKnowledgeGraph",
    "Chunk",
    "Citation",
    "Community",
    "CypherWriteError",
    "Document",
    "DocumentError",
    "Entity",
    "Evidence",
    "Extraction",
    "IdentifierError",
    "InputError",
    "Interrupted",
    "KgragError",
    "KnowledgeGraph",
    "ModelError",
    "ModelMissing",
    "ModelReplyError",
    "ModelUnavailable",
    "PipelineError",
    "Relation",
    "Settings",
    "StoreError",
    "StoreLocked",
    "StoreMismatch",
    "StoreReadOnly",
    "StoreUnavailable",
    "Usage",
    "open",
]

_HOMES = ("kgrag.errors", "kgrag.types", "kgrag.settings", "kgrag.knowledge_graph")
"""Where the names are, what is imported quickest first."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is first used, so that `import kgrag` costs nothing."""
    from importlib import import_module

    if name in __all__:
        wanted = "open_graph" if name == "open" else name
        for home in _HOMES:
            if wanted in (module := import_module(home)).__all__:
                return getattr(module, wanted)
    raise AttributeError(f"module 'kgrag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
