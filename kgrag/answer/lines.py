"""Which statements answer, and in what order: as many as a question needs, and none that says the same again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgrag.answer.candidates import Candidate, in_context
from kgrag.answer.cues import NO_VALUE, OF_DEFAULT
from kgrag.answer.joining import joined
from kgrag.answer.prose import GAINS, Gains, with_the_best
from kgrag.answer.subject import has_identifier
from kgrag.answer.weighing import SUFFICIENT_COVERAGE, VALUES
from kgrag.text.answer_shapes import ONE_THING
from kgrag.text.name_shapes import exact_identifiers, identifiers
from kgrag.text.questions import Question
from kgrag.types import Evidence

__all__ = ["lines_of_answer", "say_the_same"]

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
YEAR = re.compile(r"(?:1[89]|20)\d\d")

VALUE_FIRST = ONE_THING - {"name", "yes/no"}
"""Kinds of questions whose answer begins with the best statement, also where that goes on from another one."""

HAS_VALUE = 0.5
"""What fits a question for a value less describes it."""
CONDITION = re.compile(r"(?:if|when|whether)\b", re.IGNORECASE)
"""`If set to yes, it asks first.`: whether it does is said by its default."""
SETS = re.compile(r"(?:[^:]{1,60}: )?(?:how|what|where|when|which|whether)\b[^?]*$", re.IGNORECASE)
"""`How to treat tanks that are full when it starts.`: what a setting sets, and not how it is set."""
ENDS_IN_DEFAULT = re.compile(r"[.;)] default(?:s to| is|:) ?[\"'“‘]?\w\S*$", re.IGNORECASE)
"""`Raise it where the tank is old. Default: 20`, further on in what is said of a setting."""
STATEMENTS_BY_KIND = {"summary": 8, "comparison": 6}
STATEMENTS = 4
"""How many statements an answer has at most."""
ANSWER_WORDS = {"summary": 200, "comparison": 120}
MOST_WORDS = 65
"""An answer that has so many words is not added to. Chosen on clapnq and the development halves of the support questions."""
RELATIVE_SCORE = 0.72
"""Statements below this share of the best one's score are left out."""
BESIDE_SUFFICIENT = 0.8
"""Only what is so nearly as good stands beside a statement that suffices."""
OTHER_THING = 0.6
"""A statement about another of the things that are named is given from this share of the best one's score on."""
SAME_SHARE = 0.7
"""A statement that shares so many of its words with a chosen one says it again."""


def lines_of_answer(
    asked: Question,
    found: Sequence[Candidate],
    evidence: Sequence[Evidence],
    *,
    gains: Gains = GAINS,
) -> list[tuple[Candidate, Question]]:
    """Return the lines that answer, each with its question, in their order, of what `weighed_candidates` found: at least one statement."""
    most = STATEMENTS_BY_KIND.get(asked.kind, STATEMENTS)
    return _ordered(asked, _choose(asked, found, evidence, most, gains))


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
        if not any(say_the_same(candidate, other) for other in chosen):
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
    if not (lacks_value or is_condition or SETS.match(best.text)):
        return None
    return next((one for one in found if one.evidence == best.evidence and _is_default_of(one, best)), None)


def _is_default_of(one: Candidate, best: Candidate) -> bool:
    of, property_ = best.statement, one.statement
    is_property = property_.is_property and OF_DEFAULT.match(property_.label) is not None
    is_default = is_property or ENDS_IN_DEFAULT.search(one.text) is not None
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


def say_the_same(a: Candidate, b: Candidate) -> bool:
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
