"""The build job on real documents, on both databases: what is done again, what goes, what is left alone."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from kgrag.extract import open_extractor
from kgrag.jobs.build import build, delete
from kgrag.jobs.report import BuildReport
from kgrag.models.base import Vectors
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder
from kgrag.text.names import normal_form
from kgrag.types import Chunk, Document, Entity, Extraction, Relation

DIMENSIONS = HashingEmbedder().dimensions
DOCUMENTS = {
    "boards/X-100/sheet.md": "# X-100 board\n\nThe X-100 is a sensor board. It needs 3.3 V and uses the LQ22 sensor.\n",
    "boards/X-1000/sheet.md": "# X-1000 board\n\nThe X-1000 is a gateway. It needs 33 V. See the [X-100](../X-100/sheet.md).\n",
    "parts/LQ22/lq22.html": "<html><head><title>LQ22</title></head><body><h1>LQ22</h1><section id='range'><h2>Range</h2>"
    "<p>The LQ22 is a pressure sensor with a range of 260 to 1260 hPa.</p></section></body></html>",
    "notes.jsonl": "".join(
        json.dumps(
            {"id": f"n{i}", "title": f"Note {i}", "text": f"Note {i} says that the X-100 and the LQ22 take {i}.5 mA."}
        )
        + "\n"
        for i in range(4)
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in DOCUMENTS.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return Path("docs")


def built(store: GraphStore, *paths: Path, keep_missing: bool = False, **settings: object) -> BuildReport:
    return asyncio.run(
        build(
            paths,
            store=store,
            embedder=HashingEmbedder(),
            extractors=[open_extractor("mention")],
            settings=Settings(**settings),
            keep_missing=keep_missing,
        )
    )


def digest_of_a_fresh_build(folder: Path, place: Path) -> str:
    with open_store(place) as fresh:
        built(fresh, folder)
        return fresh.digest()


def test_building_twice_changes_nothing(store: GraphStore, folder: Path) -> None:
    first = built(store, folder)
    before = store.digest()
    second = built(store, folder)
    assert (first.new_documents, first.failures) == (7, [])
    assert (second.new_documents, second.chunks_written, second.chunks_embedded) == (0, 0, 0)
    assert second.unchanged_files == 4
    assert second.extractions["mention"]["unchanged"] == store.documents.count_chunks()
    assert store.digest() == before


def test_a_changed_and_a_vanished_file_leave_what_a_fresh_build_makes(
    store: GraphStore, folder: Path, tmp_path: Path
) -> None:
    built(store, folder)
    (folder / "boards/X-1000/sheet.md").write_text("# X-1000 board\n\nThe X-1000 needs 24 V and the LQ33 sensor.\n")
    (folder / "parts/LQ22/lq22.html").unlink()
    lines = (folder / "notes.jsonl").read_text().splitlines()
    (folder / "notes.jsonl").write_text(
        "\n".join([*lines[1:], lines[1].replace("n1", "n9").replace("Note 1", "Note 9")])
    )
    report = built(store, folder)
    assert report.removed_documents == ["docs/parts/LQ22/lq22.html"]
    assert store.digest() == digest_of_a_fresh_build(folder, tmp_path / "fresh.kg")


class Counting(HashingEmbedder):
    """Counts the documents that it embeds."""

    embedded = 0

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Count and embed."""
        self.embedded += len(texts)
        return await super().embed_documents(texts)


