"""The constants of the metrics, as files under `eval/presets`: `thesis` as published, `strict` with what is lenient there repaired."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgrag.common.toml_files import read_toml
from kgrag.errors import InputError
from kgrag.evaluate.judge.verdicts import StatementVerdict

__all__ = ["Preset", "evaluation_folder", "load_preset"]

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Preset(BaseModel):
    """The constants of one way of judging. Frozen; the name is recorded with every judgement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    reverse_questions: Annotated[int, Field(ge=1, le=10)] = 3
    """Questions made from the answer, for answer relevance."""
    relevant_cosine: Share = 0.8
    """From where a reverse question counts as the question itself (a share that is reported only)."""
    full_coverage: Share
    """Coverage of the reference from which an answer is right."""
    partial_coverage: Share
    completeness: Literal["overall", "counts"]
    """Whether completeness is the judge's own score, or computed from the items that it counted."""
    statement_weights: dict[StatementVerdict, Share | None]
    """What a verdict counts for faithfulness; a verdict without a weight is left out of the mean."""
    gate: Share = 0.5
    """Share of helpfulness that does not depend on faithfulness (β)."""
    refusals: Literal["substrings", "sentences"]
    """How refusals are told: `substrings` anywhere in the answer; `sentences`: an answer that is mostly refusing sentences."""


def evaluation_folder() -> Path:
    """Return the folder `eval/`: in the repository's root, and inside the package in a wheel."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "_eval"
    return installed if installed.is_dir() else package.parent / "eval"


def load_preset(name: str) -> Preset:
    """Read a preset by name or a TOML file by path. Raises `InputError` that says what is wrong."""
    folder = evaluation_folder() / "presets"
    file = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if not file.is_file():
        known = ", ".join(sorted(one.stem for one in folder.glob("*.toml")))
        raise InputError(f"There is no preset {name!r}: expected the path of a .toml file or one of {known}.")
    try:
        return Preset.model_validate({"name": file.stem, **read_toml(file)})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise InputError(f"{file}: expected the constants of a preset: {error}") from error
