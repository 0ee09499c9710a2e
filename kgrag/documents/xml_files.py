"""Parses XML of files that anybody may have written."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any, Literal

from kgrag.errors import DocumentError

__all__ = ["parse_text", "parse_xml"]

UNPARSED = re.compile(r"(<!\[CDATA\[.*?\]\]>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)", re.DOTALL)
ENTITY = re.compile(r"&([A-Za-z_][\w.-]*);")
XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
DECLARED = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+(?:"[^"]*"|'[^']*')\s*>""")
"""An entity whose text is in the file."""

FAULTS_OF_IDS = frozenset({"DTD_XMLID_VALUE", "DTD_ID_REDEFINED"})
"""An id that is written as none may be, or twice: programs that write XML do that, and no word depends on it."""


def parse_xml(data: bytes, path: Path, *, resolve_entities: bool | Literal["internal"] = False) -> Any:
    """Return the root of a document without comments; nothing is fetched. Raises `DocumentError` where it is broken, but for its ids."""
    from lxml import etree

    def parser(*, recover: bool) -> etree.XMLParser:
        return etree.XMLParser(
            resolve_entities=resolve_entities,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            recover=recover,
        )

    try:
        return etree.fromstring(data, parser(recover=False))
    except etree.XMLSyntaxError as error:
        recovering = parser(recover=True)
        try:
            root = etree.fromstring(data, recovering)
        except etree.XMLSyntaxError:  # nothing to begin with
            root = None
        if root is None or {fault.type_name for fault in recovering.error_log} - FAULTS_OF_IDS:
            raise DocumentError(path, f"is broken: {error}") from error
        return root


def parse_text(text: str, path: Path) -> tuple[Any, dict[str, None]]:
    """Return the root of a document that is text already, with characters for the entities of HTML, and the entities that are unknown.

    Those that the file itself declares are written out. Raises `DocumentError` where it is broken.
    """
    text, unknown = _with_entities(text)
    data = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.removeprefix("\ufeff")).encode("utf-8", "replace")
    return parse_xml(data, path, resolve_entities="internal"), unknown


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
