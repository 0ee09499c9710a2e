"""The names of a corpus, learned from itself: its titles, products, part numbers, identifiers and recurring proper names.

What is generic is decided by counting, not by a list of words: a proper name recurs in several places, a title made of words that the
corpus writes in lower case is matched only with its capitals, a prefix with a whole series of small numbers is a row of pins. A heading is
no name: what it names is found in it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from kgrag.text.name_shapes import code_names, is_code_name, part_numbers
from kgrag.text.names import Gazetteer, NameMatch, normal_form, without_brackets
from kgrag.text.products import titled_products
from kgrag.text.units import SYMBOLS
from kgrag.types import Chunk, Document, content_id

__all__ = ["IDENTIFIER", "PART", "PRODUCT", "TERM", "TITLE", "CorpusNames"]

PRODUCT, TITLE, PART, IDENTIFIER, TERM = "Product", "Title", "Part", "Identifier", "Term"
"""One name has one type, so that its mentions meet in one node: the first of these that fits."""

PLACE_HEADINGS = 2
"""Headings from the top that tell places of a document apart: a manual in one file is as many places as it has sections."""
TERM_PLACES = 2
"""A proper name becomes a term when it stands in so many places."""
SINGLE_WORD_TERM_PLACES = 3
IDENTIFIER_CHUNKS = 2
"""What one chunk alone has is an example's."""
ONE_THING_CHUNKS = 100
"""A document that is no longer than this and names its product or title in its text is about one thing: tables and pronouns are of that."""
SHEET_CHUNKS = 5
"""So short, a document of a known product need not name it."""
PRODUCT_DOCUMENTS = 3
"""A product that has more documents has a manual of many pages, each about something else. So many documents are not many enough to say
that a product is only what their folder is called."""
ORDINARY_LOWER_CASE_SHARE = 0.1
"""A word that is written in lower case more often than this is an ordinary word."""
SERIES_MEMBERS = 6
"""A prefix followed by so many different numbers of at most two digits counts pins or channels (GPIO0 ... GPIO21)."""
MAX_NAME_CHARACTERS = 120
CELL_CHARACTERS = 40

WORD = re.compile(r"[^\W\d_]+")
SERIES_MEMBER = re.compile(r"(.*?\D)(\d{1,2})")
PLACEHOLDER = re.compile(r"X{2,}|Y{2,}|N{2,}|Z{2,}")
"""What stands for something else: `20.XXXXXXXXXXXX`."""
POSSESSIVE = re.compile(r"['’]s?$")
CAPITAL = r"(?:[A-Z][\w'’]*[^\W_]|[A-Z]{2,})"
PROPER = re.compile(
    rf"(?<!\w-)\b{CAPITAL}(?:(?:[ -]|\s(?:of|the|and|de|von|van|da|del|la|for|&)\s(?:the\s)?){CAPITAL}|\s\d+(?![\w.,]))*"
)
WORDS = re.compile(r"[\w'’-]*[A-Z0-9][\w'’-]*")
ACRONYMS = re.compile(r"\b[A-Z]{2,}[\w-]*(?:\s(?:and|&)\s[A-Z0-9]{2,}[\w-]*)+$")
PATH = re.compile(r"(?:^|[\s(\"'])(?:~|\.{0,2})/|[/\\]\S*[/\\]|://")
"""What stands in a path or an address is no name."""
PART_CONTINUES = re.compile(r"-\d")
SENTENCE_START = re.compile(r"(?:^|[.!?:;=|\n•\-–(\[\"“]\s*)$")
CAMEL = re.compile(r"[A-Z]{2,}|\w*[a-z][A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*")


