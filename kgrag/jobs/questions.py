"""`kgrag questions make`: questions of a built store, from its structure and one of its graphs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgrag.common.progress import Progress, Silent
from kgrag.common.question_files import read_questions
from kgrag.common.whole_files import expect_place, write_whole
from kgrag.errors import InputError
from kgrag.evaluate.questions import KINDS, Draft, Material, StatedRelation, drafts_of, question_line, select
from kgrag.evaluate.questions.paraphrase import Paraphrased, paraphrased
from kgrag.evaluate.questions.selection import ROUND_TRIP
from kgrag.models.base import ChatModel, Embedder, Vectors
from kgrag.retrieve import load_pipeline, open_retriever
from kgrag.store.graph import GraphStore
from kgrag.types import Usage

__all__ = [
    "QUESTIONS_SUFFIX",
    "QuestionOptions",
    "QuestionsReport",
    "make_questions",
    "material_of",
    "questions_beside",
]

ROUND_TRIP_PIPELINE = "hybrid"
QUESTIONS_SUFFIX, BEFORE_SUFFIX = ".questions.jsonl", ".questions.before.jsonl"
"""Of questions that were made for what is trained, and of those that were there before."""


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """What is made. Raises `InputError` for a limit below 1."""

    kinds: tuple[str, ...] = tuple(KINDS)
    limit: int = 1000
    seed: int = 7
    not_like: Path | None = None
    """A question file: nothing that is made is like one of its questions."""

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise InputError(f"Expected a limit of at least 1 question, got {self.limit}.")


@dataclass
class QuestionsReport:
    """What was drafted, what was taken, and what was left out for which reason."""

    drafted: dict[str, int] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    easy: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    paraphrased: int = 0
    not_paraphrased: dict[str, int] = field(default_factory=dict)
    """Questions that stay as the template made them, by what was wrong with the model's."""
    usage: Usage = field(default_factory=Usage)


async def make_questions(
    out: Path,
    options: QuestionOptions,
    *,
    store: GraphStore,
    graph: str,
    embedder: Embedder,
    model: ChatModel | None = None,
    progress: Progress | None = None,
) -> QuestionsReport:
    """Draft, select, put into other words where there is a model, and write the file. Raises `InputError` where nothing can be made."""
    expect_place(out)
    text, report = await _made(
        options, store=store, graph=graph, embedder=embedder, model=model, progress=progress or Silent()
    )
    write_whole(out, text)
    return report


async def questions_beside(
    out: Path, options: QuestionOptions, *, store: GraphStore, graph: str, embedder: Embedder, progress: Progress
) -> tuple[Path, QuestionsReport]:
    """Make the questions that what is written to `out` is learnt from, into a file beside it, `NAME.questions.jsonl`.

    Others that are there (of other documents, or changed by hand) are kept as `NAME.questions.before.jsonl`, and that is said.
    """
    file, before = out.with_suffix(QUESTIONS_SUFFIX), out.with_suffix(BEFORE_SUFFIX)
    expect_place(file)
    text, report = await _made(options, store=store, graph=graph, embedder=embedder, model=None, progress=progress)
    if file.is_file() and file.read_bytes() != text.encode():
        file.replace(before)
        progress.say(f"note: {file} had other questions than are made now: those are kept as {before}.")
    write_whole(file, text)
    return file, report


async def _made(
    options: QuestionOptions,
    *,
    store: GraphStore,
    graph: str,
    embedder: Embedder,
    model: ChatModel | None,
    progress: Progress,
) -> tuple[str, QuestionsReport]:
    not_like = [one.question for one in read_questions(options.not_like)] if options.not_like else []
    material = await asyncio.to_thread(material_of, store, graph)
    drafts = await asyncio.to_thread(drafts_of, material, options.kinds)
    retriever = open_retriever(store, embedder, load_pipeline(ROUND_TRIP_PIPELINE))

    async def find(question: str, hidden: frozenset[str]) -> list[str]:
        found = await retriever.trace(question, top=ROUND_TRIP, hidden=hidden)
        return [str(piece.chunk_id) for piece in found.evidence]

    async def embed(texts: Sequence[str]) -> Vectors:
        return await embedder.embed_queries(texts)

    drafted = sum(map(len, drafts.values()))
    with progress.step("Questions", min(options.limit, drafted), "questions") as step:
        selection = await select(
            drafts,
            material,
            find=find,
            embed=embed,
            limit=options.limit,
            seed=options.seed,
            not_like=not_like,
            advance=step.advance,
        )
    if not selection.taken:
        raise InputError(
            f"Of {drafted:,} drafts no question could be made: expected a store with headings, links, tables or a graph "
            f"({', '.join(f'{reason} {count}' for reason, count in selection.left_out.items()) or 'nothing was drafted'})."
        )
    questions = [one.draft for one in selection.taken]
    worded = (
        await paraphrased(questions, model=model, embed=embed, progress=progress)
        if model is not None
        else Paraphrased()
    )
    lines = [
        question_line(
            one.draft, source_ids=material.source_ids, easy=one.easy, asked=worded.questions.get(one.draft.id)
        )
        for one in selection.taken
    ]
    return "".join(f"{line}\n" for line in lines), QuestionsReport(
        drafted={kind: len(some) for kind, some in drafts.items()},
        taken=_counted(questions),
        easy=sum(one.easy for one in selection.taken),
        left_out=dict(selection.left_out),
        paraphrased=len(worded.questions),
        not_paraphrased=dict(worded.refused),
        usage=worded.usage,
    )


def material_of(store: GraphStore, graph: str) -> Material:
    """Read everything of a store that questions are made of."""
    entities = {row["key"]: row for row in store.search.entities(graph=graph)} if graph else {}
    relations = []
    for row in store.search.records("relation"):
        head, tail = entities.get(row["source"]), entities.get(row["target"])
        says = row["properties"]
        if head is not None and tail is not None and says.get("grounded") and says.get("chunks"):
            relations.append(
                StatedRelation(
                    head["key"],
                    head["name"],
                    row["type"],
                    tail["key"],
                    tail["name"],
                    tail["type"],
                    tuple(says["chunks"]),
                    tuple(says.get("descriptions") or ()),
                )
            )
    relations.sort(key=lambda one: (one.head, one.type, one.tail))
    names = {key: row["name"] for key, row in entities.items()}
    written = [
        (stored.community, frozenset(names[key] for key in stored.membership.members if key in names))
        for stored in (store.communities.of_graph(graph).values() if graph else ())
        if stored.community is not None
    ]
    return Material(store.documents.all(), list(store.documents.chunks()), relations, written)


def _counted(questions: Sequence[Draft]) -> dict[str, int]:
    counts = Counter(draft.kind for draft in questions)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}
