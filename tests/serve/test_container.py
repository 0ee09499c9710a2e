"""What the image and the compose file say, held against what is there: the same command and the same options that the tests run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from kgrag.cli.app import app
from kgrag.neo4j_local.server import SETTINGS
from kgrag.serve.guard import PUBLIC

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
VARIABLE = re.compile(r"(?<!\$)\$\{(?P<name>\w+)(?:(?P<kind>:-|-|:\?)(?P<value>[^}]*))?\}")


def substituted(given: dict[str, str]) -> dict[str, Any]:
    """The compose file with its variables put in, as `docker compose config` does."""

    def value(match: re.Match[str]) -> str:
        found = given.get(match["name"])
        if match["kind"] == ":?" and not found:
            raise KeyError(f"{match['name']}: {match['value']}")
        return found or (match["value"] if match["kind"] in (":-", "-") else "") or ""

    text = VARIABLE.sub(value, (ROOT / "docker" / "compose.yaml").read_text())
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@pytest.fixture
def compose() -> dict[str, Any]:
    return substituted({"NEO4J_PASSWORD": "at-least-8"})


def test_a_password_must_be_given() -> None:
    with pytest.raises(KeyError, match="at least 8 characters"):
        substituted({})


def test_services_volumes_and_files_that_are_named_are_there(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert set(service.get("depends_on", {})) <= set(compose["services"]), name
        for one in service.get("volumes", ()):
            source = one.partition(":")[0]
            assert source.startswith((".", "/")) or source in compose["volumes"], one
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), port  # what others reach stands behind a proxy
        if build := service.get("build"):
            context = (ROOT / "docker" / build["context"]).resolve()
            assert context == ROOT
            assert (context / build["dockerfile"]).is_file()


def test_neo4j_has_the_settings_in_a_container_that_it_has_in_a_process(compose: dict[str, Any]) -> None:
    environment = compose["services"]["neo4j"]["environment"]
    # As the image's entry point reads them: `_` is a dot, `__` an underscore.
    said = {
        name.removeprefix("NEO4J_").replace("_", ".").replace("..", "_"): str(value)
        for name, value in environment.items()
    }
    assert {name: said.get(name) for name in SETTINGS} == SETTINGS


def test_the_desk_of_the_compose_file_is_the_command_that_is_tested(compose: dict[str, Any]) -> None:
    desk = compose["services"]["desk"]
    name, *arguments = desk["command"]
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    said = command.make_context(name, list(arguments)).params
    assert said["host"] == "0.0.0.0"
    assert said["users"] == "/work/users.toml"
    assert list(said["allowed_host"]) == ["localhost"]
    assert desk["ports"][0].endswith(f":{said['port']}")
    assert desk["environment"]["KGRAG_STORE"] == "bolt://neo4j:7687"
    assert desk["depends_on"]["neo4j"]["condition"] == "service_healthy"
    probe = desk["healthcheck"]["test"]
    assert probe[:3] == ["CMD", "python", "-c"]
    compile(probe[3], "healthcheck", "exec")
    address = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", probe[3])
    assert address is not None
    assert (int(address[1]), address[2] in PUBLIC) == (said["port"], True)


def test_the_image_installs_what_the_desk_needs_and_runs_its_command() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert re.search(r"^ENTRYPOINT \[\"kgrag\"\]$", DOCKERFILE, re.MULTILINE)
    assert "kgrag" in project["project"]["scripts"]
    copied = [one for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE) for one in shlex.split(line)[:-1]]
    assert all((ROOT / one).exists() for one in copied)
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {one.partition("/")[0] for one in (*wheel["packages"], *wheel["force-include"])} <= set(copied)
    assert re.search(r"pip install .*--constraint constraints\.txt '\.\[serve\]'", DOCKERFILE)
    assert "serve" in project["project"]["optional-dependencies"]
    assert not re.search(r"^USER root", DOCKERFILE, re.MULTILINE)
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE, re.MULTILINE)
