"""Whether the evidence is about what the question names: two names that differ in a number are two things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from kgrag.text.abbreviations import initials
from kgrag.text.name_shapes import (
    CAMEL_CASE,
    exact_identifiers,
    is_code_name,
    names_of_rows,
    part_numbers,
    with_names_of_rows,
)
from kgrag.text.names import Gazetteer, normal_form, quantities
from kgrag.text.questions import ATTRIBUTIVE, Question
from kgrag.text.words import stem, stems
from kgrag.types import Evidence

__all__ = [
    "AskedSections",
    "Subject",
    "Unknown",
    "exact_settings",
    "has_identifier",
    "otherwise_written",
    "unknown_names",
]

REVISION = re.compile(r"(?:rev|revision|mk|gen|v|ver|version)\.?[ -]?\d+", re.IGNORECASE)
VERSION = re.compile(r"v(?:er(?:sion)?)?\.?[ -]?(?P<number>\d+)", re.IGNORECASE)
"""`v3`, which is also `version 3` and `version 3.0.2`."""
NUMBERED = re.compile(r"(?<![\w-])(?:[^\W\d_]+-)*[^\W\d_]+(?: \d+(?![\w.])|-?\d\w*(?:-\w+)*)")
YEAR = re.compile(r"(?<= )(?:1[89]|20)\d\d$")
IDENTIFIER = re.compile(r"[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*")
"""`mBlock`, `WiFiNINA`: a name that is nothing else."""
TYPING_ERRORS = 2
"""Edits; with more an identifier is rather another one than mistyped."""
EXACT_NAME = re.compile(r"[\d_]|^-|\w-\w+-\w")
"""A digit, an underscore, a dash in front, or two inside: names that differ in them are names of different things."""
SMALL_WORD_FIRST = re.compile(r"[a-z]+ ")
SETTING_WITH_VALUE = re.compile(r"(?P<setting>\w+) \d[\d./:]*[a-z%]*")
"""`AutoRestartRate 10/1h`: the value is what the asker chose."""
COUNTED = re.compile(r"\d+ [A-Z]{2,}s")
"""`40 URLs` are no name."""
HYPHENS = str.maketrans(dict.fromkeys("‐‑−", "-"))
"""Typeset manual pages write `-O` with a minus sign."""
SIGNAL = re.compile(r"HUP|INT|QUIT|KILL|TERM|USR[12]|ALRM|CHLD|STOP|CONT|PIPE|WINCH")
"""Of Unix: whoever asks for a `HUP signal` means `SIGHUP`."""
SECTION_MARK = " > "
TITLE_REST = re.compile(r"(?: [-–—|]|:) .*")
_PARTS_OF_A_MANUAL = """
    name names synopsis description options option arguments parameters commands examples example files usage overview introduction notes
