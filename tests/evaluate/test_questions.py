"""Questions that are made of a store: what is asked, what is gold, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgrag
from kgrag.cli import run
from kgrag.common.progress import Silent
from kgrag.common.question_files import read_questions
from kgrag.common.waiting import wait_for
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import read_gold_questions, read_questions_to_judge
from kgrag.evaluate.questions import KINDS, Draft, Material, StatedRelation, drafts_of
from kgrag.evaluate.questions.paraphrase import paraphrased, what_is_wrong
from kgrag.evaluate.questions.selection import select
from kgrag.evaluate.retrieval import measure_pipeline
from kgrag.jobs.questions import QuestionOptions, material_of
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.models.minilm import MiniLM
from kgrag.testing import ModelRequest, ModelServer, ScriptedChatModel
from kgrag.testing.behaviours import truncated
from kgrag.types import Chunk, Community, Document

PAGES = {
    "pump.html": """<html><head><title>P-100 pump</title></head><body><h1>P-100 pump</h1>
<p>The P-100 pump is a small gear pump for cooling liquids. Before the first start pour clean oil into the housing as the
<a href="oil.html#filling">filling procedure</a> says, and let it stand for one hour.</p>
<h2 id="data">Technical data</h2><p>All values at room temperature.</p>
<table><tr><th>Parameter</th><th>Minimum</th><th>Maximum</th></tr>
<tr><td>Operating pressure</td><td>2 bar</td><td>16 bar</td></tr><tr><td>Noise level</td><td>30 dB</td><td>52 dB</td></tr></table>
<h2 id="faq">Why does the pump make a rattling noise?</h2><p>Air is left in the housing. Bleed it at the upper screw.</p>
</body></html>""",
    "oil.html": """<html><head><title>Oils</title></head><body><h1>Oils</h1><p>Only mineral oils are allowed.</p>
<h2 id="filling">Filling</h2><p>Open the upper screw, pour slowly, stop at the red mark and close the screw by hand.</p>
<h2 id="disposal">Disposal</h2><p>Used liquids go to a collecting point of the town.</p></body></html>""",
    "valve.html": """<html><head><title>V-20 valve</title></head><body><h1>V-20 valve</h1>
