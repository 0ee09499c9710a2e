"""How sure a figure is, and a difference of two: intervals, paired tests, corrections for many comparisons.

Everything takes one score per question, in the same order for both sides; seeded, so repeatable. The tests are scipy's.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "FEWEST_CLUSTERS",
    "Comparison",
    "Interval",
    "adjusted",
    "compare_paired",
    "corrected_rate",
    "mean_interval",
    "mean_of_means",
    "paired_difference",
    "rate_interval",
    "smallest_difference",
]

SEED = 7
RESAMPLES = 10_000
LEVEL = 0.95
POWER = 0.8
FEWEST_CLUSTERS = 6
"""From here on the signs of so many clusters can differ from chance at 5 % (2 / 2**6). Of fewer, whose interval is too narrow when they are
drawn (of one it has no width), questions are drawn instead, and what is said holds for these documents alone."""
TestName = Literal["McNemar (exact)", "permutation of signs", "permutation of signs, by document", "Wilcoxon"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval; `f"{one:+.2f}"` writes all three of its numbers so: `+0.10 [+0.02, +0.18]`."""

    value: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        return f"{self.value:{form}} [{self.low:{form}}, {self.high:{form}}]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A way of asking against the baseline, over the questions that both have a score for."""

    n: int
    difference: Interval
    """Mean of score minus baseline."""
    wins: int
    ties: int
    losses: int
    p: float
    """Two-sided, of the hypothesis that there is no difference; 1 where all scores are equal."""
    test: TestName
    detectable: float
    """The smallest mean difference that so many questions would show with 80 % power (`smallest_difference`)."""


def mean_interval(scores: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Interval:
    """Return the mean with the percentile bootstrap's interval; whole clusters (documents, say) are drawn where they are given.

    Questions about one document are not independent of each other: drawn one by one they make the interval too narrow. Fewer than
    FEWEST_CLUSTERS are not drawn.
    """
    return mean_of_means([scores], None if clusters is None else [clusters])


def mean_of_means(strata: Sequence[Sequence[float]], clusters: Sequence[Sequence[Hashable]] | None = None) -> Interval:
    """Return the mean of the means of several sets of scores, each set with the same weight; clusters are drawn inside their set."""
    generator = np.random.default_rng(SEED)
    value, resampled = 0.0, np.zeros(RESAMPLES)
    for number, scores in enumerate(strata):
        values = np.asarray(scores, dtype=np.float64)
        if not len(values):
            raise ValueError("expected at least one score, got none")
        sums, sizes = _cluster_sums(values, None if clusters is None else clusters[number])
        drawn = generator.integers(0, len(sums), (RESAMPLES, len(sums)))
        value += float(values.mean()) / len(strata)
        resampled += sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1) / len(strata)
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