"""
PARTS_OF_A_MANUAL = frozenset(stem(word) for word in _PARTS_OF_A_MANUAL.split())
"""Headings that any manual page has: a question that says `named` or `file` asks for none of them."""
VENDOR_SHARE = 0.5
"""A first word that so many of the evidence's passages have need not stand before a name each time: `Arduino Due` is `Due`."""
PART_OF_SUBJECT = 0.5
"""How much it counts that a name stands elsewhere in the passage, not in the statement or above it."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name of the question that the evidence does not have, and names there that it could be taken for."""

    name: str
    near: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether what is like it is something else: `X-100`, `--wait`. `USB` or `the LAN` may only be how the question came up.

        So may a line of several words that begins with a small one: `vlan id 10`.
        """
        return EXACT_NAME.search(self.name) is not None and SMALL_WORD_FIRST.match(self.name) is None


class Subject:
    """What the question names, found in the evidence."""

    def __init__(self, asked: Question, evidence: Sequence[Evidence]) -> None:
        settings = set(exact_identifiers(asked.text))
        amounts = {one.text for one in asked.amounts}
        names = [without_vendor(name, evidence) for name in asked.names if name not in settings | amounts]
        self._named = Gazetteer([*names, *settings], as_written=names)
        names += settings
        self._count = len(names)
        self._said: dict[str, set[str]] = {}
        self._above = [self._keys(f"{piece.title}\n{piece.section}") for piece in evidence]
        self._inside = [self._keys(with_names_of_rows(piece.text)) for piece in evidence]
        self._titles = {key for piece in evidence for key in self._keys(piece.title)}
        self._numbered_titles = any(any(map(str.isdigit, key)) for key in self._titles)
        self._in_rows = {key for piece in evidence for key in self._keys("\n".join(names_of_rows(piece.text)))}
        self._parts = {normal_form(part) for name in names for part in part_numbers(name)}
        self._families = {_family(part) for part in self._parts}
        self._of_siblings = [self._is_of_sibling(piece.title) for piece in evidence]

    def share(self, index: int, statement: str, about: str = "", row: Sequence[str] = ()) -> float | None:
        """Say how much of what is named a statement of piece `index` is about, 0 to 1; None where it is about something else.

        `about` are the heading above it and what it goes on from, `row` the names of a row that has them in two cells.

        Something else: a passage that names none of the documents asked for, where their titles have numbers; one whose title names a part
        with another number (`BME680`, asked for `BME688`), that part, or another row than the one that a table has for what is asked for.
        """
        if not self._count:
            return 0.0
        said = self._keys("\n".join((statement, *row)))
        if row and self._in_rows and not self._in_rows & said:
            return None
        here = said | self._keys(about) | self._above[index]
        if self._numbered_titles and not self._titles & (here | self._inside[index]):
            return None
        if not said:
            others = {normal_form(part) for part in part_numbers(statement)} - self._parts
            if any(_family(part) in self._families for part in others):
                return None
        if self._of_siblings[index] and not (said or self._above[index]):
            return None
        return min(1.0, (len(here) + PART_OF_SUBJECT * len(self._inside[index] - here)) / self._count)

    def _is_of_sibling(self, title: str) -> bool:
        """Whether a title names a part that differs from one asked for in its number, and none of those."""
        parts = {normal_form(part) for part in part_numbers(title)}
        return not parts & self._parts and any(_family(part) in self._families for part in parts)

    def _keys(self, text: str) -> set[str]:
        """The names that a text says; titles and headings are asked for again and again."""
        found = self._said.get(text)
        if found is None:
            found = self._said[text] = {match.key for match in self._named.find(text)}
        return found


class AskedSections:
    """The sections whose headings the question says, and what stands in one beside them: `3.22 rist` where `udp` is asked for.

    A question says a heading that has no words but the question's; numbers before it say nothing. Of a document's title counts what stands
    before a dash or colon: `archive - pack files`.
    """

    def __init__(self, asked: Question, evidence: Sequence[Evidence]) -> None:
        self._paths = [
            (title, *piece.section.split(SECTION_MARK)) if piece.section else (title,)
            for piece in evidence
            for title in [TITLE_REST.sub("", piece.title)]
        ]
        self._said: dict[tuple[str, ...], set[str]] = {}
        for path in self._paths:
            for depth in range(len(path)):
                words = _heading_terms(path[depth])
                if words and words <= asked.terms and not words <= PARTS_OF_A_MANUAL:
                    self._said.setdefault(path[:depth], set()).update(words)

    def is_beside(self, index: int, statement: str) -> bool:
        """Whether piece `index` stands in a section beside one that is asked for, and the statement does not name that one."""
        path = self._paths[index]
        for depth in range(len(path)):
            if said := self._said.get(path[:depth]):
                here = _heading_terms(path[depth])
                if not here & said and not said & {stem for _, stem in stems(statement)}:
                    return True
        return False


@lru_cache(maxsize=4096)
def _heading_terms(heading: str) -> frozenset[str]:
    """The stems of a heading's words; `3.22` is none."""
    return frozenset(stem for word, stem in stems(heading) if any(map(str.isalpha, word)))


