"""The prediction of large builds: what it follows from, and a prediction beside a build that was measured."""

from __future__ import annotations

import pytest

from benchmarks.scale import Measured, StepCost, measure
from benchmarks.scale_model import MEASURED, entities_of, fit, predict

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


def test_a_machine_that_is_half_as_fast_takes_twice_as_long_but_where_a_model_is_waited_for() -> None:
    fast, slow = (predict(CONSTANTS, chunks=3_000, workers=2, model_rpm=1, pace=pace) for pace in (1.0, 2.0))
    assert slow.cpu == pytest.approx(2 * fast.cpu)
    assert slow.steps["write"] == pytest.approx(2 * fast.steps["write"])
    assert slow.steps["extract"] == fast.steps["extract"]


def test_constants_are_found_again_from_builds_that_follow_them() -> None:
    def took(chunks: int, entities: int) -> Measured:
        cpu = 5.0 + 0.004 * chunks + 0.001 * entities
        step = StepCost("all", chunks, "chunks", cpu / 1.5, cpu, 0.0, 0.0)
        return Measured((step,), chunks, entities, 0, chunks * 0.01, 0.0, 0.0, cpu / 1.5)

    found = fit([took(1_000, 5_000), took(10_000, 20_000), took(100_000, 60_000)], extract=0.001)
    assert (found.started, found.write, found.write_entity) == pytest.approx((5.0, 0.003, 0.001))
    assert (found.at_once, found.disk_bytes) == pytest.approx((1.5, 10_000))


def test_writing_grows_with_the_entities_that_a_corpus_of_that_size_has() -> None:
    small, large = (predict(CONSTANTS, chunks=chunks, workers=1, seeded=True).cpu for chunks in (10_000, 100_000))
    started = CONSTANTS.started
    assert 5.0 < (large - started) / (small - started) < 10.0
    assert entities_of(100_000) / entities_of(10_000) == pytest.approx(10**0.64)


def test_a_measured_build_has_the_steps_that_the_model_knows() -> None:
    found = measure([], chunks=62, store="embedded", extractor="mention")
    steps = ["Find files", "Read", "Embed", "Extract mention", "Embed mention", "Index"]
    assert [step.name for step in found.steps] == steps
    assert found.chunks == 62
    assert sum(step.cpu for step in found.steps) > 0
    assert found.disk_mb > 0
