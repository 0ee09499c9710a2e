"""Replay what models really answered through the extractors that ask one: `python -m benchmarks.recorded_replies`.

Recorded are 1,890 extractions by gpt-3.5-turbo (`musique/recorded_extractions.jsonl`: triples, some with two, four or more parts) and 187
replies of gpt-4o (`recorded_llm/`: GraphRAG's delimited records, and community reports that state no triples). They are replayed as they
were recorded, and those of musique also in the form that each extractor's own prompt asks for; there a triple with a part too few lacks
that key or field, and one with parts too many has a list as its relation. On a sample, each way of `kgrag.testing.TROUBLES` is done to
the replies.

Each reply goes through the extractor as it is by default and `as_shipped`, where only what the framework's parser gives is kept. A triple
counts as kept where head and tail come out with the same letters and digits, whatever their capitals. Names that the framework's parser
writes otherwise than the model, and names that grounding writes otherwise than the model (as the chunk does), are counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.errors import ModelReplyError
from kgrag.extract.base import Extractor
from kgrag.extract.by_framework import LOST_BY_FRAMEWORK, RESPELLED_BY_FRAMEWORK
from kgrag.extract.graph_transformer import GraphTransformerExtractor
from kgrag.extract.llm import LLMExtractor
from kgrag.extract.path import PathExtractor
from kgrag.extract.simple_kg import SimpleKGExtractor
from kgrag.models.base import Message, Reply
from kgrag.testing import TROUBLES
from kgrag.types import Chunk, Extraction, Usage

__all__ = ["Outcome", "Record", "musique", "recorded_llm", "replay", "variants"]

TROUBLED_RECORDS = 150
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """One recorded reply, the chunk that it is about, and the triples that it has, each as its parts."""

    chunk: Chunk
    triples: tuple[tuple[str, ...], ...]
    replies: Mapping[str, str]
    """By extractor."""


@dataclass(slots=True)
class Outcome:
    """What became of the replies with one extractor."""

    states: Counter[str]
    triples: int = 0
    kept: int = 0
    as_shipped: int = 0
    lost_by_framework: int = 0
    """Statements and names that the framework's parser dropped or raised on."""
    respelled_by_framework: int = 0
    respelled_by_grounding: int = 0
    ungrounded: int = 0


