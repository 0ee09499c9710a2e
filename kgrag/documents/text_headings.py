"""Headings of plain text: told by rules, numbers, capitals, bold type, blank lines and where they stand, and their levels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from html import escape

from kgrag.documents.section_labels import CHAPTER
from kgrag.documents.text_contents import listed_title
from kgrag.documents.text_lines import (
    BULLET,
    DATE,
    LONGEST_HEADING,
    OPTION,
    RULE,
    SENTENCE_END,
    SHORT_SHARE,
    TextMeasures,
    indent_of,
    is_overlined,
    marker_of,
    number_of,
    width_of,
)
from kgrag.documents.text_versions import OUTLINED, version_lines
from kgrag.text.sentences import IN_COLUMNS

__all__ = ["Heading", "TextHeadings", "asks", "is_browsed"]

CAPTION = re.compile(r"[^\W\d_]+\.? \d[\d.-]*[.:] ")
"""How the caption of a table or figure begins: `Table 4-1. `."""
KEYWORD = re.compile(r"\$[A-Z]\w+(?::.*)?\$")
"""What CVS and Subversion put into a file, `$Id: notes.txt 152 2004-03-27 $`."""
ORNAMENTED = re.compile(
    r"(?:[<>=*#~_-](?:[<>=*#~_-]| (?=\W)){2,}\s*|==\s|\*\*\s)(\w.*?)(?:\s*[<>=*#~_-](?:[<>=*#~_-]| (?=\W)){2,}|\s==|\s\*\*)"
)
"""A title with marks drawn on both sides, `<----- Files ----->`, `== Files ==`."""
ARMOUR = re.compile(r"-{5}(?:BEGIN|END) [A-Z ]+-{5}")
"""Around what is signed or encrypted."""
NO_TITLES = (DATE, KEYWORD, ARMOUR)
ASKED = re.compile(r"(?:[QFPD]|Question)\s?\d{0,3}[.:)]\s+(?=\S)")
ANSWERED = re.compile(r"(?:A\s?\d{0,3}[.:)]|R\s?\d{0,3}:|Answer\s?\d{0,3}[.:)])\s")
"""Questions and their answers (Frage, pregunta, domanda; Antwort, réponse, respuesta), in a text that has several. `Q.` and `R.` are
items of a list."""
FEWEST_ASKED, LONGEST_QUESTION = 3, 300
BROWSED_INDENT, BROWSED_HEADINGS = 3, (0, 2, 4)
"""Columns by which text browsers (Lynx, ELinks, Links) indent text, and headings of the second to the fourth level."""
FEWEST_BROWSED = 4
"""Paragraphs of several lines."""
LONGEST_BROWSED, LINES_OF_HEADING = 160, 2
PROGRAM = re.compile(r"[=<>{}|;$\\]|://|^[#%./~]")
"""What is no heading where examples may stand as far left."""
REMARK_AT_END = re.compile(r"[^()]+ \([^()]+\)")
"""A title with something in brackets: `Frequently asked questions (FAQ)`."""
TITLE = re.compile(r"(?!\w+:)[^\W\d_a-z][^=<>{}|\\;$/]*")
SET_OFF_SHARE = 0.4
"""Of the paragraphs that have two blank lines before them, at most, where these mean that a section begins."""
LEFT_OF_TEXT = 4
"""Columns by which numbered and bold headings stand farther left than text, where something else stands at the margin."""
FEWEST_SET_OFF, MOST_ALIKE = 3, 2
"""Headings of that kind in a text, and how often the same may stand there."""
LONG_LINE, SHORT_TITLE = 100, 60
"""Characters of a text of sentences below a line that is its title, and of that line."""
TITLE_PAGE_LINES = 6
"""Of the first paragraph, where its first line is a title, at most; the text has more paragraphs than that."""
UNDERLINED_SHARE = 0.6
"""A line below a heading is at least so long, as a share of the heading."""
DEEPEST_HEADING = 6


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it stands at the start of a paragraph."""

    style: str
    """What makes it one: the character below it, `capitals`, `numbered`; headings of a style have a level."""
    text: str
    lines: int
    """How many lines of its paragraph it takes."""
    depth: int = 1


