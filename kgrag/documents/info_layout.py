"""Nodes of Info manuals to HTML, by how makeinfo lays out what Texinfo has.

makeinfo fills text up to one column, underlines headings as wide as they are, and indents what stands in an item of a list, in a
definition, in an example or in a quotation by five columns more than what is around it: there, and nowhere else, is a text, a list or a
listing of its own. So nothing is guessed but whether what is indented is an example or a quotation, and whether a line above it is its
term or leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from textwrap import dedent

from kgrag.documents.drawn_tables import drawn_table, parted_at_tables
from kgrag.documents.info_tables import columns_table, end_of_columns
from kgrag.text.sentences import IN_COLUMNS
from kgrag.text.words import LEADING_ON

__all__ = ["InfoLayout"]

INNER = 5
"""Columns by which what stands in something is indented."""
RULE = re.compile(r"([*=.-])\1*")
"""What is below a heading."""
FOOTNOTES = re.compile(r"\s*-{10} \w+ -{10}")
"""The line above the notes of a node."""
BULLET = re.compile(r" {3}[^\w\s(\[{‘'`\"“] (?=\S)")
NUMBER = re.compile(r"(?: {2}(?P<letter>[A-Za-z])| {2}(?P<one>\d)| (?P<two>\d\d)|(?P<three>\d{3}))\. (?=\S)")
DEFINED = re.compile(r" -- ([^\s:][^:]{0,60})?: (\S.*)")
"""What Texinfo defines: its kind (or none), its name and what it is given, ` -- Command: print [NUMBER]`."""
QUOTED = re.compile(r"[‘'`\"“-].*|([*_]).*\1|<.*>")
"""A term in a font of its own, or an option."""
PLAIN_WORD = re.compile(r"[(\[‘'`\"“*_]*[^\W\d_]+(?:[-'’][^\W\d_]+)*[*_]?[.,;:!?)\]’'\"”*_]*")
PLAIN_SHARE, FEWEST_WORDS = 0.6, 3
"""Of the words of a text that is indented, and of a line of it that stands alone."""
NARROW_PLAIN_SHARE, NARROW_SHARE = 0.8, 0.7
"""Of the words of a text in a column of its own; of its longest line each but the last one."""
SENTENCE_BEGIN = re.compile(r"[(\[‘'`\"“*_]*[^\W_a-z]")
PROGRAM_BEGIN = re.compile(r"[#;%/>$|{}<@.]")
SENTENCE_END = re.compile(r"[.!?:][)\]’'\"”*_]*$")
LEADS_ON = re.compile(r"[.,:;!?]$")
FILL_COLUMN = 72
"""Up to which makeinfo fills text where it is not told otherwise."""
WIDTH_QUANTILE, FEWEST_LINES = 0.9, 20
LONGER = 3
"""Characters by which lines of text may be longer than nine tenths of them; other lines may be as long as they like."""
FILLED_SHARE = 0.5
"""Of the lines of a paragraph but its last: those after which the next word did not fit. Others were ended by the author."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines that are one thing."""

    begin: int
    end: int
    html: str
    """Empty where they are to stand as they do."""
    defines: bool = False
    """Whether it is a definition, in a table of them."""


