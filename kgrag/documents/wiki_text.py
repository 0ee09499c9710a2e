"""Texts of DokuWiki and of TWiki (Foswiki): told by marks that nothing else has, and prepared for pandoc."""

from __future__ import annotations

import re

from kgrag.documents.blocks import RemovedLine

__all__ = ["plain_dokuwiki", "plain_twiki", "wiki_of"]

DOKUWIKI_HEADING = re.compile(r"^ ?(={2,6})[^=\n]+\1[ \t]*$", re.MULTILINE)
DOKUWIKI_MARK = re.compile(
    r"\[\[[^\[\]\n]+\]\]|\{\{[^{}\n]+\}\}|''[^'\n]+''|(?<!:)//[^/\n]+//|<(?:code|file)\b|^ {2,}[*-] ?\w|^\^.*\^[ \t]*$|\*\*\w",
    re.MULTILINE,
)
"""A link, a picture, typed or slanted words, a listing, an item, the header of a table, words in bold."""
FIRST_LEVELS = frozenset({"=====", "======"})
"""Of headings, by as many marks as MediaWiki has for its fifth and sixth."""
TWIKI_HEADING = re.compile(r"^---\+{1,6}(?:!!)? *\S", re.MULTILINE)
TWIKI_MARK = re.compile(r"^%(?:META|TOC|INCLUDE|STARTINCLUDE|STOPINCLUDE|ATTACHURL)\b.*%[ \t]*\n?", re.MULTILINE)
TWIKI_NUMBER = re.compile(r"^((?: {3})+)(\d{1,3}|[aAiI])\.? (?=\S)", re.MULTILINE)
"""An item with a number, behind which pandoc wants a point."""
TWIKI_TURN = re.compile(r"^(?: {3})+\* .*\n(?= {3}\d{1,3}\. )|^(?: {3})+\d{1,3}\. .*\n(?= {3}\* )", re.MULTILINE)
"""An item of a list before one of another list."""
DOKUWIKI_CONTROL = re.compile(r"^~~[A-Z][\w:]*~~[ \t]*\n?|</?(?:wrap|WRAP|note|hidden)\b[^>\n]*>", re.MULTILINE)
"""What tells the wiki how to show a page, and boxes of its usual extensions."""
RULE = "wiki's mark"


def wiki_of(text: str) -> str | None:
    """Return `dokuwiki` or `twiki` where a text has headings of that kind, of DokuWiki's with another of its marks; None else."""
    if len(TWIKI_HEADING.findall(text)) > 1:
        return "twiki"
    headings = DOKUWIKI_HEADING.findall(text)
    return "dokuwiki" if headings and headings[0] in FIRST_LEVELS and DOKUWIKI_MARK.search(text) else None


def plain_dokuwiki(text: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Return a text without what tells the wiki how to show it, and that."""
    return DOKUWIKI_CONTROL.sub("", text), tuple(
        RemovedLine(RULE, mark.strip()) for mark in DOKUWIKI_CONTROL.findall(text)
    )


def plain_twiki(text: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Return a text without what the wiki keeps about it, with numbers as pandoc reads them; and what was left out."""
    removed = tuple(RemovedLine(RULE, mark.strip()) for mark in TWIKI_MARK.findall(text))
    numbered = TWIKI_NUMBER.sub(r"\1\2. ", TWIKI_MARK.sub("", text))
    return TWIKI_TURN.sub(lambda item: f"{item[0]}\n", numbered), removed
