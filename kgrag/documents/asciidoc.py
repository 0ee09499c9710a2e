"""AsciiDoc to HTML: sections, lists, definitions, listings, tables and references.

There is no reader of AsciiDoc in Python to take: Docling's takes a section in the two-line style for a listing that never ends
(`git-commit.txt` comes out as one), and AsciiDoc.py is a program under the GPL. Nothing is included or run; where a text depends on a
condition, all its branches are read.
"""

from __future__ import annotations

import re
from html import escape

from kgrag.documents.asciidoc_tables import table_html
from kgrag.documents.asciidoc_text import UNTITLED, AsciiDocText
from kgrag.documents.blocks import RemovedLine

__all__ = ["asciidoc_html", "is_asciidoc"]

SECTION = re.compile(r"(={1,6}|#{2,6})\s+(\S.*?)(?:\s+\1)?$")
SECTION_ID = re.compile(r"\[\[([\w:.-]+)")
UNDERLINES = "=-~^+"
"""Of sections in the two-line style, by level."""
UNDERLINE_TOLERANCE = 2
"""Characters that an underline may be shorter or longer than its title."""
DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}[\w,+-]*)$")
TABLE = re.compile(r"[|,:!]={3,}$")
ATTRIBUTES = re.compile(r"\[(?!\[)(?P<attributes>[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]$|\[\[(?P<id>[^\]]+)\]\]$")
BLOCK_TITLE = re.compile(r"\.(?![\s.])(.+)$")
ENTRY = re.compile(r":(!?[\w][\w-]*!?):(?:\s+(.*))?$")
CONDITION = re.compile(r"(?:ifdef|ifndef|ifeval|endif)::[^\[\s]*\[(.*)\]$")
BLOCK_MACRO = re.compile(r"(include|image|video|audio|toc|link)::(\S*)\[(.*)\]$")
NAMED = re.compile(r"(?:^|,)\s*(\w[\w-]*)\s*=\s*(?:\"([^\"]*)\"|([^,]*))")
"""An attribute that has a name, of a macro."""
BULLET = re.compile(r"\s*(\*{1,6}|-|•)\s+(\S.*)$")
NUMBERED = re.compile(r"\s*(\.{1,6}|\d{1,4}\.|[A-Za-z]\.|[ivxIVX]{1,5}\))\s+(\S.*)$")
OF_DOTS = ("arabic", "loweralpha", "lowerroman", "upperalpha", "upperroman")
"""How the items of a list are numbered, by how many dots mark them."""
CALLOUT = re.compile(r"<(?:\d+|\.)>\s+(\S.*)$")
TERM = re.compile(r"\s*(\S.*?)(:{2,4}|;;)(?:\s+(\S.*))?$")
ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+(.*)$", re.DOTALL)
BREAK = re.compile(r"'{3,}$|<{3,}$")
SUBSTITUTED = re.compile(r"subs\s*=\s*\"?[^\"=]*\b(?:attributes|normal)\b|subs\s*=\s*\"?\+?a\b")
"""What says that attributes in a listing stand for their values."""
COMPOUNDS = {"=": "div", "*": "div", "_": "blockquote", "-": "div"}
MARKS = frozenset({":toc:", ":doctype:", ":icons:", ":sectnums:", ":imagesdir:", ":source-highlighter:"})
TELLING = re.compile(
    r"^(?:\[(?:source|verse|listing|horizontal|NOTE|TIP|WARNING)\b[^\]\n]*\]|\|===|include::\S+\[|ifdef::\S*\[)", re.M
)
MAX_VALUE = 1_000
"""Characters of an attribute: one can name others several times."""


def is_asciidoc(text: str) -> bool:
    """Whether a text has marks that only AsciiDoc has, two kinds of them: some projects keep it in files named `.txt`."""
    return len({line.partition(",")[0] for line in TELLING.findall(text)}) > 1 or not MARKS.isdisjoint(text.split())


