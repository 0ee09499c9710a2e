"""Configuration files whose comments document them to blocks, by way of HTML.

A setting, also one that is commented out, is the term of what is said about it; comments are laid out as plain text is. Nothing is left
out but the marks of comments and lines that are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise
from pathlib import Path

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.configuration_lines import ANNOUNCES, Line, lines_of
from kgrag.documents.configuration_prose import PLAIN_WORD, is_prose
from kgrag.documents.html import blocks_of_html
from kgrag.documents.plain_text import TextLayout
from kgrag.documents.text_encoding import PACKED, decode

__all__ = ["configuration_html", "convert_configuration"]

TERM = re.compile(r"\s*TAG:\s+(\S.*)")
"""How Squid begins what it says of a setting."""
SENTENCE_END = re.compile(r"[.!?)]$")
LABELLED = re.compile(r"[A-Z][a-z]{2,20}(?: \w{1,20})?: \S")
MOST_TERMS = 6
"""Settings that one description has; more are a listing below it."""
LONGEST_DESCRIPTION = 40
"""Lines: of more, what is said last is about the setting below, and the rest about all of them."""
TITLE_WORDS = 8
MOST_IN_BOX = 5
"""Comments, of which all but a title are empty."""
LONGEST_TITLE = 60
NO_TITLE = re.compile(r"[.,:;!?]$|=|^[^\w(]*[a-z]")
HABIT_SHARE = 0.5
BELOW_FACTOR = 2
"""How many times as often settings stand above what is said of them as below, in a file that has them there."""


def convert_configuration(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a configuration file, titled by its name. Raises `DocumentError` for what is no text."""
    decoded = decode(data, path)
    html = f"<html><body>{configuration_html(decoded.text)}</body></html>"
    converted = blocks_of_html(html, path, document_path=document_path)
    name = Path(document_path)
    title = name.stem if name.suffix.lower() == PACKED else name.name
    return BlockDocument(converted.blocks, title, converted.removed, (decoded.note,) if decoded.note else ())


def configuration_html(text: str) -> str:
    """Turn a configuration into HTML."""
    lines = lines_of(text)
    stanzas = [list(group) for is_blank, group in groupby(lines, key=lambda one: one.kind == "blank") if not is_blank]
    if _stand_apart(stanzas):
        stanzas = _joined(stanzas)
    layout = TextLayout([line.text for line in lines if line.kind == "text"], is_sentence=_is_sentence)
    writer = _Writer(layout, below=_stand_below(stanzas))
    return "\n".join(part for stanza in stanzas for part in writer.stanza(stanza) if part)


def _is_sentence(text: str) -> bool:
    """Whether a comment by itself is part of a text, and no line of a listing."""
    said = text.strip()
    words = said.split()
    return is_prose(said) or bool(LABELLED.match(said)) or (len(words) > 1 and all(map(PLAIN_WORD.fullmatch, words)))


def _is_said(line: Line) -> bool:
    return line.kind in ("text", "empty", "rule", "title")


def _stand_apart(stanzas: Sequence[Sequence[Line]]) -> bool:
    """Whether a file has a blank line between settings and what is said of them."""
    apart = sum(
        one[0].kind == "setting" and all(map(_is_said, above)) and any(line.kind == "text" for line in above)
        for above, one in pairwise(stanzas)
    )
    together = sum(_is_said(one[0]) and any(line.kind == "setting" for line in one) for one in stanzas)
    return apart > HABIT_SHARE * (apart + together)


def _joined(stanzas: Sequence[list[Line]]) -> list[list[Line]]:
    joined: list[list[Line]] = []
    for stanza in stanzas:
        if joined and all(map(_is_said, joined[-1])) and stanza[0].kind == "setting":
            joined[-1] = [*joined[-1], *stanza]
        else:
            joined.append(stanza)
    return joined


def _stand_below(stanzas: Sequence[Sequence[Line]]) -> bool:
    """Whether a file says what settings are below them."""
    first_settings = last_settings = 0
    for stanza in stanzas:
        kinds = [is_said for is_said, _ in groupby(stanza, key=_is_said)]
        first_settings += kinds == [False, True]
        last_settings += kinds[:2] == [True, False]
    return first_settings > BELOW_FACTOR * last_settings


