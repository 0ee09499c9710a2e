"""Which formats pandoc reads, and whether it is installed (extra `pandoc`)."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType

__all__ = ["PANDOC_READERS", "PANDOC_SUFFIXES", "missing_pandoc"]

PANDOC_SUFFIXES = MappingProxyType(
    {
        ".ipynb": "ipynb",
        ".tex": "tex",
        ".org": "org",
        ".rtf": "rtf",
        ".pod": "pod",
        ".textile": "textile",
        ".mediawiki": "mediawiki",
        ".wikitext": "mediawiki",
        ".dokuwiki": "dokuwiki",
        ".twiki": "twiki",
        ".typ": "typst",
    }
)
"""File suffix → format; manual pages are told by how they begin."""
PANDOC_READERS = MappingProxyType(
    {format_: format_ for format_ in PANDOC_SUFFIXES.values()}
    | {"tex": "latex", "man": "man", "mdoc": "mdoc", "org": "org-special_strings", "textile": "textile-smart"}
)
"""Format → what pandoc calls it. The two hyphens of an option (`--now`) stay two where the format has no other way to write them."""
INSTALL_HINT = "pip install 'kgrag[pandoc]'"


def missing_pandoc() -> str:
    """Say what is missing to read these formats; empty where nothing is."""
    return "" if find_spec("pypandoc") is not None else f"read by pandoc, which is not installed; run: {INSTALL_HINT}"
