"""Where retrieval loses what it does not find.

    python -m benchmarks.retrieval_oracle [--store embedded|neo4j] [--sets 2wiki,arduino] [--pipeline default] [--budget 1500]

Builds the sets of `benchmarks.retrieval_quality` where they are not built yet and follows the gold facts of each question through a
pipeline.
Every column is the mean share of a question's gold facts that a chunk states, of the chunks

    first 10     among the first 10 seeds
    seeds        among all seeds (with `candidates = 100`: the 100 nearest and the 100 best by words)
    1 hop        among the first 10 seeds and what shares an entity or a hyperlink with one of them; entities of more than 20 chunks
                 (the `common` of `paths`) lead nowhere: over them nearly everything is one hop away
    2 hops       also what has an entity that is related to an entity of such a seed
    (reached)    not a share: how many chunks two hops reach, median
    candidates   that the pipeline ranks
    shown        that it shows, 20
    inside       that it shows inside the budget: the figure of retrieval_quality
    shown*       inside the budget if what is shown stood in the best possible order
    ranked*      the same for all candidates
    corpus*      the same for all chunks: what the budget itself allows

The loss between two columns is that of the stage between them: candidates to ranked* of the budget, ranked* to shown* of the cut at 20,
shown* to inside of the order. Best orders are exact (fewest tokens for every set of facts).
"""

from __future__ import annotations

import asyncio
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import kgrag
from benchmarks.retrieval_quality import (
    FACT_BUDGET_TOKENS,
    TOP,
    chosen_sets,
    parser_of_sets,
    questions_of,
    store_for,
)
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import GoldQuestion, states
from kgrag.evaluate.retrieval import facts_in_budget
from kgrag.retrieve import Resources, Retriever, State
from kgrag.retrieve.state import Candidate, Query
from kgrag.retrieve.steps.evidence import Read
from kgrag.retrieve.steps.paths import Paths
from kgrag.retrieve.walk_graph import WalkGraph, walk_graph
from kgrag.types import Evidence

FIRST_SEEDS = 10
COMMON_CHUNKS = Paths.model_fields["common"].default
"""Entities that more chunks have join nothing."""
STAGES = ("first 10", "seeds", "1 hop", "2 hops", "candidates", "shown", "inside", "shown*", "ranked*", "corpus*")
BY_TYPE = ("arduino",)
"""Sets that come with a row for each type of question."""


@dataclass(frozen=True)
class Neighbours:
    """Chunks and entities beside each other in a graph."""

    entities_of: Mapping[str, set[str]]
    chunks_of: Mapping[str, set[str]]
    related: Mapping[str, set[str]]
    linked: Mapping[str, set[str]]

    @classmethod
    def of(cls, graph: WalkGraph) -> Neighbours:
        """Read them from the graph that walks go over, without entities that more than COMMON_CHUNKS chunks have."""
        keys = (*graph.chunks, *graph.entities)
        entities_of: dict[str, set[str]] = defaultdict(set)
        chunks_of: dict[str, set[str]] = defaultdict(set)
        for chunks, entities, _ in (graph.mentions, graph.titles):
            for chunk, entity in zip(chunks, entities, strict=True):
                entities_of[keys[chunk]].add(keys[entity])
                chunks_of[keys[entity]].add(keys[chunk])
        for entity in [entity for entity, chunks in chunks_of.items() if len(chunks) > COMMON_CHUNKS]:
            for chunk in chunks_of.pop(entity):
                entities_of[chunk].discard(entity)
        both: list[dict[str, set[str]]] = []
        for ones, others, _ in (graph.relations, graph.hyperlinks):
            beside: dict[str, set[str]] = defaultdict(set)
            for one, other in zip(ones, others, strict=True):
                beside[keys[one]].add(keys[other])
                beside[keys[other]].add(keys[one])
            both.append(beside)
        return cls(entities_of, chunks_of, *both)

    def one_hop(self, seeds: Collection[str]) -> set[str]:
        """Return the seeds and the chunks that share an entity or a hyperlink with one."""
        shared = {chunk for entity in self._entities(seeds) for chunk in self.chunks_of[entity]}
        return {*seeds, *shared, *(chunk for seed in seeds for chunk in self.linked.get(seed, ()))}

    def two_hops(self, seeds: Collection[str]) -> set[str]:
        """Return these and the chunks of the entities that are related to an entity of a seed."""
        beside = {other for entity in self._entities(seeds) for other in self.related.get(entity, ())}
        return self.one_hop(seeds) | {chunk for entity in beside for chunk in self.chunks_of.get(entity, ())}

    def _entities(self, seeds: Collection[str]) -> set[str]:
        return {entity for seed in seeds for entity in self.entities_of.get(seed, ())}


