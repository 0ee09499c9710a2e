"""Macros that a manual page defines for itself, and that pandoc cannot follow: their calls are written as what they say.

pandoc expands a macro, and passes over what it says where two strings are equal: `.QW word` of Tcl's pages lost its word, `.AP type name`
the argument that the text below it is about. It also refuses a page for a macro whose braces do not match, which troff minds only when
it is called.
"""

from __future__ import annotations

import re
from textwrap import dedent

from kgrag.documents.inline_text import CJK

__all__ = [
    "as_plain_page",
    "with_headings",
    "with_includes",
    "with_items",
    "with_joined_lines",
    "with_marked_headings",
    "with_names",
    "with_plain_line",
    "with_whole_calls",
    "without_conditional_macros",
    "without_remarks_on_definitions",
    "without_renamed_macros",
    "without_stray_braces",
]

ESCAPED = re.compile(r"\\(?:[\"#].*|.)")
"""A character with its backslash, or a remark."""
GOES_ON = re.compile(r"(?:(?!\\[\"#])(?:[^\\]|\\.))*(?<!\\\{)\\")
"""A line whose end is escaped, so that the next one is a part of it; remarks and conditions that open a block apart."""
OPEN_QUOTE = re.compile(r"""[.'][ \t]*[A-Z]{1,2}(?:[ \t]+(?:"(?:[^"]|"")*+"\S*|[^\s"]\S*))*+[ \t]+"(?:[^"]|"")*+""")
"""A call whose last argument is quoted up to the end of the line, where troff ends it and pandoc takes the words together."""
LETTER_BULLET = re.compile(r"^[.'][ \t]*IP[ \t]+(?:o|\"o\")(?=[ \t]|$)", re.MULTILINE)
DRAWN_ITEM = re.compile(
    r"^\.ie n \\\{\\\n\\h'-0\d' *(?P<mark>\\\(bu|\d+\.)\\h'\+0\d'\\c\n\.\\\}\n"
    r"\.el \\\{\\?\n(?:\.\\\" )?\. *sp \\?-1\n(?:\.\\\" )?\. *IP .*\n\.\\\}\n",
    re.MULTILINE,
)
"""An item of a list as DocBook and Asciidoctor write it: its mark is drawn to the left on a terminal, and only printed it is an item."""
TERM_OF_NOTHING = re.compile(
    r"^[.'][ \t]*TP\b.*\n(?P<line>(?:[.'][ \t]*(?:B|I|BI|BR|IB|IR|RB|RI|SB|SM)[ \t]|[^.'\n]).*\n)(?=[.'][ \t]*RE\b)",
    re.MULTILINE,
)
"""A term that nothing is said of before its block ends: multipath.conf sets every default so."""
NUMBERED_TERM = re.compile(
    r"^[.'][ \t]*IP[ \t]+\"(?P<term>(?:\\f.|\\&)*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})[.)][ \t](?:[^\"\n]|\"\")+)\".*\n"
    r"(?P<index>(?:\.IX[ \t].*\n)*)(?P<nothing>(?=[.'][ \t]*(?:IP|SH|SS|PP|TP|RE)\b|\Z))?",
    re.MULTILINE,
)
"""An item whose words stand behind its number, as pod2man writes them: pandoc keeps the number alone."""
TYPED_DEFINITION = re.compile(
    r"^(?P<begins>[.'][ \t]*(?:PP|P|LP)[ \t]*\n)(?P<term>(?:\\&)?(?:\\f(?:\[\w*\]|\(..|.))*\\?-.*\n)(?P<said>(?:[ \t]+\S.*\n)+)"
    r"(?=[.']|\n|\Z)",
    re.MULTILINE,
)
"""An option, and lines that begin with blanks below it: troff breaks a line before them, pandoc goes on."""
POD_HEADING = re.compile(r"^(?P<said>(?![.'])(?P<italic>\\fI)?.*\n)(?=\.IX[ \t]+Subsection[ \t]+\")", re.MULTILINE)
"""A heading of the third level (in italics) or the fourth, which pod2man writes as a paragraph with an entry of the index."""
HEADING_MARK = "\ue000"
"""Before the words of such a heading, as often as its level is deep."""
MARKED_HEADING = re.compile(rf"<p>(?P<mark>{HEADING_MARK}+)(?P<said>(?:(?!</?p>).)*)</p>", re.DOTALL)
REMARK_ON_DEFINITION = re.compile(
    r"^([.'][ \t]*(?:de|am)i?1?[ \t]+\S+(?:[ \t]+[^\s\\]\S*)?)[ \t]+\\[\"#].*$", re.MULTILINE
)
"""`.de Vb \\" Begin verbatim text`: pandoc takes the remark for a part of the macro, which then does nothing."""
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
ENGLISH_NAME = re.compile(r"^\.Sh +\"?NAME\b", re.MULTILINE)
FIRST_NAME = re.compile(r"^\.Nm +(\w\S*)", re.MULTILINE)
BARE_NAME = re.compile(r"^\.Nm(?=[ \t]*$|[ \t]+[^\w\s\\]+[ \t]*$)", re.MULTILINE)
PURPOSE = re.compile(r"^\.Nd +", re.MULTILINE)
SYNOPSIS = re.compile(r"^\.Sh +\"?SYNOPSIS\b.*\n(?:(?!\.Sh\b).*\n)*", re.MULTILINE)
INCLUDE = re.compile(r"^\.In +(\S+)", re.MULTILINE)
REFUSED_AT = re.compile(r"\(line (\d+), column \d+\)")
MDOC_MACRO = re.compile(r"[A-Z][a-z]")
CALL = re.compile(r"[.'][ \t]*([^\s\\]*)")
TITLE = re.compile(r"^\.(?:TH|Dt)[ \t]+(\w\S*)", re.MULTILINE)
ESCAPE = re.compile(r"\\(?:[fFs](?:\(..|\[[^\]]*\]|[-+]?.)|[c&|^%:/,{}])")
"""Fonts, sizes, and marks that say nothing."""
PLAIN = r"\&"
"""What a line of words begins with."""
OTHER_ESCAPE = re.compile(r"\\(?!e)")
HEADING_MACROS = {**dict.fromkeys(("SH", "Sh"), "SH"), **dict.fromkeys(("SS", "Ss"), "SS")}
PLAIN_MACROS = {
    **dict.fromkeys(("PP", "P", "LP", "Pp", "Lp", "sp"), ".PP"),
    **dict.fromkeys(("nf", "EX", "Bd", "TS"), ".nf"),
    **dict.fromkeys(("fi", "EE", "Ed", "TE"), ".fi"),
}
ITEM_MACROS = frozenset({"It", "IP", "TP", "TQ", "HP"})
_OF_LAYOUT = "TH Dd Dt Os Bl El Bk Ek Bf Ef RS RE PD ad na hy nh in ti ft ne so br ds nr if ie el de ta tr ll pl bp Tg Sm Db Fo Fc Rs Re"
SAYS_NOTHING = frozenset(["", *_OF_LAYOUT.split()])
UNFILLED = re.compile(r"[.'][ \t]*(?:nf|EX|TS|Bd)\b")
FILLED = re.compile(r"[.'][ \t]*(?:fi|EE|TE|Ed)\b")
TAKES_A_LINE = re.compile(r"[.'][ \t]*(?:T[PQ]\b|(?:S[HSMB]|[BI])[ \t]*$)")
"""What the next line is the term, heading or word of."""
ENDS_UNSPACED = re.compile(rf".*{CJK.pattern}$")
CLOSING = re.compile(r"[.,;:!?)\]'\"]+")


