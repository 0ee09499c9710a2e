"""Lines that only say what the lines below them are about, and lines that repeat the headings of their passage."""

from __future__ import annotations

import re

from kgrag.answer.labels import ASKED_MARK
from kgrag.text.quantities import has_quantity, quantities
from kgrag.text.sentences import IN_COLUMNS
from kgrag.types import Evidence

__all__ = [
    "ADMONITION",
    "HEADING",
    "HEADING_NUMBER",
    "MAX_HEADING_WORDS",
    "SECTION_NUMBER",
    "TITLE_ITEM",
    "is_asked",
    "is_heading",
    "is_title",
    "last_heading",
    "repeats_context",
]

HEADING = re.compile(r"^(?:#+ |\d+(?:\.\d+)+\.? |\d+ (?=[A-Z]))(?!.*[.!?;:]$)")
HEADING_NUMBER = re.compile(r"^(?:#+ )?(?:\d+(?:\.\d+)*\.? )?")
ADMONITION = re.compile(
    r"(?:notes?|tips?|hints?|warnings?|cautions?|attention|danger|important|see also)[:!]?", re.IGNORECASE
)
"""What heads a box heads no section: what stands below it is about what the section is about."""
SECTION_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?")
"""A line of nothing else: the next one is its heading, `4.7` above `Compress Type Option (--compress-type)`."""
MAX_HEADING_WORDS = 12
MAX_PLAIN_HEADING_WORDS = 8
_TITLE_WORD = r"(?:[A-Z0-9][\w'’-]*|of|the|an?|and|or|for|in|on|to|with|by)"
TITLE_ITEM = re.compile(rf"{_TITLE_WORD}(?: {_TITLE_WORD})+")
"""A numbered item of nothing but capitalised words heads the paragraphs that follow it."""
MAX_ASKED_WORDS = 60
ENDS_SENTENCE = re.compile(r"[.!?] ")
OWN = re.compile(r"\b(?:I|my|we|our)\b")
"""Who asks speaks of himself."""


def is_heading(written: str, *, in_list: bool) -> bool:
    """Whether a line only announces what follows: numbered, marked, or short and without a full stop or a quantity, no list item, and not
    in columns.
    """
    words = len(written.split())
    if HEADING.match(written) and not _begins_with_amount(written):
        return words <= MAX_HEADING_WORDS
    return (
        not in_list
        and not IN_COLUMNS.search(written)
        and words <= MAX_PLAIN_HEADING_WORDS
        and written[-1:].isalnum()
        and ":" not in written
        and not has_quantity(written)
    )


def is_title(written: str) -> bool:
    """Whether a line below a section's number is its heading: short, with a capital, and no sentence."""
    words = written.split()
    return 1 < len(words) <= MAX_HEADING_WORDS and written[0].isupper() and written[-1] not in ".:;!"


def is_asked(paragraph: str) -> bool:
    """Whether a paragraph is a question of a list of questions and answers: what follows answers it, and it says nothing itself.

    It is one sentence, or somebody's: `I start it and nothing happens. What is wrong?`
    """
    if mark := ASKED_MARK.match(paragraph):
        paragraph = paragraph[mark.end() :]
    return (
        paragraph.endswith("?")
        and len(paragraph.split()) <= MAX_ASKED_WORDS
        and (not ENDS_SENTENCE.search(paragraph) or OWN.search(paragraph) is not None)
    )


def _begins_with_amount(written: str) -> bool:
    """Whether a line begins with an amount (`4 MB flash`, `3.3 V input`) and not with a section's number."""
    return any(amount.start == 0 for amount in quantities(written))


def last_heading(piece: Evidence) -> str:
    """Return the heading that a passage stands below, without its number; its title where there is none."""
    return HEADING_NUMBER.sub("", piece.section.rpartition(" > ")[2] or piece.title)


def repeats_context(text: str, piece: Evidence) -> bool:
    """Tell a line that only says the title or section of its passage, or the beginning or end of their path."""
    folded = text.casefold()
    context = f"{piece.title} > {piece.section}".strip(" >").casefold()
    shortened = folded.removeprefix(f"{piece.title.casefold()} > ")  # Outer sections may be left out of a long path,
    ends = any(f" > {context}".endswith(f" > {one}") for one in (folded, shortened))  # which may begin anywhere.
    begins = " > " in folded and any(
        f"{one} > ".startswith(f"{folded} > ") for one in (context, piece.section.casefold())
    )
    return (
        ends
        or begins
        or folded in (piece.title.casefold(), piece.section.casefold())
        or folded.startswith(context + " >")
    )
