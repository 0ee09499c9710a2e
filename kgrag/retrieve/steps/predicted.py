"""Expansion over predicted edges (`kgrag complete`): they lead to chunks and are never shown or cited themselves.

They are learnt from what all documents say together, so whoever may not read all documents follows none of them: where an edge leads
would tell of what a hidden document says, even where both of its ends are in documents that may be read.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar, Literal

from kgrag.retrieve.scores import idf
from kgrag.retrieve.state import Resources, State, hit_of
from kgrag.retrieve.step import Count, Share, Step
from kgrag.retrieve.steps.links import Link, hand_on
from kgrag.text.values import is_exact

__all__ = ["Predicted"]


class Predicted(Step):
    """Follow predicted edges from what seeds name to chunks that name what may be related to it."""

    kind: Literal["predicted"] = "predicted"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    seeds: Count = 10
    """Seeds whose edges are followed."""
    weight: Share = 0.7
    """Share of a seed's score that the surest edge to the rarest of names hands on."""
    least: Share = 0.0
    """Edges with a lower score are not followed."""
    edges: Count = 30
    """Of one seed, likeliest first."""
    chunks: Count = 10
    """That one edge leads to, nearest to the question first."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read where the best chunks lead, in one round trip. What has a number or an identifier is never followed, whoever wrote it."""
        if not resources.has_graph:
            return state
        if resources.store.search.readable_documents is not None:
            return state.remarked("predicted: who may not read every document follows no predicted edge")
        rows = await asyncio.to_thread(
            resources.store.search.predicted_chunks,
            graph=resources.graph,
            seeds=state.best_chunks(self.seeds),
            vector=state.vector,
            least=self.least,
            edges=self.edges,
            limit=self.chunks,
        )
        links = [
            Link(
                seed=row["seed"],
                chunk=hit_of(chunk),
                weight=row["score"] * idf(row["mentions"], resources.chunks) / row["named"],
                why=f"predicted, not stated: {row['source']} may be related to {row['target']}",
            )
            for row in rows
            if not is_exact(row["source"], row["source_type"]) and not is_exact(row["target"], row["target_type"])
            for chunk in row["chunks"]
        ]
        return replace(state, candidates=hand_on(state, links, weight=self.weight, by="predicted"))
