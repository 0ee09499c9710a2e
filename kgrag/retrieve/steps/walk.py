"""The bounded walk along authors' hyperlinks of LARAG (Bolognesi et al., 2026): from seeds, depth first, each chunk entered once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar, Literal

import numpy as np

from kgrag.retrieve.scores import cosine
from kgrag.retrieve.state import Candidate, Resources, State, best_first
from kgrag.retrieve.step import Count, CountOrNone, Step
from kgrag.store.links import OTHER_SITE
from kgrag.store.search import Search
from kgrag.store.search_rows import ChunkLinksRow, DocumentRow, LinkTargetRow, MentionLinkRow

__all__ = ["Walk", "words_around"]

MENTION_WORDS = 40
"""Of the text around a mention of a title: what stands for the sentence around a hyperlink."""

OUT_OF_DATE = frozenset({"deprecated", "obsolete", "superseded", "withdrawn", "archived"})
"""What the metadata `status` of a document says that is not to be followed any more."""


@dataclass(frozen=True, slots=True)
class _Link:
    """A link of a chunk: what is said around it, and the chunks that it leads to."""

    anchor: str
    context: str
    targets: tuple[LinkTargetRow | MentionLinkRow, ...]
    href: str = ""
    """Empty for a mention of a title."""


class Walk(Step):
    """Follow hyperlinks from seeds; at each link the chunks of its target are ranked by the words around the link, not by the question.

    What was reached stands behind the seeds in the order of the walk. With `links`, `depth` or `chunks` 0 nothing is followed. A link
    that leads nowhere takes no place among `links`; the trace counts those (`external`, `broken`) of the chunks that were expanded.
    """

    kind: Literal["walk"] = "walk"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    seeds: Count = 5
    """Best chunks that the walk begins at."""
    links: CountOrNone = 1
    """Links that lead somewhere, followed from each chunk (n_links)."""
    depth: CountOrNone = 1
    """Hops from a seed at most."""
    chunks: CountOrNone = 1
    """Chunks taken of each link's target (top_m)."""
    over: Literal["relationships", "metadata", "titles"] = "relationships"
    """Where links are read: `LINKS_TO`, or the links that the chunks have as metadata, with the same result; or mentions of what other
    chunks are about (their title), for passages without hyperlinks."""
    links_of: Literal["chunk", "section"] = "chunk"
    """Whose links are followed from a chunk: its own, or those of all chunks of its section. Of `titles` always its own."""
    backlinks: bool = False
    """Whether links that lead to a chunk are followed back, up to `links` of them after its own."""
    order: Literal["document", "question"] = "document"
    """Which links come first: as they stand, or those whose context is nearest to the question."""
    context_words: Count = 12
    """Words around a link that its targets are ranked by, the link's own in the middle."""
    rerank: Literal["none", "question"] = "none"
    """Whether seeds and what was reached are ranked together by the question in the end."""
    versions: Literal["all", "same"] = "all"
    """`same`: no chunk is entered whose document is of another version than the one with the link (where both say one), or is deprecated
    (metadata `deprecated: true`, or a `status` of `OUT_OF_DATE`)."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Walk, and put what was reached behind the seeds."""
        seeds = [one for one in best_first(state.candidates.values()) if one.is_chunk][: self.seeds]
        if not (seeds and self.links and self.depth and self.chunks):
            return state
        visited = {one.chunk_id for one in seeds}
        reached: list[Candidate] = []
        counts: Counter[str] = Counter()
        versions = _Versions(resources.store.search)

        async def expand(chunk: str, document: str, hop: int) -> None:
            for link in await self._links_of(chunk, state, resources, counts):
                for target, similarity in await self._best(link, resources):
                    if target["id"] in visited:
                        continue
                    if self.versions == "same" and not await versions.may_follow(document, target["document_id"]):
                        counts["other version"] += 1
                        continue
                    visited.add(target["id"])
                    why = f"walk: hop {hop} from {chunk} by {link.anchor!r}, {similarity:.2f}"
                    reached.append(
                        Candidate(target["id"], 0.0, (why,), place=(target["document_id"], target["position"]))
                    )
                    if hop < self.depth:
                        await expand(target["id"], target["document_id"], hop + 1)

        for seed in seeds:
            await expand(seed.chunk_id, seed.place[0] if seed.place else "", 1)
        last = min(one.score for one in seeds)
        behind = {
            one.key: one.scored(last * (1 - place / (len(reached) + 1)), by=self.kind)
            for place, one in enumerate(reached, start=1)
        }
        found = {**{one.key: one for one in seeds}, **behind}
        if self.rerank == "question":
            found = await _by_question(found, state, resources)
        candidates = {**state.candidates, **found} if self.rerank == "none" else found
        return replace(state, candidates=candidates, counts=counts)

    async def _links_of(self, chunk: str, state: State, resources: Resources, counts: Counter[str]) -> list[_Link]:
        """The links that are followed from a chunk: those that lead somewhere else, the first in its order."""
        chunks = [chunk]
        if self.links_of == "section" and self.over != "titles":
            chunks = await asyncio.to_thread(resources.store.search.chunks_of_section, id=chunk)
        own, back, dropped = await asyncio.to_thread(self._read, chunk, chunks, resources)
        there = [link for link in own if link.targets and link.targets[0]["id"] not in chunks]
        links = [*await self._first(there, state, resources), *await self._first(back, state, resources)]
        counts.update(dropped)
        counts["followed"] += len(links)
        return links

    async def _first(self, links: list[_Link], state: State, resources: Resources) -> list[_Link]:
        if self.order == "question" and len(links) > self.links:
            vectors = await self._embedded([link.context for link in links], resources)
            scores = vectors @ np.array(state.vector, dtype=np.float32)
            links = [
                links[place] for place in sorted(range(len(links)), key=lambda place: (-float(scores[place]), place))
            ]
        return links[: self.links]

    def _read(
        self, chunk: str, chunks: Sequence[str], resources: Resources
    ) -> tuple[list[_Link], list[_Link], Counter[str]]:
        """The links of chunks, those of others to the one where they are followed back, and how many of their own lead nowhere."""
        search, graph = resources.store.search, resources.graph
        if self.over == "titles":
            links = _by_titles(search.titles_mentioned(graph=graph, id=chunk))
            back = search.mentioning_titles(graph=graph, id=chunk) if self.backlinks else []
            return links, [_Link(row["anchor"], _around(row), (row,)) for row in back], Counter()
        found: list[_Link] = []
        dropped: Counter[str] = Counter()
        for one in chunks:
            own = next(iter(search.chunk_links(id=one)), None)
            said = sorted(json.loads(own["links"] or "[]") if own else [], key=lambda link: link["position"])
            links = (
                _by_relationships(search.link_targets(id=one))
                if self.over == "relationships"
                else _by_metadata(said, search)
            )
            there = {link.href for link in links if link.targets}
            dropped.update(
                "external" if OTHER_SITE.match(link["href"]) else "broken"
                for link in said
                if link["href"] not in there and not (own and _means(link["href"], own))
            )
            found += links
        sources = search.link_sources(id=chunk) if self.backlinks else []
        return found, [_Link(row["anchor"], row["context"], (row,)) for row in sources], dropped

    async def _best(self, link: _Link, resources: Resources) -> list[tuple[LinkTargetRow | MentionLinkRow, float]]:
        vector = (await self._embedded([words_around(link.context, link.anchor, words=self.context_words)], resources))[
            0
        ]
        scored = [
            (row, float(np.array(row["embedding"], dtype=np.float32) @ vector))
            for row in link.targets
            if row["embedding"]
        ]
        return sorted(scored, key=lambda one: (-one[1], one[0]["position"], one[0]["id"]))[: self.chunks]

    @staticmethod
    async def _embedded(texts: Sequence[str], resources: Resources) -> Any:
        return await resources.embedder.embed_queries(list(texts))


