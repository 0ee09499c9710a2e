"""Plain text to HTML: headings, lists, definitions and listings are told by how their lines are laid out.

Nothing is taken away but underlines, marks of quoted mail, hyphens of words that a program cut at the ends of lines, the links that a text
browser writes above a page, and the markers of lists, which the blocks write themselves. What is not laid out as anything is a paragraph
where its lines were broken because the next word did not fit, and else a listing, whose lines stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from textwrap import dedent
from unicodedata import east_asian_width

from kgrag.documents.cut_words import CutWords
from kgrag.documents.drawn_tables import drawn_table, parted_at_tables
from kgrag.documents.inline_text import CJK
from kgrag.documents.section_labels import CHAPTER
from kgrag.text.sentences import IN_COLUMNS
from kgrag.text.words import LEADING_ON

__all__ = ["TextLayout", "plain_text_html"]

OVERSTRUCK = re.compile(r"[^\n]\x08")
"""A letter typed over by the next one: how manual pages are made bold."""
QUOTED = re.compile(r"\s*>(?: >)*(?: |$)")
"""What mail has before each line of what it answers to; `>>>` is Python's."""
RULE = re.compile(r"([-=~^*#\"'+`._:])\1{2,}$")
BULLET = re.compile(r"(?:[-*+•‣]|o(?= {2}))\s+(?=\S)")
NUMBER = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z](?:\.\d{1,2}){1,4}\.)\s+(?=[^\W\d_a-z])")
DATE = re.compile(
    r"\d{1,2}\.? +(?:jan|feb|mar|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])[^\W\d_]*\.?,? +\d{4}\b", re.IGNORECASE
)
"""What is no number of a section and its title."""
KEYWORD = re.compile(r"\$[A-Z]\w+(?::.*)?\$")
"""What CVS and Subversion put into a file, `$Id: notes.txt 152 2004-03-27 $`."""
ORNAMENTED = re.compile(r"([<>=*#~_-])(?:[<>=*#~_-]| (?=\W)){2,}\s*(\w.*?)\s*[<>=*#~_-](?:[<>=*#~_-]| (?=\W)){2,}")
"""A title with marks drawn on both sides, `<----- Files ----->`."""
ARMOUR = re.compile(r"-{5}(?:BEGIN|END) [A-Z ]+-{5}")
"""Around what is signed or encrypted."""
NO_TITLES = (DATE, KEYWORD, ARMOUR)
BOLD_LINE = re.compile(r"\s*(?:([^\s\x08])\x08\1\s*)+")
"""A line of which each letter is typed over by itself."""
ASKED = re.compile(r"(?:[QFPD]|Question)\s?\d{0,3}[.:)]\s+(?=\S)")
ANSWERED = re.compile(r"(?:A\s?\d{0,3}[.:)]|R\s?\d{0,3}:|Answer\s?\d{0,3}[.:)])\s")
"""Questions and their answers (Frage, pregunta, domanda; Antwort, réponse, respuesta), in a text that has several. `Q.` and `R.` are
items of a list."""
FEWEST_ASKED, LONGEST_QUESTION = 3, 300
PAGE_LINKS = re.compile(r"\s*Link: \S.*")
"""What text browsers write above a page of what its head links to, `Link: Contents Up Index`."""
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
CONTENTS = re.compile(r"(?:table of )?contents:?", re.IGNORECASE)
ENTRY = re.compile(r"\s*(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})\.?\s+(?P<said>\S.*)")
FEWEST_ENTRIES, MOST_LINES = 3, 3
"""Of a table of contents; lines of an entry or of its heading."""
RARE_SHARE = 0.002
"""Of the lines: so few stand farther left than all others by chance."""
SENTENCE_END = re.compile(r"[.!?:;,)\"”。！？：；，、）」』]$")
LAST_OF_SENTENCE = re.compile(r"[.!?:;。！？：；]$")
SHORT_LABEL = re.compile(r"\s*[\w-]{1,30}(?: \(\w{1,30}\))?:(?:\s|$)")
LONGEST_HEADING = 80
SET_OFF_SHARE = 0.4
"""Of the paragraphs that have two blank lines before them, at most, where these mean that a section begins."""
LEFT_OF_TEXT = 4
"""Columns by which numbered and bold headings stand farther left than text, where something else stands at the margin."""
FEWEST_SET_OFF, MOST_ALIKE = 3, 2
"""Headings of that kind in a text, and how often the same may stand there."""
CENTRED_SLACK = 4
"""Columns by which the middle of a centred line may be off."""
CENTRED_INDENT = 8
TITLE_PAGE_LINES = 6
"""Of the first paragraph, where its first line is a title, at most; the text has more paragraphs than that."""
SHORT_SHARE = 0.75
UNDERLINED_SHARE = 0.6
"""A line below a heading is at least so long, as a share of the heading."""
WIDTH_QUANTILE = 0.9
"""Of the lengths of all lines: about where the author, or the editor, breaks them."""
NARROWEST = 40
"""Characters: lines that are all shorter were not broken for want of room."""
FULL_SHARE = 0.9
"""A line is full where it would have that share of the width with the first word of the next one."""
DEEPEST_HEADING = 6
DEEPEST_LIST = 20
"""Lists in lists; what is deeper is a listing."""


