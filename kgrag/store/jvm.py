"""The Java virtual machine inside this process that embedded databases run on: started once, quiet, with a chosen heap."""

from __future__ import annotations

import atexit
import gc
import locale
import logging
import os
import re
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgrag.errors import InputError, StoreUnavailable
from kgrag.store.jvm_archive import Archive, speaks_of_archives

__all__ = [
    "HEAP_VARIABLE",
    "call_at_exit",
    "expect_own_jvm",
    "expect_short_life",
    "expects_short_life",
    "garbage_apart",
    "java_class",
    "jvm_is_of_another_process",
    "leave_at_once",
    "start_jvm",
]

HEAP_VARIABLE = "KGRAG_JVM_HEAP"
"""Environment variable with the most heap that the machine may take: `2g`, `1500m`. It counts before the first store is opened."""
SMALLEST_HEAP_MB = 1024
LARGEST_HEAP_MB = 4096
"""Without the variable: a quarter of the memory, within these. 100,000 chunks with 384 dimensions need less than 2 GB."""
CRASH_VARIABLE = "ARCADEDB_JVM_ERROR_FILE"
"""The package's own: the file that a crash of the machine is described in."""
LOGGING = "handlers=\n.level=WARNING\n"
"""Nothing to the terminal: each store adds its own log file."""

QUICK_START = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:ArchiveRelocationMode=0",
    "-XX:+UseCompactObjectHeaders",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio.channels.spi=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-Dfile.encoding=UTF8",
    "-Djava.awt.headless=true",
)
"""For a process that ends soon, all that the machine is started with. The compiler's second stage and the parallel collector only cost time
(half of the processor time), and so does it to move the archive of classes to another place in memory at each start. Left out of what the
package says is the incubating module of vectors, which the database does not use without that second stage: an archive made with it has
neither linked classes nor the graph of modules."""

GARBAGE_AFTER = 50_000
"""Objects that Python makes before it looks for garbage among them; else 700. A seventh of what it takes to import what answers."""

_starting = threading.Lock()
_short_life = threading.Event()
_typical = threading.Event()
_started_by: int | None = None
"""The process, by its id."""


def expect_short_life(*, typical: bool = False) -> None:
    """Start the machine, if it is started after this, for a process that ends soon (a command that asks one thing) or reads once.

    Python looks for garbage seldom from here on: in such a process there is hardly any. What a `typical` one uses is what the archive of
    Java classes is made of, where there is none (`kgrag.store.jvm_archive`).
    """
    _short_life.set()
    gc.set_threshold(GARBAGE_AFTER)
    if typical:
        _typical.set()


def expects_short_life() -> bool:
    """Say whether this process ends soon."""
    return _short_life.is_set()


def _quick_start(of_user: str) -> tuple[list[str], Archive | None]:
    """Return the options by which a machine that lives for seconds starts sooner, and the archive of classes that it loads or makes."""
    if not _short_life.is_set():
        return [], None
    if "jpype" in sys.modules or speaks_of_archives(of_user):
        return [*QUICK_START], None
    archive = Archive((*QUICK_START, of_user))
    return [*QUICK_START, *archive.arguments(make=_typical.is_set())], archive


def _heap() -> str:
    """Return the size of the heap. Raises `InputError` where the environment says one that is none."""
    heap = os.environ.get(HEAP_VARIABLE) or f"{_default_heap_mb()}m"
    if not re.fullmatch(r"\d+[kmgKMG]", heap):
        raise InputError(f"{HEAP_VARIABLE}: expected a size like 2g or 1500m, got {heap!r}")
    return heap


def _quiet_options(folder: Path) -> list[str]:
    """Return the options by which the machine writes nothing to the terminal; what they name is written into `folder`."""
    configuration = folder / "logging.properties"
    configuration.write_text(LOGGING, encoding="utf-8")
    return [
        f"-Djava.util.logging.config.file={configuration}",
        "--sun-misc-unsafe-memory-access=allow",  # else it warns on the terminal of what its libraries still use
        "-Xrs",  # SIGTERM and SIGHUP stay with Python, while the machine starts, too
        "-Darcadedb.log.impl=slf4j",  # its own logging always adds a console; through slf4j it keeps to the configuration
    ]


def jvm_is_of_another_process() -> bool:
    """Whether this process was forked from one in which the machine runs: its threads are not here."""
    return _started_by not in (None, os.getpid())


def expect_own_jvm() -> None:
    """Raise `StoreUnavailable` where the machine was started by the process that this one was forked from."""
    if jvm_is_of_another_process():
        raise StoreUnavailable(
            "This process was forked from one that had opened an embedded store, whose Java machine does not survive that. Start it with "
            "multiprocessing.get_context('spawn') in place of 'fork', or open stores only after the fork."
        )


