"""No file ends a build: 200 changed copies of real files are read or refused (10,000: `python -m benchmarks.mutated_files`)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.mutated_files import outcomes, sample_files
from kgrag.documents import discover, read, reading
from kgrag.errors import DocumentError


def test_changed_files_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    ended = Counter(
        (suffix, how) for suffix, how, _ in outcomes(sample_files(), mutations=200, seed=7, folder=tmp_path)
    )
    assert {how for _, how in ended} <= {"read", "refused"}
    assert {suffix for suffix, how in ended if how == "read"} == {".pdf", ".html", ".docx", ".xlsx"}
    assert sum(ended.values()) == 200


@pytest.mark.parametrize("error", [ZeroDivisionError("float division by zero"), RecursionError(), KeyError("x")])
def test_whatever_is_raised_on_a_file_is_its_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(reading, "clean", fails)
    path = tmp_path / "a.md"
    path.write_text("text")
    with pytest.raises(
        DocumentError, match=f"is broken: reading it stopped at {type(error).__name__}.*save it again"
    ) as caught:
        list(read(discover([path]).sources[0], count_tokens=len, max_tokens=200))
    assert caught.value.__cause__ is error
