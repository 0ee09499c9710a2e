"""Other notations in the sparse query: abbreviations that the corpus defines, and quantities as others write them (`3V3`, `3.3 V`).

    python -m benchmarks.query_alternatives [--sets arduino,financebench] [--stores FOLDER] [--pipeline default]

For every abbreviation that a set's chunks define (`microcontroller unit (MCU)`) and that a question has, short or in full, the other form
is searched for as well, as a phrase beside the question's words; for a quantity its other notations. Only the questions are asked for which
there is any. One row for each set: how many these are, and of them how many the pipeline answers better, worse and alike, by the set's
measures and by the rank of the first gold passage. Nothing is chosen.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from benchmarks.carry_over import KS, MEASURES, Place, places_of
from benchmarks.retrieval_quality import FACT_BUDGET_TOKENS, TOP, parser_of_sets, questions_of
from benchmarks.tables import print_table
from kgrag.evaluate.retrieval import score_evidence
from kgrag.retrieve import Retriever, State
from kgrag.retrieve.state import Resources
from kgrag.retrieve.step import Step
from kgrag.store.graph import GraphStore
from kgrag.text.abbreviations import defined_abbreviations

QUANTITY = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)[ -]?"
    r"(V|A|mA|kB|KB|MB|GB|MHz|GHz|kHz|Hz|W|mW|mm|cm|m|kg|g|s|ms|kbps|Mbps|Ohm|Ω|%)(?!\w)"
)
VOLTS = re.compile(r"(?<!\w)(\d+)V(\d+)(?!\w)")
"""`3V3`."""


class Alternatives(Step):
    """The question's other notations, as phrases for the full-text index."""

    kind: Literal["alternatives"] = "alternatives"
    needs: ClassVar = ("query",)
    gives: ClassVar = ("query",)
    abbreviations: dict[str, str]
    """By the short form."""

    def __hash__(self) -> int:
        """Hash by what a dict has."""
        return hash((self.kind, frozenset(self.abbreviations.items())))

    async def __call__(self, state: State, resources: Resources) -> State:
        """Add them."""
        found = alternatives(state.query.question, self.abbreviations)
        return replace(state, query=replace(state.query, keywords=(*state.query.keywords, *found)))


def alternatives(question: str, abbreviations: Mapping[str, str]) -> Iterator[str]:
    """Yield what the question may as well be written with."""
    folded = question.casefold()
    for short, long in abbreviations.items():
        if _stands(short, question):
            yield long
        elif " " in long and _stands(long, folded):
            yield short
    for match in QUANTITY.finditer(question):
        number, unit = match.groups()
        written = {f"{number}{unit}", f"{number} {unit}"} | ({number.replace(".", "V")} if unit == "V" else set())
        yield from sorted(form for form in written - {number} if form not in question)
    for match in VOLTS.finditer(question):
        yield from (f"{match[1]}.{match[2]}V", f"{match[1]}.{match[2]} V")


def _stands(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def abbreviations_of(store: GraphStore) -> dict[str, str]:
    """Return the abbreviations that a store's chunks define, each with the long form that most define it by."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for chunk in store.documents.chunks():
        for long, short in defined_abbreviations(chunk.prompted_text):
            found[short][long.casefold()] += 1
    return {short: min(longs, key=lambda one: (-longs[one], one)) for short, longs in sorted(found.items())}


async def measured(place: Place, data: Path, pipeline: str) -> list[str]:
    """Ask a set's questions with and without alternatives: a row of the table."""
    with place.opened() as opened:
        before = opened.retriever(pipeline)
        if not isinstance(before, Retriever):
            raise SystemExit(f"--pipeline: expected one with steps, got {pipeline}, which chooses another")
        step = Alternatives(abbreviations=abbreviations_of(opened.store))
        steps = (step, *before.pipeline.steps)
        after = Retriever(
            opened.store, opened.embedder, before.pipeline.model_copy(update={"steps": steps}), graph=place.graph
        )
        every = questions_of(place.set, data, opened.store)
        asked = [one for one in every if any(alternatives(one.question, step.abbreviations))]
        measures = [*(one for one in MEASURES[place.set.name] if " of " not in one), "MRR"]
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for question in asked:
            one, other = [
                score_evidence(
                    question.facts,
                    (await retriever.trace(question.question, top=TOP, hidden=question.hidden)).evidence,
                    ks=KS,
                    budget=FACT_BUDGET_TOKENS,
                )
                for retriever in (before, after)
            ]
            for measure in measures:
                gain = other[measure] - one[measure]
                counts[measure]["better" if gain > 0 else "worse" if gain < 0 else "alike"] += 1
    said = "; ".join(f"{m}: {counts[m]['better']} / {counts[m]['worse']} / {counts[m]['alike']}" for m in measures)
    return [place.set.name, str(len(step.abbreviations)), f"{len(asked)} of {len(every)}", said]


def main() -> None:
    """Print the table."""
    parser = parser_of_sets(__doc__)
    parser.add_argument("--pipeline", default="default")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    places = places_of(arguments.sets, arguments.data, arguments.stores)
    rows = [asyncio.run(measured(place, arguments.data, arguments.pipeline)) for place in places]
    head = ["set", "abbreviations", "questions with alternatives", "better / worse / alike"]
    print_table(f"{arguments.pipeline} with other notations in the sparse query", head, rows, [])


if __name__ == "__main__":
    main()
