"""What decides which communities are found and how they are summarised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgrag.errors import InputError, did_you_mean
from kgrag.types import content_id

__all__ = ["CommunitySettings", "community_settings"]


class CommunitySettings(BaseModel):
    """Each with its default; docs/communities.md says what they were measured to do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=7, ge=0)
    k: int = Field(default=15, ge=0)
    """Nearest neighbours of each entity that count as similar; 0 leaves similarity out."""
    cutoff: float = Field(default=0.80, ge=-1.0, le=1.0)
    """Lowest cosine of two entities that are similar."""
    relations: float = Field(default=1.0, ge=0.0, le=1e6)
    """Weight of the extracted relations beside similarity; 0 leaves them out. The most: what the hash of an edge still tells apart."""
    max_size: int = Field(default=40, ge=2)
    """Communities with more entities are divided again."""
    summary_floor: int = Field(default=5, ge=1)
    """Communities with fewer entities get a label and no summary."""
    budget: int = Field(default=2000, ge=200)
    """Tokens of a profile, by the embedder's count."""

    @property
    def partition_version(self) -> str:
        """Fingerprint of what decides who is with whom."""
        return content_id("2", str(self.seed), str(self.k), str(self.cutoff), str(self.relations), str(self.max_size))


def community_settings(given: Mapping[str, Any]) -> CommunitySettings:
    """Make settings of what a caller gave. Raises `InputError` that names each that is unknown or cannot be."""
    try:
        return CommunitySettings(**given)
    except ValidationError as error:
        raise InputError("communities: " + "; ".join(_problem(dict(one)) for one in error.errors())) from None


def _problem(error: Mapping[str, Any]) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] != "extra_forbidden":
        return f"{name}: {error['msg']} (got {error['input']!r})"
    known = CommunitySettings.model_fields
    return (
        f"expected one of graph, fresh, dry_run, progress, {', '.join(known)}; got {name}.{did_you_mean(name, known)}"
    )
