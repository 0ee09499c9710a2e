"""The terminal face: `kgrag build`, `kgrag ask`, ... Nothing heavy is imported before a command runs."""

from __future__ import annotations

import atexit
import io
import logging
import os
import signal
import socket
import sys
import threading
import time
import traceback
from typing import NoReturn, cast

__all__ = ["main"]

EXIT_PARTIAL, EXIT_WRONG_USE, EXIT_INTERRUPTED = 1, 2, 130
INTERRUPTED = "Interrupted. What was done is kept: the same command goes on from here."
END_WITHIN_S = 4.0
"""After SIGTERM."""

_kept: list[socket.socket] = []
"""The end of a pair of sockets that signals write to lives as long as the process."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 in part, 2 wrong use, 3 unreachable, 130 interrupted."""
    _open_standard_streams()  # first of all: what is opened before takes the number of one that is closed
    ending = _end_at_sigterm()
    arguments = sys.argv[1:]
    debug = "--debug" in arguments or bool(os.environ.get("KGRAG_DEBUG"))
    try:
        code = run([argument for argument in arguments if argument != "--debug"], debug=debug)
    except KeyboardInterrupt:  # while the modules of `run` are loaded, or an error is shown
        sys.stderr.write(f"Error: {INTERRUPTED}\n")
        code = EXIT_INTERRUPTED
    for one in ending:  # the command is done: a signal has nothing to interrupt but Python's own leaving
        signal.signal(one, lambda *_: None)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process after all that waits for its end was done and written, without taking Python and its libraries apart.

    Where it was interrupted, stores are closed, and what threads still do (a file that is read, texts that are embedded) goes nowhere: it
    is not waited for.

    Threads of the Java machine go on meanwhile: now and then one of them needs what is gone already, and the process ends by SIGABRT, with
    exit code 134, though all was done. It takes a quarter of a second, too.
    """
    if code != EXIT_INTERRUPTED:
        threading._shutdown()  # type: ignore[attr-defined]  # threads that Python waits for, as it does before what is registered
    elif "jpype" in sys.modules:
        from kgrag.store.jvm import leave_at_once

        leave_at_once()  # a thread that was at work may have left a connection open, whose end the machine would wait for
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            pass  # its reader has seen enough
        except OSError:  # the disk is full
            code = code or EXIT_PARTIAL
    os._exit(code)


def _open_standard_streams() -> None:
    """Have streams that whoever started the process closed lead nowhere, and those for text take any character.

    A file of the database that got the number of a closed one would have in it what Java or a child writes there.
    """
    for number, mode in enumerate(("r", "w", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
        if (stream := (sys.stdin, sys.stdout, sys.stderr)[number]) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  as long as the process lives
        if mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, ("stdin", "stdout", "stderr")[number], stream)


def _end_at_sigterm() -> set[signal.Signals]:
    """Have SIGTERM, and SIGHUP unless it is ignored, do what Ctrl-C does, and end the process `END_WITHIN_S` later.

    That is whatever still runs then: a query, a call of Java. Returns these signals.
    """
    if sys.platform == "win32":
        return set()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    ending = {signal.SIGTERM}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as `nohup` has it
        ending.add(signal.SIGHUP)
    told, tell = socket.socketpair()
    tell.setblocking(False)

    def end() -> None:
        while number := told.recv(1):
            if number[0] in ending:
                time.sleep(END_WITHIN_S)
                os._exit(EXIT_INTERRUPTED)

    # The number of a signal is written there at once, while Python's own handler waits for the main thread to come back from Java.
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    for one in ending:
        signal.signal(one, interrupt)
    threading.Thread(target=end, args=(), daemon=True, name="kgrag-end").start()
    _kept.append(tell)
    return ending


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run one command and return its exit code; an error is one message on stderr, with its traceback only if `debug`.

    With `debug`, the tracebacks of files that could not be read are logged, too.
    """
    import typer

    from kgrag.cli.app import command
    from kgrag.cli.output import complain
    from kgrag.errors import DISK_FULL, PLACE_REFUSED, KgragError

    # Typer brings its own copy of click and exports only children of the class of everything that is wrongly typed.
    usage_error = cast(type[typer.BadParameter], typer.BadParameter.__base__)
    if debug:
        logging.basicConfig()
        logging.getLogger("kgrag.jobs").setLevel(logging.DEBUG)
    try:
        code = command()(arguments, prog_name="kgrag", standalone_mode=False)
        if code == EXIT_INTERRUPTED:  # Typer's own answer to Ctrl-C
            complain(INTERRUPTED)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        complain(INTERRUPTED)
        return EXIT_INTERRUPTED
    except usage_error as wrong:
        wrong.show()
        return EXIT_WRONG_USE
    except KgragError as error:
        if debug:
            traceback.print_exc()
        complain(str(error))
        return error.exit_code
    except SystemExit as leaving:  # by which Typer and rich answer a broken pipe
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        # Its reader has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001  the last net: a defect of ours, reported as one
        if debug:
            traceback.print_exc()
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            try:
                sys.stdout.flush()
            except OSError:  # it is stdout that takes no more, nor what is left to be written there
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            complain(f"{error.filename or 'The output'}: {error.strerror}. Free space, or write elsewhere.")
            return EXIT_PARTIAL
        if isinstance(error, OSError) and error.errno in PLACE_REFUSED and error.filename is not None:
            complain(f"{error.filename}: {error.strerror}. Choose another place, or have it changed.")
            return EXIT_WRONG_USE
        complain(
            f"Unexpected {type(error).__name__}: {error}\nThis is a defect of kgrag."
            f"{'' if debug else ' Run again with --debug for the traceback.'}"
        )
        return EXIT_PARTIAL
