"""The extractive answer: the sentences and table rows of the evidence that answer a question, or what was looked for and not found.

No model writes here: every line of an answer is a statement of a document with the number of its citation. A statement is chosen for
the content terms of the question that it has (rare ones count more), for its nearness in meaning, for having the kind of thing that is
asked for (a voltage, a date, a person), and for being about what the question names, where names that differ in a number differ.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.answer.abstention import ANSWERS_FROM, answer_probability, beside_title, evidence_features
from kgrag.answer.candidates import Candidate, candidates, for_reader, in_context
from kgrag.answer.choice import choice_scores, promising
from kgrag.answer.cues import NO_VALUE, NUMBER, OF_DEFAULT
from kgrag.answer.joining import joined
from kgrag.answer.prose import GAINS, Gains, with_the_best
from kgrag.answer.read_together import read_together
from kgrag.answer.reading import RULES_READ, in_another_language, language_not_read
from kgrag.answer.subject import Unknown, has_identifier, unknown_names
from kgrag.models.base import Embedder
from kgrag.text.answer_shapes import ONE_THING, AnswerKind, by_default
from kgrag.text.courtesies import without_courtesies
from kgrag.text.equal_quantities import is_said
from kgrag.text.follow_ups import questions_asked
from kgrag.text.name_shapes import exact_identifiers, identifiers
from kgrag.text.quantities import quantities
from kgrag.text.questions import Question, read_question
from kgrag.text.words import stems
from kgrag.types import Answer, Citation, Evidence, Nearest

__all__ = [
    "CHOICE_WEIGHT",
    "candidates_by_weights",
    "evidence_probability",
    "extract_answer",
    "first_candidates",
    "lines_of_answer",
    "nearest_statements",
    "refuse_before_asking",
    "refuse_language",
    "said_of_language",
    "weighed_candidates",
]

MODEL = "rules"
PREAMBLE = "From the documents, as they say it:"

OWN_REFERENCE = re.compile(r"\[(\d+)\]")
DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
YEAR = re.compile(r"(?:1[89]|20)\d\d")

WEIGHTS = {
    "coverage": 0.20,
    "aspect": 0.10,
    "similarity": 0.40,
    "read": 0.40,
    "fits": 0.18,
    "subject": 0.12,
    "rank": 0.11,
}
"""How much what speaks for a statement counts."""
VALUES: frozenset[AnswerKind] = frozenset(["count", "quantity", "number", "list"])
VALUE_FITS = 0.22
"""For a question for a value or a list: what has it comes before what names it. Chosen on the development half of the support questions."""

VALUE_FIRST = ONE_THING - {"name", "yes/no"}
"""Kinds of questions whose answer begins with the best statement, also where that goes on from another one."""
MEASURED: frozenset[AnswerKind] = frozenset(["count", "quantity"])
ANY_AMOUNT, BEST = 0.3, 3
"""What fits a question for an amount less has none. Of the development halves and clapnq no right answer is below it."""

HAS_VALUE = 0.5
"""What fits a question for a value less describes it."""
CONDITION = re.compile(r"(?:if|when|whether)\b", re.IGNORECASE)
"""`If set to yes, it asks first.`: whether it does is said by its default."""
STATEMENTS_BY_KIND = {"summary": 8, "comparison": 6}
STATEMENTS = 4
"""How many statements an answer has at most."""
ANSWER_WORDS = {"summary": 200, "comparison": 120}
MOST_WORDS = 65
"""An answer that has so many words is not added to. Chosen on clapnq and the development halves of the support questions."""
RELATIVE_SCORE = 0.72
"""Statements below this share of the best one's score are left out."""
SUFFICIENT_COVERAGE, BESIDE_SUFFICIENT = 0.9, 0.8
"""A statement that has the one thing asked for and nearly all terms of the question suffices: only what is nearly as good stands by it."""
BESIDE_SECTION = 0.7
"""Share of its score that a statement keeps which stands in a section beside the one asked for (`rist`, asked for `udp`)."""
SAID_IN_PROSE: frozenset[AnswerKind] = frozenset(
    ["count", "quantity", "number", "yes/no", "definition", "why", "comparison"]
)
OF_CODE = 0.9
"""Share of its score that a line of an example keeps where prose says what is asked for."""
LISTS_NOTHING = 0.9
"""Share of its score that a statement without a list keeps where a list is asked for and there is one."""
OF_OTHER_NAME = 0.92
"""Share of its score that a statement keeps below a setting's name of which the question says nothing."""
OTHER_THING = 0.6
"""A statement about another of the things that are named is given from this share of the best one's score on."""
SAME_SHARE = 0.7
"""A statement that shares so many of its words with a chosen one says it again."""
OTHER_WORDS_SIMILARITY = 0.72
"""From here on a statement may answer without any word of what is asked about the subject."""
TELLS_HOW = 0.9
"""The share of what is to be done that a statement of steps has to say below a row that is none."""
READ_STATEMENTS = 24
"""At most so many statements are read together with the question: the most promising by what costs no run of a model."""
EMBEDDED_STATEMENTS = 12
"""At most so many of them are embedded: those with the highest scores but for similarity."""
CHOICE_WEIGHT = 0.65
"""How much the learnt choice counts beside the weighted sum, which keeps what is known of few questions: identifiers, sections beside."""
SAID_WEIGHT = 0.6
"""What the words of a statement count before similarity is known. Chosen on the development halves and clapnq."""
WITHOUT_SIMILARITY = WEIGHTS | {"coverage": SAID_WEIGHT, "similarity": 0.0}
WITHOUT_A_NAME_FROM = 0.7
"""The probability from which an answer is given where the evidence lacks a name that is not exact. Chosen on the training questions whose
documents lack one, each read by a network that learnt from others."""

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


