"""Pages of files as pictures, drawn in a process of their own."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from kgrag.serve.page_process import PageProcess
from kgrag.types import Document


def test_pages_of_a_packed_pdf_are_drawn(tmp_path: Path) -> None:
    plain, packed = tmp_path / "sheet.pdf", tmp_path / "sheet.pdf.gz"
    canvas = Canvas(str(plain), pagesize=(300, 200))
    canvas.drawString(72, 100, "The supply is 5 V.")
    canvas.save()
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    document = Document(id="1", path="sheet.pdf.gz", title="sheet", sha256="1", format="pdf")

    async def drawn() -> tuple[list[tuple[float, float]], bytes]:
        pages = PageProcess()
        try:
            return await pages.sizes(packed, document), await pages.picture(packed, document, 1, width=300)
        finally:
            pages.close()

    sizes, picture = asyncio.run(drawn())
    assert sizes == [(300, 200)]
    assert picture.startswith(b"\x89PNG")