def test_documents_that_were_there_before_are_updated_and_not_new(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    (folder / "boards/X-100/sheet.md").write_text("# X-100\n\nThe X-100 draws 7 mA.\n")
    (folder / "boards/X-100/more.md").write_text("# More\n\nThe X-100 is grey.\n")
    report = built(store, folder)
    assert (report.new_documents, report.updated_documents, report.unchanged_files) == (1, 1, 3)
    again = built(store, folder, chunk_tokens=100)
    assert (again.new_documents, again.updated_documents, again.unchanged_files) == (0, 8, 0)


class SayingWords:
    """An extractor that knows nothing of documents, and counts what it is asked."""

    name, fingerprint = "words", "1"
    asked = 0

    def prepare(self, documents: object, chunks: object) -> None:
        """Learn nothing."""

    async def extract(self, chunk: Chunk) -> Extraction:
        """Relate the first word with the last."""
        self.asked += 1
        words = chunk.text.split()
        first, last = (Entity(name=word, type="Word", normal=normal_form(word)) for word in (words[0], words[-1]))
        said = (Relation(head=first, type="BEFORE", tail=last, description=chunk.text),)
        return Extraction(chunk_id=chunk.id, entities=(first, last), relations=said, state="ok")


def test_a_moved_or_renamed_file_keeps_vectors_and_extractions(store: GraphStore, folder: Path, tmp_path: Path) -> None:
    def build_with(store: GraphStore, embedder: Counting, words: SayingWords) -> BuildReport:
        extractors = [open_extractor("mention"), words]
        return asyncio.run(
            build(
                [folder], store=store, embedder=embedder, extractors=extractors, settings=Settings(), keep_missing=False
            )
        )

    embedder, words = Counting(), SayingWords()
    build_with(store, embedder, words)
    calls_before = {r.subject: r.attempts for r in store.ledger.of_stage("extract", "words").values()}
    embedder.embedded = words.asked = 0
    (folder / "boards/X-100/sheet.md").rename(folder / "boards/X-100/datasheet.md")
    (folder / "parts").rename(folder / "sensors")
    (folder / "notes.jsonl").rename(folder / "remarks.jsonl")
    report = build_with(store, embedder, words)
    assert (words.asked, embedder.embedded, report.chunks_embedded, report.new_documents) == (0, 0, 0, 0)
    assert report.extractions["words"] == {"unchanged": store.documents.count_chunks()}
    assert report.removed_documents == []
    assert report.moved_documents == {
        "docs/boards/X-100/sheet.md": "docs/boards/X-100/datasheet.md",
        "docs/parts/LQ22/lq22.html": "docs/sensors/LQ22/lq22.html",
        "docs/notes.jsonl": "docs/remarks.jsonl",
    }
    assert len(store.ledger.of_stage("extract", "words")) == len(calls_before)
    assert len(store.ledger.of_stage("convert")) == 4
    with open_store(tmp_path / "fresh.kg") as fresh:
        build_with(fresh, Counting(), SayingWords())
        assert store.digest() == fresh.digest()


def test_a_changed_file_keeps_what_its_unchanged_chunks_have(store: GraphStore, folder: Path, tmp_path: Path) -> None:
    section = "\n\n## Part {0}\n\n" + "Part {0} takes power. " * 120
    file = folder / "boards/X-100/sheet.md"
    file.write_text(DOCUMENTS["boards/X-100/sheet.md"] + "".join(section.format(n) for n in "ABC"))
    first = built(store, folder)
    file.write_text(file.read_text().replace("Part C takes power. ", "Part C gives power. ", 1))
    second = built(store, folder)
    assert 0 < second.chunks_embedded < second.chunks_written < first.chunks_written
    assert store.digest() == digest_of_a_fresh_build(folder, tmp_path / "fresh.kg")


def test_a_deleted_document_takes_only_what_it_alone_supported(store: GraphStore, folder: Path, tmp_path: Path) -> None:
    built(store, folder)
    documents = store.documents.of_path("docs/boards/X-1000/sheet.md")
    asyncio.run(delete(documents, store=store, embedder=HashingEmbedder(), extractors=[open_extractor("mention")]))
    (folder / "boards/X-1000/sheet.md").unlink()
    assert store.digest() == digest_of_a_fresh_build(folder, tmp_path / "fresh.kg")


def test_a_kept_document_stays_when_its_file_is_gone(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    (folder / "parts/LQ22/lq22.html").unlink()
    report = built(store, folder, keep_missing=True)
    assert report.removed_documents == []
    assert len(store.documents.all()) == 7


def test_a_broken_file_is_named_with_its_reason_and_the_rest_goes_on(store: GraphStore, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"PK\x03\x04 this is a ZIP, whatever its name says")
    (folder / "empty.md").write_bytes(b"")
    (folder / "picture.gif").write_bytes(b"\x89PNG")
    report = built(store, folder)
    assert {failure.subject for failure in report.failures} == {"docs/broken.pdf", "docs/empty.md"}
    assert all(failure.reason for failure in report.failures)
    assert report.ignored_files == {".gif": 1}
    assert len(store.documents.all()) == 7
    assert {record.subject for record in store.ledger.failures()} == {"docs/broken.pdf", "docs/empty.md"}
    (folder / "broken.pdf").unlink()
    (folder / "empty.md").write_text("# Filled\n\nNow it says something about the X-100.\n")
    repaired = built(store, folder)
    assert repaired.failures == []
    assert store.ledger.failures() == []
    assert len(store.documents.all()) == 8


def test_other_metadata_is_written_without_embedding_again(store: GraphStore, folder: Path, tmp_path: Path) -> None:
    built(store, folder)
    said = tmp_path / "metadata.json"
    said.write_text(json.dumps({"docs/boards/X-100/sheet.md": {"product": "X-100 Rev 2"}}))
    report = asyncio.run(
        build(
            [folder],
            store=store,
            embedder=HashingEmbedder(),
            extractors=[open_extractor("mention")],
            settings=Settings(),
            metadata=said,
        )
    )
    assert report.chunks_embedded == 0
    assert [d.product for d in store.documents.of_path("docs/boards/X-100/sheet.md")] == ["X-100 Rev 2"]


class MetByAnotherBuild(HashingEmbedder):
    """While the first text is cut into chunks, another build writes a document to the same store."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__()
        self._store = store
        self._met = False

    def count_tokens(self, text: str) -> int:
        if not self._met:
            self._met = True
            theirs = Document(id="d", path="theirs.md", title="Theirs", sha256="0", format="md")
            said = Chunk(id="c", document_id="d", source_id="d", position=0, text="The Dorn needs 5 V.", tokens=6)
            self._store.documents.put([(theirs, [said])])
        return super().count_tokens(text)


def test_a_build_says_what_of_its_work_was_for_documents_of_another_one(store: GraphStore, folder: Path) -> None:
    def build_with(embedder: HashingEmbedder) -> BuildReport:
        extractors = [open_extractor("mention")]
        return asyncio.run(
            build([folder], store=store, embedder=embedder, extractors=extractors, settings=Settings(processes=1))
        )

    met = build_with(MetByAnotherBuild(store))
    assert met.chunks_embedded == met.chunks_written + 1
    assert [note for note in met.notes if "another build" in note and ": 1 of its chunks" in note]
    (folder / "more.md").write_text("# More\n\nThe V-7 takes 80 bar.\n", encoding="utf-8")
    alone = build_with(HashingEmbedder())
    assert alone.chunks_embedded and not [note for note in alone.notes if "another build" in note]


def test_hyperlinks_join_the_chunks_that_they_lead_to(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    rows = store.query("MATCH (a:Chunk)-[l:LINKS_TO]->(b:Chunk) RETURN a.title AS a, b.title AS b, l.anchor AS anchor")
    assert rows == [{"a": "X-1000 board", "b": "X-100 board", "anchor": "X-100"}]


def test_rows_of_tables_are_embedded_on_request_alone(store: GraphStore, folder: Path) -> None:
    table = "# Parts\n\n| Part | Pressure |\n| --- | --- |\n| V-7 | 80 bar |\n| V-8 | 16 bar |\n"
    (folder / "parts.md").write_text(table, encoding="utf-8")
    first = built(store, folder)
    assert store.search.count_table_rows() == 0 and not any("rows" in note for note in first.notes)
    asked = built(store, folder, table_rows=True)
    assert (first.chunks_embedded, asked.chunks_embedded, store.search.count_table_rows()) == (8, 0, 2)
    assert "2 rows of tables embedded" in asked.notes
    (folder / "more.md").write_text(table.replace("V-", "W-"), encoding="utf-8")
    without = built(store, folder)
    assert any("2 rows of tables have no vectors" in note for note in without.notes)
    built(store, folder, table_rows=True)
    said = store.query("MATCH (r:__TableRow__)-[:ROW_OF]->(:Chunk) RETURN r.text AS said ORDER BY said")
    assert [row["said"] for row in said] == [
        "Parts. Part: V-7; Pressure: 80 bar",
        "Parts. Part: V-8; Pressure: 16 bar",
        "Parts. Part: W-7; Pressure: 80 bar",
        "Parts. Part: W-8; Pressure: 16 bar",
    ]


def test_a_picture_without_text_is_ignored_and_looked_at_once(store: GraphStore, folder: Path) -> None:
    photo = folder / "boards/X-100/photo.png"
    Image.new("L", (300, 300), 128).save(photo)
    first = built(store, folder)
    assert (first.failures, first.ignored_files) == ([], {"picture without text": 1})
    looked_at = store.ledger.of_stage("convert")[photo.as_posix()]
    assert (looked_at.state, looked_at.attempts) == ("empty", 1)
    again = built(store, folder)
    assert (again.failures, again.ignored_files) == ([], {"picture without text": 1})
    assert again.unchanged_files == len(DOCUMENTS)
    assert store.ledger.of_stage("convert")[photo.as_posix()] == looked_at
    assert not store.documents.of_path(photo.as_posix())


def test_pages_of_frames_or_navigation_alone_are_ignored(store: GraphStore, folder: Path) -> None:
    (folder / "index.html").write_text("<html><frameset><frame src='a.html'></frameset></html>", encoding="utf-8")
    (folder / "toc.html").write_text("<html><body><nav><a href='a.html'>A</a></nav></body></html>", encoding="utf-8")
    reports = [built(store, folder) for _ in range(2)]
    for report in reports:
        assert (report.failures, report.ignored_files) == ([], {"page without text": 2})
    first, again = (sum("page without text" in note for note in report.notes) for report in reports)
    assert (first, again) == (2, 0), "named when they are read"


def test_sources_of_directives_or_comments_alone_are_ignored(store: GraphStore, folder: Path) -> None:
    sources = {
        "index.rst": ".. toctree::\n\n   start\n   use\n",
        "attributes.adoc": ":product: Pump\n// of all pages\n",
        "snippet.md": "<!-- nothing -->\n",
        "api.rst": "Pump API\n========\n\n.. toctree::\n\n   start\n",
    }
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = built(store, folder)
    assert (report.failures, report.ignored_files) == ([], {"source without text": len(sources)})
    assert sum("titles of other files alone" in note for note in report.notes) == 3, "the first few are named"


def test_a_picture_whose_text_is_gone_is_no_document_any_more(store: GraphStore, folder: Path) -> None:
    photo = folder / "plate.png"
    plate = Image.new("RGB", (900, 300), "#d0d0d0")
    ImageDraw.Draw(plate).text((60, 110), "Rated voltage 230 V", font=ImageFont.load_default(size=56), fill="black")
    plate.save(photo)
    assert built(store, folder).new_documents == len(DOCUMENTS) + 4
    assert store.documents.of_path(photo.as_posix())
    Image.new("L", (300, 300), 128).save(photo)
    assert built(store, folder).ignored_files == {"picture without text": 1}
    assert not store.documents.of_path(photo.as_posix())
