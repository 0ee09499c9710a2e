"""Lines of plain text: how far they are indented and how wide, where they are broken, what they begin with, and their paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from unicodedata import east_asian_width

from kgrag.documents.drawn_tables import parted_at_tables
from kgrag.documents.inline_text import CJK
from kgrag.documents.section_labels import CHAPTER
from kgrag.text.sentences import IN_COLUMNS
from kgrag.text.words import LEADING_ON

__all__ = [
    "TextMeasures",
    "in_paragraphs",
    "indent_of",
    "is_overlined",
    "marker_of",
    "number_above",
    "number_of",
    "parted_at",
    "width_of",
]

RULE = re.compile(r"([-=~^*#\"'+`._:])\1{2,}$")
BULLET = re.compile(r"(?:[-*+•‣]|o(?= {2}))\s+(?=\S)")
NUMBER = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z](?:\.\d{1,2}){1,4}\.)\s+(?=[^\W\d_a-z])")
DATE = re.compile(
    r"\d{1,2}\.? +(?:jan|feb|mar|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])[^\W\d_]*\.?,? +\d{4}\b", re.IGNORECASE
)
"""What is no number of a section and its title."""
HEADING_END = re.compile(r"(?:[^.,;:|。，、；：]|\.\.\.)$")
DRAWN = re.compile(r"\s*(?:[|│║├└]|\+[-=]{2})|.*[|│║]$")
"""A line of a drawing, or of a table with frames."""
OPTION = re.compile(r"\s*[‘'`\"“]?-{1,2}\w")
DEFINED = re.compile(r"\s*-- ([A-Z][\w ]*): (\S.*)")
"""What Texinfo writes of a command or function: its kind, its name and what it is given, ` -- Command: print [NUMBER]`."""
FIRST_WORD = re.compile(rf"{CJK.pattern}|[^\s{CJK.pattern[1:-1]}]+")
"""What has to fit at the end of a line: a word, or a character of a script without spaces."""
STRETCHED = re.compile(r"[^\s.!?:] {2,}\S")
"""A space that was made wider, and does not stand behind a sentence."""
WIDEST_STRETCHED = re.compile(r"\S {5,}\S")
JUSTIFIED_SHARE, STRETCHED_SHARE = 0.3, 0.4
"""Of the lines of at least three quarters of the width: those that end in one column, and of these those with stretched spaces, from
which a text is justified."""
RARE_SHARE = 0.002
"""Of the lines: so few stand farther left than all others by chance."""
SENTENCE_END = re.compile(r"[.!?:;,)\"”。！？：；，、）」』]$")
LONGEST_HEADING = 80
CENTRED_SLACK = 4
"""Columns by which the middle of a centred line may be off."""
CENTRED_INDENT = 8
SHORT_SHARE = 0.75
WIDTH_QUANTILE = 0.9
"""Of the lengths of all lines: about where the author, or the editor, breaks them."""
NARROWEST = 40
"""Characters: lines that are all shorter were not broken for want of room."""
FULL_SHARE = 0.9
"""A line is full where it would have that share of the width with the first word of the next one."""


@dataclass(frozen=True, slots=True)
class TextMeasures:
    """How the lines of one text are laid out, in columns."""

    width: int
    """About where lines are broken."""
    edge: int
    """Where the lines of a justified text end; 0 for any other text."""
    usual: int
    """How far most lines are indented."""
    margin: int
    """How far those at the margin are."""

    @classmethod
    def of(cls, lines: Sequence[str]) -> TextMeasures:
        """Measure lines, in spaces alone, none at their ends."""
        written = sorted(width_of(line) for line in lines if line and not DRAWN.match(line))
        wide = max(written[int(WIDTH_QUANTILE * (len(written) - 1))], NARROWEST) if written else NARROWEST
        indents = Counter(indent_of(line) for line in lines if line)
        usual = max(indents, key=lambda one: (indents[one], -one), default=0)
        left_of_usual = sum(count for indent, count in indents.items() if indent < usual)
        is_rare = left_of_usual <= RARE_SHARE * indents.total()
        margin = usual if is_rare else min(indents, default=0)
        return cls(wide, _justified_edge(lines, wide), usual, margin)

    def is_full(self, line: str, after: str) -> bool:
        """Whether the first word of the next line would not have fitted."""
        word = FIRST_WORD.match(after.lstrip())
        return width_of(line) + 1 + width_of(word[0] if word else "") >= FULL_SHARE * self.width

    def has_columns(self, line: str) -> bool:
        """Whether a line has wide spaces that are not there to make it as long as the others."""
        stretched = width_of(line) == self.edge and not WIDEST_STRETCHED.search(line.strip())
        return not stretched and IN_COLUMNS.search(line.strip()) is not None

    def is_centred(self, line: str) -> bool:
        """Whether a line stands in the middle, far from the margin."""
        middle = (indent_of(line) + width_of(line)) / 2
        return indent_of(line) >= CENTRED_INDENT and abs(middle - self.width / 2) <= CENTRED_SLACK


def _justified_edge(lines: Sequence[str], width: int) -> int:
    """Return the column in which the lines of a justified text end; 0 for any other text."""
    long = [line for line in lines if width_of(line) >= SHORT_SHARE * width]
    if not long:
        return 0
    edge, count = Counter(map(width_of, long)).most_common(1)[0]
    stretched = sum(width_of(line) == edge and STRETCHED.search(line.strip()) is not None for line in long)
    return edge if count >= JUSTIFIED_SHARE * len(long) and stretched >= STRETCHED_SHARE * count else 0


def in_paragraphs(lines: Sequence[str]) -> list[list[str]]:
    """Part lines at blank ones, at drawn tables, and not between what is defined and what is said of it."""
    paragraphs: list[list[str]] = []
    for paragraph in (list(group) for has_text, group in groupby(lines, key=bool) if has_text):
        if paragraphs and _defines(paragraphs[-1], paragraph):
            paragraphs[-1] += paragraph
        else:
            paragraphs += parted_at_tables(paragraph)
    return paragraphs


def _defines(terms: Sequence[str], paragraph: Sequence[str]) -> bool:
    """Whether a paragraph says what something that Texinfo defines, or an option, is that stands above a blank line."""
    left = indent_of(terms[0])
    are_options = all(
        OPTION.match(line) and indent_of(line) == left and not SENTENCE_END.search(line) for line in terms
    )
    return (
        not DEFINED.match(paragraph[0])
        and not OPTION.match(paragraph[0])
        and (are_options or all(map(DEFINED.match, terms)))
        and all(indent_of(line) > left + 1 for line in paragraph)
    )


def parted_at(paragraph: Sequence[str], separators: Set[str]) -> Iterator[list[str]]:
    """Part lines at rules below which other texts of the file begin without a blank line: there, too, they are no underlines."""
    if is_overlined(paragraph):
        yield list(paragraph)
        return
    for _, group in groupby(paragraph, key=lambda line: line.strip() in separators):
        yield list(group)


def is_overlined(lines: Sequence[str]) -> bool:
    """Whether lines begin with a heading between two rules of one kind and length."""
    over, text, under = (line.strip() for line in (*lines, "", "", "")[:3])
    return bool(RULE.match(over)) and over == under and not RULE.match(text)


def width_of(line: str) -> int:
    """How wide a line is, in columns: a character of Chinese or Japanese takes two."""
    return len(line) if line.isascii() else len(line) + sum(east_asian_width(one) in "WF" for one in line)


def indent_of(line: str) -> int:
    """How far a line is indented, in columns."""
    return len(line) - len(line.lstrip())


def number_of(line: str) -> str:
    """Return the number of a heading, `4`, `4.1` or `B.2`; nothing where the line is none."""
    text = line.strip()
    if "|" in text or len(text) > LONGEST_HEADING or not HEADING_END.search(text):
        return ""
    if chapter := CHAPTER.match(text):
        return str(chapter["number"] or chapter["counted"] or chapter["lettered"])
    number = None if DATE.match(text) or text.split()[-1].lower() in LEADING_ON else NUMBERED.match(text)
    return number[1].rstrip(".") if number else ""


def number_above(number: str) -> str:
    """Return the number of the section that a section stands right at the beginning of: `4.1` in `4`."""
    section, _, last = number.rpartition(".")
    return section if last == "1" else ""


def marker_of(line: str) -> re.Match[str] | None:
    """Match the mark that an item of a list begins with, a bullet or a number."""
    text = line.lstrip()
    return BULLET.match(text) or NUMBER.match(text)
