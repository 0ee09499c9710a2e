"""What the terminal is given: text as text, progress also where nobody watches."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.table import Column, Table

from kgrag.cli import output, run
from kgrag.store.graph import open_store

HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b[2J[/x] [bold]x[/bold] \x9b31m \u202etxt"


def test_escape_sequences_and_markup_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    console = output._console(file=io.StringIO(), force_terminal=True, width=200)
    table = Table(HOSTILE)
    table.add_row(HOSTILE)
    for shown in (HOSTILE, table):
        console.print(shown)
    written = console.file.getvalue()
    assert "[/x]" in written and "[bold]x[/bold]" in written
    assert "\x1b]" not in written and "\x1b[2J" not in written
    assert not {"\x07", "\x9b", "\u202e"} & set(written)
    assert r"\x1b]52" in written and r"\u202e" in written


def test_debug_shows_the_traceback_and_the_exit_code_stays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["status", "--store", str(tmp_path / "none")]
    assert run(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert run(arguments, debug=True) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["pipelines", "show", "defualt"], "default"),
        (["build", ".", "--extractor", "metnion"], "mention"),
        (["build", ".", "--embedder", "minlm"], "minilm"),
        (["build", ".", "--embedder", "nomic-embed-text"], "openai:nomic-embed-text"),
    ],
)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(
    arguments: list[str],
    meant: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert f"Did you mean {meant}?" in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_takes_no_more_is_said_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "kgrag", "pipelines"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (
        1,
        "Error: The output: No space left on device. Free space, or write elsewhere.\n",
    )


def test_of_a_long_error_the_beginning_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    output.complain("short")
    output.complain("x" * 10_000)
    short, long = capsys.readouterr().err.splitlines()
    assert short == "Error: short"
    assert len(long) < 2_100 and long.endswith("x... (8,000 characters more: --debug shows them)")


def test_json_has_its_control_characters_escaped() -> None:
    written = output.json_text({"text": HOSTILE})
    assert json.loads(written) == {"text": HOSTILE}
    assert not {"\x1b", "\x9b", "\u202e"} & set(written)


def test_a_piped_step_writes_lines_with_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "LINE_EVERY_S", 0.05)
    with output._Lines().step("Embed", 100, "chunks") as step:
        step.advance(10)
        for _ in range(600):
            time.sleep(0.1)
            if "left" in (said := capsys.readouterr().err):
                break
    assert "Embed: 10 of 100 chunks" in said
    with output._Lines().step("Soon done", 1, "files"):
        pass
    assert "Soon done" not in capsys.readouterr().err


def test_a_file_that_takes_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    counted = output._Counted("Read", 5, "files")
    counted.begin("manuals/thick.pdf")
    assert "thick" not in counted.line(), "it has only begun"
    now[0] = 20.0
    assert counted.line() == "Read: 0 of 5 files, 20 s so far; manuals/thick.pdf takes 20 s so far"
    counted.advance()
    assert "thick" not in counted.line()


def test_a_line_of_progress_says_times_and_rates_in_the_unit_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    counted = output._Counted("Read", 1_100, "files")
    now[0] = 90.0
    assert counted.line() == "Read: 0 of 1,100 files, 1 min 30 s so far"
    counted.advance(3)
    assert counted.line() == "Read: 3 of 1,100 files, 2.0/min, about 9 h 8 min left"
    counted.advance(1_000)
    assert counted.line() == "Read: 1,003 of 1,100 files, 11.1/s, about 9 s left"
    assert output.rate_said(1 / 7200) == "0.5/h"


def test_cypher_shows_any_column_and_says_where_it_cuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store.kg"
    open_store(store).close()
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    at = ["--store", str(store)]
    assert run(["cypher", "RETURN 1 AS `[/x]`, '[bold]' AS b", *at]) == 0
    shown = capsys.readouterr()
    assert "[/x]" in shown.out and "[bold]" in shown.out
    assert run(["cypher", "UNWIND range(1, 50) AS n RETURN n", "--max-rows", "3", "--json", *at]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert "Cut after 3 rows" in shown.err
    long = "carriers/TCB-4/tcb-4-hardware-guide.docx " * 5
    assert run(["cypher", f"RETURN '{long}' AS first, 'second' AS second, 3 AS third", *at]) == 0
    assert long in capsys.readouterr().out  # whole in a pipe, however wide the terminal would be
    assert run(["cypher", "MATCH (n:Nothing) RETURN n", "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("columns", [1, 40])
def test_a_table_loses_nothing_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    written = io.StringIO()
    narrow = output._console(file=written, force_terminal=True, width=columns, color_system=None)
    monkeypatch.setattr(output, "stdout", narrow)
    table = Table(*(Column(name, overflow="fold") for name in "abc"))
    table.add_row("0123456789" * 3, "X-1000", "7")
    output.print_table(table)
    cells = [line.split("│") for line in written.getvalue().splitlines() if "│" in line]
    assert ["".join(row[column].strip() for row in cells) for column in (1, 2, 3)] == ["0123456789" * 3, "X-1000", "7"]


def test_a_store_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--store", str(Path(os.devnull) / "store.kg")]) in {2, 3}
    assert run(["build", str(tmp_path), "--store", "/proc/store.kg"]) == 3
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 2 and "Unexpected" not in "".join(said)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_command_in_one_line(tmp_path: Path, number: str) -> None:
    questions = tmp_path / "questions.jsonl"
    os.mkfifo(questions)
    # Under `nohup` the tests ignore SIGHUP, and a program that they start would, too.
    program = f"import signal; signal.signal(signal.{number}, signal.SIG_DFL); from kgrag.cli import main; main()"
    options = ["--questions", questions, "--out", tmp_path / "out.jsonl", "--store", tmp_path / "absent.kg"]
    process = subprocess.Popen([sys.executable, "-c", program, "retrieve", *options], stderr=subprocess.PIPE, text=True)
    writer = None
    while writer is None and process.poll() is None:
        try:
            writer = os.open(questions, os.O_WRONLY | os.O_NONBLOCK)  # can be opened as soon as the command reads there
        except OSError:
            time.sleep(0.05)
    process.send_signal(getattr(signal, number))
    assert process.communicate(timeout=60)[1].startswith("Error: Interrupted.")
    if writer is not None:
        os.close(writer)
    assert process.returncode == 130


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
def test_an_interrupt_while_a_command_is_loaded_is_one_line() -> None:
    program = """
