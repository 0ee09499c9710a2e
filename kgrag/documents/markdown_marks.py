"""The marks of Markdown's dialects: patterns, and the names of boxes and directives."""

from __future__ import annotations

import re

RULE = "generator's mark"
LIQUID_LISTING = "{% highlight %}"
REMARKS = frozenset(
    {
        *("note", "tip", "hint", "info", "warning", "caution", "important", "danger", "error", "attention"),
        *("success", "alert", "question", "failure", "bug", "example", "abstract", "summary", "todo"),
        *("admonition", "seealso"),
    }
)
"""Boxes that say their kind where they have no title."""
VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
CODE = frozenset({"code", "code-block", "code-cell", "sourcecode", "parsed-literal", "prompt"})
FOR_GENERATOR = frozenset(
    {
        *("figure", "image", "include", "literalinclude", "only", "container", "div", "grid", "tabs"),
        *("tab-set", "margin", "list-table", "table", "toctree", "tableofcontents", "contents", "glossary"),
        *("html", "settings", "define"),
    }
)
"""Directives whose argument is a path, a condition or a layout."""
TITLED = frozenset(
    {
        *("tab", "tab-item", "dropdown", "details", "card", "grid-item-card", "grid-item", "sidebar"),
        *("topic", "rubric", "epigraph", "csv-table", "collapse", "code-group", "caption", "figure-caption"),
        *("table-caption", "exercise"),
    }
)
DIRECTIVES = REMARKS | VERSIONS.keys() | FOR_GENERATOR | TITLED
LISTS_OF_FILES = frozenset({"toctree", "tableofcontents", "contents"})
WORDS_OF_ATTRIBUTES = frozenset(
    {"title", "label", "header", "heading", "caption", "summary", "description", "alt", "alt-text", "text"}
)
"""Of tags, those that a reader sees."""
WORDS_OF_OPTIONS = ("title", "header", "alt", "caption", "footer")
"""Of MyST's directives, whose `label` is an id."""
FENCE = re.compile(r"[ ]*(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
DIRECTIVE = re.compile(r"\{(?P<name>[\w:.-]+)\}\s*(?P<argument>.*)$")
COLONS = re.compile(r"[ ]*(?P<colons>:{3,})\s*(?P<rest>.*?)\s*$")
CONTAINER = re.compile(r"(?P<name>[A-Za-z][\w-]*)(?:\[(?P<bracketed>.*?)\])?\s*(?P<title>.*)$")
OBJECT = re.compile(r"\w+(?:\.\w+)*")
"""What mkdocstrings documents from its program (`::: package.module`), with options below; a box is one of `REMARKS`, or is closed."""
SLASHES = re.compile(r"[ ]*(?P<slashes>/{3,})\s*(?:(?P<name>[A-Za-z][\w-]*)\s*(?:\|\s*(?P<title>.*?)\s*)?)?$")
INDENTED_BOX = re.compile(r"[ ]*(?P<mark>!!!|\?\?\?\+?|===[!+]?)[ ]+(?P<rest>.+?)[ ]*$")
TYPES_AND_TITLE = re.compile(r"(?P<types>[A-Za-z][\w -]*?)?\s*(?:\"(?P<title>.*)\")?")
ALERT = re.compile(r"(?P<quote>[ ]*(?:>[ ]?)+)\[!(?P<kind>[A-Za-z]+)\][+-]?[ ]*(?P<title>.*)$")
OPTION = re.compile(r"[ ]*:(?P<key>[\w-]+):[ ]*(?P<value>.*)$")
INDENTED_OPTION = re.compile(r"[ ]{4,}[\w-]+:")
FOOTNOTE = re.compile(r"[ ]{0,3}\[\^(?P<name>[^\]\s]+)\]:[ ]*(?P<text>.*)$")
REFERENCE = re.compile(r"\[\^(?P<name>[^\]\s]+)\](?!:)")
TARGET = re.compile(r"\((?P<name>[\w:.-]+)\)=[ ]*$")
ABBREVIATION = re.compile(r"\*\[(?P<short>[^\]]+)\]:[ ]*(?P<long>.*)$")
MARK_LINES = re.compile(
    r"[ ]*(?:--8<--.*|\[TOC\]|\[\[_?toc_?\]\]|\+\+\+|\[!div[^\]]*\]|"
    r"\{:?[ ]*(?:[.#][\w-]+|toc|[\w-]+=(?:\"[^\"]*\"|[\w-]+))(?:[ ]+[^{}]*)?\})[ ]*$",
    re.IGNORECASE,
)
"""Lines that are for the generator alone."""
LIST_MARK = re.compile(r"[ ]*(?:[-*+]|\d{1,9}[.)])[ ]")
IMPORT = re.compile(r"import\s+(?:[\w*{][^'\"]*\sfrom\s+)?['\"][^'\"]+['\"];?\s*$")
IMPORT_BEGINS = re.compile(r"import\s+(?:\w+\s*,\s*)?\{[^'\"}]*$")
EXPORT = re.compile(r"export\s+(?:const|let|var|function|default|async|class)\b")
MAX_OPEN = 100
"""Boxes and bodies in each other that are told apart."""
LONGEST_LINE = 10_000
"""Characters; in longer ones no marks are looked for."""
LONGEST_TAG = 60
"""Lines of a component's opening tag, or of a program in MDX."""
VALUE = r"(?:\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|`[^`]*`)"
COMPONENT = re.compile(
    rf"<(?P<close>/)?(?P<name>[A-Z][\w.]*)(?P<attributes>(?:\s+(?:[\w:-]+(?:\s*=\s*{VALUE})?|\{{\.\.\.[^{{}}]*\}}))*)\s*(?P<empty>/)?>"
)
COMPONENT_BEGINS = re.compile(r"[ ]*<[A-Z][\w.]*(?:\s|$)")
ATTRIBUTE = re.compile(
    r"(?P<key>[\w-]+)\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|\{[\"'`](?P<braced>[^\"'`{}]*)[\"'`]\})"
)
SHORTCODE = re.compile(
    r"\{\{(?P<mark>[<%])\s*(?P<close>/)?\s*(?P<name>[\w./-]+)?(?P<arguments>(?:(?!\}\}).)*?)/?\s*[>%]\}\}"
)
LIQUID = re.compile(r"\{%-?\s*(?P<name>[\w-]+)(?P<arguments>(?:(?!%\}).)*?)-?%\}")
LIQUID_CODE = re.compile(r"[ ]*\{%-?[ ]*(?:highlight|codeblock)\b[ ]*(?P<language>\w*)[^%]*%\}[ ]*$")
LIQUID_CODE_END = re.compile(r"[ ]*\{%-?[ ]*end(?:highlight|codeblock)[ ]*-?%\}[ ]*$")
MDBOOK = re.compile(r"(?<!\\)\{\{#\w+[^{}]*\}\}")
MDX_COMMENT = re.compile(r"\{/\*.*?\*/\}")
QUOTED = re.compile(r"(?:(?P<key>[\w-]+)\s*=\s*)?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')")
ROLE = re.compile(r"\{(?P<role>[a-z][\w:-]*)\}$")
"""What stands before a code span that is a role's text."""
ROLES_OF_CODE = frozenset({"code", "math", "kbd", "samp", "command", "file", "program", "option", "literal", "envvar"})
ROLE_TARGET = re.compile(r"(?P<text>.+?)\s*<(?P<target>[^<>]+)>")
ATTRIBUTES_BEHIND = re.compile(r"(?<=[)\]`])\{:?[ ]*(?:[.#:][\w-]+|[\w-]+=(?:\"[^\"]*\"|[\w%./-]+))(?:[ ]+[^{}]*)?\}")
ICON = re.compile(
    r"\[\s*:(?:octicons|material|fontawesome|simple|lucide)-[a-z0-9-]+:\s*\](?:\[[^\[\]]*\]|\([^()\s]*\))(?:\{[^{}]*\})?"
    r"|:(?:octicons|material|fontawesome|simple|lucide)-[a-z0-9-]+:(?:\{[^{}]*\})?[ ]?"
)
"""A picture of Material for MkDocs, with the link that shows nothing else."""
HIGHLIGHT = re.compile(r"(?<![=\w])==(?=[^\s=])(?P<words>[^=\n]{1,500}?)(?<=\S)==(?![=\w])")
RAISED = re.compile(r"(?<=[\w)])(?P<mark>[~^])(?P<words>[\w+-]{1,12})(?P=mark)(?![~^])(?:(?<=~)|(?!\w))")
"""`H~2~O` and `m^2^` of Pandoc and MkDocs."""
DELIMITER_ROW = re.compile(r"[ ]*\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|?[ ]*")
"""Below the header of a table."""
BAR = re.compile(r"(?<!\\)\|")
LANGUAGE_OF_SPAN = re.compile(r"(?<=`)(?P<space>[ ]?)(?P<mark>#!\w+[ ]+)(?=\S)")
"""How a code span is to be coloured."""
FORMULA = re.compile(r"\$|\\[a-z]")
"""What says that braces may be those of a formula."""
ATTRIBUTES_AT_END = re.compile(r"(?<=\S)[ ]+\{:?[ ]*\.[A-Za-z][\w-]*(?:[ ]+[.#\w=\"-]+)*[ ]*\}[ ]*$")
KEYS = re.compile(r"(?<![\w+])\+\+(?P<keys>[A-Za-z0-9\"][\w\".]*(?:\+[\w\".]+)*)\+\+(?![\w+])")