class TextHeadings:
    """The headings of one text."""

    def __init__(
        self,
        lines: Sequence[str],
        paragraphs: Sequence[Sequence[str]],
        measures: TextMeasures,
        *,
        bold: Set[str],
        listed: Mapping[str, str],
    ) -> None:
        self._measures = measures
        self._bold = bold
        self._listed = listed
        self._paragraphs = len(paragraphs)
        alone = [one[0].strip() for one in paragraphs if len(one) == 1]
        self._counts_in_chapters = (
            sum(map(bool, map(CHAPTER.match, alone))) > 1 < sum(number_of(one) == "1" for one in alone)
        )
        self.asks = sum(map(asks, paragraphs, paragraphs[1:])) >= FEWEST_ASKED
        """Whether the text is one of questions and answers."""
        self._titles = self._lines_set_off(lines) | self._lines_above_text(paragraphs)
        self._versions = version_lines(paragraphs, margin=measures.margin)
        self._levels: dict[str, int] = {}
        self.level = 0
        """That of the last heading."""

    def html(self, heading: Heading) -> str:
        """Write a heading; those of one style have one level."""
        level = self._level_of(heading)
        return f"<h{level}>{escape(heading.text)}</h{level}>"

    def read(self, lines: Sequence[str], *, first: bool, alone: bool) -> Heading | None:
        """Read a heading at the start of a paragraph; `alone`: no numbered line is the paragraph before or after it, as in a list."""
        heading = self._read(lines, first=first, alone=alone)
        # A line between rules may be of any length, and the pattern takes its square.
        if heading is None or len(heading.text) > LONGEST_HEADING:
            return heading
        return replace(heading, text=ORNAMENTED.sub(r"\1", heading.text))

    def _read(self, lines: Sequence[str], *, first: bool, alone: bool) -> Heading | None:
        text, below = lines[0].strip(), lines[1].strip() if len(lines) > 1 else ""
        if is_overlined(lines):
            return Heading(f"over {text[0]}", below, 3)
        if listed := listed_title(self._listed, lines):
            return Heading("numbered", listed[1], len(lines), depth=1 + listed[0].count("."))
        if len(text) > LONGEST_HEADING or not any(map(str.isalpha, text)):
            return None
        if lines[0] in self._versions and not RULE.match(below):
            return Heading("version", text.removeprefix(OUTLINED).rstrip(":"), 1)
        is_underlined = len(below) >= UNDERLINED_SHARE * len(text)
        if (rule := RULE.match(below)) and is_underlined and not IN_COLUMNS.search(text):
            return Heading(rule[1], text, 2)
        if first and (title := self._title(lines)):
            return title
        if len(lines) == 1 and ORNAMENTED.fullmatch(text) and not ARMOUR.fullmatch(text):
            return Heading("ornamented", text, 1)
        is_left = indent_of(lines[0]) <= max(self._measures.margin, self._measures.usual - LEFT_OF_TEXT)
        if ARMOUR.fullmatch(text) or not is_left or IN_COLUMNS.search(text):
            return None
        if len(lines) == 1 and lines[0] in self._bold and not OPTION.match(text):
            return Heading(f"bold {indent_of(lines[0])}", text, 1)
        if len(lines) == 1 and alone and (number := number_of(text)):
            is_chapter = self._counts_in_chapters and CHAPTER.match(text)
            return Heading("chapter" if is_chapter else "numbered", text, 1, depth=1 + number.count("."))
        if indent_of(lines[0]) > self._measures.margin or OPTION.match(text):
            return None
        stands_out = len(lines) == 1 or indent_of(lines[1]) > self._measures.margin + 1
        if stands_out and _in_capitals(text) and not SENTENCE_END.search(text):
            return Heading("capitals", text, 1)
        if len(lines) == 1 and lines[0] in self._titles:
            return Heading("set off", text, 1)
        return None

    def read_browsed(self, lines: Sequence[str], *, below: int) -> Heading | None:
        """Read a heading of a page as text browsers write it: centred, or farther left or right than text, and no sentence.

        One that begins small has text `below` it, indented as that is.
        """
        text, indent = " ".join(map(str.strip, lines)), indent_of(lines[0])
        is_broken = len(lines) == LINES_OF_HEADING and indent_of(lines[1]) == indent and self._measures.is_full(*lines)
        is_one = len(lines) == 1 or is_broken
        is_said = bool(text) and not (
            PROGRAM.search(text) or IN_COLUMNS.search(text) or marker_of(lines[0]) or text[-1] in ".,:;"
        )
        if (
            not (is_one and is_said)
            or RULE.match(lines[-1].strip())
            or len(text) > LONGEST_BROWSED
            or not any(map(str.isalpha, text))
        ):
            return None
        if all(map(self._measures.is_centred, lines)):
            return Heading("centred", text, len(lines))
        if number := number_of(text):
            return Heading("numbered", text, len(lines), depth=1 + number.count("."))
        begins = not text[0].islower() or (indent > 0 and below == BROWSED_INDENT)
        return Heading(f"browsed {indent}", text, len(lines)) if indent in BROWSED_HEADINGS and begins else None

    def _lines_set_off(self, lines: Sequence[str]) -> frozenset[str]:
        """Return the lines that are headings by the blank lines around them alone: two or more before, one after, as `troff -ms` sets them.

        None where there are but few, or where most paragraphs stand so; what comes again and again is a running header.
        """
        begun = [index for index in range(1, len(lines)) if lines[index] and not lines[index - 1]]
        apart = [index for index in begun if index > 1 and not lines[index - 2]]
        if len(apart) > SET_OFF_SHARE * len(begun):
            return frozenset()
        found = Counter(
            lines[index]
            for index in apart
            if not any(lines[index + 1 : index + 2])
            and any(lines[index + 2 : index + 3])
            and self._is_title_line(lines[index])
        )
        all_alike = Counter(line for line in lines if line in found)
        titles = frozenset(line for line, count in all_alike.items() if count <= MOST_ALIKE)
        return titles if len(titles) >= FEWEST_SET_OFF else frozenset()

    def _lines_above_text(self, paragraphs: Sequence[Sequence[str]]) -> frozenset[str]:
        """Return the short lines right above a text of sentences, where a text has several and they are no labels that come again."""
        found = Counter(
            lines[0]
            for before, lines, below in zip([[""], *paragraphs], paragraphs, paragraphs[1:], strict=False)
            if len(lines) == 1
            and len(lines[0]) <= SHORT_TITLE
            and self._is_title_line(lines[0])
            and self._is_prose(below)
            and not (before[-1].endswith(":") or CAPTION.match(lines[0]))
        )
        titles = frozenset(line for line, count in found.items() if count == 1)
        return titles if len(titles) > 1 else frozenset()

    def _is_prose(self, lines: Sequence[str]) -> bool:
        """Whether a paragraph is at least one full line of sentences, from a capital letter to a full stop."""
        said = " ".join(map(str.strip, lines))
        return (
            len(said) >= LONG_LINE
            and said[0].isupper()
            and said[-1] in ".!?"
            and indent_of(lines[0]) <= self._measures.margin
            and all(indent_of(line) <= self._measures.margin for line in lines)
            and not PROGRAM.search(lines[0])
        )

    def _is_title_line(self, line: str) -> bool:
        """Whether a line at the margin is written as titles are: it begins with a capital letter and ends no sentence."""
        return (
            indent_of(line) <= self._measures.margin
            and len(line) <= LONGEST_HEADING
            and TITLE.fullmatch(line.strip()) is not None
            and not (SENTENCE_END.search(line) or IN_COLUMNS.search(line) or marker_of(line))
        )

    def _title(self, lines: Sequence[str]) -> Heading | None:
        """Read a text's title: its first line, where that stands alone, or where all that stands with it is centred."""
        text = lines[0].strip()
        ends_sentence = SENTENCE_END.search(text) and not REMARK_AT_END.fullmatch(text)
        if ends_sentence or marker_of(text) or number_of(text) or any(one.match(text) for one in NO_TITLES):
            return None
        is_alone = len(lines) == 1
        is_centred = len(lines) <= TITLE_PAGE_LINES and all(map(self._measures.is_centred, lines))
        return Heading("title", text, 1) if is_alone or is_centred or self._is_title_page(lines) else None

    def _is_title_page(self, lines: Sequence[str]) -> bool:
        """Whether the first lines say title, author and the like, one each: all are short, at the margin, and no sentences."""
        return (
            1 < len(lines) <= TITLE_PAGE_LINES < self._paragraphs
            and bool(TITLE.fullmatch(lines[0]))
            and all(
                indent_of(line) == self._measures.margin and width_of(line) <= SHORT_SHARE * self._measures.width
                for line in lines
            )
            and not any(SENTENCE_END.search(line) or IN_COLUMNS.search(line) or BULLET.match(line) for line in lines)
        )

    def _level_of(self, heading: Heading) -> int:
        """The level of a style is one below that of the heading that stood before its first use; numbers say theirs."""
        if heading.style == "chapter" and "numbered" in self._levels:  # those before were a table of contents
            self._levels.setdefault("chapter", self._levels["numbered"])
            self._levels["numbered"] = self._levels["chapter"] + 1
        first = self._levels.setdefault(heading.style, min(self.level + 1, DEEPEST_HEADING))
        self.level = min(first + heading.depth - 1, DEEPEST_HEADING)
        return self.level


def asks(paragraph: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a paragraph is a question, and the next one begins its answer."""
    is_question = ASKED.match(paragraph[0].strip()) and sum(map(len, paragraph)) <= LONGEST_QUESTION
    return bool(is_question and ANSWERED.match(after[0].strip()))


def is_browsed(paragraphs: Sequence[Sequence[str]]) -> bool:
    """Whether a text is a page as text browsers write it: several paragraphs are indented as they do it, and none as headings."""
    texts = [one for one in paragraphs if len(one) > 1 and len(set(map(indent_of, one))) == 1]
    long = {indent_of(one[0]) for one in texts if len(one) > LINES_OF_HEADING}
    return sum(indent_of(one[0]) == BROWSED_INDENT for one in texts) >= FEWEST_BROWSED and long.isdisjoint(
        BROWSED_HEADINGS
    )


def _in_capitals(text: str) -> bool:
    """Whether a line is written in capitals: three letters or more, and all of a script that has them."""
    letters = [letter for letter in text if letter.isalpha()]
    return len(letters) > 2 and text.isupper() and all(one.lower() != one.upper() for one in letters)
