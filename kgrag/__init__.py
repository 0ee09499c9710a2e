"""Technical documents to a knowledge graph, and cited answers from it.

import kgrag

kg = kgrag.open("./my.kg")
kg.build("docs/")
kg.ask("What is the supply voltage of the X-100?")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgrag.knowledge_graph import KnowledgeGraph
    from kgrag.knowledge_graph import open_graph as open  # noqa: A004  `kgrag.open`, like `gzip.open`

__all__ = ["KnowledgeGraph", "open"]


def __getattr__(name: str) -> Any:
    """Import the face when it is first used, so that `import kgrag` costs nothing."""
    from importlib import import_module

    match name:
        case "open":
            return import_module("kgrag.knowledge_graph").open_graph
        case "KnowledgeGraph":
            return import_module("kgrag.knowledge_graph").KnowledgeGraph
        case _:
            raise AttributeError(f"module 'kgrag' has no attribute {name!r}")
