"""Plain text to HTML: headings, lists, definitions and listings are told by how their lines are laid out.

Nothing is taken away but underlines, marks of quoted mail, hyphens of words that a program cut at the ends of lines, the links that a text
browser writes above a page, and the markers of lists, which the blocks write themselves. What is not laid out as anything is a paragraph
where its lines were broken because the next word did not fit, and else a listing, whose lines stay as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from html import escape
from itertools import groupby, pairwise
from textwrap import dedent

from kgrag.documents.cut_words import CutWords
from kgrag.documents.drawn_tables import drawn_table
from kgrag.documents.text_contents import read_contents
from kgrag.documents.text_headings import Heading, TextHeadings, asks, is_browsed
from kgrag.documents.text_lines import (
    DEFINED,
    DRAWN,
    NUMBER,
    OPTION,
    RULE,
    SENTENCE_END,
    SHORT_SHARE,
    TextMeasures,
    in_paragraphs,
    indent_of,
    is_overlined,
    marker_of,
    number_above,
    number_of,
    parted_at,
    width_of,
)

__all__ = ["TextLayout", "plain_text_html"]

OVERSTRUCK = re.compile(r"[^\n]\x08")
"""A letter typed over by the next one: how manual pages are made bold."""
QUOTED = re.compile(r"\s*>(?: >)*(?: |$)")
"""What mail has before each line of what it answers to; `>>>` is Python's."""
BOLD_LINE = re.compile(r"\s*(?:([^\s\x08])\x08\1\s*)+")
"""A line of which each letter is typed over by itself."""
PAGE_LINKS = re.compile(r"\s*Link: \S.*")
"""What text browsers write above a page of what its head links to, `Link: Contents Up Index`."""
LAST_OF_SENTENCE = re.compile(r"[.!?:;。！？：；]$")
SHORT_LABEL = re.compile(r"\s*[\w-]{1,30}(?: \(\w{1,30}\))?:(?:\s|$)")
BEHIND_TERM = re.compile(r"(?<=\S) {2,}(?P<dash>[-–—]\s+)?(?=\S)")
"""Between a term and what is said of it, in a column of its own."""
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
        self._is_sentence = is_sentence
        self._measures = TextMeasures.of(lines)
        self._hyphens = CutWords(lines)
        paragraphs = in_paragraphs(lines)
        self._is_browsed = titled and is_browsed(paragraphs)
        if self._is_browsed and len(paragraphs[0]) == 1 and PAGE_LINKS.fullmatch(paragraphs[0][0]):
            del paragraphs[0]
        begun = Counter(one[0].strip() for one in paragraphs if len(one) > 1 and not is_overlined(one))
        self._separators = {line for line, count in begun.items() if count > 1 and RULE.match(line)}
        self._paragraphs = self._parted(paragraphs)
        self._contents, self._listed = read_contents(self._paragraphs)
        self._headings = TextHeadings(lines, self._paragraphs, self._measures, bold=bold, listed=self._listed)

    def html(self) -> str:
        """Write everything as HTML, a table of contents as a list below its heading."""
        begin, end = self._contents.start, self._contents.stop
        if begin == end:
            return self._written(self._paragraphs)
        before, level = self._written(self._paragraphs[:begin]), self._headings.level
        heading = self.heading(self._paragraphs[begin][0].strip().rstrip(":"), style="contents")
        self._headings.level = level
        entries = "".join(f"<li>{escape(said)}</li>" for said in self._listed.values())
        return "\n".join((before, heading, f"<ul>{entries}</ul>", self._written(self._paragraphs[end:], begins=False)))

    def part(self, lines: Sequence[str], *, headings: bool = True, margin: int | None = None) -> str:
        """Write some of the lines: how wide they are broken, how far they are indented and the levels of headings are those of the text.

        `margin`: how far text that is no example is indented in these lines, where that is not as in the whole text.
        """
        return self._written(self._parted(in_paragraphs(lines)), headings=headings, margin=margin)

    def heading(self, text: str, *, style: str) -> str:
        """Write a heading that was recognised elsewhere; those of one style have one level."""
        return self._headings.html(Heading(style, text, 1))

    def _parted(self, paragraphs: Sequence[list[str]]) -> list[list[str]]:
        return [part for one in paragraphs for part in parted_at(one, self._separators)]

    def _written(
        self, paragraphs: Sequence[list[str]], *, headings: bool = True, begins: bool = True, margin: int | None = None
    ) -> str:
        usual = self._measures.usual if margin is None else margin
        parts: list[str] = []
        numbers = ["", *(number_of(group[0]) if len(group) == 1 else "" for group in paragraphs), ""]
        for index, paragraph in enumerate(paragraphs):
            before, own, after = numbers[index : index + 3]
            alone = before in ("", number_above(own)) and (not after or number_above(after) == own)
            is_announced = index > 0 and paragraphs[index - 1][-1].endswith(":")
            below = indent_of(paragraphs[index + 1][0]) if index + 1 < len(paragraphs) else 0
            is_browsed = headings and self._is_browsed and not is_announced
            if is_browsed and (heading := self._headings.read_browsed(paragraph, below=below)):
                parts.append(self._headings.html(heading))
                continue
            if (
                headings
                and self._headings.asks
                and index + 1 < len(paragraphs)
                and asks(paragraph, paragraphs[index + 1])
            ):
                asked = " ".join(map(str.strip, paragraph))
                parts.append(self._headings.html(Heading("question", asked, len(paragraph))))
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
                    heading := self._headings.read(
                        rest, first=self._titled and begins and index == 0 and rest == paragraph, alone=alone
                    )
                )
            ):
                parts.append(self._headings.html(heading))
                rest = rest[heading.lines :]
            # What follows its heading without a blank line is its text, however far it is indented.
            parts += self._body(rest, margin=indent_of(rest[0]) if 0 < len(rest) < len(paragraph) else usual)
        return "\n".join(parts)

    def _body(self, lines: Sequence[str], *, margin: int, depth: int = 0) -> Iterator[str]:
        """Write lines without a blank one among them; `margin` is how far text that is no example is indented there."""
        start = 0
        while start < len(lines):
            if depth < DEEPEST_LIST and marker_of(lines[start]):
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
            inner = "\n".join(self._body(lines[terms:], margin=indent_of(lines[terms]), depth=depth + 1))
            named = "".join(f"<dt>{escape(_term(line))}</dt>" for line in lines[:terms])
            yield f"<dl>{named}<dd>{inner}</dd></dl>"
            return
        alone = len(lines) == 1 and indent_of(lines[0]) <= margin + 1
        for is_text, runs in groupby(
            self._runs(lines, margin=margin), key=lambda run: alone or self._is_text(run, margin=margin)
        ):
            if is_text:
                yield from (f"<p>{escape(self._hyphens.joined(run))}</p>" for run in runs)
            else:
                yield _listing([line for run in runs for line in run])

    def _list(self, lines: Sequence[str], *, depth: int) -> Iterator[str]:
        """Write the items of a list: one begins where a marker stands as far left as the first one, and has what is indented more."""
        left = indent_of(lines[0])
        starts = [i for i, line in enumerate(lines) if indent_of(line) <= left]
        for start, after in pairwise([*starts, len(lines)]):
            marker = marker_of(lines[start])
            text = lines[start].strip()[len(marker[0]) if marker else 0 :]
            inside = " " * (left + len(marker[0]) if marker else left) + text
            tag = f'ol start="{marker[1]}"' if marker and marker.re is NUMBER else "ul"
            item = _without_column([inside, *lines[start + 1 : after]])
            inner = "\n".join(self._body(item, margin=indent_of(inside), depth=depth + 1))
            yield f"<{tag}><li>{inner}</li></{tag.partition(' ')[0]}>"

    def _runs(self, lines: Sequence[str], *, margin: int) -> Iterator[list[str]]:
        """Part lines where one was ended though the next word would have fitted, and at lines with columns."""
        run = [lines[0]]
        for line, after in pairwise(lines):
            columns = self._measures.has_columns(line) or self._measures.has_columns(after)
            goes_on = self._measures.is_full(line, after) or self._goes_on(line, after, margin=margin)
            if not columns and goes_on and (len(run) == 1 or indent_of(after) == indent_of(line)):
                run.append(after)
            else:
                yield run
                run = [after]
        yield run

    def _definitions(self, lines: Sequence[str]) -> list[Sequence[str]]:
        """Part lines that are several definitions without blank lines between them, each said in sentences; nothing for any others."""
        left = indent_of(lines[0])
        starts = [n for n in range(1, len(lines)) if indent_of(lines[n]) <= left < indent_of(lines[n - 1])]
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
        left = indent_of(lines[0])
        terms = next((n for n, line in enumerate(lines) if indent_of(line) != left), len(lines))
        if terms > 1 and not all(OPTION.match(line) or DEFINED.match(line) for line in lines[:terms]):
            return 0
        if terms == len(lines) or self._measures.is_full(lines[terms - 1], lines[terms]):
            return 0
        return terms if all(indent_of(line) > left + 1 for line in lines[terms:]) else 0

    def _goes_on(self, line: str, after: str, *, margin: int) -> bool:
        """Whether a line that is not full is part of a sentence that the next line goes on with."""
        begun = after.lstrip()
        return (
            begun[:1].islower()
            and not SHORT_LABEL.match(begun)
            and indent_of(line) <= margin + 1
            and width_of(line) >= SHORT_SHARE / 2 * self._measures.width
            and not LAST_OF_SENTENCE.search(line)
            and self._is_sentence(line)
        )

    def _is_text(self, run: Sequence[str], *, margin: int) -> bool:
        """Whether a run is a text: several lines, or one that ends as a sentence does."""
        if len(run) > 1:
            return True
        ends = SENTENCE_END.search(run[0]) and not self._measures.has_columns(run[0])
        return bool(ends) or (indent_of(run[0]) <= margin + 1 and self._is_sentence(run[0]))


