"""Text of a block as it is put together from inline elements, where links in it lead, and what is said around them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from kgrag.documents.discovery import stored_path

__all__ = [
    "CJK",
    "FILE_SUFFIX",
    "INVISIBLE",
    "InlineText",
    "collapse",
    "resolve_href",
    "sentence_around",
    "superscript",
]

SPACE = re.compile(r"\s+")
CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Characters of scripts that are written without spaces."""
CJK_LINE_BREAK = re.compile(rf"(?<={CJK.pattern})[ \t]*\n\s*(?={CJK.pattern})")
"""Where a line of such a script was broken: no space belongs there (CSS Text Module Level 3, 4.1.3)."""
CARRIAGE_RETURN = re.compile(r"\n?\r+\n?")
"""A line end of other systems, also as `&#13;`."""
INVISIBLE = re.compile("[\u200b\u200e\u200f\u2060\ufeff\u00ad]")
"""Marks that only say where a line may break or which way it runs."""
FILE_SUFFIX = re.compile(
    r"\.(?:html?|txt|docx?|odt|rtf|pdf|tex|dvi|e?ps|fm|indd|md|rst|xml|pptx?|xlsx?|vsdx?|dwg|svg)$", re.IGNORECASE
)
"""How a text ends that is a file's name, which programs write where a title is asked for."""
SUPERSCRIPTS = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
DETACHED_PUNCTUATION = re.compile(r"\s*\n\s*([,.;:!?)\]]+)(?=\s|$)")
"""Punctuation on a line of its own after an element, as pretty-printers leave it: browsers show a gap, authors meant none."""
NO_TARGET_SCHEMES = frozenset({"javascript", "vbscript", "data", "about", "blob"})
"""Links that lead nowhere: code and content in the place of an address."""
CONTEXT_CHARACTERS = 400
"""Of the sentence around a link, at most."""
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9À-Þ])|(?<=[。！？])[」』）]*|\n")


def collapse(text: str) -> str:
    """Collapse runs of white space, drop invisible marks, strip."""
    return _collapsed(INVISIBLE.sub("", text)).strip()


def _collapsed(text: str) -> str:
    return SPACE.sub(" ", CJK_LINE_BREAK.sub("", text))


def superscript(text: str | None) -> str | None:
    """Raise digits and signs (`10` `6` is a million, not 106); other text has no raised form and stays."""
    raised = text.strip() if text else ""
    return raised.translate(SUPERSCRIPTS) if raised and all(ord(letter) in SUPERSCRIPTS for letter in raised) else text


class InlineText:
    """Grows by pieces of text; `length` is where the next piece begins."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self._gap = False
        self._behind_picture = False

    def add(self, text: str) -> None:
        """Append text as a browser shows it."""
        text = INVISIBLE.sub("", text)
        if text and self._is_apart(text):
            self._gap = True
        if self.length and (match := DETACHED_PUNCTUATION.match(text)):
            text = text[match.start(1) :]
            self._gap = False
        if not text:
            return
        words = _collapsed(text)
        if words[0] == " ":
            self._gap = True
            words = words[1:]
        if words:
            self._open_gap()
            ends_with_gap = words[-1] == " "
            self._push(words[:-1] if ends_with_gap else words)
            self._gap = ends_with_gap

    def add_preserved(self, text: str) -> None:
        """Append text as it is written, as in `pre`."""
        text = CARRIAGE_RETURN.sub("\n", INVISIBLE.sub("", text))
        self._push(f" {text}" if text and self._is_apart(text) else text)

    def add_picture(self, words: str) -> None:
        """Append what a picture says, apart from words right beside it; one letter is the first of a word that is drawn large."""
        if not words:
            return
        is_initial = len(words) == 1 and words.isalpha()
        if self._parts and self._parts[-1][-1:].isalnum() and words[0].isalnum() and not is_initial:
            self._gap = True
        self.add(words)
        self._behind_picture = words[-1].isalnum() and not is_initial

    def add_separator(self, text: str) -> None:
        """Append punctuation that what follows is kept apart from by one blank."""
        self._push(text)
        self._gap = True

    def add_line_break(self) -> None:
        """Append what `br` stands for."""
        if self.length:
            self._push("\n")
            self._gap = False

    def end_line(self) -> None:
        """End the line where text stands in it, as a block within `pre` does."""
        if not self._ends_line():
            self.add_line_break()

    def mark(self) -> int:
        """Return where the next word will begin."""
        return self.length + (1 if self._gap and self.length and not self._ends_line() else 0)

    def __str__(self) -> str:
        return "".join(self._parts)

    def _is_apart(self, text: str) -> bool:
        """Whether text is the first behind a picture, and begins with a word."""
        behind, self._behind_picture = self._behind_picture, False
        return behind and text[0].isalnum()

    def _ends_line(self) -> bool:
        return bool(self._parts) and self._parts[-1].endswith("\n")

    def _open_gap(self) -> None:
        if self._gap and self.length and not self._ends_line():
            self._push(" ")
        self._gap = False

    def _push(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)


def resolve_href(href: str, document_path: str, *, base: str = "") -> str | None:
    """Say where a link in a document leads: `path#fragment` for a relative address, as `Document.path` is written; else the URL.

    A URL stays as it is but for scheme and host, which are written small (RFC 3986, 6.2.2.1). `base` is the page's `<base href>`. None for
    what is no address (`javascript:`).
    """
    href = href.strip()
    try:
        parts = urlsplit(href)
    except ValueError:  # not a URL; it stays what the author wrote
        return href or None
    if not href or parts.scheme in NO_TARGET_SCHEMES:
        return None
    if parts.scheme or parts.netloc:
        return _with_small_host(href)
    if parts.path.startswith("/"):
        return href
    if urlsplit(base).scheme:
        return _with_small_host(urljoin(base, href))
    target = document_path
    if path := unquote(parts.path):
        folder = posixpath.join(posixpath.dirname(document_path), unquote(base).rpartition("/")[0])
        target = posixpath.normpath(posixpath.join(folder, path, "index.html" if path.endswith("/") else ""))
        if target.startswith("../"):  # leaves the working directory, where documents are known by absolute paths
            target = stored_path(Path(target))
    fragment = unquote(parts.fragment)
    return f"{target}#{fragment}" if fragment else target


def _with_small_host(url: str) -> str:
    """Write scheme and host of a URL small; a user's name and password before the host stay, and so does what has no host."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    small = urlunsplit(parts._replace(scheme=parts.scheme.lower(), netloc=f"{user}{at}{host.lower()}"))
    return small if parts.netloc else url[: len(parts.scheme)].lower() + url[len(parts.scheme) :]


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence of `text` that has the characters `start` to `end`, at most CONTEXT_CHARACTERS of it."""
    before = [match.end() for match in SENTENCE_END.finditer(text, max(0, start - CONTEXT_CHARACTERS), start)]
    beyond = min(len(text), end + 2 * CONTEXT_CHARACTERS)
    after = SENTENCE_END.search(text, end, beyond)
    first = before[-1] if before else max(0, start - CONTEXT_CHARACTERS)
    last = after.start() if after else beyond
    if last - first > CONTEXT_CHARACTERS:
        spare = max(0, CONTEXT_CHARACTERS - (end - start)) // 2
        first, last = max(first, start - spare), min(last, end + spare)
    return text[first:last].strip()
