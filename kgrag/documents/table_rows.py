"""What each row of the tables in a chunk says, as a text of its own.

A report's figure stands in a cell whose period and unit stand in headers, and its row is one of thirty in the chunk: the vector of the
whole chunk says nothing of it. The row with its headers is a sentence that a question can be near to, and it leads to its chunk.
"""

from __future__ import annotations

from kgrag.text.sentences import sentences
from kgrag.types import Chunk

__all__ = ["row_texts"]

CAPTION_CHARACTERS, ROW_CHARACTERS = 100, 600


def row_texts(chunk: Chunk) -> list[str]:
    """Return what each row says: `title. heading. caption first cell; header: cell; header: cell`, of at most 600 characters.

    The caption is the end of the line before the table, the heading the innermost. A chunk without a Markdown table has none.
    """
    place = "".join(f"{said}. " for said in dict.fromkeys((chunk.title, *chunk.headings[-1:])) if said)
    found, caption = [], ""
    for one in sentences(chunk.text):
        if not one.cells:
            caption = one.text[-CAPTION_CHARACTERS:]
        elif chunk.text.startswith("|", one.start):
            found.append(" ".join(f"{place}{caption} {one.text}".split())[:ROW_CHARACTERS])
    return found
