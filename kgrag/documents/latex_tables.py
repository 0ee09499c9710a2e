r"""Tables of LaTeX's packages, written as `tabular`, which is what pandoc reads of them.

`longtable` says its header for the first page and again for those that follow, and a foot for each: in a text the header stands once.
`tabulary`, `xltabular`, `tabu`, `tblr`, `supertabular` and their like name widths and kinds of columns that pandoc does not know.
"""

from __future__ import annotations

import re

__all__ = ["after_option", "argument", "with_plain_tables"]

WITH_WIDTH = frozenset({"tabulary", "xltabular"})
"""Environments whose first argument is a width."""
PAGED = frozenset({"longtable", "xltabular", "longtabu"})
"""Environments that say what repeats on each page."""
OTHERS = (
    *("tabulary", "xltabular", "longtabu", "tabu", "longtblr", "talltblr", "tblr", "supertabular", "xtabular"),
    *("mpsupertabular", "mpxtabular"),
)
"""Environments that pandoc does not read."""
LISTINGS = ("verbatim*", "verbatim", "Verbatim", "lstlisting", "minted", "alltt", "comment")
OPENING = re.compile(
    rf"\\begin\{{(?P<listing>{'|'.join(map(re.escape, LISTINGS))})\}}|\\begin\{{(?P<table>longtable|{'|'.join(OTHERS)})(?P<star>\*?)\}}"
    r"|\\table(?P<part>firsthead|head|tail|lasttail|caption)(?=[\s{\[])"
)
TO_WIDTH = re.compile(r"\s*(?:to|spread)\s*(?:[\d.]*\s*\\\w+|[\d.]+\s*\w\w)")
"""How wide a `tabu` is."""
PAGE_PART = re.compile(r"\\end(firsthead|head|foot|lastfoot)\b")
ROW_END = re.compile(r"(?<!\\)\\\\|\\tabularnewline\b")
CELL_END = re.compile(r"(?<!\\)&")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
LONGEST_ARGUMENT = 2_000
"""Characters; so that braces which never close take no time."""


def with_plain_tables(text: str) -> str:
    """Write the tables of a text, listings apart, as `tabular`; one that is not well formed stays as it is."""
    parts: list[str] = []
    done = 0
    unclosed: set[str] = set()
    header: dict[str, str] = {}
    """What was said of the next `supertabular`: it stands before it."""
    while (found := OPENING.search(text, done)) is not None:
        parts.append(text[done : found.start()])
        done = found.end()
        if listing := found["listing"]:
            end = _end(text, f"\\end{{{listing}}}", done, unclosed)
            parts.append(text[found.start() : end or done])
            done = end or done
        elif part := found["part"]:
            content, after = argument(text, after_option(text, done))
            if content is None:
                parts.append(found[0])
            else:
                header[part], done = content, after
        else:
            name = found["table"]
            closing = f"\\end{{{name}{found['star']}}}"
            end = _end(text, closing, done, unclosed)
            table = _plain(name, text[done:end], header) if end else None
            parts.append(table or found[0])
            if table and end:
                done = end + len(closing)
                header = {}
    return "".join([*parts, text[done:]])


def _end(text: str, closing: str, at: int, unclosed: set[str]) -> int | None:
    """Return where an environment ends. One that is not closed from here is not closed further on, and looked for once."""
    end = -1 if closing in unclosed else text.find(closing, at)
    if end < 0:
        unclosed.add(closing)
        return None
    return end


def _plain(name: str, content: str, header: dict[str, str]) -> str | None:
    """Return a table as `tabular`, or `longtable` where it was one; None where it has no columns."""
    at = 0
    if name in ("tabu", "longtabu") and (width := TO_WIDTH.match(content)):
        at = width.end()
    for _ in range(1 + (name in WITH_WIDTH)):
        columns, at = argument(content, after_option(content, at))
        if columns is None:
            return None
    body = _once(content[at:]) if name in PAGED else content[at:]
    if "caption" in header:
        body = f"\\caption{{{header['caption']}}}\\\\ {body}"
    if head := header.get("firsthead", header.get("head")):
        body = f"{head}\n{body}"
    if name == "longtable":
        return f"\\begin{{longtable}}{{{columns}}}{body}\\end{{longtable}}"
    cells = max(1 + len(CELL_END.findall(row)) for row in ROW_END.split(body))
    kind = "longtable" if r"\caption" in body else "tabular"
    return f"\\begin{{{kind}}}{{{'l' * cells}}}{body}\\end{{{kind}}}"


def _once(body: str) -> str:
    """Leave out what a table says on each page but the first."""
    said: dict[str, str] = {}
    at = 0
    for found in PAGE_PART.finditer(body):
        said[found[1]] = body[at : found.start()]
        at = found.end()
    return said.get("firsthead", said.get("head", "")) + body[at:] + said.get("lastfoot", "")


def after_option(text: str, at: int) -> int:
    """Return where an option in square brackets, which may be missing, ends."""
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] != "[":
        return at
    end = text.find("]", at, at + LONGEST_ARGUMENT)
    return at if end < 0 else end + 1


def argument(text: str, at: int) -> tuple[str | None, int]:
    """Return what stands in the braces that open at a place, and where they end; None where none do, or they do not close."""
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] != "{":
        return None, at
    depth = 0
    for found in BRACE.finditer(text, at, at + LONGEST_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[at + 1 : found.start()], found.end()
    return None, at
