"""Pages of HTML that have their text as Markdown, which a script shows: slides of reveal.js and remark, pages of Strapdown."""

from __future__ import annotations

import html
import re
from pathlib import Path

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.html import convert_html
from kgrag.documents.markdown import markdown_html

__all__ = ["convert_page"]

MARKDOWN = re.compile(
    r"<section\b[^<>]*\bdata-markdown\b[^<>]*>\s*<(?P<reveal>script|textarea)\b[^<>]*>"
    r"|<(?P<remark>textarea)\b[^<>]*\bid=[\"']?source\b[^<>]*>"
    r"|<(?P<strapdown>xmp)\b[^<>]*>",
    re.IGNORECASE,
)
MARKS = {"reveal": "data-markdown", "remark": "remark.create", "strapdown": "strapdown"}
"""Program → what a page has that uses it."""
SLIDE = re.compile(r"^---?[ \t]*$", re.MULTILINE)
PROPERTIES = re.compile(r"\A\s*(?:(?:class|layout|name|template|count|exclude|background-\w+)[ \t]*:.*\n)+")
"""Of a slide of remark, before its text."""
NOTES = re.compile(r"^\?\?\?[ \t]*$", re.MULTILINE)
STYLED = re.compile(r"\.[a-z][\w-]*(?:\.[\w-]+)*\[([^\[\]]*)\]")
"""Text with a class: `.red[hot]`."""


def convert_page(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert an HTML page with the Markdown in it, as `convert_html` does."""
    return convert_html(data, path, document_path=document_path, prepare=lambda text: _with_markdown_shown(text, path))


def _with_markdown_shown(text: str, path: Path) -> str:
    used = {program for program, mark in MARKS.items() if mark in text}
    if not used:
        return text
    parts: list[str] = []
    done = 0
    while (found := MARKDOWN.search(text, done)) is not None:
        program = found.lastgroup or ""
        element = found[program].lower()
        if program not in used:
            parts.append(text[done : found.end()])
            done = found.end()
            continue
        end = re.compile(rf"</{element}\s*>", re.IGNORECASE).search(text, found.end())
        if end is None:
            break
        written = text[found.end() : end.start()]
        if element == "textarea":
            written = html.unescape(written)
        if program == "remark":
            slides = (PROPERTIES.sub("", slide) for slide in SLIDE.split(written))
            written = STYLED.sub(r"\1", NOTES.sub("", "\n\n".join(slides)))
        shown = markdown_html(written.encode(), path)[0] if written.strip() else ""
        parts += [text[done : found.start()], f"<section>{shown}" if program == "reveal" else f"<div>{shown}</div>"]
        done = end.end()
    return "".join([*parts, text[done:]])
