"""`convert_pdf`: the door to PDF files.

`native` recovers the structure without models; `standard` is Docling's pipeline with its layout and table models (extra `docling`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.ocr_data import missing_ocr
from kgrag.documents.pdf.ocr import with_read_pictures
from kgrag.documents.pdf.outline import read_outline
from kgrag.documents.pdf.pages import Page, read_pages
from kgrag.documents.pdf.structure import Structure, recover_structure
from kgrag.documents.pdf.titles import document_title, is_title
from kgrag.documents.pdf.writing import written
from kgrag.documents.text_encoding import foreign_content
from kgrag.errors import DocumentError, ModelMissing
from kgrag.types import Scalar

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

__all__ = [
    "blocks_of_structure",
    "check_pdf",
    "convert_pdf",
    "count_pages",
    "is_read_natively",
    "read_structure",
    "read_with_pictures",
]

PdfMode = Literal["auto", "native", "standard"]
_HEADER_WITHIN = 1024
"""Bytes: readers accept junk before `%PDF-` up to here (ISO 32000, annex H)."""
_TRAILER_WITHIN = 4096
"""Bytes from the end in which `%%EOF` must stand."""
_PASSWORD_ERROR = 4
"""FPDF_ERR_PASSWORD."""
_PACKAGES = "torch", "transformers", "docling_ibm_models"
_LAYOUT_WEIGHTS = "models--docling-project--docling-layout-heron"
"""Folder of the layout model in the Hugging Face cache (docling's preset `layout_heron_default`)."""


def convert_pdf(
    path: Path, *, document_path: str, mode: PdfMode = "auto", pages: Sequence[Page] | None = None
) -> BlockDocument:
    """Convert a PDF to blocks: headings, paragraphs, lists and tables, each with its page and place.

    `native` needs no model; `standard` takes Docling's layout models; `auto` takes them where they are installed. `pages` are those of
    `read_with_pictures`, where they were read before, and are looked at in mode `native` alone.
    Raises `DocumentError` for a file that is empty, encrypted, truncated, without text or no PDF, and `ModelMissing` where `standard` is
    asked for and not installed.
    """
    metadata_title = check_pdf(path)
    missing = missing_packages()
    if mode == "standard" and missing:
        raise ModelMissing(
            f"PDF mode `standard` needs Docling's layout models; {missing}. Run: pip install 'kgrag[docling]', or take --pdf native."
        )
    if mode == "native":
        return _convert_natively(path, document_path, metadata_title, "asked for", pages)
    if mode == "auto" and (missing := missing or missing_weights()):
        return _convert_natively(path, document_path, metadata_title, f"auto: {missing}", pages)
    from kgrag.documents.docling_blocks import blocks_of_docling

    converted = blocks_of_docling(convert_with_models(path), document_path=document_path)
    reason = "asked for" if mode == "standard" else "auto: layout models are installed"
    note = f"PDF read in mode standard ({reason})"
    return BlockDocument(
        converted.blocks, metadata_title if is_title(metadata_title) else converted.title, converted.removed, (note,)
    )


def is_read_natively(mode: PdfMode) -> bool:
    """Return whether PDFs are read without models here."""
    return mode == "native" or (mode == "auto" and bool(missing_packages() or missing_weights()))


def read_with_pictures(path: Path, numbers: range | None = None) -> list[Page]:
    """Read the pages, or those of `numbers` (from 1), without models; those that are pictures by OCR. Raises `DocumentError`."""
    with _failure_of_parser(path):
        pages = list(read_pages(path, numbers))
    if not missing_ocr() and not all(page.words for page in pages):
        pages = with_read_pictures(path, pages)
    return pages


@contextmanager
def _failure_of_parser(path: Path) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise DocumentError(path, f"broken PDF: docling-parse cannot read it ({error})") from error


def read_structure(path: Path, pages: Sequence[Page] | None = None) -> Structure:
    """Recover the structure of a PDF's pages without models, of `pages` where they were read before. Raises `DocumentError`."""
    if pages is None:
        pages = read_with_pictures(path)
    with _failure_of_parser(path):
        outline = read_outline(path)
    if not any(page.words for page in pages):
        missing = missing_ocr()
        reason = f"OCR: {missing}" if missing else "OCR finds none either"
        what = "fonts do not say which letters they are" if any(page.unreadable for page in pages) else "a scan?"
        raise DocumentError(path, f"no text on its {len(pages)} page(s): {what} {reason}")
    return recover_structure(pages, outline)


def _convert_natively(
    path: Path, document_path: str, metadata_title: str, reason: str, pages: Sequence[Page] | None
) -> BlockDocument:
    notes = (f"PDF read in mode native ({reason})",)
    return blocks_of_structure(
        read_structure(path, pages), document_path=document_path, metadata_title=metadata_title, notes=notes
    )


def blocks_of_structure(
    structure: Structure, *, document_path: str, metadata_title: str = "", notes: Sequence[str] = ()
) -> BlockDocument:
    """Write a recovered structure as a document; `metadata_title` is what the file says of itself."""
    blocks, contents = written(structure.blocks, document_path=document_path)
    running = [
        RemovedLine("running header or footer", f"{line.text} ({len(line.pages)} pages)", line.pages[0])
        for line in structure.removed
    ]
    notes = list(notes)
    if empty := structure.textless_pages:
        notes.append(f"{len(empty)} of {structure.page_count} pages have no text: {_listed(empty)}{_why_unread()}")
    if unreadable := structure.unreadable_pages:
        notes.append(
            f"fonts of {len(unreadable)} page(s) do not say which letters they are, their text is not read: {_listed(unreadable)}"
        )
    if steps := structure.steps:
        notes.append(
            f"{len(steps)} page(s) repeat the slide before, of these only what is new is kept: {_listed(steps)}"
        )
    metadata: dict[str, Scalar] = {}
    if pictures := structure.pictures:
        sure = sum(confidence for _, confidence in pictures) / len(pictures)
        read = _listed([page for page, _ in pictures])
        notes.append(
            f"{len(pictures)} of {structure.page_count} pages are pictures, read by OCR (confidence {sure:.2f}): {read}"
        )
        metadata = {"ocr_pages": read, "ocr_confidence": round(sure, 3)}
    if shapeless := structure.shapeless_pages:
        notes.append(
            f"lines and fills of {len(shapeless)} page(s) cannot be read, tables there may be missed: {_listed(shapeless)}"
        )
    title = document_title(structure, blocks, metadata_title=metadata_title)
    return BlockDocument(tuple(blocks), title, (*running, *contents), tuple(notes), metadata)


def _why_unread() -> str:
    missing = missing_ocr()
    return f" (OCR: {missing})" if missing else ""


def _listed(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages))


