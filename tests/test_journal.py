"""What is written down and never changed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kgrag.common.journal import Journal, NotWrittenDown


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_folder_in_which_nothing_can_be_written_is_told_before_anybody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_root: Callable[[], AbstractContextManager[None]]
) -> None:
    Journal(tmp_path / "desk").check()
    Journal(tmp_path / "desk").write("audit", {"user": "anna"})
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with without_root(), pytest.raises(NotWrittenDown, match=r"elsewhere: cannot be written \(Permission denied\)"):
        Journal(Path("elsewhere")).check()
    (tmp_path / "desk").chmod(0o777)
    with without_root(), pytest.raises(NotWrittenDown, match=r"audit\.jsonl: cannot be written"):
        Journal(Path("desk")).check()
    (tmp_path / "file").touch()
    with pytest.raises(NotWrittenDown, match="file: cannot be written"):
        Journal(tmp_path / "file").check()
