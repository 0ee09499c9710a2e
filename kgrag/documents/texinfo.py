"""Texinfo sources (`.texi`, `.texinfo`, `.txi`) to blocks: written as HTML, which is walked as a page is.

makeinfo would read other files that a document names, and no maintained Python library reads Texinfo. What Info shows is taken: of
conditions the branches for Info, no menus and no indexes. Nothing is included.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType

from kgrag.documents.blocks import BlockDocument, RemovedLine, left_out
from kgrag.documents.html import blocks_of_html
from kgrag.documents.texinfo_inline import Inline
from kgrag.documents.text_encoding import decode, unpacked
from kgrag.errors import DocumentError

__all__ = ["convert_texinfo"]

ENCODING = re.compile(rb"^@documentencoding\s+(\S+)", re.MULTILINE)
COMMAND = re.compile(r"\s*@(?P<name>[A-Za-z]+)(?P<rest>(?:[\s{].*)?)$")
COMMENT = re.compile(r"(?<!@)((?:@@)*)@(?:c|comment)(?:\s.*)?$")
ENDS = re.compile(r"\s*@end\s+(?P<name>[A-Za-z]+)\s*$")
LEVELS = MappingProxyType(
    dict.fromkeys(("chapter", "unnumbered", "appendix", "majorheading", "chapheading", "part"), 2)
    | dict.fromkeys(("section", "unnumberedsec", "appendixsec", "appendixsection", "heading"), 3)
    | dict.fromkeys(("subsection", "unnumberedsubsec", "appendixsubsec", "subheading"), 4)
    | dict.fromkeys(("subsubsection", "unnumberedsubsubsec", "appendixsubsubsec", "subsubheading"), 5)
)
"""Of a chapter and so on; that of the manual is 1."""
LISTINGS = frozenset(
    ["example", "smallexample", "lisp", "smalllisp", "display", "smalldisplay", "format", "smallformat", "verbatim"]
)
LISTS = MappingProxyType({"itemize": "ul", "enumerate": "ol"} | dict.fromkeys(("table", "ftable", "vtable"), "dl"))
LEFT_OUT = MappingProxyType(
    dict.fromkeys(("menu", "detailmenu", "direntry"), "menu")
    | dict.fromkeys(("titlepage", "copying"), "front matter")
    | dict.fromkeys(("ignore", "documentdescription"), "comment")
    | dict.fromkeys(
        [
            "tex",
            "html",
            "latex",
            "docbook",
            "xml",
            "iftex",
            "ifhtml",
            "iflatex",
            "ifdocbook",
            "ifxml",
            "ifplaintext",
            "ifnotinfo",
        ],
        "other output",
    )
)
"""Environments that are no text of the manual → rule."""
INDEX = re.compile(r"[a-z]{1,2}index$|(?:sub|see)entry$|printindex$")
SILENT = frozenset(
    [
        "setfilename",
        "settitle",
        "shorttitlepage",
        "author",
        "subtitle",
        "contents",
        "summarycontents",
        "shortcontents",
        "page",
        "sp",
        "need",
        "vskip",
        "noindent",
        "indent",
        "refill",
        "headings",
        "setchapternewpage",
        "paragraphindent",
        "firstparagraphindent",
        "exampleindent",
        "syncodeindex",
        "synindex",
        "defcodeindex",
        "defindex",
        "finalout",
        "dircategory",
        "documentlanguage",
        "documentencoding",
        "footnotestyle",
        "evenheading",
        "oddheading",
        "everyheading",
        "evenfooting",
        "oddfooting",
        "everyfooting",
        "smallbook",
        "afourpaper",
        "afivepaper",
        "afourlatex",
        "afourwide",
        "pagesizes",
        "kbdinputstyle",
        "allowcodebreaks",
        "frenchspacing",
        "clickstyle",
        "novalidate",
        "fonttextsize",
        "lowersections",
        "raisesections",
        "xrefautomaticsectiontitle",
        "codequoteundirected",
        "codequotebacktick",
        "insertcopying",
        "top",
        "group",
        "cartouche",
        "raggedright",
        "flushleft",
        "flushright",
        "smallindentedblock",
        "indentedblock",
        "listoffloats",
        "microtype",
        "urefbreakstyle",
    ]
)
"""Commands of a line that only say how it looks, or of which nothing but what they enclose is text."""
_LINES = """
    node anchor set clear alias include verbatiminclude item itemx headitem tab center exdent title float multitable quotation
    smallquotation
