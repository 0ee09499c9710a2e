"""Where links point, and what is said around them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from kgrag.documents.discovery import stored_path

__all__ = ["resolve_href", "sentence_around"]

NO_TARGET_SCHEMES = frozenset({"javascript", "vbscript", "data", "about", "blob"})
"""Links that lead nowhere: code and content in the place of an address."""
CONTEXT_CHARACTERS = 400
"""Of the sentence around a link, at most."""
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9À-Þ])|\n")


def resolve_href(href: str, document_path: str, *, base: str = "") -> str | None:
    """Say where a link in a document leads: `path#fragment` for a relative address, as `Document.path` is written; else the URL as it is.

    `base` is the page's `<base href>`. None for what is no address (`javascript:`).
    """
    href = href.strip()
    try:
        parts = urlsplit(href)
    except ValueError:  # not a URL; it stays what the author wrote
        return href or None
    if not href or parts.scheme in NO_TARGET_SCHEMES:
        return None
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return href
    if urlsplit(base).scheme:
        return urljoin(base, href)
    target = document_path
    if path := unquote(parts.path):
        folder = posixpath.join(posixpath.dirname(document_path), unquote(base).rpartition("/")[0])
        target = posixpath.normpath(posixpath.join(folder, path))
        if path.endswith("/"):
            target += "/index.html"
        if target.startswith("../"):  # leaves the working directory, where documents are known by absolute paths
            target = stored_path(Path(target))
    fragment = unquote(parts.fragment)
    return f"{target}#{fragment}" if fragment else target


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence of `text` that has the characters `start` to `end`, at most CONTEXT_CHARACTERS of it."""
    before = [match.end() for match in SENTENCE_END.finditer(text, max(0, start - CONTEXT_CHARACTERS), start)]
    after = SENTENCE_END.search(text, end)
    first = before[-1] if before else max(0, start - CONTEXT_CHARACTERS)
    last = after.start() if after else len(text)
    if last - first > CONTEXT_CHARACTERS:
        spare = max(0, CONTEXT_CHARACTERS - (end - start)) // 2
        first, last = max(first, start - spare), min(last, end + spare)
    return text[first:last].strip()
