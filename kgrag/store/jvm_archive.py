"""An archive of the Java classes that short commands use, loaded and linked: with it the embedded database opens in about three quarters of
the processor time.

The first short command that ends well has the machine write down what it used (`-XX:AOTMode=record`); a process of low priority then makes
the archive of that (`-XX:AOTMode=create`, JEP 483 and 514; some seconds, 60 MB) in the user's cache folder. Its name has a fingerprint of
the Java runtime, the database's jars and the machine's options: where one of these is another, another archive is made, and what nobody
used for a month goes. Where the folder cannot be written to there is none. The machine itself checks what it is given and starts without
it where it does not fit. `KGRAG_JVM_ARCHIVE=off` does without.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["ARCHIVE_VARIABLE", "Archive", "speaks_of_archives"]

ARCHIVE_VARIABLE = "KGRAG_JVM_ARCHIVE"
"""Environment variable; `off`: no archive is made or used."""
QUIET = "-Xlog:disable"
"""An archive that does not fit is no news: the machine starts without it."""
SILENT = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-DisplayVMOutput")
"""What it wrote down, and where, is not said on the terminal."""
CREATION_LIMIT_S = 300
ROOM_BYTES = 500_000_000
"""Some of it is taken. A machine that cannot write down what it used ends the process with an exit code of its own."""
UNUSED_S = 30 * 24 * 3600
LOWEST_PRIORITY = 19
_OF_THIS_START = ("-XX:AOT", "-Xlog", "-Xmx", "-XX:ErrorFile", "-Djava.class.path", "-Djava.util.logging.config.file")


def speaks_of_archives(options: str) -> bool:
    """Say whether the user's own options are about archives or the machine's log: then they decide."""
    return any(word in options for word in ("AOT", "SharedArchive", "-Xshare", "-Xlog"))


class Archive:
    """The archive for a machine with these options, whether it is there or not."""

    def __init__(self, options: Sequence[str]) -> None:
        """`options` are those that differ from start to start, the size of the heap left out."""
        self._record: Path | None = None
        self._options: list[str] = []
        self._class_path = ""
        self.file = _folder() / f"java-{_fingerprint(options)}.aot"

    def arguments(self, *, make: bool) -> list[str]:
        """Return what the machine is to be started with, to use the archive, or else, to `make` one, to write down what is used."""
        if os.environ.get(ARCHIVE_VARIABLE, "").casefold() == "off":
            return []
        if os.access(self.file, os.R_OK):
            with suppress(OSError):
                os.utime(self.file)
            return [f"-XX:AOTCache={self.file}", QUIET]
        if not make or not self._begin():
            return []
        self._record = self.file.with_suffix(f".{os.getpid()}.record")
        # The machine writes when it ends, which jpype has it do at exit: whoever registers before jpype is imported comes after that.
        atexit.register(self._make)
        return ["-XX:AOTMode=record", f"-XX:AOTConfiguration={self._record}", QUIET, *SILENT]

    def started(self, options: Sequence[str], class_path: str) -> None:
        """Remember what the machine was started with: the archive is made by the same."""
        self._options = [option for option in options if not option.startswith(_OF_THIS_START)]
        self._class_path = class_path

    @property
    def records(self) -> bool:
        """Whether the machine writes down what it uses."""
        return self._record is not None

    def _make(self) -> None:
        """Have the archive made in the background, of what the machine wrote down; where it wrote nothing, nothing happens."""
        if self._record is None or not self._class_path or not self._record.is_file():
            return
        # By its file, wherever that is: it needs nothing else of this package.
        command = [sys.executable, "-P", __file__, str(self._record), str(self.file), self._class_path]
        with suppress(OSError):
            subprocess.Popen(
                [*command, *self._options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd=self.file.parent,
            )

    def _begin(self) -> bool:
        """Claim the making of the archive: one process does, another one where that came to nothing."""
        claim = self.file.with_suffix(".claim")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self.file.parent).free < ROOM_BYTES:
                return False
            if claim.exists() and time.time() - claim.stat().st_mtime > CREATION_LIMIT_S:
                claim.unlink(missing_ok=True)
            claim.touch(exist_ok=False)
        except OSError:
            return False
        return True


def create(record: Path, archive: Path, class_path: str, options: Sequence[str]) -> bool:
    """Make an archive of what was written down, and put it in its place when it is whole; say whether there is one."""
    if hasattr(os, "nice"):
        os.nice(LOWEST_PRIORITY)
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="java-") as folder:
        made = Path(folder) / archive.name
        command = [str(_java()), "-XX:AOTMode=create", f"-XX:AOTConfiguration={record}", f"-XX:AOTCache={made}"]
        try:
            subprocess.run(
                [*command, *options, "-cp", class_path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=CREATION_LIMIT_S,
                check=False,
            )
            if made.is_file():
                made.replace(archive)
        except (OSError, subprocess.TimeoutExpired):
            return False
        finally:
            record.unlink(missing_ok=True)
    _forget_unused(archive)
    archive.with_suffix(".claim").unlink(missing_ok=True)
    return archive.is_file()


def _forget_unused(archive: Path) -> None:
    for other in (*archive.parent.glob("java-*.aot"), *archive.parent.glob("java-*.record")):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > UNUSED_S:
                other.unlink()


def _folder() -> Path:
    return user_cache_path("kgrag", appauthor=False)


def _package() -> Path:
    spec = importlib.util.find_spec("arcadedb_embedded")  # importing it would import jpype
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()


def _java() -> Path:
    return _package() / "jre" / "bin" / ("java.exe" if os.name == "nt" else "java")


def _fingerprint(options: Sequence[str]) -> str:
    """Name the runtime, its jars in the order in which they are given, and the options: what an archive must be made anew for."""
    package = _package()
    files = [package / "jre" / "release", *(package / "jars").glob("*.jar")]
    said = [f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files if file.exists()]
    return hashlib.sha256("\n".join([*said, *options]).encode()).hexdigest()[:16]


if __name__ == "__main__":
    record, archive, class_path, *options = sys.argv[1:]
    sys.exit(0 if create(Path(record), Path(archive), class_path, options) else 1)
