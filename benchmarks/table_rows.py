"""What rows of tables would be worth as texts of their own: what a row says, with its headers, caption and document, has a vector.

    python -m benchmarks.table_rows [--sets financebench] [--stores FOLDER] [--kept FOLDER]

Reads the chunks of each set's store, makes a text of every row of their tables (`row_texts`), embeds it, and asks the set's questions: by
the vectors of chunks alone, and where a chunk is as near to a question as the nearest of its own text and its rows. Both as plain dense
search and fused with the full-text index as the step `hybrid` fuses them, with the settings of `default`. Nothing is chosen here: there is
no weight. The store stays as it is. With `--kept` the rows' vectors stay in a file for the next run.

One row for each way: hit@5, hit@10 and the share of questions whose gold is among the candidates at all, each with its difference from
the same way without rows, with the 95 % interval of a bootstrap that draws whole documents.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.carry_over import Place, places_of
from benchmarks.retrieval_quality import CACHE, DATA, questions_of
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import GoldQuestion, states
from kgrag.evaluate.statistics import mean_interval
from kgrag.retrieve import load_pipeline
from kgrag.retrieve.pipeline import Pipeline
from kgrag.retrieve.scores import minmax_fusion
from kgrag.retrieve.state import Candidate, Resources
from kgrag.retrieve.steps.evidence import evidence_of_chunk
from kgrag.retrieve.steps.seeds import HITS_READ, Hybrid, best_coverage
from kgrag.store.fulltext import fulltext_query
from kgrag.store.schema import CHUNK_FULLTEXT_INDEX
from kgrag.types import Evidence

__all__ = ["row_texts"]

SEPARATOR = re.compile(r"\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?")
"""The line of a Markdown table below its header."""
CAPTION_CHARACTERS, ROW_CHARACTERS = 100, 600
Vectors = NDArray[np.float32]


def row_texts(text: str) -> Iterator[str]:
    """Yield what each row of the Markdown tables in a text says: `caption first cell: header cell; header cell`."""
    lines = [line.strip() for line in text.splitlines()]
    header: list[str] | None = None
    caption = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("|"):
            header, caption = None, line[-CAPTION_CHARACTERS:] or caption
        elif SEPARATOR.fullmatch(following):
            header = _cells(line)
        elif not SEPARATOR.fullmatch(line):
            first, *others = _cells(line)
            named = header[1:] if header and len(header) == len(others) + 1 else [""] * len(others)
            said = (f"{name} {cell}".strip() for name, cell in zip(named, others, strict=True) if cell)
            yield f"{caption} {first + ': ' if first else ''}{'; '.join(said)}".strip()


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


async def measured(place: Place, data: Path, kept: Path | None) -> list[list[str]]:
    """Ask a set's questions with and without rows: rows of the table."""
    with place.opened() as opened:
        store, embedder = opened.store, opened.embedder
        questions = questions_of(place.set, data, store)
        ids, vectors = store.documents.vectors()
        rows = {row["id"]: row for row in store.search.chunks(ids=list(ids))}
        resources = Resources(store, embedder, place.graph)
        pieces = {one: evidence_of_chunk(Candidate(one, 0.0), row, resources) for one, row in rows.items()}
        own, texts = [], []
        for number, one in enumerate(ids):
            name = re.sub(r"[_\W]+", " ", Path(pieces[one].document).stem)
            section = pieces[one].section.split(" > ")[-1]
            for said in row_texts(pieces[one].text):
                own.append(number)
                texts.append(f"{name}. {section}. {said}"[:ROW_CHARACTERS])
        of_rows = await _embedded(texts, embedder, kept and kept / f"{place.set.name}.rows.npz")
        pipeline = load_pipeline("default")
        assert isinstance(pipeline, Pipeline)
        hybrid = next(step for step in pipeline.steps if isinstance(step, Hybrid))
        found: dict[str, list[list[str]]] = {}
        asked = np.asarray(await embedder.embed_queries([one.question for one in questions]), dtype=np.float32)
        for question, vector in zip(questions, asked, strict=True):
            of_chunks = _cosines(np.asarray(vectors, dtype=np.float32), vector)
            nearest = of_chunks.copy()
            np.maximum.at(nearest, np.array(own, dtype=np.int64), _cosines(of_rows, vector))
            sparse = store.search.sparse_seeds(
                index=CHUNK_FULLTEXT_INDEX,
                query=fulltext_query(question.question),
                vector=vector.tolist(),
                limit=hybrid.candidates,
                read=HITS_READ,
            )
            trust = best_coverage(question.question, [row["prompted"] for row in sparse[:HITS_READ]])
            words = {row["id"]: float(row["score"]) for row in sparse}
            place_of = {one: number for number, one in enumerate(ids)}
            for name, cosines in (("", of_chunks), (" and rows", nearest)):
                order = np.argsort(-cosines, kind="stable")[: hybrid.candidates]
                dense = {ids[number]: float(cosines[number]) for number in order}
                found.setdefault(f"vectors of chunks{name}", []).append(list(dense))
                both = dense | {one: float(cosines[place_of[one]]) for one in words}
                fused = minmax_fusion(both, words, hybrid.alpha, sparse_trust=trust)
                best = sorted(fused, key=lambda one: (-fused[one], one))
                found.setdefault(f"the same with words{name}", []).append(best)
    return _rows(place.set.name, len(texts), questions, pieces, found)


