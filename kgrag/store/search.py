"""What retrieval, communities and evaluation ask the database for: one method for each statement, typed rows out.

What a statement does, and what its parameters mean, its file under `cypher/` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from kgrag.store.connection import Connection
from kgrag.store.readable import Readable, name_as_readable
from kgrag.store.schema import CHUNK_FULLTEXT_INDEX, CHUNK_VECTOR_INDEX, ROW_VECTOR_INDEX, entity_vector_index
from kgrag.store.search_rows import (
    AmountRow,
    ChunkEntityRow,
    ChunkLinksRow,
    ChunkPlaceRow,
    ChunkRow,
    CommunityChunksRow,
    CommunityCitationsRow,
    CommunityRow,
    ContextRow,
    DocumentRow,
    EdgeRow,
    EntityRow,
    FamilyRow,
    IdRow,
    KeyRelationRow,
    LinkedEntityRow,
    LinkRow,
    LinkTargetRow,
    MentionLinkRow,
    NamedChunkRow,
    NamedRow,
    NeighbourhoodRow,
    PathRow,
    PlaceRow,
    PredictedRow,
    ShownRow,
    SizeRow,
    SparseRow,
    StatementRow,
    ThingRow,
    VectorRow,
    WalkChunkRow,
    WalkLinkRow,
    WalkRelationRow,
)

__all__ = ["HUB_MENTIONS", "Search"]

HUB_MENTIONS = 1000
"""An entity that more chunks mention is a hub: following it to all of them would make a question cost more with every document."""
FULLTEXT_HITS = 5
"""Times the wanted chunks that the full-text index is asked for: those with the score of the last one are told apart by their ids."""
MORE_ASKED = 200
"""What Neo4j's vector index is asked for besides what is wanted. Of 117,239 vectors of manuals it then has 0.995 of the nearest hundred."""
TIMES_ASKED = 5
"""Times the wanted that the embedded database's vector index is asked for: recall@10 on 6,119 passages rises from 0.91 to 1.0."""
HIDDEN_ENTITIES = 10
"""Times the candidates that an index of entities is asked for where some may be hidden."""


