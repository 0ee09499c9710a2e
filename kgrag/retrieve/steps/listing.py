"""What every thing of a sort is said to be: what the answer to a question that counts or lists is read from."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from kgrag.retrieve.state import Candidate, Resources, State
from kgrag.retrieve.step import Step
from kgrag.retrieve.steps.evidence import evidence_of_chunk
from kgrag.retrieve.things import Things, things_of
from kgrag.store.fulltext import fulltext_query
from kgrag.store.schema import CHUNK_FULLTEXT_INDEX
from kgrag.store.search_rows import PlaceRow
from kgrag.store.statements import statement
from kgrag.text.names import normal_form
from kgrag.text.quantities import quantities
from kgrag.text.set_questions import SAID_AS, SetQuestion, read_set_question
from kgrag.text.words import plain, singular
from kgrag.types import Listing, Thing

__all__ = ["CountAndList", "of_each_document"]

PARTS = re.compile(r"[^\W\d_]+|\d+")
JOINED_BY = ("-", "\u2011", " ", "_", ".", "–")
MOST_CHUNKS = 2000
"""That are read for one question: some seconds. How many were not read is said."""
MAX_DIVIDED = 6
"""Letters of a word that may be written in two, as `wifi` and `canbus` are: of longer ones that is rare, and there are more places."""
WRITTEN_OTHERWISE = str.maketrans({"2": "²", "3": "³", "μ": "µ"})
"""Characters that comparison forms of words do not have, and texts do."""


class CountAndList(Step):
    """Read everything that is said about each thing that a question counts or lists; nothing where the question is another.

    By read-only Cypher over the quantities and names of the graph; the statement comes with what it found.
    """

    kind: Literal["listing"] = "listing"
    needs: ClassVar = ("query",)
    gives: ClassVar = ("listing",)

    async def __call__(self, state: State, resources: Resources) -> State:
        """Find the things, and the chunks that may say it of them."""
        asked = read_set_question(state.query.question)
        if asked is None:
            return state
        things = await asyncio.to_thread(things_of, resources.store)
        meant = things.meant_by(asked.noun)
        if not meant:
            return state
        listing = await asyncio.to_thread(_listing, asked, meant, things, resources)
        return replace(state, listing=listing)


def _listing(asked: SetQuestion, meant: list[Thing], things: Things, resources: Resources) -> Listing:
    names = {thing.name for thing in meant}
    others = tuple(thing.name for thing in things.all if thing.name not in names)
    if not asked.aspect:
        return Listing(things=tuple(meant), others=others, cypher=statement("retrieve/things"))
    search = resources.store.search
    parameters: dict[str, Any] = {
        "graph": resources.graph,
        "documents": search.readable_documents,
        "words": _words(asked),
        "owned": [document for thing in meant for document in thing.documents],
        "things": [normal_form(thing.name) for thing in meant],
    }
    amounts = _amounts(asked, resources) if asked.measured else []
    name: Literal["amounts", "words"] = "amounts" if amounts else "words"
    query = ""
    if amounts:
        parameters["amounts"] = amounts
    else:
        # The index finds other forms of a word, too; the statement looks for the spelling in what it gives.
        query = fulltext_query("", keywords=parameters["words"])
        parameters |= {"index": CHUNK_FULLTEXT_INDEX, "query": query}
    found = search.stated(name, **parameters) if amounts or query else []
    rows = of_each_document(found)
    shown = {row["id"]: row for row in search.chunks(ids=[row["id"] for row in rows])}
    evidence = tuple(
        evidence_of_chunk(
            Candidate(row["id"], 1.0, (f"listing: {' '.join(asked.aspect)}",)), shown[row["id"]], resources
        )
        for row in rows
        if row["id"] in shown
    )
    cypher = statement(f"retrieve/stated_{name}", graph=resources.graph)
    return Listing(
        things=tuple(meant),
        others=others,
        evidence=evidence,
        unread=len(found) - len(rows),
        cypher=cypher,
        parameters=parameters,
    )


def of_each_document(rows: Sequence[PlaceRow]) -> list[PlaceRow]:
    """The chunks that are read, in their order: of more than `MOST_CHUNKS` the first of each document, then the second, and so on."""
    if len(rows) <= MOST_CHUNKS:
        return list(rows)
    before: Counter[str] = Counter()
    turns = []
    for place, row in enumerate(rows):
        turns.append((before[row["document_id"]], place))
        before[row["document_id"]] += 1
    return [rows[place] for place in sorted(place for _, place in sorted(turns)[:MOST_CHUNKS])]


def _words(asked: SetQuestion) -> list[str]:
    """The words that a chunk must have one of."""
    said = [plain(word) for word in asked.aspect]
    if asked.measured:
        return sorted({form for word in said for form in SAID_AS.get(word, (word,))})
    # The last word says what it is; which of its spellings is the same name is told apart later.
    return _spellings(singular(said[-1]))


def _spellings(word: str) -> list[str]:
    """How a word may be written, in one or in two: `wi-fi` and `wifi` both as `wifi`, `wi-fi` and `wi fi`, `i2c` also as `i²c`."""
    word = unicodedata.normalize("NFKC", word)
    parts = PARTS.findall(word)
    if len(parts) > 1:
        forms = [sign.join(parts) for sign in ("", *JOINED_BY)]
    elif len(word) <= MAX_DIVIDED:
        forms = [f"{word[:place]}{sign}{word[place:]}" for sign in JOINED_BY[:3] for place in range(1, len(word))]
    else:
        forms = []
    return list(dict.fromkeys([word, word.translate(WRITTEN_OTHERWISE), *forms]))


def _amounts(asked: SetQuestion, resources: Resources) -> list[str]:
    """The keys of the graph's quantities that measure what is asked for."""
    found = []
    for row in resources.store.search.amounts(graph=resources.graph):
        measured = quantities(row["name"])
        if measured and (not asked.dimension or measured[0].dimension == asked.dimension):
            found.append(row["key"])
    return found
