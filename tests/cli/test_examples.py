"""Every command shows how one types it, and what it shows can be typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kgrag.cli.app import command
from kgrag.cli.examples import EXAMPLES

SHELL = 'eval "$('


def commands(group: Any, before: str = "") -> Iterator[str]:
    """The names of what does something: commands, and groups that work without one."""
    for name, one in group.commands.items():
        full = f"{before} {name}".strip()
        if not hasattr(one, "commands") or one.invoke_without_command:
            yield full
        if hasattr(one, "commands"):
            yield from commands(one, full)


def test_every_command_has_an_example() -> None:
    assert set(commands(command())) == set(EXAMPLES)


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_an_example_is_a_command_with_its_options(line: str) -> None:
    words = shlex.split(line.removeprefix(SHELL).removesuffix(')"'))
    assert words.pop(0) == "kgrag"
    one: Any = command()
    context = click.Context(one, info_name="kgrag")
    while hasattr(one, "commands") and words and words[0] in one.commands:
        name = words.pop(0)
        one = one.commands[name]
        context = one.make_context(name, list(words), parent=context)
    assert one is not command()


def test_help_shows_the_examples() -> None:
    program: Any = command()
    shown = CliRunner().invoke(program, ["serve", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    for line in EXAMPLES["serve"]:
        assert line in shown