def check_pdf(path: Path) -> str:
    """Return the title in the file's metadata, whatever it says.

    Raises `DocumentError` that says what is wrong: empty, no PDF (and what instead), truncated, encrypted, broken, no pages.
    """
    return _checked(path)[0]


def count_pages(path: Path) -> int:
    """Return how many pages a PDF has. Raises `DocumentError` as `check_pdf` does."""
    return _checked(path)[1]


def _checked(path: Path) -> tuple[str, int]:
    """Return the title in the metadata, and how many pages there are."""
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
        found = foreign_content(head) or "something else"
        raise DocumentError(path, f"not a PDF: expected %PDF- at the beginning, found {found}")
    if b"%%EOF" not in tail:
        raise DocumentError(path, f"truncated PDF: no end-of-file mark in its {size} bytes; get the file again")
    return _open_with_pdfium(path)


def _open_with_pdfium(path: Path) -> tuple[str, int]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR or "password" in str(error).lower():
            raise DocumentError(path, "encrypted PDF: it needs a password; save a copy without one") from error
        raise DocumentError(path, f"broken PDF: {error}") from error
    try:
        count = len(document)
        if count == 0:
            raise DocumentError(path, "PDF without pages")
        title = " ".join(str(document.get_metadata_value("Title") or "").split())
    finally:
        document.close()
    return title, count


def missing_packages() -> str:
    """Say which packages of the standard pipeline are not installed; empty when none."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def missing_weights() -> str:
    """Say where the layout model's weights were looked for in vain; empty when they are there.

    Docling downloads them when the standard pipeline first runs; `auto` does not start a download.
    """
    artifacts = os.environ.get("DOCLING_ARTIFACTS_PATH")
    if artifacts:
        return "" if Path(artifacts).is_dir() else f"DOCLING_ARTIFACTS_PATH is no folder: {artifacts}"
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    weights = Path(os.environ.get("HF_HUB_CACHE", home / "hub")) / _LAYOUT_WEIGHTS
    return "" if weights.is_dir() else f"layout model not downloaded: no {weights}"


def convert_with_models(path: Path) -> DoclingDocument:
    """Convert with Docling's standard pipeline. Raises `DocumentError` where it fails."""
    from docling.datamodel.base_models import ConversionStatus, InputFormat
    from docling.document_converter import DocumentConverter

    result = DocumentConverter(allowed_formats=[InputFormat.PDF]).convert(path, raises_on_error=False)
    if result.status is not ConversionStatus.SUCCESS:
        reasons = "; ".join(error.error_message for error in result.errors) or "no reason given"
        raise DocumentError(path, f"Docling's standard pipeline ended with {result.status.value}: {reasons}")
    return result.document
