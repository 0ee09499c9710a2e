"""A text as its statements: sentences, list items, headings and table rows, each with its place in the text.

Extraction takes relations from them and the extractive answer quotes them. A table row is a statement with the header of each cell;
tables are Markdown, or the `row, Column = value.` form in which Docling writes a table as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["IN_COLUMNS", "ITEM", "SETTING", "Sentence", "each_sentence", "last_asking", "sentences"]

ABBREVIATIONS = frozenset(
    {
        *(
            "e.g",
            "i.e",
            "etc",
            "vs",
            "approx",
            "ca",
            "cf",
            "no",
            "nos",
            "fig",
            "figs",
            "eq",
            "ref",
            "sec",
            "vol",
            "pp",
            "ed",
        ),
        *(
            "dr",
            "mr",
            "mrs",
            "ms",
            "prof",
            "st",
            "inc",
            "ltd",
            "co",
            "corp",
            "jr",
            "sr",
            "gen",
            "col",
            "lt",
            "min",
            "max",
            "typ",
            "resp",
        ),
    }
)
"""Words whose full stop does not end a sentence (a single letter's does not either)."""
ENDS = re.compile(r"[.!?。！？](?:[.!?。！？]*[\"'”’)\]]*(?=\s|$)|(?<=[。！？]))")
CLOSING = "\"'”’)]"
ITEM = re.compile(r"\s*(?:[-*•‣◦▪]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+")
SETTING = re.compile(r"[\w.-]+ ?= ?[^\n]{1,60}?: ")
"""A setting with its values, and what is said of it: `retry = yes | no: ...`."""
VALUED = re.compile(r"(?=\w*[_.-]\w)[\w.-]+ (?:[^\s:]{0,60}[\d/\"=][^\s:]{0,60}|yes|no|on|off|true|false): ")
"""A setting with its value behind a space, and what is said of it: `tcp-keepalive 300: ...`."""
TERM = re.compile(r"[\w.-]+: ")
SPECIFIED = re.compile(r"(?=\w*[_-]\w)[\w.-]+(?: [^\s:]{1,60}){0,2}: ")
"""A setting with the kind of its value, below a property of another one: `shared_cache on|off: ...`."""
_BRACKETS = r"\((?:[^()\n]|\([^()\n]{0,60}\)){1,200}\):\s"
DEFINED = re.compile(
    rf"(?:(?=\w*[_.]|\w+-\w)[\w.-]+|[\w.-]+(?= \((?:default|parameter|type|value)s?\b[^()\n:]{{0,20}}:)) {_BRACKETS}"
)
"""A setting with what it is by default, and what is said of it: `size_limit (default: 0): ...`."""
MARKED = re.compile(r"[\w.:-]+(?: [\w.:-]+){0,7} \([\w -]{1,12}\): ")
"""A setting of several words with its kind, below a property of another one: `max log size (G): ...`."""
ASKED = re.compile(r"\s*[^\n?]{1,400}\?:(?=\s)")
"""A question as the term of its answer, of however many sentences: `Q: It does not start. Why?: A: ...`."""
ASSIGNMENT = re.compile(r"\s*(?=\w*[_.])[\w.-]+ ?= ?\S+\s*")
"""A line that sets a value and is at its end."""
ASSIGNED = re.compile(r"\s*[\w.-]+ ?= ?[^\s=~][^\n]{0,80}\s*")
"""A line that sets a value, where the one above it does so too."""
SECTION = re.compile(r"\s*\[[^\[\]\n]{1,60}\]\s*")
"""The line above the settings of a part of a file, `[mail]`."""
PROPERTY = re.compile(r"(?:defaults?|allowed|examples?|ranges?|types?|units?|values?|since|syntax): ")
"""What is said of the thing above, whatever stands between: `allowed: 0-9`."""
DEFAULT_SAID = re.compile(
    r"(?:the )?defaults?(?: values?)?(?:(?: is| are| to)?:| is| are| to) \S+(?: \S+){0,2}(?<! the)(?<! an)(?<! a)(?<! of)",
    re.IGNORECASE,
)
"""A line that says a default and is at its end, without a full stop."""
IN_COLUMNS = re.compile(r"\S {3,}\S")
"""A line of a listing in columns: `SET PUMP OFF     stop the pump`."""
COMMENT = re.compile(r"\s*(?:#|//) ")
BROKEN_COMMENT = re.compile(rf"\n{COMMENT.pattern}")
SEPARATOR_CELL = re.compile(r":?-{2,}:?|:?-:?")
TRIPLET = re.compile(r"(?:^|(?<=\. ))(?P<row>(?:(?!\. )[^=|\n])*?), (?P<column>[^=,|\n]{1,60}) = ")
MIN_TRIPLETS = 2
PAIR = 2
"""Cells of a row that says of the first what the second is, where its table has no header."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement: `text` as it is quoted, `start` and `end` of what it was made from.

    A table row has `cells`, pairs of column header and value in order (an unnamed column has the header ""), and its `text` says each
    value after its header: `Parameter: Supply voltage; Value: 3.3 V`. Two cells of a table without a header are `Default: 60`.
    """

    text: str
    start: int
    end: int
    cells: tuple[tuple[str, str], ...] = ()


def sentences(text: str) -> list[Sentence]:
    """Split a text into statements, in order."""
    return list(each_sentence(text))


def each_sentence(text: str, *, of: Callable[[str], bool] = bool) -> Iterator[Sentence]:
    """Yield a text's statements as `sentences` gives them; outside tables those of the blocks (lines that go on) alone that `of` wants."""
    table: list[tuple[int, str]] = []
    for start, block in _blocks(text):
        if block.lstrip().startswith("|"):
            table.append((start, block))
            continue
        yield from _table(table)
        table = []
        if not of(block):
            continue
        triplets = list(TRIPLET.finditer(block)) if " = " in block else []
        if len(triplets) >= MIN_TRIPLETS or (triplets and triplets[0].start() == 0):
            yield from _sentences_of(block[: triplets[0].start()], start)
            yield from _triplet_rows(block, start, triplets)
        else:
            yield from _sentences_of(block, start)
    yield from _table(table)


def last_asking(said: Sequence[str]) -> int:
    """Return the place of the last sentence that asks, or of the last one where none ends in a question mark; -1 of none."""
    asking = [place for place, sentence in enumerate(said) if sentence.rstrip().endswith("?")]
    return asking[-1] if asking else len(said) - 1


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Lines, where a line goes on in the next one if it ends in mid-sentence."""
    start = position = 0
    block = ""
    for line in text.splitlines(keepends=True):
        goes_on = (
            block.strip()
            and (line[:1].islower() or _goes_on_as_comment(line, block))
            and not block.lstrip().startswith("|")
            and not _is_ended(block.rstrip())
            and not _begins_term(line, block)
            and not (IN_COLUMNS.search(line) and IN_COLUMNS.search(block))
        )
        if not goes_on:
            if block.strip():
                yield start, block.rstrip()
            start, block = position, ""
        block += line
        position += len(line)
    if block.strip():
        yield start, block.rstrip()


def _goes_on_as_comment(line: str, block: str) -> bool:
    """Whether a comment of a listing is broken in mid-sentence: both lines begin with its mark, and the second goes on small."""
    mark, first = COMMENT.match(line), COMMENT.match(block)
    return mark is not None and first is not None and mark[0] == first[0] and line[mark.end() :][:1].islower()


def _is_ended(block: str) -> bool:
    """Whether a line is at its end, also within brackets or quotation marks: `(Of no use here.)`, but not `(files, folders, etc.)`."""
    said = block.rstrip(CLOSING)
    abbreviated = said != block and said.endswith(".") and _is_abbreviated(said[:-1])
    return said.endswith((".", ":", ";", "!", "?")) and not abbreviated


def _begins_term(line: str, block: str) -> bool:
    """Whether a line begins what is said of a setting or term, and does not go on: `retry = yes | no: ...`, `default: no` below another."""
    if any(one.match(line) for one in (SETTING, VALUED, PROPERTY, DEFINED)) or ASSIGNMENT.fullmatch(block):
        return True
    if ASSIGNED.fullmatch(line) and (ASSIGNED.fullmatch(block) or SECTION.fullmatch(block)):
        return True
    if (SPECIFIED.match(line) or MARKED.match(line)) and PROPERTY.match(block.lstrip().lower()):
        return True
    if TERM.match(line) is None:
        return False
    return DEFAULT_SAID.fullmatch(block.strip()) is not None or any(one.match(block) for one in (SETTING, VALUED, TERM))


def _sentences_of(block: str, offset: int) -> Iterator[Sentence]:
    item = ITEM.match(block)
    begin = item.end() if item else len(block) - len(block.lstrip())
    asked = ASKED.match(block)
    for match in ENDS.finditer(block, asked.end() if asked else begin):
        if not _ends_sentence(block, match):
            continue
        yield from _sentence(block, begin, match.end(), offset)
        begin = match.end()
    yield from _sentence(block, begin, len(block), offset)


def _sentence(block: str, begin: int, end: int, offset: int) -> Iterator[Sentence]:
    piece = block[begin:end]
    text = " ".join(BROKEN_COMMENT.sub(" ", piece).split())
    if text:
        start = begin + len(piece) - len(piece.lstrip())
        yield Sentence(text.lstrip("# ") or text, offset + start, offset + start + len(piece.strip()))


def _ends_sentence(block: str, match: re.Match[str]) -> bool:
    mark, following = block[match.start()], block[match.end() :].lstrip()[:1]
    if mark in "!?" and following.islower() and block[: match.start()][-1:].isspace():
        return False  # It is spoken of: `, ? is the letter before`.
    if mark != "." or match.end() == len(block):
        return True
    return not (following.islower() or following in (",", ";") or _is_abbreviated(block[: match.start()]))


def _is_abbreviated(text: str) -> bool:
    """Whether the last word of a text has a full stop that does not end a sentence."""
    before = text.rsplit(maxsplit=2)
    word = before[-1].lstrip("([\"'“‘").casefold() if before else ""
    if len(word) == 1 and word.isalpha():
        # `J. R. Smith`, but a unit ends a sentence: `3.3 V.`
        return not (len(before) > 1 and before[-2][-1:].isdigit())
    return word in ABBREVIATIONS or re.fullmatch(r"(?:[a-z]\.)+[a-z]", word) is not None


def _table(lines: list[tuple[int, str]]) -> Iterator[Sentence]:
    header: list[str] = []
    rows = [(start, line, _cells(line)) for start, line in lines]
    for i, (start, line, cells) in enumerate(rows):
        if all(SEPARATOR_CELL.fullmatch(cell) for cell in cells if cell) and any(cells):
            continue
        following = rows[i + 1][2] if i + 1 < len(rows) else []
        if following and any(following) and all(SEPARATOR_CELL.fullmatch(cell) for cell in following if cell):
            header = cells
            continue
        for first, last in _side_by_side(header, cells):
            named = tuple(
                (header[k] if k < len(header) else "", cells[k])
                for k in range(first, last)
                if k < len(cells) and cells[k]
            )
            if named:
                begin, end = _part_of_row(line, first, last) if last - first < len(cells) else (0, len(line))
                yield Sentence(_row_text(named), start + begin, start + end, named)


def _side_by_side(header: list[str], cells: list[str]) -> list[tuple[int, int]]:
    """Return which cells of a row are a row of their own: a long table is set in two or three parts that have the same header."""
    for parts in (2, 3):
        width = len(header) // parts
        ranges = [(part * width, part * width + width) for part in range(parts)]
        if width < 2 or width * parts != len(header) or len(cells) != len(header):
            continue
        same = all(header[first:last] == header[:width] for first, last in ranges)
        names = [cells[first] for first, last in ranges if any(cells[first:last])]
        if same and any(header) and all(name[:1].isalpha() for name in names):
            return ranges
    return [(0, len(cells))]


def _part_of_row(line: str, first: int, last: int) -> tuple[int, int]:
    """Return where cells stand in the line of their row."""
    bars = [match.start() for match in re.finditer(r"(?<!\\)\|", line)]
    bars = bars if line.lstrip().startswith("|") else [-1, *bars]
    return bars[first] + 1, bars[last] if last < len(bars) else len(line)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [" ".join(cell.replace("\\|", "|").split()) for cell in re.split(r"(?<!\\)\|", inner)]


def _triplet_rows(block: str, offset: int, triplets: list[re.Match[str]]) -> Iterator[Sentence]:
    cells: list[tuple[str, str]] = []
    start = 0
    for i, match in enumerate(triplets):
        end = triplets[i + 1].start() if i + 1 < len(triplets) else len(block)
        value = " ".join(block[match.end() : end].split())
        # The full stop that ends a triplet is not its value's.
        value = value.removesuffix(".") if i + 1 < len(triplets) else value
        # A cell that spans rows is written once: an empty name is the row above's.
        row = " ".join(match["row"].split()) or (cells[0][1] if cells else "")
        if cells and cells[0][1] != row:
            yield Sentence(_row_text(tuple(cells)), offset + start, offset + match.start(), tuple(cells))
            cells = []
        if not cells:
            start, cells = match.start(), [("", row)]
        cells.append((" ".join(match["column"].split()), value))
    if cells:
        yield Sentence(_row_text(tuple(cells)), offset + start, offset + len(block), tuple(cells))


def _row_text(cells: tuple[tuple[str, str], ...]) -> str:
    if len(cells) == PAIR and not any(header for header, _ in cells):
        return f"{cells[0][1].removesuffix(':').rstrip()}: {cells[1][1]}"
    return "; ".join(f"{header}: {value}" if header and header != value else value for header, value in cells)
