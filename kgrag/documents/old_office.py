"""Files of Word, Excel and PowerPoint 97 to 2003, and what else is called as they are: pages of HTML, RTF, new files, text."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.sniffing import COMPOUND_FILE
from kgrag.documents.text_encoding import wide_encoding
from kgrag.errors import DocumentError

__all__ = ["convert_old_office", "other_format"]

ARCHIVE = b"PK\x03\x04"
NEW = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
HEAD = 4_096
XML, WORD_XML = (
    b"<?xml",
    (b"urn:schemas-microsoft-com:office:spreadsheet", b"schemas.microsoft.com/office/word/2003/wordml"),
)
BIFF_BEGINS = (b"\x09\x00", b"\x09\x02", b"\x09\x04", b"\x09\x08")
"""Of files of Excel 2 to 4, which are no compound files."""


def other_format(data: bytes) -> str | None:
    """Return the format of a file that is only called `.doc`, `.xls` or `.ppt`; None for one that is what it is called."""
    head = data[:HEAD]
    if head.startswith(COMPOUND_FILE) or head.startswith(BIFF_BEGINS):
        return None
    if head.startswith(ARCHIVE):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
        return next(
            (format_ for folder, format_ in NEW.items() if any(name.startswith(folder) for name in names)), None
        )
    if head.startswith(b"{\\rtf"):
        return "rtf"
    text = head.decode(wide_encoding(head) or "latin-1", "replace").lower()
    if any(mark.decode() in text for mark in WORD_XML):
        return None
    if any(mark in text for mark in ("<html", "<table", "<body", "<!doctype html")):
        return "html"
    return None if "\0" in text else "txt"


def convert_old_office(data: bytes, path: Path, *, format_: str, document_path: str) -> BlockDocument:
    """Convert a `doc`, `xls` or `ppt`. Raises `DocumentError` where it is something else, broken, or has a password."""
    if data.startswith(XML):
        raise DocumentError(path, f"is XML of Office 2003: open it there and save it as .{format_}x")
    if format_ != "xls" and not data.startswith(COMPOUND_FILE):
        raise DocumentError(path, f"is no .{format_}, or a broken one")
    match format_:
        case "doc":
            from kgrag.documents.old_word import convert_old_word

            return convert_old_word(data, path, document_path=document_path)
        case "ppt":
            from kgrag.documents.old_slides import convert_old_slides

            return convert_old_slides(data, path)
        case _:
            from kgrag.documents.old_spreadsheets import convert_old_spreadsheet

            return convert_old_spreadsheet(data, path)
