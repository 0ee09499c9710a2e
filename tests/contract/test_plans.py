"""How Neo4j runs each statement: by indexes, and not by reading all nodes of a label, but where all are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgrag.store.embedded import EmbeddedServer
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.statements import statement

from .conftest import Content

ROOT = Path(__file__).resolve().parents[2]
SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "CartesianProduct"}
ONE_NODE = {"NodeUniqueIndexSeek", "NodeUniqueIndexSeek(Locking)", "Argument"}
EVERYTHING = {"digest", "exchange"}
"""Folders whose statements are for the whole store."""
CHUNKS_OF_HUBS = (200, 600)
pytestmark = pytest.mark.changes_indexes  # and forgets all plans
WHOLE: dict[str, set[str]] = {
    "retrieve": {
        # The graph of PageRank, read once; what the store has; counts of all things with a property.
        *("walk_chunks", "walk_relations", "ledger_state", "graph_names", "graph_types", "things"),
        "amounts",  # All quantities: which of them measure what is asked for is read from their names.
        # A level of communities is read as a whole; the last two stop at the first node.
        *("communities_of_level", "nearest_communities", "any_community", "graph_entity"),
    },
    "store": {
        # What waits for a vector, once for each stage; lists and counts of all.
        *("chunks_without_embedding", "entities_without_embedding", "chunk_vectors", "document_chunk_counts"),
        "count_entities_without_embedding",  # For kgrag status.
        "entities_without_titles",  # Once for each build, likewise.
        "chunks_without_table_rows",
        *("documents", "first_documents", "count_documents"),
        *("linking_chunks", "links", "work", "count_work", "count_work_of_graphs", "failures", "graphs"),
        *("entity_types", "relation_types"),
        # A graph goes, a part at a time.
        *("delete_graph", "delete_work_of_scope"),
    },
    "resolve": {
        *("any_merge", "count_merges", "merges", "unmerged_entities"),
        *("delete_members_of_graph", "delete_merges_of_graph"),
    },
    "communities": {
        *("chunk_sizes", "communities", "count", "entities", "levels", "similar", "vectors"),
        "delete_communities_of_graph",
    },
    # Of a graph all that is predicted from, and all that was.
    "completion": {"triples", "predicted", "delete_predicted"},
    "evaluate": set(),
}
"""Statements that may read all there is of something, by folder. Some do only where the statistics of the moment say that it costs less."""


def forget_plans(store: GraphStore) -> None:
    """Have the server plan anew: it keeps plans for a day, those of what other tests had in it, too."""
    with store._connection._session(reads=True) as session:
        session.run("CALL db.clearQueryCaches()").consume()


@pytest.fixture(scope="module")
def kept() -> dict[str, set[str]]:
    """What `plans` found: to plan all statements takes seconds, and all tests look at the same plans."""
    return {}


@pytest.fixture
def plans(kept: dict[str, set[str]], neo4j_empty: str, content: Content) -> dict[str, set[str]]:
    """The operators of each statement's plan in an empty store, by folder and name."""
    if not kept:
        with open_store(neo4j_empty) as store:
            store.bind(content.embedder, content.dimensions)
            store.finish()  # An index that is not online yet is in no plan.
            forget_plans(store)
            files = sorted((ROOT / "cypher").rglob("*.cypher"))
            made = [set(operators(store, *one)) for one in zip(files, given(files, store), strict=True)]
        kept.update(zip((f"{file.parent.name}/{file.stem}" for file in files), made, strict=True))
    return kept


@pytest.mark.neo4j
def test_every_statement_runs_in_neo4j_as_it_is(plans: dict[str, set[str]]) -> None:
    of_files = {f"{file.parent.name}/{file.stem}" for file in (ROOT / "cypher").rglob("*.cypher")}
    assert plans.keys() == of_files


@pytest.mark.neo4j
@pytest.mark.parametrize("folder", WHOLE)
def test_no_other_statement_reads_all_nodes_of_a_label(folder: str, plans: dict[str, set[str]]) -> None:
    names = {name: found for name, found in plans.items() if name.startswith(f"{folder}/")}
    scans = {name.partition("/")[2] for name, found in names.items() if SCANS.intersection(found)}
    assert names
    assert scans <= WHOLE[folder]


