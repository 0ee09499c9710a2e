"""Questions that count or list, on both databases: by rules, and by Cypher that a model writes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from kgrag.answer import answer_from_listing
from kgrag.errors import StoreUnavailable
from kgrag.models.base import Message
from kgrag.retrieve import load_pipeline, open_retriever
from kgrag.retrieve.state import Query, Resources, State
from kgrag.retrieve.steps.text2cypher import Text2Cypher
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.text.names import normal_form
from kgrag.text.quantities import quantities
from kgrag.types import Entity
from tests.contract.conftest import Content
from tests.contract.small_manual import embed


def listed(store: GraphStore, embedder: HashingEmbedder, question: str) -> tuple[list[str], list[str]] | None:
    """The things that a question means, and the titles of the chunks that may say it of them."""
    trace = asyncio.run(open_retriever(store, embedder, load_pipeline("default")).trace(question))
    if trace.listing is None:
        return None
    found = [piece.title for piece in trace.listing.evidence]
    return [thing.name for thing in trace.listing.things], found


def test_a_question_that_counts_lists_what_is_said_of_every_thing(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    texts = {
        "X-100": ("It draws 4 mA.", "Its fan is on board."),
        "X-1000": ("It draws 0.5 A.", "The X-100 draws less."),
        "Notes": ("A current of 3 V is no current.", "The X-1000 draws 600 mA at 24 V."),
    }
    pages = {
        title: content.document(f"{title}.html", *said, title=title, product=None if title == "Notes" else title)
        for title, said in texts.items()
    }
    store.documents.put(list(pages.values()))
    said = []
    for title, (_, chunks) in pages.items():
        for chunk in chunks:
            amounts = [
                Entity(name=one.text, type="Quantity", normal=normal_form(one.text)) for one in quantities(chunk.text)
            ]
            named = [
                Entity(name=one, type="Product", normal=normal_form(one)) for one in texts if f"{one} " in chunk.text
            ]
            said.append(
                content.said(
                    chunk, Entity(name=title, type="Product", normal=normal_form(title), role="title"), *amounts, *named
                )
            )
    store.graphs.put_extractions("mention", said)
    embed(store, embedder)
    things = ["Notes", "X-100", "X-1000"]
    found = listed(store, embedder, "Which products draw less than 1 A?")
    assert found is not None
    assert found[0] == things
    assert sorted(found[1]) == ["Notes", "X-100", "X-1000"]
    words = listed(store, embedder, "How many products have a fan?")
    assert words == (things, ["X-100"])
    assert listed(store, embedder, "Which toasters draw less than 1 A?") is None
    assert listed(store, embedder, "What does the X-100 draw?") is None


def test_a_word_is_looked_for_in_what_is_of_the_things_or_names_them_however_it_is_spelt(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    texts = {
        "X-100": ("It has Wi‑Fi.", "Its firmware file has a wire frame.", "An I²C bus is on board."),
        "X-1000": ("WiFi is on board.",),
        "Notes": ("The X-1000 talks by wi-fi.", "Any wi-fi is slow.", "The I2C bus of the X-1000 is fast."),
    }
    pages = {
        title: content.document(
            f"{title}.html", *said, title=title, product=title, category="notes" if title == "Notes" else "controllers"
        )
        for title, said in texts.items()
    }
    store.documents.put(list(pages.values()))
    named = {
        chunk: [Entity(name=one, type="Product", normal=normal_form(one)) for one in texts if f"{one} " in chunk.text]
        for _, chunks in pages.values()
        for chunk in chunks
    }
    store.graphs.put_extractions("mention", [content.said(chunk, *entities) for chunk, entities in named.items()])
    embed(store, embedder)
    for spellings, expected in (
        (("Wi-Fi", "wifi", "WiFi", "wi-fi"), ["Notes", "X-100", "X-1000"]),
        (("I2C", "I²C"), ["Notes", "X-100"]),
    ):
        for spelling in spellings:
            found = listed(store, embedder, f"Which controllers have {spelling}?")
            assert found is not None
            assert (found[0], sorted(found[1])) == (["X-100", "X-1000"], expected), spelling


PARTS = "MATCH (e:__Entity__ {type: 'Product'})-[:FROM_CHUNK]->(c:Chunk) RETURN e.name AS thing, collect(c.id) AS chunks ORDER BY thing"
WORDED_OTHERWISE = "How many things does the whole line name, all told?"


def written(
    store: GraphStore, embedder: HashingEmbedder, *replies: str, question: str = WORDED_OTHERWISE, rows: int = 200
) -> tuple[State, ScriptedChatModel]:
    """What the step `text2cypher` makes of a model's replies."""
    chat = ScriptedChatModel(list(replies))
    resources = Resources(store, embedder, "mention", chat=chat)
    return asyncio.run(Text2Cypher(rows=rows)(State(Query(question, question, question)), resources)), chat