RENAMED = re.compile(r"^[.'][ \t]*rn[ \t]+(?:TP|IP|HP|SH|SS|PP|LP|P)[ \t]+\S{1,2}[ \t]*\n", re.MULTILINE)
"""A macro of man that a page keeps under another name, and writes anew to call that one: between breaks of pages, say."""
OF_MAN = frozenset({"TP", "IP", "HP", "SH", "SS"})
OF_MAN_WITHOUT_WORDS = frozenset({"PP", "LP", "P"})


def without_renamed_macros(page: str) -> str:
    """Return a page in which the macros of man are those of man, whatever it defines them as (old stylesheets of DocBook do)."""

    def left(definition: re.Match[str]) -> str:
        name, body = definition[1], definition[2]
        return "" if name in OF_MAN or (name in OF_MAN_WITHOUT_WORDS and r"\$" not in body) else definition[0]

    return RENAMED.sub("", DEFINITION.sub(left, page))


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


def with_whole_calls(page: str) -> str:
    """Return a page in which a call of a macro stands on one line with both of its quotes: pandoc takes other quotes for text."""
    parts: list[str] = []
    goes_on = False
    for line in page.split("\n"):
        goes_on = (goes_on or line.startswith((".", "'"))) and GOES_ON.fullmatch(line) is not None
        parts += [line[:-1]] if goes_on else [line, "\n"]
    lines = "".join(parts).removesuffix("\n").split("\n")
    return "\n".join(f'{line}"' if OPEN_QUOTE.fullmatch(line) else line for line in lines)


