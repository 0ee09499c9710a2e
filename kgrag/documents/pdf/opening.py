"""Whether a file is a PDF that can be read, said before the parser is started."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from kgrag.errors import DocumentError

__all__ = ["check_pdf", "file_origin"]

_HEADER_WITHIN = 1024
"""Bytes: readers accept junk before `%PDF-` up to here (ISO 32000, annex H)."""
_TRAILER_WITHIN = 4096
"""Bytes from the end in which `%%EOF` must stand."""
_USELESS_TITLE = re.compile(r"[/\\]|\.(?:html?|docx?|pdf|indd|fm|tex|pptx?|xlsx?)$|^untitled|^microsoft", re.IGNORECASE)
_PASSWORD_ERROR = 4
"""FPDF_ERR_PASSWORD."""
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive (or an Office file)",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"{\\rtf": "an RTF file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
}


def check_pdf(path: Path) -> str:
    """Return the title in the file's metadata, where it is one and not a file name.

    Raises `DocumentError` that says what is wrong: empty, no PDF (and what instead), truncated, encrypted, broken, no pages.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEADER_WITHIN)
            file.seek(max(0, size - _TRAILER_WITHIN))
            tail = file.read()
    except OSError as error:
        raise DocumentError(path, f"cannot be opened: {error.strerror}") from error
    if not size:
        raise DocumentError(path, "empty file (0 bytes)")
    if b"%PDF-" not in head:
        found = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "something else")
        raise DocumentError(path, f"not a PDF: expected %PDF- at the beginning, found {found}")
    if b"%%EOF" not in tail:
        raise DocumentError(path, f"truncated PDF: no end-of-file mark in its {size} bytes; get the file again")
    return _open_with_pdfium(path)


def _open_with_pdfium(path: Path) -> str:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR or "password" in str(error).lower():
            raise DocumentError(path, "encrypted PDF: it needs a password; save a copy without one") from error
        raise DocumentError(path, f"broken PDF: {error}") from error
    try:
        if len(document) == 0:
            raise DocumentError(path, "PDF without pages")
        title = " ".join(str(document.get_metadata_value("Title") or "").split())
    finally:
        document.close()
    return "" if _USELESS_TITLE.search(title) else title


def file_origin(path: Path) -> Any:
    """Docling's note of where a document comes from."""
    from docling_core.types.doc.common.origin import DocumentOrigin

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return DocumentOrigin(mimetype="application/pdf", filename=path.name, binary_hash=int.from_bytes(digest[:8], "big"))
