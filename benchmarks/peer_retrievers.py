"""Retrievers of other programs over the same chunks, vectors and graph, for `benchmarks.retrieval_peers`.

neo4j-graphrag's read the database that kgrag built, by the names of its indexes. LlamaIndex's have a schema of their own, which
`write_for_llama_index` fills with the same chunks, vectors, entities and relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import Vectors
from kgrag.store.fulltext import escape_lucene
from kgrag.store.schema import CHUNK_FULLTEXT_INDEX, CHUNK_VECTOR_INDEX
from kgrag.types import Chunk, Document, Evidence

if TYPE_CHECKING:
    import neo4j
    from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore

    from kgrag.store.graph import GraphStore

__all__ = [
    "Corpus",
    "Peer",
    "Record",
    "llama_index_peers",
    "neo4j_graphrag_peers",
    "read_corpus",
    "write_for_llama_index",
]

THESIS_TOP = 5
LUCENE = "org.apache.lucene.queryparser"
"""In the message of an error of the full-text index that the question's syntax causes."""

Record = tuple[Evidence, ...]
"""One result of a peer: the pieces of text in it, in the order in which it shows them."""

THESIS_EXPANSION = """
CALL (node) {
  MATCH (node)<-[:FROM_CHUNK]-(e:__Entity__ {graph: $graph})
  WITH DISTINCT e ORDER BY e.key LIMIT 20
  RETURN collect(e) AS entities
}
CALL (node, entities) {
  UNWIND entities AS e
  MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
  WHERE c <> node
  WITH c, count(DISTINCT e) AS shared ORDER BY shared DESC, c.id LIMIT 10
  RETURN collect({id: c.id, text: c.prompted}) AS related
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)--(n:__Entity__ {graph: $graph})
  WHERE NOT n IN entities
  WITH DISTINCT n ORDER BY n.key LIMIT 30
  RETURN collect(n.name) AS neighbours
}
CALL (entities) {
  UNWIND entities AS e
  MATCH path = (e) (()--(:__Entity__ {graph: $graph})){1,2}
  UNWIND relationships(path) AS r
  WITH DISTINCT r ORDER BY startNode(r).key, type(r), endNode(r).key
  RETURN collect(startNode(r).name + ' - ' + type(r) + ' ' + coalesce(r.description, '') + ' -> ' + endNode(r).name) AS relations
}
RETURN node.id AS id, node.prompted AS text, related, [e IN entities | e.name] AS entities, neighbours, relations, score
"""
"""The thesis's expansion of SimpleKG_Dense_KG on kgrag's schema: up to 20 entities of a chunk, 10 chunks by how many of them they share, 30
neighbours, and all relations over one or two hops. Its caps have no order; here they have one by key, so that a run repeats."""


class SharedEmbedder(Protocol):
    """What all programs embed questions by: `MiniLM`, or vectors of words."""

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Embed texts: [len(texts), dimensions]."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count what an embedder reads of a text."""
        ...


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chunks and one graph of a store, in memory: what peers are given, and what their results are read by."""

    graph: str
    chunks: Mapping[str, Chunk]
    documents: Mapping[str, Document]
    vectors: Mapping[str, NDArray[np.float32]]
    """Of chunks, by id."""
    entities: Mapping[str, tuple[str, str, NDArray[np.float32]]]
    """Name, type and vector, by key."""
    mentions: tuple[tuple[str, str, str], ...]
    """Key of the entity, id of the chunk, role."""
    relations: tuple[tuple[str, str, str, str], ...]
    """Key of the head, type, key of the tail, id of the first chunk that says it."""

    def piece(self, chunk_id: str, *, text: str | None = None, tokens: int | None = None) -> Evidence:
        """Make evidence of a chunk, with the text that is shown where that is not the chunk's own."""
        chunk = self.chunks[chunk_id]
        document = self.documents[chunk.document_id]
        return Evidence(
            chunk_id=chunk.id,
            source_id=chunk.source_id,
            document=document.title if document.format == "jsonl" else document.path,
            anchors=chunk.anchors,
            page_start=chunk.page_start,
            page_end=chunk.page_end,
            text=chunk.prompted_text if text is None else text,
            tokens=chunk.tokens if tokens is None else tokens,
            score=0.0,
        )


