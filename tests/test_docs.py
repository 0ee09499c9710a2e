"""What the documentation names is there: modules, files, commands with their flags, settings, links; and its examples run."""

from __future__ import annotations

import asyncio
import pkgutil
import re
import textwrap
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer

from kgrag.cli.app import app
from kgrag.extract.base import Extractor
from kgrag.knowledge_graph import AsyncKnowledgeGraph, KnowledgeGraph
from kgrag.link_prediction.options import TrainingOptions
from kgrag.retrieve.step import Step
from kgrag.retrieve.steps import kind_of
from kgrag.settings import Settings
from kgrag.types import Chunk

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
FILES = [str(file.relative_to(ROOT)) for folder in ("kgrag", "cypher", "pipelines", "eval", "tests", "benchmarks", "examples")
         for file in (ROOT / folder).rglob("*") if file.is_file()]  # fmt: skip
NOT_MODULES = {
    "kgrag.toml",
    "kgrag.steps",
    "kgrag.extractors",
    "kgrag.models",
    "kgrag.embedders",
    "kgrag.rerankers",
    "benchmarks.NAME",
}
"""A file, groups of entry points, and a place for a name."""
OF_OTHERS = {"no-deps"}
"""Flags of other programs."""

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_modules_and_their_names_are_there(page: Path) -> None:
    named = set(re.findall(r"(?<![\w/-])(?:kgrag|benchmarks)(?:\.[A-Za-z_]\w*)+", page.read_text(encoding="utf-8")))
    assert [name for name in sorted(named - NOT_MODULES) if not resolves(name)] == []


@every_page
def test_files_are_there(page: Path) -> None:
    spans = re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|cypher))`", page.read_text(encoding="utf-8"))
    own = {"kgrag_headings.py", "kgrag_codes.py"}  # of the examples
    assert [
        name for name in spans if name not in own and not any(f"/{file}".endswith(f"/{name}") for file in FILES)
    ] == []


@every_page
def test_commands_and_their_flags_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    wrong = [f"{line}: {word}" for line in command_lines(text) for word in unknown(line)]
    known = flags(COMMANDS) | OF_OTHERS
    for source in (*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "kgrag" / "testing").glob("*.py")):
        known |= set(re.findall(r'"--([a-z][\w-]*)', source.read_text(encoding="utf-8")))
    wrong += [flag for flag in re.findall(r"(?<![\w-])--([a-z][\w-]*)", text) if flag not in known]
    assert wrong == []


@every_page
def test_settings_of_the_environment_are_there(page: Path) -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py"))
    named = set(re.findall(r"KGRAG_[A-Z_]*[A-Z]", page.read_text(encoding="utf-8")))
    known = {f"KGRAG_{name.upper()}" for name in Settings.model_fields}
    assert [name for name in named - known if name not in sources] == []


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    broken = []
    for target, fragment in targets:
        file = (page.parent / target).resolve() if target else page
        if ":" not in target and not (file.exists() and (not fragment or fragment in fragments(file))):
            broken.append(target + fragment)
    assert broken == []


def test_no_entry_of_the_changelog_is_an_earlier_form_of_another() -> None:
    entries = [line[:80] for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if len(line) > 60]
    assert sorted({one for one in entries if entries.count(one) > 1}) == []


def test_every_setting_of_training_links_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "link-prediction.md").read_text(encoding="utf-8").split("## Settings")[1].split("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`[^|]*) \|", page, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(TrainingOptions.model_fields)


def test_every_extra_and_its_packages_have_a_reason_and_no_other_has() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    table = page.split("## Extras")[1].split("##")[0]
    reasons = {
        row[1]: set(re.findall(r"`([\w.-]+)`", row[2])) for row in re.finditer(r"^\| `([\w-]+)` \|(.*?)\|", table, re.M)
    }
    assert reasons == {
        extra: {re.split(r"[\[<>=;, ]", requirement)[0] for requirement in requirements}
        for extra, requirements in project["optional-dependencies"].items()
    }