def with_joined_lines(page: str) -> str:
    """Return a page in which lines of Chinese or Japanese text that go on are one: pandoc puts a space between lines."""
    if not CJK.search(page):
        return page
    lines: list[str] = []
    filled, joins = True, False
    for line in page.split("\n"):
        filled = (filled or bool(FILLED.match(line))) and not UNFILLED.match(line)
        if joins and filled and CJK.match(line):
            lines[-1] += line
        else:
            joins = not line.startswith((".", "'")) and not (lines and TAKES_A_LINE.match(lines[-1]))
            lines.append(line)
        joins = joins and filled and bool(ENDS_UNSPACED.match(line))
    return "\n".join(lines)


def with_names(page: str) -> str:
    """Return a page of mdoc with its name wherever it stands for itself, and its purpose as text.

    pandoc knows both from the section NAME alone, and passes over them in silence where that is called otherwise (`BEZEICHNUNG`).
    """
    name = FIRST_NAME.search(page)
    if name is None or ENGLISH_NAME.search(page):
        return page
    return PURPOSE.sub(r"\\(em ", BARE_NAME.sub(rf".Nm {name[1]}", page))


def with_includes(page: str) -> str:
    """Return a page of mdoc whose synopsis says `#include` of its headers, as it is shown: pandoc gives their names alone."""
    return SYNOPSIS.sub(lambda synopsis: INCLUDE.sub(r".Fd #include <\1>", synopsis[0]), page)


def with_plain_line(page: str, refusal: str) -> str:
    """Return a page with the line that pandoc refused as its words alone: `.Xr who ,` is `who,`. As it was where there are none to take."""
    place = REFUSED_AT.search(refusal)
    if not place:
        return page
    lines = page.split("\n")
    number = int(place[1]) - 1
    if "unexpected Eol" in refusal:  # of a macro further up
        number = next((n for n in reversed(range(min(number, len(lines)))) if lines[n].startswith((".", "'"))), -1)
    if not 0 <= number < len(lines):
        return page
    line = lines[number]
    if line.startswith((".", "'")):
        lines[number] = _words(line)
    else:  # one that was made plain before stays
        lines[number] = PLAIN + OTHER_ESCAPE.sub(r"\\e", line.removeprefix(PLAIN))
    return "\n".join(lines)


