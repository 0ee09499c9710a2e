"""Questions of tables: a cell by its row and column, one property of several documents, and what no document says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from kgrag.evaluate.questions.draft import Draft
from kgrag.evaluate.questions.material import Material
from kgrag.text.name_shapes import part_numbers
from kgrag.text.words import content_terms, folded_words
from kgrag.types import content_id

__all__ = ["comparisons", "table_cells", "unanswerable"]

LONGEST_ROW_NAME, LONGEST_VALUE = 80, 60
"""Characters: a longer cell is text."""
_SAYS_NOTHING = """
    description details information name note notes parameter part product property specification symbol type unit units value values
"""
SAYS_NOTHING = frozenset(_SAYS_NOTHING.split())
"""Words of a column header that say no more than that there is a cell."""
MOST_ROWS = 3
"""Cells of one row that are asked for."""
MOST_LACKING = 2
"""Documents that are asked for a property that they do not have."""
MOST_PAIRS = 6
"""Pairs of documents that are compared by one property."""
PERIOD = re.compile(r"\b(?:19|20)\d\d\b")
EMPTY = re.compile(r"[-–—./*\s$%()]*|n/?a|tbd", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table with what names it."""

    document_id: str
    subject: str
    row: str
    column: str
    value: str
    text: str
    chunks: frozenset[str]

    @property
    def property(self) -> str:
        """The name of the row, and of the column where that says something."""
        return self.row if not self.column else f"{self.column} of {self.row}"


def cells(material: Material) -> list[Cell]:
    """Return the cells of all tables that have a row name and a value, each once in a document."""
    found: dict[tuple[str, str, str, str], tuple[str, set[str]]] = {}
    for chunk in material.chunks:
        for sentence in material.statements[chunk.id]:
            if len(sentence.cells) < 2:
                continue
            row = sentence.cells[0][1].strip(" *_:")
            if not (2 < len(row) <= LONGEST_ROW_NAME) or not re.search(r"[^\W\d_]{2}", row):
                continue
            for header, value in sentence.cells[1 : MOST_ROWS + 1]:
                column = "" if folded_words(header) <= SAYS_NOTHING else header.strip(" *_:")
                if len(value) <= LONGEST_VALUE and not EMPTY.fullmatch(value) and value.casefold() != "link":
                    key = (chunk.document_id, row, column, value)
                    found.setdefault(key, (sentence.text, set()))[1].add(chunk.id)
    return [
        Cell(document_id, material.subjects[document_id], row, column, value, text, frozenset(ids))
        for (document_id, row, column, value), (text, ids) in found.items()
    ]


def table_cells(material: Material) -> Iterator[Draft]:
    """Ask for a cell by its row, its column and the document's title; left out where a document says two different things there."""
    values: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in cells(material):
        values[cell.document_id, cell.row, cell.column].append(cell)
    for (document_id, _, _), some in values.items():
        if len(some) > 1:
            continue
        cell = some[0]
        yield Draft(
            "table_cells",
            "a row and a column of a table, with the document's title, ask for the cell",
            "factual",
            _asking(cell),
            (cell.chunks,),
            answers=(cell.value,),
            gold_facts=(cell.text,),
            document=material.path_of[document_id],
        )


def _asking(cell: Cell) -> str:
    if not cell.column:
        return f"What is the {cell.row} of {cell.subject}?"
    if PERIOD.search(cell.column):
        return f"What was the {cell.row} of {cell.subject} in {cell.column}?"
    return f"{cell.subject}: {cell.row}, {cell.column}?"


def comparisons(material: Material) -> Iterator[Draft]:
    """Compare one property of two documents that both have it in a table; titles that share a word (a product family) come first."""
    of_property: dict[tuple[str, str], dict[str, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells(material):
        of_property[cell.row.casefold(), cell.column.casefold()][cell.subject].append(cell)
    for by_title in of_property.values():
        alone = {title: some[0] for title, some in by_title.items() if len(some) == 1}
        pairs = sorted(
            combinations(sorted(alone), 2),
            key=lambda pair: (not content_terms(pair[0]) & content_terms(pair[1]), content_id(*pair)),
        )
        for one, other in pairs[:MOST_PAIRS]:
            first, second = alone[one], alone[other]
            yield Draft(
                "comparisons",
                "one property that the tables of two documents have",
                "comparison",
                f"How do {one} and {other} differ in {first.property}?",
                (first.chunks, second.chunks),
                answers=(f"{one}: {first.value}; {other}: {second.value}",),
                gold_facts=(first.text, second.text),
                document=material.path_of[first.document_id],
            )


def unanswerable(material: Material) -> Iterator[Draft]:
    """Ask what the documents do not say: a property that other documents have and this one never mentions, a part number that is none."""
    yield from _missing_properties(material)
    yield from _changed_part_numbers(material)


def _missing_properties(material: Material) -> Iterator[Draft]:
    having: dict[str, set[str]] = defaultdict(set)
    """The documents that have a row of that name."""
    for cell in cells(material):
        if not cell.column:
            having[cell.row].add(cell.document_id)
    said: dict[str, set[str]] = defaultdict(set)
    """The stems of all words of each document."""
    for chunk in material.chunks:
        said[chunk.document_id] |= material.terms[chunk.id]
    for row, documents in sorted(having.items()):
        wanted = content_terms(row)
        lacking = [one for one in said if one not in documents and not wanted & said[one]] if wanted else []
        for document_id in sorted(lacking, key=lambda one: content_id(row, one))[:MOST_LACKING]:
            yield _absent(
                "a property that other documents have, of a document with none of its words",
                f"What is the {row} of {material.subjects[document_id]}?",
                material.path_of[document_id],
            )


def _changed_part_numbers(material: Material) -> Iterator[Draft]:
    having: dict[str, str] = {}
    for chunk in material.chunks:
        for part in part_numbers(chunk.text):
            having.setdefault(part, chunk.document_id)
    corpus = "\n".join(chunk.prompted_text for chunk in material.chunks).casefold()
    for part, document_id in sorted(having.items()):
        digits = [place for place, sign in enumerate(part) if sign.isdigit()]
        place = digits[int(content_id(part)[:4], 16) % len(digits)]
        for step in range(1, 10):
            changed = f"{part[:place]}{(int(part[place]) + step) % 10}{part[place + 1 :]}"
            if changed.casefold() not in corpus:
                yield _absent(
                    "a part number of the corpus with one digit changed to one that the corpus does not have",
                    f"What do the documents say about the {changed}?",
                    material.path_of[document_id],
                )
                break


def _absent(rule: str, question: str, document: str) -> Draft:
    return Draft("unanswerable", rule, "unanswerable", question, (), answerable=False, document=document)