def plain_text_html(written: str, *, titled: bool = True) -> str:
    """Turn plain text into HTML. `titled`: a first line that stands alone is a heading, as in a file, and not as in a mail."""
    text = OVERSTRUCK.sub("", written).replace("\f", "\n\n")
    lines = list(_unquoted([line.rstrip() for line in text.expandtabs().splitlines()]))
    struck = [line.rstrip() for line in written.splitlines() if "\x08" in line and BOLD_LINE.fullmatch(line.rstrip())]
    return TextLayout(
        lines, titled=titled, bold=frozenset(OVERSTRUCK.sub("", line).expandtabs() for line in struck)
    ).html()


def _unquoted(lines: Sequence[str]) -> Iterator[str]:
    """Take the marks off lines of quoted mail that stand together: they are a text of their own."""
    for is_quoted, group in groupby(lines, key=lambda line: QUOTED.match(line) is not None):
        run = list(group)
        if is_quoted and len(run) > 1:
            yield from ("", *(QUOTED.sub("", line) for line in run), "")
        else:
            yield from run


@dataclass(frozen=True, slots=True)
class _Heading:
    style: str
    """What makes it one: the character below it, `capitals`, `numbered`; headings of a style have a level."""
    text: str
    lines: int
    """How many lines of its paragraph it takes."""
    depth: int = 1


