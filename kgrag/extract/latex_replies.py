"""Replies that are LaTeX: its tables as rows with bars, its arrows with the relation on them as arrows, names without their commands."""

from __future__ import annotations

import re

__all__ = ["without_latex"]

IS_LATEX = re.compile(r"\\begin\{(?:tabular|longtable|array|tabularx|itemize|enumerate)|\\x(?:right|left)arrow\b")
TABLE = re.compile(r"\\begin\{(tabular\w?|longtable|array)\*?\}(.*?)(?:\\end\{\1\*?\}|\Z)", re.DOTALL)
COLUMNS = re.compile(r"\A(?:\s*(?:\[[^\]]*\]|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}))*")
RULE = re.compile(r"\\(?:hline|(?:top|mid|bottom)rule|cline\{[^}]*\}|endhead|endfirsthead)")
COMMAND = re.compile(r"\\(?:text\w*|emph|mathrm|mathbf|mathit|mbox|underline)\{([^{}]*)\}")
ARROW = re.compile(r"\\xrightarrow(?:\[[^\]]*\])?\{([^{}]*)\}")
MARK = re.compile(r"\\(?:begin|end)\{[^}]*\}(?:\{[^}]*\})?|\\item\b|(?<!\\)\$")
ESCAPED = re.compile(r"\\([&%$#_{}])")


def without_latex(text: str) -> str:
    """Write what of a text is LaTeX as a table or lines that are read; another text stays."""
    if not IS_LATEX.search(text):
        return text
    while (plain := COMMAND.sub(r"\1", text)) != text:
        text = plain
    text = TABLE.sub(lambda table: _rows(COLUMNS.sub("", table[2], count=1)), text)
    return ESCAPED.sub(r"\1", MARK.sub("", ARROW.sub(r" -[\1]-> ", text)))


def _rows(body: str) -> str:
    rows = [" ".join(row.split()) for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline", RULE.sub("", body))]
    return "\n" + "\n".join("| " + re.sub(r"(?<!\\)&", "|", row) + " |" for row in rows if row) + "\n"
