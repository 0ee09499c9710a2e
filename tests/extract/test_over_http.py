"""The extractors that ask a model, end to end, with a server that misbehaves in every way: every chunk is accounted for."""

import asyncio
import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kgrag.extract import NEEDS_MODEL, open_extractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.jobs.status import status
from kgrag.models import open_chat_model
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore
from kgrag.testing import FAULTS, TROUBLES, Behaviour, HashingEmbedder, ModelRequest, ModelServer, answer

EXAMPLES = Path(__file__).parents[2] / "examples" / "documents"
DOCUMENTS = ("sensors/TPR-40", "modules/WX-32", "controllers/X-1000/x-1000-error-codes.html", "carriers/TCB-40")
DIMENSIONS = HashingEmbedder().dimensions
ARDUINO_CHUNKS = 100
TIMES_OF_A_FAULT = 1
TIMEOUT_S = 4.0
"""Long enough for a busy machine to answer what does not hang."""


def triples_of(text: str) -> list[tuple[str, str, str]]:
    """What a plain reader would state: the first name of the text has each of its quantities and part numbers."""
    head = (re.findall(r"[^\W\d_][\w-]+", text) or ["It"])[0]
    tails = re.findall(r"\b\d+(?:[.,]\d+)* [kmµM]?(?:V|A|W|Ω|Hz)\b|\b[A-Z]{2,}[-]?\d+\w*\b", text)
    return [(head, "HAS", tail) for tail in dict.fromkeys(tails) if tail != head][:8]


def good(request: ModelRequest, text: str) -> Any:
    """The good reply, in the form that the prompt asks for."""
    triples, prompt = triples_of(text), request.prompt
    names = list(dict.fromkeys(end for head, _, tail in triples for end in (head, tail)))
    if "knowledge triplets" in prompt:
        return "\n".join(f"({h}, {k}, {t})" for h, k, t in triples) or "NONE"
    if '"quantities"' in prompt:
        relations = [{"subject": h, "relation": k, "object": t, "sentence": ""} for h, k, t in triples]
        return {
            "entities": [{"name": name, "type": "Thing", "description": ""} for name in names],
            "relations": relations,
            "quantities": [],
        }
    if "start_node_id" in prompt:
        ends = [
            {"type": k, "start_node_id": str(names.index(h)), "end_node_id": str(names.index(t)), "properties": {}}
            for h, k, t in triples
        ]
        return {
            "nodes": [{"id": str(i), "label": "Thing", "properties": {"name": n}} for i, n in enumerate(names)],
            "relationships": ends,
        }
    ends = [
        {"source_node_id": h, "source_node_type": "Thing", "target_node_id": t, "target_node_type": "Thing", "type": k}
        for h, k, t in triples
    ]
    return {"nodes": [{"id": n, "type": "Thing"} for n in names], "relationships": ends}


TEXTS = (
    r"Text:\n<<<\n(.*)\n>>>\Z",
    r"Input text:\n\n(.*)\Z",
    r"from the following input: (.*)\Z",
    r"Text: (.*)\nTriplets:\n?\Z",
)
"""Where the prompts of llm, neo4j-graphrag, LangChain and LlamaIndex have the chunk."""


def text_of(request: ModelRequest) -> str | None:
    """The chunk's text in the prompt of whichever extractor."""
    asked = next(message["content"] for message in request.messages if message["role"] == "user")
    form = asked.partition("\n\nReply with one JSON object")[0]  # where the endpoint is asked by prompt
    return next((found[1].strip() for pattern in TEXTS if (found := re.search(pattern, form, re.DOTALL))), None)


class Endpoint:
    """Misbehaves by chunk: half of them get a good reply, the others one trouble or fault each, some of them for ever."""

    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.well = False

    def __call__(self, request: ModelRequest) -> Behaviour:
        text = text_of(request)
        if text is None:
            return answer("yes")  # a build that asks whether the model is there
        reply = good(request, text)
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
        names = [*TROUBLES, *FAULTS]
        if self.well or number % 2:
            return answer(reply)
        name, for_ever = names[number // 2 % len(names)], number // 64 % 3 == 0
        self.kinds[name] += 1
        if name in TROUBLES:
            again = any(message["role"] == "assistant" for message in request.messages)
            return answer(reply) if again and not for_ever else TROUBLES[name](reply)
        key = f"{text}{request.prompt[:40]}"
        self.faults[key] += 1
        if self.faults[key] > TIMES_OF_A_FAULT and not (for_ever and name == "wrong_content_type"):
            return answer(reply)
        return FAULTS[name]()


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path) -> list[Path]:
    """Examples, and 100 chunks of Arduino's documents as passages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGRAG_MODEL_CACHE", str(tmp_path / "replies.sqlite"))
    rows = [
        json.loads(line) for line in (shared_data / "arduino/chunks/UNO_Family.jsonl").read_text("utf-8").splitlines()
    ]
    passages = [
        {"id": f"{row['product']}|{row['chunk_id']}", "title": row["product"], "text": row["text"]}
        for row in rows[:ARDUINO_CHUNKS]
    ]
    (tmp_path / "arduino.jsonl").write_text("".join(json.dumps(p) + "\n" for p in passages), encoding="utf-8")
    return [Path("arduino.jsonl"), *(EXAMPLES / name for name in DOCUMENTS)]


def built(store: GraphStore, documents: list[Path], server: ModelServer, *, retry: str = "failed") -> BuildReport:
    settings = Settings(timeout_s=TIMEOUT_S, retries=1, base_url=server.url, model="openai:scripted", retry=retry)
    model = open_chat_model("openai:scripted", settings=settings)
    extractors = [open_extractor(name, model=model, settings=settings) for name in NEEDS_MODEL]
    return asyncio.run(
        build(documents, store=store, embedder=HashingEmbedder(), extractors=extractors, model=model, settings=settings)
    )


@pytest.mark.data
def test_every_chunk_is_accounted_for_and_a_second_build_takes_only_the_failed(
    store: GraphStore, documents: list[Path]
) -> None:
    endpoint = Endpoint()
    with ModelServer(endpoint) as server:
        report = built(store, documents, server)
        chunks = store.documents.count_chunks()
        assert chunks > ARDUINO_CHUNKS
        assert set(endpoint.kinds) == {*TROUBLES, *FAULTS}
        failures = {(f["graph"], f["subject"]): f for f in status(store)["failures"] if f["stage"] == "extract"}
        for graph in NEEDS_MODEL:
            states = report.extractions[graph]
            assert sum(states[state] for state in ("ok", "empty", "mended", "partial", "failed")) == chunks
            assert all(states[state] for state in ("ok", "mended", "partial", "failed"))
            assert states["failed"] == sum(key[0] == graph for key in failures)
            assert report.graphs[graph].relations
        assert all(f["reason"] for f in failures.values())
        endpoint.well = True
        seen = len(server.requests)
        again = built(store, documents, server)
        asked = {r.key for r in server.requests[seen:] if text_of(r) is not None}
        assert len(asked) == len(failures)
        for graph in NEEDS_MODEL:
            assert again.extractions[graph]["failed"] == 0
            assert again.extractions[graph]["unchanged"] == chunks - report.extractions[graph]["failed"]
        assert not status(store)["failures"]
        seen = len(server.requests)
        assert built(store, documents, server).complete
        assert len(server.requests) == seen
        retried = built(store, documents, server, retry="partial")
        for graph in NEEDS_MODEL:
            assert retried.extractions[graph]["unchanged"] == chunks - report.extractions[graph]["partial"]
            assert not status(store)["extractions"][graph]["chunks"]["partial"]
