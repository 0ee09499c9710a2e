"""What should stand together in a chunk: a list with what announces it, lines that head a block with it, short ends with what they end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby
from typing import NamedTuple

from kgrag.documents.blocks import Block

__all__ = ["Piece", "announces", "joined", "units"]

MAX_HEADING_LINES, MAX_HEADING_LINE_WORDS = 6, 6
"""Of the paragraphs that only head the block below them: `max-size`, `Type: integer`, `Default: 4 MB`."""
PROPERTY = re.compile(
    r"(?:defaults?|range|values?|type|units?|min(?:imum)?|max(?:imum)?|examples?|since|required)\b[^:.]{0,20}: ", re.I
)
"""Behind a description it is of that, and heads nothing."""
ENDS_SENTENCE = (".", "!", "?", ":", ";", ",", "…")


class Piece(NamedTuple):
    """What goes into one chunk: text, and the blocks that it is made of, whole or in part."""

    blocks: tuple[int, ...]
    text: str
    page: int | None = None
    """The page that all of it stands on, where it was cut by pages."""


def units(blocks: Sequence[Block], members: Sequence[int], *, captions: Set[int]) -> Iterator[list[Piece]]:
    """Yield what stands under one heading (`members`, indexes of blocks) as pieces that should stay together.

    `captions` are the paragraphs that are captions of the tables below them.
    """
    grouping = _Grouping(blocks, captions)
    yield from grouping.with_ends(grouping.units(members))


class _Grouping:
    def __init__(self, blocks: Sequence[Block], captions: Set[int]) -> None:
        self._blocks = blocks
        self._captions = captions

    def units(self, members: Sequence[int]) -> Iterator[list[Piece]]:
        """Yield the items of a list with the paragraph that announces them, lines that head a block with it, others alone."""
        pieces = [Piece((index,), self._blocks[index].written) for index in members]
        lead: list[Piece] = []
        """Lines that head what follows, or the paragraph that may announce a list."""
        for kind, run in groupby(pieces, lambda piece: self._blocks[piece.blocks[0]].kind):
            stand_together = list(run)
            if kind == "list_item":
                announcing = stand_together[-1:] if announces(stand_together[-1].text) else []
                items = stand_together[: len(stand_together) - len(announcing)]
                if lead or items:
                    yield lead + items
                lead = announcing
                continue
            for piece in stand_together:
                if lead and self._terms_of(lead[-1]) != self._terms_of(piece):
                    yield from ([one] for one in lead)  # of another definition
                    lead = []
                if not lead and kind == "paragraph" and PROPERTY.match(piece.text):
                    yield [piece]
                    continue
                if lead and not self._heads(lead[-1]):
                    # What a colon announces in one line heads nothing, and neither does a listing.
                    is_announced = kind == "code" or (kind == "paragraph" and _only_heads(piece.text))
                    announced = [piece] if is_announced else []
                    yield [*lead, *announced]
                    lead = []
                    if announced:
                        continue
                if kind == "paragraph" and (self._heads(piece) or announces(piece.text)):
                    lead = [*lead, piece]
                else:
                    yield [*lead, piece]
                    lead = []
                if len(lead) > MAX_HEADING_LINES:
                    yield [lead.pop(0)]
        if lead:
            yield lead

    def _heads(self, piece: Piece) -> bool:
        """Whether a paragraph is a line that heads what follows, or the caption of the table below it."""
        return _only_heads(piece.text) or piece.blocks[0] in self._captions

    def with_ends(self, units: Iterable[list[Piece]]) -> Iterator[list[Piece]]:
        """Yield the units, the short ends of definitions (`Default is 30.`, `Default: 30`) with what they end."""
        before: list[Piece] = []
        for unit in units:
            if before and len(unit) == 1 and self._ends(before[-1], unit[0]):
                before += unit
                continue
            if before:
                yield before
            before = unit
        if before:
            yield before

    def _ends(self, before: Piece, piece: Piece) -> bool:
        """Whether a short paragraph says the last of what stands before it."""
        terms = self._terms_of(piece)
        is_short = (
            self._blocks[piece.blocks[0]].kind == "paragraph" and len(piece.text.split()) <= MAX_HEADING_LINE_WORDS
        )
        return is_short and terms == self._terms_of(before) and (terms != () or PROPERTY.match(piece.text) is not None)

    def _terms_of(self, piece: Piece) -> tuple[str, ...]:
        return self._blocks[piece.blocks[0]].terms


def announces(text: str) -> bool:
    """Whether a text ends where what it speaks of begins."""
    return text.endswith(":")


def _only_heads(text: str) -> bool:
    """Whether a paragraph is a line that heads what follows: a few words, and no end of a sentence but a property's."""
    if len(text.split()) > MAX_HEADING_LINE_WORDS:
        return False
    return not text.endswith(ENDS_SENTENCE) or (text.endswith(".") and PROPERTY.match(text) is not None)


def joined(pieces: Sequence[Piece]) -> Piece:
    """Put pieces below each other."""
    blocks = dict.fromkeys(index for piece in pieces for index in piece.blocks)
    return Piece(tuple(blocks), "\n".join(piece.text for piece in pieces if piece.text))
