"""The things that documents are about, and which of them a question means: all sensors, the Nano boards, the carriers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from kgrag.store.graph import GraphStore
from kgrag.store.search_rows import ThingRow
from kgrag.text.names import normal_form
from kgrag.text.products import titled_products
from kgrag.text.set_questions import GENERIC_NOUNS
from kgrag.text.words import plain, singular, stem, stems, words
from kgrag.types import Thing

__all__ = ["Things", "things_of"]

REVISIONS = frozenset("edition rev revision version".split())  # noqa: SIM905
MIN_NAME_LETTERS = 3


class Things:
    """What the documents of a store are about: the product of each, else its title.

    A product that none of its documents has in its title is a folder's name, and no thing; nor is one that is only a part of the names
    of programs (`mod` of `mod_ssl`). Where all products are, documents are known by their titles.
    """

    def __init__(self, rows: Iterable[ThingRow]) -> None:
        rows = list(rows)
        titled = titled_products((row["product"], row["title"]) for row in rows)
        self.are_products = bool(titled)
        documents: dict[str, list[ThingRow]] = defaultdict(list)
        names: dict[str, str] = {}
        for row in rows:
            name = (self.are_products and row["product"]) or row["title"]
            if name and name.strip():
                documents[normal_form(name)].append(row)
                names.setdefault(normal_form(name), name)
        self._titles: dict[str, frozenset[str]] = {}
        self.all: list[Thing] = []
        for normal, name in names.items():
            of_it = documents[normal]
            if self.are_products and normal not in titled and all(row["product"] for row in of_it):
                continue
            groups = Counter(row["category"] for row in of_it if row["category"])
            group = min(groups, key=lambda one: (-groups[one], one)) if groups else ""
            self.all.append(Thing(name=name, group=group, documents=tuple(row["id"] for row in of_it)))
            self._titles[name] = frozenset(one for row in of_it for _, one in stems(row["title"]))
        self.all.sort(key=lambda thing: thing.name)
        last = Counter(_heads(thing.name)[-1] for thing in self.all if _heads(thing.name))
        self._sorts = {word for word, count in last.items() if count > 1}

    def meant_by(self, noun: Sequence[str]) -> list[Thing]:
        """Return the things that a question means by these words; nothing where it is not known what it means."""
        *qualities, head = noun
        found = self._of_sort(singular(plain(head)))
        if found is None and _is_name(head):
            qualities, found = [*qualities, head], self.all
        for quality in reversed(qualities):
            found = self._with(quality, found or [])
        return found or []

    def _of_sort(self, sort: str) -> list[Thing] | None:
        """By the last noun of their names, by their group, or all."""
        by_name = [thing for thing in self.all if self._sort(thing) == sort]
        by_group = [thing for thing in self.all if sort in {singular(plain(word)) for word in words(thing.group)}]
        if by_name or by_group:
            return by_name or by_group
        by_title = [thing for thing in self.all if stem(sort) in self._titles[thing.name]]
        if sort in GENERIC_NOUNS:
            return self.all if self.are_products else None
        return by_title if len(by_title) > 1 else None

    def _sort(self, thing: Thing) -> str:
        heads = _heads(thing.name)
        known = [word for word in heads if word in self._sorts]
        return known[-1] if known else heads[-1] if heads else ""

    def _with(self, quality: str, things: Sequence[Thing]) -> list[Thing]:
        """Those that have the word: their names begin with it or have it, their group has it, or else their titles."""
        wanted = plain(quality)
        if wanted in GENERIC_NOUNS:
            return list(things)
        of_name = {thing.name: [plain(word) for word in words(thing.name)] for thing in things}
        by_reading = (
            [thing for thing in things if of_name[thing.name][:1] == [wanted]],
            [thing for thing in things if wanted in of_name[thing.name]],
            [thing for thing in things if wanted in map(plain, words(thing.group))],
            [thing for thing in things if stem(wanted) in self._titles[thing.name]],
        )
        return next(filter(None, by_reading), [])


def things_of(store: GraphStore) -> Things:
    """Return what the documents of a store are about; they are read once, and again after something was built."""
    return store.kept.get("things", lambda: Things(store.search.things()))


def _heads(name: str) -> list[str]:
    """The words of a name that may say its sort: no revision, code or abbreviation."""
    return [
        singular(plain(word))
        for word in words(name)
        if word.isalpha() and len(word) >= MIN_NAME_LETTERS and not word.isupper() and plain(word) not in REVISIONS
    ]


def _is_name(word: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in word)
