"""LangChain and LlamaIndex get the evidence that kgrag finds."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgrag
from kgrag.errors import InputError
from kgrag.knowledge_graph import KnowledgeGraph

QUESTION = "At what voltage does the X-100 run?"


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("adapters")
    passages = folder / "passages.jsonl"
    passages.write_text(
        '{"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V."}\n'
        '{"id": "b", "title": "X-1000", "text": "The X-1000 runs at 33 V."}\n',
        encoding="utf-8",
    )
    with kgrag.open(folder / "store.kg") as opened:
        opened.build(passages)
        yield opened


@pytest.mark.parametrize("asynchronous", [False, True])
def test_langchain_gets_the_evidence_as_documents(graph: KnowledgeGraph, asynchronous: bool) -> None:
    from kgrag.langchain import KgragRetriever

    retriever = KgragRetriever(graph=graph, top=1)
    (document,) = asyncio.run(retriever.ainvoke(QUESTION)) if asynchronous else retriever.invoke(QUESTION)
    (piece,) = graph.retrieve(QUESTION, top=1)
    assert document.page_content == piece.text
    assert document.metadata["source_id"] == "a" == piece.source_id
    assert document.metadata["why"] == list(piece.why)


def test_a_relation_and_its_chunk_are_two_documents_of_langchain(tmp_path: Path) -> None:
    from kgrag.langchain import KgragRetriever

    (tmp_path / "x.jsonl").write_text(
        '{"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V."}\n', encoding="utf-8"
    )
    with kgrag.open(tmp_path / "store.kg", pipeline="kg") as opened:
        opened.build(tmp_path / "x.jsonl")
        documents = KgragRetriever(graph=opened).invoke(QUESTION)
    assert len({one.metadata["chunk_id"] for one in documents}) == 1 < len(documents)
    assert len({one.id for one in documents}) == len(documents)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_llama_index_gets_the_evidence_as_nodes_with_scores(graph: KnowledgeGraph, asynchronous: bool) -> None:
    from kgrag.llama_index import KgragRetriever

    retriever = KgragRetriever(graph, top=2)
    nodes = asyncio.run(retriever.aretrieve(QUESTION)) if asynchronous else retriever.retrieve(QUESTION)
    pieces = graph.retrieve(QUESTION, top=2)
    assert [(node.get_content(), node.score) for node in nodes] == [(piece.text, piece.score) for piece in pieces]
    assert nodes[0].node.metadata["source_id"] == "a"
    assert nodes[0].node.get_content(metadata_mode="llm") == pieces[0].text


def test_what_is_no_open_graph_is_refused_with_what_is() -> None:
    from kgrag import langchain, llama_index

    with pytest.raises(InputError, match=r"kgrag\.open\('my\.kg'"):
        llama_index.KgragRetriever("my.kg")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"kgrag\.open\('my\.kg'"):
        langchain.KgragRetriever(graph="my.kg")  # type: ignore[arg-type]
