r"""Listings of LaTeX's packages and of a document's own environments, written as `verbatim`, which is what pandoc reads of them.

An environment that pandoc does not know it reads as text: lines of a listing become one, a `$` in it begins a formula that goes on to the
next one, wherever that is, and `#` or `&` may have the whole file refused. Captions of listings and of floats that are neither figure
nor table, and titles of boxes, it leaves out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Set

from kgrag.documents.latex_tables import after_option, argument

__all__ = ["with_plain_listings"]

PACKAGES = frozenset(
    [
        *("verbatim*", "Verbatim*", "BVerbatim", "BVerbatim*", "LVerbatim", "LVerbatim*", "SaveVerbatim"),
        *("tcblisting", "tcblisting*", "spverbatim", "boxedverbatim", "verbatimtab"),
    ]
)
"""Environments of packages that are listings, and that pandoc does not read as such."""
WITH_COMMANDS = frozenset({"alltt", "semiverbatim"})
"""Listings in which commands are commands, and nothing else is."""
READ = frozenset({"verbatim", "Verbatim", "lstlisting", "minted", "comment", "filecontents", "filecontents*"})
"""What pandoc reads as a listing, or passes over, whatever stands in it."""
NAMED_BY_FILE = re.compile(
    r"\\(?:(?:re)?newtcblisting|(?:New|Renew|Provide|Declare)TCBListing|(?:Rec|C)ustomVerbatimEnvironment|DefineVerbatimEnvironment"
    r"|lstnewenvironment|newverbatim)\*?\s*(?:\[[^\]]*\]\s*)?\{([^{}\\]+)\}"
)
MINTED_BY_FILE = re.compile(r"\\newminted\*?\s*(?:\[([^\]]+)\]\s*)?\{([^{}\\]+)\}")
OWN_ENVIRONMENT = re.compile(
    r"\\(?:(?:re)?newenvironment|(?:New|Renew|Provide|Declare)DocumentEnvironment)\*?\s*\{([^{}\\]+)\}"
    r"((?:(?!\\(?:re)?newenvironment|\\\w+DocumentEnvironment|\n[ \t]*\n).){0,500})",
    re.DOTALL,
)
BEGINS_VERBATIM = re.compile(r"\\(?:(?:B|L)?[Vv]erbatim(?:Environment)?|lstlisting|alltt)\b")
OTHER_OWN = re.compile(
    r"\\(?:newtheorem|newtcolorbox|newfloat|newmdenv|newmdtheoremenv|DeclareTColorBox|NewTColorBox)\*?\s*\{([^{}\\]+)\}"
)
STANDARD = re.compile(
    r"document|abstract|\w*item\w*|\w*enum\w*|description|\w*list|quot(?:e|ation)|verse|center|flush\w+|\w*figure|\w*table|minipage"
    r"|\w*tab(?:ular|bing|bular|u|ularx|ulary)?|tblr|\w*array\w*|\w*matrix|\w*equation|x*align\w*|flalign|gather\w*|multline\w*|\w*math\w*"
    r"|\w*eqn\w*|\w*cases|split|empheq|\w*picture|tikz\w*|\w*axis|\w*graph|forest|circuitikz|algorithm\w*|\w*bibliography|\w*tree|\w*diagram"
)
"""Environments, starred or not, that are no listings whatever stands in them."""
FORMULA = re.compile(r"(?<!\\)(\$\$?)(?:\\.|[^$\\\n]){1,200}?\1|\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL)
SAYS_LISTING = re.compile(r"code|verb|listing|shell|console|terminal|source|snippet", re.IGNORECASE)
"""In the name of an environment."""
COMMAND = re.compile(r"\\[A-Za-z]{2,}")
NOT_IN_TEXT = re.compile(r"(?<!\\)[_^#$]")
"""What LaTeX refuses where it stands in a text by itself."""
MARK = re.compile(r"(?P<comment>(?<!\\)%.*)|\\begin\{(?P<name>[^{}\\\n]+)\}")
PART = re.compile(r"(?P<comment>(?<!\\)%.*)|\\(?P<what>begin|end)\{(?P<name>[^{}\\\n]+)\}|\\caption\*?(?=\s*[\[{])")
FLOATS = re.compile(r"(?:wrap|sideways|sub|SC)?(?:figure|table)\*?|\w*tab\w*\*?")
"""Environments whose captions pandoc reads."""
BOXES = frozenset({"tcolorbox", "mdframed"})
"""Environments whose option is the title of a text."""
CAPTION = re.compile(r"\b(?:caption|(?:frame)?title)\s*=\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([^,{}\]]+))")
WORDS = re.compile(r"[^\W\d_]+[ \t]+[^\W_]")
INNERMOST = re.compile(
    r"\\(?!text(?:backslash|ascii|less|greater|bar)|l?dots)[A-Za-z]+\*?(?:\[[^\]\n]*\])?\{([^{}]*)\}"
)
SIGN = re.compile(r"\\([A-Za-z]+)[ \t]*(?:\{\})?|\\([^A-Za-z\n])|[{}]")
SIGNS = {
    **{"textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textless": "<", "textgreater": ">"},
    **{"ldots": "...", "dots": "...", "textbar": "|", "textunderscore": "_", "lbrace": "{", "rbrace": "}"},
}
DEEPEST = 8
"""Commands within commands, in a listing."""
TARGETS = ("verbatim", "Verbatim", "lstlisting")


def with_plain_listings(text: str) -> str:
    r"""Return a text with its listings as `verbatim`, and the captions that pandoc would leave out as paragraphs before them.

    An environment that is defined in another file is a listing where it has no command, and is called as listings are, or has what
    LaTeX takes in no text: `_`, `^`, `#`, a `$` by itself.
    """
    names = (PACKAGES | _named(text) | WITH_COMMANDS) - READ
    names |= _told_by_content(text, names)
    parts: list[str] = []
    done = 0
    for start, inner, end, name in _environments(text, names | READ):
        after = end + len(f"\\end{{{name}}}")
        content, options, caption = _without_options(text[inner:end])
        if name in WITH_COMMANDS or "commandchars" in options:
            content = _without_commands(content)
        target = next((one for one in TARGETS if f"\\end{{{one}}}" not in content), None)
        parts.append(text[done:start])
        if caption:
            parts.append(f"\n\n{caption}\n\n")
        if target and (name in names or "commandchars" in options):
            parts.append(f"\\begin{{{target}}}\n{content}\\end{{{target}}}")
        else:
            parts.append(text[start:after])
        done = after
    return _with_captions("".join([*parts, text[done:]]))


def _named(text: str) -> frozenset[str]:
    """Return the listings that a file defines."""
    found = {one[1] for one in NAMED_BY_FILE.finditer(text)}
    found |= {one[1] or f"{one[2]}code" for one in MINTED_BY_FILE.finditer(text)}
    found |= {one[1] for one in OWN_ENVIRONMENT.finditer(text) if BEGINS_VERBATIM.search(one[2])}
    return frozenset(found)


def _told_by_content(text: str, known: frozenset[str]) -> frozenset[str]:
    """Return the environments that are neither known nor defined in the file and whose content can be no text."""
    defined = {one[1] for pattern in (OWN_ENVIRONMENT, OTHER_OWN) for one in pattern.finditer(text)}
    names = {one["name"] for one in MARK.finditer(text) if one["name"]} - known - READ - defined
    names = {name for name in names if not STANDARD.fullmatch(name.removesuffix("*"))}
    says: dict[str, int] = defaultdict(int)
    for _, inner, end, name in _environments(text, known | READ, within=names) if names else ():
        if name in names:
            content = FORMULA.sub("", text[inner:end])
            is_none = COMMAND.search(content)
            says[name] += -1 if is_none else bool(SAYS_LISTING.search(name) or NOT_IN_TEXT.search(content))
    return frozenset(name for name, count in says.items() if count > 0)


def _environments(
    text: str, names: frozenset[str], *, within: Set[str] = frozenset()
) -> Iterator[tuple[int, int, int, str]]:
    """Yield the environments of some names, where each begins, its content begins and ends, and its name: the outermost of `names`, and
    those of `within` that stand in none of these.
    """
    at = 0
    unclosed: set[str] = set()
    while (found := MARK.search(text, at)) is not None:
        at, name = found.end(), found["name"]
        if (name not in names and name not in within) or name in unclosed:
            continue
        end = text.find(f"\\end{{{name}}}", at)
        if end < 0:
            unclosed.add(name)
            continue
        yield found.start(), at, end, name
        if name in names:
            at = end


def _without_options(content: str) -> tuple[str, str, str]:
    """Return the lines of a listing, its options and its caption: what stands behind `\\begin` on its line are options."""
    at, caption, said = 0, "", ""
    while content[at : at + 1] in ("[", "{"):
        before = at
        if content[at] == "[":
            at = after_option(content, at)
            options = content[before:at]
        else:
            inner, at = argument(content, at)
            options = inner or ""
            if "=" not in options and WORDS.search(options):
                caption = caption or options
        if at == before:
            break
        said += options
        if found := CAPTION.search(options):
            caption = caption or found[1] or found[2]
    first, line_end, rest = content[at:].partition("\n")
    if first.strip():
        return content, "", ""
    return rest if line_end else first, said, caption.strip()


def _without_commands(content: str) -> str:
    """Return the lines of a listing in which commands are commands, with what these say."""
    for _ in range(DEEPEST):
        content, count = INNERMOST.subn(lambda found: found[1], content)
        if not count:
            break
    return SIGN.sub(lambda sign: SIGNS.get(sign[1] or "", sign[2] or ""), content)


def _with_captions(text: str) -> str:
    """Write the captions of floats that pandoc does not know, and the titles of boxes, as paragraphs."""
    parts: list[str] = []
    within: list[str] = []
    done = at = 0
    while (found := PART.search(text, at)) is not None:
        at = found.end()
        if found["comment"]:
            continue
        if found["what"] == "begin":
            if found["name"] in READ:
                end = text.find(f"\\end{{{found['name']}}}", at)
                at = max(at, end)
            within.append(found["name"])
            if found["name"] in BOXES and text[at : at + 1] == "[":
                after = after_option(text, at)
                if title := CAPTION.search(text[at:after]):
                    said = (title[1] or title[2]).strip()
                    parts += [text[done : found.start()], f"\n\n{said}\n\n", text[found.start() : at]]
                    done = at = after
        elif found["what"] == "end":
            if found["name"] in within:
                del within[len(within) - 1 - within[::-1].index(found["name"]) :]
        elif not any(map(FLOATS.fullmatch, within)) and within[-1:] not in ([], ["document"]):
            caption, after = argument(text, after_option(text, at))
            if caption:
                parts += [text[done : found.start()], f"\n\n{caption}\n\n"]
                done = at = after
    return "".join([*parts, text[done:]])
