"""How far retrieval carries over: every set asked by what was chosen or learnt on the others.

    python -m benchmarks.carry_over [--sets 2wiki,git_html] [--pipelines dense,hybrid,default] [--learnt MODULE:FUNCTION] [--ablate default]
        [--store embedded|neo4j] [--links exim=FOLDER]

`arduino_users` and `emanual_users` are questions of ours about the same corpora (`benchmarks/users_questions`).

One row for each set and measure: the figure of each pipeline and its difference from `--baseline` (hybrid), question by question, with
the 95 % interval of a bootstrap that draws whole documents where several questions are about one. Sets are built into `--stores` where they
are not there yet, and taken as they are where they are. With `--store neo4j` each set is built into a Neo4j that is started for it.

`--links NAME=FOLDER`, as often as there are manuals, adds masked links of any HTML pages (as `git_html` has them): of a manual that was
never used before, say. With `--sets ""` only these are asked.

`--learnt` names a function that is given a `Fold`, the set that is reported on and the others with their stores and made questions, and
returns what retrieves. It is called once for each set, so what is learnt is learnt without the set that it is measured on; only the
`others` of a fold may be looked at. `--make` writes the made questions of every set (`kgrag questions make`, nothing like the set's own
questions) beside the stores first.

`--ablate NAME` leaves each step of a pipeline out in turn, and turns each switch of a step off (`hybrid.coverage`); with
`--parts hybrid.table_rows,links` only those. A step earns its place where leaving it out is worse in the mean over all
sets, each with the same weight; the interval is of that mean, documents drawn inside each set.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kgrag
from benchmarks.json_lines import read_rows
from benchmarks.retrieval_quality import (
    FACT_BUDGET_TOKENS,
    TOP,
    EvaluationSet,
    chosen_sets,
    parser_of_sets,
    questions_of,
)
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.errors import PipelineError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.retrieval import Traces, measure_pipeline
from kgrag.evaluate.statistics import Interval, mean_interval, mean_of_means
from kgrag.jobs.comparison import pipeline_digest
from kgrag.jobs.questions import QuestionOptions
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.retrieve import Retriever, load_pipeline
from kgrag.retrieve.pipeline import AdaptivePipeline, Pipeline, read_pipeline
from kgrag.store.graph import store_exists
from kgrag.types import content_id

__all__ = ["MEASURES", "Contender", "Fold", "Place", "carried_over"]

MEASURES: Mapping[str, tuple[str, ...]] = {
    "2wiki": ("all@8",),
    "hotpotqa": ("R@5",),
    "musique": ("R@5", "all@5"),
    "arduino": ("facts", "facts of summary"),
    "emanual": ("hit@1", "hit@5"),
    "arduino_users": ("facts", "facts of summary", "facts of multi_hop"),
    "emanual_users": ("hit@1", "hit@5"),
    "financebench": ("hit@5", "hit@10"),
    "git_html": ("hit@5",),
    "clapnq": ("hit@1", "hit@5"),
}
"""What is reported of each set."""
OF_LINKS = ("hit@1", "hit@5")
"""The same of what `--links` adds."""
KS = (1, 5, 8, 10)
MADE_QUESTIONS = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """A set that is built, with where its store is and where the questions that were made of it are."""

    set: EvaluationSet
    store: Path
    made: Path
    """A question file; absent where `--make` was never given."""

    @property
    def graph(self) -> str:
        """The graph that the set is asked over."""
        return self.set.graphs[0]

    def opened(self) -> KnowledgeGraph:
        """Open its store."""
        return kgrag.open(self.store, create=False, graph=self.graph)


@dataclass(frozen=True, slots=True)
class Fold:
    """What is reported on, and what may be learnt from."""

    held_out: Place
    others: tuple[Place, ...]


Contender = Callable[[Fold, KnowledgeGraph], Traces]
"""Given a fold and the opened store of its held-out set (over the set's graph), return what retrieves from it."""


@dataclass
class Measured:
    """What the contenders scored on one set, question by question."""

    place: Place
    questions: list[GoldQuestion]
    scores: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """By contender and measure; a measure of one type has the scores of its questions alone."""

    def chosen(self, measure: str) -> list[GoldQuestion]:
        """Return the questions that a measure is about."""
        kind = measure.partition(" of ")[2]
        return [one for one in self.questions if not kind or one.query_type == kind]

    @property
    def measures(self) -> tuple[str, ...]:
        """What was scored."""
        return tuple(next(iter(self.scores.values())))

    def figure(self, contender: str, measure: str) -> float:
        """Return the mean."""
        scores = self.scores[contender][measure]
        return sum(scores) / len(scores)

    def differences(self, contender: str, baseline: str, measure: str) -> list[float]:
        """Return score minus baseline, by question."""
        pairs = zip(self.scores[contender][measure], self.scores[baseline][measure], strict=True)
        return [ours - theirs for ours, theirs in pairs]

    def mean_differences(self, contender: str, baseline: str) -> list[float]:
        """Return score minus baseline, by question, as the mean over the measures that are about it."""
        of_question: dict[str, list[float]] = {question.id: [] for question in self.questions}
        for measure in self.scores[contender]:
            differences = self.differences(contender, baseline, measure)
            for question, difference in zip(self.chosen(measure), differences, strict=True):
                of_question[question.id].append(difference)
        return [sum(some) / len(some) for some in of_question.values()]

    def clusters(self, measure: str) -> list[str]:
        """Return the document of each question."""
        return [one.cluster for one in self.chosen(measure)]


class Kept:
    """Scores of a long run that was stopped: JSON lines, one for each set and contender. Of no use any more once code has changed."""

    def __init__(self, file: Path | None, digests: Mapping[str, str]) -> None:
        self._file, self._digests = file, digests
        self._rows: dict[str, dict[str, list[float]]] = {}
        if file is not None and file.is_file():
            self._rows = {row["key"]: row["scores"] for row in read_rows(file)}

    def key(self, measured: Measured, contender: str) -> str:
        """Name set, questions and what the contender does; empty for what is learnt, which is never kept."""
        digest = self._digests.get(contender)
        asked = (text for one in measured.questions for text in (one.id, one.question))
        return content_id(measured.place.set.name, digest, *asked) if digest and self._file else ""

    def get(self, key: str) -> dict[str, list[float]] | None:
        """Return what is kept under a key."""
        return self._rows.get(key)

    def put(self, key: str, contender: str, scores: dict[str, list[float]]) -> None:
        """Keep scores."""
        if key and self._file is not None:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"key": key, "contender": contender, "scores": scores}) + "\n")