class TextLayout:
    """How the lines of one text are laid out, in spaces alone, none at their ends.

    `is_sentence` tells lines that are part of a sentence where the lines of a text do not: those that are broken before they are full.
    """

    def __init__(
        self,
        lines: Sequence[str],
        *,
        titled: bool = False,
        bold: Set[str] = frozenset(),
        is_sentence: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._titled = titled
        self._bold = bold
        self._is_sentence = is_sentence
        written = sorted(_width(line) for line in lines if line and not DRAWN.match(line))
        self._width = max(written[int(WIDTH_QUANTILE * (len(written) - 1))], NARROWEST) if written else NARROWEST
        self._edge = _justified_edge(lines, self._width)
        self._hyphens = CutWords(lines)
        indents = Counter(_indent(line) for line in lines if line)
        self._usual = max(indents, key=lambda one: (indents[one], -one), default=0)
        left_of_usual = sum(count for indent, count in indents.items() if indent < self._usual)
        is_rare = left_of_usual <= RARE_SHARE * indents.total()
        self._margin = self._usual if is_rare else min(indents, default=0)
        paragraphs = _paragraphs(lines)
        self._is_browsed = titled and _is_browsed(paragraphs)
        if self._is_browsed and len(paragraphs[0]) == 1 and PAGE_LINKS.fullmatch(paragraphs[0][0]):
            del paragraphs[0]
        begun = Counter(one[0].strip() for one in paragraphs if len(one) > 1 and not _is_overlined(one))
        self._separators = {line for line, count in begun.items() if count > 1 and RULE.match(line)}
        self._paragraphs = self._parted(paragraphs)
        self._contents, self._listed = self._read_contents()
        alone = [one[0].strip() for one in self._paragraphs if len(one) == 1]
        self._counts_in_chapters = (
            sum(map(bool, map(CHAPTER.match, alone))) > 1 < sum(_number(one) == "1" for one in alone)
        )
        self._asks = sum(map(_asks, self._paragraphs, self._paragraphs[1:])) >= FEWEST_ASKED
        self._set_off = self._lines_set_off(lines)
        self._levels: dict[str, int] = {}
        self._level = 0

    def html(self) -> str:
        """Write everything as HTML, a table of contents as a list below its heading."""
        begin, end = self._contents.start, self._contents.stop
        if begin == end:
            return self._written(self._paragraphs)
        before, level = self._written(self._paragraphs[:begin]), self._level
        heading = self.heading(self._paragraphs[begin][0].strip().rstrip(":"), style="contents")
        self._level = level
        entries = "".join(f"<li>{escape(said)}</li>" for said in self._listed.values())
        return "\n".join((before, heading, f"<ul>{entries}</ul>", self._written(self._paragraphs[end:], begins=False)))

    def _read_contents(self) -> tuple[range, dict[str, str]]:
        """Return which paragraphs are a table of contents, and what its entries say by their numbers; nothing where none is."""
        paragraphs = self._paragraphs
        begin = next(
            (i for i, one in enumerate(paragraphs) if len(one) == 1 and CONTENTS.fullmatch(one[0].strip())), -1
        )
        end, listed = begin + 1, dict[str, str]()
        while begin >= 0 and end < len(paragraphs) and (entries := _entries(paragraphs[end])):
            last = _counted(next(reversed(listed))) if listed else ()
            numbers = [last, *map(_counted, entries)]
            if any(one >= after for one, after in pairwise(numbers)):
                break
            listed |= entries
            end += 1
        return (range(begin, end), listed) if len(listed) >= FEWEST_ENTRIES else (range(0), {})

    def _listed_heading(self, lines: Sequence[str]) -> _Heading | None:
        """Read a heading that the table of contents has, of however many words and lines."""
        if not self._listed or len(lines) > MOST_LINES or not (entry := ENTRY.match(" ".join(map(str.strip, lines)))):
            return None
        said = self._listed.get(entry["number"], "")
        if not said or _unbroken(said) != _unbroken(entry["said"]):
            return None
        text = f"{lines[0].split()[0]} {said}"
        return _Heading("numbered", text, len(lines), depth=1 + entry["number"].count("."))

    def part(self, lines: Sequence[str], *, headings: bool = True) -> str:
        """Write some of the lines: how wide they are broken, how far they are indented and the levels of headings are those of the text."""
        return self._written(self._parted(_paragraphs(lines)), headings=headings)

    def heading(self, text: str, *, style: str) -> str:
        """Write a heading that was recognised elsewhere; those of one style have one level."""
        level = self._level_of(_Heading(style, text, 1))
        return f"<h{level}>{escape(text)}</h{level}>"

    def _parted(self, paragraphs: Sequence[list[str]]) -> list[list[str]]:
        return [part for one in paragraphs for part in _parted_at(one, self._separators)]

    def _written(self, paragraphs: Sequence[list[str]], *, headings: bool = True, begins: bool = True) -> str:
        parts: list[str] = []
        numbers = ["", *(_number(group[0]) if len(group) == 1 else "" for group in paragraphs), ""]
        for index, paragraph in enumerate(paragraphs):
            before, own, after = numbers[index : index + 3]
            alone = before in ("", _above(own)) and (not after or _above(after) == own)
            is_announced = index > 0 and paragraphs[index - 1][-1].endswith(":")
            below = _indent(paragraphs[index + 1][0]) if index + 1 < len(paragraphs) else 0
            is_browsed = headings and self._is_browsed and not is_announced
            if is_browsed and (heading := self._browsed_heading(paragraph, below=below)):
                level = self._level_of(heading)
                parts.append(f"<h{level}>{escape(heading.text)}</h{level}>")
                continue
            if headings and self._asks and index + 1 < len(paragraphs) and _asks(paragraph, paragraphs[index + 1]):
                asked = " ".join(map(str.strip, paragraph))
                level = self._level_of(_Heading("question", asked, len(paragraph)))
                parts.append(f"<h{level}>{escape(asked)}</h{level}>")
                continue
            rest = list(paragraph)
            if table := drawn_table(paragraph):
                parts.append(table)
                continue
            if any(map(DRAWN.match, paragraph)):
                parts.append(_listing(paragraph))
                continue
            if len(rest) == 1 and RULE.match(rest[0].strip()):
                parts.append("<hr>")
                continue
            while (
                headings
                and rest
                and (
                    heading := self._heading(
                        rest, first=self._titled and begins and index == 0 and rest == paragraph, alone=alone
                    )
                )
            ):
                level = self._level_of(heading)
                # A line between rules may be of any length, and the pattern takes its square.
                said = ORNAMENTED.sub(r"\2", heading.text) if len(heading.text) <= LONGEST_HEADING else heading.text
                parts.append(f"<h{level}>{escape(said)}</h{level}>")
                rest = rest[heading.lines :]
            # What follows its heading without a blank line is its text, however far it is indented.
            margin = _indent(rest[0]) if 0 < len(rest) < len(paragraph) else self._usual
            parts += self._body(rest, margin=margin)
        return "\n".join(parts)

    def _heading(self, lines: Sequence[str], *, first: bool, alone: bool) -> _Heading | None:
        """Read a heading at the start of a paragraph; `alone`: no numbered line is the paragraph before or after it, as in a list."""
        text, below = lines[0].strip(), lines[1].strip() if len(lines) > 1 else ""
        if _is_overlined(lines):
            return _Heading(f"over {text[0]}", below, 3)
        if listed := self._listed_heading(lines):
            return listed
        if len(text) > LONGEST_HEADING or not any(map(str.isalpha, text)):
            return None
        is_underlined = len(below) >= UNDERLINED_SHARE * len(text)
        if (rule := RULE.match(below)) and is_underlined and not IN_COLUMNS.search(text):
            return _Heading(rule[1], text, 2)
        if first and (title := self._title(lines)):
            return title
        if len(lines) == 1 and ORNAMENTED.fullmatch(text) and not ARMOUR.fullmatch(text):
            return _Heading("ornamented", text, 1)
        is_left = _indent(lines[0]) <= max(self._margin, self._usual - LEFT_OF_TEXT)
        if ARMOUR.fullmatch(text) or not is_left or IN_COLUMNS.search(text):
            return None
        if len(lines) == 1 and lines[0] in self._bold and not OPTION.match(text):
            return _Heading(f"bold {_indent(lines[0])}", text, 1)
        if len(lines) == 1 and alone and (number := _number(text)):
            is_chapter = self._counts_in_chapters and CHAPTER.match(text)
            return _Heading("chapter" if is_chapter else "numbered", text, 1, depth=1 + number.count("."))
        if _indent(lines[0]) > self._margin or OPTION.match(text):
            return None
        stands_out = len(lines) == 1 or _indent(lines[1]) > self._margin + 1
        if stands_out and _in_capitals(text) and not SENTENCE_END.search(text):
            return _Heading("capitals", text, 1)
        if len(lines) == 1 and lines[0] in self._set_off:
            return _Heading("set off", text, 1)
        return None

    def _browsed_heading(self, lines: Sequence[str], *, below: int) -> _Heading | None:
        """Read a heading of a page as text browsers write it: centred, or farther left or right than text, and no sentence.

        One that begins small has text `below` it, indented as that is.
        """
        text, indent = " ".join(map(str.strip, lines)), _indent(lines[0])
        is_broken = len(lines) == LINES_OF_HEADING and _indent(lines[1]) == indent and self._is_full(*lines)
        is_one = len(lines) == 1 or is_broken
        is_said = bool(text) and not (
            PROGRAM.search(text) or IN_COLUMNS.search(text) or _marker(lines[0]) or text[-1] in ".,:;"
        )
        if (
            not (is_one and is_said)
            or RULE.match(lines[-1].strip())
            or len(text) > LONGEST_BROWSED
            or not any(map(str.isalpha, text))
        ):
            return None
        if all(map(self._is_centred, lines)):
            return _Heading("centred", text, len(lines))
        if number := _number(text):
            return _Heading("numbered", text, len(lines), depth=1 + number.count("."))
        begins = not text[0].islower() or (indent > 0 and below == BROWSED_INDENT)
        return _Heading(f"browsed {indent}", text, len(lines)) if indent in BROWSED_HEADINGS and begins else None

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
            and _indent(lines[index]) <= self._margin
            and len(lines[index]) <= LONGEST_HEADING
            and TITLE.fullmatch(lines[index].strip())
            and not (SENTENCE_END.search(lines[index]) or IN_COLUMNS.search(lines[index]) or _marker(lines[index]))
        )
        all_alike = Counter(line for line in lines if line in found)
        titles = frozenset(line for line, count in all_alike.items() if count <= MOST_ALIKE)
        return titles if len(titles) >= FEWEST_SET_OFF else frozenset()

    def _title(self, lines: Sequence[str]) -> _Heading | None:
        """Read a text's title: its first line, where that stands alone, or where all that stands with it is centred."""
        text = lines[0].strip()
        ends_sentence = SENTENCE_END.search(text) and not REMARK_AT_END.fullmatch(text)
        if ends_sentence or _marker(text) or _number(text) or any(one.match(text) for one in NO_TITLES):
            return None
        is_alone = len(lines) == 1
        is_centred = len(lines) <= TITLE_PAGE_LINES and all(map(self._is_centred, lines))
        return _Heading("title", text, 1) if is_alone or is_centred or self._is_title_page(lines) else None

    def _is_title_page(self, lines: Sequence[str]) -> bool:
        """Whether the first lines say title, author and the like, one each: all are short, at the margin, and no sentences."""
        return (
            1 < len(lines) <= TITLE_PAGE_LINES < len(self._paragraphs)
            and bool(TITLE.fullmatch(lines[0]))
            and all(_indent(line) == self._margin and _width(line) <= SHORT_SHARE * self._width for line in lines)
            and not any(SENTENCE_END.search(line) or IN_COLUMNS.search(line) or BULLET.match(line) for line in lines)
        )

    def _is_centred(self, line: str) -> bool:
        middle = (_indent(line) + _width(line)) / 2
        return _indent(line) >= CENTRED_INDENT and abs(middle - self._width / 2) <= CENTRED_SLACK

    def _level_of(self, heading: _Heading) -> int:
        """The level of a style is one below that of the heading that stood before its first use; numbers say theirs."""
        if heading.style == "chapter" and "numbered" in self._levels:  # those before were a table of contents
            self._levels.setdefault("chapter", self._levels["numbered"])
            self._levels["numbered"] = self._levels["chapter"] + 1
        first = self._levels.setdefault(heading.style, min(self._level + 1, DEEPEST_HEADING))
        self._level = min(first + heading.depth - 1, DEEPEST_HEADING)
        return self._level

    def _body(self, lines: Sequence[str], *, margin: int, depth: int = 0) -> Iterator[str]:
        """Write lines without a blank one among them; `margin` is how far text that is no example is indented there."""
        start = 0
        while start < len(lines):
            if depth < DEEPEST_LIST and _marker(lines[start]):
                end = _end_of_list(lines, start)
                yield from self._list(lines[start:end], depth=depth)
            else:
                end = _announced_list(lines, start) if depth < DEEPEST_LIST else len(lines)
                yield from self._text(lines[start:end], margin=margin, depth=depth)
            start = end

    def _text(self, lines: Sequence[str], *, margin: int, depth: int) -> Iterator[str]:
        """Write a definition, or texts and listings."""
        if depth < DEEPEST_LIST and (parts := self._definitions(lines)):
            for part in parts:
                yield from self._text(part, margin=margin, depth=depth)
            return
        if depth < DEEPEST_LIST and (terms := self._terms(lines)):
            inner = "\n".join(self._body(lines[terms:], margin=_indent(lines[terms]), depth=depth + 1))
            named = "".join(f"<dt>{escape(_term(line))}</dt>" for line in lines[:terms])
            yield f"<dl>{named}<dd>{inner}</dd></dl>"
            return
        alone = len(lines) == 1 and _indent(lines[0]) <= margin + 1
        for is_text, runs in groupby(
            self._runs(lines, margin=margin), key=lambda run: alone or self._is_text(run, margin=margin)
        ):
            if is_text:
                yield from (f"<p>{escape(self._hyphens.joined(run))}</p>" for run in runs)
            else:
                yield _listing([line for run in runs for line in run])

    def _list(self, lines: Sequence[str], *, depth: int) -> Iterator[str]:
        """Write the items of a list: one begins where a marker stands as far left as the first one, and has what is indented more."""
        left = _indent(lines[0])
        starts = [i for i, line in enumerate(lines) if _indent(line) <= left]
        for start, after in pairwise([*starts, len(lines)]):
            marker = _marker(lines[start])
            text = lines[start].strip()[len(marker[0]) if marker else 0 :]
            inside = " " * (left + len(marker[0]) if marker else left) + text
            tag = f'ol start="{marker[1]}"' if marker and marker.re is NUMBER else "ul"
            inner = "\n".join(self._body([inside, *lines[start + 1 : after]], margin=_indent(inside), depth=depth + 1))
            yield f"<{tag}><li>{inner}</li></{tag.partition(' ')[0]}>"

    def _runs(self, lines: Sequence[str], *, margin: int) -> Iterator[list[str]]:
        """Part lines where one was ended though the next word would have fitted, and at lines with columns."""
        run = [lines[0]]
        for line, after in pairwise(lines):
            columns = self._has_columns(line) or self._has_columns(after)
            goes_on = self._is_full(line, after) or self._goes_on(line, after, margin=margin)
            if not columns and goes_on and (len(run) == 1 or _indent(after) == _indent(line)):
                run.append(after)
            else:
                yield run
                run = [after]
        yield run

    def _definitions(self, lines: Sequence[str]) -> list[Sequence[str]]:
        """Part lines that are several definitions without blank lines between them, each said in sentences; nothing for any others."""
        left = _indent(lines[0])
        starts = [n for n in range(1, len(lines)) if _indent(lines[n]) <= left < _indent(lines[n - 1])]
        parts = [lines[begin:end] for begin, end in pairwise([0, *starts, len(lines)])] if starts else []
        is_said = all(
            (terms := self._terms(part)) and part[terms].strip()[:1].isupper() and LAST_OF_SENTENCE.search(part[-1])
            for part in parts
        )
        return parts if is_said else []

    def _terms(self, lines: Sequence[str]) -> int:
        """Return how many lines are terms, one below the other, of which the lines indented below say something; 0 where none is.

        Options and what Texinfo defines may have several names. Where the last of them is a full line, it is all one text.
        """
        left = _indent(lines[0])
        terms = next((n for n, line in enumerate(lines) if _indent(line) != left), len(lines))
        if terms > 1 and not all(OPTION.match(line) or DEFINED.match(line) for line in lines[:terms]):
            return 0
        if terms == len(lines) or self._is_full(lines[terms - 1], lines[terms]):
            return 0
        return terms if all(_indent(line) > left + 1 for line in lines[terms:]) else 0

    def _is_full(self, line: str, after: str) -> bool:
        """Whether the first word of the next line would not have fitted."""
        word = FIRST_WORD.match(after.lstrip())
        return _width(line) + 1 + _width(word[0] if word else "") >= FULL_SHARE * self._width

    def _goes_on(self, line: str, after: str, *, margin: int) -> bool:
        """Whether a line that is not full is part of a sentence that the next line goes on with."""
        begun = after.lstrip()
        return (
            begun[:1].islower()
            and not SHORT_LABEL.match(begun)
            and _indent(line) <= margin + 1
            and _width(line) >= SHORT_SHARE / 2 * self._width
            and not LAST_OF_SENTENCE.search(line)
            and self._is_sentence(line)
        )

    def _has_columns(self, line: str) -> bool:
        """Whether a line has wide spaces that are not there to make it as long as the others."""
        stretched = _width(line) == self._edge and not WIDEST_STRETCHED.search(line.strip())
        return not stretched and IN_COLUMNS.search(line.strip()) is not None

    def _is_text(self, run: Sequence[str], *, margin: int) -> bool:
        """Whether a run is a text: several lines, or one that ends as a sentence does."""
        if len(run) > 1:
            return True
        ends = SENTENCE_END.search(run[0]) and not self._has_columns(run[0])
        return bool(ends) or (_indent(run[0]) <= margin + 1 and self._is_sentence(run[0]))


