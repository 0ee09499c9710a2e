"""A document as harmless HTML with the cited sentence marked: from the file if it is HTML or becomes it, else from its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from kgrag.documents.discovery import TEXT_FORMATS
from kgrag.documents.markdown import markdown_html
from kgrag.documents.text_encoding import decode
from kgrag.documents.text_files import text_page
from kgrag.errors import DocumentError
from kgrag.text.quotes import TextWord, find_quote, text_words
from kgrag.types import Chunk, Document

__all__ = ["MARK_ID", "document_html"]

MARK_ID = "kgrag-mark"
"""The id of the first marked word: a fragment that a browser scrolls to without a script."""
TAGS = frozenset(
    {
        *(
            "a",
            "abbr",
            "b",
            "blockquote",
            "br",
            "caption",
            "cite",
            "code",
            "col",
            "colgroup",
            "dd",
            "del",
            "div",
            "dl",
            "dt",
            "em",
        ),
        *(
            "figcaption",
            "figure",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "i",
            "ins",
            "kbd",
            "li",
            "ol",
            "p",
            "pre",
            "q",
            "s",
            "samp",
        ),
        *(
            "section",
            "small",
            "span",
            "strong",
            "sub",
            "sup",
            "table",
            "tbody",
            "td",
            "tfoot",
            "th",
            "thead",
            "tr",
            "u",
            "ul",
            "var",
        ),
    }
)
"""No picture, form, frame, style or script: a document's page shows its words."""
ATTRIBUTES = {"*": {"id", "lang", "dir"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"}}
"""No link leads anywhere: the page is for reading, and addresses in documents are of anybody."""
DROPPED = {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "head", "title"}
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What the words of a page are marked in takes none of these, and a browser shows none."""
MAX_BYTES = 20_000_000
STYLE = """<style>
:root{color-scheme:light dark}body{font:15px/1.55 system-ui,sans-serif;margin:1.2rem;max-width:60rem;overflow-wrap:anywhere}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #8886;padding:.25rem .5rem;text-align:left;
vertical-align:top}pre,code{font-family:ui-monospace,monospace;white-space:pre-wrap}
.kgrag-chunk{background:#ffe9a855}mark{background:#ffc94d;color:#000;border-radius:2px}
@media (prefers-color-scheme:dark){body{background:#16181d;color:#e6e6e6}.kgrag-chunk{background:#ffe9a822}}
</style>"""


def document_html(
    document: Document, chunks: Sequence[Chunk], *, file: Path | None, chunk: Chunk | None, quote: str
) -> str:
    """Return a page of HTML: the document with the chunk light and the quotation marked, the first word of it with `MARK_ID`.

    `file` is where the document's own bytes are (None: they are gone or have changed, so its chunks are shown). Raises `DocumentError`.
    """
    body = _body_of(document, chunks, file)
    marked = _marked(body, chunk, quote)
    return (
        f'<!doctype html><html lang="und"><meta charset="utf-8"><title>{escape(document.title)}</title>{STYLE}'
        f"<body>{marked}</body></html>"
    )


def _body_of(document: Document, chunks: Sequence[Chunk], file: Path | None) -> str:
    if file is not None and document.format in TEXT_FORMATS:
        # The second time for what was packed, or grew.
        if file.stat().st_size > MAX_BYTES or len(html := _html_of(file, document.format)) > MAX_BYTES:
            raise DocumentError(file, f"is larger than {MAX_BYTES // 1_000_000} MB: too large to be shown")
        return _clean(html)
    parts: list[str] = []
    section = ""
    for one in chunks:
        if one.section != section:
            section = one.section
            parts.append(f"<h3>{escape(section)}</h3>")
        # Its own HTML, if a document has some in its text, is text here.
        parts.append(MarkdownIt("commonmark", {"html": False}).enable("table").render(one.text))
    return _clean("\n".join(parts))


def _html_of(file: Path, format_: str) -> str:
    data = file.read_bytes()
    match format_:
        case "html":
            return decode(data, file).text
        case "md":
            return markdown_html(data, file)[0]
        case _:
            return text_page(data, file).html


def _clean(html: str) -> str:
    import nh3

    cleaned = nh3.clean(
        html,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        clean_content_tags=DROPPED,
        strip_comments=True,
        link_rel=None,
    )
    return NOT_IN_XML.sub("", cleaned)  # and not before: references such as &#1; become characters only there


def _marked(body: str, chunk: Chunk | None, quote: str) -> str:
    """Mark the words of a chunk and of a quotation in it in clean HTML: text nodes are cut, nothing else changes."""
    from lxml import html

    root = html.fragment_fromstring(body, create_parent="div")
    for element in root.xpath(f"//*[@id='{MARK_ID}']"):
        del element.attrib["id"]
    words = _Words(root)
    light: list[int] = []
    if chunk is not None:
        light = [index for place in find_quote(words.words, chunk.text) for index in place.words]
    around = range(light[0], light[-1] + 1) if light else range(len(words.words))
    inside = words.words[around.start : around.stop]
    dark = [around.start + index for place in find_quote(inside, quote) for index in place.words] if quote else []
    words.wrap(light, dark)
    text: str = html.tostring(root, encoding="unicode")
    return text


class _Words:
    """The words of a tree's text, each with the text node that it is in."""

    def __init__(self, root: Any) -> None:
        self._nodes = list(_text_nodes(root))
        self.words: list[TextWord] = []
        self._node_of: list[int] = []
        for number, (element, attribute) in enumerate(self._nodes):
            for word in text_words(getattr(element, attribute)):
                self.words.append(word)
                self._node_of.append(number)

    def wrap(self, light: Sequence[int], dark: Sequence[int]) -> None:
        """Put a `span` around light words and a `mark` around dark ones, neighbours together."""
        marked = set(dark)
        by_node: dict[int, list[tuple[int, int, bool]]] = {}
        for index in sorted({*light, *dark}):
            word, is_dark = self.words[index], index in marked
            runs = by_node.setdefault(self._node_of[index], [])
            follows = bool(runs) and runs[-1][2] == is_dark and index - 1 in (marked if is_dark else {*light})
            if follows and runs:
                runs[-1] = (runs[-1][0], word.end, is_dark)
            else:
                runs.append((word.start, word.end, is_dark))
        first = min(marked, default=min(light, default=None))
        first_node = None if first is None else self._node_of[first]
        for number, runs in by_node.items():
            start = self.words[first].start if first is not None and number == first_node else None
            self._cut(number, runs, start)

    def _cut(self, number: int, runs: Sequence[tuple[int, int, bool]], first: int | None) -> None:
        element, attribute = self._nodes[number]
        text = getattr(element, attribute)
        made = []
        for place, (start, end, is_dark) in enumerate(runs):
            following = runs[place + 1][0] if place + 1 < len(runs) else len(text)
            piece = element.makeelement("mark" if is_dark else "span")
            if not is_dark:
                piece.set("class", "kgrag-chunk")
            if first is not None and start <= first < end:
                piece.set("id", MARK_ID)
            piece.text, piece.tail = text[start:end], text[end:following]
            made.append(piece)
        setattr(element, attribute, text[: runs[0][0]])
        if attribute == "text":
            for place, piece in enumerate(made):
                element.insert(place, piece)
        else:
            parent = element.getparent()
            at = parent.index(element) + 1
            for place, piece in enumerate(made):
                parent.insert(at + place, piece)


def _text_nodes(root: Any) -> Iterator[tuple[Any, str]]:
    """Yield each text of a tree in order, as an element and which of its two texts it is."""
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        element, left = stack.pop()
        if left:
            if getattr(element, "tail", None) and element is not root:
                yield element, "tail"
            continue
        if getattr(element, "text", None):
            yield element, "text"
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(list(element)))
