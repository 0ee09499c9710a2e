"""The format of a file whose name alone does not tell it: told by how it begins."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from kgrag.documents.configuration_prose import NAMED_CONFIGURATION, has_prose, is_other_data
from kgrag.documents.text_encoding import PACKED, wide_encoding

__all__ = ["is_configuration", "sniffed_format", "told_by_content"]

MANUAL_PAGE = re.compile(r"\.(?:[0-9](?:[a-z][\w+-]*)?|[ln])", re.ASCII)
"""The suffix of a manual page is its section, with what it belongs to: `printf.3`, `open.2.gz`, `passwd.1ssl`, `stdio.h.0p`,
`psql.1postgresql`, `XOpenDisplay.3X11`, Tcl's `lappend.n`."""
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
DITA_TYPE = re.compile(
    rb"<!DOCTYPE[^>]*\bDITA\b|<(?:topic|concept|task|reference)\b[^<>]*\bxml:lang\b[^<>]*>\s*<title\b|\bDITAArchVersion="
)
"""A topic of DITA: its document type, or what its schema has in its first element."""
MALLARD_PAGE = re.compile(rb"<(?:\w+:)?page\b[^<>]*\bhttp://projectmallard\.org/")
COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")
"""What Outlook's `.msg` begins with; those of Tcl are translations."""
SAVED_PAGE = re.compile(rb"(?:[A-Za-z-]+:[^\n]*\n(?:[ \t][^\n]*\n)*){2}")
"""What a page that was saved with all it needs begins with, as mail does; templates of Mason have the same suffix."""
FIRST_OF_API = re.compile(
    rb"""(?:\s|#.*\n|---.*\n)*\{?\s*["']?(?:openapi|swagger|info|paths|components|definitions|servers|tags|security"""
    rb"""(?:Definitions)?|externalDocs|basePath|host|schemes|consumes|produces|parameters|responses|webhooks|jsonSchemaDialect|x-[\w-]+)["']?\s*:"""
)
"""How a description of an API begins."""
VERSION_OF_API = re.compile(rb"""\b(?:openapi["']?\s*:\s*["']?3\.\d|swagger["']?\s*:\s*["']?2\.0)""")
GRAPH = re.compile(rb"(?:\s|(?://|#).*\n|/\*(?:[^*]|\*(?!/))*\*/)*(?:strict\s+)?(?:di)?graph\b[^{;]*\{", re.IGNORECASE)
"""How a graph of Graphviz begins; Word's templates have the same suffix."""
CONFIGURATION_BYTES = 1_000_000
"""Of a configuration, in which prose is looked for: a long list of settings may stand above what is said of others."""
HEAD_BYTES = 16_384
WHOLE_BYTES = 100_000_000
"""In which the version of a description of an API is looked for: programs that sort its keys write it last."""


def told_by_content(path: Path) -> bool:
    """Whether the content of a file with this name, packed or not, may say what it is."""
    return _teller(path) is not None


def sniffed_format(path: Path, *, content: Path | None = None) -> str | None:
    """Return `docbook` or `dita` (`.xml`), `openapi` (`.json`, `.yaml`), `outlook` (`.msg`), `doc` (`.dot`), `mail` (`.mhtml`),
    `mallard` (`.page`), `info`, `man` or `mdoc` (a section of the manual for a suffix), `configuration` (`.conf`, `.ini`,
    `sshd_config` and their like, with prose in their comments); None for others.

    `content` is where the file is as long as it has another name than `path`.
    """
    teller = _teller(path)
    if teller is None:
        return None
    file, packed = content or path, path.suffix.lower() == PACKED
    head = _beginning(file, CONFIGURATION_BYTES if teller is _of_configuration else HEAD_BYTES, packed=packed)
    if teller is _of_data and FIRST_OF_API.match(head) and (packed or file.stat().st_size > HEAD_BYTES):
        head = _beginning(file, WHOLE_BYTES, packed=packed)
    return teller(head)


def is_configuration(path: Path) -> bool:
    """Whether a file is called as configurations are, and is none of the XML, JSON and YAML that is called so, too."""
    if _teller(path) is not _of_configuration:
        return False
    return not is_other_data(_text(_beginning(path, HEAD_BYTES, packed=path.suffix.lower() == PACKED)))


def _teller(path: Path) -> Callable[[bytes], str | None] | None:
    name = Path(path.stem) if path.suffix.lower() == PACKED else path
    suffix = name.suffix.lower()
    by_suffix = next((teller for pattern, teller in TELLERS if pattern.fullmatch(suffix)), None)
    return by_suffix or (_of_configuration if NAMED_CONFIGURATION.fullmatch(name.name) else None)


def _of_xml(head: bytes) -> str | None:
    start = XML_PROLOGUE.sub(b"", head)
    root = ROOT.search(start)
    if root and root[1].lower() in DOCBOOK_ROOTS and DOCBOOK_MARK.search(start):
        return "docbook"
    return "dita" if DITA_TYPE.search(head) else None


def _of_page(head: bytes) -> str | None:
    return "mallard" if MALLARD_PAGE.search(head) else None


def _of_msg(head: bytes) -> str | None:
    return "outlook" if head.startswith(COMPOUND_FILE) else None


def _of_template(head: bytes) -> str | None:
    return None if GRAPH.match(head) else "doc"


def _of_saved_page(head: bytes) -> str | None:
    return "mail" if SAVED_PAGE.match(head) else None


def _of_info(head: bytes) -> str | None:
    return "info" if INFO_NODE in head else None


def _of_data(content: bytes) -> str | None:
    return "openapi" if FIRST_OF_API.match(content) and VERSION_OF_API.search(content) else None


def _of_section(head: bytes) -> str | None:
    return "man" if MAN_TITLE.search(head) else "mdoc" if MDOC_TITLE.search(head) else None


def _of_configuration(content: bytes) -> str | None:
    text = _text(content)
    return "configuration" if not is_other_data(text) and has_prose(text) else None


def _text(content: bytes) -> str:
    """Read UTF-8, or what has a letter for every byte: enough to tell words by."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        return content.decode("latin-1")


TELLERS = (
    (re.compile(r"\.xml"), _of_xml),
    (re.compile(r"\.page"), _of_page),
    (re.compile(r"\.(?:json|ya?ml)"), _of_data),
    (re.compile(r"\.msg"), _of_msg),
    (re.compile(r"\.dot"), _of_template),
    (re.compile(r"\.mht(?:ml)?"), _of_saved_page),
    (INFO_FILE, _of_info),
    (MANUAL_PAGE, _of_section),
)
"""A suffix, and what tells the format by a file's beginning."""


def _beginning(path: Path, size: int, *, packed: bool) -> bytes:
    """Return the first `size` bytes of a file, unpacked, as UTF-8 without a mark; nothing of one that cannot be read."""
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            data = file.read(size)
    except (OSError, EOFError, zlib.error):
        return b""
    if encoding := wide_encoding(data):
        data = data.decode(encoding, "ignore").encode()
    return data.removeprefix(codecs.BOM_UTF8)
