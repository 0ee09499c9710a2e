"""Which files a build reads, and what their folders say about them."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from kgrag.documents.file_metadata import FileMetadata, read_file_metadata
from kgrag.documents.ocr_data import missing_ocr
from kgrag.documents.pandoc_formats import PANDOC_READERS, PANDOC_SUFFIXES, missing_pandoc
from kgrag.documents.shown_pictures import is_small_picture, shown_pictures
from kgrag.documents.sniffing import is_configuration, sniffed_format, told_by_content
from kgrag.documents.text_encoding import PACKED
from kgrag.errors import InputError
from kgrag.types import Scalar

__all__ = [
    "FORMATS",
    "TEXT_FORMATS",
    "Discovery",
    "Source",
    "discover",
    "expect_paths",
    "format_of",
    "may_be_read",
    "missing_for",
]

PICTURE = "picture"
FORMATS = MappingProxyType(
    {
        ".pdf": "pdf",
        ".html": "html",
        ".htm": "html",
        ".xhtml": "html",
        ".xht": "html",
        ".shtml": "html",
        ".md": "md",
        ".markdown": "md",
        ".mdown": "md",
        ".mkd": "md",
        ".mdx": "md",
        ".qmd": "md",
        ".rmd": "md",
        ".txt": "txt",
        ".text": "txt",
        ".rst": "rst",
        ".rest": "rst",
        ".adoc": "adoc",
        ".asciidoc": "adoc",
        ".doc": "doc",
        ".docx": "docx",
        ".docm": "docx",
        ".dotx": "docx",
        ".dotm": "docx",
        ".ppt": "ppt",
        ".pps": "ppt",
        ".pptx": "pptx",
        ".pptm": "pptx",
        ".ppsx": "pptx",
        ".ppsm": "pptx",
        ".potx": "pptx",
        ".potm": "pptx",
        ".xls": "xls",
        ".xlt": "xls",
        ".xlsx": "xlsx",
        ".xlsm": "xlsx",
        ".xltx": "xlsx",
        ".xltm": "xlsx",
        ".epub": "epub",
        ".odt": "odt",
        ".ott": "odt",
        ".fodt": "odt",
        ".ods": "ods",
        ".ots": "ods",
        ".fods": "ods",
        ".odp": "odp",
        ".otp": "odp",
        ".fodp": "odp",
        ".docbook": "docbook",
        ".dbk": "docbook",
        ".dita": "dita",
        ".ditamap": "dita",
        **dict.fromkeys((".texi", ".texinfo", ".txi"), "texinfo"),
        ".csv": "csv",
        ".tsv": "csv",
        ".tab": "csv",
        **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp"), PICTURE),
        ".eml": "mail",
        ".mbox": "mail",
        ".jsonl": "jsonl",
        **PANDOC_SUFFIXES,
    }
)
"""File suffix → format."""
NAMED_TEXT = re.compile(
    r"(?i:README|FAQ|HOWTO|INSTALL|USAGE|MANUAL|TUTORIAL|QUICKSTART|GUIDE|NOTES|TROUBLESHOOTING|PROBLEMS|BUGS|UPGRADING|NEWS|CHANGES"
    r"|RELEASE[-_]?NOTES)(?:[-_][\w-]+)?(?:\.[A-Z][\w-]*|\.[a-z]{5,})?"
)
"""Names of texts that usually have no suffix, also with what they are about (`README-WPS`, `HOWTO_build`, `README.Debian`,
`README.windows`). Not of licences, lists of single changes (`ChangeLog`) and of authors, which answer nothing about a thing."""
SOURCES = frozenset({"CMakeLists.txt"})
"""Sources of programs that are called as texts are."""
MAKEFILE = re.compile(r"(?:gnu|bsd)?makefile\.\w+", re.IGNORECASE)
"""`Makefile.DocBook`, `GNUmakefile.pdf`."""
PACKAGE_LISTS = re.compile(r"[\w.+-]+\.(?:egg|dist)-info")
"""Folders of lists that Python's installers write about a package (`SOURCES.txt`, `top_level.txt`)."""
MADE_BY_MAKE = frozenset({"docbook", "texinfo", "tex", "pod", "org", "pdf", "epub"})
"""Formats that a makefile is named after, which says how they are made."""
TEXT_FORMATS = frozenset({"html", "md", "txt", "rst", "adoc"})
"""HTML, or what becomes HTML on its way."""
FILE_FORMATS = frozenset({"pdf", "doc", "docx", "ppt", "pptx", "xls", "xlsx", "epub", "odt", "odp", "ods"})
"""Formats whose readers open the file themselves."""
PACKED_FORMATS = (
    TEXT_FORMATS
    | FILE_FORMATS
    | {"docbook", "dita", "mallard", "openapi", "texinfo", "info", "csv", "mail", "configuration"}
    | PANDOC_READERS.keys()
)
"""Read from `.gz`, too: Debian packs the longer ones of its packages."""
PAGES_WITH_PICTURES = PACKED_FORMATS - FILE_FORMATS - {"info", "csv", "mail", "openapi", "configuration"}
"""Formats whose files name the pictures that they show."""
WEB_ADDRESS = re.compile(r"(https?|ftp|s3|file):/+(.*)", re.I)
"""As a path has it: of its slashes one is left."""
EXAMPLES_OF_IGNORED = 3
NO_FILES = frozenset({"folder loop", "broken link", "loop of links", "pipe", "socket", "device"})
"""What is named beside being counted: it looks like a document."""
SPHINX_SOURCES = "_sources"
"""The folder beside a manual's pages in which Sphinx keeps the texts that it made them of."""
FOLDERS_OF_OURS = {
    "folder of a store": ("lock", "database/kgrag"),
    "folder of an export": ("manifest.json", "import.csv"),
}
"""Name → what every such folder has. Its logs and tables are no documents."""
OFFICE_LOCK_PREFIX = "~$"
"""Of the small files that Word and Excel keep beside a document that is open."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that can be read as documents."""

    path: Path
    """Where to open it."""
    stored_path: str
    """`Document.path`: relative to the working directory where the file lies under it, else absolute; POSIX style."""
    format: str
    product: str | None = None
    category: str | None = None
    version: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found under the paths of a build."""

    sources: tuple[Source, ...]
    """In the order of the arguments; within a folder sorted by path."""
    ignored: Counter[str] = field(default_factory=Counter)
    """What was not read → how many: a suffix (`.png`), `no suffix`, `hidden folder`, `hidden file`, `sources of pages`,
    `folder of a store`, `folder of an export`, `Office lock file`, `metadata file`, `picture of a page`,
    `small picture`, `configuration without prose`, `program source`, `folder loop`, `broken link`, `loop of links`, `pipe`, `socket`,
    `device`."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same keys → the first few paths."""
    notes: tuple[str, ...] = ()
    """What the user should know, such as metadata for files that are not there."""
    folders: tuple[str, ...] = ()
    """The folders among the arguments, written as `Source.stored_path` is."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Folders and files below these that may not be looked at, written so, too → why."""
    unreadable_here: frozenset[str] = frozenset()
    """Files, written so, too, for whose format something is not installed here."""

    def covers(self, stored_path: str) -> bool:
        """Whether a document's path lies in a folder that was searched: it has vanished if it is not among `sources`."""
        if stored_path in self.unreadable_here:
            return False
        path = PurePosixPath(stored_path)
        return any(map(path.is_relative_to, self.folders)) and not any(map(path.is_relative_to, self.unread))