async def weighed_candidates(question: Question, evidence: Sequence[Evidence], embedder: Embedder) -> list[Candidate]:
    """Return the statements of the evidence that could answer, as they were chosen by what was learnt, best first."""
    found = await candidates_by_weights(question, evidence, embedder)
    scores = choice_scores(question, found, evidence)
    if scores is not None:
        for candidate, score in zip(found, scores.tolist(), strict=True):
            candidate.score = CHOICE_WEIGHT * score + (1.0 - CHOICE_WEIGHT) * candidate.score
        found.sort(key=_place)
    return found


async def candidates_by_weights(
    question: Question, evidence: Sequence[Evidence], embedder: Embedder
) -> list[Candidate]:
    """Return the same statements in the order of the weighted sum of what speaks for each."""
    found = promising(question, first_candidates(question, evidence), evidence, READ_STATEMENTS)
    await _read(question, found, evidence)
    found = found[:EMBEDDED_STATEMENTS]
    await _embed(question, found, evidence, embedder)
    return found


def first_candidates(question: Question, evidence: Sequence[Evidence]) -> list[Candidate]:
    """Return all statements of the evidence that could answer, weighed by what costs no run of a model, best first."""
    found = candidates(question, evidence)
    _sort(question, found, WITHOUT_SIMILARITY | {"read": 0.0})
    return found


@dataclass(frozen=True, slots=True)
class _Judgement:
    """How probably the evidence answers, and is near; the names that it lacks, and the terms that no statement chosen covers."""

    probability: float
    nearness: float = 0.0
    """The same probability, also where all that is found is the subject."""
    unknown: tuple[Unknown, ...] = ()
    uncovered: frozenset[str] = frozenset()


_Judged = tuple[Question, list[Candidate], _Judgement]


async def extract_answer(
    question: str, evidence: Sequence[Evidence], *, embedder: Embedder, max_statements: int | None = None
) -> Answer:
    """Answer from the evidence, or abstain. `model` is `rules`; `pipeline` is left empty for the caller to fill in.

    Each line of the text ends in the number of its citation; citations are numbered in the order of the text, one for each chunk. An
    abstention has no citations and says which names and words of the question the evidence lacks.
    """
    parts = questions_asked(without_courtesies(question))
    if len(parts) > 1:
        judged = [await _judged(part, evidence, embedder) for part in parts]
        if any(judgement.probability >= ANSWERS_FROM for _, _, judgement in judged):
            return _answered_in_parts(question, parts, judged, evidence, max_statements)
    asked, found, judgement = await _judged(question, evidence, embedder)
    if judgement.probability < ANSWERS_FROM:
        return _abstained(question, asked, found, judgement, evidence, model=MODEL)
    lines = lines_of_answer(asked, found, evidence, max_statements)
    text, citations = _write(lines, evidence, judgement.unknown)
    return Answer(question=question, text=text, citations=citations, model=MODEL, pipeline="", evidence=tuple(evidence))


