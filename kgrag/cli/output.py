"""How the terminal face writes: results to stdout, progress and errors to stderr, JSON where a script wants it."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from kgrag.common.progress import Progress, Silent, Step
from kgrag.common.standard_streams import is_standard_output
from kgrag.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.table import Table

    from kgrag.store.graph import GraphStore

__all__ = [
    "complain",
    "json_line",
    "json_text",
    "markdown_table",
    "print_json",
    "print_table",
    "rate_said",
    "say_remark",
    "shown_beside",
    "stderr",
    "stdout",
    "terminal_progress",
    "time_said",
    "visible",
]

LINE_EVERY_S = 10.0
NAMED_AFTER_S = 5.0
"""A file that takes so long is named."""
NAMED_CHARACTERS = 40
"""Of its path, beside a bar."""
LONGEST_COMPLAINT = 2_000
"""Characters."""
COLUMN_CHARACTERS = 12
"""That a column of a table has on a terminal, however narrow it is: one of two characters cannot be read."""

_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
"""What moves the cursor, changes colours, writes the clipboard or turns the order of text around; not tab and newline."""


class _Harmless(ConsoleRenderable):
    """Shows something with the control characters of its text made visible (`\\x1b`): answers and file names are not ours."""

    def __init__(self, shown: ConsoleRenderable) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._shown, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class _HarmlessText(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Harmless(shown) for shown in renderables]


def visible(text: str) -> str:
    """Return text with its control characters written out."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def _console(**options: Any) -> Console:
    """Make a console on which all text is text: no markup, no escape sequences but the console's own."""
    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True, **options)
    console.push_render_hook(_HarmlessText())
    return console


stdout = _console()
stderr = _console(stderr=True)


def complain(message: str) -> None:
    """Write an error to stderr as plain text: nothing in it is markup. Of a long one, which ends with a model's reply, the beginning."""
    if (left_out := len(message) - LONGEST_COMPLAINT) > 0:
        message = f"{message[:LONGEST_COMPLAINT]}... ({left_out:,} characters more: --debug shows them)"
    stderr.print("Error:", style="bold red", end=" ")
    stderr.print(message, markup=False)


def say_remark(store: GraphStore) -> None:
    """Tell a reader that a copy is read, if so."""
    if store.remark:
        stderr.print(f"note: {store.remark}", style="dim")


def print_json(value: BaseModel | dict[str, Any] | list[Any]) -> None:
    """Write one JSON document to stdout, without colours or wrapping."""
    sys.stdout.write(json_text(value if isinstance(value, dict | list) else value.model_dump(mode="json")) + "\n")


