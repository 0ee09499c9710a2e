"""What is known of a community, cut to a budget: the only thing that its summary is made from."""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.types import Chunk, Community, Document, canonical_json, content_id

__all__ = ["Corpus", "EntityRow", "Profile", "make_profile", "representative_chunks"]

TOP_MEMBERS = 30
TOP_PRODUCTS = 15
"""Of members, and of products and categories: as the thesis's LlamaIndex summaries (chapter 3.4.5)."""
DESCRIPTION_CHARACTERS = 200
MEMBERS_SHARE = 0.3
"""Of the budget, at most, for the list of members."""
CITED_SHARE = 0.6
"""Of what is left, at most, for the chunks that the summaries of the parts cite."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity as profiles show it."""

    key: str
    name: str
    type: str
    description: str
    mentions: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """What profiles are made from: entities by key, the chunks that name them, and where those are from."""

    entities: Mapping[str, EntityRow]
    mentions: Mapping[str, tuple[str, ...]]
    """Entity -> chunks that name it, sorted."""
    chunk_tokens: Mapping[str, int]
    chunk_document: Mapping[str, str]
    documents: Mapping[str, Document]


@dataclass(frozen=True, slots=True)
class Profile:
    """A community cut to a budget. `chunks` are in the order of their numbers, `covered` says how many members they name."""

    key: str
    graph: str
    level: int
    size: int
    members: tuple[EntityRow, ...]
    """The most central first."""
    types: tuple[tuple[str, int], ...]
    products: tuple[tuple[str, float], ...]
    """With their share: how much of what names a member is about the product, on average over the members."""
    categories: tuple[tuple[str, float], ...]
    chunks: tuple[Chunk, ...]
    covered: int
    children: tuple[Community, ...] = ()
    """In the place of chunks where those that cover the members do not fit into the budget."""

    def canonical_json(self) -> str:
        """Write it as a model is shown it: sorted keys, no identifiers of the store; the same content gives the same text."""
        return canonical_json(self._content())

    @property
    def content_hash(self) -> str:
        """Identify what the summary is made of, the chunks that it may cite included."""
        return content_id(self.canonical_json(), *(chunk.id for chunk in self.chunks))

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "entities": self.size,
            "types": dict(self.types),
            "products": [name for name, _ in self.products],
            "categories": [name for name, _ in self.categories],
            "members": [_member(member) for member in self.members],
            "chunks": [
                {"number": number, "title": chunk.title, "section": chunk.section, "text": chunk.text}
                for number, chunk in enumerate(self.chunks, start=1)
            ],
        }
        if self.children:
            content["parts"] = [
                {"topic_label": child.label, "summary": child.summary, "key_terms": list(child.key_terms)}
                for child in self.children
            ]
        return content


def make_profile(
    key: str,
    *,
    graph: str,
    level: int,
    members: Sequence[tuple[str, float]],
    corpus: Corpus,
    children: Sequence[Community],
    read_chunks: Callable[[Sequence[str]], Sequence[Chunk]],
    count_tokens: Callable[[str], int],
    budget: int,
) -> Profile:
    """Cut a community to `budget` tokens: central members, then the chunks that cover the members best.

    `members` are keys with their centrality (summed weight of the edges to other members). Where the chunks that cover all members do not
    fit, the chunks that the summaries of `children` cite come first, then those summaries, largest first; other chunks take what is left.
    """
    central = sorted(members, key=lambda member: (-member[1], -corpus.entities[member[0]].mentions, member[0]))
    rows = [corpus.entities[member] for member, _ in central]
    shown, left = _shown_members(rows, count_tokens=count_tokens, budget=budget)
    naming = {row.key: corpus.mentions.get(row.key, ()) for row in rows}
    named = {chunk for chunks in naming.values() for chunk in chunks}
    weights = {member: 1.0 + weight for member, weight in members}
    chosen = representative_chunks(naming, weights=weights, tokens=corpus.chunk_tokens, budget=left)
    parts: list[Community] = []
    if children and _covered(naming, chosen) < sum(map(bool, naming.values())):
        largest = sorted(children, key=lambda child: (-child.size, child.key))
        cited = _cited_chunks(largest, tokens=corpus.chunk_tokens, budget=int(left * CITED_SHARE))
        left -= sum(corpus.chunk_tokens[chunk] for chunk in cited)
        for child in largest:
            cost = count_tokens(child.full_content)
            if child.summary and cost <= left:
                parts.append(child)
                left -= cost
        unnamed = {member: () if set(chunks) & set(cited) else chunks for member, chunks in naming.items()}
        others = representative_chunks(unnamed, weights=weights, tokens=corpus.chunk_tokens, budget=left)
        chosen = [*cited, *others]
    if not chosen and named:
        # A chunk that is longer than the budget is still better than nothing to quote.
        chosen = [min(named, key=lambda chunk: (corpus.chunk_tokens[chunk], chunk))]
    documents = {chunk: _document(corpus, chunk) for chunk in named}
    return Profile(
        key=key,
        graph=graph,
        level=level,
        size=len(members),
        members=tuple(shown),
        types=_ranked(Counter(row.type for row in rows)),
        products=_shares(naming, {chunk: one.product or one.title for chunk, one in documents.items()}),
        categories=_shares(naming, {chunk: one.category or "" for chunk, one in documents.items()}),
        chunks=tuple(read_chunks(chosen)),
        covered=_covered(naming, chosen),
        children=tuple(parts),
    )


