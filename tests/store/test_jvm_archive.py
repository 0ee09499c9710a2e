"""How the Java machine is started; the archive of its classes: made in the background by the first short command, used by the next."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kgrag.store import jvm_archive
from kgrag.store.jvm_archive import ARCHIVE_VARIABLE, Archive

START = """
import sys
from pathlib import Path
from kgrag.store.jvm import expect_short_life, java_class, start_jvm
expect_short_life(typical=True)
start_jvm(Path(sys.argv[1]))
java_class("com.arcadedb.ContextConfiguration")()
given = java_class("java.lang.management.ManagementFactory").getRuntimeMXBean().getInputArguments()
print(*[option for option in map(str, given) if option.startswith("-XX:AOT")])
"""
"""A short command as far as the Java machine is concerned: what it was told about archives is printed."""
TIMEOUT_S = 300


def start(cache: Path, log: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run such a command with its own cache folder."""
    # The tests' own options name an archive.
    chosen = {name: value for name, value in os.environ.items() if name not in (ARCHIVE_VARIABLE, "ARCADEDB_JVM_ARGS")}
    return subprocess.run(
        [sys.executable, "-c", START, str(log)],
        env=chosen | {"XDG_CACHE_HOME": str(cache)} | environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )


def archives(cache: Path) -> list[Path]:
    return sorted((cache / "kgrag").glob("java-*.aot"))


def test_the_first_start_has_an_archive_made_and_the_next_one_uses_it(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = start(cache, tmp_path)
    assert first.stdout.startswith("-XX:AOTMode=record")
    assert len(first.stdout.splitlines()) == 1, "the machine says nothing of its own"
    until = time.monotonic() + TIMEOUT_S
    while not archives(cache) and time.monotonic() < until:
        time.sleep(0.2)
    (archive,) = archives(cache)
    second = start(cache, tmp_path)
    assert second.stdout == f"-XX:AOTCache={archive}\n"
    assert second.stderr == ""

    log = tmp_path / "aot.log"
    start(cache, tmp_path, ARCADEDB_JVM_ARGS=f"-XX:AOTCache={archive} -Xlog:aot:file={log}")
    assert "Using AOT-linked classes: true" in log.read_text(encoding="utf-8")

    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    damaged = start(cache, tmp_path)
    assert (damaged.stdout, damaged.stderr) == (second.stdout, ""), "the machine starts without it"

    other = start(cache, tmp_path, ARCADEDB_JVM_ARGS="-XX:+UseSerialGC -Xss1m")
    assert "-XX:AOTCache" not in other.stdout, "other options need another archive"


def test_python_and_the_machine_collect_their_garbage_apart(tmp_path: Path) -> None:
    asked = """
import gc, sys
from pathlib import Path
before = [*gc.callbacks]
from kgrag.store.jvm import java_class, start_jvm
start_jvm(Path(sys.argv[1]))
assert gc.callbacks == before, gc.callbacks
collectors = java_class("java.lang.management.ManagementFactory").getGarbageCollectorMXBeans()
count = sum(one.getCollectionCount() for one in collectors)
kept = []
for _ in range(5):
    kept.append(b"x" * 50_000_000)  # the bridge had the machine collect as soon as the process grew
    gc.collect()
print(sum(one.getCollectionCount() for one in collectors) - count)
"""
    environment = dict(os.environ) | {ARCHIVE_VARIABLE: "off"}
    done = subprocess.run(
        [sys.executable, "-c", asked, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_one_process_makes_it_and_who_may_not_write_goes_without(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "kgrag").mkdir(parents=True)
    fits = dict(os.environ) | {"XDG_CACHE_HOME": str(cache)}
    claim = "from kgrag.store.jvm_archive import Archive; print(Archive(['-Xss1m']).arguments(make=True))"
    fits.pop(ARCHIVE_VARIABLE, None)

    def asked(**environment: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", claim], env=fits | environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert "record" in asked()
    assert asked() == "[]", "another one is at it"
    for claimed in (cache / "kgrag").glob("*.claim"):
        os.utime(claimed, (0, 0))
    assert "record" in asked(), "that came to nothing"
    assert asked(KGRAG_JVM_ARCHIVE="off") == "[]"
    (tmp_path / "file").write_text("")
    assert asked(XDG_CACHE_HOME=str(tmp_path / "file")) == "[]"


def test_other_options_have_another_archive() -> None:
    assert Archive(["-Xss1m"]).file == Archive(["-Xss1m"]).file
    assert Archive(["-Xss1m"]).file != Archive(["-Xss2m"]).file


def test_none_is_made_where_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(ARCHIVE_VARIABLE, raising=False)
    assert Archive([]).arguments(make=True)[0] == "-XX:AOTMode=record"
    (claim,) = (tmp_path / "kgrag").iterdir()
    claim.unlink()
    monkeypatch.setattr(jvm_archive, "ROOM_BYTES", 2**62)
    assert Archive([]).arguments(make=True) == []
    assert list((tmp_path / "kgrag").iterdir()) == []
