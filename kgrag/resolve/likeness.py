"""How likely two names are one thing when no model is asked: explicit rules, each with its score and its reason.

Only names with the same facts come here. Each rule is one way in which writers vary a name; what none of them explains gets a score
that stays below the default threshold, however similar the letters are: Iran is one letter from Iraq.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from rapidfuzz.distance import OSA, Indel

from kgrag.resolve.keys import LEGAL_FORMS, SMALL_WORDS, folded, plain, singular
from kgrag.resolve.reading import KEPT_SYMBOLS, NameReading

__all__ = ["DEFAULT_THRESHOLD", "Likeness", "likeness"]

DEFAULT_THRESHOLD = 0.9
BOARD_WORDS = frozenset(["arduino", "board", "boards", "dev", "development"])
"""Words that a product's name has or has not: the safe ones among the generic words (a module is not its chip)."""
ARTICLES = frozenset(("the", "and"))
"""Words that come and go without another meaning; `of` and `in` do not."""
LONG_WORD = 6
"""Letters from which one slip of the pen is more likely than another word."""
UNEXPLAINED = 0.85
"""The highest score of names that no rule explains."""
PARENTHESIS = re.compile(r"^(?P<long>[^()]+?)\s*\((?P<short>[^()\s]{2,8})\)\s*$")


class Likeness(NamedTuple):
    """A score in [0, 1] and what it was given for."""

    score: float
    reason: str


def likeness(
    one: NameReading, other: NameReading, name: str = "", other_name: str = "", *, generic: Set[str] = BOARD_WORDS
) -> Likeness:
    """Score two names by the rule that explains their difference; the names as written are for rules about punctuation."""
    if one.form == other.form:
        return Likeness(1.0, "same normal form")
    if _symbols(one) != _symbols(other):
        return Likeness(UNEXPLAINED, "differ in a symbol")
    a, b = one.words, other.words
    if "".join(map(folded, a)) == "".join(map(folded, b)):
        return Likeness(0.97, "differ in accents")
    mine, theirs = [plain(word) for word in a], [plain(word) for word in b]
    if "".join(mine) == "".join(theirs):
        if _may_be_a_name_of_its_own(name, other_name):
            return Likeness(UNEXPLAINED, "differ in plural, and may be names of their own")
        return Likeness(0.96, "differ in plural")
    left, right = _without(_without_first_article(a), ARTICLES), _without(_without_first_article(b), ARTICLES)
    if left and left == right:
        return Likeness(0.95, "differ in an article or in `and`")
    if left and _without_legal_form(left) == _without_legal_form(right):
        return Likeness(0.94, "differ in the legal form of a company")
    left, right = _without(mine, generic), _without(theirs, generic)
    if left == right and any(word[0] == "⟨" for word in left) and any(word[0] != "⟨" for word in left):
        return Likeness(0.93, "differ in a generic word beside a numbered name")
    for long, short in ((name, b), (other_name, a)):
        match = PARENTHESIS.match(long)
        if match and _spells_out(match["long"], match["short"]) and _letters(match["long"]) == "".join(short):
            return Likeness(0.94, f"the one adds its own abbreviation, {match['short']}")
    if sorted(mine) == sorted(theirs):
        if ("," in name) != ("," in other_name) and _inverted(mine, theirs):
            return Likeness(0.92, "the one is inverted at a comma")
        return Likeness(UNEXPLAINED, "same words in another order")
    if len(mine) == len(theirs):
        different = [(x, y) for x, y in zip(mine, theirs, strict=True) if x != y]
        if len(different) == 1:
            x, y = different[0]
            if min(len(x), len(y)) >= LONG_WORD and x[0] != "⟨" and OSA.distance(x, y, score_cutoff=1) == 1:
                if _is_slip(x, y):
                    return Likeness(0.91, f"`{x}` and `{y}` differ by a doubled or swapped letter")
                return Likeness(UNEXPLAINED, f"`{x}` and `{y}` differ by one letter")
    ratio = Indel.normalized_similarity("".join(mine), "".join(theirs))
    return Likeness(round(min(UNEXPLAINED, ratio) * 0.9, 2), "similar letters, no rule explains the difference")


def _symbols(reading: NameReading) -> str:
    """The symbols of a name that mean something. A name of words has none."""
    if reading.form.isalnum():
        return ""
    return "".join(c for c in reading.form if c in KEPT_SYMBOLS)


def _without(words: Sequence[str], dropped: Set[str]) -> list[str]:
    return [word for word in words if word not in dropped]


def _without_first_article(words: Sequence[str]) -> Sequence[str]:
    """`A` is an article at the beginning only: `National League A` is another league."""
    return words[1:] if len(words) > 1 and words[0] in ("a", "an") and words[1][0] != "⟨" else words


def _without_legal_form(words: list[str]) -> list[str]:
    """Take the legal form off, which stands last; `American company` is no company called American."""
    if len(words) > 1 and words[-1] in LEGAL_FORMS and not (words[-1] == "company" and len(words) == 2):
        return words[:-1]
    return words


def _may_be_a_name_of_its_own(name: str, other: str) -> bool:
    """Whether a singular and a plural look like names: `Killers` is a band, `MAPS` an abbreviation."""
    one_word = " " not in name and " " not in other
    return (one_word and (name[:1].isupper() and other[:1].isupper())) or name.isupper() != other.isupper()


def _spells_out(long: str, short: str) -> bool:
    """Whether an abbreviation is made of the first letters of the words."""
    initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", long) if word.casefold() not in SMALL_WORDS)
    return initials.casefold() == re.sub(r"[^\w]", "", short).casefold()


def _letters(text: str) -> str:
    return "".join(re.findall(r"[^\W\d_]+", text.casefold()))


def _inverted(mine: list[str], theirs: list[str]) -> bool:
    return any(mine[cut:] + mine[:cut] == theirs for cut in range(1, len(mine)))


def _is_slip(x: str, y: str) -> bool:
    """Whether two words differ by two letters swapped, or by a letter doubled; not at the end, where endings differ."""
    if len(x) == len(y):
        i = next(i for i in range(len(x)) if x[i] != y[i])
        return i + 1 < len(x) and (x[i], x[i + 1]) == (y[i + 1], y[i]) and i + 2 < len(x)
    long, short = (x, y) if len(x) > len(y) else (y, x)
    i = next((i for i in range(len(short)) if long[i] != short[i]), len(short))
    return 0 < i < len(short) and long[i] == long[i - 1] and singular(long) != short
