"""The synthetic corpus of the benchmarks."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from benchmarks.synthetic import PASSAGES_PER_PRODUCT, passages, planted_questions, questions, write_passages


def test_the_same_seed_gives_the_same_passages_and_another_seed_others() -> None:
    assert list(passages(200, seed=3)) == list(passages(200, seed=3))
    assert list(passages(200, seed=3)) != list(passages(200, seed=4))


def test_ids_are_unique_and_a_product_has_as_many_passages_as_a_real_one() -> None:
    made = list(passages(2000))
    assert len({p.id for p in made}) == len(made) == 2000
    sizes = Counter(p.id.partition("-")[0] for p in made)
    assert set(sizes.values()) <= {PASSAGES_PER_PRODUCT, 2000 % PASSAGES_PER_PRODUCT}


def test_passages_name_parts_quantities_and_other_products() -> None:
    made = list(passages(1000))
    titles = {p.title for p in made}
    assert sum(bool(re.search(r"[A-Z]{3}-\d+", p.text)) for p in made) > 900
    assert sum(bool(re.search(r"\d (mA|V|MHz|hPa|kΩ|°C)\b", p.text)) for p in made) > 900
    assert sum(any(title in p.text for title in titles - {p.title}) for p in made) > 100


def test_questions_are_about_products_of_the_corpus() -> None:
    titles = {p.title for p in passages(1000)}
    assert all(any(title in q for title in titles) or "Which products" in q for q in questions(50, count=1000))


def test_a_planted_question_is_answered_by_the_passages_that_it_says() -> None:
    by_id = {passage.id: passage for passage in passages(1000)}
    asked = planted_questions(40, count=1000)
    assert Counter(one.kind for one in asked) == {"direct": 20, "neighbour": 20}
    for one in asked:
        quantity, part = re.match(r"What is the (.+) of the (\S+) on", one.question).groups()  # type: ignore[union-attr]
        gold = [by_id[name] for name in one.passages]
        assert 1 <= len(gold) <= 3
        assert all(part in passage.text and quantity in passage.text for passage in gold)
        assert all((passage.product in one.question) == (one.kind == "direct") for passage in gold)


def test_passages_are_written_as_the_build_reads_them(tmp_path: Path) -> None:
    assert write_passages(tmp_path / "p.jsonl", passages(3)) == 3
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [set(line) for line in lines] == [{"id", "title", "text", "product", "category"}] * 3
