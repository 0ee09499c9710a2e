"""What some chunks say in one graph, merged before anything is written: entities, their mentions, and sayings of relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgrag.store.identifiers import entity_type, relation_type
from kgrag.store.mentions import Edge, Mention, Saying, better, said_once
from kgrag.store.rows import storable
from kgrag.types import Entity, Extraction, content_id

__all__ = ["Said", "entity_key", "say"]

LONGEST_INDEXED = 1000
"""Characters of a comparison key that are kept: Neo4j cannot index more than 8 kB."""
UNEXPLAINED = "not found in the chunk"


@dataclass(slots=True)
class Said:
    """What some chunks say in one graph."""

    entities: dict[str, dict[str, str]] = field(default_factory=dict)
    """By key: graph, type, normal, name."""
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict)
    """By key of the entity and id of the chunk."""
    edges: dict[Edge, dict[str, Saying]] = field(default_factory=lambda: defaultdict(dict))
    """By relation, then id of the chunk."""


def entity_key(graph: str, written_type: str, normal: str) -> str:
    """Identify an entity: two of one graph are one node when their types and comparison keys are equal."""
    return content_id(graph, entity_type(written_type), normal)


def say(graph: str, extractions: Iterable[Extraction]) -> Said:
    """Merge what chunks say, each once, into what a graph holds of it."""
    said = Said()
    for extraction in extractions:
        chunk_id = extraction.chunk_id
        named = [
            *extraction.entities,
            *(end for relation in extraction.relations for end in (relation.head, relation.tail)),
        ]
        for key, entity, type_ in ((entity_key(graph, e.type, e.normal), e, entity_type(e.type)) for e in named):
            mention = {"name": entity.name, "role": entity.role, "description": entity.description, "says": []}
            known = said.mentions.get((key, chunk_id))
            said.mentions[key, chunk_id] = mention if known is None else better(known, mention)
            said.entities[key] = {
                "key": key,
                "graph": graph,
                "type": type_,
                "normal": _indexed(entity.normal),
                "name": storable(entity.name),
            }
        for relation in extraction.relations:
            edge = (_key(graph, relation.head), relation_type(relation.type), _key(graph, relation.tail))
            saying = (
                storable(relation.description),
                "" if relation.grounded else storable(relation.reason) or UNEXPLAINED,
            )
            known_saying = said.edges[edge].get(chunk_id)
            said.edges[edge][chunk_id] = saying if known_saying is None else said_once(saying, known_saying)
    for (head, type_, tail), sayings in said.edges.items():
        for chunk_id in sayings:
            said.mentions[head, chunk_id]["says"].append(f"{type_} {tail}")
    for mention in said.mentions.values():
        mention.update(
            says=sorted(mention["says"]), name=storable(mention["name"]), description=storable(mention["description"])
        )
    return said


def _key(graph: str, entity: Entity) -> str:
    return entity_key(graph, entity.type, entity.normal)


def _indexed(normal: str) -> str:
    if len(normal) <= LONGEST_INDEXED:
        return str(storable(normal))
    return f"{storable(normal[: LONGEST_INDEXED - 33])} {content_id(normal)}"
