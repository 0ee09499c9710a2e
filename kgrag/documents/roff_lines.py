"""Lines of a manual page as troff shows them, where pandoc does not: lines that begin with blanks, and titles that were cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from textwrap import dedent

from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.roff_macros import ESCAPE, FILLED, TAKES_A_LINE, UNFILLED

__all__ = ["with_typed_listings", "with_whole_title"]

INDENTED = re.compile(r"[ \t]+\S")
DEFINES = re.compile(r"[.'][ \t]*(?:de|am)i?1?\b")
DEFINED = re.compile(r"\.\.[ \t]*$")
BEGINS_ANEW = re.compile(r"$|[.'][ \t]*(?:PP|LP|P|IP|TP|HP|RS|RE|S[HS]|sp)\b")
"""What stands before and behind a listing; a page that breaks lines itself (`.br`) needs no help."""
TITLE_LENGTH = 20
"""Characters to which DocBook's stylesheets cut the title of a page."""
TITLE = re.compile(rf'^(?P<begins>\.TH[ \t]+"?)(?P<title>[^\s"]{{{TITLE_LENGTH}}})(?=[" \t])', re.MULTILINE)
NAME = re.compile(r"^\.SH.*\n(?P<name>[^\s.'][^\s,]*)", re.MULTILINE)


def with_typed_listings(page: str) -> str:
    """Return a page in which lines that begin with blanks are a listing: troff breaks a line before each of them, pandoc goes on.

    They stand between paragraphs, as no text that flows; one below a macro that takes a line belongs to that.
    """
    typed = _with_typing(page.split("\n"))
    groups = [(is_typed, [line for _, line in run]) for is_typed, run in groupby(typed, key=lambda one: one[0])]
    written: list[str] = []
    for number, (is_typed, lines) in enumerate(groups):
        behind = groups[number + 1][1][0] if number + 1 < len(groups) else ""
        if is_typed and _is_listing(lines, before=written[-1] if written else "", behind=behind):
            written += [".nf", *dedent("\n".join(lines).expandtabs()).split("\n"), ".fi"]
        else:
            written += lines
    return "\n".join(written)


def _with_typing(lines: Sequence[str]) -> list[tuple[bool, str]]:
    """Return for each line whether it begins with blanks where lines are filled and no macro takes it."""
    typed: list[tuple[bool, str]] = []
    filled, defines, before = True, False, ""
    for line in lines:
        defines = (defines or bool(DEFINES.match(line))) and not DEFINED.match(line)
        filled = (filled or bool(FILLED.match(line))) and not UNFILLED.match(line)
        is_typed = filled and not defines and INDENTED.match(line) is not None and not TAKES_A_LINE.match(before)
        typed.append((is_typed, line))
        before = line
    return typed


def _is_listing(lines: Sequence[str], *, before: str, behind: str) -> bool:
    """Whether lines that begin with blanks are shown as they were typed: no paragraph that begins or flows so, nor a list."""
    if not (BEGINS_ANEW.match(before) and BEGINS_ANEW.match(behind)):
        return False
    return plain_text_html("\n".join(lines), titled=False).startswith("<pre>")


def with_whole_title(page: str) -> str:
    """Return a page with its whole name as its title, where that was cut."""
    title = TITLE.search(page)
    named = NAME.search(page, title.end()) if title else None
    name = ESCAPE.sub("", named["name"]).replace("\\-", "-") if named else ""
    if (
        title is None
        or len(name) <= TITLE_LENGTH
        or not name.upper().startswith(title["title"].replace("\\-", "-").upper())
    ):
        return page
    return f"{page[: title.start('title')]}{name}{page[title.end() :]}"
