import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.models.tokens import estimate_tokens


@given(text=st.text())
def test_a_text_has_no_more_tokens_than_two_a_character(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= 2 * len(text)


def test_the_estimate_is_near_what_openai_counts(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    llama_index = pytest.importorskip("llama_index.core", reason="has the encoding's vocabulary")
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", os.fspath(Path(llama_index.__file__).parent / "_static/tiktoken_cache"))
    encoding = tiktoken.get_encoding("cl100k_base")
    lines = (shared_data / "musique/corpus.jsonl").read_text().splitlines()[:200]
    texts = [json.loads(line)["text"] for line in lines]
    true = [len(encoding.encode(text)) for text in texts]
    guessed = [estimate_tokens(text) for text in texts]
    assert 1.0 <= sum(guessed) / sum(true) <= 1.2
    assert all(0.75 <= guess / count <= 1.6 for guess, count in zip(guessed, true, strict=True))
