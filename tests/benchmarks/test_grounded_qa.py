"""The published tables of De Faveri's 600 logged answers, computed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.grounded_qa import accuracies, mean, read_expected, read_log, similarities


def test_accuracies_are_recalls_and_1_where_nothing_is_expected() -> None:
    expected = {"sources": ["a", "b"], "pages": {"a": {1, 2}, "b": {5}}}
    assert accuracies({"a": [2, 9], "c": [1]}, expected) == (0.5, pytest.approx(1 / 3))
    assert accuracies({"a": [1]}, {"sources": [], "pages": {}}) == (1.0, 1.0)


@pytest.mark.data
def test_the_log_gives_the_published_tables(shared_data: Path) -> None:
    folder = shared_data / "grounded_qa"
    log, expected = read_log(folder), read_expected(folder)
    assert len(log) == 600
    for one in log:
        assert accuracies(one.pages, expected[one.question]) == pytest.approx((one.source, one.page), abs=5e-4)
    by_template = {
        ("1", "llama3.2"): 0.527, ("1", "qwen2.5:7b"): 0.529, ("1", "gpt-4o"): 0.485,
        ("2", "llama3.2"): 0.498, ("2", "qwen2.5:7b"): 0.512, ("2", "gpt-4o"): 0.428,
        ("3", "llama3.2"): 0.467, ("3", "qwen2.5:7b"): 0.498, ("3", "gpt-4o"): 0.514,
        ("4", "llama3.2"): 0.547, ("4", "qwen2.5:7b"): 0.671, ("4", "gpt-4o"): 0.621,
        ("5", "llama3.2"): 0.492, ("5", "qwen2.5:7b"): 0.508, ("5", "gpt-4o"): 0.513,
    }  # fmt: skip
    for (template, model), published in by_template.items():
        some = [one.similarity for one in log if (one.template, one.model) == (template, model)]
        assert len(some) == 40 and mean(some) == pytest.approx(published, abs=6e-4)
    by_category = {
        ("in-scope", "llama3.2"): 0.698, ("in-scope", "qwen2.5:7b"): 0.738, ("in-scope", "gpt-4o"): 0.674,
        ("out-of-scope", "llama3.2"): 0.131, ("out-of-scope", "qwen2.5:7b"): 0.202, ("out-of-scope", "gpt-4o"): 0.245,
        ("multi-paper", "llama3.2"): 0.590, ("multi-paper", "qwen2.5:7b"): 0.569, ("multi-paper", "gpt-4o"): 0.509,
    }  # fmt: skip
    for (category, model), published in by_category.items():
        assert mean(one.similarity for one in log if (one.category, one.model) == (category, model)) == pytest.approx(
            published, abs=6e-4
        )
    assert sum(one.failed for one in log) == 11, "errors of the endpoint are no answers"
    drawn = log[::25]
    for ours, one in zip(similarities(drawn, expected), drawn, strict=True):
        assert ours == pytest.approx(one.similarity, abs=1e-4)
