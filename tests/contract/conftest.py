"""What the tests of the contract share: an open, bound, empty store on each database, and small content to put into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from kgrag.models.base import Vectors
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.ledger import WorkRecord
from kgrag.testing import HashingEmbedder
from kgrag.types import Chunk, Document, Entity, Extraction, Relation, content_id
from tests.contract.small_manual import put_pages

Converted = tuple[Document, list[Chunk]]


class Content:
    """Makes documents, chunks, extractions and vectors from few words; equal words make equal content."""

    embedder = "test-embedder"
    dimensions = HashingEmbedder().dimensions
    """As most tests have them: Neo4j forgets all its plans whenever the vector indexes become others."""

    def document(self, path: str, *texts: str, title: str = "", **fields: object) -> Converted:
        """A document with a chunk for each text."""
        sha256 = content_id(*texts)
        title = title or path
        document = Document.model_validate(
            {
                "id": content_id(path, title, sha256),
                "path": path,
                "title": title,
                "sha256": sha256,
                "format": "html",
                **fields,
            }
        )
        return document, [self.chunk(document, position, text) for position, text in enumerate(texts)]

    def chunk(self, document: Document, position: int, text: str, **fields: object) -> Chunk:
        """A chunk of a document."""
        made = {
            "id": content_id(document.id, str(position), text),
            "document_id": document.id,
            "source_id": document.id,
            "position": position,
            "title": document.title,
            "headings": ("Part", f"Section {position}"),
            "text": text,
            "tokens": len(text.split()),
        }
        return Chunk.model_validate({**made, **fields})

    def entity(self, name: str, type_: str = "Product", **fields: object) -> Entity:
        """An entity whose comparison key is its name in lower case."""
        return Entity.model_validate({"name": name, "type": type_, "normal": name.casefold(), **fields})

    def relation(self, head: str, type_: str, tail: str, **fields: object) -> Relation:
        """A relation between two products."""
        return Relation.model_validate({"head": self.entity(head), "type": type_, "tail": self.entity(tail), **fields})

    def said(
        self, chunk: Chunk, *entities: Entity, relations: Sequence[Relation] = (), graph: str = "mention"
    ) -> tuple[Extraction, WorkRecord]:
        """What one chunk says, with its ledger entry."""
        extraction = Extraction(chunk_id=chunk.id, entities=entities, relations=tuple(relations))
        return extraction, WorkRecord("extract", chunk.id, scope=graph, version="1", result=extraction.digest)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A vector of unit length for each text; equal texts have equal vectors."""
        made = np.array(
            [np.random.default_rng(list(text.encode())).standard_normal(self.dimensions) for text in texts],
            dtype=np.float32,
        )
        made = made.reshape(len(texts), self.dimensions)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def embed_all(self, store: GraphStore, *graphs: str) -> None:
        """Give every chunk, and every entity of `graphs`, its vector."""
        ids = store.documents.ids_without_embedding()
        texts = [chunk.text for chunk in store.documents.chunks(ids)]
        store.documents.put_embeddings(ids, self.vectors(texts), embedder=self.embedder, seconds=0.5)
        for graph in graphs:
            keys = store.graphs.keys_without_embedding(graph)
            names = [entity["name"] for entity in store.graphs.entities_of(keys)]
            store.graphs.put_embeddings(graph, keys, self.vectors(names))

    def entities(self, store: GraphStore, graph: str = "mention") -> dict[str, dict[str, object]]:
        """The entities of a graph by comparison key."""
        rows = store.query(
            "MATCH (e:__Entity__) WHERE e.graph = $graph RETURN e {.*, embedding: e.embedding IS NOT NULL} AS entity",
            graph=graph,
        )
        return {row["entity"]["normal"]: row["entity"] for row in rows}

    def wrong_titles(self, store: GraphStore) -> list[str]:
        """Names of the entities that do not say how many chunks are about them."""
        rows = store.query(
            "MATCH (e:__Entity__) OPTIONAL MATCH (e)-[:FROM_CHUNK {role: 'title'}]->(c:Chunk) WITH e, count(c) AS about "
            "WHERE e.titles IS NULL OR e.titles <> about RETURN e.name AS name ORDER BY name"
        )
        return [row["name"] for row in rows]

    def relations(self, store: GraphStore, graph: str = "mention") -> dict[tuple[str, str, str], dict[str, object]]:
        """The relations of a graph by normal of the head, type, normal of the tail."""
        rows = store.query(
            "MATCH (h:__Entity__)-[r]->(t:__Entity__) WHERE h.graph = $graph "
            "RETURN h.normal AS head, type(r) AS type, t.normal AS tail, properties(r) AS properties",
            graph=graph,
        )
        return {(row["head"], row["type"], row["tail"]): row["properties"] for row in rows}


@pytest.fixture(scope="session")
def content() -> Content:
    return Content()


@pytest.fixture
def embedder() -> HashingEmbedder:
    """For tests in which words are looked for; the others have the vectors of `Content`."""
    return HashingEmbedder(dimensions=64)


@pytest.fixture
def vector_dimensions(request: pytest.FixtureRequest, content: Content) -> int:
    """Of the embedder that the test asks for, or else of `Content`: the vector indexes of the test before are taken over where they fit."""
    dimensions: int = (
        request.getfixturevalue("embedder") if "embedder" in request.fixturenames else content
    ).dimensions
    return dimensions


@pytest.fixture
def store(
    request: pytest.FixtureRequest, store_target: str, content: Content, vector_dimensions: int
) -> Iterator[GraphStore]:
    with open_store(store_target) as opened:
        asked = "embedder" in request.fixturenames
        opened.bind(request.getfixturevalue("embedder").name if asked else content.embedder, vector_dimensions)
        yield opened


@pytest.fixture
def manual(
    filled_once: Callable[[Callable[[str], object]], str], embedder: HashingEmbedder, content: Content
) -> Iterator[GraphStore]:
    """Four pages: what they are about, and what they name. For tests that only read them."""

    def fill(target: str) -> None:
        with open_store(target) as store:
            store.bind(embedder.name, embedder.dimensions)
            put_pages(store, embedder, content)

    with open_store(filled_once(fill)) as opened:
        yield opened
