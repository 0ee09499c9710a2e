"""Whatever is done to a folder and its store in whatever order, and wherever it ends: what is left is what a fresh build makes."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgrag.communities import CommunitySettings
from kgrag.communities.rules import RulesSummariser
from kgrag.jobs.build import build, delete
from kgrag.jobs.communities import update_communities
from kgrag.jobs.resolve import resolve, undo
from kgrag.models.base import Vectors
from kgrag.settings import Settings
from kgrag.store.communities import PARTITION
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder
from kgrag.text.names import normal_form
from kgrag.types import Chunk, Entity, Extraction, Relation

GRAPH = "triples"
DIMENSIONS = HashingEmbedder().dimensions
SETTINGS = CommunitySettings(cutoff=0.3, max_size=2, summary_floor=2, budget=200)
PLACES = ("a.jsonl", "b/c.jsonl", "b/ü 'quoted\" `name`.jsonl", "d.md")
NAMES = ("X-100", "x100", "X-100 board", "X-1000", "3.3 V", "3300 mV", "33 V", "`) DETACH DELETE (n", "É‮🙂", "a" * 1200)

triples = st.tuples(st.sampled_from(NAMES), st.sampled_from(["HAS_PART", "has part", "NEEDS"]), st.sampled_from(NAMES))
passages = st.lists(st.lists(triples, max_size=6), max_size=3)
moments = st.none() | st.integers(0, 5)
"""After how much work a job ends as if by Ctrl-C; None for one that runs to its end."""
steps = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PLACES), passages),
    st.tuples(st.just("break"), st.sampled_from(PLACES)),
    st.tuples(st.just("move"), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(st.just("remove"), st.sampled_from(PLACES)),
    st.tuples(st.just("build"), moments),
    st.tuples(st.just("delete"), st.integers(0, 5)),
    st.tuples(st.just("resolve"), moments),
    st.tuples(st.just("undo"), moments),
    st.tuples(st.just("communities"), moments),
    st.tuples(st.just("kill")),
)


class Work:
    """Counts work, and ends the job that does one piece too many."""

    def __init__(self, moment: int | None) -> None:
        self._left = moment

    def __call__(self) -> None:
        """Do one piece."""
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise KeyboardInterrupt


class Embedder(HashingEmbedder):
    """Works."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._work = work

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Work and embed."""
        self._work()
        return await super().embed_documents(texts)


class Triples:
    """An extractor that says what the lines of a chunk say: `head | type | tail`."""

    name, fingerprint = GRAPH, "1"

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work

    def prepare(self, documents: object, chunks: object) -> None:
        """Learn nothing."""

    async def extract(self, chunk: Chunk) -> Extraction:
        """Work and read the lines."""
        self._work()
        said = [line.split(" | ") for line in chunk.text.splitlines() if line.count(" | ") == 2]
        relations = tuple(
            Relation(head=named(head), type=kind, tail=named(tail), description=f"{head} {tail}")
            for head, kind, tail in said
        )
        entities = tuple(dict.fromkeys(end for one in relations for end in (one.head, one.tail)))
        return Extraction(chunk_id=chunk.id, entities=entities, relations=relations, state="ok" if said else "empty")


def named(name: str) -> Entity:
    return Entity(name=name, type="Part", normal=normal_form(name))


class Summariser(RulesSummariser):
    """Works."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._work = work

    async def summarise(self, profile: Any) -> Any:
        """Work and summarise."""
        self._work()
        return await super().summarise(profile)