async def _embedded(texts: Sequence[str], embedder: object, kept: Path | None) -> Vectors:
    if kept and kept.is_file():
        with np.load(kept, allow_pickle=False) as read:
            if read["texts"].tolist() == list(texts):
                return np.asarray(read["vectors"], dtype=np.float32)
    vectors = np.asarray(await embedder.embed_documents(list(texts)), dtype=np.float32)  # type: ignore[attr-defined]
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(kept, texts=np.array(texts), vectors=vectors)
    return vectors


def _cosines(vectors: Vectors, vector: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    cosines: Vectors = vectors @ vector / np.maximum(lengths, 1e-9)
    return cosines


def _rows(
    name: str,
    texts: int,
    questions: Sequence[GoldQuestion],
    pieces: Mapping[str, Evidence],
    found: Mapping[str, Sequence[Sequence[str]]],
) -> list[list[str]]:
    def ranks(way: str) -> list[int | None]:
        return [
            next(
                (rank for rank, one in enumerate(some) if any(states(pieces[one], fact) for fact in question.facts)),
                None,
            )
            for question, some in zip(questions, found[way], strict=True)
        ]

    clusters = [question.cluster for question in questions]
    shown = []
    for way in found:
        cells = []
        for most in (5, 10, 10**9):
            hits = [float(rank is not None and rank < most) for rank in ranks(way)]
            cell = f"{np.mean(hits):.3f}"
            if without := way.removesuffix(" and rows") if way.endswith(" and rows") else "":
                before = [float(rank is not None and rank < most) for rank in ranks(without)]
                gain = mean_interval([a - b for a, b in zip(hits, before, strict=True)], clusters)
                cell += f" ({gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}])"
            cells.append(cell)
        shown.append([name, str(len(questions)), f"{texts:,}", way, *cells])
    return shown


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default="financebench")
    parser.add_argument("--kept", type=Path, help="a folder in which the rows' vectors stay")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    for place in places_of(arguments.sets, arguments.data, arguments.stores):
        rows += asyncio.run(measured(place, arguments.data, arguments.kept))
    head = ["set", "questions", "rows of tables", "way", "hit@5", "hit@10", "among the candidates"]
    notes = ["In brackets the difference from the same without rows, with its 95 % interval, documents drawn."]
    print_table("Rows of tables as texts of their own", head, rows, notes)


if __name__ == "__main__":
    main()
