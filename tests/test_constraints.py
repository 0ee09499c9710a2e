"""The pinned versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_declared_dependency_has_one_pinned_version_and_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    names = [re.match(r"[\w.-]+", requirement)[0] for requirement in declared]  # type: ignore[index]
    pins = re.findall(r"^([\w.-]+)==\S+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert {normal(name) for name in names} <= {normal(pin) for pin in pins}
    assert len({normal(pin) for pin in pins}) == len(pins)

    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    assert [name for name in names if f"`{name}`" not in reasons] == []


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
