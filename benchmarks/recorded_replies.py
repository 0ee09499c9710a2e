"""Replay what models really answered, beside each framework's own parser: `python -m benchmarks.recorded_replies`.

Recorded are 1,890 extractions by gpt-3.5-turbo (`musique/recorded_extractions.jsonl`: triples, some with two, four or more parts) and 187
replies of gpt-4o (`recorded_llm/`: GraphRAG's delimited records, and community reports that state no triples). They are replayed as they
were recorded, and those of musique also in the form that each framework asks for; there a triple with a part too few lacks that key or
field, and one with parts too many has a list as its relation. On a sample, each way of `kgrag.testing.TROUBLES` is done to the replies.

"Framework" is the framework as it comes, over the same bridge, with its default parser and error handling. A triple counts as kept where
head and tail come out with the same letters and digits, whatever their capitals; a name that comes out otherwise than it was written is
counted as respelled. Our parsing asks again where something is wrong: here it gets the same reply again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.tables import print_table
from kgrag.errors import KgragError, ModelReplyError
from kgrag.extract.base import Extractor
from kgrag.extract.graph_transformer import GraphTransformerExtractor
from kgrag.extract.path import PathExtractor
from kgrag.extract.simple_kg import SimpleKGExtractor
from kgrag.models.base import Message, Reply
from kgrag.models.frameworks.langchain import Document, LangChainModel, LLMGraphTransformer
from kgrag.models.frameworks.llama_index import KG_NODES_KEY, LlamaIndexModel, SimpleLLMPathExtractor, TextNode
from kgrag.models.frameworks.neo4j_graphrag import (
    GraphSchema,
    LLMEntityRelationExtractor,
    Neo4jGraphRagModel,
    OnError,
    TextChunk,
)
from kgrag.testing import TROUBLES
from kgrag.types import Chunk, Usage

__all__ = ["Outcome", "Record", "musique", "recorded_llm", "replay", "variants"]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
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
    ours: int = 0
    framework: int = 0
    respelled: int = 0
    raised: int = 0
    """Replies on which the framework's own parser raised."""


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


def _graph_transformer_own(model: _Replay, *, by_prompt: bool) -> Callable[[str], Awaitable[list[Pair]]]:
    transformer = LLMGraphTransformer(llm=LangChainModel(chat_model=model), ignore_tool_usage=by_prompt)

    async def run(text: str) -> list[Pair]:
        graph = await transformer.aprocess_response(Document(page_content=text))
        return [(str(r.source.id), str(r.target.id)) for r in graph.relationships]

    return run


def _simple_kg_own(model: _Replay) -> Callable[[str], Awaitable[list[Pair]]]:
    # SimpleKGPipeline's default is to ignore what it cannot parse.
    extractor = LLMEntityRelationExtractor(
        llm=Neo4jGraphRagModel(model), create_lexical_graph=False, on_error=OnError.IGNORE
    )

    async def run(text: str) -> list[Pair]:
        graph = await extractor.extract_for_chunk(GraphSchema.create_empty(), "", TextChunk(text=text, index=0))
        names = {node.id: str(node.properties.get("name", node.id)) for node in graph.nodes}
        # Its writer matches both nodes: a relationship without one is not written.
        return [
            (names[r.start_node_id], names[r.end_node_id])
            for r in graph.relationships
            if r.start_node_id in names and r.end_node_id in names
        ]

    return run


def _path_own(model: _Replay) -> Callable[[str], Awaitable[list[Pair]]]:
    extractor = SimpleLLMPathExtractor(llm=LlamaIndexModel(chat_model=model))

    async def run(text: str) -> list[Pair]:
        (node,) = await extractor.acall([TextNode(text=text)])
        names = [entity.name for entity in node.metadata[KG_NODES_KEY]]
        return list(zip(names[::2], names[1::2], strict=True))

    return run


EXTRACTORS: Mapping[
    str, tuple[Callable[[_Replay], Extractor], Callable[[_Replay], Callable[[str], Awaitable[list[Pair]]]]]
] = {
    "simple_kg": (partial(SimpleKGExtractor, structured=False), _simple_kg_own),
    "graph_transformer, tool": (GraphTransformerExtractor, partial(_graph_transformer_own, by_prompt=False)),
    "graph_transformer, prompt": (
        partial(GraphTransformerExtractor, mode="prompt"),
        partial(_graph_transformer_own, by_prompt=True),
    ),
    "path": (PathExtractor, _path_own),
}


