"""Cypher that a chat model writes for a question that counts or lists and whose wording no rule reads.

Prompt and reading of the reply are those of neo4j-graphrag's Text2CypherRetriever, with our schema and examples. What runs the statement is
our own store: its plan must only read and call nothing that is not listed (`kgrag.store.readonly`), which theirs does not check and the
embedded database needs as well.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kgrag.errors import CypherWriteError, InputError, ModelReplyError
from kgrag.models.base import Message
from kgrag.retrieve.state import Candidate, Resources, State
from kgrag.retrieve.step import Count, Model, ModelStep
from kgrag.retrieve.steps.evidence import evidence_of_chunk
from kgrag.retrieve.steps.listing import CountAndList
from kgrag.retrieve.things import things_of
from kgrag.text.answer_shapes import answer_shape
from kgrag.text.surrogates import without_controls
from kgrag.types import Listing

__all__ = ["Text2Cypher"]

SCHEMA = """\
(:Document {{title, path, product, category}})<-[:FROM_DOCUMENT]-(:Chunk {{id, title, section, text}})
(:__Entity__ {{graph, name, type, normal, aliases, mentions}})-[:FROM_CHUNK {{role}}]->(:Chunk)
    role is 'title' where the chunk is about the entity, 'mention' where it names it
(:__Entity__)-[:RELATION_TYPE {{chunks, descriptions, weight}}]->(:__Entity__)
    chunks are the ids of the chunks that state the relation, descriptions what they say
Every entity has graph = '{graph}'. A quantity is an entity of type 'Quantity' whose name is as written: '3.3 V', '0.5 mA'.
Entity types: {entity}
Relation types: {relation}
Return the things that are asked for, one row each, and in the column chunks a list of the ids of the chunks that say it. Only read."""
EXAMPLES = """\
USER INPUT: 'Which parts does the X-100 have?' QUERY: MATCH (e:__Entity__ {{graph: '{graph}', name: 'X-100'}})-[r:HAS_PART]->\
(p:__Entity__) RETURN p.name AS part, r.chunks AS chunks ORDER BY part
USER INPUT: 'How many documents does each category have?' QUERY: MATCH (d:Document) RETURN d.category AS category, count(d) AS documents \
ORDER BY category
USER INPUT: 'Which products state a value in mA?' QUERY: MATCH (e:__Entity__ {{graph: '{graph}', type: 'Product'}})-[r:HAS_VALUE]->\
(q:__Entity__) WHERE q.name ENDS WITH ' mA' RETURN e.name AS product, q.name AS value, r.chunks AS chunks ORDER BY product, value"""
REPAIR = "The database refused that statement: {error}\nWrite it again, put right. Only the statement."
CHUNKS = "chunks"
CELL_CHARACTERS = 2000
"""Of a value that are shown: a statement can collect a whole store into one."""
ROW_CHUNKS = 20
"""Chunks that a row is cited with."""
MOST_TYPES = 30
ATTEMPTS = 2


class Text2Cypher(ModelStep):
    """Let the chat model write Cypher for a question that counts or lists, where `listing` reads none; one repair."""

    kind: Literal["text2cypher"] = "text2cypher"
    asks: ClassVar[Model] = "a chat model"
    needs: ClassVar = ("query",)
    gives: ClassVar = ("listing",)
    rows: Count = 200
    """Rows that are taken; of more the answer says so."""
    timeout_s: Annotated[float, Field(gt=0.0, le=300.0)] = 10.0
    """After which the database ends the statement."""
    without_model: Literal["listing"] | None = None

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read by rules; else ask, run what was written, and ask once more where it was refused."""
        state = await CountAndList()(state, resources)
        question = state.query.question
        if state.listing is not None or answer_shape(question).kind not in ("count", "list"):
            return state
        if resources.store.search.readable_documents is not None:
            return state.remarked("text2cypher: who may not read every document gets no statement of a model's own")
        if resources.chat is None:
            raise ValueError(f"{self.kind} was run without a chat model")
        from kgrag.models.frameworks.neo4j_graphrag import Text2CypherTemplate, extract_cypher

        types = await asyncio.to_thread(resources.store.search.graph_types, graph=resources.graph)
        named = {kind: ", ".join(of_kind[:MOST_TYPES]) for kind, of_kind in types.items()}
        prompt = Text2CypherTemplate().format(
            schema=SCHEMA.format(graph=resources.graph, **named),
            examples=EXAMPLES.format(graph=resources.graph),
            query_text=question,
        )
        messages = [Message("user", prompt)]
        refused = ""
        for _ in range(ATTEMPTS):
            try:
                reply = await resources.chat.reply(messages)
            except ModelReplyError as error:
                return replace(state, usage=state.usage + error.usage).remarked(f"text2cypher: no statement: {error}")
            state = replace(state, usage=state.usage + reply.usage)
            cypher = extract_cypher(reply.text).strip().rstrip(";")
            try:
                listing = await asyncio.to_thread(self._run, cypher, resources)
            except (CypherWriteError, InputError) as error:
                refused = str(error)
                messages += [Message("assistant", reply.text), Message("user", REPAIR.format(error=refused))]
            else:
                return replace(state, listing=listing)
        return state.remarked(
            f"text2cypher: the model's statement was refused twice, passages answer instead: {refused}"
        )

    def _run(self, cypher: str, resources: Resources) -> Listing:
        if not cypher:
            raise InputError("Expected a Cypher statement, got an empty text.")
        found = resources.store.stream_query(cypher, timeout_s=self.timeout_s)
        try:
            rows = list(itertools.islice(found, self.rows + 1))
        finally:
            found.close()
        columns = [column for column in (rows[0] if rows else ()) if column != CHUNKS]
        if rows and not columns:
            raise InputError(f"Expected a column for what is asked for, got none but {CHUNKS!r}.")
        said_in = [_ids(row.get(CHUNKS))[:ROW_CHUNKS] for row in rows[: self.rows]]
        ids = list(dict.fromkeys(one for some in said_in for one in some))
        shown = {row["id"]: row for row in resources.store.search.chunks(ids=ids)}
        evidence = {
            one: evidence_of_chunk(Candidate(one, 1.0, ("text2cypher",)), shown[one], resources)
            for one in ids
            if one in shown
        }
        return Listing(
            things=tuple(things_of(resources.store).all),
            evidence=tuple(evidence.values()),
            columns=tuple(map(without_controls, columns)),
            rows=tuple(tuple(_text(row[column]) for column in columns) for row in rows[: self.rows]),
            row_chunks=tuple(tuple(one for one in some if one in evidence) for some in said_in),
            more=len(rows) > self.rows,
            cypher=cypher,
        )


def _ids(value: Any) -> Sequence[str]:
    some = value if isinstance(value, list) else [value]
    return [one for one in some if isinstance(one, str)]


def _text(value: Any) -> str:
    """Return a value as it is shown."""
    if value is None:
        return ""
    whole = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | Mapping) else str(value)
    shown = str(without_controls(whole))
    return shown if len(shown) <= CELL_CHARACTERS else f"{shown[:CELL_CHARACTERS]} …"
