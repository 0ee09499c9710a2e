"""What keeps two names apart whatever else speaks for them.

`conflict` is the rule of resolution: names of one thing state the same facts. `contradiction` is the weaker rule for records, whose long
titles state some facts and leave out others: only what both state may contradict.
"""

from __future__ import annotations

import re
from collections import defaultdict

from kgrag.resolve.reading import NameReading, read_name

__all__ = ["conflict", "contradiction", "model_conflict"]

STEM = re.compile(r"[^\W\d_]*")


def conflict(one: NameReading, other: NameReading) -> str:
    """Say why two names can never be one thing; "" where nothing forbids it."""
    if one.signature != other.signature:
        return f"numbers differ: {one.signature or 'none'} against {other.signature or 'none'}"
    if one.models and other.models and (models := model_conflict(one, other)):
        return f"model numbers differ: {models[0]} against {models[1]}"
    return ""


def model_conflict(one: NameReading, other: NameReading) -> tuple[str, str] | None:
    """Return the model numbers that two names with the same digits do not share: `LPS22HB` and `LPS22HH`.

    Both must begin with the same letters, and neither may stand in the other name in another spelling (`ESP32S3` in `ESP32-S3`).
    """
    for mine in sorted(one.models - other.models):
        if _has(other, mine):
            continue
        for theirs in sorted(other.models - one.models):
            if STEM.match(mine).group() == STEM.match(theirs).group() and not _has(one, theirs):  # type: ignore[union-attr]
                return mine, theirs
    return None


def _has(reading: NameReading, model: str) -> bool:
    """Whether a name has a model number as pieces of its own, with nothing glued to it."""
    if any(known != model and known.startswith(model) for known in reading.models):
        return False
    pieces = [word.strip("⟨⟩") for word in reading.words]
    for first in range(len(pieces)):
        joined = ""
        for piece in pieces[first:]:
            joined += piece
            if joined == model:
                return True
            if not model.startswith(joined):
                break
    return False


def contradiction(one: str, other: str) -> str:
    """Say what two records' titles contradict each other in; "" where nothing does.

    They contradict where both state quantities of one unit, versions of one kind, or model numbers, and share none of them.
    """
    mine, theirs = _stated(one), _stated(other)
    for kind in sorted(mine.keys() & theirs.keys()):
        if not mine[kind] & theirs[kind]:
            return f"{kind}: {', '.join(sorted(mine[kind]))} against {', '.join(sorted(theirs[kind]))}"
    return ""


def _stated(title: str) -> dict[str, set[str]]:
    """What a title states, by kind."""
    stated: dict[str, set[str]] = defaultdict(set)
    reading = read_name(title)
    for fact in filter(None, reading.signature.split("|")):
        kind = _kind(fact)
        if kind:
            stated[kind].add(fact)
    return stated


def _kind(fact: str) -> str:
    words = fact.split()
    return words[-1] if len(words) > 1 else ""
