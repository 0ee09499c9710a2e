"""kgrag as a retriever of LangChain (extra `langchain`).

from kgrag.langchain import KgragRetriever

retriever = KgragRetriever(graph=kgrag.open("./my.kg", create=False), top=8)
documents = retriever.invoke("What is the supply voltage of the X-100?")
"""

from __future__ import annotations

from typing import Any

from pydantic import field_validator

from kgrag.knowledge_graph import KnowledgeGraph, expect_open_graph
from kgrag.models.frameworks import framework_missing
from kgrag.types import Evidence, content_id

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise framework_missing("langchain-core", extra="langchain", cause=error) from error

__all__ = ["KgragRetriever"]


class KgragRetriever(BaseRetriever):
    """Evidence as LangChain's documents, best first, by the pipeline of an open graph.

    `page_content` is the text that a model would be shown; `metadata` has the rest of `kgrag.types.Evidence`, `chunk_id` and `why`
    included; no two documents have the same id. Raises `InputError` for what is no open graph.
    """

    graph: KnowledgeGraph
    top: int | None = None
    """Pieces; the pipeline's own number where neither this nor `budget` is given."""
    budget: int | None = None
    """Tokens."""

    @field_validator("graph", mode="before")
    @classmethod
    def _is_open(cls, graph: Any) -> Any:
        return expect_open_graph(graph)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [_document(piece) for piece in self.graph.retrieve(query, top=self.top, budget=self.budget)]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = await self.graph.asynchronous.retrieve(query, top=self.top, budget=self.budget)
        return [_document(piece) for piece in found]


def _document(piece: Evidence) -> Document:
    metadata: dict[str, Any] = piece.model_dump(mode="json", exclude={"text"})
    # A relation has the id of the chunk that states it: what merges or keeps documents takes those of one id for one.
    return Document(
        page_content=piece.text, metadata=metadata, id=content_id(piece.chunk_id or piece.source_id, piece.text)
    )
