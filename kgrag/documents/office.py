"""Word and PowerPoint files to blocks, through Docling; and what every Office file is checked for first.

Docling makes a text item of every run of equal formatting and strips it, so that `3.` `3` (bold) ` V` comes out as `3. 3 V`, and nobody
can tell `X-1000` from `X- 1000` any more. So formatting that says nothing is taken off Word files beforehand, and a paragraph is one item;
raised digits become `⁶`; and links, which also part runs, become marks in the text that `docling_blocks` turns into links again.
"""

from __future__ import annotations

import zipfile
import zlib
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.docling_blocks import LINK_END, LINK_START, LINK_TEXT, blocks_of_docling
from kgrag.documents.inline_text import superscript
from kgrag.documents.text_encoding import HEAD_BYTES, OLE_MAGIC, foreign_content
from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from docling.datamodel.document import ConversionResult
    from docling.document_converter import DocumentConverter

__all__ = ["check_office_file", "convert_office"]

MAIN_PART = {"docx": "word/document.xml", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml"}
MAX_UNPACKED_MB = 1000
"""An Office file that unpacks to more is a dump or a bomb."""
GENERIC_TITLES = frozenset(
    {"", "word document", "document", "powerpoint presentation", "powerpoint-präsentation", "presentation", "untitled"}
)
"""What Office puts where an author gave no title."""
ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
"""Name of the stream in which Office keeps what a password protects."""
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
DRAWING_SLIDES = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MEANINGLESS = tuple(
    f"{WORD}{name}"
    for name in (
        "b",
        "bCs",
        "i",
        "iCs",
        "u",
        "strike",
        "dstrike",
        "vertAlign",
        "color",
        "sz",
        "szCs",
        "highlight",
        "em",
    )
)


def convert_office(path: Path, *, suffix: str, document_path: str) -> BlockDocument:
    """Convert a .docx or .pptx file. Raises `DocumentError` where it is broken, protected by a password, or something else."""
    check_office_file(path, suffix=suffix)
    left_out: list[str] = []
    if suffix == "docx":
        data, link_targets = _mark_links(path)
        result = _converted(path, data)
    else:
        link_targets = []
        try:
            result = _converted(path, path.read_bytes())
        except DocumentError:
            data, left_out = _without_unreadable_charts(path)
            if not left_out:
                raise
            result = _converted(path, data)
    converted = blocks_of_docling(result.document, document_path=document_path, link_targets=link_targets)
    notes = (*left_out, *(f"read in part: {error.error_message}" for error in result.errors))
    title = _core_title(path)
    return BlockDocument(converted.blocks, title or converted.title, converted.removed, notes)


def _converted(path: Path, data: bytes) -> ConversionResult:
    """Convert what a file has. Raises `DocumentError`."""
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    result = _converter().convert(DocumentStream(name=path.name, stream=BytesIO(data)), raises_on_error=False)
    if result.status not in (ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS):
        reasons = "; ".join(error.error_message for error in result.errors) or str(result.status)
        raise DocumentError(path, f"Docling cannot convert it: {reasons}")
    return result


def check_office_file(path: Path, *, suffix: str) -> None:
    """Check that a file is the Office document that its name says. Raises `DocumentError`."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
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
    with zipfile.ZipFile(path) as archive:
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


def _without_unreadable_charts(path: Path) -> tuple[bytes, list[str]]:
    """Return slides without the charts that cannot be read (python-pptx knows none in 3D), and a note for each. Raises `DocumentError`."""
    from pptx import Presentation

    presentation = Presentation(str(path))
    if not len(presentation.slides):
        raise DocumentError(path, "has no slides")
    notes = []
    for number, slide in enumerate(presentation.slides, start=1):
        charts = [frame for frame in slide.element.iter(f"{DRAWING_SLIDES}graphicFrame") if frame.chart_rId is not None]
        for frame in charts:
            try:
                chart = slide.part.related_part(frame.chart_rId).chart
                _ = [list(series.values) for plot in chart.plots for series in plot.series]
            except (KeyError, ValueError, NotImplementedError) as error:
                frame.getparent().remove(frame)
                notes.append(f"slide {number}: a chart cannot be read and was left out: {error}")
    out = BytesIO()
    presentation.save(out)
    return out.getvalue(), notes


def _mark_links(path: Path) -> tuple[bytes, list[str]]:
    """Return a Word file with uniform runs, marked links and no comments in its XML, and where the links lead, by number."""
    from docx import Document
    from lxml import etree

    targets: list[str] = []
    document = Document(str(path))
    body: Any = document.element.body
    # Docling takes whatever is in a table for an element.
    etree.strip_tags(body, etree.Comment, etree.ProcessingInstruction)
    for properties in list(body.iter(f"{WORD}rPr")):
        _level(properties)
    for hyperlink in list(body.iter(f"{WORD}hyperlink")):
        relation = document.part.rels.get(hyperlink.get(RELATION_ID, ""))
        target = relation.target_ref if relation is not None and relation.is_external else ""
        fragment = hyperlink.get(f"{WORD}anchor")
        _unwrap(hyperlink, f"{target}#{fragment}" if target and fragment else target, targets)
    out = BytesIO()
    document.save(out)
    return out.getvalue(), targets


def _level(properties: Any) -> None:
    """Take formatting off a run; digits that stand high stay so."""
    script = properties.find(f"{WORD}vertAlign")
    if script is not None and script.get(f"{WORD}val") == "superscript":
        for text in properties.getparent().iter(f"{WORD}t"):
            text.text = superscript(text.text)
    for name in MEANINGLESS:
        for element in properties.findall(name):
            properties.remove(element)


def _unwrap(hyperlink: Any, target: str, targets: list[str]) -> None:
    """Put a link's runs in its place, with marks around its words where it leads out of the file."""
    texts = [text for text in hyperlink.iter(f"{WORD}t") if text.text]
    if target and texts:
        texts[0].text = f"{LINK_START}{len(targets)}{LINK_TEXT}{texts[0].text}"
        texts[-1].text = f"{texts[-1].text}{LINK_END}"
        for text in texts:
            text.set(XML_SPACE, "preserve")
        targets.append(target)
    for style in list(hyperlink.iter(f"{WORD}rStyle")):
        style.getparent().remove(style)
    parent = hyperlink.getparent()
    place = parent.index(hyperlink)
    for child in list(hyperlink):
        parent.insert(place, child)
        place += 1
    parent.remove(hyperlink)
