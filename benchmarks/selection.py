"""Listwise selection for the budget: MMR and submodular selection in the place of today's rules (the step `diversification`).

    python -m benchmarks.selection [--sets 2wiki,arduino] [--stores FOLDER]

Every set is asked by `default` up to and with `near_duplicates`; then 20 pieces are chosen

    rules    by the step `diversification`, as `default` has it
    none     as they stand
    mmr      by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): score against the cosine with what is chosen already
    doc      by score and the square root of what is chosen of each document (Lin and Bilmes, ACL 2011), greedily, per tokens to a power
    fac      by score and how much nearer the choice is to all pieces (facility location, the same)

for every question (`all`), or only where the rules do something (`wide`: it names a family, or asks across all things). Each family of
ways has a grid of settings; a set is reported with the one that is best in the mean over the other sets.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.carry_over import KS, MEASURES, Place, places_of
from benchmarks.retrieval_quality import FACT_BUDGET_TOKENS, TOP, parser_of_sets, questions_of
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.retrieval import score_evidence
from kgrag.retrieve import Retriever
from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import run_step
from kgrag.retrieve.steps.diversification import Diversification
from kgrag.text.questions import asks_across
from kgrag.types import Evidence

RELEVANCE = (0.95, 0.9, 0.8, 0.7)
DIVERSITY, COST = (0.2, 0.5, 0.8), (0.0, 0.2, 0.5)
FACILITY_SCALE = 5.0
"""What brings a facility's gains, which are means over all pieces, to the scale of scores."""
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question with what was ranked for it, and the cosines between the pieces."""

    question: GoldQuestion
    state: State
    alike: Array
    rules: tuple[Evidence, ...]

    @property
    def scores(self) -> Array:
        """Of the pieces, over the best."""
        scores: Array = np.maximum(np.array([piece.score for piece in self.state.evidence]), 0.0)
        best = float(scores.max(initial=0.0))
        return scores / best if best > 0.0 else scores

    @property
    def wide(self) -> bool:
        """Whether the rules do something."""
        families = any(entity.family and entity.chunks for entity in self.state.named)
        return families or (not self.state.named and asks_across(self.question.question))


Gain = Callable[[int], float]
Way = Callable[[Ranked], Sequence[Evidence]]


def chosen(ranked: Ranked, gain: Gain, take: Callable[[int], None], cost: Array) -> list[Evidence]:
    """Choose pieces greedily, the best gain for its cost first; equal ones as they stand."""
    left = list(range(len(cost)))
    order: list[int] = []
    while left and len(order) < TOP:
        best = max(left, key=lambda one: (gain(one) / cost[one], -one))
        left.remove(best)
        order.append(best)
        take(best)
    return [ranked.state.evidence[one] for one in order]


def mmr(ranked: Ranked, relevance: float) -> list[Evidence]:
    """Choose by maximal marginal relevance."""
    scores, nearest = ranked.scores, np.zeros(len(ranked.alike))

    def take(one: int) -> None:
        np.maximum(nearest, ranked.alike[one], out=nearest)

    return chosen(
        ranked,
        lambda one: float(relevance * scores[one] - (1.0 - relevance) * nearest[one]),
        take,
        np.ones(len(scores)),
    )


def _cost(ranked: Ranked, power: float) -> Array:
    return np.array([(max(piece.tokens, 20) / 100) ** power for piece in ranked.state.evidence])


def by_document(ranked: Ranked, diversity: float, power: float) -> list[Evidence]:
    """Choose by score, and the square root of the scores that are chosen of each document."""
    scores, taken = ranked.scores, defaultdict[str, float](float)
    owner = [piece.document_id for piece in ranked.state.evidence]

    def gain(one: int) -> float:
        before = taken[owner[one]]
        more = math.sqrt(before + scores[one]) - math.sqrt(before)
        return float((1.0 - diversity) * scores[one] + diversity * more)

    def take(one: int) -> None:
        taken[owner[one]] += float(scores[one])

    return chosen(ranked, gain, take, _cost(ranked, power))


def by_facility(ranked: Ranked, diversity: float, power: float) -> list[Evidence]:
    """Choose by score, and how much nearer every piece, by its score, is to its nearest chosen one."""
    scores, covered = ranked.scores, np.zeros(len(ranked.alike))
    shares = scores / max(float(scores.sum()), 1e-9)
    alike = np.maximum(ranked.alike, 0.0)

    def gain(one: int) -> float:
        nearer = float((shares * np.maximum(alike[one] - covered, 0.0)).sum())
        return float((1.0 - diversity) * scores[one] + diversity * FACILITY_SCALE * nearer)

    def take(one: int) -> None:
        np.maximum(covered, alike[one], out=covered)

    return chosen(ranked, gain, take, _cost(ranked, power))


def ways() -> dict[str, dict[str, Way]]:
    """Return the ways by family and setting."""
    grids: dict[str, dict[str, Way]] = {
        "mmr": {f"{value:g}": partial(mmr, relevance=value) for value in RELEVANCE},
        "doc": {
            f"{d:g} {power:g}": partial(by_document, diversity=d, power=power) for d in DIVERSITY for power in COST
        },
        "fac": {
            f"{d:g} {power:g}": partial(by_facility, diversity=d, power=power)
            for d in DIVERSITY[:2]
            for power in COST[:2]
        },
    }
    found: dict[str, dict[str, Way]] = {"rules": {"": lambda one: one.rules}, "none": {"": as_it_stands}}
    for family, grid in grids.items():
        found[f"{family}, all"] = grid
        found[f"{family}, wide"] = {name: partial(where_wide, way=way) for name, way in grid.items()}
    return found


def as_it_stands(ranked: Ranked) -> Sequence[Evidence]:
    """Choose the first."""
    return ranked.state.evidence[:TOP]


def where_wide(ranked: Ranked, way: Way) -> Sequence[Evidence]:
    """Choose by a way where the rules do something, else the first."""
    return way(ranked) if ranked.wide else as_it_stands(ranked)


async def ranked_of(place: Place, data: Path) -> list[Ranked]:
    """Ask a set's questions by `default` up to the rules."""
    with place.opened() as opened:
        retriever = opened.retriever("default")
        assert isinstance(retriever, Retriever)
        ids, vectors = opened.store.documents.vectors()
        unit = np.asarray(vectors, dtype=np.float64)
        unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-9)
        number = {one: place for place, one in enumerate(ids)}
        found = []
        for question in questions_of(place.set, data, opened.store):
            state = replace(retriever.start(question.question, top=TOP), hidden=question.hidden)
            for step in retriever.pipeline.steps:
                if isinstance(step, Diversification):
                    rules = await _shown(step, state, retriever.resources)
                    break
                state, _ = await run_step(step, state, retriever.resources, name=step.kind)
            own = unit[[number[str(piece.chunk_id)] for piece in state.evidence]]
            found.append(Ranked(question, state, own @ own.T, rules))
    return found


