"""Extractions that were made elsewhere: every record accounted for, every name held against its chunk, changes read chunk by chunk."""

import asyncio
import json
from pathlib import Path

import pytest

from kgrag.cli import run
from kgrag.errors import InputError, ModelReplyError
from kgrag.extract import open_extractor
from kgrag.extract.recorded import NAMELESS_LINES, STRAY_RECORDS, RecordedExtractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.models.minilm import MiniLM
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.types import Chunk, Extraction

DIMENSIONS = MiniLM.dimensions
TEXT = "The X-100 board of Acme Corp draws 5 mA. It has the LQ22 sensor. Jane Doe designed it in Lyon."
PASSAGES = {
    "m0": TEXT,
    "m1": "The LQ22 measures up to 1260 hPa.",
    "m2": "Nothing is stated here.",
    "m3": "Lyon lies on the Rhône.",
    "m4": "Acme Corp was founded in 1999.",
}
RECORDS = {
    "m0": {"entities": ["X-100", "LQ22"], "triples": [["x-100", "draws", "5 Ma"], ["X-100", "has part", "LQ22"]]},
    "m1": {"entities": ["LQ22"], "triples": [["LQ22", "measures"], ["LQ22", "up to", "1260 hPa"]]},
    "m2": {"entities": [], "triples": []},
    "m3": {"entities": ["Lyon"], "triples": [["Lyon", "lies on", "Rhône"], ["Lyon", "is in", "France"]]},
    "m4": {"triples": []},
}


def chunk(text: str = TEXT, *, source_id: str = "m0") -> Chunk:
    return Chunk(id="c", document_id="d", source_id=source_id, position=0, title="", text=text, tokens=1)


def written(file: Path, *lines: object) -> Path:
    file.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", encoding="utf-8"
    )
    return file


def extracted(file: Path, *lines: object, of: Chunk | None = None) -> Extraction:
    return asyncio.run(RecordedExtractor(written(file, *lines)).extract(of or chunk()))


def triples(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(r.head.name, r.type, r.tail.name) for r in extraction.relations}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "recorded.jsonl"


def test_names_come_out_as_the_chunk_writes_them(file: Path) -> None:
    extraction = extracted(file, {"id": "m0", **RECORDS["m0"]})
    assert extraction.state == "ok"
    assert triples(extraction) == {("X-100", "DRAWS", "5 mA"), ("X-100", "HAS_PART", "LQ22")}
    assert all(relation.grounded for relation in extraction.relations)
    assert {entity.name for entity in extraction.entities} == {"X-100", "LQ22", "5 mA"}


def test_what_the_chunk_does_not_say_is_kept_and_marked(file: Path) -> None:
    extraction = extracted(file, {"id": "m0", "triples": [["X-100", "made in", "France"]]})
    (relation,) = extraction.relations
    assert not relation.grounded and "France" in relation.reason
    assert extraction.remarks == {"relations not grounded": 1}


def test_a_triple_has_the_types_that_its_record_gives_to_names(file: Path) -> None:
    record = {
        "id": "m0",
        "entities": [{"name": "X-100", "type": "board", "description": "a board"}, {"name": "LQ22", "type": "sensor"}],
        "triples": [["x-100", "has part", "LQ22"]],
    }
    extraction = extracted(file, record)
    assert {(e.name, e.type, e.description) for e in extraction.entities} == {
        ("X-100", "Board", "a board"),
        ("LQ22", "Sensor", ""),
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": "m0", "triples": [["X-100", "draws", "5 mA"], ["X-100", "is fast"]]}, "two parts of three"),
        ({"id": "m0", "triples": [["X-100", "draws", "current of", "5 mA"]]}, "four parts|4 parts"),
        ({"id": "m0", "triples": [["X-100", "draws", "5 mA"], 7]}, "a relation is not an object"),
        ('{"id": "m0", "triples": [["X-100", "draws", "5 mA"], ["X-100", "has', "cut off or broken"),
        ({"id": "m0", "reply": 'Here: ```[["X-100", "draws", "5 mA"]]```'}, "code fence|words stood"),
    ],
)
def test_a_malformed_record_is_read_with_the_reason(file: Path, line: object, reason: str) -> None:
    extraction = extracted(file, line)
    assert extraction.state in ("mended", "partial")
    assert any(part in extraction.reason for part in reason.split("|")), extraction.reason
    assert any(relation.tail.name == "5 mA" for relation in extraction.relations)


def test_an_empty_record_says_that_the_chunk_states_nothing(file: Path) -> None:
    assert extracted(file, {"id": "m0", "entities": [], "triples": []}).state == "empty"


@pytest.mark.parametrize(
    "line",
    [
        {"id": "m9", "triples": []},
        {"id": "m0"},
        {"id": "m0", "error": "rate limit"},
        {"id": "m0", "reply": "I am sorry, I cannot help with that."},
        {"id": "m0", "triples": [["X-100"]]},
        {"id": "m0", "entities": ["x" * 400]},
    ],
)
def test_a_chunk_without_a_usable_record_fails(file: Path, line: object) -> None:
    with pytest.raises(ModelReplyError):
        extracted(file, line)


