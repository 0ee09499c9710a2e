"""How scores go with lengths, tokens and time: correlations and means by quartile, as LARAG (Bolognesi et al., 2026) reports them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kgrag.evaluate.summary import Summary

__all__ = [
    "BINNED_BY",
    "GOES_WITH",
    "Bin",
    "correlation",
    "length_lines",
    "markdown_row",
    "quantile_bins",
]

GOES_WITH = ("evidence tokens", "seconds", "reference words", "answer words")
"""Measures that the main one is correlated with."""
BINNED_BY = "reference words"
BINS = 4
FEWEST = 3
"""Questions without which there is no correlation."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Values above `low` and up to `high` (of the first bin `low` is a value, too), and the places that have them."""

    low: float
    high: float
    members: tuple[int, ...]


def correlation(one: Sequence[float | None], other: Sequence[float | None]) -> float | None:
    """Return Pearson's r over the places where both are known; None for fewer than three, or where one side does not vary."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if len(pairs) < FEWEST:
        return None
    x, y = np.array(pairs, dtype=np.float64).T
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def quantile_bins(values: Sequence[float]) -> list[Bin]:
    """Divide values at their quantiles into `BINS`, as pandas' `qcut` does; equal edges make fewer bins."""
    if not values:
        return []
    edges = list(dict.fromkeys(np.quantile(values, np.linspace(0.0, 1.0, BINS + 1)).tolist()))
    if len(edges) == 1:
        return [Bin(edges[0], edges[0], tuple(range(len(values))))]
    found = []
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = [place for place, value in enumerate(values) if low < value <= high or (not number and value == low)]
        found.append(Bin(low, high, tuple(inside)))
    return found


def length_lines(summary: Summary) -> Iterator[str]:
    """Write both tables in Markdown, of the measure that the run is compared by; nothing where no two measures vary together."""
    columns = {
        pipeline: {name: [row.scores.get(name) for row in rows] for name in (summary.main, *GOES_WITH)}
        for pipeline, rows in summary.rows.items()
    }
    going = {
        (pipeline, name): correlation(of[summary.main], of[name])
        for pipeline, of in columns.items()
        for name in GOES_WITH
    }
    shown = [name for name in GOES_WITH if any(going[pipeline, name] is not None for pipeline in columns)]
    if shown:
        yield from ("", f"## Pearson's r of {summary.main} with", "", markdown_row(["pipeline", *shown]))
        yield markdown_row(["---"] * (1 + len(shown)))
        for pipeline in columns:
            yield markdown_row([pipeline, *(_figure(going[pipeline, name]) for name in shown)])
    known = {pipeline: _known(of[BINNED_BY]) for pipeline, of in columns.items()}
    bins = quantile_bins([length for _, length in next(iter(known.values()), [])])
    if len(bins) > 1:
        head = [f"{'(' if number else '['}{one.low:g}, {one.high:g}]" for number, one in enumerate(bins)]
        yield from ("", f"## {summary.main} by {BINNED_BY}, quartiles", "", markdown_row(["pipeline", *head]))
        yield markdown_row(["---"] * (1 + len(head)))
        for pipeline, of in columns.items():
            lengths, scores = known[pipeline], of[summary.main]
            cells = []
            for number, one in enumerate(bins):
                inside = [
                    p for p, length in lengths if one.low < length <= one.high or (not number and length == one.low)
                ]
                judged = [score for place in inside if (score := scores[place]) is not None]
                cells.append(_figure(float(np.mean(judged)) if judged else None))
            yield markdown_row([pipeline, *cells])


def _known(values: Sequence[float | None]) -> list[tuple[int, float]]:
    return [(place, value) for place, value in enumerate(values) if value is not None]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def markdown_row(cells: Sequence[str]) -> str:
    """Write a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
