"""What keeps two names apart whatever else speaks for them.

Names of one thing state the same facts. Records, whose long titles state some facts and leave out others, have a rule of their own:
`kgrag.resolve.records`.
"""

from __future__ import annotations

from kgrag.resolve.reading import NameReading

__all__ = ["conflict", "model_conflict"]


def conflict(one: NameReading, other: NameReading) -> str:
    """Say why two names can never be one thing; "" where nothing forbids it."""
    if one.signature != other.signature:
        return f"numbers differ: {one.signature or 'none'} against {other.signature or 'none'}"
    return model_conflict(one, other)


def model_conflict(one: NameReading, other: NameReading) -> str:
    """Say which model number a name has that another with the same digits has not: `LPS22HB` and `LPS22HH`, `A7` and `7`.

    One that stands in the other in another spelling is no conflict: `ESP32S3` in `ESP32-S3`, `X-100` in `X 100`.
    """
    if one.form == other.form or not (one.models or other.models):
        return ""
    mine = next((model for model in sorted(one.models - other.models) if not _has(other, model)), None)
    theirs = next((model for model in sorted(other.models - one.models) if not _has(one, model)), None)
    return f"model numbers differ: {mine or 'none'} against {theirs or 'none'}" if mine or theirs else ""


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
