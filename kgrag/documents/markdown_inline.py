"""Marks that generators of documentation add within a line of Markdown: roles, attributes, shortcodes, icons, keys, references to notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set

from kgrag.documents import markdown_marks as marks
from kgrag.documents.markdown_lines import code_spans

__all__ = ["InlineMarks", "attribute_words"]


class InlineMarks:
    """Reads the marks within lines, but for those in code, and says to `drop` which went.

    `component` reads the tag of a component, `notes` are the names of the file's footnotes.
    """

    def __init__(
        self, *, drop: Callable[[str], None], component: Callable[[re.Match[str]], str], notes: Set[str]
    ) -> None:
        self._drop = drop
        self._component = component
        self._named = notes
        self.referred: list[str] = []
        """Footnotes that what was read refers to."""
        self.span = ""
        """The backticks of a code span that the line before began and did not end."""

    def read(self, line: str, lines: Sequence[str], at: int) -> str:
        """Read a line; `lines` are those of the file, and it stands before number `at`."""
        if len(line) > marks.LONGEST_LINE:
            return line
        spans, self.span = code_spans(line, lines, at, open_run=self.span)
        parts, at = [], 0
        for begin, end in spans:
            before, code = line[at:begin], line[begin:end]
            if (role := marks.ROLE.search(before)) and not (self.span and end == len(line)):
                self._drop(role[0])
                before, code = before[: role.start()], _of_role(role["role"], code)
            if language := marks.LANGUAGE_OF_SPAN.search(code):
                self._drop(language["mark"])
                code = code[: language.start("mark")] + code[language.end() :]
            parts += [self._marks(before, first=at == 0), code]
            at = end
        return "".join([*parts, self._marks(line[at:], first=at == 0, last=True)])

    def _marks(self, text: str, *, first: bool, last: bool = False) -> str:
        if first and re.match(r"[ ]{0,3}~[ ]", text):
            text = text.replace("~", "\\~", 1)  # `~ 5 V` defines nothing
        if "{" in text:
            for pattern, write in (
                (marks.MDX_COMMENT, self._nothing),
                (marks.MDBOOK, self._nothing),
                (marks.SHORTCODE, self._tag),
                (marks.LIQUID, self._tag),
            ):
                text = pattern.sub(write, text)
            if not marks.FORMULA.search(text):
                text = marks.ATTRIBUTES_BEHIND.sub(self._attributes, text)
            if last:
                text = marks.ATTRIBUTES_AT_END.sub(self._attributes, text)
        if "<" in text:
            text = marks.COMPONENT.sub(self._component, text)
        if ":" in text:
            text = marks.ICON.sub(self._nothing, text)
        if "==" in text:
            text = marks.HIGHLIGHT.sub(r"\g<words>", text)
        if ("~" in text or "^" in text) and not marks.FORMULA.search(text):
            text = marks.RAISED.sub(_raised, text)
        if "++" in text:
            text = marks.KEYS.sub(lambda match: match["keys"].replace('"', ""), text)
        if "[^" in text:
            self.referred += [match["name"] for match in marks.REFERENCE.finditer(text)]
            text = marks.REFERENCE.sub(
                lambda match: f"[{match['name']}]" if match["name"] in self._named else match[0], text
            )
        return text

    def _attributes(self, match: re.Match[str]) -> str:
        return match[0] if re.fullmatch(r"\s*\{\s*#[\w.:-]+\s*\}\s*", match[0]) else self._nothing(match)

    def _nothing(self, match: re.Match[str]) -> str:
        self._drop(match[0])
        return ""

    def _tag(self, match: re.Match[str]) -> str:
        """Read a tag of a template: the words that it shows stay, as does where a link leads."""
        self._drop(match[0])
        name, arguments = match["name"] or "", match["arguments"]
        if "close" in match.re.groupindex and match["close"]:
            return ""
        if name in ("ref", "relref", "link", "post_url"):
            return arguments.strip().strip("\"'")
        quoted = [
            (one["key"], one["double"] if one["double"] is not None else one["single"])
            for one in marks.QUOTED.finditer(arguments)
        ]
        words = [
            value for key, value in quoted if key in marks.WORDS_OF_ATTRIBUTES or (key is None and " " in value.strip())
        ]
        inline = bool(match.string[: match.start()].strip())
        if words:
            return " ".join(words) if inline else f"**{' '.join(words)}** "
        kind = next(
            (value for key, value in quoted if key in ("style", "type", "color") and value in marks.REMARKS), name
        )
        return "" if inline or kind not in marks.REMARKS else f"**{kind.capitalize()}** "


def _of_role(role: str, code: str) -> str:
    """Return the text of a role: the target that it names is a link's."""
    text = code.strip("`")
    titled = None if role in marks.ROLES_OF_CODE else marks.ROLE_TARGET.fullmatch(text)
    if titled is None:
        return code
    target = titled["target"]
    return f"[{titled['text']}]({'' if '.' in target or '/' in target else '#'}{target})"


def _raised(match: re.Match[str]) -> str:
    tag = "sub" if match["mark"] == "~" else "sup"
    return f"<{tag}>{match['words']}</{tag}>"


def attribute_words(attributes: str) -> list[str]:
    """Return what a tag's attributes say to a reader."""
    return [
        words
        for match in marks.ATTRIBUTE.finditer(attributes)
        if match["key"].lower() in marks.WORDS_OF_ATTRIBUTES
        and any(map(str.isalnum, words := match["double"] or match["single"] or match["braced"] or ""))
    ]
