"""EPUB books to blocks: the pages of the book in the order in which they are read, each walked as an HTML page."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from kgrag.documents.blocks import Block, BlockDocument, RemovedLine, of_part
from kgrag.documents.html import blocks_of_html
from kgrag.documents.text_encoding import decode, no_archive
from kgrag.documents.xml_files import parse_xml
from kgrag.errors import DocumentError
from kgrag.types import Scalar

__all__ = ["convert_epub"]

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
OBFUSCATED_FONT = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways to hide fonts, which are no text."""
MAX_UNPACKED_MB = 300
"""Of the pages of a book."""
PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "application/xml"})
METADATA = ("creator", "publisher", "language", "date", "identifier")


def convert_epub(path: Path, *, document_path: str) -> BlockDocument:
    """Convert a book. Raises `DocumentError` where it is broken, protected, or no EPUB.

    A link between its pages leads to `path#page.xhtml`, or `path#page.xhtml:id`: pages have ids of their own, and the same one twice.
    """
    archive = _opened(path)
    with archive:
        package, folder = _package(archive, path)
        files = _reading_order(package, folder)
        known = {name: info for info in archive.infolist() if (name := info.filename)}
        if (size := sum(known[name].file_size for name in files if name in known)) > MAX_UNPACKED_MB * 1_000_000:
            raise DocumentError(
                path, f"unpacks to {size / 1_000_000:.0f} MB, more than the limit of {MAX_UNPACKED_MB} MB"
            )
        blocks: list[Block] = []
        removed: list[RemovedLine] = []
        notes = []
        for name in files:
            if name not in known:
                notes.append(f"its page {name} is not in the file")
                continue
            try:
                page = blocks_of_html(decode(archive.read(name), path).text, path, document_path=name)
            except (DocumentError, zipfile.BadZipFile, zlib.error) as error:
                notes.append(f"its page {name} cannot be read: {error}")
                continue
            blocks += of_part(page.blocks, name, parts=set(files), document_path=document_path)
            removed += page.removed
    said = {key: value for key in METADATA if (value := _said(package, key))}
    metadata: dict[str, Scalar] = dict(said)
    return BlockDocument(tuple(blocks), _said(package, "title"), tuple(removed), tuple(notes), metadata)


def _opened(path: Path) -> zipfile.ZipFile:
    data = path.read_bytes()
    if not zipfile.is_zipfile(BytesIO(data)):
        raise DocumentError(path, no_archive(data, "a book"))
    return zipfile.ZipFile(BytesIO(data))


def _package(archive: zipfile.ZipFile, path: Path) -> tuple[Any, str]:
    """Return the book's list of files, and the folder that it lies in."""
    names = set(archive.namelist())
    # Packed with the folder that it was made in, a book begins below that: `epub/META-INF/container.xml`.
    container = min((name for name in names if f"/{name}".endswith(f"/{CONTAINER}")), key=len, default="")
    if not container:
        raise DocumentError(path, f"is a ZIP archive, not an EPUB (it has no {CONTAINER})")
    top = container.removesuffix(CONTAINER)
    if (encryption := top + ENCRYPTION) in names and any(
        method.get("Algorithm") not in OBFUSCATED_FONT
        for method in parse_xml(archive.read(encryption), path).iter("{*}EncryptionMethod")
    ):
        raise DocumentError(path, "is protected (DRM): its pages are encrypted")
    root = next(iter(parse_xml(archive.read(container), path).iter("{*}rootfile")), None)
    name = posixpath.normpath(top + unquote(root.get("full-path", ""))) if root is not None else ""
    if name not in names:
        raise DocumentError(path, f"is broken: its list of files ({name or 'none'}) is not there")
    return parse_xml(archive.read(name), path), posixpath.dirname(name)


def _reading_order(package: Any, folder: str) -> list[str]:
    """Return the names of the pages; the page of contents (EPUB 3) is left out, which is links to the others."""
    items = {item.get("id"): item for item in package.iter("{*}item")}
    files = []
    for reference in package.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in PAGES or "nav" in (item.get("properties") or "").split():
            continue
        page, _ = urldefrag(item.get("href", ""))  # some books list the sections of a page
        name = posixpath.normpath(posixpath.join(folder, unquote(page))).lstrip("/")
        if name not in files:
            files.append(name)
    return files


def _said(package: Any, name: str) -> str:
    """Return what the book says of itself."""
    return next(
        (words for node in package.iter(f"{{*}}{name}") if (words := " ".join("".join(node.itertext()).split()))), ""
    )
