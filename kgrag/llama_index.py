"""kgrag as a retriever of LlamaIndex (extra `llama-index`).

from kgrag.llama_index import KgragRetriever

retriever = KgragRetriever(kgrag.open("./my.kg", create=False), top=8)
nodes = retriever.retrieve("What is the supply voltage of the X-100?")
"""

from __future__ import annotations

from kgrag.knowledge_graph import KnowledgeGraph, expect_open_graph
from kgrag.models.frameworks import framework_missing
from kgrag.types import Evidence, content_id

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise framework_missing("llama-index-core", extra="llama-index", cause=error) from error

__all__ = ["KgragRetriever"]


class KgragRetriever(BaseRetriever):
    """Evidence as LlamaIndex's nodes with scores, best first, by the pipeline of an open graph.

    A node's text is what a model would be shown; its metadata has the rest of `kgrag.types.Evidence`, `why` included, and is left out of
    what LlamaIndex embeds or prompts. Raises `InputError` for what is no open graph.
    """

    def __init__(self, graph: KnowledgeGraph, *, top: int | None = None, budget: int | None = None) -> None:
        super().__init__()
        self._graph = expect_open_graph(graph)
        self._top, self._budget = top, budget

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            _node(piece) for piece in self._graph.retrieve(query_bundle.query_str, top=self._top, budget=self._budget)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await self._graph.asynchronous.retrieve(query_bundle.query_str, top=self._top, budget=self._budget)
        return [_node(piece) for piece in found]


def _node(piece: Evidence) -> NodeWithScore:
    metadata = piece.model_dump(mode="json", exclude={"text", "score"})
    # A relation has the id of the chunk that states it: LlamaIndex takes nodes of one id for one.
    node = TextNode(
        id_=content_id(piece.chunk_id or piece.source_id, piece.text),
        text=piece.text,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=list(metadata),
    )
    return NodeWithScore(node=node, score=piece.score)