@pytest.mark.neo4j
def test_what_a_question_reads_does_not_grow_with_how_many_chunks_mention_a_hub(
    neo4j_empty: str, content: Content
) -> None:
    def hits(store: GraphStore, name: str, **parameters: Any) -> int:
        always = {"graph": "mention", "vector": [1.0] * content.dimensions, "documents": None, "readable": None}
        return hits_of(store, statement(f"retrieve/{name}", graph="mention"), always | parameters)

    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        for number, chunks in enumerate(CHUNKS_OF_HUBS):
            # Each is about a name of its own and names one with its neighbour, and all of a document name its hub.
            made = content.document(f"{number}.html", *(f"chunk {number} {place}" for place in range(chunks)))
            store.documents.put([made])
            said = [
                content.said(
                    chunk,
                    content.entity(f"own {number} {place}", role="title"),
                    content.entity(f"pair {number} {place // 2}"),
                    content.entity(f"hub {number}"),
                    relations=[content.relation(f"hub {number}", "HAS_PART", f"pair {number} {place // 2}")],
                )
                for place, chunk in enumerate(made[1])
            ]
            store.graphs.put_extractions("mention", said)
        content.embed_all(store, "mention")
        store.finish()
        # Both hubs are in one store and plans are kept from here on, so that both are asked by the same plan: that follows the statistics.
        forget_plans(store)
        read: dict[int, list[tuple[int, ...]]] = {10: [], 1000: []}
        for number in range(len(CHUNKS_OF_HUBS)):
            rows = store.query(
                "MATCH (c:Chunk) WHERE c.title = $title RETURN c.id AS id ORDER BY c.position LIMIT 3",
                title=f"{number}.html",
            )
            seeds = [row["id"] for row in rows]
            hub = store.query("MATCH (e:__Entity__ {name: $name}) RETURN e.key AS key", name=f"hub {number}")[0]["key"]
            for common, so_far in read.items():
                so_far.append(
                    (
                        hits(
                            store, "linked_chunks", seeds=seeds, linking=seeds, known=[], common=common,
                            entities=30, limit=10, hyperlinks=10,
                        ),
                        hits(store, "graph_neighbourhood", seeds=seeds, common=common, entities=20, chunks=10, neighbours=30, hops=2),
                        hits(store, "entity_context", keys=[hub], near=seeds, common=common, chunks=30, relations=30),
                    )
                )  # fmt: skip
    growth = {common: [more / less for less, more in zip(*so_far, strict=True)] for common, so_far in read.items()}
    assert max(growth[10]) < 1.1, read
    assert max(growth[1000]) > 1.5, "where the hub is followed, more is read: how much more is the plan's"


@pytest.mark.neo4j
def test_a_relation_is_looked_for_between_its_ends_and_not_among_all_that_a_hub_has(
    neo4j_empty: str, content: Content
) -> None:
    names = ("relations", "update_relations", "delete_relations")
    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        for number, parts in enumerate(CHUNKS_OF_HUBS):
            made = content.document(f"{number}.html", f"chunk {number}")
            store.documents.put([made])
            of_hub = [content.relation(f"hub {number}", "HAS_PART", f"part {number} {part}") for part in range(parts)]
            named = {end.name: end for relation in of_hub for end in (relation.head, relation.tail)}
            store.graphs.put_extractions("mention", [content.said(made[1][0], *named.values(), relations=of_hub)])
        store.finish()
        forget_plans(store)
        read: dict[str, list[int]] = {name: [] for name in names}
        for number in range(len(CHUNKS_OF_HUBS)):
            ends = store.query(
                "MATCH (head)-[:HAS_PART]->(tail {name: $name}) RETURN head.key AS head, tail.key AS tail",
                name=f"part {number} 7",
            )
            properties = {"weight": 1, "chunks": ["c"], "descriptions": [""], "reasons": [""]}
            for name in names:
                text = statement(f"store/{name}", relation="HAS_PART")
                read[name].append(hits_of(store, text, {"rows": [ends[0] | {"properties": properties}]}))
    assert all(more <= less for less, more in read.values()), read


@pytest.mark.neo4j
def test_no_mention_is_read_of_an_entity_that_no_chunk_is_about(neo4j_empty: str, content: Content) -> None:
    """Unless an older kgrag did not count them: then all are read, and the same is found."""
    always = {"graph": "mention", "vector": [1.0] * content.dimensions, "documents": None, "readable": None}
    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        _, chunks = made = content.document("a.html", *(f"chunk {place}" for place in range(100)))
        store.documents.put([made])
        said = [
            content.said(chunk, content.entity("own", role="title"), content.entity("part")) for chunk in chunks[:2]
        ]
        said += [content.said(chunk, content.entity("own"), content.entity("part")) for chunk in chunks[2:]]
        store.graphs.put_extractions("mention", said)
        content.embed_all(store, "mention")
        store.finish()
        parameters: dict[str, dict[str, Any]] = {
            "linked_chunks": {
                **{"seeds": [chunks[-1].id], "linking": [], "known": [], "common": 1000},
                **{"entities": 30, "limit": 10, "hyperlinks": 10},
            },
            "named_chunks": {"normals": ["own", "part"], "limit": 10, "among": []},
            "family_chunks": {"families": ["own", "part"], "limit": 10, "among": []},
        }

        def read() -> dict[str, tuple[int, str]]:
            forget_plans(store)
            found = {}
            for name, given_to in parameters.items():
                text = statement(f"retrieve/{name}", graph="mention")
                with store._connection._session(reads=True) as session:
                    result = session.run(f"PROFILE {text}", always | given_to)
                    rows = repr(result.values())
                    profile = result.consume().profile
                assert profile is not None
                found[name] = (sum(_hits(profile)), rows)
            return found

        counted = read()
        store._connection.run_alone("MATCH (e:__Entity__) REMOVE e.titles")
        uncounted = read()
    for name in parameters:
        assert counted[name][1] == uncounted[name][1], name
        assert uncounted[name][0] - counted[name][0] > len(chunks), name