import importlib.abc, signal, sys

class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "rich.console":
            signal.raise_signal(signal.SIGTERM)

sys.meta_path.insert(0, Interrupts())
from kgrag.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program, "status"], check=False, capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.startswith("Error: Interrupted.") and len(done.stderr.splitlines()) == 1


def test_who_interrupts_a_command_does_not_wait_for_its_threads() -> None:
    program = """
import signal, sys, threading
import kgrag.cli

def interrupted(*_, **options):
    threading.Thread(target=threading.Event().wait).start()
    signal.raise_signal(signal.SIGINT)

kgrag.cli.run = interrupted
kgrag.cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 130
    assert done.stderr.startswith("Error: Interrupted.") and len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")
def test_sigterm_ends_a_command_whatever_its_query_does(tmp_path: Path) -> None:
    store = tmp_path / "store.kg"
    open_store(store).close()
    endless = "UNWIND range(1, 9000000) AS a UNWIND range(1, 9000000) AS b WITH a * b AS x WHERE x < 0 RETURN count(x)"
    program = "import threading; from kgrag.cli import main; threading.Timer(0, print, ['up'], {'flush': True}).start(); main()"
    command = [sys.executable, "-c", program, "cypher", "UNWIND [1] AS up RETURN up", "--store", str(store)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    command[4] = endless
    process = subprocess.Popen([*command, "--timeout-s", "600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    log = store / "session"
    while not log.is_dir() and process.poll() is None:
        time.sleep(0.1)
    time.sleep(2)
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert process.wait(60) == 130
    assert time.monotonic() - began < 30  # 5 s on a machine that is not busy
    open_store(store).close()


COLLECTS_WHILE_PYTHON_LEAVES = """
import sys, jpype
from kgrag.cli import main
from kgrag.store import embedded

@jpype.JImplements("java.lang.Runnable", deferred=True)
class Nothing:
    @jpype.JOverride
    def run(self): pass

close = embedded.call_at_exit
def call_at_exit(job):
    java = jpype.JClass
    look_up = java("java.lang.invoke.MethodHandles").publicLookup()
    type_ = java("java.lang.invoke.MethodType").methodType(java("java.lang.Void").TYPE)
    gc = look_up.findStatic(java("java.lang.System").class_, "gc", type_)
    again = java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(java("java.lang.Runnable").class_, gc)
    unit = java("java.util.concurrent.TimeUnit").MILLISECONDS
    kept = java("java.util.ArrayList")()
    for _ in range(30000): kept.add(Nothing())
    kept.clear()
    java("java.util.concurrent.Executors").newScheduledThreadPool(1).scheduleWithFixedDelay(again, 0, 1, unit)
    close(job)

embedded.call_at_exit = call_at_exit
main()
"""
"""A command during whose end the Java machine gives up objects of Python all the time, as it may do at any moment."""


def test_a_command_that_is_done_ends_well_whatever_the_java_machine_does_meanwhile(tmp_path: Path) -> None:
    store = tmp_path / "store.kg"
    open_store(store).close()
    command = [
        sys.executable,
        "-c",
        COLLECTS_WHILE_PYTHON_LEAVES,
        "cypher",
        "RETURN 1 AS n",
        "--json",
        "--store",
        store,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, '[\n{\n  "n": 1\n}\n]\n', "")


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    store = tmp_path / "store.kg"
    open_store(store).close()
    query = "UNWIND range(1, 20000) AS n RETURN n"
    for as_json in ([], ["--json"]):
        command = [sys.executable, "-m", "kgrag", "cypher", query, "--store", store, *as_json]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.read(1)
            process.stdout.close()
            said = process.stderr.read()
        assert (process.returncode, said) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_does_what_it_does(tmp_path: Path, closed: str) -> None:
    store = tmp_path / "store.kg"
    open_store(store).close()
    command = f'"$0" -m kgrag cypher "RETURN 1 AS n" --json --store "$1" {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable, store], capture_output=True, text=True, check=False)
    said = "" if ">&-" in closed.split() else '[\n{\n  "n": 1\n}\n]\n'
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes streams")
def test_what_is_opened_does_not_get_the_number_of_a_closed_stream() -> None:
    program = "import sys; from kgrag import cli; cli._open_standard_streams(); sys.exit(open(sys.argv[1]).fileno())"
    command = f'"$0" -c "{program}" "$1" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", command, sys.executable, __file__], check=False)
    assert done.returncode > 2


def test_json_is_json_where_stdout_takes_one_alphabet_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    value = {"text": "5 Ω – \U0001f600"}
    for written in (output.json_text(value), output.json_line(value)):
        sys.stdout.write(written)
        assert json.loads(written) == value
