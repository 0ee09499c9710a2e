"""DocBook's elements as HTML: what is a section, a list, a listing, a box, and what stands in a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from types import MappingProxyType
from typing import Any

from kgrag.documents.blocks import RemovedLine
from kgrag.documents.inline_text import collapse

__all__ = ["BLOCKS", "DocBookWriter", "element_name"]


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


SECTIONS = _named(
    "set book part reference refentry article chapter appendix preface dedication acknowledgements colophon "
    "glossary glossdiv bibliography bibliodiv partintro section sect1 sect2 sect3 sect4 sect5 simplesect topic "
    "refsect1 refsect2 refsect3 refsection refsynopsisdiv qandaset qandadiv task tasksummary taskprerequisites "
    "taskrelated"
)
LISTS = MappingProxyType(
    {"orderedlist": "ol", "procedure": "ol", "substeps": "ol", "calloutlist": "ol"}
    | dict.fromkeys(("itemizedlist", "stepalternatives", "bibliolist"), "ul")
)
LISTINGS = _named(
    "programlisting screen literallayout synopsis address funcsynopsisinfo classsynopsisinfo cmdsynopsis funcprototype"
)
BOXES = frozenset({"note", "tip", "warning", "caution", "important", "danger"})
PARAGRAPHS = _named("para simpara subtitle caption attribution bridgehead biblioentry bibliomixed mathphrase glosssee")
OTHER_BLOCKS = _named(
    "abstract blockquote epigraph sidebar formalpara figure informalfigure example informalexample equation "
    "informalequation mediaobject textobject imageobjectco programlistingco screenco msgset funcsynopsis "
    "classsynopsis listitem step callout refnamediv qandaentry variablelist varlistentry glosslist glossentry "
    "simplelist segmentedlist table informaltable"
)
BLOCKS = SECTIONS | LISTS.keys() | LISTINGS | BOXES | PARAGRAPHS | OTHER_BLOCKS
UNSEEN = _named(
    "indexterm remark comment anchor title titleabbrev toc lot index refmeta imageobject imagedata videoobject "
    "audioobject areaspec beginpage alt"
)
"""What a reader does not see, or what was written with what it stands in."""
FRONT_MATTER = _named(
    "author authorgroup editor othercredit collab corpauthor copyright legalnotice revhistory pubdate date "
    "publisher keywordset"
)
"""What may stand outside of an `info`, too."""
TOLD_FIRST = frozenset({"subtitle", "abstract", "edition", "mediaobject", "epigraph"})
"""Of an `info`, what is kept beside its title."""
LINE_ELEMENTS = frozenset({"footnote", "inlinemediaobject"})
"""They hold blocks and stand in a line."""
DEFAULT_TITLES = MappingProxyType(
    {"refsynopsisdiv": "Synopsis"}
    | {
        name: name.capitalize()
        for name in ("abstract", "bibliography", "colophon", "dedication", "glossary", "preface")
    }
)
TAGS = MappingProxyType({"starttag": ("<", ">"), "endtag": ("</", ">"), "emptytag": ("<", "/>"), "element": ("<", ">")})
MARKS = MappingProxyType({"registered": "®", "copyright": "©", "service": "℠"})
BRACKETS = MappingProxyType({"opt": ("[", "]"), "req": ("{", "}"), "plain": ("", "")})
LOWEST = 6
"""The lowest level of headings in HTML."""


_Places = tuple[dict[str, int], dict[str | None, Any]]


class DocBookWriter:
    """Writes the XML of a document as HTML."""

    def __init__(self, root: Any) -> None:
        self.title = _title(root)
        self.removed: list[RemovedLine] = []
        self.included: dict[str, None] = {}
        """What it would include from other files."""
        self._by_id = {identifier: element for element in root.iter("{*}*") if (identifier := _id(element))}
        self._behind: list[str] = []
        """Footnotes and blocks of the paragraph that is being written: they stand behind it."""
        self._footnotes = 0
        self._marks = 0
        """How many places of the listing are marked so far (`co`)."""

    def block(self, element: Any, level: int) -> str:
        """Write a block; `level` is that of a heading in it."""
        name, anchor = element_name(element), _anchor(element)
        if name in UNSEEN:
            return anchor
        if name in FRONT_MATTER or (name.endswith("info") and name not in LISTINGS):
            return self._front_matter(element, level)
        if name in SECTIONS:
            return anchor + self._section(element, level)
        if name in LISTINGS:
            return f"{self._titled(element)}<pre>{anchor}{self._listing(element)}</pre>{self._take_behind()}"
        if name in LISTS:
            return f"{self._titled(element)}{anchor}{self._list(element, level)}"
        if name in BOXES:
            label = escape(": ".join(filter(None, (name.capitalize(), _title(element)))))
            return f"<div>{anchor}<p>{label}</p>{self.blocks(element, level)}</div>"
        match name:
            case "refnamediv":
                names = ", ".join(_words(part) for part in _children(element, "refname"))
                purpose = " ".join(_words(part) for part in _children(element, "refpurpose"))
                return f"{_heading('Name', level)}<p>{anchor}{escape(' - '.join(filter(None, (names, purpose))))}</p>"
            case "variablelist" | "glosslist":
                entries = "".join(
                    self._entry(part, level) for part in _elements(element) if element_name(part) != "title"
                )
                return f"{self._titled(element)}{anchor}<dl>{entries}</dl>"
            case "glossentry" | "varlistentry" | "qandaentry":
                return f"<dl>{self._entry(element, level)}</dl>"
            case "simplelist":
                return f"{anchor}<ul>{''.join(f'<li>{self.inline(part)}</li>' for part in _elements(element))}</ul>"
            case "segmentedlist":
                return self._segments(element, anchor)
            case "table" | "informaltable":
                return anchor + self._table(element, level)
            case "biblioentry":
                said = ". ".join(filter(None, (_words(part) for part in _elements(element))))
                return f"<p>{anchor}{escape(said)}</p>"
            case _:
                return f"{anchor}{self._titled(element)}{self.blocks(element, level)}"

    def blocks(self, element: Any, level: int) -> str:
        """Write what is in an element; words between its blocks are paragraphs."""
        written: list[str] = []
        line = [escape(element.text or "")]

        def end_line() -> None:
            said = "".join(line)
            written.append(f"<p>{said}</p>{self._take_behind()}" if said.strip() else self._take_behind())
            line.clear()

        for child in _elements(element):
            if _is_block(child):
                end_line()
                written.append(self.block(child, level))
            else:
                line.append(self._run(child))
            line.append(escape(child.tail or ""))
        end_line()
        return "".join(written)

    def inline(self, element: Any) -> str:
        """Write what stands in a line; blocks in it come behind."""
        parts = [escape(element.text or "")]
        for child in _elements(element):
            parts += [self._run(child), escape(child.tail or "")]
        return "".join(parts)

    def _run(self, element: Any) -> str:
        name, anchor = element_name(element), _anchor(element)
        match name:
            case "include":
                self.included[element.get("href") or "?"] = None
                return ""
            case "xref" | "link" | "ulink" | "olink":
                return anchor + self._link(element)
            case "footnote":
                self._footnotes += 1
                mark = f"[{self._footnotes}]"
                note = self._apart(lambda: self.blocks(element, LOWEST))
                self._behind.append(note.replace("<p>", f"<p>{anchor}{mark} ", 1))
                return mark
            case "citerefentry":
                return escape(_pageelement_name(element))
            case "quote":
                return f"“{self.inline(element)}”"
            case "keycombo" | "menuchoice":
                keys = [self.inline(part).strip() for part in _children(element, "shortcut")]
                said = (" → " if name == "menuchoice" else "+").join(self._parts(element))
                return said + "".join(f" ({one})" for one in keys)
            case "email":
                return f"&lt;{self.inline(element)}&gt;"
            case "tag" | "sgmltag":
                opening, closing = TAGS.get(element.get("class") or "", ("", ""))
                return f"{escape(opening)}{self.inline(element)}{escape(closing)}"
            case "superscript" | "subscript":
                return f"<{name[:3]}>{self.inline(element)}</{name[:3]}>"
            case "trademark":
                return self.inline(element) + MARKS.get(element.get("class") or "", "™")
            case "co":
                self._marks += 1
                return f"{anchor}({self._marks})"
            case "sbr":
                return "\n"
            case "arg" | "group":
                return self._argument(element)
            case "personname" | "author" | "editor" | "othercredit":
                return " ".join(self.inline(part) for part in _elements(element)) or self.inline(element)
            case "inlinemediaobject":
                return " ".join(escape(_words(part)) for part in _children(element, "textobject"))
            case _ if name in UNSEEN:
                return anchor
            case _ if _is_block(element):
                self._behind.append(self._apart(lambda: self.block(element, LOWEST)))
                return ""
            case _:
                return anchor + self.inline(element)

    def _parts(self, element: Any) -> Iterator[str]:
        """Return what is in an element one by one; an entity may have been an element, so its words count as such."""
        yield from map(escape, (element.text or "").split())
        for child in _elements(element):
            if element_name(child) != "shortcut":
                yield self._run(child)
            yield from map(escape, (child.tail or "").split())

    def _section(self, element: Any, level: int) -> str:
        title = None if element_name(element) == "refentry" else _title_element(element)
        said = self.inline(title) if title is not None else escape(_title(element))
        said = said or DEFAULT_TITLES.get(element_name(element), "")
        if not said:
            return self.blocks(element, level)
        anchor = _anchor(title) if title is not None else ""
        return f"{_heading(anchor + said, level)}{self._take_behind()}{self.blocks(element, level + 1)}"

    def _front_matter(self, element: Any, level: int) -> str:
        if element_name(element) in FRONT_MATTER:
            self._remove(element)
            return ""
        written = []
        for child in _elements(element):
            if element_name(child) in TOLD_FIRST:
                written.append(self.block(child, level))
            elif element_name(child) not in UNSEEN:
                self._remove(child)
        return "".join(written)

    def _remove(self, element: Any) -> None:
        if words := _words(element):
            self.removed.append(RemovedLine("front matter", words))

    def _titled(self, element: Any) -> str:
        """Write the title of what is no section as a paragraph before it."""
        title = _title_element(element)
        return f"<p>{self.inline(title)}</p>{self._take_behind()}" if title is not None else ""

    def _list(self, element: Any, level: int) -> str:
        tag = LISTS[element_name(element)]
        items = []
        for child in _elements(element):
            if element_name(child) in UNSEEN:
                continue
            items.append(f"<li>{_anchor(child)}{self._titled(child)}{self.blocks(child, level)}</li>")
        start = element.get("startingnumber") or "1"
        kind = escape(element.get("numeration") or "")
        return f'<{tag} class="{kind}" start="{start if start.isdecimal() else 1}">{"".join(items)}</{tag}>'

    def _entry(self, element: Any, level: int) -> str:
        """Write an entry of a list of terms or of questions."""
        terms, said = [], []
        for child in _elements(element):
            if element_name(child) in ("term", "glossterm", "acronym", "abbrev"):
                terms.append(f"<dt>{_anchor(child)}{self.inline(child)}{''.join(self._behind)}</dt>")
                self._behind.clear()
            elif element_name(child) == "question":
                terms.append(f"<dt>{_anchor(child)}{' '.join(self.inline(part) for part in _elements(child))}</dt>")
                said.append(self._take_behind())
            elif element_name(child) in ("listitem", "glossdef", "answer"):
                said.append(f"<dd>{_anchor(child)}{self.blocks(child, level)}</dd>")
            else:
                said.append(f"<dd>{self.block(child, level) if _is_block(child) else self._run(child)}</dd>")
        return f"{_anchor(element)}{''.join(terms)}{''.join(said)}"

    def _segments(self, element: Any, anchor: str) -> str:
        titles = "".join(f"<th>{self.inline(part)}</th>" for part in _children(element, "segtitle"))
        rows = (
            "".join(f"<td>{self.inline(part)}</td>" for part in _children(item, "seg"))
            for item in _children(element, "seglistitem")
        )
        return f"{self._titled(element)}{anchor}<table><thead><tr>{titles}</tr></thead>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def _table(self, element: Any, level: int) -> str:
        """Write a table: of DocBook's own model (groups of rows of entries), or of HTML's."""
        groups = _children(element, "tgroup") or [element]
        caption = _title_element(element)
        written = f"<p>{self.inline(caption)}</p>{self._take_behind()}" if caption is not None else ""
        for group in groups:
            parts = [
                part for part in _elements(group) if element_name(part) in ("thead", "tbody", "tfoot", "tr", "row")
            ]
            parts.sort(key=lambda part: {"thead": 0, "tfoot": 2}.get(element_name(part), 1))
            rows = []
            places = _places(group)
            for part in parts:
                lines = [part] if element_name(part) in ("tr", "row") else _children(part, "row", "tr")
                inside = "".join(self._row(line, places, level, heads=element_name(part) == "thead") for line in lines)
                tag = element_name(part) if element_name(part) in ("thead", "tfoot") else "tbody"
                rows.append(f"<{tag}>{inside}</{tag}>")
            written += f"<table>{''.join(rows)}</table>"
        others = (part for part in _elements(element) if element_name(part) in ("mediaobject", "textobject", "caption"))
        return written + "".join(self.block(part, level) for part in others if part is not caption)

    def _row(self, row: Any, places: _Places, level: int, *, heads: bool) -> str:
        cells = []
        for cell in _elements(row):
            tag = "th" if heads or element_name(cell) == "th" else "td"
            inside = self._table(cell, level) if element_name(cell) == "entrytbl" else self.blocks(cell, level)
            cells.append(f"<{tag}{_spans(cell, places)}>{_anchor(cell)}{inside}</{tag}>")
        return f"<tr>{_anchor(row)}{''.join(cells)}</tr>"

    def _listing(self, element: Any) -> str:
        self._marks = 0
        match element_name(element):
            case "cmdsynopsis":
                words = " ".join(self._run(part) for part in _elements(element) if element_name(part) not in UNSEEN)
                return re.sub(r" *\n *", "\n", words)
            case "funcprototype":
                define = " ".join(collapse(self.inline(part)) for part in _children(element, "funcdef"))
                given = {"void": "void", "varargs": "..."}
                params = ", ".join(
                    given.get(element_name(part)) or collapse(self.inline(part)).rstrip(";")
                    for part in _elements(element)
                    if element_name(part) in ("paramdef", "void", "varargs")
                )
                return f"{define}({params});"
            case _:
                return self.inline(element)

    def _argument(self, element: Any) -> str:
        """Write an argument of a command as manuals do: `[-f FILE]`, `{a | b}...`."""
        opening, closing = BRACKETS.get(element.get("choice") or "opt", ("[", "]"))
        if element_name(element) == "group":
            inside = " | ".join(self._run(part) for part in _elements(element))
        else:
            inside = " ".join(self.inline(element).split())
        return f"{opening}{inside}{closing}{'...' if element.get('rep') == 'repeat' else ''}"

    def _link(self, element: Any) -> str:
        said = self.inline(element)
        url = element.get("{http://www.w3.org/1999/xlink}href") or element.get("url") or ""
        target = element.get("linkend") or (url[1:] if url.startswith("#") else "")
        if target:
            aim = self._by_id.get(target)
            named = self._by_id.get(element.get("endterm") or "")
            if not said.strip():
                said = escape(_words(named) if named is not None else _label(aim) if aim is not None else target)
            return f'<a href="#{escape(target)}">{said}</a>' if aim is not None else said
        said = said if said.strip() else escape(url)
        return f'<a href="{escape(url)}">{said}</a>' if url else said

    def _apart(self, write: Callable[[], str]) -> str:
        """Write what stands behind the paragraph that it is in."""
        outer, self._behind = self._behind, []
        written = write() + self._take_behind()
        self._behind = outer
        return written

    def _take_behind(self) -> str:
        behind, self._behind = "".join(self._behind), []
        return behind


def _heading(said: str, level: int) -> str:
    tag = f"h{min(level, LOWEST)}"
    return f"<{tag}>{said}</{tag}>"


def _is_block(element: Any) -> bool:
    name = element_name(element)
    if name in LINE_ELEMENTS:
        return False
    if name in FRONT_MATTER or name.endswith("info"):
        return element_name(element.getparent()) not in PARAGRAPHS
    return name in BLOCKS or (
        name not in UNSEEN and any(element_name(part) in BLOCKS for part in element.iterdescendants("{*}*"))
    )


def _title_element(element: Any) -> Any:
    """Return the title that an element has, itself or in its `info`; None without one."""
    for child in _elements(element):
        if element_name(child) == "title":
            return child
    for child in _elements(element):
        if element_name(child).endswith("info") and (title := _title_element(child)) is not None:
            return title
    return None


def _title(element: Any) -> str:
    for meta in _children(element, "refmeta"):
        return _pageelement_name(meta)
    title = _title_element(element)
    return _words(title) if title is not None else ""


def _pageelement_name(element: Any) -> str:
    """Write the name of a reference page as `printf(3)`."""
    title, section = (
        " ".join(_words(part) for part in _children(element, name)) for name in ("refentrytitle", "manvolnum")
    )
    return f"{title}({section})" if section else title


def _label(element: Any) -> str:
    """Return what a reference to an element says."""
    terms = [_words(part) for part in _children(element, "term", "glossterm")]
    return element.get("xreflabel") or _title(element) or next(iter(terms), "") or _id(element)


def _places(group: Any) -> _Places:
    """Return a table's columns by their names, and its spans by theirs; the first of a name counts."""
    columns: dict[str, int] = {}
    for number, spec in enumerate(_children(group, "colspec"), start=1):
        columns.setdefault(spec.get("colname") or str(number), number)
    spans: dict[str | None, Any] = {}
    for spec in _children(group, "spanspec"):
        spans.setdefault(spec.get("spanname"), spec)
    return columns, spans


