"""Rows of a file of JSON lines, which is what questions, truths and gold evidence are kept in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kgrag.common.question_files import json_lines

__all__ = ["read_rows"]


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Read the rows, of lines that are not empty. Raises `InputError` where the file cannot be read as text."""
    return [json.loads(line) for _, line in json_lines(file)]
