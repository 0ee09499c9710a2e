"""What is kept of pint's units between processes is what pint says."""

from pathlib import Path

import pytest

from kgrag.text import units


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "kgrag"


def kept() -> dict[str, units.Known]:
    """What a process that begins now would read."""
    return units._known_units.__wrapped__()


def test_units_are_kept_as_pint_has_them(cache: Path) -> None:
    made = kept()
    (file,) = cache.glob("units-*.json")
    read = kept()
    assert read == made
    assert set(read) == set(units.SYMBOLS.values())
    assert all(read[unit] == (units._dimension(unit), units._scale(unit)) for unit in read)
    assert (read["hPa"][0], str(read["mV"][1][0])) == ("pressure", "1/1000")
    assert file.stat().st_size < 20_000


@pytest.mark.parametrize("content", ["", "[[1]]", "{}", '[["V", "voltage", "one", "V"]]'])
def test_a_file_that_says_something_else_is_made_anew(cache: Path, content: str) -> None:
    made = kept()
    (file,) = cache.glob("units-*.json")
    file.write_text(content, encoding="utf-8")
    assert kept() == made


def test_where_nothing_can_be_kept_pint_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert kept()["kHz"][0] == "frequency"
