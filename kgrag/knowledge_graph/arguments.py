"""What callers of the Python face give: checked before any work, so that a wrong argument is named and not what it breaks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from kgrag.errors import InputError

__all__ = ["checks_arguments"]

C = TypeVar("C", bound=type)

LEAST = {"top": 1, "budget": 1}
"""Of whole numbers that have a least other than 0."""
SHOWN_CHARACTERS = 80


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, Collection) and not isinstance(value, str | bytes) and all(isinstance(v, str) for v in value)
    )


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a text", lambda value: isinstance(value, str)),
    "Path": ("a path", lambda value: isinstance(value, Path)),
    "int": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "float": ("a number", _is_number),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "None": ("None", lambda value: value is None),
    "Sequence[str]": ("a list of texts", _are_texts),
    "Collection[str]": ("a list of texts", _are_texts),
    "dict[str, Any]": ("a dictionary", lambda value: isinstance(value, Mapping)),
}
"""An annotation → what is expected, and whether a value is that."""


def checks_arguments(face: C) -> C:
    """Have the public coroutine methods of a class raise `InputError` for an argument that is not what its annotation says.

    Only annotations made of `KINDS` are looked at. A whole number is also refused below its least (0; `LEAST`), but for seeds.
    """
    for name, method in list(vars(face).items()):
        if not name.startswith("_") and inspect.iscoroutinefunction(method):
            setattr(face, name, _checked(method))
    return face


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)
    kinds = {
        name: parts
        for name, parameter in signature.parameters.items()
        if KINDS.keys() >= {*(parts := str(parameter.annotation).split(" | "))}
    }

    @wraps(method)
    async def checked(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if name in kinds:
                many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
                for one in value if many else (value,):
                    _expect(one, kinds[name], least=LEAST.get(name, 0), where=f"{method.__name__}: {name}")
        return await method(*args, **kwargs)

    return checked


def _expect(value: Any, kinds: list[str], *, least: int, where: str) -> None:
    is_count = "int" in kinds and not where.endswith("seed")
    if any(KINDS[kind][1](value) for kind in kinds) and not (is_count and _is_number(value) and value < least):
        return
    said = [f"{KINDS[kind][0]} of at least {least}" if kind == "int" and is_count else KINDS[kind][0] for kind in kinds]
    shown = repr(value)
    shown = shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}..."
    raise InputError(f"{where}: expected {' or '.join(said)}, got {shown}.")
