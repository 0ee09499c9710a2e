"""From a model's raw reply to what it states, whatever form the reply came in, with an account of all that could not be used.

Read are: JSON (`json_values`) of nodes and relationships (`graph_data`: keys of neo4j-graphrag, LangChain, OpenIE and others) and of
triples, one triple a line (`triple_lines`), YAML, tables with a header and parts with their names (`named_rows`), Cypher
(`cypher_replies`), drawings (`drawings`), and the delimited records of GraphRAG and LightRAG; inside fences, with prose around, or cut
off. Of broken JSON the complete items are kept and never a half of one: guessing the end of a name would make up a name.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from kgrag.extract.cypher_replies import read_cypher
from kgrag.extract.drawings import read_drawing
from kgrag.extract.graph_data import TOO_DEEP, items_of, read_into
from kgrag.extract.json_values import Twice, in_signs_of_json, json_values, parse_json, unquoted
from kgrag.extract.latex_replies import without_latex
from kgrag.extract.named_rows import KEY_LINE, read_fields, read_tables, read_toml, read_yaml
from kgrag.extract.rdf_replies import is_jsonld, read_jsonld, read_rdf
from kgrag.extract.records import is_records, read_records
from kgrag.extract.statements import Stated, typed
from kgrag.extract.triple_lines import read_triple_lines
from kgrag.extract.xml_replies import DECLARES, markdown_of_html, read_xml
from kgrag.models.thoughts import without_thoughts

__all__ = ["read_reply"]

FENCED = "the JSON stood in a code fence"
MAX_READ_CHARACTERS = 200_000
"""Of a reply; what comes after is reported as lost."""
FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
JSON_KEY = re.compile(r"""[{,]\s*\\*["'“”‘’]?\w+\\*["'“”‘’]\s*(?::|=>?)""")
"""A key of an object, however it is quoted: a reply with one is JSON, and if it cannot be read as that, it is no list of triples either."""


def read_reply(reply: str, *, chunk_text: str = "") -> Stated:
    """Read a raw reply; `chunk_text` settles where a triple without quotation marks is divided."""
    try:
        return typed(_read(reply, chunk_text))
    except RecursionError:
        return Stated(lost=[TOO_DEEP])


def _read(reply: str, chunk_text: str) -> Stated:
    stated = _read_text(reply, chunk_text)
    if not stated.size:
        for said, written in in_signs_of_json(reply[:MAX_READ_CHARACTERS]):
            again = _read_text(written, chunk_text)
            if again.size and (again.form == "json" or "JSON" not in said):
                again.mended.append(said)
                return again
    return stated


def _read_text(reply: str, chunk_text: str) -> Stated:
    text = reply.strip().removeprefix("\ufeff")
    stated = Stated()
    twice = Twice(stated)
    if len(text) > MAX_READ_CHARACTERS:
        stated.lost.append(f"the reply has {len(text):,} characters, of which {MAX_READ_CHARACTERS:,} were read")
        text = text[:MAX_READ_CHARACTERS]
    if not text:
        stated.lost.append("the reply is empty")
        return stated
    if not (text := without_thoughts(text)):
        stated.lost.append("the reply is thoughts alone")
        return stated
    if DECLARES.search(text) and "ENTITY" in text.upper():
        stated.lost.append("the reply is XML that declares entities")
        return stated
    for written, said in _as_json(text):
        data, whole = parse_json(written, twice)
        if whole:
            stated.mended += [said] if said else []
            if is_jsonld(data):
                return _with_notes(read_jsonld(data), stated)
            read = read_into(data, stated, chunk_text=chunk_text)
            return _with_tables(read, text, chunk_text) if said == FENCED else read
    if "&quot;" in text and '"' not in text:
        text = html.unescape(text)
    if is_records(text):
        return read_records(text, stated)
    text = without_latex(markdown_of_html(text))
    if not JSON_KEY.search(text) and (drawn := read_cypher(text) or read_drawing(text) or read_rdf(text)):
        return _with_notes(drawn, stated)
    if "{" in text or "[" in text:
        if (loose := _loose(text, twice, chunk_text)).size:
            return _with_notes(loose, stated)
        in_text = _inside(text, twice, chunk_text)
        if in_text.form is not None:
            return _with_notes(in_text, stated)
        if JSON_KEY.search(text):
            if (named := _named(text, twice, chunk_text)).size:
                return _with_notes(named, stated)
            stated.lost.extend(in_text.lost or ["the JSON is broken: no complete item is in it"])
            return stated
    if (named := _named(text, twice, chunk_text)).size:
        return _with_notes(named, stated)
    return read_triple_lines(text, stated, chunk_text=chunk_text)


def _with_tables(read: Stated, text: str, chunk_text: str) -> Stated:
    """Add what the tables say that stand outside the fences of a text."""
    rows, odd = read_tables(FENCE.sub("\n", text))
    more = read_into(rows, Stated(), chunk_text=chunk_text) if rows else Stated()
    read.lost += ["a row of the table has other cells than its header"] * odd + more.lost
    there = {(one.head, one.type, one.tail) for one in read.statements}
    read.statements += [one for one in more.statements if (one.head, one.type, one.tail) not in there]
    read.named += more.named
    return read


def _as_json(text: str) -> Iterator[tuple[str, str]]:
    """What of a text may be JSON as a whole, and what had to be taken off it."""
    yield text, ""
    if (written := unquoted(text)) is not None:
        yield written, "the JSON was written as a string of JSON"
    if "&quot;" in text and '"' not in text:
        yield html.unescape(text), "the JSON was written as HTML"
    if "<|" not in text and "```" in text and (fenced := "\n".join(FENCE.findall(text)).strip()):
        yield fenced, FENCED


def _loose(text: str, twice: Twice, chunk_text: str) -> Stated:
    """Read what stands between the first bracket of a text and the last, be it a literal of Python or written as JavaScript has it."""
    start, end = re.search(r"[{\[]", text), max(text.rfind("}"), text.rfind("]")) + 1
    written = text[start.start() : end] if start and not KEY_LINE.search(text[: start.start()]) else ""
    if not written:
        return Stated()
    data, whole = parse_json(written, twice)
    if not whole and (data := read_yaml(written, twice)) is None:
        return Stated()
    stated = read_into(data, Stated(), chunk_text=chunk_text)
    stated.mended.append("words stood around the JSON" if whole else "the JSON was written as JavaScript has it")
    return stated


def _with_notes(read: Stated, before: Stated) -> Stated:
    """Put before the notes of what was read those that were made before it was."""
    read.lost[:0], read.mended[:0] = before.lost, before.mended
    return read


def _named(text: str, twice: Twice, chunk_text: str) -> Stated:
    """Read YAML, a table with a header, or parts with their names: what stands in a fence, else all of the text."""
    written = "\n\n".join(FENCE.findall(text)) or text
    rows, odd = read_tables(written)
    lost = ["a row of the table has other cells than its header"] * odd
    for kind, data in (
        ("a table", rows),
        ("XML", read_xml(written)),
        ("TOML", read_toml(written)),
        ("YAML", read_yaml(written, twice)),
        ("parts with their names", read_fields(written)),
    ):
        stated = read_into(data, Stated(lost=lost if data is rows else []), chunk_text=chunk_text) if data else Stated()
        if stated.statements or (stated.named and isinstance(data, dict)):
            stated.mended.append(f"the reply was {kind}")
            return stated
    return Stated()


def _inside(text: str, twice: Twice, chunk_text: str) -> Stated:
    """Read the JSON values that stand somewhere in a text; where one is broken, the complete ones inside it."""
    found, broken, prose = json_values(text, twice)
    if not found:
        return Stated()
    items = [item for value in found for item in items_of(value)]
    stated = read_into(found[0] if len(found) == 1 and not broken else items, Stated(), chunk_text=chunk_text)
    if stated.form is None:
        return stated
    if broken:
        stated.lost.insert(0, f"the JSON is cut off or broken: its {len(items)} complete items were kept")
    elif prose:
        stated.mended.append("words stood around the JSON")
    elif len(found) > 1:
        stated.mended.append("the JSON came in several pieces")
    return stated
