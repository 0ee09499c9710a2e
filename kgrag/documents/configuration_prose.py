"""Which configuration files are manuals: those whose comments are prose."""

from __future__ import annotations

import re
from collections import Counter
from unicodedata import east_asian_width

__all__ = ["NAMED_CONFIGURATION", "PLAIN_WORD", "comment_marks", "commented", "has_prose", "is_other_data", "is_prose"]

NAMED_CONFIGURATION = re.compile(
    r"(?i:(?!\.).+\.(?:conf|cnf|cfg|cf|ini|properties)(?:[.-](?:documented|defaults?|dist|examples?\d*|samples?|in|template|tmpl"
    r"|production|development|recommended|full|cli)){0,2}|(?!\.).+_config|sudoers|(?!\.)\w+rc)"
)
"""What configuration files are called: `smb.conf`, `squid.conf.documented`, `php.ini-production`, `sshd_config`, `torrc`."""
COMMENT = re.compile(r"\s*(?:(#+|;+|//+|dnl\b)|!(?=\s))")
"""What a comment begins with; `!` before a word negates or includes."""
COMMENT_SHARE = 0.1
"""Of the lines that begin with a mark: what fewer begin with is no mark of comments, but the beginning of a setting."""
PLAIN_WORD = re.compile(r"[(\"'“‘`*<]*[^\W\d_]+(?:['’/-][^\W\d_]+)*[)\"'”’`*>]*[.,;:!?]*[)\"'”’]*")
WORD = re.compile(r"[^\W\d_]+")
PROSE_WORDS = 5
"""In a line of prose, at least. Two letters of a script without spaces are one."""
PROSE_SHARE = 0.6
"""Of what stands between spaces in such a line, that is a word, with punctuation at most."""
LEAST_PROSE = 8
"""Lines of prose in a configuration that is read."""
LEAST_PROSE_SHARE = 0.25
"""Their share of all its words."""
LONGEST_LINE = 2000
"""Characters of a line that is looked at; what is longer is data."""
LEGAL = re.compile(r"copyright|licen[cs]e|spdx-|all rights reserved|without (?:any )?warranty", re.IGNORECASE)
"""In a paragraph above the first setting: what is said there is nothing about settings."""
OTHER_DATA = re.compile(r"<[?!a-z]|\{|\[\s*[\[{\"]|---(?:\s|$)|%YAML|#!|\\documentclass")
"""How a file begins that is XML, JSON, YAML or a script."""


def comment_marks(lines: list[str]) -> frozenset[str]:
    """Return what comments of a file begin with, of `# ; // ! dnl`."""
    marks = Counter(mark for line in lines if (mark := _mark(line)))
    return frozenset(mark for mark, count in marks.items() if count >= COMMENT_SHARE * marks.total())


def commented(line: str, marks: frozenset[str]) -> tuple[str, str] | None:
    """Return the mark of a comment as it is written, `##`, and what stands behind it; None for what is no comment."""
    found = COMMENT.match(line[:LONGEST_LINE])
    if found is None or _mark(line) not in marks:
        return None
    return found[0].strip(), line[found.end() :]


def _mark(line: str) -> str:
    """Return the mark that a line begins with, once."""
    found = COMMENT.match(line[:LONGEST_LINE])
    if found is None:
        return ""
    written = found[0].strip()
    return written if written == "dnl" else "//" if written[0] == "/" else written[0]


def is_prose(text: str) -> bool:
    """Whether a line is, or is part of, a sentence."""
    return bool(_prose_words(text))


def _prose_words(text: str) -> int:
    """Return how many words a line of prose has; 0 for what is none."""
    if len(text) > LONGEST_LINE:
        return 0
    between_spaces = text.split()
    words = len(WORD.findall(text))
    if not text.isascii():
        wide = sum(east_asian_width(letter) in "WF" for letter in text)
        if wide >= 2 * PROSE_WORDS:
            return words + wide // 2
    if words < PROSE_WORDS:
        return 0
    plain = sum(PLAIN_WORD.fullmatch(one) is not None for one in between_spaces)
    return words if plain >= PROSE_SHARE * len(between_spaces) else 0


def is_other_data(text: str) -> bool:
    """Whether a file is XML, JSON, YAML or a script, or no text at all, whatever it is called."""
    if "\0" in text:
        return True
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if OTHER_DATA.match(first):
        return True
    marks = comment_marks(lines := text.splitlines())
    return bool(OTHER_DATA.match(next((x.strip() for x in lines if x.strip() and not commented(x, marks)), "")))


def has_prose(text: str) -> bool:
    """Whether comments of a configuration document it."""
    lines = text.splitlines()
    marks = comment_marks(lines)
    prose = words = 0
    paragraph: list[int] = []
    is_legal, at_the_beginning = False, True

    for line in [*lines, ""]:
        comment = commented(line, marks)
        if comment and comment[1].strip():
            paragraph.append(_prose_words(comment[1]))
            is_legal = is_legal or bool(at_the_beginning and LEGAL.search(comment[1][:LONGEST_LINE]))
            continue
        if not is_legal:
            prose += sum(map(bool, paragraph))
            words += sum(paragraph)
        paragraph, is_legal = [], False
        at_the_beginning = at_the_beginning and (comment is not None or not line.strip())
    return prose >= LEAST_PROSE and words >= LEAST_PROSE_SHARE * sum(len(WORD.findall(line)) for line in lines)
