"""`convert_pdf`: the door to PDF files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kgrag.documents.pdf.blocks import Block, TableBlock
from kgrag.documents.pdf.docling_document import PdfLink, write_document
from kgrag.documents.pdf.furniture import RemovedLine
from kgrag.documents.pdf.geometry import Line, lines_of
from kgrag.documents.pdf.hyphens import LineJoiner
from kgrag.documents.pdf.opening import check_pdf, file_origin
from kgrag.documents.pdf.pages import read_outline, read_pages
from kgrag.documents.pdf.standard import convert_with_models, missing_packages, missing_weights
from kgrag.documents.pdf.structure import Structure, recover_structure
from kgrag.errors import DocumentError, ModelMissing

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

__all__ = ["PdfConversion", "PdfReport", "convert_pdf"]

PdfMode = Literal["auto", "native", "standard"]


@dataclass(frozen=True, slots=True)
class PdfReport:
    """What the conversion made of a file."""

    pages: int
    pages_without_text: tuple[int, ...] = ()
    headings: int = 0
    tables: int = 0
    continued_tables: int = 0
    """Tables that were given the header row of the page before."""
    index_pages: tuple[int, ...] = ()
    """Pages with a table of contents, whose items have the label `document_index`."""
    list_items: int = 0
    paragraphs: int = 0
    removed: tuple[RemovedLine, ...] = ()
    """Running headers and footers."""
    hyphens_removed: int = 0
    hyphens_kept: int = 0
    """Lines that end in a hyphen: joined without it, joined with it."""
    note: str = ""
    """Why this mode was taken."""


@dataclass(frozen=True, slots=True)
class PdfConversion:
    """A converted PDF."""

    document: DoclingDocument
    mode_used: Literal["native", "standard"]
    report: PdfReport
    title: str = ""
    """From the title on the first page, else the file's metadata, else its running header; may be empty."""
    links: tuple[PdfLink, ...] = ()
    figure_items: tuple[str, ...] = ()
    """`self_ref`s of the text items that hold the labels inside a figure."""


def convert_pdf(path: Path, *, mode: PdfMode = "auto") -> PdfConversion:
    """Convert a PDF to a `DoclingDocument` with headings, paragraphs, lists and tables, each with its page and place.

    `native` needs no model; `standard` takes Docling's layout models; `auto` takes them where they are installed.
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
        return _convert_natively(path, metadata_title, "asked for")
    if mode == "auto" and (missing := missing or missing_weights()):
        return _convert_natively(path, metadata_title, f"auto: {missing}")
    from docling_core.types.doc.labels import DocItemLabel

    document = convert_with_models(path)
    report = PdfReport(
        pages=len(document.pages),
        headings=sum(item.label is DocItemLabel.SECTION_HEADER for item in document.texts),
        tables=len(document.tables),
        list_items=sum(item.label is DocItemLabel.LIST_ITEM for item in document.texts),
        note="asked for" if mode == "standard" else "auto: layout models are installed",
    )
    return PdfConversion(document, "standard", report, title=metadata_title)


def _convert_natively(path: Path, metadata_title: str, note: str) -> PdfConversion:
    try:
        pages = list(read_pages(path))
        outline = read_outline(path)
    except (RuntimeError, ValueError) as error:
        raise DocumentError(path, f"broken PDF: docling-parse cannot read it ({error})") from error
    if not any(page.words for page in pages):
        raise DocumentError(
            path,
            f"no text on its {len(pages)} page(s): a scan? Run it through OCR first (ocrmypdf), or use --pdf standard",
        )
    structure = recover_structure(pages, outline)
    joiner = LineJoiner(_lines_of_block(block) for block in structure.blocks)
    document, links, figures = write_document(structure, pages, name=path.stem, origin=file_origin(path), joiner=joiner)
    return PdfConversion(
        document=document,
        mode_used="native",
        report=_report(structure, len(pages), joiner, note),
        title=_title(structure, joiner, metadata_title),
        links=links,
        figure_items=figures,
    )


def _lines_of_block(block: Block) -> Sequence[Line]:
    if isinstance(block, TableBlock):
        return [line for cell in block.cells for line in lines_of(cell.words)]
    return block.lines if block.tail is None else [*block.lines, *block.tail.lines]


def _report(structure: Structure, page_count: int, joiner: LineJoiner, note: str) -> PdfReport:
    tables = [block for block in structure.blocks if isinstance(block, TableBlock)]
    kinds = [block.kind for block in structure.blocks if not isinstance(block, TableBlock)]
    return PdfReport(
        pages=page_count,
        pages_without_text=structure.textless_pages,
        headings=kinds.count("heading") + kinds.count("title"),
        tables=sum(not table.index for table in tables),
        continued_tables=sum(table.header_from is not None for table in tables),
        index_pages=tuple(sorted({table.page for table in tables if table.index})),
        list_items=kinds.count("list"),
        paragraphs=kinds.count("text"),
        removed=structure.removed,
        hyphens_removed=joiner.hyphens_removed,
        hyphens_kept=joiner.hyphens_kept,
        note=note,
    )


def _title(structure: Structure, joiner: LineJoiner, metadata_title: str) -> str:
    for block in structure.blocks:
        if not isinstance(block, TableBlock) and block.kind == "title":
            return joiner.join(block.lines)
    if metadata_title:
        return metadata_title
    headers = [line for line in structure.removed if line.top and any(character.isalpha() for character in line.text)]
    return max(headers, key=lambda line: len(line.pages)).text if headers else ""
