"""How two names compare: what keeps them apart for good, and how likely they are one thing when no model is asked.

`conflict` is a matter of facts: names of one thing state the same ones. `name_similarity` scores names with the same facts by explicit
rules, each one way in which writers vary a name, with its score and its reason; what none of them explains stays below the default
threshold, however similar the letters are: Iran is one letter from Iraq, and `causal` is no misspelt `casual`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from rapidfuzz.distance import Indel

from kgrag.resolve.keys import folded, plain, transcribed
from kgrag.resolve.reading import NameReading
from kgrag.resolve.symbols import is_symbol
from kgrag.resolve.type_families import family
from kgrag.text.abbreviations import defined_abbreviations, spells_out
from kgrag.text.names import LEGAL_FORMS
from kgrag.text.words import FUNCTION_WORDS

__all__ = ["DEFAULT_THRESHOLD", "CorpusEvidence", "NameSimilarity", "conflict", "model_conflict", "name_similarity"]

DEFAULT_THRESHOLD = 0.9
BOARD_WORDS = frozenset(["arduino", "board", "boards", "dev", "development"])
"""Words that a product's name has or has not: the safe ones among the generic words (a module is not its chip)."""
CERTAIN_LEGAL_FORMS = frozenset(["inc", "incorporated", "llc", "gmbh", "ltd", "corp", "corporation", "plc", "srl"])
"""Those that are nothing else; `limited`, `AB`, `company` are taken off organisations only."""
NEVER_COMPANIES = frozenset(["person", "place", "event", "quantity", "date", "work", "document"])
OF_ONE_THING = frozenset(["person", "place", "organization", "event", "work"])
"""Families of types whose names have no plural: `Adams`, `Wales`, `Aliens`."""
ACRONYM_LETTERS = 6
"""Longer words in capitals are shouted."""
UNEXPLAINED = 0.85
"""The highest score of names that no rule explains."""
PARENTHESIS = re.compile(r"^(?P<long>[^()]+?)\s*\((?P<short>[^()\s]{2,8})\)\s*$")
WORD = re.compile(r"[^\W\d_]+")
IDENTIFIER = re.compile(r"^(?=\S+$)(?:-|.*(?:[_/]|\.\w|\(\)$|[a-z][A-Z]))")
"""What has a plural of its own: `server_name` is one setting, `server_names` another, `/etc/host` is not `/etc/hosts`."""


class NameSimilarity(NamedTuple):
    """A score in [0, 1] and what it was given for."""

    score: float
    reason: str


