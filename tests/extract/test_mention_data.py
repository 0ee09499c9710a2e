from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgrag.extract.mention import MentionExtractor
from kgrag.types import Chunk, Document, content_id

NAMED_OR_REACHED = 50
"""Of the 51 questions; in the last (`Beatrice I`) neither passage has the other's title."""


@pytest.mark.data
def test_the_gold_passages_of_2wiki_are_named_by_the_question_or_reached_over_title_mentions(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "2wiki" / "corpus.jsonl").read_text("utf-8").splitlines()]
    questions = [
        json.loads(line) for line in (shared_data / "2wiki" / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    documents = [
        Document(id=content_id(r["title"]), path="c.jsonl", title=r["title"], sha256="0", format="jsonl") for r in rows
    ]
    chunks = {
        r["id"]: Chunk(
            id=r["id"], document_id=d.id, source_id=r["id"], position=i, title=r["title"], text=r["text"], tokens=1
        )
        for i, (r, d) in enumerate(zip(rows, documents, strict=True))
    }
    extractor = MentionExtractor()
    extractor.prepare(documents, chunks.values())
    reached = 0
    for question in questions:
        read = [extractor.read(chunks[gold]) for gold in question["evidence"]]
        titles = [{e.normal for e in x.entities if e.role == "title"} for x in read]
        names = [{e.normal for e in x.entities} for x in read]
        asked = {extractor.names.entity_key(m.key) for m in extractor.names.find(question["question"])}
        seen = {i for i, title in enumerate(titles) if title & asked}
        for _ in read:
            seen |= {j for i in seen for j in range(len(read)) if titles[j] & names[i] or titles[i] & names[j]}
        reached += len(seen) == len(read)
    assert reached >= NAMED_OR_REACHED