class _Versions:
    """Which documents may be entered from which: read once for each document of a walk."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._known: dict[str, DocumentRow] = {}

    async def may_follow(self, source: str, target: str) -> bool:
        """Whether a walk may go from one document to another."""
        missing = [one for one in (source, target) if one not in self._known]
        if missing:
            rows = await asyncio.to_thread(self._search.documents, ids=missing)
            self._known.update({row["id"]: row for row in rows})
        here, there = self._known.get(source), self._known.get(target)
        if there is None or _is_out_of_date(there):
            return False
        one, other = here and here["version"], there["version"]
        return not one or not other or one == other


def _is_out_of_date(row: DocumentRow) -> bool:
    said = {key.casefold(): str(value).strip().casefold() for key, value in json.loads(row["metadata"] or "{}").items()}
    return said.get("deprecated") in ("true", "yes", "1") or said.get("status") in OUT_OF_DATE


def words_around(context: str, anchor: str, *, words: int) -> str:
    """Return up to `words` words of a sentence or table row with a link's own text in their middle; of a longer link its first words.

    A row's first cell says what it is about, so the words around a link in a short cell are also those of the cells beside it.
    """
    said, inside = [word for word in context.split() if word != "|"], anchor.split()
    if not inside or len(inside) >= words:
        return " ".join(inside[:words] or said[:words])
    starts = range(len(said) - len(inside) + 1)
    at = next((place for place in starts if said[place : place + len(inside)] == inside), None)
    if at is None:
        # The link is a part of a word with its punctuation: `(see power)`.
        at = next((place for place in starts if inside[0] in said[place]), 0)
    room = words - len(inside)
    first = max(0, min(at - room // 2, len(said) - words))
    return " ".join(said[first : first + words])


def _by_relationships(rows: Sequence[LinkTargetRow]) -> list[_Link]:
    return [
        _Link(of_link[0]["anchor"], of_link[0]["context"], tuple(of_link), of_link[0]["href"])
        for _, some in groupby(rows, key=lambda row: row["link"])
        if (of_link := list(some))
    ]


def _by_metadata(said: Sequence[Mapping[str, Any]], search: Search) -> list[_Link]:
    """The links of a chunk as it says them; one out of the corpus or to an anchor that is nowhere leads to no chunks."""
    found = []
    for link in said:
        path, _, anchor = link["href"].partition("#")
        targets = tuple(search.section_chunks(path=path, anchor=anchor))
        found.append(_Link(link["anchor"], link["context"], targets, link["href"]))
    return found


def _means(href: str, chunk: ChunkLinksRow) -> bool:
    """Whether a link of a chunk leads to the chunk itself."""
    path, _, anchor = href.partition("#")
    return path == chunk["path"] and (not anchor or anchor in (chunk["anchors"] or ()))


def _by_titles(rows: Sequence[MentionLinkRow]) -> list[_Link]:
    """The names that a chunk mentions and others are about, in the order of its text."""
    by_name: dict[str, list[MentionLinkRow]] = {}
    for row in sorted(rows, key=lambda row: (row["text"].find(row["anchor"]), row["anchor"])):
        by_name.setdefault(row["anchor"], []).append(row)
    return [_Link(name, _around(some[0]), tuple(some)) for name, some in by_name.items()]


def _around(row: MentionLinkRow) -> str:
    return words_around(row["text"], row["anchor"], words=MENTION_WORDS)


async def _by_question(found: dict[str, Candidate], state: State, resources: Resources) -> dict[str, Candidate]:
    ids = [one.chunk_id for one in found.values()]
    rows = await asyncio.to_thread(resources.store.search.chunk_similarity, ids=ids, vector=state.vector)
    scores = {row["id"]: max(cosine(row["similarity"]), 0.0) for row in rows}
    return {key: one.scored(scores.get(one.chunk_id, 0.0)) for key, one in found.items()}
