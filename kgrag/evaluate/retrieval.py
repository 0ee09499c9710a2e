"""How good retrieval is: pipelines against gold evidence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kgrag.evaluate.gold_questions import GoldQuestion, states
from kgrag.retrieve import Retrieval
from kgrag.retrieve.step import Change
from kgrag.types import Evidence

__all__ = ["Asked", "PipelineResult", "Traces", "facts_in_budget", "measure_pipeline", "score_evidence"]

BUDGETS_TOKENS = (250, 500, 1000, 1500, 2000, 3000, 4000)
"""Of the curve of quality over tokens."""


class Traces(Protocol):
    """What retrieves (`kgrag.retrieve.Retriever`)."""

    def trace(
        self, question: str, *, top: int | None = None, budget: int | None = None, hidden: Collection[str] = ()
    ) -> Awaitable[Retrieval]:
        """Find evidence and say what each step changed."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, what was found, and how good that is."""

    question: GoldQuestion
    found: Retrieval
    scores: Mapping[str, float]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class StepEffect:
    """What a step changed over all questions."""

    step: str
    questions: int
    """In how many it changed anything."""
    changed: int
    """How much, all together (`kgrag.retrieve.step.Change`)."""
    milliseconds: float
    """Median."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What it counted besides, over all questions."""
    calls: int = 0
    """Of models, over all questions."""
    tokens: int = 0
    """Of these calls, prompts and replies."""


@dataclass(frozen=True)
class PipelineResult:
    """What a pipeline found for all questions, in their order."""

    pipeline: str
    asked: tuple[Asked, ...]
    curve: Mapping[int, float] = field(default_factory=dict)
    """Gold facts inside each budget of tokens, mean over questions."""

    @property
    def types(self) -> list[str]:
        """The types of questions that there are, sorted."""
        return sorted({one.question.query_type for one in self.asked} - {""})

    def of_type(self, query_type: str | None) -> list[Asked]:
        """The questions of a type; all of them for None."""
        return [one for one in self.asked if query_type is None or one.question.query_type == query_type]

    def mean(self, measure: str, query_type: str | None = None) -> float:
        """Mean of a measure."""
        return float(np.mean([one.scores[measure] for one in self.of_type(query_type)]))

    def percentile(self, percent: float, query_type: str | None = None) -> float:
        """Latency in milliseconds."""
        return float(np.percentile([one.milliseconds for one in self.of_type(query_type)], percent))

    @property
    def empty(self) -> list[str]:
        """Ids of questions for which nothing at all was found."""
        return [one.question.id for one in self.asked if not one.found.evidence]

    @property
    def remarks(self) -> list[str]:
        """What did not go as the pipeline says, each once."""
        return list(dict.fromkeys(remark for one in self.asked for remark in one.found.remarks))

    @property
    def effects(self) -> list[StepEffect]:
        """What each step changed, in their order; those of several pipelines (`adaptive`) one after the other."""
        changes: dict[str, list[Change]] = {}
        for one in self.asked:
            prefix = "" if one.found.pipeline == self.pipeline else f"{one.found.pipeline}: "
            for change in one.found.changes:
                changes.setdefault(prefix + change.step, []).append(change)
        return [
            StepEffect(
                step,
                sum(change.changed > 0 for change in some),
                sum(change.changed for change in some),
                1000 * float(np.median([change.seconds for change in some])),
                sum((Counter(change.counts) for change in some), Counter()),
                sum(change.usage.calls for change in some),
                sum(change.usage.prompt_tokens + change.usage.completion_tokens for change in some),
            )
            for step, some in changes.items()
        ]

    @property
    def idle(self) -> list[str]:
        """Steps that changed nothing for any question."""
        return [effect.step for effect in self.effects if not effect.changed]


def facts_in_budget(facts: Sequence[frozenset[str]], evidence: Sequence[Evidence], tokens: int) -> float:
    """Return the share of facts that a piece inside the budget states: whole pieces, up to the first that does not fit."""
    inside: list[Evidence] = []
    used = 0
    for piece in evidence:
        used += piece.tokens
        if used > tokens:
            break
        inside.append(piece)
    return sum(any(states(piece, fact) for piece in inside) for fact in facts) / len(facts)


def score_evidence(
    facts: Sequence[frozenset[str]], evidence: Sequence[Evidence], *, ks: Sequence[int], budget: int
) -> dict[str, float]:
    """Score what was found for one question.

    `R@k` the share of facts stated in the first k pieces, `all@k` 1 where all are, `hit@k` 1 where any is, `MRR` one over the rank of the
    first piece that states one, `facts` the share stated inside `budget` tokens, `tokens` those of all pieces.
    """
    ranks = [
        next((rank for rank, piece in enumerate(evidence, start=1) if states(piece, fact)), None) for fact in facts
    ]
    scores: dict[str, float] = {}
    for k in ks:
        found = sum(rank is not None and rank <= k for rank in ranks)
        scores[f"R@{k}"] = found / len(facts)
        scores[f"all@{k}"] = float(found == len(facts))
        scores[f"hit@{k}"] = float(found > 0)
    first = min((rank for rank in ranks if rank is not None), default=None)
    scores["MRR"] = 1.0 / first if first else 0.0
    scores["facts"] = facts_in_budget(facts, evidence, budget)
    scores["tokens"] = float(sum(piece.tokens for piece in evidence))
    return scores


async def measure_pipeline(
    name: str,
    retriever: Traces,
    questions: Sequence[GoldQuestion],
    *,
    ks: Sequence[int],
    budget: int,
    top: int | None,
    advance: Callable[[], None] | None = None,
) -> PipelineResult:
    """Ask every question through a pipeline, one after the other; the first is asked once before, so that loading is not timed."""
    await retriever.trace(questions[0].question, top=top)
    asked = []
    for question in questions:
        started = time.perf_counter()
        found = await retriever.trace(question.question, top=top, hidden=question.hidden)
        milliseconds = 1000 * (time.perf_counter() - started)
        scores = score_evidence(question.facts, found.evidence, ks=ks, budget=budget)
        asked.append(Asked(question, found, scores, milliseconds))
        if advance is not None:
            advance()
    curve = {
        tokens: float(np.mean([facts_in_budget(one.question.facts, one.found.evidence, tokens) for one in asked]))
        for tokens in BUDGETS_TOKENS
    }
    return PipelineResult(name, tuple(asked), curve)
