"""Builds by other programs, as their documentation shows, for `benchmarks.build_peers`.

Each takes the passages, the scripted model's base URL and a Neo4j with APOC, and returns how long it took without imports and connections.
The vectors of all programs are `vector(text)`: an embedding model would take the same time for each of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kgrag.models.base import Vectors

__all__ = ["DIMENSIONS", "QuickEmbedder", "build_with_llama_index", "build_with_neo4j_graphrag", "vector"]

DIMENSIONS = 64
MODEL = "scripted"


def vector(text: str) -> list[float]:
    """Make a unit vector of a text's hash: the cheapest embedding in which texts are apart."""
    digest = hashlib.shake_128(text.encode("utf-8", "surrogatepass")).digest(DIMENSIONS)
    values = np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.5
    unit: list[float] = (values / np.linalg.norm(values)).tolist()
    return unit


class QuickEmbedder:
    """`vector` as kgrag's `Embedder`."""

    name = "quick"
    dimensions = DIMENSIONS
    max_tokens = 254

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), dimensions]."""
        return np.array([vector(text) for text in texts], dtype=np.float32).reshape(len(texts), DIMENSIONS)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries as documents."""
        return await self.embed_documents(texts)


def build_with_neo4j_graphrag(texts: Sequence[str], *, base_url: str, url: str, login: tuple[str, str]) -> float:
    """Run neo4j-graphrag's SimpleKGPipeline once for each text: https://neo4j.com/docs/neo4j-graphrag-python, user guide, KG builder."""
    from neo4j import GraphDatabase
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.experimental.pipeline.kg_builder import SimpleKGPipeline
    from neo4j_graphrag.llm import OpenAILLM

    class Quick(Embedder):
        def embed_query(self, text: str) -> list[float]:
            return vector(text)

    with GraphDatabase.driver(url, auth=login) as driver:
        driver.verify_connectivity()
        llm = OpenAILLM(
            model_name=MODEL,
            model_params={"max_tokens": 2000, "response_format": {"type": "json_object"}, "temperature": 0},
            base_url=base_url,
            api_key="none",
        )
        pipeline = SimpleKGPipeline(llm=llm, driver=driver, embedder=Quick(), schema="FREE", from_file=False)

        async def run() -> None:
            for text in texts:
                await pipeline.run_async(text=text)

        started = time.perf_counter()
        asyncio.run(run())
        return time.perf_counter() - started


def build_with_llama_index(texts: Sequence[str], *, base_url: str, url: str, login: tuple[str, str]) -> float:
    """Make LlamaIndex's PropertyGraphIndex over Neo4jPropertyGraphStore: docs.llamaindex.ai, examples, property graph, Neo4j.

    Each text is a document and one node of its own. The language model is its `CustomLLM` around the openai client, which does less for a
    call than llama-index-llms-openai.
    """
    from llama_index.core import Document, PropertyGraphIndex
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
    from llama_index.core.indices.property_graph import SimpleLLMPathExtractor
    from llama_index.core.llms.custom import CustomLLM
    from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore
    from openai import AsyncOpenAI

    client: Any = None

    class Scripted(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name=MODEL)

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
            raise NotImplementedError("the index asks asynchronously")

        def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
            raise NotImplementedError("the index asks asynchronously")

        async def acomplete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
            nonlocal client
            client = client or AsyncOpenAI(base_url=base_url, api_key="none")
            reply = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": prompt}], temperature=0
            )
            return CompletionResponse(text=reply.choices[0].message.content or "")

    class Quick(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return vector(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return vector(text)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return vector(query)

    store = Neo4jPropertyGraphStore(username=login[0], password=login[1], url=url, database="neo4j")
    documents = [Document(text=text) for text in texts]
    started = time.perf_counter()
    PropertyGraphIndex.from_documents(
        documents,
        kg_extractors=[SimpleLLMPathExtractor(llm=Scripted())],
        property_graph_store=store,
        embed_model=Quick(),
        transformations=[],
        show_progress=False,
    )
    seconds = time.perf_counter() - started
    store.close()
    return seconds
