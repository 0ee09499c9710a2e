"""A schema is induced once for a graph, remembered, shown, and forgotten with the graph; on both databases."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.models.base import Message
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.testing import HashingEmbedder, ScriptedChatModel

DIMENSIONS = HashingEmbedder().dimensions
SCHEMA = {
    "node_types": [{"label": label, "properties": [{"name": "name", "type": "STRING"}]} for label in ("Board", "Part")],
    "relationship_types": [{"label": "HAS_PART"}],
    "patterns": [],
    "constraints": [],
}
GRAPH = [
    {"head": "X-100", "head_type": "board", "relation": "has part", "tail": "LQ22", "tail_type": "PART"},
    {"head": "X-100", "head_type": "Board", "relation": "costs", "tail": "7 EUR", "tail_type": "Price"},
]


def says(messages: Sequence[Message]) -> str:
    asked = messages[-1].content
    return json.dumps(SCHEMA if "---" in asked else GRAPH)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [
        {"id": f"n{i}", "title": f"Note {i}", "text": f"{i}: the X-100 has the LQ22 and costs 7 EUR."}
        for i in range(12)
    ]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Path("notes.jsonl")


def built(store: GraphStore, notes: Path, name: str) -> tuple[BuildReport, ScriptedChatModel]:
    model, settings = ScriptedChatModel(says), Settings(extraction_schema="induced")
    extractors = [open_extractor(name, model=model, settings=settings)]
    job = build([notes], store=store, embedder=HashingEmbedder(), extractors=extractors, model=model, settings=settings)
    return asyncio.run(job), model


@pytest.mark.parametrize("name", ["simple_kg", "graph_transformer"])
@pytest.mark.changes_indexes
def test_a_schema_is_induced_once_shown_and_kept_to_until_the_graph_goes(
    store: GraphStore, notes: Path, name: str
) -> None:
    report, model = built(store, notes, name)
    assert len(model.calls) == 1 + 12
    assert json.loads(report.schemas[name]) == {
        "entities": ["Board", "Part"],
        "relations": ["HAS_PART"],
        "patterns": [],
    }
    assert any("induced from samples now" in note and "Board" in note for note in report.notes)
    assert (report.graphs[name].entities, report.graphs[name].relations) == (2, 1)
    assert report.graphs[name].remarks["entities and relations outside the schema"] == 12
    assert report.graphs[name].usage.calls == 13
    again, model = built(store, notes, name)
    assert model.calls == [] and again.extractions[name]["unchanged"] == 12
    assert any("induced by an earlier build" in note for note in again.notes)
    store.graphs.delete(name)
    assert store.ledger.of_stage("schema", name) == {}
