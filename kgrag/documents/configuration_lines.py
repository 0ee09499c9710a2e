"""What the lines of a configuration file are: comments, settings, settings that were commented out, titles.

A file documents its settings in one way throughout, so it is asked: `# ` before sentences and `#` before settings, `# ` and `;`, `##` and
`#`. Where both begin alike, a setting is told by its form and by its place at the end of what is said about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from kgrag.documents.configuration_prose import LONGEST_LINE, comment_marks, commented, is_prose

__all__ = ["ANNOUNCES", "Kind", "Line", "lines_of"]

Kind = Literal["blank", "empty", "rule", "title", "text", "setting", "more", "section"]
RULE = re.compile(r"([-=~^*#\"'+._:;/!%])(?: ?\1){2,}")
TITLED = re.compile(r"[-=*#~;_<>/]{2,} *(\w.*?) *[-=*#~;_<>/]{2,}|- (\w.*?) -|(\w.*?) *[-=*#~;_]{5,}")
"""A title with marks drawn on both sides, or at its end up to the margin."""
LONGEST_TITLE = 80
SECTION = re.compile(r"\[[^\[\]]{1,80}\]")
CLOSER = re.compile(r"[\])};,]+|</\w[^<>]*>|end(?:if|for|case)?|\.endif|\.else", re.IGNORECASE)
OPENER = re.compile(r"<\w[^<>]*>|.*[{(\[\\]", re.DOTALL)
TEXT_FORM_SHARE, SETTING_FORM_SHARE = 0.3, 0.2
"""Of the comments that begin in one way, so many are prose at least where sentences are written in that way, and at most where settings
are."""
NAME = re.compile(r"[A-Za-z_$][\w$.:/*-]*(?:\[[\w*]*\])?")
ASSIGNED = re.compile(r"([A-Za-z_$][\w$./*-]*(?:\[[\w*]*\])?)\s*[:+]?=\s*(.*)")
COLON = re.compile(r"([a-z_][\w-]*):(?:\s+(\S.*))?")
LABEL = re.compile(
    r"(?:defaults?|notes?|examples?|warning|see|e\.g|i\.e|usage|format|syntax|values?|options?|type|tip|hint|where|or|and)\b[^=]*",
    re.IGNORECASE,
)
"""What begins a remark rather than a setting."""
ANNOUNCES = re.compile(r"[A-Z][\w ]{2,20}:")
"""A line like `Default:`: what it is stands below."""
ODD = re.compile(r"[^\W_]+(?:[_.-]+[^\W_]+)+|[A-Z]?[a-z]+(?:[A-Z][a-z]*)+\d*|[a-z]+\d+")
"""A name that is no word of a sentence: `max_clients`, `tls-port`, `MaxQueue`."""
END = re.compile(r"[.:;!?)\"'。：]$")
SENTENCE_END = re.compile(r"[.:!?。：]$")
FEW_TOKENS, MOST_TOKENS = 4, 8
LEAST_FOR_HABIT = 5
"""Settings of one form, from which on all of a file may have it."""
WITH_SPACES = re.compile(r"[a-z]\w*(?: [\w:*]+){1,4} *=.*")
FAR = 8
"""Columns: comments that begin there go on with what is said at the end of the line above."""


@dataclass(slots=True)
class Line:
    """A line of a configuration, without marks of comments."""

    kind: Kind
    text: str = ""
    said: list[str] = field(default_factory=list)
    """Of a setting: the comment at its end, and the lines below that go on with it."""
    column: int = 0
    form: str = ""
    """Of a comment: its mark, and a space where one follows."""


def lines_of(written: str) -> list[Line]:
    """Tell what each line is. Marks of comments and lines that are drawn are all that is taken away."""
    raw = [line.expandtabs().rstrip() for line in written.splitlines()]
    marks = comment_marks(raw)
    lines = [_line(one, marks) for one in raw]
    of_settings = _forms_of_settings(lines, marks)
    for line in lines:
        if line.kind == "text" and line.form in of_settings and _may_be_setting(_without_comment(line.text, marks)[0]):
            line.kind = "setting"
    _find_sections(lines)
    habits = _habits_of(lines)
    for is_comment, group in groupby(lines, key=lambda line: line.kind in ("text", "empty")):
        if is_comment:
            _find_settings(list(group), habits)
    _find_blocks(lines)
    for line in lines:
        if line.kind == "setting":
            line.text, said = _without_comment(line.text, marks)
            line.said = [said] if said else []
    return _with_what_goes_on(lines)


def _line(raw: str, marks: frozenset[str]) -> Line:
    """Read a line by itself: of comments it is not yet known which are settings."""
    text = raw.strip()
    if not text:
        return Line("blank")
    column = len(raw) - len(raw.lstrip())
    comment = commented(raw, marks)
    if comment is None:
        return Line("section" if SECTION.fullmatch(text) else "setting", text, column=column)
    mark, behind = comment
    said = behind.strip()
    form = mark[:3] + (" " if behind.startswith(" ") else "")
    if not said:
        return Line("rule" if len(mark) > 3 else "empty", form=form, column=column)
    if len(said) <= LONGEST_LINE and (RULE.fullmatch(said) or RULE.fullmatch(text)):
        return Line("rule", form=form, column=column)
    if len(text) <= 2 * LONGEST_TITLE:
        drawn = said if len(mark) < 3 else text
        if title := TITLED.fullmatch(drawn):
            name = next(filter(None, title.groups()))
            if len(name) <= LONGEST_TITLE:
                return Line("title", name, form=form, column=column)
        if len(mark) >= 3 and mark[0] != "/" and len(said) <= LONGEST_TITLE and not SENTENCE_END.search(said):
            return Line("title", said, form=form, column=column)
    inside = behind.removeprefix(" ")
    edge = f" {mark[0]}"
    return Line(
        "text", (inside.rstrip(mark[0]).rstrip() if inside.endswith(edge) else inside), form=form, column=column
    )


def _forms_of_settings(lines: Sequence[Line], marks: frozenset[str]) -> frozenset[str]:
    """Return how comments begin that are settings, where sentences of the same file begin in another way."""
    all_: Counter[str] = Counter()
    prose: Counter[str] = Counter()
    for line in lines:
        if line.kind == "text":
            all_[line.form] += 1
            prose[line.form] += is_prose(_without_comment(line.text, marks)[0])
    if not any(prose[form] >= TEXT_FORM_SHARE * count for form, count in all_.items()):
        return frozenset()
    return frozenset(form for form, count in all_.items() if prose[form] <= SETTING_FORM_SHARE * count)


def _may_be_setting(text: str) -> bool:
    """Whether a comment that begins as settings of its file do is one."""
    words = text.split()
    assigned = ASSIGNED.match(text[:LONGEST_LINE])
    if len(text) > LONGEST_LINE or (assigned and ODD.fullmatch(assigned[1])):
        return True
    if words and ODD.fullmatch(words[0]) and not (is_prose(text) and SENTENCE_END.search(text)):
        return True
    if is_prose(text) or (SENTENCE_END.search(text) and not assigned) or LABEL.fullmatch(text):
        return False
    return len(words) < FEW_TOKENS or not all(map(str.isalpha, words))


def _find_sections(lines: Sequence[Line]) -> None:
    """Find `[names]` that were commented out, in a file whose sections are begun so."""
    if any(line.kind == "section" for line in lines):
        for line in lines:
            if line.kind in ("text", "setting") and SECTION.fullmatch(line.text.strip()):
                line.kind = "section"


@dataclass(frozen=True, slots=True)
class _Habits:
    """How a file is written."""

    margin: int
    """By how many columns comments are indented."""
    with_colons: bool
    """Whether settings are like `cache-size: 4m`."""
    with_spaces: bool
    """Whether names of settings are like `max log size`."""


def _habits_of(lines: Sequence[Line]) -> _Habits:
    indents = Counter(_indent(line.text) for line in lines if line.kind == "text" and line.text)
    with_colons = sum(line.kind in ("text", "setting") and _is_odd_with_colon(line.text) for line in lines)
    with_spaces = sum(
        line.kind == "setting" and len(line.text) <= LONGEST_LINE and WITH_SPACES.fullmatch(line.text) is not None
        for line in lines
    )
    margin = max(indents, key=lambda one: (indents[one], -one), default=0)
    return _Habits(margin, with_colons >= LEAST_FOR_HABIT, with_spaces >= LEAST_FOR_HABIT)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _find_settings(run: Sequence[Line], habits: _Habits) -> None:
    """Find settings at the end of comments that stand together, of which the others say what they are."""
    start = len(run)
    for index in range(len(run) - 1, 0, -1):
        line, above = run[index], run[index - 1]
        if line.kind == "empty":
            continue
        if ANNOUNCES.fullmatch(above.text.strip()):  # `Default:`, and below it what it is
            break
        begins = above.kind == "empty" or bool(END.search(above.text))
        after_setting = _is_setting(above.text, habits, begins=True)
        if not _is_setting(line.text, habits, begins=begins or after_setting):
            break
        start = index
    if any(line.kind == "text" for line in run[:start]):
        for line in run[start:]:
            if line.kind == "text":
                line.kind = "setting"


def _is_setting(text: str, habits: _Habits, *, begins: bool) -> bool:
    """Whether a comment has the form of a setting; `begins`: it does not go on with the line above."""
    said = text.strip()
    if not said or len(said) > LONGEST_LINE or LABEL.fullmatch(said):
        return False
    if habits.with_spaces and WITH_SPACES.fullmatch(said):
        return not is_prose(said.partition("=")[2])
    if _indent(text) > habits.margin + 1:
        return False
    if assigned := ASSIGNED.fullmatch(said):
        value = assigned[2].split()
        return not is_prose(assigned[2]) and (
            len(value) < 2
            or value[0][0] in "\"'([{"
            or (len(value) <= MOST_TOKENS and not SENTENCE_END.search(said) and sum(map(str.isalpha, value)) <= 2)
        )
    if colon := COLON.fullmatch(said):
        return habits.with_colons and not is_prose(colon[2] or "")
    words = said.split()
    if (
        not begins
        or len(words) > MOST_TOKENS
        or SENTENCE_END.search(said)
        or is_prose(said)
        or not NAME.fullmatch(words[0])
    ):
        return False
    if ODD.fullmatch(words[0]):
        return sum(map(str.isalpha, words[1:])) <= 2
    return 1 < len(words) <= FEW_TOKENS and words[0].islower()


def _is_odd_with_colon(text: str) -> bool:
    colon = COLON.fullmatch(text.strip()) if len(text) <= LONGEST_LINE else None
    return bool(colon and ODD.fullmatch(colon[1]) and not is_prose(colon[2] or ""))


def _find_blocks(lines: Sequence[Line]) -> None:
    """Find lines that belong to the setting above: those that are indented below it, up to the end of what it opens."""
    first: Line | None = None
    is_open = False
    for line in lines:
        if (first is not None and _belongs(line, first, is_open=is_open)) or (line.kind == "setting" and _closes(line)):
            line.kind = "more"
            is_open = is_open and not _closes(line)
        elif line.kind == "setting":
            first, is_open = line, bool(OPENER.fullmatch(line.text[:LONGEST_LINE].strip()))
        else:
            first, is_open = None, False


def _belongs(line: Line, first: Line, *, is_open: bool) -> bool:
    if bool(line.form) != bool(first.form):
        return False
    if line.kind == "setting":
        return is_open or _closes(line) or _depth(line) > _depth(first)
    return line.kind == "text" and is_open


def _closes(line: Line) -> bool:
    return bool(CLOSER.fullmatch(line.text.strip()[:LONGEST_TITLE]))


def _depth(line: Line) -> int:
    return line.column + _indent(line.text)


def _without_comment(text: str, marks: frozenset[str]) -> tuple[str, str]:
    """Part a setting from the comment at its end."""
    for mark in sorted(marks):
        at = -1
        while len(text) <= LONGEST_LINE and (at := text.find(f" {mark}", at + 1)) > 0:
            setting, said = text[:at].rstrip(), text[at:].strip().lstrip(mark)
            if setting and said[:1] in (" ", "(") and not any(setting.count(quote) % 2 for quote in "\"'"):
                return setting, said.strip()
    return text, ""


def _with_what_goes_on(lines: Sequence[Line]) -> list[Line]:
    """Put comments that begin far to the right to the setting above, which they go on to describe."""
    kept: list[Line] = []
    for line in lines:
        above = kept[-1] if kept else None
        if (
            line.kind == "text"
            and above is not None
            and above.kind == "setting"
            and line.column >= max(FAR, above.column + FAR)
        ):
            above.said.append(line.text.strip())
        else:
            kept.append(line)
    return kept
