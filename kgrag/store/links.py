"""Hyperlinks between chunks: what the authors' links and the chunks' anchors say, as relationships."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.store.connection import Connection, Transaction
from kgrag.store.rows import batches_by_size
from kgrag.types import Document

__all__ = ["OTHER_SITE", "LinkCounts", "relink"]

OTHER_SITE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
"""How an address with a scheme, or with a host alone, begins."""

Link = tuple[str, str, str, str, int]
"""Target, href, anchor text, context, position."""


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """What became of the links of all chunks: each is one of the first four; `no_anchor` counts some of `made` and `within` besides."""

    made: int = 0
    """Relationships LINKS_TO: links to another chunk."""
    within: int = 0
    """Links within their own chunk."""
    external: int = 0
    """Links with a scheme or a host: out of the corpus."""
    no_page: int = 0
    """Links to a file that is no document of the store."""
    no_anchor: int = 0
    """Links to a document whose fragment is nowhere in it: they lead to where the document begins."""


def relink(connection: Connection, documents: Iterable[Document]) -> LinkCounts:
    """Make LINKS_TO equal to what the chunks' links and anchors say, and say what became of them. `documents` are all of the store.

    A link leads to the first chunk of the document that has the fragment among its anchors, and to the document's first chunk where it
    has no fragment or one that is nowhere. A link out of the corpus, and one within its own chunk, is no relationship.
    """
    wanted, counts = _wanted(connection, documents)
    known: dict[str, set[Link]] = defaultdict(set)
    for row in connection.stream("store/links"):
        known[row["source"]].add((row["target"], row["href"], row["anchor"], row["context"], row["position"]))
    changed = sorted(
        source for source in wanted.keys() | known.keys() if wanted.get(source, set()) != known.get(source, set())
    )

    def write(transaction: Transaction) -> None:
        transaction.run_batched("store/delete_links", ids=[source for source in changed if source in known])
        rows = [_row(source, link) for source in changed for link in sorted(wanted.get(source, ()))]
        transaction.run_batched("store/put_links", rows=rows)

    if changed:
        connection.write(write)
    return counts


def _wanted(connection: Connection, documents: Iterable[Document]) -> tuple[dict[str, set[Link]], LinkCounts]:
    by_path: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        by_path[document.path].append(document.id)
    linking: list[tuple[str, Mapping[str, Any]]] = []
    linked: set[str] = set()
    counts: Counter[str] = Counter()
    for row in connection.stream("store/linking_chunks"):
        for link in json.loads(row["links"]):
            path = link["href"].partition("#")[0]
            if path in by_path:
                linking.append((row["id"], link))
                linked.add(path)
            else:
                counts["external" if OTHER_SITE.match(path) else "no_page"] += 1
    places = _places(connection, [document_id for path in sorted(linked) for document_id in by_path[path]])
    wanted: dict[str, set[Link]] = defaultdict(set)
    for source, link in linking:
        path, _, fragment = link["href"].partition("#")
        target = next((places[d, fragment] for d in by_path[path] if (d, fragment) in places), None) or next(
            (places[d, ""] for d in by_path[path] if (d, "") in places), None
        )
        counts["no_anchor"] += not any((d, fragment) in places for d in by_path[path])
        counts["within"] += target == source
        counts["no_page"] += target is None  # a document without chunks
        if target is not None and target != source:
            wanted[source].add((target, link["href"], link["anchor"], link["context"], link["position"]))
    return wanted, LinkCounts(made=sum(map(len, wanted.values())), **counts)


def _places(connection: Connection, document_ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """Where a fragment of a document is, and (fragment "") where the document begins: the id of the first such chunk."""
    first: dict[tuple[str, str], tuple[int, str]] = {}
    for some in batches_by_size(document_ids):
        for row in connection.stream("store/anchored_chunks", document_ids=some):
            place = (row["position"], row["id"])
            for fragment in ("", *row["anchors"]):
                spot = (row["document_id"], fragment)
                first[spot] = min(place, first.get(spot, place))
    return {spot: chunk_id for spot, (_, chunk_id) in first.items()}


def _row(source: str, link: Link) -> dict[str, Any]:
    target, href, anchor, context, position = link
    return {
        "source": source,
        "target": target,
        "properties": {"href": href, "anchor": anchor, "context": context, "position": position},
    }