def discover(paths: Sequence[Path], *, metadata: Path | None = None) -> Discovery:
    """Find the files to read under `paths`, folders and files, each once and in a stable order.

    In a folder, a file's product and category are taken from where it lies below the folder: `<category>/<product>/.../file`, or
    `<product>/file`. For a file given by itself they are the last two folders as typed (`boards/X-100/sheet.pdf`; an absolute path says
    nothing). `metadata` names a file that says more and has the last word (`kgrag.documents.file_metadata`).

    Folders whose name starts with a dot are not entered unless they are given; links to folders are followed, once. Files of other
    formats are counted, never fatal. Raises `InputError` where a path does not exist or the metadata file cannot be used.
    """
    search = _Search(read_file_metadata(metadata) if metadata else None)
    for path in paths:
        search.add(path)
    return search.result()


def given_path(given: str | Path) -> Path:
    """Return what a caller gave as a path. Raises `InputError` for an empty text: a variable that is not set, not the working folder."""
    if given == "":
        raise InputError("Expected a file or folder, got an empty text. Give a path; the working folder is '.'.")
    return Path(given)


def expect_paths(paths: Sequence[Path], *, metadata: Path | None = None) -> None:
    """Raise the `InputError` of `discover` without looking into folders: at once, and before there is a store."""
    if metadata:
        read_file_metadata(metadata)
    for path in paths:
        _is_folder(path)


def _is_folder(path: Path) -> bool:
    """Say whether a path is a folder, else it is a file. Raises `InputError` where it is nothing."""
    try:
        if path.is_dir():
            return True
        if path.exists():
            return False
    except OSError as error:  # a loop of links, a name too long
        raise _unopened(path, error) from error
    raise InputError(_missing_file(path))


