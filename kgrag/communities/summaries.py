"""The summaries of a graph's communities: parts before wholes, only those whose profile changed, each accounted for."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from kgrag.common.progress import Progress, Step
from kgrag.communities.entity_graph import EntityGraph
from kgrag.communities.profile import Corpus, EntityRow, Profile, make_profile
from kgrag.communities.report import CommunityFailure, CommunityReport
from kgrag.communities.settings import CommunitySettings
from kgrag.communities.summary import Summariser, community, small_community
from kgrag.errors import ModelReplyError
from kgrag.models.base import Embedder, Vectors, expect_unit_vectors
from kgrag.models.by_halves import vectors_or_errors
from kgrag.models.cached import fresh_replies
from kgrag.store.communities import SUMMARISE, Membership, StoredCommunity
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.text.names import normal_form
from kgrag.text.products import titled_products
from kgrag.types import Community, Document, Usage, content_id

__all__ = ["Summarising"]

BATCH = 16
"""Summaries that are asked for at a time, and written in one transaction: what an interruption can cost."""
WRITE_SMALL = 500
"""Communities below the floor that are written in one transaction."""

Result = tuple[Community | None, str, WorkRecord]


class Summarising:
    """One pass over the communities of a graph."""

    def __init__(
        self,
        store: GraphStore,
        *,
        graph: str,
        edges: EntityGraph,
        embedder: Embedder,
        summariser: Summariser,
        settings: CommunitySettings,
        report: CommunityReport,
    ) -> None:
        self._store, self._graph, self._edges = store, graph, edges
        self._embedder, self._summariser, self._settings, self._report = embedder, summariser, settings, report
        self._version = content_id(
            summariser.fingerprint, embedder.name, str(settings.budget), str(settings.summary_floor)
        )
        self._written: dict[str, Community] = {}
        self._stored: dict[str, StoredCommunity] = {}
        self._done: dict[str, WorkRecord] = {}

    async def run(self, memberships: Sequence[Membership], *, progress: Progress) -> None:
        """Summarise, finest level first. Raises `ModelError` where a model cannot be reached: what was written until then stays."""
        self._corpus = await asyncio.to_thread(self._read)
        # As evidence does: a passage is known by its title, a document by its path.
        self._titles = {
            document.id: document.title if document.format == "jsonl" else document.path
            for document in self._corpus.documents.values()
        }
        levels: dict[int, list[Membership]] = defaultdict(list)
        children: dict[str | None, list[Membership]] = defaultdict(list)
        for one in memberships:
            levels[one.level].append(one)
            children[one.parent].append(one)
        with progress.step("Summarise", len(memberships), "communities") as step:
            for level in sorted(levels, reverse=True):
                central = await asyncio.to_thread(self._centralities, levels[level])
                await self._small([one for one in levels[level] if self._is_small(one)], central, step)
                large = [one for one in levels[level] if not self._is_small(one)]
                profiles = [await asyncio.to_thread(self._profile, one, central, children[one.key]) for one in large]
                self._summariser.prepare(profiles)
                await self._large(list(zip(large, profiles, strict=True)), step)

    def _read(self) -> Corpus:
        store, graph = self._store, self._graph
        self._stored = store.communities.of_graph(graph)
        self._done = store.ledger.of_stage(SUMMARISE, graph)
        chunks = store.search.chunk_sizes()
        # A chunk is mentioned by a dozen entities, and its id comes with each mention: one text of it is kept.
        one_of = {row["id"]: row["id"] for row in chunks}
        named: dict[str, list[str]] = defaultdict(list)
        for row in store.search.mentions(graph=graph):
            named[row["key"]].append(one_of.get(row["chunk_id"], row["chunk_id"]))
        entities = {row["key"]: EntityRow(**row) for row in store.search.entities(graph=graph)}
        return Corpus(
            entities=entities,
            mentions={key: tuple(sorted(ids)) for key, ids in named.items()},
            chunk_tokens={row["id"]: row["tokens"] for row in chunks},
            chunk_document={row["id"]: row["document_id"] for row in chunks},
            documents=_without_folders(store.documents.all(), [row.name for row in entities.values()]),
        )

    def _is_small(self, one: Membership) -> bool:
        return len(one.members) < self._settings.summary_floor

    def _centralities(self, communities: Sequence[Membership]) -> dict[str, float]:
        """Sum, for each member, the weights of its edges to other members of its community."""
        keys, edges = self._edges.keys, self._edges.edges
        place = {key: number for number, key in enumerate(keys)}
        label = np.full(len(keys), -1, dtype=np.int64)
        for number, one in enumerate(communities):
            label[[place[member] for member in one.members]] = number
        inside = (label[edges.first] == label[edges.second]) & (label[edges.first] >= 0)
        weight = edges.weight[inside]
        total = np.bincount(edges.first[inside], weight, len(keys)) + np.bincount(
            edges.second[inside], weight, len(keys)
        )
        return {member: float(total[place[member]]) for one in communities for member in one.members}

    def _profile(self, one: Membership, central: dict[str, float], parts: Sequence[Membership]) -> Profile:
        return make_profile(
            one.key,
            graph=self._graph,
            level=one.level,
            members=[(member, central[member]) for member in one.members],
            corpus=self._corpus,
            children=[self._written[part.key] for part in parts if part.key in self._written],
            read_chunks=lambda ids: list(self._store.documents.chunks(ids)),
            count_tokens=self._embedder.count_tokens,
            budget=self._settings.budget,
        )

    async def _small(self, communities: Sequence[Membership], central: dict[str, float], step: Step) -> None:
        """Label the communities below the floor."""
        results: list[Result] = []
        for one in communities:
            rows = [self._corpus.entities[member] for member in one.members]
            rows.sort(key=lambda row: (-central[row.key], -row.mentions, row.key))
            names = [row.name for row in rows]
            small = small_community(
                one.key, graph=self._graph, level=one.level, size=len(names), parent=one.parent, names=names
            )
            reason = f"{len(names)} entities, fewer than the floor of {self._settings.summary_floor}"
            content_hash = content_id("small", *names)
            record = self._record(one.key, content_hash, state="empty", reason=reason)
            step.advance()
            if self._unchanged(one.key, content_hash):
                self._report.summaries["unchanged"] += 1
                continue
            self._report.summaries["empty"] += 1
            results.append((small, content_hash, record))
        for start in range(0, len(results), WRITE_SMALL):
            await self._write(results[start : start + WRITE_SMALL])

    async def _large(self, communities: Sequence[tuple[Membership, Profile]], step: Step) -> None:
        """Summarise the others, some at a time."""
        waiting: list[tuple[Membership, Profile]] = []
        for one, profile in communities:
            if self._unchanged(one.key, profile.content_hash):
                stored = self._stored[one.key].community
                if stored is not None:
                    self._written[one.key] = stored
                self._report.summaries["unchanged"] += 1
                step.advance()
            else:
                waiting.append((one, profile))
        for start in range(0, len(waiting), BATCH):
            some = waiting[start : start + BATCH]
            if self._report.dry_run:
                self._report.summaries["planned"] += len(some)
                asked = [
                    profile for one, profile in some if self._only_without_vector(one.key, profile.content_hash) is None
                ]
                self._report.usage += sum((self._summariser.estimate(profile) for profile in asked), Usage())
            else:
                results = await asyncio.gather(*(self._summarise(*pair) for pair in some), return_exceptions=True)
                # What was answered is paid for: it is written before an error ends the run.
                await self._write([result for result in results if not isinstance(result, BaseException)])
                for error in results:
                    if isinstance(error, BaseException):
                        raise error
            step.advance(len(some))

    async def _summarise(self, one: Membership, profile: Profile) -> Result:
        started = time.perf_counter()
        if (there := self._only_without_vector(one.key, profile.content_hash)) is not None:
            self._written[one.key] = there
            self._report.summaries["ok"] += 1
            return there, profile.content_hash, self._record(one.key, profile.content_hash, state="ok")
        previous = self._done.get(one.key)
        again = previous is not None and previous.state == "failed"
        try:
            # A kept reply that could not be used is of no use now either.
            with fresh_replies() if again else nullcontext():
                summary = await self._summariser.summarise(profile)
        except ModelReplyError as error:
            record = self._record(one.key, profile.content_hash, state="failed", reason=str(error), usage=error.usage)
            self._report.usage += error.usage
            self._report.summaries["failed"] += 1
            self._report.failures.append(CommunityFailure(key=one.key, size=profile.size, reason=str(error)))
            return None, profile.content_hash, replace(record, seconds=time.perf_counter() - started)
        found = community(profile, summary, parent=one.parent, titles=self._titles)
        self._written[one.key] = found
        self._report.summaries[summary.state] += 1
        self._report.usage += summary.usage
        record = self._record(
            one.key, profile.content_hash, state=summary.state, reason=summary.reason, usage=summary.usage
        )
        return found, profile.content_hash, replace(record, seconds=time.perf_counter() - started)

    async def _write(self, results: Sequence[Result]) -> None:
        if self._report.dry_run or not results:
            return
        texts = {found.key: found.full_content for found, _, _ in results if found is not None and found.summary}
        given = await vectors_or_errors(self._embed, list(texts.values())) if texts else []
        errors = {key: str(one) for key, one in zip(texts, given, strict=True) if isinstance(one, ModelReplyError)}
        good = [one for one in given if not isinstance(one, ModelReplyError)]
        vectors = np.array(good, dtype=np.float32).reshape(len(good), self._embedder.dimensions)
        await asyncio.to_thread(
            self._store.communities.put_summaries,
            [self._without_vector(result, errors) for result in results],
            vectors,
            without_vector=errors,
        )

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        return expect_unit_vectors(await self._embedder.embed_documents(texts), len(texts), model=self._embedder.name)

    def _without_vector(self, result: Result, errors: Mapping[str, str]) -> Result:
        """Count a community whose summary has no vector as failed: the summary stays, and the next run asks for its vector alone."""
        found, content_hash, record = result
        if found is None or found.key not in errors:
            return result
        reason = f"its summary has no vector: {errors[found.key]}"
        self._report.summaries.subtract([record.state])
        self._report.summaries += Counter(["failed"])  # which also drops what is 0
        self._report.failures.append(CommunityFailure(key=found.key, size=found.size, reason=reason))
        return found, content_hash, replace(record, state="failed", reason=reason, result=_no_vector(content_hash))

    def _only_without_vector(self, key: str, content_hash: str) -> Community | None:
        """Return the community whose summary of such a profile is there, and lacks a vector only."""
        stored = self._summarised(key, content_hash, result=_no_vector(content_hash), failed=True)
        return None if stored is None else stored.community

    def _unchanged(self, key: str, content_hash: str) -> bool:
        """Say whether a community has the summary of such a profile."""
        return self._summarised(key, content_hash, result=content_hash, failed=False) is not None

    def _summarised(self, key: str, content_hash: str, *, result: str, failed: bool) -> StoredCommunity | None:
        """Return a community with the summary of such a profile: the ledger says with what result it was made, and the community has it."""
        record, stored = self._done.get(key), self._stored.get(key)
        if record is None or (record.version, record.result) != (self._version, result):
            return None
        there = stored is not None and stored.content_hash == content_hash and (record.state == "failed") == failed
        return stored if there else None

    def _record(
        self, key: str, content_hash: str, *, state: str, reason: str = "", usage: Usage | None = None
    ) -> WorkRecord:
        """Make a ledger entry; what was spent adds up over attempts."""
        record = WorkRecord(
            SUMMARISE,
            key,
            scope=self._graph,
            version=self._version,
            state=state,
            reason=reason,
            result=content_hash,
        )
        return record.after(self._done.get(key), usage)


def _no_vector(content_hash: str) -> str:
    """Return what the ledger has as result of a summary without a vector, beside the profile's hash of one with a vector."""
    return content_id("without vector", content_hash)


def _without_folders(documents: Sequence[Document], names: Iterable[str]) -> dict[str, Document]:
    """Documents by id, without a product that is only a folder's name, as `usr`: no title has it, and no entity is called so."""
    known = titled_products((document.product, document.title) for document in documents)
    known.update(map(normal_form, names))
    return {
        document.id: document
        if document.product is None or normal_form(document.product) in known
        else document.model_copy(update={"product": None})
        for document in documents
    }
