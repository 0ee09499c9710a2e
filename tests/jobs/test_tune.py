"""`kgrag tune` on a small store in which texts talk about every part and headings alone decide what answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgrag
from kgrag.cli import run
from kgrag.errors import InputError
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.retrieve import Pipeline, load_pipeline

PARTS = tuple(f"X-{number}" for number in range(100, 900, 50))
SWITCHES = """
[search]
sparse = [{ kind = "sparse", candidates = 50 }]
dense = [{ kind = "dense", candidates = 50 }]
[names]
off = []
on = [{ kind = "names", weight = 1.0 }]
[rerank]
off = []
listwise = [{ kind = "listwise" }]
"""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """A passage about each part, which says nothing that is asked for, and one that only talks about it, in the question's words."""
    rows = [
        {"id": part, "title": part, "text": "It is stable and quiet, as said in the test report."} for part in PARTS
    ]
    rows += [
        {
            "id": f"talk of {part}",
            "title": f"Talk {number}",
            "text": f"Supply voltage and current of the {part}: ask for the {part}.",
        }
        for number, part in enumerate(PARTS)
    ]
    (tmp_path / "passages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = [
        {"id": part, "question": f"supply voltage and current of the {part}", "evidence": [part]} for part in PARTS
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), encoding="utf-8")
    (tmp_path / "switches.toml").write_text(SWITCHES, encoding="utf-8")
    with kgrag.open(tmp_path / "store") as graph:
        graph.build(tmp_path / "passages.jsonl")
        yield graph


def test_the_switch_that_helps_is_found_and_its_worth_is_that_of_questions_not_seen(
    opened: KnowledgeGraph, tmp_path: Path
) -> None:
    out, kept = tmp_path / "new" / "mine.toml", tmp_path / "kept.jsonl"
    options = {"switches": tmp_path / "switches.toml", "measure": "hit@1", "kept": kept}
    tuned = opened.tune(tmp_path / "questions.jsonl", out=out, factorial=True, **options)
    assert (tuned.questions, tuned.documents) == (len(PARTS), len(PARTS))
    assert next((one.switch, one.choice) for one in tuned.search.taken) == ("names", "on")
    assert tuned.after[0] > tuned.before[0] and tuned.held_out.low > 0
    assert all(half["names"] == "on" for half in tuned.halves)
    assert all(one[1].tokens > 0 and one[1].calls == 0 for one in tuned.alone)
    assert "needs a chat model" in next(iter(tuned.refused.values())), "a choice that cannot be run is named"
    assert len(tuned.combinations) == 4, "those that can be run"
    best = tuned.combinations[0]
    assert best[0]["names"] == "on"
    names = next(one for one in tuned.effects if (one.switch, one.given) == ("names", ""))
    assert names.mean > 0
    written = load_pipeline(str(out))
    assert isinstance(written, Pipeline) and "names" in written.step_names
    assert out.read_text(encoding="utf-8").startswith("# Found by kgrag tune on 16 questions")
    # Again: all is read from the file, also where the last line is that of a run that was killed.
    lines = kept.read_text(encoding="utf-8")
    kept.write_text(lines + lines.splitlines()[0][:40], encoding="utf-8")
    again = opened.tune(tmp_path / "questions.jsonl", factorial=True, **options)
    assert again == tuned
    assert kept.read_text(encoding="utf-8") == lines
    other = tmp_path / "other.txt"
    other.write_text("my notes", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: expected scores of an earlier"):
        opened.tune(tmp_path / "questions.jsonl", **options | {"kept": other})
    assert other.read_text(encoding="utf-8") == "my notes"


def test_the_command_prints_the_report(
    opened: KnowledgeGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened.close()
    flags = ["tune", "--store", str(tmp_path / "store"), "--questions", str(tmp_path / "questions.jsonl")]
    flags += [
        "--switches",
        str(tmp_path / "switches.toml"),
        "--measure",
        "hit@1",
        "--kept",
        str(tmp_path / "kept.jsonl"),
    ]
    assert run(flags) == 0
    shown = capsys.readouterr()
    assert (
        "1. names: off → on, +" in shown.out
        and "Each half of the questions asked by what the other half chose" in shown.out
    )
    notes = [line for line in shown.err.splitlines() if line.startswith("note: left out: ")]
    assert notes and len(notes) == len(set(notes))
    assert run([*flags, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["search"]["chosen"]["names"] == "on" and report["held_out"]["low"] > 0


def test_wrong_use_is_told(opened: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--measure"):
        opened.tune(tmp_path / "questions.jsonl", measure="joy")
    with pytest.raises(InputError, match="at most 256 combinations"):
        opened.tune(tmp_path / "questions.jsonl", factorial=True)
    few = tmp_path / "few.jsonl"
    few.write_text('{"id": 1, "question": "?", "evidence": ["X-100"]}\n', encoding="utf-8")
    with pytest.raises(InputError, match="at least four"):
        opened.tune(few)
    for place, said in ((tmp_path, r"ends in \.toml"), (tmp_path / "found.json", r"ends in \.toml")):
        with pytest.raises(InputError, match=said):
            opened.tune(tmp_path / "questions.jsonl", out=place)
    with pytest.raises(InputError, match="got a folder"):
        opened.tune(tmp_path / "questions.jsonl", kept=tmp_path)


def test_questions_that_say_no_gold_or_gold_of_elsewhere_are_counted(opened: KnowledgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [{"id": "else", "question": "voltage", "evidence": ["Y-1"]}, {"id": "no", "question": "Is it blue?"}]
    file.write_text(file.read_text() + "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    tuned = opened.tune(file, switches=tmp_path / "switches.toml", measure="hit@1")
    assert (tuned.questions, tuned.without_gold, tuned.gold_nowhere) == (len(PARTS) + 1, 1, ("else",))
