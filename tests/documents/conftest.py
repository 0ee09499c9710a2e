"""What tests of the documents room share: the default embedder's tokenizer, and a way to read one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kgrag.documents import Converted, discover, read
from kgrag.models.minilm import MiniLM

MAX_TOKENS = MiniLM.max_tokens

CountTokens = Callable[[str], int]
Convert = Callable[..., Converted]


@pytest.fixture(scope="session")
def count_tokens() -> CountTokens:
    """Count as MiniLM does."""
    return MiniLM().count_tokens


@pytest.fixture
def convert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count_tokens: CountTokens) -> Convert:
    """Write a file into an empty working directory and read it: `convert("a.md", b"...")`, or `convert("a.docx")` for one that is there."""
    monkeypatch.chdir(tmp_path)

    def write_and_read(name: str, content: bytes | str | None = None, **options: object) -> Converted:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        (source,) = discover([path]).sources
        (converted,) = read(source, count_tokens=count_tokens, max_tokens=MAX_TOKENS, **options)  # type: ignore[arg-type]
        return converted

    return write_and_read
