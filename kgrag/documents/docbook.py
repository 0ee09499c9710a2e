"""DocBook (4 and 5, as XML) to blocks: written as HTML, which is walked as a page is.

pandoc's reader (3.9) was tried on 95 files of systemd and Samba: it passes over names, purposes and synopses of reference pages and over
titles of procedures, and writes ??? for references.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.docbook_writer import BLOCKS, DocBookWriter, element_name
from kgrag.documents.html import blocks_of_html
from kgrag.documents.text_encoding import decode
from kgrag.documents.xml_files import parse_xml
from kgrag.errors import DocumentError

__all__ = ["convert_docbook"]


UNPARSED = re.compile(r"(<!\[CDATA\[.*?\]\]>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)", re.DOTALL)
ENTITY = re.compile(r"&([A-Za-z_][\w.-]*);")
XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
DECLARED = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+(?:"[^"]*"|'[^']*')\s*>""")
"""An entity whose text is in the file."""


def convert_docbook(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a DocBook file, packed or not. Nothing is included or fetched. Raises `DocumentError` where it is no DocBook."""
    decoded = decode(data, path)
    text, unknown = _with_entities(decoded.text)
    data = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.removeprefix("\ufeff")).encode("utf-8", "replace")
    root = parse_xml(data, path, resolve_entities="internal")
    if element_name(root) not in BLOCKS:
        raise DocumentError(path, f"is XML, not DocBook: its first element is {element_name(root)}")
    writer = DocBookWriter(root)
    html = writer.block(root, 1)
    read = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
    notes = [decoded.note] if decoded.note else []
    for what, names in (("it includes", writer.included), ("another file says of its entities", unknown)):
        if names:
            notes.append(f"left out what {what}: {', '.join(list(names)[:10])}{' ...' if len(names) > 10 else ''}")
    return BlockDocument(read.blocks, writer.title, (*writer.removed, *read.removed), tuple(notes))


def _with_entities(xml: str) -> tuple[str, dict[str, None]]:
    """Write characters for the entities of HTML, and their names for those that another file defines, which are returned, too."""
    declared = {*DECLARED.findall(xml), *XML_ENTITIES}
    unknown: dict[str, None] = {}
    # Of the document's type only its entities are kept: the rest refers to other files.
    xml = DOCTYPE.sub(
        lambda doctype: f"<!DOCTYPE x [{''.join(one[0] for one in DECLARED.finditer(doctype[0]))}]>", xml, count=1
    )

    def said(entity: re.Match[str]) -> str:
        if entity[1] in declared:
            return entity[0]
        character = unescape(entity[0])
        if character != entity[0]:
            return escape(character)
        unknown[entity[1]] = None
        return entity[1] + " " * (entity.string[entity.end() : entity.end() + 1] == "&")

    parts = UNPARSED.split(xml)
    parts[::2] = [ENTITY.sub(said, part) for part in parts[::2]]
    return "".join(parts), unknown
