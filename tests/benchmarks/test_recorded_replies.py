"""Recorded replies of real models through the real parsing path: every record is accounted for, and none is worse off than alone."""

import asyncio
import logging
from functools import cache
from pathlib import Path

import pytest

from benchmarks.recorded_replies import EXTRACTORS, Record, musique, recorded_llm, replay

pytestmark = pytest.mark.data
EVERY_HOW_MANY = 20


@cache
def sample(data: Path, *, own_form: bool) -> list[Record]:
    """Every twentieth record, and all that have a triple of other than three parts."""
    records = musique(data, own_form=own_form)
    malformed = [r for r in records if any(len(triple) != 3 for triple in r.triples)]
    return [*records[::EVERY_HOW_MANY], *malformed]


@pytest.mark.parametrize("name", EXTRACTORS)
@pytest.mark.parametrize("own_form", [False, True])
def test_recorded_extractions_are_accounted_for_and_lose_less_than_with_the_framework_alone(
    name: str, own_form: bool, shared_data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    records = sample(shared_data, own_form=own_form)
    outcome = asyncio.run(replay(name, records))
    assert sum(outcome.states.values()) == len(records)
    assert outcome.states["failed"] == 0 and outcome.states["mended"] + outcome.states["partial"] > 0
    assert outcome.as_shipped < outcome.kept
    assert outcome.kept > 0.99 * outcome.triples or name == "path"


@pytest.mark.parametrize("name", EXTRACTORS)
def test_replies_in_another_form_are_read_and_reports_without_triples_have_failed(
    name: str, shared_data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    records = recorded_llm(shared_data)
    outcome = asyncio.run(replay(name, records))
    assert sum(outcome.states.values()) == len(records) == 187
    assert outcome.kept > 0.99 * outcome.triples
    assert outcome.as_shipped < outcome.kept
    assert outcome.states["failed"] == sum("<|>" not in record.replies[name] for record in records)
