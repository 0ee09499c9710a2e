"""The format of a file whose name alone does not tell it: told by how it begins."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path

from kgrag.documents.text_encoding import PACKED

__all__ = ["sniffed_format"]

MANUAL_PAGE = re.compile(r"\.[1-9][a-z]{0,5}")
"""The suffix of a manual page is its section: `printf.3`, `open.2.gz`, `passwd.1ssl`."""
MAN_TITLE, MDOC_TITLE = re.compile(rb"^[.']\s*TH\s", re.MULTILINE), re.compile(rb"^\.Dd\s", re.MULTILINE)
INFO_FILE, INFO_NODE = re.compile(r"\.info(?:-\d+)?"), b"\x1f\nFile: "
"""The parts of a long manual are called `gawk.info-1` and so on; `gawk.info` then only lists them."""
XML_PROLOGUE = re.compile(rb"<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?(\w+)")
DOCBOOK_ROOTS = frozenset(
    b"set book part reference refentry article chapter appendix preface section sect1 sect2 sect3 glossary".split()
)
DOCBOOK_MARK = re.compile(rb"<(?:\w+:)?(?:para|simpara|programlisting|refsynopsisdiv)[\s>]")
"""An `article` or a `section` is also an element of other XML."""
COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")
"""What Outlook's `.msg` begins with; those of Tcl are translations."""
HEAD_BYTES = 16_384


def sniffed_format(path: Path) -> str | None:
    """Return `docbook` (`.xml`), `outlook` (`.msg`), `info`, `man` or `mdoc` (a section of the manual for a suffix); None for others."""
    packed = path.suffix.lower() == PACKED
    suffix = (Path(path.stem) if packed else path).suffix.lower()
    if suffix == ".xml":
        start = XML_PROLOGUE.sub(b"", _head(path, packed=packed))
        root = ROOT.search(start)
        return "docbook" if root and root[1].lower() in DOCBOOK_ROOTS and DOCBOOK_MARK.search(start) else None
    if suffix == ".msg" and not packed:
        return "outlook" if _head(path, packed=False).startswith(COMPOUND_FILE) else None
    if INFO_FILE.fullmatch(suffix):
        return "info" if INFO_NODE in _head(path, packed=packed) else None
    if MANUAL_PAGE.fullmatch(suffix):
        start = _head(path, packed=packed)
        return "man" if MAN_TITLE.search(start) else "mdoc" if MDOC_TITLE.search(start) else None
    return None


def _head(path: Path, *, packed: bool) -> bytes:
    """Return the beginning of a file, unpacked; nothing of one that cannot be read."""
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""
