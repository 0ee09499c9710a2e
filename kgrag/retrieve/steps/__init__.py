"""The steps that a pipeline may have, by kind: ours, and those that other packages register."""

from __future__ import annotations

from kgrag.common.plugins import registered
from kgrag.errors import PipelineError
from kgrag.retrieve.step import Step
from kgrag.retrieve.steps.adjacent import Adjacent
from kgrag.retrieve.steps.communities import CommunityExpansion, CommunitySeeds, GlobalSeeds, GlobalSimilarity
from kgrag.retrieve.steps.diversification import Diversification
from kgrag.retrieve.steps.entity import EntitySeeds
from kgrag.retrieve.steps.evidence import Arrange, Budget, Read
from kgrag.retrieve.steps.kg import GraphExpansion
from kgrag.retrieve.steps.learnt import Learnt
from kgrag.retrieve.steps.link_prediction import LinkPrediction
from kgrag.retrieve.steps.links import Links
from kgrag.retrieve.steps.listing import CountAndList
from kgrag.retrieve.steps.names import Names
from kgrag.retrieve.steps.near_duplicates import NearDuplicates
from kgrag.retrieve.steps.pagerank import PageRank
from kgrag.retrieve.steps.paths import Paths
from kgrag.retrieve.steps.predicted import Predicted
from kgrag.retrieve.steps.proximity import Proximity
from kgrag.retrieve.steps.query import (
    ContentTerms,
    Coordination,
    Decompose,
    Embed,
    Feedback,
    Hyde,
    Keywords,
    Rewrite,
    RuleKeywords,
    StepBack,
    Topic,
)
from kgrag.retrieve.steps.rerank import Cohere, CrossEncoder, LateInteraction, Listwise
from kgrag.retrieve.steps.seeds import Dense, Hybrid, Sparse
from kgrag.retrieve.steps.text2cypher import Text2Cypher
from kgrag.retrieve.steps.walk import Walk

__all__ = ["ENTRY_POINTS", "kind_of", "kinds", "step_class"]

ENTRY_POINTS = "kgrag.steps"
"""The group under which packages register steps: the name is the kind, the value the class."""

BUILT_IN: tuple[type[Step], ...] = (
    *(Rewrite, ContentTerms, Keywords, RuleKeywords, Decompose, Coordination, StepBack, Topic),
    *(CountAndList, Text2Cypher),
    *(Embed, Hyde, Feedback),
    *(Dense, Sparse, Hybrid, LinkPrediction, EntitySeeds, CommunitySeeds, GlobalSeeds, GlobalSimilarity),
    *(Names, Adjacent, Links, Paths, Predicted, GraphExpansion, CommunityExpansion, PageRank, Walk),
    *(Read, Proximity, Learnt, CrossEncoder, Cohere, Listwise, LateInteraction, NearDuplicates, Diversification),
    *(Budget, Arrange),
)


def kind_of(step: type[Step]) -> str:
    """Return the kind of a class of steps: the default of its field `kind`."""
    return str(step.model_fields["kind"].default)


_OURS = {kind_of(step): step for step in BUILT_IN}


def kinds() -> list[str]:
    """Name all kinds, ours in the order in which they mostly stand in a pipeline, then others'."""
    return [*_OURS, *sorted(registered(ENTRY_POINTS).keys() - _OURS.keys())]


def step_class(kind: str) -> type[Step] | None:
    """Return the class of that kind, None where there is none. Raises `PipelineError` where another package's cannot be used."""
    if kind in _OURS:
        return _OURS[kind]
    found = registered(ENTRY_POINTS).get(kind)
    if found is None:
        return None
    try:
        step = found.load()
    except Exception as error:
        raise PipelineError(f"The step {kind!r} ({found.value}) cannot be loaded: {error!r}") from error
    if not (isinstance(step, type) and issubclass(step, Step) and kind_of(step) == kind):
        raise PipelineError(f"Expected {found.value} to be a kgrag.retrieve.Step of kind {kind!r}, got {step!r}.")
    return step
