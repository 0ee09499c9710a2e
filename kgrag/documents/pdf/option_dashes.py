"""Options that TeX set with a dash: `–verbose` was written `--verbose`, whose two hyphens its text fonts draw as one en dash."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.documents.pdf.geometry import Word
from kgrag.documents.pdf.pages import Page

__all__ = ["with_option_dashes"]

_OPTION = re.compile(
    r"(?P<before>(?:[(\[{‘'“\"]|.*[/|,(\[])?)–(?=\w+(?:-\w+)*(?:=\S*)?[)\]},.;:’'”\"]*$|\w[\w-]*[=/|,])"
)
_CLOSES = re.compile(r"\w–[)\]},.;:’'”\"]*$")
"""The dash behind a remark –such as this– that another one opened."""
_MIN_OPTIONS = 3


def with_option_dashes(pages: Sequence[Page]) -> list[Page]:
    """Return the pages with two hyphens before options where these have an en dash, of which a document has at least three.

    Where words also end in such dashes these are quotation marks of remarks, and all stay.
    """
    words = [word.text for page in pages for word in page.words if "–" in word.text]
    options = [word for word in words if word[0] == "–" and _OPTION.match(word) and any(map(str.isalpha, word[:2]))]
    if len(options) < _MIN_OPTIONS or any(map(_CLOSES.search, words)):
        return list(pages)
    return [replace(page, words=tuple(map(_with_hyphens, page.words))) for page in pages]


def _with_hyphens(word: Word) -> Word:
    text = word.text
    while "–" in text and (match := _OPTION.match(text)) and _begins_with_letter(text[match.end() :]):
        text = f"{match['before']}--{text[match.end() :]}"
    return replace(word, text=text) if text != word.text else word


def _begins_with_letter(text: str) -> bool:
    return text[:1].isalpha() or (len(text) > 1 and text[1].isalpha())
