"""The prediction of large builds: what it follows from, and a prediction beside a build that was measured."""

from __future__ import annotations

import pytest

from benchmarks.scale import measure
from benchmarks.scale_model import MEASURED, predict

CONSTANTS = MEASURED["embedded"]


def test_workers_share_what_is_spread_and_not_what_one_process_writes() -> None:
    one, ten = (predict(CONSTANTS, chunks=300_000, workers=workers) for workers in (1, 10))
    assert ten.steps["embed chunks"] == pytest.approx(one.steps["embed chunks"] / 10)
    assert ten.steps["write"] == one.steps["write"]
    assert ten.cpu == pytest.approx(one.cpu)


def test_a_model_takes_as_long_as_its_limit_says_and_costs_its_tokens() -> None:
    found = predict(CONSTANTS, chunks=57_000, workers=100, model_rpm=1000, dollars_per_million=(1.0, 2.0))
    assert found.steps["extract"] == pytest.approx(3600)
    tokens = CONSTANTS.prompt_tokens + 2 * CONSTANTS.completion_tokens
    assert found.dollars == pytest.approx(57_000 * tokens / 1e6)
    assert found.longest == "extract"


def test_a_measured_build_has_the_steps_that_the_model_knows() -> None:
    found = measure([], chunks=62, store="embedded", extractor="mention")
    assert [step.name for step in found.steps] == ["Read", "Embed", "Extract mention", "Embed mention", "Index"]
    assert found.chunks == 62
    assert sum(step.cpu for step in found.steps) > 0
    assert found.disk_mb > 0
