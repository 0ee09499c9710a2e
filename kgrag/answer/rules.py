"""The extractive answer: the sentences and table rows of the evidence that answer a question, or what was looked for and not found.

No model writes here: every line of an answer is a statement of a document with the number of its citation. A statement is chosen for
the telling words of the question that it has (rare ones count more), for its nearness in meaning, for having the kind of thing that is
asked for (a voltage, a date, a person), and for being about what the question names, where names that differ in a number differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.answer.candidates import Candidate, candidates, missing_names
from kgrag.answer.question import Asked, read_question, stems
from kgrag.models.base import Embedder
from kgrag.types import Answer, Citation, Evidence

__all__ = ["extract_answer"]

MODEL = "rules"
PREAMBLE = "From the documents, as they say it:"

COVERAGE_WEIGHT = 0.40
SIMILARITY_WEIGHT = 0.40
FITS_WEIGHT = 0.12
SUBJECT_WEIGHT = 0.15
RANK_WEIGHT = 0.05
"""How much what speaks for a statement counts; set on the Arduino questions, checked on HotpotQA."""

STATEMENTS_BY_KIND = {"summary": 8, "plain": 4, "why": 4}
STATEMENTS = 3
"""How many statements an answer has at most."""
RELATIVE_SCORE = 0.72
"""Statements below this share of the best one's score are left out."""
SAME_SHARE = 0.7
"""A statement that shares so many of its words with a chosen one says it again."""
MIN_COVERAGE = 0.35
MIN_SIMILARITY = 0.35
SURE_SIMILARITY = 0.62
"""Below the first two nothing answers; above the third the meaning is near enough whatever the words."""
EMBEDDED_STATEMENTS = 96
"""At most so many statements are embedded, those with the best words."""


@dataclass(frozen=True, slots=True)
class _Judgement:
    """Whether the evidence answers, and what is missing if not."""

    answers: bool
    missing: tuple[str, ...] = ()


async def extract_answer(
    question: str, evidence: Sequence[Evidence], *, embedder: Embedder, max_statements: int | None = None
) -> Answer:
    """Answer from the evidence, or abstain. `model` is `rules`; `pipeline` is left empty for the caller to fill in.

    Each line of the text ends in the number of its citation; citations are numbered in the order of the text, one for each chunk. An
    abstention has no citations and says which names and words of the question the evidence lacks.
    """
    asked = read_question(question)
    found, weights = candidates(asked, evidence)
    found.sort(key=lambda c: (-(c.coverage + c.fits * FITS_WEIGHT), c.evidence, c.position))
    found = found[:EMBEDDED_STATEMENTS]
    await _weigh(asked, found, evidence, embedder)
    found.sort(key=lambda c: (-c.score, c.evidence, c.position))
    judgement = _judge(asked, found, evidence, weights)
    if not judgement.answers:
        return Answer(
            question=question,
            text=_abstention(judgement.missing, evidence),
            abstained=True,
            model=MODEL,
            pipeline="",
            evidence=tuple(evidence),
        )
    chosen = _choose(found, max_statements or STATEMENTS_BY_KIND.get(asked.kind, STATEMENTS))
    text, citations = _write(asked, chosen, evidence)
    return Answer(question=question, text=text, citations=citations, model=MODEL, pipeline="", evidence=tuple(evidence))


async def _weigh(asked: Asked, found: Sequence[Candidate], evidence: Sequence[Evidence], embedder: Embedder) -> None:
    if not found:
        return
    query = (await embedder.embed_queries([asked.text]))[0]
    vectors = await embedder.embed_documents([_in_context(c, evidence) for c in found])
    for candidate, similarity in zip(found, vectors @ query, strict=True):
        candidate.similarity = max(0.0, float(similarity))
        candidate.score = (
            COVERAGE_WEIGHT * candidate.coverage
            + SIMILARITY_WEIGHT * candidate.similarity
            + FITS_WEIGHT * candidate.fits
            + SUBJECT_WEIGHT * candidate.subject
            + RANK_WEIGHT / (1 + candidate.evidence)
        )


def _in_context(candidate: Candidate, evidence: Sequence[Evidence]) -> str:
    title = evidence[candidate.evidence].title
    return (
        candidate.text if not title or title.casefold() in candidate.text.casefold() else f"{title}: {candidate.text}"
    )


def _judge(
    asked: Asked, found: Sequence[Candidate], evidence: Sequence[Evidence], weights: dict[str, float]
) -> _Judgement:
    missing = missing_names(asked, evidence)
    if missing:
        return _Judgement(False, tuple(missing))
    present = {t for c in found for t in c.covered}
    lacking = tuple(_as_written(asked, {t for t in asked.terms if t not in present}))
    if not found:
        return _Judgement(False, lacking)
    best = max(found[:3], key=lambda c: c.similarity)
    coverage = max(c.coverage for c in found[:3])
    answers = best.similarity >= SURE_SIMILARITY or (coverage >= MIN_COVERAGE and best.similarity >= MIN_SIMILARITY)
    return _Judgement(answers, () if answers else lacking)


def _as_written(asked: Asked, terms: set[str]) -> list[str]:
    return list(dict.fromkeys(word for word, stem in stems(asked.text) if stem in terms))


def _choose(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best statements that do not say the same again."""
    chosen: list[Candidate] = []
    for candidate in found:
        if len(chosen) == most or (chosen and candidate.score < RELATIVE_SCORE * chosen[0].score):
            break
        if not any(_same(candidate, other) for other in chosen):
            chosen.append(candidate)
    return chosen


def _same(a: Candidate, b: Candidate) -> bool:
    smaller = min(len(a.stems), len(b.stems)) or 1
    return len(a.stems & b.stems) / smaller >= SAME_SHARE


def _write(asked: Asked, chosen: Sequence[Candidate], evidence: Sequence[Evidence]) -> tuple[str, tuple[Citation, ...]]:
    """The text with numbers, and the citations. A summary follows the documents; other answers begin with the best statement."""
    if asked.kind == "summary":
        chosen = sorted(chosen, key=lambda c: (c.evidence, c.position))
    numbers: dict[int, int] = {}
    lines: list[str] = []
    quotes: dict[int, list[str]] = {}
    for candidate in chosen:
        number = numbers.setdefault(candidate.evidence, len(numbers) + 1)
        quotes.setdefault(number, []).append(candidate.quote)
        lines.append(f"- {_in_context(candidate, evidence)} [{number}]")
    citations = tuple(
        Citation(
            number=number,
            chunk_id=evidence[index].chunk_id,
            document=evidence[index].document,
            section=evidence[index].section,
            page_start=evidence[index].page_start,
            page_end=evidence[index].page_end,
            quote=" … ".join(quotes[number]),
        )
        for index, number in numbers.items()
    )
    return "\n".join([PREAMBLE, *lines]), citations


def _abstention(missing: Sequence[str], evidence: Sequence[Evidence]) -> str:
    looked = f"Looked at {len(evidence)} passages" if evidence else "No passage was found"
    if not missing:
        return f"The documents do not answer this. {looked}; none says enough of what was asked together."
    return f"The documents do not answer this. {looked}; not found in them: {', '.join(missing)}."
