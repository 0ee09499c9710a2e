"""Markdown to blocks, by way of HTML: one walk for both, and headings get the ids that renderers give them, so links find them."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml.html import defs

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.markdown_dialects import common_markdown
from kgrag.documents.text_encoding import decode
from kgrag.types import Scalar

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.parser_inline import RuleFuncInlineType
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["LOWEST_HEADING", "convert_markdown", "markdown_html", "markdown_passage"]

FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?\n)(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?\n)\+\+\+)[ \t]*(?:\n|\Z)", re.DOTALL
)
"""YAML between dashes, or TOML between pluses (Hugo, Zola)."""
TAG = re.compile(r"<(?=(?P<close>/?)(?P<name>[A-Za-z][\w-]*)(?:[^<>]*(?P<empty>/)>)?)")
EXPLICIT_ID = re.compile(r"[ \t]*\{:?[ \t]*#\\?([\w.:-]+)[^{}]*\}[ \t]*$")
"""`## Heading {#its-id}`, as several generators of documentation write it."""
NOT_IN_SLUG = re.compile(r"[^\w\- ]")
SWALLOWING_TAG = re.compile(
    r"<(?=/?(title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext|template|noscript|select)\b)", re.I
)
"""Tags that, left open, swallow the rest of a page; GitHub's tag filter and a few more."""
LOWEST_HEADING = 6
"""In HTML."""
REFERRED = re.compile(
    r"(?:(?<=[^\s\]][ ])|(?<=\())\[(?=[^\[\]\n]{0,200}[a-z])[^\[\]\n]{1,200}\]"
    r"\[(?P<label>[A-Za-z_]\w{0,80}(?:\.\w{1,80}){1,20})\](?![\[(:])"
)
"""Within a sentence, a link by the name of something in a program; `[INFO][org.pump.Main]` of a log is none."""
DEFINED = re.compile(r"^[ ]{0,3}\[([^\[\]\n]+)\]:", re.MULTILINE)
MAX_NESTING = 100
"""Lists and quotes in each other; the parser calls itself for each."""
MAX_BRACKETS = 10
"""Within each other, of which the outermost may begin a link: the parser looks at all of them again for each that begins."""


