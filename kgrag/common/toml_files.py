"""TOML files that people write."""

from __future__ import annotations

import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

__all__ = ["read_toml"]


def read_toml(file: Path | Traversable) -> dict[str, Any]:
    """Read a TOML file, also with the byte order mark that editors on Windows write.

    Raises `OSError`, `UnicodeDecodeError` and `tomllib.TOMLDecodeError`.
    """
    return tomllib.loads(file.read_text(encoding="utf-8-sig"))
