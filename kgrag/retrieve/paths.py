"""Expansion over paths: two chunks of different documents, joined by a rare name, that together are nearer to the question than either.

A question over two hops has the words of both, and each chunk only its own half: the second one looks unlike the question by itself. The
sum of two vectors is the vector of both texts, to the precision that embeddings have, so its cosine with the question says how
well the two answer it together.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.links import BEHIND
from kgrag.retrieve.names import forms_of_sequences, names_said
from kgrag.retrieve.rarity import rarity
from kgrag.retrieve.seeds import cosine, likeness
from kgrag.retrieve.settings import PathExpansion
from kgrag.retrieve.state import Likeness, Resources, State
from kgrag.store.graph import GraphStore

__all__ = ["FollowPaths", "Path", "joint_cosine", "lift_pairs", "read_paths"]


@dataclass(frozen=True, slots=True)
class Path:
    """A way from a seed to a chunk of another document that names the same."""

    seed: str
    seed_cosine: float
    """Of the seed with the question; `chunk.cosine` is that of the other."""
    chunk: Likeness
    alike: float
    """Cosine of the two chunks."""
    name: str
    """Of the rarest entity that both name."""
    rarity: float
    stated: bool = False
    """Whether the seed states a relation between it and something that the question names."""


def joint_cosine(one: float, other: float, alike: float) -> float:
    """Return the cosine of the question with the sum of two unit vectors, from their cosines with it and with each other."""
    length = math.sqrt(max(2.0 + 2.0 * alike, 0.0))
    return (one + other) / length if length > 0.0 else 0.0


async def read_paths(
    store: GraphStore,
    question: str,
    seeds: Sequence[str],
    vector: list[float],
    *,
    graph: str,
    chunks: int,
    settings: PathExpansion,
) -> list[Path]:
    """Read the chunks of other documents that name what seeds name, in one round trip."""
    rows = await asyncio.to_thread(
        store.search.read,
        "retrieve/paths",
        graph=graph,
        seeds=list(seeds),
        vector=vector,
        normals=forms_of_sequences(question),
        common=settings.common,
        stated_common=max(settings.common, settings.stated_common),
        ignored=list(settings.ignore),
        entities=settings.entities,
        limit=settings.chunks,
    )
    said = names_said(question, [one for row in rows for one in row["stated"]])
    return [
        Path(
            seed=row["seed"],
            seed_cosine=cosine(row["seed_similarity"]),
            chunk=likeness(row),
            alike=cosine(row["alike"]),
            name=row["name"],
            rarity=rarity(row["mentions"], chunks),
            stated=stated,
        )
        for row in rows
        if (stated := any(one["normal"] in said for one in row["stated"])) or row["mentions"] <= settings.common
    ]


def lift_pairs(state: State, paths: Sequence[Path], *, settings: PathExpansion) -> dict[str, Candidate]:
    """Give the second chunk of each of the best pairs the pair's score, where that is higher than its own and lower than the seed's.

    A pair has the mean of its two scores, and more by what it gains together over the better of the two and by the rarity of the name,
    the more if the seed states how it is related to something that the question names: `the author of Brand` leads from the chunk that
    says who wrote Brand to the chunks that name its author.
    Of each pair of chunks the rarest name counts, and of two seeds the lesser one is lifted.
    """
    pairs: dict[frozenset[str], tuple[float, Path]] = {}
    for path in sorted(paths, key=lambda path: (path.seed, path.chunk.chunk_id)):
        seed, other = state.candidates[path.seed], state.candidate(path.chunk)
        if other.score > seed.score:
            continue  # It is a better seed, and the pair comes from its side too.
        together = joint_cosine(path.seed_cosine, path.chunk.cosine, path.alike)
        gain = together - max(path.seed_cosine, path.chunk.cosine)
        mean = (seed.score + other.score) / 2
        score = mean + settings.joint * gain + (settings.link + settings.stated * path.stated) * path.rarity
        pair = frozenset((path.seed, path.chunk.chunk_id))
        if pair not in pairs or score > pairs[pair][0]:
            pairs[pair] = (score, path)
    best = sorted(pairs.values(), key=lambda one: (-one[0], one[1].seed, one[1].chunk.chunk_id))[: settings.pairs]
    lifted = dict(state.candidates)
    for score, path in best:
        other = state.candidate(path.chunk)
        score = max(other.score, min(score, state.candidates[path.seed].score - BEHIND))
        if other.chunk_id not in lifted or score > lifted[other.chunk_id].score:
            why = f"path: over {path.name}{', which the seed relates to the question' if path.stated else ''}"
            lifted[other.chunk_id] = other.scored(score, why)
    return lifted


@dataclass(frozen=True, slots=True)
class FollowPaths:
    """The step: from the best candidates to chunks of other documents that complete them."""

    settings: PathExpansion
    resources: Resources
    name: str = "expansion: paths"

    async def __call__(self, state: State) -> State:
        """Read paths of the best chunks and lift the best pairs."""
        paths = await read_paths(
            self.resources.store,
            state.query.question,
            state.best_chunks(self.settings.seeds),
            state.vector,
            graph=self.resources.graph,
            chunks=self.resources.chunks,
            settings=self.settings,
        )
        return replace(state, candidates=lift_pairs(state, paths, settings=self.settings))
