"""The citations of an answer that a model wrote, checked against the evidence that it was shown.

The prompt asks for `[passage 2]`; `[2]`, `[1][3]`, `[1, 3]`, `[1-3]`, `[^2]`, `[[2]]`, `(passage 2)`, `[doc 2, page 4]`,
`[passage 2: its title]`, `[2](https://...)` and `【2】` are read as well, also with full-width brackets and digits (`［２］`). A number in
brackets right behind an identifier (`buf[64]`, `CTRL[2]`) or in a code span is an index of the document's own and stays as it is, and so
do several with a zero (`[0, 5]`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.text.cited_numbers import cited_numbers
from kgrag.text.quantities import quantities
from kgrag.text.sentences import sentences
from kgrag.text.words import stems
from kgrag.types import Citation, Evidence

__all__ = ["Cited", "citation_marks", "cite", "numbers_of_mark", "quote_for", "without_marks"]

_GAP = r"\s{0,3}"
_PASSAGE = rf"(?:(?:see|siehe|voir)\s)?(?:passages?|sources?|excerpts?|quellen?|pasajes?|fuentes?){_GAP}(?:[.:#]|no\.|id\b)?{_GAP}"
_NAMED = (
    rf"(?:{_PASSAGE}|(?:documents?|docs?|references?|refs?|snippets?|chunks?|段落|资料|資料|来源|來源|出典|文書|文档)"
    rf"{_GAP}(?:[.:#：]|no\.|id\b)?{_GAP})"
)
_NUMBERS = rf"\d{{1,4}}(?:{_GAP}(?:[,;–－，、；～〜-]|and|und|et|y|&){_GAP}(?:{_NAMED})?\d{{1,4}})*"
_PLACE = rf"(?:{_GAP}[,;:]?{_GAP}(?:pp?\.|pages?|section|sec\.|§|line){_GAP}[^\[\]()\n]{{1,60}})?"
"""`[passage 2, page 4]`: only the passage counts, its page is known."""
_TITLED = rf"{_NAMED}(?P<titled>{_NUMBERS}){_GAP}[:,–-][^\[\]\n]{{1,120}}"
MARK = re.compile(
    rf"[ \t]?(?:[\[［]{{1,2}}\^?{_GAP}(?:(?:{_NAMED})?(?P<square>{_NUMBERS}){_PLACE}|{_TITLED}){_GAP}[\]］]{{1,2}}"
    rf"(?:\((?:#|https?:)[^()\s]{{0,300}}\))?"
    rf"|\({_GAP}{_PASSAGE}(?P<named>{_NUMBERS}){_PLACE}{_GAP}\)"
    rf"|【{_GAP}(?:{_NAMED})?(?P<round>{_NUMBERS}){_GAP}(?:†[^】]*)?】)",
    re.IGNORECASE,
)
CODE_SPAN = re.compile(r"`[^`\n]+`")
IDENTIFIER_CHARACTER = re.compile(r"[A-Za-z0-9_]")
STATEMENT_CHARACTERS = 4000
"""What a mark stands for is looked for in so many characters before it."""
LONE_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*$")


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer's text in which every citation is written ` [1]`, its citations, and the numbers that meant no passage."""

    text: str
    citations: tuple[Citation, ...]
    unknown: tuple[int, ...]


def cite(text: str, evidence: Sequence[Evidence]) -> Cited:
    """Read the marks of a text: a number from 1 is a place in `evidence`; any other is taken out and reported."""
    statements: dict[int, list[str]] = {}
    unknown: list[int] = []
    kept: list[str] = []
    written = 0
    marks = citation_marks(text)
    for mark in marks:
        numbers = numbers_of_mark(mark)
        known = [number for number in numbers if 1 <= number <= len(evidence)]
        unknown.extend(number for number in numbers if number not in known)
        for number in known:
            statements.setdefault(number, []).append(_statement(text, mark.start(), marks))
        before = text[written : mark.start()]
        written = mark.end()
        space = " " if known and (before or kept)[-1:] not in ("", [], "\n") and not _follows_mark(before, kept) else ""
        kept += [before, *([space + "".join(f"[{number}]" for number in known)] if known else [])]
    cleaned = ("".join(kept) + text[written:]).strip()
    citations = tuple(
        Citation.of(evidence[number - 1], number=number, quote=quote_for(" ".join(said), evidence[number - 1].text))
        for number, said in sorted(statements.items())
    )
    return Cited(cleaned, citations, tuple(dict.fromkeys(unknown)))


def without_marks(text: str) -> str:
    """Take every citation mark out of a text: an abstention cites nothing."""
    for mark in reversed(citation_marks(text)):
        text = text[: mark.start()] + text[mark.end() :]
    return text.strip()


def numbers_of_mark(mark: re.Match[str]) -> list[int]:
    """Read what stands between the brackets of a mark, ranges written out."""
    return cited_numbers(mark["square"] or mark["titled"] or mark["named"] or mark["round"])


def citation_marks(text: str) -> list[re.Match[str]]:
    """Find the citation marks, in order: not the indices of a document's own."""
    code = [span.span() for span in CODE_SPAN.finditer(text)]
    found: list[re.Match[str]] = []
    index_end = -1
    for match in MARK.finditer(text):
        bare = match[0].lstrip().startswith("[") and match["square"] and match[0].lstrip()[1:2].isdigit()
        attached = match[0][0] == "[" and (match.start() == index_end or _is_attached(text, match.start()))
        numbers = numbers_of_mark(match)
        is_index = bare and (attached or (0 in numbers and len(numbers) > 1))
        if is_index or any(start < match.start() < end for start, end in code):
            index_end = match.end()
        else:
            found.append(match)
    return found


def _is_attached(text: str, start: int) -> bool:
    """Whether what stands before is an identifier: a word, but no lone number and no unit behind a number (`3.3 V[1]`)."""
    before = text[max(0, start - 40) : start]
    if not IDENTIFIER_CHARACTER.match(before[-1:]) or LONE_NUMBER.search(before):
        return False
    measured = quantities(before)
    return not (measured and measured[-1].end == len(before))


def _follows_mark(before: str, kept: Sequence[str]) -> bool:
    return not before and bool(kept) and kept[-1].endswith("]")


def _statement(text: str, end: int, marks: Sequence[re.Match[str]]) -> str:
    """Return the sentence that ends where a mark stands; of a long line no more is read than it can be in."""
    start = max(text.rfind("\n", 0, end) + 1, end - STATEMENT_CHARACTERS)
    line = text[start:end]
    first, after = (bisect_left(marks, place, key=lambda mark: mark.start()) for place in (start, end))
    for mark in reversed(marks[first:after]):
        line = line[: mark.start() - start] + line[mark.end() - start :]
    found = sentences(line)
    return found[-1].text if found else line


def quote_for(statement: str, text: str) -> str:
    """Return the sentence or table row of a passage that shares most words with what it supports; nothing where none shares any."""
    wanted = {stem for _, stem in stems(statement)}
    best, most = "", 0.0
    for sentence in sentences(text):
        have = {stem for _, stem in stems(sentence.text)}
        shared = len(wanted & have)
        if shared and (score := shared / (len(wanted | have) ** 0.5)) > most:
            best, most = sentence.text, score
    return best
