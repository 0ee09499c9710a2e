"""What a scripted model says about each passage: the same triples, in the form that each program asks for.

The triples are those that the model-free extractor finds, without the characters that some program's parser cannot carry, at most ten for
a passage. `python -m kgrag.testing --script benchmarks.replies:answer` serves them; `KGRAG_BENCHMARK_REPLIES` names the file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from kgrag.testing import Behaviour, ModelRequest
from kgrag.testing import answer as answering
from kgrag.types import Chunk, Extraction

__all__ = ["REPLIES_VARIABLE", "Triple", "answer", "extracted", "write_replies"]

REPLIES_VARIABLE = "KGRAG_BENCHMARK_REPLIES"
Triple = tuple[str, str, str, str, str]
"""Head, its type, relation, tail, its type."""
MOST_TRIPLES = 10
"""Of one passage: what LlamaIndex asks for at most."""
CARRIED = re.compile(r"[^\W_](?:[^,()\"'\\\n\r|{}\[\]<>]{0,58}[^\W_%°])?")
"""What every parser carries through: no comma, bracket, quotation mark."""
END = 80
"""Characters at the end of a passage that tell it from others."""
PART_NUMBER = re.compile(r"\b[A-Z]{2,}-?\d+\b")
PLACES = (
    re.compile(r"<<<\n(?P<text>.*)\n>>>", re.DOTALL),  # ours
    re.compile(r".*\nInput text:\n+(?P<text>.*)", re.DOTALL),  # neo4j-graphrag
    re.compile(r".*\nText: (?P<text>.*)\nTriplets:", re.DOTALL),  # LlamaIndex
)


def write_replies(file: Path, extracted: Iterable[tuple[Chunk, Extraction]]) -> set[tuple[str, str, str]]:
    """Write what is to be said about each chunk; return the triples (head, relation, tail) of all."""
    replies: dict[str, list[Triple]] = {}
    for chunk, extraction in extracted:
        text = " ".join(chunk.text.split())
        said = replies.setdefault(_key(chunk.text), [])
        for relation in extraction.relations:
            triple = (relation.head.name, relation.head.type, relation.type, relation.tail.name, relation.tail.type)
            names = (triple[0], triple[3])
            if triple in said or len(said) == MOST_TRIPLES or names[0] == names[1]:
                continue
            if all(CARRIED.fullmatch(name) and name in text for name in names):
                said.append(triple)
    file.write_text(json.dumps(replies, ensure_ascii=False), encoding="utf-8")
    return {(head, relation, tail) for said in replies.values() for head, _, relation, tail, _ in said}


def extracted(paths: Sequence[Path]) -> list[tuple[Chunk, Extraction]]:
    """Read files as `kgrag build` does by default and extract them without a model: each chunk with what it says."""
    from kgrag.documents import discover
    from kgrag.engines.work import read_source
    from kgrag.extract.mention import MentionExtractor
    from kgrag.models.minilm import MiniLM
    from kgrag.settings import Settings

    embedder, settings = MiniLM(), Settings()
    read = [one for source in discover(paths).sources for one in read_source(source, embedder, settings)]
    chunks = [chunk for one in read for chunk in one.chunks]
    extractor = MentionExtractor()
    extractor.prepare([one.document for one in read], chunks)
    return [(chunk, extractor.read(chunk)) for chunk in chunks]


def answer(request: ModelRequest) -> Behaviour:
    """Say about the passage of a request what the file says, in the form that is asked for."""
    prompt = request.last
    found = next((match for place in PLACES if (match := place.search(prompt))), None)
    if found is None:  # the check whether the model is there
        return answering({"ok": True})
    triples = _replies().get(_key(found["text"]), []) if REPLIES_VARIABLE in os.environ else _made(found["text"])
    schema = json.dumps(request.schema) if request.schema else ""
    if "source_node_id" in schema:
        return answering(_as_graph_transformer(triples))
    if schema or "start_node_id" in prompt:
        return answering(_as_simple_kg(triples))
    return answering("\n".join(f"({head}, {relation}, {tail})" for head, _, relation, tail, _ in triples) or "NONE")


def _as_simple_kg(triples: list[Triple]) -> dict[str, list[dict[str, object]]]:
    ids: dict[tuple[str, str], str] = {}
    for head, head_type, _, tail, tail_type in triples:
        ids.setdefault((head, head_type), str(len(ids)))
        ids.setdefault((tail, tail_type), str(len(ids)))
    return {
        "nodes": [{"id": number, "label": kind, "properties": {"name": name}} for (name, kind), number in ids.items()],
        "relationships": [
            {
                "type": relation,
                "start_node_id": ids[head, head_type],
                "end_node_id": ids[tail, tail_type],
                "properties": {},
            }
            for head, head_type, relation, tail, tail_type in triples
        ],
    }


def _as_graph_transformer(triples: list[Triple]) -> dict[str, list[dict[str, str]]]:
    named = dict.fromkeys(pair for h, ht, _, t, tt in triples for pair in ((h, ht), (t, tt)))
    return {
        "nodes": [{"id": name, "type": kind} for name, kind in named],
        "relationships": [
            {
                "source_node_id": head,
                "source_node_type": head_type,
                "target_node_id": tail,
                "target_node_type": tail_type,
                "type": relation,
            }
            for head, head_type, relation, tail, tail_type in triples
        ],
    }


def _made(text: str) -> list[Triple]:
    """Make triples of a passage for which none were written: each part number with the next."""
    names = list(dict.fromkeys(PART_NUMBER.findall(text)))[: MOST_TRIPLES + 1]
    return [(one, "Part", "NAMED_BEFORE", other, "Part") for one, other in pairwise(names)]


def _key(text: str) -> str:
    return "".join(text.split())[-END:]


@cache
def _replies() -> dict[str, list[Triple]]:
    replies: dict[str, list[Triple]] = json.loads(Path(os.environ[REPLIES_VARIABLE]).read_text(encoding="utf-8"))
    return replies