@dataclass(frozen=True)
class Followed:
    """How far the gold facts of one question came."""

    question: GoldQuestion
    shares: Mapping[str, float]
    reached: int


def best_share(facts: Sequence[frozenset[str]], pieces: Iterable[Evidence], tokens: int) -> float:
    """Return the largest share of the facts that pieces of so many tokens together can state."""
    fewest = {0: 0}
    for piece in pieces:
        stated = sum(1 << place for place, fact in enumerate(facts) if states(piece, fact))
        if not stated:
            continue
        for known, used in list(fewest.items()):
            together = known | stated
            if used + piece.tokens <= min(tokens, fewest.get(together, tokens)):
                fewest[together] = used + piece.tokens
    return max(known.bit_count() for known in fewest) / len(facts)


async def every_piece(resources: Resources, ids: Sequence[str]) -> dict[str, Evidence]:
    """Return every chunk as the evidence that it would be, by id."""
    query = Query("", "", "")
    all_of_them = State(query, candidates={one: Candidate(one, 0.0) for one in ids}, top=len(ids))
    read = await Read()(all_of_them, resources)
    return {str(piece.chunk_id): piece for piece in read.evidence}


async def follow(retriever: Retriever, questions: Sequence[GoldQuestion], *, budget: int) -> list[Followed]:
    """Follow the gold facts of each question through the steps."""
    resources = retriever.resources
    pieces = await every_piece(resources, [chunk.id for chunk in resources.store.documents.chunks()])
    neighbours = Neighbours.of(walk_graph(resources.store, resources.graph))
    followed = []
    for question in questions:
        state = seeds = candidates = retriever.start(question.question, top=TOP)
        for step in retriever.pipeline.steps:
            state = await step(state, resources)
            if "seeds" in step.gives:
                seeds = state
            if "candidates" in step.gives:
                candidates = state

        def share(ids: Iterable[str], facts: Sequence[frozenset[str]] = question.facts) -> float:
            found = [pieces[one] for one in ids]
            return sum(any(states(piece, fact) for piece in found) for fact in facts) / len(facts)

        first = seeds.best_chunks(FIRST_SEEDS)
        ranked = candidates.best_chunks(len(pieces))
        two_hops = neighbours.two_hops(first)
        shown = state.evidence
        shares = {
            "first 10": share(first),
            "seeds": share(seeds.best_chunks(len(pieces))),
            "1 hop": share(neighbours.one_hop(first)),
            "2 hops": share(two_hops),
            "candidates": share(ranked),
            "shown": share(str(piece.chunk_id) for piece in shown),
            "inside": facts_in_budget(question.facts, shown, budget),
            "shown*": best_share(question.facts, shown, budget),
            "ranked*": best_share(question.facts, (pieces[one] for one in ranked), budget),
            "corpus*": best_share(question.facts, pieces.values(), budget),
        }
        followed.append(Followed(question, shares, len(two_hops)))
    return followed


def rows_of(name: str, followed: Sequence[Followed]) -> list[list[str]]:
    """Make the rows of a set."""
    kinds = sorted({one.question.query_type for one in followed}) if name in BY_TYPE else []
    rows = []
    for kind in (None, *kinds):
        some = [one for one in followed if kind in (None, one.question.query_type)]
        shares = [f"{statistics.fmean(one.shares[stage] for one in some):.3f}" for stage in STAGES]
        reached = f"{statistics.median(one.reached for one in some):.0f}"
        rows.append([name, kind or "all", str(len(some)), *shares[:4], reached, *shares[4:]])
    return rows


def main() -> None:
    """Print the table."""
    parser = parser_of_sets(__doc__)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--budget", type=int, default=FACT_BUDGET_TOKENS)
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    for one in chosen_sets(arguments.sets, arguments.data):
        with store_for(one, arguments.store, arguments.stores) as target, kgrag.open(target) as opened:
            opened.build(one.corpus(arguments.data, arguments.stores))
            questions = questions_of(one, arguments.data, opened.store)
            retriever = opened.retriever(arguments.pipeline)
            if not isinstance(retriever, Retriever):
                parser.error(f"--pipeline: expected one with steps, got {arguments.pipeline}, which chooses another")
            rows += rows_of(one.name, asyncio.run(follow(retriever, questions, budget=arguments.budget)))
    head = ["set", "type", "n", *STAGES[:4], "(reached)", *STAGES[4:]]
    print_table(f"Share of gold facts by stage, {arguments.pipeline}, {arguments.budget:,} tokens", head, rows, [])


if __name__ == "__main__":
    main()
