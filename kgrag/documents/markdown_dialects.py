"""What generators of documentation add to Markdown, as CommonMark: boxes, tabs, shortcodes, directives, components, footnotes.

Read are the marks of MkDocs (`!!! note`, `=== "Tab"`, `/// note`), Docusaurus, VitePress and Pandoc (`:::note`), MyST (`{note}`), MDX
(`import`, `<Tabs>`), Hugo (`{{< note >}}`), Jekyll and GitBook (`{% hint %}`), GitHub and Obsidian (`> [!NOTE]`), kramdown (`{: .class}`).
Marks go and are counted, titles and other words for readers stay: a box is its title and its paragraphs. Listings are left as they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

from kgrag.documents import markdown_marks as marks
from kgrag.documents.blocks import RemovedLine
from kgrag.documents.markdown_footnotes import without_footnotes
from kgrag.documents.markdown_inline import InlineMarks, attribute_words
from kgrag.documents.markdown_lines import (
    code_spans,
    indentation,
    indented_by_spaces,
    outside_listings,
    without_indentation,
)
from kgrag.documents.markdown_tables import cells_of, pipe_table, rows_of_lists

__all__ = ["common_markdown"]


def common_markdown(text: str, *, components: bool) -> tuple[str, list[RemovedLine]]:
    """Write Markdown of any generator as CommonMark: that, and the marks that were taken out.

    `components` says that the file is MDX; a file that imports something is read so, too.
    """
    reader = _Reader(text, components=components)
    return reader.read(), reader.removed


@dataclass(slots=True)
class _Open:
    """Something that lines are in."""

    mark: str
    """What closes it: colons, slashes, a fence, a component's name; empty for a body that less indentation ends."""
    indent: int | None
    """How far its lines are indented; None until the first one is seen, or where they are not."""
    base: int = 0
    """How far they are indented as CommonMark: as far as what began it."""


