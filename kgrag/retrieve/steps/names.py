"""Names in the question: chunks about something that the question names, or about members of a family that it names, are preferred."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Literal

from kgrag.retrieve.state import Candidate, Hit, NamedEntity, Resources, State, best_first, hit_of
from kgrag.retrieve.step import Count, CountOrNone, Share, Step
from kgrag.store.search_rows import FamilyRow, LinkedEntityRow, NamedRow, StatedRow
from kgrag.text.names import Gazetteer, normal_form, subject_of_title, without_brackets
from kgrag.text.questions import families_said
from kgrag.text.words import FUNCTION_WORDS

__all__ = [
    "Names",
    "forms_of_sequences",
    "goes_on",
    "is_ordinary_word",
    "named_without_brackets",
    "names_said",
    "prefer_named",
    "word_sequences",
]

MAX_WORDS = 12
"""Words of the longest name that is looked for."""
MAX_QUESTION_WORDS = 200
"""A longer question is looked at up to here: each word adds MAX_WORDS lookups."""
REMEMBERED_QUESTIONS = 64
"""Several steps ask for the forms of the same question."""
WORD = re.compile(r"[^\W_]+[+#%]*")
FEWEST_MEMBERS = 2
"""A name that begins one other name only is no family's."""
WORD_SHARE = 0.1
"""A name that the chunks about it write small in this share of all cases is an ordinary word as well."""
INSIDE_SENTENCE = re.compile(r"(?<=[^\s.!?:]\s)[^\W_]+")
WORD_END = re.compile(r"(?=\s)|(?<!\d)(?=-)|(?=-(?!\d))")
"""Spaces and hyphens, but for what stands between two digits."""


class Names(Step):
    """Preference for chunks about something that the question names."""

    kind: Literal["names"] = "names"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    weight: Share
    """What a chunk about something that the question names gains, on the scale on which the best possible seed has 1."""
    chunks: Count = 50
    """Chunks about one name that become candidates, nearest to the question first. Those that are candidates already gain as these do."""
    members: CountOrNone = 0
    """The same for each member of a family that the question names (`Nano boards`, `the Nicla family`); 0: families are not looked for."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read what the question names, and add to the scores of the chunks about it."""
        ids = sorted({one.place[0] for one in state.candidates.values() if one.place is not None})
        named, members, documents = await asyncio.gather(
            self._named(state, resources),
            self._members(state, resources),
            asyncio.to_thread(resources.store.search.documents, ids=ids),
        )
        subjects: dict[str, list[str]] = {}
        for row in documents:
            subjects.setdefault(subject_of_title(row["title"]), []).append(row["id"])
        of_families = {member.key for member in members}
        known = tuple(
            replace(one, documents=frozenset(subjects.get(normal_form(one.name), ())))
            for one in (*members, *(entity for entity in named if entity.key not in of_families))
        )
        titles = {row["id"]: row["title"] for row in documents}
        state = replace(state, named=(*known, *named_without_brackets(state, known, titles)))
        return replace(state, candidates=prefer_named(state, weight=self.weight))

    async def _named(self, state: State, resources: Resources) -> tuple[NamedEntity, ...]:
        """Find the entities that the question names (longest names first, numeric-safe) and the chunks that are about them."""
        question = state.query.question
        normals = forms_of_sequences(question)
        if not normals:
            return ()
        rows = await asyncio.to_thread(
            resources.store.search.named_chunks,
            graph=resources.graph,
            normals=normals,
            vector=state.vector,
            limit=self.chunks,
            among=list(state.candidates),
        )
        said = names_said(question, rows)
        return tuple(
            NamedEntity(row["key"], row["name"], tuple(hit_of(chunk) for chunk in row["chunks"]))
            for row in sorted(rows, key=lambda row: (row["key"], row["normal"]))
            if row["normal"] in said and not is_ordinary_word(row, question)
        )

    async def _members(self, state: State, resources: Resources) -> tuple[NamedEntity, ...]:
        """Find the families that the question names, and of each member the chunks about it that are nearest to the question."""
        if not self.members:
            return ()
        said = [[normal_form(name) for name in names] for names in families_said(state.query.question)]
        families = sorted({family for names in said for family in names} - {""})
        if not families:
            return ()
        rows = await asyncio.to_thread(
            resources.store.search.family_chunks,
            graph=resources.graph,
            families=families,
            vector=state.vector,
            limit=self.members,
            among=list(state.candidates),
        )
        members = {family: _members_of(family, rows) for family in families}
        meant = dict.fromkeys(next((family for family in names if members.get(family)), "") for names in said)
        return tuple(
            NamedEntity(row["key"], row["name"], tuple(hit_of(chunk) for chunk in row["chunks"]), family)
            for family in meant
            if family
            for row in members[family]
        )


