"""A cited passage, read once: its statements with their quantities, numbers and terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kgrag.text.name_shapes import with_names_of_rows
from kgrag.text.names import Gazetteer
from kgrag.text.numerals import COUNT_BY_WORD
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.sentences import Sentence, sentences
from kgrag.text.words import content_terms
from kgrag.types import Evidence

__all__ = [
    "NUMBER",
    "NUMBER_WORDS",
    "Passage",
    "PassageStatement",
    "comparable_number",
    "comparable_numbers",
    "masked",
    "without_code_marks",
]

NUMBER_WORDS = {word: str(number) for word, number in COUNT_BY_WORD.items()} | {"zero": "0"}
NUMBER = re.compile(r"(?<![\w.,])[-−–+]?\d+(?:[.,]\d+)*(?![\w%])")
CODE_MARKS = re.compile(r"[`*_]{1,3}(?=\S)|(?<=\S)[`*]{1,3}")


@dataclass(slots=True)
class PassageStatement:
    """A statement of a passage with the headings above it."""

    text: str
    above: str
    cells: tuple[tuple[str, str], ...]
    quantities: list[Quantity]
    numbers: frozenset[str]
    terms: frozenset[str]


class Passage:
    """A cited passage, read once."""

    def __init__(self, piece: Evidence) -> None:
        self.title = f"{piece.title}\n{piece.section}\n{piece.document}"
        self.text = piece.text
        self.context = f"{self.title}\n{with_names_of_rows(piece.text)}"
        self.terms = content_terms(self.context.replace("-", " ").replace("/", " ").replace("_", " "))
        self.terms |= content_terms(self.context)
        self.quantities = quantities(without_code_marks(self.context))
        self.numbers = frozenset(comparable_numbers(self.context))
        self.statements = list(_statements(piece.text))

    @classmethod
    def of_text(cls, text: str) -> Passage:
        """Read a text of no document, such as a question."""
        return cls(Evidence(chunk_id=None, source_id="", document="", text=text, tokens=0, score=0.0))

    def has_name(self, name: str) -> bool:
        """Whether a name is in the passage or in what it is headed by, in whatever spelling."""
        return bool(Gazetteer([name]).find(self.context)) or _folded(name) in _folded(self.context)

    def has_name_around_a_word(self, name: str) -> bool:
        """Whether the passage writes `NINA-W102` as `NINA module W102`; the second part has to be a designator of its own."""
        maker, _, part = name.partition("-")
        if not (maker.isalpha() and re.fullmatch(r"[A-Za-z]+\d\w*", part)):
            return False
        return bool(re.search(rf"\b{maker}[ -][A-Za-z]+[ -]{part}\b", self.context, re.IGNORECASE))


def without_code_marks(text: str) -> str:
    """A text without the marks that Markdown has for code and emphasis."""
    return CODE_MARKS.sub("", text)


def masked(text: str, found: Iterable[tuple[int, int]]) -> str:
    """A text with blanks in the place of what was found (start and end)."""
    for start, end in found:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _folded(text: str) -> str:
    return re.sub(r"[^\w]+", " ", text.casefold()).strip()


def _statements(text: str) -> Iterator[PassageStatement]:
    above = ""
    for statement in sentences(text):
        written = text[statement.start : statement.end]
        if not statement.cells and _is_heading(written, text[statement.end : statement.end + 2]):
            above = written
        said = without_code_marks(statement.text)
        yield PassageStatement(
            statement.text,
            above,
            statement.cells,
            _quantities_of(statement, said),
            frozenset(comparable_numbers(said)),
            content_terms(said),
        )


def _is_heading(written: str, following: str) -> bool:
    return written.startswith("#") or (
        len(written.split()) <= 8 and written[-1:].isalnum() and (not following or following.startswith("\n"))
    )


def _quantities_of(statement: Sentence, said: str) -> list[Quantity]:
    """The quantities of a statement, those of a row whose unit stands in another cell or in the header included."""
    found = quantities(said)
    if not statement.cells:
        return found
    units = [unit for header, value in statement.cells for unit in _units(header, value)]
    for header, value in statement.cells:
        own = _units(header, "") or units
        for match in NUMBER.finditer(value):
            for unit in own:
                found += quantities(f"{match.group()} {unit}")
    return found


def _units(header: str, value: str) -> list[str]:
    """Units that a cell is, or that its header has in brackets or alone: `mA`, `Current (mA)`, `Size [mm]`."""
    candidates = [value.strip(), *re.findall(r"[(\[]([^()\[\]]{1,8})[)\]]", header), header.strip().split(" ")[-1]]
    return [unit for unit in candidates if unit and len(unit) <= 8 and quantities(f"1 {unit}")]


def comparable_numbers(text: str) -> Iterator[str]:
    """The numbers of a text without their thousands separators, number words included."""
    for match in NUMBER.finditer(text):
        yield comparable_number(match.group())
    for match in re.finditer(r"\d+(?:[.,]\d+)*", text):
        yield comparable_number(match.group())
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in NUMBER_WORDS:
            yield NUMBER_WORDS[word]


def comparable_number(written: str) -> str:
    """A number without sign, thousands separators and zeros that say nothing; a version as it is."""
    plain = written.lstrip("+-−–")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    plain = plain.replace(",", ".")
    if plain.count(".") > 1:
        return plain  # a version
    return plain.rstrip("0").rstrip(".") if "." in plain else plain.lstrip("0") or "0"