class _Reader:
    """One pass over the lines of a file."""

    def __init__(self, text: str, *, components: bool) -> None:
        self.removed: list[RemovedLine] = []
        self._lines = indented_by_spaces(text.split("\n"))
        self._components = components or any(marks.IMPORT.match(line) for line in outside_listings(self._lines))
        self._elements = {match["name"] for match in marks.COMPONENT.finditer(text) if match["close"] or match["empty"]}
        self._stripped = {line.strip() for line in self._lines}
        self._at = 0
        self._out: list[str] = []
        self._open: list[_Open] = []
        self._code: str | None = None
        """The fence of the listing that lines are in."""
        self._in_list = False
        self._indented = False
        """Whether lines are a listing by their indentation."""
        self._margin = 0
        """How far the line is indented."""
        self._lines, self._footnotes = without_footnotes(self._lines)
        self._marks = InlineMarks(drop=self._drop, component=self._component, notes=frozenset(self._footnotes))
        self._columns = 0
        """Of the table that lines are in."""

    def read(self) -> str:
        while self._at < len(self._lines) or self._marks.referred or self._footnotes:
            if self._at == len(self._lines):
                self._marks.referred += self._footnotes  # those that nothing refers to
                self._open.clear()
                self._end_listing()
                self._place_footnotes()
                continue
            line = self._lines[self._at]
            self._at += 1
            self._line(self._dedented(line), at_margin=not line.startswith(" "))
        return "\n".join(self._out)

    # Where a line stands

    def _dedented(self, line: str) -> str:
        """Take the indentation of the body that a line is in off it; a line that is indented less ends the body."""
        if not line.strip():
            return without_indentation(line, self._innermost().indent or 0) if self._code is not None else ""
        indent = indentation(line)
        ended = next(
            (place for place, one in enumerate(self._open) if not one.mark and indent < (one.indent or 0)), None
        )
        if ended is not None:
            del self._open[ended:]
            self._end_listing()
        if self._open and self._open[-1].mark and self._open[-1].indent is None and self._open[-1].mark[0] == "<":
            self._open[-1].indent = indent
        inner = self._innermost()
        return " " * inner.base + without_indentation(line, inner.indent or 0)

    def _end_listing(self) -> None:
        if self._code is not None:
            self._out.append("```" if self._code == marks.LIQUID_LISTING else self._code)
            self._code = None
        self._out.append("")

    def _innermost(self) -> _Open:
        """Return the innermost of what lines are in that indents them."""
        return next((one for one in reversed(self._open) if one.indent is not None), _Open("", 0))

    def _line(self, line: str, *, at_margin: bool) -> None:
        if self._code is not None:
            self._out.append(line)
            if self._code == marks.LIQUID_LISTING:
                if marks.LIQUID_CODE_END.match(line):
                    self._out[-1], self._code = "```", None
                return
            closing = marks.FENCE.match(line)
            if closing and not closing["info"].strip() and closing["fence"].startswith(self._code):
                self._code = None
            return
        if not line.strip():
            self._marks.span = ""
            self._columns = 0
            self._out.append("")
            if not self._in_list:
                self._place_footnotes()
            return
        if marks.LIST_MARK.match(line):
            self._in_list = True
        elif at_margin and (not self._out or not self._out[-1].strip()):
            self._in_list = False
        self._margin = indentation(line)
        begins = not self._out or not self._out[-1].strip()
        self._indented = self._margin >= 4 and not self._in_list and (begins or self._indented)
        if self._indented:  # a listing
            self._out.append(line)
            return
        if not any(
            read(line)
            for read in (self._fence, self._colons, self._slashes, self._indented_box, self._program, self._mark_line)
        ):
            self._out.append(self._inline(line))

    # What a line may begin or end

    def _fence(self, line: str) -> bool:
        match = marks.FENCE.match(line)
        if match is None or (match["fence"][0] == "`" and "`" in match["info"]):
            return False
        fence, info = match["fence"], match["info"].strip()
        if not info and self._close(fence):
            self._drop(line)
            return True
        directive = marks.DIRECTIVE.match(info)
        if directive and directive["name"].lower() in marks.DIRECTIVES:
            self._drop(line)
            self._directive(directive["name"].lower(), directive["argument"], fence)
            return True
        self._drop(info.partition(" ")[2])  # what a renderer does with the listing
        words = attribute_words(info)
        if directive and directive["name"] in marks.CODE:
            line = line[: match.end("fence")] + directive["argument"]
            options = self._options()
            words += [options[key] for key in marks.WORDS_OF_OPTIONS if options.get(key)]
        if words:
            self._say(words)
        self._out.append(line)
        self._code = fence
        return True

    def _colons(self, line: str) -> bool:
        match = marks.COLONS.match(line)
        if match is None:
            return False
        colons, rest = match["colons"], match["rest"]
        if not rest:
            if not self._close(colons):
                return False
            self._drop(line)
            return True
        if rest.endswith(":::"):
            self._drop(line)
            self._say(attribute_words(rest))
            return True
        if rest.startswith("{"):
            directive = marks.DIRECTIVE.match(rest)
            self._drop(line)
            if directive:
                self._directive(directive["name"], directive["argument"], colons)
            else:  # Pandoc's attributes: {.note width=50%}
                kind = next((name for name in re.findall(r"\.([\w-]+)", rest) if name in marks.REMARKS), "")
                self._begin(colons, kind, "")
            return True
        if marks.OBJECT.fullmatch(rest) and rest.lower() not in marks.DIRECTIVES and not self._is_closed(colons):
            self._drop(line)
            while self._at < len(self._lines) and indentation(self._lines[self._at]) > indentation(line):
                self._drop(self._lines[self._at])
                self._at += 1
            return True
        container = marks.CONTAINER.match(rest)
        if container is None or not (container["name"].lower() in marks.DIRECTIVES or self._is_closed(colons)):
            return False
        title = container["bracketed"] or re.sub(r"\{[^{}]*\}|:::+", "", container["title"])
        self._drop(line)
        self._begin(colons, container["name"], title.strip())
        return True

    def _slashes(self, line: str) -> bool:
        match = marks.SLASHES.match(line)
        if match is None:
            return False
        slashes, name = match["slashes"], match["name"]
        if name is None:
            if not self._close(slashes):
                return False
            self._drop(line)
            return True
        if not self._is_closed(slashes):
            return False
        self._drop(line)
        while self._at < len(self._lines) and marks.INDENTED_OPTION.match(self._lines[self._at]):
            self._drop(self._lines[self._at])
            self._at += 1
        self._begin(slashes, name, "" if name in marks.FOR_GENERATOR else match["title"] or "")
        return True

    def _indented_box(self, line: str) -> bool:
        match = marks.INDENTED_BOX.match(line)
        said = marks.TYPES_AND_TITLE.fullmatch(match["rest"]) if match else None
        if match is None or said is None or (match["mark"][0] == "=" and said["title"] is None):
            return False
        outer = self._innermost()
        indent = (outer.indent or 0) + indentation(line) - outer.base + 4
        following = next((one for one in self._lines[self._at :] if one.strip()), "")
        if indentation(following) < indent and said["title"] is None:
            return False
        types = (said["types"] or "").split()
        self._drop(line)
        self._label(types[0] if types else "", said["title"] if said["title"] is not None else "")
        self._enter(_Open("", indent, self._margin))
        return True

    def _program(self, line: str) -> bool:
        """Leave out what MDX imports and computes."""
        if not self._components or self._open:
            return False
        if marks.IMPORT.match(line) or marks.IMPORT_BEGINS.match(line) or marks.EXPORT.match(line):
            written = line
            self._drop(line)
            end = self._at + marks.LONGEST_TAG
            while self._at < min(end, len(self._lines)) and (
                not _balanced(written) or (marks.IMPORT_BEGINS.match(line) and " from " not in written)
            ):
                written += "\n" + self._lines[self._at]
                self._drop(self._lines[self._at])
                self._at += 1
            return True
        return False

    def _mark_line(self, line: str) -> bool:
        if marks.MARK_LINES.match(line):
            self._drop(line)
            return True
        if target := marks.TARGET.match(line):
            self._out.extend((f'<a id="{target["name"]}"></a>', ""))
            return True
        if abbreviation := marks.ABBREVIATION.match(line):
            self._out.extend(("", f"{abbreviation['short']}: {abbreviation['long']}", ""))
            return True
        code = marks.LIQUID_CODE.match(line)
        if code and any(marks.LIQUID_CODE_END.match(one) for one in self._stripped):
            self._out.append(f"```{code['language']}")
            self._code = marks.LIQUID_LISTING
            return True
        return False

    # Boxes and directives

    def _begin(self, mark: str, kind: str, title: str) -> None:
        self._label(kind, title)
        self._enter(_Open(mark, None))

    def _label(self, kind: str, title: str) -> None:
        """Say a box's title, or its kind where it has none."""
        kind = kind.lower()
        if kind in marks.VERSIONS:
            self._say([f"{marks.VERSIONS[kind]} {title}".strip()])
        elif title.strip():
            self._say([title.strip()])
        elif kind in marks.REMARKS:
            self._say(["See also" if kind == "seealso" else kind.capitalize()])
        else:
            self._out.append("")

    def _say(self, texts: Iterable[str]) -> None:
        """Write texts as paragraphs, where the line stands."""
        self._marks.span = ""
        self._out.append("")
        for text in texts:
            plain = "*" in text or "`" in text or "[" in text
            self._out.extend((" " * self._margin + (self._inline(text) if plain else f"**{text}**"), ""))
            self._marks.span = ""

    def _directive(self, name: str, argument: str, mark: str) -> None:
        argument = argument.strip()
        options = self._options()
        if name in marks.LISTS_OF_FILES or name in ("list-table", "csv-table"):
            self._say([argument] if argument else [])
            body = self._body(mark)
            if name in marks.LISTS_OF_FILES:
                for line in body:
                    self._drop(line)
                return
            rows = rows_of_lists(body) if name == "list-table" else list(csv.reader(body, skipinitialspace=True))
            self._out.extend(pipe_table(rows, header=options.get("header", "")) if rows else body)
            self._out.append("")
            return
        if name in marks.FOR_GENERATOR and argument:
            self._drop(argument)
            argument = ""
        self._label(name, argument)
        self._say(options[key] for key in marks.WORDS_OF_OPTIONS if options.get(key))
        self._enter(_Open(mark, None))

    def _options(self) -> dict[str, str]:
        """Take the options that stand at a directive's beginning."""
        options = {}
        while self._at < len(self._lines) and (match := marks.OPTION.match(self._lines[self._at])):
            options[match["key"]] = match["value"].strip()
            self._drop(self._lines[self._at])
            self._at += 1
        return options

    def _body(self, mark: str) -> list[str]:
        """Take the lines up to the mark that closes a directive."""
        body = []
        while self._at < len(self._lines):
            line = self._dedented(self._lines[self._at])
            self._at += 1
            if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
                self._drop(line)
                break
            body.append(line)
        return body

    def _enter(self, opened: _Open) -> None:
        if len(self._open) < marks.MAX_OPEN:
            self._open.append(opened)

    def _is_closed(self, mark: str) -> bool:
        """Whether a line of the file is a closing mark, and nothing else."""
        return mark in self._stripped

    def _close(self, mark: str) -> bool:
        """End the innermost open thing that a closing mark ends."""
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place].mark and mark.startswith(self._open[place].mark):
                del self._open[place:]
                self._out.append("")
                return True
        return False

    # Within a line

    def _inline(self, line: str) -> str:
        """Read the marks within a line, but for those in code."""
        if alert := marks.ALERT.match(line):
            quote = alert["quote"]
            self._drop(f"[!{alert['kind']}]")
            if alert["kind"] == "INCLUDE" or "](" in alert["title"]:
                return f"{quote}{alert['title']}"
            return f"{quote}**{alert['title'].strip() or alert['kind'].capitalize()}**\n{quote}"
        if "|" in line:
            line = self._row(line)
        if marks.COMPONENT_BEGINS.match(line) and not marks.COMPONENT.match(line.lstrip()):
            line = self._whole_tag(line)
        return self._marks.read(line, self._lines, self._at)

    def _row(self, line: str) -> str:
        """Escape bars in the code of a table's row where it would have more cells than its table: the last ones would be lost."""
        if marks.DELIMITER_ROW.fullmatch(line):
            self._columns = cells_of(line)
            return line
        if not self._columns or "`" not in line or len(line) > marks.LONGEST_LINE or cells_of(line) <= self._columns:
            return line
        spans, _ = code_spans(line, (), 0, open_run="")
        parts, at = [], 0
        for begin, end in spans:
            parts += [line[at:begin], marks.BAR.sub(r"\\|", line[begin:end])]
            at = end
        return "".join([*parts, line[at:]])

    def _component(self, match: re.Match[str]) -> str:
        """Read a component's tag, where the file closes it: its title stays."""
        name = match["name"]
        if name not in self._elements:
            return match[0]
        self._drop(match[0])
        if match["close"]:
            self._close(f"<{name}")
            return ""
        words = attribute_words(match["attributes"])
        at_start = not match.string[: match.start()].strip()
        if at_start:
            self._say(words)
            if not match["empty"] and f"</{name}>" not in match.string:
                self._enter(_Open(f"<{name}", None, self._margin))
            return ""
        return " ".join(words)

    def _whole_tag(self, line: str) -> str:
        """Put a tag of several lines on one."""
        written = line
        for number, following in enumerate(self._lines[self._at : self._at + marks.LONGEST_TAG], start=1):
            written += " " + following.strip()
            if marks.COMPONENT.match(written.lstrip()):
                self._at += number
                return written
        return line

    # Footnotes

    def _place_footnotes(self) -> None:
        """Put the footnotes of a block behind it, to be read next."""
        notes = [line for name in self._marks.referred for line in ("", *self._footnotes.pop(name, ()))]
        self._marks.referred = []
        if any(notes):
            indent = " " * (self._innermost().indent or 0)
            self._lines[self._at : self._at] = [*(line and indent + line for line in notes), ""]

    def _drop(self, line: str) -> None:
        if line.strip():
            self.removed.append(RemovedLine(marks.RULE, line.strip()))


def _balanced(program: str) -> bool:
    return all(program.count(opening) <= program.count(closing) for opening, closing in ("{}", "()", "[]"))