def test_several_records_of_a_chunk_add_up_and_may_name_it_by_its_own_id(file: Path) -> None:
    first, second = (
        {"id": "m0", "triples": [["X-100", "has", "LQ22"]]},
        {"id": "c", "triples": [["X-100", "of", "Acme Corp"]]},
    )
    assert triples(extracted(file, first, second)) == {("X-100", "HAS", "LQ22"), ("X-100", "OF", "Acme Corp")}


def test_a_chunk_of_a_file_is_named_by_its_own_id_only(file: Path) -> None:
    record = {"id": "d", "triples": [["X-100", "has", "LQ22"]]}
    with pytest.raises(ModelReplyError):
        extracted(file, record, of=chunk(source_id="d"))
    assert extracted(file, {**record, "id": "c"}, of=chunk(source_id="d")).state == "ok"


def test_numbers_are_ids_and_lines_without_an_id_are_remarked(file: Path) -> None:
    lines = ({"id": 7, "triples": [["X-100", "has", "LQ22"]]}, "", "not JSON", {"triples": []}, {"id": "m9"})
    extractor = RecordedExtractor(written(file, *lines))
    extractor.prepare([], [chunk(source_id="7")])
    assert asyncio.run(extractor.extract(chunk(source_id="7"))).state == "ok"
    assert extractor.remarks == {
        STRAY_RECORDS: (1, f"{file}: m9"),
        NAMELESS_LINES: (2, f"{file}: lines 3, 4"),
    }


@pytest.mark.parametrize("content", [None, "", "[]\n", "\n\n", b"\xff\xfe\x00"])
def test_a_file_without_records_is_refused(file: Path, content: str | bytes | None) -> None:
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content is not None:
        file.write_text(content)
    with pytest.raises(InputError, match="--recorded"):
        RecordedExtractor(file)


def test_a_file_of_another_corpus_is_refused(file: Path) -> None:
    extractor = RecordedExtractor(written(file, {"id": "other", "triples": []}))
    with pytest.raises(InputError, match="such as 'm0', got 1 others, such as 'other'"):
        extractor.prepare([], [chunk()])


def test_the_extractor_needs_its_file_and_the_file_its_extractor(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="--recorded"):
        open_extractor("recorded")
    written(file, {"id": "m0", "triples": []})
    assert run(["build", str(tmp_path), "--store", str(tmp_path / "s"), "--recorded", str(file)]) == 2
    assert "--extractor recorded" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "s").exists()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [{"id": key, "title": f"Title {key}", "text": text} for key, text in PASSAGES.items()]
    return written(Path("corpus.jsonl"), *lines)


def built(store: GraphStore, corpus: Path, records: dict[str, object]) -> BuildReport:
    file = written(Path("recorded.jsonl"), *({"id": key, **record} for key, record in records.items()))  # type: ignore[dict-item]
    settings = Settings(extractor=("recorded",), recorded=file)
    return asyncio.run(
        build(
            [corpus],
            store=store,
            embedder=MiniLM(),
            extractors=[open_extractor("recorded", settings=settings)],
            settings=settings,
        )
    )


def test_every_chunk_is_accounted_for_and_a_changed_record_is_read_again_alone(store: GraphStore, corpus: Path) -> None:
    records: dict[str, object] = {key: record for key, record in RECORDS.items() if key != "m4"}
    report = built(store, corpus, {**records, "m77": {"triples": []}})
    assert report.extractions["recorded"] == {"ok": 2, "partial": 1, "empty": 1, "failed": 1}
    (failure,) = report.failures
    assert "no record of it" in failure.reason and "'m4'" in failure.reason
    assert report.graphs["recorded"].remarks[STRAY_RECORDS] == 1
    assert report.notes == [f"1 {STRAY_RECORDS}: recorded.jsonl: m77"]
    assert report.graphs["recorded"].ungrounded == 1  # Lyon is in France: m3 does not say it
    before = store.digest()

    again = built(store, corpus, {**RECORDS, "m3": {"triples": [["Lyon", "lies on", "Rhône"]]}})
    assert again.extractions["recorded"] == {"unchanged": 3, "ok": 1, "empty": 1}
    assert again.failures == [] and again.graphs["recorded"].ungrounded == 0
    assert store.digest() != before
    third = built(store, corpus, {**RECORDS, "m3": {"triples": [["Lyon", "lies on", "Rhône"]]}})
    assert third.extractions["recorded"] == {"unchanged": 5}


def test_the_command_reads_the_file_and_prints_what_was_left(
    store_target: str, corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(Path("recorded.jsonl"), *({"id": k, **r} for k, r in RECORDS.items()), {"id": "m77", "triples": []})
    monkeypatch.setenv("KGRAG_RECORDED", str(file))
    arguments = ["build", str(corpus), "--store", store_target, "--extractor", "recorded", "--graph", "batch"]
    assert run([*arguments, "--dry-run"]) == 0
    assert run(arguments) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Graph batch: chunks 2 empty, 2 ok, 1 partial" in said
    assert f"1 {STRAY_RECORDS}" in said and "m77" in said
