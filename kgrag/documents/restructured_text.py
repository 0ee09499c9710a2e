"""reStructuredText to HTML: docutils parses it, and what Sphinx adds to it is read by what it says.

Directives and roles that docutils does not know (`option::`, `versionadded::`, `:ref:`) belong to Sphinx, to its extensions, or to a
project: their arguments and contents are text of the document all the same. Nothing is fetched, included or run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from io import StringIO
from math import inf
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, Parser, states
from docutils.transforms import Transform
from docutils.transforms.references import Substitutions
from docutils.utils import unescape

from kgrag.documents.blocks import RemovedLine
from kgrag.types import Scalar

__all__ = ["LONGEST_LINE", "is_restructured_text", "restructured_text_html"]

EXPLICIT_MARKUP = re.compile(
    r"^\.\. {1,3}(?:[\w.:+-]+::(?:\s|$)|_[^\s:][^:\n]*:(?:\s|$)|\|[^|\n]+\| [\w-]+::)", re.MULTILINE
)
"""A directive, a target or a substitution, at a line's start: what no other text has."""
ERROR = 3
"""The level of docutils' messages from which on they carry text that the parser could make nothing of."""
LONGEST_LINE = 10_000
"""Characters; docutils makes nothing of a document with a longer one."""
MAX_SUBSTITUTED = 1_000_000
"""Characters of all substitutions of a document."""
SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": ERROR,
    "halt_level": 6,
    "line_length_limit": LONGEST_LINE,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "initial_header_level": 1,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "footnote_backlinks": False,
    "output_encoding": "unicode",
}
NATIVE = frozenset(
    {
        *("attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning", "admonition"),
        *("topic", "sidebar", "line-block", "parsed-literal", "math", "rubric", "epigraph", "highlights", "pull-quote"),
        *("compound", "table", "csv-table", "list-table", "image", "figure", "replace", "unicode"),
    }
)
"""Directives that docutils reads."""
CODE = frozenset(
    {
        *(
            "code",
            "code-block",
            "sourcecode",
            "prompt",
            "doctest",
            "testcode",
            "testoutput",
            "testsetup",
            "parsed-code",
        ),
        *("graphviz", "digraph", "mermaid", "uml", "plantuml", "plot", "ipython", "productionlist"),
    }
)
LEFT_OUT = frozenset(
    {"toctree", "contents", "autosummary", "raw", "meta", "index", "header", "footer", "role", "default-role"}
)
"""Lists of what stands elsewhere, and what is for a generator or its pages' frame."""
FOR_GENERATOR = frozenset(
    {
        *("only", "ifconfig", "container", "rst-class", "cssclass", "glossary"),
        *("tabs", "tab-set", "grid", "hlist"),
    }
)
"""Directives whose arguments are for the generator, and whose content is text."""
TITLED_PARTS = frozenset(
    {
        *("tab", "tab-item", "group-tab", "code-tab", "card", "grid-item", "grid-item-card", "dropdown", "details"),
        *("collapse", "collapsible"),
    }
)
"""Directives whose argument is a title, with marks in it."""
ICONS = frozenset({"octicon", "fa", "fas", "far", "fab", "material-outlined", "material-regular", "material-round"})
"""Roles whose text names a picture."""
VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
REMARKS = {"seealso": "See also", "todo": "To do"}
OBJECTS = frozenset(
    {
        *("function", "class", "method", "staticmethod", "classmethod", "attribute", "data", "exception", "decorator"),
        *("property", "option", "cmdoption", "envvar", "confval", "setting", "describe", "object", "macro", "type"),
        *("member", "var", "enum", "enumerator", "struct", "union", "opcode", "templatetag", "templatefilter"),
        *("signal", "django-admin", "django-admin-option", "fieldlookup"),
    }
)
"""Directives whose argument names what they describe: text, though nothing else is said of it."""
RAISED: dict[str | None, type[nodes.TextElement]] = {
    "sub": nodes.subscript,
    "subscript": nodes.subscript,
    "sup": nodes.superscript,
    "superscript": nodes.superscript,
}
AS_WRITTEN = frozenset(
    {"code", "literal", "math", "samp", "kbd", "command", "file", "raw", "regexp", "program", "option"}
)
"""Roles in whose text `<...>` is no target."""
TITLE_COMMENT = re.compile(r"^title:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
TITLED = re.compile(r"(.+?)\s*<([^<>]+)>", re.DOTALL)
"""What a role shows, and what it leads to."""
STYLE = re.compile(r"[a-z][a-z -]*")
"""An argument of `class::` that is docutils' own, for what stands below: no class of a program."""
ACCELERATOR = re.compile(r"&(?=\w)")
LINKABLE = frozenset({".rst", ".rest", ".txt"})


def is_restructured_text(text: str) -> bool:
    """Whether a text has marks that only reStructuredText has: many projects keep it in files named `.txt`."""
    return EXPLICIT_MARKUP.search(text) is not None


def restructured_text_html(text: str, *, suffix: str) -> tuple[str, dict[str, Scalar], tuple[RemovedLine, ...]]:
    """Turn reStructuredText into HTML: that, the fields at its start as metadata, and the lines that were left out.

    `suffix` is that of the document and of those that it refers to (`:doc:`). Raises `RecursionError` for what is nested too deeply.
    """
    settings = {**SETTINGS, "warning_stream": StringIO()}
    parser = _Parser(suffix if suffix in LINKABLE else ".rst")
    tree = publish_doctree(text, parser=parser, settings_overrides=settings)
    named = _title_in_comments(tree)
    metadata, removed = _take_fields(tree)
    if named:
        metadata.setdefault("title", named)
    _leave_out_names_of_headings(tree)
    _read_bare_directives(tree)
    for left_out in list(tree.findall(_LeftOut)):
        removed.append(RemovedLine(left_out["rule"], left_out.rawsource))
        left_out.parent.remove(left_out)
    for comment in list(tree.findall(nodes.comment)):
        removed.extend(RemovedLine("comment", line) for line in comment.astext().splitlines() if line.strip())
        comment.parent.remove(comment)
    for label in list(tree.findall(_Label)):
        label.parent.replace(label, _reference(tree, label))
    for problem in list(tree.findall(nodes.problematic)):
        problem.parent.replace(problem, nodes.Text(problem.astext()))
    for message in list(tree.findall(nodes.system_message)):
        unread = message.findall(nodes.literal_block) if message["level"] >= ERROR else ()
        message.parent.replace(message, list(unread))
    tree.parse_messages.clear()  # else those without a place make a section
    tree.transform_messages.clear()
    page = publish_from_doctree(tree, writer="html5", settings_overrides=settings)
    return page.partition("<body")[2].partition(">")[2].rpartition("</body>")[0], metadata, tuple(removed)


def _title_in_comments(tree: nodes.document) -> str:
    """Return the title that comments at the start of a document name, as Nikola's posts do (`.. title: The pump`); or nothing."""
    for node in tree.children:
        if not isinstance(node, nodes.Invisible | nodes.system_message):
            break
        if isinstance(node, nodes.comment) and (said := TITLE_COMMENT.search(node.astext())):
            return said[1]
    return ""


def _take_fields(tree: nodes.document) -> tuple[dict[str, Scalar], list[RemovedLine]]:
    """Take the field list at the start of a document off it: it is about the document."""
    first = next((node for node in tree.children if not isinstance(node, nodes.Invisible)), None)
    if not isinstance(first, nodes.field_list):
        return {}, []
    metadata: dict[str, Scalar] = {}
    removed = []
    for field in first.children:
        name, value = (" ".join(child.astext().split()) for child in field.children)
        metadata[name.lower()] = value
        removed.append(RemovedLine("front matter", f"{name}: {value}"))
    tree.remove(first)
    return metadata, removed


def _leave_out_names_of_headings(tree: nodes.document) -> None:
    """Leave out what directives without content name where the heading right below says it: they are for links to it."""
    for named in reversed([one for one in tree.findall(nodes.definition_list) if "bare" in one]):
        below = named.next_node(descend=False, siblings=True, ascend=True)
        while isinstance(below, nodes.Invisible | nodes.system_message):
            below = below.next_node(descend=False, siblings=True, ascend=True)
        title = below.next_node(nodes.title) if isinstance(below, nodes.section) else None
        heading = title.astext().lower() if title is not None else ""
        if heading and all(term.astext().lower() in heading for term in named.findall(nodes.term)):
            named.parent.replace(named, _LeftOut(named["bare"], rule="directive"))


def _read_bare_directives(tree: nodes.document) -> None:
    """Make terms of directives without content, where others of the same name describe something in the document; leave the others out.

    What such a directive describes stands below the next one of its name, where that follows at once: they share it.
    """
    describing = {
        node["directive"]
        for node in tree.findall(nodes.definition_list)
        if "directive" in node and not isinstance(node.parent, _Bare)
    }
    for bare in reversed(list(tree.findall(_Bare))):
        (terms,) = bare.findall(nodes.definition_list)
        name = terms["directive"]
        if name not in describing:
            lines = (line for line in bare.rawsource.splitlines() if line.strip())
            bare.parent.replace(bare, [_LeftOut(line, rule="directive") for line in lines])
            continue
        followed = bare.parent[bare.parent.index(bare) + 1 :]
        below = next((node for node in followed if not isinstance(node, nodes.system_message)), None)
        if isinstance(below, nodes.definition_list) and below.get("directive") == name:
            item = next(below.findall(nodes.definition_list_item))
            item.insert(0, list(terms.findall(nodes.term)))
            bare.parent.remove(bare)
        else:
            bare.parent.replace(bare, terms)


def _reference(tree: nodes.document, label: _Label) -> nodes.Node:
    """Make a link of a label of this document, with the heading that it stands before as its text; of others, text."""
    ident = tree.nameids.get(nodes.fully_normalize_name(label["target"]))
    if ident is None:
        return nodes.inline("", label.astext())
    text = label.astext()
    heading = next(iter(tree.ids[ident].children), None)
    if isinstance(heading, nodes.title) and text == label["target"]:
        text = heading.astext()
    return nodes.reference("", text, refid=ident)


class _LeftOut(nodes.Invisible, nodes.Element):
    """A directive that is no text of the document; its `rawsource` is counted."""


class _Bare(nodes.Invisible, nodes.Element):
    """A directive that nobody knows, with an argument and nothing below: its argument as a term is in it."""


class _Label(nodes.inline):
    """A reference to a label, which may stand further below."""


class _AnyOption(dict[str, Callable[[Any], Any]]):
    """The options of a directive that nobody knows: each is taken as it is."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Callable[[Any], Any]:
        return lambda value: value or ""


class _AnyDirective(Directive):
    """A directive of Sphinx, of an extension, or of a project."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption()

    def run(self) -> list[nodes.Node]:
        name = self.name.lower()
        argument = self.arguments[0] if self.arguments else ""
        if name in LEFT_OUT:
            return self._left_out()
        if name in CODE:
            caption = self.options.get("caption") or ""
            listing = "\n".join(self.content) or (argument if "\n" in argument else "")
            return [
                *self._paragraph(caption),
                *([nodes.literal_block(listing, listing)] if listing else self._left_out()),
            ]
        content = self._content(with_headings=name in FOR_GENERATOR)
        if name in FOR_GENERATOR:
            return content or self._left_out()
        if name in VERSIONS:
            version, *said = argument.split(None, 1) or [""]
            return self._labelled(f"{VERSIONS[name]} {version}", *said, content=content)
        if name in REMARKS:
            return self._labelled(REMARKS[name], argument, content=content)
        is_style = name == "class" and STYLE.fullmatch(argument)
        is_object = ":" in name or name in OBJECTS
        if not content and (is_style or not argument):
            return self._left_out()
        if not argument:
            return [*self._options(), *content]
        described = self._titled(argument, content) if name in TITLED_PARTS else self._described(argument, content)
        if not is_object:
            described["directive"] = name
        if not content and is_object:
            described["bare"] = self.block_text.strip()
        if not content and not is_object:
            return [_Bare(self.block_text, described)]
        return [*self._options(), described]

    def _left_out(self) -> list[nodes.Node]:
        rule = "table of contents" if self.name in ("toctree", "contents") else "directive"
        return [_LeftOut(line, rule=rule) for line in self.block_text.splitlines() if line.strip()]

    def _options(self) -> list[nodes.Node]:
        return [_LeftOut(f":{name}: {value}".rstrip(), rule="directive") for name, value in self.options.items()]

    def _content(self, *, with_headings: bool) -> list[nodes.Node]:
        node = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, node, match_titles=with_headings)
        return list(node.children)

    def _paragraph(self, text: str) -> list[nodes.Node]:
        inline, messages = self.state.inline_text(text, self.lineno)
        return [nodes.paragraph(text, "", *inline), *messages] if text else []

    def _labelled(self, label: str, said: str = "", *, content: list[nodes.Node]) -> list[nodes.Node]:
        content = [*self._paragraph(said), *content]
        return [_definition([nodes.term("", label)], content)] if content else self._paragraph(label)

    def _titled(self, title: str, content: list[nodes.Node]) -> nodes.definition_list:
        inline, messages = self.state.inline_text(" ".join(title.split()), self.lineno)
        return _definition([nodes.term(title, "", *inline)], [*messages, *content])

    def _described(self, signatures: str, content: list[nodes.Node]) -> nodes.definition_list:
        """Make a definition of what a directive describes: each line of its argument is a term."""
        lines = re.sub(r"\\\n\s*", " ", signatures).splitlines()
        return _definition([nodes.term("", line.strip()) for line in lines], content)


