"""Which switches help: greedy search and all combinations, over scores of the same questions.

Whoever asks (`Objective`) gives a score for each question, the same questions each time, or None where the choices cannot be run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from kgrag.evaluate.statistics import Interval, mean_interval
from kgrag.evaluate.switches import Choices

__all__ = [
    "Change",
    "Effect",
    "Objective",
    "Search",
    "effects",
    "every_combination",
    "gain_of",
    "greedy",
    "halves",
    "single_changes",
]

Objective = Callable[[Choices], Awaitable[Sequence[float] | None]]
Options = Mapping[str, Sequence[str]]
"""Switch → its choices, the first of which is where a search begins."""


@dataclass(frozen=True, slots=True)
class Change:
    """One switch set to another choice, and what that changed over the questions that were looked at."""

    switch: str
    choice: str
    before: str
    gain: Interval
    """Mean difference, with its 95 % interval; whole documents are drawn."""
    sure: bool
    """Whether the mean is more than one standard error above nothing."""


@dataclass(frozen=True, slots=True)
class Search:
    """Where a greedy search went."""

    start: Choices
    chosen: Choices
    taken: tuple[Change, ...]
    """In the order in which they were taken."""


def start_of(options: Options) -> dict[str, str]:
    """Return every switch at its first choice."""
    return {switch: choices[0] for switch, choices in options.items()}


def gain_of(
    scores: Sequence[float], before: Sequence[float], places: Sequence[int], clusters: Sequence[str]
) -> Interval:
    """Return by how much scores are above those before, over the questions at these places; whole clusters are drawn."""
    return mean_interval([scores[i] - before[i] for i in places], [clusters[i] for i in places])


async def single_changes(
    options: Options, chosen: Choices, objective: Objective, *, places: Sequence[int], clusters: Sequence[str]
) -> list[Change]:
    """Try every other choice of each switch by itself; what cannot be run is left out."""
    before = await objective(chosen)
    if before is None:
        return []
    found = []
    for switch, choices in options.items():
        for choice in choices:
            if choice == chosen[switch] or (scores := await objective({**chosen, switch: choice})) is None:
                continue
            gain = gain_of(scores, before, places, clusters)
            found.append(Change(switch, choice, chosen[switch], gain, _sure(scores, before, places)))
    return found


async def greedy(options: Options, objective: Objective, *, places: Sequence[int], clusters: Sequence[str]) -> Search:
    """Take the single change that gains most, again and again, as long as one gains more than a standard error.

    Only the questions at `places` are looked at. Of equal gains the first is taken, in the order of `options`. A switch that was set
    before may be set anew or back.
    """
    start = start_of(options)
    chosen: Choices = start
    taken: list[Change] = []
    while True:
        changes = await single_changes(options, chosen, objective, places=places, clusters=clusters)
        best = max((change for change in changes if change.sure), key=lambda change: change.gain.value, default=None)
        if best is None:
            return Search(start, chosen, tuple(taken))
        chosen = {**chosen, best.switch: best.choice}
        taken.append(best)


def _sure(scores: Sequence[float], before: Sequence[float], places: Sequence[int]) -> bool:
    gains = np.array([scores[i] - before[i] for i in places])
    if len(gains) < 2:
        return False
    return bool(gains.mean() > max(gains.std(ddof=1) / np.sqrt(len(gains)), 1e-9))


def halves(clusters: Sequence[str]) -> tuple[list[int], list[int]]:
    """Part questions into two halves of about equal size; all of one document (cluster) are in the same one."""
    sizes: dict[str, int] = {}
    for cluster in clusters:
        sizes[cluster] = sizes.get(cluster, 0) + 1
    parts: tuple[set[str], set[str]] = (set(), set())
    counts = [0, 0]
    for cluster in sorted(sizes, key=lambda one: (-sizes[one], one)):
        side = 0 if counts[0] <= counts[1] else 1
        parts[side].add(cluster)
        counts[side] += sizes[cluster]
    first = [place for place, cluster in enumerate(clusters) if cluster in parts[0]]
    return first, [place for place, cluster in enumerate(clusters) if cluster in parts[1]]


def every_combination(options: Options) -> list[dict[str, str]]:
    """Return all combinations of choices."""
    return [dict(zip(options, choices, strict=True)) for choices in product(*options.values())]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a choice changes against the first of its switch: mean over all combinations of the others, or over some of them."""

    switch: str
    choice: str
    given: str
    """Empty: over all combinations; `rerank listwise`: over those that have that choice."""
    mean: float


def effects(means: Mapping[tuple[tuple[str, str], ...], float], options: Options) -> list[Effect]:
    """Read the effect of each choice from the means of all combinations, over all of them and beside each choice of the other switches.

    `means` has for each combination (its items) the mean score. Two choices interact where an effect is another beside a choice.
    """
    found = []
    for switch, choices in options.items():
        for choice in choices[1:]:
            conditions = [("", "")] + [
                (other, one) for other, some in options.items() if other != switch for one in some
            ]
            for other, one in conditions:
                gains = [
                    mean - means[tuple((key, choices[0] if key == switch else value) for key, value in items)]
                    for items, mean in means.items()
                    if dict(items)[switch] == choice and (not other or dict(items)[other] == one)
                ]
                if gains:
                    found.append(Effect(switch, choice, f"{other} {one}".strip(), float(np.mean(gains))))
    return found
