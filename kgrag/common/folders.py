"""Where kgrag keeps what belongs to a user rather than to a store (XDG base directories)."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder", "data_folder"]


def cache_folder() -> Path:
    """Return the folder of what can be made again: `$XDG_CACHE_HOME/kgrag`, by default `~/.cache/kgrag`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kgrag"


def data_folder() -> Path:
    """Return the folder of what cannot: `$XDG_DATA_HOME/kgrag`, by default `~/.local/share/kgrag`."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "kgrag"
