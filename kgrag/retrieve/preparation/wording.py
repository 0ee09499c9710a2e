"""A question's wording without a model: its telling words, keywords, parts and topic."""

from __future__ import annotations

import re

from kgrag.store.fulltext import STOP_WORDS
from kgrag.text.name_shapes import NAME
from kgrag.text.quantities import quantities

__all__ = ["coordinated_questions", "keywords", "telling_words", "topic"]

ASKING_WORDS = frozenset(
    [
        "compare",
        "comparison",
        "concerning",
        "describe",
        "description",
        "detail",
        "details",
        "documentation",
        "document",
        "documents",
        "example",
        "explain",
        "explanation",
        "find",
        "following",
        "give",
        "given",
        "identify",
        "kind",
        "kinds",
        "list",
        "mean",
        "means",
        "mention",
        "mentioned",
        "name",
        "names",
        "outline",
        "overview",
        "please",
        "provide",
        "regarding",
        "short",
        "should",
        "show",
        "state",
        "summarise",
        "summarize",
        "summary",
        "tell",
        "type",
        "types",
        "typical",
        "various",
        "way",
        "ways",
    ]
)
"""Words that say how to answer, not what about."""
SHORTEST_KEYWORD = 4
TERM = re.compile(r"[^\s?!,;:()\"“”]+")
SENTENCE_START = re.compile(r"(?:^|[.?!]\s)\s*$")
JOINT = re.compile(
    r"\s*(?:,\s*(?:and|or)\s+|,\s*|\s+(?:and|or|versus|vs\.?|than|with)\s+)(?:(?:the|an?|its)\s+)?", re.IGNORECASE
)
CLAUSE = re.compile(r"[;?]\s+|,?\s+and\s+(?=(?:what|which|who|where|when|why|how)\b)", re.IGNORECASE)


def telling_words(question: str) -> str:
    """Return the question without stop words and words that only ask, as written and in order; itself where nothing is left."""
    words = [match[0].rstrip(".") for match in TERM.finditer(question)]
    telling = [word for word in words if word.casefold() not in STOP_WORDS and word.casefold() not in ASKING_WORDS]
    return " ".join(telling) or question


def keywords(question: str, most: int) -> tuple[str, ...]:
    """Return up to `most` keywords: names and part numbers, then quantities, then the longest telling words."""
    names = [name for _, _, name in _names(question)]
    amounts = [quantity.text for quantity in quantities(question)]
    inside = " ".join((*names, *amounts)).casefold().split()
    words = [
        word
        for word in telling_words(question).split()
        if len(word) >= SHORTEST_KEYWORD and word.casefold() not in inside
    ]
    words.sort(key=lambda word: -len(word))  # stable: equal lengths stay in the question's order
    return tuple(dict.fromkeys((*names, *amounts, *words)))[:most]


def coordinated_questions(question: str, most: int) -> tuple[str, ...]:
    """Return a question for each of the things or clauses that the question joins; nothing where it joins none.

    `Which is lighter, the X-100 or the X-200?` → `Which is lighter, the X-100?`, `Which is lighter, the X-200?`
    """
    found = _names(question)
    for first in range(len(found)):
        last = first
        while last + 1 < len(found) and JOINT.fullmatch(question[found[last][1] : found[last + 1][0]]):
            last += 1
        if last > first:
            before, after = question[: found[first][0]], question[found[last][1] :]
            return tuple(f"{before}{name}{after}".strip() for _, _, name in found[first : last + 1])[:most]
    clauses = [clause.strip(" ?.") for clause in CLAUSE.split(question)]
    clauses = [clause for clause in clauses if len(clause.split()) > 2]
    return tuple(clauses[:most]) if len(clauses) > 1 else ()


def topic(question: str) -> str:
    """Return the telling words without names, part numbers and quantities; nothing where only those are there."""
    rest = question
    for start, end, _ in reversed(_names(question)):
        rest = rest[:start] + rest[end:]
    for quantity in reversed(quantities(rest)):
        rest = rest[: quantity.start] + rest[quantity.end :]
    words = telling_words(rest).split()
    return " ".join(word for word in words if any(c.isalpha() for c in word) and word.casefold() not in STOP_WORDS)


def _names(question: str) -> list[tuple[int, int, str]]:
    """Find words with a capital or a digit in a row; the capital with which a sentence begins does not make a name."""
    found = []
    for match in NAME.finditer(question):
        start, text = match.span()[0], match[0]
        if SENTENCE_START.search(question[:start]):
            opening, _, rest = text.partition(" ")
            if opening[1:].islower() or not opening[1:]:
                if not rest:
                    continue
                start, text = start + len(opening) + 1, rest
        found.append((start, start + len(text), text))
    return found
