"""What questions are made of: the chunks of a store in reading order, and what a graph's relations say."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from kgrag.text.name_shapes import part_numbers
from kgrag.text.sentences import Sentence, sentences
from kgrag.text.words import content_terms
from kgrag.types import Chunk, Community, Document

__all__ = ["Material", "Section", "StatedRelation"]

PRODUCT_LINE = re.compile(r"\A(?:\[[^\]\n]{1,80}\]\s*)+")
"""Labels in brackets before the text of a passage."""
NUMBERED_LINE = re.compile(
    r"(?m)^(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?P<heading>[^\W\d_a-z][^\n|=.。，]{2,70})$"
)
"""A heading that stands in the text of a ready passage: `1.5.1 Motors`."""
WITH_TITLES = frozenset({"html", "htm", "jsonl", "md"})
"""Formats in which authors write titles."""
LONGEST_TITLE = 8
"""Words: a longer one is a sentence of the first page."""
WORD_OF_TITLE = re.compile(r"[^\W\d_]{3,}")
NUMBERED_HEADING = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?P<heading>\S.*)")


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation with the chunks that state it and what they say, in parallel."""

    head: str
    head_name: str
    type: str
    tail: str
    tail_name: str
    tail_type: str
    chunks: tuple[str, ...]
    says: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the chunks that stand under it."""

    document_id: str
    subject: str
    number: str
    heading: str
    chunks: frozenset[str]
    first: str


@dataclass(frozen=True)
class Material:
    """Everything of a store that questions are made of."""

    documents: Sequence[Document]
    chunks: Sequence[Chunk]
    """In document order."""
    relations: Sequence[StatedRelation] = ()
    communities: Sequence[tuple[Community, frozenset[str]]] = ()
    """What is written about communities, with the names of their members."""

    @cached_property
    def by_id(self) -> dict[str, Chunk]:
        """The chunks by their ids."""
        return {chunk.id: chunk for chunk in self.chunks}

    @cached_property
    def of_document(self) -> dict[str, list[Chunk]]:
        """The chunks of each document, in reading order."""
        found: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in self.chunks:
            found[chunk.document_id].append(chunk)
        return dict(found)

    @cached_property
    def path_of(self) -> dict[str, str]:
        """The path of each document; its title for passages."""
        return {
            document.id: document.title if document.format == "jsonl" else document.path for document in self.documents
        }

    @cached_property
    def subjects(self) -> dict[str, str]:
        """How a question calls each document: by its title.

        That of a PDF or an office file is often what stood at the top of the first page: where it is long, or tells the document from no
        other, the file's name takes its place.
        """
        counts = Counter(word for document in self.documents for word in _telling(document.title))

        def subject(document: Document) -> str:
            telling = any(counts[word] == 1 for word in _telling(document.title))
            if document.title and (
                document.format in WITH_TITLES or (telling and len(document.title.split()) <= LONGEST_TITLE)
            ):
                return document.title.rstrip(":")
            return " ".join(re.split(r"[\s_]+", PurePosixPath(document.path).stem))

        return {document.id: subject(document) for document in self.documents}

    @cached_property
    def source_ids(self) -> dict[str, str]:
        """The passage's id of each chunk that is a ready passage."""
        passages = {document.id for document in self.documents if document.format == "jsonl"}
        return {chunk.id: chunk.source_id for chunk in self.chunks if chunk.document_id in passages}

    @cached_property
    def statements(self) -> dict[str, list[Sentence]]:
        """The sentences and table rows of each chunk, without labels before the text."""
        return {chunk.id: sentences(body(chunk)) for chunk in self.chunks}

    @cached_property
    def terms(self) -> dict[str, frozenset[str]]:
        """The stems of the words of each chunk, its title and headings included."""
        return {chunk.id: content_terms(chunk.prompted_text) for chunk in self.chunks}

    @cached_property
    def sections(self) -> list[Section]:
        """Every section: of headings, and in passages of numbered lines that head them."""
        found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for chunk in self.chunks:
            paths = [chunk.headings[: depth + 1] for depth in range(len(chunk.headings))]
            if not paths and chunk.id in self.source_ids:
                paths = [(match[0],) for match in NUMBERED_LINE.finditer(body(chunk))]
            for path in paths:
                found.setdefault((chunk.document_id, path), []).append(chunk.id)
        sections = []
        for (document_id, path), ids in found.items():
            numbered = NUMBERED_HEADING.fullmatch(path[-1].strip())
            number, heading = (numbered["number"], numbered["heading"]) if numbered else ("", path[-1].strip())
            subject = self.subjects[document_id]
            sections.append(Section(document_id, subject, number, heading.rstrip(":"), frozenset(ids), ids[0]))
        return sections

    @cached_property
    def places(self) -> dict[tuple[str, str], frozenset[str]]:
        """The chunks of each place that a link may lead to: document path and id of an element there, "" for the whole page."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for chunk in self.chunks:
            for anchor in ("", *chunk.anchors):
                found[self.path_of[chunk.document_id], anchor].add(chunk.id)
        return {place: frozenset(ids) for place, ids in found.items()}

    @cached_property
    def stating(self) -> dict[str, frozenset[str]]:
        """The chunks that have each sentence, and those that have a link in it, by its words with single spaces."""
        found: dict[str, set[str]] = defaultdict(set)
        for chunk in self.chunks:
            for text in (*(one.text for one in self.statements[chunk.id]), *(link.context for link in chunk.links)):
                found[" ".join(text.split())].add(chunk.id)
        return {text: frozenset(ids) for text, ids in found.items()}

    def having(self, text: str, *, document_id: str) -> frozenset[str]:
        """Return the chunks of a document that have a text word for word (spaces aside)."""
        wanted = " ".join(text.split())
        return frozenset(chunk.id for chunk in self.of_document[document_id] if wanted in self._flat[chunk.id])

    @cached_property
    def _flat(self) -> dict[str, str]:
        return {chunk.id: " ".join(chunk.text.split()) for chunk in self.chunks}


def _telling(title: str) -> set[str]:
    """Return the words and part numbers of a title that may tell it from others."""
    return {*WORD_OF_TITLE.findall(title.casefold()), *part_numbers(title)}


def body(chunk: Chunk) -> str:
    """Return the text of a chunk without labels in brackets before it."""
    return PRODUCT_LINE.sub("", chunk.text)