def _without_column(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of an item whose term stands in a column of its own, before what is said of it, as those of one text.

    `- delay    how long it` above `waits`, which stands below `how`. Of any other item they stay as they are.
    """
    indents = {indent_of(line) for line in lines[1:]}
    for gap in BEHIND_TERM.finditer(lines[0], indent_of(lines[0])):
        if indents == {gap.end()}:
            margin = " " * indent_of(lines[0])
            return [
                f"{lines[0][: gap.start()]} {gap['dash'] or ''}{lines[0][gap.end() :]}",
                *(margin + line.lstrip() for line in lines[1:]),
            ]
    return lines


def _listing(lines: Sequence[str]) -> str:
    return f"<pre>{escape(dedent(chr(10).join(lines)))}</pre>"


def _term(line: str) -> str:
    return DEFINED.sub(r"\1 \2", line).strip()


def _end_of_list(lines: Sequence[str], start: int) -> int:
    """The line behind a list: the first one that is no more indented than its first item and begins none."""
    left = indent_of(lines[start])
    after = range(start + 1, len(lines))
    return next((i for i in after if indent_of(lines[i]) <= left and not marker_of(lines[i])), len(lines))


def _announced_list(lines: Sequence[str], start: int) -> int:
    """Where a list begins below a line that ends in a colon."""
    after = range(start + 1, len(lines))
    return next((i for i in after if lines[i - 1].endswith(":") and marker_of(lines[i])), len(lines))
