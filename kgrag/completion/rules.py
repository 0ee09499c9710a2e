"""Rules mined from a graph: what follows from one relation, or from two in a row, as often as it did so far.

    born_in(X, Y) <- lives_in(X, Z), located_in(Z, Y)

A rule's confidence is the number of pairs for which body and head hold over the number for which the body holds, plus five that are
not seen and do not hold: the Laplace correction of AnyBURL (Meilicke et al., IJCAI 2019), so that two lucky pairs make no sure rule.
Of several rules that say the same the best counts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from kgrag.completion.triples import Array, Ids, Triples

__all__ = ["Rule", "Rules"]

Way = tuple[int, bool]
"""A relation, and whether it is followed from head to tail."""
Body = tuple[Way, ...]
Ends = tuple[int, int]

LEAST_SUPPORT = 2
UNSEEN_NEGATIVES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """`head`(X, Y) where the ways of `body`, one or two, lead from X to Y."""

    head: int
    body: Body
    support: int
    """Different pairs of entities for which head and body hold."""
    groundings: int
    """For which the body holds."""

    @property
    def confidence(self) -> float:
        """Share of the body's pairs for which the head holds, corrected."""
        return self.support / (self.groundings + UNSEEN_NEGATIVES)


class Rules:
    """A `LinkPredictor` by rules with a body of one or two relations; 0 for what no rule says."""

    name = "rules"

    def __init__(self, *, least_support: int = LEAST_SUPPORT) -> None:
        self.least_support = least_support
        self.rules: tuple[Rule, ...] = ()
        """Surest first."""

    def fit(self, triples: Triples) -> None:
        """Mine the rules with enough support."""
        self._size = len(triples.entities)
        self._ways: dict[int, list[tuple[Way, int]]] = defaultdict(list)
        for head, relation, tail in triples.ids.tolist():
            if head != tail:
                self._ways[head].append(((relation, True), tail))
                self._ways[tail].append(((relation, False), head))
        held: dict[tuple[int, Body], set[Ends]] = defaultdict(set)
        between: dict[Ends, set[Body]] = {}
        for head, relation, tail in triples.ids.tolist():
            if head == tail:
                continue
            if (head, tail) not in between:
                between[head, tail] = self._between(head, tail)
            for body in between[head, tail]:
                if body != ((relation, True),):  # it would say what is known
                    held[relation, body].add((head, tail))
        supported = {rule: len(pairs) for rule, pairs in held.items() if len(pairs) >= self.least_support}
        groundings = self._groundings({body for _, body in supported})
        found = [Rule(head, body, support, groundings[body]) for (head, body), support in supported.items()]
        self.rules = tuple(sorted(found, key=lambda rule: (-rule.confidence, rule.head, rule.body)))
        self._confidence: dict[int, dict[Body, float]] = defaultdict(dict)
        for rule in self.rules:
            self._confidence[rule.head][rule.body] = rule.confidence

    def score_tails(self, heads: Ids, relations: Ids) -> Array:
        """Score every entity as tail: [questions, entities]."""
        return self._scores(heads, relations, forward=True)

    def score_heads(self, relations: Ids, tails: Ids) -> Array:
        """Score every entity as head: [questions, entities]."""
        return self._scores(tails, relations, forward=False)

    def confidence(self, scores: Array) -> Array:
        """They are comparable as they are."""
        return scores

    def _scores(self, ends: Ids, relations: Ids, *, forward: bool) -> Array:
        scores = np.zeros((len(ends), self._size))
        for row, (end, relation) in enumerate(zip(ends.tolist(), relations.tolist(), strict=True)):
            confidence = self._confidence.get(relation, {})
            begins = {_from(body, forward=forward)[0] for body in confidence}
            for first, middle in self._ways.get(end, ()):
                if first not in begins:
                    continue
                self._say(scores[row], middle, (first,), confidence, forward=forward)
                for second, other in self._ways[middle]:
                    if other != end:
                        self._say(scores[row], other, (first, second), confidence, forward=forward)
        return scores

    def _say(self, scores: Array, entity: int, path: Body, confidence: dict[Body, float], *, forward: bool) -> None:
        said = confidence.get(_from(path, forward=forward), 0.0)
        if said > scores[entity]:
            scores[entity] = said

    def _between(self, head: int, tail: int) -> set[Body]:
        """Return the ways from head to tail, over another entity or none."""
        bodies: set[Body] = {(way,) for way, other in self._ways[head] if other == tail}
        from_tail: dict[int, list[Way]] = defaultdict(list)
        for (relation, forward), other in self._ways[tail]:
            from_tail[other].append((relation, not forward))
        for first, middle in self._ways[head]:
            if middle != tail:
                bodies.update((first, second) for second in from_tail.get(middle, ()))
        return bodies

    def _groundings(self, bodies: set[Body]) -> dict[Body, int]:
        """Count the different pairs of entities that each body joins."""
        of_way: dict[Way, list[Ends]] = defaultdict(list)
        for entity, ways in self._ways.items():
            for way, other in ways:
                of_way[way].append((entity, other))
        next_of: dict[Way, dict[int, list[int]]] = {}
        for way in {body[1] for body in bodies if len(body) == 2}:
            next_of[way] = defaultdict(list)
            for entity, other in of_way[way]:
                next_of[way][entity].append(other)
        counts = {}
        for body in sorted(bodies):
            pairs = of_way[body[0]]
            if len(body) == 2:
                beyond = next_of[body[1]]
                pairs = [(entity, end) for entity, middle in pairs for end in beyond.get(middle, ()) if end != entity]
            counts[body] = len(set(pairs))
        return counts


def _from(body: Body, *, forward: bool) -> Body:
    """Return the ways of a body as they are met from its other end."""
    return body if forward else tuple((relation, not way) for relation, way in reversed(body))
