"""What pandoc does not know of mdoc: the strings that groff has ready, and where a bracket ends that a macro draws around its line."""

from __future__ import annotations

import re

__all__ = ["with_ended_brackets", "with_known_strings"]

STRINGS = {
    "Lq": r"\(lq",
    "Rq": r"\(rq",
    "q": r"\(dq",
    "Ba": r"\(ba",
    "Am": "&",
    "Lt": "<",
    "Gt": ">",
    "Le": r"\(<=",
    "<=": r"\(<=",
    "Ge": r"\(>=",
    ">=": r"\(>=",
    "Ne": r"\(!=",
    "Pm": r"\(+-",
    "If": r"\(if",
    "Pi": r"\(*p",
    "Na": "NaN",
    "Tm": r"\(tm",
    "aa": r"\(aa",
    "ga": r"\(ga",
    "ua": r"\(ua",
}
"""Name → character."""
STRING = re.compile(r"\\\*(?:\((?P<two>..)|\[(?P<long>[^\]\s]*)\]|(?P<one>[^\s(\[]))")
SETS_STRING = re.compile(r"^[.'][ \t]*ds1?[ \t]+(\S+)", re.MULTILINE)
PAIRS = {
    "Pq": ("Po", "Pc"),
    "Bq": ("Bo", "Bc"),
    "Brq": ("Bro", "Brc"),
    "Aq": ("Ao", "Ac"),
    "Dq": ("Do", "Dc"),
    "Sq": ("So", "Sc"),
    "Qq": ("Qo", "Qc"),
    "Op": ("Oo", "Oc"),
}
"""A macro around the rest of its line → those that begin and end the same thing."""
ENDED = re.compile(
    rf"^(?P<line>\.[ \t]*(?=[^\n\"]*\b(?:{'|'.join(PAIRS)})[ \t])[A-Z][a-z]{{1,2}}[ \t][^\n\"]*?)"
    r"(?P<delimiters>(?:[ \t]+[.,;:!?)\]])+)[ \t]*$",
    re.MULTILINE,
)
"""A line with such a macro and marks of the sentence at its end, which stand behind the bracket."""


LITERAL = re.compile(
    rf"^\.[ \t]*(?=[^\n]*\b(?:{'|'.join(name for pair in PAIRS.values() for name in pair)})\b)[^\n]*\bQl[ \t][^\n]*",
    re.MULTILINE,
)
"""A line with a literal, and brackets that begin or end on it: pandoc reads `.Po Ql x Pc` for ever; of `Li` it makes the same."""


def with_known_strings(page: str) -> str:
    """Return a page with the strings that groff's mdoc defines as what they are; those that the page defines stay."""
    own = set(SETS_STRING.findall(page))

    def written(string: re.Match[str]) -> str:
        name = string["two"] or string["long"] or string["one"] or ""
        return string[0] if name in own else STRINGS.get(name, string[0])

    return STRING.sub(written, page)


def with_ended_brackets(page: str) -> str:
    """Return a page in which brackets end before the marks of the sentence behind them, and end: of `.Pq Fl z .` pandoc makes `(-z.)`."""
    return LITERAL.sub(lambda line: re.sub(r"\bQl\b", "Li", line[0]), ENDED.sub(_ended, page))


def _ended(line: re.Match[str]) -> str:
    words = line["line"][1:].split()
    ends = [PAIRS[word][1] for word in words if word in PAIRS]
    begun = " ".join(PAIRS[word][0] if word in PAIRS else word for word in words)
    return f".{begun} {' '.join(reversed(ends))}{line['delimiters']}"
