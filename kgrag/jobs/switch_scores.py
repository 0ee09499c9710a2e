"""Scores of questions by switches of retrieval, each pipeline asked once and its scores kept, in memory and in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kgrag.common.progress import Progress
from kgrag.errors import InputError, PipelineError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.retrieval import measure_pipeline
from kgrag.evaluate.switches import Choices, Switches, composed, name_of
from kgrag.retrieve import Retriever
from kgrag.retrieve.pipeline import Pipeline
from kgrag.types import content_id

__all__ = ["MEASURES", "Cost", "SwitchScores"]

MEASURES = ("facts", "R@5", "all@5", "hit@1", "hit@5", "MRR")
ROW_START = '{"key": '
"""Of a line of the file that keeps scores."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a way of asking takes of a question, mean over all of them."""

    tokens: float
    """Shown."""
    milliseconds: float
    """Wall time."""
    calls: float
    """Of chat models."""


@dataclass(kw_only=True)
class SwitchScores:
    """Asks all questions by some choices, each pipeline once; scores are kept in memory and in a file of JSON lines."""

    switches: Switches
    measure: str
    questions: Sequence[GoldQuestion]
    retriever_of: Callable[[Pipeline], Retriever]
    """Raises `PipelineError` for one that cannot be run."""
    made_with: Sequence[str]
    """What can change a score beside the pipeline, the questions and the budget: the store, the models, the graph."""
    budget: int
    top: int
    kept: Path | None
    progress: Progress
    scores: dict[str, list[float]] = field(default_factory=dict)
    costs: dict[str, Cost] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._about = content_id(*self.made_with, str(self.budget), *(repr(one) for one in self.questions))
        self._rows = self._read()

    async def __call__(self, choices: Choices) -> Sequence[float] | None:
        """Return a score for each question, or None where the choices cannot be run (`refused` says why)."""
        name = name_of(choices)
        if name in self.scores or name in self.refused:
            return self.scores.get(name)
        try:
            pipeline = composed(self.switches, choices, top=self.top)
            retriever = self.retriever_of(pipeline)
        except PipelineError as error:
            self.refused[name] = str(error)
            return None
        key = content_id(self._about, pipeline.model_dump_json(exclude={"description"}))
        row = self._rows.get(key)
        if row is None:
            with self.progress.step(f"Ask: {name}", len(self.questions), "questions") as step:
                measured = await measure_pipeline(
                    "tuned",
                    retriever,
                    self.questions,
                    ks=(1, 5),
                    budget=self.budget,
                    top=self.top,
                    advance=step.advance,
                )
            calls = sum(one.found.usage.calls for one in measured.asked) / len(measured.asked)
            row = {
                "key": key,
                "choices": dict(choices),
                "scores": {measure: [one.scores[measure] for one in measured.asked] for measure in MEASURES},
                "cost": asdict(Cost(measured.mean("tokens"), measured.percentile(50), calls)),
            }
            self._keep(row)
        self.scores[name], self.costs[name] = row["scores"][self.measure], Cost(**row["cost"])
        return self.scores[name]

    def summary(self, choices: Choices) -> tuple[float, Cost]:
        """Return the mean score and the cost of choices that were asked by."""
        scores = self.scores[name_of(choices)]
        return sum(scores) / len(scores), self.costs[name_of(choices)]

    def _read(self) -> dict[str, dict[str, Any]]:
        if self.kept is None or not self.kept.exists():
            return {}
        # A line without an end is one that a killed run was writing.
        *lines, cut = self.kept.read_text(encoding="utf-8").split("\n")
        if cut and not ROW_START.startswith(cut[: len(ROW_START)]):
            lines.append(cut)
            cut = ""
        rows: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                rows[row["key"]] = row
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{self.kept}: line {number}: expected scores of an earlier `kgrag tune`: {error}"
                ) from error
        if cut:
            self.kept.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return rows

    def _keep(self, row: dict[str, Any]) -> None:
        self._rows[row["key"]] = row
        if self.kept is not None:
            with self.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
