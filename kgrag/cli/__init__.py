"""The terminal face: `kgrag build`, `kgrag ask`, ... Nothing heavy is imported before a command runs."""

from __future__ import annotations

import os
import sys
from typing import cast

__all__ = ["main"]

EXIT_PARTIAL, EXIT_WRONG_USE, EXIT_INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line and exit with the code of `contracts`: 0 done, 1 in part, 2 wrong use, 3 unreachable, 130 interrupted."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments or bool(os.environ.get("KGRAG_DEBUG"))
    sys.exit(run([argument for argument in arguments if argument != "--debug"], debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run one command and return its exit code; an error is one message on stderr, with its traceback only if `debug`."""
    import typer

    from kgrag.cli.app import app
    from kgrag.cli.output import complain
    from kgrag.errors import KgragError

    # Typer brings its own copy of click and exports only children of the class of everything that is wrongly typed.
    usage_error = cast(type[typer.BadParameter], typer.BadParameter.__base__)
    interrupted = "Interrupted. What was done is kept: the same command goes on from here."
    try:
        code = app(arguments, prog_name="kgrag", standalone_mode=False)
        if code == EXIT_INTERRUPTED:  # Typer's own answer to Ctrl-C
            complain(interrupted)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        complain(interrupted)
        return EXIT_INTERRUPTED
    except usage_error as wrong:
        wrong.show()
        return EXIT_WRONG_USE
    except KgragError as error:
        if debug:
            raise
        complain(str(error))
        return error.exit_code
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the last net: a defect of ours, reported as one
        if debug:
            raise
        complain(
            f"Unexpected {type(error).__name__}: {error}\nThis is a defect of kgrag. Run again with --debug for the traceback."
        )
        return EXIT_PARTIAL
