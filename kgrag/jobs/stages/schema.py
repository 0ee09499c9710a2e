"""Agreeing on an induced schema before a graph is extracted: once for a graph, remembered in the ledger, shown to the user."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from kgrag.errors import ModelUnavailable
from kgrag.extract.base import InducesSchema
from kgrag.extract.schema import schema_from_data
from kgrag.jobs.stages.job import Job
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord

__all__ = ["agree_on_schema", "recall_schema"]

STAGE = "schema"


def recall_schema(extractor: InducesSchema, graph: str, *, store: GraphStore) -> bool:
    """Let the extractor use the schema that was induced for the graph before; False where there is none, or one of another model."""
    known = store.ledger.of_subjects(STAGE, [graph], scope=graph).get(graph)
    if known is None or known.version != extractor.induction:
        return False
    extractor.use(schema_from_data(json.loads(known.result), source=f"The ledger's schema of {graph}"))
    return True


async def agree_on_schema(
    extractor: InducesSchema, graph: str, job: Job, *, wait: Callable[[ModelUnavailable, float], Awaitable[None]]
) -> None:
    """Use the schema that is known for the graph, or induce one and remember it.

    `wait` is called with why the model is away and when that was found, and returns once it answers.
    """
    store, report = job.store, job.report
    if await asyncio.to_thread(recall_schema, extractor, graph, store=store):
        origin = "induced by an earlier build"
    else:
        origin = "induced from samples now"
        started = time.perf_counter()
        while True:
            try:
                usage = await extractor.induce()
                break
            except ModelUnavailable as error:
                await wait(error, time.monotonic())
        if extractor.schema is not None:
            record = WorkRecord(
                STAGE,
                graph,
                scope=graph,
                version=extractor.induction,
                result=extractor.schema.to_json(),
                seconds=time.perf_counter() - started,
            ).after(None, usage)
            await asyncio.to_thread(store.ledger.put, [record])
            report.graphs[graph].usage += usage
    if extractor.schema is not None:
        report.schemas[graph] = extractor.schema.to_json()
        report.notes.append(f"graph {graph}: schema {origin}: {'. '.join(extractor.schema.in_words().splitlines())}")
