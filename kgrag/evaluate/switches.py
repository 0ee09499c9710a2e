"""Switches of a pipeline: what each choice adds to it, and the pipeline that some choices make."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgrag.common.toml_files import read_toml
from kgrag.errors import InputError, PipelineError
from kgrag.retrieve import Pipeline, read_pipeline
from kgrag.retrieve.steps import kinds

__all__ = ["Choices", "Switches", "composed", "name_of", "read_switches"]

Choices = Mapping[str, str]
"""Switch → its choice."""
Switches = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]
"""Switch → choice → the steps that it adds, as tables of a pipeline file. A switch's first choice is where a search begins."""

SHIPPED = Path(__file__).with_name("switches.toml")
EXPECTED = 'a table for each switch, and in it for each choice a list of steps: [names] off = [] on = [{ kind = "names", weight = 0.2 }]'


def read_switches(file: Path | None = None) -> Switches:
    """Read switches from a TOML file, None is ours. Raises `InputError` that says what is wrong and where."""
    file = file or SHIPPED
    try:
        content = read_toml(file)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: expected {EXPECTED}: {error}") from error
    if not content:
        raise InputError(f"{file}: expected {EXPECTED}; it has no switch.")
    for switch, choices in content.items():
        if not isinstance(choices, dict) or len(choices) < 2:
            raise InputError(
                f"{file}: {switch}: expected a table of at least two choices, got {choices!r:.80}. Write {EXPECTED}."
            )
        for choice, steps in choices.items():
            if not isinstance(steps, list) or not all(isinstance(step, dict) and "kind" in step for step in steps):
                raise InputError(f"{file}: {switch}.{choice}: expected a list of steps with a kind, got {steps!r:.80}.")
    return content


def composed(switches: Switches, choices: Choices, *, top: int) -> Pipeline:
    """Make the pipeline of some choices: their steps with embed, read and budget, in the order in which kinds are listed.

    What is off adds nothing: the pipeline is the very one that it would be without the switch. Raises `PipelineError` for choices that do
    not go together, with their names.
    """
    places = {kind: place for place, kind in enumerate(kinds())}
    steps: list[Mapping[str, Any]] = [{"kind": "embed"}, {"kind": "read"}, {"kind": "budget", "top": top}]
    for switch, choice in choices.items():
        steps += switches[switch][choice]
    steps.sort(key=lambda step: places.get(step["kind"], len(places)))
    try:
        made = read_pipeline(
            {"description": f"Tuned: {name_of(choices)}.", "step": [dict(step) for step in steps]}, name="tuned"
        )
    except PipelineError as error:
        raise PipelineError(f"{name_of(choices)}: {error}") from error
    if not isinstance(made, Pipeline):
        raise PipelineError(f"{name_of(choices)}: expected steps, got {made!r:.80}")
    return made


def name_of(choices: Choices) -> str:
    """Name choices: `search hybrid, names on`; what is off is not said."""
    return ", ".join(f"{switch} {choice}" for switch, choice in choices.items() if choice != "off") or "all off"
