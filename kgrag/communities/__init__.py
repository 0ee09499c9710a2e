"""Communities: entities that belong together, at several levels, with what each is about."""

from kgrag.communities.report import CommunityReport
from kgrag.communities.settings import CommunitySettings

__all__ = ["CommunityReport", "CommunitySettings"]