class _Replay:
    """A `ChatModel` that answers with the reply that was recorded for the text in the prompt."""

    name = "recorded"

    def __init__(self) -> None:
        self.reply_text = ""

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Give the reply; by a schema, its JSON or `ModelReplyError`, as a hosted model after its repair round."""
        usage = Usage(calls=1)
        if schema is None:
            return Reply(self.reply_text, usage=usage)
        try:
            data = json.loads(self.reply_text)
        except ValueError as error:
            raise ModelReplyError(f"Not JSON: {error}.", reply=self.reply_text, usage=usage) from error
        return Reply(self.reply_text, data=data, usage=usage)


EXTRACTORS: Mapping[str, Callable[..., Extractor]] = {
    "simple_kg": SimpleKGExtractor,
    "graph_transformer, tool": GraphTransformerExtractor,
    "graph_transformer, prompt": partial(GraphTransformerExtractor, mode="prompt"),
    "path": PathExtractor,
    "llm": LLMExtractor,
}


async def replay(name: str, records: Iterable[Record]) -> Outcome:
    """Put records through one extractor, as it is by default and as shipped."""
    model, outcome = _Replay(), Outcome(Counter())
    extractor = EXTRACTORS[name](model)
    shipped = None if name == "llm" else EXTRACTORS[name](model, as_shipped=True)
    for record in records:
        model.reply_text = record.replies[name]
        outcome.triples += len(record.triples)
        extraction = await _extracted(extractor, record.chunk)
        outcome.states[extraction.state] += 1
        outcome.lost_by_framework += extraction.remarks.get(LOST_BY_FRAMEWORK, 0)
        outcome.respelled_by_framework += extraction.remarks.get(RESPELLED_BY_FRAMEWORK, 0)
        outcome.ungrounded += sum(not relation.grounded for relation in extraction.relations)
        written = {name for triple in record.triples for name in triple}
        ends = {end.name for relation in extraction.relations for end in (relation.head, relation.tail)}
        outcome.respelled_by_grounding += len(ends - written)
        outcome.kept += _kept(record.triples, extraction)
        if shipped:
            outcome.as_shipped += _kept(record.triples, await _extracted(shipped, record.chunk))
    return outcome


async def _extracted(extractor: Extractor, chunk: Chunk) -> Extraction:
    try:
        return await extractor.extract(chunk)
    except ModelReplyError as error:
        return Extraction(chunk_id=chunk.id, state="failed", reason=str(error))


def _kept(triples: Sequence[tuple[str, ...]], extraction: Extraction) -> int:
    """Count the triples of which head and tail came out; of one with two parts, whether its entity came out with the other part."""
    found = {(_letters(relation.head.name), _letters(relation.tail.name)) for relation in extraction.relations}
    alone = {_letters(entity.name) for entity in extraction.entities if entity.description}
    return sum(
        any((_letters(triple[0]), _letters(tail)) in found for tail in triple[2:])
        if len(triple) > 2
        else _letters(triple[0]) in alone
        for triple in triples
    )


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def musique(data: Path, *, own_form: bool) -> list[Record]:
    """Read the recorded extractions, as JSON of OpenIE or in the form that each extractor asks for."""
    passages = {p["id"]: p for p in read_rows(data / "musique" / "corpus.jsonl")}
    records = []
    for said in read_rows(data / "musique" / "recorded_extractions.jsonl"):
        passage = passages[said["id"]]
        triples = tuple(tuple(part.strip() for part in triple) for triple in said["triples"])
        as_recorded = json.dumps({"named_entities": said["entities"], "triples": said["triples"]}, ensure_ascii=False)
        forms = {
            "simple_kg": _neo4j_form(triples),
            "graph_transformer, tool": _tool_form(triples),
            "graph_transformer, prompt": json.dumps(_prompt_form(triples), ensure_ascii=False),
            "path": "\n".join(f"({', '.join(triple)})" for triple in triples) or "NONE",
            "llm": _own_form(triples, said["entities"]),
        }
        replies = forms if own_form else dict.fromkeys(EXTRACTORS, as_recorded)
        records.append(Record(_chunk(said["id"], passage["title"], passage["text"]), triples, replies))
    return records


def recorded_llm(data: Path) -> list[Record]:
    """Read the recorded replies of gpt-4o as they are; their prompts, and so the texts they are about, were not recorded."""
    kept = json.loads((data / "recorded_llm" / "nano_graphrag_cache.json").read_text(encoding="utf-8"))
    relation = re.compile(r'\("relationship"<\|>"(.*?)"<\|>"(.*?)"<\|>')
    return [
        Record(
            _chunk(key, "", ""),
            tuple((head.strip(), "related to", tail.strip()) for head, tail in relation.findall(entry["return"])),
            dict.fromkeys(EXTRACTORS, entry["return"]),
        )
        for key, entry in kept.items()
    ]


def variants(records: Sequence[Record], trouble: str) -> list[Record]:
    """Do one trouble to the replies."""
    return [
        Record(r.chunk, r.triples, {name: str(TROUBLES[trouble](reply).reply) for name, reply in r.replies.items()})
        for r in records
    ]


def _neo4j_form(triples: Sequence[tuple[str, ...]]) -> str:
    names: dict[str, str] = {}
    relationships = []
    for triple in _prompt_form(triples):
        row = {"type": triple["relation"], "start_node_id": names.setdefault(triple["head"], str(len(names)))}
        if "tail" in triple:
            row["end_node_id"] = names.setdefault(triple["tail"], str(len(names)))
        relationships.append(row | {"properties": {}})
    nodes = [{"id": number, "label": "Entity", "properties": {"name": name}} for name, number in names.items()]
    return json.dumps({"nodes": nodes, "relationships": relationships}, ensure_ascii=False)


def _tool_form(triples: Sequence[tuple[str, ...]]) -> str:
    relationships = []
    for triple in _prompt_form(triples):
        row = {"source_node_id": triple["head"], "source_node_type": "Entity", "type": triple["relation"]}
        if "tail" in triple:
            row |= {"target_node_id": triple["tail"], "target_node_type": "Entity"}
        relationships.append(row)
    names = dict.fromkeys(triple[end] for triple in _prompt_form(triples) for end in ("head", "tail") if end in triple)
    nodes = [{"id": name, "type": "Entity"} for name in names]
    return json.dumps({"nodes": nodes, "relationships": relationships}, ensure_ascii=False)


def _own_form(triples: Sequence[tuple[str, ...]], entities: Sequence[str]) -> str:
    relations = []
    for triple in _prompt_form(triples):
        row = {"subject": triple["head"], "relation": triple["relation"], "sentence": ""}
        relations.append(row | ({"object": triple["tail"]} if "tail" in triple else {}))
    things = [{"name": name, "type": "Thing", "description": ""} for name in entities]
    return json.dumps({"entities": things, "relations": relations, "quantities": []}, ensure_ascii=False)


def _prompt_form(triples: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for head, *rest in triples:
        row: dict[str, Any] = {"head": head, "head_type": "Entity", "relation": rest[0] if len(rest) < 3 else rest[:-1]}
        rows.append(row | ({"tail": rest[-1], "tail_type": "Entity"} if len(rest) > 1 else {}))
    return rows


def _chunk(key: str, title: str, text: str) -> Chunk:
    return Chunk(id=key, document_id=key, source_id=key, position=0, title=title, text=text, tokens=len(text.split()))


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--limit", type=int, default=None, help="so many records of each source")
    limit = arguments.parse_args().limit
    logging.disable(logging.ERROR)  # the frameworks log each reply that they drop
    own = musique(DATA, own_form=True)[:limit]
    sources: dict[str, list[Record]] = {
        "musique, as recorded": musique(DATA, own_form=False)[:limit],
        "musique, in the form asked for": own,
        "recorded_llm, as recorded": recorded_llm(DATA)[:limit],
    }
    sources |= {f"musique, {trouble}": variants(own[:TROUBLED_RECORDS], trouble) for trouble in TROUBLES}
    rows = []
    for source, records in sources.items():
        for name in EXTRACTORS:
            outcome = asyncio.run(replay(name, records))
            counts = [outcome.states[state] for state in ("ok", "empty", "mended", "partial", "failed")]
            if sum(counts) != len(records):
                raise SystemExit(f"{source}, {name}: {len(records)} records, {sum(counts)} accounted for")
            shipped = "" if name == "llm" else f"{outcome.as_shipped:,}"
            after = (
                outcome.lost_by_framework,
                outcome.respelled_by_framework,
                outcome.respelled_by_grounding,
                outcome.ungrounded,
            )
            figures = [f"{figure:,}" for figure in (len(records), *counts, outcome.triples, outcome.kept)]
            rows.append([source, name, *figures, shipped, *(f"{figure:,}" for figure in after)])
    head = "replies|extractor|records|ok|empty|mended|partial|failed|triples|kept|kept as shipped"
    head += "|items lost by framework|names respelled by framework|by grounding|relations not grounded"
    print_table(
        "Recorded replies",
        head.split("|"),
        rows,
        ["Every record is accounted for: ok + empty + mended + partial + failed = records."],
    )


if __name__ == "__main__":
    main()
