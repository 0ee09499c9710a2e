"""Communities: entities that belong together, at several levels, with what each is about."""

from kgrag.communities.report import CommunityReport
from kgrag.communities.settings import CommunitySettings
from kgrag.communities.update import update_communities

__all__ = ["CommunityReport", "CommunitySettings", "update_communities"]
