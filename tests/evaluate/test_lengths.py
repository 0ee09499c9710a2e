"""How scores go with lengths: the published figures of LARAG from its per-question numbers, and pandas on a table of chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from kgrag.evaluate.lengths import correlation, length_lines, quantile_bins
from kgrag.evaluate.summary import Row, Summary

PUBLISHED = {
    ("k5", "F1"): (
        ".8475 .8405 .7982 .8402 .8278 .8336 .8573 .8535 .8617 .8295 "
        ".8233 .8479 .8041 .8203 .8227 .8525 .8449 .8341 .8213 .8588"
    ),
    ("k10", "F1"): (
        ".8553 .8403 .7979 .8453 .8275 .8372 .8558 .8525 .8605 .8300 "
        ".8258 .8478 .8073 .8220 .8210 .8590 .8425 .8374 .8292 .8610"
    ),
    ("LARAG", "F1"): (
        ".8537 .8471 .8140 .8458 .8278 .8337 .8561 .8540 .8592 .8299 "
        ".8278 .8495 .8053 .8211 .8195 .8513 .8423 .8392 .8337 .8536"
    ),
    ("k5", "P"): (
        ".8327 .8244 .7968 .8430 .8227 .8260 .8457 .8424 .8467 .8077 "
        ".8205 .8490 .8064 .8078 .8288 .8351 .8344 .8414 .8103 .8686"
    ),
    ("LARAG", "P"): (
        ".8372 .8330 .8015 .8490 .8233 .8205 .8427 .8420 .8431 .8065 "
        ".8259 .8466 .8092 .8055 .8235 .8338 .8251 .8467 .8274 .8624"
    ),
    ("k10", "R"): (
        ".8718 .8560 .8025 .8500 .8324 .8472 .8718 .8679 .8803 .8519 "
        ".8304 .8473 .8048 .8371 .8182 .8837 .8586 .8293 .8465 .8551"
    ),
    ("LARAG", "R"): (
        ".8709 .8616 .8270 .8426 .8324 .8474 .8714 .8664 .8764 .8548 "
        ".8299 .8526 .8016 .8374 .8161 .8696 .8602 .8321 .8407 .8453"
    ),
}  # fmt: skip
"""Means over the prompts by question. P of k10 and R of k5 are left out: each has a cell that contradicts its F1 (Q9, Q16)."""
MEANS = {
    ("k5", "F1"): 0.8360, ("k10", "F1"): 0.8378, ("LARAG", "F1"): 0.8382,
    ("k5", "P"): 0.8295, ("LARAG", "P"): 0.8303, ("k10", "R"): 0.8471, ("LARAG", "R"): 0.8469,
}  # fmt: skip
COLUMNS = ("evidence tokens", "seconds", "reference words", "answer words")


def summary(rows: dict[str, tuple[Row, ...]], main: str) -> Summary:
    return Summary(tuple(rows), (), next(iter(rows)), main, "strict", rows, dict.fromkeys(rows, 0), {}, {})


def test_the_published_means_come_out_of_the_published_figures_by_question() -> None:
    for measure in ("F1", "P", "R"):
        rows = {
            system: tuple(
                Row(str(n), "", str(n), {measure: float(value)}, None) for n, value in enumerate(said.split())
            )
            for (system, of), said in PUBLISHED.items()
            if of == measure
        }
        found = summary(rows, measure)
        for system in rows:
            assert found.mean(system, measure) == pytest.approx(MEANS[system, measure], abs=1e-4)


def chance(questions: int = 60) -> pd.DataFrame:
    draw = np.random.default_rng(11)
    words = draw.integers(20, 1200, questions)
    return pd.DataFrame(
        {
            "token F1": 0.9 - words / 9000 + draw.normal(0, 0.02, questions),
            "evidence tokens": draw.integers(500, 3000, questions).astype(float),
            "seconds": draw.gamma(2.0, 3.0, questions),
            "reference words": words.astype(float),
            "answer words": draw.integers(10, 300, questions).astype(float),
        }
    )


def test_correlations_and_bins_are_those_of_pandas() -> None:
    table = chance()
    matrix = table.corr()
    for one, other in combinations(table, 2):
        r = correlation(table[one].tolist(), table[other].tolist())
        assert r == pytest.approx(matrix.loc[one, other])
    bins = quantile_bins(table["reference words"].tolist())
    cut = pd.qcut(table["reference words"], 4)
    assert [one.members for one in bins] == [tuple(np.flatnonzero(cut == one).tolist()) for one in cut.cat.categories]
    # pandas rounds its labels, and puts the lowest edge a little below.
    assert [one.high for one in bins] == pytest.approx([one.right for one in cut.cat.categories], rel=1e-3)


def test_the_report_has_a_row_for_each_pipeline_and_means_of_each_quartile() -> None:
    table = chance()
    scores = [{name: float(row[name]) for name in table} for _, row in table.iterrows()]
    rows = {name: tuple(Row(str(n), "", str(n), one, None) for n, one in enumerate(scores)) for name in ("a", "b")}
    lines = list(length_lines(summary(rows, "token F1")))
    by_quartile = table.groupby(pd.qcut(table["reference words"], 4), observed=True)["token F1"].mean()
    r = table.corr().loc["token F1"]
    for name in ("a", "b"):
        first, second = (line.split(" | ")[1:] for line in lines if line.startswith(f"| {name} "))
        assert [float(cell.rstrip(" |")) for cell in first] == pytest.approx([r[one] for one in COLUMNS], abs=5e-4)
        assert [float(cell.rstrip(" |")) for cell in second] == pytest.approx(by_quartile.tolist(), abs=5e-4)


def test_what_is_unknown_or_does_not_vary_has_no_correlation() -> None:
    assert correlation([1.0, None, 2.0, 3.0], [2.0, 9.0, 4.0, 6.0]) == pytest.approx(1.0)
    assert correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None
    assert correlation([1.0, None], [1.0, 2.0]) is None
    assert [one.members for one in quantile_bins([5.0, 5.0, 5.0])] == [(0, 1, 2)]
    assert quantile_bins([]) == []
    empty = {"a": (Row("1", "", "1", {}, None),)}
    assert list(length_lines(summary(empty, "token F1"))) == []
