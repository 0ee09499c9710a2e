"""What a run of `kgrag communities` did, or would do."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel, Field

from kgrag.communities.settings import CommunitySettings
from kgrag.types import Usage

__all__ = ["CommunityFailure", "CommunityReport", "LevelCount"]


class LevelCount(BaseModel):
    """The communities of one level."""

    level: int
    communities: int
    largest: int
    """Entities of the largest."""
    entities: int
    """Entities that are in a community of this level."""


class CommunityFailure(BaseModel):
    """A community that could not be summarised."""

    key: str
    size: int
    reason: str


class CommunityReport(BaseModel):
    """Counts of everything that was looked at; filled as the run goes."""

    graph: str
    settings: CommunitySettings
    model: str
    dry_run: bool = False
    entities: int = 0
    without_vector: int = 0
    """Entities that have no vector yet: kgrag build gives them one."""
    isolated: int = 0
    """Entities that are similar and related to none: in no community."""
    similar_pairs: int = 0
    related_pairs: int = 0
    levels: list[LevelCount] = Field(default_factory=list)
    modularity: float = 0.0
    """Of level 0."""
    new: int = 0
    """Communities that were not there before."""
    summaries: Counter[str] = Field(default_factory=Counter)
    """State (ok, empty, mended, failed, unchanged; in a dry run also planned) -> communities."""
    failures: list[CommunityFailure] = Field(default_factory=list)
    usage: Usage = Usage()
    """What the model calls cost; in a dry run what they are expected to cost."""
    price_known: bool = True
    seconds: dict[str, float] = Field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every community is accounted for without a failure."""
        return not self.failures
