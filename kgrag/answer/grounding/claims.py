"""The sentences of an answer, each with the passages that it cites and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgrag.answer.citations import citation_marks, numbers_of_mark, without_marks
from kgrag.text.negation import negates
from kgrag.text.sentences import sentences
from kgrag.text.words import content_terms

__all__ = [
    "Claim",
    "Thresholds",
    "claims_of",
    "set_own_knowledge_apart",
    "ungrounded_notes",
    "with_claims_marked",
    "without_ungrounded",
]

UNVERIFIED = "[unverified]"
"""What a sentence that fails is marked with in the text."""
OWN_KNOWLEDGE = "[own knowledge]"
"""What a sentence is marked with that the model may add from elsewhere."""
LACK = re.compile(
    r"\b(?:passages?|documents?|documentation|datasheets?|manuals?|sources?|evidence|text)\b[^.;]{0,60}"
    r"\b(?:(?:do|does|did) not|don't|doesn't|never|no\b|nowhere|nothing|lacks?)"
    r"|\b(?:they|it) (?:(?:do|does|did) not|don't|doesn't|never) (?:say|state|mention|specif|describe|indicate|document|tell|name)"
    r"|\b(?:is|are|was|were) (?:not|nowhere) (?:said|stated|mentioned|documented|specified|described|given|named|found)"
    r"|\bno (?:passage|document|information|mention)",
    re.IGNORECASE,
)
"""A sentence about what the documents do not say."""
ENUMERATION = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+")
LEAST_COVERAGE, OTHER_WORDS_SIMILARITY = 0.2, 0.75
"""A sentence hardly a word of which is in what it cites, names aside, has to say the same in other words."""
MIN_CONTENT_TERMS = 3


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below `support` (similarity plus `coverage_weight` times the share of content terms) a sentence is not grounded."""

    support: float = 0.52
    coverage_weight: float = 0.6
    opposite: float = 0.64
    """From this similarity on a sentence and a statement that differ in a negation are taken to contradict each other."""


@dataclass(slots=True)
class Claim:
    """A sentence of an answer, `text[start:end]` with its marks, the passages that it is held against, and what is wrong with it."""

    text: str
    """Without marks."""
    start: int
    end: int
    cited: tuple[int, ...]
    """Numbers of passages, from 1: those of its marks, else of the next sentence of its line with some, else all of the answer's."""
    problems: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """Of each problem: quantity, number, name, subject, support, opposite."""
    similarity: float = 1.0
    coverage: float = 1.0
    marked: bool = False
    """Whether it cites a passage itself."""
    own_knowledge: bool = False
    """Whether it is what the model knows from elsewhere."""
    opposes: bool = False
    """Whether it and the statement that it is nearest to differ in a negation."""

    @property
    def marks(self) -> str:
        """The passages that it cites, as an answer writes them."""
        return ", ".join(f"[{number}]" for number in self.cited)

    @property
    def has_to_be_said(self) -> bool:
        """Whether it claims something that a passage has to say: no heading, no `Yes.`, nothing about what the documents lack."""
        return _says_something(self.text) and not LACK.search(self.text)

    @property
    def denies(self) -> bool:
        """Whether it denies something, which the question may name: the passages need not."""
        return negates(self.text) or LACK.search(self.text) is not None

    def fails_by(self, limits: Thresholds) -> str:
        """Say how its meaning fails: `support`, `opposite`, or not at all."""
        unsaid = self.coverage < LEAST_COVERAGE and self.similarity < OTHER_WORDS_SIMILARITY
        if unsaid or self.similarity + limits.coverage_weight * self.coverage < limits.support:
            return "support"
        return "opposite" if self.opposes and self.similarity >= limits.opposite else ""

    def fail(self, kind: str, problem: str) -> None:
        """Note a problem."""
        self.kinds.append(kind)
        self.problems.append(problem)


def claims_of(text: str) -> list[Claim]:
    """Split an answer into its sentences, each with the passages that it cites."""
    found: list[Claim] = []
    lines: list[int] = []
    for sentence in sentences(text):
        start, end = sentence.start, sentence.end
        body = text[start:end]
        leading = _leading_marks(body)
        if leading and found and not text[found[-1].end : start].count("\n"):
            # `... 3.3 V. [1] It weighs ...`: a mark behind the full stop is that of the sentence before.
            found[-1].end = start + leading
            found[-1].cited = tuple(dict.fromkeys((*found[-1].cited, *_cited(body[:leading]))))
            start += len(body) - len(body[leading:].lstrip())
            body = text[start:end]
        if not body.strip():
            continue
        plain = without_marks(body) if sentence.cells else " ".join(without_marks(body).split())
        if not re.search(r"\w", plain):
            continue
        found.append(Claim(ENUMERATION.sub("", plain), start, end, _cited(body)))
        lines.append(text.count("\n", 0, start))
    every = tuple(dict.fromkeys(n for claim in found for n in claim.cited))
    marked = [claim.cited for claim in found]
    for place, claim in enumerate(found):
        claim.marked = bool(claim.cited)
        if not claim.cited:
            following = (marked[k] for k in range(place + 1, len(found)) if lines[k] == lines[place] and marked[k])
            claim.cited = next(following, every)
    return found


def set_own_knowledge_apart(claims: Sequence[Claim]) -> None:
    """Take sentences that nothing supports and that cite nothing themselves for what the model knows from elsewhere: they do not fail."""
    for claim in claims:
        if claim.problems and not claim.marked:
            claim.own_knowledge, claim.problems = True, []


def ungrounded_notes(claims: Sequence[Claim]) -> list[str]:
    """Say what is wrong with each sentence that fails, and which are own knowledge."""
    own = [
        f"From the model's own knowledge, not from the documents: “{claim.text}”"
        for claim in claims
        if claim.own_knowledge
    ]
    return own + [f"Not grounded: “{claim.text}”: {'; '.join(claim.problems)}." for claim in claims if claim.problems]


def with_claims_marked(text: str, claims: Sequence[Claim]) -> str:
    """Mark the sentences that fail, and those that are own knowledge."""
    for claim in reversed(claims):
        if claim.problems or claim.own_knowledge:
            text = f"{text[: claim.end]} {UNVERIFIED if claim.problems else OWN_KNOWLEDGE}{text[claim.end :]}"
    return text


def without_ungrounded(text: str, claims: Sequence[Claim]) -> str:
    """Take the sentences that fail out; empty where nothing that says something is left."""
    left = [claim for claim in claims if not claim.problems and _says_something(claim.text)]
    if not left:
        return ""
    for claim in reversed(claims):
        if claim.problems:
            text = text[: claim.start].rstrip(" ") + text[claim.end :]
        elif claim.own_knowledge:
            text = f"{text[: claim.end]} {OWN_KNOWLEDGE}{text[claim.end :]}"
    lines = [line for line in text.splitlines() if re.search(r"\w", line) or not line.strip()]
    return "\n".join(lines).strip()


def _leading_marks(body: str) -> int:
    end = 0
    for mark in citation_marks(body):
        if mark.start() != end:
            break
        end = mark.end()
    return end


def _cited(body: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(n for mark in citation_marks(body) for n in numbers_of_mark(mark)))


def _says_something(text: str) -> bool:
    """Whether a sentence makes a claim: not a heading, not `Yes.`"""
    terms = content_terms(text)
    return not text.rstrip().endswith(":") and (len(terms) >= MIN_CONTENT_TERMS or any(c.isdigit() for c in text))