def write(file: Path, said: list[list[tuple[str, str, str]]]) -> None:
    """Write passages of triples: a line each, or a section each."""
    file.parent.mkdir(parents=True, exist_ok=True)
    texts = ["\n".join(" | ".join(triple) for triple in triples) for triples in said]
    if file.suffix == ".md":
        file.write_text(
            "".join(f"# Part {n}\n\n```\n{text}\n```\n\n" for n, text in enumerate(texts)), encoding="utf-8"
        )
    else:
        rows = [{"id": f"p{n}", "title": f"Part {n}", "text": text} for n, text in enumerate(texts)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def job(store: GraphStore, what: str, folder: Path, moment: int | None = None, **more: Any) -> None:
    """Run a job on the store up to its end, or to the moment at which it is interrupted."""
    work = Work(moment)
    embedder, extractor = Embedder(work), Triples(work)
    match what:
        case "build":
            made: Any = build([folder], store=store, embedder=embedder, extractors=[extractor], settings=Settings())
        case "delete":
            made = delete(more["documents"], store=store, embedder=embedder, extractors=[extractor])
        case "resolve":
            made = resolve(store, GRAPH, embedder=embedder)
        case "undo":
            made = undo(store, GRAPH, embedder=embedder)
        case "communities":
            made = update_communities(
                store, graph=GRAPH, embedder=embedder, summariser=Summariser(work), settings=SETTINGS, **more
            )
    if moment is None:
        asyncio.run(made)
        return
    with suppress(KeyboardInterrupt):
        asyncio.run(made)


def has_entities(store: GraphStore) -> bool:
    return GRAPH in store.graphs.counts()


LEFT_BEHIND = {
    "a chunk without document": "MATCH (c:Chunk) WHERE NOT EXISTS { (c)-[:FROM_DOCUMENT]->(:Document) } RETURN count(c) AS n",
    "a document twice": "MATCH (d:Document) WITH d.path AS path, d.title AS title, count(*) AS times WHERE times > 1 RETURN count(*) AS n",
    "an entity that no chunk names": "MATCH (e:__Entity__) WHERE NOT EXISTS { (e)-[:FROM_CHUNK]->(:Chunk) } RETURN count(e) AS n",
    "a member that went into nothing": "MATCH (m:__Member__) WHERE NOT EXISTS { (m)-[:MERGED_INTO]->(:__Entity__) } RETURN count(m) AS n",
    "a community without members": "MATCH (c:__Community__) WHERE NOT EXISTS { (:__Entity__)-[:IN_COMMUNITY]->(c) } RETURN count(c) AS n",
    "an entity twice in a level": "MATCH (e:__Entity__)-[:IN_COMMUNITY]->(c:__Community__) WITH e, c.level AS level, count(*) AS times "
    "WHERE times > 1 RETURN count(*) AS n",
    "work on a chunk that is gone": "MATCH (w:__Work__) WHERE w.stage IN ['embed', 'extract'] "
    "AND NOT EXISTS { MATCH (c:Chunk) WHERE c.id = w.subject } RETURN count(w) AS n",
    "a writer under way": "MATCH (w:__Work__) WHERE w.stage = 'write' RETURN count(w) AS n",
}


def check(store: GraphStore) -> None:
    """What holds after any job, ended or not."""
    for what, statement in LEFT_BEHIND.items():
        assert store.query(statement) == [{"n": 0}], what


def check_done(store: GraphStore) -> None:
    """What holds after a build: every chunk is accounted for."""
    chunks = {chunk.id for chunk in store.documents.chunks()}
    assert not store.documents.ids_without_embedding()
    assert not store.graphs.keys_without_embedding(GRAPH)
    assert set(store.ledger.of_stage("extract", GRAPH)) == chunks


class Doing:
    """A folder and its store, while steps are taken."""

    def __init__(self, target: str | Path) -> None:
        self.folder = Path("docs")
        self.folder.mkdir()
        self._places = (Path(f"store-{number}.kg") for number in count())
        self._target = target
        self.store = open_store(target)

    def take(self, what: str, *more: Any) -> None:
        """Take a step."""
        match (what, *more):
            case "write", place, said:
                write(self.folder / place, said)
            case "break", place:
                (self.folder / place).parent.mkdir(exist_ok=True)
                (self.folder / place).write_bytes(b"\x00\xff{")
            case "move", place, other:
                if place != other and (self.folder / place).exists():
                    (self.folder / other).parent.mkdir(exist_ok=True)
                    (self.folder / place).replace(self.folder / other)
            case "remove", place:
                (self.folder / place).unlink(missing_ok=True)
            case "build", moment:
                job(self.store, "build", self.folder, moment)
                if moment is None:
                    check_done(self.store)
            case "delete", number:
                if documents := self.store.documents.all():
                    job(self.store, "delete", self.folder, documents=[documents[number % len(documents)]])
            case ("kill",):
                self.kill()
            case _, moment:
                if has_entities(self.store):
                    job(self.store, what, self.folder, moment)

    def take_away_what_cannot_be_read(self) -> None:
        """A file that is broken now leaves what was read of it before; a fresh build knows nothing of that."""
        for place in PLACES:
            file = self.folder / place
            if file.exists() and (not file.read_bytes().strip() or b"\xff" in file.read_bytes()):
                file.unlink()

    def kill(self) -> None:
        """Go on with what the files say while the store is open: what they would say if the process were killed now.

        What a server has is what was committed.
        """
        if isinstance(self._target, Path):
            killed, self._target = self._target, next(self._places)
            # The log first: what is not in it any more is in the other files already.
            for pattern in ("*.wal", "*"):
                for file in killed.rglob(pattern):
                    copy = self._target / file.relative_to(killed)
                    if file.is_file() and not copy.exists():
                        copy.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(file, copy)
        self.store.close()
        self.store = open_store(self._target)


sequences = st.lists(steps, min_size=3, max_size=12)
folders = st.tuples(*[passages] * len(PLACES))


@given(folders, sequences)
@settings(max_examples=8)
def test_what_is_left_is_what_a_fresh_build_makes(
    embedded_empty: Callable[[int], Path], first: tuple[list[Any], ...], doing: list[tuple[Any, ...]]
) -> None:
    empty = embedded_empty(DIMENSIONS)

    def copied() -> Path:
        return Path(shutil.copytree(empty, "done.kg"))

    take_and_compare(copied, empty, first, doing)


@pytest.mark.neo4j
@given(folders, sequences)
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_is_left_on_neo4j_is_what_a_fresh_build_makes_on_the_embedded_database(
    emptied_neo4j: Callable[[], str],
    embedded_empty: Callable[[int], Path],
    first: tuple[list[Any], ...],
    doing: list[tuple[Any, ...]],
) -> None:
    take_and_compare(emptied_neo4j, embedded_empty(DIMENSIONS), first, doing)


def test_a_community_goes_with_its_last_member(
    store_target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = [("X-100", "NEEDS", "X-1000"), ("X-1000", "NEEDS", "3.3 V"), ("3.3 V", "NEEDS", "X-100")]
    write(Path("docs/a.jsonl"), [said])
    with open_store(store_target) as store:
        job(store, "build", Path("docs"))
        job(store, "communities", Path("docs"))
        assert store.communities.of_graph(GRAPH)
        Path("docs/a.jsonl").unlink()
        job(store, "build", Path("docs"))
        assert not store.communities.of_graph(GRAPH)
        assert not store.ledger.of_stage(PARTITION, GRAPH)
        check(store)


def test_a_passage_that_was_deleted_comes_back_with_its_file(store_target: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    write(file, [[("X-100", "NEEDS", "3.3 V")], [("X-1000", "NEEDS", "5 V")]])
    with open_store(store_target) as store:
        job(store, "build", file)
        digest = store.digest()
        first, second = store.documents.all()
        job(store, "delete", file, documents=[first])
        assert store.documents.all() == [second]
        job(store, "build", file)
        assert store.digest() == digest


def take_and_compare(
    place: Callable[[], str | Path], empty: Path, first: tuple[list[Any], ...], doing: list[tuple[Any, ...]]
) -> None:
    """Take steps in a store at an empty place, and compare what is left with a fresh build in a copy of `empty`."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.chdir(name)
        done = Doing(place())
        try:
            for file, said in zip(PLACES, first, strict=True):
                done.take("write", file, said)
            for step in doing:
                done.take(*step)
                check(done.store)
            done.take_away_what_cannot_be_read()
            digest = final(done.store, done.folder)
        finally:
            done.store.close()
        shutil.copytree(empty, "fresh.kg")
        with open_store("fresh.kg") as fresh:
            assert digest == final(fresh, done.folder)


def final(store: GraphStore, folder: Path) -> str:
    """Do all that there is to do, and return the digest."""
    job(store, "build", folder)
    check_done(store)
    if has_entities(store):
        job(store, "resolve", folder)
        job(store, "communities", folder, fresh=True)
    check(store)
    return store.digest()
