"""Deletion of entities that no chunk names any more, or that were merged."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.store.communities import delete_communities
from kgrag.store.connection import Transaction
from kgrag.store.rows import batches_by_size

__all__ = ["delete_entities"]


def delete_entities(transaction: Transaction, keys: Sequence[str]) -> None:
    """Delete entities with all that hangs on them, and the communities that have no member left."""
    for some in batches_by_size(keys):
        communities = {row["key"] for row in transaction.run("communities/communities_of_entities", keys=some)}
        transaction.run("store/delete_entities", keys=some)
        if communities:
            left = transaction.run("communities/communities_with_members", keys=sorted(communities))
            delete_communities(transaction, keys=sorted(communities - {row["key"] for row in left}))
