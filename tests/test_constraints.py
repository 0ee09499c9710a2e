"""The pinned versions."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
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


def test_every_package_that_kgrag_imports_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {normal(re.match(r"[\w.-]+", requirement)[0]) for requirement in required}  # type: ignore[index]
    providers = packages_distributions()
    undeclared = {
        module: file.name
        for file in (ROOT / "kgrag").rglob("*.py")
        for module in imported(file)
        if module not in sys.stdlib_module_names
        and module != "kgrag"
        and declared.isdisjoint(normal(name) for name in providers.get(module, [module]))
    }
    assert undeclared == {}


def imported(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
    return {name.partition(".")[0] for name in plain | parts}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
