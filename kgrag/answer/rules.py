"""The extractive answer: the sentences and table rows of the evidence that answer a question, or what was looked for and not found.

No model writes here: every line of an answer is a statement of a document with the number of its citation. A statement is chosen for
the content terms of the question that it has (rare ones count more), for its nearness in meaning, for having the kind of thing that is
asked for (a voltage, a date, a person), and for being about what the question names, where names that differ in a number differ.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from kgrag.answer.abstention import ANSWERS_FROM, beside_title
from kgrag.answer.candidates import Candidate, for_reader
from kgrag.answer.judgement import Judgement, judge
from kgrag.answer.lines import lines_of_answer, say_the_same
from kgrag.answer.reading import RULES_READ, in_another_language, language_not_read
from kgrag.answer.subject import Unknown
from kgrag.answer.weighing import weighed_candidates
from kgrag.models.base import Embedder
from kgrag.text.courtesies import without_courtesies
from kgrag.text.equal_quantities import is_said
from kgrag.text.follow_ups import questions_asked
from kgrag.text.quantities import quantities
from kgrag.text.questions import Question, read_question
from kgrag.text.words import stems
from kgrag.types import Answer, Citation, Evidence, Nearest

__all__ = [
    "PREAMBLE",
    "evidence_probability",
    "extract_answer",
    "nearest_statements",
    "refuse_before_asking",
    "refuse_language",
    "said_of_language",
]

MODEL = "rules"
PREAMBLE = "From the documents, as they say it:"

OWN_REFERENCE = re.compile(r"\[(\d+)\]")

LOOKED_FOR_CHARACTERS = 400
"""Of what was looked for that an abstention says."""
NEAREST = 2
"""Statements that an abstention shows at most."""
NEAREST_FROM = 0.06
"""The probability from which an abstention shows what is nearest: what the model before showed from 0.15 on it mostly still shows."""
NEAR_IN_WORDS, NEAR_IN_MEANING = 0.2, 0.25
"""The share of what is asked beside the document's title, and the similarity, from which a statement is shown as nearest. Chosen on the
same, and on questions about something altogether different."""
ALIKE_IN_WORDS = 0.5
"""The share from which a statement is shown whatever its similarity. Chosen on the same."""
OF_NAMED_IN_MEANING = 0.45
"""The similarity from which a statement about what is named is shown that says it in other words."""

_Judged = tuple[Question, list[Candidate], Judgement]


async def extract_answer(question: str, evidence: Sequence[Evidence], *, embedder: Embedder) -> Answer:
    """Answer from the evidence, or abstain. `model` is `rules`; `pipeline` is left empty for the caller to fill in.

    Each line of the text ends in the number of its citation; citations are numbered in the order of the text, one for each chunk. An
    abstention has no citations and says which names and words of the question the evidence lacks.
    """
    parts = questions_asked(without_courtesies(question))
    if len(parts) > 1:
        judged = [await _judged(part, evidence, embedder) for part in parts]
        if any(judgement.probability >= ANSWERS_FROM for _, _, judgement in judged):
            return _answered_in_parts(question, parts, judged, evidence)
    asked, found, judgement = await _judged(question, evidence, embedder)
    if judgement.probability < ANSWERS_FROM:
        return _abstained(question, asked, found, judgement, evidence, model=MODEL)
    lines = lines_of_answer(asked, found, evidence)
    text, citations = _write(lines, evidence, judgement.unknown)
    return Answer(question=question, text=text, citations=citations, model=MODEL, pipeline="", evidence=tuple(evidence))


def _answered_in_parts(
    question: str, parts: Sequence[str], judged: Sequence[_Judged], evidence: Sequence[Evidence]
) -> Answer:
    """The statements for each of the questions that are asked at once, in their order; what is not answered is said."""
    lines: list[tuple[Candidate, Question]] = []
    refused: list[str] = []
    for part, (asked, found, judgement) in zip(parts, judged, strict=True):
        if judgement.probability < ANSWERS_FROM:
            refused.append(part)
            continue
        of_part = lines_of_answer(asked, found, evidence)
        lines += [line for line in of_part if not any(say_the_same(line[0], other) for other, _ in lines)]
    text, citations = _write(lines, evidence, ())
    text = "\n".join([text, *(f"The documents do not answer: {part}" for part in refused)])
    return Answer(question=question, text=text, citations=citations, model=MODEL, pipeline="", evidence=tuple(evidence))


async def evidence_probability(question: str, evidence: Sequence[Evidence], *, embedder: Embedder) -> float:
    """How probably evidence answers a question, 0 to 1: below 0.5 `extract_answer` abstains, and 0 where it lacks what is named."""
    _, _, judgement = await _judged(question, evidence, embedder)
    return judgement.probability


async def refuse_before_asking(
    question: str, evidence: Sequence[Evidence], *, embedder: Embedder, model: str, gate: float
) -> Answer | None:
    """Abstain in place of a model where the evidence answers less probably than `gate`; None where the model is to be asked.

    0 refuses nothing. A question in another language than its evidence goes to the model, and one that the rules do not read: the
    probability is of statements and questions in English.
    """
    if gate <= 0.0 or in_another_language(question, evidence) or language_not_read(question, evidence):
        return None
    asked, found, judgement = await _judged(question, evidence, embedder)
    if judgement.probability >= gate:
        return None
    note = f"{model} was not asked: the passages answer with a probability of {judgement.probability:.2f}, below the gate of {gate:g}."
    return _abstained(question, asked, found, judgement, evidence, model=model, notes=(note,))


async def nearest_statements(question: str, evidence: Sequence[Evidence], *, embedder: Embedder) -> tuple[Nearest, ...]:
    """Return what of the evidence comes nearest to a question that a model did not answer from it, best first.

    None where the evidence lacks what is named, and where nothing is near; nor for a question in another language than its evidence, and
    one that the rules do not read.
    """
    if not evidence or in_another_language(question, evidence) or language_not_read(question, evidence):
        return ()
    asked, found, judgement = await _judged(question, evidence, embedder)
    return _nearest(asked, found, judgement, evidence)


async def _judged(question: str, evidence: Sequence[Evidence], embedder: Embedder) -> _Judged:
    """Read a question, weigh what could answer it, best first, and say how probably the evidence does."""
    asked = read_question(without_courtesies(question))
    found = await weighed_candidates(asked, evidence, embedder)
    return asked, found, await asyncio.to_thread(judge, asked, found, evidence, embedder)


def _in_no_passage(asked: Question, terms: frozenset[str], evidence: Sequence[Evidence]) -> list[str]:
    """Of terms that no statement chosen covers, the words that no passage has."""
    texts = [f"{piece.title} {piece.section} {piece.text}" for piece in evidence]
    said = {stem for text in texts for _, stem in stems(text)}
    amounts = [one for text in texts for one in quantities(text)] if asked.amounts else []
    said |= {amount.text.casefold() for amount in asked.amounts if is_said(amount, amounts)}
    return _as_written(asked, set(terms - said))


def _as_written(asked: Question, terms: set[str]) -> list[str]:
    amounts = {amount.text.casefold(): amount.text for amount in asked.amounts}
    said = [word for word, stem in stems(asked.text) if stem in terms and word not in amounts]
    return list(dict.fromkeys((*said, *(written for term, written in amounts.items() if term in terms))))


def _write(
    chosen: Sequence[tuple[Candidate, Question]], evidence: Sequence[Evidence], unknown: Sequence[Unknown]
) -> tuple[str, tuple[Citation, ...]]:
    """The text with numbers, and the citations."""
    numbers: dict[int, int] = {}
    lines = [PREAMBLE]
    quotes: dict[int, list[str]] = {}
    title = ""
    for candidate, asked in chosen:
        # A title that the line before has need not stand there again.
        title, before = evidence[candidate.evidence].title, title
        said = _line(candidate, asked, title=title, is_said=before)
        number = numbers.setdefault(candidate.evidence, len(numbers) + 1)
        quotes.setdefault(number, []).append(candidate.statement.quote)
        lines.append(f"- {said} [{number}]")
    lines += [_not_found(name, evidence) for name in unknown]
    return "\n".join(lines), tuple(
        Citation.of(evidence[index], number=number, quote=" … ".join(quotes[number]))
        for index, number in numbers.items()
    )


def _abstained(
    question: str,
    asked: Question,
    found: Sequence[Candidate],
    judgement: Judgement,
    evidence: Sequence[Evidence],
    *,
    model: str,
    notes: tuple[str, ...] = (),
) -> Answer:
    return Answer(
        question=question,
        text=_abstention(asked, judgement, evidence),
        abstained=True,
        model=model,
        pipeline="",
        evidence=tuple(evidence),
        nearest=_nearest(asked, found, judgement, evidence),
        notes=notes,
    )


def _nearest(
    asked: Question, found: Sequence[Candidate], judgement: Judgement, evidence: Sequence[Evidence]
) -> tuple[Nearest, ...]:
    """The best statements that do not say the same again, where they are near enough. None lacks a name that is asked for."""
    if judgement.nearness < NEAREST_FROM or not asked.terms:
        return ()
    shown: list[Candidate] = []
    for candidate in found:
        title = frozenset(stem for _, stem in stems(evidence[candidate.evidence].title))
        said = beside_title(asked.terms - title, candidate)
        of_named = bool(asked.names) and candidate.subject == 1.0
        in_meaning = NEAR_IN_MEANING if said >= NEAR_IN_WORDS else OF_NAMED_IN_MEANING if of_named else 1.0
        is_near = said >= ALIKE_IN_WORDS or candidate.similarity >= in_meaning
        if is_near and len(shown) < NEAREST and not any(say_the_same(candidate, other) for other in shown):
            shown.append(candidate)
    numbers = {index: number for number, index in enumerate(dict.fromkeys(one.evidence for one in shown), start=1)}
    return tuple(
        Nearest(
            text=_line(one, asked, title=evidence[one.evidence].title),
            citation=Citation.of(evidence[one.evidence], number=numbers[one.evidence], quote=one.statement.quote),
        )
        for one in shown
    )


def _line(candidate: Candidate, asked: Question, *, title: str, is_said: str = "") -> str:
    """A statement as it is given; a reference of the document's own must not look like a citation of ours."""
    return OWN_REFERENCE.sub(r"(\1)", for_reader(candidate, asked, title=title, is_said=is_said))