<p>The V-20 is a ball valve made of soft brass.</p>
<h2>Technical data</h2>
<table><tr><th>Parameter</th><th>Minimum</th><th>Maximum</th></tr><tr><td>Operating pressure</td><td>1 bar</td><td>10 bar</td></tr></table>
</body></html>""",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """A store of three pages with a link, tables and a question that the authors answer."""
    folder = tmp_path_factory.mktemp("questions")
    pages = folder / "pages"
    pages.mkdir()
    for name, page in PAGES.items():
        (pages / name).write_text(page, encoding="utf-8")
    with kgrag.open(folder / "store.kg") as graph:
        graph.build(pages)
        yield graph


@pytest.fixture(scope="module")
def material(opened: KnowledgeGraph) -> Material:
    return material_of(opened.store, "mention")


def only(material: Material, kind: str) -> list[Draft]:
    return drafts_of(material, [kind])[kind]


def texts(material: Material, ids: frozenset[str]) -> str:
    return "\n".join(material.by_id[one].text for one in ids)


def test_a_link_is_asked_for_by_its_sentence_without_its_text_and_without_its_chunk(material: Material) -> None:
    (draft,) = only(material, "hyperlinks")
    assert "filling procedure" not in draft.question
    assert "…" in draft.question
    assert "clean oil" in draft.question
    assert "red mark" in texts(material, draft.facts[0])
    assert draft.hidden
    assert all("filling procedure" in material.by_id[one].text for one in draft.hidden)
    assert not draft.hidden & draft.facts[0]


def test_hidden_chunks_are_neither_shown_nor_followed(opened: KnowledgeGraph, material: Material) -> None:
    (draft,) = only(material, "hyperlinks")
    for pipeline in ("default", "links", "dense"):
        found = wait_for(opened.retriever(pipeline).trace(draft.question, top=20, hidden=draft.hidden))
        assert found.evidence
        assert not draft.hidden & {str(piece.chunk_id) for piece in found.evidence}
        assert not [reason for piece in found.evidence for reason in piece.why if "filling procedure" in reason]
        unhidden = wait_for(opened.retriever(pipeline).trace(draft.question, top=20))
        assert draft.hidden & {str(piece.chunk_id) for piece in unhidden.evidence}
    assert [reason for piece in unhidden.evidence for reason in piece.why]
    followed = wait_for(opened.retriever("links").trace(draft.question, top=20))
    assert [reason for piece in followed.evidence for reason in piece.why if "filling procedure" in reason]


def test_files_of_questions_say_what_is_hidden_and_every_command_does_without_it(
    opened: KnowledgeGraph, tmp_path: Path
) -> None:
    opened.make_questions(tmp_path / "links.jsonl", options=QuestionOptions(kinds=("hyperlinks",)))
    (asked,) = read_questions(tmp_path / "links.jsonl")
    (gold,) = read_gold_questions(tmp_path / "links.jsonl")[0]
    assert set(asked.hidden) == gold.hidden
    assert gold.hidden
    assert gold.cluster.endswith("pump.html")
    found = opened.trace(asked.question, top=20, hidden=asked.hidden)
    assert found.evidence
    assert not gold.hidden & {piece.chunk_id for piece in found.evidence}
    measured = wait_for(measure_pipeline("p", opened.retriever("default"), [gold], ks=(1,), budget=99, top=20))
    assert not gold.hidden & {piece.chunk_id for piece in measured.asked[0].found.evidence}


def test_a_cell_is_asked_for_by_row_and_column(material: Material) -> None:
    questions = {draft.question: draft for draft in only(material, "table_cells")}
    draft = questions["P-100 pump: Noise level, Maximum?"]
    assert draft.answers == ("52 dB",)
    assert "52 dB" in texts(material, draft.facts[0])


def test_a_property_of_two_documents_is_compared_with_a_fact_of_each(material: Material) -> None:
    draft = next(one for one in only(material, "comparisons") if "Maximum of Operating pressure" in one.question)
    assert "16 bar" in texts(material, draft.facts[0])
    assert "10 bar" in texts(material, draft.facts[1])


def test_what_a_document_does_not_say_has_no_gold_and_is_not_said(material: Material) -> None:
    absent = only(material, "unanswerable")
    corpus = "\n".join(chunk.prompted_text for chunk in material.chunks)
    assert absent
    for draft in absent:
        assert not draft.facts
        assert not draft.answerable
    changed = [one.question.split(" the ")[-1].rstrip("?") for one in absent if "changed" in one.rule]
    assert changed
    assert not [one for one in changed if one in corpus]


def test_authors_own_questions_and_definitions_are_asked(material: Material) -> None:
    (asked,) = only(material, "faq")
    assert asked.question == "Why does the pump make a rattling noise?"
    assert "Bleed it" in texts(material, asked.facts[0])
    assert "What is a ball valve made of soft brass?" in {one.question for one in only(material, "definitions")}


def test_a_file_is_the_same_for_a_seed_and_every_gold_chunk_is_there(
    opened: KnowledgeGraph, material: Material, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("one.jsonl", "again.jsonl", "other.jsonl")]
    reports = [
        opened.make_questions(file, options=QuestionOptions(limit=12, seed=seed))
        for file, seed in zip(files, (1, 1, 2), strict=True)
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes() != files[2].read_bytes()
    rows = [json.loads(line) for line in files[0].read_text(encoding="utf-8").splitlines()]
    assert len(rows) == sum(reports[0].taken.values()) > 5
    assert all(row["synthetic"]["kind"] in KINDS and row["synthetic"]["rule"] for row in rows)
    assert {one for row in rows for fact in row.get("facts", ()) for one in fact} <= material.by_id.keys()
    asked, without_gold = read_gold_questions(files[0])
    assert len(asked) + without_gold == len(rows) == len(read_questions_to_judge(files[0]))
    assert without_gold == sum(not row["answerable"] for row in rows)


def test_nothing_is_made_that_is_like_a_question_to_keep_away_from(opened: KnowledgeGraph, tmp_path: Path) -> None:
    free, kept, away = (tmp_path / name for name in ("free.jsonl", "kept.jsonl", "away.jsonl"))
    opened.make_questions(free, options=QuestionOptions(kinds=("table_cells", "faq")))
    asked = [one.question for one in read_gold_questions(free)[0]]
    assert "Why does the pump make a rattling noise?" in asked
    like = ["Why does this pump make rattling noises?", "What is the maximum noise level of the P-100 pump?"]
    away.write_text("".join(json.dumps({"id": i, "question": one}) + "\n" for i, one in enumerate(like)), "utf-8")
    report = opened.make_questions(kept, options=QuestionOptions(kinds=("table_cells", "faq"), not_like=away))
    left = [one.question for one in read_gold_questions(kept)[0]]
    assert left
    assert "Why does the pump make a rattling noise?" not in left
    assert "P-100 pump: Noise level, Maximum?" not in left
    assert report.left_out["like a question of --not-like"] >= 2


def test_near_duplicates_and_what_nothing_finds_are_left_out(material: Material) -> None:
    gold = (frozenset(("c",)),)
    drafts = [
        Draft("faq", "r", "factual", question, gold)
        for question in (
            "How is the upper screw opened?",
            "How is the upper screw opened, then?",
            "How is the V-20 opened?",
        )
    ]

    async def finds(question: str, hidden: frozenset[str]) -> list[str]:
        return ["other", "c"] if "screw" in question else ["other"]

    selection = wait_for(select({"faq": drafts}, material, find=finds, embed=MiniLM().embed_queries, limit=9, seed=1))
    assert len(selection.taken) == 1
    assert selection.left_out == {"near-duplicate": 1, "round trip: no gold among the first found": 1}


def test_easy_questions_are_at_most_a_quarter_and_the_first(material: Material) -> None:
    chunk = max(material.chunks, key=lambda one: len(material.terms[one.id]))
    words = sorted({word for word in chunk.text.split() if word.isalpha() and len(word) > 4})
    drafts = [
        Draft("faq", "r", "factual", " ".join(words[i : i + 3]), (frozenset((chunk.id,)),)) for i in range(0, 12, 3)
    ]

    async def finds(question: str, hidden: frozenset[str]) -> list[str]:
        return [chunk.id]

    selection = wait_for(select({"faq": drafts}, material, find=finds, embed=MiniLM().embed_queries, limit=9, seed=1))
    assert [one.easy for one in selection.taken] == [True]
    assert selection.left_out == {"easy: its words are the gold's, and it is found first": 3}


def test_a_kind_that_there_is_not_is_named(material: Material) -> None:
    with pytest.raises(InputError, match="got riddles"):
        drafts_of(material, ["riddles"])


DRAFT = Draft("faq", "r", "factual", "What is the maximum pressure of the P-100 at 40 °C?", (), answers=("16 bar",))


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("At 40 °C, how much pressure can the P-100 stand?", ""),
        ("How much pressure can the pump stand at 40 °C?", "a number was lost or added"),
        ("How much pressure can the P-100 stand?", "a number was lost or added"),
        ("At 40 °C and 3 bar, how much can the P-100 stand?", "a number was lost or added"),
        ("At 40 °C, is the P-100 good for sixteen bar, or 16 bar?", "a number was lost or added"),
        ("what is the maximum pressure of the P-100 at 40 °C", "nothing changed"),
        ("P-100 40 °C " + "very " * 80, "too long"),
        ("", "nothing changed"),
    ],
)
def test_a_paraphrase_that_loses_or_adds_something_is_none(said: str, wrong: str) -> None:
    assert what_is_wrong(said, DRAFT) == wrong


def test_a_paraphrase_does_not_give_the_answer_away() -> None:
    draft = Draft("triples", "r", "factual", "Who directed the film Heat Wave?", (), answers=("Jane Doe",))
    assert what_is_wrong("Who made the film about the heat?", draft) == "a name was lost"
    assert what_is_wrong("Was Heat Wave directed by Jane Doe?", draft) == "it says the answer"


def test_replies_that_are_none_leave_the_question_and_are_counted() -> None:
    drafts = [Draft("faq", "r", "factual", f"What is the mass of part {n}?", (frozenset((str(n),)),)) for n in range(5)]
    replies = [
        "no JSON",
        '{"question": "How heavy is part 1?"}',
        '["How heavy is part 2?"]',
        '{"question": 7}',
        '{"question": "Who wants to visit 4 churches in Rome?"}',
    ]
    model = ScriptedChatModel(replies)
    done = wait_for(paraphrased(drafts, model=model, embed=MiniLM().embed_queries, progress=Silent()))
    assert list(done.questions.values()) == ["How heavy is part 1?"]
    assert done.refused == {"the reply could not be read": 1, "nothing changed": 2, "it asks something else": 1}
    assert done.usage.calls == 5


def passages(*rows: tuple[str, str], headings: tuple[tuple[str, ...], ...] = (), suffix: str = "jsonl") -> Material:
    """A corpus of one chunk for each title and text; texts of one title are one document."""
    titles = list(dict.fromkeys(title for title, _ in rows))
    documents = [Document(id=f"d {one}", path=f"{one}.{suffix}", title=one, sha256="", format=suffix) for one in titles]
    chunks = [
        Chunk(
            id=f"c{place}",
            document_id=f"d {title}",
            source_id=f"p{place}",
            position=place,
            title=title,
            headings=headings[place] if headings else (),
            text=text,
            tokens=9,
        )
        for place, (title, text) in enumerate(rows)
    ]
    return Material(documents, chunks)


def related(material: Material, *rows: tuple[str, str, str, int]) -> Material:
    """The corpus with relations: head, type, tail, number of the chunk that states it."""
    stated = [
        StatedRelation(head, head, kind, tail, tail, "T", (f"c{place}",), ("",)) for head, kind, tail, place in rows
    ]
    return replace(material, relations=stated)


FILMS = passages(("Heat Wave", "..."), ("Jane Doe", "..."), ("Lisbon", "..."), ("Other", "..."))


def test_a_bridge_names_neither_what_is_between_nor_stays_in_one_document() -> None:
    chain = (
        ("Heat Wave", "DIRECTED_BY", "Jane Doe", 0),
        ("Jane Doe", "BORN_IN", "Lisbon", 1),
        ("Lisbon", "IS_TWINNED_WITH", "Macau", 2),
    )
    asked = {draft.question: draft for draft in only(related(FILMS, *chain), "bridges")}
    two = asked["Where was the director of Heat Wave born?"]
    assert two.facts == (frozenset(["c0"]), frozenset(["c1"]))
    assert two.answers == ("Lisbon",)
    three = asked["What is it that the place where the director of Heat Wave was born is twinned with?"]
    assert len(three.facts) == 3
    assert not only(related(FILMS, chain[0], ("Jane Doe", "BORN_IN", "Lisbon", 0)), "bridges")


def test_a_relation_with_two_tails_is_not_asked_for() -> None:
    two = related(FILMS, ("Heat Wave", "HAS_CAST", "Ann Bo", 0), ("Heat Wave", "HAS_CAST", "Cy Do", 0))
    assert not only(two, "triples")
    assert [one.question for one in only(related(FILMS, ("Heat Wave", "HAS_CAST", "Ann Bo", 0)), "triples")]


def test_two_things_of_one_kind_are_compared_by_what_both_have() -> None:
    of_two = related(
        FILMS,
        ("Heat Wave", "IS_A", "film", 0),
        ("Other", "IS_A", "film", 3),
        ("Heat Wave", "DIRECTED_BY", "Jane Doe", 0),
        ("Other", "DIRECTED_BY", "Ann Bo", 3),
    )
    (draft,) = only(of_two, "comparisons")
    assert draft.question in (
        "Who directed Heat Wave, and who directed Other?",
        "Who directed Other, and who directed Heat Wave?",
    )
    assert set(draft.facts) == {frozenset(["c0"]), frozenset(["c3"])}


def test_a_community_is_asked_for_by_its_members_and_its_gold_are_the_chunks_that_name_most_of_them() -> None:
    about = Community(
        key="k", graph="mention", level=0, size=3, label="Films", summary="Two films [1].", full_content=""
    )
    rows = (
        ("Heat Wave", "DIRECTED_BY", "Jane Doe", 0),
        ("Jane Doe", "BORN_IN", "Lisbon", 1),
        ("Ann Bo", "USES", "Oil", 2),
    )
    material = replace(related(FILMS, *rows), communities=[(about, frozenset(["Heat Wave", "Jane Doe", "Lisbon"]))])
    (draft,) = only(material, "communities")
    assert draft.question == "Summarise what the documents say about Jane Doe, Heat Wave and Lisbon."
    assert draft.facts == (frozenset(["c0"]), frozenset(["c1"]))
    assert draft.query_type == "summary"


REFERRING = "The limits of the supply voltage for long cables are given in Section 4.2 for every country."


def test_a_reference_leads_to_what_the_document_numbers_so_only_once() -> None:
    sections = (("1 Supply",), ("4 Annex", "4.2 Cables"), ("9 Other", "4.3 Tubes"))
    rows = (("Manual", REFERRING), ("Manual", "At most 3 m."), ("Manual", "None."))
    (draft,) = only(passages(*rows, headings=sections, suffix="pdf"), "cross_references")
    assert "4.2" not in draft.question
    assert "supply voltage" in draft.question
    assert (draft.facts, draft.hidden) == ((frozenset(["c1"]),), frozenset(["c0"]))
    twice = (("1 Supply",), ("4 Annex", "4.2 Cables"), ("Contract", "4.2 Duties"))
    assert not only(passages(*rows, headings=twice, suffix="pdf"), "cross_references")


def test_a_caption_asks_for_its_chunk_without_its_number() -> None:
    material = passages(("Manual", "Table 7: Torque of the housing screws by size\n| a | b |"))
    (draft,) = only(material, "captions")
    assert draft.question.startswith("Torque of the housing screws by size")


def test_a_document_is_called_by_its_file_where_its_title_tells_nothing() -> None:
    rows = (("FORM 10-K", "..."), ("FORM 10-Q", "..."), ("Annual report of Acme", "..."))
    subjects = passages(*rows, suffix="pdf").subjects
    assert set(subjects.values()) == {
        "FORM 10-K",
        "FORM 10-Q",
        "Annual report of Acme",
    }  # the files' names are these here
    renamed = passages(*rows, suffix="pdf")
    documents = [
        one.model_copy(update={"path": f"reports/ACME_{place}.pdf"}) for place, one in enumerate(renamed.documents)
    ]
    assert list(replace(renamed, documents=documents).subjects.values()) == [
        "ACME 0",
        "ACME 1",
        "Annual report of Acme",
    ]


def test_rows_of_ready_passages_are_found_under_numbered_lines() -> None:
    text = "[Product: Alvik]\n\n1.5.1 Motors\nTwo motors.\nVoltage, Information = 6 V. Current, Information = 70 mA."
    material = passages(("Alvik", text))
    assert [section.heading for section in material.sections] == ["Motors"]
    asked = {one.question: one.answers for one in only(material, "table_cells")}
    assert asked["What is the Voltage of Alvik?"] == ("6 V",)


def test_the_command_puts_questions_into_other_words_and_counts_what_no_model_could(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over HTTP: every third reply is good, every third loses what the question names, the others are no JSON, twice."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    (tmp_path / "pump.html").write_text(PAGES["pump.html"], encoding="utf-8")
    assert run(["build", str(tmp_path / "pump.html"), "--store", str(tmp_path / "store.kg")]) == 0
    capsys.readouterr()
    seen: dict[str, int] = {}

    def script(request: ModelRequest) -> Any:
        question = request.prompt.partition("Question:\n")[2].partition("\n")[0].strip()
        number = seen.setdefault(question, len(seen))
        good = {"question": f"Please tell me: {question}"}
        return (good, {"question": "What is it that nobody asked?"}, truncated(good))[number % 3]

    out = tmp_path / "made.jsonl"
    with ModelServer(script) as server:
        hosted = ["--model", "openai:m", "--base-url", server.url]
        command = [
            "questions",
            "make",
            "--store",
            str(tmp_path / "store.kg"),
            "--out",
            str(out),
            "--limit",
            "9",
            "--json",
        ]
        assert run([*command, *hosted]) == 0
    report = json.loads(capsys.readouterr().out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    worded = [row for row in rows if "template" in row["synthetic"]]
    assert len(rows) == sum(report["taken"].values()) > 5
    assert len(worded) == report["paraphrased"] > 0
    assert all(row["question"] == f"Please tell me: {row['synthetic']['template']}" for row in worded)
    assert report["not_paraphrased"].get("the reply could not be read", 0) > 0
    assert report["paraphrased"] + sum(report["not_paraphrased"].values()) == len(rows)