def test_the_page_for_python_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("manuals").mkdir()
    Path("manuals/x-100.md").write_text("# X-100\n\nThe X-100 runs at 3.3 V.\n", encoding="utf-8")
    names: dict[str, Any] = {}
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        exec(block, names)
    assert names["rows"] == [{"path": "manuals/x-100.md"}]
    assert [answer.abstained for answer in names["answers"]] == [False, True] and "3.3 V" in names["answer"].text


def test_every_method_of_a_graph_is_on_the_page_for_python() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    inner = {"graph_name", "graph_names", "outlasting", "retriever", "seen_by", "warm", "close", "open"}
    methods = {
        name
        for name in dir(AsyncKnowledgeGraph)
        if not name.startswith("_") and callable(getattr(AsyncKnowledgeGraph, name))
    }
    assert {name for name in methods - inner if not re.search(rf"`{name}\b", page)} == {"compare_outlook"}
    assert methods - {"open", "seen_by"} == methods & set(dir(KnowledgeGraph))


def test_the_step_of_the_documentation_is_one() -> None:
    step = example("retrieval.md", "A step for kgrag:")["Heading"]
    assert issubclass(step, Step) and kind_of(step) == "heading"


def test_the_extractor_of_the_documentation_is_one() -> None:
    extractor = example("extractors.md", "An extractor for kgrag:")["CodeExtractor"](model=None, settings=None)
    assert isinstance(extractor, Extractor)
    chunk = Chunk(id="c", document_id="d", source_id="d", position=0, title="X-100", text="A\n| E-12 | low |", tokens=9)
    extraction = asyncio.run(extractor.extract(chunk))
    assert [(r.head.name, r.tail.name, r.description) for r in extraction.relations] == [
        ("X-100", "E-12", "| E-12 | low |")
    ]


def resolves(name: str) -> bool:
    """A module is found and not imported, since benchmarks need packages of their own; what is in one is looked up."""
    try:
        if find_spec(name) is not None:
            return True
    except ModuleNotFoundError:  # its parent is a module or a class, no package
        pass
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


COMMANDS: Any = typer.main.get_command(app)


def flags(command: Any) -> set[str]:
    own = {opt.removeprefix("--") for param in command.params for opt in param.opts if opt.startswith("--")}
    return own.union({"help"}, *(flags(sub) for sub in getattr(command, "commands", {}).values()))


def command_lines(text: str) -> Iterator[str]:
    """Commands as they are typed: in back-ticks, and on lines of code."""
    yield from re.findall(r"`(kgrag [^`\n]+)`", text)
    yield from re.findall(r"^ {4,}(?:\$ |\.venv/bin/)?(kgrag [a-z].*)", text, re.M)


def unknown(line: str) -> list[str]:
    """The subcommand that is not there, or the flags that it does not have."""
    words = line.split("  ")[0].split(" #")[0].split()
    command = COMMANDS
    for word in words[1:]:
        if not getattr(command, "commands", None) or not re.fullmatch(r"[a-z][a-z-]*", word.rstrip(",:;")):
            break
        if word not in command.commands:
            return [] if command is not COMMANDS and command.invoke_without_command else [word]
        command = command.commands[word]
    return [word for word in re.findall(r"(?<![\w-])--([a-z][\w-]*)", " ".join(words)) if word not in flags(command)]


def fragments(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M)
    return {"#" + re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def example(page: str, opening: str) -> dict[str, Any]:
    """Run the listing of a page whose docstring begins so."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    listings = [
        *re.findall(r"```python\n(.*?)```", text, re.S),
        *(textwrap.dedent(code) for code in re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.M)),
    ]
    code = next(listing.strip() for listing in listings if listing.strip().startswith(f'"""{opening}'))
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, page, "exec", dont_inherit=True), names)
    return names
