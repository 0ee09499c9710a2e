"""Replies that are RDF: Turtle, N-Triples, N-Quads, TriG and what SPARQL inserts (`read_rdf`), JSON-LD (`read_jsonld`).

Ours and not rdflib's: that takes no text that is cut off or has no `@prefix` for its prefixes, as replies are, and would be a dependency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from kgrag.extract.graph_items import text_of
from kgrag.extract.reply_keys import NODE_LISTS, RELATION_LISTS
from kgrag.extract.statements import Named, Stated, Statement

__all__ = ["is_jsonld", "local_name", "name_of", "read_jsonld", "read_rdf"]

PREFIX = re.compile(r"^[ \t]*@?(?:prefix[ \t]+[\w.-]*:|base)[ \t]*<[^\n]*$", re.IGNORECASE | re.MULTILINE)
AROUND = re.compile(
    r"^[ \t]*(?:```\w*|(?:INSERT|DELETE)(?:[ \t]+DATA)?|WHERE|(?:#|//)[^\n]*)", re.IGNORECASE | re.MULTILINE
)
_IRI = r"<[^<>\s\"{}]{1,500}>"
_NAME = r"(?:[A-Za-z][\w.-]{0,30})?:[\w%](?:[\w.%/:()&-]*[\w%)-])?"
_TEXT = r'"""(?s:.){0,2000}?"""|"(?:[^"\\\n]|\\.){0,2000}"|\'(?:[^\'\\\n]|\\.){0,2000}\''
_LITERAL = rf"(?:{_TEXT})(?:@[A-Za-z][\w-]*|\^\^(?:{_IRI}|{_NAME}))?"
TOKEN = re.compile(
    rf"(?P<term>{_IRI}|{_LITERAL}|_:\w+|{_NAME}|a(?=\s)|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true\b|false\b)|(?P<sign>[.;,\[\]{{}}()]|<<|>>)|(?P<odd>\S)"
)
"""A term, a sign, or a character that is neither."""
LINE = re.compile(
    rf"^[ \t]*(?:{_IRI}|{_NAME})\s+(?:{_IRI}|{_NAME}|a)\s+(?:{_IRI}|{_NAME}|{_LITERAL})(?:\s+{_IRI})?[ \t]*[.;,]?[ \t]*$",
    re.MULTILINE,
)
"""A statement in a line of its own, by which RDF without prefixes is known."""
SAYS = re.compile(rf"{_IRI}|(?<!\S){_NAME}|{_LITERAL}")
GRAPH_KEYS = frozenset((*NODE_LISTS, *RELATION_LISTS))
LABELS = ("label", "name", "prefLabel", "title")
COMMENTS = ("comment", "description", "definition")
NOT_READ = "what RDF says of a node without a name, in a list or of a statement was not read"


def read_rdf(text: str) -> Stated | None:
    """Read the statements that are whole, by the local names of their IRIs or the labels of their nodes; None for what is no RDF."""
    if not (PREFIX.search(text) or LINE.search(text)):
        return None
    stated = Stated(form="lines", mended=["the reply was RDF"])
    lines = AROUND.sub(" ", PREFIX.sub(" ", text)).splitlines()
    written = "\n".join(
        line for line in lines if SAYS.search(line) or not re.search(r"\w", line)
    )  # not the words around it
    triples = list(_triples(written, stated))
    _state([(s, local_name(p), o) for s, p, o in triples], stated)
    return stated if stated.size or stated.lost else None


def _triples(text: str, stated: Stated) -> Iterator[tuple[str, str, str]]:
    """Yield subject, predicate and object of each statement that ends; predicates and objects may be listed behind `;` and `,`."""
    terms, pending, is_odd, depth = list[str](), list[tuple[str, str, str]](), False, 0
    for token in TOKEN.finditer(text):
        sign = token["sign"]
        if token["term"]:
            terms.append(token["term"])
        elif sign in (".", ";", ",") and not depth:
            if len(terms) in (3, 4) and not is_odd:  # the fourth is the graph, of N-Quads
                pending.append((terms[0], terms[1], terms[2]))
            elif len(terms) > 1 or is_odd:
                stated.lost.append(NOT_READ if is_odd else "a statement of RDF has no three parts")
            if sign == ".":
                yield from pending
                terms, pending, is_odd = [], [], False
            else:
                is_odd = is_odd and len(terms) < 3
                terms = terms[: 1 if sign == ";" else 2]
        elif sign == "{":
            terms = []  # the name of a graph
        elif sign == "}":
            yield from pending if len(terms) < 3 else [*pending, (terms[0], terms[1], terms[2])]
            terms, pending = [], []
        else:
            depth += {"[": 1, "(": 1, "<<": 1}.get(sign or "", 0)
            depth = max(0, depth - (sign in ("]", ")", ">>")))
            is_odd = True
    if terms:
        stated.lost.append("the RDF is cut off: its complete statements were kept")
    yield from pending


def _state(triples: list[tuple[str, str, str]], stated: Stated) -> None:
    """State triples; those of labels, types and comments say what their node is."""
    labels, types, comments = dict[str, str](), dict[str, str](), dict[str, str]()
    for node, kind, value in triples:
        if kind in LABELS and value[:1] in "\"'":
            labels.setdefault(node, local_name(value))
        elif kind in COMMENTS and value[:1] in "\"'":
            comments.setdefault(node, local_name(value))
        elif kind == "type":
            types.setdefault(node, local_name(value))
    said = set[str]()
    for head, kind, tail in triples:
        is_literal = tail[:1] in "\"'"
        if kind == "type" or (is_literal and kind in (*LABELS, *COMMENTS)):
            continue
        ends = [labels.get(end) or ("" if end.startswith("_:") else name_of(end)) for end in (head, tail)]
        if not all(ends):
            stated.lost.append("a node of RDF has no name")
            continue
        said |= {head, tail}
        stated.statements.append(Statement(ends[0], kind, ends[1], types.get(head, ""), types.get(tail, "")))
    for node in dict.fromkeys([*types, *labels]):
        name = labels.get(node) or ("" if node.startswith("_:") else name_of(node))
        if name and (node not in said or node in comments):
            stated.named.append(Named(name, types.get(node, ""), comments.get(node, "")))


def local_name(term: str) -> str:
    """Give the name in an IRI (`<http://example.org/Hydra%20Labs>`, `ex:Hydra_Labs`), and the text of a literal."""
    if term == "a":
        return "type"
    if term.startswith(('"', "'")):
        quote = term[:3] if term[:3] in ('"""', "'''") else term[0]
        return re.sub(r"\\(.)", r"\1", term[len(quote) : term.rfind(quote)]).strip()
    if not re.match(r"<|\w*:|#|https?:", term):
        return term
    name = re.split(r"[/#]", term.strip("<>").rstrip("/#"))[-1]
    return unquote(name.rpartition(":")[2]).strip()


