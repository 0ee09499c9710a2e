"""Which chunker keeps what questions ask for together: kgrag's packer or Docling's HybridChunker.

    python -m benchmarks.chunkers [--data ../shared/data] [--pipeline default] [--stores FOLDER]

Both chunkers cut the twelve Arduino datasheets (PDF) and the phone manual (HTML); the same pipeline is asked, and what is counted is how
much of the gold lies inside the first 1,500 tokens of shown text (whole chunks, up to the first that does not fit).

- Arduino: the facts of `evidence.jsonl` that come with a quote and whose product is among the datasheets. A chunk states a fact where it
  has every number of the quote and at least four fifths of its words: tables are written differently by the two, so the order of words is
  not asked for. A fact that no page of its datasheet states by the same rule is left out.
- Phone manual: the section that answers (by its id), and the words of the gold answer.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import DATA
from benchmarks.retrieval_quality import CACHE, FACT_BUDGET_TOKENS, read_rows
from benchmarks.tables import print_table

CHUNKERS = ("structure", "hybrid")
WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")
WORDS_NEEDED = 0.8
TOP = 50


def words_of(text: str) -> set[str]:
    """Return the numbers of a text and its words of three letters and more, in lower case."""
    return set(WORD.findall(text.casefold()))


def states(text: str, quote: str) -> bool:
    """Whether a text has every number of a quote and at least four fifths of its words."""
    wanted, there = words_of(quote), words_of(text)
    numbers = {word for word in wanted if word[0].isdigit()}
    return numbers <= there and len(wanted & there) >= WORDS_NEEDED * len(wanted)


def pages_by_product(folder: Path) -> dict[str, list[str]]:
    """Return the text of each page of the datasheets, as pdfium reads it, by product."""
    import pypdfium2

    pages: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*/*/*.pdf")):
        document = pypdfium2.PdfDocument(path)
        pages[path.parent.name] = [page.get_textpage().get_text_range() for page in document]
        document.close()
    return pages


def arduino_questions(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield questions with the quotes of their facts that the datasheets state."""
    pages = pages_by_product(data / "arduino" / "datasheets")
    questions = {row["id"]: row["question"] for row in read_rows(data / "arduino" / "questions.jsonl")}
    for row in read_rows(data / "arduino" / "evidence.jsonl"):
        quotes = [
            fact["quote"]
            for fact in row["facts"]
            if fact.get("quote")
            and words_of(fact["quote"])
            and any(states(page, fact["quote"]) for product in products(fact) for page in pages.get(product, []))
        ]
        if quotes and not row["wrong_gold"]:
            yield questions[row["id"]], quotes


def products(fact: dict[str, Any]) -> set[str]:
    """Return the products whose documents state a fact."""
    return {source.partition("|")[0] for source in fact["evidence"]}


def shown(graph: Any, question: str) -> list[Any]:
    """Return the evidence inside the budget."""
    return list(graph.retrieve(question, top=TOP, budget=FACT_BUDGET_TOKENS))


def ask_arduino(graph: Any, data: Path) -> tuple[str, int]:
    """Return the mean share of facts inside the budget, and how many questions there are."""
    shares = []
    for question, quotes in arduino_questions(data):
        texts = [piece.text for piece in shown(graph, question)]
        shares.append(mean(any(states(text, quote) for text in texts) for quote in quotes))
    return f"facts {mean(shares):.3f}", len(shares)


def ask_manual(graph: Any, data: Path) -> tuple[str, int]:
    """Return how often the answering section is inside the budget, and how many of the gold answers' words are."""
    sections, covered = [], []
    for row in read_rows(data / "emanual" / "questions.jsonl"):
        pieces = shown(graph, row["question"])
        gold = {source.rpartition("#")[2] for source in flat(row["evidence"])}
        sections.append(any(gold & set(piece.anchors) for piece in pieces))
        wanted = words_of(row["gold_answer"])
        covered.append(len(wanted & words_of(" ".join(piece.text for piece in pieces))) / len(wanted))
    return f"section {mean(sections):.3f}, words of the answer {mean(covered):.3f}", len(sections)


def flat(value: Any) -> Iterable[str]:
    """Return the strings of a list of strings or of lists of them."""
    return [value] if isinstance(value, str) else [text for part in value for text in flat(part)]


def main() -> None:
    """Print the table."""
    import kgrag

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--pipeline", default="default")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    sets = (("arduino/datasheets", ask_arduino), ("emanual/html", ask_manual))
    rows = []
    for folder, ask in sets:
        for chunker in CHUNKERS:
            target = arguments.stores / f"{folder.replace('/', '-')}-{chunker}"
            with kgrag.open(str(target), chunker=chunker, pipeline=arguments.pipeline) as graph:
                graph.build(arguments.data / folder)
                chunks = graph.status()["chunks"]
                figures, questions = ask(graph, arguments.data)
            rows.append([folder, str(questions), chunker, str(chunks), figures])
            print(json.dumps(rows[-1]), flush=True)
    print_table(
        f"Chunkers, pipeline {arguments.pipeline}, {FACT_BUDGET_TOKENS} tokens",
        ["set", "questions", "chunker", "chunks", "figures"],
        rows,
        ["facts: of the datasheets, stated inside the budget; section: the answering one is inside it."],
    )


if __name__ == "__main__":
    main()
