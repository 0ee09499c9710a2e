"""`kgrag train ranker` on a small store in which headings, not texts, decide what answers a question."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgrag
from kgrag.common.progress import Silent
from kgrag.common.waiting import wait_for
from kgrag.errors import InputError
from kgrag.jobs.questions import QuestionOptions, questions_beside
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.retrieve import Pipeline, load_pipeline

NAMES = "pump valve motor filter sensor gauge hose tank fan belt lamp relay fuse switch spring piston bearing nozzle clutch gasket"
PARTS = tuple(NAMES.split(" "))
CHORES = ("cleaning", "storing", "fitting")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """One section for each part and chore; only its heading has the chore, and the texts of all others name part and chore."""
    folder = tmp_path_factory.mktemp("workshop")
    for part in PARTS:
        sections = "".join(
            f"<h2>{chore}</h2><p>Look after the {part} as written here, in any case with care.</p>" for chore in CHORES
        )
        talk = "".join(
            f"<p>On {chore} the {part}, {chore} of the {part} and {chore}: nothing more is known.</p>"
            for chore in CHORES
        )
        page = f"<html><head><title>Workshop {part}</title></head><body><h1>{part}</h1>{sections}<h2>Talk</h2>{talk}</body></html>"
        (folder / f"{part}.html").write_text(page, encoding="utf-8")
    with kgrag.open(folder / "store") as graph:
        graph.build(*sorted(folder.glob("*.html")))
        yield graph


def asked(graph: KnowledgeGraph, file: Path, *, parts: int) -> Path:
    chunks = {(chunk.headings[0], chunk.headings[-1]): chunk.id for chunk in graph.store.documents.chunks()}
    rows = [
        {
            "id": f"{part}-{chore}",
            "question": f"{chore} the {part}",
            "evidence": [chunks[part, chore]],
            "document": part,
        }
        for part in PARTS[:parts]
        for chore in CHORES
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_pipeline_is_written_only_where_held_out_questions_gain(opened: KnowledgeGraph, tmp_path: Path) -> None:
    questions = asked(opened, tmp_path / "questions.jsonl", parts=len(PARTS))
    out = tmp_path / "mine.toml"
    trained = opened.train_ranker(out, questions=questions, pipeline="sparse")
    assert trained.asked == 60 and trained.made == 0
    assert trained.out == out and trained.adapted.better
    assert trained.adapted.after > trained.adapted.before
    written = load_pipeline(str(out))
    assert isinstance(written, Pipeline)
    assert "learnt" in written.step_names and out.read_text(encoding="utf-8").startswith(
        "# sparse with a ranker learnt from 60"
    )
    question = f"{CHORES[0]} the {PARTS[0]}"
    found = wait_for(opened.retriever(str(out)).trace(question)).evidence
    assert found[0].section.endswith(CHORES[0])
    # What it has learnt is no gain over itself.
    again = tmp_path / "again.toml"
    assert opened.train_ranker(again, questions=questions, pipeline=str(out)).out is None
    assert not again.exists()


def test_too_few_questions_are_refused(opened: KnowledgeGraph, tmp_path: Path) -> None:
    questions = asked(opened, tmp_path / "few.jsonl", parts=2)
    with pytest.raises(InputError, match="at least 20 questions whose gold evidence is found at all, got "):
        opened.train_ranker(tmp_path / "mine.toml", questions=questions, pipeline="sparse")
    with pytest.raises(InputError, match="adaptive, which chooses another one"):
        opened.train_ranker(tmp_path / "mine.toml", questions=questions, pipeline="adaptive")


class Saying(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


def test_questions_that_were_changed_by_hand_are_kept_beside_those_that_are_made_anew(
    opened: KnowledgeGraph, tmp_path: Path
) -> None:
    questions, told = tmp_path / "mine.questions.jsonl", Saying()

    def make() -> None:
        job = questions_beside(
            tmp_path / "mine.toml",
            QuestionOptions(limit=12),
            store=opened.store,
            graph=opened.graph_name(),
            embedder=opened.embedder,
            progress=told,
        )
        wait_for(job)

    make()
    made = questions.read_text(encoding="utf-8")
    make()
    assert told.said == [] and questions.read_text(encoding="utf-8") == made
    mine = made.partition("\n")[2]
    questions.write_text(mine, encoding="utf-8")
    make()
    assert questions.read_text(encoding="utf-8") == made
    assert (tmp_path / "mine.questions.before.jsonl").read_text(encoding="utf-8") == mine
    assert "are kept as" in told.said[0]