"""
LINES = frozenset(_LINES.split())
"""Other commands that have a line to themselves."""
MACRO = re.compile(r"\s*@r?macro\s+(?P<name>\w+)\s*(?:\{(?P<names>[^}]*)\})?")
MAX_EXPANSION = 2_000_000
"""Characters that a text with its macros may have."""
MAX_DEPTH = 10
"""Of macros that call others."""


def convert_texinfo(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a Texinfo file, packed or not. Raises `DocumentError` where it is none, or too much by its macros."""
    text, note = _decoded(unpacked(data, path), path)
    reader = _Reader(path)
    reader.read(_joined_footnotes(text).split("\n"))
    read = blocks_of_html(f"<html><body>{''.join(reader.html)}</body></html>", path, document_path=document_path)
    notes = [note] if note else []
    for what, names in (("it includes", reader.included), ("commands say that are not known", reader.inline.unknown)):
        if names:
            notes.append(left_out(f"what {what}", names))
    return BlockDocument(read.blocks, reader.title, (*reader.removed, *read.removed), tuple(notes))


def _decoded(data: bytes, path: Path) -> tuple[str, str]:
    declared = ENCODING.search(data)
    if declared:
        try:
            return data.decode(codecs.lookup(declared[1].decode("ascii", "replace")).name), ""
        except (LookupError, UnicodeDecodeError):
            pass  # as any other text
    decoded = decode(data, path.with_suffix(""))
    return decoded.text, decoded.note


def _joined_footnotes(text: str) -> str:
    """Put the paragraphs of a footnote together, which stands within a paragraph."""
    parts, at = [], 0
    for found in re.finditer(r"@footnote\{", text):
        if found.start() < at:
            continue
        depth, end = 1, found.end()
        for brace in re.finditer(r"@?[{}]", text[found.end() : found.end() + 20_000]):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                end = found.end() + brace.end()
                break
        parts += [text[at : found.start()], re.sub(r"\n\s*\n", "\n", text[found.start() : end])]
        at = end
    return "".join([*parts, text[at:]])


