"""A judgement: all that one judge says of one answer, and the metrics that follow from it by a preset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.metrics import (
    Category,
    answer_relevance,
    category,
    citation_score,
    completeness,
    faithfulness,
    helpfulness,
    nugget_losses,
    nugget_score,
)
from kgrag.evaluate.judge.presets import Preset
from kgrag.evaluate.judge.provenance import gold_places_cited, pages_cited, sources_cited
from kgrag.evaluate.judge.verdicts import (
    CitedSentence,
    CompletenessVerdict,
    CorrectnessVerdict,
    NuggetVerdict,
    StatementVerdict,
)
from kgrag.evaluate.overlap import Overlap, exact_match, sentence_overlap, word_f1
from kgrag.text.sentences import sentences
from kgrag.types import Answer, Usage

__all__ = ["Judge", "Judgement", "ToJudge", "answer_category", "scores"]


class Judgement(BaseModel):
    """What one judge says of one answer. A part that is None was not judged; `failures` says which parts could not be, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str
    correctness: CorrectnessVerdict | None = None
    completeness: CompletenessVerdict | None = None
    nuggets: tuple[NuggetVerdict, ...] = ()
    statements: tuple[StatementVerdict, ...] | None = None
    citations: tuple[CitedSentence, ...] | None = None
    relevance: tuple[float, ...] | None = None
    """Cosines of the question with questions that were made from the answer."""
    similarity: tuple[float, float] | None = None
    """Precision and recall of the answer's tokens against those of the best reference, by the embedder's token vectors."""
    rating: Annotated[int, Field(ge=1, le=5)] | None = None
    """Of helpfulness, without the reference."""
    failures: Mapping[str, str] = Field(default_factory=dict)
    """Part → why it could not be judged."""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class ToJudge:
    """An answer that is to be judged, and what of it."""

    question: GoldQuestion
    answer: Answer
    before: Judgement | None = None
    """An earlier judgement of it: only the parts that failed are judged."""
    only: Collection[str] | None = None
    """Parts of a `Judgement`, where not all are wanted."""

    def wants(self, part: str) -> bool:
        """Whether a part is to be judged."""
        return self.only is None or part in self.only


class Judge(Protocol):
    """Judges answers. `name` is recorded with every judgement; `fingerprint` changes where the same answer would be judged otherwise."""

    @property
    def name(self) -> str:
        """How settings and results call it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of the judge, its prompts and constants."""
        ...

    async def judge(self, asked: ToJudge) -> Judgement:
        """Judge one answer. A part that fails is missing and named; raises only what waiting would cure (`ModelUnavailable`)."""
        ...


def answer_category(judgement: Judgement, *, preset: Preset) -> Category | None:
    """Return the category of an answer; None where correctness was not judged."""
    return None if judgement.correctness is None else category(judgement.correctness, preset=preset)


def scores(question: GoldQuestion, answer: Answer, judgement: Judgement, *, preset: Preset) -> dict[str, float | None]:
    """Return every metric of one answer in [0, 1] (tokens, seconds and cost in their units); None: not judged, or not defined here."""
    kind = answer_category(judgement, preset=preset)
    faithful = None if judgement.statements is None else faithfulness(judgement.statements, preset=preset)
    losses = nugget_losses(judgement.nuggets)
    cited = None if judgement.citations is None else citation_score(judgement.citations)
    references = question.references
    relevance = answer_relevance(judgement.relevance, preset=preset) if judgement.relevance else None
    sentence = sentence_overlap(_sentences(answer), question.gold_facts) if question.gold_facts else None
    alike = None if judgement.similarity is None else Overlap(*judgement.similarity)
    return {
        "right": None if kind is None else float(kind == "TP"),
        "nuggets": nugget_score(judgement.nuggets),
        "evidence nuggets": nugget_score(judgement.nuggets, of="evidence"),
        "lost in retrieval": None if losses is None else losses[0],
        "lost in answering": None if losses is None else losses[1],
        "completeness": None if judgement.completeness is None else completeness(judgement.completeness, preset=preset),
        "faithfulness": faithful,
        "relevance": None if relevance is None else relevance[0],
        "relevant share": None if relevance is None else relevance[1],
        "helpfulness": None if judgement.rating is None else helpfulness(judgement.rating, faithful, preset=preset),
        "citation precision": None if cited is None else cited.precision,
        "citation recall": None if cited is None else cited.recall,
        "gold places cited": gold_places_cited(question.facts, answer),
        "source accuracy": sources_cited(question.facts, answer),
        "page accuracy": pages_cited(question.facts, answer),
        "sentence precision": None if sentence is None else sentence.precision,
        "sentence recall": None if sentence is None else sentence.recall,
        "exact match": exact_match(answer.text, references) if references else None,
        "word F1": word_f1(answer.text, references) if references else None,
        "token precision": None if alike is None else alike.precision,
        "token recall": None if alike is None else alike.recall,
        "token F1": None if alike is None else alike.f1,
        "abstained": float(answer.abstained),
        "right abstention": None if question.answerable is None else float(answer.abstained != question.answerable),
        "answer words": float(len(answer.text.split())),
        "reference words": float(np.mean([len(one.split()) for one in references])) if references else None,
        "evidence tokens": float(sum(piece.tokens for piece in answer.evidence)),
        "seconds": answer.seconds,
        "cost": answer.usage.cost,
    }


def _sentences(answer: Answer) -> list[str]:
    """Return the sentences of what an answer was made from."""
    return [sentence.text for piece in answer.evidence for sentence in sentences(piece.text)]
