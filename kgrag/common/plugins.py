"""What other packages add to this one: entry points by group and name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from kgrag.errors import InputError

__all__ = ["registered"]


def registered(group: str) -> Mapping[str, EntryPoint]:
    """Return what installed packages register under a group, by name; nothing is imported before `.load()`.

    Raises `InputError` where two packages register the same name.
    """
    found: dict[str, EntryPoint] = {}
    for one in entry_points(group=group):
        other = found.setdefault(one.name, one)
        if other.value != one.value:
            raise InputError(f"Two packages register {one.name!r} under {group}: {other.value} and {one.value}.")
    return found