def _definition(terms: list[nodes.term], content: list[nodes.Node]) -> nodes.definition_list:
    definition = [nodes.definition("", *content)] if content else []
    return nodes.definition_list("", nodes.definition_list_item("", *terms, *definition))


class _AnyDirectives:
    """Before each class of the parser's states: gives directives that it does not read to `_AnyDirective`."""

    nested_sm_cache: list[Any] = []  # noqa: RUF012  (the parser keeps its machines there; others' are of other classes)

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": STATE_CLASSES, "initial_state": "Body"}

    def run_directive(self: Any, directive: Any, match: Any, type_name: str, option_presets: Any) -> Any:
        known = directive if type_name.lower() in NATIVE else _AnyDirective
        result, blank_finish = super().run_directive(known, match, type_name, option_presets)  # type: ignore[misc]
        # A remark on the first directive in it, before what was read, is no refusal.
        refused = len(result) == 1 and isinstance(result[0], nodes.system_message)
        return list(result[0].findall(nodes.literal_block)) if refused else result, blank_finish

    def unknown_directive(self: Any, type_name: str) -> Any:
        written = re.compile(rf"(?:\.\.\s+)?{re.escape(type_name)}\s?::\s*")
        return self.run_directive(None, written.match(self.state_machine.line), type_name, {})