def word_sequences(question: str) -> Iterator[str]:
    """Yield every sequence of up to MAX_WORDS words of the question, as written, that is not only function words."""
    words = list(WORD.finditer(question))[:MAX_QUESTION_WORDS]
    for first, start in enumerate(words):
        has_content = False
        for last in words[first : first + MAX_WORDS]:
            has_content = has_content or last.group().casefold() not in FUNCTION_WORDS
            if has_content:
                yield question[start.start() : last.end()]


@lru_cache(maxsize=REMEMBERED_QUESTIONS)
def forms_of_sequences(question: str) -> tuple[str, ...]:
    """Return the normal forms of these sequences, each once, sorted: what an entity that the question names may be found by."""
    return tuple(sorted({normal_form(words) for words in word_sequences(question)} - {""}))


def names_said(question: str, rows: Sequence[NamedRow | LinkedEntityRow | StatedRow]) -> set[str]:
    """Keep the names (by normal form) that really stand in the question: not inside a longer name, word or part number."""
    gazetteer = Gazetteer(spelling for row in rows for spelling in (row["name"], *(row["aliases"] or ())))
    return {match.key for match in gazetteer.find(question)}


def named_without_brackets(
    state: State, known: Sequence[NamedEntity], titles: Mapping[str, str]
) -> tuple[NamedEntity, ...]:
    """Return what the question names without the brackets at the end of its title: `Mark King` is `Mark King (musician)`.

    `titles` are those of the candidates' documents. The question may mean any of several titles that only brackets tell apart, and means
    none of them where what it says is itself the name of something `known`. Capitals are as in the title: `amber` is not `Amber (song)`.
    """
    shorts = {one: short for one, title in titles.items() if (short := without_brackets(title)) != title}
    names = {short for short in shorts.values() if any(character.isalpha() for character in short)}
    gazetteer = Gazetteer([*names, *(entity.name for entity in known)], as_written=names)
    said = {match.key for match in gazetteer.find(state.query.question)}
    meant = said - {normal_form(entity.name) for entity in known}
    if not meant:
        return ()
    about: dict[str, list[Hit]] = {}
    for candidate in best_first(state.candidates.values()):
        if candidate.is_chunk and candidate.place and normal_form(shorts.get(candidate.place[0], "")) in meant:
            hit = Hit(candidate.chunk_id, candidate.cosine, candidate.place)
            about.setdefault(titles[candidate.place[0]], []).append(hit)
    return tuple(NamedEntity(title, shorts[hits[0].place[0]], tuple(hits)) for title, hits in about.items())


def is_ordinary_word(row: NamedRow, question: str) -> bool:
    """Tell whether a question means a word where the store has a name: `my phone` for the chapter `Phone`, whose text says `phone`, too.

    Only of a name of one word, and not where the question writes it as a name within a sentence (`the Phone app`).
    """
    if row["as_word"] < WORD_SHARE * (row["as_name"] + row["as_word"]) or not row["as_word"]:
        return False
    return not any(match.group() == row["name"] for match in INSIDE_SENTENCE.finditer(question))


def prefer_named(state: State, *, weight: float) -> dict[str, Candidate]:
    """Add `weight` to the score of every chunk about a named entity, to all alike.

    Alike, because a question about two things is about both, however much there is to read of each. In a document that is about the
    entity as a whole its name in a heading says nothing, so there every candidate gains.
    """
    candidates = dict(state.candidates)
    gaining: dict[str, str] = {}
    for entity in state.named:
        for chunk in entity.chunks:
            candidates.setdefault(chunk.chunk_id, state.candidate(chunk))
            gaining.setdefault(chunk.chunk_id, entity.name)
    documents = {one: entity.name for entity in reversed(state.named) for one in entity.documents}
    for chunk_id, candidate in candidates.items():
        if candidate.place is not None and (name := documents.get(candidate.place[0])):
            gaining.setdefault(chunk_id, name)
    for chunk_id, name in gaining.items():
        candidate = candidates[chunk_id]
        candidates[chunk_id] = candidate.scored(candidate.score + weight, f"question names {name}", by="names")
    return candidates


def goes_on(name: str, family: str) -> bool:
    """Tell whether a name has more words after the family's: `Nano 33` after `nano` and `X-100` after `x`, not `Nanotech` or `X-1000`."""
    return any(normal_form(name[: end.start()]) == family for end in WORD_END.finditer(name))


def _members_of(family: str, rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Keep those whose name is the family's or goes on after it; none where it begins fewer than two names."""
    longer = [row for row in rows if row["family"] == family and goes_on(row["name"], family)]
    if len(longer) < FEWEST_MEMBERS:
        return []
    return [*longer, *(row for row in rows if row["family"] == family and row["normal"] == family)]
