"""When the extractive answer abstains: trains the logistic model of `kgrag/answer/abstention.toml` and says how well it tells.

    python -m benchmarks.abstention [--cache FOLDER] [--write]

Each question of clapnq (150 that its passage answers, 150 that it does not), `examples/` and emanual (all answerable) is retrieved for by
the default pipeline, and the strength of its evidence is taken: the greatest product of similarity and coverage of a statement. Questions
that name what no passage has are refused before and are not counted. The model is one weight and an intercept; each set counts alike, and
within it answerable and unanswerable questions. The table is leave-one-set-out: a set is judged by a model that was trained on the others;
`--write` ships the one that was trained on all. Strengths stay under the cache, and the next run only trains.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kgrag
from benchmarks.retrieval_quality import CACHE, DATA
from benchmarks.tables import print_table
from kgrag.answer.rules import strength, weighed_candidates
from kgrag.answer.subject import unknown_names
from kgrag.text.questions import read_question

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SETS = {
    "clapnq": (DATA / "clapnq" / "corpus.jsonl", DATA / "clapnq" / "questions.jsonl"),
    "examples": (EXAMPLES / "documents", EXAMPLES / "questions.jsonl"),
    "emanual": (DATA / "emanual" / "html", DATA / "emanual" / "questions.jsonl"),
}
MODEL = Path(__file__).resolve().parents[1] / "kgrag" / "answer" / "abstention.toml"
STEPS = 50
PENALTY = 0.05

Floats = NDArray[np.float64]


def main() -> None:
    """Measure strengths where they are not kept, train, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE.parent / "abstention")
    parser.add_argument("--write", action="store_true", help="write the model that was trained on all sets")
    arguments = parser.parse_args()
    measured = {name: strengths(name, arguments.cache) for name, (corpus, _) in SETS.items() if corpus.exists()}
    rows = []
    for name, (x, y) in measured.items():
        others = [pair for other, pair in measured.items() if other != name]
        weight, intercept = train(others)
        answered = weight * x + intercept >= 0
        right = [f"{(answered[y == kind] == kind).mean():.2f}" if (y == kind).any() else "-" for kind in (True, False)]
        kinds = [(answered[y == kind] == kind).mean() for kind in (True, False) if (y == kind).any()]
        rows.append([name, str(len(y)), *right, f"{np.mean(kinds):.2f}"])
    weight, intercept = train(list(measured.values()))
    print_table(
        "Abstention, leave-one-set-out",
        ["set", "questions", "answerable answered", "unanswerable refused", "balanced accuracy"],
        rows,
        [
            f"Of all sets: weight {weight:.3f}, intercept {intercept:.3f}: answers from a strength of {-intercept / weight:.3f} on."
        ],
    )
    if arguments.write:
        MODEL.write_text(
            "# Made by `python -m benchmarks.abstention --write`: whether evidence of a strength answers (kgrag/answer/rules.py).\n"
            f"weight = {weight:.4f}\nintercept = {intercept:.4f}\n",
            encoding="utf-8",
        )


def strengths(name: str, folder: Path) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the strength of each question's evidence and whether it is answerable."""
    corpus, questions = SETS[name]
    kept = folder / f"{name}.strengths.jsonl"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
        with kgrag.open(folder / f"{name}.kg") as graph:
            graph.build(corpus)
            made = [line for row in rows if (line := _measured(graph, row)) is not None]
        kept.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    return np.array([one["strength"] for one in lines]), np.array([one["answerable"] for one in lines], dtype=bool)


def _measured(graph: kgrag.KnowledgeGraph, row: dict[str, Any]) -> dict[str, Any] | None:
    evidence = graph.retrieve(row["question"])
    asked = read_question(row["question"])
    if unknown_names(asked, evidence)[0]:
        return None
    found = asyncio.run(weighed_candidates(asked, evidence, graph.embedder))
    answerable = row.get("answerable", row.get("query_type") != "unanswerable")
    return {"id": row["id"], "strength": round(strength(found), 4), "answerable": answerable}


def train(sets: list[tuple[Floats, NDArray[np.bool_]]]) -> tuple[float, float]:
    """Fit the logistic model by Newton's method; each set, and each kind of question in it, counts alike."""
    x = np.concatenate([strength for strength, _ in sets])
    y = np.concatenate([answerable for _, answerable in sets]).astype(np.float64)
    weights = np.concatenate([_weights(answerable) for _, answerable in sets]) * len(y)
    design, model = np.c_[x, np.ones(len(x))], np.zeros(2)
    penalty = np.diag([PENALTY, 1e-3])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ model))
        slope = design.T @ (design * (weights * p * (1 - p) + 1e-9)[:, None]) + penalty
        model = model + np.linalg.solve(slope, design.T @ (weights * (y - p)) - penalty @ model)
    return float(model[0]), float(model[1])


def _weights(answerable: NDArray[np.bool_]) -> Floats:
    """Give each kind of question of a set the same weight in all, a sixth: three sets of two kinds."""
    weights = np.zeros(len(answerable))
    for kind in (True, False):
        if (answerable == kind).any():
            weights[answerable == kind] = 1 / 6 / (answerable == kind).sum()
    return weights


if __name__ == "__main__":
    main()
