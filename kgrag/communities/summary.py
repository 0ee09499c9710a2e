"""What a summary is, and who writes one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kgrag.communities.profile import Profile
from kgrag.text.cited_numbers import cited_numbers
from kgrag.types import Citation, Community, Usage, WorkState

__all__ = ["Summariser", "Summary", "community", "full_content", "numbers_of", "small_community"]

_NUMBER = r"(?:chunks?\s?)?\d{1,4}"
CITED = re.compile(rf"\s?\[({_NUMBER}(?:\s?(?:[,;–-]|and)\s?{_NUMBER})*)\]", re.IGNORECASE)
"""As it is asked for, `[2]`, and as models write it too: `[1, 3]`, `[1-3]`, `[chunk 2]`. A longer number is none of a chunk."""
CHUNK = re.compile(r"chunks?", re.IGNORECASE)
QUOTE_CHARACTERS = 300
LONGEST_LABEL = 120
"""Characters."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a community is about, with `[1]`, `[2]` in the summary for the profile's chunks by number."""

    label: str
    summary: str
    key_terms: tuple[str, ...]
    quotes: tuple[tuple[int, str], ...] = ()
    """Number of a chunk, and the words of it that the summary took."""
    state: WorkState = "ok"
    reason: str = ""
    usage: Usage = field(default_factory=Usage)


class Summariser(Protocol):
    """Writes summaries of communities from their profiles. Safe to call concurrently from one event loop."""

    @property
    def name(self) -> str:
        """The model's name; `rules` is model-free."""
        ...

    @property
    def price_known(self) -> bool:
        """Whether the costs in usages and estimates are more than zeros for want of a price."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of all that a summary depends on besides the profile: model, prompt, rules."""
        ...

    def prepare(self, profiles: Sequence[Profile]) -> None:
        """Learn how the communities of one level differ, before any of them is summarised."""
        ...

    def estimate(self, profile: Profile) -> Usage:
        """Say what summarising it is expected to cost, without asking anybody."""
        ...

    async def summarise(self, profile: Profile) -> Summary:
        """Summarise one community. Raises `ModelReplyError` where the reply cannot be used, `ModelError` where no model can be reached."""
        ...


def numbers_of(mark: re.Match[str]) -> list[int]:
    """Return the numbers of a match of `CITED`, ranges written out, each once."""
    return cited_numbers(CHUNK.sub("", mark[1]))


def full_content(label: str, summary: str, key_terms: Sequence[str]) -> str:
    """Say all that is known of a community as one text: what is embedded, searched, and shown to a model that answers."""
    terms = f"Key terms: {', '.join(key_terms)}" if key_terms else ""
    return "\n\n".join(part for part in (label, summary, terms) if part)


def community(profile: Profile, summary: Summary, *, parent: str | None, titles: Mapping[str, str]) -> Community:
    """Make a community of its profile and its summary; `titles` says how documents are cited, by id.

    Its citations are numbered from 1 in the order in which the summary first has them; a number that stands for no chunk goes.
    """
    quotes = dict(summary.quotes)
    numbers: dict[int, int] = {}

    def renumber(match: re.Match[str]) -> str:
        found = [number for number in numbers_of(match) if 1 <= number <= len(profile.chunks)]
        kept = [numbers.setdefault(number, len(numbers) + 1) for number in found]
        return "".join(f" [{number}]" for number in kept)

    text = CITED.sub(renumber, summary.summary).strip()
    label = _short(summary.label)
    citations = []
    for number, place in numbers.items():
        chunk = profile.chunks[number - 1]
        citations.append(
            Citation(
                number=place,
                chunk_id=chunk.id,
                document=titles[chunk.document_id],
                section=chunk.section,
                page_start=chunk.page_start,
                page_end=chunk.page_end,
                quote=quotes.get(number, "")[:QUOTE_CHARACTERS],
            )
        )
    return Community(
        key=profile.key,
        graph=profile.graph,
        level=profile.level,
        size=profile.size,
        parent=parent,
        label=label,
        summary=text,
        key_terms=summary.key_terms,
        full_content=full_content(label, text, summary.key_terms),
        citations=tuple(citations),
    )


def small_community(
    key: str, *, graph: str, level: int, size: int, parent: str | None, names: Sequence[str]
) -> Community:
    """Make a community that is too small for a summary: its label is the names of its members, the most central first."""
    label = _short(listed(names))
    return Community(
        key=key,
        graph=graph,
        level=level,
        size=size,
        parent=parent,
        label=label,
        full_content=full_content(label, "", ()),
    )


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1].rstrip()}…"


def listed(names: Sequence[str], *, most: int = 3) -> str:
    """Join names as a sentence does: `A, B and C`, or `A, B, C and 4 more`."""
    shown, rest = list(names[:most]), len(names) - most
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