def read_corpus(store: GraphStore, graph: str) -> Corpus:
    """Read all that a store has of chunks and of a graph."""
    keys, vectors = store.graphs.vectors(graph)
    of_entity = dict(zip(keys, vectors, strict=True))
    entities = [row["properties"] for row in store.search.records("entity")]
    relations = [
        (row["source"], row["type"], row["target"], row["properties"]["chunks"][0])
        for row in store.search.records("relation")
        if row["source"] in of_entity and row["type"] != "SIMILAR"
    ]
    mentions = [
        (row["source"], row["target"], row["properties"]["role"])
        for row in store.search.records("from_chunk")
        if row["source"] in of_entity
    ]
    return Corpus(
        graph=graph,
        chunks={chunk.id: chunk for chunk in store.documents.chunks()},
        documents={document.id: document for document in store.documents.all()},
        vectors=dict(zip(*store.documents.vectors(), strict=True)),
        entities={
            one["key"]: (one["name"], one["type"], of_entity[one["key"]]) for one in entities if one["key"] in of_entity
        },
        mentions=tuple(sorted(mentions)),
        relations=tuple(sorted(relations)),
    )


@dataclass(frozen=True, slots=True)
class Peer:
    """A retriever: what is timed, and how its results are read (which is not timed)."""

    name: str
    find: Callable[[str], Any]
    read: Callable[[Any], list[Record]]


def neo4j_graphrag_peers(driver: neo4j.Driver, embedder: SharedEmbedder, corpus: Corpus, *, top: int) -> Iterator[Peer]:
    """Open neo4j-graphrag's retrievers over the database that kgrag built.

    As https://neo4j.com/docs/neo4j-graphrag-python, user guide, RAG; a chunk is shown as kgrag shows it (`result_formatter`), because
    the default prints every property of the node.
    """
    from neo4j.exceptions import ClientError
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.exceptions import SearchQueryParseError
    from neo4j_graphrag.retrievers import (
        HybridCypherRetriever,
        HybridRetriever,
        VectorCypherRetriever,
        VectorRetriever,
    )
    from neo4j_graphrag.types import RetrieverResult, RetrieverResultItem

    class Shared(Embedder):
        def embed_query(self, text: str) -> list[float]:
            vector: list[float] = embedder.embed([text])[0].tolist()
            return vector

    def chunk_item(record: neo4j.Record) -> RetrieverResultItem:
        node = record["node"]
        return RetrieverResultItem(content=node["prompted"], metadata={"id": node["id"], "score": record["score"]})

    def context_item(record: neo4j.Record) -> RetrieverResultItem:
        return RetrieverResultItem(content=_context(record), metadata=dict(record))

    def read_chunks(found: RetrieverResult) -> list[Record]:
        return [(corpus.piece(item.metadata["id"]),) for item in found.items if item.metadata]

    count = lru_cache(maxsize=None)(embedder.count_tokens)

    def read_contexts(found: RetrieverResult) -> list[Record]:
        return [tuple(_pieces(item.metadata, corpus, count)) for item in found.items if item.metadata]

    shared = Shared()
    properties = ["id", "prompted"]
    vector = VectorRetriever(driver, CHUNK_VECTOR_INDEX, shared, properties, chunk_item)
    hybrid = HybridRetriever(driver, CHUNK_VECTOR_INDEX, CHUNK_FULLTEXT_INDEX, shared, properties, chunk_item)
    cypher = VectorCypherRetriever(driver, CHUNK_VECTOR_INDEX, THESIS_EXPANSION, shared, result_formatter=context_item)

    hybrid_cypher = HybridCypherRetriever(
        driver, CHUNK_VECTOR_INDEX, CHUNK_FULLTEXT_INDEX, THESIS_EXPANSION, shared, result_formatter=context_item
    )

    def hybrid_as_it_is(question: str) -> RetrieverResult:
        try:
            return hybrid.search(query_text=question, top_k=top)
        except (SearchQueryParseError, ClientError) as error:
            if not isinstance(error, SearchQueryParseError) and LUCENE not in str(error):
                raise
            return RetrieverResult(items=[])  # what Lucene cannot read, for one an unpaired slash, finds nothing

    def hybrid_escaped(question: str) -> RetrieverResult:
        return hybrid.search(query_text=escape_lucene(question), query_vector=shared.embed_query(question), top_k=top)

    def expanded(seeds: int, question: str) -> RetrieverResult:
        return cypher.search(query_text=question, top_k=seeds, query_params={"graph": corpus.graph})

    def hybrid_expanded(question: str) -> RetrieverResult:
        return hybrid_cypher.search(
            query_text=escape_lucene(question),
            query_vector=shared.embed_query(question),
            top_k=THESIS_TOP,
            query_params={"graph": corpus.graph},
        )

    yield Peer("VectorRetriever", lambda question: vector.search(query_text=question, top_k=top), read_chunks)
    yield Peer("HybridRetriever", hybrid_as_it_is, read_chunks)
    yield Peer("HybridRetriever, escaped", hybrid_escaped, read_chunks)
    for seeds in (THESIS_TOP, top):
        yield Peer(f"VectorCypherRetriever, top {seeds}", partial(expanded, seeds), read_contexts)
    yield Peer(f"HybridCypherRetriever, escaped, top {THESIS_TOP}", hybrid_expanded, read_contexts)


