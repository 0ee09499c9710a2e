"""`-` for a file: standard input and output, as other commands have it."""

import io
import json
import os
import threading
from pathlib import Path

import pytest

import kgrag
from kgrag.cli import run
from kgrag.common.standard_streams import read_bytes_once, read_text_once


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("streams")
    passages = [{"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V."}]
    (folder / "passages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in passages))
    with kgrag.open(folder / "store.kg") as opened:
        opened.build(folder / "passages.jsonl")
    return str(folder / "store.kg")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said_on_stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    from kgrag.common import standard_streams

    standard_streams._streamed.cache_clear()


def test_questions_come_from_stdin_and_evidence_goes_to_stdout_alone(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said_on_stdin(monkeypatch, '{"id": 1, "question": "At what voltage does the X-100 run?"}\n')
    assert run(["retrieve", "--store", store, "--questions", "-", "--out", "-"]) == 0
    written = capsys.readouterr()
    (line,) = written.out.splitlines()
    assert json.loads(line)["evidence"][0]["source_id"] == "a"
    assert "1 questions → -" in written.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_a_text_may_end_in_any_way(end: str) -> None:
    Path("asked.txt").write_bytes(f"\ufeffOne?{end}Two?{end}".encode())
    assert read_text_once(Path("asked.txt")) == "One?\nTwo?\n"


def test_the_checksum_of_questions_from_stdin_is_of_what_came(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = '{"id": 1, "question": "At what voltage does the X-100 run?", "evidence": ["a"]}\n'
    Path("asked.jsonl").write_text(asked)
    checksums = []
    for file in ("asked.jsonl", "-"):
        said_on_stdin(monkeypatch, asked)
        assert run(["bench", "retrieval", "--store", store, "--questions", file, "--json"]) == 0
        checksums.append(json.loads(capsys.readouterr().out)["made_with"]["questions_sha256"])
    assert checksums[0] == checksums[1]


def test_a_file_on_stdout_and_json_there_are_refused_before_any_work(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["resolve", "--store", store, "--dry-run", "--out", "-", "--json"]) == 2
    assert "- and --json: expected one of them" in capsys.readouterr().err
    assert run(["resolve", "--store", store, "--dry-run", "--out", "-"]) == 0
    written = capsys.readouterr()
    assert json.loads(written.out)[0]["graph"] == "mention"
    assert "Nothing was changed" in written.err


@pytest.mark.parametrize(
    "command",
    [
        ["export", "--to", "-"],
        ["compare", "--questions", "asked.jsonl", "--out", "-"],
        ["users", "add", "anna", "--users", "-"],
    ],
)
def test_what_has_to_stay_cannot_go_to_stdout(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command) == 2
    assert "a place that stays" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_read_once_and_can_be_asked_for_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"\xef\xbb\xbfa\r\nb\n"))
    writer.start()
    assert read_text_once(pipe) == "a\nb\n"
    writer.join()
    assert read_bytes_once(pipe).endswith(b"b\n")
