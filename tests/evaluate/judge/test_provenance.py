"""De Faveri's measures: by hand, and his 600 published similarities."""

import csv
import json
import sys

import pytest

from kgrag.evaluate.judge.provenance import (
    answer_similarity,
    cited_pages,
    gold_places_cited,
    pages_cited,
    sources_cited,
)
from kgrag.models.minilm import MiniLM
from kgrag.types import Answer, Citation, Evidence


def test_a_citation_names_every_page_of_its_span():
    citations = [
        Citation(number=1, chunk_id="x", document="a.pdf", page_start=3, page_end=4),
        Citation(number=2, chunk_id="y", document="a.pdf", page_start=9),
        Citation(number=3, chunk_id="z", document="b.html"),
    ]
    assert cited_pages(citations) == {"a.pdf": {3, 4, 9}}


def test_a_fact_is_cited_by_any_of_its_pages_and_facts_without_a_page_do_not_count():
    citations = (
        Citation(number=1, chunk_id="x", document="docs/a.pdf", page_start=3, page_end=4),
        Citation(number=2, chunk_id="y", document="b.pdf", page_start=1),
    )
    answer = Answer(question="q", text="t", citations=citations, model="rules", pipeline="p")
    facts = [{"a.pdf#page=4"}, {"a.pdf#page=9", "b.pdf#page=1"}, {"b.pdf#page=2"}, {"other.pdf#page=3"}, {"c7"}]
    assert pages_cited([frozenset(one) for one in facts], answer) == 0.5
    assert sources_cited([frozenset(one) for one in facts], answer) == 0.75
    assert pages_cited([frozenset({"c7"})], answer) is None is sources_cited([frozenset({"c7"})], answer)
    assert pages_cited([frozenset({"a.pdf#page=4"})], answer.model_copy(update={"citations": ()})) == 0.0


def test_of_five_passages_that_were_found_the_two_that_are_cited_count():
    found = tuple(
        Evidence(chunk_id=f"c{n}", source_id=f"p{n}", document="a.pdf", page_start=n, text="t", tokens=1, score=1.0)
        for n in range(1, 6)
    )
    cited = tuple(Citation.of(found[n - 1], number=n, quote="") for n in (2, 4))
    answer = Answer(question="q", text="t", citations=cited, evidence=found, model="rules", pipeline="p")
    facts = [frozenset({f"p{n}"}) for n in range(1, 6)]
    assert gold_places_cited(facts, answer) == 2 / 5
    assert gold_places_cited([facts[1], facts[3]], answer) == 1.0
    assert gold_places_cited([facts[0]], answer) == 0.0
    assert gold_places_cited(facts, answer.model_copy(update={"citations": ()})) == 0.0
    pages = [frozenset({f"a.pdf#page={n}"}) for n in range(1, 6)]
    assert pages_cited(pages, answer) == 2 / 5
    assert cited_pages(answer.citations) == {"a.pdf": {2, 4}}


@pytest.fixture
def long_cells():
    """Cells of any length; the limit is one of the process."""
    before = csv.field_size_limit(sys.maxsize)
    yield
    csv.field_size_limit(before)


@pytest.mark.data
@pytest.mark.usefixtures("long_cells")
def test_published_similarities_are_reproduced(shared_data):
    folder = shared_data / "grounded_qa"
    expected = {
        one["id"]: one["expected_answer"] for one in json.loads((folder / "benchmark_dataset.json").read_text("utf-8"))
    }
    with (folder / "results_detailed.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter=";") if row["seed"]]
    assert len(rows) == 600
    of_each = ("seed", "llm", "template_id", "question_id")
    assert [len({row[column] for row in rows}) for column in of_each] == [2, 3, 5, 10]
    rows = rows[
        ::7
    ]  # of each program, template and question; `python -m benchmarks.grounded_qa --similarity` takes all
    assert len(rows) == 86 and [len({row[column] for row in rows}) for column in of_each] == [2, 3, 5, 10]
    ours = answer_similarity(
        [expected[int(row["question_id"])] for row in rows], [row["llm_response"] for row in rows], embedder=MiniLM()
    )
    off = [i for i, row in enumerate(rows) if abs(ours[i] - float(row["similarity"])) > 1.001e-4]
    assert off == []
