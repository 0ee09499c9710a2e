"""The twelve Arduino datasheets of `../shared/data` as PDF: their stores, their pages as text, and our questions to them and to the sample.

`abstention_questions.jsonl` has what a customer may ask of the sample and of the datasheets: questions that they answer, with the pages
that say it, questions that are near (a property that no page states, a product that does not exist), and questions about anything else.
All were written from the documents before any of them was asked; half of them are for development, the others are only reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import DATA
from benchmarks.stores import fresh_store
from kgrag.knowledge_graph import KnowledgeGraph, open_graph

ROOT = Path(__file__).resolve().parents[1]
ARDUINO = DATA / "arduino"
DATASHEETS = ARDUINO / "datasheets"
QUESTIONS = Path(__file__).with_name("abstention_questions.jsonl")
CORPORA = {"sample": ROOT / "examples" / "documents", "datasheets": DATASHEETS}
HALVES = ("development", "reported")


@contextmanager
def opened(corpus: str, stores: Path | None, kind: str, *, pipeline: str) -> Iterator[KnowledgeGraph]:
    """Open the store of a corpus and bring it up to date: under `stores`, else one that is gone afterwards."""
    if stores is not None and kind == "embedded":
        with _built(str(stores / f"{corpus}.kg"), corpus, pipeline) as graph:
            yield graph
        return
    with fresh_store(kind) as store, _built(store.target, corpus, pipeline) as graph:
        yield graph


@contextmanager
def _built(target: str, corpus: str, pipeline: str) -> Iterator[KnowledgeGraph]:
    with open_graph(target, pipeline=pipeline) as graph:
        graph.build(CORPORA[corpus])
        yield graph


def page_texts(pdf: Path) -> list[str]:
    """Return the text of each page, as PDFium reads it: from the file, not from a store."""
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as document:
        return [page.get_textpage().get_text_range() for page in document]
