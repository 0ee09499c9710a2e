"""Structure of PDFs that have an outline: `python -m benchmarks.pdf_structure FOLDER [--titles FILE] [--show]`.

The outline (bookmarks) says which headings a document has, and how deep. For each PDF of the folder with at least ten entries:

- entries: share of them that became a heading, on their page or the next one; with level: those whose level is the outline's too
  (one entry above all others is the document's title and no level);
- unlisted: share of the headings that no entry names; of these, deeper are those that go on with the number of an entry (`4.2` has one,
  `4.2.1` has none), which an outline of limited depth leaves out. The rest is false where the outline has all headings;
- title: right or wrong by `--titles` (lines `file name<TAB>title`), else as found;
- glyph faults: characters without a meaning among a thousand (private use, Dingbats, replacement characters, names of glyphs);
- lost spaces: words among a thousand that a second reader (pypdfium2) has as two or three;
- seconds of CPU a page, and the parser's share of it.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pypdfium2

from benchmarks.tables import print_table
from kgrag.documents.blocks import Block
from kgrag.documents.pdf.conversion import blocks_of_structure, check_pdf
from kgrag.documents.pdf.outline import read_outline
from kgrag.documents.pdf.pages import read_pages
from kgrag.documents.pdf.structure import Structure, recover_structure
from kgrag.documents.pdf.writing import lines_in
from kgrag.errors import DocumentError

MIN_ENTRIES = 10
_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|section|kapitel|anhang|chapitre|annexe)\s*)?((?:\d{1,3}|[ivxlc]{1,6}|[a-z])(?:\.\d{1,3})*)(?:[.:)]|\s|$)\s*",
    re.IGNORECASE,
)
_FAULT = re.compile(r"[\u2700-\u27bf\ue000-\uf8ff\ufffd]|GLYPH<\w+>|/uni[0-9A-F]{4}|\(cid:\d+\)")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Entry:
    """An outline's entry."""

    title: str
    level: int
    page: int
    """From 1; 0 where it leads nowhere."""


@dataclass(frozen=True)
class Measured:
    """What was found of one file."""

    name: str
    pages: int
    entries: int
    found: int
    with_level: int
    headings: int
    unlisted: tuple[Block, ...]
    deeper: int
    missed: tuple[Entry, ...]
    wrong_level: tuple[tuple[Entry, Block], ...]
    title: str
    characters: int
    faults: int
    words: int
    lost_spaces: tuple[str, ...]
    cpu_s: float
    parser_s: float


