"""DocBook (4 and 5, as XML) to blocks: written as HTML, which is walked as a page is.

pandoc's reader (3.9) was tried on 95 files of systemd and Samba: it passes over names, purposes and synopses of reference pages and over
titles of procedures, and writes ??? for references.
"""

from __future__ import annotations

from pathlib import Path

from kgrag.documents.blocks import BlockDocument, left_out
from kgrag.documents.docbook_writer import BLOCKS, DocBookWriter, element_name
from kgrag.documents.html import blocks_of_html
from kgrag.documents.text_encoding import decode
from kgrag.documents.xml_files import parse_text
from kgrag.errors import DocumentError

__all__ = ["convert_docbook"]


def convert_docbook(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a DocBook file, packed or not. Nothing is included or fetched. Raises `DocumentError` where it is no DocBook."""
    decoded = decode(data, path)
    root, unknown = parse_text(decoded.text, path, parts_of="article")
    if element_name(root) not in BLOCKS:
        raise DocumentError(path, f"is XML, not DocBook: its first element is {element_name(root)}")
    writer = DocBookWriter(root)
    html = writer.block(root, 1)
    read = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
    notes = [decoded.note] if decoded.note else []
    for what, names in (("it includes", writer.included), ("another file says of its entities", unknown)):
        if names:
            notes.append(left_out(f"what {what}", names))
    return BlockDocument(read.blocks, writer.title, (*writer.removed, *read.removed), tuple(notes))
