"""Models with nothing of the user's or another test's around them."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of replies for each test, and a working directory without a `kgrag.toml`."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "replies.sqlite"
    monkeypatch.setenv("KGRAG_MODEL_CACHE", str(file))
    return file
