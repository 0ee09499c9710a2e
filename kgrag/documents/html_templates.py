"""Templates of pages (Jinja, Django, Liquid, Twig; Handlebars, Mustache): what is in them for a program is left out, the words stay.

They lie beside manuals: `_templates/layout.html` of Sphinx, `overrides/main.html` of MkDocs, `_includes` of Jekyll.
"""

from __future__ import annotations

import re

from kgrag.documents.blocks import RemovedLine

__all__ = ["without_page_code", "without_template_code"]

RULE = "template"
LISTING = re.compile(r"<(pre|code|tt|kbd|samp|textarea|script|style|xmp)\b", re.IGNORECASE)
"""Elements whose text is shown as it is written, or to nobody."""
MARK = re.compile(
    r"\{%[-+~]?\s*(?P<name>\w++)(?P<rest>(?:[^%{]|%(?!\})|\{(?!%))*+)%\}"
    r"|\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}\}?"
    r"|\{#(?:[^#{]|#(?!\})|\{(?!#))*+#\}"
)
"""What is for the program; each is looked for no further than where the next one of its kind begins."""
BEGINS_TEXT = re.compile(r"\s{0,99}^(?:\{\{[^{}\n]*\}\}|\{%[^%\n]*%\}|\{#[^#\n]*#\})[ \t]*$", re.MULTILINE)
"""A text whose first line is code alone."""
CODE_LINE = re.compile(r"(?=[^\0]*\0)(?P<margin>\s*)(?P<directive>\.\. [\w:-]+::)?[\s\0~.*]*")
"""A line with nothing but code (a NUL for each), or with that for what a directive is about."""
SECTION = re.compile(r"\{\{~?([#^/])\s*(\w+)")
"""What begins or ends a part in Handlebars and Mustache."""
TAKES_A_FILE = re.compile(r"(?:extends|include|import|from)\b")


def without_template_code(page: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Return a page without the code of a template, and that; any other page as it is.

    A template takes another file in, or begins a part and ends it, outside of listings; a page that shows such marks in its listings is
    about templates.
    """
    if "{%" not in page and "{{" not in page:
        return page, ()
    parts = _parts(page)
    marks = [mark for part, is_listing in parts if not is_listing for mark in MARK.finditer(part)]
    if not _is_template(marks) or any(is_listing and _shows_marks(part) for part, is_listing in parts):
        return page, ()
    removed = tuple(RemovedLine(RULE, " ".join(mark[0].split())) for mark in marks)
    return "".join(part if is_listing else MARK.sub("", part) for part, is_listing in parts), removed


def without_page_code(text: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Return a text without the code of a template that it begins with (Sphinx's `_templates/autosummary/class.rst`), and that; any
    other one as it is."""
    if not BEGINS_TEXT.match(text):
        return text, ()
    removed = tuple(RemovedLine(RULE, " ".join(mark[0].split())) for mark in MARK.finditer(text))
    lines = []
    for line in MARK.sub("\0", text).split("\n"):
        code = CODE_LINE.fullmatch(line)
        if code is None:
            lines.append(line.replace("\0", ""))
        elif code["directive"]:  # a comment, with its options
            lines.append(f"{code['margin']}.. {RULE}")
    return "\n".join(lines), removed


def _parts(page: str) -> list[tuple[str, bool]]:
    """Divide a page into listings and what is between them."""
    parts: list[tuple[str, bool]] = []
    unclosed: set[str] = set()
    done = at = 0
    while found := LISTING.search(page, at):
        name = found[1].lower()
        at = found.end()
        end = None if name in unclosed else re.compile(rf"</{name}\s*>", re.IGNORECASE).search(page, at)
        if end is None:
            unclosed.add(name)
            continue
        parts += [(page[done : found.start()], False), (page[found.start() : end.end()], True)]
        done = at = end.end()
    return [*parts, (page[done:], False)]


def _is_template(marks: list[re.Match[str]]) -> bool:
    names = {mark["name"] for mark in marks if mark["name"]}
    sections = {one.groups() for mark in marks if (one := SECTION.match(mark[0]))}
    return (
        any(f"end{name}" in names for name in names)
        or any(
            mark["name"] and TAKES_A_FILE.match(mark["name"]) and re.search(r"[\w\"']", mark["rest"]) for mark in marks
        )
        or any(("/", name) in sections for begins, name in sections if begins != "/")
    )


def _shows_marks(listing: str) -> bool:
    """Whether a listing, and no program or style of the page's own, has marks of templates."""
    return not re.match(r"<(?:script|style|textarea)", listing, re.IGNORECASE) and MARK.search(listing) is not None
