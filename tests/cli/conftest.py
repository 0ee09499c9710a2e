"""One small manual that was built once, for the commands that ask it."""

import shutil
from pathlib import Path

import pytest

from kgrag.cli import run

TEXT = (
    "# X-100 board\n\n## Supply\n\nThe X-100 needs a supply voltage of 3.3 V.\n\n"
    "## Standby\n\nIn standby the X-100 draws 0.5 mA. The X-100 features the LPS22HB.\n"
)


@pytest.fixture(scope="session")
def built_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built")
    (place / "docs").mkdir()
    (place / "docs/x-100.md").write_text(TEXT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert run(["build", "docs"]) == 0
    return place


@pytest.fixture(scope="module")
def folder(built_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy for the tests of a file, with the documents in `docs` and their store where commands look for it."""
    return shutil.copytree(built_folder, tmp_path_factory.mktemp("copy") / "folder")
