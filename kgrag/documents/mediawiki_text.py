"""Pages of MediaWiki as pandoc reads them whole: templates as what they say, and brackets that never close as text.

A wiki keeps its templates elsewhere; pandoc leaves them out, and with them commands, notes and boxes of data. What a template is called
with is on the page: it is written as text, a listing or a list of definitions. The rest (navigation, citations, functions) is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kgrag.documents.blocks import RemovedLine

__all__ = ["plain_wiki"]

OPAQUE = ("nowiki", "pre", "math", "source", "syntaxhighlight")
"""Elements in which brackets are text."""
GALLERY = "gallery"
GALLERY_LINE = re.compile(r"[^|\n]*\|((?:(?:alt|link|page|lang)=[^|\n]*\|)*)(?!(?:alt|link|page|lang)=)(.*\S)")
"""A picture of a gallery with its caption."""
CATEGORY = re.compile(
    r"\s*(?:category|kategorie|catégorie|categoría|categoria|categorie|kategoria|категория|分类|カテゴリ)\s*:",
    re.IGNORECASE,
)
"""What a page is filed under: a wiki shows it below the page."""
TOKEN = re.compile(
    rf"<!--|<(?P<opaque>{'|'.join((*OPAQUE, GALLERY))})\b[^<>]{{0,500}}(?P<alone>/)?>"
    r"|(?P<note><ref\b[^<>/]{0,200}>)|\[\[|\]\]|\{\{|\}\}|\||(?P<url>\[(?=(?:https?|ftps?|mailto|news|irc|git):|//))",
    re.IGNORECASE,
)
NEXT_OF_NOTE = re.compile(r"<(/?)ref\b[^<>/]{0,200}>", re.IGNORECASE)
ADDRESS = re.compile(r"\[[^\]\n]{1,2000}\]")
"""A link that leads elsewhere, with its text."""
TABLE_START, TABLE_END = re.compile(r"^[ \t:]*\{\|", re.MULTILINE), re.compile(r"^[ \t]*\|\}", re.MULTILINE)
"""A table that is not closed ends with the page; pandoc refuses the page."""
MOST_LINKS_INSIDE = 3
"""A picture's caption may have links; nobody writes more."""
NAMED = re.compile(r"\s*([^\W_][\w .-]{0,60}?)\s*=(?!=)\s*(.*)", re.DOTALL)
NOT_SHOWN = re.compile(
    r"#|cite\b|citation|cn\b|fact\b|sfnm?\b|harv|efn\b|refn?\b|reflist|notelist|defaultsort|displaytitle|short description"
    r"|use (?:dmy|mdy|british|american)|good article|featured|redirect|toc\b|__|coord|navbox|authority control|commons|portal|stub|-stub"
    r"|anchor|clear\b|category|tag\b|template|languages?\b|pp-",
    re.IGNORECASE,
)
"""How names of templates begin that show no words of this page."""
BOXES = re.compile(
    r"(note|warning|tip|caution|important|danger|attention|hint|info|notice)(?:box| ?box)?", re.IGNORECASE
)
LISTINGS = frozenset(
    {"bc", "code block", "codeblock", "pre", "command block", "console", "terminal", "root", "rootcmd", "cmdblock"}
)
CODE = frozenset(
    {"ic", "code", "codeline", "kbd", "tt", "mono", "cmd", "path", "key", "c", "inline code", "command", "var", "samp"}
)
FILE_WITH_CONTENT = frozenset({"hc", "filebox", "file", "codefile"})
EQUALS = "\ue000"
"""Stands for the sign that no template has between a name and a value."""
SIGNS = {
    "=": EQUALS,
    "!": "|",
    "!!": "||",
    "!-": "|-",
    "(": "{",
    ")": "}",
    "pipe": "|",
    "ndash": "–",
    "mdash": "—",
    "nbsp": " ",
    "'": "'",
}
"""Templates for signs that mean something else where they stand."""
WITH_UNIT = "val"
UNIT = "u"
FIRST_TWO = frozenset({"convert", "cvt"})
"""A number and its unit; then come others that it is shown in, and how."""
TEXT_NAMES = ("text", "content", "message", "body", "description")


@dataclass(slots=True)
class _Open:
    """A bracket that is open: its mark, where a template's arguments end, and what stands in it so far."""

    mark: str
    pieces: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    own_line: bool = False

    def next_part(self) -> None:
        self.parts.append("".join(self.pieces))
        self.pieces = []