@dataclass(slots=True)
class _Counts:
    """What one pass over the corpus counts."""

    lower: Counter[str] = field(default_factory=Counter)
    upper: Counter[str] = field(default_factory=Counter)
    chunks: Counter[str] = field(default_factory=Counter)
    """By document."""
    says_title: set[str] = field(default_factory=set)
    """Documents whose text says their title."""
    says_product: set[str] = field(default_factory=set)
    """Documents whose text says their product, as a word of its own."""
    identifier_chunks: Counter[str] = field(default_factory=Counter)
    part_spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    proper_places: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    proper_spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    starts_sentence: Counter[str] = field(default_factory=Counter)
    elsewhere: Counter[str] = field(default_factory=Counter)
    """In how many more chunks of other documents than of its own the text has a title or product of one word in small letters."""

    def is_ordinary(self, word: str) -> bool:
        """Whether the corpus writes this word in lower case often enough to take it for an ordinary one."""
        lower = self.lower[word.lower()]
        return lower > ORDINARY_LOWER_CASE_SHARE * (lower + self.upper[word.lower()])


class CorpusNames:
    """The gazetteer of a corpus, with the type of each name. Equal corpora give equal names, in whatever order they come."""

    def __init__(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        titles: set[str] = set()
        title_of: dict[str, str] = {}
        product_of: dict[str, str] = {}
        documents_of: dict[str, list[str]] = defaultdict(list)
        for document in documents:
            titles.add(document.title)
            title_of[document.id] = document.title
            if document.product:
                product_of[document.id] = document.product
                documents_of[document.product].append(document.id)
        counts = _Counts()
        written = {product: _as_a_word(product) for product in documents_of}
        plain_titles = {name for name in titles | set(documents_of) if WORD.fullmatch(name) and name.islower()}
        for chunk in chunks:
            titles.add(chunk.title)
            product = product_of.get(chunk.document_id, "")
            for title in plain_titles.intersection(WORD.findall(chunk.text) if plain_titles else ()):
                counts.elsewhere[title] += -1 if title in (chunk.title, product) else 1
            _count(counts, chunk, product=written.get(product))
        titled = titled_products((product, title_of[one]) for one, product in product_of.items())
        products = {
            product
            for product, its in documents_of.items()
            if len(its) <= PRODUCT_DOCUMENTS
            or 2 * len(counts.says_product.intersection(its)) >= len(its)
            or normal_form(product) in titled
        }
        self.product_of = {one: product for one, product in product_of.items() if product in products}
        """By document, without what is only a folder's name, as `usr`: no title has it, and most documents do not say it."""
        self.about_one_thing = {
            document
            for document in counts.chunks
            if (
                document in (counts.says_product if document in self.product_of else counts.says_title)
                or (counts.chunks[document] <= SHEET_CHUNKS and document in self.product_of)
            )
            and counts.chunks[document] <= ONE_THING_CHUNKS
            and len(documents_of.get(self.product_of.get(document, ""), ())) <= PRODUCT_DOCUMENTS
        }
        """Ids of documents that are about their product, or about what their title names."""
        self._documents = sorted(
            f"{title}\t{self.product_of.get(document, '')}\t{document in self.about_one_thing}"
            for document, title in title_of.items()
        )
        self._learn(titles, products, counts)

    def _learn(self, titles: set[str], products: set[str], counts: _Counts) -> None:
        named: dict[str, tuple[str, str]] = {}
        for kind, names in (
            (PRODUCT, products),
            (TITLE, titles),
            (PART, _parts(counts)),
            (IDENTIFIER, {name for name, chunks in counts.identifier_chunks.items() if chunks >= IDENTIFIER_CHUNKS}),
            (TERM, _terms(counts)),
        ):
            for name in sorted(filter(_is_name, names)):
                named.setdefault(normal_form(name), (kind, name))
        aliases = _without_parentheses(name for kind, name in named.values() if kind in (PRODUCT, TITLE))
        self._entity_key: dict[str, str] = {}
        for alias, full in aliases.items():
            key = normal_form(alias)
            # A name of its own is never taken for the short form of another.
            if named.get(key, (TERM, ""))[0] == TERM:
                named[key] = (named[normal_form(full)][0], alias)
                self._entity_key[key] = normal_form(full)
        self._types = {key: kind for key, (kind, _) in named.items()}
        self._guarded = {
            key: name
            for key, (kind, name) in named.items()
            if kind not in (PART, IDENTIFIER) and _is_made_of_ordinary_words(name, counts)
        }
        self._common = {normal_form(title) for title, chunks in counts.elsewhere.items() if chunks > 0}
        """Titles and products that are words as any: `test`, the subject of a mail, `etc`, a folder."""
        self._one_word = {key for key, (kind, name) in named.items() if kind == TERM and " " not in name}
        self._gazetteer = Gazetteer((name for _, name in named.values()), as_written=self._guarded.values())
        self._remember_cells()
        self.fingerprint = content_id(
            *(f"{key}\t{kind}\t{name}" for key, (kind, name) in sorted(named.items())),
            *(f"{key}\t{full}" for key, full in sorted(self._entity_key.items())),
            *sorted(self._guarded),
            *sorted(self._common),
            *self._documents,
        )

    def __len__(self) -> int:
        return len(self._types)

    def type_of(self, name: str) -> str | None:
        """The type of a known name, by its normal form; None for an unknown one."""
        return self._types.get(normal_form(name))

    def type_of_key(self, key: str) -> str:
        """The type of a match's name."""
        return self._types[key]

    def entity_key(self, key: str) -> str:
        """The normal form of the entity that a match names: of `Theodred II (Bishop of Elmham)` where the text has `Theodred II`."""
        return self._entity_key.get(key, key)

    def counts(self) -> Counter[str]:
        """How many names there are of each type."""
        return Counter(self._types.values())

    def _remember_cells(self) -> None:
        # Tables say the same in many cells (GND, Digital, 3.3 V).
        self._find_in_cell = lru_cache(maxsize=1 << 14)(self._find)

    def __getstate__(self) -> dict[str, Any]:
        """All but what was found already: it goes to other processes."""
        return {name: value for name, value in self.__dict__.items() if name != "_find_in_cell"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._remember_cells()

    def find(self, text: str) -> Sequence[NameMatch]:
        """Find the names of a text. A single ordinary word counts only inside a sentence: at its start anything has a capital."""
        return self._find_in_cell(text) if len(text) <= CELL_CHARACTERS else self._find(text)

    def _find(self, text: str) -> tuple[NameMatch, ...]:
        return tuple(match for match in self._gazetteer.find(text) if self._is_meant(match, text))

    def _is_meant(self, match: NameMatch, text: str) -> bool:
        if PATH.search(text, text.rfind(" ", 0, match.start) + 1, match.start):
            return False
        if self._types[match.key] == IDENTIFIER:
            # `transport maps` is no setting.
            return is_code_name(match.written)
        if match.key in self._one_word and " " in match.written and match.written[0].islower():
            # `to do` is no TODO.
            return False
        if match.key in self._common and self._types[match.key] in (TITLE, PRODUCT):
            return False
        return (
            match.key not in self._guarded
            or " " in match.written
            or match.written == text
            or not SENTENCE_START.search(text, max(0, match.start - 8), match.start)
        )


def _count(counts: _Counts, chunk: Chunk, *, product: re.Pattern[str] | None) -> None:
    place = "\n".join((chunk.document_id, *chunk.headings[:PLACE_HEADINGS]))
    counts.chunks[chunk.document_id] += 1
    if chunk.document_id not in counts.says_title and without_brackets(chunk.title).casefold() in chunk.text.casefold():
        counts.says_title.add(chunk.document_id)
    if product and chunk.document_id not in counts.says_product and product.search(chunk.text):
        counts.says_product.add(chunk.document_id)
    for name in set(code_names(f"{chunk.section}\n{chunk.text}")):
        counts.identifier_chunks[name] += 1
    for word in WORD.findall(chunk.text):
        (counts.lower if word[0].islower() else counts.upper)[word.lower()] += 1
    for part in part_numbers(f"{chunk.title}\n{chunk.section}\n{chunk.text}"):
        counts.part_spellings[normal_form(part)][part] += 1
    for start, written, end in _proper_names(chunk.text):
        if len(written) > MAX_NAME_CHARACTERS or (written.isupper() and " " in written) or written in SYMBOLS:
            continue
        if PART_CONTINUES.match(chunk.text, end) or PLACEHOLDER.fullmatch(written):
            continue
        written = POSSESSIVE.sub("", written)
        starts = bool(SENTENCE_START.search(chunk.text, max(0, start - 8), start))
        if starts and not CAMEL.fullmatch(written):
            # The first word has its capital from the sentence: the name may begin after it.
            _, _, written = written.partition(" ") if " " in written else ("", "", written)
            counts.starts_sentence[written] += 1
            if not written[:1].isupper():
                continue
        key = normal_form(written)
        counts.proper_places[key].add(place)
        counts.proper_spellings[key][written] += 1


def _as_a_word(product: str) -> re.Pattern[str]:
    """What finds a product in a text, its parts in one or divided, and in no path or longer name: `usr` not in `/usr/lib`."""
    parts = r"[\W_]?".join(map(re.escape, re.findall(r"[^\W_]+", product)))
    return re.compile(rf"(?<![\w/\\.-]){parts}(?![\w/\\-])" if parts else re.escape(product), re.IGNORECASE)


def _proper_names(text: str) -> Iterator[tuple[int, str, int]]:
    """Find proper names: where each begins, as it is written, and where it ends. What `and` joins are two where both are acronyms."""
    for match in PROPER.finditer(text):
        joined = ACRONYMS.search(match.group())
        before = match.group()[: joined.start()] if joined else match.group()
        if name := before.rstrip():
            yield match.start(), name, match.start() + len(name)
        for one in WORDS.finditer(match.group(), len(before)):
            yield match.start() + one.start(), one.group(), match.start() + one.end()


def _parts(counts: _Counts) -> set[str]:
    series: dict[str, set[str]] = defaultdict(set)
    for key in counts.part_spellings:
        if match := SERIES_MEMBER.fullmatch(key):
            series[match[1]].add(match[2])
    pins = {prefix for prefix, numbers in series.items() if len(numbers) >= SERIES_MEMBERS}
    return {
        _spelling(spellings)
        for key, spellings in counts.part_spellings.items()
        if not ((match := SERIES_MEMBER.fullmatch(key)) and match[1] in pins)
    }


def _terms(counts: _Counts) -> set[str]:
    found = set()
    for key, places in counts.proper_places.items():
        if len(places) < TERM_PLACES:
            continue
        spellings = counts.proper_spellings[key]
        name = _spelling(spellings)
        words = WORD.findall(name)
        if len(words) > 1:
            if not all(counts.is_ordinary(word) for word in words):
                found.add(name)
        elif (
            len(places) >= SINGLE_WORD_TERM_PLACES and len(name) > 1 and name.isalpha() and not counts.is_ordinary(name)
        ):
            inside = sum(spellings.values()) - counts.starts_sentence[name]
            # Most capitals of a name stand in the middle of a sentence, and by themselves: a first name does not.
            if inside * 2 > counts.upper[name.lower()] or CAMEL.fullmatch(name):
                found.add(name)
    return found


def _spelling(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda name: (-spellings[name], name))


def _is_name(name: str) -> bool:
    return 1 < len(name.strip()) <= MAX_NAME_CHARACTERS and any(c.isalpha() for c in name)


def _without_parentheses(names: Iterable[str]) -> dict[str, str]:
    """Short form to full name, where one name only has that short form: `Theodred II` for `Theodred II (Bishop of Elmham)`."""
    fulls: dict[str, set[str]] = defaultdict(set)
    for name in names:
        short = without_brackets(name)
        if short != name and _is_name(short):
            fulls[short].add(name)
    by_key: dict[str, set[str]] = defaultdict(set)
    for short, full in fulls.items():
        by_key[normal_form(short)] |= full
    return {short: next(iter(full)) for short, full in fulls.items() if len(by_key[normal_form(short)]) == 1}


def _is_made_of_ordinary_words(name: str, counts: _Counts) -> bool:
    words = WORD.findall(name)
    return bool(words) and not any(c.isdigit() for c in name) and all(counts.is_ordinary(word) for word in words)
