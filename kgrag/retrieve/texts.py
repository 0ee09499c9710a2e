"""Texts of evidence, read: each is divided into words once, for every step that looks at its words."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import filterfalse, pairwise

from kgrag.text.sentences import each_sentence
from kgrag.text.words import FUNCTION_WORDS, plain_words, stem

__all__ = ["ReadText", "read_text"]

REMEMBERED_TEXTS = 2000
"""Of pieces that were read lately: a warm store asks for the same ones again."""

DIGITS = frozenset("0123456789")


class ReadText:
    """A text with what steps ask of it, each made when it is first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def words(self) -> list[str]:
        """Its words in order, each `plain`."""
        return plain_words(self._text)

    @cached_property
    def content(self) -> list[str]:
        """Those of them that are no function words."""
        return list(filterfalse(FUNCTION_WORDS.__contains__, self.words))

    @cached_property
    def stems(self) -> list[str]:
        """Their stems, in order. A number is its own; there are too many of them to be remembered."""
        return [
            word if word[0] in DIGITS and "'" not in word and "’" not in word else stem(word) for word in self.content
        ]

    @cached_property
    def terms(self) -> frozenset[str]:
        """The same, each once."""
        return frozenset(self.stems)

    def count_pairs(self, pairs: frozenset[tuple[str, str]]) -> int:
        """Count those pairs of stems that stand beside each other among its content words."""
        there = [pair for pair in pairs if pair[0] in self.terms and pair[1] in self.terms]
        return len(frozenset(pairwise(self.stems)).intersection(there)) if there else 0

    def said_together(self, asked: frozenset[str]) -> list[frozenset[str]]:
        """Return which of the stems `asked` for stand together in a sentence, without those that are part of one before."""
        said = asked & self.terms
        if len(said) < 2:
            return [said] if said else []  # no sentence need be looked for
        forms = {(word, one) for word, one in zip(self.content, self.stems, strict=True) if one in said}
        together: list[frozenset[str]] = []

        def adds(part: str) -> bool:
            """Whether a part of the text may have what none before has: most have none of the words, or one that is known."""
            folded = part.casefold()
            there = {stemmed for word, stemmed in forms if word in folded}
            return len(there) > 1 or (bool(there) and not any(map(there.issubset, together)))

        for sentence in each_sentence(self._text, of=adds):
            if not adds(sentence.text):
                continue
            words = f" {' '.join(plain_words(sentence.text))} "
            has = {stemmed for word, stemmed in forms if f" {word} " in words}
            if has and not any(map(has.issubset, together)):
                together.append(frozenset(has))
                if len(has) == len(said):
                    break
        return together


@lru_cache(maxsize=REMEMBERED_TEXTS)
def read_text(text: str) -> ReadText:
    """Return a text to ask about its words."""
    return ReadText(text)