def plain_wiki(text: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Return a page without templates and unclosed brackets, and the templates whose words are not shown."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._open = [_Open("")]
        self._count = {"[[": 0, "{{": 0}
        self._removed: list[RemovedLine] = []

    def read(self) -> tuple[str, tuple[RemovedLine, ...]]:
        text, done = self._text, 0
        unclosed: set[str] = set()
        while (found := TOKEN.search(text, done)) is not None:
            self._put(text[done : found.start()])
            done = found.end()
            mark = found[0]
            name = found["opaque"]
            if mark == "<!--" or name:
                closing = "-->" if mark == "<!--" else f"</{name.lower()}>"
                end = -1 if found["alone"] or closing in unclosed else _find(text, closing, done)
                if end >= 0 and name and name.lower() == GALLERY:
                    pictures = map(GALLERY_LINE.match, text[done:end].split("\n"))
                    self._put("".join(f"\n\n{one[2]}\n\n" for one in pictures if one))
                    done = end
                elif end >= 0:
                    self._put(text[found.start() : end] if name else "")
                    done = end
                elif found["alone"]:
                    self._put(mark)
                else:
                    unclosed.add(closing)
                    self._put(f"&lt;{mark[1:]}")
            elif found["note"]:
                following = NEXT_OF_NOTE.search(text, done)
                self._put(mark if following and following[1] else f"&lt;{mark[1:]}")
            elif found["url"]:
                link = ADDRESS.match(text, found.start())
                self._put(link[0] if link else "&#91;")
                done = link.end() if link else done
            else:
                self._bracket(mark, found.start())
        self._put(text[done:])
        self._close_as_text(1)
        read = "".join(self._open[0].pieces).replace(EQUALS, "=")
        unclosed_tables = len(TABLE_START.findall(read)) - len(TABLE_END.findall(read))
        return read + "\n|}" * unclosed_tables, tuple(self._removed)

    def _bracket(self, mark: str, at: int) -> None:
        match mark:
            case "[[" if self._count["[["] == MOST_LINKS_INSIDE:
                self._put(_as_text(mark))
            case "[[" | "{{":
                line = self._text.rfind("\n", max(0, at - 200), at) + 1
                own_line = not self._text[line:at].strip(" \t:*#") if line or at < 200 else False
                self._open.append(_Open(mark, own_line=own_line))
                self._count[mark] += 1
            case "]]" | "}}":
                opening = "[[" if mark == "]]" else "{{"
                if not self._count[opening]:
                    self._put(_as_text(mark) if mark == "}}" else mark)
                    return
                place = next(n for n in range(len(self._open) - 1, 0, -1) if self._open[n].mark == opening)
                self._close_as_text(place + 1)
                closed = self._open.pop()
                self._count[opening] -= 1
                if mark == "]]" and CATEGORY.match("".join(closed.pieces)):
                    self._removed.append(RemovedLine("category", f"[[{''.join(closed.pieces)}]]"))
                elif mark == "]]":
                    self._put("".join(["[[", *closed.pieces, "]]"]))
                else:
                    closed.next_part()
                    self._put(self._said(closed))
            case "|" if self._open[-1].mark == "{{":
                self._open[-1].next_part()
            case _:
                self._put(mark)

    def _put(self, text: str) -> None:
        if text:
            self._open[-1].pieces.append(text)

    def _close_as_text(self, place: int) -> None:
        """Make text of the brackets that are open from a place on: they do not close."""
        into = self._open[place - 1].pieces
        for one in self._open[place:]:
            self._count[one.mark] -= 1
            into.append(_as_text(one.mark))
            for part in one.parts:
                into += [part, "|"]
            into += one.pieces
        del self._open[place:]

    def _said(self, template: _Open) -> str:
        """Return what a template says."""
        name, *arguments = template.parts
        name = " ".join(name.split())
        known = name.lower()
        if known in SIGNS:
            return SIGNS[known]
        named: dict[str, str] = {}
        plain: list[str] = []
        for argument in arguments:
            pair = NAMED.fullmatch(argument)
            if pair is None:
                plain.append(argument.strip())
            elif pair[1].isdecimal():
                plain.append(pair[2].strip())
            elif pair[2].strip():
                named[pair[1]] = pair[2].strip()
        if (not any(plain) and not named) or NOT_SHOWN.match(name):
            shown = " ".join("|".join(template.parts).split())
            self._removed.append(RemovedLine("template", f"{{{{{shown}}}}}"))
            return ""
        if known in CODE:
            return f"<code>{' '.join(plain)}</code>"
        if known in LISTINGS:
            return f"\n<pre>\n{chr(10).join(plain)}\n</pre>\n"
        if known in FILE_WITH_CONTENT and len(plain) > 1:
            return f"\n<code>{plain[0]}</code>\n<pre>\n{chr(10).join(plain[1:])}\n</pre>\n"
        if known == WITH_UNIT:
            return " ".join([*plain[:1], *([named[UNIT]] if UNIT in named else [])])
        if known in FIRST_TWO:
            return " ".join(plain[:2])
        said = " ".join(filter(None, plain)) or next((named[one] for one in TEXT_NAMES if one in named), "")
        if box := BOXES.fullmatch(name):
            return f"\n\n'''{box[1].capitalize()}:''' {said}\n\n"
        if template.own_line and len(named) > 1:
            rows = "".join(f"; {key.replace('_', ' ')} : {' '.join(value.split())}\n" for key, value in named.items())
            return f"{said}\n{rows}\n"
        if not said:
            return ", ".join(f"{key}: {value}" for key, value in named.items())
        return said


def _find(text: str, closing: str, at: int) -> int:
    """Return where the end of an element ends, or -1."""
    found = re.compile(re.escape(closing[:-1]) + r"\s*>" if closing != "-->" else "-->", re.IGNORECASE).search(text, at)
    return found.end() if found else -1


def _as_text(mark: str) -> str:
    return "".join(f"&#{ord(character)};" for character in mark)