def _unopened(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be opened ({error.strerror}). Give files or folders that can be read.")


class _Search:
    def __init__(self, metadata: FileMetadata | None) -> None:
        self._metadata = metadata
        self._sources: dict[str, Source] = {}
        self._folders: list[str] = []
        self._ignored: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}
        self._missing: dict[str, str] = {}
        """Format → what is missing to read it."""
        self._unread: Counter[str] = Counter()
        """Files by format for which something is missing."""
        self._unreadable: dict[str, str] = {}
        self._unreadable_here: set[str] = set()
        self._given: set[str] = set()
        """Files that were named themselves."""

    def add(self, path: Path) -> None:
        try:
            if _is_folder(path):
                self._add_folder(path)
            else:
                typed = () if path.is_absolute() else tuple(p for p in path.parent.parts if p not in (".", ".."))
                self._given.add(stored_path(path))
                self._add_file(path, typed[-2:], relative=_written(path))
        except OSError as error:  # no permission
            raise _unopened(path, error) from error

    def _add_folder(self, folder: Path) -> None:
        self._folders.append(stored_path(folder))
        for path in self._walk(folder):
            relative = path.relative_to(folder)
            try:
                self._add_file(path, relative.parent.parts[:2], relative=_written(relative))
            except PermissionError as error:
                self._note_unreadable(error)

    def _walk(self, folder: Path) -> Iterator[Path]:
        """Yield the files below `folder`, sorted; each real folder is entered once, so loops of links end."""
        entered = {folder.resolve()}
        for parent, names, files in os.walk(folder, followlinks=True, onerror=self._note_unreadable):
            keep = []
            for name in sorted(names):
                path = Path(parent, name)
                if name.startswith("."):
                    self._ignore("hidden folder", path)
                elif name == SPHINX_SOURCES and any(file.endswith(".html") for file in files):
                    self._ignore("sources of pages", path)
                elif ours := [
                    of
                    for of, parts in FOLDERS_OF_OURS.items()
                    if all(os.path.exists(path / part) for part in parts)  # noqa: PTH110  `Path` raises where it may not look
                ]:
                    self._ignore(ours[0], path)
                elif (real := path.resolve()) in entered:
                    self._ignore("folder loop", path)
                else:
                    entered.add(real)
                    keep.append(name)
            names[:] = keep
            for name in sorted(files):
                yield Path(parent, name)

    def _note_unreadable(self, error: OSError) -> None:
        self._unreadable[stored_path(Path(error.filename))] = str(error.strerror)

    def _add_file(self, path: Path, folders: Sequence[str], *, relative: str) -> None:
        name = path.name
        if name.startswith(OFFICE_LOCK_PREFIX):
            return self._ignore("Office lock file", path)
        format_ = format_of(path)
        if format_ is not None and path.is_file() and self._missing_for(format_):
            self._unread[format_] += 1
            self._unreadable_here.add(stored_path(path))
            format_ = None
        if format_ is None:
            return self._ignore(_unread(path), path)
        if not path.is_file():
            return self._ignore(_kind_of(path), path)
        stored = stored_path(path)
        if stored in self._sources:
            return None
        if self._metadata and path.resolve() == self._metadata.path.resolve():
            return self._ignore("metadata file", path)
        if format_ == PICTURE and stored not in self._given and is_small_picture(path):
            return self._ignore("small picture", path)
        said = self._metadata.lookup(stored, relative) if self._metadata else {}
        others = {key: value for key, value in said.items() if key not in ("product", "category", "version")}
        self._sources[stored] = Source(
            path=path,
            stored_path=stored,
            format=format_,
            product=_text(said.get("product")) or (_written(folders[-1]) if folders else None),
            category=_text(said.get("category")) or (_written(folders[-2]) if len(folders) > 1 else None),
            version=_text(said.get("version")),
            metadata=others,
        )
        return None

    def _missing_for(self, format_: str) -> str:
        """Say what is missing to read a format; asked once."""
        if format_ not in self._missing:
            self._missing[format_] = missing_for(format_)
        return self._missing[format_]

    def _without_shown_pictures(self) -> None:
        """Leave out the pictures that pages show: they are part of these."""
        pictures = {
            source.path: stored
            for stored, source in self._sources.items()
            if source.format == PICTURE and stored not in self._given
        }
        pages = (source.path for source in self._sources.values() if source.format in PAGES_WITH_PICTURES)
        for path in sorted(shown_pictures(pictures, pages)):
            del self._sources[pictures[path]]
            self._ignore("picture of a page", path)

    def _ignore(self, what: str, path: Path) -> None:
        self._ignored[what] += 1
        examples = self._examples.setdefault(what, [])
        if len(examples) < EXAMPLES_OF_IGNORED:
            examples.append(_written(path))

    def result(self) -> Discovery:
        self._without_shown_pictures()
        unused = self._metadata.unused() if self._metadata else ()
        named = [
            f"{what}, not read: {', '.join(self._examples[what])}" for what in sorted(NO_FILES & self._examples.keys())
        ]
        notes = [f"{self._metadata.path}: no file matches {pattern!r}" for pattern in unused] if self._metadata else []
        for missing in dict.fromkeys(self._missing[format_] for format_ in sorted(self._unread)):
            files = ", ".join(
                f"{count} {format_}"
                for format_, count in sorted(self._unread.items())
                if self._missing[format_] == missing
            )
            notes.append(f"not read: {files}: {missing}")
        return Discovery(
            sources=tuple(self._sources.values()),
            ignored=self._ignored,
            examples={what: tuple(paths) for what, paths in self._examples.items()},
            notes=(*named, *notes),
            folders=tuple(self._folders),
            unread=self._unreadable,
            unreadable_here=frozenset(self._unreadable_here),
        )