def json_text(value: Any) -> str:
    """Return JSON for stdout with every control character escaped, those too that JSON allows."""
    text = json.dumps(value, ensure_ascii=not _takes_any_character(), indent=2, default=str)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def json_line(value: dict[str, Any]) -> str:
    """Return JSON in one line, with the same escapes."""
    text = json.dumps(value, ensure_ascii=not _takes_any_character(), default=str)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _takes_any_character() -> bool:
    """Say whether stdout does: where its encoding is of one alphabet, JSON escapes what is not ASCII."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def shown_beside(file: Path | None, *, as_json: bool = False) -> Console:
    """Return where a command says what it did: stdout, but stderr where the file that it writes is stdout.

    Raises `InputError` where that shall be JSON on stdout, too.
    """
    if not is_standard_output(file):
        return stdout
    if as_json:
        raise InputError(f"{file} and --json: expected one of them to go to standard output, got both.")
    return stderr


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, on: Console | None = None) -> None:
    """Write a table as Markdown: rich would cut its columns where the output is a file or a narrow terminal."""
    on = on or stdout
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        on.print(f"| {' | '.join(cells)} |", markup=False)


def print_table(table: Table) -> None:
    """Write a table whose columns fold. It is as wide as the terminal, and as its content where the output is a pipe or a file."""
    unlimited = stdout.options.update(max_width=sys.maxsize)
    table.width = Measurement.get(stdout, unlimited, table).maximum
    if stdout.is_terminal:
        table.width = min(table.width, max(stdout.width, len(table.columns) * (COLUMN_CHARACTERS + 3) + 1))
    stdout.print(table)


def time_said(seconds: float) -> str:
    """Say seconds as a person would: `42 s`, `5 min 15 s`, `3 h 7 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def rate_said(per_second: float) -> str:
    """Say a rate in the unit in which it is at least one: `12.5/s`, `2.1/min`, `0.5/h`."""
    for seconds, unit in ((1, "s"), (60, "min")):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:,.1f}/{unit}"
    return f"{per_second * 3600:,.1f}/h"


def terminal_progress() -> Progress:
    """Return progress bars where stderr is a terminal, and a line every 10 s where it is piped."""
    return _Bars() if stderr.is_terminal else _Lines()


class _Lines(Silent):
    """A line every `LINE_EVERY_S` of a step: a log shows that the job lives, also while one file takes long."""

    def say(self, line: str) -> None:
        """Write a line to stderr."""
        stderr.print(line)

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Write lines until the step is done; none for one that is done sooner."""
        counted, ended = _Counted(name, total, unit), threading.Event()

        def write_lines() -> None:
            while not ended.wait(LINE_EVERY_S):
                stderr.print(counted.line())

        writer = threading.Thread(target=write_lines, daemon=True)
        writer.start()
        try:
            yield counted
        finally:
            ended.set()
            writer.join()


class _Counted:
    """How far a step is."""

    def __init__(self, name: str, total: int | None, unit: str) -> None:
        self._name, self._total, self._unit = name, total, unit
        self._done, self._began = 0, time.monotonic()
        self._at = _At()

    def begin(self, unit: str) -> None:
        """Remember what is being done."""
        self._at = _At(unit)

    def advance(self, count: int = 1) -> None:
        """Count."""
        self._done += count
        self._at = _At()

    def line(self) -> str:
        """Say name, units done, rate, and seconds that are left at that rate."""
        took_s = time.monotonic() - self._began
        done = f"{self._done:,} of {self._total:,}" if self._total else f"{self._done:,}"
        if not self._done or not self._total:
            return f"{self._name}: {f'{done} {self._unit}, ' if self._unit else ''}{time_said(took_s)} so far{self._at}"
        left_s = took_s / self._done * max(0, self._total - self._done)
        return f"{self._name}: {done} {self._unit}, {rate_said(self._done / took_s)}, about {time_said(left_s)} left{self._at}"


class _At:
    """The unit that is being done, and since when; as text it is named where it takes long, with the time that it took so far."""

    def __init__(self, unit: str = "") -> None:
        self._unit, self._since = unit, time.monotonic()

    def __str__(self) -> str:
        took_s = time.monotonic() - self._since
        return f"; {self._unit} takes {time_said(took_s)} so far" if self._unit and took_s >= NAMED_AFTER_S else ""


class _Bars(_Lines):
    """Progress bars with rate and remaining time."""

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Open a bar; it stays on the screen when it is done."""
        from rich import progress as bars

        columns = (
            bars.TextColumn("{task.description:<18}", markup=False),
            bars.BarColumn(bar_width=30),
            bars.MofNCompleteColumn(),
            bars.TextColumn(unit),
            bars.TextColumn("{task.fields[rate]}"),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            bars.TimeRemainingColumn(),
            bars.TextColumn("{task.fields[at]}", markup=False),
        )
        with bars.Progress(*columns, console=stderr) as display:
            yield _Bar(display, display.add_task(name, total=total, rate="", at=_At()))


class _Bar:
    def __init__(self, display: Any, task: Any) -> None:
        self._display, self._task = display, task

    def begin(self, unit: str) -> None:
        self._display.update(
            self._task, at=_At(unit if len(unit) <= NAMED_CHARACTERS else f"...{unit[-NAMED_CHARACTERS:]}")
        )

    def advance(self, count: int = 1) -> None:
        self._display.update(self._task, advance=count, at=_At())
        speed = self._display.tasks[0].speed
        if speed:
            self._display.update(self._task, rate=rate_said(speed))