class _Writer:
    def __init__(self, layout: TextLayout, *, below: bool) -> None:
        self._layout = layout
        self._below = below
        self._in_section = False
        """What stands right above a section is about it, but above the first one about the file."""

    def stanza(self, stanza: Sequence[Line]) -> Iterator[str]:
        """Write lines without a blank one among them."""
        runs = [
            (kind, list(group))
            for kind, group in groupby(
                stanza, key=lambda one: "said" if _is_said(one) else one.kind.replace("more", "setting")
            )
        ]
        pieces = [piece for kind, run in runs for piece in (self._pieces(run) if kind == "said" else [(kind, run)])]
        about: list[Line] = []
        settings: list[Line] = []
        for kind, run in pieces:
            match kind:
                case "section" | "title":
                    of_section = about if kind == "section" and self._in_section and not settings else []
                    yield from self._settings(settings, [] if of_section else about)
                    about, settings = [], []
                    yield from (self._layout.heading(_name(line), style=kind) for line in run)
                    if of_section:
                        yield self._text(of_section)
                    self._in_section = self._in_section or kind == "section"
                case "term":
                    yield from self._settings(settings, about)
                    about, settings = [], []
                    yield self._term(run)
                case "setting":
                    settings = run
                    if not self._below:
                        yield from self._settings(settings, about)
                        about, settings = [], []
                case _ if self._below and settings:
                    yield from self._settings(settings, run)
                    settings = []
                case _:
                    yield from self._settings([], about)
                    about = run
        yield from self._settings(settings, about)

    def _pieces(self, run: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
        """Part comments at their titles and at lines that are drawn."""
        text: list[Line] = []
        for index, line in enumerate(run):
            if line.kind == "title" or (line.kind == "text" and _is_title(run, index)):
                yield from self._texts(text)
                yield "title", [line]
                text = []
            elif line.kind == "rule":
                yield from self._texts(text)
                text = []
            else:
                text.append(line)
        yield from self._texts(text)

    def _texts(self, lines: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
        """Part comments where a setting is named that the lines below are about."""
        start = 0
        for index in (*(i for i, line in enumerate(lines) if TERM.match(line.text)), len(lines)):
            part = list(lines[start:index])
            if any(line.text for line in part):
                yield "term" if TERM.match(part[0].text) else "text", part
            start = index

    def _term(self, lines: Sequence[Line]) -> str:
        term = TERM.match(lines[0].text)
        inner = self._layout.part(list(_texts_of(lines[1:])), headings=False)
        return f"<dl><dt>{escape(term[1] if term else lines[0].text)}</dt><dd>{inner}</dd></dl>"

    def _settings(self, lines: Sequence[Line], about: Sequence[Line]) -> Iterator[str]:
        """Write settings that stand together with what is said of them, of which either may be nothing."""
        if lines and lines[0].kind == "more":  # the end of something that comments stand in
            yield self._text(about)
            end = next((i for i, line in enumerate(lines) if line.kind == "setting"), len(lines))
            yield _listing(lines[:end])
            about, lines = (), lines[end:]
        if not lines:
            yield self._text(about)
            return
        if len(about) > LONGEST_DESCRIPTION:
            last = max((i for i, line in enumerate(about[:-1]) if line.kind == "empty"), default=0)
            yield self._text(about[:last])
            about = about[last:]
        settings = _parted(lines)
        said_apart = len(settings) > 1 and any(one[0].said for one in settings)
        if said_apart or len(settings) > MOST_TERMS:
            yield self._text(about)
            about = ()
        if said_apart or not about:
            for has_said, group in groupby(settings, key=lambda one: bool(one[0].said)):
                if has_said:
                    yield from (self._definition([one], about) for one in group)
                else:
                    yield _listing([line for one in group for line in one])
            return
        yield self._definition(settings, about)

    def _definition(self, settings: Sequence[Sequence[Line]], about: Sequence[Line]) -> str:
        terms = "".join(f"<dt>{escape(one[0].text.strip())}</dt>" for one in settings)
        inner = [self._layout.part(list(_texts_of(about)), headings=False)]
        inner += [f"<p>{escape(chr(10).join(one[0].said))}</p>" for one in settings if one[0].said]
        inner += [_listing(one[1:]) for one in settings if len(one) > 1]
        return f"<dl>{terms}<dd>{chr(10).join(inner)}</dd></dl>"

    def _text(self, lines: Sequence[Line]) -> str:
        return self._layout.part(list(_texts_of(lines)))


def _is_title(run: Sequence[Line], index: int) -> bool:
    """Whether a comment is a title: between lines that are drawn or empty, or below or above one and a line of its own."""
    text = run[index].text.strip()
    if len(text) > LONGEST_TITLE or len(text.split()) > TITLE_WORDS or NO_TITLE.search(text):
        return False
    above = next((line.kind for line in reversed(run[max(index - 2, 0) : index]) if line.kind != "empty"), "")
    below = next((line.kind for line in run[index + 1 : index + 3] if line.kind != "empty"), "")
    alone_above = index == 0 or run[index - 1].kind in ("empty", "rule")
    alone_below = index + 1 == len(run) or run[index + 1].kind in ("empty", "rule")
    is_all = index > 0 and index + 1 < len(run) and sum(line.kind == "text" for line in run[:MOST_IN_BOX]) == 1
    return alone_above and alone_below and ("rule" in (above, below) or (is_all and len(run) <= MOST_IN_BOX))


def _name(line: Line) -> str:
    text = line.text.strip()
    return text[1:-1].strip() or text if line.kind == "section" else text


def _texts_of(lines: Sequence[Line]) -> Iterator[str]:
    """Put `Default:` and the one line below it together, and what begins so (`Note: ...`) below a sentence into a paragraph of its own."""
    texts = [line.text for line in lines]
    index = 0
    above = ""
    while index < len(texts):
        text = texts[index]
        below = texts[index + 1 : index + 3]
        if ANNOUNCES.fullmatch(text.strip()) and below and below[0] and not any(below[1:]):
            text = f"{text} {below[0].strip()}"
            index += 1
        if SENTENCE_END.search(above) and LABELLED.match(text.strip()):
            yield ""
        yield text
        above = text
        index += 1


def _parted(lines: Sequence[Line]) -> list[list[Line]]:
    """Part settings, each with the lines that belong to it."""
    settings: list[list[Line]] = []
    for line in lines:
        if line.kind == "more" and settings:
            settings[-1].append(line)
        else:
            settings.append([line])
    return settings


def _listing(lines: Sequence[Line]) -> str:
    written = [" " * line.column + line.text + (f"  {' '.join(line.said)}" if line.said else "") for line in lines]
    return f"<pre>{escape(chr(10).join(written))}</pre>"
