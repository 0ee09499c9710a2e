"""Terms that stand before what is said of them, far from it or in bold type: written `term: text`, as definitions of other formats are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.documents.pdf.blocks import PageBlock, TextBlock
from kgrag.documents.pdf.captions import names_figure
from kgrag.documents.pdf.geometry import Line, is_typewriter, line_of, pieces_of
from kgrag.text.name_shapes import is_code_name

__all__ = ["with_terms"]

_WIDE_GAP = 1.5
"""Line heights between a term and its text."""
_TERM_WORDS, _TEXT_WORDS = 6, 3
"""Most words of a term, and fewest of what is said of it in the same font."""
_ALIGNED = 0.3
"""Line heights by which what is aligned may miss."""
_OPTION = re.compile(r"[-–−]{1,2}\w")
_NO_TERM = re.compile(r"^[<>$%#] |, \d+$")
"""A command of a session behind its prompt; an entry of an index before the next column."""
_HAS_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Term:
    """What a paragraph begins with."""

    words: int
    left: float
    text_at: float | None
    """Where its text begins, if that is far behind it."""
    font: str
    size: float


def with_terms(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    """Write a colon behind the terms of paragraphs, of which at least two stand together, one below the other.

    Their texts begin under each other far behind them, or the terms are bold and the texts are not.
    """
    terms = [_term_of(block) for block in blocks]
    written: list[PageBlock] = []
    for index, (block, term) in enumerate(zip(blocks, terms, strict=True)):
        beside = (*terms[max(index - 1, 0) : index], *terms[index + 1 : index + 2])
        if term is not None and isinstance(block, TextBlock) and any(_are_alike(term, other) for other in beside):
            block = replace(block, lines=(_with_colon(block.lines[0], term.words), *block.lines[1:]))
        written.append(block)
    return written


def _are_alike(term: _Term, other: _Term | None) -> bool:
    if other is None or abs(term.left - other.left) > _ALIGNED * term.size:
        return False
    if term.text_at is None or other.text_at is None:
        return term.text_at == other.text_at and term.font == other.font
    return abs(term.text_at - other.text_at) <= _ALIGNED * term.size


def _term_of(block: PageBlock) -> _Term | None:
    if not isinstance(block, TextBlock) or block.kind != "text" or names_figure(block):
        return None
    first = block.lines[0]
    pieces = pieces_of(first, _WIDE_GAP)
    if len(pieces) == 2:
        count, text_at = len(pieces[0].words), pieces[1].box.x0
    else:
        count, text_at = _set_apart(first), None
    term, text = first.words[:count], first.words[count:]
    in_other_font = text_at is not None and bool(text) and term[-1].font != text[0].font
    said = len(text) + sum(len(line.words) for line in block.lines[1:])
    is_short = 0 < count <= _TERM_WORDS and (said >= _TEXT_WORDS or in_other_font)
    if not is_short or len(pieces) > 2 or not _HAS_LETTER.search(" ".join(word.text for word in term)):
        return None
    if _NO_TERM.search(" ".join(word.text for word in term)) or text[0].text[0] in "=<>:":
        return None
    is_named = text[0].text[0].isupper() or _OPTION.match(term[0].text) or any(_is_name(w.text) for w in term if w.bold)
    if text_at is None and not is_named:
        return None  # **You must** close it.
    return _Term(count, first.box.x0, text_at, term[0].font, first.size)


def _set_apart(line: Line) -> int:
    """Return how many words a line begins with that are bold, or an option or name in a typewriter font, where the others are not."""
    if bold := next((n for n, word in enumerate(line.words) if not word.bold), 0):
        return bold
    typed = next((n for n, word in enumerate(line.words) if not is_typewriter(word.font)), 0)
    return typed if typed and _is_name(line.words[0].text) else 0


def _is_name(word: str) -> bool:
    return is_code_name(word) or _OPTION.match(word) is not None


def _with_colon(line: Line, count: int) -> Line:
    last = line.words[count - 1]
    if last.text[-1] in ".:;,?!–—-=":
        return line
    return line_of([*line.words[: count - 1], replace(last, text=f"{last.text}:"), *line.words[count:]])
