"""`kgrag db`, and what the command line does with wrong use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kgrag.cli import run
from kgrag.neo4j_local.jars import NEO4J_VERSION
from kgrag.neo4j_local.server import Neo4jServer


@pytest.mark.neo4j
def test_up_on_a_running_server_finds_it_and_tells_no_password(
    neo4j: Neo4jServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["db", "up", "--home", str(neo4j.home), "--json"]) == 0
    written = capsys.readouterr().out
    facts = json.loads(written)
    assert facts["running"]
    assert facts["url"] == neo4j.url
    assert facts["pid"] == neo4j.pid
    assert Path(facts["password_file"]).read_text().strip() == neo4j.password
    assert neo4j.password not in written


@pytest.mark.neo4j
def test_export_lines_are_what_a_shell_can_evaluate(neo4j: Neo4jServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "status", "--home", str(neo4j.home), "--export"]) == 0
    lines = capsys.readouterr().out
    shell = subprocess.run(
        ["sh", "-c", f'{lines}\nprintf "%s %s %s" "$KGRAG_STORE" "$NEO4J_USERNAME" "$NEO4J_PASSWORD"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout == f"{neo4j.url} neo4j {neo4j.password}"


@pytest.mark.neo4j
def test_admin_runs_neo4js_own_program_on_a_stopped_server_alone(
    neo4j: Neo4jServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["db", "admin", "--home", str(neo4j.home), "database", "info", "neo4j"]) == 2
    assert "stop it first (kgrag db down)" in capsys.readouterr().err
    assert run(["db", "admin", "--home", str(tmp_path), "--version"]) == 0
    assert NEO4J_VERSION in capsys.readouterr().out
    assert run(["db", "admin", "--home", str(tmp_path), "database", "info", "--from-path", "nowhere"]) == 3
    assert "neo4j-admin ended with code 1: " in capsys.readouterr().err


def test_status_without_a_server_exits_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "status", "--home", str(tmp_path / "none")]) == 3
    assert "kgrag db up" in capsys.readouterr().err
    assert run(["db", "status", "--home", str(tmp_path / "none"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == {"running": False}


def test_down_without_a_server_is_done_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "down", "--home", str(tmp_path / "none"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stopped": False, "deleted": False}
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "arguments", [["db", "sideways"], ["db", "up", "--port", "high"], ["db", "up", "--engine", "steam"]]
)
def test_wrong_use_exits_with_2_and_a_usage_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "Usage: kgrag db" in capsys.readouterr().err


def test_help_imports_nothing_heavy() -> None:
    heavy = {"docling", "jpype", "neo4j", "numpy", "onnx", "onnxruntime", "pandas", "scipy", "tokenizers"}
    script = (
        "import sys\nfrom kgrag.cli import run\n"
        "assert run(['--help']) == 0 and run(['db', '--help']) == 0\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert heavy.isdisjoint(result.stderr.split())
