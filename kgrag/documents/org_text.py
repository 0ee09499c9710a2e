r"""Org texts made plain for pandoc, which leaves out in silence what their authors would not print, and takes each backslash for LaTeX.

It refuses a whole file for a backslash that begins nothing, takes minutes over a table with one, and leaves out the word after it
(`C:\Users`). Org has a character for each name that HTML 4 has (`\alpha`), and leaves other backslashes as they are: those of paths and of
shells.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint

__all__ = ["BACKSLASH", "plain_org"]

BACKSLASH = r"\bsol{}"
"""As Org names one."""
ALL_LEVELS = "#+OPTIONS: H:9"
"""Where a document does not say how deep its headings go, those from the fourth level on are items of a list for pandoc."""
HEADING_TAGS = re.compile(r"^(\*+[ ].*[ \t]):([\w@#%:]+):[ \t]*$")
PRINTING_TAGS = frozenset({"noexport", "export", "archive"})
"""A section so marked is not printed, or no other one is."""
BLOCK = re.compile(r"[ \t]*(?:#\+begin_(src|example|export|comment|latex|html)\b|\\begin\{([^}\n]+)\})", re.IGNORECASE)
KEPT_LINE = re.compile(r"[ \t]*(?::[ ]|#[ +])")
"""Of an example, a comment, a setting."""
PIECES = re.compile(
    r"""
      (?<![^\s\-("'{|>]) (?P<mark>[=~])(?=\S) [^\n]*?\S(?P=mark) (?![^\s\-.,:!?;'")}\\\[|<])
    | \[\[ [^]\n]* \]                                     # where a link leads
    | \\\( [^\n]*? \\\) | \\\[ [^\n]*? \\\] | \$\$ [^$\n]+ \$\$ | \$[^\s$](?:[^$\n]*[^\s$])?\$
    | \\\\(?=[ \t]*$)                                     # a new line
    | \\[A-Za-z]+ [\[{][^}\]\n]                           # a command of LaTeX
    | (?P<backslash>\\) (?:(?P<name>[A-Za-z]+\d*)(?:\{\})?)?
    """,
    re.VERBOSE,
)
"""What is left as it is in a line of text, and a backslash."""


def plain_org(text: str) -> str:
    """Write the characters that have names, and every other backslash by its name, but in code, formulas and commands of LaTeX.

    Tags that say what is printed are taken off: a document has all of its sections. They are headings on all levels.
    """
    lines, end = [], ""
    for line in text.split("\n"):
        if end:
            end = "" if line.strip().lower().startswith(end) else end
        elif block := BLOCK.match(line):
            end = f"#+end_{block[1]}".lower() if block[1] else f"\\end{{{block[2]}}}".lower()
            end = "" if end in line.lower() else end
        elif not KEPT_LINE.match(line):
            line = PIECES.sub(_written, HEADING_TAGS.sub(_with_other_tags, line))
        lines.append(line)
    # The last setting counts, but what stands in a block that never ends is none.
    return "\n".join([ALL_LEVELS, *lines] if end else [*lines, "", ALL_LEVELS, ""])


def _with_other_tags(heading: re.Match[str]) -> str:
    tags = [tag for tag in heading[2].split(":") if tag and tag.lower() not in PRINTING_TAGS]
    return f"{heading[1]}:{':'.join(tags)}:" if tags else heading[1].rstrip()


def _written(piece: re.Match[str]) -> str:
    if not piece["backslash"]:
        return piece[0]
    name = piece["name"] or ""
    return chr(name2codepoint[name]) if name in name2codepoint else BACKSLASH + name
