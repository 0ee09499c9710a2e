"""What a judge says of one answer: small typed verdicts, from which the metrics are computed in code.

A judge, by rules or by a model, decides single questions (does the answer say this fact?); no judge decides a score or a category. A
verdict that could not be had is None, and stays missing in every mean.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "CitedSentence",
    "CompletenessVerdict",
    "CorrectnessVerdict",
    "Nugget",
    "NuggetVerdict",
    "StatementVerdict",
    "Support",
]

Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Support = Literal["supported", "partly", "not"]
StatementVerdict = Literal["yes", "partial", "no", "unknown", "missing"]
"""Whether the context says a statement; `unknown`: the judge said something else, `missing`: it said nothing about this statement."""


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorrectnessVerdict(_Verdict):
    """How an answer compares with the reference answer. `reason` comes first: a model is to say its grounds before its verdict."""

    reason: str = ""
    answered: bool
    """False where the answer says that it does not answer."""
    coverage: Share = 0.0
    """Share of the reference that the answer says."""
    severity: Literal["low", "medium", "high"] = "low"
    """How bad its worst error is."""


class CompletenessVerdict(_Verdict):
    """What of the reference an answer has, in items."""

    expected: Count
    actual: Count
    wrong: Count = 0
    missing: Count = 0
    overall: Share | None = None
    """The judge's own overall score, where it gave one."""

    @model_validator(mode="after")
    def _counts_agree(self) -> CompletenessVerdict:
        if self.missing > self.expected or self.wrong > self.actual:
            raise ValueError(
                f"expected missing <= expected and wrong <= actual, got {self.missing} of {self.expected} and {self.wrong} of {self.actual}"
            )
        return self


class Nugget(_Verdict):
    """One fact that a good answer has."""

    text: str
    importance: Literal["vital", "okay"] = "vital"
    sources: tuple[str, ...] = ()
    """Ids of chunks or passages that state it, where they are known."""


class NuggetVerdict(_Verdict):
    """Whether the answer, and apart from it the evidence that was shown, says a nugget."""

    nugget: Nugget
    answer: Support | None
    evidence: Support | None = None
    reason: str = ""


class CitedSentence(_Verdict):
    """A sentence of an answer with what each chunk that it cites says of it, and what they say together."""

    text: str
    citations: tuple[Literal["full", "partial", "none"] | None, ...] = ()
    together: Literal["full", "partial", "none"] | None
    """`none` where it cites nothing."""
