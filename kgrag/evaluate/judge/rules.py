"""The judge that needs no model: words, numbers and sentences of the answer against those of the reference and of the evidence.

It sees whether the same things are said in the same or inflected words and with the same numbers. It does not see paraphrase by other
words, whether a conclusion follows, or tone: `BLIND` says so, and reports repeat it. What it cannot judge it leaves out (None).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from kgrag.evaluate.judge.metrics import is_refusal, nugget_score
from kgrag.evaluate.judge.verdicts import (
    CitedSentence,
    CompletenessVerdict,
    CorrectnessVerdict,
    Nugget,
    NuggetVerdict,
    StatementVerdict,
    Support,
)
from kgrag.evaluate.overlap import Overlap
from kgrag.text.quantities import numbers, plain_number
from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS, stems

__all__ = [
    "BLIND",
    "cited_sentences",
    "completeness",
    "correctness",
    "nugget_verdicts",
    "nuggets_of",
    "preference",
    "reference_overlap",
    "statements",
]

BLIND = (
    "rules compares words, inflections and numbers: it does not see paraphrase in other words, whether a conclusion follows, relevance "
    "or helpfulness"
)
SUPPORTED, PARTLY = 0.7, 0.4
"""Share of a nugget's or statement's own terms that a text must have; in between it is partly said."""
SHORT_REFERENCE_TERMS = 8
"""A reference of at most so many terms is one thing (a name, a value), not several facts."""
READ_TEXTS = 512
"""That are remembered as read: the evidence of an answer is held against each of its statements and each gold fact."""
MARK = re.compile(r"\[(\d+(?:\s*[,;-]\s*\d+)*)\]")
POLARITY = re.compile(r"\b(?:yes|no|not|never|neither|none|nor)\b|n't\b", re.IGNORECASE)


@lru_cache(maxsize=READ_TEXTS)
def _terms(text: str) -> Counter[str]:
    """Count the stems of a text's content words; numbers are written alike: `1,260` and `1260`, `0.50` and `0.5`.

    What is returned is remembered: it must not be changed.
    """
    return Counter(plain_number(stem) for word, stem in stems(text) if word not in FUNCTION_WORDS)


@lru_cache(maxsize=READ_TEXTS)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(numbers(MARK.sub(" ", text)))


def _own_terms(text: str, question: str) -> Counter[str]:
    """Return the terms that a text does not owe to the question: saying the question again is no answer."""
    asked = _terms(question)
    own = Counter({term: count for term, count in _terms(text).items() if term not in asked})
    return own or _terms(text)


def reference_overlap(question: str, reference: str, answer: str) -> Overlap:
    """Compare answer and reference by their terms, those of the question left out on both sides: precision and recall, counted."""
    said, right = _own_terms(answer, question), _own_terms(reference, question)
    common = sum((said & right).values())
    return Overlap(common / max(said.total(), 1), common / max(right.total(), 1))


def preference(question: str, reference: str, answer: str) -> float:
    """Return how good a long answer is against a reference, in [0, 1]; 0 for a refusal. Only differences on one question mean something."""
    return 0.0 if is_refusal(answer) else reference_overlap(question, reference, answer).f1


def correctness(question: str, references: Sequence[str], answer: str) -> CorrectnessVerdict:
    """Compare an answer with the best of its reference answers.

    `severity` is high where the answer gives other numbers than the reference and none of its; medium where some are missing.
    """
    if is_refusal(answer):
        return CorrectnessVerdict(answered=False, reason="the answer says that it does not answer")
    verdicts = [_against(question, reference, answer) for reference in references]
    return max(verdicts, key=lambda verdict: (verdict.severity != "high", verdict.coverage))


def _against(question: str, reference: str, answer: str) -> CorrectnessVerdict:
    polar = _polarity(reference)
    if polar is not None:
        agrees = _polarity(answer, leading=False) == polar
        return CorrectnessVerdict(answered=True, coverage=float(agrees), reason=f"expected {polar}")
    chosen = _choice(question, reference, answer)
    if chosen is not None:
        return CorrectnessVerdict(answered=True, coverage=float(chosen), reason=f"a choice; expected {reference}")
    right, said = _numbers(reference), _numbers(answer)
    lost = right - said
    nuggets = nuggets_of(reference)
    if len(nuggets) > 1:
        coverage = nugget_score(nugget_verdicts(question, nuggets, answer, ())) or 0.0
    else:  # one thing: its share counts, and an answer all of whose words are in it says it shortly
        overlap = reference_overlap(question, reference, answer)
        coverage = overlap.recall if lost else max(overlap.recall, overlap.precision)
    others = said - right - _numbers(question)
    return CorrectnessVerdict(
        answered=True,
        coverage=coverage,
        severity="high" if lost and lost == right and others else "medium" if lost else "low",
        reason=f"numbers missing: {', '.join(sorted(lost))}" if lost else "",
    )


def _polarity(text: str, *, leading: bool = True) -> str | None:
    """Read yes or no: the first word of a reference, any negation of an answer."""
    first = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    if first is not None:
        return first[1].lower() if not leading or len(text.split()) <= 3 else None
    if leading:
        return None
    return "no" if POLARITY.search(text) else "yes"


def _choice(question: str, reference: str, answer: str) -> bool | None:
    """Whether the answer takes the alternative that is right, where reference and question name it; None where there is no choice.

    Of several alternatives in an answer the first is the one that it takes: `X-1000 draws more than X-100`.
    """
    right = [stem for word, stem in stems(reference) if word not in FUNCTION_WORDS]
    asked = [stem for _, stem in stems(question)]
    if (
        not right
        or len(right) > 4
        or not set(right) <= set(asked)
        or not re.search(r"\b(?:or|between|which|versus|vs)\b", question, re.I)
    ):
        return None
    # What the alternatives share (the X of X-100 and X-1000) tells none from another.
    right = [term for term in right if asked.count(term) == 1] or right
    said = [stem for word, stem in stems(answer) if word not in FUNCTION_WORDS]
    capital = (
        {stem for word, stem in _written(question) if word[:1].isupper() or word[:1].isdigit()}
        - set(right)
        - {term for term in asked if asked.count(term) > 1}
    )
    places = [said.index(term) for term in right if term in said]
    others = [said.index(term) for term in capital if term in said]
    return bool(places) and (not others or min(places) <= min(others))


def _written(text: str) -> list[tuple[str, str]]:
    return [(word, stem) for word in re.findall(r"[\w-]+", text)[1:] for _, stem in stems(word)]


def nuggets_of(reference: str) -> list[Nugget]:
    """Divide a reference answer into the facts that it states: its sentences and list items, or the whole where it is short."""
    if _terms(reference).total() <= SHORT_REFERENCE_TERMS:
        return [Nugget(text=reference)]
    parts = [one.text for one in sentences(reference) if _terms(one.text)]
    return [Nugget(text=part) for part in parts] or [Nugget(text=reference)]


def _support(question: str, statement: str, text: str) -> Support:
    """Whether a text says a statement: enough of its terms, and all of its numbers."""
    wanted, said = _own_terms(statement, question), _terms(text)
    share = sum((wanted & said).values()) / max(wanted.total(), 1)
    numbers = _numbers(statement) - _numbers(question)
    if numbers and not numbers <= _numbers(text):
        return "partly" if share >= SUPPORTED and numbers & _numbers(text) else "not"
    return "supported" if share >= SUPPORTED else "partly" if share >= PARTLY else "not"


def nugget_verdicts(
    question: str, nuggets: Iterable[Nugget], answer: str, evidence: Sequence[str]
) -> list[NuggetVerdict]:
    """Judge each nugget against the answer and, apart from it, against all pieces of the evidence together."""
    refused, said, together = is_refusal(answer), MARK.sub(" ", answer), "\n".join(evidence)
    return [
        NuggetVerdict(
            nugget=nugget,
            answer="not" if refused else _support(question, nugget.text, said),
            evidence=_support(question, nugget.text, together),
        )
        for nugget in nuggets
    ]


def completeness(question: str, nuggets: Sequence[Nugget], answer: str) -> CompletenessVerdict:
    """Count the nuggets that the answer has; `overall` is their share, partly said ones half."""
    support = [_support(question, nugget.text, answer) for nugget in nuggets]
    return CompletenessVerdict(
        expected=len(nuggets),
        actual=len(sentences(answer)),
        missing=support.count("not"),
        overall=(support.count("supported") + support.count("partly") / 2) / len(support) if support else None,
    )


def statements(answer: str, evidence: Sequence[str]) -> list[StatementVerdict]:
    """Judge each sentence of an answer against the evidence: yes, partial, no."""
    verdict: dict[Support, StatementVerdict] = {"supported": "yes", "partly": "partial", "not": "no"}
    together = "\n".join(evidence)
    return [
        verdict[_support("", text, together)] for one in sentences(answer) if _terms(text := MARK.sub(" ", one.text))
    ]


def cited_sentences(answer: str, cited: dict[int, str]) -> list[CitedSentence]:
    """Judge each sentence of an answer against the passages whose numbers it has; `cited` is number → the passage's text."""
    fullness: dict[Support, Literal["full", "partial", "none"]] = {
        "supported": "full",
        "partly": "partial",
        "not": "none",
    }
    judged = []
    for one in sentences(answer):
        text = MARK.sub(" ", one.text)
        if not _terms(text):
            continue
        numbers = [int(number) for mark in MARK.findall(one.text) for number in re.findall(r"\d+", mark)]
        passages = [cited[number] for number in numbers if number in cited]
        judged.append(
            CitedSentence(
                text=text.strip(),
                citations=tuple(fullness[_support("", text, passage)] for passage in passages),
                together=fullness[_support("", text, "\n".join(passages))] if passages else "none",
            )
        )
    return judged
