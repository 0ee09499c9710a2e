"""Headings that their paragraph goes on from on the same line: **2.3. Known limits.** The parser ..."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kgrag.documents.pdf.blocks import PageBlock, TextBlock
from kgrag.documents.pdf.geometry import Line, Word, bounding_box, line_of

__all__ = ["with_run_in_headings"]

_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,4}\.?")
"""With one number alone it may be an item of a list."""
_END = re.compile(r"[.:?!]$")
_MAX_WORDS = 24
_IN_FONT = 0.6
"""Share of a heading's words that are in its font: others may be names in a typewriter font."""
_MIN_HEADINGS = 3
_PITCH = 1.6
"""Line heights from the last line of a title or of its block to the one below."""
_MAX_LEVEL = 6


def with_run_in_headings(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    """Divide paragraphs that begin with a number of two parts and a title, in a font that is not the text's, from their titles.

    There are at least three in a document. Each becomes a heading of the level that its number says.
    """
    fonts: Counter[str] = Counter()
    for block in blocks:
        if isinstance(block, TextBlock) and block.kind == "text":
            for line in block.lines:
                fonts[line.font] += len(line.text)
    body = fonts.most_common(1)[0][0] if fonts else ""
    whole = _with_next_lines(blocks, body)
    ends = {id(block): end for block in whole if isinstance(block, TextBlock) and (end := _end_of_title(block, body))}
    if sum(0 < ends.get(id(block), 0) < _word_count(block) for block in whole) < _MIN_HEADINGS:
        return list(blocks)
    divided: list[PageBlock] = []
    for block in whole:
        before = divided[-1] if divided else None
        if isinstance(block, TextBlock) and id(block) in ends:
            divided += _divided(block, ends[id(block)])
        elif isinstance(block, TextBlock) and isinstance(before, TextBlock) and _goes_on(before, block, body):
            divided[-1] = _of(block, [*before.lines, *block.lines])
        else:
            divided.append(block)
    return divided


def _word_count(block: PageBlock) -> int:
    return sum(len(line.words) for line in block.lines) if isinstance(block, TextBlock) else 0


def _with_next_lines(blocks: Sequence[PageBlock], body: str) -> list[PageBlock]:
    """Put titles of which all of the first line is in their font together with the lines below, where they end on one of these."""
    whole: list[PageBlock] = []
    for block in blocks:
        before = whole[-1] if whole else None
        if isinstance(block, TextBlock) and isinstance(before, TextBlock) and _is_beginning(before, body):
            font = before.lines[0].words[0].font
            if block.kind == "text" and block.lines[0].words[0].font == font and _is_below(before, block):
                whole[-1] = _of(before, [*before.lines, *block.lines])
                continue
        whole.append(block)
    return whole


def _is_beginning(block: TextBlock, body: str) -> bool:
    words = [word for line in block.lines for word in line.words]
    is_numbered = block.kind == "text" and words[0].font != body and _NUMBER.fullmatch(words[0].text)
    return bool(is_numbered) and all(word.font == words[0].font for word in words) and not _END.search(words[-1].text)


def _is_below(above: TextBlock, block: TextBlock) -> bool:
    return (
        above.page == block.page
        and 0 < block.lines[0].pitch_base - above.lines[-1].pitch_base < _PITCH * block.lines[0].size
    )


def _goes_on(before: TextBlock, block: TextBlock, body: str) -> bool:
    """Whether what is left of a title's last line is all of its block, and the text goes on below it."""
    is_rest = before.kind == "text" and len(before.lines) == 1 and before.lines[0].words[0].font != body
    return is_rest and block.kind == "text" and block.lines[0].text[0].islower() and _is_below(before, block)


def _end_of_title(block: TextBlock, body: str) -> int:
    """Return how many words of a paragraph are its title, which may be all; 0 where it has none."""
    words = [word for line in block.lines for word in line.words]
    first = words[0]
    if block.kind != "text" or first.font == body or not _NUMBER.fullmatch(first.text):
        return 0
    fonts = [*(word.font for word in words[1 : _MAX_WORDS + 1]), ""]
    for place, word in enumerate(words[1:_MAX_WORDS], start=1):
        if word.font == first.font != fonts[place] and _END.search(word.text):
            in_font = sum(one.font == first.font for one in words[: place + 1])
            return place + 1 if in_font >= _IN_FONT * (place + 1) else 0
    return 0


def _divided(block: TextBlock, end: int) -> list[PageBlock]:
    title: list[Line] = []
    text: list[Line] = []
    for line in block.lines:
        own, rest = line.words[:end], line.words[end:]
        end -= len(own)
        if own:
            title.append(line_of(_without_stop(own) if not end else own))
        if rest:
            text.append(line_of(rest))
    level = min(title[0].words[0].text.strip(".").count(".") + 1, _MAX_LEVEL)
    heading = replace(_of(block, title), kind="heading", level=level)
    return [heading, _of(block, text)] if text else [heading]


def _without_stop(words: Sequence[Word]) -> list[Word]:
    return [*words[:-1], replace(words[-1], text=words[-1].text.rstrip(".:") or words[-1].text)]


def _of(block: TextBlock, lines: Sequence[Line]) -> TextBlock:
    return replace(block, lines=tuple(lines), box=bounding_box(line.box for line in lines))
