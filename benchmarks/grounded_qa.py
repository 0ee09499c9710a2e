"""The 600 logged answers of De Faveri's document-grounded QA: the published tables again, and what they say when counted honestly.

    python -m benchmarks.grounded_qa [--data FOLDER] [--similarity]

Ten questions, three models, five prompt templates, with and without open knowledge, two seeds. Source and page accuracy are computed from
the logged pages by the thesis's rule (a question without expectation scores 1), and compared row by row with the log; `--similarity`
embeds all answers (MiniLM) and compares those too. Then the tables of the thesis (means by model and mode, by template, by category), and
beside them what its rules hide: errors of an endpoint apart, questions without expectation left out of accuracies, and refusals told by
what they say (`kgrag.text.refusals`), as precision and recall of abstaining.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.tables import print_table
from kgrag.text.refusals import is_refusal

__all__ = ["Logged", "accuracies", "read_log"]

CATEGORIES = {"in-scope": range(1, 6), "out-of-scope": range(6, 9), "multi-paper": range(9, 11)}
TEMPLATES = {"1": "T1 detailed", "2": "T2 minimal", "3": "T3 step by step", "4": "T4 strict", "5": "T5 conversational"}
RELABELLED = {3: "[j17]"}
"""Question 3 got this expected source after the answers had been logged: with the labels of then it was not there."""
ERROR = re.compile(r"^\s*(?:error|\[error|azure openai|ollama|request failed|connection)", re.IGNORECASE)
"""How the log writes that an endpoint failed, in the place of the answer."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One answer of the log."""

    model: str
    template: str
    open_knowledge: bool
    question: int
    source: float
    page: float
    similarity: float
    pages: Mapping[str, Sequence[int]]
    """Found pages by source."""
    answer: str

    @property
    def category(self) -> str:
        """In which of the three kinds its question is."""
        return next(name for name, numbers in CATEGORIES.items() if self.question in numbers)

    @property
    def failed(self) -> bool:
        """Whether the answer is an endpoint's error."""
        return bool(ERROR.match(self.answer))