def test_a_model_writes_cypher_and_its_rows_are_cited(manual: GraphStore, embedder: HashingEmbedder) -> None:
    state, chat = written(manual, embedder, f"```cypher\n{PARTS};\n```")
    assert state.listing is not None
    assert [row[0] for row in state.listing.rows] == ["Carrier Q7", "Warranty", "X-100", "X-1000"]
    assert "FROM_CHUNK" in chat.calls[0][-1].content and "Product" in chat.calls[0][-1].content
    answer = answer_from_listing("?", state.listing)
    assert answer is not None and answer.table is not None
    assert answer.table.cypher == PARTS
    of_row = {row.cells[0]: row.citations for row in answer.table.rows}
    cited = {citation.number: citation.chunk_id for citation in answer.citations}
    assert {cited[number] for number in of_row["Warranty"]} == {
        chunk.id for chunk in manual.documents.chunks() if chunk.title == "Warranty"
    }


@pytest.mark.parametrize(
    "refused",
    [
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) SET n.name = 'x' RETURN n",
        "CALL apoc.load.json('http://localhost') YIELD value RETURN value",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "this is no Cypher",
        "",
        "START TRANSACTION",
        "/* now */ commit",
        "RETURN '\ud800' AS part",
        "MATCH (c:Chunk) RETURN c.id AS chunks",
        "MATCH (c:Chunk) RETURN c.id AS part; CREATE (:Extra)",
        "RETURN COLLECT { CREATE (a:Extra) RETURN a } AS part",
        "CALL `apoc`.`load`.`json`('http://localhost') YIELD value RETURN value",
        "LOAD/**/CSV FROM 'file:///etc/passwd' AS line RETURN line",
    ],
)
def test_cypher_of_a_model_that_writes_reaches_out_or_is_wrong_is_repaired_once(
    manual: GraphStore, embedder: HashingEmbedder, refused: str
) -> None:
    before = manual.digest()
    state, chat = written(manual, embedder, refused, PARTS)
    assert state.listing is not None and len(state.listing.rows) == 4
    assert "refused that statement" in chat.calls[1][-1].content
    state, chat = written(manual, embedder, refused, refused)
    assert state.listing is None and len(chat.calls) == 2
    assert "refused twice" in state.remarks[-1]
    assert manual.digest() == before


@pytest.mark.parametrize(
    ("greedy", "said"),
    [
        # more than the embedded database collects
        ("UNWIND range(1, 3000000) AS n RETURN collect(n) AS part", "did not carry the statement out"),
        # more than there is
        ("RETURN reduce(s = 'x', i IN range(1, 40) | s + s) AS part", "broke the statement off"),
    ],
)
def test_a_statement_that_the_database_gives_up_on_is_repaired_once(
    embedder: HashingEmbedder, tmp_path: Path, greedy: str, said: str
) -> None:
    with open_store(tmp_path / "store.kg", create=True) as store:
        store.bind(embedder.name, embedder.dimensions)
        state, chat = written(store, embedder, greedy, "RETURN 1 AS part")
        assert state.listing is not None and state.listing.rows == (("1",),)
        assert said in chat.calls[1][-1].content
        state, _ = written(store, embedder, greedy, greedy)
        assert state.listing is None and "refused twice" in state.remarks[-1]


def test_a_database_that_goes_away_is_no_fault_of_the_statement(embedder: HashingEmbedder, tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.kg", create=True)
    store.bind(embedder.name, embedder.dimensions)

    def write_while_it_goes(_: Sequence[Message]) -> str:
        store.close()
        return "RETURN 1 AS part"

    chat = ScriptedChatModel(write_while_it_goes)
    state = State(Query(WORDED_OTHERWISE, WORDED_OTHERWISE, WORDED_OTHERWISE))
    with pytest.raises(StoreUnavailable):
        asyncio.run(Text2Cypher()(state, Resources(store, embedder, "mention", chat=chat)))
    assert len(chat.calls) == 1


def test_what_a_statement_of_a_model_gives_is_shown_as_far_as_a_table_takes_it(
    manual: GraphStore, embedder: HashingEmbedder
) -> None:
    statement = (
        "MATCH (c:Chunk) WITH collect(c.id) AS ids RETURN ['a\u001b[2J', 'b'][1] + 'a\u001b[2J', "
        "reduce(said = '', n IN range(1, 9000) | said + 'x') AS `long|one`, [n IN range(1, 50) | ids[0]] AS chunks"
    )
    state, _ = written(manual, embedder, statement)
    assert state.listing is not None
    ((first, long),) = state.listing.rows
    assert first == "ba[2J" and len(long) < 3000
    assert len(state.listing.row_chunks[0]) <= 20
    answer = answer_from_listing("?", state.listing)
    assert answer is not None
    head = answer.text.splitlines()[2]
    assert "long\\|one" in head and "[1]" not in head and "\x1b" not in answer.text.partition("Read from")[0]


def test_rows_of_a_model_are_limited_and_questions_that_rules_read_ask_no_model(
    manual: GraphStore, embedder: HashingEmbedder
) -> None:
    state, _ = written(manual, embedder, PARTS, rows=2)
    assert state.listing is not None and (len(state.listing.rows), state.listing.more) == (2, True)
    state, chat = written(manual, embedder, question="What does the X-100 weigh?")
    assert (state.listing, chat.calls) == (None, [])
