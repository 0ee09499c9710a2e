"""What a support desk is sent, on both databases: tables as text, photos and mail make the same store, and answers cite them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.models.minilm import MiniLM
from kgrag.settings import load_settings
from kgrag.store.graph import open_store

DIMENSIONS = MiniLM.dimensions
FILES = {
    "errors.csv": "Error table of the P-300;;\n\nCode;Meaning;Remedy\nE07;Pump runs dry;Open the inlet valve\n"
    "E12;Pressure sensor broken;Replace sensor S4\nE15;Supply voltage below 207 V;Check the mains fuse\n",
    "prices.tsv": "Article\tPrice EUR\tPower\nP-100\t1.234,50\t0.35 kW\nP-200\t1.690,00\t0.55 kW\n",
    "tickets/4711.eml": "From: support@acme.example\nTo: jane@plant.example\nSubject: Humming after a power cut\n"
    "Date: Tue, 5 Mar 2024 10:22:00 +0100\n\nThe humming after a power cut comes from the blocked impeller of the P-300.\n\n--\nACME\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        file = Path("desk", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    plate = Image.new("L", (900, 300), 220)
    ImageDraw.Draw(plate).text((60, 110), "Serial number 4711-0815", font=ImageFont.load_default(size=56))
    plate.save("desk/plate.png")
    return Path("desk")


def test_they_make_one_store_and_answers_cite_the_row_the_mail_and_the_photo(
    store_target: str, folder: Path, tmp_path: Path
) -> None:
    with open_store(store_target) as store:
        graph = KnowledgeGraph(store, load_settings())
        report = graph.build(folder)
        assert (report.new_documents, report.failures, report.ignored_files) == (4, [], {})
        assert report.removed_lines == {"signature": ["desk/tickets/4711.eml: ACME"]}
        cited = {}
        for question in (
            "What does error E12 of the P-300 mean?",
            "What is the price of the P-200?",
            "Where does the humming after a power cut come from?",
            "What is the serial number?",
        ):
            answer = graph.ask(question)
            cited[answer.citations[0].document] = answer.text
        digest = graph.digest()
        graph.close()
    assert "Meaning: Pressure sensor broken" in cited["desk/errors.csv"]
    assert "Price EUR: 1.690,00" in cited["desk/prices.tsv"]
    assert "blocked impeller" in cited["desk/tickets/4711.eml"]
    assert "4711-0815" in cited["desk/plate.png"]
    with open_store(tmp_path / "other.kg") as other:
        graph = KnowledgeGraph(other, load_settings())
        graph.build(folder)
        assert graph.digest() == digest
        graph.close()
