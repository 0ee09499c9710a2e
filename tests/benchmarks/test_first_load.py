"""Files for a first load are those of a build's export."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks import first_load
from benchmarks.synthetic import passages, write_passages
from benchmarks.vectors import WordVectors
from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.settings import Settings
from kgrag.store.graph import open_store


def test_files_of_a_first_load_have_the_digest_and_the_rows_of_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "passages.jsonl"
    write_passages(corpus, passages(110))
    monkeypatch.setattr(first_load, "CHUNKS_AT_ONCE", 50)
    with open_store(tmp_path / "built.kg") as store:
        asyncio.run(
            build(
                [corpus],
                store=store,
                embedder=WordVectors(),
                extractors=[open_extractor("mention")],
                settings=Settings(),
            )
        )
        built, exported = store.digest(), store.export_to(tmp_path / "exported")
    written = first_load.write_first_load(corpus, tmp_path / "written")
    assert written.digest == built
    assert written.rows == exported.rows
    with open_store(tmp_path / "loaded.kg") as store:
        assert store.import_from(tmp_path / "written").digest == built
