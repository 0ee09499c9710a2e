"""Communities of a store, on both databases: made, summarised, kept up to date, interrupted and resumed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag.communities import CommunityReport, CommunitySettings
from kgrag.communities.chat import ChatSummariser
from kgrag.communities.profile import Profile
from kgrag.communities.rules import RulesSummariser
from kgrag.communities.summary import Summariser, Summary
from kgrag.errors import InputError, ModelError, ModelReplyError
from kgrag.extract import open_extractor
from kgrag.jobs.build import build, delete
from kgrag.jobs.communities import update_communities
from kgrag.models import open_chat_model
from kgrag.models.base import Vectors
from kgrag.models.prices import Price
from kgrag.settings import Settings
from kgrag.store import schema
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder, ModelServer
from kgrag.testing.behaviours import closed
from kgrag.testing.requests import ModelRequest

DIMENSIONS = HashingEmbedder().dimensions
FAMILIES = {
    "Falcon": ["flight controller", "gyroscope", "barometer", "propeller mount", "battery bay", "telemetry port"],
    "Otter": ["water pump", "flow meter", "inlet valve", "outlet valve", "level switch", "pump driver"],
    "Badger": ["ground sensor", "soil probe", "drill head", "dust filter", "track motor", "rock guard"],
    "Heron": ["solar panel", "charge regulator", "deep-cycle battery", "fuse box", "busbar", "inverter stage"],
}
SETTINGS = CommunitySettings(cutoff=0.7, max_size=4, summary_floor=3, budget=400)


def passages(families: list[str]) -> list[dict[str, str]]:
    made = []
    for family in families:
        parts = FAMILIES[family]
        for number, part in enumerate(parts):
            other = parts[(number + 1) % len(parts)]
            made.append(
                {
                    "id": f"{family}-{number}",
                    "title": f"{family} {part}",
                    "text": f"The {family} {part} is a part of the {family} kit. It has a rated voltage of {number + 3} V and "
                    f"connects to the {family} {other}. The {family} {other} protects the {family} {part}.",
                    "product": f"{family} kit",
                    "category": "Kits",
                }
            )
    return made


def write(folder: Path, families: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for family in families:
        lines = "".join(json.dumps(passage) + "\n" for passage in passages([family]))
        (folder / f"{family}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def built(store: GraphStore, folder: Path) -> None:
    asyncio.run(
        build(
            [folder],
            store=store,
            embedder=HashingEmbedder(),
            extractors=[open_extractor("mention")],
            settings=Settings(),
        )
    )


def updated(store: GraphStore, *, summariser: Summariser | None = None, **more: Any) -> CommunityReport:
    return asyncio.run(
        update_communities(
            store,
            graph="mention",
            embedder=more.pop("embedder", None) or HashingEmbedder(),
            summariser=summariser or RulesSummariser(),
            settings=more.pop("settings", SETTINGS),
            **more,
        )
    )


@pytest.fixture
def divide_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide however little it gains: a corpus this small has no structure below its families."""
    monkeypatch.setattr("kgrag.communities.hierarchy.SIGNIFICANT_DEVIATIONS", -1e9)


def check_structure(store: GraphStore) -> None:
    """What holds for communities in any store, asked of the database itself."""
    wrong_parents = store.query(
        "MATCH (e:__Entity__)-[:IN_COMMUNITY]->(c:__Community__)-[:PARENT_COMMUNITY]->(p:__Community__) "
        "WHERE p.level <> c.level - 1 OR NOT EXISTS { MATCH (e)-[:IN_COMMUNITY]->(p) } RETURN count(*) AS n"
    )
    assert wrong_parents == [{"n": 0}]
    orphans = store.query(
        "MATCH (c:__Community__) WHERE c.level > 0 AND NOT EXISTS { MATCH (c)-[:PARENT_COMMUNITY]->(:__Community__) } "
        "RETURN count(c) AS n"
    )
    assert orphans == [{"n": 0}]
    twice = store.query(
        "MATCH (e:__Entity__)-[:IN_COMMUNITY]->(c:__Community__) WITH e, c.level AS level, count(*) AS times "
        "WHERE times > 1 RETURN count(*) AS n"
    )
    assert twice == [{"n": 0}]
    for one in store.communities.of_graph("mention").values():
        assert len(one.membership.members) == one.membership.size


