"""Texts of evidence, read: each is divided into words once, for every step that looks at its words."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import filterfalse, pairwise

from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS, content_terms, plain_words, stem

__all__ = ["ReadText", "read_text"]

REMEMBERED_TEXTS = 2000
"""Of pieces that were read lately: a warm store asks for the same ones again."""


class ReadText:
    """A text with what steps ask of it, each made when it is first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._by_sentence: dict[int, frozenset[str]] = {}

    @cached_property
    def words(self) -> list[str]:
        """Its words in order, each `plain`."""
        return plain_words(self._text)

    @cached_property
    def stems(self) -> list[str]:
        """The stems of its content words, in order."""
        return list(map(stem, filterfalse(FUNCTION_WORDS.__contains__, self.words)))

    @cached_property
    def terms(self) -> frozenset[str]:
        """The same, each once."""
        return frozenset(self.stems)

    @cached_property
    def sentences(self) -> list[tuple[str, str]]:
        """Its sentences, list items and table rows, each as written and case folded."""
        return [(sentence.text, sentence.text.casefold()) for sentence in sentences(self._text)]

    def count_pairs(self, pairs: frozenset[tuple[str, str]]) -> int:
        """Count those pairs of stems that stand beside each other among its content words."""
        there = [pair for pair in pairs if pair[0] in self.terms and pair[1] in self.terms]
        return len(frozenset(pairwise(self.stems)).intersection(there)) if there else 0

    def said_together(self, asked: frozenset[str]) -> list[frozenset[str]]:
        """Return which of the stems `asked` for stand together in a sentence, without those that are part of what another one has.

        A sentence that has no more of their letters than one before has words is not divided into words.
        """
        said = asked & self.terms
        if not said:
            return []
        forms = [(word, stemmed) for word in set(self.words) if (stemmed := stem(word)) in said]
        together: list[frozenset[str]] = []
        for place, (_, folded) in enumerate(self.sentences):
            may = {stemmed for word, stemmed in forms if word in folded}
            if may and not any(may <= one for one in together):
                has = said & self._terms_of(place)
                if has and not any(has <= one for one in together):
                    together.append(has)
        return together

    def _terms_of(self, place: int) -> frozenset[str]:
        known = self._by_sentence.get(place)
        if known is None:
            known = self._by_sentence[place] = content_terms(self.sentences[place][0])
        return known


@lru_cache(maxsize=REMEMBERED_TEXTS)
def read_text(text: str) -> ReadText:
    """Return a text to ask about its words."""
    return ReadText(text)