def unknown_names(asked: Question, evidence: Sequence[Evidence]) -> tuple[list[Unknown], list[Unknown]]:
    """The names that the evidence lacks: those without which there is hardly an answer, and those that are only worth saying.

    There is hardly an answer without a name that has a number or is an identifier, nor without a name of several words when nothing as
    specific is found beside it. A quantity that nothing in the evidence has is worth saying: the answer may still be in a range around it.
    """
    titles = [
        piece.title if "_" not in piece.title else f"{piece.title} {piece.title.replace('_', ' ')}"
        for piece in evidence
    ]
    """A title may be a file's name: `ACME_2025_REPORT`."""
    rows = [list(names_of_rows(piece.text)) for piece in evidence]
    pieces = [
        "\n".join((title, piece.section, piece.text, *named))
        for title, piece, named in zip(titles, evidence, rows, strict=True)
    ]
    written = "\n".join(pieces)
    pieces = [ATTRIBUTIVE.sub("", piece) for piece in pieces]
    text = "\n".join(pieces)
    words = {s for _, s in stems(text)}
    in_rows = [name for named in rows for name in named]
    fatal: list[Unknown] = []
    noted: list[Unknown] = []
    partly: list[str] = []
    found_words = 0
    settings = exact_identifiers(asked.text)
    for setting in settings:
        if not has_identifier(setting, written) and not _is_signal(setting, written):
            fatal.append(Unknown(setting, _near_settings(setting, text)))
    for name in asked.names:
        short = without_vendor(name, evidence)
        if name in settings or COUNTED.fullmatch(name) or _is_written(short, text) or _is_value_of_setting(name, text):
            continue
        if quantities(name):
            if _lacks(name, text):
                noted.append(Unknown(name))
        elif others := _models_of_others(name, in_rows):
            fatal.append(Unknown(name, others))
        elif _lacks_numbers(short, pieces) or any(
            IDENTIFIER.fullmatch(w) and all(_lacks(form, text) for form in _in_number(w)) for w in short.split()
        ):
            fatal.append(Unknown(name, _near(short, text)))
        elif _lacks_words(short, text, words):
            partly.append(name)
        elif short[0].isupper():
            found_words = max(found_words, len(short.split()))
    unless_as_specific = [name for name in partly if len(without_vendor(name, evidence).split()) > found_words]
    fatal += [Unknown(name) for name in unless_as_specific]
    return fatal, noted + [Unknown(name) for name in partly if name not in unless_as_specific]


