"""Replies that are XML whose elements say by attributes what they are: RDF/XML, GraphML, `<relation head="X-100" .../>`, tables of HTML.

Elements that have their parts inside them, as texts, are read by `named_rows.read_fields`, also where the XML is cut off.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from kgrag.extract.rdf_replies import local_name, name_of
from kgrag.extract.reply_keys import HEAD_KEYS, NAME_KEYS, RELATION_LISTS, TAIL_KEYS, TYPE_KEYS, first_value, known_keys

__all__ = ["DECLARES", "markdown_of_html", "read_xml"]

DECLARES = re.compile(r"<!(?:DOCTYPE|ENTITY)\b", re.IGNORECASE)
"""What may stand for any amount of text: no XML that has it is read."""
BEGINS = re.compile(r"<[A-Za-z]")
ROW = re.compile(r"<tr\b[^<>]{0,200}>(.{0,2000}?)</tr\s*>", re.DOTALL | re.IGNORECASE)
CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]\s*>", re.DOTALL | re.IGNORECASE)
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def markdown_of_html(text: str) -> str:
    """Write the rows of tables of HTML as rows with bars, which are read; all else stays."""
    return ROW.sub(
        lambda row: (
            "\n| "
            + " | ".join(" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in CELL.findall(row[1]))
            + " |\n"
        ),
        text,
    )


def read_xml(text: str) -> dict[str, list[dict[str, Any]]] | None:
    """Give the nodes and relations of XML as objects with keys that `graph_data` reads; None for what says none by attributes."""
    begins, end = BEGINS.search(text), text.rfind(">") + 1
    if begins is None or "=" not in text or DECLARES.search(text):
        return None
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        root = etree.fromstring(f"<reply>{text[begins.start() : end]}</reply>", parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    elements = [one for one in root.iter() if isinstance(one.tag, str)]
    if any(_ns(one) == RDF for one in elements):
        return _rdf(root)
    keys = {one.get("id"): one.get("attr.name") for one in elements if one.get("attr.name")}
    nodes, relations = list[dict[str, Any]](), list[dict[str, Any]]()
    for one in elements:
        data = {
            keys.get(inner.get("key"), inner.get("key")): (inner.text or "").strip()
            for inner in one
            if inner.get("key")
        }
        item = known_keys({**{_tag(key): value for key, value in one.attrib.items()}, **data})
        if first_value(item, HEAD_KEYS) is not None and first_value(item, TAIL_KEYS) is not None:
            of_tag = "" if f"{_tag(one.tag).lower()}s" in RELATION_LISTS else _tag(one.tag)
            relations.append(
                item if first_value(item, TYPE_KEYS) else {**item, "type": (one.text or "").strip() or of_tag}
            )
        elif first_value(item, NAME_KEYS) is not None and not one.get("attr.name"):
            nodes.append(item)
    return {"nodes": nodes, "relations": relations} if relations else None


def _rdf(root: Any) -> dict[str, list[dict[str, Any]]]:
    """RDF/XML: each element in another is what is said of it, a resource or a text."""
    relations, nodes, names = list[dict[str, Any]](), list[dict[str, Any]](), dict[str, str]()
    subjects = [one for one in root.iter() if _identity(one)]
    for one in subjects:
        identity = _identity(one)
        label = next(((inner.text or "").strip() for inner in one if _tag(inner.tag) in ("label", "name")), "")
        names[identity] = label or name_of(f"<{identity}>")
        kinds = [
            inner.get(f"{{{RDF}}}resource") or "" for inner in one if _ns(inner) == RDF and _tag(inner.tag) == "type"
        ]
        kind = local_name(f"<{kinds[0]}>") if kinds else _tag(one.tag)
        nodes.append({"name": names[identity], "type": "" if kind == "Description" else kind})
    for one in subjects:
        identity = _identity(one)
        for inner in one:
            if not isinstance(inner.tag, str) or _ns(inner) == RDF or _tag(inner.tag) in ("label", "name"):
                continue
            nested = [there for child in inner if (there := _identity(child))]
            resource = inner.get(f"{{{RDF}}}resource") or (nested[0] if nested else "")
            tail = names.get(resource) or name_of(f"<{resource}>") if resource else (inner.text or "").strip()
            relations.append({"head": names[identity], "type": _tag(inner.tag), "tail": tail})
    return {"nodes": nodes, "relations": relations}


def _identity(element: Any) -> str:
    """What a node of RDF is called by others; nothing for what is none."""
    return element.get(f"{{{RDF}}}about") or element.get(f"{{{RDF}}}ID") or "" if isinstance(element.tag, str) else ""


def _tag(name: str) -> str:
    return name.rpartition("}")[2]


def _ns(element: Any) -> str:
    return str(etree.QName(element).namespace or "") if isinstance(element.tag, str) else ""
