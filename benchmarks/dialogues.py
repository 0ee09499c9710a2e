"""Whether follow-ups find what the same questions find when they are asked in full.

    python -m benchmarks.dialogues --examples ./examples.kg --arduino ./arduino.kg

`dialogues.jsonl` has 61 dialogues of two to four turns over `examples/documents` and the Arduino datasheets, written before they were
asked. Each turn has what was said, the same question in full, and the gold passages: those of a document (the end of its path, or its
title) that have a quotation. A follow-up is completed by the rules of `kgrag.text.follow_ups` from the completed questions before it.
The rules were changed by looking at the half `development`, never at `reported`. A store without its option is left out; the stores are
those of `kgrag build`. A quotation that a store does not have is an error.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.text.follow_ups import complete_question

DIALOGUES = Path(__file__).with_suffix(".jsonl")
HALVES = ("development", "reported")
TOP = 5
TARGET = 0.9
"""Of the hits of the same questions in full."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: as it is said, in full, and where its answer stands."""

    said: str
    full: str
    document: str
    quote: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation over one corpus."""

    id: str
    corpus: str
    half: str
    turns: tuple[Turn, ...]


@dataclass(slots=True)
class Hits:
    """Questions, and how many find a gold passage among the first five."""

    asked: int = 0
    in_full: int = 0
    as_said: int = 0
    completed: int = 0


def main() -> None:
    """Print one table: follow-ups in full, as they are said, and completed, of each corpus and half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", help="a store of examples/documents")
    parser.add_argument("--arduino", help="a store of the Arduino datasheets")
    parser.add_argument("--pipeline", default="default")
    parser.add_argument(
        "--show", choices=HALVES, help="print the completed questions of a half that lose what the full ones find"
    )
    arguments = parser.parse_args()
    dialogues = read_dialogues()
    stores = {name: target for name in ("examples", "arduino") if (target := getattr(arguments, name))}
    if not stores:
        parser.error("expected --examples, --arduino or both")
    table: dict[tuple[str, str], Hits] = {}
    for corpus, target in stores.items():
        chosen = [one for one in dialogues if one.corpus == corpus]
        asyncio.run(ask(target, chosen, pipeline=arguments.pipeline, show=arguments.show, table=table))
    for half in HALVES:
        table["both", half] = total([hits for (_, of), hits in table.items() if of == half])
    print_table(
        f"Follow-ups, hit@{TOP}, pipeline {arguments.pipeline}, without a model",
        ("corpus", "half", "follow-ups", "in full", "as said", "completed", "completed / in full"),
        [
            (corpus, half, str(one.asked), *(f"{n / one.asked:.3f}" for n in (one.in_full, one.as_said, one.completed)),
             f"{one.completed / max(one.in_full, 1):.3f}")
            for (corpus, half), one in table.items()
        ],
        [f"Target: completed / in full at least {TARGET} of the half `reported`. First turns are not counted."],
    )  # fmt: skip


def read_dialogues() -> list[Dialogue]:
    """Read the set."""
    rows = read_rows(DIALOGUES)
    return [
        Dialogue(row["id"], row["corpus"], row["half"], tuple(Turn(**turn) for turn in row["turns"])) for row in rows
    ]


async def ask(
    target: str, dialogues: Sequence[Dialogue], *, pipeline: str, show: str | None, table: dict[tuple[str, str], Hits]
) -> None:
    """Ask the follow-ups of one store three ways, and count."""
    async with await AsyncKnowledgeGraph.open(target, create=False) as graph:
        gold = gold_chunks(graph, dialogues)

        async def finds(question: str, turn: Turn) -> bool:
            found = await graph.retrieve(question, top=TOP, pipeline=pipeline)
            return any(piece.chunk_id in gold[turn] for piece in found)

        for dialogue in dialogues:
            hits = table.setdefault((dialogue.corpus, dialogue.half), Hits())
            before: list[str] = []
            for turn in dialogue.turns:
                completed = complete_question(turn.said, before).text
                if before:
                    in_full, as_said = await finds(turn.full, turn), await finds(turn.said, turn)
                    found = await finds(completed, turn)
                    hits.asked += 1
                    hits.in_full += in_full
                    hits.as_said += as_said
                    hits.completed += found
                    if show == dialogue.half and in_full and not found:
                        print(f"{dialogue.id}: {turn.said!r} after {before[-1]!r} was asked as {completed!r}")
                before.append(completed)


def gold_chunks(graph: AsyncKnowledgeGraph, dialogues: Sequence[Dialogue]) -> dict[Turn, frozenset[str]]:
    """Return the ids of each turn's gold passages. Raises `SystemExit` where a store has none: it is another one."""
    documents = {one.id: one for one in graph.store.documents.all()}
    chunks = [(documents[one.document_id], one) for one in graph.store.documents.chunks()]
    gold = {}
    for turn in (turn for dialogue in dialogues for turn in dialogue.turns):
        gold[turn] = frozenset(
            chunk.id
            for document, chunk in chunks
            if (document.title == turn.document or document.path.endswith(f"/{turn.document}"))
            and turn.quote in chunk.prompted_text
        )
        if not gold[turn]:
            raise SystemExit(f"{turn.document}: no passage has {turn.quote!r}: expected a store of that corpus.")
    return gold


def total(rows: Sequence[Hits]) -> Hits:
    """Add rows up."""
    return Hits(*(sum(getattr(one, name) for one in rows) for name in ("asked", "in_full", "as_said", "completed")))


if __name__ == "__main__":
    main()