class _Reader:
    """Reads lines and writes HTML."""

    def __init__(self, path: Path) -> None:
        self.html: list[str] = []
        self.title = ""
        self.removed: list[RemovedLine] = []
        self.included: dict[str, None] = {}
        self.inline = Inline()
        self._path = path
        self._paragraph: list[str] = []
        self._open: list[str] = []
        """Environments, outermost first."""
        self._node = ""
        self._cell = "td"
        self._macros: dict[str, tuple[list[str], str]] = {}
        self._aliases: dict[str, str] = {}
        self._size = 0

    def read(self, lines: Sequence[str], depth: int = 0) -> None:
        """Read lines of the file, or of a macro."""
        at = 0
        while at < len(lines):
            line = COMMENT.sub(r"\1", lines[at])
            at += 1
            if line.startswith("\\input"):
                continue
            is_verbatim = self._is_in("verbatim")
            if (ended := ENDS.match(line)) and (not is_verbatim or ended["name"] == "verbatim"):
                self._end(ended["name"])
                continue
            if is_verbatim:
                self.html.append(f"{escape(lines[at - 1])}\n")
                continue
            found = COMMAND.match(line)
            name = self._aliases.get(found["name"], found["name"]) if found else ""
            rest = found["rest"].strip() if found else ""
            if name == "bye":
                break
            if name in ("macro", "rmacro"):
                at = self._define(line, lines, at)
            elif rule := self._left_out(name, rest):
                at = self._skip(name, rule, lines, at)
            elif name in self._macros and depth < MAX_DEPTH:
                self.read(self._expanded(line).split("\n"), depth + 1)
            elif found and self._is_line_command(name, rest):
                self._command(name, rest)
            else:
                self._text(self._expanded(line))
        if depth == 0:
            while self._open:
                self._end(self._open[-1])
            self._flush()
        if not self.html and depth == 0:
            raise DocumentError(self._path, "has no text of a manual in Texinfo")

    def _is_line_command(self, name: str, rest: str) -> bool:
        starts = name in SILENT or name in LEVELS or name in LISTINGS or name in LISTS or name.startswith("def")
        conditions = name.startswith("if") and not rest.startswith("{")
        return starts or conditions or name in LINES or bool(INDEX.match(name))

    def _left_out(self, name: str, rest: str) -> str:
        if name in ("ifset", "ifclear"):
            return "other output" if (rest in self.inline.values) != (name == "ifset") else ""
        return LEFT_OUT.get(name, "")

    def _skip(self, name: str, rule: str, lines: Sequence[str], at: int) -> int:
        depth = 1
        while at < len(lines):
            line = lines[at].strip()
            at += 1
            if line == f"@end {name}":
                depth -= 1
                if depth == 0:
                    break
            elif re.match(rf"@{name}\b", line):
                depth += 1
            if line:
                self.removed.append(RemovedLine(rule, line))
            if name == "titlepage" and line.startswith("@title ") and not self.title:
                self.title = self.inline.plain(line.removeprefix("@title "))
        return at

    def _command(self, name: str, rest: str) -> None:
        if INDEX.match(name):
            self.removed.append(RemovedLine("index", rest))
        elif name in LEVELS:
            self._flush()
            anchor = f' id="{escape(self._node, quote=True)}"' if self._node else ""
            self.html.append(f"<h{LEVELS[name]}{anchor}>{self.inline.html(self._expanded(rest))}</h{LEVELS[name]}>")
            self._node = ""
        elif name in ("settitle", "title"):
            self.title = self.inline.plain(self._expanded(rest)) or self.title
        elif name == "node":
            self._flush()
            self._node = self.inline.anchor(rest.split(",")[0])
        elif name == "set":
            key, _, value = rest.partition(" ")
            self.inline.values[key] = value.strip()
        elif name == "clear":
            self.inline.values.pop(rest, None)
        elif name == "alias" and "=" in rest:
            new, _, old = rest.partition("=")
            self._aliases[new.strip()] = self.inline.aliases[new.strip()] = old.strip()
        elif name in ("include", "verbatiminclude"):
            self.included[rest] = None
        elif name in ("center", "exdent"):
            self._text(self._expanded(rest))
        elif name in LISTINGS or name in LISTS or name in ("multitable", "quotation", "smallquotation", "float"):
            self._begin(name, rest)
        elif name in ("item", "itemx", "headitem", "tab"):
            self._item(name, rest)
        elif name.startswith("def") and name not in SILENT:
            self._definition(name, rest)

    def _text(self, line: str) -> None:
        if self._open and self._open[-1] in LISTINGS:
            self.html.append(f"{self.inline.html(line, typed=True)}\n")
        elif line.strip():
            cells = re.split(r"(?<!@)@tab\b", line) if self._is_in("multitable") else [line]
            self._paragraph.append(cells[0])
            for cell in cells[1:]:
                self._item("tab", cell)
        else:
            self._flush()

    def _flush(self) -> None:
        if not self._paragraph:
            return
        text = self.inline.html("\n".join(self._paragraph))
        self._paragraph = []
        notes = "".join(f"<p>{note}</p>" for note in self.inline.take_footnotes())
        self.html.append(f"<p>{text}</p>{notes}" if text.strip() or notes else "")

    def _begin(self, name: str, rest: str) -> None:
        self._flush()
        self._open.append(name)
        if name in LISTINGS:
            self.html.append("<pre>")
        elif name in LISTS:
            self.html.append(f"<{LISTS[name]}{_numbers(rest.strip()) if name == 'enumerate' else ''}>")
        elif name == "multitable":
            self.html.append("<table>")
        elif name != "float":
            self.html.append("<blockquote>" + (f"<p><b>{self.inline.html(rest)}</b></p>" if rest else ""))

    def _end(self, name: str) -> None:
        if name not in self._open:
            return  # of a branch that is taken, or of what only says how it looks
        while self._open:
            self._flush()
            last = self._open.pop()
            if last in LISTINGS:
                self.html.append("</pre>")
            elif last in LISTS:
                self.html.append(f"</{LISTS[last]}>")
            elif last == "multitable":
                self.html.append("</td></tr></table>")
            elif last.startswith("def"):
                self.html.append("</dd></dl>")
            elif last != "float":
                self.html.append("</blockquote>")
            if last == name:
                break

    def _is_in(self, name: str) -> bool:
        return bool(self._open) and self._open[-1] == name

    def _item(self, name: str, rest: str) -> None:
        self._flush()
        rest = self._expanded(rest)
        if self._is_in("multitable"):
            if name != "tab":
                self._cell = "th" if name == "headitem" else "td"
            self.html.append(f"<{self._cell}>" if name == "tab" else f"<tr><{self._cell}>")
            self._text(rest)
            return
        kind = LISTS.get(self._open[-1], "") if self._open else ""
        if kind == "dl":
            self._term(self.inline.html(rest, typed=True), further=name == "itemx")
        else:
            self.html.append("<li>" if kind else "")
            self._text(rest)

    def _definition(self, name: str, rest: str) -> None:
        """`@deffn Command print [number]` and its like; with an `x` at the end another of the same."""
        self._flush()
        further = name.endswith("x") and self._is_in(name[:-1])
        if not further:
            self._open.append(name)
            self.html.append("<dl>")
        words = re.findall(r"\{[^{}]*\}|\S+", self._expanded(rest))
        said = [word[1:-1] if word.startswith("{") and word.endswith("}") else word for word in words]
        self._term(self.inline.html(" ".join(said), typed=True), further=further)

    def _term(self, term: str, *, further: bool) -> None:
        """Write a term and begin what is said of it; a further one has the same said of it."""
        if further and self.html and self.html[-1] == "<dd>":
            self.html.pop()
        self.html += [f"<dt>{term}</dt>", "<dd>"]

    def _define(self, line: str, lines: Sequence[str], at: int) -> int:
        found = MACRO.match(line)
        body: list[str] = []
        while at < len(lines) and not re.match(r"\s*@end\s+r?macro\b", lines[at]):
            body.append(lines[at])
            at += 1
        if found:
            names = [one.strip() for one in (found["names"] or "").split(",") if one.strip()]
            # A macro may not call itself.
            once = re.sub(rf"@{found['name']}(?![A-Za-z])", "", "\n".join(body))
            self._macros[found["name"]] = (names, once)
        return at + 1

    def _expanded(self, line: str) -> str:
        """Put what macros say in the place of their calls."""
        for _ in range(MAX_DEPTH if self._macros else 0):
            pattern = rf"@({'|'.join(map(re.escape, self._macros))})(?![A-Za-z])(?:\{{([^{{}}]*)\}}|(?=$|[^{{]))"
            longer = re.sub(pattern, self._called, line)
            self._size += len(longer) - len(line)
            if self._size > MAX_EXPANSION:
                raise DocumentError(self._path, f"says more than {MAX_EXPANSION:,} characters by its macros")
            if longer == line:
                break
            line = longer
        return line

    def _called(self, call: re.Match[str]) -> str:
        names, body = self._macros[call[1]]
        given = [one.strip() for one in (call[2] or "").split(",", max(0, len(names) - 1))]
        for name, value in zip(names, [*given, *[""] * len(names)], strict=False):
            body = body.replace(f"\\{name}\\", value)
        return body


def _numbers(first: str) -> str:
    """Write what the first item of an enumeration is called, a number or a letter, as attributes of its list."""
    if len(first) == 1 and first.isascii() and first.isalpha():
        return f' type="{"a" if first.islower() else "A"}" start="{ord(first.lower()) - ord("a") + 1}"'
    return f' start="{first}"' if first.isdecimal() else ""
