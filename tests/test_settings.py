from pathlib import Path

import pytest

from kgrag.errors import InputError
from kgrag.settings import load_settings


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_flags_win_over_the_environment_and_the_environment_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kgrag.toml").write_text('store = "file"\npipeline = "file"\nmodel = "rules"\n')
    monkeypatch.setenv("KGRAG_STORE", "environment")
    monkeypatch.setenv("KGRAG_PIPELINE", "environment")
    settings = load_settings(store="flag", pipeline=None)
    assert (settings.store, settings.pipeline, settings.model) == ("flag", "environment", "rules")


def test_an_unknown_key_in_the_file_is_named() -> None:
    Path("kgrag.toml").write_text('stroe = "x"\n')
    with pytest.raises(InputError, match=r"stroe: there is no such setting .* Did you mean store\?"):
        load_settings()


def test_a_value_that_is_not_allowed_is_shown_with_what_is() -> None:
    with pytest.raises(InputError, match=r"pdf.*'native'.*got 'ocr'"):
        load_settings(pdf="ocr")


def test_a_file_that_is_not_toml_is_named() -> None:
    Path("kgrag.toml").write_text("store: x")
    with pytest.raises(InputError, match=r"kgrag\.toml is not valid TOML"):
        load_settings()


def test_a_file_of_an_editor_that_writes_a_byte_order_mark_is_read() -> None:
    Path("kgrag.toml").write_text('store = "file"\n', encoding="utf-8-sig")
    assert load_settings().store == "file"


def test_a_folder_or_a_link_to_nowhere_in_the_place_of_the_file_is_named() -> None:
    Path("kgrag.toml").symlink_to("elsewhere.toml")
    with pytest.raises(InputError, match=r"kgrag\.toml: expected a file"):
        load_settings()
    Path("kgrag.toml").unlink()
    Path("kgrag.toml").mkdir()
    with pytest.raises(InputError, match=r"kgrag\.toml: expected a file"):
        load_settings()