class Refusing(HashingEmbedder):
    """An embedder that has no vector for texts with a word; of all it counts how many it was asked for."""

    def __init__(self, word: str, *, nan: bool = False) -> None:
        super().__init__()
        self.word, self.nan, self.texts = word, nan, 0

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed, unless the word stands in one of the texts."""
        self.texts += len(texts)
        wrong = [self.word in text for text in texts]
        if any(wrong) and not self.nan:
            raise ModelReplyError(f"hashing-64: no vector for one of {len(texts)} texts.")
        vectors = await super().embed_documents(texts)
        vectors[wrong] = np.nan
        return vectors


@pytest.mark.usefixtures("divide_all")
@pytest.mark.parametrize("nan", [False, True])
def test_a_summary_that_has_no_vector_costs_no_other_its_own_and_is_asked_for_again(
    store: GraphStore, tmp_path: Path, nan: bool
) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    report = updated(store, embedder=Refusing("Otter", nan=nan))
    failed = {failure.key: failure.reason for failure in report.failures}
    stored = store.communities.of_graph("mention")
    about = {key: one.community for key, one in stored.items() if one.community is not None and one.community.summary}
    assert set(failed) == {key for key, one in about.items() if "Otter" in one.full_content}
    assert 0 < len(failed) < len(about) and report.summaries["failed"] == len(failed) and not report.complete
    assert all("its summary has no vector: hashing-64" in reason for reason in failed.values())
    without = "MATCH (c:__Community__) WHERE c.summary <> '' AND c.embedding IS NULL RETURN c.key AS key"
    assert {row["key"] for row in store.query(without)} == set(failed)

    class Unwilling(RulesSummariser):
        async def summarise(self, profile: Profile) -> Summary:
            raise AssertionError("the summary is there")

    embedder = Refusing("nothing that is said")
    again = updated(store, embedder=embedder, summariser=Unwilling())
    assert again.complete and again.summaries["ok"] == len(failed) == embedder.texts
    assert store.query(without) == [] and store.ledger.failures() == []
    assert {key: one.community for key, one in store.communities.of_graph("mention").items()} == {
        key: one.community for key, one in stored.items()
    }
    assert updated(store).summaries.keys() == {"unchanged"}


def test_where_an_embedder_has_no_vector_for_a_word_the_summaries_end_in_an_error(
    store: GraphStore, tmp_path: Path
) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    with pytest.raises(ModelReplyError, match="no vector for one of"):
        updated(store, embedder=Refusing(""))


def similar(store: GraphStore) -> dict[tuple[str, str], float]:
    rows = store.query(
        "MATCH (a:__Entity__)-[s:SIMILAR]->(b:__Entity__) RETURN a.key AS one, b.key AS other, s.score AS score"
    )
    assert len(rows) == len({(row["one"], row["other"]) for row in rows})
    return {(row["one"], row["other"]): row["score"] for row in rows}


def test_similar_entities_are_those_that_were_said_last(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    keys, _ = store.graphs.vectors("mention")

    def put(wanted: dict[tuple[int, int], float], *, without: int = 0) -> None:
        pairs = np.array(sorted(wanted), dtype=np.int64).reshape(-1, 2) - without
        scores = np.array([wanted[pair] for pair in sorted(wanted)])
        store.communities.put_similar("mention", keys[without:], pairs[:, 0], pairs[:, 1], scores)
        assert similar(store) == {(keys[one], keys[other]): score for (one, other), score in wanted.items()}

    put({(0, 1): 0.9, (0, 2): 0.85, (1, 3): 0.8, (2, 3): 0.95})
    put({(0, 1): 0.9, (0, 3): 0.81, (1, 3): 0.82, (2, 3): 0.95})  # one goes, one comes, one has another score
    put({(1, 3): 0.82, (2, 3): 0.95}, without=1)  # the first entity is not among them any more
    put({})
    put({(len(keys) - 2, len(keys) - 1): 1.0})


@pytest.mark.usefixtures("divide_all")
def test_communities_are_written_summarised_and_found_again(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    relations = store.status()["graphs"]["mention"]["relations"]
    report = updated(store)
    check_structure(store)
    stored = store.communities.of_graph("mention")
    assert len(stored) == sum(level.communities for level in report.levels) == sum(report.summaries.values())
    assert len(report.levels) > 1
    status = store.status()
    assert status["graphs"]["mention"]["communities"] == len(stored)
    assert status["graphs"]["mention"]["relations"] == relations
    assert sum(status["ledger"]["summarise"].values()) == len(stored)
    similar = store.query("MATCH (a:__Entity__)-[s:SIMILAR]->(b:__Entity__) RETURN s.score AS score")
    assert len(similar) == report.similar_pairs > 0
    assert all(SETTINGS.cutoff <= row["score"] <= 1.0 for row in similar)
    for one in stored.values():
        assert one.community is not None
        assert one.community.label
        assert (one.community.summary == "") == (one.community.size < SETTINGS.summary_floor)
        for citation in one.community.citations:
            assert f"[{citation.number}]" in one.community.summary
            assert [chunk.id for chunk in store.documents.chunks([citation.chunk_id or ""])] == [citation.chunk_id]
    largest = max((one.community for one in stored.values() if one.community), key=lambda c: (c.level == 0, c.size))
    vector = asyncio.run(HashingEmbedder().embed_documents([largest.full_content]))[0].tolist()
    nearest = store.query(
        "CALL db.index.vector.queryNodes($index, 10, $vector) YIELD node, score RETURN node.key AS key ORDER BY score DESC",
        index=schema.community_vector_index("mention", 0),
        vector=vector,
    )
    assert nearest[0]["key"] == largest.key
    by_words = store.query(
        "CALL db.index.fulltext.queryNodes($index, $query) YIELD node RETURN node.key AS key",
        index=schema.community_text_index("mention", 0),
        query=largest.key_terms[0].split()[0],
    )
    assert largest.key in {row["key"] for row in by_words}


def test_no_community_is_about_what_only_a_folder_is_called(store: GraphStore, tmp_path: Path) -> None:
    for family in ("Falcon", "Otter"):
        folder = tmp_path / family / "opt" / "share"
        folder.mkdir(parents=True)
        for passage in passages([family]):
            (folder / f"{passage['id']}.md").write_text(
                f"# {passage['title']}\n\n{passage['text']}\n", encoding="utf-8"
            )
    built(store, tmp_path)
    updated(store)
    labels = [one.community.label for one in store.communities.of_graph("mention").values() if one.community]
    assert labels
    assert not [label for label in labels if "opt" in label]
    assert {document.product for document in store.documents.all()} == {"opt"}


def test_a_second_run_does_nothing_and_a_store_that_was_built_in_another_order_has_the_same_communities(
    store: GraphStore, tmp_path: Path
) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    updated(store)
    digest = store.digest()
    again = updated(store)
    assert set(again.summaries) == {"unchanged"}
    assert again.new == 0
    assert store.digest() == digest
    assert updated(store, fresh=True).new == 0
    with open_store(tmp_path / "other.kg") as other:
        folder = tmp_path / "other"
        for family in reversed(FAMILIES):
            built(other, write(folder, [family]))
        updated(other)
        assert {key: one.membership for key, one in other.communities.of_graph("mention").items()} == {
            key: one.membership for key, one in store.communities.of_graph("mention").items()
        }


def test_an_update_of_one_document_summarises_only_what_it_touches(store: GraphStore, tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", list(FAMILIES))
    built(store, folder)
    updated(store)
    before = store.communities.of_graph("mention")
    changed = [
        {**passage, "text": passage["text"].replace("protects", "shields and cools")} for passage in passages(["Otter"])
    ]
    (folder / "Otter.jsonl").write_text("".join(json.dumps(one) + "\n" for one in changed), encoding="utf-8")
    built(store, folder)
    report = updated(store)
    check_structure(store)
    after = store.communities.of_graph("mention")
    made_again = {
        key for key, one in after.items() if key not in before or one.content_hash != before[key].content_hash
    }
    touched = {
        row["key"]
        for row in store.query(
            "MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document) WHERE d.path ENDS WITH 'Otter.jsonl' "
            "MATCH (c)<-[:FROM_CHUNK]-(e:__Entity__)-[:IN_COMMUNITY]->(n:__Community__) RETURN DISTINCT n.key AS key"
        )
    }
    assert made_again
    assert made_again <= touched
    assert report.summaries["unchanged"] >= len(after) - len(touched) > 0


def test_deleted_documents_leave_no_trace_in_the_communities(store: GraphStore, tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", list(FAMILIES))
    built(store, folder)
    updated(store)
    gone = [document for document in store.documents.all() if "Heron" in document.path]
    asyncio.run(delete(gone, store=store, embedder=HashingEmbedder(), extractors=[open_extractor("mention")]))
    updated(store)
    check_structure(store)
    for one in store.communities.of_graph("mention").values():
        assert one.community is not None
        assert "Heron" not in one.community.full_content
        assert not [citation for citation in one.community.citations if "Heron" in citation.document]
    built(store, folder)  # what comes back has the keys that it had, and no memberships
    updated(store)
    check_structure(store)


@pytest.mark.changes_indexes
def test_a_graph_is_deleted_with_its_communities(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", ["Falcon", "Otter"]))
    updated(store)
    store.graphs.delete("mention")
    assert store.communities.of_graph("mention") == {}
    status = store.status()
    assert status["graphs"] == {}
    assert not {"summarise", "communities", "extract"} & set(status["ledger"])
    built(store, tmp_path / "docs")
    updated(store)
    check_structure(store)


def test_an_unknown_graph_is_refused_with_those_that_are_there(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", ["Falcon"]))
    with pytest.raises(InputError, match="no graph 'other', only: mention"):
        asyncio.run(
            update_communities(
                store,
                graph="other",
                embedder=HashingEmbedder(),
                summariser=RulesSummariser(),
                settings=SETTINGS,
            )
        )


def answer(request: ModelRequest) -> dict[str, Any]:
    profile = json.loads(request.last)
    names = [member["name"] for member in profile["members"]]
    cited = " ".join(f"It says so [{chunk['number']}]." for chunk in profile["chunks"][:2])
    return {"topic_label": f"About {names[0]}", "summary": f"{names[0]} is central. {cited}", "key_terms": names[:5]}


def asking(server: ModelServer) -> ChatSummariser:
    return ChatSummariser(
        "openai:any",
        lambda: open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0),
        price=Price(input=1.0, output=2.0),
    )


def test_a_model_summarises_with_citations_and_every_call_is_accounted_for(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    with ModelServer(answer) as server:
        report = updated(store, summariser=asking(server))
        calls = len(server.requests)
        again = updated(store, summariser=asking(server))
        assert len(server.requests) == calls
    assert report.usage.calls == calls == report.summaries["ok"]
    assert set(again.summaries) == {"unchanged"}
    assert store.status()["cost"]["tokens"] == report.usage.prompt_tokens + report.usage.completion_tokens > 0
    summarised = [
        one.community
        for one in store.communities.of_graph("mention").values()
        if one.community and one.community.summary
    ]
    assert len(summarised) == calls
    for community in summarised:
        assert community.label.startswith("About ")
        assert [citation.number for citation in community.citations] == [1, 2][: len(community.citations)]


@pytest.mark.usefixtures("divide_all")
def test_what_a_model_gets_wrong_is_repaired_or_failed_and_tried_again(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    with ModelServer(lambda request: {**answer(request), "summary": "It is red [99]. It is blue [1]."}) as server:
        report = updated(store, summariser=asking(server))
    assert set(report.summaries) == {"mended", "empty"}
    for one in store.communities.of_graph("mention").values():
        assert one.community is not None
        assert "[99]" not in one.community.full_content
    with ModelServer(lambda request: "I would rather not.") as server:
        report = updated(store, summariser=asking(server), settings=SETTINGS.model_copy(update={"budget": 300}))
    assert report.summaries["failed"] == len(report.failures) > 0
    assert not report.complete
    assert len(store.ledger.failures()) == len(report.failures)
    with ModelServer(answer) as server:
        report = updated(store, summariser=asking(server), settings=SETTINGS.model_copy(update={"budget": 300}))
    assert report.summaries["ok"] == len(server.requests) > 0
    assert store.ledger.failures() == []


def test_a_run_whose_model_goes_away_keeps_what_was_answered_and_the_next_goes_on(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.communities.summaries.BATCH", 2)
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    served: list[ModelRequest] = []

    def three_then_away(request: ModelRequest) -> Any:
        served.append(request)
        return answer(request) if len(served) <= 3 else closed()

    with ModelServer(three_then_away) as server, pytest.raises(ModelError):
        updated(store, summariser=asking(server))
    assert store.status()["communities"] == {"mention": "unfinished"}
    written = [one for one in store.communities.of_graph("mention").values() if one.community and one.community.summary]
    assert len(written) == 3
    with ModelServer(answer) as server:
        report = updated(store, summariser=asking(server))
        assert len(server.requests) == report.summaries["ok"]
    assert report.summaries["unchanged"] >= 3
    assert store.status()["communities"] == {"mention": "current"}


def test_a_dry_run_writes_nothing_asks_nobody_and_names_the_price(store: GraphStore, tmp_path: Path) -> None:
    built(store, write(tmp_path / "docs", list(FAMILIES)))
    digest = store.digest()

    def no_key() -> Any:
        raise AssertionError("a dry run opened the model")

    planned = updated(
        store, summariser=ChatSummariser("openai:any", no_key, price=Price(input=1.0, output=2.0)), dry_run=True
    )
    assert store.digest() == digest
    assert planned.usage.calls == planned.summaries["planned"] > 0
    with ModelServer(answer) as server:
        report = updated(store, summariser=asking(server))
    assert report.usage.calls == planned.usage.calls
    assert planned.usage.cost > 0
    assert [level.model_dump() for level in planned.levels] == [level.model_dump() for level in report.levels]


def test_status_says_when_communities_are_stale(store: GraphStore, tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", ["Falcon", "Otter"])
    built(store, folder)
    assert store.status()["communities"] == {}
    updated(store)
    assert store.status()["communities"] == {"mention": "current"}
    built(store, folder)
    assert store.status()["communities"] == {"mention": "current"}
    built(store, write(folder, ["Badger"]))
    assert store.status()["communities"] == {"mention": "stale"}
    updated(store)
    assert store.status()["communities"] == {"mention": "current"}


KILLED = """
import asyncio, os, sys
import kgrag.communities.summaries
from kgrag.communities import CommunitySettings
from kgrag.communities.rules import RulesSummariser
from kgrag.jobs.communities import update_communities
from kgrag.store.graph import open_store
from kgrag.testing.scripted import HashingEmbedder

