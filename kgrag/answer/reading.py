"""How a question is read before it is answered from the documents: what it asks at last, its typing errors, its language."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.models.base import Embedder
from kgrag.text.language import is_clearly_not_in, language
from kgrag.text.sentences import last_asking, sentences
from kgrag.text.spelling import corrected
from kgrag.text.words import FUNCTION_WORDS, content_terms, folded_words, plain, words
from kgrag.types import Evidence

__all__ = ["in_another_language", "language_not_read", "last_question", "without_typing_errors"]

LONG_QUESTION_WORDS = 40
MIN_TERMS = 3
MIN_WORDS, MOST_SAID = 4, 0.5
"""A question of at least so many words, of which the passages have at most this share, may be in another language."""
LEAST_ENGLISH = 0.3
"""Of an English question at least this share are function words (of a keyword search: fewer)."""
RULES_READ = "English"
"""The language whose words that ask, function words, stems and names the rules know."""


def last_question(question: str) -> str:
    """Return what a question of many words asks at last, with the sentence before where that alone says too little.

    A short question stays as it is.
    """
    if len(question.split()) < LONG_QUESTION_WORDS:
        return question
    said = [question[s.start : s.end] for s in sentences(question)]
    first = last = last_asking(said)
    while first > 0 and len(content_terms(" ".join(said[first : last + 1]))) < MIN_TERMS:
        first -= 1
    return " ".join(said[first : last + 1]) or question


def without_typing_errors(question: str, evidence: Sequence[Evidence], embedder: Embedder) -> str:
    """Return the question with words that the passages lack, and that are no words, as the passages have them."""
    return corrected(question, _text(evidence), is_word=lambda word: embedder.count_tokens(word) == 1)


def in_another_language(question: str, evidence: Sequence[Evidence]) -> tuple[str, str] | None:
    """Return the languages of question and passages where they differ.

    None where the passages have most words of the question, or where one that has a word of it is in its language: there may be several.
    """
    asked = {word for word in folded_words(question) if not any(c.isdigit() for c in word)}
    foreign_script = any(ord(c) > 0x2FF and c.isalpha() for c in question)
    if not evidence or (len(asked) < MIN_WORDS and not foreign_script):
        return None
    text = _text(evidence)
    if len(asked & folded_words(text)) > MOST_SAID * len(asked):
        return None
    spoken = language(question)
    said = "\n".join(piece.text for piece in evidence)  # without titles, which are names and repeat themselves
    if not is_clearly_not_in(said, spoken):
        return None
    telling = asked - FUNCTION_WORDS
    near = (piece for piece in evidence if telling & folded_words(piece.text))
    return None if any(language(piece.text) == spoken for piece in near) else (spoken, language(said))


def language_not_read(question: str, evidence: Sequence[Evidence]) -> str | None:
    """Return the language of passages that the rules cannot read, for a question that is not in English either; None for any other."""
    said = [plain(word) for word in words(question)]
    if not said or sum(word in FUNCTION_WORDS for word in said) >= LEAST_ENGLISH * len(said):
        return None
    written = language(_text(evidence))
    return None if RULES_READ in (written, language(question)) else written


def _text(evidence: Sequence[Evidence]) -> str:
    return "\n".join(f"{piece.title}\n{piece.section}\n{piece.text}" for piece in evidence)