def convert_markdown(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert Markdown (CommonMark with tables; HTML in it is read as HTML). Raises `DocumentError` for what is no text."""
    html, metadata, removed, notes = markdown_html(data, path)
    converted = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
    title = metadata.pop("title", "")
    return BlockDocument(converted.blocks, str(title), (*removed, *converted.removed), tuple(notes), metadata)


def markdown_html(data: bytes, path: Path) -> tuple[str, dict[str, Scalar], list[RemovedLine], list[str]]:
    """Turn Markdown into HTML with an id for each heading: that, the front matter as metadata and as lines, and notes for the user.

    The HTML has what HTML the file has: it is for a parser, not for a browser. Raises `DocumentError` for what is no text.
    """
    decoded = decode(data, path)
    text, metadata, removed = _front_matter(decoded.text.replace("\r\n", "\n"))
    text, marks = common_markdown(text, components=path.suffix.lower() == ".mdx")
    removed += marks
    parser = _parser()
    tokens = parser.parse(text, _defined_elsewhere(text))
    notes = [decoded.note] if decoded.note else []
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        notes.append(f"lists or quotes are nested {MAX_NESTING} levels deep; what is deeper was not read")
    _give_ids(tokens)
    _disarm(tokens)
    return parser.renderer.render(tokens, parser.options, {}), metadata, removed, notes


def markdown_passage(text: str, *, level: int) -> tuple[str, list[RemovedLine]]:
    """Turn a text in Markdown that is part of a document into HTML, and return the marks that were left out.

    Its headings are `level` levels below what they say; with a level of 6 or more they are paragraphs.
    """
    text, marks = common_markdown(text.replace("\r\n", "\n"), components=False)
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p" if level >= LOWEST_HEADING else f"h{min(LOWEST_HEADING, int(token.tag[1:]) + level)}"
    _disarm(tokens)
    return parser.renderer.render(tokens, parser.options, {}), marks


def _defined_elsewhere(text: str) -> dict[str, Any]:
    """Return references for links whose targets a generator defines (`the [valve][pump.Valve]` of mkdocstrings): to nothing."""
    from markdown_it.common.utils import normalizeReference

    if "][" not in text:
        return {}
    defined = {normalizeReference(label) for label in DEFINED.findall(text)}
    labels = {normalizeReference(match["label"]) for match in REFERRED.finditer(text)} - defined
    return {"references": {label: {"title": "", "href": "", "map": [0, 0]} for label in labels}}


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import image, link
    from mdit_py_plugins.deflist import deflist_plugin

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    for name, rule in (("link", link), ("image", image)):
        parser.inline.ruler.at(name, _where_it_may_end(rule))
    return parser.enable(["table", "strikethrough"]).use(deflist_plugin)


def _where_it_may_end(rule: RuleFuncInlineType) -> RuleFuncInlineType:
    """Return a rule for what ends with a bracket that looks at nothing where none follows: it would read on for each of many.

    Within many others it takes the rest for words, which ends the search of the outer ones.
    """

    def read(state: StateInline, silent: bool) -> bool:
        if silent and state.level >= MAX_BRACKETS and state.src[state.pos] in "[!":
            state.pos = state.posMax
            return True
        return _last_bracket(state.src) > state.pos and rule(state, silent)

    return read


@lru_cache(maxsize=1)
def _last_bracket(text: str) -> int:
    return text.rfind("]")


def _front_matter(text: str) -> tuple[str, dict[str, Scalar], list[RemovedLine]]:
    """Take the front matter off the start of a text; what is no mapping between the lines of dashes or pluses is text."""
    match = FRONT_MATTER.match(text)
    if match is None:
        return text, {}, []
    written = match["yaml"] if match["yaml"] is not None else match["toml"]
    entries = _entries(written, toml=match["toml"] is not None)
    if not entries:
        return text, {}, []
    removed = [RemovedLine("front matter", line) for line in written.splitlines() if line.strip()]
    return text[match.end() :], {str(key).lower(): _plain(value) for key, value in entries.items()}, removed


def _entries(written: str, *, toml: bool) -> dict[Any, Any]:
    """Parse front matter; nothing where it is none."""
    import yaml

    try:
        # Texts as they are written: a version 1.10 is not the number 1.1.
        entries = tomllib.loads(written) if toml else yaml.load(written, Loader=yaml.BaseLoader)  # noqa: S506  (makes nothing but texts)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _plain(value: object) -> Scalar:
    """Keep a text; several are written with commas, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if isinstance(value, datetime.date | datetime.time):  # a datetime is a date
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _give_ids(tokens: Sequence[Token]) -> None:
    """Give each heading the id that GitHub gives it, or the one it asks for."""
    used: Counter[str] = Counter()
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        explicit = EXPLICIT_ID.search(inline.content)
        if explicit and inline.children and inline.children[-1].type == "text":
            last = inline.children[-1]
            last.content = EXPLICIT_ID.sub("", last.content)
            opening.attrSet("id", explicit[1])
            continue
        words = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
        slug = NOT_IN_SLUG.sub("", words.strip().lower()).replace(" ", "-")
        opening.attrSet("id", f"{slug}-{used[slug]}" if used[slug] else slug)
        used[slug] += 1


def _disarm(tokens: Sequence[Token]) -> None:
    """Make text of the tags that would swallow what follows them, and of those that are none: `<FILE>` is for a reader to fill in."""
    markup = [
        token
        for token in chain.from_iterable((block, *(block.children or ())) for block in tokens)
        if token.type in ("html_inline", "html_block")
    ]
    closed = {
        tag["name"].lower() for token in markup for tag in TAG.finditer(token.content) if tag["close"] or tag["empty"]
    }
    for token in markup:
        opened = SWALLOWING_TAG.search(token.content)
        if opened and (token.type == "html_inline" or f"</{opened[1].lower()}" not in token.content.lower()):
            token.content = SWALLOWING_TAG.sub("&lt;", token.content)
        token.content = TAG.sub(
            lambda tag: "<" if (name := tag["name"].lower()) in defs.tags or name in closed or "-" in name else "&lt;",
            token.content,
        )