def _spans(cell: Any, places: _Places) -> str:
    rows, columns = cell.get("rowspan") or "", cell.get("colspan") or ""
    if (more := cell.get("morerows") or "").isdecimal():
        rows = str(int(more[:4]) + 1)
    by_name, spans_by_name = places
    spec = spans_by_name.get(cell.get("spanname"), cell)
    first, last = by_name.get(spec.get("namest")), by_name.get(spec.get("nameend"))
    if first is not None and last is not None:
        columns = str(last - first + 1)
    spans = (("rowspan", rows), ("colspan", columns))
    return "".join(f' {name}="{count}"' for name, count in spans if count.isdecimal() and len(count) < 5)


def _elements(element: Any) -> list[Any]:
    return [child for child in element if isinstance(child.tag, str)]


def _children(element: Any, *names: str) -> list[Any]:
    return [child for child in _elements(element) if element_name(child) in names]


def element_name(element: Any) -> str:
    """Return an element's name without its namespace, which DocBook 5 has and 4 has not, or a prefix that nothing declares."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def _id(element: Any) -> str:
    return element.get("{http://www.w3.org/XML/1998/namespace}id") or element.get("id") or ""


def _anchor(element: Any) -> str:
    return f'<a id="{escape(_id(element))}"></a>' if _id(element) else ""


def _words(element: Any) -> str:
    """Return the words of an element, those of its parts parted."""
    return " ".join(" ".join(element.itertext()).split())
