"""Files of the user's cache folder: whole or not there, and nothing fails where none can be kept."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["keep_file"]


def keep_file(file: Path, content: bytes) -> bool:
    """Write a file at once, also its folder; false where that cannot be (read-only, full, no home): it is made again by who needs it."""
    written: Path | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".tmp", delete=False) as out:
            written = Path(out.name)
            out.write(content)
        written.replace(file)  # atomic: a killed process leaves no half file behind
    except OSError:
        if written is not None:
            with suppress(OSError):
                written.unlink()
        return False
    return True
