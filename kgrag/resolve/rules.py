"""Resolution without a model: candidates, the scored rule, a threshold. The first half is also where a model's questions come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from kgrag.models.base import Vectors
from kgrag.resolve.candidates import blocked_pairs, neighbouring_pairs, vector_pairs
from kgrag.resolve.keys import GENERIC_WORDS, strict_key
from kgrag.resolve.plan import Decisions, Found, GraphEntity, never
from kgrag.resolve.read_many import without_collector
from kgrag.resolve.reading import NameReading
from kgrag.resolve.similarity import DEFAULT_THRESHOLD, NO_EVIDENCE, CorpusEvidence, name_similarity
from kgrag.resolve.type_families import family, says_little

__all__ = ["Candidates", "decide_by_rules", "find_candidates"]

SAME_FAMILY = 0.95
"""Score of one name with two types that may be one: of one family, or one of them says little."""
OTHER_TYPE = 0.8
"""The same where both types say something and nothing is known about them."""


class Candidates(NamedTuple):
    """Pairs of entities by index, the lower first, that rules decide or that have to be asked."""

    always: dict[tuple[int, int], Found]
    ask: list[tuple[int, int]]
    apart: dict[tuple[int, int], Found]


@without_collector
def find_candidates(
    entities: Sequence[GraphEntity],
    readings: Sequence[NameReading],
    *,
    vectors: Vectors | None = None,
    generic: Set[str] = GENERIC_WORDS,
    evidence: CorpusEvidence = NO_EVIDENCE,
) -> Candidates:
    """Find the pairs to look at: `always` by the same normal form, `never` by rule, and what is left to be asked."""
    always: dict[tuple[int, int], Found] = {}
    apart: dict[tuple[int, int], Found] = {}
    ask: set[tuple[int, int]] = set()
    by_form: dict[str, list[int]] = defaultdict(list)
    # By key: what is compared with what must not depend on the order in which entities come.
    for index in sorted(range(len(entities)), key=lambda index: entities[index].key):
        by_form[readings[index].form].append(index)
    representatives: list[int] = []
    for same in by_form.values():
        if len(same) == 1:
            representatives += same
            continue
        first_of_type: dict[str, int] = {}
        for index in same:
            first = first_of_type.setdefault(entities[index].type.casefold(), index)
            if first != index:
                always[min(first, index), max(first, index)] = Found("always", "same normal form")
        firsts = list(first_of_type.values())
        representatives += firsts
        for at, first in enumerate(firsts):
            for second in firsts[at + 1 :]:
                one, other = min(first, second), max(first, second)
                if reason := never(entities[one], readings[one], entities[other], readings[other]):
                    apart[one, other] = Found("never", reason, 0.0)
                else:
                    ask.add((one, other))
    own = [readings[index] for index in representatives]
    pairs = set(blocked_pairs(own, generic))
    pairs.update(neighbouring_pairs(own))
    if vectors is not None:
        groups: dict[str, list[int]] = defaultdict(list)
        for at, reading in enumerate(own):
            groups[reading.signature].append(at)
        pairs.update(vector_pairs(vectors[representatives], groups.values()))
    pairs.update(_abbreviations(own, evidence))
    for a, b in pairs:
        one, other = sorted((representatives[a], representatives[b]))
        if readings[one].form == readings[other].form:
            continue
        if reason := never(entities[one], readings[one], entities[other], readings[other]):
            apart[one, other] = Found("never", reason, 0.0)
        else:
            ask.add((one, other))
    return Candidates(always, sorted(ask), apart)


def _abbreviations(readings: Sequence[NameReading], evidence: CorpusEvidence) -> Iterator[tuple[int, int]]:
    """Yield each abbreviation that the documents define beside its long form."""
    if not evidence.expansions:
        return
    wanted = {*evidence.expansions, *evidence.expansions.values()}
    having: dict[str, list[int]] = defaultdict(list)
    for at, reading in enumerate(readings):
        if (key := strict_key(reading)) in wanted:
            having[key].append(at)
    for short, long in evidence.expansions.items():
        yield from ((min(a, b), max(a, b)) for a in having.get(short, ()) for b in having.get(long, ()) if a != b)


@without_collector
def decide_by_rules(
    entities: Sequence[GraphEntity],
    readings: Sequence[NameReading],
    *,
    vectors: Vectors | None = None,
    generic: Set[str] = GENERIC_WORDS,
    threshold: float = DEFAULT_THRESHOLD,
    evidence: CorpusEvidence | None = None,
) -> Decisions:
    """Take as one what has the same normal form, and what the scored rule gives `threshold` or more.

    `evidence` is what the documents say about words; without it only names and descriptions are read for it.
    """
    evidence = evidence or CorpusEvidence.of(text for entity in entities for text in (entity.name, entity.description))
    found = find_candidates(entities, readings, vectors=vectors, generic=generic, evidence=evidence)
    same = dict(found.always)
    for one, other in found.ask:
        a, b = sorted((one, other), key=lambda index: entities[index].key)
        type_, other_type = entities[a].type, entities[b].type
        score, reason = name_similarity(
            readings[a], readings[b], entities[a].name, entities[b].name, types=(type_, other_type), evidence=evidence
        )
        if type_.casefold() != other_type.casefold():
            alike = says_little(type_) or says_little(other_type) or family(type_) == family(other_type) != ""
            score, reason = score * (SAME_FAMILY if alike else OTHER_TYPE), f"{reason}; types {type_} and {other_type}"
        if score >= threshold:
            same[one, other] = Found("same", reason, score)
    return Decisions(same, found.apart, len(found.always) + len(found.ask) + len(found.apart))