def carried_over(
    places: Sequence[Place],
    contenders: Mapping[str, Contender],
    *,
    data: Path,
    measures: Mapping[str, Sequence[str]] = MEASURES,
    kept: Kept | None = None,
    opening: Callable[[Place], AbstractContextManager[KnowledgeGraph]] = Place.opened,
    say: Callable[[str], None] = print,
) -> list[Measured]:
    """Ask every set through every contender; each learns, if it does, from the other sets alone."""
    done = []
    kept = kept or Kept(None, {})
    for held_out in places:
        fold = Fold(held_out, tuple(place for place in places if place.store != held_out.store))
        with opening(held_out) as opened:
            measured = Measured(held_out, questions_of(held_out.set, data, opened.store))
            for name, contender in contenders.items():
                key = kept.key(measured, name)
                scores = kept.get(key)
                if scores is None:
                    scores = _scores(
                        name, contender(fold, opened), measured.questions, measures.get(held_out.set.name, OF_LINKS)
                    )
                    kept.put(key, name, scores)
                measured.scores[name] = scores
                figures = (f"{measure} {measured.figure(name, measure):.3f}" for measure in scores)
                say(f"{held_out.set.name}, {name}: {', '.join(figures)}")
        done.append(measured)
    return done


def _scores(
    name: str, retriever: Traces, questions: Sequence[GoldQuestion], measures: Sequence[str]
) -> dict[str, list[float]]:
    """Ask every question and return the scores of each measure, of one type where it says `facts of summary`."""
    result = asyncio.run(measure_pipeline(name, retriever, questions, ks=KS, budget=FACT_BUDGET_TOKENS, top=TOP))
    found = {}
    for measure in measures:
        score, _, query_type = measure.partition(" of ")
        found[measure] = [one.scores[score] for one in result.of_type(query_type or None)]
    return found


def by_pipeline(name: str) -> Contender:
    """Make a contender of a pipeline's name or file."""
    return lambda _, opened: opened.retriever(name)


