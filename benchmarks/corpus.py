"""What is measured on: the real Arduino chunks where they lie beside the project, and synthetic passages of any size."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.synthetic import passages, questions, write_passages
from benchmarks.vectors import MixedMiniLM
from kgrag.models.base import Embedder
from kgrag.models.minilm import MiniLM

__all__ = ["REAL_CHUNKS", "Corpus", "make_corpus"]

ARDUINO = DATA / "arduino"
REAL_CHUNKS = 2138
REAL_EMBEDDING_LIMIT = 5_000
"""Up to so many passages are embedded for real; more would measure the embedder for minutes."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages in a file, the embedder for them, and questions about them."""

    label: str
    file: Path
    embedder: Embedder
    questions: tuple[str, ...]


def make_corpus(chunks: int, folder: Path, *, question_count: int, embedder: Embedder | None = None) -> Corpus:
    """Write a corpus of `chunks` passages under `folder`: Arduino's for 2,138 where it is present, else synthetic.

    Without an `embedder` it is MiniLM, for large corpora with mixed vectors. With one, a corpus that is there is not written again.
    """
    file = folder / "passages.jsonl"
    if chunks == REAL_CHUNKS and ARDUINO.is_dir():
        lines = [
            json.loads(line)
            for path in sorted((ARDUINO / "chunks").glob("*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        with file.open("w", encoding="utf-8") as out:
            for chunk in lines:
                passage = {
                    "id": f"{chunk['product']}|{chunk['chunk_id']}",
                    "title": chunk["product"],
                    "text": chunk["text"],
                }
                out.write(
                    json.dumps(
                        passage | {"product": chunk["product"], "category": chunk["category"]}, ensure_ascii=False
                    )
                    + "\n"
                )
        asked = [row["question"] for row in read_rows(ARDUINO / "questions.jsonl")]
        return Corpus("Arduino", file, embedder or MiniLM(), tuple(asked[:question_count]))
    asked = questions(question_count, count=chunks)
    file = folder / f"passages-{chunks}.jsonl"
    if embedder is not None and file.is_file():
        return Corpus("synthetic", file, embedder, tuple(asked))
    made = list(passages(chunks))
    begun = file.with_suffix(".begun")
    write_passages(begun, made)
    begun.replace(file)
    if embedder is not None or chunks <= REAL_EMBEDDING_LIMIT:
        return Corpus("synthetic", file, embedder or MiniLM(), tuple(asked))
    return Corpus("synthetic, mixed vectors", file, MixedMiniLM([f"{p.title}\n{p.text}" for p in made]), tuple(asked))
