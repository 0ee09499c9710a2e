"""Word and PowerPoint files to blocks, through Docling; and what every Office file is checked for first."""

from __future__ import annotations

import zipfile
import zlib
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.docling_blocks import blocks_of_docling
from kgrag.documents.foreign_parsers import broken_means_document_error
from kgrag.documents.text_encoding import foreign_content
from kgrag.documents.word_runs import mark_links
from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from docling.document_converter import DocumentConverter

__all__ = ["check_office_file", "convert_office"]

MAIN_PART = {"docx": "word/document.xml", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml"}
MAX_UNPACKED_MB = 1000
"""An Office file that unpacks to more is a dump or a bomb."""
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
GENERIC_TITLES = frozenset(
    {"", "word document", "document", "powerpoint presentation", "powerpoint-präsentation", "presentation", "untitled"}
)
"""What Office puts where an author gave no title."""
ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
"""Name of the stream in which Office keeps what a password protects."""


def convert_office(path: Path, *, suffix: str, document_path: str) -> BlockDocument:
    """Convert a .docx or .pptx file. Raises `DocumentError` where it is broken, protected by a password, or something else."""
    check_office_file(path, suffix=suffix)
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    with broken_means_document_error(path):
        data, link_targets = mark_links(path) if suffix == "docx" else (path.read_bytes(), [])
        result = _converter().convert(DocumentStream(name=path.name, stream=BytesIO(data)), raises_on_error=False)
    if result.status not in (ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS):
        reasons = "; ".join(error.error_message for error in result.errors) or str(result.status)
        raise DocumentError(path, f"Docling cannot convert it: {reasons}")
    converted = blocks_of_docling(result.document, document_path=document_path, link_targets=link_targets)
    notes = tuple(f"read in part: {error.error_message}" for error in result.errors)
    title = _core_title(path)
    return BlockDocument(converted.blocks, title or converted.title, converted.removed, notes)


def check_office_file(path: Path, *, suffix: str) -> None:
    """Check that a file is the Office document that its name says. Raises `DocumentError`."""
    with path.open("rb") as file:
        head = file.read(16)
        if head.startswith(OLE_MAGIC):
            file.seek(0)
            if ENCRYPTED_STREAM in file.read():
                raise DocumentError(path, "is encrypted: save a copy without a password")
            raise DocumentError(path, f"is a document of Office 97-2003: save it as .{suffix}")
    if not zipfile.is_zipfile(path):
        kind = foreign_content(head)
        other_kind = kind is not None and "ZIP" not in kind
        raise DocumentError(
            path, f"its content is {kind}, not a .{suffix}" if other_kind else f"is no .{suffix}, or a broken one"
        )
    with broken_means_document_error(path), zipfile.ZipFile(path) as archive:
        parts = {part.filename: part.file_size for part in archive.infolist()}
    if MAIN_PART[suffix] not in parts:
        other = next((name for name, part in MAIN_PART.items() if part in parts), "")
        unknown = f"is a ZIP archive, not a .{suffix} (it has no {MAIN_PART[suffix]})"
        raise DocumentError(path, f"is a .{other} with another name" if other else unknown)
    if (unpacked := sum(parts.values())) > MAX_UNPACKED_MB * 1_000_000:
        raise DocumentError(
            path, f"unpacks to {unpacked / 1_000_000:.0f} MB, more than the limit of {MAX_UNPACKED_MB} MB"
        )


@cache
def _converter() -> DocumentConverter:
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter

    return DocumentConverter(allowed_formats=[InputFormat.DOCX, InputFormat.PPTX])


def _core_title(path: Path) -> str:
    """Return the title that the file's properties have; Office's own names for new files are none."""
    from lxml import etree

    try:
        with zipfile.ZipFile(path) as archive:
            root: Any = etree.fromstring(archive.read("docProps/core.xml"))
    except (KeyError, zipfile.BadZipFile, zlib.error, etree.XMLSyntaxError):  # the words are elsewhere
        return ""
    title = root.findtext("{http://purl.org/dc/elements/1.1/}title") or ""
    return "" if title.strip().lower() in GENERIC_TITLES else " ".join(title.split())
