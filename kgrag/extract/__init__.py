"""Extractors: from a chunk to the entities and relations that it states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgrag.errors import InputError

if TYPE_CHECKING:
    from kgrag.extract.base import Extractor

__all__ = ["EXTRACTORS", "open_extractor"]

EXTRACTORS = ("mention",)
"""Names that `open_extractor` knows; `mention` needs no model."""


def open_extractor(name: str) -> Extractor:
    """Return a new extractor of that name. Raises `InputError` for an unknown one."""
    match name:
        case "mention":
            from kgrag.extract.mention import MentionExtractor

            return MentionExtractor()
        case _:
            raise InputError(
                f"Unknown extractor {name!r}: expected one of {', '.join(EXTRACTORS)}. Set --extractor or KGRAG_EXTRACTOR."
            )