def asciidoc_html(text: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Turn AsciiDoc into HTML: that, and the lines that were left out. Raises `RecursionError` for what is nested too deeply."""
    reader = _Reader()
    html = reader.blocks(_Lines(text.expandtabs().splitlines()))
    return UNTITLED.sub(lambda found: reader.titles.get(found[1], found[1]), html), tuple(reader.removed)


class _Lines:
    """Lines of a part of a document, and how far they were read."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = [line.rstrip() for line in lines]
        self.at = 0

    def __bool__(self) -> bool:
        return self.at < len(self._lines)

    @property
    def first(self) -> str:
        """The next line."""
        return self.ahead(0)

    def ahead(self, count: int) -> str:
        """Return a line further below; nothing behind the last."""
        return self._lines[self.at + count] if self.at + count < len(self._lines) else ""

    def take(self) -> str:
        """Read a line."""
        self.at += 1
        return self._lines[self.at - 1]

    def skip_blank(self) -> bool:
        """Go to the next line with text; False where there is none."""
        while self and not self.first:
            self.at += 1
        return bool(self)

    def until(self, end: str) -> list[str]:
        """Read up to a line and past it; to the last where it does not come."""
        taken = []
        while self:
            line = self.take()
            if line == end:
                break
            taken.append(line)
        return taken


class _Block:
    """What lines before a block say of it."""

    def __init__(self) -> None:
        self.style = ""
        self.attributes = ""
        self.ids = ""
        self.names: list[str] = []
        """Its ids, as they are referred to."""
        self.title = ""


class _Reader:
    """Reads one document; attributes that it sets hold from there on."""

    def __init__(self) -> None:
        self.removed: list[RemovedLine] = []
        self.titles: dict[str, str] = {}
        """Id of a section → its title, as HTML."""
        self._text = AsciiDocText()

    def blocks(self, lines: _Lines) -> str:
        """Read all blocks of a part."""
        parts = []
        while lines.skip_blank():
            parts.append(self._block(lines, ()))
        return "\n".join(parts)

    def _part(self, text: str) -> str:
        """Read all blocks of a text that stands for itself."""
        return self.blocks(_Lines(text.splitlines()))

    def _block(self, lines: _Lines, markers: tuple[str, ...]) -> str:
        """Read one block with what is said of it. `markers` are those of the lists around it."""
        block = _Block()
        while lines and self._said_of(block, lines):
            lines.skip_blank()
        if not lines:
            return block.ids + (f"<p>{self._text.inline(block.title)}</p>" if block.title else "")
        title = f"<p>{self._text.inline(block.title)}</p>" if block.title else ""
        return block.ids + title + self._body(block, lines, markers)

    def _said_of(self, block: _Block, lines: _Lines) -> bool:
        """Read a line that is about the block below it, or about the document."""
        line = lines.first
        if line.startswith("//") and not line.startswith("////") and not line.startswith("///"):
            self.removed.append(RemovedLine("comment", lines.take()))
        elif entry := ENTRY.match(line):
            lines.take()
            value = entry[2] or ""
            while value.endswith((" \\", " +")) and lines:
                value = f"{value[:-2]} {lines.take().strip()}"
            self._text.values[entry[1].lower()] = self._text.with_values(value)[:MAX_VALUE]
            self.removed.append(RemovedLine("front matter", line))
        elif condition := CONDITION.match(line):
            lines.take()
            if entry := ENTRY.match(condition[1]):  # of several branches the text's own value counts
                self._text.values.setdefault(entry[1].lower(), self._text.with_values(entry[2] or "")[:MAX_VALUE])
                self.removed.append(RemovedLine("front matter", line))
            elif condition[1] and not line.startswith("ifeval"):
                block.title = f"{block.title} {condition[1]}".strip()
        elif (macro := BLOCK_MACRO.match(line)) and macro[1] in ("include", "toc"):
            self.removed.append(RemovedLine("directive", lines.take()))
        elif attributes := ATTRIBUTES.match(line):
            lines.take()
            said = attributes["attributes"]
            if said is None:
                block.names.append(escape(attributes["id"].partition(",")[0]))
                block.ids += f'<a id="{block.names[-1]}"></a>'
                return True
            block.attributes += f",{said}"
            first = said.partition(",")[0]
            block.style = re.split(r"[#.%]", first)[0].strip().lower() or block.style
            if ident := re.search(r"#([\w.:-]+)", first):
                block.names.append(escape(ident[1]))
                block.ids += f'<a id="{block.names[-1]}"></a>'
        elif (title := BLOCK_TITLE.match(line)) and not DELIMITER.match(line) and not NUMBERED.match(line):
            lines.take()
            block.title = f"{block.title} {title[1]}".strip()
        else:
            return False
        return True

    def _body(self, block: _Block, lines: _Lines, markers: tuple[str, ...]) -> str:
        line = lines.first
        if heading := self._heading(block, lines):
            return heading
        if BREAK.match(line):
            lines.take()
            return "<hr>"
        if macro := BLOCK_MACRO.match(line):
            lines.take()
            if macro[1] == "link":
                said = macro[3].partition(",")[0].strip('"')
                return f"<p>{self._text.link(macro[2], said)}</p>"
            title, words = _shown_words(macro[3])
            return (f"<p>{self._text.inline(title)}</p>" if title else "") + f"<p>{escape(words)}</p>"
        if TABLE.match(line):
            lines.take()
            return table_html(line, lines.until(line), attributes=block.attributes, read=self._part)
        if DELIMITER.match(line):
            lines.take()
            return self._delimited(block, line, lines.until(line if line[0] != "`" else "```"))
        for pattern in (BULLET, NUMBERED, TERM, CALLOUT):
            if self._item(pattern, line):
                return self._list(lines, markers)
        return self._paragraph(block, lines, markers)

    def _heading(self, block: _Block, lines: _Lines) -> str | None:
        line, below = lines.first, lines.ahead(1)
        if section := SECTION.match(line):
            lines.take()
            return self._section(block, len(section[1]), section[2])
        is_title = (
            len(below) > 1
            and below[0] in UNDERLINES
            and below == below[0] * len(below)
            and abs(len(below) - len(line)) <= UNDERLINE_TOLERANCE
            and re.search(r"\w", line) is not None
            and not line.startswith((" ", "[", "."))
        )
        if not is_title:
            return None
        lines.take()
        level = UNDERLINES.index(lines.take()[0]) + 1
        return self._section(block, level, line)

    def _section(self, block: _Block, level: int, title: str) -> str:
        """Write a title, with the id that AsciiDoc makes of it where it is given none."""
        within = [escape(name) for name in SECTION_ID.findall(title)]
        names = [*block.names, *within]
        said = self._text.inline(title)
        anchor = "".join(f'<a id="{name}"></a>' for name in within)
        if not names:
            parts = re.findall(r"\w+", re.sub(r"<[^>]*>|&\w+;|['’]", "", said).lower())
            made = self._text.values.get("idprefix", "_") + self._text.values.get("idseparator", "_").join(parts)
            names = [escape(made if made not in self.titles else f"{made}_2")]
            anchor = f'<a id="{names[0]}"></a>'
        self.titles.update(dict.fromkeys(names, UNTITLED.sub(r"\1", said)))
        return f"{anchor}<h{level}>{said}</h{level}>"

    def _delimited(self, block: _Block, delimiter: str, inside: list[str]) -> str:
        kind = delimiter[0]
        if kind == "/":
            self.removed.extend(RemovedLine("comment", line) for line in inside if line)
            return ""
        if (kind in "-.`+" and delimiter != "--") or block.style in (
            "source",
            "listing",
            "literal",
            "verse",
            "stem",
            "latexmath",
        ):
            text = "\n".join(re.sub(r"\s*<(?:\d+|\.)>$", "", one) for one in inside)
            if SUBSTITUTED.search(block.attributes):
                text = self._text.with_values(text)
            return f"<pre>{escape(text)}</pre>"
        element = COMPOUNDS[kind]
        return (
            f"<{element}>{self._admonition(block)}{self.blocks(_Lines(inside))}{self._attribution(block)}</{element}>"
        )

    def _attribution(self, block: _Block) -> str:
        """Say whom a quotation is from: `[quote, who, where]`."""
        said = [part.strip().strip('"') for part in block.attributes.lstrip(",").split(",")[1:] if "=" not in part]
        return (
            f"<p>— {self._text.inline(', '.join(filter(None, said)))}</p>"
            if block.style == "quote" and any(said)
            else ""
        )

    def _admonition(self, block: _Block) -> str:
        is_one = block.style.upper() in ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION")
        return f"<p>{block.style.capitalize()}</p>" if is_one else ""

    def _paragraph(self, block: _Block, lines: _Lines, markers: tuple[str, ...]) -> str:
        text = [lines.take()]
        while lines and lines.first and not self._ends_text(lines, markers):
            text.append(lines.take())
        if text[0].startswith(" ") or block.style in ("source", "listing", "literal", "verse", "quote"):
            return f"<pre>{escape(self._text.with_values(_dedented(text)))}</pre>"
        said = "\n".join(text)
        if admonition := ADMONITION.match(said):
            return f"<p>{admonition[1].capitalize()}</p><p>{self._text.inline(admonition[2])}</p>"
        return f"{self._admonition(block)}<p>{self._text.inline(said)}</p>"

    def _ends_text(self, lines: _Lines, markers: tuple[str, ...]) -> bool:
        """Whether a line is none of the text above it, though no blank line is between them."""
        line = lines.first
        return (
            line == "+"
            or DELIMITER.match(line) is not None
            or TABLE.match(line) is not None
            or ATTRIBUTES.match(line) is not None
            or CONDITION.match(line) is not None
            or ENTRY.match(line) is not None
            or line.startswith("//")
            or bool(markers and any(self._item(pattern, line) for pattern in (BULLET, NUMBERED, TERM, CALLOUT)))
        )

    def _item(self, pattern: re.Pattern[str], line: str) -> tuple[str, str] | None:
        """Return the marker and the text of an item of a list."""
        found = pattern.match(line)
        if found is None:
            return None
        if pattern is CALLOUT:
            return "<>", found[1]
        if pattern is TERM:
            return found[2], found[1]
        marker = found[1]
        return re.sub(r"\d+", "1", marker) if marker[0].isdigit() else re.sub(r"[A-Za-z]+", "a", marker), found[2]

    def _list(self, lines: _Lines, markers: tuple[str, ...]) -> str:
        """Read a list and those in it: a marker that is none of the lists around it begins one."""
        pattern, marker = next(
            (one, found[0]) for one in (BULLET, NUMBERED, TERM, CALLOUT) if (found := self._item(one, lines.first))
        )
        around = (*markers, marker)
        items = []
        while lines:
            found = self._item(pattern, lines.first)
            if found is None or found[0] != marker:
                break
            items.append(self._item_html(pattern, lines, found[1], around))
        element = "dl" if pattern is TERM else "ul" if pattern is BULLET else "ol"
        kind = OF_DOTS[min(len(marker), len(OF_DOTS)) - 1] if pattern is NUMBERED and marker[0] == "." else ""
        return f'<{element} class="{kind}">{"".join(items)}</{element}>'

    def _item_html(self, pattern: re.Pattern[str], lines: _Lines, said: str, around: tuple[str, ...]) -> str:
        first = lines.take()
        head = ""
        if pattern is TERM:
            head = f"<dt>{self._text.inline(said)}</dt>"
            said = (TERM.match(first) or [""] * 4)[3] or ""
            if not said:
                at = lines.at
                lines.skip_blank()
                if not lines or self._begins_other(lines):
                    lines.at = at
                elif lines.first != "+":
                    said = lines.take().strip()
        text = [said] if said else []
        while text and lines and lines.first and not self._ends_text(lines, around):
            text.append(lines.take().strip())
        parts = [f"<p>{self._text.inline(chr(10).join(text))}</p>"] if text else []
        while True:
            at = lines.at
            lines.skip_blank()
            if lines and lines.first == "+":
                lines.take()
                if lines.skip_blank():
                    parts.append(self._block(lines, around))
                continue
            found = next(
                (one for kind in (BULLET, NUMBERED, TERM, CALLOUT) if (one := self._item(kind, lines.first))), None
            )
            if found and found[0] not in around and pattern is not CALLOUT:
                parts.append(self._list(lines, around))
            elif lines and not found and lines.first.startswith(" ") and lines.at > at:
                parts.append(self._paragraph(_Block(), lines, around))
            else:
                if not found:
                    lines.at = at
                break
        body = "".join(parts)
        if pattern is TERM:
            return head + (f"<dd>{body}</dd>" if body else "")
        return f"<li>{body}</li>"

    def _begins_other(self, lines: _Lines) -> bool:
        """Whether what follows a term without a text is no text of it."""
        line = lines.first
        return (
            any(self._item(pattern, line) for pattern in (BULLET, NUMBERED, TERM, CALLOUT))
            or DELIMITER.match(line) is not None
            or TABLE.match(line) is not None
            or ATTRIBUTES.match(line) is not None
            or SECTION.match(line) is not None
            or BLOCK_TITLE.match(line) is not None
            or ENTRY.match(line) is not None
            or CONDITION.match(line) is not None
        )


def _shown_words(attributes: str) -> tuple[str, str]:
    """Return the title and the words for a picture that its attributes say, by name or, the words, before all others."""
    named = {found[1]: found[2] if found[2] is not None else found[3].strip() for found in NAMED.finditer(attributes)}
    first = attributes.partition(",")[0].strip().strip('"')
    return named.get("title", ""), named.get("alt", "" if NAMED.match(attributes) else first)


def _dedented(lines: list[str]) -> str:
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[indent:] for line in lines)
