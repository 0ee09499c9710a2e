"""Whether the box that a citation marks on a page has the cited words under it: the text under the mark is extracted again.

    python -m benchmarks.citation_boxes --store ./arduino.kg --root ../shared/data/arduino

The store is one of the Arduino datasheets (`kgrag build datasheets`, run in `--root`). Questions of `questions.jsonl` are asked in
their order, without a model, until there are so many citations of PDFs. A citation counts
where every sentence of its quotation, or every cell of a
quoted table row, stands under its mark, letters and digits compared.
"""

from __future__ import annotations

import argparse
import unicodedata
from pathlib import Path

import kgrag
from kgrag.common.question_files import read_questions
from kgrag.documents.pdf.page_images import places_of_quote, text_under
from kgrag.text.quotes import ELLIPSIS
from kgrag.types import Citation, PageBox


def main() -> None:
    """Print a line for each citation whose words are not under its mark, and how many are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, help="a store of the Arduino datasheets")
    parser.add_argument("--root", type=Path, default=Path("../shared/data/arduino"), help="where its paths start")
    parser.add_argument("--citations", type=int, default=30)
    parser.add_argument("--skip", type=int, default=0, help="questions that are left out at the beginning")
    arguments = parser.parse_args()
    cited: list[Citation] = []
    with kgrag.open(arguments.store, create=False) as graph:
        for question in read_questions(arguments.root / "questions.jsonl")[arguments.skip :]:
            answer = graph.ask(question.question)
            cited += [one for one in answer.citations if one.document.endswith(".pdf")]
            if len(cited) >= arguments.citations:
                break
    cited = cited[: arguments.citations]
    results = [_is_under(one, arguments.root) for one in cited]
    under, exact = sum(found for found, _ in results), sum(share for _, share in results) / len(results)
    print(f"{under} of {len(cited)} citations have their words under the mark")
    print(f"{exact:.1%} of the letters under the marks are the citation's, on average")


def _is_under(citation: Citation, root: Path) -> tuple[bool, float]:
    """Whether all words are under the marks, and the share of the letters there that are theirs."""
    path = root / citation.document
    marks = places_of_quote(path, citation.quote, citation.boxes)
    found = _letters(text_under(path, marks))
    wanted = [
        letters
        for part in citation.quote.split(ELLIPSIS)
        for cell in (part.split("|") if part.startswith("|") else [part])
        if (letters := _letters(cell))
    ]
    missing = [letters for letters in wanted if letters not in found]
    around = _letters(text_under(path, citation.boxes))
    beyond = _area(marks) / (_area(citation.boxes) or 1.0)
    if missing:
        print(f"{citation.document}, page {citation.page_start}: {citation.quote!r}")
        print(f"  under {len(marks)} marks ({beyond:.0%} of the passage's boxes) is not: {missing}")
        print(f"  in the passage's boxes: {[letters in around for letters in missing]}")
    return not missing, min(1.0, sum(map(len, wanted)) / max(len(found), 1))


def _area(boxes: list[PageBox] | tuple[PageBox, ...]) -> float:
    return sum((box.right - box.left) * (box.bottom - box.top) for box in boxes)


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


if __name__ == "__main__":
    main()