def _shown_members(
    rows: Sequence[EntityRow], *, count_tokens: Callable[[str], int], budget: int
) -> tuple[list[EntityRow], int]:
    """Return the first members that fit into their share of the budget, at least one, and what is left of the budget."""
    shown: list[EntityRow] = []
    left = budget
    for row in rows[:TOP_MEMBERS]:
        cost = count_tokens(json.dumps(_member(row), ensure_ascii=False))
        if shown and budget - left + cost > budget * MEMBERS_SHARE:
            break
        shown.append(row)
        left -= cost
    return shown, left


def representative_chunks(
    naming: Mapping[str, Sequence[str]], *, weights: Mapping[str, float], tokens: Mapping[str, int], budget: int
) -> list[str]:
    """Choose chunks that together name the members of a community, at most `budget` tokens: the best first.

    Greedy: each next chunk is the one that names most of what no chosen one names, by the members' weights, for its tokens; it stops when
    nothing new is named. The greedy choice is within 1 - 1/e of the best possible for chunks of one size (Nemhauser, Wolsey and Fisher,
    Mathematical Programming 14, 1978).
    """
    names: dict[str, set[str]] = defaultdict(set)
    for member, chunks in naming.items():
        for chunk in chunks:
            names[chunk].add(member)

    def gain(chunk: str) -> float:
        return sum(weights[member] for member in sorted(names[chunk])) / (tokens[chunk] + MEAN_TOKENS)

    # Gains only fall, so a chunk whose gain is still at the top after it was computed anew is the best.
    heap = [(-gain(chunk), chunk) for chunk in names]
    heapq.heapify(heap)
    chosen: list[str] = []
    left = budget
    while heap:
        known, chunk = heapq.heappop(heap)
        if not names[chunk] or tokens[chunk] > left:
            continue
        now = -gain(chunk)
        if heap and (now, chunk) > heap[0] and now != known:
            heapq.heappush(heap, (now, chunk))
            continue
        chosen.append(chunk)
        left -= tokens[chunk]
        for member in sorted(names[chunk]):
            for other in naming[member]:
                names[other].discard(member)
    return chosen


MEAN_TOKENS = 100
"""Added to the tokens of every chunk, so that a chunk of three words that names one member is not the best that there is."""


def _cited_chunks(children: Sequence[Community], *, tokens: Mapping[str, int], budget: int) -> list[str]:
    """The chunk that the summary of each part cites first, the largest part's first: so that a whole can quote its parts."""
    chosen: list[str] = []
    for child in children:
        first = next((citation.chunk_id for citation in child.citations if citation.quote), None)
        if first is not None and first in tokens and first not in chosen and tokens[first] <= budget:
            chosen.append(first)
            budget -= tokens[first]
    return chosen


def _member(row: EntityRow) -> dict[str, str]:
    member = {"name": row.name, "type": row.type}
    if row.description and row.description != row.name:
        member["description"] = row.description[:DESCRIPTION_CHARACTERS]
    return member


def _covered(naming: Mapping[str, Sequence[str]], chosen: Sequence[str]) -> int:
    there = set(chosen)
    return sum(any(chunk in there for chunk in chunks) for chunks in naming.values())


def _document(corpus: Corpus, chunk: str) -> Document:
    return corpus.documents[corpus.chunk_document[chunk]]


def _shares(naming: Mapping[str, Sequence[str]], source: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """Average over the members what share of the chunks that name each is from where; a source without a name is left out."""
    shares: dict[str, float] = defaultdict(float)
    for chunks in naming.values():
        for chunk in chunks:
            shares[source[chunk]] += 1.0 / len(chunks) / len(naming)
    ranked = sorted(((name, round(share, 3)) for name, share in shares.items() if name), key=lambda s: (-s[1], s[0]))
    return tuple(ranked[:TOP_PRODUCTS])


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
