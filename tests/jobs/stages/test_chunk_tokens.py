from pathlib import Path

import pytest

from kgrag.documents import discover
from kgrag.engines.work import read_source
from kgrag.jobs.stages.conversion import source_version
from kgrag.settings import load_settings
from kgrag.testing import HashingEmbedder


class WideEmbedder(HashingEmbedder):
    max_tokens = 8191


def test_no_chunk_is_longer_than_the_setting_or_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.md").write_text(
        "# Long\n\n" + "\n\n".join(f"Sentence {n} says something of use." for n in range(600))
    )
    (source,) = discover([tmp_path / "long.md"]).sources
    for embedder, wanted, longest in (
        (WideEmbedder(), None, 512),
        (WideEmbedder(), 100, 100),
        (HashingEmbedder(), 512, 254),
    ):
        settings = load_settings(chunk_tokens=wanted)
        chunks = [chunk for converted in read_source(source, embedder, settings) for chunk in converted.chunks]
        sizes = [embedder.count_tokens(chunk.embedded_text) for chunk in chunks]
        assert longest / 2 < max(sizes) <= longest


def test_another_length_reads_the_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\nText.")
    (source,) = discover([tmp_path / "a.md"]).sources
    versions = {
        source_version(source, WideEmbedder(), load_settings(chunk_tokens=tokens)) for tokens in (None, 512, 128)
    }
    assert len(versions) == 2