class CorpusEvidence(NamedTuple):
    """What the documents say about words: which are written in lower case, and what abbreviations they define."""

    ordinary: Set[str] = frozenset()
    expansions: Mapping[str, str] = {}
    """Abbreviation to its one long form, both as letters without plural; one with two long forms is left out."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> CorpusEvidence:
        """Read texts: chunks, names, descriptions."""
        ordinary: set[str] = set()
        expansions: dict[str, set[str]] = {}
        for text in texts:
            ordinary.update(word for word in WORD.findall(text) if word[0].islower())
            if "(" in text:
                for long, short in defined_abbreviations(text):
                    expansions.setdefault(_letters(short), set()).add(_letters(long))
        return cls(ordinary, {short: next(iter(longs)) for short, longs in expansions.items() if len(longs) == 1})


NO_EVIDENCE = CorpusEvidence()


def conflict(one: NameReading, other: NameReading) -> str:
    """Say why two names can never be one thing; "" where nothing forbids it."""
    if one.signature != other.signature:
        return f"numbers differ: {one.signature or 'none'} against {other.signature or 'none'}"
    return model_conflict(one, other)


def model_conflict(one: NameReading, other: NameReading) -> str:
    """Say which model number a name has that another with the same digits has not: `LPS22HB` and `LPS22HH`, `A7` and `7`.

    One that stands in the other in another spelling is no conflict: `ESP32S3` in `ESP32-S3`, `X-100` in `X 100`.
    """
    if one.form == other.form or not (one.models or other.models):
        return ""
    mine = next((model for model in sorted(one.models - other.models) if not _has_model(other, model)), None)
    theirs = next((model for model in sorted(other.models - one.models) if not _has_model(one, model)), None)
    return f"model numbers differ: {mine or 'none'} against {theirs or 'none'}" if mine or theirs else ""


def _has_model(reading: NameReading, model: str) -> bool:
    """Whether a name has a model number as pieces of its own, with nothing glued to it."""
    if any(known != model and known.startswith(model) for known in reading.models):
        return False
    pieces = [word.strip("⟨⟩") for word in reading.words]
    for first in range(len(pieces)):
        joined = ""
        for piece in pieces[first:]:
            joined += piece
            if joined == model:
                return True
            if not model.startswith(joined):
                break
    return False


def name_similarity(
    one: NameReading,
    other: NameReading,
    name: str,
    other_name: str,
    *,
    types: tuple[str, str] = ("", ""),
    evidence: CorpusEvidence = NO_EVIDENCE,
) -> NameSimilarity:
    """Score two names by the rule that explains their difference; the names as written are for rules about capitals and punctuation."""
    if one.form == other.form:
        return NameSimilarity(1.0, "same normal form")
    if _symbols(one) != _symbols(other):
        return NameSimilarity(UNEXPLAINED, "differ in a symbol")
    a, b = one.words, other.words
    for write, score, what in ((folded, 0.97, "accents"), (transcribed, 0.95, "a transcription of letters")):
        if len(a) == len(b) and [write(word) for word in a] == [write(word) for word in b]:
            if _are_proper([x for x, y in zip(a, b, strict=True) if x != y], name, evidence) and _are_proper(
                [y for x, y in zip(a, b, strict=True) if x != y], other_name, evidence
            ):
                return NameSimilarity(score, f"differ in {what}")
            return NameSimilarity(UNEXPLAINED, f"differ in {what}, which may make another word")
    mine, theirs = [plain(word) for word in a], [plain(word) for word in b]
    if "".join(mine) == "".join(theirs):
        if reason := _no_plural(name, other_name, types):
            return NameSimilarity(UNEXPLAINED, f"differ in plural, {reason}")
        return NameSimilarity(0.96, "differ in plural")
    left, right = _without_small_words(a, name, other_name), _without_small_words(b, other_name, name)
    if left and left == right:
        return NameSimilarity(0.95, "differ in an article or in `and`")
    left, right = _without_legal_form(left, name, types[0]), _without_legal_form(right, other_name, types[1])
    if left and left == right:
        return NameSimilarity(0.94, "differ in the legal form of a company")
    left, right = _without_board_words(mine), _without_board_words(theirs)
    if left == right and any(_is_number(word) for word in left) and any(word[0] != "⟨" for word in left):
        return NameSimilarity(0.93, "differ in a generic word beside a numbered name")
    for long, short in ((name, b), (other_name, a)):
        match = PARENTHESIS.match(long)
        if (
            match
            and spells_out(match["short"], match["long"]) == match["long"]
            and _letters(match["long"]) == _letters(" ".join(short))
        ):
            return NameSimilarity(0.94, f"the one adds its own abbreviation, {match['short']}")
    for short_words, long_words in ((mine, theirs), (theirs, mine)):
        if evidence.expansions.get("".join(short_words)) == "".join(long_words):
            return NameSimilarity(0.93, "the documents define the one as the abbreviation of the other")
    if sorted(mine) == sorted(theirs):
        if ("," in name) != ("," in other_name) and _inverted(mine, theirs):
            return NameSimilarity(0.92, "the one is inverted at a comma")
        return NameSimilarity(UNEXPLAINED, "same words in another order")
    ratio = Indel.normalized_similarity("".join(mine), "".join(theirs))
    return NameSimilarity(round(min(UNEXPLAINED, ratio) * 0.9, 2), "similar letters, no rule explains the difference")


def _symbols(reading: NameReading) -> str:
    """The symbols of a name that mean something. A name of words has none."""
    return "" if reading.form.isalnum() else "".join(filter(is_symbol, reading.form))


def _is_number(word: str) -> bool:
    return word[0] == "⟨" and any(map(str.isdigit, word))


def _are_proper(words: Sequence[str], name: str, evidence: CorpusEvidence) -> bool:
    """Whether words are proper names: capitals as the name writes them, and the documents write none of them in lower case."""
    capitals = {word.casefold() for word in WORD.findall(name) if word[0].isupper()}
    return capitals.issuperset(words) and evidence.ordinary.isdisjoint(words)


def _no_plural(name: str, other: str, types: tuple[str, str]) -> str:
    """Say why an `s` at the end is no plural: `HTTPS` is no several HTTP, `Adams` no several Adam, `Killers` a band."""
    if not OF_ONE_THING.isdisjoint(map(family, types)):
        return "and such names have none"
    short, long = sorted((WORD.findall(name), WORD.findall(other)), key=lambda words: sum(map(len, words)))
    different = [(x, y) for x, y in zip(short, long, strict=False) if x.casefold() != y.casefold()]
    plural_acronym = bool(different) and all(x.isupper() and len(x) > 1 and y == f"{x}s" for x, y in different)
    if plural_acronym:
        return ""
    if IDENTIFIER.search(name) or IDENTIFIER.search(other):
        return "and are identifiers"
    if any(word.isupper() and 1 < len(word) <= ACRONYM_LETTERS for pair in different for word in pair):
        return "and may be acronyms"
    if " " not in name and " " not in other and name[:1].isupper() and other[:1].isupper():
        return "and may be names of their own"
    return "and may be names of their own" if name.isupper() != other.isupper() else ""


def _without_board_words(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in BOARD_WORDS]


def _without_small_words(words: Sequence[str], name: str, other: str) -> list[str]:
    """Take off an article that begins the name, `and` between words, and `the` within, where they are not a part of the name.

    `AND gate`, `The Who`, `National League A` have names made of such words; `The Beatles` are the Beatles.
    """
    written = WORD.findall(name)
    if not written or len(words) < 2:
        return list(words)
    kept = [
        word
        for at, word in enumerate(words)
        if not (
            0 < at < len(words) - 1
            and word in ("and", "the")
            and word.upper() not in written
            and word.title() not in written
        )
    ]
    first, rest = written[0], written[1:]
    if kept[0] not in ("the", "a", "an") or first.casefold() != kept[0] or (first.isupper() and len(first) > 1):
        return kept
    sentence_like = first.islower() or (bool(rest) and rest[0][0].islower())
    numbered = kept[0] == "the" and any(map(_is_number, kept))
    long = kept[0] == "the" and len(rest) > 1
    as_there = (
        kept[0] == "the"
        and rest == WORD.findall(other)
        and rest[0].casefold() not in FUNCTION_WORDS
        and rest[0][0].isupper()
    )
    return kept[1:] if sentence_like or numbered or long or as_there else kept


def _without_legal_form(words: list[str], name: str, type_: str) -> list[str]:
    """Take the legal form off an organisation, where it stands last; `American company` is no company called American."""
    if len(words) < 2 or words[-1] not in LEGAL_FORMS or (words[-1] == "company" and len(words) == 2):
        return words
    kind = family(type_)
    certain = words[-1] in CERTAIN_LEGAL_FORMS and name[:1].isupper() and kind not in NEVER_COMPANIES
    return words[:-1] if kind == "organization" or certain else words


def _letters(text: str) -> str:
    return "".join(plain(word.casefold()) for word in re.findall(r"[^\W_]+", text))


def _inverted(mine: list[str], theirs: list[str]) -> bool:
    return any(mine[cut:] + mine[:cut] == theirs for cut in range(1, len(mine)))