def _cluster_sums(
    values: NDArray[np.float64], clusters: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if clusters is None:
        return values, np.ones(len(values), dtype=np.int64)
    if len(clusters) != len(values):
        raise ValueError(f"expected a cluster for each score, got {len(clusters)} for {len(values)}")
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    if len(numbers) < FEWEST_CLUSTERS:
        return _cluster_sums(values, None)
    of = np.array([numbers[cluster] for cluster in clusters])
    return np.bincount(of, weights=values).astype(np.float64), np.bincount(of).astype(np.int64)


def paired_difference(
    scores: Sequence[float], baseline: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Interval:
    """Return by how much `scores` are above `baseline`, question by question; equal lengths, at least one. Clusters as `mean_interval`."""
    return mean_interval([ours - theirs for ours, theirs in zip(scores, baseline, strict=True)], clusters)


def rate_interval(hits: int, of: int) -> Interval:
    """Return a share with Wilson's score interval. `of` is at least 1."""
    found = stats.binomtest(hits, of).proportion_ci(LEVEL, method="wilson")
    return Interval(hits / of, float(found.low), float(found.high))


def compare_paired(
    scores: Sequence[float | None],
    baseline: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    test: Literal["permutation", "wilcoxon"] = "permutation",
    comparisons: int = 1,
) -> Comparison | None:
    """Compare question by question; questions that either side has no score for are left out. None where none is left.

    Scores that are all 0 or 1 are tested by McNemar's exact test, others by permuting the signs of the differences, or by Wilcoxon's test.
    Where several questions of one cluster differ, the signs of whole clusters are permuted, as whole clusters are drawn for the interval.
    `comparisons` is for how many p is corrected afterwards: `detectable` is what would still show then.
    """
    kept = [i for i, (a, b) in enumerate(zip(scores, baseline, strict=True)) if a is not None and b is not None]
    if not kept:
        return None
    ours, theirs = (np.array([side[i] for i in kept], dtype=np.float64) for side in (scores, baseline))
    differences = ours - theirs
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    of = None if clusters is None else [clusters[i] for i in kept]
    sums, _ = _cluster_sums(differences, of)
    # Where no two questions of a cluster differ, permuting clusters is permuting questions.
    apart = int(_cluster_sums(np.abs(np.sign(differences)), of)[0].max()) <= 1
    binary = bool(np.isin(np.concatenate([ours, theirs]), (0.0, 1.0)).all())
    p, name = _test(differences if apart else sums, binary, apart, test)
    return Comparison(
        n=len(kept),
        difference=mean_interval(differences.tolist(), of),
        wins=wins,
        ties=len(kept) - wins - losses,
        losses=losses,
        p=p,
        test=name,
        detectable=smallest_difference(differences.tolist(), of, comparisons=comparisons),
    )


def _test(
    differences: NDArray[np.float64], binary: bool, apart: bool, test: Literal["permutation", "wilcoxon"]
) -> tuple[float, TestName]:
    """Test differences of questions, or sums of them by cluster where not `apart`; those of 0 say nothing and are left out."""
    changed = differences[differences != 0]
    if apart and binary:
        p = float(stats.binomtest(int((changed > 0).sum()), len(changed)).pvalue) if len(changed) else 1.0
        return p, "McNemar (exact)"
    if apart and test == "wilcoxon":
        return (float(stats.wilcoxon(changed).pvalue) if len(changed) else 1.0), "Wilcoxon"
    name: TestName = "permutation of signs" if apart else "permutation of signs, by document"
    if len(changed) < 2:
        return 1.0, name
    # Exact where there are no more ways to set the signs than RESAMPLES.
    found = stats.permutation_test(
        (changed,),
        lambda sample, axis: np.mean(sample, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
    )
    return float(found.pvalue), name


def adjusted(p: Mapping[Hashable, float], *, method: Literal["holm", "bh"]) -> dict[Hashable, float]:
    """Correct p values for being many: Holm (no false positive among all) or Benjamini-Hochberg (their share)."""
    keys, values = list(p), np.array(list(p.values()), dtype=np.float64)
    if not keys:
        return {}
    if method == "bh":
        return dict(zip(keys, map(float, stats.false_discovery_control(values)), strict=True))
    order = np.argsort(values)
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(steps, 1.0)
    return dict(zip(keys, map(float, corrected), strict=True))


def smallest_difference(
    differences: Sequence[float], clusters: Sequence[Hashable] | None = None, *, comparisons: int = 1
) -> float:
    """Return the mean difference that a two-sided test at 5 % would find with 80 % power, given how much these differences vary.

    (z(1 - 0.025 / comparisons) + z(0.8)) s, where s is the standard error of the mean, between clusters where they are given: the normal
    approximation. With several `comparisons` it is what Holm's correction asks of the first of them. Infinite where nothing differs, as
    then nothing is known of how differences vary, and where there are so few that no signs of them differ enough from chance.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not values.any():
        return math.inf
    sums, sizes = _cluster_sums(values, clusters)
    level = (1 - LEVEL) / comparisons
    if 2.0 ** (1 - len(sums)) >= level:
        return math.inf
    z = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(POWER)
    squares = float(((sums - values.mean() * sizes) ** 2).sum())
    return float(z * math.sqrt(squares * len(sums) / (len(sums) - 1)) / len(values))


def corrected_rate(rate: float, *, n: int, right: tuple[int, int], wrong: tuple[int, int]) -> Interval | None:
    """Correct a share that a judge saw for the judge's errors: (p + q0 - 1) / (q0 + q1 - 1), with its interval.

    `right` is (answers that people call right and the judge too, all that people call right), so q1 its share; `wrong` the same of wrong
    ones, q0. Interval by the delta method over the three rates; None where the judge is no better than chance (q0 + q1 <= 1). Source:
    Rogan and Gladen (1978), https://doi.org/10.1093/oxfordjournals.aje.a112510.
    """
    q1, q0 = right[0] / right[1], wrong[0] / wrong[1]
    gain = q0 + q1 - 1
    if gain <= 0:
        return None
    value = (rate + q0 - 1) / gain
    variance = (
        rate * (1 - rate) / n + (1 - value) ** 2 * q0 * (1 - q0) / wrong[1] + value**2 * q1 * (1 - q1) / right[1]
    ) / gain**2
    z = stats.norm.ppf((1 + LEVEL) / 2) * math.sqrt(variance)
    return Interval(*(float(np.clip(one, 0.0, 1.0)) for one in (value, value - z, value + z)))
