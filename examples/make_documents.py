"""Make the binary sample documents (PDF, DOCX, PPTX, XLSX) from the texts and facts under `source/`.

    python examples/make_documents.py            write them under examples/documents
    python examples/make_documents.py --check    compare: every file as it would be written, every page in agreement with the facts

Needs reportlab (dependency group `dev`) besides what kgrag brings. The same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from source.blocks import Block, read_blocks
from source.facts import STATED_IN, value
from source.office import write_docx, write_pptx, write_xlsx
from source.pdf import HELVETICA, VERA, write_pdf

HERE = Path(__file__).resolve().parent
DOCUMENTS = HERE / "documents"

MADE: dict[str, Callable[[Path, list[Block]], None]] = {
    "controllers/X-100/x-100-datasheet.pdf": partial(write_pdf, face=VERA),
    "controllers/X-1000/x-1000-datasheet.pdf": partial(write_pdf, face=HELVETICA),
    "general/portfolio/an-034-battery-logger.pdf": partial(write_pdf, face=HELVETICA),
    "sensors/TPR-400/tpr-400-datasheet.docx": write_docx,
    "sensors/THM-7/an-021-condensing-humidity.docx": write_docx,
    "carriers/TCB-4/tcb-4-hardware-guide.docx": write_docx,
    "carriers/TCB-4/tcb-4-pin-map.xlsx": write_xlsx,
    "general/portfolio/product-overview.pptx": write_pptx,
}
"""Document, and what writes it; its text is the file of the same name under `source/`."""


def make(folder: Path) -> None:
    """Write all documents of `MADE` under `folder`."""
    for name, write in MADE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, read_blocks(HERE / "source" / f"{path.stem}.md"))


def differences() -> list[str]:
    """Say what is not as it should be: a made file that would come out otherwise, a page without a fact that it has to state."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        for name in MADE:
            committed = DOCUMENTS / name
            if not committed.exists() or committed.read_bytes() != (Path(folder) / name).read_bytes():
                found.append(f"{name}: differs from its source; run examples/make_documents.py")
    for name, facts in STATED_IN.items():
        text = _plain((DOCUMENTS / name).read_text(encoding="utf-8"))
        found += [f"{name}: does not say {fact} = {value(fact)}" for fact in facts if value(fact) not in text]
    return found


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).replace("*", "").split())


def main() -> int:
    """Write the documents, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if not parser.parse_args().check:
        make(DOCUMENTS)
        return 0
    found = differences()
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
