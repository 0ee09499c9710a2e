"""One file to blocks, by its format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.cleaning_report import RemovedLine
from kgrag.documents.discovery import Source
from kgrag.errors import DocumentError, InputError

__all__ = ["convert"]

PDF_MODES = ("auto", "native", "standard")


def convert(source: Source, data: bytes, *, pdf: str = "auto") -> BlockDocument:
    """Convert a file, whose bytes are `data`, to blocks. Raises `DocumentError` with a reason, `InputError` for an unknown PDF mode."""
    path, document_path = source.path, source.stored_path
    match source.format:
        case "html":
            from kgrag.documents.html import convert_html

            return convert_html(data, path, document_path=document_path)
        case "md":
            from kgrag.documents.markdown import convert_markdown

            return convert_markdown(data, path, document_path=document_path)
        case "docx" | "pptx":
            from kgrag.documents.office import convert_office

            return convert_office(path, suffix=source.format, document_path=document_path)
        case "xlsx":
            from kgrag.documents.spreadsheets import convert_spreadsheet

            return convert_spreadsheet(path)
        case "pdf":
            return _convert_pdf(path, document_path, pdf)
        case other:
            raise DocumentError(path, f"format {other!r} cannot be converted")


def _convert_pdf(path: Path, document_path: str, mode: str) -> BlockDocument:
    if mode not in PDF_MODES:
        raise InputError(f"PDF mode must be one of {', '.join(PDF_MODES)}, got {mode!r}.")
    from kgrag.documents.docling_blocks import FURNITURE_RULE, blocks_of_docling
    from kgrag.documents.pdf import convert_pdf

    conversion = convert_pdf(path, mode=cast(Literal["auto", "native", "standard"], mode))
    links: dict[str, list[tuple[str, str]]] = {}
    for link in conversion.links:
        links.setdefault(link.item, []).append((link.anchor, link.href))
    converted = blocks_of_docling(conversion.document, document_path=document_path, item_links=links)
    report = conversion.report
    furniture = [
        RemovedLine(FURNITURE_RULE, f"{line.text} ({len(line.pages)} pages)", line.pages[0] if line.pages else None)
        for line in report.removed
    ]
    notes = [f"PDF read in mode {conversion.mode_used} ({report.note})"]
    if report.pages_without_text:
        notes.append(
            f"{len(report.pages_without_text)} of {report.pages} pages have no text: {', '.join(map(str, report.pages_without_text))}"
        )
    return BlockDocument(
        converted.blocks, conversion.title or converted.title, (*furniture, *converted.removed), tuple(notes)
    )
