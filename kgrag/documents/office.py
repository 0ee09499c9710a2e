"""Word and PowerPoint files to blocks, through Docling."""

from __future__ import annotations

import logging
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.docling_blocks import CONTENTS_RULE, blocks_of_docling
from kgrag.documents.html import is_title
from kgrag.documents.office_drawings import (
    CHART,
    DIAGRAM_DATA,
    DIAGRAM_RELATIONS,
    RELATION_ID,
    chart_lines,
    diagram_lines,
)
from kgrag.documents.office_package import read_package
from kgrag.documents.word_body import prepare_word, words_of
from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from docling.datamodel.document import ConversionResult
    from docling.document_converter import DocumentConverter

__all__ = ["convert_office"]

GENERIC_TITLES = frozenset(
    {"", "word document", "document", "powerpoint presentation", "powerpoint-präsentation", "presentation", "untitled"}
)
"""What Office puts where an author gave no title."""
WORDS_NAMED = 10
DRAWING_SLIDES = "{http://schemas.openxmlformats.org/presentationml/2006/main}"


def convert_office(path: Path, *, suffix: str, document_path: str) -> BlockDocument:
    """Convert a .docx or .pptx file. Raises `DocumentError` where it is broken, protected by a password, or something else."""
    left_out: list[str] = []
    package = read_package(path, suffix=suffix)
    word = prepare_word(package) if suffix == "docx" else None
    if word is not None:
        result = _converted(path, word.package)
    else:
        package = _with_words_of_drawings(package)
        try:
            result = _converted(path, package)
        except DocumentError:
            data, left_out = _without_unreadable_charts(path, package)
            if not left_out:
                raise
            result = _converted(path, data)
    converted = blocks_of_docling(
        result.document, document_path=document_path, link_targets=word.link_targets if word is not None else ()
    )
    if word is not None:
        read = (
            *(line for block in converted.blocks for line in block.lines),
            *(line.text for line in converted.removed),
        )
        if lost := sorted(word.words - words_of(read)):
            left_out.append(f"Docling did not read {len(lost)} of its words: {', '.join(lost[:WORDS_NAMED])}")
    notes = (*left_out, *(f"read in part: {error.error_message}" for error in result.errors))
    title = _core_title(package)
    contents = tuple(RemovedLine(CONTENTS_RULE, line) for line in (word.contents if word is not None else ()))
    comments = tuple(RemovedLine("comment", line) for line in (word.comments if word is not None else ()))
    return BlockDocument(converted.blocks, title or converted.title, (*contents, *comments, *converted.removed), notes)


def _converted(path: Path, data: bytes) -> ConversionResult:
    """Convert what a file has. Raises `DocumentError`."""
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    result = _converter().convert(DocumentStream(name=path.name, stream=BytesIO(data)), raises_on_error=False)
    if result.status not in (ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS):
        reasons = "; ".join(error.error_message for error in result.errors) or str(result.status)
        raise DocumentError(path, f"Docling cannot convert it: {reasons}")
    return result


@cache
def _converter() -> DocumentConverter:
    """Return the converter, whose remarks on pictures go where the user's logging has them, and not to the terminal."""
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter

    logging.getLogger("docling").addHandler(logging.NullHandler())
    return DocumentConverter(allowed_formats=[InputFormat.DOCX, InputFormat.PPTX])


def _core_title(package: bytes) -> str:
    """Return the title that the file's properties have; Office's own names for new files are none."""
    from lxml import etree

    try:
        with zipfile.ZipFile(BytesIO(package)) as archive:
            root: Any = etree.fromstring(archive.read("docProps/core.xml"))
    except (KeyError, zipfile.BadZipFile, zlib.error, etree.XMLSyntaxError):  # the words are elsewhere
        return ""
    title = " ".join((root.findtext("{http://purl.org/dc/elements/1.1/}title") or "").split())
    return title if is_title(title) and title.lower() not in GENERIC_TITLES else ""


def _with_words_of_drawings(package: bytes) -> bytes:
    """Return slides with a text box for each SmartArt, and for the titles of each chart, in their place: Docling reads none."""
    if b"ppt/diagrams/data" not in package and b"ppt/charts/" not in package:
        return package
    from pptx import Presentation

    presentation = Presentation(BytesIO(package))
    for slide in presentation.slides:
        for frame in list(slide.shapes):
            if lines := [line for part, read in _drawn_in(frame.element, slide.part) for line in read(part.blob)]:
                box = slide.shapes.add_textbox(frame.left or 0, frame.top or 0, frame.width or 0, frame.height or 0)
                box.text_frame.text = "\n".join(lines)
    out = BytesIO()
    presentation.save(out)
    return out.getvalue()


def _drawn_in(frame: Any, slide: Any) -> Iterator[tuple[Any, Callable[[bytes], list[str]]]]:
    """Yield the parts of a slide that a shape is drawn by, and what reads their words."""
    for diagram in frame.iter(DIAGRAM_RELATIONS):
        yield slide.related_part(diagram.get(DIAGRAM_DATA)), diagram_lines
    for chart in frame.iter(CHART):
        relation = slide.rels.get(chart.get(RELATION_ID, ""))
        if relation is not None and not relation.is_external:
            yield relation.target_part, chart_lines


def _without_unreadable_charts(path: Path, package: bytes) -> tuple[bytes, list[str]]:
    """Return slides without the charts that cannot be read (python-pptx knows none in 3D), and a note for each. Raises `DocumentError`."""
    from pptx import Presentation

    presentation = Presentation(BytesIO(package))
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
