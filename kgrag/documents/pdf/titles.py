"""The title of a PDF: what it says of itself, where that is printed too; else what its first page shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgrag.documents.blocks import Block
from kgrag.documents.inline_text import FILE_SUFFIX
from kgrag.documents.pdf.blocks import TextBlock
from kgrag.documents.pdf.furniture import RunningLine
from kgrag.documents.pdf.structure import Structure
from kgrag.documents.section_labels import SECTION_WORDS

__all__ = ["document_title", "is_title"]

_FIRST_PAGES = 2
"""On which a title is printed."""
_FILE_NAME = re.compile(
    rf"\\|^\S*/\S*$|^~?/|{FILE_SUFFIX.pattern}|^untitled|^microsoft|^(?:document|presentation|slide|layout|doc|book|print)\s*\d*$"
    r"|^(?:powerpoint presentation|tex output|(?:la|pdf|xe|lua)?tex(?: document)?$"
    r"|(?:adobe )?(?:framemaker|indesign|pagemaker|acrobat)\b.{0,20}$"
    r"|(?:(?:gpl|gnu|afpl) )?ghostscript[\s\d.]*$|(?:open|libre)office(?:\.org)?[\s\d.]*$"
    r"|(?:quarkxpress|pdfcreator|wkhtmltopdf|doxygen)\b[\s\d.]*$)",
    re.IGNORECASE,
)
"""A file's name, or that of the program that wrote it."""
_STEM = re.compile(r"(?=.*[_\d-])[\w.+-]+")
"""A file's name without its suffix: `an_0034-b`. It is a title where it is printed, too."""
_CONTENTS = re.compile(
    r"^(?:table of )?contents$|^inhalt(?:sverzeichnis)?$|^table des mati[eè]res$|^[ií]ndice$"
    r"|^(?:abstract|preface|foreword|vorwort|zusammenfassung|résumé|resumen|copyright|revision history)$",
    re.IGNORECASE,
)
"""What stands above a part of every other document."""
_CHAPTER = re.compile(rf"^(?:{SECTION_WORDS})\b|^[\d.]+[:)]?\s", re.IGNORECASE)
_VENUE = re.compile(r"\bproc\.|proceedings|\bjournal\b|\bissn\b|\bvol\.|\bdoi\b|arxiv", re.IGNORECASE)
"""Where a paper appeared, which its running header says."""
_MARKING = re.compile(
    r"\W*(?:(?:for|strictly|company|business|commercial|in|of|and|use|only|official|information|top|final|not|document|copy)\b\W*)*"
    r"(?:un|de)?(?:classified|confidential|confidence|secret|restricted|internal|proprietary|draft|preliminary|public)\b"
    r"(?:\W*\b(?:confidential|internal|proprietary|information|and|use|only|document|copy|version|draft|release)\b)*\W*",
    re.IGNORECASE,
)
"""Who may read a document, or how final it is: what its pages are marked with."""
_KIND = re.compile(
    r"(?:(?:final|preliminary|product|advance|technical|objective)\s+)*(?:data\s?sheet|specifications?|information)\W*",
    re.IGNORECASE,
)
"""What every data sheet says of itself."""
_PART_NUMBER = re.compile(r"(?=\S*\d{2})[A-Z]{2,}\S*")
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u3400-\u9fff]{2,}")
_PART = re.compile(r"\s[-–—|]\s|:\s")
"""Between a title and its subtitle or version."""
_NOTE_MARK = re.compile(r"\s*[*∗†‡]+\s*$")
"""Points from a title to a footnote (thanks, an address)."""
_REGISTRANT = re.compile(r"\(exact name of (?:the )?registrant", re.IGNORECASE)
"""Stands below the name on the cover of every filing."""
_FORM = re.compile(r"^form\s+\d{1,2}-?[a-z]{1,2}\b", re.IGNORECASE)
_PERIOD = re.compile(
    r"for the ((?:fiscal year|year|quarterly period|quarter) ended:? \w+ \d{1,2}, \d{4})", re.IGNORECASE
)
_UPPER = 400.0
"""Points from the upper edge above which a title stands: a heading below text is none."""
_RUNNING = 0.4
"""Share of the pages on which a running header stands that is the document's title: left and right pages may have different ones."""


def document_title(structure: Structure, blocks: Sequence[Block], *, metadata_title: str) -> str:
    """Return the title, or nothing where neither the file nor its first pages say one."""
    first_lines = [
        line.text
        for block in structure.blocks
        if isinstance(block, TextBlock) and block.page <= _FIRST_PAGES
        for line in block.lines
    ]
    if filing := _filing(first_lines):
        return filing
    printed = _folded(" ".join(first_lines))
    said = [title for title in (metadata_title, structure.outline_title) if is_title(title)]
    running = _running_title(structure)
    shown = next((block.text for block in blocks if block.kind == "heading" and block.level == 0), "")
    candidates = (
        *(title for title in said if all(_folded(part) in printed for part in _PART.split(title))),
        shown,
        *(title for title in said if not _STEM.fullmatch(title.strip()) and not _names_other(title, printed)),
        running if not _STEM.fullmatch(running) else "",
        _largest_of_first_page(structure),
        running,
    )
    return next((_NOTE_MARK.sub("", title) for title in candidates if is_title(title)), "")


def is_title(text: str) -> bool:
    """Whether a text can be a title: it has a word (a registration number has none), and is no file name, heading of a contents,
    marking (`CONFIDENTIAL`) or kind of document (`Data sheet`).
    """
    text = text.strip()
    is_other = _FILE_NAME.search(text) or _CONTENTS.match(text) or _MARKING.fullmatch(text) or _KIND.fullmatch(text)
    return bool(_WORD.search(text)) and not is_other


def _filing(lines: Sequence[str]) -> str:
    """Who filed which form for which period, from the cover of a filing with the SEC: its largest lines name the authority."""
    below = next((index for index, line in enumerate(lines) if _REGISTRANT.search(line)), 0)
    form = next((match[0].upper() for line in lines if (match := _FORM.match(line.strip()))), "")
    if not below or not form:
        return ""
    period = _PERIOD.search(" ".join(lines))
    name = lines[below - 1].strip(" _")
    return ", ".join(filter(None, (name, form, period[1] if period else ""))) if is_title(name) else ""


def _names_other(title: str, printed: str) -> bool:
    """Whether a title has a part's number that is not printed: that of the document which a new one was made from."""
    return any(_folded(number) not in printed for number in _PART_NUMBER.findall(title))


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold().replace("×", "x")))


def _largest_of_first_page(structure: Structure) -> str:
    headings = [block for block in structure.blocks if isinstance(block, TextBlock) and block.kind == "heading"]
    first = [block for block in headings if block.page == headings[0].page and block.page <= _FIRST_PAGES]
    texts = [(block, " ".join(line.text for line in block.lines)) for block in first]
    titles = [(block, text) for block, text in texts if block.box.y0 < _UPPER and is_title(text)]
    if not titles:
        return ""
    _, largest = max(titles, key=lambda entry: (round(entry[0].lines[0].size, 1), -entry[0].box.y0))
    return "" if _CHAPTER.match(largest) else largest


def _running_title(structure: Structure) -> str:
    def is_everywhere(line: RunningLine) -> bool:
        return len(line.pages) >= _RUNNING * structure.page_count

    headers = [line for line in structure.removed if line.top and is_everywhere(line)]
    titles = [
        line
        for line in headers
        if is_title(line.text) and not _CHAPTER.match(line.text) and not _VENUE.search(line.text)
    ]
    return max(titles, key=lambda line: len(line.pages)).text if titles else ""
