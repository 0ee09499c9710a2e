"""Questions as full-text queries: Lucene's syntax escaped, words that say nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgrag.text.words import FUNCTION_WORDS

__all__ = ["escape_lucene", "fulltext_query"]

MAX_TERMS = 64
"""Of one query: more only make it slow, and Lucene refuses more than 1,024. At 100,000 chunks a query with function words takes 0.1 to
0.8 s on ArcadeDB."""

_SYNTAX = re.compile(r'([+\-!(){}\[\]^"~*?:\\/&|<>=])')
_OPERATORS = re.compile(r"\b(AND|OR|NOT|TO)\b")
_JOINTS = re.compile(r"[+\-/]")
AFTER_LATIN, FIRST_OF_JAPANESE_AND_CHINESE, HANGUL = "\u0250", "\u2e80", re.compile("[\uac00-\ud7a3]+")
LEAST_LETTERS, LEAST_SYLLABLES = 4, 2
"""Of the beginning of a word that other forms of it are found by."""
FORM_BOOST = 0.4
"""Of words that begin alike against the word itself: chosen on Russian, reported on Korean (`benchmarks.languages`)."""
_TERM = re.compile(r"\w+(?:[.,+\-/]\w+)*[%Ωµ°]?", re.UNICODE)


def escape_lucene(text: str) -> str:
    """Escape all that Lucene's query parser takes for syntax: the text is searched for as it stands."""
    return _OPERATORS.sub(lambda match: match[0].lower(), _SYNTAX.sub(r"\\\1", text)).replace("\x00", " ")


def fulltext_query(text: str, *, keywords: Sequence[str] = (), boost: float = 1.0) -> str:
    """Make a query of any of the terms of `text`, each once, in order, function words left out unless there is nothing else.

    Of a term with a hyphen or slash inside (`X-100`, `I2C/SPI`) all parts are asked for, which both databases understand alike: a phrase
    is one after the other on Neo4j and anywhere on ArcadeDB. Each of `keywords` is a phrase, which weighs `boost` times as much as a term.
    Of a word in letters that the databases' English analyzer does not stem (`памяти`, `메모리가`), words that begin alike are asked for,
    too, and weigh less. Empty where neither has terms.
    """
    terms = list(dict.fromkeys(match[0] for match in _TERM.finditer(text.replace("\x00", " "))))
    said = [term for term in terms if term.casefold() not in FUNCTION_WORDS] or terms
    said = said[:MAX_TERMS]
    said_terms = (_all_parts(term) for term in said)
    forms = (f"{start}*^{FORM_BOOST:g}" for term in said for start in _beginnings(term))
    phrases = (_quoted(keyword.replace("\x00", " ")) for keyword in keywords if _TERM.search(keyword))
    return " ".join([*said_terms, *forms, *(f'"{phrase}"^{boost:g}' for phrase in phrases)])


def _all_parts(term: str) -> str:
    """Ask for all parts of a term, as the analyzer divides it: at hyphens, plus signs and slashes."""
    parts = [
        f'"{_quoted(part)}"' if re.search(r"\W", part) else escape_lucene(part) for part in _JOINTS.split(term) if part
    ][:MAX_TERMS]
    return parts[0] if len(parts) == 1 else f"({' '.join(f'+{part}' for part in parts)})"


def _beginnings(term: str) -> Iterator[str]:
    """Find what other forms of a word begin with: all but the last one or two letters, or syllables of Hangul."""
    word = term.lower()
    hangul = HANGUL.fullmatch(word) is not None
    if hangul or (word.isalpha() and min(word) >= AFTER_LATIN and max(word) < FIRST_OF_JAPANESE_AND_CHINESE):
        least = LEAST_SYLLABLES if hangul else LEAST_LETTERS
        yield from (word[:-cut] for cut in (1, 2) if len(word) - cut >= least)


def _quoted(term: str) -> str:
    return term.replace("\\", r"\\").replace('"', r"\"")