def read_log(folder: Path) -> list[Logged]:
    """Read the detailed log."""
    with (folder / "results_detailed.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter=";") if (row.get("question_id") or "").isdigit()]
    return [
        Logged(
            row["llm"],
            row["template_id"],
            row["open_knowledge"].strip().lower() == "yes",
            int(row["question_id"]),
            float(row["source_accuracy"]),
            float(row["page_accuracy"]),
            float(row["similarity"]),
            json.loads(row["found_pages"] or "{}"),
            row["llm_response"] or "",
        )
        for row in rows
    ]


def read_expected(folder: Path) -> dict[int, dict[str, Any]]:
    """Read the questions, with the labels that they had when the answers were logged."""
    rows = json.loads((folder / "benchmark_dataset.json").read_text(encoding="utf-8"))
    expected = {}
    for row in rows:
        late = RELABELLED.get(row["id"])
        expected[row["id"]] = {
            "answer": row["expected_answer"],
            "sources": [one for one in row["expected_sources"] if not (late and one.startswith(late))],
            "pages": {
                one: set(pages) for one, pages in row["expected_pages"].items() if not (late and one.startswith(late))
            },
        }
    return expected


def accuracies(found: Mapping[str, Sequence[int]], expected: Mapping[str, Any]) -> tuple[float, float]:
    """Return source and page accuracy by the thesis's rule: both are recalls, and 1 where nothing is expected."""
    sources, pages = expected["sources"], expected["pages"]
    source = sum(one in found for one in sources) / len(sources) if sources else 1.0
    wanted = sum(len(one) for one in pages.values())
    hit = sum(len(one & set(found.get(name, ()))) for name, one in pages.items())
    return source, hit / wanted if wanted else 1.0


def similarities(log: Sequence[Logged], expected: Mapping[int, Mapping[str, Any]]) -> list[float]:
    """Return the cosine of each answer, up to the first word `reference`, with what was expected."""
    from kgrag.evaluate.judge.provenance import answer_similarity
    from kgrag.models.minilm import MiniLM

    gold = [str(expected[one.question]["answer"]) for one in log]
    return answer_similarity(gold, [one.answer for one in log], embedder=MiniLM())


def mean(values: Iterable[float]) -> float:
    """Return the mean; nan of nothing."""
    some = list(values)
    return sum(some) / len(some) if some else float("nan")


def _table(title: str, log: Sequence[Logged], by: Callable[[Logged], str], across: Callable[[Logged], str]) -> None:
    columns = list(dict.fromkeys(map(across, log)))
    rows = []
    for key in sorted(set(map(by, log))):
        own = [one for one in log if by(one) == key]
        cells = [f"{mean(one.similarity for one in own if across(one) == column):.3f}" for column in columns]
        rows.append([key, *cells, f"{mean(one.similarity for one in own):.3f}"])
    print_table(title, ["", *columns, "all"], rows, [])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA / "grounded_qa")
    parser.add_argument("--similarity", action="store_true", help="embed all answers, and compare with the log")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"{arguments.data} is not there: skipped.")
        return
    log, expected = read_log(arguments.data), read_expected(arguments.data)
    found = [accuracies(one.pages, expected[one.question]) for one in log]
    same_source = sum(abs(ours[0] - one.source) < 5e-4 for ours, one in zip(found, log, strict=True))
    same_page = sum(abs(ours[1] - one.page) < 5e-4 for ours, one in zip(found, log, strict=True))
    print(f"{len(log)} answers; source accuracy as logged in {same_source}, page accuracy in {same_page}.")
    if arguments.similarity:
        ours = similarities(log, expected)
        apart = [abs(a - one.similarity) for a, one in zip(ours, log, strict=True)]
        near = sum(one <= 1e-4 for one in apart)
        print(f"Similarity as logged (to 1e-4) in {near} of {len(log)}; largest difference {max(apart):.4f}.")
    rows = [
        [
            model,
            "yes" if open_knowledge else "no",
            *(f"{mean(getattr(one, name) for one in own):.3f}" for name in ("source", "page", "similarity")),
        ]
        for model, open_knowledge in sorted({(one.model, one.open_knowledge) for one in log})
        if (own := [one for one in log if (one.model, one.open_knowledge) == (model, open_knowledge)])
    ]
    print_table("By model and mode, by the thesis's rules", ["model", "open", "source", "page", "similarity"], rows, [])
    _table("Similarity by template", log, lambda one: TEMPLATES[one.template], lambda one: one.model)
    _table("Similarity by category", log, lambda one: one.category, lambda one: one.model)
    _table("Similarity by category and template", log, lambda one: one.category, lambda one: TEMPLATES[one.template])
    _print_honest(log)


def _print_honest(log: Sequence[Logged]) -> None:
    answered = [one for one in log if not one.failed]
    rows = []
    for key in (None, *TEMPLATES):
        own = [one for one in answered if key is None or one.template == key]
        expects = [one for one in own if one.category != "out-of-scope"]
        refused = [is_refusal(one.answer) for one in own]
        right = sum(no and one.category == "out-of-scope" for no, one in zip(refused, own, strict=True))
        unanswerable = len(own) - len(expects)
        rows.append(
            [
                "all" if key is None else TEMPLATES[key],
                str(len(own)),
                f"{mean(one.source for one in expects):.3f}",
                f"{mean(one.page for one in expects):.3f}",
                f"{mean(one.similarity for one in expects):.3f}",
                f"{right / max(sum(refused), 1):.2f}",
                f"{right / max(unanswerable, 1):.2f}",
            ]
        )
    print_table(
        f"Counted honestly: {len(log) - len(answered)} errors apart, accuracies of the questions that expect something",
        ["template", "answers", "source", "page", "similarity", "refusals: precision", "recall"],
        rows,
        ["Refusals by what they say; right is a refusal of one of the three questions that no paper answers."],
    )


if __name__ == "__main__":
    main()
