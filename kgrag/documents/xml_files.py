"""Parses XML of files that anybody may have written."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any, Literal

from kgrag.errors import DocumentError

__all__ = ["parse_text", "parse_xml"]

UNPARSED = re.compile(r"(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PROLOGUE = re.compile(
    r"\ufeff?(?:\s|<\?.*?\?>|<!--.*?-->)*+"
    r"(?P<doctype><!DOCTYPE[^\[>]*+"
    r"""(?:\[(?:<!--.*?-->|<\?.*?\?>|"[^"]*"|'[^']*'|<(?!!--|\?)|[^\]"'<])*+\]\s*)?>)?""",
    re.DOTALL,
)
"""What stands above the first element. In the declarations of a document type, comments and values may have its brackets, too."""
ENTITY = re.compile(r"&([A-Za-z_][\w.-]*);")
BARE = re.compile(r"&(?!#?[\w.-]{1,100};)|<(?=[\s\d=<&])")
"""A mark that begins nothing, as who writes by hand leaves it: `check & fix`, `x < 3`."""
NEWLINE = "\n"
XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
DECLARED = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+(?:"[^"]*"|'[^']*')\s*>""")
"""An entity whose text is in the file."""

HARMLESS_FAULTS = frozenset({"DTD_XMLID_VALUE", "DTD_ID_REDEFINED", "NS_ERR_UNDEFINED_NAMESPACE"})
"""An id that is written as none may be, or twice, a prefix that only the file which takes this one in declares: no word depends on them,
and entities are written out all the same."""


def parse_xml(data: bytes, path: Path, *, resolve_entities: bool | Literal["internal"] = False) -> Any:
    """Return the root of a document without comments; nothing is fetched.

    Raises `DocumentError` where it is broken, but for `HARMLESS_FAULTS`.
    """
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
        if root is None or {fault.type_name for fault in recovering.error_log} - HARMLESS_FAULTS:
            raise DocumentError(path, f"is broken: {error}") from error
        return root


def parse_text(text: str, path: Path, *, parts_of: str = "") -> tuple[Any, dict[str, None]]:
    """Return the root of a document that is text already, with characters for the entities of HTML, and the entities that are unknown.

    Those that the file itself declares are written out. A file that others take in may have several elements side by side: they are put
    into one called `parts_of`. Raises `DocumentError` where it is broken.
    """
    prologue = PROLOGUE.match(text)
    above, said = (prologue[0], prologue["doctype"] or "") if prologue else ("", "")
    # Of the document's type only its entities are kept: the rest refers to other files.
    declared = {one[1]: one[0] for one in DECLARED.finditer(COMMENT.sub("", said))}
    doctype = f"<!DOCTYPE x [{''.join(declared.values())}]>".replace("\n", " ") if declared else ""
    body, unknown = _with_entities(text[len(above) :], {*declared, *XML_ENTITIES})

    def parsed(body: str) -> Any:
        whole = f"{doctype}{NEWLINE * above.count(NEWLINE)}{body}"  # errors name the file's lines
        return parse_xml(whole.encode("utf-8", "replace"), path, resolve_entities="internal")

    try:
        return parsed(body), unknown
    except DocumentError:
        if not parts_of:
            raise
        try:
            return parsed(f"<{parts_of}>{body}</{parts_of}>"), unknown
        except DocumentError:
            pass
        raise


def _with_entities(xml: str, declared: set[str]) -> tuple[str, dict[str, None]]:
    """Write characters for the entities of HTML, and names for those of other files, which are returned, too; leave out comments.

    Marks that begin nothing are text.
    """
    unknown: dict[str, None] = {}

    def said(entity: re.Match[str]) -> str:
        if entity[1] in declared:
            return entity[0]
        character = unescape(entity[0])
        if character != entity[0]:
            return escape(character)
        unknown[entity[1]] = None
        return entity[1] + " " * (entity.string[entity.end() : entity.end() + 1] == "&")

    parts = UNPARSED.split(xml)
    parts[::2] = [BARE.sub(lambda mark: escape(mark[0]), ENTITY.sub(said, part)) for part in parts[::2]]
    parts[1::2] = [NEWLINE * part.count(NEWLINE) if part.endswith("-->") else part for part in parts[1::2]]
    return "".join(parts), unknown
