"""`kgrag tune`: which switches of retrieval help on your questions, how sure that is, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgrag.common.progress import Progress, Silent
from kgrag.common.whole_files import expect_place, write_whole
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import read_gold_questions, without_place
from kgrag.evaluate.learn_ranker import pipeline_file
from kgrag.evaluate.statistics import Interval, mean_interval
from kgrag.evaluate.switch_search import (
    Change,
    Effect,
    Search,
    effects,
    every_combination,
    greedy,
    halves,
    single_changes,
)
from kgrag.evaluate.switches import Choices, composed, name_of, read_switches
from kgrag.jobs.switch_scores import MEASURES, Cost, SwitchScores
from kgrag.models.opened import OpenedModels
from kgrag.retrieve import Retriever
from kgrag.retrieve.pipeline import expect_pipeline_place
from kgrag.store.graph import GraphStore

__all__ = ["Tuned", "tune"]

MOST_COMBINATIONS = 256


@dataclass(frozen=True)
class Tuned:
    """What a search over switches found."""

    questions: int
    without_gold: int
    """Lines of the file that say no evidence, and are not asked."""
    gold_nowhere: tuple[str, ...]
    """Ids of questions of which some gold is nowhere in the store: no choice can find it."""
    documents: int
    measure: str
    start: Choices
    alone: tuple[tuple[Change, Cost], ...]
    """Every single change of the start, over all questions."""
    search: Search
    """The greedy search over all questions."""
    held_out: Interval
    """What the search gains over the start on the questions that it did not see: each half by the choices of the other."""
    halves: tuple[Choices, Choices]
    """What each half chose."""
    before: tuple[float, Cost]
    after: tuple[float, Cost]
    """Means over all questions; the search saw them."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Choices that could not be run, and why."""
    combinations: tuple[tuple[Choices, float, Cost], ...] = ()
    """With `factorial`: every combination, best first."""
    effects: tuple[Effect, ...] = ()


async def tune(
    questions: Path,
    *,
    store: GraphStore,
    models: OpenedModels,
    graph: str | None = None,
    out: Path | None = None,
    switches: Path | None = None,
    measure: str = "facts",
    budget: int = 1500,
    top: int = 20,
    factorial: bool = False,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """Search greedily over switches, from all of them at their first choice, and write the pipeline that was found to `out`.

    A change is taken where it gains more than a standard error. What the search is worth is said by halves: each half of the questions
    (documents kept together) is asked by what was chosen on the other. `factorial` asks every combination instead of a search's path.
    Scores stay in `kept`: the same command goes on where it was stopped. Raises `InputError` for a file or a measure that cannot be used.
    """
    if measure not in MEASURES:
        raise InputError(f"Expected --measure to be one of {', '.join(MEASURES)}, got {measure!r}.")
    asked, without_gold = read_gold_questions(questions)
    if len(asked) < 4:
        raise InputError(
            f"{questions}: expected at least four questions with gold, got {len(asked)}: halves of them say nothing."
        )
    chosen_switches = read_switches(switches)
    options = {switch: tuple(choices) for switch, choices in chosen_switches.items()}
    if factorial and len(every_combination(options)) > MOST_COMBINATIONS:
        raise InputError(
            f"--factorial: expected at most {MOST_COMBINATIONS} combinations, the switches have {len(every_combination(options))}: "
            "give a file with fewer, by --switches."
        )
    if out is not None:
        expect_pipeline_place(out)
    if kept is not None:
        expect_place(kept, is_read_again=True)
    embedder, chat, reranker = models.embedder, models.chat, models.reranker
    ask = SwitchScores(
        switches=chosen_switches,
        measure=measure,
        questions=asked,
        retriever_of=lambda pipeline: Retriever(store, embedder, pipeline, chat=chat, reranker=reranker, graph=graph),
        made_with=(
            store.digest(),
            embedder.name,
            chat.name if chat else "",
            reranker.name if reranker else "",
            graph or "",
        ),
        budget=budget,
        top=top,
        kept=kept,
        progress=progress or Silent(),
    )
    clusters, everywhere = [one.cluster for one in asked], range(len(asked))
    found = await greedy(options, ask, places=everywhere, clusters=clusters)
    start = await ask(found.start)
    if start is None:
        raise InputError(f"The search cannot begin: {ask.refused.get(name_of(found.start), 'nothing was asked')}")
    by_half, gains = [], [0.0] * len(asked)
    parts = halves(clusters)
    for seen, unseen in (parts, parts[::-1]):
        half = await greedy(options, ask, places=seen, clusters=clusters)
        by_half.append(half.chosen)
        scores = await ask(half.chosen) or start
        for place in unseen:
            gains[place] = scores[place] - start[place]
    alone = await single_changes(options, found.start, ask, places=everywhere, clusters=clusters)
    combinations, table = await _all(options, ask) if factorial else ((), {})
    if out is not None:
        comments = _comments(questions.name, len(asked), measure, found, mean_interval(gains, clusters))
        write_whole(out, pipeline_file(composed(chosen_switches, found.chosen, top=top), comments=comments))
    return Tuned(
        questions=len(asked),
        without_gold=without_gold,
        gold_nowhere=tuple(without_place(asked, store.search.places_of_chunks())),
        documents=len(set(clusters)),
        measure=measure,
        start=found.start,
        alone=tuple((one, ask.costs[name_of({**found.start, one.switch: one.choice})]) for one in alone),
        search=found,
        held_out=mean_interval(gains, clusters),
        halves=(by_half[0], by_half[1]),
        before=ask.summary(found.start),
        after=ask.summary(found.chosen),
        refused=dict(ask.refused),
        combinations=combinations,
        effects=tuple(effects(table, options)) if factorial else (),
    )


async def _all(
    options: Mapping[str, Sequence[str]], ask: SwitchScores
) -> tuple[tuple[tuple[Choices, float, Cost], ...], dict[tuple[tuple[str, str], ...], float]]:
    rows, means = [], {}
    for choices in every_combination(options):
        if await ask(choices) is not None:
            mean, cost = ask.summary(choices)
            rows.append((choices, mean, cost))
            means[tuple(choices.items())] = mean
    # An effect is read between pairs: a combination whose partner could not be run has none.
    first = {switch: choices[0] for switch, choices in options.items()}
    whole = {
        items: mean
        for items, mean in means.items()
        if all(tuple((key, first[key] if key == one else value) for key, value in items) in means for one in first)
    }
    return tuple(sorted(rows, key=lambda row: -row[1])), whole


def _comments(source: str, questions: int, measure: str, found: Search, gain: Interval) -> list[str]:
    taken = "; ".join(f"{one.switch} {one.choice} {one.gain.value:+.3f}" for one in found.taken) or "nothing"
    return [
        f"Found by kgrag tune on {questions} questions ({source}) by the mean of {measure}. Taken in turn: {taken}.",
        f"Each half of the questions asked by what the other half chose: {gain.value:+.3f}, 95 % interval {gain.low:+.3f} to "
        f"{gain.high:+.3f}.",
    ]