class Search:
    """Finds chunks, entities, relations and communities in an open store; it never writes."""

    def __init__(self, connection: Connection, *, readable: Readable | None = None) -> None:
        self._connection = connection
        self._readable = readable or Readable()

    def candidates(self, wanted: int) -> int:
        """Return how many a vector index is to be asked for where so many are wanted: it is approximate, and misses some."""
        return wanted + MORE_ASKED if self._connection.server is None else wanted * TIMES_ASKED

    def dense_seeds(self, *, vector: Sequence[float], limit: int, candidates: int) -> list[ChunkRow]:
        """Return the chunks nearest to the question."""
        return self._read_list(
            "retrieve/dense_seeds",
            index=CHUNK_VECTOR_INDEX,
            vector=vector,
            limit=limit,
            candidates=candidates + self._readable.hidden,
        )

    def row_seeds(self, *, vector: Sequence[float], limit: int, candidates: int) -> list[ChunkRow]:
        """Return the chunks of whose tables a row is nearest to the question. A store without rows may have no index of them."""
        return self._read(
            "retrieve/row_seeds",
            index=ROW_VECTOR_INDEX,
            vector=vector,
            limit=limit,
            candidates=candidates + self._readable.hidden_rows,
        )

    def sparse_seeds(
        self, *, query: str, vector: Sequence[float], limit: int, read: int = 0, among: Sequence[str] | None = None
    ) -> list[SparseRow]:
        """Return the chunks that have words of a full-text query, best first; `among` are the only ones that may be returned (ids)."""
        # Where all may be returned the index gives the best alone: the words of a question stand in a large share of all chunks.
        every = among is None and self.readable_documents is None
        return self._read_list(
            "retrieve/sparse_seeds",
            index=CHUNK_FULLTEXT_INDEX,
            query=query,
            options={"limit": FULLTEXT_HITS * limit} if every else {},
            vector=vector,
            limit=limit,
            read=read,
            among=among,
        )

    def mentioning_chunk(self, *, query: str) -> list[IdRow]:
        """Return a chunk that has what a full-text query asks for, or none."""
        options = {"limit": 1} if self.readable_documents is None else {}
        return self._read("retrieve/mentioning_chunk", index=CHUNK_FULLTEXT_INDEX, query=query, options=options)

    def documents(self, *, ids: Sequence[str]) -> list[DocumentRow]:
        """Return titles and versions of some documents."""
        return self._read_list("retrieve/documents", ids=ids)

    def community_citations(self, *, keys: Sequence[str]) -> list[CommunityCitationsRow]:
        """Return what the numbers in what is written about some communities stand for."""
        return self._read("retrieve/community_citations", keys=keys)

    def nearest_vectors(self, *, vector: Sequence[float], limit: int, candidates: int) -> list[VectorRow]:
        """Return the vectors of the chunks nearest to the question."""
        return self._read(
            "retrieve/nearest_vectors",
            index=CHUNK_VECTOR_INDEX,
            vector=vector,
            limit=limit,
            candidates=candidates + self._readable.hidden,
        )

    def chunk_similarity(self, *, ids: Sequence[str], vector: Sequence[float]) -> list[ChunkRow]:
        """Return how similar some chunks are to the question."""
        return self._read("retrieve/chunk_similarity", ids=ids, vector=vector)

    def chunks(self, *, ids: Sequence[str]) -> list[ShownRow]:
        """Return the chunks that may be shown."""
        return self._read_list("retrieve/chunks", ids=ids)

    def named_chunks(
        self, *, graph: str, normals: Sequence[str], vector: Sequence[float], limit: int, among: Sequence[str] = ()
    ) -> list[NamedRow]:
        """Return the entities that a question names."""
        return self._read(
            "retrieve/named_chunks", graph=graph, normals=normals, vector=vector, limit=limit, among=among
        )

    def family_chunks(
        self, *, graph: str, families: Sequence[str], vector: Sequence[float], limit: int, among: Sequence[str] = ()
    ) -> list[FamilyRow]:
        """Return the members of families of names."""
        return self._read(
            "retrieve/family_chunks", graph=graph, families=families, vector=vector, limit=limit, among=among
        )

    def linked_entities(
        self, *, graph: str, vector: Sequence[float], limit: int, candidates: int, normals: Sequence[str]
    ) -> list[LinkedEntityRow]:
        """Return the entities near a question or named by it."""
        return self._read(
            "retrieve/linked_entities",
            graph=graph,
            index=entity_vector_index(graph),
            vector=vector,
            limit=limit,
            candidates=candidates * (1 if self._readable.documents is None else HIDDEN_ENTITIES),
            normals=normals,
        )

    def linked_chunks(
        self,
        *,
        graph: str,
        seeds: Sequence[str],
        known: Sequence[str],
        vector: Sequence[float],
        entities: int,
        limit: int,
        hyperlinks: int,
        common: int = HUB_MENTIONS,
        linking: Sequence[str] | None = None,
    ) -> list[LinkRow]:
        """Return where seeds lead, and where the hyperlinks of the chunks `linking` (None: the seeds) lead."""
        return self._read(
            "retrieve/linked_chunks",
            graph=graph,
            seeds=seeds,
            linking=seeds if linking is None else linking,
            known=known,
            vector=vector,
            entities=entities,
            limit=limit,
            hyperlinks=hyperlinks,
            common=common,
        )

    def graph_neighbourhood(
        self,
        *,
        graph: str,
        seeds: Sequence[str],
        vector: Sequence[float],
        entities: int,
        chunks: int,
        neighbours: int,
        hops: int,
        common: int = HUB_MENTIONS,
    ) -> list[NeighbourhoodRow]:
        """Return the graph around seeds."""
        return self._read(
            "retrieve/graph_neighbourhood",
            graph=graph,
            seeds=seeds,
            vector=vector,
            entities=entities,
            chunks=chunks,
            neighbours=neighbours,
            hops=hops,
            common=common,
        )

    def entity_context(
        self,
        *,
        graph: str,
        keys: Sequence[str],
        vector: Sequence[float],
        chunks: int,
        relations: int,
        near: Sequence[str] = (),
        common: int = HUB_MENTIONS,
    ) -> list[ContextRow]:
        """Return what is known of entities; of a hub only which of the chunks `near` mention it."""
        return self._read(
            "retrieve/entity_context",
            graph=graph,
            keys=keys,
            vector=vector,
            chunks=chunks,
            relations=relations,
            near=near,
            common=common,
        )

    def paths(
        self,
        *,
        graph: str,
        seeds: Sequence[str],
        vector: Sequence[float],
        normals: Sequence[str],
        common: int,
        stated_common: int,
        ignored: Sequence[str],
        kinds: Sequence[str],
        entities: int,
        limit: int,
    ) -> list[PathRow]:
        """Return chunks of other documents that name what seeds name."""
        return self._read(
            "retrieve/paths",
            graph=graph,
            seeds=seeds,
            vector=vector,
            normals=normals,
            common=common,
            stated_common=stated_common,
            ignored=ignored,
            kinds=kinds,
            entities=entities,
            limit=limit,
        )

    def predicted_chunks(
        self, *, graph: str, seeds: Sequence[str], vector: Sequence[float], least: float, edges: int, limit: int
    ) -> list[PredictedRow]:
        """Return where predicted edges lead from seeds; nothing where some documents may not be read."""
        return self._read(
            "retrieve/predicted_chunks", graph=graph, seeds=seeds, vector=vector, least=least, edges=edges, limit=limit
        )

    def entities_of_chunks(self, *, graph: str, chunks: Sequence[str], limit: int) -> list[ChunkEntityRow]:
        """Return the entities that chunks mention."""
        return self._read("retrieve/entities_of_chunks", graph=graph, chunks=chunks, limit=limit)

    def relations_of_keys(self, *, keys: Sequence[str], limit: int) -> list[KeyRelationRow]:
        """Return the relations between entities."""
        return self._read("retrieve/relations_of_keys", keys=keys, limit=limit)

    def nearest_communities(
        self, *, graph: str, vector: Sequence[float], level: int | None, limit: int
    ) -> list[CommunityRow]:
        """Return the communities nearest to the question."""
        return self._read("retrieve/nearest_communities", graph=graph, vector=vector, level=level, limit=limit)

    def communities_of_level(self, *, graph: str, vector: Sequence[float], level: int) -> list[CommunityRow]:
        """Return every community of a level."""
        return self._read("retrieve/communities_of_level", graph=graph, vector=vector, level=level)

    def communities_of_seeds(
        self, *, graph: str, seeds: Sequence[str], vector: Sequence[float], level: int | None, entities: int
    ) -> list[CommunityRow]:
        """Return the communities that seeds mention entities of."""
        return self._read(
            "retrieve/communities_of_seeds", graph=graph, seeds=seeds, vector=vector, level=level, entities=entities
        )

    def community_chunks(
        self, *, keys: Sequence[str], vector: Sequence[float], entities: int, chunks: int
    ) -> list[CommunityChunksRow]:
        """Return the chunks of communities."""
        return self._read("retrieve/community_chunks", keys=keys, vector=vector, entities=entities, chunks=chunks)

    def walk_chunks(self, *, graph: str) -> list[WalkChunkRow]:
        """Return every chunk with its entities."""
        return self._read("retrieve/walk_chunks", graph=graph)

    def walk_relations(self, *, graph: str) -> list[WalkRelationRow]:
        """Return every relation of a graph."""
        return self._read("retrieve/walk_relations", graph=graph)

    def walk_links(self) -> list[WalkLinkRow]:
        """Return every hyperlink between chunks."""
        return self._read("retrieve/walk_links")

    def link_targets(self, *, id: str) -> list[LinkTargetRow]:  # noqa: A002 - the statement's parameter
        """Return where a chunk's links lead."""
        return self._read("retrieve/link_targets", id=id)

    def link_sources(self, *, id: str) -> list[LinkTargetRow]:  # noqa: A002 - the statement's parameter
        """Return the chunks whose links lead to a chunk."""
        return self._read("retrieve/link_sources", id=id)

    def chunk_links(self, *, id: str) -> list[ChunkLinksRow]:  # noqa: A002 - the statement's parameter
        """Return a chunk's links as its metadata says them; no row where the chunk is not there."""
        return self._read("retrieve/chunk_links", id=id)

    def chunks_of_section(self, *, id: str) -> list[str]:  # noqa: A002 - the statement's parameter
        """Return the ids of the chunks of the section that a chunk is in, in reading order."""
        return [row["id"] for row in self._read("retrieve/chunks_of_section", id=id)]

    def titles_mentioned(self, *, graph: str, id: str) -> list[MentionLinkRow]:  # noqa: A002 - the statement's parameter
        """Return the chunks about what a chunk mentions."""
        return self._read("retrieve/titles_mentioned", graph=graph, id=id)

    def mentioning_titles(self, *, graph: str, id: str) -> list[MentionLinkRow]:  # noqa: A002 - the statement's parameter
        """Return the chunks that mention what a chunk is about."""
        return self._read("retrieve/mentioning_titles", graph=graph, id=id)

    def section_chunks(self, *, path: str, anchor: str) -> list[LinkTargetRow]:
        """Return the chunks of a document, or of the section that an anchor of it is in."""
        return self._read("retrieve/section_chunks", path=path, anchor=anchor)

    def things(self) -> list[ThingRow]:
        """Return every document with what it is about."""
        return self._read("retrieve/things")

    def amounts(self, *, graph: str) -> list[AmountRow]:
        """Return the quantities of a graph."""
        return self._read("retrieve/amounts", graph=graph)

    def graph_types(self, *, graph: str) -> dict[str, list[str]]:
        """Return the types of a graph's entities (`entity`) and relations (`relation`), most frequent first."""
        rows = sorted(self._read("retrieve/graph_types", graph=graph), key=lambda row: (-row["many"], row["type"]))
        return {kind: [row["type"] for row in rows if row["kind"] == kind] for kind in ("entity", "relation")}

    @property
    def readable_documents(self) -> list[str] | None:
        """Ids of the documents that may be read; None is all."""
        return self._readable.documents

    def stated(self, name: Literal["amounts", "words"], **parameters: Any) -> list[PlaceRow]:
        """Return the chunks that state amounts of things (`stated_amounts`), or say a word of them (`stated_words`)."""
        return self._read(f"retrieve/stated_{name}", **parameters)

    def relations(self, *, graph: str) -> Iterator[EdgeRow]:
        """Return every relation between entities of a graph, as they come."""
        return self._stream("communities/relations", graph=graph)

    def mentions(self, *, graph: str) -> Iterator[NamedChunkRow]:
        """Return every mention of an entity of a graph, as they come: a dozen for each chunk."""
        return self._stream("communities/mentions", graph=graph)

    def chunk_sizes(self) -> list[SizeRow]:
        """Return how long every chunk is."""
        return self._read("communities/chunk_sizes")

    def entities(self, *, graph: str) -> list[EntityRow]:
        """Return every entity of a graph."""
        return self._read("communities/entities", graph=graph)

    def relations_of_chunks(self, *, graph: str, chunks: Sequence[str]) -> list[StatementRow]:
        """Return the relations that chunks state."""
        return self._read("evaluate/relations_of_chunks", graph=graph, chunks=chunks)

    def places_of_chunks(self) -> list[ChunkPlaceRow]:
        """Return where every chunk stands: it reads all of them."""
        return self._read("evaluate/places_of_chunks")

    def ledger_state(self) -> tuple[Any, ...]:
        """Return what changes whenever the ledger does: how many entries there are, and when the last was written."""
        return tuple(self._read("retrieve/ledger_state")[0].values())

    def readable(self, *, documents: Sequence[str]) -> Readable:
        """Return what somebody may read who may read some documents alone."""
        rows = self._read("retrieve/readable_chunks", documents=documents)
        chunks = int(self._connection.read("store/count_chunks")[0]["chunks"])
        return Readable(
            documents=list(documents),
            chunks=[row["id"] for row in rows],
            hidden=chunks - len(rows),
            hidden_rows=self.count_table_rows() - sum(row["rows"] for row in rows),
        )

    def count_table_rows(self) -> int:
        """Return how many rows of tables have a vector of their own."""
        return int(self._connection.read("store/count_table_rows")[0]["rows"])

    def has_entities(self, graph: str) -> bool:
        """Say whether a graph has any entity."""
        return bool(self._read("retrieve/graph_entity", graph=graph))

    def has_communities(self, graph: str) -> bool:
        """Say whether a graph has any community."""
        return bool(self._read("retrieve/any_community", graph=graph))

    def graph_names(self) -> list[str]:
        """Return the names of the graphs that something was extracted for."""
        return [row["graph"] for row in self._read("retrieve/graph_names")]

    def records(self, kind: str) -> list[dict[str, Any]]:
        """Return every node or relationship of a kind as the digest reads it: `entity`, `relation`, `from_chunk`, ..."""
        return self._read(f"digest/{kind}")

    def _read(self, name: str, **parameters: Any) -> list[Any]:
        """Run a statement by its name, of retrieval over what may be read.

        A parameter `graph` also puts that graph's label in the place of `` `GRAPH_LABEL` ``.
        """
        retrieves = name.startswith("retrieve/")
        if retrieves:
            parameters = {"documents": self._readable.documents, "readable": self._readable.chunks, **parameters}
        rows = self._connection.read_plain(name, **parameters)
        if retrieves and self._readable.documents is not None:
            name_as_readable(self._connection, rows, documents=self._readable.documents)
        return rows

    def _stream(self, name: str, *, graph: str) -> Iterator[Any]:
        """Run a statement over a whole graph, which may have more rows than memory has room for."""
        return self._connection.stream(name, graph=graph)

    def _read_list(self, name: str, **parameters: Any) -> list[Any]:
        """Run a statement that returns its rows as the list `rows` of one row: what a hundred chunks are looked for with.

        The driver asks the socket twice for each row, which for a hundred takes it 2 to 5 ms more than one list of them.
        """
        rows: list[Any] = self._read(name, **parameters)[0]["rows"]
        return rows
