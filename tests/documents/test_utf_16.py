"""Files of two bytes a character, whose format is told by their content."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgrag.documents import discover, read

API = {
    "openapi": "3.0.0",
    "info": {"title": "Pump", "version": "1"},
    "paths": {"/start": {"get": {"summary": "5 bar"}}},
}
FILES = {
    "a.json": ("openapi", json.dumps(API)),
    "sorted.json": ("openapi", json.dumps({"components": {"x-a": "a" * 20_000}, **API}, sort_keys=True)),
    "a.yaml": ("openapi", json.dumps(API, indent=1)),
    "a.xml": (
        "docbook",
        '<?xml version="1.0" encoding="UTF-16"?><article><title>Pump</title><para>5 bar</para></article>',
    ),
    "a.info": (
        "info",
        "This is a.info.\n\n\x1f\nFile: a.info,  Node: Top,  Up: (dir)\n\nPump\n****\n\nIt starts at 5 bar.\n",
    ),
    "pump.1": ("man", ".TH PUMP 1\n.SH NAME\npump \\- start the pump\n.SH DESCRIPTION\nIt starts at 5 bar.\n"),
    "a.jsonl": ("jsonl", '{"id": "1", "title": "Pump", "text": "It starts at 5 bar."}\n'),
}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("name", FILES)
def test_it_is_read_as_it_is_in_utf_8(
    tmp_path: Path, name: str, encoding: str, count_tokens: Callable[[str], int]
) -> None:
    if name == "pump.1":
        pytest.importorskip("pypandoc")
    format_, text = FILES[name]
    (tmp_path / name).write_bytes(text.encode(encoding))
    (source,) = discover([tmp_path]).sources
    assert source.format == format_
    texts = [chunk.text for one in read(source, count_tokens=count_tokens, max_tokens=254) for chunk in one.chunks]
    assert sum("5 bar" in text for text in texts) >= 1
    assert "\0" not in "".join(texts)


def test_a_packed_one_is_unpacked_first(tmp_path: Path) -> None:
    (tmp_path / "sorted.json.gz").write_bytes(gzip.compress(FILES["sorted.json"][1].encode("utf-16")))
    assert [source.format for source in discover([tmp_path]).sources] == ["openapi"]


def test_zeros_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(bytes(5000))
    assert discover([tmp_path]).ignored == {".xml": 1}
