"""The Python face: open a store, build it, ask it. `AsyncKnowledgeGraph` does it; `KnowledgeGraph` waits for it."""

from __future__ import annotations

from kgrag.knowledge_graph.asynchronous import AsyncKnowledgeGraph
from kgrag.knowledge_graph.estimating import estimate_build
from kgrag.knowledge_graph.synchronous import KnowledgeGraph, expect_open_graph, open_graph

__all__ = ["AsyncKnowledgeGraph", "KnowledgeGraph", "estimate_build", "expect_open_graph", "open_graph"]
