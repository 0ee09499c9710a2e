"""`kgrag complete`: relations → what may hold besides → predicted edges, kept apart from what was extracted."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, Field

from kgrag.common.progress import Progress, Silent
from kgrag.common.timing import timed
from kgrag.completion import open_predictor
from kgrag.completion.prediction import calibrate, propose
from kgrag.completion.triples import Triples
from kgrag.errors import InputError
from kgrag.store.graph import GraphStore
from kgrag.store.predictions import PredictedEdge
from kgrag.text.values import is_exact
from kgrag.types import content_id

__all__ = ["CompletionReport", "complete"]

VERSION = "1"
FEWEST_RELATIONS = 20
"""With fewer nothing can be held out."""
SHOWN = 10


class CompletionReport(BaseModel):
    """What was predicted for a graph; filled as the run goes."""

    graph: str
    method: str
    dry_run: bool = False
    relations: int = 0
    entities: int = 0
    """With a relation."""
    exact: int = 0
    """Of these, quantities, dates, identifiers and part numbers: no edge leads to or from them."""
    held_out: int = 0
    proposed: int = 0
    """When held-out triples were to be found."""
    confirmed: int = 0
    precision: float
    """Least share of proposals of such confidence that held-out triples confirmed."""
    considered: int = 0
    """Proposals by all triples."""
    edges: int = 0
    """Those of them that are sure enough."""
    best: list[str] = Field(default_factory=list)
    """The likeliest edges, as text, with their score."""
    seconds: dict[str, float] = Field(default_factory=dict)


async def complete(
    store: GraphStore,
    graph: str,
    *,
    method: str,
    precision: float,
    per_question: int = 3,
    seed: int = 7,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> CompletionReport:
    """Make the predicted edges of a graph what `method` predicts now with at least `precision` on held-out triples.

    Raises `InputError` where there is no such graph or method, or the graph has too few relations to hold some out.
    """
    progress = progress or Silent()
    report = CompletionReport(graph=graph, method=method, precision=precision, dry_run=dry_run)
    predictor = open_predictor(method, seed=seed)
    await asyncio.to_thread(store.graphs.counts_of, graph)
    with timed("read", report.seconds):
        said = await asyncio.to_thread(store.predictions.triples, graph)
        rows = await asyncio.to_thread(lambda: store.search.entities(graph=graph))
    if len(said) < FEWEST_RELATIONS:
        raise InputError(
            f"Graph {graph!r}: expected at least {FEWEST_RELATIONS} relations to learn from, got {len(said)}. "
            "Build it with an extractor that finds relations (docs/extractors.md)."
        )
    names = {row["key"]: row["name"] for row in rows}
    triples = Triples.of(said)
    exact = {row["key"] for row in rows if is_exact(row["name"], row["type"])}
    report.relations, report.entities = len(triples), len(triples.entities)
    report.exact = len(exact.intersection(triples.entities))
    with timed("calibrate", report.seconds), progress.step("Calibrate", None, ""):
        calibration = await asyncio.to_thread(
            lambda: calibrate(predictor, said, exact=exact, per_question=per_question, seed=seed)
        )
    report.held_out, report.proposed, report.confirmed = (
        calibration.held_out,
        calibration.proposed,
        calibration.confirmed,
    )
    with timed("predict", report.seconds), progress.step("Predict", None, ""):
        await asyncio.to_thread(predictor.fit, triples)
        proposals = await asyncio.to_thread(lambda: propose(predictor, triples, exact=exact, per_question=per_question))
    report.considered = len(proposals)
    edges = [
        PredictedEdge(*one.triple, score=round(share, 6), method=method)
        for one in proposals
        if (share := calibration.share(one.confidence)) >= precision
    ]
    report.edges = len(edges)
    report.best = [f"{names[e.head]} {e.type} {names[e.tail]} ({e.score:.2f})" for e in edges[:SHOWN]]
    if not dry_run:
        with timed("write", report.seconds):
            version = content_id(VERSION, method, str(precision), str(per_question), str(seed))
            await asyncio.to_thread(lambda: store.predictions.put(graph, edges, version=version))
    return report
