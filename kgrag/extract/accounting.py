"""What becomes of a chunk: ok, empty, repaired with the reason, or failed with the raw reply."""

from __future__ import annotations

from kgrag.errors import ModelReplyError
from kgrag.extract.statements import Stated
from kgrag.extract.surface import DROPPED, held_against_chunk
from kgrag.types import Chunk, Extraction, Usage, WorkState

__all__ = ["OUTSIDE_SCHEMA", "accounted"]

OUTSIDE_SCHEMA = "entities and relations outside the schema"

_FREE = Usage()


def accounted(
    stated: Stated, chunk: Chunk, *, reason: str, reply: str, said: int, outside: int = 0, usage: Usage = _FREE
) -> Extraction:
    """Hold what was stated against its chunk and say what became of it.

    `reason` is what had to be mended in the reply, `said` how much it stated before a schema, and `outside` what the schema left out of
    it. Raises `ModelReplyError` with the raw reply where it stated something and nothing of that can be used.
    """
    entities, relations, remarks = held_against_chunk(stated, chunk)
    if outside:
        remarks[OUTSIDE_SCHEMA] = outside
    if not entities and said and not outside:
        raise ModelReplyError("Expected names, got none that can be one.", reply=reply, usage=usage)
    dropped = [f"{remarks[remark]} {remark}" for remark in DROPPED if remark in remarks]
    reason = "; ".join(filter(None, (reason, *dropped)))
    state: WorkState = "repaired" if reason else "ok" if entities else "empty"
    return Extraction(
        chunk_id=chunk.id,
        entities=entities,
        relations=relations,
        state=state,
        reason=reason,
        remarks=remarks,
        usage=usage,
    )
