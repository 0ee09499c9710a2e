"""One file in, its documents out: the wiring of this room."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, cast

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.chunk_window import fit_title
from kgrag.documents.chunking import Chunker, chunk_blocks
from kgrag.documents.cleaning import CleaningReport, clean
from kgrag.documents.discovery import FILE_FORMATS, PICTURE, TEXT_FORMATS, Source, discover
from kgrag.documents.pandoc_formats import PANDOC_READERS
from kgrag.documents.passages import read_passages
from kgrag.documents.semantic import Embed
from kgrag.documents.text_encoding import PACKED, exceeds_unpacked, repair_text, unpacked_file
from kgrag.errors import DocumentError, InputError, KgragError
from kgrag.text.surrogates import without_surrogates
from kgrag.text.words import LEADING_ON
from kgrag.types import Chunk, Document, Scalar, content_id

if TYPE_CHECKING:
    from kgrag.documents.pdf.pages import Page

__all__ = ["MAX_FILE_MB", "Converted", "check_size", "convert_file", "failure_of", "pdf_mode", "read"]

MAX_FILE_MB = 100
"""Larger files are refused: a manual of a thousand pages has 10 to 50 MB, and what is larger is a dump."""


MAX_SUFFIX = 20
"""Characters of a file's name that say its format."""
TITLE_LINE = re.compile(r"(?=.{3,80}$)\w[^@\n]*(?<![.:;,!?])")
"""What may be a title where nothing says so."""
PAGE_WORDS = 20
"""A paragraph of so many words tells the picture of a page from a drawing with labels."""
TITLE_GOES_ON = LEADING_ON | {"for", "to", "in", "on"}
"""Words that no title ends with: it goes on in the next line."""
WORD_PROCESSED = frozenset({"doc", "docx", "odt", "rtf"})
PDF_MODES = ("auto", "native", "standard")


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as it goes into the store, and what was done to make it."""

    document: Document
    chunks: tuple[Chunk, ...]
    cleaning: CleaningReport = field(default_factory=CleaningReport)
    notes: tuple[str, ...] = ()
    """What the user should know: how a PDF was read, what was repaired, lines of a `.jsonl` file that could not be read."""


MENDS_BROKEN = (
    "Parts of it are missing or damaged: open it in the program that made it and save it again, or fetch another copy"
)
"""What to do about a file on which a parser, or our code, fails without a reason that says something to its user."""


def read(
    source: Source,
    *,
    count_tokens: Callable[[str], int],
    max_tokens: int,
    pdf: str = "auto",
    chunker: Chunker = "structure",
    embed: Embed | None = None,
    max_file_mb: int = MAX_FILE_MB,
    convert: Callable[[Source], BlockDocument] | None = None,
) -> Iterator[Converted]:
    """Convert, clean and chunk a file. `convert` takes the place of `convert_file`: conversion somewhere else, or before.

    Yields one document, for `.jsonl` one for each title, and none for a picture without text, for a page of frames or navigation alone
    and for a source of pages with directives or comments alone, also where a title stands above them.
    `count_tokens` is the embedder's tokenizer; no chunk's `embedded_text`
    has more than `max_tokens` (ready passages excepted: they are not split). `pdf` is `auto`, `native` or `standard`. `embed` gives the
    chunker `semantic` vectors of sentences. Raises `DocumentError`, with a reason, for a file that is broken, encrypted, empty, of
    another format than its name says, or larger than `max_file_mb`: whatever a parser, or our code, raises on a file of anybody is that
    file's failure.
    """
    check_size(source, max_file_mb)
    with failure_of(source.path):
        yield from _read(
            source,
            count_tokens=count_tokens,
            max_tokens=max_tokens,
            chunker=chunker,
            embed=embed,
            convert=convert or (lambda one: convert_file(one, pdf=pdf)),
        )


def convert_file(source: Source, *, pdf: str = "auto", pages: Sequence[Page] | None = None) -> BlockDocument:
    """Convert a file to blocks; of a PDF `pages` may have been read before, by `page_parts.read_part`.

    Raises `DocumentError` with a reason, `InputError` for an unknown PDF mode.
    """
    with failure_of(source.path):
        if source.format not in FILE_FORMATS:
            return _convert(source, pdf=pdf)
        with unpacked_file(source.path) as file:
            return _convert(replace(source, path=file), pdf=pdf, pages=pages)


@contextmanager
def failure_of(path: Path) -> Iterator[None]:
    """Turn what is raised while a file is read (`KeyError`, `zlib.error`, `RecursionError`, ...) into a `DocumentError` that says it."""
    try:
        yield
    except DocumentError as error:
        if error.path == path or path.suffix.lower() != PACKED:
            raise
        raise DocumentError(path, error.reason) from error  # of the unpacked file
    except (KgragError, MemoryError):
        raise
    except ImportError as error:
        raise DocumentError(
            path, f"cannot be read: {error}. kgrag is not installed as a whole: pip install --upgrade kgrag"
        ) from error
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        stopped_at = f"{type(error).__name__}{reason and f': {reason}'}"
        raise DocumentError(path, f"is broken: reading it stopped at {stopped_at}. {MENDS_BROKEN}") from error


def _read(
    source: Source,
    *,
    count_tokens: Callable[[str], int],
    max_tokens: int,
    chunker: Chunker,
    embed: Embed | None,
    convert: Callable[[Source], BlockDocument],
) -> Iterator[Converted]:
    if source.format == "jsonl":
        passages = read_passages(source, count_tokens=count_tokens)
        for number, (document, chunks) in enumerate(passages.documents):
            yield Converted(document, chunks, notes=passages.problems if number == 0 else ())
        return
    data = _bytes(source)
    converted = convert(source)
    blocks, report = clean(converted.blocks, removed_before=converted.removed)
    if not blocks and (
        source.format in (PICTURE, "md") or (source.format in (*TEXT_FORMATS, "dita") and report.removed)
    ):
        return
    if len(blocks) == 1 and blocks[0].kind == "heading" and source.format in TEXT_FORMATS and report.removed:
        return  # the title of other files, or of what a generator puts there
    if not blocks:
        raise DocumentError(source.path, _nothing_left(report))
    title = without_surrogates(
        repair_text(converted.title or _printed_title(blocks, source.format) or _stem(source.path))
    )
    document = _document(
        source, fit_title(title, count_tokens=count_tokens, max_tokens=max_tokens), data, converted.metadata
    )
    chunks = chunk_blocks(
        document, blocks, count_tokens=count_tokens, max_tokens=max_tokens, chunker=chunker, embed=embed
    )
    notes = list(converted.notes)
    if report.repaired:
        notes.append(f"{len(report.repaired)} lines had wrongly encoded characters, which were repaired")
    yield Converted(document, chunks, report, tuple(notes))


def _printed_title(blocks: Sequence[Block], format_: str) -> str:
    """Return the title that stands at the beginning of a document that says none of itself; nothing where there is none.

    The first heading is one. In a word processor a title is often a line in large letters that no style marks: where text stands above
    the first of several sections, its first line is the title, if it is short and no sentence; with the next one where it leads on to it
    (`Manual for`). The letters of a drawing are labels, the largest of them too.
    """
    if format_ == PICTURE and not any(
        one.kind == "paragraph" and len(one.text.split()) >= PAGE_WORDS for one in blocks
    ):
        return ""
    headings = [block for block in blocks if block.kind == "heading"]
    if headings and headings[0].text.endswith("?") and any(one.level == headings[0].level for one in headings[1:]):
        return ""  # one of several questions
    is_title = not headings or headings[0] is blocks[0] or all(one.level > headings[0].level for one in headings[1:])
    if is_title or format_ not in (*WORD_PROCESSED, "txt"):
        return headings[0].text if headings else ""
    if format_ == "txt":  # the first of its sections
        return ""
    lines = [block.text.strip() for block in blocks[:2] if block.kind == "paragraph"]
    title = lines[0] if blocks[0].kind == "paragraph" else ""
    if len(lines) > 1 and title.rpartition(" ")[2] in TITLE_GOES_ON:
        title = f"{title} {lines[1]}"
    return title if TITLE_LINE.fullmatch(title) else ""


def _stem(path: Path) -> str:
    return Path(path.stem).stem if path.suffix.lower() == PACKED else path.stem


def _convert(source: Source, *, pdf: str, pages: Sequence[Page] | None = None) -> BlockDocument:
    path, document_path = source.path, source.stored_path
    match source.format:
        case "html":
            from kgrag.documents.html_slides import convert_page

            return convert_page(_bytes(source), path, document_path=document_path)
        case "md":
            from kgrag.documents.markdown import convert_markdown

            return convert_markdown(_bytes(source), path, document_path=document_path)
        case "txt" | "rst" | "adoc":
            from kgrag.documents.text_files import convert_text

            return convert_text(_bytes(source), path, document_path=document_path)
        case "configuration":
            from kgrag.documents.configuration import convert_configuration

            return convert_configuration(_bytes(source), path, document_path=document_path)
        case "csv":
            from kgrag.documents.separated_values import convert_separated_values

            return convert_separated_values(_bytes(source), path)
        case "picture":
            from kgrag.documents.pictures import convert_picture

            return convert_picture(_bytes(source), path, document_path=document_path)
        case "mail" | "outlook":
            from kgrag.documents.mail import convert_mail

            data = _bytes(source)
            if source.format == "outlook":
                from kgrag.documents.outlook import mail_of_outlook

                data = mail_of_outlook(data, path)
            return convert_mail(
                data,
                path,
                document_path=document_path,
                read_file=lambda name, data: _convert_attached(name, data, path, pdf=pdf),
            )
        case "docbook":
            from kgrag.documents.docbook import convert_docbook

            return convert_docbook(_bytes(source), path, document_path=document_path)
        case "dita":
            from kgrag.documents.dita import convert_dita

            return convert_dita(_bytes(source), path, document_path=document_path)
        case "mallard":
            from kgrag.documents.mallard import convert_mallard

            return convert_mallard(_bytes(source), path, document_path=document_path)
        case "info":
            from kgrag.documents.info_manual import convert_info

            return convert_info(_bytes(source), path, document_path=document_path)
        case "texinfo":
            from kgrag.documents.texinfo import convert_texinfo

            return convert_texinfo(_bytes(source), path, document_path=document_path)
        case "openapi":
            from kgrag.documents.openapi import convert_openapi

            return convert_openapi(_bytes(source), path, document_path=document_path)
        case "doc" | "ppt" | "xls":
            from kgrag.documents.old_office import convert_old_office, other_format

            if other := other_format(_bytes(source)):
                return _convert(replace(source, format=other), pdf=pdf)
            return convert_old_office(_bytes(source), path, format_=source.format, document_path=document_path)
        case "docx" | "pptx":
            from kgrag.documents.office import convert_office

            return convert_office(path, suffix=source.format, document_path=document_path)
        case "xlsx":
            from kgrag.documents.spreadsheets import convert_spreadsheet

            return convert_spreadsheet(path)
        case "epub":
            from kgrag.documents.epub import convert_epub

            return convert_epub(path, document_path=document_path)
        case "odt" | "ods" | "odp":
            from kgrag.documents.open_document import convert_open_document

            return convert_open_document(path, suffix=source.format, document_path=document_path)
        case "pdf":
            from kgrag.documents.pdf import convert_pdf

            return convert_pdf(path, document_path=document_path, mode=pdf_mode(pdf), pages=pages)
        case format_ if format_ in PANDOC_READERS:
            from kgrag.documents.pandoc import convert_with_pandoc

            return convert_with_pandoc(_bytes(source), path, format_=format_, document_path=document_path)
        case other:
            raise DocumentError(path, f"format {other!r} cannot be converted")


def pdf_mode(pdf: str) -> Literal["auto", "native", "standard"]:
    """Return a PDF mode that there is. Raises `InputError`."""
    if pdf not in PDF_MODES:
        raise InputError(f"PDF mode must be one of {', '.join(PDF_MODES)}, got {pdf!r}.")
    return cast(Literal["auto", "native", "standard"], pdf)


def _convert_attached(name: str, data: bytes, mail: Path, *, pdf: str) -> BlockDocument:
    """Convert a file that came with a mail; its own links lead to `name`. Raises `DocumentError`."""
    suffix = "".join(Path(name).suffixes[-2:])[-MAX_SUFFIX:]
    with TemporaryDirectory(prefix="kgrag-attached-") as folder:
        file = Path(folder, f"attached{suffix}")
        file.write_bytes(data)
        found = discover([file])
        if not found.sources:
            raise DocumentError(mail, "; ".join(found.notes) or "not read: of no format that is read")
        return convert_file(replace(found.sources[0], stored_path=name), pdf=pdf)


def check_size(source: Source, max_file_mb: int) -> None:
    """Raise `DocumentError` for a file that is empty or too large, or would be when it is unpacked."""
    try:
        size = source.path.stat().st_size
    except OSError as error:
        raise DocumentError(source.path, f"cannot be read: {error.strerror}") from error
    if size == 0:
        raise DocumentError(source.path, "the file is empty")
    most = max_file_mb * 1_000_000
    has = f"has {size / 1_000_000:.0f} MB" if size > most else ""
    if not has and exceeds_unpacked(source.path, most):
        has = "has, when it is unpacked"
    if has:
        raise DocumentError(
            source.path,
            f"{has}, more than the limit of {max_file_mb} MB: split it, or raise `max_file_mb` (kgrag.toml, KGRAG_MAX_FILE_MB)",
        )


def _bytes(source: Source) -> bytes:
    try:
        return source.path.read_bytes()
    except OSError as error:
        raise DocumentError(source.path, f"cannot be read: {error.strerror}") from error


def _nothing_left(report: CleaningReport) -> str:
    removed = ", ".join(f"{rule} {count}" for rule, count in report.counts.items())
    return f"has no text{f' but what cleaning removes ({removed} lines)' if removed else ''}"


def _document(source: Source, title: str, data: bytes, said: Mapping[str, Scalar]) -> Document:
    """Make the record of a document. What the user says about it counts more than its folders, and those more than what it says itself."""
    sha256 = hashlib.sha256(data).hexdigest()
    known = {key: str(said[key]) for key in ("product", "category", "version") if said.get(key)}
    metadata = {key: value for key, value in said.items() if key not in known}
    return Document(
        id=content_id(source.stored_path, "", sha256),
        path=source.stored_path,
        title=title,
        sha256=sha256,
        format=source.format,
        product=source.product or known.get("product"),
        category=source.category or known.get("category"),
        version=source.version or known.get("version"),
        metadata={**metadata, **source.metadata},
    )