class InfoLayout:
    """How the nodes of one file are laid out. `nodes`: their lines, without menus, in spaces alone, none at their ends."""

    def __init__(self, nodes: Sequence[Sequence[str]]) -> None:
        # Lines of a paragraph but its last, which is ended by its sentence.
        widths = sorted(
            len(line)
            for lines in nodes
            for line, after in pairwise(lines)
            if line and after and _indent(after) == 0 and not RULE.fullmatch(after)
        )
        is_known = len(widths) >= FEWEST_LINES
        longest = widths[int(WIDTH_QUANTILE * (len(widths) - 1))] if is_known else FILL_COLUMN
        self._width = min(longest, FILL_COLUMN)
        self._longer = abs(longest - FILL_COLUMN) + LONGER

    def html(self, lines: Sequence[str], *, heading: Callable[[str, str], str]) -> str:
        """Write a node. `heading`: what it is asked for a title and what it is underlined with is written in its place."""
        parts: list[str] = []
        begun = at = 0
        while at + 1 < len(lines):
            if _is_heading(lines, at):
                parts += [*self._blocks(lines[begun:at], width=self._width), heading(lines[at], lines[at + 1][0])]
                begun = at = at + 2
            else:
                at += 1
        return "\n".join((*parts, *self._blocks(lines[begun:], width=self._width)))

    def _blocks(self, lines: Sequence[str], *, width: int) -> Iterator[str]:
        """Write what stands side by side; `width`: of the lines, which begin where the text around them does."""
        if width <= INNER:  # too deep for a text
            yield from _as_they_stand(lines)
            return
        for is_literal, parts in groupby(self._parts(lines, width=width), key=lambda part: not part.html):
            run = list(parts)
            if is_literal:
                yield from _as_they_stand(lines[run[0].begin : run[-1].end])
            else:
                yield from (part.html for part in run)

    def _parts(self, lines: Sequence[str], *, width: int) -> Iterator[_Part]:
        at, before = 0, _Part(0, 0, " ")
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
                continue
            if marker := BULLET.match(line) or NUMBER.match(line):
                end = _end_of_inner(lines, at + 1)
                part = _Part(at, end, self._item(marker, lines[at:end], width=width))
            elif DEFINED.match(line):
                end, written = self._defined(lines, at, width=width)
                part = _Part(at, end, written)
            elif table := self._table(lines, at):
                part = table
                end = table.end
            elif _indent(line) >= INNER:
                end = _end_of_inner(lines, at)
                begun = at + self._end_of_quotation(lines[at:end], width=width)
                if begun > at:
                    inside = [line[INNER:] for line in lines[at:begun]]
                    yield _Part(at, begun, "\n".join(self._blocks(inside, width=width - INNER)) or " ")
                part = _Part(begun, end, "") if begun < end else _Part(at, end, " ")
            else:
                end = self._end_above_terms(lines, at, _end_while(_goes_on, lines, at + 1), width=width)
                if self._are_terms(lines, at, end, width=width, beside=before.defines):
                    begin, end = end, _end_of_inner(lines, end)
                    html = self._definition(lines[at:begin], lines[begin:end], width=width)
                    part = _Part(at, end, html, defines=True)
                else:
                    part = _Part(at, end, self._paragraph(lines[at:end], width=width, below_listing=not before.html))
            yield part
            at, before = end, part

    def _table(self, lines: Sequence[str], at: int) -> _Part | None:
        if at and lines[at - 1].strip():
            return None
        end = end_of_columns(lines, at)
        table = columns_table(lines[at:end])
        return _Part(at, end, table) if table else None

    def _item(self, marker: re.Match[str], lines: Sequence[str], *, width: int) -> str:
        numbers = marker.groupdict()
        number = numbers.get("one") or numbers.get("two") or numbers.get("three")
        tag = f'ol start="{number}"' if number else "ul"
        letter = f"{numbers['letter']}. " if numbers.get("letter") else ""
        # A letter, which HTML has no marker for, stands in the item.
        inside = [letter + lines[0][marker.end() :], *(line[INNER:] for line in lines[1:])]
        inner = "\n".join(self._blocks(inside, width=width - INNER))
        return f"<{tag}><li>{inner}</li></{tag.partition(' ')[0]}>"

    def _defined(self, lines: Sequence[str], at: int, *, width: int) -> tuple[int, str]:
        """Return where what Texinfo defines ends, and it with what is said of it."""
        terms: list[str] = []
        while at < len(lines) and (named := DEFINED.match(lines[at])):
            # Arguments go on in lines that are indented twice.
            end = _end_while(lambda line: _indent(line) >= 2 * INNER, lines, at + 1)
            terms.append(" ".join([named[1] or "", named[2], *map(str.strip, lines[at + 1 : end])]))
            at = end
        end = _end_of_inner(lines, at)
        return end, self._definition(terms, lines[at:end], width=width)

    def _definition(self, terms: Sequence[str], said: Sequence[str], *, width: int) -> str:
        named = "".join(f"<dt>{escape(term.strip())}</dt>" for term in terms)
        inner = "\n".join(self._blocks([line[INNER:] for line in said], width=width - INNER))
        return f"<dl>{named}<dd>{inner}</dd></dl>"

    def _end_above_terms(self, lines: Sequence[str], at: int, end: int, *, width: int) -> int:
        """Where a paragraph ends: above quoted terms that stand below what announces them without a blank line."""
        begun = end
        while begun > at + 1 and QUOTED.fullmatch(lines[begun - 1]):
            begun -= 1
        before = lines[begun - 1]
        if (
            begun == end
            or QUOTED.fullmatch(before)
            or not self._are_terms(lines, begun, end, width=width, beside=False)
        ):
            return end
        is_ended = SENTENCE_END.search(before) or not self._is_filled(before, lines[begun], width=width)
        return begun if is_ended else end

    def _are_terms(self, lines: Sequence[str], at: int, end: int, *, width: int, beside: bool) -> bool:
        """Whether lines are terms of a definition that stands below them; `beside`: so are those before."""
        begun = _end_while(lambda line: not line.strip(), lines, end)
        terms, apart = lines[at:end], begun - end
        if begun == len(lines) or apart > 1 or _indent(lines[begun]) < INNER or any(map(_indent, terms)):
            return False
        if any(map(IN_COLUMNS.search, terms)) or any(self._is_filled(*pair, width=width) for pair in pairwise(terms)):
            return False
        below = lines[begun : _end_while(lambda line: _indent(line) >= INNER, lines, begun)]
        first = [line[INNER:] for line in below]
        first = first[: _end_while(_goes_on, first, 1)]
        is_said = self._is_said(first, width=width - INNER) or bool(BULLET.match(first[0]) or NUMBER.match(first[0]))
        is_quoted = all(map(QUOTED.fullmatch, terms))
        if len(terms) > 1 and not is_quoted and any(map(SENTENCE_END.search, terms)):
            return False
        last = terms[-1]
        if apart:
            return is_said and not LEADS_ON.search(last) and (is_quoted or beside or not terms[0][0].islower())
        leads = LEADS_ON.search(last) is not None or last.split()[-1].lower() in LEADING_ON
        # An example in a definition without words of its own is indented twice.
        is_twice = _indent(first[0]) >= INNER
        is_name = is_quoted or beside or (len(terms) == 1 and last[0].isupper())
        return is_said or (not leads and (is_twice or is_name))

    def _end_of_quotation(self, lines: Sequence[str], *, width: int) -> int:
        """How many lines of what is indented are a quotation; what follows is an example, with its blank lines."""
        inside = [line[INNER:] for line in lines]
        at, has_text = 0, False
        while at < len(inside):
            end = _end_while(str.strip, inside, at)
            if end > at and _indent(inside[at]) < INNER:
                below = _end_while(_goes_on, inside, at)
                is_list = below == at or (
                    all(map(QUOTED.fullmatch, inside[at:below]))
                    and self._are_terms(inside, at, below, width=width - INNER, beside=False)
                )
                if not is_list and not self._is_said(inside[at:end], width=width - INNER):
                    break
                has_text = True
            at = max(end, at + 1)
        return at if has_text else 0

    def _paragraph(self, lines: Sequence[str], *, width: int, below_listing: bool) -> str:
        """Write lines that are no more indented than what is around them; nothing where they are a listing, or the next line of one."""
        runs = self._runs(lines, width=width)
        is_plain = _share_of_plain(lines) >= PLAIN_SHARE
        most_ended = 0 if PROGRAM_BEGIN.match(lines[0]) else (1 - FILLED_SHARE) * (len(lines) - 1)
        is_filled = len(runs) - 1 <= most_ended
        if len(lines) == 1:
            is_text = not below_listing or (is_plain and bool(SENTENCE_END.search(lines[0])))
        else:  # lines that their author ended may be sentences
            is_text = is_filled or (is_plain and any(SENTENCE_END.search(line) for line in lines))
        columns = sum(IN_COLUMNS.search(line.strip()) is not None for line in lines)
        if not is_text or (len(lines) > 1 and 2 * columns >= len(lines)):
            return ""
        written = [escape("\n".join(map(str.strip, run))) for run in runs]
        return f"<p>{'<br>'.join(written)}</p>" if is_filled else "".join(f"<p>{line}</p>" for line in written)

    def _runs(self, lines: Sequence[str], *, width: int) -> list[list[str]]:
        """Part lines where one was ended though the next word would have fitted."""
        if _is_narrow_text(lines):
            return [list(lines)]
        runs = [[lines[0]]]
        for line, after in pairwise(lines):
            if self._is_filled(line, after, width=width):
                runs[-1].append(after)
            else:
                runs.append([after])
        return runs

    def _is_said(self, lines: Sequence[str], *, width: int) -> bool:
        """Whether lines that are indented are a text: plain words, all lines filled; one line is a sentence."""
        if _share_of_plain(lines) < PLAIN_SHARE or PROGRAM_BEGIN.match(lines[0]):
            return False
        if len(lines) == 1:
            is_sentence = SENTENCE_BEGIN.match(lines[0].strip()) and SENTENCE_END.search(lines[0])
            return len(lines[0].split()) >= FEWEST_WORDS and is_sentence is not None
        return all(self._is_filled(*pair, width=width) for pair in pairwise(lines)) or _is_narrow_text(lines)

    def _is_filled(self, line: str, after: str, *, width: int) -> bool:
        """Whether the first word of the next line would not have fitted, in a line that is no longer than text is."""
        is_long = len(line) > width + self._longer and " " in line.strip()
        return not is_long and len(line) + 1 + len(after.split()[0]) > width