def by_steps(pipeline: Pipeline) -> Contender:
    """Make a contender of a pipeline that is no file."""
    return lambda fold, opened: Retriever(opened.store, opened.embedder, pipeline, graph=fold.held_out.graph)


def learnt(name: str) -> Contender:
    """Import `MODULE:FUNCTION`. Raises `ValueError` for another form."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise ValueError(f"expected MODULE:FUNCTION, got {name!r}")
    found: Contender = getattr(importlib.import_module(module), function)
    return found


def ablations(pipeline: Pipeline) -> Iterator[tuple[str, Pipeline]]:
    """Yield the pipeline without each of its steps in turn, and with each switch of a step off, where it is a pipeline then.

    A switch is named as `hybrid.coverage`.
    """
    tables: list[dict[str, Any]] = [step.model_dump(exclude_none=True) for step in pipeline.steps]
    variants = []
    for place, name in enumerate(pipeline.step_names):
        before, table, after = tables[:place], tables[place], tables[place + 1 :]
        variants.append((name, before + after))
        switches = (setting for setting, value in table.items() if value is True)
        variants += [(f"{name}.{one}", [*before, {**table, one: False}, *after]) for one in switches]
    for name, steps in variants:
        content = {"description": pipeline.description, "graph": pipeline.graph, "step": steps}
        try:
            without = read_pipeline(
                {key: value for key, value in content.items() if value is not None}, name=pipeline.name
            )
        except PipelineError:
            continue  # nothing works without it: embed, seeds, read, budget
        if isinstance(without, Pipeline):
            yield name, without


def links_of(said: str) -> EvaluationSet:
    """Return the set of masked links of the pages in a folder, `NAME=FOLDER`. Raises `ArgumentTypeError`."""
    name, _, folder = said.partition("=")
    if not name or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"expected NAME=FOLDER with pages in the folder, got {said!r}")
    return EvaluationSet(name, lambda _data, _stores: Path(folder), "", dict.fromkeys(OF_LINKS))


def places_of(
    names: str, data: Path, stores: Path, *, make: int = 0, links: Sequence[EvaluationSet] = ()
) -> list[Place]:
    """Build what is not built yet, and make up to `make` questions of each set."""
    places = []
    for one in (*chosen_sets(names, data), *links):
        place = Place(one, stores / one.corpus_name, stores / f"{one.corpus_name}.made.jsonl")
        if not store_exists(str(place.store)):
            recorded = data / one.recorded if one.recorded else None
            with kgrag.open(place.store, extractor=one.graphs, recorded=recorded) as graph:
                graph.build(one.corpus(data, stores))
        if make:
            with place.opened() as graph:
                not_like = data / one.questions if one.questions else None
                report = graph.make_questions(place.made, options=QuestionOptions(limit=make, not_like=not_like))
            print(f"{one.name}: {sum(report.taken.values()):,} questions made")
        places.append(place)
    return places


def in_neo4j(data: Path, stores: Path) -> Callable[[Place], AbstractContextManager[KnowledgeGraph]]:
    """Return what builds a set into a Neo4j that is started for it, and opens it."""

    @contextmanager
    def opening(place: Place) -> Iterator[KnowledgeGraph]:
        recorded = data / place.set.recorded if place.set.recorded else None
        with fresh_store("neo4j") as fresh:
            with kgrag.open(fresh.target, extractor=place.graph, recorded=recorded) as graph:
                graph.build(place.set.corpus(data, stores))
            with kgrag.open(fresh.target, create=False, graph=place.graph) as opened:
                yield opened

    return opening


def main() -> None:
    """Print the table."""
    parser = parser_of_sets(__doc__)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--links", type=links_of, action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--pipelines", default="dense,hybrid,default")
    parser.add_argument("--baseline", default="hybrid")
    parser.add_argument("--learnt", action="append", default=[], metavar="MODULE:FUNCTION")
    parser.add_argument("--make", action="store_true", help="write the made questions of every set first")
    parser.add_argument("--made", type=int, default=MADE_QUESTIONS, help="how many questions --make makes of a set")
    parser.add_argument("--ablate", default="", metavar="PIPELINE")
    parser.add_argument("--parts", default="", metavar="STEP[.SWITCH],...", help="with --ablate: only these")
    parser.add_argument(
        "--scores", type=Path, help="keep the scores of each set and pipeline here: the same command goes on"
    )
    arguments = parser.parse_args()
    if arguments.scores and arguments.scores.is_dir():
        parser.error(f"--scores: expected a file, made where it is absent; got the folder {arguments.scores}")
    arguments.stores.mkdir(parents=True, exist_ok=True)
    names = arguments.pipelines.split(",")
    contenders: dict[str, Contender] = {name: by_pipeline(name) for name in names}
    contenders |= {name.partition(":")[2]: learnt(name) for name in arguments.learnt}
    digests = {name: pipeline_digest(name) for name in names}
    left_out: list[str] = []
    if arguments.ablate:
        whole = load_pipeline(arguments.ablate)
        if isinstance(whole, AdaptivePipeline):
            parser.error(f"--ablate: expected a pipeline with steps, got {arguments.ablate}, which chooses another")
        contenders.setdefault(arguments.ablate, by_pipeline(arguments.ablate))
        digests[arguments.ablate] = pipeline_digest(arguments.ablate)
        without_parts = dict(ablations(whole))
        chosen = arguments.parts.split(",") if arguments.parts else list(without_parts)
        if unknown := set(chosen) - without_parts.keys():
            parser.error(f"--parts: expected some of {', '.join(without_parts)}, got {min(unknown)}")
        for step in chosen:
            without = without_parts[step]
            digests[f"without {step}"] = content_id(without.model_dump_json())
            left_out.append(step)
            contenders[f"without {step}"] = by_steps(without)
    if arguments.baseline not in contenders:
        parser.error(f"--baseline: expected one of {', '.join(contenders)}, got {arguments.baseline}")
    places = places_of(
        arguments.sets,
        arguments.data,
        arguments.stores,
        make=arguments.made if arguments.make else 0,
        links=arguments.links,
    )
    if arguments.store == "neo4j":
        digests = {name: content_id("neo4j", digest) for name, digest in digests.items()}
        opening = in_neo4j(arguments.data, arguments.stores)
    else:
        opening = Place.opened
    kept = Kept(arguments.scores, digests)
    done = carried_over(places, contenders, data=arguments.data, kept=kept, opening=opening)
    shown = [name for name in contenders if not name.startswith("without ")]
    _print_figures(done, shown, arguments.baseline)
    if arguments.ablate:
        _print_ablation(done, arguments.ablate, left_out)


def _print_figures(done: Sequence[Measured], contenders: Sequence[str], baseline: str) -> None:
    rows = []
    for measured in done:
        for measure in measured.measures:
            clusters = measured.clusters(measure)
            cells = []
            for name in contenders:
                cell = f"{measured.figure(name, measure):.3f}"
                if name != baseline:
                    cell += f" ({mean_interval(measured.differences(name, baseline, measure), clusters):+.3f})"
                cells.append(cell)
            rows.append([f"{measured.place.set.name}, {measure}", str(len(clusters)), str(len(set(clusters))), *cells])
    notes = [f"In brackets the difference from {baseline} with its 95 % interval, documents drawn."]
    print_table("Carried over", ["set", "questions", "documents", *contenders], rows, notes)


def _print_ablation(done: Sequence[Measured], whole: str, left_out: Sequence[str]) -> None:
    rows = []
    for step in left_out:
        cells = []
        for measured in done:
            for measure in measured.measures:
                differences = measured.differences(f"without {step}", whole, measure)
                cells.append(f"{sum(differences) / len(differences):+.3f}")
        strata = [one.mean_differences(f"without {step}", whole) for one in done]
        clusters = [[question.cluster for question in one.questions] for one in done]
        mean = mean_of_means(strata, clusters)
        rows.append([step, f"{mean:+.3f}", _verdict(mean), *cells])
    head = [f"{one.place.set.name}, {measure}" for one in done for measure in one.measures]
    notes = ["Difference that leaving it out makes. Mean over the sets, each with the same weight; documents drawn."]
    print_table(f"{whole} without one part", ["left out", "mean", "is", *head], rows, notes)


def _verdict(mean: Interval) -> str:
    if mean.high < 0:
        return "worse"
    if mean.low > 0:
        return "better"
    return "the same" if mean.low == mean.high == 0 else "not decided"


if __name__ == "__main__":
    main()