def test_the_embedded_database_looks_at_a_hub_no_more_often_than_at_the_chunks_nearest_to_the_question(
    tmp_path: Path, content: Content
) -> None:
    with open_store(tmp_path / "hubs.kg") as store:
        store.bind(content.embedder, content.dimensions)
        read: list[int] = []
        for number, chunks in enumerate(CHUNKS_OF_HUBS):
            made = content.document(f"{number}.html", *(f"chunk {number} {place}" for place in range(chunks)))
            store.documents.put([made])
            store.graphs.put_extractions(
                "mention", [content.said(chunk, content.entity(f"hub {number}")) for chunk in made[1]]
            )
            store.finish()
            hub = store.query("MATCH (e:__Entity__ {name: $name}) RETURN e.key AS key", name=f"hub {number}")[0]["key"]
            server = store._connection.server
            assert isinstance(server, EmbeddedServer)
            before = server._database.getStats()["readRecord"]
            (row,) = store.search.entity_context(
                graph="mention",
                keys=[hub],
                vector=[1.0] * content.dimensions,
                near=[chunk.id for chunk in made[1][:20]],
                common=100,
                chunks=30,
                relations=30,
            )
            read.append(int(server._database.getStats()["readRecord"]) - int(before))
            assert len(row["chunks"]) == 20
    assert read[1] <= 1.1 * read[0]


def test_every_folder_of_statements_is_looked_at() -> None:
    assert {file.parent.name for file in (ROOT / "cypher").rglob("*.cypher")} == WHOLE.keys() | EVERYTHING | {"schema"}


def given(files: Sequence[Path], store: GraphStore) -> list[dict[str, Any]]:
    """Return the parameters that each file gives for Neo4j Browser."""
    found = [re.search(r":param (\{.*\})", file.read_text(encoding="utf-8")) for file in files]
    maps = ", ".join(one[1] if one else "{}" for one in found)
    parameters: list[dict[str, Any]] = store.query(f"RETURN [{maps}] AS given")[0]["given"]
    return parameters


def operators(store: GraphStore, file: Path, parameters: dict[str, Any]) -> Iterator[str]:
    """Yield the operators of a statement's plan, comments included, as Neo4j Browser would be given it.

    One with placeholders is planned with names in their places as well: those are the operators, where its folder is looked at.
    """
    text = file.read_text(encoding="utf-8")
    plan = store._connection.explain(text, parameters).plan
    if file.parent.name in WHOLE and re.search(r"`[A-Z_]+`", text):
        name = f"{file.parent.name}/{file.stem}"
        text = statement(name, graph="mention", level=0, entity="Product", relation="HAS_PART")
        plan = store._connection.explain(text, parameters).plan
    assert plan is not None
    yield from _operators(plan)


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    name = plan["operatorType"].partition("@")[0]
    children = plan.get("children", ())
    # Two nodes that are each found by a unique key are joined by a product of one and one.
    if name != "CartesianProduct" or not all(leaf in ONE_NODE for child in children for leaf in _leaves(child)):
        yield name
    for child in children:
        yield from _operators(child)


def hits_of(store: GraphStore, text: str, parameters: dict[str, Any]) -> int:
    """Run a statement, and count its accesses to the database's store."""
    with store._connection._session(reads=False) as session:
        profile = session.run(f"PROFILE {text}", parameters).consume().profile
    assert profile is not None
    return sum(_hits(profile))


def _hits(profile: Mapping[str, Any]) -> Iterator[int]:
    """Yield the accesses to the database's store of each operator of a plan that was run."""
    yield profile.get("dbHits", 0)
    for child in profile.get("children", ()):
        yield from _hits(child)


def _leaves(plan: Mapping[str, Any]) -> Iterator[str]:
    children = plan.get("children", ())
    if not children:
        yield plan["operatorType"].partition("@")[0]
    for child in children:
        yield from _leaves(child)
