"""Macros that a manual page defines for itself, and that pandoc cannot follow: their calls are written as what they say.

pandoc expands a macro, and passes over what it says where two strings are equal: `.QW word` of Tcl's pages lost its word, `.AP type name`
the argument that the text below it is about. It also refuses a page for a macro whose braces do not match, which troff minds only when
it is called.
"""

from __future__ import annotations

import re

__all__ = ["without_conditional_macros"]

DEFINITION = re.compile(
    r"^[.'][ \t]*(?:de|am)i?1?[ \t]+(\S+).*\n((?:(?!\.\.[ \t]*$).*\n)*)\.\.[ \t]*$\n?", re.MULTILINE
)
COMPARISON = r"""!?(?:"[^"]*"[^"]*"|'[^']*'[^']*')"""
CONDITION = re.compile(rf"[.'][ \t]*(?:el|(?:if|ie)[ \t]+(?:{COMPARISON}|\S+))[ \t]*(?:\\\{{\\?)?[ \t]*")
COMPARES = re.compile(rf"[.'][ \t]*(?:if|ie)[ \t]+{COMPARISON}")
"""Whether two strings are equal: the condition that pandoc does not follow."""
SAYS = re.compile(r"(?![.']).*\\\\\$[1-9*@]")
"""A line of text with an argument."""
TERM = re.compile(r"^[.'].*\.?TP\b", re.MULTILINE)
ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|([^\s"]\S*)')
CLOSING = re.compile(r"[.,;:!?)\]'\"]+")


def without_conditional_macros(page: str) -> str:
    """Return a page without the definitions that pandoc cannot follow, each call of one as the words of its arguments.

    Which words a condition would choose, and what a macro puts between them, is lost.
    """
    terms: dict[str, bool] = {}

    def left(definition: re.Match[str]) -> str:
        name, body = definition[1], definition[2]
        if _says_under_condition(body):
            terms[name] = bool(TERM.search(body))
            return ""
        return definition[0] if body.count(r"\{") == body.count(r"\}") else ""

    page = DEFINITION.sub(left, page)
    if not terms:
        return page
    names = "|".join(map(re.escape, terms))
    return re.sub(
        rf"^[.'][ \t]*({names})(?:[ \t]+(.*))?$",
        lambda call: _said(call[2] or "", term=terms[call[1]]),
        page,
        flags=re.MULTILINE,
    )


def _says_under_condition(body: str) -> bool:
    """Whether a macro compares strings, and says its arguments under conditions alone."""
    depth, says = 0, False
    for line in body.splitlines():
        condition = CONDITION.match(line)
        if SAYS.match(line[condition.end() :] if condition else line):
            if not condition and not depth:
                return False
            says = True
        depth += line.count(r"\{") - line.count(r"\}")
    return says and any(map(COMPARES.match, body.splitlines()))


def _said(arguments: str, *, term: bool) -> str:
    """Write the arguments of a call as a line, or as the term of what stands below."""
    line = ""
    for quoted, plain in ARGUMENT.findall(arguments):
        word = quoted.replace('""', '"') or plain
        line += word if not line or CLOSING.fullmatch(word) else f" {word}"
    line = rf"\&{line}" if line[:1] in (".", "'") else line
    return f".TP\n{line}" if term else line