async def replay(name: str, records: Iterable[Record]) -> Outcome:
    """Put records through one extractor and through its framework alone."""
    model, outcome = _Replay(), Outcome(Counter())
    make, make_own = EXTRACTORS[name]
    extractor, own = make(model), make_own(model)
    for record in records:
        model.reply_text = record.replies[name]
        outcome.triples += len(record.triples)
        try:
            extraction = await extractor.extract(record.chunk)
            outcome.states[extraction.state] += 1
            pairs = [(relation.head.name, relation.tail.name) for relation in extraction.relations]
            alone = {_letters(entity.name) for entity in extraction.entities if entity.description}
        except ModelReplyError:
            outcome.states["failed"] += 1
            pairs, alone = [], set()
        outcome.ours += _kept(record.triples, pairs, alone)
        try:
            pairs = await own(record.chunk.prompted_text)
        except (ValueError, TypeError, KeyError, AttributeError, KgragError):
            outcome.raised += 1
            pairs = []
        outcome.framework += _kept(record.triples, pairs, set())
        written = {name for triple in record.triples for name in triple}
        outcome.respelled += sum(name not in written for pair in pairs for name in pair)
    return outcome


def _kept(triples: Sequence[tuple[str, ...]], pairs: Iterable[Pair], alone: set[str]) -> int:
    """Count the triples of which head and tail came out; of one with two parts, whether its entity came out with the other part."""
    found = {(_letters(head), _letters(tail)) for head, tail in pairs}
    return sum(
        any((_letters(triple[0]), _letters(tail)) in found for tail in triple[2:])
        if len(triple) > 2
        else _letters(triple[0]) in alone
        for triple in triples
    )


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def musique(data: Path, *, own_form: bool) -> list[Record]:
    """Read the recorded extractions, as JSON of OpenIE or in the form that each framework asks for."""
    passages = {p["id"]: p for p in _lines(data / "musique" / "corpus.jsonl")}
    records = []
    for said in _lines(data / "musique" / "recorded_extractions.jsonl"):
        passage = passages[said["id"]]
        triples = tuple(tuple(part.strip() for part in triple) for triple in said["triples"])
        as_recorded = json.dumps({"named_entities": said["entities"], "triples": said["triples"]}, ensure_ascii=False)
        forms = {
            "simple_kg": _neo4j_form(triples),
            "graph_transformer, tool": _tool_form(triples),
            "graph_transformer, prompt": json.dumps(_prompt_form(triples), ensure_ascii=False),
            "path": "\n".join(f"({', '.join(triple)})" for triple in triples) or "NONE",
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


def _prompt_form(triples: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for head, *rest in triples:
        row: dict[str, Any] = {"head": head, "head_type": "Entity", "relation": rest[0] if len(rest) < 3 else rest[:-1]}
        rows.append(row | ({"tail": rest[-1], "tail_type": "Entity"} if len(rest) > 1 else {}))
    return rows


def _chunk(key: str, title: str, text: str) -> Chunk:
    return Chunk(id=key, document_id=key, source_id=key, position=0, title=title, text=text, tokens=len(text.split()))


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--limit", type=int, default=None, help="so many records of each source")
    limit = arguments.parse_args().limit
    logging.disable(logging.ERROR)  # the frameworks log each reply that they drop
    own = musique(DATA, own_form=True)[:limit]
    sources: dict[str, list[Record]] = {
        "musique, as recorded": musique(DATA, own_form=False)[:limit],
        "musique, in the framework's form": own,
        "recorded_llm, as recorded": recorded_llm(DATA)[:limit],
    }
    sources |= {f"musique, {trouble}": variants(own[:TROUBLED_RECORDS], trouble) for trouble in TROUBLES}
    rows = []
    for source, records in sources.items():
        for name in EXTRACTORS:
            outcome = asyncio.run(replay(name, records))
            counts = [outcome.states[state] for state in ("ok", "empty", "repaired", "failed")]
            if sum(counts) != len(records):
                raise SystemExit(f"{source}, {name}: {len(records)} records, {sum(counts)} accounted for")
            lost = outcome.ours - outcome.framework
            figures = (
                len(records),
                *counts,
                outcome.triples,
                outcome.ours,
                outcome.framework,
                lost,
                outcome.raised,
                outcome.respelled,
            )
            rows.append([source, name, *(f"{figure:,}" for figure in figures)])
    head = (
        "replies|extractor|records|ok|empty|repaired|failed|triples|ours keeps|framework keeps|lost by it beside ours"
    )
    head += "|it raised|names it respelled"
    print_table(
        "Recorded replies",
        head.split("|"),
        rows,
        ["Every record is accounted for: ok + empty + repaired + failed = records."],
    )


if __name__ == "__main__":
    main()