def _is_heading(lines: Sequence[str], at: int) -> bool:
    title, rule = lines[at : at + 2]
    is_apart = at == 0 or lines[at - 1][:1] in ("", " ")
    return (
        is_apart
        and title[:1] not in ("", " ")
        and RULE.fullmatch(rule) is not None
        and len(title) == len(rule)
        and not IN_COLUMNS.search(title)
    )


def _end_while(holds: Callable[[str], object], lines: Sequence[str], at: int) -> int:
    """Where the lines end, from `at` on, of which something holds."""
    return next((i for i in range(at, len(lines)) if not holds(lines[i])), len(lines))


def _share_of_plain(lines: Sequence[str]) -> float:
    words = " ".join(lines).split()
    return sum(PLAIN_WORD.fullmatch(word) is not None for word in words) / len(words)


def _is_narrow_text(lines: Sequence[str]) -> bool:
    """Whether lines are sentences in a column of their own, which other commands than makeinfo's fill."""
    longest = max(map(len, lines))
    ended = sum(SENTENCE_END.search(line) is not None for line in lines[:-1])
    return (
        2 * ended <= len(lines) - 1
        and _share_of_plain(lines) >= NARROW_PLAIN_SHARE
        and all(len(line) >= NARROW_SHARE * longest for line in lines[:-1])
        and SENTENCE_BEGIN.match(lines[0]) is not None
        and SENTENCE_END.search(lines[-1]) is not None
    )


def _goes_on(line: str) -> bool:
    return (
        bool(line.strip())
        and _indent(line) < INNER
        and not (BULLET.match(line) or NUMBER.match(line) or DEFINED.match(line))
    )


def _end_of_inner(lines: Sequence[str], at: int) -> int:
    """Where lines end that are indented from `at` on."""
    end = next((i for i in range(at, len(lines)) if lines[i].strip() and _indent(lines[i]) < INNER), len(lines))
    while end > at and not lines[end - 1].strip():
        end -= 1
    return end


def _as_they_stand(lines: Sequence[str]) -> Iterator[str]:
    for part in parted_at_tables(lines):
        listed = "\n".join(line.rstrip() for line in part)
        if table := drawn_table(part):
            yield table
        elif listed.strip():
            yield f"<pre>{escape(dedent(listed).strip(chr(10)))}</pre>"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
