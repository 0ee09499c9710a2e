"""What a name looks like in running text when nobody has listed it: part numbers, identifiers and proper names, by their shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS

__all__ = [
    "CAMEL_CASE",
    "IDENTIFIER",
    "NAME",
    "code_names",
    "exact_identifiers",
    "identifiers",
    "is_code_name",
    "names_of_row",
    "names_of_rows",
    "part_numbers",
    "with_names_of_rows",
]

MAX_PART_CHARACTERS = 24
NAME_WORD = r"(?:[^\W\d_]*[A-Z0-9][\w®™]*(?:[-.+/][A-Za-z0-9][\w]*)*\+*)"
NAME = re.compile(rf"(?<![\w-]){NAME_WORD}(?:[ ]{NAME_WORD})*")
"""Words with a capital or a digit, in a row: `Nano 33 BLE Sense Rev2`, `X-100`, `mBlock`."""
PART_SHAPE = re.compile(
    r"(?<![\w@/.+-])(?=[A-Za-z]*-?\d)[A-Za-z]{1,8}-?\d[\w]*(?:-[A-Z0-9][\w]*)*(?![\w@]|[.+]\w)", re.ASCII
)
IDENTIFIER = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*|\b[A-Za-z]\w*_\w+\b|\b[A-Z][A-Z0-9]{2,}\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|(?<!\w)[./][\w./-]+\w"
    r"|\b[\w-]+\.[a-z]{1,5}\b(?!\.)|\b\w+\(\)|[\"'“`][\w.+/-]+[\"'”`]|\b[a-z]+-[a-z]+-[a-z]+\b"
)
"""What has the form of a program's identifier: flags, capitals, names with underscores or humps, paths, file names, quoted words."""
EXACT = re.compile(
    r"(?<![\w/.-])(?:--?[A-Za-z][\w-]*|[A-Za-z]\w*_\w+|(?=\w{5})[a-z]+[A-Z]\w*|[A-Z]{5,}|[A-Za-z]\w+(?:\.[A-Za-z][\w-]+)+"
    r"|[a-z]\w+-[a-z]\w+(?:-[a-z]\w+)+|\w{2,}(?==\S)|%(?:[A-Za-z]|\{[\w-]+\}))(?![\w/])"
)
"""In a question: `max_connections`, `readGyroscope`, `ROWNUM`, `--no-verify`, `-U`, `tune.bufsize`, `max-client-connections`, `freq` of
`freq=5`, `%j`."""
_ADMONITIONS = "ATTENTION CAUTION DANGER DEFAULT DEFAULTS EXAMPLE EXAMPLES IMPORTANT NOTES NOTICE WARNING WARNINGS"
ADMONITIONS = frozenset(_ADMONITIONS.split())
"""Capitals that begin a paragraph and name nothing."""
CAMEL_CASE = re.compile(r"(?<![\w/.-])[A-Z][a-z]+(?:[A-Z][a-z]+)+(?![\w/])")
"""`MaxClients`: a setting, or a product's name (`OpenSSL`)."""
AFTER_ITS_SORT = re.compile(
    r"\b(?:options?|parameters?|settings?|directives?|variables?|functions?|keywords?|pragmas?|macros?|flags?) "
    r"(?P<name>[A-Za-z]\w+[-.]\w[\w.-]*\w)(?!\w)"
)
"""`the option listen-backlog`: any word with a joint is an identifier there."""
FILE_ENDINGS = "asm|c|cf|cfg|conf|cpp|db|h|hex|hpp|ini|json|lib|log|lua|pid|py|rules|service|sh|toml|users|xml|yaml|yml"
CODE_NAME = re.compile(
    rf"(?<![\w/.$%@<>*+-])(?:[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Za-z][\w-]*\.(?:{FILE_ENDINGS})|[a-z][a-z0-9_-]*\([1-9]\))"
    rf"(?![\w@/(*<>-]|[.][\w*])",
    re.ASCII,
)
"""Settings (`max_connections`), files (`main.cf`), manual pages of a program or a file (`cleanup(8)`): names wherever they stand.
`IDENTIFIER` has more besides, which only a question makes names of (flags, capitals, quoted words)."""
ORDINAL = re.compile(r"\d(?:st|nd|rd|th|s)$")
URL = re.compile(r"(?:https?://|www\.)\S+|(?<!\S)\S+@\S+|\]\([^)\s]*\)")
REVISION_ONLY = re.compile(
    r"(?:rev|ver|v|fig|table|page|class|type|step|part|cat|usb|ip|iso|en|iec|ieee|rs)-?\d+\w?", re.IGNORECASE
)


def identifiers(text: str) -> set[str]:
    """Return what in a text has the form of an identifier, case folded and without quotation marks."""
    return {match.group().casefold().strip("\"'“”`") for match in IDENTIFIER.finditer(text)}


MAKER = re.compile(r"\b(?:manufacturers?|makers?|make|brands?|vendors?|suppliers?|company)\b", re.IGNORECASE)
MODEL = re.compile(r"\b(?:models?|types?|parts?|products?|devices?)\b", re.IGNORECASE)
"""Headers of the two cells that a name can be divided into: `Acme` and `300` are `Acme 300`."""


def names_of_row(cells: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Find the names that a table row (header and value of each cell) has in two cells, manufacturer and model."""
    makers = [maker for header, maker in cells if maker and MAKER.search(header)]
    models = [model for header, model in cells if model and MODEL.search(header) and not MAKER.search(header)]
    yield from (f"{maker} {model}" for maker in makers for model in models)


def with_names_of_rows(text: str) -> str:
    """Return a text followed by the names that rows of its tables have in two cells, a line each."""
    return "\n".join([text, *names_of_rows(text)])


def names_of_rows(text: str) -> Iterator[str]:
    """Find the names that rows of a text's tables have in two cells."""
    for row in sentences(text) if MAKER.search(text) else ():
        yield from names_of_row(row.cells)


def exact_identifiers(question: str) -> tuple[str, ...]:
    """Return the identifiers of a question that have to be found letter for letter, in order."""
    plain = URL.sub(lambda m: " " * len(m.group()), question)
    found = [
        (m.start(), m.group())
        for m in EXACT.finditer(plain)
        if m.group() not in ADMONITIONS
        and (m.group().startswith("-") or not FUNCTION_WORDS & set(m.group().split("-")))
    ]
    found += [(m.start("name"), m["name"]) for m in AFTER_ITS_SORT.finditer(plain)]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def code_names(text: str) -> Iterator[str]:
    """Find what has the shape of a name that a computer reads: a setting, a file, a program with the section of its manual page."""
    for match in CODE_NAME.finditer(URL.sub(lambda m: " " * len(m.group()), text)):
        yield match.group()


def is_code_name(name: str) -> bool:
    """Whether a name as a whole has that shape."""
    return CODE_NAME.fullmatch(name) is not None


def part_numbers(text: str) -> Iterator[str]:
    """Find what has the shape of a part number: letters and digits in one word, such as LPS22HB, nRF52840 and X-100."""
    for match in PART_SHAPE.finditer(URL.sub(lambda m: " " * len(m.group()), text)):
        part = match.group()
        digits = sum(c.isdigit() for c in part)
        letters = sum(c.isalpha() for c in part)
        if (
            len(part) <= MAX_PART_CHARACTERS
            and letters
            and (digits > 2 or (digits == 2 and letters > 2))
            and any(c.isupper() for c in part)
            and not REVISION_ONLY.fullmatch(part)
            and not ORDINAL.search(part)
        ):
            yield part
