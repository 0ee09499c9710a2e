"""A document as a page: what its bytes may hold."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from kgrag.errors import DocumentError
from kgrag.serve.html_view import document_html
from kgrag.types import Document


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("fan.html", "<p>The fan \x01F-9\x0b turns &#1;at \ufffe4200\uffff rpm.</p>"),
        ("fan.md", "The fan \x01F-9\x0b turns at &#xFFFE;4200 rpm.\n"),
        ("fan.rst", "Fans\n====\n\n.. note:: The fan F-9 turns at 4200 rpm.\n"),
        ("fan.txt", "FANS\n\x0cThe fan \x01F-9 turns at \x1b4200\ufffe rpm.\n"),
    ],
)
def test_a_sentence_with_characters_that_xml_has_none_of_is_marked(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    document = Document(id="0" * 32, path=name, title="Fan", sha256=sha256, format=file.suffix[1:])
    page = document_html(document, [], file=file, chunk=None, quote="The fan F-9 turns at 4200 rpm.")
    assert "4200 rpm" in page.partition("<mark")[2]


def test_a_packed_page_that_is_too_large_unpacked_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dump.txt.gz"
    file.write_bytes(gzip.compress(b"The fan turns.\n\n" * 1_500_000))
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    document = Document(id="0" * 32, path=file.name, title="Dump", sha256=sha256, format="html")
    with pytest.raises(DocumentError, match="larger than 20 MB"):
        document_html(document, [], file=file, chunk=None, quote="")
