"""What cleaning did to a document: every line that went, under the name of the rule that took it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["CleaningReport", "RemovedLine", "RepairedLine"]


@dataclass(frozen=True, slots=True)
class RemovedLine:
    """A line that is in no chunk."""

    rule: str
    text: str
    page: int | None = None
    """1-based; None where the format has no pages."""

    def __str__(self) -> str:
        return f"p. {self.page}: {self.text}" if self.page else self.text


@dataclass(frozen=True, slots=True)
class RepairedLine:
    """A line whose characters were wrong: encoded twice (`â€™` for `’`), control characters, halves of surrogate pairs."""

    before: str
    after: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class CleaningReport:
    """What was removed, by rule, and what was repaired; nothing is removed that is not here."""

    removed: Mapping[str, tuple[RemovedLine, ...]] = field(default_factory=dict)
    """Rule → its lines in document order; rules sorted by name."""
    repaired: tuple[RepairedLine, ...] = ()

    @classmethod
    def of(cls, removed: Iterable[RemovedLine], repaired: Iterable[RepairedLine] = ()) -> CleaningReport:
        """Group removed lines by their rule."""
        groups: dict[str, list[RemovedLine]] = {}
        for line in removed:
            groups.setdefault(line.rule, []).append(line)
        return cls({rule: tuple(groups[rule]) for rule in sorted(groups)}, tuple(repaired))

    @property
    def counts(self) -> dict[str, int]:
        """Rule → number of lines."""
        return {rule: len(lines) for rule, lines in self.removed.items()}