async def _shown(step: Diversification, state: State, resources: Resources) -> tuple[Evidence, ...]:
    return (await step(state, resources)).evidence[:TOP]


def figures(name: str, ranked: Sequence[Ranked], way: Way) -> list[float]:
    """Return the measures that are reported of a set."""
    scored = [(one, score_evidence(one.question.facts, way(one), ks=KS, budget=FACT_BUDGET_TOKENS)) for one in ranked]
    found = []
    for measure in MEASURES[name]:
        score, _, kind = measure.partition(" of ")
        found.append(
            float(np.mean([scores[score] for one, scores in scored if not kind or one.question.query_type == kind]))
        )
    return found


def main() -> None:
    """Print the table."""
    parser = parser_of_sets(__doc__)
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    families = ways()
    names, found = [], dict[tuple[str, str, str], list[float]]()
    for place in places_of(arguments.sets, arguments.data, arguments.stores):
        names.append(place.set.name)
        ranked = asyncio.run(ranked_of(place, arguments.data))
        for family, grid in families.items():
            for setting, way in grid.items():
                found[place.set.name, family, setting] = figures(place.set.name, ranked, way)
    rows = []
    for family, grid in families.items():
        cells = []
        for name in names:
            others = [other for other in names if other != name]
            best = max(grid, key=lambda one: sum(float(np.mean(found[other, family, one])) for other in others))
            cells += [f"{figure:.3f}" + (f" ({best})" if best else "") for figure in found[name, family, best]]
        rows.append([family, *cells])
    head = [f"{name}, {measure}" for name in names for measure in MEASURES[name]]
    notes = ["In brackets the setting, chosen on the other sets: relevance; diversity and the power of the tokens."]
    print_table("Selection for the budget", ["way", *head], rows, notes)


if __name__ == "__main__":
    main()
