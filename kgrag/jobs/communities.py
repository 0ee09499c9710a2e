"""`kgrag communities`: similarity graph → communities → profiles → summaries, of which only what changed is done again."""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np

from kgrag.common.progress import Progress, Silent
from kgrag.common.timing import timed
from kgrag.communities.entity_graph import EntityGraph, entity_graph, relation_strength
from kgrag.communities.hierarchy import Earlier, Hierarchy, find_communities
from kgrag.communities.report import CommunityReport, LevelCount
from kgrag.communities.settings import CommunitySettings
from kgrag.communities.similarity import Pairs, similar_pairs
from kgrag.communities.summaries import Summarising
from kgrag.communities.summary import Summariser
from kgrag.models.base import Embedder, Vectors
from kgrag.store.communities import PARTITION, Membership
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.text.values import is_value

__all__ = ["update_communities"]


async def update_communities(
    store: GraphStore,
    *,
    graph: str,
    embedder: Embedder,
    summariser: Summariser,
    settings: CommunitySettings,
    fresh: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> CommunityReport:
    """Make the communities of a graph what its entities and relations say now, and summarise those that changed.

    Communities of the same settings are where the new ones start from, so that a small update changes few; `fresh` starts from nothing.
    Each step is written when it is done: whoever is interrupted calls again and goes on. A summary that a model does not manage is
    counted as failed, and is tried again by the next call. `dry_run` writes nothing and calls no model: the report says what would be
    done. Raises `InputError` where the graph has no entities, `ModelError` where a model cannot be reached, `StoreMismatch` for
    another embedder.
    """
    progress = progress or Silent()
    report = CommunityReport(
        graph=graph, settings=settings, model=summariser.name, dry_run=dry_run, price_known=summariser.price_known
    )
    report.entities = (await asyncio.to_thread(store.graphs.counts_of, graph))["entities"]
    if dry_run:
        store.check(embedder.name, embedder.dimensions)
    else:
        store.bind(embedder.name, embedder.dimensions)
    state = await asyncio.to_thread(store.graphs.state, graph)
    keys, vectors = await asyncio.to_thread(_vectors, store, graph, report)
    with timed("similarity", report.seconds), progress.step("Similar", len(keys), "entities") as step:
        similar = await asyncio.to_thread(
            similar_pairs, vectors, neighbours=settings.k, cutoff=settings.cutoff, on_done=step.advance
        )
    del vectors
    with timed("communities", report.seconds), progress.step("Communities", None, ""):
        edges = await asyncio.to_thread(_edges, store, graph, keys, similar, settings, report)
        earlier = [] if fresh else await asyncio.to_thread(_earlier, store, graph, settings)
        hierarchy = await asyncio.to_thread(
            find_communities, edges, name=graph, seed=settings.seed, max_size=settings.max_size, earlier=earlier
        )
    _count(report, hierarchy)
    memberships = [
        Membership(one.key, one.level, tuple(keys[place] for place in one.members), one.structure, one.parent)
        for one in hierarchy.communities
    ]
    if not dry_run:
        with timed("write", report.seconds), progress.step("Write", None, ""):
            await asyncio.to_thread(
                store.communities.put_similar, graph, keys, similar.first, similar.second, similar.score
            )
            record = WorkRecord(PARTITION, graph, scope=graph, version=settings.partition_version, result=state)
            report.new = await asyncio.to_thread(
                store.communities.put_memberships, graph, memberships, record=record, atomic=bool(earlier)
            )
    summarising = Summarising(
        store, graph=graph, edges=edges, embedder=embedder, summariser=summariser, settings=settings, report=report
    )
    with timed("summaries", report.seconds):
        await summarising.run(memberships, progress=progress)
    if not dry_run:
        with timed("index", report.seconds), progress.step("Index", None, ""):
            await asyncio.to_thread(store.finish)
    return report


def _vectors(store: GraphStore, graph: str, report: CommunityReport) -> tuple[list[str], Vectors]:
    with timed("read", report.seconds):
        keys, vectors = store.graphs.vectors(graph)
    report.without_vector = report.entities - len(keys)
    return keys, vectors


def _edges(
    store: GraphStore, graph: str, keys: list[str], similar: Pairs, settings: CommunitySettings, report: CommunityReport
) -> EntityGraph:
    """Blend similarity with the relations between entities that have vectors."""
    place = {key: number for number, key in enumerate(keys)}
    said: Counter[tuple[int, int]] = Counter()
    for row in store.search.relations(graph=graph):
        head, tail = place.get(row["head"]), place.get(row["tail"])
        if head is not None and tail is not None and head != tail:
            said[min(head, tail), max(head, tail)] += row["weight"]
    pairs = np.array(sorted(said), dtype=np.int64).reshape(-1, 2)
    chunks = np.array([said[pair] for pair in sorted(said)], dtype=np.float64)
    related = Pairs(pairs[:, 0], pairs[:, 1], relation_strength(chunks))
    report.similar_pairs, report.related_pairs = len(similar), len(related)
    value = {row["key"]: is_value(row["name"], row["type"]) for row in store.search.entities(graph=graph)}
    values = np.array([value[key] for key in keys], dtype=bool)
    return entity_graph(keys, similar, related=related, relation_weight=settings.relations, values=values)


def _earlier(store: GraphStore, graph: str, settings: CommunitySettings) -> list[Earlier]:
    """Return the communities that are there, if one whole run with the same settings made them."""
    record = store.ledger.of_subjects(PARTITION, [graph], scope=graph).get(graph)
    if record is None or record.version != settings.partition_version:
        return []
    stored = [one.membership for one in store.communities.of_graph(graph).values()]
    return [Earlier(one.level, one.members, one.structure, one.size) for one in stored]


def _count(report: CommunityReport, hierarchy: Hierarchy) -> None:
    report.isolated, report.modularity = len(hierarchy.isolated), round(hierarchy.modularity, 6)
    sizes: dict[int, list[int]] = {}
    for one in hierarchy.communities:
        sizes.setdefault(one.level, []).append(len(one.members))
    report.levels = [
        LevelCount(level=level, communities=len(some), largest=max(some), entities=sum(some))
        for level, some in sorted(sizes.items())
    ]
