"""Words and quantities that OCR finds on rendered pages: `python -m benchmarks.ocr [FOLDER] [--pages 10] [--seed 0] [--show]`.

Draws pages with at least eighty words from the PDFs of a folder (the Arduino datasheets of `../shared/data`), renders each to a picture,
makes a PDF of the pictures, and reads that as any scan is read (`kgrag/documents/pdf/ocr.py`). Compared with the text that the pages have:
the share of its words that are read (each as often as it stands, in any case, on any place of the page), and of its numbers with units.
Pages in Chinese are not drawn: the extra brings English data alone.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

import pypdfium2

from benchmarks import DATA
from benchmarks.tables import print_table
from kgrag.documents.inline_text import CJK
from kgrag.documents.ocr_data import missing_ocr
from kgrag.documents.pdf.geometry import lines_of
from kgrag.documents.pdf.ocr import with_read_pictures
from kgrag.documents.pdf.pages import Page, read_pages
from kgrag.text.quantities import quantities

DATASHEETS = DATA / "arduino" / "datasheets"
MIN_WORDS = 80
SCAN_DPI = 300
_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*")


def drawn_pages(folder: Path, *, count: int, seed: int) -> list[tuple[Path, int]]:
    """Draw pages (from 1), seeded."""
    candidates = []
    for path in sorted(folder.rglob("*.pdf")):
        document = pypdfium2.PdfDocument(path)
        for index in range(len(document)):
            text = document[index].get_textpage().get_text_range()
            if len(text.split()) >= MIN_WORDS and not CJK.search(text):
                candidates.append((path, index + 1))
        document.close()
    return sorted(random.Random(seed).sample(candidates, min(count, len(candidates))))


def scan_of(pages: list[tuple[Path, int]], path: Path) -> None:
    """Write a PDF of pictures of the pages."""
    pictures = []
    for source, number in pages:
        document = pypdfium2.PdfDocument(source)
        pictures.append(document[number - 1].render(scale=SCAN_DPI / 72).to_pil().convert("L"))
        document.close()
    pictures[0].save(path, save_all=True, append_images=pictures[1:], resolution=SCAN_DPI)


def text_of(page: Page) -> str:
    """Return the page's text line by line."""
    return "\n".join(line.text for line in lines_of(word for word in page.words if word.level))


def counted(text: str) -> tuple[Counter[str], Counter[str]]:
    """Count words and quantities."""
    return Counter(word.casefold() for word in _WORD.findall(text)), Counter(
        f"{found.sign}{found.value:g} {found.upper or ''} {found.unit}" for found in quantities(text)
    )


def main() -> None:
    """Compare what is read with what is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DATASHEETS)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print what was not read")
    arguments = parser.parse_args()
    if missing := missing_ocr():
        raise SystemExit(missing)
    drawn = drawn_pages(arguments.folder, count=arguments.pages, seed=arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        scan = Path(folder) / "scan.pdf"
        scan_of(drawn, scan)
        blank = list(read_pages(scan))
        began = time.process_time()
        read = with_read_pictures(scan, blank)
        seconds = time.process_time() - began
    rows, totals = [], [0, 0, 0, 0]
    for (path, number), page in zip(drawn, read, strict=True):
        original = next(one for one in read_pages(path) if one.number == number)
        words, units = counted(text_of(original))
        read_words, read_units = counted(text_of(page))
        found = (words & read_words).total(), words.total(), (units & read_units).total(), units.total()
        totals = [total + value for total, value in zip(totals, found, strict=True)]
        rows.append(
            [
                f"{path.stem} {number}",
                f"{found[0]} of {found[1]}",
                f"{found[2]} of {found[3]}",
                f"{page.read_confidence or 0:.2f}",
            ]
        )
        if arguments.show:
            print(
                f"{path.stem} {number}: {sorted((words - read_words).elements())} {sorted((units - read_units).elements())}"
            )
    rows.append(["all", f"{totals[0] / totals[1]:.3f}", f"{totals[2] / max(1, totals[3]):.3f}", ""])
    notes = [f"CPU a page: {seconds / len(drawn):.1f} s"]
    print_table("Read from pictures of pages", ("page", "words", "quantities", "confidence"), rows, notes)


if __name__ == "__main__":
    main()
