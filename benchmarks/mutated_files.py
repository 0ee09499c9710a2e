"""Broken files: whatever is in a file, reading it gives documents or a `DocumentError`, and the process lives.

    python -m benchmarks.mutated_files [--mutations 10000] [--seed 0] [FILE ...]

Takes the sample documents of each format (or FILEs), changes them at random, and reads each in turn: bytes flipped, cut out, repeated,
swapped for others; in Office files inside a part of the archive, which is packed anew. A file whose reading ends in anything else is kept
in a temporary folder and named.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgrag.documents import discover, read
from kgrag.errors import DocumentError

DOCUMENTS = Path(__file__).resolve().parents[1] / "examples" / "documents"
SUFFIXES = (".pdf", ".html", ".docx", ".xlsx")
MAX_CHANGES = 8
WORDS = (b"", b"\x00", b"<", b">", b"-1", b"99999999999", b"obj", b"endobj", b"stream", b"/", b"\xff\xfe", b"nan")


def sample_files() -> list[Path]:
    """Return the smallest sample document of each format."""
    return [min(DOCUMENTS.rglob(f"*{suffix}"), key=lambda path: path.stat().st_size) for suffix in SUFFIXES]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Change a file: an archive in one of its parts, any other in its bytes."""
    if not data.startswith(b"PK\x03\x04") or chance.random() < 0.1:
        return _changed(data, chance)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as copy:
        names = archive.namelist()
        changed = set(chance.sample(names, k=chance.randint(1, min(3, len(names)))))
        for name in names:
            content = archive.read(name)
            if name in changed:
                content = _changed(content, chance)
            if name not in changed or chance.random() > 0.05:
                copy.writestr(name, content)
    return out.getvalue()


def _changed(data: bytes, chance: random.Random) -> bytes:
    content = bytearray(data)
    for _ in range(chance.randint(1, MAX_CHANGES)):
        at = chance.randrange(len(content) + 1)
        size = min(len(content) - at, chance.choice((1, 1, 4, 40, 400)))
        match chance.randrange(4):
            case 0:
                content[at : at + size] = chance.randbytes(size)
            case 1:
                del content[at : at + size]
            case 2:
                content[at:at] = content[at : at + size] * chance.randint(1, 5)
            case _:
                content[at : at + size] = chance.choice(WORDS)
    return bytes(content)


def outcomes(files: Sequence[Path], *, mutations: int, seed: int, folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Read `mutations` changed copies of the files in turn; yield (format, how it ended, the copy).

    `read` and `refused` are how it should end; anything else is what was raised.
    """
    originals = [(path.suffix, path.read_bytes()) for path in files]
    for number in range(mutations):
        suffix, data = originals[number % len(originals)]
        path = folder / f"mutated-{seed}-{number}{suffix}"
        path.write_bytes(mutated(data, random.Random(f"{seed} {number}")))  # chance, not secrecy
        try:
            ended = "refused"  # where its content no longer says what it is
            for source in discover([path]).sources:
                ended = "read" if list(read(source, count_tokens=_count, max_tokens=254)) else "nothing"
        except DocumentError:
            ended = "refused"
        except Exception as error:  # noqa: BLE001  (to be reported)
            ended = f"{type(error).__name__}: {error}"
        yield suffix, ended, path
        if ended in ("read", "refused"):
            path.unlink()


def _count(text: str) -> int:
    return len(text) // 4 + 1


def main() -> None:
    """Print how reading ended, by format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    slowest, started = 0.0, time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="kgrag-mutated-"))
    files = arguments.files or sample_files()
    for suffix, ended, path in outcomes(files, mutations=arguments.mutations, seed=arguments.seed, folder=folder):
        now = time.process_time()
        slowest, started = max(slowest, now - started), now
        counts[suffix, ended if ended in ("read", "refused") else "ESCAPED"] += 1
        if ended not in ("read", "refused"):
            print(f"{path}: {ended}", flush=True)
    for (suffix, ended), count in sorted(counts.items()):
        print(f"{suffix:6} {ended:8} {count:6,}")
    print(f"slowest: {slowest:.1f} s of CPU")


if __name__ == "__main__":
    main()