def _context(record: Mapping[str, Any]) -> str:
    return "\n\n".join([record["text"], *(chunk["text"] for chunk in record["related"]), *_graph_text(record)])


def _graph_text(record: Mapping[str, Any]) -> Iterator[str]:
    for title in ("entities", "neighbours", "relations"):
        if record[title]:
            separator = "\n" if title == "relations" else ", "
            yield f"{title.capitalize()}: {separator.join(record[title])}"


def _pieces(record: Mapping[str, Any], corpus: Corpus, count: Callable[[str], int]) -> Iterator[Evidence]:
    """Yield the chunks of a context, then what it says of the graph, which is no chunk's."""
    yield corpus.piece(record["id"])
    for chunk in record["related"]:
        yield corpus.piece(chunk["id"])
    for text in _graph_text(record):
        yield _without_source(text, count)


def _without_source(text: str, count: Callable[[str], int]) -> Evidence:
    # Blanks end a token: a text's tokens are those of its lines, and the same relations come again and again.
    tokens = sum(map(count, text.splitlines()))
    return Evidence(chunk_id=None, source_id="", document="", text=text, tokens=tokens, score=0.0)


def write_for_llama_index(store: Neo4jPropertyGraphStore, corpus: Corpus) -> None:
    """Write chunks, entities, mentions and relations as PropertyGraphIndex does, with the vectors that they have already.

    An entity has one source there, the last that is written: the chunk that is about it, where there is one.
    """
    from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, EntityNode, Relation
    from llama_index.core.schema import TextNode

    nodes = [
        TextNode(id_=chunk.id, text=chunk.prompted_text, embedding=corpus.vectors[chunk.id].tolist())
        for chunk in corpus.chunks.values()
    ]
    store.upsert_llama_nodes(nodes)
    embedded: set[str] = set()
    entities = []
    for key, chunk_id, _ in sorted(corpus.mentions, key=lambda mention: mention[2] == "title"):
        name, label, vector = corpus.entities[key]
        first = name not in embedded
        embedded.add(name)
        entities.append(
            EntityNode(
                name=name,
                label=label,
                embedding=vector.tolist() if first else None,
                properties={TRIPLET_SOURCE_KEY: chunk_id},
            )
        )
    store.upsert_nodes(entities)
    ids = {key: EntityNode(name=name).id for key, (name, _, _) in corpus.entities.items()}
    store.upsert_relations(
        [
            Relation(label=label, source_id=ids[head], target_id=ids[tail], properties={TRIPLET_SOURCE_KEY: chunk_id})
            for head, label, tail, chunk_id in corpus.relations
        ]
    )


def llama_index_peers(
    store: Neo4jPropertyGraphStore, embedder: SharedEmbedder, corpus: Corpus, *, top: int
) -> Iterator[Peer]:
    """Open LlamaIndex's PGRetriever over what `write_for_llama_index` wrote: docs.llamaindex.ai, property graph index, retrieval.

    Its sub-retriever over vectors alone: `LLMSynonymRetriever`, the other default, asks a language model.
    """
    from llama_index.core import PropertyGraphIndex
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.indices.property_graph import ImplicitPathExtractor, PGRetriever, VectorContextRetriever
    from llama_index.core.schema import NodeWithScore

    class Shared(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            vector: list[float] = embedder.embed([query])[0].tolist()
            return vector

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_query_embedding(text)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    index = PropertyGraphIndex.from_existing(
        property_graph_store=store, embed_model=Shared(), kg_extractors=[ImplicitPathExtractor()], transformations=[]
    )
    vectors = VectorContextRetriever(index.property_graph_store, embed_model=Shared(), similarity_top_k=top)
    retriever = index.as_retriever(sub_retrievers=[vectors])
    assert isinstance(retriever, PGRetriever)

    def read(found: Sequence[NodeWithScore]) -> list[Record]:
        records: list[Record] = []
        for result in found[:top]:
            text = result.node.get_content()
            if result.node.node_id in corpus.chunks:
                piece = corpus.piece(result.node.node_id, text=text, tokens=embedder.count_tokens(text))
            else:
                piece = _without_source(text, embedder.count_tokens)
            records.append((piece,))
        return records

    yield Peer("PGRetriever, vectors", retriever.retrieve, read)
