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
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kgrag.retrieve.scores import BEHIND, cosine, idf
from kgrag.retrieve.state import Candidate, Hit, Resources, State, hit_of
from kgrag.retrieve.step import Count, Share, Step
from kgrag.retrieve.steps.names import forms_of_sequences, names_said

__all__ = ["Path", "Paths", "joint_cosine", "lift_pairs"]

KINDS = ("Class",)
"""Types of entities that are kinds of things: a question with the word `sensor` names none of the sensors."""


class Paths(Step):
    """Pair seeds with chunks of other documents that a rare name joins to them, where the two together are nearer to the question."""

    kind: Literal["paths"] = "paths"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    seeds: Count = 10
    pairs: Count = 10
    """Pairs that are lifted, best first."""
    joint: Share = 0.33
    """What a pair gains for each unit of cosine by which both together are nearer to the question than the better of them."""
    link: Share = 0.05
    """What a pair gains by the rarest of names."""
    stated: Share = 0.15
    """What it gains besides, where the seed states a relation between that name and something that the question names."""
    common: Count = 20
    """A name that more chunks have joins nothing."""
    stated_common: Count = 40
    """The same for a name that the seed relates to something that the question names (and that is not common itself)."""
    ignore: Annotated[tuple[str, ...], Field(strict=False)] = (
        "Class",
        "Quantity",
        "Section",
        "Term",
        "Value",
        "Version",
    )
    """Types of entities that join nothing: two products with the same rating are not related by it."""
    entities: Count = 30
    """Names of one seed, rarest first."""
    chunks: Count = 100
    """Chunks that share names with one seed, by the rarest name that they share."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read paths of the best chunks and lift the best pairs."""
        question, seeds = state.query.question, state.best_chunks(self.seeds)
        paths = await self.read(question, seeds, state.vector, resources)
        return replace(state, candidates=lift_pairs(state, paths, settings=self))

    async def read(
        self, question: str, seeds: Sequence[str], vector: Sequence[float], resources: Resources
    ) -> list[Path]:
        """Read the chunks of other documents that name what seeds name, in one round trip. A number alone (`1972`) is no name."""
        rows = await asyncio.to_thread(
            resources.store.search.paths,
            graph=resources.graph,
            seeds=list(seeds),
            vector=vector,
            normals=forms_of_sequences(question),
            common=self.common,
            stated_common=max(self.common, self.stated_common),
            ignored=list(self.ignore),
            kinds=KINDS,
            entities=self.entities,
            limit=self.chunks,
        )
        said = names_said(question, [one for row in rows for one in row["stated"]])
        return [
            Path(
                seed=row["seed"],
                seed_cosine=cosine(row["seed_similarity"]),
                chunk=hit_of(row),
                between=cosine(row["alike"]),
                name=row["name"],
                idf=idf(row["mentions"], resources.chunks),
                stated=stated,
            )
            for row in rows
            if any(character.isalpha() for character in row["name"])
            and ((stated := any(one["normal"] in said for one in row["stated"])) or row["mentions"] <= self.common)
        ]


@dataclass(frozen=True, slots=True)
class Path:
    """A way from a seed to a chunk of another document that names the same."""

    seed: str
    seed_cosine: float
    """Of the seed with the question; `chunk.cosine` is that of the other."""
    chunk: Hit
    between: float
    """Cosine of the two chunks."""
    name: str
    """Of the rarest entity that both name."""
    idf: float
    stated: bool = False
    """Whether the seed states a relation between it and something that the question names."""


def joint_cosine(one: float, other: float, between: float) -> float:
    """Return the cosine of the question with the sum of two unit vectors, from their cosines with it and with each other."""
    length = math.sqrt(max(2.0 + 2.0 * between, 0.0))
    return (one + other) / length if length > 0.0 else 0.0


def lift_pairs(state: State, paths: Sequence[Path], *, settings: Paths) -> dict[str, Candidate]:
    """Give the second chunk of each of the best pairs the pair's score, where that is higher than its own and lower than the seed's.

    A pair has the mean of its two scores, and more by what it gains together over the better of the two and by the idf of the name,
    the more if the seed states how it is related to something that the question names: `the author of Brand` leads from the chunk that
    says who wrote Brand to the chunks that name its author.
    Of each pair of chunks the rarest name counts, and of two seeds the lesser one is lifted.
    """
    pairs: dict[frozenset[str], tuple[float, Path]] = {}
    for path in sorted(paths, key=lambda path: (path.seed, path.chunk.chunk_id)):
        seed, other = state.candidates[path.seed], state.candidate(path.chunk)
        if other.score > seed.score:
            continue  # It is a better seed, and the pair comes from its side too.
        together = joint_cosine(path.seed_cosine, path.chunk.cosine, path.between)
        gain = together - max(path.seed_cosine, path.chunk.cosine)
        mean = (seed.score + other.score) / 2
        score = mean + settings.joint * gain + (settings.link + settings.stated * path.stated) * path.idf
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
            lifted[other.chunk_id] = other.scored(score, why, by="paths")
    return lifted
