"""Resolution of a built store, on both databases: again and back, after changes, with a model, and what a question finds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgrag.common.progress import Silent, Step
from kgrag.errors import InputError, ModelError, ModelReplyError
from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.jobs.resolve import ResolveReport, explain, resolve, undo
from kgrag.models.base import Message, Reply, Vectors
from kgrag.retrieve import Retriever, load_pipeline
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.types import Usage

DIMENSIONS = HashingEmbedder().dimensions
DOCUMENTS = {
    "x-100.md": "# X-100 board\n\nThe X-100 is a sensor board. It needs 3.3 V and draws 5 mA. It uses the LQ22 sensor.\n",
    "x-100-guide.md": "# X-100 boards\n\nThe X-100 boards need 3,3 V. The LQ22 draws 5000 µA at 33 V.\n",
    "x-1000.md": "# X-1000 gateway\n\nThe X-1000 needs 3300 mV and 0.005 A. The X-100 boards have an LQ22.\n",
}
CHANGED = "# X-1000 gateway\n\nThe X-1000 needs 24 V. The X-100 board has no LQ22.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    return Path("docs")


def built(store: GraphStore, folder: Path) -> BuildReport:
    job = build(
        [folder], store=store, embedder=HashingEmbedder(), extractors=[open_extractor("mention")], settings=Settings()
    )
    return asyncio.run(job)


def resolved(store: GraphStore, **options: Any) -> ResolveReport:
    return asyncio.run(resolve(store, "mention", embedder=HashingEmbedder(), **options))


def named(report: ResolveReport) -> set[frozenset[str]]:
    return {frozenset(member.name for member in group.members) for group in report.plan.groups}


def test_a_built_store_is_resolved_once_and_stays_so_until_it_is_undone(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    before = store.digest()
    planned = resolved(store, dry_run=True)
    assert store.digest() == before
    assert frozenset({"3.3 V", "3,3 V", "3300 mV"}) in named(planned)
    assert frozenset({"5 mA", "5000 µA", "0.005 A"}) in named(planned)
    assert not any({"33 V", "3.3 V"} <= group or {"X-100", "X-1000"} <= group for group in named(planned))
    first = resolved(store)
    after = store.digest()
    assert first.plan == planned.plan and first.applied == len(planned.plan.groups)
    assert not store.graphs.keys_without_embedding("mention")
    again = resolved(store)
    assert (again.applied, again.unchanged, again.taken_back) == (0, len(first.plan.groups), 0)
    built(store, folder)
    assert store.digest() == after
    assert asyncio.run(undo(store, "mention", embedder=HashingEmbedder())) == len(first.plan.groups)
    assert store.digest() == before


def test_a_document_that_changes_and_changes_back_leaves_the_same_resolved_store(
    store: GraphStore, folder: Path
) -> None:
    built(store, folder)
    resolved(store)
    after = store.digest()
    (folder / "x-1000.md").write_text(CHANGED, encoding="utf-8")
    built(store, folder)
    assert frozenset({"3.3 V", "3,3 V"}) in named(resolved(store))
    (folder / "x-1000.md").write_text(DOCUMENTS["x-1000.md"], encoding="utf-8")
    built(store, folder)
    resolved(store)
    assert store.digest() == after


def test_what_was_resolved_after_an_interrupted_build_has_all_vectors_after_a_whole_one(
    store: GraphStore, folder: Path, tmp_path: Path
) -> None:
    class Ending(HashingEmbedder):
        """Embeds chunks, and ends before entities."""

        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            if "(" in texts[0]:  # name (type)
                raise ModelError("the embedder ended")
            return await super().embed_documents(texts)

    def interrupted() -> None:
        job = build(
            [folder], store=store, embedder=Ending(), extractors=[open_extractor("mention")], settings=Settings()
        )
        with pytest.raises(ModelError, match="the embedder ended"):
            asyncio.run(job)

    interrupted()
    assert len(store.graphs.keys_without_embedding("mention")) > 0
    resolved(store)
    built(store, folder)
    assert not [note for note in resolved(store).notes if "names only" in note]
    with open_store(tmp_path / "fresh.kg") as fresh:
        built(fresh, folder)
        resolved(fresh)
        assert store.digest() == fresh.digest()


def test_a_question_finds_a_merged_entity_by_the_name_of_each_member(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    resolved(store)
    retriever = Retriever(store, HashingEmbedder(), load_pipeline("default"))
    for name in ("X-100 board", "X-100 boards"):
        evidence = asyncio.run(retriever.retrieve(f"What does the {name} need?", top=3))
        assert any("question names X-100" in why for piece in evidence for why in piece.why), name


def test_a_model_is_asked_what_no_rule_decides_and_its_no_is_kept(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    shown: list[str] = []

    def all_one(messages: Sequence[Message]) -> str:
        shown.append(messages[-1].content)
        count = len(messages[-1].content.splitlines())
        return json.dumps({"groups": [{"entries": list(range(1, count + 1)), "reason": "spellings"}]})

    yes = resolved(store, method="llm", model=ScriptedChatModel(all_one), dry_run=True)
    assert any({"X-100 board", "X-100 boards"} <= group for group in named(yes))
    assert any("spellings" in pair.reason for group in yes.plan.groups for pair in group.pairs)
    assert shown and all(json.loads(line)["context"] for text in shown for line in text.splitlines())
    assert yes.plan.usage.calls == len(shown)
    no = resolved(store, method="llm", model=ScriptedChatModel(lambda messages: '{"groups": []}'), dry_run=True)
    assert not any({"X-100 board", "X-100 boards"} <= group for group in named(no))
    assert frozenset({"3.3 V", "3,3 V", "3300 mV"}) in named(no)
    assert any("did not put them together" in pair.reason for pair in no.plan.apart)


def test_questions_without_a_usable_answer_are_counted_and_said(store: GraphStore, folder: Path) -> None:
    built(store, folder)

    class Refusing(ScriptedChatModel):
        async def reply(self, messages: Sequence[Message], *, schema: Any = None) -> Reply:
            raise ModelReplyError("scripted: the model refused.", usage=Usage(calls=2, prompt_tokens=9))

    report = resolved(store, method="llm", model=Refusing([]))
    assert report.unanswered and not report.dry_run
    assert report.plan.usage.calls == 2 * report.unanswered
    assert any("The first: scripted: the model refused." in note for note in report.notes)


@pytest.mark.parametrize("method", ["thesis", "threshold", "none"])
def test_the_simple_methods_run_and_are_undone(store: GraphStore, folder: Path, method: str) -> None:
    built(store, folder)
    before = store.digest()
    report = resolved(store, method=method)
    assert report.plan.method == method
    assert method != "none" or report.plan.groups == ()
    assert method != "thesis" or frozenset({"3,3 V", "33 V"}) not in named(report)
    asyncio.run(undo(store, "mention", embedder=HashingEmbedder()))
    assert store.digest() == before


def test_a_merge_is_explained_by_any_name_and_so_is_what_was_not_merged(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    resolved(store)
    (said,) = explain(store, "mention", "3300 mV")
    assert said.group is not None
    assert {member.name for member in said.group.members} == {"3.3 V", "3,3 V", "3300 mV"}
    assert any("numbers differ" in one.description for one in explain(store, "mention", "3.3 V", "33 V"))
    with pytest.raises(InputError, match="no entity named"):
        explain(store, "mention", "unheard of")


def test_wrong_use_is_said(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    with pytest.raises(InputError, match="no graph 'other'"):
        asyncio.run(resolve(store, "other", embedder=HashingEmbedder()))
    for options in ({"method": "magic"}, {"method": "llm"}, {"threshold": 2.0}):
        with pytest.raises(InputError):
            resolved(store, **options)


class Interrupted(Silent):
    """A terminal where somebody presses Ctrl-C after the first group of merges."""

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        yield self if name.startswith("Merge") else Silent()

    def advance(self, count: int = 1) -> None:
        raise KeyboardInterrupt


def test_a_resolution_that_was_interrupted_goes_on_where_it_stopped(
    store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.jobs.resolve.MERGES_AT_ONCE", 1)
    built(store, folder)
    before = store.digest()
    with pytest.raises(KeyboardInterrupt):
        resolved(store, progress=Interrupted())
    assert store.graphs.count_merges() == 1
    report = resolved(store)
    assert (report.unchanged, report.applied) == (1, len(report.plan.groups) - 1)
    after = store.digest()
    asyncio.run(undo(store, "mention", embedder=HashingEmbedder()))
    assert store.digest() == before
    resolved(store)
    assert store.digest() == after


def test_a_build_says_that_it_split_what_it_changed(store: GraphStore, folder: Path) -> None:
    built(store, folder)
    merges = len(resolved(store).plan.groups)
    (folder / "x-1000.md").write_text(CHANGED, encoding="utf-8")
    report = built(store, folder)
    left = store.graphs.count_merges()
    assert left < merges
    assert any(note.startswith(f"{merges - left} merged entities were split") for note in report.notes)