def start_jvm(crash_folder: Path) -> None:
    """Start the machine unless it runs; a crash of it leaves its report in `crash_folder`. Raises `StoreUnavailable`, `InputError`."""
    global _started_by
    with _starting:
        of_user = os.environ.get("ARCADEDB_JVM_ARGS", "")
        quick, archive = _quick_start(of_user)
        try:
            import jpype
            from arcadedb_embedded import jvm
            from arcadedb_embedded.exceptions import ArcadeDBError
        except ImportError as error:
            raise StoreUnavailable(
                f"The embedded database cannot be imported ({error}). Install arcadedb-embedded, or use a Neo4j server (--store neo4j://...)."
            ) from error
        if jpype.isJVMStarted():
            return
        _started_by = os.getpid()
        heap = _heap()
        with tempfile.TemporaryDirectory() as folder:
            quiet = _quiet_options(Path(folder))
            try:
                with (
                    _environment(CRASH_VARIABLE, str(crash_folder / "hs_err_pid%p.log")),
                    _file_names_as_python_writes_them(),
                    _no_terminal(),
                    _signals_stay_with_python(),
                    garbage_apart(),
                ):
                    if quick:
                        report = f"-XX:ErrorFile={os.environ[CRASH_VARIABLE]}"
                        _start_with([*quiet, report, *quick, *shlex.split(of_user), f"-Xmx{heap}"])
                    else:
                        jvm.start_jvm(heap_size=heap, jvm_args=quiet)
                recording = archive if archive is not None and archive.records else None
                if recording is not None:
                    machine = java_class("java.lang.management.ManagementFactory").getRuntimeMXBean()
                    options = [str(option) for option in machine.getInputArguments()]
                    recording.started(options, str(machine.getClassPath()))
                # Reads the configuration now: the file goes.
                java_class("java.util.logging.LogManager").getLogManager()
                _let_go_of_thread()
                if quick and recording is None:
                    leave_at_once()
                # What it would print is a traceback: of a log that a full disk does not take, where the error itself comes to us anyway.
                nowhere = java_class("java.io.OutputStream").nullOutputStream()
                java_class("java.lang.System").setErr(java_class("java.io.PrintStream")(nowhere))
            except ArcadeDBError as error:
                raise StoreUnavailable(
                    f"The Java virtual machine of the embedded database did not start (heap {heap}): {error}"
                ) from error


def _start_with(options: Sequence[str]) -> None:
    """Start the machine with these options alone, where the package would add its own. Raises its `ArcadeDBError`."""
    import jpype
    from arcadedb_embedded import jvm
    from arcadedb_embedded.exceptions import ArcadeDBError

    # In the order in which the package gives them, so that an archive of classes fits the starts that it makes, too.
    jars = [str(jar) for jar in Path(jvm.get_jar_path()).glob("*.jar")]
    try:
        jpype.startJVM(jvm.get_bundled_jre_lib_path(), *options, classpath=jars, interrupt=False)
    except (RuntimeError, OSError) as error:
        raise ArcadeDBError(f"Failed to start JVM: {error}") from error


@contextmanager
def _file_names_as_python_writes_them() -> Iterator[None]:
    """Have the machine write names of files in UTF-8 where Python does so and the locale (`LC_ALL=C`) does not."""
    before = os.environ.get("LC_ALL")
    if before is None or not sys.flags.utf8_mode or locale.nl_langinfo(locale.CODESET) == "UTF-8":
        yield
        return
    os.environ["LC_ALL"] = "C.UTF-8"
    try:
        yield
    finally:
        os.environ["LC_ALL"] = before


def _let_go_of_thread() -> None:
    """Have the machine not wait for this thread when Python leaves, unless it is the main one: the thread may end before.

    A thread that started the machine is its main thread, and a machine whose main thread has gone never ends. The thread is attached again,
    as one that nobody waits for, when it next calls Java.
    """
    if threading.current_thread() is not threading.main_thread():
        java_class("java.lang.Thread").detach()


def leave_at_once() -> None:
    """Have Python leave without ending the machine first, which waits 300 ms for threads of Python that it once saw, and for a database
    that still runs without end.

    Stores are closed before, and the end of the process takes the rest.
    """
    from jpype import config

    config.destroy_jvm = False


def java_class(name: str) -> Any:
    """Return a Java class by its full name."""
    import jpype

    return jpype.JClass(name)


def call_at_exit(close: Any) -> None:
    """Have `close()` called before Python leaves: a server that still runs would keep the process alive."""
    atexit.register(close)


def _default_heap_mb() -> int:
    try:
        memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (AttributeError, ValueError, OSError):  # Windows says it otherwise
        return LARGEST_HEAP_MB // 2
    return max(SMALLEST_HEAP_MB, min(LARGEST_HEAP_MB, memory_mb // 4))


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable while the block runs, unless the user set it."""
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


@contextmanager
def _signals_stay_with_python() -> Iterator[None]:
    """Take signals back from the machine: its bridge hands Ctrl-C to Python from a thread of Java, which can end in a crash."""
    yield
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.getsignal(number))


@contextmanager
def garbage_apart() -> Iterator[None]:
    """Have Python and the machine that is started in the block collect their garbage each when it needs to.

    Their bridge has each of them collect all whenever the other one has collected: some tens of milliseconds of every question, in which
    both wait. It is for objects of one that only the other one refers to; the machine has none of Python's here.
    """
    before = [*gc.callbacks]
    yield
    gc.callbacks[:] = before


@contextmanager
def _no_terminal() -> Iterator[None]:
    """Keep what the machine writes about itself while it starts (`Using incubator modules`) from the terminal.

    It writes past Python, to file descriptor 2; there is no option that turns the line off.
    """
    try:
        sys.stderr.flush()
        kept = os.dup(2)
    except OSError as error:  # no standard error at all: a daemon
        logging.getLogger(__name__).debug("standard error cannot be put aside: %s", error)
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