def missing_for(format_: str) -> str:
    """Say what is missing to read a format; empty where nothing is."""
    if format_ in PANDOC_READERS:
        return missing_pandoc()
    missing = missing_ocr() if format_ == PICTURE else ""
    return missing and f"read by OCR; {missing}"


def stored_path(path: Path) -> str:
    """Write `path` as documents are known by: relative to the working directory where it lies under it, else absolute."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  (resolve() would follow links: the user's name for a file is its name)
    working = Path(os.path.abspath(Path.cwd()))  # noqa: PTH100
    return _written(absolute.relative_to(working) if absolute.is_relative_to(working) else absolute)


def may_be_read(path: Path) -> bool:
    """Whether a file with this name is read, or would be with some content."""
    return _named_format(path) is not None or told_by_content(path)


def format_of(path: Path, *, content: Path | None = None) -> str | None:
    """Return the format that a file's name says, or its beginning; None for what is not read.

    `content` is where the file is as long as it has another name than `path`.
    """
    if format_ := _named_format(path):
        return format_
    sniffed = sniffed_format(path, content=content) if (content or path).is_file() else None
    return sniffed if _is_packed(path) <= (sniffed in PACKED_FORMATS) else None


def _named_format(path: Path) -> str | None:
    name = Path(path.stem) if _is_packed(path) else path
    if _is_source(name):
        return None
    format_ = FORMATS.get(name.suffix.lower()) or ("txt" if NAMED_TEXT.fullmatch(name.name) else None)
    return format_ if _is_packed(path) <= (format_ in PACKED_FORMATS) else None


def _is_source(path: Path) -> bool:
    return (
        path.name in SOURCES
        or (path.suffix == ".txt" and PACKAGE_LISTS.fullmatch(path.parent.name) is not None)
        or (MAKEFILE.fullmatch(path.name) is not None and FORMATS.get(path.suffix.lower()) in MADE_BY_MAKE)
    )


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == PACKED


def _written(path: Path | str) -> str:
    r"""Write a path so that any file and database takes it: a byte that is no UTF-8, which names of files may have, as `\xff`."""
    return (
        (path if isinstance(path, str) else path.as_posix())
        .encode("utf-8", "surrogateescape")
        .decode("utf-8", "backslashreplace")
    )


def _missing_file(path: Path) -> str:
    """Say that there is no such file, and of an address what to do instead."""
    address = WEB_ADDRESS.match(str(path))
    if address and address[1].lower() == "file":
        return f"{path}: expected a path, got an address of a file. Give /{address[2]}."
    if address:
        return (
            f"{address[1]}://{address[2]}: kgrag reads files and folders, no web addresses. Download the page or file first "
            f"(a browser's Save As; wget -r -np for a whole manual), then give its folder: kgrag build FOLDER."
        )
    return f"{path}: no such file or folder. Give files or folders that exist."


def _unread(path: Path) -> str:
    """Say what a file is that is of no format that is read."""
    if path.name.startswith("."):
        return "hidden file"
    if _is_source(path):
        return "program source"
    if path.is_file() and is_configuration(path):
        return "configuration without prose"
    return path.suffix.lower() or "no suffix"


def _kind_of(path: Path) -> str:
    """Say what stands where a file was expected."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "broken link"
    except OSError:  # ELOOP
        return "loop of links"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _text(value: Scalar) -> str | None:
    return None if value is None or value == "" else str(value)
