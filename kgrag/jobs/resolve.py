"""`kgrag resolve`: entities as extracted → candidates → decisions → merge plan → merged graph; and back.

The plan is made from the entities as they were extracted, whatever is merged now, and then the store is made to hold it: merges that are in
the plan stay, others are taken back, new ones applied. So a second run changes nothing, and the same documents give the same graph.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from pydantic import BaseModel, Field

from kgrag.common.progress import Progress, Silent
from kgrag.common.reasons import shortened
from kgrag.errors import InputError
from kgrag.jobs.stages.embedding import embed_entities
from kgrag.jobs.stages.job import Job
from kgrag.models.base import ChatModel, Embedder, Vectors
from kgrag.resolve import METHODS
from kgrag.resolve.asking import ask_model, questions
from kgrag.resolve.comparisons import COSINE_THRESHOLD, decide_by_thesis, decide_by_threshold
from kgrag.resolve.keys import GENERIC_WORDS
from kgrag.resolve.plan import Decisions, GraphEntity, MergeGroup, MergePlan, make_plan, never
from kgrag.resolve.read_many import read_names
from kgrag.resolve.reading import read_name
from kgrag.resolve.rules import decide_by_rules, find_candidates
from kgrag.resolve.similarity import DEFAULT_THRESHOLD, CorpusEvidence, name_similarity
from kgrag.store.graph import GraphStore
from kgrag.store.merges import Merge, Merged
from kgrag.types import canonical_json

__all__ = ["Explanation", "ResolveReport", "explain", "resolve", "undo"]

MERGES_AT_ONCE = 200
"""Groups of one transaction."""
ENTITIES_WITH_VECTORS = 50_000
"""Up to so many entities the nearest vectors are searched exactly; above, candidates come from names alone."""


class ResolveReport(BaseModel):
    """What a resolution did, or would do."""

    plan: MergePlan
    dry_run: bool
    applied: int = 0
    """Groups that were merged now."""
    unchanged: int = 0
    """Groups that were merged already."""
    taken_back: int = 0
    """Merges of an earlier resolution that are not in the plan any more."""
    relations_fused: int = 0
    relations_inside: int = 0
    """Relations between members of one group; they come back with --undo."""
    unanswered: int = 0
    """Questions to a model without a usable answer: a note says why, and their pairs are kept apart."""
    notes: list[str] = Field(default_factory=list)


class Explanation(BaseModel):
    """Why an entity is what it is: the merge that it stands in, or what was found about a pair."""

    name: str
    graph: str
    group: MergeGroup | None = None
    """None for an entity that is in no merge."""
    description: str = ""


async def resolve(
    store: GraphStore,
    graph: str,
    *,
    embedder: Embedder,
    method: str = "rules",
    model: ChatModel | None = None,
    threshold: float | None = None,
    generic: Sequence[str] | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ResolveReport:
    """Find the entities of a graph that are one thing and merge them; with `dry_run` only the plan is made.

    `threshold` is the score from which the scored rule says yes (0.9), for the method `threshold` the cosine (0.95). `generic` replaces
    the generic words that blocking leaves out. Entities that an interrupted build left without a vector are given theirs first. Raises
    `InputError` for an unknown method or graph, and where `llm` has no model.
    """
    job = Job(store, embedder, progress=progress or Silent(), names_failures=False)
    if method not in METHODS:
        raise InputError(f"Unknown method {method!r}: expected one of {', '.join(METHODS)}. Set --method.")
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(f"--threshold: expected a number above 0 and at most 1, got {threshold}.")
    limit = {"rules": ENTITIES_WITH_VECTORS, "llm": ENTITIES_WITH_VECTORS, "threshold": sys.maxsize}.get(method)
    if not dry_run:
        await embed_entities(graph, job)
    entities, vectors = await asyncio.to_thread(_read, store, graph, up_to=limit)
    if vectors is None and not dry_run and (unembedded := await asyncio.to_thread(_merged_unembedded, store, graph)):
        await _split(job, graph, unembedded)
        await embed_entities(graph, job)
        entities, vectors = await asyncio.to_thread(_read, store, graph, up_to=limit)
    words = GENERIC_WORDS if generic is None else frozenset(word.casefold() for word in generic)
    with job.progress.step(f"Read {graph}", len(entities), "names") as step:
        readings = await asyncio.to_thread(read_names, [entity.name for entity in entities])
        step.advance(len(entities))
    notes: list[str] = []
    if vectors is None and method in ("rules", "llm") and entities:
        notes.append(
            f"candidates from names only: vectors are compared up to {ENTITIES_WITH_VECTORS} entities, and if each has one"
        )
    settings: dict[str, Any] = {}
    match method:
        case "rules":
            settings |= {"threshold": threshold or DEFAULT_THRESHOLD, "generic_words": sorted(words)}
            decisions = await asyncio.to_thread(
                decide_by_rules,
                entities,
                readings,
                vectors=vectors,
                generic=words,
                threshold=threshold or DEFAULT_THRESHOLD,
                evidence=await asyncio.to_thread(_evidence, store, entities),
            )
        case "llm":
            if model is None:
                raise InputError("--method llm needs a chat model: give --model, or take --method rules.")
            settings |= {"model": model.name, "generic_words": sorted(words)}
            evidence = await asyncio.to_thread(_evidence, store, entities)
            candidates = await asyncio.to_thread(
                find_candidates, entities, readings, vectors=vectors, generic=words, evidence=evidence
            )
            with job.progress.step(f"Ask {model.name}", len(questions(candidates.ask)), "questions") as step:
                decisions = await ask_model(
                    model,
                    entities,
                    candidates,
                    context=lambda shown: _context(store, entities, shown),
                    advance=step.advance,
                )
        case "thesis":
            decisions = decide_by_thesis(entities)
        case "threshold":
            settings["threshold"] = threshold or COSINE_THRESHOLD
            if vectors is None:
                raise InputError(
                    f"Graph {graph}: --method threshold compares vectors, and entities wait for theirs. Run kgrag build."
                )
            decisions = decide_by_threshold(entities, vectors, threshold=threshold or COSINE_THRESHOLD)
        case _:
            decisions = Decisions({}, {}, 0)
    plan = make_plan(graph, entities, readings, decisions, method=method, settings=settings)
    if lacking := decisions.unanswered:
        notes.append(
            f"{len(lacking)} questions had no answer that can be used, and their pairs are kept apart; the same command asks again. "
            f"The first: {shortened(lacking[0])}"
        )
    report = ResolveReport(plan=plan, dry_run=True, unanswered=len(lacking), notes=notes)
    return report if dry_run else await _apply(job, report)


async def undo(store: GraphStore, graph: str, *, embedder: Embedder, progress: Progress | None = None) -> int:
    """Take every merge of a graph back; return how many there were. The graph is again what the build made."""
    job = Job(store, embedder, progress=progress or Silent(), names_failures=False)
    merges = await asyncio.to_thread(store.graphs.merges, graph)
    await _split(job, graph, [merge.survivor for merge in merges])
    await embed_entities(graph, job)
    return len(merges)


def explain(store: GraphStore, graph: str, name: str, other: str | None = None) -> list[Explanation]:
    """Say why the entities of a name are merged with what they are, or why two names are or are not one.

    A name is looked for as written, then by normal form. Raises `InputError` where the graph has no entity of that name.
    """
    entities, _ = _read(store, graph)
    found = _named(entities, name, graph)
    groups = {member: json.loads(merge.reasons) for merge in store.graphs.merges(graph) for member in merge.members}
    if other is None:
        return [
            Explanation(
                name=entity.name,
                graph=graph,
                group=MergeGroup.model_validate(groups[entity.key]) if entity.key in groups else None,
                description="" if entity.key in groups else "It is in no merge.",
            )
            for entity in found
        ]
    explained = []
    evidence = _evidence(store, entities)
    for one in found:
        for two in _named(entities, other, graph):
            if one.key == two.key:
                said = "One entity as extracted: same type, same comparison key."
            elif groups.get(one.key) is not None and groups.get(one.key) == groups.get(two.key):
                said = "Merged."
            elif reason := never(one, read_name(one.name), two, read_name(two.name)):
                said = f"Never one: {reason}."
            else:
                score, reason = name_similarity(
                    read_name(one.name),
                    read_name(two.name),
                    one.name,
                    two.name,
                    types=(one.type, two.type),
                    evidence=evidence,
                )
                said = f"Not merged. By the scored rule {score:.2f}: {reason}."
            explained.append(
                Explanation(
                    name=f"{one.name} ({one.type}) and {two.name} ({two.type})",
                    graph=graph,
                    group=MergeGroup.model_validate(groups[one.key]) if said == "Merged." else None,
                    description=said,
                )
            )
    return explained


def _named(entities: Sequence[GraphEntity], name: str, graph: str) -> list[GraphEntity]:
    form = read_name(name).form
    found = [e for e in entities if e.name == name] or [e for e in entities if read_name(e.name).form == form]
    if not found:
        raise InputError(
            f"Graph {graph} has no entity named {name!r}. kgrag cypher 'MATCH (e:__Entity__) RETURN e.name' lists them."
        )
    return found


def _read(store: GraphStore, graph: str, *, up_to: int | None = None) -> tuple[list[GraphEntity], Vectors | None]:
    """Read the entities as extracted, by key, and, where there are no more than `up_to` and each has one, their vectors."""
    counts = store.graphs.counts_of(graph)
    vectors = up_to is not None and counts["entities"] <= up_to
    rows = sorted(store.graphs.unmerged_entities(graph, vectors=vectors), key=lambda row: str(row["key"]))
    entities = [
        GraphEntity(row["key"], row["name"], row["type"], row["normal"], row["description"] or "", row["mentions"] or 0)
        for row in rows
    ]
    if not rows or any(row["embedding"] is None for row in rows):
        return entities, None
    return entities, np.array([row["embedding"] for row in rows], dtype=np.float32)


def _merged_unembedded(store: GraphStore, graph: str) -> list[str]:
    """Return the survivors of merges that were made before all members had vectors: nothing gives a member one while it is merged."""
    waiting = {row["key"] for row in store.graphs.unmerged_entities(graph) if row["embedding"] is None}
    return [merge.survivor for merge in store.graphs.merges(graph) if not waiting.isdisjoint(merge.members)]


def _evidence(store: GraphStore, entities: Sequence[GraphEntity]) -> CorpusEvidence:
    """Read what the documents say about words: their chunks, and the entities' names and descriptions."""
    said = (text for entity in entities for text in (entity.name, entity.description))
    return CorpusEvidence.of(chain((chunk.text for chunk in store.documents.chunks()), said))