def lines_of_answer(
    asked: Question,
    found: Sequence[Candidate],
    evidence: Sequence[Evidence],
    most: int | None = None,
    *,
    gains: Gains = GAINS,
) -> list[tuple[Candidate, Question]]:
    """Return the lines that answer, each with its question, in their order, of what `weighed_candidates` found: at least one statement."""
    most = most or STATEMENTS_BY_KIND.get(asked.kind, STATEMENTS)
    return _ordered(asked, _choose(asked, found, evidence, most, gains))


def _answered_in_parts(
    question: str, parts: Sequence[str], judged: Sequence[_Judged], evidence: Sequence[Evidence], most: int | None
) -> Answer:
    """The statements for each of the questions that are asked at once, in their order; what is not answered is said."""
    lines: list[tuple[Candidate, Question]] = []
    refused: list[str] = []
    for part, (asked, found, judgement) in zip(parts, judged, strict=True):
        if judgement.probability < ANSWERS_FROM:
            refused.append(part)
            continue
        of_part = lines_of_answer(asked, found, evidence, most)
        lines += [line for line in of_part if not any(_same(line[0], other) for other, _ in lines)]
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
    return asked, found, await asyncio.to_thread(_judge, asked, found, evidence, embedder)


async def _read(asked: Question, found: list[Candidate], evidence: Sequence[Evidence]) -> None:
    """Read statements together with the question, and sort them by it; where they are not read they stay as they are."""
    if not found or language_not_read(asked.text, evidence):
        return
    logits = await asyncio.to_thread(read_together, asked.text, [in_context(one, evidence) for one in found])
    for candidate, logit in zip(found, logits, strict=True):
        candidate.logit = logit
    _sort(asked, found, WITHOUT_SIMILARITY)


async def _embed(asked: Question, found: list[Candidate], evidence: Sequence[Evidence], embedder: Embedder) -> None:
    """Compare statements with the question by their meaning, and sort them by all that is known of them."""
    if not found:
        return
    query = (await embedder.embed_queries([by_default(asked.text)]))[0]
    vectors = await embedder.embed_documents([in_context(one, evidence) for one in found])
    for candidate, similarity in zip(found, vectors @ query, strict=True):
        candidate.similarity = max(0.0, float(similarity))
    _sort(asked, found, WEIGHTS)


def _sort(asked: Question, found: list[Candidate], weights: dict[str, float]) -> None:
    _score(asked, found, weights)
    found.sort(key=_place)


def _place(candidate: Candidate) -> tuple[float, int, int]:
    return -candidate.score, candidate.evidence, candidate.statement.start


def _score(asked: Question, found: Sequence[Candidate], weights: dict[str, float]) -> None:
    """Give each statement the sum of what speaks for it, less where it is about something else."""
    weights = weights | ({"fits": VALUE_FITS} if asked.kind in VALUES else {})
    for candidate in found:
        candidate.score = sum(weight * getattr(candidate, name) for name, weight in weights.items())
        candidate.score *= OF_OTHER_NAME + (1.0 - OF_OTHER_NAME) * candidate.of_name
        if candidate.beside:
            candidate.score *= BESIDE_SECTION
        if candidate.statement.is_code and asked.kind in SAID_IN_PROSE:
            candidate.score *= OF_CODE
    if asked.kind == "list" and found and _has_list(found):
        for candidate in found:
            candidate.score *= 1.0 if candidate.fits else LISTS_NOTHING


def _has_list(found: Sequence[Candidate]) -> bool:
    """Whether a list has nearly all terms, or stands in the section of the best statement, which speaks of it."""
    best = max(found, key=lambda one: one.score)
    return any(
        one.fits
        and (
            one.coverage >= SUFFICIENT_COVERAGE
            or (one.fits == 1.0 and one.evidence == best.evidence and one.statement.heading == best.statement.heading)
        )
        for one in found
    )