def exact_settings(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Return the identifiers of a question, and its names in camel case (`MaxClients`) that head what is found and are in no title."""
    titles = "\n".join(piece.title for piece in evidence)
    text = "\n".join(f"{piece.section}\n{piece.text}" for piece in evidence)
    camel = [
        name
        for name in CAMEL_CASE.findall(question)
        if not has_identifier(name, titles) and re.search(rf"(?:^|[>|] ?){name}\b(?:[:= ]|$)", text, re.MULTILINE)
    ]
    return tuple(dict.fromkeys((*exact_identifiers(question), *camel)))


def otherwise_written(name: str) -> re.Pattern[str] | None:
    """Return what finds a name in its other form: an abbreviation spelled out, a signal with `SIG`; None where it has none."""
    return re.compile(rf"\bSIG{name}\b") if SIGNAL.fullmatch(name) else initials(name)


def has_identifier(identifier: str, text: str) -> bool:
    """Whether a text has an identifier letter for letter: in any case, but a flag of one letter as it is; its words may be apart.

    Without its dashes an option is the same: `ns-cert-type`, `--ns-cert-type`.
    """
    written, text = re.escape(identifier), text.translate(HYPHENS)
    if identifier.startswith("-"):
        case = re.IGNORECASE if len(identifier) > 2 else 0
        return re.search(rf"(?<![\w-]){written}(?![\w-])", text, case) is not None
    written = re.sub(r"\\-", "[-_ ]", written)
    return re.search(rf"(?<![\w-])(?:--?)?{written}(?!\w)", text, re.IGNORECASE) is not None


def _near_settings(setting: str, text: str) -> tuple[str, ...]:
    """Identifiers of the text that are a typing error away from this one; else those that have its first or last part."""
    asked = setting.casefold()
    found = [name for name in exact_identifiers(text) if name.casefold() != asked]
    distances = {name: OSA.distance(asked, name.casefold()) for name in found}
    mistyped = [name for name in found if distances[name] <= TYPING_ERRORS and len(asked) > 2 * TYPING_ERRORS]
    parts = _parts(asked)
    shared = [name for name in found if len(parts) > 1 and {parts[0], parts[-1]} & set(_parts(name))]
    near = sorted(mistyped, key=distances.__getitem__) or [name for name in shared if len(_parts(name)) > 1]
    return tuple(near[:3])


def _parts(identifier: str) -> list[str]:
    return re.split(r"[_.-]", identifier.casefold().strip("-"))


def without_vendor(name: str, evidence: Sequence[Evidence]) -> str:
    """A name without a first word that most of the evidence has anyway: `Due` for `Arduino Due`."""
    first, _, rest = name.partition(" ")
    if not rest or any(c.isdigit() for c in first) or not rest[0].isupper() or not evidence:
        return name
    having = sum(1 for piece in evidence if first.casefold() in piece.text.casefold())
    titled = any(first.casefold() in piece.title.casefold().split() for piece in evidence)
    return rest if having >= VENDOR_SHARE * len(evidence) and not titled else name


def _units(name: str) -> list[str]:
    """What of a name its numbers belong to: `Nano 33` and `Rev2` of `Nano 33 BLE Sense Rev2`."""
    numbered = [match.group() for match in NUMBERED.finditer(name)]
    # A year need not stand beside the same word: `the 2012 Olympics`.
    return [year.group() if (year := YEAR.search(unit)) else unit for unit in numbered]


def _lacks_numbers(name: str, pieces: Sequence[str]) -> bool:
    """Whether some number of a name stands beside its word in no piece; of a name with a revision all must stand in one piece."""
    units = _units(name)
    if any(REVISION.fullmatch(unit) for unit in units):
        base = REVISION.sub("", name).strip()
        return not any(
            not (base and _lacks(base, piece)) and not any(_lacks_revision(unit, piece) for unit in units)
            for piece in pieces
        )
    return any(all(_lacks(unit, piece) for piece in pieces) for unit in units)


def _lacks_revision(unit: str, text: str) -> bool:
    version = VERSION.fullmatch(unit)
    if version is None:
        return _lacks(unit, text)
    return re.search(rf"\bv(?:er(?:sions?)?)?\.?[ -]?{version['number']}(?!\d)", text, re.IGNORECASE) is None


def _lacks(name: str, text: str) -> bool:
    return not Gazetteer([name]).find(text)


def _is_written(name: str, text: str) -> bool:
    """Whether a text has a name of one word with its signs, `cx16-asm.cfg`, letter for letter and not as a part of a longer one.

    `I/O` is also `IO`.
    """
    is_one = " " not in name and not name.isalnum()
    written = re.escape(name).replace("/", "/?")
    return is_one and re.search(rf"(?<![\w.-]){written}(?![\w-]|\.\w)", text) is not None


def _in_number(name: str) -> list[str]:
    """A word of letters in singular and plural: `PumpPad` is said by `PumpPads only`; any other name as it is."""
    if not name.isalpha():
        return [name]
    return [name, f"{name}s", *([name[:-1]] if re.search("[^s]s$", name) else [])]


def _is_value_of_setting(name: str, text: str) -> bool:
    """Whether a name is a setting that a text has, with a value that the asker gave it."""
    match = SETTING_WITH_VALUE.fullmatch(name)
    return match is not None and _is_setting(match["setting"]) and has_identifier(match["setting"], text)


def _is_setting(name: str) -> bool:
    return is_code_name(name) or CAMEL_CASE.fullmatch(name) is not None


def _is_signal(setting: str, text: str) -> bool:
    """Whether an option of `kill` names a signal that a text has: `-HUP` for `SIGHUP`."""
    name = setting.removeprefix("-")
    return SIGNAL.fullmatch(name) is not None and re.search(rf"\bSIG{name}\b", text) is not None


def _lacks_words(name: str, text: str, words: set[str]) -> bool:
    if (spelled := otherwise_written(name)) and spelled.search(text):
        return False
    if " " not in name:
        # One capitalised word is a name only where the text has it with its capital too.
        forms = [*_in_number(name), name.upper()]
        if not name[:1].isupper() or Gazetteer(forms, as_written=forms).find(text):
            return False
        # `Post` is said by `Post-II`, which is how the text has it throughout.
        return re.search(rf"(?<![\w-]){re.escape(name)}-[A-Z]\w*", text) is None
    return any(s not in words for _, s in stems(name))


def _models_of_others(name: str, in_rows: Sequence[str]) -> tuple[str, ...]:
    """Names of rows with this name's model and another maker, where its maker has other models: `Acme 700` is no `Bolt 700`."""
    maker, _, model = name.partition(" ")
    having = [row for row in in_rows if model and row.endswith(f" {model}")]
    is_maker = any(row.startswith(f"{maker} ") for row in in_rows)
    return tuple(dict.fromkeys(having)) if is_maker and name not in having else ()


def _near(name: str, text: str) -> tuple[str, ...]:
    """Names of the text that differ from this one only in digits."""
    shape = re.sub(r"\\?\d+", r"\\d+", re.escape(name)).replace(r"\ ", r"[ -]?").replace(r"\-", "[ -]?")
    found = {match.group() for match in re.finditer(rf"(?<![\w-]){shape}(?![\w-])", text)}
    return tuple(sorted(found))[:3]


def _family(part: str) -> str:
    """A part number without its digits: what two that differ only in a number share."""
    return re.sub(r"\d+", "#", part)