def _context(store: GraphStore, entities: Sequence[GraphEntity], shown: Sequence[int]) -> Mapping[int, str]:
    """Return for each entity the line of a chunk that has its name."""
    texts = store.graphs.naming_texts([entities[index].key for index in shown])
    lines: dict[int, str] = {}
    for index in shown:
        text = texts.get(entities[index].key, "")
        named = [line for line in text.splitlines() if entities[index].name.casefold() in line.casefold()]
        lines[index] = (named or text.splitlines() or [""])[0].strip()
    return lines


async def _apply(job: Job, planned: ResolveReport) -> ResolveReport:
    """Make the store hold the merges of a plan and no others."""
    store, plan = job.store, planned.plan
    wanted = {group.survivor: _merge(group) for group in plan.groups}
    held = {merge.survivor: merge for merge in await asyncio.to_thread(store.graphs.merges, plan.graph)}
    stale = [survivor for survivor, merge in held.items() if wanted.get(survivor) != merge]
    new = [merge for survivor, merge in sorted(wanted.items()) if held.get(survivor) != merge]
    await _split(job, plan.graph, stale)
    done = Merged()
    with job.progress.step(f"Merge {plan.graph}", len(new), "groups") as step:
        for start in range(0, len(new), MERGES_AT_ONCE):
            batch = new[start : start + MERGES_AT_ONCE]
            done += await asyncio.to_thread(store.graphs.apply_merges, plan.graph, batch)
            step.advance(len(batch))
    await embed_entities(plan.graph, job)
    await asyncio.to_thread(store.finish)
    done_now = {
        "dry_run": False,
        "applied": done.groups,
        "unchanged": len(wanted) - len(new),
        "taken_back": len(stale),
        "relations_fused": done.relations,
        "relations_inside": done.loops,
    }
    return planned.model_copy(update=done_now)


async def _split(job: Job, graph: str, survivors: Sequence[str]) -> None:
    with job.progress.step(f"Split {graph}", len(survivors), "groups") as step:
        for start in range(0, len(survivors), MERGES_AT_ONCE):
            batch = survivors[start : start + MERGES_AT_ONCE]
            await asyncio.to_thread(job.store.graphs.split_merges, graph, batch)
            step.advance(len(batch))


def _merge(group: MergeGroup) -> Merge:
    reasons = canonical_json(group.model_dump(mode="json"))
    return Merge(group.survivor, tuple(sorted(member.key for member in group.members)), reasons)
