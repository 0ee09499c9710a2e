"""How much fits into a chunk: what its title, headings and text cost the embedder, and where a text that is too long is cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import cast

from kgrag.types import with_context

__all__ = ["MAX_HEADING_CHARACTERS", "ChunkWindow", "CountTokens", "cut_at_space", "fit_title", "longest_start"]

MAX_HEADING_CHARACTERS = 200
"""A longer heading is a paragraph that someone made a heading."""
TITLE_SHARE = 4
"""A title, and any one heading, takes at most this fraction (a quarter) of the window; title and headings together at most half."""
COUNTS_REMEMBERED = 1024
"""The chunker counts the same texts several times, soon after each other; counting is most of its time."""

CountTokens = Callable[[str], int]


def fit_title(title: str, *, count_tokens: CountTokens, max_tokens: int) -> str:
    """Put a title on one line and shorten it where it would take more than a quarter of the window (`…` stands for the rest)."""
    title = " ".join(title.split())
    limit = max_tokens // TITLE_SHARE
    if len(title) <= MAX_HEADING_CHARACTERS and count_tokens(title) <= limit:
        return title
    return (
        longest_start(title[:MAX_HEADING_CHARACTERS], lambda start: count_tokens(f"{start} …") <= limit).rstrip() + " …"
    )


class ChunkWindow:
    """What fits into the chunks of one document.

    `headings` are those above a text, outermost first, as `path` gives them.
    """

    def __init__(self, title: str, *, count_tokens: CountTokens, max_tokens: int) -> None:
        self._title = title
        self.count = lru_cache(maxsize=COUNTS_REMEMBERED)(count_tokens)
        self.max_tokens = max_tokens

    def path(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        """Return headings; outer ones go first where title and headings would take more than half of the window."""
        while len(headings) > 1 and self.cost(headings, "") > self.max_tokens // 2:
            headings = headings[1:]
        return headings

    def cost(self, headings: tuple[str, ...], text: str) -> int:
        """Count the tokens of a chunk's `embedded_text`."""
        return self.count(with_context(text, title=self._title, headings=headings))

    def fits(self, headings: tuple[str, ...], text: str) -> bool:
        """Whether a chunk may have this text."""
        return self.cost(headings, text) <= self.max_tokens

    def is_short(self, text: str) -> bool:
        """Whether a text takes no more than what a title may: a quarter of the window."""
        return self.count(text) <= self.max_tokens // TITLE_SHARE

    def how_many_fit(self, headings: tuple[str, ...], texts: Sequence[str]) -> int:
        """Say how many of the texts fit the window together, at least one: estimated by their sum, then counted.

        No more fit than the window has tokens: who has many texts gives so many of them.
        """
        room = self.max_tokens - self.cost(headings, "")
        ends = self.count("")  # what the tokenizer puts before and behind each text
        number, total = 1, self.count(texts[0]) - ends
        while number < len(texts) and (total := total + self.count(texts[number]) - ends) <= room:
            number += 1
        while number < len(texts) and self.fits(headings, "\n".join(texts[: number + 1])):
            number += 1
        while number > 1 and not self.fits(headings, "\n".join(texts[:number])):
            number -= 1
        return number

    def split_at_sentences(self, headings: tuple[str, ...], text: str, *, opening: str = "") -> Sequence[str]:
        """Split a text that is too long where semchunk does: at paragraphs, sentences, words; each part leaves room for `opening`."""
        if self.fits(headings, opening + text):
            return [text]
        from semchunk.semchunk import chunkerify

        room = self.max_tokens - self.cost(headings, opening + text) + self.count(text)
        while room > 0:
            parts = cast("list[str]", chunkerify(self.count, chunk_size=room)(text))
            longest = max(self.cost(headings, opening + part) for part in parts)
            if longest <= self.max_tokens:
                return parts
            room -= longest - self.max_tokens
        return [text]  # `within` cuts it

    def within(self, headings: tuple[str, ...], text: str) -> Iterator[str]:
        """Yield `text`, in parts where it is too long all the same (the chunker splits by estimates)."""
        while not self.fits(headings, text):
            start = longest_start(text, lambda start: self.fits(headings, start))
            yield start.rstrip()
            text = text[len(start) :].lstrip()
        yield text


def cut_at_space(text: str, size: int) -> Iterator[str]:
    """Yield `text` in parts of at most `size` characters, cut at line ends or else blanks where there are any."""
    while len(text) > size:
        window = text[:size]
        cut = window.rfind("\n") + 1 or window.rfind(" ") + 1 or size
        if part := window[:cut].rstrip():
            yield part
        text = text[cut:]
    if text.strip():
        yield text


def longest_start(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest start of `text` that fits, ending at white space where there is any; at least one character."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle - 1)
    spaces = [match.end() for match in re.finditer(r"\s+", text[:low])]
    at_space = next((end for end in reversed(spaces) if fits(text[:end])), 0)
    return text[: at_space or low]