target, left, settings = sys.argv[1:]
kgrag.communities.summaries.BATCH = 2

class Dying(RulesSummariser):
    left = int(left)
    async def summarise(self, profile):
        Dying.left -= 1
        if Dying.left < 0:
            os.kill(os.getpid(), 9)
        return await super().summarise(profile)

with open_store(target) as store:
    settings = CommunitySettings.model_validate_json(settings)
    job = update_communities(store, graph="mention", embedder=HashingEmbedder(), summariser=Dying(), settings=settings)
    asyncio.run(job)
"""


@pytest.fixture(scope="module")
def digest_of_a_whole_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch, open_store(folder / "whole.kg") as store:
        patch.chdir(folder)
        built(store, write(Path("docs"), list(FAMILIES)))
        updated(store)
        return store.digest()


@pytest.mark.parametrize("summaries", [0, 3])
def test_a_killed_run_is_resumed_and_ends_as_one_that_was_not(
    store_target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, summaries: int, digest_of_a_whole_run: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write(Path("docs"), list(FAMILIES))
    with open_store(store_target) as store:
        built(store, folder)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, store_target, str(summaries), SETTINGS.model_dump_json()],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr
    with open_store(store_target) as store:
        assert store.status()["communities"] == {"mention": "unfinished"}
        report = updated(store)
        assert report.summaries["unchanged"] >= summaries - 1
        resumed = store.digest()
        check_structure(store)
    assert resumed == digest_of_a_whole_run
