"""Every pipeline on the sample documents, on both databases: the same first pieces as before, and steps that all do something.

`KGRAG_WRITE_GOLDEN=1 python -m pytest tests/retrieve/test_golden.py` writes the golden files anew: read what changed in them.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import kgrag
from kgrag.common.waiting import wait_for
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.models.minilm import MiniLM
from kgrag.retrieve import Retrieval, pipeline_names

DIMENSIONS = MiniLM.dimensions
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUESTIONS = (
    "Which boards does the X-100 work with, and what do they have in common?",
    "Compare the TPR-40 and the TPR-400.",
    "What does error E-12 of the X-1000 mean and what has to be done?",
    "Which sensors measure pressure, and over what range?",
    "What do TPR transmitters need to be mounted?",
)
SHOWN = 3
THESIS = tuple(name for name in pipeline_names() if name.startswith(("RAG_", "SimpleKG_", "LLMGraph_", "LlamaIndex_")))
MAY_BE_IDLE = {"near_duplicates"}
"""The sample says nothing twice."""


def test_every_pipeline_finds_what_it_found_before_and_no_step_is_idle(store_target: str) -> None:
    with kgrag.open(store_target) as opened:
        opened.build(*sorted((EXAMPLES / "documents").rglob("*.html")), *sorted((EXAMPLES / "documents").rglob("*.md")))
        opened.communities()
        traces = {name: asked(opened, name) for name in (*pipeline_names(), "adaptive")}
    found = {name: {q: first_pieces(trace) for q, trace in some.items()} for name, some in traces.items()}
    # Their full-text indexes weigh words a little differently, so each database has its own.
    golden = Path(__file__).with_name(f"golden_{'neo4j' if '://' in store_target else 'embedded'}.json")
    if os.environ.get("KGRAG_WRITE_GOLDEN"):
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert len(THESIS) == 15
    assert {name: steps for name in THESIS if (steps := idle_steps(traces[name].values()))} == {}
    assert found == json.loads(golden.read_text(encoding="utf-8"))


def asked(opened: KnowledgeGraph, name: str) -> dict[str, Retrieval]:
    """What a pipeline finds for each question, with its own limits."""
    retriever = opened.retriever(name)
    return {question: wait_for(retriever.trace(question)) for question in QUESTIONS}


def first_pieces(found: Retrieval) -> list[str]:
    """Where the first pieces are from, or what they say if they are relations or communities."""
    assert found.evidence, found.pipeline
    return [
        f"{Path(piece.document).name} {piece.section or piece.title}" if piece.chunk_id else f"community {piece.title}"
        for piece in found.evidence[:SHOWN]
    ]


def idle_steps(traces: Iterable[Retrieval]) -> set[str]:
    """The steps that change nothing for any of the questions."""
    changed: dict[str, int] = {}
    for trace in traces:
        for change in trace.changes:
            changed[change.step] = changed.get(change.step, 0) + change.changed
    return {step for step, count in changed.items() if not count} - MAY_BE_IDLE