STATE_CLASSES = tuple(type(state.__name__, (_AnyDirectives, state), {}) for state in states.state_classes)


class _BoundSubstitutions(Transform):
    """Leave substitutions as they are written where they would grow without measure: each can name others several times."""

    default_priority = Substitutions.default_priority - 1

    def apply(self) -> None:
        sizes: dict[str, float] = {}
        references = list(self.document.findall(nodes.substitution_reference))
        if sum(self._size(reference, sizes) for reference in references) > MAX_SUBSTITUTED:
            for reference in references:
                reference.parent.replace(reference, nodes.Text(f"|{reference.astext()}|"))

    def _size(self, reference: nodes.substitution_reference, sizes: dict[str, float]) -> float:
        """Return how many characters stand for a reference when all in it is substituted; without end for one that names itself."""
        known = self.document.substitution_defs
        name = reference["refname"]
        definition = known.get(name) or known.get(self.document.substitution_names.get(name.lower(), ""))
        if definition is None:
            return len(name)
        if name not in sizes:
            sizes[name] = inf
            nested = definition.findall(nodes.substitution_reference)
            sizes[name] = len(definition.astext()) + sum(self._size(one, sizes) for one in nested)
        return sizes[name]


class _Parser(Parser):
    def __init__(self, document_suffix: str) -> None:
        inliner = states.Inliner()
        # On the object: the parser builds its patterns from what the class itself has, and a subclass's has nothing.
        inliner.interpreted = partial(_read_role, document_suffix)  # type: ignore[method-assign]
        super().__init__(inliner=inliner)
        self.state_classes = STATE_CLASSES

    def get_transforms(self) -> list[type[Transform]]:
        return [*super().get_transforms(), _BoundSubstitutions]


def _read_role(
    document_suffix: str, rawsource: str, text: str, role: str | None, lineno: int
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Read interpreted text, whatever its role: in the place of `Inliner.interpreted`."""
    shown = unescape(text)
    role = role.lower().rpartition(":")[2] if role else None
    if role in ICONS:
        return [], []
    if role in RAISED:
        return [RAISED[role](rawsource, shown)], []
    if role is None or role in AS_WRITTEN:
        return [nodes.inline(rawsource, shown)], []
    if role in ("guilabel", "menuselection"):
        return [nodes.inline(rawsource, ACCELERATOR.sub("", shown))], []
    titled = TITLED.fullmatch(shown)
    shown, target = titled.groups() if titled else (shown.lstrip("~!"), shown)
    if role in ("ref", "numref"):
        return [_Label(rawsource, shown, target=target)], []
    if role == "doc" and not target.startswith("/"):
        return [nodes.reference(rawsource, shown, refuri=f"{target}{document_suffix}")], []
    return [nodes.inline(rawsource, shown)], []
