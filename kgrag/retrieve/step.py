"""What a step of a pipeline is: its settings are its fields, what it does is `__call__`.

    class Recent(Step):
        kind: Literal["recent"] = "recent"
        weight: Share = 0.1
        needs: ClassVar = ("evidence",)
        gives: ClassVar = ("evidence",)

        async def __call__(self, state: State, resources: Resources) -> State: ...

A package registers its steps by their kinds under the entry point group `kgrag.steps`; docs/retrieval.md has a whole one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from kgrag.retrieve.state import Query, Resources, State
from kgrag.types import Evidence, Usage

__all__ = [
    "BesideFile",
    "Change",
    "Count",
    "CountOrNone",
    "Model",
    "ModelStep",
    "Share",
    "StatePart",
    "Step",
    "Weight",
    "changed",
    "run_step",
]

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=100.0)]
Count = Annotated[int, Field(ge=1, le=1000)]
CountOrNone = Annotated[int, Field(ge=0, le=1000)]


def _beside(file: str, info: ValidationInfo) -> str:
    folder: Path | None = (info.context or {}).get("folder")
    return file if folder is None else str(folder / file)


BesideFile = Annotated[str, Field(min_length=1), AfterValidator(_beside)]
"""The path of a file that a step reads: in a pipeline's file relative to the folder of that file, so that both can be moved together."""

StatePart = Literal["query", "listing", "vector", "seeds", "candidates", "evidence", "shown"]
"""What is looked for, what is said of every thing of a sort, the vector of what is looked for, what it finds by itself, all that is
ranked, what was read, what is shown in the end."""

Model = Literal["a chat model", "a reranker", "a reranker of Cohere"]


class Step(BaseModel):
    """One step of a pipeline: frozen settings, no others allowed, and what is done by them.

    `needs` are the parts of the state that it reads and cannot do without, `gives` those that it makes or changes. A list of steps is right
    where every step's needs were given before it, and no part changes any more once a step has made another part of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: str

    needs: ClassVar[tuple[StatePart, ...]] = ()
    gives: ClassVar[tuple[StatePart, ...]] = ()

    async def __call__(self, state: State, resources: Resources) -> State:
        """Do it: return another state."""
        raise NotImplementedError

    def check(self, resources: Resources) -> None:
        """Raise `PipelineError` where the store lacks what the step cannot do without; called before the first question."""


class ModelStep(Step):
    """A step that asks a model."""

    asks: ClassVar[Model]
    without_model: str | None = None
    """The kind of the step that takes its place, with the settings that both have, where that model is not there; None: refused then."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one step changed for one question."""

    step: str
    changed: int
    """Parts of the query that differ, candidates that came, went or have another score, and places of the evidence with another piece."""
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    """What else the step counted, by its name for it: links that lead nowhere."""
    usage: Usage = field(default_factory=Usage)
    """What the models cost that it asked."""


async def run_step(step: Step, state: State, resources: Resources, *, name: str) -> tuple[State, Change]:
    """Run a step, take out what is hidden, and count what changed."""
    started = time.perf_counter()
    after = (await step(state, resources)).visible()
    used = after.usage - state.usage
    change = Change(name, changed(state, after), time.perf_counter() - started, after.counts, used)
    return replace(after, counts={}), change


def changed(before: State, after: State) -> int:
    """Count what differs between two states."""
    query: int = sum(
        getattr(before.query, one.name) != getattr(after.query, one.name)
        for one in fields(Query)
        if one.name != "boost"
    )
    scores = {key: candidate.score for key, candidate in before.candidates.items()}
    moved = sum(scores.get(key) != candidate.score for key, candidate in after.candidates.items())
    gone = len(scores.keys() - after.candidates.keys())
    listed = int(before.listing != after.listing)
    return query + listed + moved + gone + _places_changed(before.evidence, after.evidence)


def _places_changed(before: Sequence[Evidence], after: Sequence[Evidence]) -> int:
    same = [(a.chunk_id, a.text) == (b.chunk_id, b.text) for a, b in zip(before, after, strict=False)]
    return max(len(before), len(after)) - sum(same)