def as_plain_page(page: str) -> str:
    """Return a page as man, with nothing of its macros but headings, paragraphs and listings, and all of its words."""
    written = []
    for line in DEFINITION.sub("", page).splitlines():
        macro = CALL.match(line)
        if macro is None:
            written.append(ESCAPE.sub("", line))
        elif macro[1] in PLAIN_MACROS or macro[1] in HEADING_MACROS:
            words = _words(line).removeprefix(PLAIN)
            written.append(PLAIN_MACROS.get(macro[1]) or f".{HEADING_MACROS[macro[1]]} {words}")
        elif macro[1] in ITEM_MACROS:
            written += [".PP", _words(line).removeprefix(".It").strip()]
        elif macro[1] == "Nd":
            written.append(rf"\(em {_words(line).removeprefix(PLAIN)}")
        elif macro[1] not in SAYS_NOTHING:
            written.append(ESCAPE.sub("", _words(line)))
    title = TITLE.search(page)
    return f".TH {title[1] if title else 'X'} 1\n" + "\n".join(written) + "\n"


def _words(line: str) -> str:
    """Write a line of mdoc without its macros, but for that of an item."""
    written = ""
    for word in line[1:].split():
        if word == "Fl":
            written += " -"
        elif not MDOC_MACRO.fullmatch(word):
            written += word if CLOSING.fullmatch(word) or written.endswith(" -") else f" {word}"
    text = written.strip()
    return f".It {text}" if line[1:].split()[:1] == ["It"] else rf"\&{text}"


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


def without_stray_braces(page: str) -> str:
    """Return a page without braces that close what nothing opened: troff passes over them, pandoc leaves out all that follows."""
    depth = 0

    def matched(escaped: re.Match[str]) -> str:
        nonlocal depth
        if escaped[0] == r"\}" and not depth:
            return ""
        depth += {r"\{": 1, r"\}": -1}.get(escaped[0], 0)
        return escaped[0]

    return ESCAPED.sub(matched, page)


def without_remarks_on_definitions(page: str) -> str:
    """Return a page without remarks behind the names of the macros that it defines."""
    return REMARK_ON_DEFINITION.sub(r"\1", page)


def with_marked_headings(page: str) -> str:
    """Return a page in which headings that pod2man wrote as paragraphs are marked for `with_headings`: pandoc knows two levels."""
    return POD_HEADING.sub(lambda one: f"{HEADING_MARK * (3 if one['italic'] else 4)}{one['said']}", page)


def with_headings(html: str) -> str:
    """Return what pandoc made of a page with the headings that were marked in it."""
    written = MARKED_HEADING.sub(lambda one: f"<h{len(one['mark'])}>{one['said']}</h{len(one['mark'])}>", html)
    return written.replace(HEADING_MARK, "")


def with_items(page: str) -> str:
    """Write items whose marks are drawn as items, bullets as bullets, and a term that defines nothing as a paragraph.

    Numbered items that have words beside their number, and options above indented lines, are terms of what stands below.
    pandoc reads a drawn mark as a paragraph of its own, and the letter `o`, which stands for a bullet, as the fifteenth item of a list.
    The end of a block it takes for the definition of such a term, and all that follows for a part of the block.
    """
    page = TERM_OF_NOTHING.sub(r".PP\n\g<line>", page)
    page = NUMBERED_TERM.sub(_numbered_term, page)
    page = TYPED_DEFINITION.sub(lambda typed: f".TP\n{typed['term']}{dedent(typed['said'])}", page)
    page = DRAWN_ITEM.sub(lambda drawn: f'.IP "{drawn["mark"]}" 4\n', page)
    return LETTER_BULLET.sub(r".IP \\(bu", page) if len(LETTER_BULLET.findall(page)) > 1 else page


def _numbered_term(item: re.Match[str]) -> str:
    macro = ".PP" if item["nothing"] is not None else ".TP"
    term = item["term"].replace('""', '"')
    return f"{item['index']}{macro}\n{term}\n"