def _abstention(asked: Question, judgement: Judgement, evidence: Sequence[Evidence]) -> str:
    if not evidence:
        return "The documents do not answer this: no passage was found for it."
    looked_for = ", ".join(dict.fromkeys((*asked.names, *_as_written(asked, set(asked.terms - asked.subject_terms)))))
    lines = [
        f"The documents do not answer this. Looked in {len(evidence)} passages for: {_cut(looked_for or asked.text)}."
    ]
    lines += [_not_found(name, evidence) for name in judgement.unknown]
    named = {stem for unknown in judgement.unknown for _, stem in stems(unknown.name)}
    if lacking := [
        word
        for word, stem in stems(" ".join(_in_no_passage(asked, judgement.uncovered, evidence)))
        if stem not in named
    ]:
        lines.append(f"In no passage: {_cut(', '.join(lacking))}.")
    elif not judgement.unknown:
        lines.append("No statement says enough of it together.")
    return "\n".join(lines)


def _cut(said: str) -> str:
    """What a reader is shown of a question that may be of any length."""
    return said if len(said) <= LOOKED_FOR_CHARACTERS else f"{said[:LOOKED_FOR_CHARACTERS]} ..."


def refuse_language(question: str, evidence: Sequence[Evidence], asked_in: str, written_in: str) -> Answer:
    """Refuse a question in another language than the passages found, and say what helps."""
    text = (
        f"Not answered: the question seems to be in {asked_in}, the passages found are in {written_in}, and without a model sentences are "
        f"only compared within a language. Ask in {written_in}, or let a model answer (--model), with a multilingual embedder for the "
        "store (--embedder)."
    )
    return Answer(question=question, text=text, abstained=True, model=MODEL, pipeline="", evidence=tuple(evidence))


def said_of_language(answer: Answer, written_in: str) -> Answer:
    """Return an answer from passages in a language that the rules do not read, with what that means: no refusal says what they lack."""
    said = (
        f"Without a model questions and passages are read in {RULES_READ}; these seem to be in {written_in}, of which only words were "
        "compared. A model answers in any language (--model)."
    )
    if not answer.abstained:
        return answer.model_copy(update={"notes": (*answer.notes, said)})
    found = f"no statement of the {len(answer.evidence)} passages found has enough of the question's words"
    return answer.model_copy(update={"text": f"Not answered: {found}; they may well answer it. {said}"})


def _not_found(unknown: Unknown, evidence: Sequence[Evidence]) -> str:
    near = f" (there is {', '.join(unknown.near)})" if unknown.near else ""
    return f"{unknown.name} is in none of the {len(evidence)} passages found{near}."