def _entries(paragraph: Sequence[str]) -> dict[str, str]:
    """Return what the lines of a table of contents say by their numbers; nothing where a paragraph is something else."""
    entries: dict[str, str] = {}
    for line in paragraph:
        if entry := ENTRY.match(line):
            if entry["number"] in entries:
                return {}
            entries[entry["number"]] = " ".join(entry["said"].split())
        elif entries:
            number, said = entries.popitem()
            entries[number] = f"{said} {' '.join(line.split())}"
        else:
            return {}
    return entries


def _unbroken(said: str) -> str:
    """Write words so that where their lines were broken makes no difference."""
    return "".join(said.split()).replace("-", "")


def _counted(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _is_browsed(paragraphs: Sequence[Sequence[str]]) -> bool:
    """Whether a text is a page as text browsers write it: several paragraphs are indented as they do it, and none as headings."""
    texts = [one for one in paragraphs if len(one) > 1 and len(set(map(_indent, one))) == 1]
    long = {_indent(one[0]) for one in texts if len(one) > LINES_OF_HEADING}
    return sum(_indent(one[0]) == BROWSED_INDENT for one in texts) >= FEWEST_BROWSED and long.isdisjoint(
        BROWSED_HEADINGS
    )


def _justified_edge(lines: Sequence[str], width: int) -> int:
    """Return the column in which the lines of a justified text end; 0 for any other text."""
    long = [line for line in lines if _width(line) >= SHORT_SHARE * width]
    if not long:
        return 0
    edge, count = Counter(map(_width, long)).most_common(1)[0]
    stretched = sum(_width(line) == edge and STRETCHED.search(line.strip()) is not None for line in long)
    return edge if count >= JUSTIFIED_SHARE * len(long) and stretched >= STRETCHED_SHARE * count else 0


def _paragraphs(lines: Sequence[str]) -> list[list[str]]:
    paragraphs: list[list[str]] = []
    for paragraph in (list(group) for has_text, group in groupby(lines, key=bool) if has_text):
        if paragraphs and _defines(paragraphs[-1], paragraph):
            paragraphs[-1] += paragraph
        else:
            paragraphs += parted_at_tables(paragraph)
    return paragraphs


def _parted_at(paragraph: Sequence[str], separators: Set[str]) -> Iterator[list[str]]:
    """Part lines at rules below which other texts of the file begin without a blank line: there, too, they are no underlines."""
    if _is_overlined(paragraph):
        yield list(paragraph)
        return
    for _, group in groupby(paragraph, key=lambda line: line.strip() in separators):
        yield list(group)


def _is_overlined(lines: Sequence[str]) -> bool:
    """Whether lines begin with a heading between two rules of one kind and length."""
    over, text, under = (line.strip() for line in (*lines, "", "", "")[:3])
    return bool(RULE.match(over)) and over == under and not RULE.match(text)


def _asks(paragraph: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a paragraph is a question, and the next one begins its answer."""
    is_question = ASKED.match(paragraph[0].strip()) and sum(map(len, paragraph)) <= LONGEST_QUESTION
    return bool(is_question and ANSWERED.match(after[0].strip()))


def _listing(lines: Sequence[str]) -> str:
    return f"<pre>{escape(dedent(chr(10).join(lines)))}</pre>"


def _term(line: str) -> str:
    return DEFINED.sub(r"\1 \2", line).strip()


def _defines(terms: Sequence[str], paragraph: Sequence[str]) -> bool:
    """Whether a paragraph says what something that Texinfo defines, or an option, is that stands above a blank line."""
    left = _indent(terms[0])
    are_options = all(OPTION.match(line) and _indent(line) == left and not SENTENCE_END.search(line) for line in terms)
    return (
        not DEFINED.match(paragraph[0])
        and not OPTION.match(paragraph[0])
        and (are_options or all(map(DEFINED.match, terms)))
        and all(_indent(line) > left + 1 for line in paragraph)
    )


def _width(line: str) -> int:
    """How wide a line is, in columns: a character of Chinese or Japanese takes two."""
    return len(line) if line.isascii() else len(line) + sum(east_asian_width(one) in "WF" for one in line)


def _in_capitals(text: str) -> bool:
    """Whether a line is written in capitals: three letters or more, and all of a script that has them."""
    letters = [letter for letter in text if letter.isalpha()]
    return len(letters) > 2 and text.isupper() and all(one.lower() != one.upper() for one in letters)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _number(line: str) -> str:
    """Return the number of a heading, `4`, `4.1` or `B.2`; nothing where the line is none."""
    text = line.strip()
    if "|" in text or len(text) > LONGEST_HEADING or not HEADING_END.search(text):
        return ""
    if chapter := CHAPTER.match(text):
        return str(chapter["number"] or chapter["counted"] or chapter["lettered"])
    number = None if DATE.match(text) or text.split()[-1].lower() in LEADING_ON else NUMBERED.match(text)
    return number[1].rstrip(".") if number else ""


def _above(number: str) -> str:
    """Return the number of the section that a section stands right at the beginning of: `4.1` in `4`."""
    section, _, last = number.rpartition(".")
    return section if last == "1" else ""


def _marker(line: str) -> re.Match[str] | None:
    text = line.lstrip()
    return BULLET.match(text) or NUMBER.match(text)


def _end_of_list(lines: Sequence[str], start: int) -> int:
    """The line behind a list: the first one that is no more indented than its first item and begins none."""
    left = _indent(lines[start])
    after = range(start + 1, len(lines))
    return next((i for i in after if _indent(lines[i]) <= left and not _marker(lines[i])), len(lines))


def _announced_list(lines: Sequence[str], start: int) -> int:
    """Where a list begins below a line that ends in a colon."""
    after = range(start + 1, len(lines))
    return next((i for i in after if lines[i - 1].endswith(":") and _marker(lines[i])), len(lines))