def _judge(asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], embedder: Embedder) -> _Judgement:
    """Say how probably the best statements answer. `found` is sorted, best first."""
    lacking, unknown = unknown_names(asked, evidence)
    present = {term for candidate in found for term in candidate.covered}
    uncovered = asked.terms - present
    without = _Judgement(0.0, 0.0, tuple(lacking), uncovered)
    if not found or any(name.is_exact for name in lacking):
        return without
    similarity = max(candidate.similarity for candidate in found)
    # Who asks one thing of several is answered where it is said of one.
    probability = nearness = max(
        answer_probability(evidence_features(one, found, evidence, embedder)) for one in asked.each
    )
    if lacking and probability < WITHOUT_A_NAME_FROM:
        return without
    unknown += lacking
    aspect = asked.terms - asked.subject_terms
    if aspect and not aspect & present and similarity < OTHER_WORDS_SIMILARITY:
        # All that is found is the subject: the documents know the X-1000 but no price of it.
        return _Judgement(0.0, nearness, tuple(unknown), uncovered)
    if asked.kind in MEASURED and not (any(one.fits >= ANY_AMOUNT for one in found) or _has_number(found)):
        # How much memory it needs, no sentence about its memory says that has no amount.
        return _Judgement(0.0, nearness, tuple(unknown), uncovered)
    best = found[0]
    if asked.kind == "steps" and best.statement.cells and not best.fits and not _tells_how(found):
        # That a watchdog resets it, a row of codes says, and no step.
        return _Judgement(0.0, nearness, tuple(unknown), uncovered)
    if asked.is_search and not unknown and any(asked.terms <= one.covered.keys() for one in found):
        # Who searches for words is shown where they stand together: nothing is said to be an answer that is none.
        probability = max(probability, ANSWERS_FROM)
    if best.fits == 1.0 and (_says_amounts(asked, best) or (best.defines and best.coverage >= SUFFICIENT_COVERAGE)):
        # Neither similarity nor the cross-encoder reads that 3300 mV are 3.3 V, nor `-O`, which this statement defines.
        probability = max(probability, ANSWERS_FROM)
    return _Judgement(probability, nearness, tuple(unknown), uncovered)


def _says_amounts(asked: Question, candidate: Candidate) -> bool:
    """Whether a statement about what is named says all amounts of the question, in whatever unit."""
    terms = {amount.text.casefold() for amount in asked.amounts}
    return bool(terms) and candidate.subject == 1.0 and terms <= candidate.covered.keys()


def _has_number(found: Sequence[Candidate]) -> bool:
    """Whether one of the best statements has a number, whose unit may stand elsewhere: `Animation speed [30]`."""
    return any(NUMBER.search(one.text) for one in found[:BEST])


def _tells_how(found: Sequence[Candidate]) -> bool:
    """Whether a statement says itself most of what is to be done, and how."""
    return any(one.fits and one.aspect >= TELLS_HOW for one in found)


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


def _choose(
    asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], most: int, gains: Gains
) -> list[Candidate]:
    """The best statements that do not say the same again, as many as the question needs."""
    best = found[0]
    if row := _row_of_all(asked, found):
        return [row]
    if default := _default_of(asked, best, found):
        # What is said of the setting has no value of it.
        found = [default, *(one for one in found if one is not default)]
        best = default
    elif asked.kind not in VALUES:
        found = with_the_best(found, evidence, gains)
    one_thing = asked.kind in ONE_THING or bool(best.statement.cells)
    joins_terms = " and " in asked.text and any(asked.terms & one.covered.keys() - best.covered.keys() for one in found)
    suffices = one_thing and best.fits == 1.0 and best.coverage >= SUFFICIENT_COVERAGE and not joins_terms
    whole = best.statement.items and asked.kind in ("list", "steps")
    least = (BESIDE_SUFFICIENT if suffices or whole else RELATIVE_SCORE) * best.score
    named = identifiers(asked.text) | {name.casefold() for name in asked.names} if best.statement.cells else set()
    of_row = _names_any(named, best)
    chosen: list[Candidate] = []
    for candidate in found:
        if (
            of_row
            and candidate.evidence == best.evidence
            and candidate.statement.cells
            and not _names_any(named, candidate)
        ):
            continue  # another row than the one that is asked for: `E11` beside `E12`
        if chosen and candidate.beside and best.defines:
            continue  # the default of another setting behind that of the one asked for
        words = sum(len(one.text.split()) for one in chosen)
        if len(chosen) == most or candidate.score < least or words >= ANSWER_WORDS.get(asked.kind, MOST_WORDS):
            break
        candidate = _with_what_follows(candidate, found)
        if not any(_same(candidate, other) for other in chosen):
            chosen.append(candidate)
    return [*chosen, *_of_the_others(asked, found, chosen, evidence)]


def _names_any(named: set[str], candidate: Candidate) -> bool:
    return any(has_identifier(name, candidate.text) for name in named)


def _with_what_follows(candidate: Candidate, found: Sequence[Candidate]) -> Candidate:
    """The statement that begins with this one and goes on with what is asked for, or with what it announces; else this one."""
    longer = (
        one
        for one in found
        if one.evidence == candidate.evidence
        and one.text.startswith(f"{candidate.text} ")
        and (one.fits > candidate.fits or candidate.text.endswith(":"))
    )
    return next(longer, candidate)


