"""Definitions of manual pages: a term, and what is indented below it.

Pages that DocBook, AsciiDoc or Asciidoctor made (those of systemd, git, chrony, ...) have no macro for them: a paragraph, and a block
between `.RS` and `.RE`. pandoc makes a quotation of the block, and its term would be a paragraph of its own, in another chunk perhaps.
"""

from __future__ import annotations

import html as entities
import re

__all__ = ["with_definitions"]

TERM_AND_BLOCK = re.compile(
    r"<p>(?P<term>(?:(?!</?p>|<blockquote>).){1,1000}?)</p>\s{0,9}(?P<opens><blockquote>)|<blockquote>|(?P<closes></blockquote>)",
    re.DOTALL,
)
TAG = re.compile(r"<[^<>]*>")
MARKED = re.compile(r"\s*<(?:strong|em|code)>")
OPTION = re.compile(r"\s*(?:--?\w|[<\[$/])")
ENDS_SENTENCE = re.compile(r"[.:;!?]\s*$")
MAX_TERM_CHARACTERS, MAX_PLAIN_TERM_WORDS = 240, 3


def with_definitions(html: str) -> str:
    """Write a term and the quotation below it as an item of a list of definitions; other quotations stay."""
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
        defines = match["opens"] is not None and _is_term(match["term"])
        open_blocks.append(defines)
        written.append(f"<dl><dt>{match['term']}</dt><dd>" if defines else match[0])
    return "".join((*written, html[place:]))


def _is_term(paragraph: str) -> bool:
    """Whether a paragraph names what the block below it is about: in bold or italics, an option, a word or three; and no sentence."""
    said = " ".join(entities.unescape(TAG.sub("", paragraph)).split())
    if not said or len(said) > MAX_TERM_CHARACTERS or ENDS_SENTENCE.search(said.removesuffix("...")):
        return False
    return bool(MARKED.match(paragraph) or OPTION.match(said)) or len(said.split()) <= MAX_PLAIN_TERM_WORDS
