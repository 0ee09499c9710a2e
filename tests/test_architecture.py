"""Which module knows which: the layers of docs/architecture.md, read from the imports of the source, those inside functions included."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import kgrag

LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli",),
    ("serve", "langchain", "llama_index"),
    ("kgrag", "knowledge_graph"),
    ("jobs",),
    ("engines",),
    ("evaluate",),
    ("retrieve", "answer", "extract", "resolve", "communities", "completion"),
    ("neo4j_local", "testing", "link_prediction"),
    ("documents", "models", "store"),
    ("text",),
    ("common",),
    ("settings",),
    ("errors",),
    ("types",),
)
"""From top to bottom. A room imports from the layers below it and from its own; `kgrag` is the package's `__init__`."""

ONLY_FOR: Mapping[str, frozenset[str]] = {
    "cli": frozenset({"__main__"}),
    "__main__": frozenset(),
    "langchain": frozenset(),
    "llama_index": frozenset(),
    "serve": frozenset({"cli"}),
    "testing": frozenset(),
    "neo4j_local": frozenset({"cli"}),
    "knowledge_graph": frozenset({"kgrag", "cli", "serve", "langchain", "llama_index"}),
    "engines": frozenset({"jobs", "knowledge_graph"}),
    "jobs": frozenset({"knowledge_graph", "cli", "serve"}),
}
"""Rooms that are for certain others alone."""

SOURCE = Path(kgrag.__file__).parent
MODULES = {
    ".".join(("kgrag", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in SOURCE.rglob("*.py")
}


def imported(file: Path) -> Iterator[str]:
    """The modules of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "kgrag")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: expected an absolute import"
            if node.module is not None and node.module.split(".")[0] == "kgrag":
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    yield module if module in MODULES else node.module


IMPORTS = {module: frozenset(imported(file)) - {module} for module, file in MODULES.items()}


def room(module: str) -> str:
    return ".".join(module.split(".")[1:2]) or "kgrag"


def upward(imports: Mapping[str, frozenset[str]]) -> list[str]:
    height = {name: -depth for depth, names in enumerate(LAYERS) for name in names}
    return [
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in others
        if height[room(other)] > height[room(module)]
    ]


def circle(imports: Mapping[str, Iterable[str]]) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_room_has_its_layer() -> None:
    assert {room(module) for module in MODULES} == {name for names in LAYERS for name in names}


def test_every_import_of_ours_leads_to_a_module() -> None:
    assert {other for others in IMPORTS.values() for other in others} <= MODULES.keys()


def test_no_room_imports_from_a_layer_above_it() -> None:
    assert not upward(IMPORTS)


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert not circle(IMPORTS)


def test_no_rooms_import_each_other_in_a_circle() -> None:
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, others in IMPORTS.items():
        rooms[room(module)] |= {room(other) for other in others} - {room(module)}
    assert not circle(rooms)


@pytest.mark.parametrize("closed", ONLY_FOR)
def test_some_rooms_are_for_certain_others_alone(closed: str) -> None:
    users = {room(module) for module, others in IMPORTS.items() if closed in map(room, others)} - {closed}
    assert users <= ONLY_FOR[closed]


def test_a_wrong_import_would_be_found() -> None:
    assert upward({"kgrag.store.graph": frozenset({"kgrag.jobs.build"})})
    assert not upward({"kgrag.jobs.build": frozenset({"kgrag.store.graph"})})
    assert circle({"kgrag.a": frozenset({"kgrag.b"}), "kgrag.b": frozenset({"kgrag.a"})})
