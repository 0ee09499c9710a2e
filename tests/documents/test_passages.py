"""Ready passages: one chunk a line, as written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgrag.documents import Converted, discover, read
from kgrag.errors import DocumentError

ReadLines = Callable[..., list[Converted]]


@pytest.fixture
def read_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count_tokens: Callable[[str], int]) -> ReadLines:
    monkeypatch.chdir(tmp_path)

    def write_and_read(*lines: dict[str, Any] | str | bytes) -> list[Converted]:
        data = [
            json.dumps(line).encode() if isinstance(line, dict) else line if isinstance(line, bytes) else line.encode()
            for line in lines
        ]
        Path("p.jsonl").write_bytes(b"\n".join(data))
        (source,) = discover([Path("p.jsonl")]).sources
        return list(read(source, count_tokens=count_tokens, max_tokens=8))

    return write_and_read


def test_passages_of_a_title_are_one_document_in_order_of_first_appearance(read_lines: ReadLines) -> None:
    beta, alpha = read_lines(
        {"id": "1", "title": "Beta", "text": "one"},
        {"id": "2", "title": "Alpha", "text": "two"},
        {"id": "3", "title": "Beta", "text": "three"},
    )
    assert (beta.document.title, alpha.document.title) == ("Beta", "Alpha")
    assert [(c.source_id, c.position, c.text, c.title) for c in beta.chunks] == [
        ("1", 0, "one", "Beta"),
        ("3", 1, "three", "Beta"),
    ]
    assert beta.document.path == alpha.document.path == "p.jsonl"
    assert beta.document.id != alpha.document.id


def test_a_number_that_json_does_not_know_is_kept_as_text(read_lines: ReadLines) -> None:
    (read_one,) = read_lines('{"id": "1", "title": "A", "text": "one", "score": NaN, "rank": 1e999}')
    assert read_one.document.metadata == {"score": "NaN", "rank": "Infinity"}


def test_a_passage_is_neither_split_nor_cleaned(read_lines: ReadLines) -> None:
    text = "Revision History\n\n1.1.2020 first\nâ€™ ----\n" + "word " * 500
    (only,) = read_lines({"id": "1", "title": "", "text": text})
    assert [chunk.text for chunk in only.chunks] == [text]
    assert only.chunks[0].tokens > 500
    assert only.cleaning.counts == {}
    assert only.chunks[0].embedded_text == text


def test_other_keys_are_kept_and_product_category_and_version_are_known(read_lines: ReadLines) -> None:
    (only,) = read_lines(
        {
            "id": "1",
            "title": "T",
            "text": "a",
            "product": "X-100",
            "category": "boards",
            "url": "u1",
            "n": 3,
            "tags": ["b", "a"],
        },
        {
            "id": "2",
            "title": "T",
            "text": "b",
            "product": "X-100",
            "category": "boards",
            "url": "u2",
            "n": 3,
            "tags": ["b", "a"],
        },
    )
    assert (only.document.product, only.document.category, only.document.version) == ("X-100", "boards", None)
    assert only.document.metadata == {"url": '["u1", "u2"]', "n": 3, "tags": '["b", "a"]'}


def test_wrong_lines_are_reported_with_their_numbers_and_the_rest_is_read(read_lines: ReadLines) -> None:
    (only,) = read_lines(
        "\ufeff" + json.dumps({"id": "1", "text": "good"}),
        "",
        "{broken",
        "[1]",
        {"id": "4"},
        {"id": "", "text": "no id"},
        {"id": "5", "title": 5, "text": "x"},
        b"\xff\xfe",
        {"id": 7, "text": "number as id"},
    )
    assert [chunk.source_id for chunk in only.chunks] == ["1", "7"]
    (note,) = only.notes
    assert note.startswith("6 lines")
    assert all(f"line {number}:" in note for number in (3, 4, 5, 6, 7))
    assert "1 more" in note


def test_an_id_that_comes_twice_is_reported_and_both_passages_are_kept(read_lines: ReadLines) -> None:
    (only,) = read_lines({"id": "1", "text": "a"}, {"id": "1", "text": "b"})
    assert [chunk.text for chunk in only.chunks] == ["a", "b"]
    assert only.chunks[0].id != only.chunks[1].id
    assert "line 2" in only.notes[0]


def test_half_a_surrogate_pair_does_not_reach_the_store(read_lines: ReadLines) -> None:
    (only,) = read_lines('{"id": "1", "title": "\\ud800", "text": "a \\udfff b"}')
    assert only.chunks[0].text == "a ? b"


@pytest.mark.parametrize("content", ["{}", "nothing", "[]"])
def test_a_file_without_a_passage_is_an_error(read_lines: ReadLines, content: str) -> None:
    with pytest.raises(DocumentError, match="line 1"):
        read_lines(content)


def test_ids_follow_content_and_not_the_way_it_is_written(read_lines: ReadLines) -> None:
    (first,) = read_lines('{"id": "1", "title": "T", "text": "a"}')
    (spaced,) = read_lines('{"text":"a",   "title":"T","id":"1"}')
    (changed,) = read_lines('{"id": "1", "title": "T", "text": "b"}')
    assert first.document == spaced.document and first.chunks == spaced.chunks
    assert changed.document.id != first.document.id
