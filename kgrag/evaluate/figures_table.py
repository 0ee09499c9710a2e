"""`figures.csv` of a report: each figure of a run with what a paper's table says beside it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import stdev

from kgrag.common.spreadsheets import plain_cell
from kgrag.evaluate.report import measures
from kgrag.evaluate.summary import ALL, MAIN, Summary

__all__ = ["COLUMNS", "write_figures"]

COLUMNS = (
    *("pipeline", "query_type", "measure", "n", "mean", "sd", "low", "high"),
    *("baseline", "difference", "difference_low", "difference_high", "wins", "ties", "losses"),
    *("test", "p", "p_holm", "p_bh", "detectable"),
)
"""`n` questions have a score; `sd` is of the sample; `low` and `high` (95 %) are of the measures that pipelines may be compared by, and all
from `baseline` on of the one that they are."""


def write_figures(out: Path, *, summary: Summary) -> None:
    """Write a row for each pipeline, type of question and measure that any question has a score for."""
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for pipeline in summary.pipelines:
            for query_type in (ALL, *summary.types):
                for measure in measures(summary):
                    figures = list(_figures(summary, pipeline, query_type, measure))
                    if figures:
                        writer.writerow([*map(plain_cell, (pipeline, query_type, measure)), *figures])


def _figures(summary: Summary, pipeline: str, query_type: str, measure: str) -> Iterator[str]:
    rows = summary.of_type(pipeline, query_type)
    values = [value for row in rows if (value := row.scores.get(measure)) is not None]
    if not values:
        return
    yield str(len(values))
    yield _number(sum(values) / len(values))
    yield _number(stdev(values)) if len(values) > 1 else ""
    interval = summary.interval(pipeline, measure, query_type) if measure in MAIN else None
    yield from ("", "") if interval is None else (_number(interval.low), _number(interval.high))
    key = pipeline, query_type
    if measure != summary.main or key not in summary.comparisons:
        yield from [""] * 12
        return
    one = summary.comparisons[key]
    yield plain_cell(summary.baseline)
    yield from map(_number, (one.difference.value, one.difference.low, one.difference.high))
    yield from map(str, (one.wins, one.ties, one.losses))
    yield one.test
    yield from map(_number, (one.p, summary.holm[key], summary.benjamini_hochberg[key], one.detectable))


def _number(value: float) -> str:
    return f"{value:.6g}"
