"""What stands within a line of AsciiDoc, as HTML: attributes, marks, references and macros."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import PurePosixPath

__all__ = ["UNTITLED", "AsciiDocText"]

PRIVATE = re.compile("[\ue000-\ue003]")
UNTITLED = re.compile("\ue002([^\ue002\ue003]*)\ue003")
"""A reference that says nothing of its own: what it leads to has a title."""
STASHED = re.compile("\ue000(\\d+)\ue001")

MACRO = re.compile(r"\b([a-z][\w-]*):([^\s:\[\]`]{0,500})\[((?:[^\]\\]|\\.){0,1000})\]")
INNER_MACRO = re.compile(MACRO.pattern.replace(r"[^\]\\]", r"[^\[\]\\]"))
"""A link in a footnote, which is read before it."""
PICTURE = re.compile(r"\bimage:(?!:)[^\s\[\]]{1,500}\[([^\]]{0,1000})\]")
URL = re.compile(
    r"(?:\blink:)?<?(\b(?:https?|ftp|irc)://[^\s\[\]<>`]*[^\s\[\]<>`.,;:!?)'\"])>?(?:\[((?:[^\]\\]|\\.){0,1000})\])?"
)
CROSS_REFERENCE = re.compile(r"<<([^<>,\n]{1,500})(?:,\s*([^<>]{0,500}?))?>>")
INDEX_TERM = re.compile(r"\(\(\(.{0,500}?\)\)\)")
SHOWN_INDEX_TERM = re.compile(r"\(\(([^()]{1,500})\)\)")
ANCHOR = re.compile(r"\[\[[\w:.-]+(?:,[^\]]{0,500})?\]\]")
ROLE = re.compile(r"(?<!\w)\[[.#][\w .#-]{1,200}\](?=[#*_`])")
CURVED = (
    (re.compile(r"(?<!\w)``(?=\S)(.{1,500}?)(?<=\S)''(?!\w)", re.DOTALL), "“{}”"),
    (re.compile(r"\"`(.{1,500}?)`\"", re.DOTALL), "“{}”"),
)
LITERAL = re.compile(r"(?<![\w\\`])(`{1,2}|\+{1,3})(?=\S)(.{1,500}?)(?<=\S)\1(?![\w`])", re.DOTALL)
FORMATTED = tuple(
    re.compile(
        rf"(?<![\w\\{mark}]){mark}(?=[^\s{mark}])([^\n]{{0,500}}?(?:\n[^\n]{{0,500}}?)?)(?<=[^\s\\{mark}]){mark}(?![\w{mark}])"
    )
    for mark in (r"\*", "_", "#")
)
DOUBLED = re.compile(r"(\*\*|__|##)(?=\S)(.{1,500}?)(?<=\S)\1")
RAISED = re.compile(r"(?<=\w)\^([^\s^]+)\^")
LOWERED = re.compile(r"(?<=\w)~([^\s~]+)~")
REFERENCE = re.compile(r"(?<!\\)\{([\w][\w-]*)\}")
CHARACTERS = {
    "nbsp": " ", "zwsp": "", "amp": "&", "lt": "<", "gt": ">", "plus": "+", "asterisk": "*", "caret": "^", "tilde": "~",
    "backslash": "\\", "backtick": "`", "startsb": "[", "endsb": "]", "vbar": "|", "apos": "'", "quot": '"', "sp": " ", "empty": "",
    "blank": "", "two-colons": "::", "two-semicolons": ";;", "deg": "°", "brvbar": "¦", "cpp": "C++", "litdd": "--",
    "ldquo": "“", "rdquo": "”", "lsquo": "‘", "rsquo": "’",
}  # fmt: skip
"""What AsciiDoc itself defines."""


class AsciiDocText:
    """Reads texts of one document; attributes that it sets hold from there on."""

    def __init__(self) -> None:
        self.values = dict(CHARACTERS)
        """Name of an attribute → what it stands for."""

    def inline(self, text: str) -> str:
        """Read a text's inline marks; returns HTML."""
        kept: list[str] = []
        return _restored(self._inline(PRIVATE.sub("", text), kept), kept)

    def _inline(self, text: str, kept: list[str]) -> str:
        """Read a text, or a label in one: what was read of it before is in `kept`, and what is read now is put there."""

        def stash(html: str) -> str:
            kept.append(html)
            return f"\ue000{len(kept) - 1}\ue001"

        text = self.with_values(text)
        text = re.sub(r" \+(?=\n|$)", lambda _: stash("<br>"), text)
        for curved, quoted in CURVED:
            text = curved.sub(lambda found, quoted=quoted: quoted.format(found[1]), text)  # type: ignore[misc]
        text = LITERAL.sub(lambda found: stash(escape(found[2].strip("+") if found[1][0] == "`" else found[2])), text)
        text = SHOWN_INDEX_TERM.sub(r"\1", INDEX_TERM.sub("", text))
        text = ANCHOR.sub("", ROLE.sub("", text))
        text = PICTURE.sub(lambda found: stash(escape(found[1].partition(",")[0])), text)
        text = CROSS_REFERENCE.sub(lambda found: stash(self._reference(found[1].strip(), found[2], kept)), text)
        text = URL.sub(lambda found: stash(self._link(found[1], found[2], kept)), text)
        for macro in (INNER_MACRO, MACRO):
            text = macro.sub(
                lambda found: stash(self._macro(found[1], found[2], found[3].replace("\\]", "]"), kept)), text
            )
        text = DOUBLED.sub(r"\2", text)
        for mark in FORMATTED:
            text = mark.sub(r"\1", text)
        text = RAISED.sub(lambda found: stash(f"<sup>{escape(found[1])}</sup>"), text)
        text = LOWERED.sub(lambda found: stash(f"<sub>{escape(found[1])}</sub>"), text)
        return escape(re.sub(r"\\(?=[*_`#{+~^<\[])", "", text))

    def with_values(self, text: str) -> str:
        """Write what attributes stand for in place of their names."""
        return REFERENCE.sub(lambda found: self.values.get(found[1].lower(), found[0]), text)

    def _reference(self, target: str, shown: str | None, kept: list[str]) -> str:
        file, mark, fragment = target.partition("#")
        if not mark and not file.endswith((".adoc", ".asciidoc", ".txt")):
            file, fragment = "", file
        elif not PurePosixPath(file).suffix and file:
            file = f"{file}.adoc"
        href = f"{file}#{fragment}" if fragment else file
        unsaid = escape(fragment or file) if file else f"\ue002{escape(fragment)}\ue003"
        return f'<a href="{escape(href)}">{self._inline(shown, kept) if shown else unsaid}</a>'

    def _link(self, target: str, shown: str | None, kept: list[str]) -> str:
        said = re.sub(r"(?:,\s*\w+\s*=.*|\^)$", "", shown or "").strip('"')
        return f'<a href="{escape(target)}">{self._inline(said, kept) if said else escape(target)}</a>'

    def _macro(self, name: str, target: str, said: str, kept: list[str]) -> str:
        read: dict[str, Callable[[], str]] = {
            "link": lambda: self._link(target, said, kept),
            "mailto": lambda: escape(said.partition(",")[0] or target),
            "xref": lambda: self._reference(target, said, kept),
            "icon": lambda: "",
            "anchor": lambda: "",
            "indexterm": lambda: "",
            "menu": lambda: escape(" > ".join(filter(None, (target, said)))),
            "footnote": lambda: f" ({self._inline(said, kept)})" if said else "",
        }
        if name in read:
            return read[name]()
        if target and said.isdigit():  # a page of a manual, in a section
            return escape(f"{target}({said})")
        return self._inline(said, kept) if said else escape(target)

    def link(self, target: str, shown: str) -> str:
        """Write a link that stands alone."""
        kept: list[str] = []
        return _restored(self._link(target, shown, kept), kept)


def _restored(html: str, kept: list[str]) -> str:
    while STASHED.search(html):  # a stash holds none that is younger
        html = STASHED.sub(lambda found: kept[int(found[1])], html)
    return html
