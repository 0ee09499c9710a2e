"""A store as files and back, on both databases: nothing is lost, wrong files are refused, an import that was interrupted goes on."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from kgrag.cli import run
from kgrag.common.progress import Silent, Step
from kgrag.communities import CommunitySettings
from kgrag.communities.rules import RulesSummariser
from kgrag.documents import discover
from kgrag.errors import InputError, KgragError, StoreError, StoreMismatch
from kgrag.jobs.communities import update_communities
from kgrag.neo4j_local import server as neo4j_server
from kgrag.neo4j_local.admin import run_admin
from kgrag.store.communities import PARTITION, Membership
from kgrag.store.exchange import load
from kgrag.store.exchange.csv_rows import Marks, RowFile, read_rows
from kgrag.store.exchange.kinds import KINDS
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.merges import Merge
from kgrag.store.schema import FEWEST_FILLED, entity_vector_index
from kgrag.store.statements import statement
from kgrag.testing import HashingEmbedder
from kgrag.types import Hyperlink, PageBox, Usage

from .conftest import Content

DIMENSIONS = 64
ODD = 'says "so", \r\n\ttwice;\n\n"" and \\n, then é and 漢 \u2028 end '
KIND = {kind.name: kind for kind in KINDS}


@pytest.fixture(scope="module")
def embedder() -> HashingEmbedder:
    return HashingEmbedder(dimensions=DIMENSIONS)


def fill(store: GraphStore, embedder: HashingEmbedder, content: Content) -> None:
    """Something of every kind, with lists of none, of one empty and of several texts."""
    store.bind(embedder.name, embedder.dimensions)
    parts = ("valve", "gauge", "filter", "motor", "screw", "cable")
    document, chunks = content.document(
        "a.html", *(f"The X-100 has a {part}. {ODD}" for part in parts), metadata={"groups": "sales", "pages": 3}
    )
    link = Hyperlink(href="b.html#b", anchor=ODD, context="", position=0)
    chunks[0] = chunks[0].model_copy(
        update={"links": (link,), "headings": (), "boxes": (PageBox(page=1, left=1.5, top=2, right=3, bottom=4.25),)}
    )
    chunks[1] = chunks[1].model_copy(update={"headings": ("",), "page_start": 1, "page_end": 2})
    other, others = content.document("b.html", "The X 100 is sold.", product="X-100", category="Pumps", version="2")
    others = [others[0].model_copy(update={"anchors": ("b.html#b", "b.html#c")})]
    store.documents.put([(document, chunks), (other, others)])
    store.documents.relink()
    said = []
    for chunk, part in zip(chunks, parts, strict=True):
        relation = content.relation("X-100", "HAS_PART", part.title(), description=ODD)
        extraction, record = content.said(
            chunk, content.entity("X-100", role="title", description=ODD), relations=[relation]
        )
        record = type(record)(**{**record_fields(record), "calls": 2, "tokens": 70, "cost": 0.125, "seconds": 1.5})
        said.append((extraction, record))
    bare = content.relation("X 100", "IS_A", "Valve", grounded=False, reason="guessed")
    said.append(content.said(others[0], content.entity("X 100"), relations=[bare]))
    store.graphs.put_extractions("mention", said)
    keys = {row["normal"]: row["key"] for row in store.graphs.unmerged_entities("mention")}
    pair = tuple(sorted((keys["x-100"], keys["x 100"])))
    store.graphs.apply_merges("mention", [Merge(pair[0], pair, '{"why":"spelling"}')])
    asyncio.run(embed(store, embedder))
    settings = CommunitySettings(cutoff=0.0, summary_floor=2, budget=200)
    asyncio.run(
        update_communities(store, graph="mention", embedder=embedder, summariser=RulesSummariser(), settings=settings)
    )
    # A graph as small as this one has no communities within others.
    whole = [one.membership for one in store.communities.of_graph("mention").values()]
    within = Membership("within", whole[0].level + 1, whole[0].members[:2], "00", parent=whole[0].key)
    record = store.ledger.of_stage(PARTITION, "mention")["mention"]
    store.communities.put_memberships("mention", [*whole, within], record=record, atomic=True)


def record_fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


async def embed(store: GraphStore, embedder: HashingEmbedder) -> None:
    chunks = list(store.documents.chunks(store.documents.ids_without_embedding()))
    vectors = await embedder.embed_documents([chunk.text for chunk in chunks])
    store.documents.put_embeddings([chunk.id for chunk in chunks], vectors, embedder=embedder.name)
    said = [(chunks[0].id, f"Parts. {ODD}"), (chunks[0].id, "Parts. Valve; Number: 7"), (chunks[1].id, "Parts.")]
    store.documents.put_table_rows(said, await embedder.embed_documents([text for _, text in said]))
    entities = store.graphs.entities_of(store.graphs.keys_without_embedding("mention"))
    vectors = await embedder.embed_documents([entity["name"] for entity in entities])
    store.graphs.put_embeddings("mention", [entity["key"] for entity in entities], vectors)


class Exported:
    """A store that was exported, and what it held."""

    def __init__(self, folder: Path, store: GraphStore) -> None:
        self.folder = folder
        done = store.export_to(folder)
        self.rows, self.command = done.rows, done.command
        assert done.digest == store.digest()
        self.held = held(store)


def held(store: GraphStore) -> tuple[Any, ...]:
    """What the digest leaves out, too: vectors, and what work took."""
    _, chunk_vectors = store.documents.vectors()
    _, entity_vectors = store.graphs.vectors("mention")
    records = store.ledger.of_stage("extract", "mention")
    used = sum((record.usage for record in records.values()), Usage())
    whole = sorted(map(str, records.values()))
    return store.digest(), chunk_vectors.tolist(), entity_vectors.tolist(), used, whole, store.status()


@pytest.fixture(scope="module")
def exported(
    tmp_path_factory: pytest.TempPathFactory, embedder: HashingEmbedder, content: Content
) -> Iterator[Exported]:
    folder = tmp_path_factory.mktemp("exchange")
    with open_store(folder / "source.kg") as store:
        fill(store, embedder, content)
        yield Exported(folder / "export", store)


@pytest.fixture
def copied(exported: Exported, tmp_path: Path) -> Path:
    """The export, to change."""
    return shutil.copytree(exported.folder, tmp_path / "copied")


def test_the_store_of_these_tests_has_something_of_every_kind(exported: Exported) -> None:
    assert set(exported.rows) == set(KIND)


def test_a_store_goes_through_files_into_the_other_database_and_back(
    exported: Exported, store_target: str, tmp_path: Path, content: Content
) -> None:
    with open_store(store_target) as there:
        there.import_from(exported.folder)
        assert held(there) == exported.held
        assert content.wrong_titles(there) == []
        again = Exported(tmp_path / "again", there)
    assert again.rows == exported.rows
    with open_store(tmp_path / "back.kg") as back:
        back.import_from(again.folder)
        assert held(back) == exported.held
        # What came from files is a store like any other: it can be written to and asked.
        back.bind(exported.held[-1]["embedder"], DIMENSIONS)
        back.documents.delete([document.id for document in back.documents.of_path("b.html")])
        back.graphs.split_merges("mention", [merge.survivor for merge in back.graphs.merges("mention")])
        assert "X 100" not in {row["name"] for row in back.graphs.unmerged_entities("mention")}


@pytest.mark.neo4j
@pytest.mark.usefixtures("short_life")
def test_neo4j_admin_loads_the_files_and_import_does_the_rest(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (missing := neo4j_server.engine_missing()) is not None:
        pytest.skip(missing)
    home = tmp_path / "home"
    monkeypatch.chdir(tmp_path)  # where neo4j-admin writes its report
    program, *arguments = shlex.split(exported.command)
    assert program == "neo4j-admin"
    with pytest.raises(StoreError, match=r"neo4j-admin ended with code [\s\S]*no-such-file") as told:
        run_admin(home, [argument.replace("chunk.csv", "no-such-file.csv") for argument in arguments])
    assert "CommandLine.java" not in str(told.value), "a stack trace says no reason"
    assert "IMPORT DONE" in run_admin(home, arguments)
    server = neo4j_server.up(home, bolt_port=0, heap_mb=512, engine="maven", owner_pid=os.getpid())
    try:
        monkeypatch.setenv("NEO4J_USERNAME", server.username)
        monkeypatch.setenv("NEO4J_PASSWORD", server.password)
        with open_store(server.url) as store:
            with pytest.raises(StoreMismatch, match="has not ended"):
                store.bind("another", DIMENSIONS)
            assert store.import_from(exported.folder).loaded_before
            assert held(store) == exported.held
    finally:
        neo4j_server.down(home, delete_data=True)


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.neo4j
@pytest.mark.changes_indexes
def test_neo4j_fills_the_vector_indexes_of_an_import_from_all_their_nodes_at_once(
    neo4j_empty: str, tmp_path: Path, content: Content
) -> None:
    with open_store(tmp_path / "many.kg") as store:
        store.bind(content.embedder, content.dimensions)
        made = content.document("a.html", "one")
        store.documents.put([made])
        said = content.said(made[1][0], *(content.entity(f"part {number}") for number in range(FEWEST_FILLED)))
        store.graphs.put_extractions("mention", [said])
        content.embed_all(store, "mention")
        store.export_to(tmp_path / "files")

    class Looks(Silent):
        """Notes the indexes that are there when a step begins."""

        def __init__(self) -> None:
            self.there: dict[str, set[str]] = {}

        @contextmanager
        def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
            self.there[name] = {row["name"] for row in store.query(statement("schema/names_neo4j"))}
            yield self

    index, looks = entity_vector_index("mention"), Looks()
    with open_store(neo4j_empty) as store:
        store._connection.run_alone(f"DROP INDEX `{index}` IF EXISTS")  # of another test
        store.import_from(tmp_path / "files", progress=looks)
        assert index not in looks.there["Import from_chunk"], "or each entity is put into it as it is written"
        assert index in looks.there["Build indexes"]
        filled = {row["name"]: row["nodes"] for row in store.query(statement("schema/filled_indexes"))}
        assert filled == {index: FEWEST_FILLED}
        asked = {"vector": [1.0] * content.dimensions, "limit": 3, "candidates": 9, "normals": []}
        found = store.search.linked_entities(graph="mention", **asked)  # type: ignore[arg-type]
        assert len(found) == 3


def test_an_import_that_was_killed_goes_on_where_it_was(
    exported: Exported, store_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "WRITE_ROWS", 3)
    wrote: list[str] = []
    write = load._write

    def count(*arguments: Any) -> None:
        write(*arguments)
        wrote.append(arguments[1].name)

    monkeypatch.setattr(load, "_write", count)
    with open_store(store_target) as store:
        run_import = store._connection.write

        def killed(work: Callable[[Any], Any]) -> Any:
            if len(wrote) >= 7:
                raise Killed
            return run_import(work)

        monkeypatch.setattr(store._connection, "write", killed)
        with pytest.raises(Killed):
            store.import_from(exported.folder)
    with open_store(store_target) as store:
        with pytest.raises(StoreMismatch, match="has not ended"):
            store.bind("another", DIMENSIONS)
        before = len(wrote)
        store.import_from(exported.folder)
        assert len(wrote) - before == sum(-(-rows // 3) for name, rows in exported.rows.items()) - before
        assert held(store) == exported.held


def test_an_import_needs_an_empty_store(exported: Exported, store: GraphStore, content: Content) -> None:
    store.documents.put([content.document("a.html", "text")])
    before = store.digest()
    with pytest.raises(InputError, match="has content already"):
        store.import_from(exported.folder)
    assert store.digest() == before


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 40)


def sealed(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """Change a file, and the manifest with it."""
    path = folder / f"{name}.csv"
    text = change(path.read_text(encoding="utf-8", errors="surrogateescape"))
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name]["sha256"] = load.sha256_of(path)
    (folder / "manifest.json").write_text(json.dumps(manifest))


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda f: (f / "manifest.json").unlink(), "written last"),
    "cut manifest": (lambda f: cut(f / "manifest.json"), "expected the JSON"),
    "deep manifest": (lambda f: (f / "manifest.json").write_text("[" * 200_000), "manifest.json"),
    "other JSON": (lambda f: (f / "manifest.json").write_text('{"files": 3}'), "manifest.json: "),
    "no file": (lambda f: (f / "chunk.csv").unlink(), "chunk.csv: cannot be read"),
    "cut file": (lambda f: cut(f / "relation.csv"), "relation.csv: is not as it was exported"),
    "cut and sealed": (lambda f: sealed(f, "chunk", lambda text: text[:-40]), "chunk.csv"),
    "not UTF-8": (lambda f: sealed(f, "chunk", lambda text: text + "\udcff\n"), "expected UTF-8"),
    "other columns": (lambda f: sealed(f, "chunk", lambda text: text.replace("tokens", "token", 1)), "the columns"),
    "short vector": (
        lambda f: sealed(f, "chunk", lambda text: text.rpartition("\ufdd0")[0] + "\n"),
        f"{DIMENSIONS} finite",
    ),
    "no number": (lambda f: sealed(f, "relation", lambda text: text.replace("true", "1e999", 1)), "expected boolean"),
    "a type that breaks out": (
        lambda f: sealed(f, "relation", lambda text: text.replace('"HAS_PART"', '"X` {a:1}]->() //"', 1)),
        "a label or type that kgrag does not give",
    ),
    "a label that breaks out": (
        lambda f: sealed(f, "entity", lambda text: text.replace("__Entity__", "__Entity__`:X", 1)),
        "a label or type that kgrag does not give",
    ),
    "a way out of the folder": (
        lambda f: (f / "manifest.json").write_text(
            (f / "manifest.json").read_text().replace('"chunk"', '"../../etc/passwd"', 1)
        ),
        "unknown kind",
    ),
    "other content": (lambda f: sealed(f, "chunk", lambda text: text.replace("valve", "volve")), "digest"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused_in_one_line_and_leave_no_store(name: str, copied: Path, tmp_path: Path) -> None:
    damage, says = WRONG[name]
    damage(copied)
    with open_store(tmp_path / "new.kg") as store:
        with pytest.raises(KgragError, match=says) as refused:
            store.import_from(copied)
        assert "\n" not in str(refused.value)
        assert store.status()["embedder"] is None


def test_an_export_goes_into_an_empty_folder_alone(exported: Exported, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.kg") as store:
        store.import_from(exported.folder)
        with pytest.raises(InputError, match="expected an empty folder"):
            store.export_to(exported.folder)
        (tmp_path / "begun").mkdir()
        (tmp_path / "begun" / "chunk.csv").write_text("half of an ex")
        assert store.export_to(tmp_path / "begun").digest == exported.held[0]


def test_the_command_line_exports_and_imports(
    exported: Exported, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "by-command.kg")
    assert run(["import", str(tmp_path / "nothing"), "--store", target]) == 2
    assert not Path(target).exists()
    assert run(["import", str(exported.folder), "--store", target]) == 0
    assert run(["export", "--to", str(tmp_path / "out"), "--store", target]) == 0
    said = capsys.readouterr().out
    assert f"digest {exported.held[0]}, as it was exported" in said
    assert "neo4j-admin database import full neo4j" in said
    assert run(["export", "--to", str(tmp_path / "out"), "--store", target]) == 2


def test_an_export_among_the_documents_is_none_of_them(exported: Exported, tmp_path: Path) -> None:
    shutil.copytree(exported.folder, tmp_path / "docs" / "export")
    (tmp_path / "docs" / "prices.csv").write_text("Part,Price\nX-100,3 EUR\n")
    found = discover([tmp_path / "docs"])
    assert [source.path.name for source in found.sources] == ["prices.csv"]
    assert found.ignored == {"folder of an export": 1}


def test_an_export_to_a_full_disk_ends_in_one_line_and_goes_on_where_there_is_space(
    exported: Exported, small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, full = str(tmp_path / "by-command.kg"), small_disk / "full"
    assert run(["import", str(exported.folder), "--store", target]) == 0
    full.write_bytes(bytes(shutil.disk_usage(small_disk).free))
    command = ["export", "--to", str(small_disk / "out"), "--store", target]
    capsys.readouterr()
    assert run(command) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"Error: {small_disk / 'out'}: No space left on device. Free space, or write elsewhere."
    )
    full.unlink()
    assert run(command) == 0


odd_texts = strategies.text(alphabet=strategies.sampled_from('ab"\\,;\n\r\t \ufdd2é漢\u2028'), max_size=8)


@hypothesis.given(strategies.lists(strategies.tuples(odd_texts, strategies.lists(odd_texts, max_size=4)), max_size=5))
def test_any_texts_and_lists_come_back_from_a_file(rows: list[tuple[str, list[str]]]) -> None:
    import tempfile

    kind, marks = KIND["from_chunk"], Marks("\ufdd0", "\ufdd1")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "from_chunk.csv"
        file = RowFile(path, kind, marks)
        put = [{"source": "s", "target": "t", "properties": {"name": name, "says": says}} for name, says in rows]
        for row in put:
            file.put(row)
        file.close()
        assert list(read_rows(path, kind, marks, dimensions=1)) == put


def test_texts_with_the_dividing_characters_get_others(tmp_path: Path, content: Content) -> None:
    with open_store(tmp_path / "odd.kg") as store:
        store.bind(content.embedder, content.dimensions)
        document, chunks = content.document("a.html", "one")
        store.documents.put([(document, [chunks[0].model_copy(update={"headings": ("a\ufdd0b", "\ufdd3")})])])
        done = store.export_to(tmp_path / "export")
        assert "--array-delimiter=U+FDD4" in done.command
        with open_store(tmp_path / "back.kg") as back:
            back.import_from(tmp_path / "export")
            assert next(back.documents.chunks()).headings == ("a\ufdd0b", "\ufdd3")
            assert back.digest() == store.digest()


def test_vectors_come_back_to_the_last_bit(tmp_path: Path) -> None:
    kind, marks = KIND["chunk"], Marks("\ufdd0", "\ufdd1")
    vectors = np.random.default_rng(3).standard_normal((200, 16)).astype(np.float32)
    vectors[0, :3] = [np.finfo(np.float32).tiny, -0.0, np.finfo(np.float32).max]
    file = RowFile(tmp_path / "chunk.csv", kind, marks)
    for vector in vectors.tolist():
        file.put({"properties": {"id": "c", "embedding": vector}})
    file.close()
    read = [row["properties"]["embedding"] for row in read_rows(tmp_path / "chunk.csv", kind, marks, dimensions=16)]
    assert np.array_equal(np.array(read, dtype=np.float32), vectors)