def name_of(term: str) -> str:
    """Give the name of a node: words that its IRI joins are words."""
    return local_name(term) if term.startswith(('"', "'")) else local_name(term).replace("_", " ").strip()


def is_jsonld(data: Any) -> bool:
    """Whether parsed JSON has the keys of JSON-LD at its top."""
    items = data if isinstance(data, list) else [data]
    return any(
        isinstance(one, dict) and not {"@context", "@graph", "@id"}.isdisjoint(one) and GRAPH_KEYS.isdisjoint(one)
        for one in items
    )


def read_jsonld(data: Any) -> Stated:
    """Read the nodes of JSON-LD and what their properties say, each by its name, or by the local name of its id."""
    stated = Stated(form="json", mended=["the reply was JSON-LD"])
    names: dict[str, Named] = {}
    nodes = list(_nodes(data))
    for node in nodes:  # a node may be named after it is referred to
        if (identity := text_of(node.get("@id"))) and (named := _named(node)).type:
            names[identity] = named
    for node in nodes:
        head = names.get(text_of(node.get("@id")), _named(node))
        if head.name and head.type:
            stated.named.append(head)
        for key, value in node.items():
            kind = local_name(key)
            if key.startswith("@") or kind in (*LABELS, *COMMENTS):
                continue
            for one in value if isinstance(value, list) else [value]:
                tail = _named(one) if isinstance(one, dict) else Named(text_of(one))
                tail = names.get(text_of(one.get("@id")), tail) if isinstance(one, dict) else tail
                if head.name and tail.name:
                    stated.statements.append(Statement(head.name, kind, tail.name, head.type, tail.type))
                else:
                    stated.lost.append("a node of JSON-LD has no name")
    return stated


def _nodes(data: Any) -> Iterator[dict[str, Any]]:
    """Yield every node, those inside others after them."""
    if isinstance(data, list):
        for one in data:
            yield from _nodes(one)
    elif isinstance(data, dict) and "@value" not in data:
        if "@graph" not in data:
            yield data
        for key, value in data.items():
            if key != "@context":
                yield from _nodes(value)


def _named(node: dict[str, Any]) -> Named:
    said = {
        local_name(key): text_of(value.get("@value") if isinstance(value, dict) else value)
        for key, value in node.items()
    }
    identity, kind = text_of(node.get("@id")), node.get("@type")
    name = text_of(node.get("@value")) or next((said[key] for key in LABELS if said.get(key)), "")
    name = name or ("" if identity.startswith("_:") else name_of(identity))
    kind = text_of(kind[0] if isinstance(kind, list) and kind else kind)
    return Named(name, local_name(kind), next((said[key] for key in COMMENTS if said.get(key)), ""))