def _default_of(asked: Question, best: Candidate, found: Sequence[Candidate]) -> Candidate | None:
    """The default of the setting that the best statement describes, where that says no value; None where it does or there is none."""
    lacks_value = asked.kind in VALUES and asked.kind != "list" and best.fits < HAS_VALUE
    is_condition = asked.kind == "yes/no" and CONDITION.match(best.text) is not None
    if not (lacks_value or is_condition):
        return None
    return next((one for one in found if one.evidence == best.evidence and _is_default_of(one, best)), None)


def _is_default_of(one: Candidate, best: Candidate) -> bool:
    of, property_ = best.statement, one.statement
    is_default = property_.is_property and OF_DEFAULT.match(property_.label) is not None
    same = of.text in property_.before or bool(property_.owner and property_.owner == of.label)
    return is_default and same and not NO_VALUE.search(one.text)


def _row_of_all(asked: Question, found: Sequence[Candidate]) -> Candidate | None:
    """The best row with a column for each of several things that a question names, and in it what is asked for; None where there is none.

    `Supply | 3.3 V | 24 V` below `X-100` and `X-1000` answers for both.
    """
    names = [name for name in asked.names if not YEAR.fullmatch(name)]
    if len(names) < 2 or asked.kind not in ONE_THING:
        return None
    for candidate in found:
        if candidate.score < OTHER_THING * found[0].score:
            return None
        headers = [header for header, value in candidate.statement.cells if value]
        columns = [{place for place, one in enumerate(headers) if has_identifier(name, one)} for name in names]
        if all(columns) and len(set().union(*columns)) >= len(columns) and candidate.fits == 1.0 and candidate.aspect:
            return candidate
    return None


def _of_the_others(
    asked: Question, found: Sequence[Candidate], chosen: Sequence[Candidate], evidence: Sequence[Evidence]
) -> Iterator[Candidate]:
    """The best statement about each thing that a question names beside others, and that none of the chosen is about."""
    names = _things_named(asked)
    if len(names) < 2:
        return
    about = [f"{in_context(one, evidence)} {evidence[one.evidence].section}" for one in found]
    said = "\n".join(text for one, text in zip(found, about, strict=True) if one in chosen)
    for name in names:
        if has_identifier(name, said):
            continue
        named = (one for one, text in zip(found, about, strict=True) if has_identifier(name, text))
        best = next((one for one in named if one.score >= OTHER_THING * chosen[0].score), None)
        if best:
            said += f"\n{in_context(best, evidence)}"
            yield best


def _things_named(asked: Question) -> list[str]:
    """The names and identifiers of a question, each once, in its order."""
    return list(dict.fromkeys((*asked.names, *exact_identifiers(asked.text))))


def _same(a: Candidate, b: Candidate) -> bool:
    """Whether two statements say the same: they share their words, and none has a number in the place of the other's."""
    smaller = min(len(a.stems), len(b.stems)) or 1
    numbers, others = frozenset(DIGITS.findall(a.text)), frozenset(DIGITS.findall(b.text))
    return len(a.stems & b.stems) / smaller >= SAME_SHARE and (numbers <= others or others <= numbers)


def _ordered(asked: Question, chosen: Sequence[Candidate]) -> list[tuple[Candidate, Question]]:
    """The lines of an answer, each with its question: a summary follows the documents, what is said of several things the question.

    Other answers begin with the best statement.
    """
    if asked.kind == "summary":
        chosen = sorted(chosen, key=lambda c: (c.evidence, c.statement.start))
    names = _things_named(asked)
    named = [[place for place, name in enumerate(names) if has_identifier(name, one.text)] for one in chosen]
    if len(names) > 1 and all(len(places) == 1 for places in named):
        chosen = [one for _, one in sorted(zip(named, chosen, strict=True), key=lambda pair: pair[0])]
    return [(one, asked) for one in joined(chosen, best_first=asked.kind in VALUE_FIRST)]


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
    judgement: _Judgement,
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
    asked: Question, found: Sequence[Candidate], judgement: _Judgement, evidence: Sequence[Evidence]
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
        if is_near and len(shown) < NEAREST and not any(_same(candidate, other) for other in shown):
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


def _abstention(asked: Question, judgement: _Judgement, evidence: Sequence[Evidence]) -> str:
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
