"""Typing errors: a word that a text lacks, read as the word of the text that it is one or two edits from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection

from rapidfuzz import process
from rapidfuzz.distance import OSA

from kgrag.text.name_shapes import IDENTIFIER
from kgrag.text.words import ASKING_WORDS, FUNCTION_WORDS, stem, words

__all__ = ["corrected"]

WORD = re.compile(r"(?<![\w.@/_-])[^\W\d_]+(?:-[^\W\d_]+)*(?![\w@/_-]|\.\w|\()")
JOINED = re.compile(r"(?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)+(?![\w-])")
OF_PARTS = re.compile(
    r"(?<![\w./-])(?:[A-Za-z]+(?:[_-][A-Za-z]+)+|[A-Za-z]+[a-z][A-Z][A-Za-z]*[a-z]|[A-Za-z]+(?:\.[A-Za-z]+)+)(?![\w/-]|\.\w)"
)
"""An identifier of several words: `max_connections`, `MaxClients`, `tune.bufsize`."""
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
NUMBERED = re.compile(
    r"(?<![\w@/.+-])[A-Za-z]{1,8}-?\d+[A-Za-z]{0,3}(?:-\d+[A-Za-z]{0,3})*(?![\w@/-]|[.+]\w)", re.ASCII
)
"""A part number, a code, a protocol: `X-100`, `E12`, `rs485`. Neither capitals nor the hyphen before its number tell two apart."""
MIN_IDENTIFIER = 8
MIN_LETTERS, SHORT_WORD, LONG_WORD = 4, 5, 8
"""Of a word below the first length only two letters swapped are an error, below the second one edit is, and from there on two are."""


def corrected(question: str, text: str, *, is_word: Callable[[str], bool]) -> str:
    """Return the question with its mistyped words as `text` has them; itself where nothing seems mistyped.

    A word is mistyped where neither it nor its stem is in the text, `is_word` does not know it, and the text has a word that begins alike
    within one edit (two from eight letters on; of four letters two swapped): a letter more, less or another, or two swapped. A part of a
    word with hyphens is one where the text then has the whole (`asnyc-start`). Of an identifier of several parts one part may be mistyped
    (`max_conections`). A name with a number that the text writes with other capitals or another hyphen (`x-100`, `E12`, several `x-100s`)
    is written so. Names (capitals inside a sentence), other identifiers and numbers are never touched.
    """
    question = _identifiers_mended(_numbered_as_written(question, text), text, is_word=is_word)
    known: Counter[str] = Counter()
    stems: set[str] = set()
    joined: set[str] = set()

    def mended(word: str, whole: str) -> str:
        folded = word.casefold()
        if len(word) < MIN_LETTERS or folded in FUNCTION_WORDS | ASKING_WORDS or folded in known:
            return word
        if stem(folded) in stems or is_word(folded):
            return word
        fits = {one for one in known if word == whole or whole.casefold().replace(folded, one) in joined}
        nearest = _nearest(folded, fits, known)
        return nearest.capitalize() if nearest and word[0].isupper() else nearest or word

    for match in reversed(list(WORD.finditer(question))):
        word = match.group()
        begins = not question[: match.start()].strip() or question[: match.start()].rstrip()[-1] in ".?!"
        if (word.casefold() != word and not begins) or ("-" not in word and IDENTIFIER.search(word)):
            continue
        if not known:
            known = Counter(w.casefold() for w in words(text) if w.isalpha())
            stems = {stem(w) for w in known}
            joined = {one.casefold() for one in JOINED.findall(text)}
        said = "-".join(mended(part, word) for part in word.split("-"))
        question = question[: match.start()] + said + question[match.end() :]
    return question


def _numbered_as_written(question: str, text: str) -> str:
    """Return the question with its names that have a number as `text` writes them; those that it has as they stand, or not at all, stay."""
    asked = list(NUMBERED.finditer(question))
    if not asked:
        return question
    written: dict[str, Counter[str]] = {}
    for name in NUMBERED.findall(text):
        written.setdefault(_joined(name), Counter())[name] += 1
    for match in reversed(asked):
        name = match.group()
        joined = _joined(name)
        forms = written.get(joined) or written.get(joined.removesuffix("s"))
        if forms and name not in forms:
            form = min(forms, key=lambda one: (-forms[one], one))
            question = f"{question[: match.start()]}{form}{question[match.end() :]}"
    return question


def _joined(name: str) -> str:
    """A name without case and the hyphen between letters and digits; between two numbers it stays: `1-12` is not `112`."""
    return re.sub(r"(?<=[^\W\d_])-(?=\d)|(?<=\d)-(?=[^\W\d_])", "", name.casefold())


def _identifiers_mended(question: str, text: str, *, is_word: Callable[[str], bool]) -> str:
    """Return the question with its mistyped identifiers as `text` has them.

    An identifier is mistyped where the text lacks it and has one of as many parts (words between capitals, `_`, `-` and `.`) of which
    one alone differs, by an edit (two from eight letters on), begins alike and is in the question no word: `SSLSessionCachTimeout`.
    """
    for match in reversed(list(OF_PARTS.finditer(question))):
        name = match.group()
        if len(name) < MIN_IDENTIFIER or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            continue
        parts = _parts(name)
        near = {
            one
            for one in OF_PARTS.findall(text)
            if one[0].casefold() == name[0].casefold() and _is_mistyped(parts, _parts(one), is_word=is_word)
        }
        if len({one.casefold() for one in near}) == 1:
            question = f"{question[: match.start()]}{min(near)}{question[match.end() :]}"
    return question


def _parts(identifier: str) -> list[str]:
    return [part.casefold() for part in PART.findall(identifier)]


def _is_mistyped(asked: list[str], known: list[str], *, is_word: Callable[[str], bool]) -> bool:
    if len(asked) < 2 or len(asked) != len(known):
        return False
    differing = [(one, other) for one, other in zip(asked, known, strict=True) if one != other]
    if len(differing) != 1:
        return False
    one, other = differing[0]
    most = 2 if len(one) >= LONG_WORD else 1
    return (
        min(len(one), len(other)) >= MIN_LETTERS
        and one.isalpha()
        and other.isalpha()
        and not is_word(one)
        and OSA.distance(one, other) <= most
    )


def _nearest(word: str, candidates: Collection[str], known: Counter[str]) -> str:
    """The candidate within reach that is nearest, and among those the most frequent of the text; or empty."""
    most = 2 if len(word) >= LONG_WORD else 1
    choices = [
        one for one in candidates if one[0] == word[0] and abs(len(one) - len(word)) <= most and len(one) > most + 2
    ]
    if len(word) < SHORT_WORD:
        choices = [one for one in choices if sorted(one) == sorted(word)]
    near = process.extract(word, choices, scorer=OSA.distance, score_cutoff=most, limit=None)
    return min(near, key=lambda one: (one[1], -known[one[0]], one[0]))[0] if near else ""
