"""Lines that say nothing by themselves: entries of an index, `See section 4.2.`, fragments."""

from __future__ import annotations

import re

from kgrag.answer.headings import last_heading
from kgrag.types import Evidence

__all__ = ["CODE", "DEFAULT_ALONE", "REFERS", "is_index", "is_of_index", "says_nothing"]

MIN_STATEMENT_WORDS = 4
DEFAULT_ALONE = re.compile(r"default(?:s to|(?: value)?(?::| is| =))\s", re.IGNORECASE)
"""Says nothing without the sentence before (`The most channels of a user. Default: 10.`), but with it however short: `Default is off.`"""
ASKS_WHETHER = re.compile(
    r"(?:can|could|does|do|did|is|are|will|would|should|must|may) (?:I|we|you|it|they|there|this)\b", re.IGNORECASE
)
"""How a heading begins that asks without a question mark: `Can I use the pump with oil`."""
CODE = re.compile(r"[=<>{}$#|\\/_]|(?:^|\s)--?\w|\w\(|\d|\b[a-z]+\.[a-z]+\b|;$")
"""What a line of a program, of a session or of settings has, and a heading has not."""
REFERS = re.compile(
    r"[\[(]?(?:please |also )*(?:see|refer to|consult) (?:also )?(?:the |our )?(?:[‘'\"“]?[\w’'\"”-]+ ){0,6}?"
    r"(?:section|chapter|appendix|page|manual|documentation|guide|instructions|(?:command-line )?options?)\b"
    r"(?: \w+(?:\.\w+)*)?(?:,? ?[‘'\"“][^’'\"”]+[’'\"”])?"
    r"(?: (?:for|to|about|on) [^.;]{0,60}?)?\.?[\])]?"
    r"|see [^.,;:]{1,60} (?:above|below)\.?"
    r"|see <[^<>]{1,80}>(?: \[[^\[\]]{1,80}\])?\.?"
    r"|see also:? [^.;:]{1,120}\.?"
    r"|definition at line \d+ of file \S+|(?:referenced by|references) [\w:~]+\(\)(?:,? (?:and )?[\w:~]+\(\))*\.?",
    re.IGNORECASE,
)
"""`See section 4.2.2 for details.`: says where something is said, and not what."""
INDEXED_PAGE = re.compile(r"(?<=, )\d{1,4}(?=,| [^\W\d]|$)")
MIN_INDEXED_PAGES, INDEXED_SHARE = 6, 0.3
INDEXED = re.compile(r"(?:[^\W\d][^\d,.;:!?]{1,60}, \d{1,4}(?:(?:, |[-–])\d{1,4})*(?: |$)){2,}")
"""Nothing but words with their pages: `Focal length, 5 Gantry, 9`."""
INDEX = re.compile(r"(?:[a-z&]+ ){0,5}index", re.IGNORECASE)
LEADERS = re.compile(r"(?:\. ?){4,}")
"""Between an entry of an index and its page: `-y FORMAT . . . . . 77`."""


def is_index(piece: Evidence) -> bool:
    """Whether a passage is of an index with leaders: it says where something is said, and not what."""
    return INDEX.fullmatch(last_heading(piece)) is not None and LEADERS.search(piece.text) is not None


def is_of_index(text: str) -> bool:
    """Whether a line is of an index at the end of a book: words with the numbers of their pages, `layers, 52, 176 layout, 172`."""
    if INDEXED.fullmatch(text):
        return True
    pages = len(INDEXED_PAGE.findall(text))
    return pages >= MIN_INDEXED_PAGES and pages >= INDEXED_SHARE * len(text.split())


def says_nothing(text: str, *, label: str, heading: str) -> bool:
    """Tell a heading or a fragment: too short for a statement, without a number, and no term or question that it is said of."""
    if not any(map(str.isalnum, text)):
        return True
    short = len(text.split()) < MIN_STATEMENT_WORDS
    is_said_of = bool(label) or heading.endswith("?") or ASKS_WHETHER.match(heading) is not None
    says_value = any(c.isdigit() for c in text) or CODE.search(text) or DEFAULT_ALONE.match(text)
    return short and not is_said_of and not says_value