def folded(text: str) -> frozenset[str]:
    """A title for comparing, with and without its number: case, spaces and punctuation do not count."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    both = {plain, _NUMBER.sub("", plain, count=1)} - {""}
    return frozenset("".join(filter(str.isalnum, one)) or "".join(one.split()) for one in both)


def outline_of(path: Path) -> list[Entry]:
    """The outline as pypdfium2 reads it; a single entry above all others that leads to the first page is left out."""
    document = pypdfium2.PdfDocument(path)
    entries = []
    for bookmark in document.get_toc():
        place = bookmark.get_dest()
        page = place.get_index() if place is not None else None
        title = " ".join(bookmark.get_title().split())
        if title:
            entries.append(Entry(title, bookmark.level + 1, 0 if page is None else page + 1))
    document.close()
    top = [entry for entry in entries if entry.level == 1]
    if len(top) == 1 and entries[0] is top[0] and top[0].page <= 1 and sum(entry.level == 2 for entry in entries) > 2:
        return [Entry(entry.title, entry.level - 1, entry.page) for entry in entries[1:]]
    return entries


def measure(path: Path) -> Measured | None:
    """Measure one file; None where it has too small an outline."""
    entries = outline_of(path)
    if len(entries) < MIN_ENTRIES:
        return None
    metadata_title = check_pdf(path)
    began = time.process_time()
    pages = list(read_pages(path))
    parsed = time.process_time()
    structure = recover_structure(pages, read_outline(path))
    document = blocks_of_structure(structure, document_path=path.name, metadata_title=metadata_title)
    ended = time.process_time()
    headings = [block for block in document.blocks if block.kind == "heading" and block.level]
    pairs, missed, unlisted = matched(entries, headings)
    numbers = {number for entry in entries if (number := section_number(entry.title))} | {
        number for _, block in pairs if (number := section_number(block.text))
    }
    deeper = sum(section_number(block.text).rpartition(".")[0] in numbers for block in unlisted)
    lost, words = lost_spaces(path, structure)
    text = [line.text for block in structure.blocks for line in lines_in(block)]
    return Measured(
        name=path.name,
        pages=len(pages),
        entries=len(entries),
        found=len(pairs),
        with_level=sum(entry.level == block.level for entry, block in pairs),
        headings=len(headings),
        unlisted=tuple(unlisted),
        deeper=deeper,
        missed=tuple(missed),
        wrong_level=tuple((entry, block) for entry, block in pairs if entry.level != block.level),
        title=document.title,
        characters=sum(map(len, text)),
        faults=sum(len(_FAULT.findall(line)) for line in text),
        words=words,
        lost_spaces=tuple(lost),
        cpu_s=ended - began,
        parser_s=parsed - began,
    )


def section_number(text: str) -> str:
    """The number that a title begins with, or nothing."""
    match = _NUMBER.match(text.strip())
    return match[1].casefold() if match else ""


def matched(
    entries: Sequence[Entry], headings: Sequence[Block]
) -> tuple[list[tuple[Entry, Block]], list[Entry], list[Block]]:
    """Pair entries with headings of the same title on the same page or the next; return pairs, and what is left of both."""
    by_title: dict[str, list[Block]] = defaultdict(list)
    for block in headings:
        for title in folded(block.text):
            by_title[title].append(block)
    used: set[int] = set()
    pairs: list[tuple[Entry, Block]] = []
    missed: list[Entry] = []
    for entry in entries:
        same = [block for title in folded(entry.title) for block in by_title[title] if id(block) not in used]
        near = [block for block in same if not entry.page or 0 <= (block.page_start or 0) - entry.page <= 1]
        if near:
            used.add(id(near[0]))
            pairs.append((entry, near[0]))
        else:
            missed.append(entry)
    return pairs, missed, [block for block in headings if id(block) not in used]


def lost_spaces(path: Path, structure: Structure) -> tuple[list[str], int]:
    """Words that pypdfium2 has as two or three on the same page, and how many words there are."""
    ours: dict[int, list[str]] = defaultdict(list)
    for block in structure.blocks:
        ours[block.page].extend(word for line in lines_in(block) for word in _WORD.findall(line.text))
    document = pypdfium2.PdfDocument(path)
    lost: list[str] = []
    for page, words in ours.items():
        text_page = document[page - 1].get_textpage()
        text = text_page.get_text_range()
        text_page.close()
        whole = set(_WORD.findall(text))
        divided = set(_joined_neighbours(text)) - whole
        lost.extend(word for word in words if word in divided)
    document.close()
    return lost, sum(map(len, ours.values()))


def _joined_neighbours(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = line.split()
        for first, second in pairwise(words):
            yield from _WORD.findall(first + second)
        for first, second, third in zip(words, words[1:], words[2:], strict=False):
            yield from _WORD.findall(first + second + third)


def _row(found: Measured, titles: dict[str, str]) -> list[str]:
    wanted = titles.get(found.name)
    false = len(found.unlisted) - found.deeper
    headings = max(1, found.headings)
    return [
        found.name,
        str(found.pages),
        str(found.entries),
        f"{found.found / found.entries:.3f}",
        f"{found.with_level / found.entries:.3f}",
        f"{len(found.unlisted) / headings:.3f}",
        f"{false / headings:.3f}",
        found.title[:50]
        if wanted is None
        else ("right" if folded(found.title) & folded(wanted) else f"wrong: {found.title[:40]}"),
        f"{1000 * found.faults / max(1, found.characters):.2f}",
        f"{1000 * len(found.lost_spaces) / max(1, found.words):.2f}",
        f"{found.cpu_s / found.pages:.3f}",
        f"{found.parser_s / found.cpu_s:.2f}",
    ]


def _show(found: Measured) -> None:
    print(f"{found.name}: title {found.title!r}")
    for entry in found.missed:
        print(f"  missed, page {entry.page}, level {entry.level}: {entry.title}")
    for entry, block in found.wrong_level:
        print(f"  level {block.level} for {entry.level}, page {entry.page}: {block.text}")
    for block in found.unlisted:
        print(f"  unlisted, page {block.page_start}, level {block.level}: {block.text}")
    if found.lost_spaces:
        print(f"  lost spaces: {', '.join(dict.fromkeys(found.lost_spaces))}")


def main() -> None:
    """Measure every PDF of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--titles", type=Path, help="lines of file name, tab, title")
    parser.add_argument("--show", action="store_true", help="say what is missed, unlisted, and which spaces are lost")
    arguments = parser.parse_args()
    titles = (
        dict(line.split("\t", 1) for line in arguments.titles.read_text(encoding="utf-8").splitlines() if "\t" in line)
        if arguments.titles
        else {}
    )
    rows: list[list[str]] = []
    all_found: list[Measured] = []
    for path in sorted(arguments.folder.rglob("*.pdf")):
        try:
            found = measure(path)
        except DocumentError as error:
            print(f"{path.name}: {error.reason}", file=sys.stderr)
            continue
        if found is None:
            continue
        if arguments.show:
            _show(found)
        rows.append(_row(found, titles))
        all_found.append(found)
        print(f"{path.name}: done", file=sys.stderr, flush=True)
    if not rows:
        raise SystemExit(f"Expected PDFs with an outline of at least {MIN_ENTRIES} entries below {arguments.folder}.")
    head = (
        "file",
        "pages",
        "entries",
        "found",
        "with level",
        "unlisted",
        "false",
        "title",
        "faults ‰",
        "lost spaces ‰",
        "CPU s a page",
        "parser",
    )
    entries = sum(found.entries for found in all_found)
    headings = max(1, sum(found.headings for found in all_found))
    false = sum(len(found.unlisted) - found.deeper for found in all_found)
    notes = [
        f"all entries: found {sum(found.found for found in all_found) / entries:.3f}, "
        f"with level {sum(found.with_level for found in all_found) / entries:.3f}; false headings {false / headings:.3f}",
    ]
    print_table("Headings of PDFs against their outlines", head, rows, notes)


if __name__ == "__main__":
    main()
