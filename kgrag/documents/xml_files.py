"""Parses XML of files that anybody may have written."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from kgrag.errors import DocumentError

__all__ = ["parse_xml"]

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
        root = etree.fromstring(data, recovering)
        if root is None or {fault.type_name for fault in recovering.error_log} - FAULTS_OF_IDS:
            raise DocumentError(path, f"is broken: {error}") from error
        return root
