"""How many functions of kgrag a file passes through from `read` to its chunks, by module.

    python -m benchmarks.functions_of_a_file FILE [--names]

Counted are named functions and methods (no lambdas, comprehensions or bodies of classes) that run at least once in this process. So the
same file in the same checkout gives the same count, and another checkout's is counted by running it there.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import kgrag
from kgrag.documents import discover
from kgrag.documents.reading import read

MAX_TOKENS = 254
"""MiniLM's window."""


def functions_of(file: Path) -> tuple[set[tuple[str, str]], int]:
    """Read a file; return the functions that ran, as module and name, and the number of chunks."""
    room = str(Path(kgrag.__file__).parent) + "/"
    ran: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # The bodies of modules and classes run when they are imported: a class is no function.
        is_function = code.co_flags & 0x2 and not code.co_name.startswith("<")
        if event == "call" and is_function and code.co_filename.startswith(room):
            ran.add((code.co_filename.removeprefix(room), code.co_qualname))

    sys.setprofile(note)
    try:
        made = [
            document
            for source in discover([file]).sources
            for document in read(source, count_tokens=lambda text: len(text.split()), max_tokens=MAX_TOKENS)
        ]
    finally:
        sys.setprofile(None)
    return ran, sum(len(document.chunks) for document in made)


def main() -> None:
    """Count, and say where."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--names", action="store_true", help="Say which.")
    arguments = parser.parse_args()
    ran, chunks = functions_of(arguments.file)
    of_documents = sum(module.startswith("documents/") for module, _ in ran)
    print(f"{len(ran)} functions, {of_documents} of them in documents/, for {chunks} chunks of {arguments.file.name}")
    for module, count in Counter(module for module, _ in ran).most_common():
        print(f"{count:5} {module}")
        if arguments.names:
            print("".join(f"        {name}\n" for where, name in sorted(ran) if where == module), end="")


if __name__ == "__main__":
    main()
