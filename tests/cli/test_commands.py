"""The commands as users type them, on the embedded database with the real default models."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgrag.cli import run


@pytest.fixture(autouse=True)
def _in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_an_answer_has_numbered_citations_with_document_and_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "What is the standby current of the X-100?"]) == 0
    out = capsys.readouterr().out
    assert "0.5 mA" in out
    assert "[1] docs/x-100.md, X-100 board > Standby" in out


def test_ask_writes_json_that_names_the_model_and_the_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "What supply voltage does the X-100 need?", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["model"], answer["pipeline"], answer["abstained"]) == ("rules", "default", False)
    assert "3.3 V" in answer["citations"][0]["quote"]


def test_what_the_documents_do_not_say_is_not_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "What is the standby current of the X-1000?", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["abstained"]
    assert "X-1000" in answer["text"]


def test_retrieve_keeps_the_contract(folder: Path) -> None:
    (folder / "q.jsonl").write_text(
        '{"id": 7, "question": "supply voltage?", "evidence": {"other": 1}}\n{"id": "b", "question": "standby"}\n'
    )
    assert run(["retrieve", "--questions", "q.jsonl", "--out", "out.jsonl", "--top", "1", "--pipeline", "dense"]) == 0
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [7, "b"]
    assert set(lines[0]) == {"id", "question", "pipeline", "seconds", "evidence"}
    (piece,) = lines[0]["evidence"]
    expected = {
        "chunk_id",
        "source_id",
        "document",
        "section",
        "anchors",
        "page_start",
        "page_end",
        "text",
        "tokens",
        "score",
        "why",
    }
    assert expected <= set(piece)
    assert piece["text"] == "X-100 board > Supply\nThe X-100 needs a supply voltage of 3.3 V."


def test_retrieve_names_a_line_without_a_question_before_it_writes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gap.jsonl").write_text('{"id": "a", "question": "standby"}\n{"id": "b", "question": " "}\n')
    assert run(["retrieve", "--questions", "gap.jsonl", "--out", "gap-out.jsonl"]) == 2
    assert "gap.jsonl: expected a question in every line" in (said := capsys.readouterr().err) and "id b" in said
    assert not (folder / "gap-out.jsonl").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_delete_takes_a_path_as_a_shell_gives_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "names").mkdir()
    odd = os.fsdecode(b"names/caf\xe9.md")
    for path in ("names/plain.md", odd):
        Path(path).write_text("# Cable\n\nThe cable has two wires.\n")
    at = ["--store", "names.kg"]
    assert run(["build", "names", *at]) == 0
    assert run(["delete", odd, *at]) == 0
    assert run(["delete", "./names/plain.md", *at]) == 0
    capsys.readouterr()
    assert run(["status", *at]) == 0
    assert "0 documents" in capsys.readouterr().out


def test_status_and_digest_tell_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["documents"], status["chunks"], status["ledger"]["convert"]) == (1, 2, {"ok": 1})
    assert set(status) == {
        "schema_version",
        "embedder",
        "dimensions",
        "graphs",
        "documents",
        "chunks",
        "ledger",
        "cost",
        "communities",
        "entities_without_vector",
        "extractions",
        "failures",
    }
    assert run(["digest"]) == 0
    assert len(capsys.readouterr().out.strip()) == 64


def test_communities_are_found_shown_and_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["communities", "show"]) == 0
    assert "has no communities yet" in capsys.readouterr().out
    assert run(["communities", "--dry-run", "--model", "openai:gpt-4o-mini", "--summary-floor", "2"]) == 0
    assert "would take about" in capsys.readouterr().out
    wanted = ["communities", "--seed", "3", "--k", "10", "--cutoff", "0.7", "--relations", "1", "--max-size", "5"]
    assert run([*wanted, "--summary-floor", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["graphs"]["mention"]
    assert report["settings"]["seed"] == 3
    assert sum(level["communities"] for level in report["levels"]) == sum(report["summaries"].values()) > 0
    assert run(["communities", "show", "--svg", "map.svg"]) == 0
    assert "X-100" in capsys.readouterr().out
    assert (folder / "map.svg").read_text(encoding="utf-8").startswith("<svg")
    assert run(["communities", "show", "--level", "0"]) == 0
    assert "[1] docs/x-100.md" in capsys.readouterr().out
    assert run(["communities", "show", "--level", "9"]) == 2
    assert run(["communities", "--graph", "none"]) == 2


def test_cypher_reads_and_refuses_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "cypher",
                "MATCH (c:Chunk) WHERE c.position >= $from RETURN count(c) AS n",
                "--parameters",
                '{"from": 1}',
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out) == [{"n": 1}]
    assert run(["cypher", "MATCH (c:Chunk) DELETE c"]) == 2
    assert "reads" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build", "nowhere"], "nowhere"),
        (["ask", "why?", "--store", "nowhere"], "no store here"),
        (["ask", "why?", "--pipeline", "nowhere"], "nowhere"),
        (["ask", "why?", "--model", "nowhere"], "nowhere"),
        (["ask", "  "], "empty"),
        (["delete", "nowhere"], "nowhere"),
        (["cypher", "RETURN"], "parsed"),
        (["cypher", "RETURN 1", "--parameters", "[1]"], "JSON object"),
        (["status", "--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert says in err
    assert "Traceback" not in err


def test_an_unreachable_database_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--store", "bolt://127.0.0.1:1"]) == 3
    (said,) = capsys.readouterr().err.splitlines()
    assert "cannot be reached" in said


def test_a_second_process_on_one_store_reads_the_last_build_and_may_not_write(folder: Path) -> None:
    from kgrag.store.graph import open_store

    def other(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from kgrag.cli import main; main()", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    with open_store(folder / ".kgrag"):
        reader, writer = other("status"), other("build", "docs")
    assert reader.returncode == 0 and "1 documents" in reader.stdout
    assert "snapshot of the build that finished" in reader.stderr
    assert writer.returncode == 3
    assert "Traceback" not in writer.stderr
    assert "open" in writer.stderr


def test_partly_done_is_exit_code_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "more").mkdir()
    (folder / "more/broken.pdf").write_bytes(b"not a PDF")
    assert run(["build", "more", "--store", "more.kg"]) == 1
    assert "failed: convert more/broken.pdf" in capsys.readouterr().out


def test_status_says_where_a_chunk_that_failed_stands_and_that_nothing_was_built(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from kgrag.store.graph import open_store
    from kgrag.store.ledger import WorkRecord

    with open_store(folder / "new.kg", create=True):
        pass
    assert run(["status", "--store", "new.kg"]) == 0
    said = capsys.readouterr().out
    assert "Nothing was built in this store yet" in said and "None" not in said
    assert run(["build", "docs", "--store", "new.kg"]) == 0
    with open_store(folder / "new.kg") as store:
        chunk = next(iter(store.documents.chunks()))
        store.ledger.put([WorkRecord("embed", chunk.id, state="failed", reason="no vector")])
        document = store.documents.all()[0].path
    capsys.readouterr()
    assert run(["status", "--store", "new.kg"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"failed: embed: chunk {chunk.id} ({document}" in said and said.count("no vector") == 1


def test_help_shows_words_in_square_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "--help"]) == 0
    assert "[own knowledge]" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom kgrag.cli import run\nrun(['--help'])\n"
        "heavy = {'numpy', 'docling_core', 'neo4j', 'jpype', 'onnxruntime', 'pydantic', 'pint'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "build" in done.stdout
