"""Whether citations name the page that says it: questions with gold pages, asked of the twelve Arduino datasheets without a model.

    python -m benchmarks.citation_pages [--stores FOLDER] [--store neo4j] [--show]

Gold pages come twice: ours were read from the PDFs (the answerable questions of `abstention_questions.jsonl`), those of
`../shared/data/arduino/evidence.jsonl` are the pages of the datasheets on which the quotations of a question's facts stand; questions of
which none stands in the twelve are left out. A page counts as cited where it is inside the pages of a citation of its file. `words there`
is another thing: the share of citations whose quoted words (nine in ten of them) are on the pages that they name, as PDFium reads them.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasheets import ARDUINO, DATASHEETS, HALVES, QUESTIONS, opened, page_texts
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.types import Answer, Citation

WORD = re.compile(r"\w+")
MOST_WORDS = 0.9

Place = tuple[str, int]
"""A datasheet by its path below `datasheets/`, and a page from 1."""


@dataclass(frozen=True)
class Asked:
    """A question with its gold pages, and what was answered."""

    group: str
    question: str
    gold: frozenset[Place]
    answer: Answer

    def pages(self, citation: Citation) -> set[Place]:
        """Return the pages that a citation names."""
        if citation.page_start is None:
            return set()
        document = citation.document.partition("datasheets/")[2] or citation.document
        return {(document, page) for page in range(citation.page_start, (citation.page_end or citation.page_start) + 1)}


def main() -> None:
    """Ask all questions and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, help="a folder with datasheets.kg, kept there")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded", help="where the store is built")
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--show", action="store_true", help="print the answers that cite no gold page")
    arguments = parser.parse_args()
    if not DATASHEETS.is_dir():
        raise SystemExit(f"Expected the Arduino datasheets in {DATASHEETS}, they are not there.")
    texts = {file.relative_to(DATASHEETS).as_posix(): page_texts(file) for file in sorted(DATASHEETS.rglob("*.pdf"))}
    wanted = [*_ours(), *_shared(texts)]
    with opened("datasheets", arguments.stores, arguments.store, pipeline=arguments.pipeline) as graph:
        asked = [Asked(group, question, gold, graph.ask(question)) for group, question, gold in wanted]
    groups = list(dict.fromkeys(one.group for one in asked))
    rows = [_row(group, [one for one in asked if one.group == group], texts) for group in groups]
    head = [
        "questions",
        "asked",
        "answered",
        "gold page cited",
        "by the first",
        "citations",
        "on a gold page",
        "words there",
        "pages each",
    ]
    print_table("Pages of citations", head, rows, [])
    if arguments.show:
        for one in asked:
            cited = [sorted(one.pages(citation)) for citation in one.answer.citations]
            if not one.answer.abstained and not any(one.gold & set(pages) for pages in cited):
                print(f"{one.question}\n  gold {sorted(one.gold)}\n  cited {cited}\n  {one.answer.text}")


def _ours() -> list[tuple[str, str, frozenset[Place]]]:
    found = []
    for half in HALVES:
        for row in read_rows(QUESTIONS):
            if row["half"] == half and row["corpus"] == "datasheets" and row["kind"] == "answerable":
                places = (place.rpartition("#page=") for place in row["evidence"])
                found.append(
                    (f"ours, {half}", row["question"], frozenset((file, int(page)) for file, _, page in places))
                )
    return found


def _shared(texts: Mapping[str, Sequence[str]]) -> list[tuple[str, str, frozenset[Place]]]:
    questions = {row["id"]: row["question"] for row in read_rows(ARDUINO / "questions.jsonl")}
    folded = {file: [_folded(page) for page in pages] for file, pages in texts.items()}
    found = []
    for row in read_rows(ARDUINO / "evidence.jsonl"):
        products = {(place.partition("|")[0], fact["quote"]) for fact in row["facts"] for place in fact["evidence"]}
        gold = {
            (file, number)
            for product, quote in products
            for file, pages in folded.items()
            if Path(file).parent.name == product
            for number, page in enumerate(pages, start=1)
            if _folded(quote) in page
        }
        if gold and not row["wrong_gold"]:
            found.append(("shared evidence", questions[row["id"]], frozenset(gold)))
    return found


def _folded(text: str) -> str:
    return " ".join(WORD.findall(unicodedata.normalize("NFKC", text).replace("\ufffe", "").casefold()))


def _row(group: str, asked: Sequence[Asked], texts: Mapping[str, Sequence[str]]) -> list[str]:
    answered = [one for one in asked if not one.answer.abstained and one.answer.citations]
    cited = [(one, citation) for one in answered for citation in one.answer.citations]
    any_gold = sum(any(one.gold & one.pages(citation) for citation in one.answer.citations) for one in answered)
    first = sum(bool(one.gold & one.pages(one.answer.citations[0])) for one in answered)
    on_gold = sum(bool(one.gold & one.pages(citation)) for one, citation in cited)
    there = sum(
        _words_there(citation, [texts[file][page - 1] for file, page in one.pages(citation)]) for one, citation in cited
    )
    pages = sum(len(one.pages(citation)) for one, citation in cited)
    shares = [
        f"{part} of {len(whole)} ({part / max(1, len(whole)):.2f})"
        for part, whole in ((any_gold, answered), (first, answered))
    ]
    return [
        group,
        str(len(asked)),
        str(len(answered)),
        *shares,
        str(len(cited)),
        f"{on_gold / max(1, len(cited)):.2f}",
        f"{there / max(1, len(cited)):.2f}",
        f"{pages / max(1, len(cited)):.2f}",
    ]


def _words_there(citation: Citation, pages: Sequence[str]) -> bool:
    """Whether the words of a quotation are on some pages; where PDFium has blanks does not matter (`16mm`)."""
    words = _folded(citation.quote).split()
    there = _folded(" ".join(pages)).replace(" ", "")
    return bool(words) and sum(word in there for word in words) >= MOST_WORDS * len(words)


if __name__ == "__main__":
    main()
