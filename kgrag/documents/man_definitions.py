"""Definitions of manual pages: a term, and what is indented below it.

Pages that DocBook, AsciiDoc or Asciidoctor made (those of systemd, git, chrony, ...) have no macro for them: a paragraph, and a block
between `.RS` and `.RE`. pandoc makes a quotation of the block, and its term would be a paragraph of its own, in another chunk perhaps.
Others (those of MariaDB) write the term as an item of a list, in the block with what is said of it.
"""

from __future__ import annotations

import html as entities
import re

__all__ = ["with_definitions"]

TERM_AND_BLOCK = re.compile(
    r"(?:(?P<above><p>(?P<term>(?:(?!</?p>|<blockquote>).){1,1000}?)</p>\s{0,9})?<blockquote>"
    r"(?P<list>\s{0,9}<ul>\s{0,9}<li>(?:<p>)?(?P<item>(?:(?!</?p>|</?li>).){1,1000}?)(?:</p>)?</li>\s{0,9}</ul>"
    r"(?=\s{0,9}<(?!/blockquote>)))?)|(?P<closes></blockquote>)",
    re.DOTALL,
)
TAG = re.compile(r"<[^<>]*>")
MARKED = re.compile(r"\s*<(?:strong|em|code)>")
ALL_MARKED = re.compile(r"(?:\s*<(strong|em|code)>[^<>]*</\1>[\s,|=/]*)+")
OPTION = re.compile(r"\s*(?:--?\w|[<\[$/])")
ENDS_SENTENCE = re.compile(r"(?<![-/])[.:;!?]\s*$")
MARK_OF_KIND = re.compile(r"\s\([\w-]{1,12}\)$")
"""What a name of several plain words may end with: `max log size (G)` of Samba's settings."""
MAX_TERM_CHARACTERS, MAX_PLAIN_TERM_WORDS, MAX_NAME_WORDS = 240, 3, 8


def with_definitions(html: str) -> str:
    """Write a term and the quotation below it, or around both, as an item of a list of definitions; other quotations stay."""
    written: list[str] = []
    place = 0
    open_blocks: list[bool] = []  # whether each is a definition
    for match in TERM_AND_BLOCK.finditer(html):
        written.append(html[place : match.start()])
        place = match.end()
        if match["closes"]:
            defines = bool(open_blocks) and open_blocks.pop()
            written.append("</dd></dl>" if defines else match[0])
            continue
        above, listed = match["above"] or "", match["list"] or ""
        if match["term"] is not None and _is_term(match["term"]):
            written.append(f"<dl><dt>{match['term']}</dt><dd>{listed}")
        elif match["item"] is not None and _is_name(match["item"]):
            written.append(f"{above}<dl><dt>{match['item']}</dt><dd>")
        else:
            written.append(match[0])
        open_blocks.append("<dl>" in written[-1])
    return "".join((*written, html[place:]))


def _is_term(paragraph: str) -> bool:
    """Whether a paragraph names what the block below it is about: in bold or italics, an option, a word or three; and no sentence."""
    said = _said(paragraph)
    if not _may_be_term(said):
        return False
    words = len(MARK_OF_KIND.sub("", said).split())
    is_plain_name = words <= (MAX_NAME_WORDS if MARK_OF_KIND.search(said) else MAX_PLAIN_TERM_WORDS)
    return bool(MARKED.match(paragraph) or OPTION.match(said)) or is_plain_name


def _is_name(item: str) -> bool:
    """Whether an item of a list, with paragraphs of its own below it, says no more than a name: all in bold or italics, or an option."""
    said = _said(item)
    return _may_be_term(said) and bool(ALL_MARKED.fullmatch(item) or OPTION.match(said))


def _said(html: str) -> str:
    return " ".join(entities.unescape(TAG.sub("", html)).split())


def _may_be_term(said: str) -> bool:
    return 0 < len(said) <= MAX_TERM_CHARACTERS and not ENDS_SENTENCE.search(said.removesuffix("..."))
