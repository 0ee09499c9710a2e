"""Summaries without a model: central names, terms that set a community apart, sentences of its documents with their citations."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from kgrag.communities.labels import label, things
from kgrag.communities.profile import EntityRow, Profile
from kgrag.communities.summary import CITED, Summary, listed
from kgrag.text.sentences import Sentence, sentences
from kgrag.text.values import is_value
from kgrag.text.words import FUNCTION_WORDS
from kgrag.types import Usage

__all__ = ["RulesSummariser"]

VERSION = "3"
KEY_TERMS = 8
SENTENCES = 4
SENTENCES_OF_PARTS = 6
SHORTEST_SENTENCE, LONGEST_SENTENCE = 30, 400
"""Characters of a sentence that is worth quoting."""
WORD_WEIGHT = 0.5
"""Of a word of a chunk, beside a member's name that weighs 1 and more."""
FEWEST_WORDS = 6
BRACKETED = re.compile(r"(?:\[[^\]]*\]\s*)+\.?")
"""A line of nothing but `[Product: X]` is no sentence."""
WORD = re.compile(r"[^\W\d_][\w-]{2,}")


class RulesSummariser:
    """The model-free `Summariser`: it quotes, and writes nothing of its own but the frame."""

    name = "rules"
    price_known = True
    fingerprint = f"rules {VERSION}"

    def __init__(self) -> None:
        self._communities_with: Counter[str] = Counter()
        self._count = 0

    def prepare(self, profiles: Sequence[Profile]) -> None:
        """Count in how many communities each term is."""
        self._communities_with = Counter(term for profile in profiles for term in _terms(profile))
        self._count = len(profiles)

    def estimate(self, profile: Profile) -> Usage:
        """Nothing: no model is asked."""
        return Usage()

    async def summarise(self, profile: Profile) -> Summary:
        """Summarise one community from its profile."""
        terms = self._key_terms(profile)
        chosen = _sentences_of_parts(profile) or _central_sentences(profile, terms) or _any_sentence(profile)
        names = [member.name for member in things(profile.members) or profile.members]
        frame = f"{profile.size} entities, above all {listed(names[:5], most=5)}."
        if profile.products and profile.products[0][1] < 1.0:
            frame += f" Named most in the documents on {listed([name for name, _ in profile.products[:3]])}."
        if profile.children:
            frame += f" Parts: {'; '.join(part.label for part in profile.children[:6])}."
        said = " ".join(f"{_quoted(text)} [{number}]" for number, text in chosen)
        return Summary(
            label=label(profile),
            summary=f"{frame} {said}".strip(),
            key_terms=tuple(terms),
            quotes=tuple(chosen),
        )

    def _key_terms(self, profile: Profile) -> list[str]:
        counts = _terms(profile)
        scored = sorted(
            counts,
            key=lambda term: (
                -counts[term] * math.log((1 + self._count) / (1 + self._communities_with[term]) + 1),
                term,
            ),
        )
        chosen: list[str] = []
        for term in scored:
            if not any(term.casefold() in other.casefold() for other in chosen):
                chosen.append(term)
            if len(chosen) == KEY_TERMS:
                break
        return chosen


def _terms(profile: Profile) -> dict[str, float]:
    """Names of members by how often they are named, and words of the chunks by in how many they are."""
    counts: defaultdict[str, float] = defaultdict(float)
    for member in profile.members:
        if not is_value(member.name, member.type):
            counts[member.name] += 1 + math.log1p(member.mentions)
    for chunk in profile.chunks:
        words = {word.casefold() for word in WORD.findall(chunk.text)}
        for word in words - FUNCTION_WORDS:
            counts[word] += WORD_WEIGHT
    return counts


def _sentences_of_parts(profile: Profile) -> list[tuple[int, str]]:
    """What a large community's summary is made of: the first sentence that each of its parts quotes, the largest part's first."""
    numbers = {chunk.id: number for number, chunk in enumerate(profile.chunks, start=1)}
    chosen: list[tuple[int, str]] = []
    for part in profile.children:
        quoted = ((numbers[c.chunk_id], c.quote) for c in part.citations if c.quote and c.chunk_id in numbers)
        new = next((one for one in quoted if one not in chosen), None)
        if new is not None:
            chosen.append(new)
        if len(chosen) == SENTENCES_OF_PARTS:
            break
    return chosen


def _any_sentence(profile: Profile) -> list[tuple[int, str]]:
    """The longest sentence of the first chunk that has one, where none is worth more: a summary says something of its documents."""
    for number, chunk in enumerate(profile.chunks, start=1):
        found = [s.text for s in sentences(chunk.text) if not BRACKETED.fullmatch(s.text)]
        if found:
            return [(number, max(found, key=len)[:LONGEST_SENTENCE])]
    return []


def _central_sentences(profile: Profile, terms: Sequence[str]) -> list[tuple[int, str]]:
    """Choose the sentences that name most members and terms that no chosen one names, each with its chunk's number."""
    weights = {member.name.casefold(): 1.0 / (1 + place) ** 0.5 for place, member in enumerate(profile.members)}
    for term in terms:
        weights.setdefault(term.casefold(), 0.3)
    pattern = _any_of(profile.members, terms)
    candidates: list[tuple[int, Sentence, set[str]]] = []
    for number, chunk in enumerate(profile.chunks, start=1):
        for sentence in sentences(chunk.text):
            if _is_worth_quoting(sentence):
                candidates.append((number, sentence, {found.casefold() for found in pattern.findall(sentence.text)}))
    chosen: list[tuple[int, Sentence]] = []
    while candidates and len(chosen) < SENTENCES:
        best = max(
            candidates,
            key=lambda one: (
                sum(weights[name] for name in sorted(one[2])) / (80 + len(one[1].text)),
                -one[0],
                -one[1].start,
            ),
        )
        if not best[2]:
            break
        chosen.append(best[:2])
        candidates = [
            (number, sentence, names - best[2]) for number, sentence, names in candidates if sentence is not best[1]
        ]
    return [(number, sentence.text) for number, sentence in sorted(chosen, key=lambda one: (one[0], one[1].start))]


def _is_worth_quoting(sentence: Sentence) -> bool:
    if not SHORTEST_SENTENCE <= len(sentence.text) <= LONGEST_SENTENCE or BRACKETED.fullmatch(sentence.text):
        return False
    if sentence.cells:
        return sum(bool(value) for _, value in sentence.cells) > 1
    return len(sentence.text.split()) >= FEWEST_WORDS


def _any_of(members: Sequence[EntityRow], terms: Sequence[str]) -> re.Pattern[str]:
    names = sorted(
        {name for name in (*(member.name for member in members), *terms) if name}, key=lambda n: (-len(n), n)
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)" if names else r"(?!)", re.IGNORECASE)


def _quoted(text: str) -> str:
    """End a sentence; a number that its author put between brackets is no citation of ours."""
    text = CITED.sub(r" (\1)", text)
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."
